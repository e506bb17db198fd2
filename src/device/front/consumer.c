/* Consumers: code of another library that uses an allocation in a stream of its own, between le_consumer_begin and
 * le_consumer_end. Leat does not see its work, so the end counts as an operation in that stream that comes after it.
 * Only the id of the stream is kept in between: the stream may be freed meanwhile. */
#include "device/front/device_state.h"

/* CUDA's handles of the default streams. The second means another stream in each thread, so the thread that ends the
 * use could not wait for it. */
static const uintptr_t LEGACY_HANDLE = 1, PER_THREAD_HANDLE = 2;

/* Keeps the stream from being forgotten until unpin_stream. Call with the lock held. */
static struct le_device_stream *pin_stream(struct le_device_stream *stream) {
    stream->pins++;
    return stream;
}

static void unpin_stream(struct le_device_stream *stream) {
    struct le_device *device = stream->device;
    pthread_mutex_lock(&device->lock);
    stream->pins--;
    if (stream->freed)
        le_streams_sweep(device, false);
    pthread_mutex_unlock(&device->lock);
}

/* NULL: no stream of the device has this handle, or its user has freed it. */
static struct le_device_stream *find_known(struct le_device *device, const void *native) {
    struct le_device_stream *known = NULL;
    pthread_mutex_lock(&device->lock);
    for (int k = 0; k < device->stream_count && !known; k++)
        if (device->streams[k]->native == native && !device->streams[k]->freed)
            known = pin_stream(device->streams[k]);
    pthread_mutex_unlock(&device->lock);
    return known;
}

leat_status le_stream_wait_use(struct le_device_stream *stream, struct le_allocation_use use) {
    leat_status status = le_order_begin(stream, &use, 1);
    le_order_end(stream, &use, 1, false);
    return status;
}

/* The legacy default stream always exists, so it becomes known at its first use, and stays so until the device is
 * destroyed. */
static leat_status make_legacy(struct le_device *device, struct le_device_stream **stream) {
    leat_status status = le_stream_make(device, (void *)LEGACY_HANDLE, true, stream);
    if (status)
        return status;
    pthread_mutex_lock(&device->lock);
    pin_stream(*stream);
    pthread_mutex_unlock(&device->lock);
    return LEAT_OK;
}

leat_status le_consumer_begin(struct le_allocation *allocation, enum le_allocation_access access, void *native,
                              uint64_t *stream_id) {
    struct le_device *device = allocation->device;
    const struct le_allocation_use use = {.allocation = allocation, .access = access};
    *stream_id = 0;
    if (!native || (uintptr_t)native == PER_THREAD_HANDLE || device->limits.host_is_device)
        return le_allocation_wait(allocation, access);
    leat_status status = le_device_check(device);
    if (status)
        return status;
    struct le_device_stream *stream = find_known(device, native);
    if (!stream && (uintptr_t)native == LEGACY_HANDLE && (status = make_legacy(device, &stream)))
        return status;
    if (stream) {
        *stream_id = stream->foreign ? stream->id : 0;
        status = le_stream_wait_use(stream, use);
        unpin_stream(stream);
        return status;
    }
    status = le_device_stream_new(device, native, &stream);
    if (status)
        return status;
    status = le_stream_wait_use(stream, use);
    le_device_stream_free(stream);
    return status;
}

/* The operation also waits in the stream for what Leat did with the allocation since the begin, because its ticket will
 * stand for all earlier uses. */
static leat_status note_end(struct le_device_stream *stream, struct le_allocation_use use) {
    leat_status status = le_order_begin(stream, &use, 1);
    le_order_end(stream, &use, 1, status == LEAT_OK);
    return status;
}

bool le_consumer_end(struct le_allocation *allocation, enum le_allocation_access access, uint64_t stream_id) {
    struct le_device *device = allocation->device;
    if (device->limits.host_is_device)
        return true;
    pthread_mutex_lock(&device->lock);
    struct le_device_stream *stream = stream_id ? le_stream_find(device, stream_id) : NULL;
    stream = stream && !stream->freed ? pin_stream(stream) : NULL;
    pthread_mutex_unlock(&device->lock);
    le_errors_save();
    leat_status status = LEAT_INVALID;
    if (stream) {
        status = note_end(stream, (struct le_allocation_use){.allocation = allocation, .access = access});
        unpin_stream(stream);
    }
    if (status) /* the stream is unknown, or it failed */
        status = le_device_synchronize(device);
    le_errors_restore();
    return status == LEAT_OK || atomic_load(&device->failed); /* a device that failed uses no memory again */
}
