/* Streams: created, wrapped, freed and waited for. A freed stream stays in the device's list until its work is done, so
 * that allocations it used remain ordered after that work. order.c orders work between streams.
 *
 * The list is under the device's lock. */
#include "base/cancel.h"
#include "base/clock.h"
#include "base/memory.h"
#include "device/front/device_state.h"
#include "device/front/staging.h"
#include <string.h>

enum { ASKS = 4 }; /* driver queries about freed streams each time a stream is created */

void le_stream_settle(struct le_device *device, uint64_t stream_id) {
    struct le_staging *stager = atomic_load_explicit(&device->stager, memory_order_acquire);
    if (stager)
        le_staging_settle(stager, stream_id);
}

bool le_stream_is_settled(struct le_device *device, uint64_t stream_id) {
    struct le_staging *stager = atomic_load_explicit(&device->stager, memory_order_acquire);
    return !stager || le_staging_is_settled(stager, stream_id);
}

/* ---- the list of streams; call with the lock held */

static leat_status append_stream(struct le_device *device, struct le_device_stream *stream) {
    if (device->stream_count == device->stream_capacity) {
        int capacity = device->stream_capacity ? 2 * device->stream_capacity : 16;
        struct le_device_stream **grown = le_realloc(device->streams, (size_t)capacity * sizeof *grown);
        if (!grown)
            return le_fail_out_of_memory((size_t)capacity * sizeof *grown);
        device->streams = grown;
        device->stream_capacity = capacity;
    }
    stream->id = ++device->last_stream_id;
    device->streams[device->stream_count++] = stream;
    return LEAT_OK;
}

void le_stream_free(struct le_device_stream *stream) {
    le_cancel_token_drop(stream->token);
    le_free(stream->seen);
    le_free(stream);
}

static void forget_stream(struct le_device *device, int k) {
    struct le_device_stream *stream = device->streams[k];
    device->stream_count--;
    memmove(&device->streams[k], &device->streams[k + 1], (size_t)(device->stream_count - k) * sizeof *device->streams);
    le_mark_drop(device, stream->mark);
    le_stream_free(stream);
}

/* Frees the native stream of a freed stream once no one else uses it. Its work goes on. */
static void finish_stream(struct le_device_stream *stream) {
    struct le_device *device = stream->device;
    uint64_t unsettled = 0;
    if (stream->pins > 0 || !le_stream_is_settled(device, stream->id))
        return;
    if (stream->passed < stream->number && !atomic_load(&device->failed))
        if (le_stream_mark(stream, &unsettled) || unsettled)
            return;
    if (!stream->foreign)
        device->ops->stream_free(device->native, stream->native);
    stream->finished = true;
}

/* *asks: how many more unfinished streams to ask the driver about. */
static bool is_stream_done(struct le_device_stream *stream, int *asks) {
    struct le_device *device = stream->device;
    bool passed = stream->passed >= stream->number || atomic_load(&device->failed);
    if (passed || *asks == 0 || !stream->mark)
        return passed;
    if (device->ops->event_query(device->native, stream->mark->event, &passed) == LEAT_OK && passed)
        le_stream_passed(stream, stream->mark->number);
    *asks -= !passed;
    return passed;
}

void le_streams_sweep(struct le_device *device, bool ask) {
    int asks = ask ? ASKS : 0, k = 0;
    le_errors_save();
    while (k < device->stream_count) { /* oldest first */
        struct le_device_stream *stream = device->streams[k];
        if (stream->freed && !stream->finished)
            finish_stream(stream);
        if (stream->finished && is_stream_done(stream, &asks))
            forget_stream(device, k);
        else
            k++;
    }
    le_errors_restore();
}

/* ---- new and free */

leat_status le_stream_make(struct le_device *device, void *native, bool foreign, struct le_device_stream **stream) {
    struct le_device_stream *made = le_alloc_zero(1, sizeof *made);
    struct le_cancel_token *token = le_cancel_token_new();
    if (!made || !token) {
        le_cancel_token_drop(token);
        le_free(made);
        return le_fail_out_of_memory(sizeof *made);
    }
    made->device = device;
    made->foreign = foreign;
    made->native = native;
    made->token = token;
    leat_status status = foreign ? device->ops->stream_check(device->native, native)
                                 : device->ops->stream_new(device->native, &made->native);
    if (status) {
        le_cancel_token_drop(made->token);
        le_free(made);
        return status;
    }
    pthread_mutex_lock(&device->lock);
    le_streams_sweep(device, true);
    status = append_stream(device, made);
    pthread_mutex_unlock(&device->lock);
    if (status) {
        if (!foreign)
            device->ops->stream_free(device->native, made->native);
        le_cancel_token_drop(made->token);
        le_free(made);
        return status;
    }
    *stream = made;
    return LEAT_OK;
}

leat_status le_device_stream_new(struct le_device *device, void *native, struct le_device_stream **stream) {
    leat_status status = le_device_check(device);
    if (!status)
        status = le_stream_make(device, native, native != NULL, stream);
    if (!status)
        le_device_retain(device);
    return status;
}

