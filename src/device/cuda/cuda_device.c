/* A device of a CUDA driver: opening, limits, errors. Its context, memory, streams and modules have files of their
 * own. */
#include "device/cuda/cuda_device.h"
#include "base/environment.h"
#include "base/memory.h"
#include "device/cuda/cuda_libraries.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- errors */

/* After these errors the context is unusable: every later call returns one of them. */
bool le_cuda_is_fatal(le_cu_result result) {
    switch (result) {
    case LE_CU_ERROR_DEINITIALIZED:
    case LE_CU_ERROR_ECC_UNCORRECTABLE:
    case LE_CU_ERROR_NVLINK_UNCORRECTABLE:
    case LE_CU_ERROR_CONTAINED:
    case LE_CU_ERROR_ILLEGAL_ADDRESS:
    case LE_CU_ERROR_LAUNCH_TIMEOUT:
    case LE_CU_ERROR_CONTEXT_IS_DESTROYED:
    case LE_CU_ERROR_ASSERT:
    case LE_CU_ERROR_HARDWARE_STACK_ERROR:
    case LE_CU_ERROR_ILLEGAL_INSTRUCTION:
    case LE_CU_ERROR_MISALIGNED_ADDRESS:
    case LE_CU_ERROR_INVALID_ADDRESS_SPACE:
    case LE_CU_ERROR_INVALID_PC:
    case LE_CU_ERROR_LAUNCH_FAILED:
    case LE_CU_ERROR_TENSOR_MEMORY_LEAK:
        return true;
    default:
        return false;
    }
}

static leat_status status_of(le_cu_result result) {
    switch (result) {
    case LE_CU_ERROR_OUT_OF_MEMORY:
        return LEAT_OUT_OF_MEMORY;
    case LE_CU_ERROR_NOT_SUPPORTED:
        return LEAT_UNSUPPORTED;
    case LE_CU_ERROR_HOST_MEMORY_ALREADY_REGISTERED:
    case LE_CU_ERROR_HOST_MEMORY_NOT_REGISTERED:
        return LEAT_INVALID;
    default:
        return LEAT_DEVICE;
    }
}

static bool is_invalid_access(le_cu_result result) {
    return result == LE_CU_ERROR_ILLEGAL_ADDRESS || result == LE_CU_ERROR_MISALIGNED_ADDRESS ||
           result == LE_CU_ERROR_INVALID_ADDRESS_SPACE;
}

/* The simulator knows which thread of the kernel failed and why; a real driver knows only the kind of failure. */
static leat_status fail_for_good(struct le_cuda_device *cuda, le_cu_result result, leat_status status, const char *name,
                                 const char *call) {
    const struct le_cuda_driver *driver = cuda->driver;
    const char *reason = driver->failure ? driver->failure() : NULL;
    bool checked = driver->checks && driver->checks();
    if (reason)
        le_fail(status, "%s (%s, found when %s)", reason, name ? name : "error", call);
    status = le_device_latch(cuda->device, status,
                             is_invalid_access(result) && !checked
                                 ? "run on device sim with LEAT_SIM_CHECK=1 to find the line of an invalid access"
                                 : NULL);
    return le_cuda_check_reports(cuda, status);
}

leat_status le_cuda_result(struct le_cuda_device *cuda, le_cu_result result, const char *what, ...) {
    if (result == LE_CU_SUCCESS)
        return LEAT_OK;
    char call[400];
    const char *name = NULL, *text = NULL;
    va_list arguments;
    va_start(arguments, what);
    vsnprintf(call, sizeof call, what, arguments);
    va_end(arguments);
    if (cuda->driver->GetErrorName(result, &name))
        name = NULL;
    if (cuda->driver->GetErrorString(result, &text))
        text = NULL;
    leat_status status = name ? le_fail(status_of(result), "%s: %s (%s)", call, text ? text : "no text", name)
                              : le_fail(status_of(result), "%s: error %d, unknown to the driver", call, result);
    return le_cuda_is_fatal(result) ? fail_for_good(cuda, result, status, name, call) : status;
}

/* ---- closing and waiting */

static void cuda_close(void *native) {
    struct le_cuda_device *cuda = native;
    le_nvrtc_warm_end(&cuda->warm);
    le_cuda_product_close(cuda);
    le_cuda_context_end(cuda);
    pthread_mutex_destroy(&cuda->warm_lock);
    le_free(cuda);
}

