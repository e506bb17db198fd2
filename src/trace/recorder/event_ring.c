/* See event_ring.h. `reserved` and `taken` count all bytes since the start; their difference is at most the ring's
 * size. */
#include "trace/recorder/event_ring.h"
#include <string.h>
#include <sys/mman.h>

enum { PAD = 0xffff /* the kind of a record that fills the rest of the ring */ };

bool le_event_ring_init(struct le_event_ring *ring) {
    void *words = mmap(NULL, LE_EVENT_RING_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *ring = (struct le_event_ring){.words = words == MAP_FAILED ? NULL : words};
    return ring->words != NULL;
}

void le_event_ring_finish(struct le_event_ring *ring) {
    if (ring->words)
        munmap(ring->words, LE_EVENT_RING_BYTES);
    ring->words = NULL;
}

static _Atomic uint64_t *head_at(struct le_event_ring *ring, uint64_t position) {
    return (_Atomic uint64_t *)&ring->words[position % LE_EVENT_RING_BYTES / 8];
}

static uint64_t make_head(uint32_t kind, uint64_t size_bytes) {
    struct le_trace_record record = {.kind = (uint16_t)kind, .bytes = (uint32_t)size_bytes};
    uint64_t head;
    memcpy(&head, &record, sizeof head);
    return head;
}

/* Reserves size_bytes contiguous bytes for the caller. If they do not fit before the end of the ring, a pad fills the
 * rest and they begin at the start. */
static bool reserve_bytes(struct le_event_ring *ring, uint64_t size_bytes, uint64_t *position) {
    uint64_t at = atomic_load_explicit(&ring->reserved, memory_order_relaxed), pad;
    do {
        uint64_t left = LE_EVENT_RING_BYTES - at % LE_EVENT_RING_BYTES;
        pad = left < size_bytes ? left : 0;
        uint64_t taken = atomic_load_explicit(&ring->taken, memory_order_acquire);
        if (at + pad + size_bytes - taken > LE_EVENT_RING_BYTES)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&ring->reserved, &at, at + pad + size_bytes, memory_order_relaxed,
                                                    memory_order_relaxed));
    if (pad)
        atomic_store_explicit(head_at(ring, at), make_head(PAD, pad), memory_order_release);
    *position = at + pad;
    return true;
}

bool le_event_ring_put(struct le_event_ring *ring, enum le_trace_kind kind, const void *structure,
                       size_t structure_bytes, const void *bytes, size_t length) {
    size_t size_bytes = (sizeof(struct le_trace_record) + structure_bytes + length + 7) & ~(size_t)7;
    uint64_t position;
    if (size_bytes > LE_EVENT_MOST_BYTES || !reserve_bytes(ring, size_bytes, &position)) {
        atomic_fetch_add_explicit(&ring->dropped, 1, memory_order_relaxed);
        return false;
    }
    char *at = (char *)&ring->words[position % LE_EVENT_RING_BYTES / 8] + sizeof(struct le_trace_record);
    memcpy(at, structure, structure_bytes);
    if (length)
        memcpy(at + structure_bytes, bytes, length);
    atomic_store_explicit(head_at(ring, position), make_head(kind, size_bytes), memory_order_release);
    return true;
}

uint64_t le_event_ring_ready(struct le_event_ring *ring) {
    uint64_t taken = atomic_load_explicit(&ring->taken, memory_order_relaxed), at = taken, head;
    while (at - taken < LE_EVENT_RING_BYTES &&
           (head = atomic_load_explicit(head_at(ring, at), memory_order_acquire)) != 0)
        at += head >> 32;
    return at;
}

void le_event_ring_take(struct le_event_ring *ring, uint64_t ready, le_event_take *take, void *user) {
    uint64_t at = atomic_load_explicit(&ring->taken, memory_order_relaxed);
    while (at != ready) {
        struct le_trace_record *record = (struct le_trace_record *)&ring->words[at % LE_EVENT_RING_BYTES / 8];
        uint32_t size_bytes = record->bytes;
        if (record->kind != PAD)
            take(user, record);
        memset(record, 0, size_bytes);
        at += size_bytes;
        atomic_store_explicit(&ring->taken, at, memory_order_release);
    }
}

bool le_event_ring_is_half_full(struct le_event_ring *ring) {
    return atomic_load_explicit(&ring->reserved, memory_order_relaxed) -
               atomic_load_explicit(&ring->taken, memory_order_relaxed) >
           LE_EVENT_RING_BYTES / 2;
}
