/* See id_map.h. An ID goes into the flat array if at least a quarter of the IDs below it are there, so the array stays
 * at least a quarter full. An ID that was hashed before keeps its slot, which is no longer read once the ID is in the
 * flat array. */
#include "trace/id_map.h"
#include "base/hash.h"
#include "base/memory.h"
#include "trace/index.h"

enum { FLAT_LEAST = 256, FLAT_SPARSE = 4, SLOTS_LEAST = 64 };

static bool is_full(const struct le_id_map *map) {
    return 4 * map->count >= 3 * map->capacity;
}

/* The ID's slot, or the free slot where it would go. */
static int64_t find_slot(const struct le_id_map *map, uint64_t id) {
    uint64_t mask = (uint64_t)map->capacity - 1, at = le_hash(&id, sizeof id, 0) & mask;
    while (map->positions[at] != LE_NONE && map->ids[at] != id)
        at = (at + 1) & mask;
    return (int64_t)at;
}

int32_t le_id_map_get(const struct le_id_map *map, uint64_t id) {
    if (id < (uint64_t)map->flat_count && map->flat[id] != LE_NONE)
        return map->flat[id];
    return map->capacity ? map->positions[find_slot(map, id)] : LE_NONE;
}

static bool grow_slots(struct le_id_map *map) {
    struct le_id_map larger = {.count = map->count, .capacity = map->capacity ? 2 * map->capacity : SLOTS_LEAST};
    larger.ids = le_alloc((size_t)larger.capacity * sizeof *larger.ids);
    larger.positions = le_alloc((size_t)larger.capacity * sizeof *larger.positions);
    if (!larger.ids || !larger.positions) {
        le_free(larger.ids);
        le_free(larger.positions);
        return false;
    }
    for (int64_t k = 0; k < larger.capacity; k++)
        larger.positions[k] = LE_NONE;
    for (int64_t k = 0; k < map->capacity; k++) {
        if (map->positions[k] == LE_NONE)
            continue;
        int64_t slot = find_slot(&larger, map->ids[k]);
        larger.ids[slot] = map->ids[k];
        larger.positions[slot] = map->positions[k];
    }
    le_free(map->ids);
    le_free(map->positions);
    map->ids = larger.ids;
    map->positions = larger.positions;
    map->capacity = larger.capacity;
    return true;
}

static bool put_slot(struct le_id_map *map, uint64_t id, int32_t position) {
    if (is_full(map) && !grow_slots(map))
        return false;
    int64_t slot = find_slot(map, id);
    map->count += map->positions[slot] == LE_NONE;
    map->ids[slot] = id;
    map->positions[slot] = position;
    return true;
}

static bool belongs_in_flat(const struct le_id_map *map, uint64_t id) {
    return id < FLAT_LEAST || id / FLAT_SPARSE < (uint64_t)map->flat_used;
}

static bool grow_flat(struct le_id_map *map, uint64_t id) {
    int64_t larger = map->flat_count ? 2 * map->flat_count : FLAT_LEAST;
    while ((uint64_t)larger <= id)
        larger *= 2;
    int32_t *flat = le_realloc(map->flat, (size_t)larger * sizeof *flat);
    if (!flat)
        return false;
    for (int64_t k = map->flat_count; k < larger; k++)
        flat[k] = LE_NONE;
    map->flat = flat;
    map->flat_count = larger;
    return true;
}

bool le_id_map_put(struct le_id_map *map, uint64_t id, int32_t position) {
    if (!belongs_in_flat(map, id))
        return put_slot(map, id, position);
    if (id >= (uint64_t)map->flat_count && !grow_flat(map, id))
        return false;
    map->flat_used += map->flat[id] == LE_NONE;
    map->flat[id] = position;
    return true;
}

void le_id_map_finish(struct le_id_map *map) {
    le_free(map->flat);
    le_free(map->ids);
    le_free(map->positions);
    *map = (struct le_id_map){0};
}
