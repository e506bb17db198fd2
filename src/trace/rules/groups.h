/* Counts and times by a key, in the order in which keys were first seen. Memory is an arena's. {0} is empty; where
 * `most` says how many keys there may be, room for all is taken at once, of which only what is used is touched: growing
 * would leave the smaller tables behind. */
#ifndef LE_GROUPS_H
#define LE_GROUPS_H
#include "base/arena.h"
#include <stdint.h>

struct le_position_group {
    uint64_t key, time_ns, bytes;
    uint64_t extra_ns; /* what else the rule counts */
    uint32_t count;
    int32_t first; /* position of the first, by the rule */
};
struct le_position_groups {
    struct le_position_group *at;
    int count, capacity, most;
    int *slots; /* positions in `at`, plus 1; 0 is free */
    int slot_count;
};
/* The key's group; a new one counts 0. Valid until the next call. */
struct le_position_group *le_groups_get(struct le_arena *arena, struct le_position_groups *groups, uint64_t key);
const struct le_position_group *le_groups_find(const struct le_position_groups *groups,
                                               uint64_t key); /* NULL: never seen */
/* Of the groups that have something extra: their time; and the extra of all. */
void le_groups_sum(const struct le_position_groups *groups, uint64_t *time_ns, uint64_t *extra_ns);
/* The most expensive ones (extra_ns, then first seen) first. */
void le_groups_sort(struct le_position_groups *groups);
#endif
