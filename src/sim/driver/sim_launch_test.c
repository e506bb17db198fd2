/* Modules and launches of sim's driver, with kernels that sim compiled: arguments, limits, attributes, order, time and
 * faults; and, while checking, accesses of the host and of several streams to memory that kernels use. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "sim/sim.h"
#include "sim/grid/sim_exec.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N 1000

static const char source[] =
    "__device__ int counter = 5;\n"
    "__constant__ float scale[4];\n"
    "extern \"C\" __global__ void add(float *x, const float *y, float k, int n) {\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n) x[i] = y[i] + k;\n"
    "}\n"
    "extern \"C\" __global__ void set(int *x, int value, int n) {\n"
    "    for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = value;\n"
    "}\n"
    "extern \"C\" __global__ void sum(const int *x, int *y, int n) {\n"
    "    int s = 0;\n"
    "    for (int i = 0; i < n; i++) s += x[i];\n"
    "    *y = s;\n"
    "}\n"
    "extern \"C\" __global__ void count(int *seen) { *seen = counter++; }\n"
    "extern \"C\" __global__ void large(int *x) {\n"
    "    extern __shared__ int s[];\n"
    "    for (int i = threadIdx.x; i < 15000; i += blockDim.x) s[i] = i;\n"
    "    __syncthreads();\n"
    "    if (threadIdx.x == 0) *x = s[14999];\n"
    "}\n"
    "extern \"C\" __global__ void __launch_bounds__(64) few(int *x) { if (threadIdx.x == 0) *x = blockDim.x; }\n"
    "extern \"C\" __global__ void __cluster_dims__(2, 2) four(int *x) { *x = __clusterSizeInBlocks(); }\n"
    "extern \"C\" __global__ void __cluster_dims__(3, 3) nine(int *x) { *x = 9; }\n"
    "extern \"C\" __global__ void wild(int **x) { **x = 1; }\n"
    "extern \"C\" __global__ void wait_for(volatile int *flag, int *answer) {\n"
    "    while (!*flag) __nanosleep(1000);\n"
    "    *answer = 42;\n"
    "}\n";

static const struct le_cuda_driver *cu;
static le_cu_module module;
static struct sim_compiled compiled[2]; /* [check]: with or without checks */

#define ok(call)           assert_int_equal(call, LE_CU_SUCCESS)
#define fails(error, call) assert_int_equal(call, LE_CU_ERROR_##error)

static int compile_all(void **state) {
    (void)state;
    cu = le_sim_driver();
    for (int check = 0; check < 2; check++) {
        struct sim_compile_options options = {.source = source, .name = "t.cu", .check = check};
        if (le_sim_compile(&options, &compiled[check]) != LEAT_OK) {
            print_error("%s\n%s\n", le_errors_text(), compiled[check].log ? compiled[check].log : "");
            return 1;
        }
    }
    return 0;
}

static int free_images(void **state) {
    (void)state;
    le_sim_compiled_finish(&compiled[0]);
    le_sim_compiled_finish(&compiled[1]);
    return 0;
}

static int open_with(const struct le_sim_options *options) {
    le_cu_context primary;
    return le_sim_configure(options) || cu->Init(0) || cu->DevicePrimaryCtxRetain(&primary, 0) ||
           cu->CtxSetCurrent(primary) || cu->ModuleLoadDataEx(&module, compiled[options->check].image, 0, NULL, NULL);
}

static int begin(void **state) {
    (void)state;
    return open_with(&(struct le_sim_options){.seed = 1, .only_on_wait = true});
}

static int begin_checking(void **state) {
    (void)state;
    return open_with(&(struct le_sim_options){.seed = 1, .check = true, .only_on_wait = true});
}

static int end(void **state) {
    (void)state;
    return cu->DevicePrimaryCtxRelease(0);
}

static void begin_again(const struct le_sim_options *options) {
    ok(cu->DevicePrimaryCtxRelease(0));
    assert_int_equal(open_with(options), 0);
}

static le_cu_function kernel(const char *name) {
    le_cu_function function;
    ok(cu->ModuleGetFunction(&function, module, name));
    return function;
}

static le_cu_deviceptr device_new(size_t size_bytes) {
    le_cu_deviceptr address;
    ok(cu->MemAlloc(&address, size_bytes));
    return address;
}