/* If the context could not be created, there is nothing to wait for. */
leat_status le_cuda_synchronize(void *native) {
    struct le_cuda_device *cuda = native;
    le_cu_context before;
    if (!le_cuda_is_opening(cuda) && !le_cuda_has_context(cuda))
        return LEAT_OK;
    leat_status status = le_cuda_enter(cuda, &before);
    if (status)
        return status;
    status = le_cuda_result(cuda, cuda->driver->CtxSynchronize(), "waiting for the device");
    if (!status)
        status = le_cuda_check_reports(cuda, status);
    return le_cuda_leave(cuda, before, status);
}

static uint64_t cuda_clock_ns(void *native) {
    return ((struct le_cuda_device *)native)->driver->clock_ns();
}

/* ---- limits */

enum limit {
    LIMIT_WARP,
    LIMIT_BLOCK,
    LIMIT_MULTIPROCESSOR,
    LIMIT_SHARED,
    LIMIT_SHARED_OPTIN,
    LIMIT_COOPERATIVE,
    LIMIT_BLOCK_X,
    LIMIT_BLOCK_Y,
    LIMIT_BLOCK_Z,
    LIMIT_GRID_X,
    LIMIT_GRID_Y,
    LIMIT_GRID_Z,
    LIMITS
};

static leat_status read_limits(struct le_cuda_device *cuda, int values[LIMITS]) {
    static const le_cu_device_attribute which[LIMITS] = {
        [LIMIT_WARP] = LE_CU_DEVICE_ATTRIBUTE_WARP_SIZE,
        [LIMIT_BLOCK] = LE_CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
        [LIMIT_MULTIPROCESSOR] = LE_CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
        [LIMIT_SHARED] = LE_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK,
        [LIMIT_SHARED_OPTIN] = LE_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
        [LIMIT_COOPERATIVE] = LE_CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH,
        [LIMIT_BLOCK_X] = LE_CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
        [LIMIT_BLOCK_Y] = LE_CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
        [LIMIT_BLOCK_Z] = LE_CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z,
        [LIMIT_GRID_X] = LE_CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
        [LIMIT_GRID_Y] = LE_CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
        [LIMIT_GRID_Z] = LE_CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z,
    };
    le_cu_result result = LE_CU_SUCCESS;
    int k = 0;
    for (; k < LIMITS && result == LE_CU_SUCCESS; k++)
        result = cuda->driver->DeviceGetAttribute(&values[k], which[k], cuda->handle);
    return le_cuda_result(cuda, result, "asking for attribute %d of device cuda:%d", k ? which[k - 1] : 0,
                          cuda->ordinal);
}

static leat_status fill_limits(struct le_cuda_device *cuda, const struct le_cuda_facts *facts, const char *kind,
                               struct le_device_limits *limits) {
    int values[LIMITS] = {0};
    leat_status status = read_limits(cuda, values);
    *limits = (struct le_device_limits){
        .capability = facts->capability,
        .ordinal = cuda->ordinal,
        .multiprocessors = facts->multiprocessors,
        .warp_threads = values[LIMIT_WARP],
        .block_threads = values[LIMIT_BLOCK],
        .multiprocessor_threads = values[LIMIT_MULTIPROCESSOR],
        .shared_bytes = (size_t)values[LIMIT_SHARED],
        .shared_optin_bytes = (size_t)values[LIMIT_SHARED_OPTIN],
        .memory_bytes = facts->memory_bytes,
        .memory_bytes_per_second = facts->memory_bytes_per_second,
        .clock_hz = facts->clock_hz,
        .cooperative = values[LIMIT_COOPERATIVE] != 0,
    };
    for (int k = 0; k < 3; k++) {
        limits->block[k] = (unsigned)values[LIMIT_BLOCK_X + k];
        limits->grid[k] = (unsigned)values[LIMIT_GRID_X + k];
    }
    if (limits->shared_optin_bytes < limits->shared_bytes)
        limits->shared_optin_bytes = limits->shared_bytes;
    snprintf(limits->kind, sizeof limits->kind, "%s", kind);
    snprintf(limits->name, sizeof limits->name, "%s", facts->name);
    snprintf(limits->architecture, sizeof limits->architecture, "sm_%d", facts->capability);
    return status;
}

/* ---- opening */

