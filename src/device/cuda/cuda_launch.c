/* Launches over a CUDA driver. launch.c has checked the launch, except for what only the driver knows: how many thread
 * blocks can be resident at one time. A repeated launch (replay.c) is a graph of that one kernel. Its parameters are
 * updated if they differ from the last launch. */
#include "base/memory.h"
#include "device/cuda/cuda_device.h"
#include "device/front/module.h"
#include <string.h>

/* ---- single launches */

/* Opts in to dynamic shared memory above the default limit: once, and for as much as the kernel may ever use. */
static leat_status allow_shared(struct le_cuda_device *cuda, struct le_device_kernel *kernel,
                                const struct le_kernel_launch *launch) {
    if (launch->shared_bytes + kernel->static_shared_bytes <= cuda->device->limits.shared_bytes ||
        atomic_load_explicit(&kernel->shared_opted_in, memory_order_acquire))
        return LEAT_OK;
    le_cu_result result = cuda->driver->FuncSetAttribute(
        kernel->native, LE_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)kernel->max_dynamic_shared_bytes);
    if (result == LE_CU_SUCCESS)
        atomic_store_explicit(&kernel->shared_opted_in, true, memory_order_release);
    return le_cuda_result(cuda, result, "kernel %s: %zu bytes of dynamic shared memory", kernel->name,
                          kernel->max_dynamic_shared_bytes);
}

/* All thread blocks of a cooperative launch must be resident at one time. */
static leat_status check_resident(struct le_cuda_device *cuda, const struct le_device_kernel *kernel,
                                  const struct le_kernel_launch *launch) {
    int threads = (int)(launch->block[0] * launch->block[1] * launch->block[2]), each = 0;
    int multiprocessors = cuda->device->limits.multiprocessors;
    le_cu_result result =
        cuda->driver->OccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel->native, threads, launch->shared_bytes);
    if (result != LE_CU_SUCCESS)
        return le_cuda_result(cuda, result, "kernel %s", kernel->name);
    uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    uint64_t most = (uint64_t)each * (uint64_t)multiprocessors;
    if (blocks <= most)
        return LEAT_OK;
    return le_fail(
        LEAT_INVALID,
        "kernel %s: a cooperative launch of %llu blocks; at most %llu blocks of %d threads can be resident at one time "
        "(%d on each of %d multiprocessors)",
        kernel->name, (unsigned long long)blocks, (unsigned long long)most, threads, each, multiprocessors);
}

static leat_status launch_cooperative(struct le_cuda_device *cuda, void *stream, struct le_device_kernel *kernel,
                                      const struct le_kernel_launch *launch, void **parameters) {
    leat_status status = check_resident(cuda, kernel, launch);
    if (status)
        return status;
    le_cu_result result = cuda->driver->LaunchCooperativeKernel(
        kernel->native, launch->grid[0], launch->grid[1], launch->grid[2], launch->block[0], launch->block[1],
        launch->block[2], (unsigned)launch->shared_bytes, stream, parameters);
    return result == LE_CU_SUCCESS ? LEAT_OK : le_cuda_result(cuda, result, "kernel %s", kernel->name);
}

leat_status le_cuda_launch(void *native, void *stream, struct le_device_kernel *kernel,
                           const struct le_kernel_launch *launch, void **parameters) {
    struct le_cuda_device *cuda = native;
    le_cu_context before;
    leat_status status = le_cuda_enter(cuda, &before);
    if (status)
        return status;
    status = allow_shared(cuda, kernel, launch);
    if (!status && launch->cooperative) {
        status = launch_cooperative(cuda, le_cuda_stream_of(cuda, stream), kernel, launch, parameters);
    } else if (!status) {
        le_cu_result result = cuda->driver->LaunchKernel(
            kernel->native, launch->grid[0], launch->grid[1], launch->grid[2], launch->block[0], launch->block[1],
            launch->block[2], (unsigned)launch->shared_bytes, le_cuda_stream_of(cuda, stream), parameters, NULL);
        if (result != LE_CU_SUCCESS)
            status = le_cuda_result(cuda, result, "kernel %s", kernel->name);
    }
    return le_cuda_leave(cuda, before, status);
}