static volatile int *mapped_new(size_t count) {
    void *memory;
    ok(cu->MemHostAlloc(&memory, count * sizeof(int), LE_CU_MEMHOSTALLOC_DEVICEMAP));
    memset(memory, 0, count * sizeof(int));
    return memory;
}

static le_cu_stream stream_new(void) {
    le_cu_stream stream;
    ok(cu->StreamCreate(&stream, LE_CU_STREAM_NON_BLOCKING));
    return stream;
}

static le_cu_result launch_kernel(const char *name, unsigned grid, unsigned block, le_cu_stream stream,
                                  void **arguments) {
    return cu->LaunchKernel(kernel(name), grid, 1, 1, block, 1, 1, 0, stream, arguments, NULL);
}

static void fill_ints(le_cu_deviceptr address, int value, int count, le_cu_stream stream) {
    void *arguments[] = {&address, &value, &count};
    ok(launch_kernel("set", 1, 32, stream, arguments));
}

static void sum(le_cu_deviceptr from, le_cu_deviceptr to, int count, le_cu_stream stream) {
    void *arguments[] = {&from, &to, &count};
    ok(launch_kernel("sum", 1, 1, stream, arguments));
}

static int int_at(le_cu_deviceptr address) {
    int value = -1;
    ok(cu->MemcpyDtoHAsync(&value, address, sizeof value, NULL));
    return value;
}

static void expect_no_reports(void) {
    const char *report = cu->report();
    if (report)
        fail_msg("report: %s", report);
}

static void expect_report(const char *part) {
    const char *report = cu->report();
    if (!report || !strstr(report, part))
        fail_msg("wanted: %s\nreport: %s", part, report ? report : "none");
}

/* ---- launches */

static void arguments_are_taken_at_the_call(void **state) {
    (void)state;
    float x[N], y[N], k = 0.5f;
    for (int i = 0; i < N; i++)
        y[i] = (float)i;
    le_cu_deviceptr to = device_new(sizeof x), from = device_new(sizeof y);
    int n = N;
    void *arguments[] = {&to, &from, &k, &n};
    ok(cu->MemcpyHtoDAsync(from, y, sizeof y, NULL));
    ok(launch_kernel("add", 4, 256, NULL, arguments));
    k = 9;
    n = 0;
    ok(cu->MemcpyDtoHAsync(x, to, sizeof x, NULL));
    for (int i = 0; i < N; i++)
        assert_true(x[i] == (float)i + 0.5f);
}