void le_device_stream_free(struct le_device_stream *stream) {
    if (!stream || le_device_forked(stream->device))
        return;
    struct le_device *device = stream->device;
    pthread_mutex_lock(&device->lock);
    stream->freed = true;
    le_streams_sweep(device, false);
    pthread_mutex_unlock(&device->lock);
    le_device_release(device);
}

struct le_device_stream *le_device_stream_own(struct le_device *device) {
    return device->own;
}

void *le_device_stream_native(struct le_device_stream *stream) {
    return stream->native;
}

/* Work that another library gave to its stream is unknown, so each call makes a ticket. */
struct le_point le_device_stream_point(struct le_device_stream *stream) {
    struct le_device *device = stream->device;
    pthread_mutex_lock(&device->lock);
    if (stream->foreign && !device->limits.host_is_device)
        stream->number++;
    struct le_point point = {.stream_id = stream->id, .number = stream->number};
    pthread_mutex_unlock(&device->lock);
    return point;
}

/* ---- waiting */

leat_status le_device_stream_synchronize(struct le_device_stream *stream) {
    struct le_device *device = stream->device;
    leat_status status = le_device_check(device);
    if (status)
        return status;
    pthread_mutex_lock(&device->lock);
    uint64_t number = stream->number;
    pthread_mutex_unlock(&device->lock);
    le_stream_settle(device, stream->id);
    struct le_device_span span;
    le_device_span_begin(device, &span, LEAT_COST_WAIT, "stream", "");
    status = device->ops->stream_synchronize(device->native, stream->native);
    struct le_staging *stager = atomic_load_explicit(&device->stager, memory_order_acquire);
    leat_status staged = stager ? le_staging_wait(stager, stream->id, number) : LEAT_OK;
    le_device_span_end(&span, 0);
    if (status)
        return status;
    pthread_mutex_lock(&device->lock);
    le_stream_passed(stream, number);
    pthread_mutex_unlock(&device->lock);
    return staged;
}

/* The last ticket of each stream. NULL: out of memory; then no work is recorded as passed. */
static struct le_stream_wait *snapshot_points(struct le_device *device, int *count) {
    pthread_mutex_lock(&device->lock);
    *count = device->stream_count;
    struct le_stream_wait *points = le_alloc((size_t)*count * sizeof *points);
    for (int k = 0; points && k < *count; k++)
        points[k] = (struct le_stream_wait){device->streams[k]->id, device->streams[k]->number};
    pthread_mutex_unlock(&device->lock);
    return points;
}

static void mark_points_passed(struct le_device *device, const struct le_stream_wait *points, int count) {
    pthread_mutex_lock(&device->lock);
    for (int k = 0; points && k < count; k++) {
        struct le_device_stream *stream = le_stream_find(device, points[k].stream_id);
        if (stream)
            le_stream_passed(stream, points[k].number);
    }
    le_streams_sweep(device, false);
    pthread_mutex_unlock(&device->lock);
}

leat_status le_device_cancel(struct le_device *device) {
    leat_status status = le_device_check(device);
    if (status)
        return status;
    pthread_mutex_lock(&device->lock);
    for (int k = 0; k < device->stream_count; k++)
        le_cancel_token_request(device->streams[k]->token);
    pthread_mutex_unlock(&device->lock);
    return LEAT_OK;
}

/* The last wait is short, if no other library uses the device. */
leat_status le_device_synchronize_for(struct le_device *device, uint64_t limit_ns, bool *done) {
    uint64_t start_ns = le_clock_ns();
    int count;
    struct le_stream_wait *points = snapshot_points(device, &count);
    leat_status status = points || !count ? LEAT_OK : le_fail_out_of_memory((size_t)count * sizeof *points);
    bool passed = true;
    for (int k = 0; !status && passed && k < count; k++) {
        uint64_t spent_ns = le_clock_ns() - start_ns;
        status = le_device_wait_point_for(device, (struct le_point){points[k].stream_id, points[k].number},
                                          spent_ns < limit_ns ? limit_ns - spent_ns : 0, &passed);
    }
    le_free(points);
    *done = passed && !status;
    return *done ? le_device_synchronize(device) : status;
}

/* Work that other threads enqueue meanwhile may or may not be waited for. The tickets that count as passed are taken
 * before waiting for the stager: the driver may not have a copy yet that the stager gets later. */
leat_status le_device_synchronize(struct le_device *device) {
    leat_status status = le_device_check(device);
    if (status)
        return status;
    struct le_device_span span;
    int count;
    le_device_span_begin(device, &span, LEAT_COST_WAIT, "device", "");
    struct le_stream_wait *points = snapshot_points(device, &count);
    struct le_staging *stager = atomic_load_explicit(&device->stager, memory_order_acquire);
    leat_status staged = stager ? le_staging_wait_all(stager) : LEAT_OK;
    status = device->ops->synchronize(device->native);
    if (!status)
        mark_points_passed(device, points, count);
    le_free(points);
    le_device_span_end(&span, 0);
    if (status)
        return status;
    le_pools_trim(device, false);
    return staged;
}
