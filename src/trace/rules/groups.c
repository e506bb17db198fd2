/* See groups.h. Open addressing over a table of positions that is at most two thirds full. */
#include "trace/rules/groups.h"
#include "base/hash.h"
#include <stdlib.h>

static int *slot_of(const struct le_position_groups *groups, uint64_t key) {
    uint64_t mask = (uint64_t)groups->slot_count - 1, at = le_hash(&key, sizeof key, 0) & mask;
    while (groups->slots[at] && groups->at[groups->slots[at] - 1].key != key)
        at = (at + 1) & mask;
    return &groups->slots[at];
}

static void grow_slots(struct le_arena *arena, struct le_position_groups *groups) {
    groups->slot_count = groups->slot_count ? 2 * groups->slot_count : 64;
    groups->slots = LE_NEW_ARRAY(arena, groups->slot_count, int);
    for (int k = 0; k < groups->count; k++)
        *slot_of(groups, groups->at[k].key) = k + 1;
}

struct le_position_group *le_groups_get(struct le_arena *arena, struct le_position_groups *groups, uint64_t key) {
    if (3 * (int64_t)groups->count >= 2 * (int64_t)groups->slot_count)
        grow_slots(arena, groups);
    if (!groups->at && groups->most) {
        groups->at = LE_NEW_ARRAY(arena, groups->most, struct le_position_group);
        groups->capacity = groups->most;
    }
    int *slot = slot_of(groups, key);
    if (!*slot) {
        *LE_PUSH(arena, groups) = (struct le_position_group){.key = key};
        *slot = groups->count;
    }
    return &groups->at[*slot - 1];
}

static int compare_groups(const void *a_, const void *b_) {
    const struct le_position_group *a = a_, *b = b_;
    if (a->extra_ns != b->extra_ns)
        return a->extra_ns > b->extra_ns ? -1 : 1;
    return a->first < b->first ? -1 : a->first > b->first;
}

void le_groups_sort(struct le_position_groups *groups) {
    if (groups->count > 1)
        qsort(groups->at, (size_t)groups->count, sizeof *groups->at, compare_groups);
    groups->slot_count = 0; /* the slots' positions are no longer valid */
}

void le_groups_sum(const struct le_position_groups *groups, uint64_t *time_ns, uint64_t *extra_ns) {
    *time_ns = *extra_ns = 0;
    for (int k = 0; k < groups->count; k++) {
        *time_ns += groups->at[k].extra_ns ? groups->at[k].time_ns : 0;
        *extra_ns += groups->at[k].extra_ns;
    }
}
