/* sim as a CUDA driver: its state, the entry of every call, the device, its primary context, and the driver table. The
 * calls themselves are in sim_memory.c, sim_copy.c, sim_stream.c, sim_event.c, sim_function.c, sim_launch.c and
 * sim_graph.c.
 *
 * There is one state for the process, because a CUDA driver has no handle of its own. It holds memory only while the
 * primary context is retained. Any thread may call; calls run one at a time. */
#include "base/clock.h"
#include "sim/driver/sim_guard.h"
#include "sim/driver/sim_state.h"
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct sim_state the_state = {.life_lock = PTHREAD_MUTEX_INITIALIZER,
                                     .lock = PTHREAD_MUTEX_INITIALIZER,
                                     .stream_handles = {.kind = SIM_HANDLE_STREAM},
                                     .event_handles = {.kind = SIM_HANDLE_EVENT},
                                     .module_handles = {.kind = SIM_HANDLE_MODULE},
                                     .function_handles = {.kind = SIM_HANDLE_FUNCTION},
                                     .graph_handles = {.kind = SIM_HANDLE_GRAPH},
                                     .exec_handles = {.kind = SIM_HANDLE_EXEC}};
static _Thread_local le_cu_context current;

struct sim_state *le_sim_state(void) {
    return &the_state;
}

le_cu_context le_sim_primary(void) {
    return (le_cu_context)(void *)&the_state;
}

/* ---- entering and leaving a call */

static pid_t process_of_init(void) {
    return __atomic_load_n(&the_state.process, __ATOMIC_ACQUIRE);
}

bool le_sim_is_child(void) {
    pid_t process = process_of_init();
    return process && process != getpid();
}

le_cu_result le_sim_enter_early(enum sim_call call) {
    struct sim_state *state = &the_state;
    if (process_of_init() != getpid())
        return LE_CU_ERROR_NOT_INITIALIZED;
    pthread_mutex_lock(&state->lock);
    if (state->fatal) {
        le_cu_result fatal = state->fatal;
        pthread_mutex_unlock(&state->lock);
        return fatal;
    }
    le_cu_result fault = le_sim_call_fault();
    if (fault) {
        pthread_mutex_unlock(&state->lock);
        return fault;
    }
    if (state->check)
        le_sim_guard_report();
    state->clock_ns += le_sim_call_ns(call);
    if (call != SIM_CALL_QUERY && call != SIM_CALL_FREE)
        state->failed_polls = 0;
    return LE_CU_SUCCESS;
}

le_cu_result le_sim_enter(enum sim_call call) {
    le_cu_result result = le_sim_enter_early(call);
    if (result)
        return result;
    if (!current)
        return le_sim_leave(LE_CU_ERROR_INVALID_CONTEXT);
    return the_state.context_uses ? LE_CU_SUCCESS : le_sim_leave(LE_CU_ERROR_CONTEXT_IS_DESTROYED);
}

le_cu_result le_sim_leave(le_cu_result result) {
    struct sim_state *state = &the_state;
    if (!result)
        result = state->fatal;
    state->last_call_ns = le_clock_ns();
    pthread_mutex_unlock(&state->lock);
    return result;
}

/* ---- Init and errors */

le_cu_result le_sim_Init(unsigned flags) {
    struct sim_state *state = &the_state;
    if (flags)
        return LE_CU_ERROR_INVALID_VALUE;
    if (le_sim_is_child())
        return LE_CU_ERROR_NOT_INITIALIZED;
    pthread_mutex_lock(&state->lock);
    le_sim_configuration_read();
    le_cu_result fault = le_sim_call_fault();
    if (!fault)
        __atomic_store_n(&state->process, getpid(), __ATOMIC_RELEASE);
    pthread_mutex_unlock(&state->lock);
    return fault;
}