static const struct le_device_ops cuda_ops = {
    .close = cuda_close,
    .is_opening = le_cuda_is_opening,
    .memory_new = le_cuda_memory_new,
    .memory_free = le_cuda_memory_free,
    .memory_info = le_cuda_memory_info,
    .host_pin = le_cuda_host_pin,
    .host_unpin = le_cuda_host_unpin,
    .pointer_kind = le_cuda_pointer_kind,
    .stream_new = le_cuda_stream_new,
    .stream_check = le_cuda_stream_check,
    .stream_free = le_cuda_stream_free,
    .stream_wait = le_cuda_stream_wait,
    .stream_synchronize = le_cuda_stream_synchronize,
    .synchronize = le_cuda_synchronize,
    .copy = le_cuda_copy,
    .fill = le_cuda_fill,
    .event_new = le_cuda_event_new,
    .event_free = le_cuda_event_free,
    .event_record = le_cuda_event_record,
    .event_synchronize = le_cuda_event_synchronize,
    .event_query = le_cuda_event_query,
    .event_elapsed = le_cuda_event_elapsed,
    .module_new = le_cuda_module_new,
    .module_free = le_cuda_module_free,
    .compiler_begin = le_cuda_compiler_begin,
    .launch = le_cuda_launch,
    .replay_new = le_cuda_replay_new,
    .replay_launch = le_cuda_replay_launch,
    .replay_free = le_cuda_replay_free,
    .product_open = le_cuda_product_open,
    .product = le_cuda_product,
};

/* The same for the simulator's driver, which wants to know which memory is in use, and has its own clock. */
static struct le_device_ops sim_ops(void) {
    struct le_device_ops ops = cuda_ops;
    ops.memory_note = le_cuda_memory_note;
    ops.clock_ns = cuda_clock_ns;
    return ops;
}

/* Whether the driver has loaded a tool into the process, as `leat trace` requests. Such a tool sees a graph as a whole,
 * without the names of its kernels. */
static bool has_injected_tool(void) {
    const char *tool = le_environment_get("CUDA_INJECTION64_PATH");
    return tool && *tool;
}

static leat_status find_device(const struct le_cuda_driver *driver, int ordinal, struct le_cuda_facts *facts) {
    int count = 0;
    leat_status status = le_cuda_facts_count(driver, &count);
    if (status)
        return status;
    if (ordinal >= count)
        return le_fail(LEAT_DEVICE, "there is no device cuda:%d; the driver reports %d", ordinal, count);
    status = le_cuda_facts_get(driver, ordinal, facts);
    if (!status && !facts->usable)
        status = le_fail(LEAT_DEVICE, "device cuda:%d (%s) cannot be used: %s", ordinal, facts->name, facts->reason);
    return status;
}

static void init_device(struct le_cuda_device *cuda, const struct le_cuda_opening *opening,
                        const struct le_cuda_facts *facts, struct le_device *device) {
    *cuda = (struct le_cuda_device){.driver = opening->driver,
                                    .nvrtc = opening->nvrtc,
                                    .cublas = opening->cublas,
                                    .device = device,
                                    .ordinal = opening->ordinal,
                                    .handle = facts->device,
                                    .is_sim = strcmp(opening->kind, "sim") == 0};
}

leat_status le_cuda_device_new(const struct le_cuda_opening *opening, struct le_device *device) {
    struct le_cuda_facts facts;
    leat_status status = find_device(opening->driver, opening->ordinal, &facts);
    if (status)
        return status;
    struct le_cuda_device *cuda = le_alloc_zero(1, sizeof *cuda);
    if (!cuda)
        return le_fail_out_of_memory(sizeof *cuda);
    init_device(cuda, opening, &facts, device);
    status = fill_limits(cuda, &facts, opening->kind, &device->limits);
    if (!status)
        status = le_cuda_context_begin(cuda, opening->in_background);
    if (status) {
        le_free(cuda);
        return status;
    }
    cuda->ops = opening->driver->note_memory ? sim_ops() : cuda_ops;
    if (has_injected_tool())
        cuda->ops.replay_new = NULL;
    cuda->warm = opening->warm;
    pthread_mutex_init(&cuda->warm_lock, NULL);
    pthread_mutex_init(&cuda->product_lock, NULL);
    device->ops = &cuda->ops;
    device->native = cuda;
    return LEAT_OK;
}