/* ---- repeated launches */

struct replay {
    le_cu_graph graph; /* owns the node, which is needed to set parameters of the executable graph */
    le_cu_graph_node node;
    le_cu_graph_exec exec;
    unsigned grid[3], block[3];
    size_t shared_bytes;
    unsigned char values[]; /* values of the parameters, one after the other */
};

static le_cu_kernel_node node_of(const struct le_device_kernel *kernel, const struct le_kernel_launch *launch,
                                 void **parameters) {
    return (le_cu_kernel_node){.func = kernel->native,
                               .gridDimX = launch->grid[0],
                               .gridDimY = launch->grid[1],
                               .gridDimZ = launch->grid[2],
                               .blockDimX = launch->block[0],
                               .blockDimY = launch->block[1],
                               .blockDimZ = launch->block[2],
                               .sharedMemBytes = (unsigned)launch->shared_bytes,
                               .kernelParams = parameters};
}

static size_t values_bytes(const struct le_device_kernel *kernel) {
    size_t size_bytes = 0;
    for (int k = 0; k < kernel->entry->parameter_count; k++)
        size_bytes += kernel->entry->parameters[k].size_bytes;
    return size_bytes;
}

static bool has_parameters(const struct replay *replay, const struct le_device_kernel *kernel,
                           const struct le_kernel_launch *launch, void **parameters) {
    const unsigned char *value = replay->values;
    bool same = memcmp(replay->grid, launch->grid, sizeof launch->grid) == 0 &&
                memcmp(replay->block, launch->block, sizeof launch->block) == 0 &&
                replay->shared_bytes == launch->shared_bytes;
    for (int k = 0; k < kernel->entry->parameter_count && same; k++) {
        size_t size_bytes = kernel->entry->parameters[k].size_bytes;
        same = memcmp(value, parameters[k], size_bytes) == 0;
        value += size_bytes;
    }
    return same;
}

static void store_parameters(struct replay *replay, const struct le_device_kernel *kernel,
                             const struct le_kernel_launch *launch, void **parameters) {
    unsigned char *value = replay->values;
    memcpy(replay->grid, launch->grid, sizeof launch->grid);
    memcpy(replay->block, launch->block, sizeof launch->block);
    replay->shared_bytes = launch->shared_bytes;
    for (int k = 0; k < kernel->entry->parameter_count; k++) {
        memcpy(value, parameters[k], kernel->entry->parameters[k].size_bytes);
        value += kernel->entry->parameters[k].size_bytes;
    }
}

/* Creating or destroying a graph while another library captures a stream, anywhere in the process, would invalidate the
 * capture, unless this thread declares itself unrelated (measured with driver 580). A second call restores the previous
 * mode. */
static void exchange_capture_mode(const struct le_cuda_driver *driver, le_cu_capture_mode *mode) {
    (void)driver->ThreadExchangeStreamCaptureMode(mode);
}

static le_cu_result make_graph(const struct le_cuda_driver *driver, struct replay *replay,
                               const le_cu_kernel_node *node) {
    le_cu_capture_mode mode = LE_CU_STREAM_CAPTURE_MODE_RELAXED;
    exchange_capture_mode(driver, &mode);
    le_cu_result result = driver->GraphCreate(&replay->graph, 0);
    if (result == LE_CU_SUCCESS)
        result = driver->GraphAddKernelNode(&replay->node, replay->graph, NULL, 0, node);
    if (result == LE_CU_SUCCESS)
        result = driver->GraphInstantiateWithFlags(&replay->exec, replay->graph, 0);
    exchange_capture_mode(driver, &mode);
    return result;
}

