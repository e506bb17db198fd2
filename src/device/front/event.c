/* The caller's events: timed points in a stream. (order.c has its own, to keep order.) One thread uses an event at a
 * time. It retains its device. */
#include "base/memory.h"
#include "device/front/device_state.h"
#include "device/front/staging.h"

struct le_device_event {
    struct le_device *device;
    void *native;
    bool recorded;
    struct le_point point;
};

leat_status le_device_event_new(struct le_device *device, struct le_device_event **event) {
    leat_status status = le_device_check(device);
    if (status)
        return status;
    struct le_device_event *made = le_alloc_zero(1, sizeof *made);
    if (!made)
        return le_fail_out_of_memory(sizeof *made);
    status = device->ops->event_new(device->native, true, &made->native);
    if (status) {
        le_free(made);
        return status;
    }
    made->device = le_device_retain(device);
    *event = made;
    return LEAT_OK;
}

void le_device_event_free(struct le_device_event *event) {
    if (!event || le_device_forked(event->device))
        return;
    struct le_device *device = event->device;
    device->ops->event_free(device->native, event->native);
    le_free(event);
    le_device_release(device);
}

leat_status le_device_event_record(struct le_device_event *event, struct le_device_stream *stream) {
    struct le_device *device = event->device;
    leat_status status = le_device_check(device);
    if (status)
        return status;
    if (stream->device != device)
        return le_fail(LEAT_INVALID, "the event and the stream belong to different contexts");
    struct le_point point = le_device_stream_point(stream);
    le_stream_settle(device,
                     stream->id); /* after taking the point: other threads may use the device's default stream */
    status = device->ops->event_record(device->native, event->native, stream->native);
    if (status)
        return status;
    event->recorded = true;
    event->point = point;
    return LEAT_OK;
}

/* As in CUDA, an event that was never recorded counts as passed. */
leat_status le_device_event_synchronize(struct le_device_event *event) {
    struct le_device *device = event->device;
    leat_status status = le_device_check(device);
    if (status || !event->recorded)
        return status;
    struct le_device_span span;
    le_device_span_begin(device, &span, LEAT_COST_WAIT, "event", "");
    status = device->ops->event_synchronize(device->native, event->native);
    struct le_staging *stager = atomic_load_explicit(&device->stager, memory_order_acquire);
    leat_status staged = stager ? le_staging_wait(stager, event->point.stream_id, event->point.number) : LEAT_OK;
    le_device_span_end(&span, 0);
    if (status)
        return status;
    pthread_mutex_lock(&device->lock);
    struct le_device_stream *stream = le_stream_find(device, event->point.stream_id);
    if (stream)
        le_stream_passed(stream, event->point.number);
    pthread_mutex_unlock(&device->lock);
    return staged;
}

leat_status le_device_event_elapsed_ms(struct le_device_event *start, struct le_device_event *stop,
                                       double *milliseconds) {
    struct le_device *device = start->device;
    leat_status status = le_device_check(device);
    if (status)
        return status;
    if (stop->device != device)
        return le_fail(LEAT_INVALID, "start and stop belong to different contexts");
    if (!start->recorded || !stop->recorded)
        return le_fail(LEAT_INVALID, "%s was not recorded", start->recorded ? "stop" : "start");
    status = le_device_event_synchronize(stop);
    if (!status)
        status = le_device_event_synchronize(start);
    return status ? status : device->ops->event_elapsed(device->native, start->native, stop->native, milliseconds);
}

leat_status le_device_stream_wait_event(struct le_device_stream *stream, struct le_device_event *event) {
    struct le_device *device = stream->device;
    leat_status status = le_device_check(device);
    if (status)
        return status;
    if (event->device != device)
        return le_fail(LEAT_INVALID, "the event and the stream belong to different contexts");
    if (!event->recorded)
        return LEAT_OK;
    le_stream_settle(device, stream->id);
    status = device->ops->stream_wait(device->native, stream->native, event->native);
    if (status)
        return status;
    pthread_mutex_lock(&device->lock);
    if (event->point.stream_id != stream->id)
        le_stream_remember(stream, event->point.stream_id, event->point.number);
    pthread_mutex_unlock(&device->lock);
    return LEAT_OK;
}
