/* The loops around a node: the stage's, then those of the reductions that it stands in. */
#ifndef LE_PATH_H
#define LE_PATH_H
#include "ir/ir.h"

#define PATH_MAX 64
struct path {
    int at[PATH_MAX];
    int count;
};

void le_path_enter(struct path *path, const int *indices, int count);
/* Whether `set` is the outermost so many loops of the path. */
bool le_path_begins(const struct path *path, const int *set, int count);
/* The indices that a node depends on, but for the host's: those are fixed while a kernel runs. */
struct path le_path_of(const struct le_ir *ir, const struct le_node *node);
/* The loops around a reduction's body: those that it is computed in (it stands outside of the loops that it does not
 * depend on, own), then its own. */
void le_path_enter_reduction(struct path *path, const struct path *own, const struct le_node *reduction);
bool le_has_index(const int *set, int count, int index);
#endif
