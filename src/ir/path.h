/* The path of a node: the loops around it, that is, the stage's indices followed by those of the enclosing reductions.
 * A path is immutable: entering a loop makes a new path in the arena, so paths can be copied and kept. */
#ifndef LE_PATH_H
#define LE_PATH_H
#include "ir/ir.h"

struct path {
    const int *at;
    int count;
};

struct path le_path_enter(struct le_arena *arena, struct path path, const int *indices, int count);
/* Whether the outermost `count` loops of the path are those in `set`, in any order. */
bool le_path_begins(const struct path *path, const int *set, int count);
/* The indices that a node depends on, without host indices, which are constant while a kernel runs. */
struct path le_path_of(const struct le_ir *ir, const struct le_node *node);
/* The loops around a reduction's body: the loops in which the reduction is computed, then its own. own: the indices
 * that the reduction depends on; if they are the outermost loops of the path, it is computed inside those only. */
struct path le_path_enter_reduction(struct le_arena *arena, struct path path, struct path own,
                                    const struct le_node *reduction);
bool le_has_index(const int *set, int count, int index);
#endif
