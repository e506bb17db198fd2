/* Events. A record gives the event the end time and the order of the work enqueued in its stream before it. An enqueued
 * wait keeps the record that it saw, even if the event changes. Times are virtual. Guarded by the state's lock. */
#include "base/memory.h"
#include "sim/driver/sim_state.h"

static struct sim_event *event_of(le_cu_event event) {
    return le_sim_handle_get(&le_sim_state()->event_handles, (uintptr_t)event);
}

static struct sim_op *op_new(enum sim_op_kind kind) {
    struct sim_op *op = le_alloc_zero(1, sizeof *op);
    if (op)
        op->kind = kind;
    return op;
}

static void event_free(struct sim_event *event) {
    le_sim_vector_finish(&event->vector);
    le_free(event);
}

void le_sim_events_finish(void) {
    struct sim_handles *handles = &le_sim_state()->event_handles;
    for (int k = 0; k < handles->count; k++)
        if (handles->at[k].object)
            event_free(handles->at[k].object);
    le_sim_handles_finish(handles);
}

static le_cu_result create_event(le_cu_event *handle, unsigned flags) {
    if (!handle || flags & ~3u) /* 1: blocking waits; all waits are */
        return LE_CU_ERROR_INVALID_VALUE;
    struct sim_event *event = le_alloc_zero(1, sizeof *event);
    if (!event)
        return LE_CU_ERROR_OUT_OF_MEMORY;
    event->timed = !(flags & LE_CU_EVENT_DISABLE_TIMING);
    uintptr_t number = le_sim_handle_put(&le_sim_state()->event_handles, event);
    if (!number) {
        le_free(event);
        return LE_CU_ERROR_OUT_OF_MEMORY;
    }
    *handle = (le_cu_event)number;
    return LE_CU_SUCCESS;
}

le_cu_result le_sim_EventCreate(le_cu_event *event, unsigned flags) {
    le_cu_result result = le_sim_enter(SIM_CALL_CREATE);
    return result ? result : le_sim_leave(create_event(event, flags));
}

le_cu_result le_sim_EventDestroy(le_cu_event handle) {
    le_cu_result result = le_sim_enter(SIM_CALL_CREATE);
    if (result)
        return result;
    struct sim_event *event = event_of(handle);
    if (!event)
        return le_sim_leave(LE_CU_ERROR_INVALID_HANDLE);
    le_sim_handle_drop(&le_sim_state()->event_handles, (uintptr_t)handle);
    event_free(event);
    return le_sim_leave(LE_CU_SUCCESS);
}

static le_cu_result record_event(struct sim_event *event, struct sim_stream *stream) {
    struct sim_op *op = op_new(SIM_OP_RECORD);
    if (!op)
        return LE_CU_ERROR_OUT_OF_MEMORY;
    le_cu_result result = le_sim_enqueue(stream, op);
    if (result)
        return result;
    event->recorded = true;
    event->slot = stream->slot;
    event->number = stream->last_number;
    event->time_ns = stream->end_ns;
    le_sim_vector_finish(&event->vector);
    return le_sim_vector_join(&event->vector, &stream->vector) ? LE_CU_SUCCESS : LE_CU_ERROR_OUT_OF_MEMORY;
}

le_cu_result le_sim_EventRecord(le_cu_event handle, le_cu_stream stream_handle) {
    le_cu_result result = le_sim_enter(SIM_CALL_EVENT);
    if (result)
        return result;
    struct sim_event *event = event_of(handle);
    struct sim_stream *stream = le_sim_stream_of(stream_handle);
    return le_sim_leave(event && stream ? record_event(event, stream) : LE_CU_ERROR_INVALID_HANDLE);
}

static le_cu_result wait_event(struct sim_stream *stream, const struct sim_event *event, unsigned flags) {
    if (flags & ~1u)
        return LE_CU_ERROR_INVALID_VALUE;
    if (!event->recorded)
        return LE_CU_SUCCESS;
    struct sim_op *op = op_new(SIM_OP_WAIT);
    if (!op || !le_sim_vector_join(&stream->vector, &event->vector)) {
        le_sim_op_free(op);
        return LE_CU_ERROR_OUT_OF_MEMORY;
    }
    op->wait.slot = event->slot;
    op->wait.number = event->number;
    if (event->time_ns > stream->end_ns)
        stream->end_ns = event->time_ns;
    return le_sim_enqueue(stream, op);
}

le_cu_result le_sim_StreamWaitEvent(le_cu_stream stream_handle, le_cu_event handle, unsigned flags) {
    le_cu_result result = le_sim_enter(SIM_CALL_EVENT);
    if (result)
        return result;
    const struct sim_event *event = event_of(handle);
    struct sim_stream *stream = le_sim_stream_of(stream_handle);
    return le_sim_leave(event && stream ? wait_event(stream, event, flags) : LE_CU_ERROR_INVALID_HANDLE);
}

le_cu_result le_sim_EventQuery(le_cu_event handle) {
    le_cu_result result = le_sim_enter(SIM_CALL_QUERY);
    if (result)
        return result;
    const struct sim_event *event = event_of(handle);
    if (!event)
        return le_sim_leave(LE_CU_ERROR_INVALID_HANDLE);
    if (!event->recorded)
        return le_sim_leave(LE_CU_SUCCESS);
    return le_sim_leave(le_sim_poll(event->slot, event->number, event->time_ns, &event->vector));
}

le_cu_result le_sim_EventSynchronize(le_cu_event handle) {
    le_cu_result result = le_sim_enter(SIM_CALL_FREE);
    if (result)
        return result;
    const struct sim_event *event = event_of(handle);
    if (!event)
        return le_sim_leave(LE_CU_ERROR_INVALID_HANDLE);
    if (event->recorded) {
        le_sim_host_waits(event->time_ns, &event->vector);
        le_sim_force(event->slot, event->number);
    }
    return le_sim_leave(LE_CU_SUCCESS);
}

/* Whether the event's time has passed on the virtual clock. */
static bool has_passed(const struct sim_event *event) {
    return event->time_ns <= le_sim_state()->clock_ns;
}

static le_cu_result elapsed_time(float *milliseconds, const struct sim_event *start, const struct sim_event *stop) {
    if (!start || !stop || !start->timed || !stop->timed || !start->recorded || !stop->recorded)
        return LE_CU_ERROR_INVALID_HANDLE;
    if (!milliseconds)
        return LE_CU_ERROR_INVALID_VALUE;
    if (!has_passed(start) || !has_passed(stop))
        return LE_CU_ERROR_NOT_READY;
    *milliseconds = (float)(((double)stop->time_ns - (double)start->time_ns) * 1e-6);
    return LE_CU_SUCCESS;
}

le_cu_result le_sim_EventElapsedTime(float *milliseconds, le_cu_event start, le_cu_event stop) {
    le_cu_result result = le_sim_enter(SIM_CALL_QUERY);
    return result ? result : le_sim_leave(elapsed_time(milliseconds, event_of(start), event_of(stop)));
}
