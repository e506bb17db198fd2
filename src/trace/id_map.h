/* Numbers to positions, open addressing. {0} is empty. */
#ifndef LE_ID_MAP_H
#define LE_ID_MAP_H
#include <stdbool.h>
#include <stdint.h>

struct le_id_map {
    struct le_id_slot {
        uint64_t id;
        int32_t position;
        bool used;
    } * slots;
    int64_t count, capacity;
};
int32_t le_id_map_get(const struct le_id_map *map, uint64_t id);          /* LE_NONE: absent */
bool le_id_map_put(struct le_id_map *map, uint64_t id, int32_t position); /* replaces; false: no memory */
void le_id_map_finish(struct le_id_map *map);
#endif
