/* Records on their way from the program's threads to the writer's thread: a ring of bytes, in which any thread puts
 * whole records and one takes them out, in order. Nobody waits and nobody allocates: what does not fit is counted.
 * A record is there once its head is, which is written last. */
#ifndef LE_EVENT_RING_H
#define LE_EVENT_RING_H
#include "trace/format.h"
#include <stdatomic.h>
#include <stdbool.h>

enum { LE_EVENT_RING_BYTES = 8 << 20, LE_EVENT_MOST_BYTES = 8 << 10 };

struct le_event_ring {
    uint64_t *words; /* zeros, where no record is */
    _Atomic uint64_t reserved, taken, dropped;
};

bool le_event_ring_init(struct le_event_ring *ring);
void le_event_ring_finish(struct le_event_ring *ring);
/* Puts a record of a structure and, where length is not 0, bytes after it. False: it did not fit, and is counted. */
bool le_event_ring_put(struct le_event_ring *ring, enum le_trace_kind kind, const void *structure,
                       size_t structure_bytes, const void *bytes, size_t length);
/* One thread alone: up to where records are there; and those before that point, handed over and taken out. */
uint64_t le_event_ring_ready(struct le_event_ring *ring);
typedef void le_event_take(void *user, const struct le_trace_record *record);
void le_event_ring_take(struct le_event_ring *ring, uint64_t ready, le_event_take *take, void *user);
/* More than half of it is full. */
bool le_event_ring_is_half_full(struct le_event_ring *ring);
#endif
