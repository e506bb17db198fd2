/* Graphs of one kernel each, as device/cuda/cuda_launch.c makes them. A graph and an executable graph each have their
 * own copy of the launch, so changing one does not affect the other. Launches of one executable graph in several
 * streams are not ordered here. A real driver orders them, but programs may not rely on it. Guarded by the state's
 * lock.
 */
#include "base/memory.h"
#include "sim/driver/sim_state.h"
#include <string.h>

/* The handle of the node is the graph's own handle. */
struct sim_graph {
    struct sim_saved_launch *node; /* NULL: no node yet */
};
struct sim_exec {
    le_cu_graph_node of; /* the node that it was instantiated from */
    struct sim_saved_launch *launch;
};

static struct sim_graph *graph_of(le_cu_graph graph) {
    return le_sim_handle_get(&le_sim_state()->graph_handles, (uintptr_t)graph);
}

static struct sim_exec *exec_of(le_cu_graph_exec exec) {
    return le_sim_handle_get(&le_sim_state()->exec_handles, (uintptr_t)exec);
}

static void graph_free(struct sim_graph *graph) {
    le_free(graph->node);
    le_free(graph);
}

static void exec_free(struct sim_exec *exec) {
    le_free(exec->launch);
    le_free(exec);
}

void le_sim_graphs_finish(void) {
    struct sim_handles *graphs = &le_sim_state()->graph_handles, *execs = &le_sim_state()->exec_handles;
    for (int k = 0; k < graphs->count; k++)
        if (graphs->at[k].object)
            graph_free(graphs->at[k].object);
    for (int k = 0; k < execs->count; k++)
        if (execs->at[k].object)
            exec_free(execs->at[k].object);
    le_sim_handles_finish(graphs);
    le_sim_handles_finish(execs);
}

/* Capture is not supported. */
le_cu_result le_sim_StreamIsCapturing(le_cu_stream stream, le_cu_capture_status *status) {
    le_cu_result result = le_sim_enter_early(SIM_CALL_FREE);
    if (result)
        return result;
    (void)stream;
    if (!status)
        return le_sim_leave(LE_CU_ERROR_INVALID_VALUE);
    *status = 0;
    return le_sim_leave(LE_CU_SUCCESS);
}

/* The mode is only stored. */
le_cu_result le_sim_ThreadExchangeStreamCaptureMode(le_cu_capture_mode *mode) {
    static _Thread_local le_cu_capture_mode current = LE_CU_STREAM_CAPTURE_MODE_GLOBAL;
    le_cu_result result = le_sim_enter_early(SIM_CALL_FREE);
    if (result)
        return result;
    if (!mode || *mode < LE_CU_STREAM_CAPTURE_MODE_GLOBAL || *mode > LE_CU_STREAM_CAPTURE_MODE_RELAXED)
        return le_sim_leave(LE_CU_ERROR_INVALID_VALUE);
    le_cu_capture_mode before = current;
    current = *mode;
    *mode = before;
    return le_sim_leave(LE_CU_SUCCESS);
}

/* ---- graphs */

static le_cu_result create_graph(le_cu_graph *handle, unsigned flags) {
    if (!handle || flags)
        return LE_CU_ERROR_INVALID_VALUE;
    struct sim_graph *graph = le_alloc_zero(1, sizeof *graph);
    uintptr_t number = graph ? le_sim_handle_put(&le_sim_state()->graph_handles, graph) : 0;
    if (!number) {
        le_free(graph);
        return LE_CU_ERROR_OUT_OF_MEMORY;
    }
    *handle = (le_cu_graph)number;
    return LE_CU_SUCCESS;
}

le_cu_result le_sim_GraphCreate(le_cu_graph *graph, unsigned flags) {
    le_cu_result result = le_sim_enter(SIM_CALL_CREATE);
    return result ? result : le_sim_leave(create_graph(graph, flags));
}

le_cu_result le_sim_GraphDestroy(le_cu_graph handle) {
    le_cu_result result = le_sim_enter(SIM_CALL_CREATE);
    if (result)
        return result;
    struct sim_graph *graph = graph_of(handle);
    if (!graph)
        return le_sim_leave(LE_CU_ERROR_INVALID_VALUE);
    le_sim_handle_drop(&le_sim_state()->graph_handles, (uintptr_t)handle);
    graph_free(graph);
    return le_sim_leave(LE_CU_SUCCESS);
}

static le_cu_result save_node(const le_cu_kernel_node *k, struct sim_saved_launch **kept) {
    const struct sim_shape shape = {.grid = {k->gridDimX, k->gridDimY, k->gridDimZ},
                                    .block = {k->blockDimX, k->blockDimY, k->blockDimZ},
                                    .shared_bytes = k->sharedMemBytes};
    return le_sim_launch_save(k->func, &shape, k->kernelParams, k->extra, kept);
}

