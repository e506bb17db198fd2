/* The loops around a node, for inline.c, hoist.c and find_scans.c. */
#include "ir/path.h"

bool le_has_index(const int *set, int count, int index) {
    for (int k = 0; k < count; k++)
        if (set[k] == index)
            return true;
    return false;
}

struct path le_path_enter(struct le_arena *arena, struct path path, const int *indices, int count) {
    int *at = LE_NEW_ARRAY(arena, path.count + count, int);
    for (int k = 0; k < path.count; k++)
        at[k] = path.at[k];
    for (int k = 0; k < count; k++)
        at[path.count + k] = indices[k];
    return (struct path){.at = at, .count = path.count + count};
}

bool le_path_begins(const struct path *path, const int *set, int count) {
    if (count > path->count)
        return false;
    for (int k = 0; k < count; k++)
        if (!le_has_index(set, count, path->at[k]))
            return false;
    return true;
}

struct path le_path_of(const struct le_ir *ir, const struct le_node *node) {
    int *at = LE_NEW_ARRAY(ir->arena, node->free_count, int), count = 0;
    for (int k = 0; k < node->free_count; k++)
        if (!ir->indices.at[node->free[k]].host)
            at[count++] = node->free[k];
    return (struct path){.at = at, .count = count};
}

struct path le_path_enter_reduction(struct le_arena *arena, struct path path, struct path own,
                                    const struct le_node *reduction) {
    if (le_path_begins(&path, own.at, own.count))
        path.count = own.count;
    return le_path_enter(arena, path, reduction->indices, reduction->index_count);
}
