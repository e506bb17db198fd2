/* Streams and events over a CUDA driver. */
#include "device/cuda/cuda_device.h"

leat_status le_cuda_stream_new(void *native, void **stream) {
    struct le_cuda_device *cuda = native;
    le_cu_context before;
    le_cu_stream made = NULL;
    if (le_cuda_is_opening(cuda) && !cuda->first_stream_given) { /* no other thread has the device yet */
        cuda->first_stream_given = true;
        *stream = &cuda->first_stream;
        return LEAT_OK;
    }
    leat_status status = le_cuda_enter(cuda, &before);
    if (status)
        return status;
    status = le_cuda_result(cuda, cuda->driver->StreamCreate(&made, LE_CU_STREAM_NON_BLOCKING), "creating a stream");
    *stream = made;
    return le_cuda_leave(cuda, before, status);
}

/* Handle 2, CU_STREAM_PER_THREAD, means a different stream in each thread, so no other thread could wait for it. */
leat_status le_cuda_stream_check(void *native, void *stream) {
    struct le_cuda_device *cuda = native;
    le_cu_context before, context = NULL;
    if ((uintptr_t)stream == 2)
        return le_fail(LEAT_UNSUPPORTED, "CU_STREAM_PER_THREAD is a different stream in each thread; create one with "
                                         "cuStreamCreate and wrap it");
    leat_status status = le_cuda_enter(cuda, &before);
    if (status)
        return status;
    le_cu_result result = cuda->driver->StreamGetCtx(stream, &context);
    if (result == LE_CU_ERROR_INVALID_HANDLE || result == LE_CU_ERROR_INVALID_CONTEXT)
        status = le_fail(LEAT_INVALID, "%p is not a CUDA stream", stream);
    else
        status = le_cuda_result(cuda, result, "asking for the context of stream %p", stream);
    if (!status && context != cuda->context)
        status =
            le_fail(LEAT_INVALID, "the stream does not belong to the primary context of device %d, which Leat uses",
                    cuda->ordinal);
    return le_cuda_leave(cuda, before, status);
}

void le_cuda_stream_free(void *native, void *stream) {
    struct le_cuda_device *cuda = native;
    le_cu_context before;
    if (!le_cuda_enter_to_free(cuda, &before))
        return;
    cuda->driver->StreamDestroy(le_cuda_stream_of(cuda, stream));
    le_cuda_leave(cuda, before, LEAT_OK);
}

leat_status le_cuda_stream_wait(void *native, void *stream, void *event) {
    struct le_cuda_device *cuda = native;
    le_cu_context before;
    leat_status status = le_cuda_enter(cuda, &before);
    if (status)
        return status;
    status = le_cuda_result(cuda, cuda->driver->StreamWaitEvent(le_cuda_stream_of(cuda, stream), event, 0),
                            "making a stream wait for an event");
    return le_cuda_leave(cuda, before, status);
}

leat_status le_cuda_stream_synchronize(void *native, void *stream) {
    struct le_cuda_device *cuda = native;
    le_cu_context before;
    leat_status status = le_cuda_enter(cuda, &before);
    if (status)
        return status;
    status =
        le_cuda_result(cuda, cuda->driver->StreamSynchronize(le_cuda_stream_of(cuda, stream)), "waiting for a stream");
    if (!status)
        status = le_cuda_check_reports(cuda, status);
    return le_cuda_leave(cuda, before, status);
}

leat_status le_cuda_event_new(void *native, bool timed, void **event) {
    struct le_cuda_device *cuda = native;
    le_cu_context before;
    le_cu_event made = NULL;
    leat_status status = le_cuda_enter(cuda, &before);
    if (status)
        return status;
    unsigned flags = timed ? LE_CU_EVENT_DEFAULT : LE_CU_EVENT_DISABLE_TIMING;
    status = le_cuda_result(cuda, cuda->driver->EventCreate(&made, flags), "creating an event");
    *event = made;
    return le_cuda_leave(cuda, before, status);
}

void le_cuda_event_free(void *native, void *event) {
    struct le_cuda_device *cuda = native;
    le_cu_context before;
    if (!le_cuda_enter_to_free(cuda, &before))
        return;
    cuda->driver->EventDestroy(event);
    le_cuda_leave(cuda, before, LEAT_OK);
}

leat_status le_cuda_event_record(void *native, void *event, void *stream) {
    struct le_cuda_device *cuda = native;
    le_cu_context before;
    leat_status status = le_cuda_enter(cuda, &before);
    if (status)
        return status;
    status =
        le_cuda_result(cuda, cuda->driver->EventRecord(event, le_cuda_stream_of(cuda, stream)), "recording an event");
    return le_cuda_leave(cuda, before, status);
}

leat_status le_cuda_event_synchronize(void *native, void *event) {
    struct le_cuda_device *cuda = native;
    le_cu_context before;
    leat_status status = le_cuda_enter(cuda, &before);
    if (status)
        return status;
    status = le_cuda_result(cuda, cuda->driver->EventSynchronize(event), "waiting for an event");
    if (!status)
        status = le_cuda_check_reports(cuda, status);
    return le_cuda_leave(cuda, before, status);
}

leat_status le_cuda_event_query(void *native, void *event, bool *passed) {
    struct le_cuda_device *cuda = native;
    le_cu_context before;
    leat_status status = le_cuda_enter(cuda, &before);
    if (status)
        return status;
    le_cu_result result = cuda->driver->EventQuery(event);
    *passed = result == LE_CU_SUCCESS;
    if (result != LE_CU_ERROR_NOT_READY)
        status = le_cuda_result(cuda, result, "querying an event");
    return le_cuda_leave(cuda, before, status);
}

leat_status le_cuda_event_elapsed(void *native, void *start, void *stop, double *milliseconds) {
    struct le_cuda_device *cuda = native;
    le_cu_context before;
    float elapsed_ms = 0;
    leat_status status = le_cuda_enter(cuda, &before);
    if (status)
        return status;
    le_cu_result result = cuda->driver->EventElapsedTime(&elapsed_ms, start, stop);
    status = le_cuda_result(cuda, result, "measuring the time between two events");
    if (!status)
        *milliseconds = (double)elapsed_ms;
    return le_cuda_leave(cuda, before, status);
}
