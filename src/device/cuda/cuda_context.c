/* The primary context of a device. It is created at once, or by a background thread while the caller plans and
 * compiles, which needs no context. Calls that need the context enter it here, and wait for it. If creating it failed,
 * such a call reports the error, and the next one tries again.
 *
 * The first stream is handed out before the context exists: its handle is the address of cuda->first_stream. */
#include "device/cuda/cuda_device.h"
#include <signal.h>

/* ---- creating the context */

static void *retain_context(void *user) {
    struct le_cuda_device *cuda = user;
    cuda->context_result = cuda->driver->DevicePrimaryCtxRetain(&cuda->context, cuda->handle);
    return NULL;
}

/* Blocks all signals in the thread: they are for the program's own threads. */
static void begin_in_background(struct le_cuda_device *cuda) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    atomic_store(&cuda->is_opening, pthread_create(&cuda->context_thread, NULL, retain_context, cuda) == 0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Whether another part of the process already has the context. Then creating it takes no time, and memory of that
 * context may be passed to Leat at once. */
static bool is_active(struct le_cuda_device *cuda) {
    unsigned flags = 0;
    int active = 0;
    return cuda->driver->DevicePrimaryCtxGetState(cuda->handle, &flags, &active) != LE_CU_SUCCESS || active;
}

static leat_status context_status(struct le_cuda_device *cuda) {
    return le_cuda_result(cuda, cuda->context_result, "creating a context on device cuda:%d", cuda->ordinal);
}

leat_status le_cuda_context_begin(struct le_cuda_device *cuda, bool in_background) {
    pthread_mutex_init(&cuda->context_lock, NULL);
    if (in_background && !is_active(cuda))
        begin_in_background(cuda);
    if (le_cuda_is_opening(cuda))
        return LEAT_OK;
    retain_context(cuda);
    atomic_store(&cuda->is_context_ready, cuda->context_result == LE_CU_SUCCESS);
    return context_status(cuda);
}

/* ---- waiting for the context */

bool le_cuda_is_opening(void *native) {
    struct le_cuda_device *cuda = native;
    return atomic_load_explicit(&cuda->is_opening, memory_order_acquire);
}

static bool is_context_ready(struct le_cuda_device *cuda) {
    return atomic_load_explicit(&cuda->is_context_ready, memory_order_acquire);
}

static leat_status make_first_stream(struct le_cuda_device *cuda) {
    le_cu_context before = NULL;
    le_cu_result result = cuda->driver->CtxGetCurrent(&before);
    if (result == LE_CU_SUCCESS)
        result = cuda->driver->CtxSetCurrent(cuda->context);
    if (result == LE_CU_SUCCESS) {
        result = cuda->driver->StreamCreate(&cuda->first_stream, LE_CU_STREAM_NON_BLOCKING);
        cuda->driver->CtxSetCurrent(before);
    }
    return le_cuda_result(cuda, result, "creating a stream");
}

/* Call with the lock held. */
static leat_status finish_context(struct le_cuda_device *cuda) {
    if (le_cuda_is_opening(cuda))
        pthread_join(cuda->context_thread, NULL);
    else if (!cuda->context)
        retain_context(cuda);
    leat_status status = context_status(cuda);
    if (!status && cuda->first_stream_given && !cuda->first_stream)
        status = make_first_stream(cuda);
    atomic_store_explicit(&cuda->is_context_ready, !status, memory_order_release);
    atomic_store_explicit(&cuda->is_opening, false, memory_order_release);
    return status;
}

static leat_status wait_for_context(struct le_cuda_device *cuda) {
    struct le_device_span span;
    leat_status status = LEAT_OK;
    le_device_span_begin(cuda->device, &span, LEAT_COST_INIT, "context", "started when the device was opened");
    pthread_mutex_lock(&cuda->context_lock);
    if (!is_context_ready(cuda))
        status = finish_context(cuda);
    pthread_mutex_unlock(&cuda->context_lock);
    le_device_span_end(&span, 0);
    return status;
}

bool le_cuda_has_context(struct le_cuda_device *cuda) {
    if (le_cuda_is_opening(cuda)) {
        le_errors_save();
        (void)wait_for_context(cuda);
        le_errors_restore();
    }
    return is_context_ready(cuda);
}

/* ---- entering the context */

static le_cu_result make_current(struct le_cuda_device *cuda, le_cu_context *before) {
    le_cu_result result = cuda->driver->CtxGetCurrent(before);
    if (result == LE_CU_SUCCESS && *before != cuda->context)
        result = cuda->driver->CtxSetCurrent(cuda->context);
    return result;
}

leat_status le_cuda_enter(struct le_cuda_device *cuda, le_cu_context *before) {
    *before = NULL;
    leat_status status = is_context_ready(cuda) ? LEAT_OK : wait_for_context(cuda);
    if (status)
        return status;
    le_cu_result result = make_current(cuda, before);
    return result == LE_CU_SUCCESS ? LEAT_OK : le_cuda_result(cuda, result, "making the device's context current");
}

bool le_cuda_enter_to_free(struct le_cuda_device *cuda, le_cu_context *before) {
    *before = NULL;
    return le_cuda_has_context(cuda) && make_current(cuda, before) == LE_CU_SUCCESS;
}

leat_status le_cuda_leave(struct le_cuda_device *cuda, le_cu_context before, leat_status status) {
    if (before != cuda->context)
        cuda->driver->CtxSetCurrent(before);
    return status;
}

void le_cuda_context_end(struct le_cuda_device *cuda) {
    (void)le_cuda_has_context(cuda);
    if (cuda->context)
        cuda->driver->DevicePrimaryCtxRelease(cuda->handle);
    pthread_mutex_destroy(&cuda->context_lock);
}
