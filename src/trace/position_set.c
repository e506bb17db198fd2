/* See position_set.h. Open addressing; the table is at most three quarters full. */
#include "trace/position_set.h"
#include "base/memory.h"
#include "trace/index.h"

enum { SLOTS_LEAST = 64 };

int32_t le_position_set_next(const struct le_position_set *set, uint32_t hash, int64_t *slot) {
    if (set->capacity == 0)
        return LE_NONE;
    int64_t mask = set->capacity - 1, at = *slot == LE_NONE ? hash & mask : (*slot + 1) & mask;
    while (set->slots[at].position != LE_NONE && set->slots[at].hash != hash)
        at = (at + 1) & mask;
    *slot = at;
    return set->slots[at].position;
}

static void put_slot(struct le_position_set *set, struct le_position_slot slot) {
    int64_t mask = set->capacity - 1, at = slot.hash & mask;
    while (set->slots[at].position != LE_NONE)
        at = (at + 1) & mask;
    set->slots[at] = slot;
}

static bool grow_slots(struct le_position_set *set) {
    struct le_position_set larger = {.count = set->count, .capacity = set->capacity ? 2 * set->capacity : SLOTS_LEAST};
    larger.slots = le_alloc((size_t)larger.capacity * sizeof *larger.slots);
    if (!larger.slots)
        return false;
    for (int64_t k = 0; k < larger.capacity; k++)
        larger.slots[k].position = LE_NONE;
    for (int64_t k = 0; k < set->capacity; k++)
        if (set->slots[k].position != LE_NONE)
            put_slot(&larger, set->slots[k]);
    le_free(set->slots);
    *set = larger;
    return true;
}

bool le_position_set_add(struct le_position_set *set, uint32_t hash, int32_t position) {
    if (4 * set->count >= 3 * set->capacity && !grow_slots(set))
        return false;
    put_slot(set, (struct le_position_slot){.hash = hash, .position = position});
    set->count++;
    return true;
}

void le_position_set_finish(struct le_position_set *set) {
    le_free(set->slots);
    *set = (struct le_position_set){0};
}
