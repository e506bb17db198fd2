/* The loops around a node, as inline.c, hoist.c and find_scans.c look at them. */
#include "ir/path.h"

bool le_has_index(const int *set, int count, int index) {
    for (int k = 0; k < count; k++)
        if (set[k] == index)
            return true;
    return false;
}

void le_path_enter(struct path *path, const int *indices, int count) {
    for (int k = 0; k < count && path->count < PATH_MAX; k++)
        path->at[path->count++] = indices[k];
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
    struct path out = {.count = 0};
    for (int k = 0; k < node->free_count; k++)
        if (!ir->indices.at[node->free[k]].host)
            le_path_enter(&out, &node->free[k], 1);
    return out;
}

void le_path_enter_reduction(struct path *path, const struct path *own, const struct le_node *reduction) {
    if (le_path_begins(path, own->at, own->count))
        path->count = own->count;
    le_path_enter(path, reduction->indices, reduction->index_count);
}
