/* leat.h: streams, events, tickets, and memory in use. Each function makes one call to the device. A leat_stream or
 * leat_event also retains its context. */
#include "api/api_check.h"
#include "device/front/device.h"

struct leat_event {
    leat_context *ctx;
    struct le_device_event *event;
};

static leat_status check_stream(const leat_stream *stream) {
    LE_CHECK_POINTER(stream);
    return le_context_check(stream->ctx);
}

static leat_status check_event(const leat_event *event) {
    LE_CHECK_POINTER(event);
    return le_context_check(event->ctx);
}

/* ---- streams */

static leat_status make_stream(leat_context *ctx, void *native, leat_stream **stream) {
    leat_stream *made = le_alloc_zero(1, sizeof *made);
    if (!made)
        return le_fail_out_of_memory(sizeof *made);
    leat_status status = le_device_stream_new(ctx->device, native, &made->work);
    if (status) {
        le_free(made);
        return status;
    }
    made->ctx = le_context_retain(ctx);
    *stream = made;
    return LEAT_OK;
}

leat_status leat_stream_new(leat_context *ctx, leat_stream **stream) {
    LE_CHECK_CONTEXT(ctx);
    LE_CHECK_POINTER(stream);
    return make_stream(ctx, NULL, stream);
}

leat_status leat_stream_wrap(leat_context *ctx, void *native, leat_stream **stream) {
    LE_CHECK_CONTEXT(ctx);
    LE_CHECK_POINTER(native);
    LE_CHECK_POINTER(stream);
    return make_stream(ctx, native, stream);
}

leat_status leat_stream_native(leat_stream *stream, void **native) {
    leat_status status = check_stream(stream);
    if (status)
        return status;
    LE_CHECK_POINTER(native);
    *native = le_device_stream_native(stream->work);
    return LEAT_OK;
}

void leat_stream_free(leat_stream *stream) {
    if (!stream || le_context_check(stream->ctx))
        return;
    leat_context *ctx = stream->ctx;
    le_device_stream_free(stream->work);
    le_free(stream);
    le_context_release(ctx);
}

leat_status le_check_stream(const leat_context *ctx, const leat_stream *stream) {
    leat_status status = stream ? check_stream(stream) : LEAT_OK;
    if (!status && stream && stream->ctx != ctx)
        status = le_fail(LEAT_INVALID, "the stream is of another context");
    return status;
}

leat_status leat_stream_ticket(leat_context *ctx, leat_stream *stream, leat_ticket *ticket) {
    LE_CHECK_CONTEXT(ctx);
    LE_CHECK_POINTER(ticket);
    leat_status status = le_check_stream(ctx, stream);
    if (!status)
        *ticket = le_context_ticket(ctx, stream);
    return status;
}

leat_status leat_stream_synchronize(leat_stream *stream) {
    leat_status status = check_stream(stream);
    return status ? status : le_device_stream_synchronize(stream->work);
}

leat_status leat_stream_wait_event(leat_stream *stream, leat_event *event) {
    leat_status status = check_stream(stream);
    if (!status)
        status = check_event(event);
    return status ? status : le_device_stream_wait_event(stream->work, event->event);
}

leat_status leat_stream_wait_array(leat_stream *stream, const leat_array *array) {
    leat_status status = check_stream(stream);
    if (status)
        return status;
    LE_CHECK_ARRAY(array);
    const struct le_allocation_use use = {.allocation = array->buffer->allocation,
                                          .access = array->read_only ? LE_ACCESS_READ : LE_ACCESS_BOTH};
    if (!le_context_has(stream->ctx, array))
        return le_fail(LEAT_INVALID, "the array is of another context");
    return use.allocation ? le_stream_wait_use(stream->work, use) : LEAT_OK;
}

leat_status leat_ticket_wait(leat_context *ctx, leat_ticket ticket) {
    LE_CHECK_CONTEXT(ctx);
    return le_device_wait_point(ctx->device, ticket.stream_id, ticket.number);
}

