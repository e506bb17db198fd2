/* Numbers to positions. Those that are handed out one after the other from 0 or 1 on, as a part's texts and sources
 * are, take 4 bytes each; others a slot of a table with open addressing. {0} is empty. */
#ifndef LE_ID_MAP_H
#define LE_ID_MAP_H
#include <stdbool.h>
#include <stdint.h>

struct le_id_map {
    int32_t *flat; /* positions of the numbers below near_count; LE_NONE: not here */
    int64_t flat_count, flat_used;
    uint64_t *ids; /* of slots */
    int32_t *positions;
    int64_t count, capacity; /* of slots */
};
int32_t le_id_map_get(const struct le_id_map *map, uint64_t id);          /* LE_NONE: absent */
bool le_id_map_put(struct le_id_map *map, uint64_t id, int32_t position); /* replaces; false: no memory */
void le_id_map_finish(struct le_id_map *map);
#endif
