/* For tests of the front door: a backend that does nothing but count, whose streams advance only on request. Each
 * operation carries a vector clock, so that a test can ask whether one operation comes before another. */
#ifndef LE_DEVICE_TESTING_H
#define LE_DEVICE_TESTING_H
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "device/device_open.h"
#include "device/front/device_state.h"
#include "base/memory.h"
#include <stdlib.h>
#include <string.h>

#define assert_ok(expression) assert_int_equal(expression, LEAT_OK)
#define assert_message(part)  assert_non_null(strstr(le_error_at(0)->message, part))
enum { FAKE_STREAMS = 64 };

struct fake_clock {
    uint64_t of[FAKE_STREAMS]; /* for each stream, the number of operations that come before */
};
struct fake_stream {
    int index;
    struct fake_clock clock;
    struct fake_clock *clocks; /* for each operation, from 1 */
    uint64_t enqueued, done;
};
struct fake_event {
    struct fake_clock clock;
    struct fake_stream *stream;
};
struct fake {
    struct le_device *device;
    int streams, live_streams, live_events, records, waits, queries, synchronizes, allocations, frees;
    size_t capacity_bytes, used_bytes; /* of device memory */
    leat_status failing;               /* returned by every call that can fail; fatal errors are latched */
    struct fake_stream *stream[FAKE_STREAMS];
    struct fake_noted {
        uint64_t address;
        size_t size_bytes;
        bool live;
    } noted[64];
    int noted_count;
};

static inline leat_status fake_result(struct fake *fake) {
    if (!fake->failing)
        return LEAT_OK;
    le_fail(fake->failing, "the fake fails");
    return le_device_latch(fake->device, fake->failing, "the advice");
}

static inline void fake_close(void *native) {
    free(native);
}

static inline leat_status fake_memory_new(void *native, enum le_memory_kind kind, size_t size_bytes, void **host,
                                          uint64_t *address) {
    struct fake *fake = native;
    if (fake->failing)
        return fake_result(fake);
    if (kind == LE_MEMORY_DEVICE && size_bytes > fake->capacity_bytes - fake->used_bytes)
        return le_fail(LEAT_OUT_OF_MEMORY, "the fake is full");
    fake->allocations++;
    fake->used_bytes += kind == LE_MEMORY_DEVICE ? size_bytes : 0;
    *host = malloc(16);
    *address = (uint64_t)(uintptr_t)*host << 16; /* not a valid host address */
    if (kind == LE_MEMORY_DEVICE) {
        free(*host);
        *host = NULL;
        *address = ((uint64_t)fake->allocations << 36);
    }
    return LEAT_OK;
}

static inline void fake_memory_free(void *native, enum le_memory_kind kind, void *host, uint64_t address,
                                    size_t size_bytes) {
    struct fake *fake = native;
    (void)address;
    fake->frees++;
    fake->used_bytes -= kind == LE_MEMORY_DEVICE ? size_bytes : 0;
    free(host);
}

static inline leat_status fake_memory_info(void *native, size_t *free_bytes, size_t *total_bytes) {
    struct fake *fake = native;
    *total_bytes = fake->capacity_bytes;
    *free_bytes = fake->capacity_bytes - fake->used_bytes;
    return LEAT_OK;
}

static inline void fake_memory_note(void *native, uint64_t address, size_t size_bytes, bool live) {
    struct fake *fake = native;
    fake->noted[fake->noted_count++ % 64] = (struct fake_noted){address, size_bytes, live};
}

static inline leat_status fake_host_pin(void *native, void *memory, size_t size_bytes, uint64_t *address) {
    (void)size_bytes;
    *address = (uint64_t)(uintptr_t)memory;
    return fake_result(native);
}

static inline leat_status fake_host_unpin(void *native, void *memory) {
    (void)memory;
    return fake_result(native);
}

static inline enum le_memory_kind fake_pointer_kind(void *native, const void *pointer, uint64_t *address) {
    (void)native;
    *address = (uint64_t)(uintptr_t)pointer;
    return (uintptr_t)pointer % 64 == 32 ? LE_MEMORY_PINNED : LE_MEMORY_HOST;
}

