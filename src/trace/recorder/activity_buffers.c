/* See activity_buffers.h. */
#include "trace/recorder/activity_buffers.h"
#include <string.h>
#include <sys/mman.h>

#define TOTAL_BYTES ((size_t)LE_ACTIVITY_BUFFERS * LE_ACTIVITY_BUFFER_BYTES)

bool le_activity_buffers_init(struct le_activity_buffers *buffers) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *memory = mmap(NULL, TOTAL_BYTES, PROT_READ | PROT_WRITE, flags, -1, 0);
    *buffers = (struct le_activity_buffers){.memory = memory == MAP_FAILED ? NULL : memory};
    return buffers->memory != NULL;
}

void le_activity_buffers_finish(struct le_activity_buffers *buffers) {
    if (buffers->memory)
        munmap(buffers->memory, TOTAL_BYTES);
    buffers->memory = NULL;
}

/* Takes the first free buffer, so that few buffers are ever touched. */
uint8_t *le_activity_buffer_get(struct le_activity_buffers *buffers) {
    for (size_t k = 0; k < LE_ACTIVITY_BUFFERS / 64; k++) {
        uint64_t used = atomic_load_explicit(&buffers->used[k], memory_order_relaxed);
        while (~used) {
            uint64_t bit = ~used & (used + 1);
            if (atomic_compare_exchange_weak_explicit(&buffers->used[k], &used, used | bit, memory_order_acquire,
                                                      memory_order_relaxed))
                return buffers->memory + (64 * k + (size_t)__builtin_ctzll(bit)) * LE_ACTIVITY_BUFFER_BYTES;
        }
    }
    return NULL;
}

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE                                                                                            \
    23 /* since Linux 5.14; on older kernels the call fails and pages are allocated on first use */
#endif

void le_activity_buffers_warm(struct le_activity_buffers *buffers) {
    enum { AHEAD = 32 };
    uint32_t wanted = AHEAD;
    for (uint32_t k = 0; k < LE_ACTIVITY_BUFFERS / 64; k++) {
        uint64_t used = atomic_load_explicit(&buffers->used[k], memory_order_relaxed);
        if (used)
            wanted = 64 * k + 64 - (uint32_t)__builtin_clzll(used) + AHEAD;
    }
    if (wanted > LE_ACTIVITY_BUFFERS)
        wanted = LE_ACTIVITY_BUFFERS;
    if (wanted <= buffers->warm)
        return;
    madvise(buffers->memory + (size_t)buffers->warm * LE_ACTIVITY_BUFFER_BYTES,
            (size_t)(wanted - buffers->warm) * LE_ACTIVITY_BUFFER_BYTES, MADV_POPULATE_WRITE);
    buffers->warm = wanted;
}

/* Clears a page more than is valid, because an incomplete record may follow. */
static void clear_buffer(struct le_activity_buffers *buffers, uint32_t k) {
    enum { PAGE_BYTES = 4096 };
    size_t size_bytes = buffers->valid_bytes[k] + (size_t)PAGE_BYTES;
    memset(buffers->memory + (size_t)k * LE_ACTIVITY_BUFFER_BYTES, 0,
           size_bytes < LE_ACTIVITY_BUFFER_BYTES ? size_bytes : LE_ACTIVITY_BUFFER_BYTES);
}

static void release_buffer(struct le_activity_buffers *buffers, uint32_t k) {
    atomic_fetch_and_explicit(&buffers->used[k / 64], ~((uint64_t)1 << k % 64), memory_order_release);
}

void le_activity_buffer_full(struct le_activity_buffers *buffers, const uint8_t *buffer, size_t valid_bytes) {
    uint32_t k = (uint32_t)((size_t)(buffer - buffers->memory) / LE_ACTIVITY_BUFFER_BYTES);
    buffers->valid_bytes[k] = (uint32_t)valid_bytes;
    uint32_t before = atomic_load_explicit(&buffers->full, memory_order_relaxed);
    do
        buffers->next[k] = before;
    while (!atomic_compare_exchange_weak_explicit(&buffers->full, &before, k + 1, memory_order_release,
                                                  memory_order_relaxed));
}

void le_activity_buffers_take(struct le_activity_buffers *buffers, le_activity_take *take, void *user) {
    uint32_t last = atomic_exchange_explicit(&buffers->full, 0, memory_order_acquire), first = 0;
    while (last) { /* reverse the list: first in, first out */
        uint32_t before = buffers->next[last - 1];
        buffers->next[last - 1] = first;
        first = last;
        last = before;
    }
    while (first) {
        uint32_t k = first - 1;
        first = buffers->next[k];
        take(user, buffers->memory + (size_t)k * LE_ACTIVITY_BUFFER_BYTES, buffers->valid_bytes[k]);
        if (buffers->clears)
            clear_buffer(buffers, k);
        release_buffer(buffers, k);
    }
}
