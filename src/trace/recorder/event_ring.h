/* A ring buffer that passes records from the program's threads to the writer's thread. Any thread puts whole records;
 * one thread takes them, in order. No operation waits or allocates; records that do not fit are counted. A record's
 * head is written last and makes the record visible. */
#ifndef LE_EVENT_RING_H
#define LE_EVENT_RING_H
#include "trace/format.h"
#include <stdatomic.h>
#include <stdbool.h>

enum { LE_EVENT_RING_BYTES = 8 << 20, LE_EVENT_MOST_BYTES = 8 << 10 };

struct le_event_ring {
    uint64_t *words; /* 0 where there is no record */
    _Atomic uint64_t reserved, taken, dropped;
};

bool le_event_ring_init(struct le_event_ring *ring);
void le_event_ring_finish(struct le_event_ring *ring);
/* Puts a record with a structure and `length` bytes after it. False: it did not fit, and was counted. */
bool le_event_ring_put(struct le_event_ring *ring, enum le_trace_kind kind, const void *structure,
                       size_t structure_bytes, const void *bytes, size_t length);
/* For one thread. le_event_ring_ready returns the position up to which records are complete; le_event_ring_take passes
 * the records before such a position to `take` and removes them. */
uint64_t le_event_ring_ready(struct le_event_ring *ring);
typedef void le_event_take(void *user, const struct le_trace_record *record);
void le_event_ring_take(struct le_event_ring *ring, uint64_t ready, le_event_take *take, void *user);
/* Whether more than half of the ring is full. */
bool le_event_ring_is_half_full(struct le_event_ring *ring);
#endif