static le_cu_result add_kernel_node(le_cu_graph_node *node, le_cu_graph handle, size_t before_count,
                                    const le_cu_kernel_node *kernel) {
    struct sim_graph *graph = graph_of(handle);
    if (!graph || !node || !kernel)
        return LE_CU_ERROR_INVALID_VALUE;
    if (graph->node || before_count)
        return LE_CU_ERROR_NOT_SUPPORTED;
    le_cu_result result = save_node(kernel, &graph->node);
    if (!result)
        *node = (le_cu_graph_node)(uintptr_t)handle;
    return result;
}

le_cu_result le_sim_GraphAddKernelNode(le_cu_graph_node *node, le_cu_graph graph, const le_cu_graph_node *before,
                                       size_t before_count, const le_cu_kernel_node *kernel) {
    (void)before;
    le_cu_result result = le_sim_enter(SIM_CALL_CREATE);
    return result ? result : le_sim_leave(add_kernel_node(node, graph, before_count, kernel));
}

/* ---- executable graphs */

static struct sim_saved_launch *copy_of(const struct sim_saved_launch *launch) {
    struct sim_saved_launch *copy = le_alloc(sizeof *copy + launch->buffer_bytes);
    if (copy)
        memcpy(copy, launch, sizeof *copy + launch->buffer_bytes);
    return copy;
}

static le_cu_result instantiate_graph(le_cu_graph_exec *handle, le_cu_graph of, unsigned long long flags) {
    const struct sim_graph *graph = graph_of(of);
    if (!graph || !handle || flags)
        return LE_CU_ERROR_INVALID_VALUE;
    if (!graph->node)
        return LE_CU_ERROR_NOT_SUPPORTED;
    struct sim_exec *exec = le_alloc_zero(1, sizeof *exec);
    if (exec)
        *exec = (struct sim_exec){.of = (le_cu_graph_node)(uintptr_t)of, .launch = copy_of(graph->node)};
    uintptr_t number = exec && exec->launch ? le_sim_handle_put(&le_sim_state()->exec_handles, exec) : 0;
    if (!number) {
        if (exec)
            exec_free(exec);
        return LE_CU_ERROR_OUT_OF_MEMORY;
    }
    *handle = (le_cu_graph_exec)number;
    return LE_CU_SUCCESS;
}

le_cu_result le_sim_GraphInstantiateWithFlags(le_cu_graph_exec *exec, le_cu_graph graph, unsigned long long flags) {
    le_cu_result result = le_sim_enter(SIM_CALL_CREATE);
    return result ? result : le_sim_leave(instantiate_graph(exec, graph, flags));
}

static le_cu_result set_node(le_cu_graph_exec handle, le_cu_graph_node node, const le_cu_kernel_node *kernel) {
    struct sim_exec *exec = exec_of(handle);
    struct sim_saved_launch *launch;
    if (!exec || !kernel || node != exec->of || !graph_of((le_cu_graph)(uintptr_t)node))
        return LE_CU_ERROR_INVALID_VALUE;
    le_cu_result result = save_node(kernel, &launch);
    if (result)
        return result;
    le_free(exec->launch);
    exec->launch = launch;
    return LE_CU_SUCCESS;
}

le_cu_result le_sim_GraphExecKernelNodeSetParams(le_cu_graph_exec exec, le_cu_graph_node node,
                                                 const le_cu_kernel_node *kernel) {
    le_cu_result result = le_sim_enter(SIM_CALL_FREE);
    return result ? result : le_sim_leave(set_node(exec, node, kernel));
}

static le_cu_result launch_graph(struct sim_exec *exec, le_cu_stream stream) {
    if (!exec)
        return LE_CU_ERROR_INVALID_VALUE;
    struct sim_saved_launch *l = exec->launch;
    void *extra[] = {(void *)1, l->buffer, (void *)2, &l->buffer_bytes, NULL};
    return le_sim_launch(l->function, &l->shape, stream, NULL, extra);
}

le_cu_result le_sim_GraphLaunch(le_cu_graph_exec exec, le_cu_stream stream) {
    le_cu_result result = le_sim_enter(SIM_CALL_GRAPH_LAUNCH);
    return result ? result : le_sim_leave(launch_graph(exec_of(exec), stream));
}

le_cu_result le_sim_GraphExecDestroy(le_cu_graph_exec handle) {
    le_cu_result result = le_sim_enter(SIM_CALL_CREATE);
    if (result)
        return result;
    struct sim_exec *exec = exec_of(handle);
    if (!exec)
        return le_sim_leave(LE_CU_ERROR_INVALID_VALUE);
    le_sim_handle_drop(&le_sim_state()->exec_handles, (uintptr_t)handle);
    exec_free(exec);
    return le_sim_leave(LE_CU_SUCCESS);
}
