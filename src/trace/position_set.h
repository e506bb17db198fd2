/* Finds rows of a table by their hashes, so that equal rows can share one position. The table belongs to the caller,
 * who compares rows with equal hashes. {0} is empty. */
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
/* Returns the next position with this hash; LE_NONE: there are no more. *slot must be LE_NONE for the first call. */
int32_t le_position_set_next(const struct le_position_set *set, uint32_t hash, int64_t *slot);
bool le_position_set_add(struct le_position_set *set, uint32_t hash, int32_t position); /* false: no memory */
void le_position_set_finish(struct le_position_set *set);
#endif
