/* Graphs of sim's driver: a stored launch, a launch with other parameters, and errors. */
#include "sim/driver/sim_driver_test.h"
#include "sim/grid/sim_exec.h"
#include <stdlib.h>
#include <string.h>

static struct sim_compiled compiled;

static int compile(void **state) {
    (void)state;
    struct sim_compile_options options = {
        .source = "extern \"C\" __global__ void set(int *x, int value) { x[blockIdx.x * blockDim.x + threadIdx.x] = "
                  "value; }",
        .name = "set.cu"};
    return le_sim_compile(&options, &compiled) != LEAT_OK;
}

static int free_image(void **state) {
    (void)state;
    le_sim_compiled_finish(&compiled);
    return 0;
}

static le_cu_function load_function(le_cu_module *module) {
    le_cu_function function;
    ok(cu->ModuleLoadDataEx(module, compiled.image, 0, NULL, NULL));
    ok(cu->ModuleGetFunction(&function, *module, "set"));
    return function;
}

static le_cu_kernel_node node_of(le_cu_function function, unsigned grid, void **parameters) {
    return (le_cu_kernel_node){.func = function,
                               .gridDimX = grid,
                               .gridDimY = 1,
                               .gridDimZ = 1,
                               .blockDimX = 2,
                               .blockDimY = 1,
                               .blockDimZ = 1,
                               .kernelParams = parameters};
}

/* Each launch has the parameters of the time when it was enqueued, whatever happens later to them, to the graph, or to
 * the executable graph. */
static void test_launches(void **state) {
    (void)state;
    le_cu_module module;
    le_cu_graph graph;
    le_cu_graph_node node;
    le_cu_graph_exec exec;
    le_cu_stream stream = stream_new(LE_CU_STREAM_NON_BLOCKING);
    le_cu_deviceptr target = device_new(6 * sizeof(int)), here = target;
    int value = 5, got[6];
    void *parameters[] = {&here, &value};
    le_cu_kernel_node kernel = node_of(load_function(&module), 1, parameters);
    ok(cu->GraphCreate(&graph, 0));
    ok(cu->GraphAddKernelNode(&node, graph, NULL, 0, &kernel));
    ok(cu->GraphInstantiateWithFlags(&exec, graph, 0));
    value = 6;
    ok(cu->MemsetD32Async(target, 1, 6, stream));
    ok(cu->GraphLaunch(exec, stream));
    here = target + 2 * sizeof(int);
    kernel.gridDimX = 2;
    ok(cu->GraphExecKernelNodeSetParams(exec, node, &kernel));
    ok(cu->GraphLaunch(exec, stream));
    value = 7;
    here = target + 5 * sizeof(int); /* has no effect until the parameters are set */
    ok(cu->GraphExecDestroy(exec));
    ok(cu->GraphDestroy(graph));
    ok(cu->MemcpyDtoHAsync(got, target, sizeof got, stream));
    ok(cu->StreamSynchronize(stream));
    assert_memory_equal(got, ((int[]){5, 5, 6, 6, 6, 6}), sizeof got);
}

static void test_refused(void **state) {
    (void)state;
    le_cu_module module;
    le_cu_graph graph, other;
    le_cu_graph_node node, second;
    le_cu_graph_exec exec;
    le_cu_stream stream = stream_new(LE_CU_STREAM_NON_BLOCKING);
    le_cu_deviceptr target = device_new(64);
    int value = 5;
    void *parameters[] = {&target, &value};
    le_cu_kernel_node kernel = node_of(load_function(&module), 1, parameters), wrong = kernel, none = kernel;
    wrong.gridDimX = 0;
    none.kernelParams = NULL;
    fails(INVALID_VALUE, cu->GraphCreate(&graph, 1));
    ok(cu->GraphCreate(&graph, 0));
    ok(cu->GraphCreate(&other, 0));
    fails(NOT_SUPPORTED, cu->GraphInstantiateWithFlags(&exec, graph, 0)); /* a graph without nodes is sim's own limit */
    fails(INVALID_VALUE, cu->GraphAddKernelNode(&node, graph, NULL, 0, &wrong));
    fails(INVALID_VALUE, cu->GraphAddKernelNode(&node, graph, NULL, 0, &none));
    ok(cu->GraphAddKernelNode(&node, graph, NULL, 0, &kernel));
    fails(NOT_SUPPORTED, cu->GraphAddKernelNode(&second, graph, NULL, 0, &kernel));
    ok(cu->GraphAddKernelNode(&second, other, NULL, 0, &kernel));
    ok(cu->GraphInstantiateWithFlags(&exec, graph, 0));
    fails(INVALID_VALUE, cu->GraphExecKernelNodeSetParams(exec, second, &kernel));
    fails(INVALID_VALUE, cu->GraphExecKernelNodeSetParams(exec, node, &wrong));
    ok(cu->GraphDestroy(graph));
    fails(INVALID_VALUE, cu->GraphDestroy(graph));
    fails(INVALID_VALUE, cu->GraphExecKernelNodeSetParams(exec, node, &kernel));
    fails(INVALID_HANDLE, cu->GraphLaunch(exec, (le_cu_stream)(uintptr_t)77));
    ok(cu->CtxSetCurrent(NULL));
    fails(INVALID_CONTEXT, cu->GraphExecKernelNodeSetParams(exec, node, &kernel));
    ok(cu->CtxSetCurrent(primary));
    ok(cu->ModuleUnload(module));
    fails(INVALID_HANDLE, cu->GraphLaunch(exec, stream));
    begin_again(&(struct le_sim_options){.seed = 1, .only_on_wait = true});
    struct le_sim_tally tally;
    le_sim_tally_get(&tally);
    assert_int_equal(tally.graphs, 2); /* `other` and the executable graph */
    fails(INVALID_VALUE, cu->GraphLaunch(exec, stream));
}

/* Each thread has its own mode, and the call returns the former one. */
static void test_capture_mode(void **state) {
    (void)state;
    le_cu_capture_mode mode = 3, other = 0;
    le_cu_capture_status status = 1;
    fails(INVALID_VALUE, cu->StreamIsCapturing(NULL, NULL));
    ok(cu->StreamIsCapturing(NULL, &status));
    assert_int_equal(status, 0);
    fails(INVALID_VALUE, cu->ThreadExchangeStreamCaptureMode(&mode));
    mode = LE_CU_STREAM_CAPTURE_MODE_RELAXED;
    ok(cu->ThreadExchangeStreamCaptureMode(&mode));
    assert_int_equal(mode, LE_CU_STREAM_CAPTURE_MODE_GLOBAL);
    ok(cu->ThreadExchangeStreamCaptureMode(&mode));
    ok(cu->ThreadExchangeStreamCaptureMode(&other));
    assert_int_equal(other, LE_CU_STREAM_CAPTURE_MODE_GLOBAL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_launches, begin, end),
        cmocka_unit_test_setup_teardown(test_refused, begin, end),
        cmocka_unit_test_setup_teardown(test_capture_mode, begin, end),
    };
    return cmocka_run_group_tests(tests, compile, free_image);
}
