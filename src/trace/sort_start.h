/* Sorts large tables by time, through separate keys. Takes almost linear time if most rows are in order already. */
#ifndef LE_SORT_START_H
#define LE_SORT_START_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct le_sort_key {
    uint64_t key;
    uint32_t tie, index; /* equal keys are sorted by tie; equal ties keep their order */
};
/* Merge sort with a buffer for half of the keys. False: no memory. */
bool le_sort_keys(struct le_sort_key *keys, int32_t count);
/* Reorders the elements: the k-th becomes the one that was at keys[k].index. Overwrites the keys' indices. */
void le_sort_apply(struct le_sort_key *keys, int32_t count, void *at, size_t size_bytes);
#endif
