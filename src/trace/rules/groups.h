/* Counts and times by key, in the order in which keys were first seen, in an arena. {0} is empty. If `most` is set to
 * the largest possible number of keys, the table is allocated at once for all of them, because growing would leave the
 * smaller tables in the arena. Pages that are not used take no memory. */
#ifndef LE_GROUPS_H
#define LE_GROUPS_H
#include "base/arena.h"
#include <stdint.h>

struct le_position_group {
    uint64_t key, time_ns, bytes;
    uint64_t extra_ns; /* for the rule's use */
    uint32_t count;
    int32_t first; /* position of the first member; set by the rule */
};
struct le_position_groups {
    struct le_position_group *at;
    int count, capacity, most;
    int *slots; /* positions in `at`, plus 1; 0 is free */
    int slot_count;
};
/* Returns the key's group, and adds an empty one for a new key. The pointer is valid until the next call. */
struct le_position_group *le_groups_get(struct le_arena *arena, struct le_position_groups *groups, uint64_t key);
/* NULL: no such key */
/* Sums extra_ns over all groups, and time_ns over the groups whose extra_ns is not 0. */
void le_groups_sum(const struct le_position_groups *groups, uint64_t *time_ns, uint64_t *extra_ns);
/* Sorts by extra_ns, largest first; then by `first`. */
void le_groups_sort(struct le_position_groups *groups);
#endif
