/* The loops around a node: the stage's, then those of the reductions that it stands in. A path never changes: entering
 * a loop makes another one, in the arena, so that paths may be copied and kept. */
#ifndef LE_PATH_H
#define LE_PATH_H
#include "ir/ir.h"

struct path {
    const int *at;
    int count;
};

struct path le_path_enter(struct le_arena *arena, struct path path, const int *indices, int count);
/* Whether `set` is the outermost so many loops of the path. */
bool le_path_begins(const struct path *path, const int *set, int count);
/* The indices that a node depends on, but for the host's: those are fixed while a kernel runs. */
struct path le_path_of(const struct le_ir *ir, const struct le_node *node);
/* The loops around a reduction's body: those that it is computed in (it stands outside of the loops that it does not
 * depend on, own), then its own. */
struct path le_path_enter_reduction(struct le_arena *arena, struct path path, struct path own,
                                    const struct le_node *reduction);
bool le_has_index(const int *set, int count, int index);
#endif