/* Call with the context entered. If the graph is still running, the driver frees its resources when it is done. */
static void free_graph(const struct le_cuda_driver *driver, struct replay *replay) {
    le_cu_capture_mode mode = LE_CU_STREAM_CAPTURE_MODE_RELAXED;
    exchange_capture_mode(driver, &mode);
    if (replay->exec)
        driver->GraphExecDestroy(replay->exec);
    if (replay->graph)
        driver->GraphDestroy(replay->graph);
    exchange_capture_mode(driver, &mode);
}

leat_status le_cuda_replay_new(void *native, struct le_device_kernel *kernel, const struct le_kernel_launch *launch,
                               void **parameters, void **replay) {
    struct le_cuda_device *cuda = native;
    le_cu_context before;
    struct replay *made = le_alloc_zero(1, sizeof *made + values_bytes(kernel));
    if (!made)
        return le_fail_out_of_memory(sizeof *made);
    leat_status status = le_cuda_enter(cuda, &before);
    if (status) {
        le_free(made);
        return status;
    }
    status = allow_shared(cuda, kernel, launch);
    if (!status) {
        const le_cu_kernel_node node = node_of(kernel, launch, parameters);
        status = le_cuda_result(cuda, make_graph(cuda->driver, made, &node), "kernel %s as a graph", kernel->name);
    }
    if (status)
        free_graph(cuda->driver, made);
    else
        store_parameters(made, kernel, launch, parameters);
    status = le_cuda_leave(cuda, before, status);
    if (status)
        le_free(made);
    else
        *replay = made;
    return status;
}

static le_cu_result set_parameters(const struct le_cuda_driver *driver, struct replay *replay,
                                   const struct le_device_kernel *kernel, const struct le_kernel_launch *launch,
                                   void **parameters) {
    const le_cu_kernel_node node = node_of(kernel, launch, parameters);
    le_cu_result result = driver->GraphExecKernelNodeSetParams(replay->exec, replay->node, &node);
    if (result == LE_CU_SUCCESS)
        store_parameters(replay, kernel, launch, parameters);
    return result;
}

/* Whether another library records the stream's work into a graph of its own. A stream that must not be asked, because
 * the capture of another one forbids it, counts as captured. */
static bool is_captured(struct le_cuda_device *cuda, void *stream) {
    le_cu_capture_status captured = 1;
    return cuda->driver->StreamIsCapturing(le_cuda_stream_of(cuda, stream), &captured) != LE_CU_SUCCESS || captured;
}

leat_status le_cuda_replay_launch(void *native, void *stream, bool foreign, struct le_device_kernel *kernel,
                                  const struct le_kernel_launch *launch, void **parameters, void *replay) {
    struct le_cuda_device *cuda = native;
    le_cu_context before;
    le_cu_result result = LE_CU_SUCCESS;
    leat_status status = le_cuda_enter(cuda, &before);
    if (status)
        return status;
    if (foreign && is_captured(cuda, stream))
        return le_cuda_leave(cuda, before, le_cuda_launch(native, stream, kernel, launch, parameters));
    if (!has_parameters(replay, kernel, launch, parameters)) {
        status = allow_shared(cuda, kernel, launch);
        result = status ? LE_CU_SUCCESS : set_parameters(cuda->driver, replay, kernel, launch, parameters);
    }
    if (!status && result == LE_CU_SUCCESS)
        result = cuda->driver->GraphLaunch(((struct replay *)replay)->exec, le_cuda_stream_of(cuda, stream));
    if (result != LE_CU_SUCCESS)
        status = le_cuda_result(cuda, result, "kernel %s", kernel->name);
    return le_cuda_leave(cuda, before, status);
}

void le_cuda_replay_free(void *native, void *replay) {
    struct le_cuda_device *cuda = native;
    le_cu_context before;
    if (le_cuda_enter_to_free(cuda, &before)) {
        free_graph(cuda->driver, replay);
        le_cuda_leave(cuda, before, LEAT_OK);
    }
    le_free(replay);
}
