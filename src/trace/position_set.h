/* Positions of a table's rows by the rows' hashes, so that equal rows can be one. The table is the caller's: it
 * compares what has the same hash. {0} is empty. */
#ifndef LE_POSITION_SET_H
#define LE_POSITION_SET_H
#include <stdbool.h>
#include <stdint.h>

struct le_position_set {
    struct le_position_slot {
        uint32_t hash;
        int32_t position; /* LE_NONE: free */
    } * slots;
    int64_t count, capacity;
};
/* The next one with this hash; *slot is LE_NONE before the first. LE_NONE: there is no other. */
int32_t le_position_set_next(const struct le_position_set *set, uint32_t hash, int64_t *slot);
bool le_position_set_add(struct le_position_set *set, uint32_t hash, int32_t position); /* false: no memory */
void le_position_set_finish(struct le_position_set *set);
#endif