/* ---- streams and events */

static inline leat_status fake_stream_new(void *native, void **stream) {
    struct fake *fake = native;
    assert_true(fake->streams < FAKE_STREAMS);
    struct fake_stream *made = calloc(1, sizeof *made);
    made->index = fake->streams;
    fake->stream[fake->streams++] = made;
    fake->live_streams++;
    *stream = made;
    return LEAT_OK;
}

static inline leat_status fake_stream_check(void *native, void *stream) {
    (void)native, (void)stream;
    return LEAT_OK;
}

/* Its work goes on, so the struct stays until the test ends. */
static inline void fake_stream_free(void *native, void *stream) {
    (void)stream;
    ((struct fake *)native)->live_streams--;
}

static inline void fake_merge(struct fake_clock *to, const struct fake_clock *from) {
    for (int k = 0; k < FAKE_STREAMS; k++)
        if (from->of[k] > to->of[k])
            to->of[k] = from->of[k];
}

/* Completes the stream's work up to a position, and all work that must come before it. */
static inline void fake_advance(struct fake *fake, int index, uint64_t position) {
    struct fake_stream *stream = fake->stream[index];
    while (stream && stream->done < position) {
        struct fake_clock clock = stream->clocks[++stream->done];
        for (int k = 0; k < fake->streams; k++)
            if (k != index)
                fake_advance(fake, k, clock.of[k]);
    }
}

static inline void fake_advance_all(struct fake *fake, const struct fake_clock *clock) {
    for (int k = 0; k < fake->streams; k++)
        fake_advance(fake, k, clock->of[k]);
}

static inline void fake_enqueue(struct fake_stream *stream) {
    stream->clock.of[stream->index] = ++stream->enqueued;
    stream->clocks = realloc(stream->clocks, (stream->enqueued + 1) * sizeof *stream->clocks);
    stream->clocks[stream->enqueued] = stream->clock;
}

static inline leat_status fake_stream_wait(void *native, void *stream, void *event) {
    struct fake *fake = native;
    if (fake->failing)
        return fake_result(fake);
    fake->waits++;
    fake_merge(&((struct fake_stream *)stream)->clock, &((struct fake_event *)event)->clock);
    return LEAT_OK;
}

static inline leat_status fake_stream_synchronize(void *native, void *stream) {
    struct fake *fake = native;
    struct fake_stream *waited = stream;
    fake->synchronizes++;
    if (!fake->failing)
        fake_advance_all(fake, &waited->clock);
    return fake_result(fake);
}

static inline leat_status fake_synchronize(void *native) {
    struct fake *fake = native;
    fake->synchronizes++;
    for (int k = 0; k < fake->streams && !fake->failing; k++)
        fake_advance_all(fake, &fake->stream[k]->clock);
    return fake_result(fake);
}

static inline leat_status fake_event_new(void *native, bool timed, void **event) {
    struct fake *fake = native;
    (void)timed;
    if (fake->failing)
        return fake_result(fake);
    fake->live_events++;
    *event = calloc(1, sizeof(struct fake_event));
    return LEAT_OK;
}

static inline void fake_event_free(void *native, void *event) {
    ((struct fake *)native)->live_events--;
    free(event);
}

static inline leat_status fake_event_record(void *native, void *event, void *stream) {
    struct fake *fake = native;
    struct fake_event *recorded = event;
    if (fake->failing)
        return fake_result(fake);
    fake->records++;
    recorded->stream = stream;
    recorded->clock = recorded->stream->clock;
    return LEAT_OK;
}

static inline leat_status fake_event_synchronize(void *native, void *event) {
    struct fake *fake = native;
    struct fake_event *waited = event;
    fake->synchronizes++;
    if (!fake->failing)
        fake_advance_all(fake, &waited->clock);
    return fake_result(fake);
}

static inline leat_status fake_event_query(void *native, void *event, bool *passed) {
    struct fake *fake = native;
    struct fake_event *asked = event;
    fake->queries++;
    *passed = true;
    for (int k = 0; k < fake->streams; k++)
        *passed = *passed && fake->stream[k]->done >= asked->clock.of[k];
    return fake_result(fake);
}

