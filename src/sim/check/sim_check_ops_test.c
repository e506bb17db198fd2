/* The checks across operations: uninitialized memory, freed memory, work in two streams, and host accesses while a
 * kernel runs. Kernels are compiled and run; skipped without a C++ compiler. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "sim/sim.h"
#include <stdlib.h>
#include <string.h>

#define ok(call) assert_int_equal(call, LE_CU_SUCCESS)

static const char source[] = "extern \"C\" __global__ void scale(float *x, int n) {\n"
                             "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "    if (i < n)\n"
                             "        x[i] = 2 * x[i] + 1;\n"
                             "}\n"
                             "extern \"C\" __global__ void fill(float *x, int n) {\n"
                             "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "    if (i < n)\n"
                             "        x[i] = i;\n"
                             "}\n"
                             "extern \"C\" __global__ void count(unsigned *x, int n) { atomicAdd(x, 1u); }\n";
enum { N = 1000, BYTES = 4 * N };

static const struct le_cuda_driver *cu;
static const struct le_nvrtc *rtc;
static void *image;
static le_cu_module module;
static le_cu_stream a, b;

static int compile(void **state) {
    (void)state;
    rtc = le_sim_nvrtc();
    le_nvrtc_program program;
    size_t size_bytes;
    if (le_sim_configure(&(struct le_sim_options){.seed = 1, .check = true, .only_on_wait = true}) ||
        rtc->CreateProgram(&program, source, "ops.cu", 0, NULL, NULL))
        return 1;
    if (rtc->CompileProgram(program, 0, NULL) == LE_NVRTC_SUCCESS && !rtc->GetCUBINSize(program, &size_bytes)) {
        image = malloc(size_bytes);
        rtc->GetCUBIN(program, image);
    }
    return rtc->DestroyProgram(&program);
}

static int free_image(void **state) {
    (void)state;
    free(image);
    return 0;
}

static int begin(void **state) {
    (void)state;
    cu = le_sim_driver();
    le_cu_context primary;
    if (le_sim_configure(&(struct le_sim_options){.seed = 1, .check = true, .only_on_wait = true}) || cu->Init(0) ||
        cu->DevicePrimaryCtxRetain(&primary, 0) || cu->CtxSetCurrent(primary))
        return 1;
    return (image && cu->ModuleLoadDataEx(&module, image, 0, NULL, NULL)) ||
           cu->StreamCreate(&a, LE_CU_STREAM_NON_BLOCKING) || cu->StreamCreate(&b, LE_CU_STREAM_NON_BLOCKING);
}

static int end(void **state) {
    (void)state;
    return cu->DevicePrimaryCtxRelease(0);
}

static void launch_kernel(const char *name, le_cu_deviceptr x, int n, le_cu_stream stream) {
    le_cu_function function;
    if (!image)
        skip();
    ok(cu->ModuleGetFunction(&function, module, name));
    void *parameters[] = {&x, &n};
    ok(cu->LaunchKernel(function, 8, 1, 1, 128, 1, 1, 0, stream, parameters, NULL));
}

static le_cu_deviceptr array_new(void) {
    le_cu_deviceptr address;
    ok(cu->MemAlloc(&address, BYTES));
    return address;
}

static void expect_no_reports(void) {
    ok(cu->CtxSynchronize());
    const char *report = cu->report();
    if (report)
        fail_msg("report: %s", report);
}

static void expect_report(const char *part) {
    const char *report = cu->report();
    if (!report || !strstr(report, part))
        fail_msg("wanted: %s\nreport: %s", part, report ? report : "none");
}

static void fresh_memory(void **state) {
    (void)state;
    le_cu_deviceptr x = array_new();
    launch_kernel("fill", x, N, a);
    launch_kernel("scale", x, N, a);
    expect_no_reports();
    x = array_new();
    launch_kernel("scale", x, N, a);
    ok(cu->CtxSynchronize());
    expect_report("uninitialized read in kernel scale: block (");
    expect_report("ops.cu:4\n    reads 4 bytes at byte ");
    expect_report(", which nothing has written");
}

static void released_memory(void **state) {
    (void)state;
    le_cu_deviceptr x = array_new();
    launch_kernel("fill", x, N, a);
    ok(cu->MemFree(x)); /* waits for the kernel */
    expect_no_reports();
    launch_kernel("fill", x, N, a);
    cu->CtxSynchronize();
    expect_report("use after free in kernel fill: block (");
    expect_report("ops.cu:9\n    writes 4 bytes at byte ");
    expect_report("that was freed");
}

static void kernels_of_two_streams(void **state) {
    (void)state;
    le_cu_deviceptr x = array_new(), y = array_new();
    launch_kernel("fill", x, N, a);
    launch_kernel("fill", y, N, b);
    expect_no_reports();
    launch_kernel("scale", x, N, a);
    launch_kernel("scale", x, N, b);
    ok(cu->CtxSynchronize());
    expect_report("wrong stream order in kernel scale: block (");
    expect_report("    which kernel scale, block (");
    expect_report("wrote at ops.cu:4, with nothing that orders the two operations");
}

static void copies_beside_kernels(void **state) {
    (void)state;
    static float host[N];
    le_cu_deviceptr x = array_new();
    le_cu_event event;
    ok(cu->EventCreate(&event, 0));
    launch_kernel("fill", x, N, a);
    ok(cu->EventRecord(event, a));
    ok(cu->StreamWaitEvent(b, event, 0));
    ok(cu->MemcpyDtoHAsync(host, x, BYTES, b));
    expect_no_reports();
    launch_kernel("fill", x, N, a);
    ok(cu->MemcpyDtoHAsync(host, x, BYTES, b));
    ok(cu->CtxSynchronize());
    expect_report("wrong stream order");
    expect_report("copy to the host");
    expect_report("kernel fill");
    expect_report("with nothing that orders the two operations");
}

static void atomics_of_two_streams(void **state) {
    (void)state;
    le_cu_deviceptr x = array_new();
    ok(cu->MemsetD8Async(x, 0, BYTES, a));
    ok(cu->StreamSynchronize(a));
    launch_kernel("count", x, N, a);
    launch_kernel("count", x, N, b);
    expect_no_reports();
}

static void host_reads_too_early(void **state) {
    (void)state;
    void *memory;
    ok(cu->MemHostAlloc(&memory, BYTES, 0));
    volatile float *host = memory;
    le_cu_deviceptr x = array_new();
    launch_kernel("fill", x, N, a);
    ok(cu->MemcpyDtoHAsync(memory, x, BYTES, a));
    ok(cu->StreamSynchronize(a));
    assert_true(host[10] == 10);
    expect_no_reports();
    ok(cu->MemcpyDtoHAsync(memory, x, BYTES, a));
    (void)host[10];
    ok(cu->CtxSynchronize());
    expect_report("missing synchronization");
    expect_report("before a host read of pinned memory that 'copy to the host' (stream ");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(fresh_memory),          TEST(released_memory),        TEST(kernels_of_two_streams),
        TEST(copies_beside_kernels), TEST(atomics_of_two_streams), TEST(host_reads_too_early),
    };
    return cmocka_run_group_tests(tests, compile, free_image);
}
