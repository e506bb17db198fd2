/* Maps IDs to positions. IDs that count up from 0 or 1, such as those of a part's texts and sources, take 4 bytes each
 * in a flat array; others take a slot in a hash table with open addressing. {0} is empty. */
#ifndef LE_ID_MAP_H
#define LE_ID_MAP_H
#include <stdbool.h>
#include <stdint.h>

struct le_id_map {
    int32_t *flat; /* by ID below flat_count: its position; LE_NONE: not in this array */
    int64_t flat_count, flat_used;
    uint64_t *ids; /* by slot */
    int32_t *positions;
    int64_t count, capacity; /* of the hash table */
};
int32_t le_id_map_get(const struct le_id_map *map, uint64_t id); /* LE_NONE: absent */
/* Adds the ID or replaces its position. False: no memory. */
bool le_id_map_put(struct le_id_map *map, uint64_t id, int32_t position);
void le_id_map_finish(struct le_id_map *map);
#endif