leat_status leat_ticket_wait_for(leat_context *ctx, leat_ticket ticket, uint32_t timeout_ms, bool *reached) {
    LE_CHECK_CONTEXT(ctx);
    LE_CHECK_POINTER(reached);
    const struct le_point point = {.stream_id = ticket.stream_id, .number = ticket.number};
    return le_device_wait_point_for(ctx->device, point, (uint64_t)timeout_ms * 1000000, reached);
}

leat_status leat_array_ticket(const leat_array *array, leat_ticket *ticket) {
    LE_CHECK_ARRAY(array);
    LE_CHECK_POINTER(ticket);
    struct le_allocation *allocation = array->buffer->allocation;
    const struct le_point point = allocation ? le_allocation_written(allocation) : (struct le_point){0};
    *ticket = (leat_ticket){.stream_id = point.stream_id, .number = point.number};
    return LEAT_OK;
}

leat_status leat_context_synchronize(leat_context *ctx) {
    LE_CHECK_CONTEXT(ctx);
    return le_device_synchronize(ctx->device);
}

leat_status leat_context_synchronize_for(leat_context *ctx, uint32_t timeout_ms, bool *done) {
    LE_CHECK_CONTEXT(ctx);
    LE_CHECK_POINTER(done);
    return le_device_synchronize_for(ctx->device, (uint64_t)timeout_ms * 1000000, done);
}

leat_status leat_context_cancel(leat_context *ctx) {
    LE_CHECK_CONTEXT(ctx);
    return le_device_cancel(ctx->device);
}

/* ---- memory */

leat_status leat_memory_get(leat_context *ctx, leat_memory memory, leat_memory_use *use) {
    struct le_memory_usage found = {0};
    LE_CHECK_CONTEXT(ctx);
    LE_CHECK_POINTER(use);
    if (memory < LEAT_MEMORY_DEVICE || memory > LEAT_MEMORY_MAPPED)
        return le_fail(LEAT_INVALID, "memory is %d, which is not a kind of memory", (int)memory);
    leat_status status = le_context_memory_use(ctx, memory, &found);
    if (status)
        return status;
    *use = (leat_memory_use){.live_bytes = found.live_bytes,
                             .kept_bytes = found.kept_bytes,
                             .peak_bytes = found.peak_bytes,
                             .cap_bytes = found.cap_bytes,
                             .free_bytes = found.device_free_bytes,
                             .trims = found.trims};
    return LEAT_OK;
}

leat_status leat_memory_trim(leat_context *ctx) {
    LE_CHECK_CONTEXT(ctx);
    leat_status status = le_device_memory_trim(ctx->device);
    le_memory_pool_trim(ctx->memory);
    return status;
}

/* ---- events */

leat_status leat_event_new(leat_context *ctx, leat_event **event) {
    LE_CHECK_CONTEXT(ctx);
    LE_CHECK_POINTER(event);
    leat_event *made = le_alloc_zero(1, sizeof *made);
    if (!made)
        return le_fail_out_of_memory(sizeof *made);
    leat_status status = le_device_event_new(ctx->device, &made->event);
    if (status) {
        le_free(made);
        return status;
    }
    made->ctx = le_context_retain(ctx);
    *event = made;
    return LEAT_OK;
}

void leat_event_free(leat_event *event) {
    if (!event || le_context_check(event->ctx))
        return;
    leat_context *ctx = event->ctx;
    le_device_event_free(event->event);
    le_free(event);
    le_context_release(ctx);
}

leat_status leat_event_record(leat_event *event, leat_stream *stream) {
    leat_status status = check_event(event);
    if (!status)
        status = le_check_stream(event->ctx, stream);
    if (status)
        return status;
    return le_device_event_record(event->event, le_context_stream(event->ctx, stream));
}

leat_status leat_event_synchronize(leat_event *event) {
    leat_status status = check_event(event);
    return status ? status : le_device_event_synchronize(event->event);
}

leat_status leat_event_elapsed_ms(leat_event *start, leat_event *stop, double *milliseconds) {
    leat_status status = check_event(start);
    if (!status)
        status = check_event(stop);
    if (status)
        return status;
    LE_CHECK_POINTER(milliseconds);
    return le_device_event_elapsed_ms(start->event, stop->event, milliseconds);
}
