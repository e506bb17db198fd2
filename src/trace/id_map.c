/* See id_map.h. */
#include "trace/id_map.h"
#include "base/hash.h"
#include "base/memory.h"
#include "trace/index.h"

static struct le_id_slot *find_slot(const struct le_id_map *map, uint64_t id) {
    uint64_t mask = (uint64_t)map->capacity - 1, at = le_hash(&id, sizeof id, 0) & mask;
    while (map->slots[at].used && map->slots[at].id != id)
        at = (at + 1) & mask;
    return &map->slots[at];
}

int32_t le_id_map_get(const struct le_id_map *map, uint64_t id) {
    if (map->capacity == 0)
        return LE_NONE;
    const struct le_id_slot *slot = find_slot(map, id);
    return slot->used ? slot->position : LE_NONE;
}

static bool grow(struct le_id_map *map) {
    struct le_id_map larger = {.capacity = map->capacity ? 2 * map->capacity : 64, .count = map->count};
    larger.slots = le_alloc_zero((size_t)larger.capacity, sizeof *larger.slots);
    if (!larger.slots)
        return false;
    for (int64_t k = 0; k < map->capacity; k++)
        if (map->slots[k].used)
            *find_slot(&larger, map->slots[k].id) = map->slots[k];
    le_free(map->slots);
    *map = larger;
    return true;
}

bool le_id_map_put(struct le_id_map *map, uint64_t id, int32_t position) {
    if (map->count >= map->capacity / 2 && !grow(map))
        return false;
    struct le_id_slot *slot = find_slot(map, id);
    map->count += !slot->used;
    *slot = (struct le_id_slot){.id = id, .position = position, .used = true};
    return true;
}

void le_id_map_finish(struct le_id_map *map) {
    le_free(map->slots);
    *map = (struct le_id_map){0};
}
