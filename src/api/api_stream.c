/* leat.h: streams, events and tickets as they are on the CPU: work is done when the call that asked for it returns, so
 * there is never anything to wait for, and an event is a time. */
#include "api/api_check.h"
#include "base/clock.h"
#include <inttypes.h>

struct leat_event {
    leat_context *ctx;
    bool recorded;
    uint64_t time_ns;
};

static leat_status check_stream(const leat_stream *stream) {
    LE_CHECK_POINTER(stream);
    return le_context_check(stream->ctx);
}

static leat_status check_event(const leat_event *event) {
    LE_CHECK_POINTER(event);
    return le_context_check(event->ctx);
}

leat_status leat_stream_new(leat_context *ctx, leat_stream **stream) {
    LE_CHECK_CONTEXT(ctx);
    LE_CHECK_POINTER(stream);
    leat_stream *made = le_alloc_zero(1, sizeof *made);
    if (!made)
        return le_fail_out_of_memory(sizeof *made);
    made->ctx = le_context_retain(ctx);
    made->id = atomic_fetch_add(&ctx->last_stream, 1) + 1;
    *stream = made;
    return LEAT_OK;
}

void leat_stream_free(leat_stream *stream) {
    if (!stream)
        return;
    leat_context *ctx = stream->ctx;
    le_free(stream);
    le_context_release(ctx);
}

leat_status leat_stream_synchronize(leat_stream *stream) {
    return check_stream(stream);
}

leat_status leat_stream_wait_event(leat_stream *stream, leat_event *event) {
    leat_status status = check_stream(stream);
    return status ? status : check_event(event);
}

leat_status leat_ticket_wait(leat_context *ctx, leat_ticket ticket) {
    LE_CHECK_CONTEXT(ctx);
    if (ticket.stream_id > atomic_load(&ctx->last_stream))
        return le_fail(LEAT_INVALID, "the ticket is of a stream, %" PRIu64 ", that this context does not have",
                       ticket.stream_id);
    return LEAT_OK;
}

leat_status leat_event_new(leat_context *ctx, leat_event **event) {
    LE_CHECK_CONTEXT(ctx);
    LE_CHECK_POINTER(event);
    leat_event *made = le_alloc_zero(1, sizeof *made);
    if (!made)
        return le_fail_out_of_memory(sizeof *made);
    made->ctx = le_context_retain(ctx);
    *event = made;
    return LEAT_OK;
}

void leat_event_free(leat_event *event) {
    if (!event)
        return;
    leat_context *ctx = event->ctx;
    le_free(event);
    le_context_release(ctx);
}

leat_status leat_event_record(leat_event *event, leat_stream *stream) {
    leat_status status = check_event(event);
    if (!status && stream) /* NULL: the context's own */
        status = check_stream(stream);
    if (status)
        return status;
    event->recorded = true;
    event->time_ns = le_clock_ns();
    return LEAT_OK;
}

leat_status leat_event_synchronize(leat_event *event) {
    return check_event(event);
}

leat_status leat_event_elapsed_ms(leat_event *start, leat_event *stop, double *milliseconds) {
    leat_status status = check_event(start);
    if (!status)
        status = check_event(stop);
    if (status)
        return status;
    LE_CHECK_POINTER(milliseconds);
    if (!start->recorded || !stop->recorded)
        return le_fail(LEAT_INVALID, "%s was not recorded", start->recorded ? "stop" : "start");
    *milliseconds = (double)(int64_t)(stop->time_ns - start->time_ns) * 1e-6;
    return LEAT_OK;
}