static void arguments_may_be_a_buffer(void **state) {
    (void)state;
    struct {
        le_cu_deviceptr address;
        int value, count;
    } buffer = {device_new(40), 7, 10};
    size_t size_bytes = sizeof buffer, few = 8;
    void *extra[] = {(void *)1, &buffer, (void *)2, &size_bytes, NULL};
    ok(cu->LaunchKernel(kernel("set"), 1, 1, 1, 32, 1, 1, 0, NULL, NULL, extra));
    assert_int_equal(int_at(buffer.address + 36), 7);
    extra[3] = &few;
    fails(INVALID_VALUE, cu->LaunchKernel(kernel("set"), 1, 1, 1, 32, 1, 1, 0, NULL, NULL, extra));
    fails(INVALID_VALUE, cu->LaunchKernel(kernel("set"), 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
}

static void limits_are_kept(void **state) {
    (void)state;
    le_cu_deviceptr x = device_new(4);
    void *arguments[] = {&x};
    le_cu_function few = kernel("few"), large = kernel("large");
    int value;
    fails(INVALID_VALUE, cu->LaunchKernel(few, 0, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    fails(INVALID_VALUE, cu->LaunchKernel(large, 1, 1, 1, 1025, 1, 1, 0, NULL, arguments, NULL));
    fails(INVALID_VALUE, cu->LaunchKernel(large, 1, 1, 1, 64, 32, 1, 0, NULL, arguments, NULL));
    fails(INVALID_VALUE, cu->LaunchKernel(large, 1, 1, 1, 1, 1, 65, 0, NULL, arguments, NULL));
    fails(INVALID_VALUE, cu->LaunchKernel(large, 1, 65536, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    fails(INVALID_VALUE, cu->LaunchKernel(few, 1, 1, 1, 65, 1, 1, 0, NULL, arguments, NULL));
    fails(INVALID_VALUE, cu->LaunchKernel(kernel("four"), 2, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    fails(INVALID_VALUE, cu->LaunchKernel(kernel("four"), 3, 2, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    ok(cu->LaunchKernel(kernel("four"), 4, 2, 3, 1, 1, 1, 0, NULL, arguments, NULL));
    fails(INVALID_VALUE, cu->LaunchKernel(kernel("nine"), 3, 3, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    ok(cu->FuncGetAttribute(&value, LE_CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, few));
    assert_int_equal(value, 64);
    ok(cu->LaunchKernel(few, 1, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL));
    assert_int_equal(int_at(x), 64);
    size_t offset_bytes, size_bytes;
    ok(cu->FuncGetParamInfo(kernel("set"), 2, &offset_bytes, &size_bytes));
    assert_int_equal(offset_bytes, 12);
    assert_int_equal(size_bytes, 4);
    fails(INVALID_VALUE, cu->FuncGetParamInfo(kernel("set"), 3, &offset_bytes, &size_bytes));
}

static void large_shared_memory_needs_an_attribute(void **state) {
    (void)state;
    le_cu_deviceptr x = device_new(4);
    void *arguments[] = {&x};
    le_cu_function large = kernel("large");
    int blocks, value;
    fails(INVALID_VALUE, cu->LaunchKernel(large, 1, 1, 1, 32, 1, 1, 60000, NULL, arguments, NULL));
    fails(INVALID_VALUE, cu->FuncSetAttribute(large, LE_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232449));
    ok(cu->FuncSetAttribute(large, LE_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60000));
    ok(cu->FuncGetAttribute(&value, LE_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, large));
    assert_int_equal(value, 60000);
    ok(cu->LaunchKernel(large, 1, 1, 1, 32, 1, 1, 60000, NULL, arguments, NULL));
    assert_int_equal(int_at(x), 14999);
    ok(cu->OccupancyMaxActiveBlocksPerMultiprocessor(&blocks, large, 32, 60000));
    assert_int_equal(blocks, 3);
    ok(cu->OccupancyMaxActiveBlocksPerMultiprocessor(&blocks, large, 1024, 0));
    assert_int_equal(blocks, 2);
    int grid, block;
    ok(cu->OccupancyMaxPotentialBlockSize(&grid, &block, kernel("few"), NULL, 0, 0));
    assert_int_equal(block, 64);
}

static void cooperative_grids_must_fit(void **state) {
    (void)state;
    le_cu_deviceptr x = device_new(4);
    void *arguments[] = {&x};
    fails(COOPERATIVE_LAUNCH_TOO_LARGE,
          cu->LaunchCooperativeKernel(kernel("few"), 129, 1, 1, 32, 1, 1, 0, NULL, arguments));
    ok(cu->LaunchCooperativeKernel(kernel("few"), 128, 1, 1, 32, 1, 1, 0, NULL, arguments));
    assert_int_equal(int_at(x), 32);
}

static void modules_have_variables(void **state) {
    (void)state;
    le_cu_deviceptr counter, seen = device_new(4), scale;
    size_t size_bytes;
    le_cu_function function;
    void *arguments[] = {&seen};
    ok(cu->ModuleGetGlobal(&counter, &size_bytes, module, "counter"));
    assert_int_equal(size_bytes, 4);
    ok(cu->ModuleGetGlobal(&scale, &size_bytes, module, "scale"));
    assert_int_equal(size_bytes, 16);
    fails(NOT_FOUND, cu->ModuleGetGlobal(&scale, &size_bytes, module, "nothing"));
    fails(NOT_FOUND, cu->ModuleGetFunction(&function, module, "nothing"));
    ok(launch_kernel("count", 1, 1, NULL, arguments));
    assert_int_equal(int_at(seen), 5);
    assert_int_equal(int_at(counter), 6);
    ok(cu->MemsetD32Async(counter, 100, 1, NULL));
    ok(launch_kernel("count", 1, 1, NULL, arguments));
    assert_int_equal(int_at(seen), 100);
    fails(INVALID_VALUE, cu->MemsetD32Async(counter, 100, 2, NULL));
    function = kernel("count");
    ok(launch_kernel("count", 1, 1, NULL, arguments)); /* it runs before the module is unloaded */
    ok(cu->ModuleUnload(module));
    assert_int_equal(int_at(seen), 101);
    fails(INVALID_HANDLE, cu->LaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    fails(INVALID_HANDLE, cu->ModuleUnload(module));
    fails(INVALID_VALUE, cu->MemsetD32Async(counter, 100, 1, NULL));
}

static void images_are_checked(void **state) {
    (void)state;
    le_cu_module other;
    char info[16] = "x";
    le_cu_jit_option options[] = {LE_CU_JIT_INFO_LOG_BUFFER};
    void *values[] = {info};
    static const char nonsense[256] = "no image";
    fails(INVALID_IMAGE, cu->ModuleLoadDataEx(&other, nonsense, 1, options, values));
    assert_string_equal(info, "");
    fails(INVALID_VALUE, cu->ModuleLoadDataEx(&other, NULL, 0, NULL, NULL));
}

/* ---- time and order */

static void kernels_run_late_and_take_time(void **state) {
    (void)state;
    begin_again(&(struct le_sim_options){.seed = 1, .kernel_ns = 100000, .only_on_wait = true});
    volatile int *mapped = mapped_new(1);
    le_cu_stream streams[5];
    for (int k = 0; k < 5; k++)
        streams[k] = stream_new();
    uint64_t start_ns = cu->clock_ns();
    fill_ints((uintptr_t)mapped, 3, 1, streams[0]);
    assert_int_equal(*mapped, 0);
    ok(cu->StreamSynchronize(streams[0]));
    assert_int_equal(*mapped, 3);
    assert_int_equal(cu->clock_ns() - start_ns, 2750 + 100000 + 2950);
    start_ns = cu->clock_ns(); /* four small kernels run at once on four multiprocessors, the fifth after them */
    le_cu_deviceptr x = device_new(5 * 4);
    uint64_t allocated_ns = cu->clock_ns() - start_ns;
    for (unsigned k = 0; k < 5; k++)
        fill_ints(x + 4 * k, 1, 1, streams[k]);
    ok(cu->CtxSynchronize());
    assert_int_equal(cu->clock_ns() - start_ns - allocated_ns, 2750 + 200000 + 2950);
}

static void kernels_may_wait_for_the_host(void **state) {
    (void)state;
    volatile int *flag = mapped_new(1), *answer = mapped_new(1);
    le_cu_stream stream = stream_new();
    void *arguments[] = {&flag, &answer};
    ok(launch_kernel("wait_for", 1, 1, stream, arguments));
    for (int k = 0; k < 3; k++) { /* the kernel still waits, and queries do not hang */
        le_cu_result result = cu->StreamQuery(stream);
        assert_int_equal(result, LE_CU_ERROR_NOT_READY);
    }
    device_new(4);
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
    ok(cu->StreamSynchronize(stream));
    assert_int_equal(*answer, 42);
}

/* ---- faults */

static void fatal_errors_stay(void **state) {
    (void)state;
    le_cu_deviceptr x = device_new(8), other;
    le_cu_stream stream = stream_new();
    void *arguments[] = {&x};
    size_t free_bytes;
    le_cu_function few = kernel("few");
    ok(cu->MemsetD32Async(x, 0, 2, stream)); /* a null pointer */
    ok(launch_kernel("wild", 1, 1, stream, arguments));
    fails(ILLEGAL_ADDRESS, cu->StreamSynchronize(stream));
    fails(ILLEGAL_ADDRESS, cu->MemAlloc(&other, 4));
    fails(ILLEGAL_ADDRESS, cu->MemGetInfo(&free_bytes, NULL));
    fails(ILLEGAL_ADDRESS, cu->StreamQuery(stream));
    fails(ILLEGAL_ADDRESS, cu->MemFree(x));
    fails(ILLEGAL_ADDRESS, cu->LaunchKernel(few, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL));
}

static le_cu_result launch_quietly(le_cu_function function, le_cu_deviceptr x) {
    void *arguments[] = {&x};
    return cu->LaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL);
}

static void planned_faults_come(void **state) {
    (void)state;
    begin_again(&(struct le_sim_options){.only_on_wait = true, .faults = {.launch = 2, .sticky_launch = 2}});
    le_cu_deviceptr x = device_new(4);
    le_cu_function few = kernel("few");
    ok(launch_quietly(few, x));
    fails(LAUNCH_FAILED, launch_quietly(few, x));
    ok(cu->CtxSynchronize());
    ok(launch_quietly(few, x)); /* the second kernel that runs */
    fails(ILLEGAL_ADDRESS, cu->CtxSynchronize());
    fails(ILLEGAL_ADDRESS, launch_quietly(few, x));
    begin_again(&(struct le_sim_options){.seed = 1, .only_on_wait = true}); /* the error is cleared with the context */
    x = device_new(4);
    ok(launch_quietly(kernel("few"), x));
    ok(cu->CtxSynchronize());
}

/* ---- checking */

static void correct_use_is_not_reported(void **state) {
    (void)state;
    le_cu_stream a = stream_new(), b = stream_new();
    le_cu_event event;
    le_cu_deviceptr x = device_new(N * 4), y = device_new(4);
    volatile int *mapped = mapped_new(N);
    ok(cu->EventCreate(&event, LE_CU_EVENT_DISABLE_TIMING));
    fill_ints(x, 2, N, a);
    ok(cu->EventRecord(event, a));
    ok(cu->StreamWaitEvent(b, event, 0));
    sum(x, y, N, b);
    fill_ints((uintptr_t)mapped, 1, N, b);
    ok(cu->StreamSynchronize(b));
    assert_int_equal(mapped[N - 1], 1);
    assert_int_equal(int_at(y), 2 * N);
    sum((uintptr_t)mapped, y, N, a);
    assert_int_equal(mapped[0], 1); /* both only read */
    ok(cu->CtxSynchronize());
    expect_no_reports();
}

static void unordered_streams_are_reported(void **state) {
    (void)state;
    le_cu_stream a = stream_new(), b = stream_new();
    le_cu_deviceptr x = device_new(N * 4), y = device_new(4);
    fill_ints(x, 2, N, a);
    sum(x, y, N, b);
    ok(cu->CtxSynchronize());
    expect_report("wrong stream order");
    expect_report("kernel sum");
    expect_report("set");
}

static void reads_of_mapped_memory_are_reported(void **state) {
    (void)state;
    volatile int *mapped = mapped_new(N);
    le_cu_stream stream = stream_new();
    fill_ints((uintptr_t)mapped, 1, N, stream);
    assert_int_equal(mapped[7], 0);
    ok(cu->StreamSynchronize(stream));
    expect_report(
        "missing synchronization before a host read of pinned memory that 'set' (stream 1) has not finished writing");
}

static void polling_mapped_memory_is_not_reported(void **state) {
    (void)state;
    begin_again(&(struct le_sim_options){.seed = 1, .check = true});
    volatile int *mapped = mapped_new(N);
    le_cu_stream stream = stream_new();
    fill_ints((uintptr_t)mapped, 1, N, stream);
    for (int k = 0; k < 10000 && !mapped[N - 1]; k++)
        usleep(10000);
    assert_int_equal(mapped[N - 1], 1);
    ok(cu->StreamSynchronize(stream));
    expect_no_reports();
}

static void freed_memory_is_reported(void **state) {
    (void)state;
    le_cu_deviceptr x = device_new(N * 4);
    fill_ints(x, 1, N, NULL);
    ok(cu->MemFree(x)); /* waits for the kernel */
    expect_no_reports();
    fill_ints(x, 1, N, NULL);
    ok(cu->CtxSynchronize());
    expect_report("use after free");
}

static void accesses_past_arrays_are_reported(void **state) {
    (void)state;
    le_cu_deviceptr x = device_new(N * 4);
    fill_ints(x, 1, N, NULL);
    ok(cu->CtxSynchronize());
    expect_no_reports();
    fill_ints(x, 1, N + 1, NULL);
    ok(cu->CtxSynchronize());
    expect_report("out of bounds");
}

static void checking_begins_under_an_open_context(void **state) {
    (void)state;
    le_cu_deviceptr x = device_new(N * 4);
    fill_ints(x, 1, N, NULL);
    assert_int_equal(le_sim_configure(&(struct le_sim_options){.seed = 1, .check = true, .only_on_wait = true}),
                     LEAT_OK);
    assert_int_equal(int_at(x), 1);
    volatile int *wrong = (int *)(uintptr_t)x;
    (void)wrong[0];
    expect_report("host read of device memory");
    assert_int_equal(le_sim_configure(&(struct le_sim_options){.seed = 1, .only_on_wait = true}), LEAT_OK);
    (void)wrong[0];
    assert_null(cu->report());
}

/* The module refers to the check under which it was loaded. */
static void checking_ends_and_begins_again(void **state) {
    (void)state;
    le_cu_deviceptr x = device_new(N * 4);
    fill_ints(x, 1, N + 1, NULL);
    assert_int_equal(le_sim_configure(&(struct le_sim_options){.seed = 1, .only_on_wait = true}), LEAT_OK);
    fill_ints(x, 2, N, NULL);
    assert_int_equal(int_at(x), 2);
    assert_int_equal(le_sim_configure(&(struct le_sim_options){.seed = 1, .check = true, .only_on_wait = true}),
                     LEAT_OK);
    expect_report("out of bounds");
    fill_ints(x, 3, N, NULL);
    ok(cu->ModuleUnload(module));
    assert_int_equal(int_at(x), 3);
}

static void begin_checks(void) {
    assert_int_equal(le_sim_configure(&(struct le_sim_options){.seed = 1, .check = true, .only_on_wait = true}),
                     LEAT_OK);
    ok(cu->ModuleLoadDataEx(&module, compiled[1].image, 0, NULL, NULL));
}

/* A module loaded before checking started is not instrumented, so its writes are not seen. */
static void kernels_without_checks_initialize(void **state) {
    (void)state;
    le_cu_module unchecked = module;
    begin_checks();
    le_cu_module checked = module;
    le_cu_deviceptr x = device_new(N * 4), y = device_new(4);
    module = unchecked;
    fill_ints(x, 1, N, NULL);
    module = checked;
    sum(x, y, N, NULL);
    assert_int_equal(int_at(y), N);
    expect_no_reports();
    sum(device_new(N * 4), y, N, NULL); /* new memory is still uninitialized */
    ok(cu->CtxSynchronize());
    expect_report("uninitialized read");
}

/* Arrays in pooled memory, noted before or after checking started. */
static void arrays_outlive_the_beginning_of_checks(void **state) {
    (void)state;
    le_cu_deviceptr pool = device_new(1 << 20), x = pool, y = pool + (1 << 16), z = pool + (2 << 16);
    cu->note_memory(pool, 1 << 20, 0);
    cu->note_memory(x, N * 4, 1);
    fill_ints(x, 1, N, NULL);
    begin_checks();
    cu->note_memory(y, 4, 1);
    sum(x, y, N, NULL);
    assert_int_equal(int_at(y), N);
    expect_no_reports();
    cu->note_memory(z, N * 4, 1);
    sum(z, y, N, NULL);
    ok(cu->CtxSynchronize());
    expect_report("uninitialized read");
}

static void modules_outlive_the_beginning_of_checks(void **state) {
    (void)state;
    le_cu_deviceptr x = device_new(4);
    void *arguments[] = {&x};
    ok(cu->ModuleLoadDataEx(&module, compiled[1].image, 0, NULL, NULL)); /* an instrumented image, as from the cache */
    assert_int_equal(le_sim_configure(&(struct le_sim_options){.seed = 1, .check = true, .only_on_wait = true}),
                     LEAT_OK);
    ok(launch_kernel("count", 1, 1, NULL, arguments));
    assert_int_equal(int_at(x), 5);
    expect_no_reports();
}

int main(void) {
#define TEST(function)    cmocka_unit_test_setup_teardown(function, begin, end)
#define CHECKED(function) cmocka_unit_test_setup_teardown(function, begin_checking, end)
    const struct CMUnitTest tests[] = {
        TEST(arguments_are_taken_at_the_call),
        TEST(arguments_may_be_a_buffer),
        TEST(limits_are_kept),
        TEST(large_shared_memory_needs_an_attribute),
        TEST(cooperative_grids_must_fit),
        TEST(modules_have_variables),
        TEST(images_are_checked),
        TEST(kernels_run_late_and_take_time),
        TEST(kernels_may_wait_for_the_host),
        TEST(fatal_errors_stay),
        TEST(planned_faults_come),
        CHECKED(correct_use_is_not_reported),
        CHECKED(unordered_streams_are_reported),
        CHECKED(reads_of_mapped_memory_are_reported),
        CHECKED(polling_mapped_memory_is_not_reported),
        CHECKED(freed_memory_is_reported),
        CHECKED(accesses_past_arrays_are_reported),
        TEST(checking_begins_under_an_open_context),
        CHECKED(checking_ends_and_begins_again),
        TEST(kernels_without_checks_initialize),
        TEST(arrays_outlive_the_beginning_of_checks),
        TEST(modules_outlive_the_beginning_of_checks),
    };
    return cmocka_run_group_tests(tests, compile_all, free_images);
}
