/* See sort_start.h. */
#include "trace/sort_start.h"
#include "base/memory.h"
#include <string.h>

enum { ELEMENT_MOST_BYTES = 256 };

static bool is_before(const struct le_sort_key *a, const struct le_sort_key *b) {
    return a->key < b->key || (a->key == b->key && a->tie < b->tie);
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* from[low..middle) and from[middle..high) are in order. */
static void merge(const struct le_sort_key *from, struct le_sort_key *to, int64_t low, int64_t middle, int64_t high) {
    if (middle >= high || !is_before(&from[middle], &from[middle - 1])) {
        memcpy(to + low, from + low, (size_t)(high - low) * sizeof *to);
        return;
    }
    int64_t left = low, right = middle;
    for (int64_t k = low; k < high; k++) {
        bool from_right = left == middle || (right < high && is_before(&from[right], &from[left]));
        to[k] = from[from_right ? right++ : left++];
    }
}

static bool is_sorted(const struct le_sort_key *keys, int32_t count) {
    for (int32_t k = 1; k < count; k++)
        if (is_before(&keys[k], &keys[k - 1]))
            return false;
    return true;
}

bool le_sort_keys(struct le_sort_key *keys, int32_t count) {
    if (is_sorted(keys, count))
        return true;
    struct le_sort_key *spare = le_alloc((size_t)count * sizeof *spare), *from = keys, *to = spare;
    if (!spare)
        return false;
    for (int64_t width = 1; width < count; width *= 2) {
        for (int64_t low = 0; low < count; low += 2 * width)
            merge(from, to, low, least(low + width, count), least(low + 2 * width, count));
        struct le_sort_key *swapped = from;
        from = to;
        to = swapped;
    }
    if (from != keys)
        memcpy(keys, from, (size_t)count * sizeof *keys);
    le_free(spare);
    return true;
}

/* Each cycle of the permutation is walked once; an index that points at itself is done. */
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
