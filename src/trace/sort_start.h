/* Sorting of large tables by time: keys apart, in almost linear time where most is in order already. */
#ifndef LE_SORT_START_H
#define LE_SORT_START_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct le_sort_key {
    uint64_t key;
    uint32_t tie, index; /* of equal keys the smaller tie comes first, then the one that was first */
};
/* By merging in place, with room for half of them beside; false: no memory. */
bool le_sort_keys(struct le_sort_key *keys, int32_t count);
/* Puts elements where the keys say: the k-th becomes the one that keys[k].index names. Uses up the keys' indices. */
void le_sort_apply(struct le_sort_key *keys, int32_t count, void *at, size_t size_bytes);
#endif
