/* See sort_start.h. */
#include "trace/sort_start.h"
#include "base/memory.h"
#include <string.h>

enum { ELEMENT_MOST_BYTES = 256 };

static bool is_before(const struct le_sort_key *a, const struct le_sort_key *b) {
    return a->key < b->key || (a->key == b->key && a->tie < b->tie);
}

/* keys[low..middle) and keys[middle..high) are sorted. spare has room for the first of them. */
static void merge_runs(struct le_sort_key *keys, struct le_sort_key *spare, int64_t low, int64_t middle, int64_t high) {
    if (!is_before(&keys[middle], &keys[middle - 1]))
        return;
    while (!is_before(&keys[middle], &keys[low]))
        low++;
    int64_t count = middle - low, left = 0, right = middle;
    memcpy(spare, keys + low, (size_t)count * sizeof *spare);
    for (int64_t k = low; left < count; k++)
        keys[k] = right < high && is_before(&keys[right], &spare[left]) ? keys[right++] : spare[left++];
}

static bool is_sorted(const struct le_sort_key *keys, int32_t count) {
    for (int32_t k = 1; k < count; k++)
        if (is_before(&keys[k], &keys[k - 1]))
            return false;
    return true;
}

static void sort_range(struct le_sort_key *keys, struct le_sort_key *spare, int64_t low, int64_t high) {
    int64_t middle = low + (high - low) / 2;
    if (high - low < 2)
        return;
    sort_range(keys, spare, low, middle);
    sort_range(keys, spare, middle, high);
    merge_runs(keys, spare, low, middle, high);
}

bool le_sort_keys(struct le_sort_key *keys, int32_t count) {
    if (is_sorted(keys, count))
        return true;
    struct le_sort_key *spare = le_alloc((size_t)(count / 2) * sizeof *spare);
    if (!spare)
        return false;
    sort_range(keys, spare, 0, count);
    le_free(spare);
    return true;
}

/* Follows each cycle of the permutation once. An index that points at itself is done. */
void le_sort_apply(struct le_sort_key *keys, int32_t count, void *at, size_t size_bytes) {
    unsigned char held[ELEMENT_MOST_BYTES], *bytes = at;
    for (int32_t start = 0; start < count; start++) {
        if (keys[start].index == (uint32_t)start)
            continue;
        memcpy(held, bytes + (size_t)start * size_bytes, size_bytes);
        size_t to = (size_t)start;
        while (keys[to].index != (uint32_t)start) {
            size_t from = keys[to].index;
            memcpy(bytes + to * size_bytes, bytes + from * size_bytes, size_bytes);
            keys[to].index = (uint32_t)to;
            to = from;
        }
        memcpy(bytes + to * size_bytes, held, size_bytes);
        keys[to].index = (uint32_t)to;
    }
}