/* The names and texts are CUDA's. */
static const struct error {
    le_cu_result code;
    const char *name, *text;
} errors[] = {
    {LE_CU_SUCCESS, "CUDA_SUCCESS", "no error"},
    {LE_CU_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {LE_CU_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {LE_CU_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {LE_CU_ERROR_DEINITIALIZED, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
    {LE_CU_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {LE_CU_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {LE_CU_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {LE_CU_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {LE_CU_ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {LE_CU_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {LE_CU_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {LE_CU_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {LE_CU_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {LE_CU_ERROR_LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {LE_CU_ERROR_LAUNCH_TIMEOUT, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    {LE_CU_ERROR_CONTEXT_IS_DESTROYED, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
    {LE_CU_ERROR_ASSERT, "CUDA_ERROR_ASSERT", "device-side assert triggered"},
    {LE_CU_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
     "part or all of the requested memory range is already mapped"},
    {LE_CU_ERROR_HOST_MEMORY_NOT_REGISTERED, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
     "pointer does not correspond to a registered memory region"},
    {LE_CU_ERROR_ILLEGAL_INSTRUCTION, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "an illegal instruction was encountered"},
    {LE_CU_ERROR_MISALIGNED_ADDRESS, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {LE_CU_ERROR_HARDWARE_STACK_ERROR, "CUDA_ERROR_HARDWARE_STACK_ERROR", "hardware stack error"},
    {LE_CU_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {LE_CU_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
     "too many blocks in cooperative launch"},
    {LE_CU_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {LE_CU_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

static const struct error *error_of(le_cu_result code) {
    for (size_t k = 0; k < ARRAY_LEN(errors); k++)
        if (errors[k].code == code)
            return &errors[k];
    return NULL;
}

le_cu_result le_sim_GetErrorName(le_cu_result error, const char **name) {
    const struct error *known = error_of(error);
    if (!name)
        return LE_CU_ERROR_INVALID_VALUE;
    *name = known ? known->name : NULL;
    return known ? LE_CU_SUCCESS : LE_CU_ERROR_INVALID_VALUE;
}

le_cu_result le_sim_GetErrorString(le_cu_result error, const char **text) {
    const struct error *known = error_of(error);
    if (!text)
        return LE_CU_ERROR_INVALID_VALUE;
    *text = known ? known->text : NULL;
    return known ? LE_CU_SUCCESS : LE_CU_ERROR_INVALID_VALUE;
}

/* ---- the primary context */

static void destroy_context(struct sim_state *state) {
    le_sim_count_leftovers();
    if (!state->fatal)
        le_sim_force_all();
    le_sim_worker_stop();
    le_sim_streams_finish();
    le_sim_events_finish();
    le_sim_handles_finish(&state->stream_handles);
    le_sim_graphs_finish();
    le_sim_modules_finish();
    le_sim_check_finish();
    le_sim_memory_finish();
    le_sim_engines_finish(&state->engines);
    state->op_count = 0;
    state->fatal = LE_CU_SUCCESS;
    state->failure[0] = '\0';
}

/* The check must exist before anything that it has to know of. */
static le_cu_result create_context(struct sim_state *state) {
    le_cu_result result = le_sim_streams_start() ? le_sim_worker_start() : LE_CU_ERROR_OUT_OF_MEMORY;
    if (!result && state->options.check)
        result = le_sim_check_start();
    if (result)
        destroy_context(state);
    return result;
}

static le_cu_result retain_context(le_cu_context *ctx, le_cu_device device) {
    struct sim_state *state = &the_state;
    if (!ctx)
        return LE_CU_ERROR_INVALID_VALUE;
    if (device)
        return LE_CU_ERROR_INVALID_DEVICE;
    if (!state->context_uses) {
        le_cu_result result = create_context(state);
        if (result)
            return result;
        state->clock_ns += le_sim_call_ns(SIM_CALL_CONTEXT);
    }
    state->context_uses++;
    *ctx = le_sim_primary();
    return LE_CU_SUCCESS;
}

le_cu_result le_sim_DevicePrimaryCtxGetState(le_cu_device device, unsigned *flags, int *active) {
    le_cu_result result = le_sim_enter_early(SIM_CALL_FREE);
    if (result)
        return result;
    if (!flags || !active || device)
        return le_sim_leave(flags && active ? LE_CU_ERROR_INVALID_DEVICE : LE_CU_ERROR_INVALID_VALUE);
    *flags = 0;
    *active = the_state.context_uses > 0;
    return le_sim_leave(LE_CU_SUCCESS);
}

static void sleep_ms(uint64_t time_ms) {
    struct timespec time = {.tv_sec = (time_t)(time_ms / 1000), .tv_nsec = (long)(time_ms % 1000) * 1000000};
    while (nanosleep(&time, &time) != 0)
        ;
}

le_cu_result le_sim_DevicePrimaryCtxRetain(le_cu_context *ctx, le_cu_device device) {
    struct sim_state *state = &the_state;
    if (process_of_init() != getpid())
        return LE_CU_ERROR_NOT_INITIALIZED;
    sleep_ms(le_sim_context_ms());
    pthread_mutex_lock(&state->life_lock);
    le_cu_result result = le_sim_enter_early(SIM_CALL_FREE);
    if (!result)
        result = le_sim_leave(retain_context(ctx, device));
    pthread_mutex_unlock(&state->life_lock);
    return result;
}

/* Works after a fatal error, too: releasing the context is the only way to clear the error. */
le_cu_result le_sim_DevicePrimaryCtxRelease(le_cu_device device) {
    struct sim_state *state = &the_state;
    if (process_of_init() != getpid())
        return LE_CU_ERROR_NOT_INITIALIZED;
    pthread_mutex_lock(&state->life_lock);
    le_cu_result result = le_sim_enter_early(SIM_CALL_FREE);
    if (result)
        pthread_mutex_lock(&state->lock);
    result = LE_CU_SUCCESS;
    if (device)
        result = LE_CU_ERROR_INVALID_DEVICE;
    else if (!state->context_uses)
        result = LE_CU_ERROR_INVALID_CONTEXT;
    else if (!--state->context_uses)
        destroy_context(state);
    result = le_sim_leave(result);
    pthread_mutex_unlock(&state->life_lock);
    return result;
}

le_cu_result le_sim_CtxSetCurrent(le_cu_context ctx) {
    le_cu_result result = le_sim_enter_early(SIM_CALL_FREE);
    if (result)
        return result;
    if (ctx && ctx != le_sim_primary())
        return le_sim_leave(LE_CU_ERROR_INVALID_CONTEXT);
    current = ctx;
    return le_sim_leave(LE_CU_SUCCESS);
}

le_cu_result le_sim_CtxGetCurrent(le_cu_context *ctx) {
    le_cu_result result = le_sim_enter_early(SIM_CALL_FREE);
    if (result)
        return result;
    if (!ctx)
        return le_sim_leave(LE_CU_ERROR_INVALID_VALUE);
    *ctx = current;
    return le_sim_leave(LE_CU_SUCCESS);
}

le_cu_result le_sim_CtxSynchronize(void) {
    le_cu_result result = le_sim_enter(SIM_CALL_FREE);
    if (result)
        return result;
    le_sim_wait_all();
    return le_sim_leave(LE_CU_SUCCESS);
}

/* ---- functions of the table that CUDA does not have */

static uint64_t clock_now_ns(void) {
    struct sim_state *state = &the_state;
    pthread_mutex_lock(&state->lock);
    uint64_t now_ns = state->clock_ns;
    pthread_mutex_unlock(&state->lock);
    return now_ns;
}

static const char *check_reports(void) {
    struct sim_state *state = &the_state;
    if (le_sim_is_child())
        return NULL;
    pthread_mutex_lock(&state->lock);
    if (state->check)
        le_sim_guard_report();
    const char *text = state->check ? le_sim_check_reports(state->check) : NULL;
    pthread_mutex_unlock(&state->lock);
    return text;
}

static const char *failure_of_kernel(void) {
    struct sim_state *state = &the_state;
    if (le_sim_is_child())
        return NULL;
    pthread_mutex_lock(&state->lock);
    const char *text = state->fatal && state->failure[0] ? state->failure : NULL;
    pthread_mutex_unlock(&state->lock);
    return text;
}

const struct le_cuda_driver *le_sim_driver(void) {
    static const struct le_cuda_driver driver = {
#define LE_CU(name, symbol, version, need, parameters) .name = le_sim_##name,
#include "device/driver/cuda_driver.def"
#undef LE_CU
        .note_memory = le_sim_note_memory,
        .clock_ns = clock_now_ns,
        .report = check_reports,
        .checks = le_sim_checking,
        .failure = failure_of_kernel,
    };
    return &driver;
}