static inline leat_status fake_event_elapsed(void *native, void *start, void *stop, double *milliseconds) {
    const struct fake_event *from = start, *to = stop;
    *milliseconds = (double)to->clock.of[to->stream->index] - (double)from->clock.of[from->stream->index];
    return fake_result(native);
}

static const struct le_device_ops fake_ops = {
    .close = fake_close,
    .memory_new = fake_memory_new,
    .memory_free = fake_memory_free,
    .memory_info = fake_memory_info,
    .memory_note = fake_memory_note,
    .host_pin = fake_host_pin,
    .host_unpin = fake_host_unpin,
    .pointer_kind = fake_pointer_kind,
    .stream_new = fake_stream_new,
    .stream_check = fake_stream_check,
    .stream_free = fake_stream_free,
    .stream_wait = fake_stream_wait,
    .stream_synchronize = fake_stream_synchronize,
    .synchronize = fake_synchronize,
    .event_new = fake_event_new,
    .event_free = fake_event_free,
    .event_record = fake_event_record,
    .event_synchronize = fake_event_synchronize,
    .event_query = fake_event_query,
    .event_elapsed = fake_event_elapsed,
};

/* ---- interface for tests */

static inline struct le_device *fake_open(const struct le_device_options *options, size_t capacity_bytes,
                                          struct fake **fake) {
    struct le_device *device = le_device_allocate(options);
    assert_non_null(device);
    *fake = calloc(1, sizeof **fake);
    (*fake)->device = device;
    (*fake)->capacity_bytes = capacity_bytes;
    device->ops = &fake_ops;
    device->native = *fake;
    device->limits = (struct le_device_limits){.kind = "fake", .capability = 90, .memory_bytes = capacity_bytes};
    assert_ok(le_device_start(device));
    return device;
}

/* Also frees the structs of the streams, which fake_stream_free leaves. */
static inline void fake_finish(struct le_device *device, struct fake *fake) {
    struct fake_stream *streams[FAKE_STREAMS];
    int count = fake->streams;
    memcpy(streams, fake->stream, sizeof streams);
    le_device_close(device);
    for (int k = 0; k < count; k++) {
        free(streams[k]->clocks);
        free(streams[k]);
    }
}

/* A position in a stream. */
struct fake_operation {
    int stream;
    uint64_t position;
    struct fake_clock clock;
};

/* Enqueues one operation on the allocations in the stream. Work that is done by then also comes before it. */
static inline struct fake_operation fake_use(struct le_device_stream *stream, const struct le_allocation_use *uses,
                                             int count) {
    struct fake_stream *native = stream->native;
    struct fake *fake = stream->device->native;
    assert_ok(le_order_begin(stream, uses, count));
    for (int k = 0; k < fake->streams; k++)
        if (fake->stream[k]->done)
            fake_merge(&native->clock, &fake->stream[k]->clocks[fake->stream[k]->done]);
    fake_enqueue(native);
    struct fake_operation operation = {native->index, native->enqueued, native->clock};
    le_order_end(stream, uses, count, true);
    return operation;
}

static inline struct fake_operation fake_touch(struct le_device_stream *stream, struct le_allocation *allocation,
                                               enum le_allocation_access access) {
    return fake_use(stream, &(struct le_allocation_use){allocation, access}, 1);
}

static inline bool fake_is_before(const struct fake_operation *first, const struct fake_operation *second) {
    return second->clock.of[first->stream] >= first->position;
}

static inline struct le_device_stream *fake_stream_of(struct le_device *device) {
    struct le_device_stream *stream = NULL;
    assert_ok(le_device_stream_new(device, NULL, &stream));
    return stream;
}

static inline struct le_allocation *fake_allocation(struct le_device *device, size_t size_bytes,
                                                    struct le_device_stream *stream) {
    struct le_allocation *allocation = NULL;
    assert_ok(le_allocation_new(device, LE_MEMORY_DEVICE, size_bytes, stream, &allocation));
    return allocation;
}
#endif
