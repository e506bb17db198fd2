/* Compares Leat with the driver alone on a GPU: enqueueing a launch, memory from the pool, pageable copies. The two
 * alternate in one process. Prints `NAME LEAT_MEDIAN DRIVER_MEDIAN UNIT`, with '-' if there is nothing to compare with.
 *
 * usage: bench_gpu [DEVICE]      cuda, or sim to test it without a GPU, without the driver's part */
#include "leat.h"
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LAUNCHES = 500, BATCHES = 41, ALLOCATIONS = 2000, COPIES = 7, COPY_MIB = 400 };

static const char *const kernel_text = "extern \"C\" __global__ void nothing(float *y, const float *x, int n) {\n"
                                       "    if (n < 0) y[0] = x[0];\n}\n";
static const char *const kernel_ptx =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry nothing(.param .u64 a, .param .u64 b, .param .u32 c) {\n  ret;\n}\n";

/* The driver, called directly. */
static struct driver {
    int (*init)(unsigned), (*get)(int *, int), (*retain)(void **, int), (*set)(void *), (*load)(void **, const void *);
    int (*function)(void **, void *, const char *), (*create)(void **, unsigned), (*synchronize)(void *);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                  void **);
    int (*alloc)(uint64_t *, size_t), (*free)(uint64_t), (*up)(uint64_t, const void *, size_t);
    int (*down)(void *, uint64_t, size_t);
    void *kernel, *stream;
} driver;

static void must(leat_status status, const char *what) {
    if (status == LEAT_OK)
        return;
    fprintf(stderr, "bench_gpu: %s: %s", what, leat_error_text(NULL));
    exit(1);
}

static void check(int result, const char *what) {
    if (result == 0)
        return;
    fprintf(stderr, "bench_gpu: %s: the driver's error %d\n", what, result);
    exit(1);
}

static double now_us(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *values, size_t count) {
    qsort(values, count, sizeof *values, by_value);
    return values[count / 2];
}

static void report(const char *name, double leat, double other, const char *unit) {
    if (isnan(other))
        printf("%-34s %10.3f %10s %s\n", name, leat, "-", unit);
    else
        printf("%-34s %10.3f %10.3f %s  (%.3f times)\n", name, leat, other, unit, leat / other);
    fflush(stdout);
}

static void *symbol(void *library, const char *name) {
    void *found = dlsym(library, name);
    if (!found) {
        fprintf(stderr, "bench_gpu: the driver has no %s\n", name);
        exit(1);
    }
    return found;
}

static void open_driver(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *ctx, *module;
    int device;
    if (!library) {
        fprintf(stderr, "bench_gpu: %s\n", dlerror());
        exit(1);
    }
#define TAKE(member, name) *(void **)&driver.member = symbol(library, name)
    TAKE(init, "cuInit");
    TAKE(get, "cuDeviceGet");
    TAKE(retain, "cuDevicePrimaryCtxRetain");
    TAKE(set, "cuCtxSetCurrent");
    TAKE(load, "cuModuleLoadData");
    TAKE(function, "cuModuleGetFunction");
    TAKE(create, "cuStreamCreate");
    TAKE(synchronize, "cuStreamSynchronize");
    TAKE(launch, "cuLaunchKernel");
    TAKE(alloc, "cuMemAlloc_v2");
    TAKE(free, "cuMemFree_v2");
    TAKE(up, "cuMemcpyHtoD_v2");
    TAKE(down, "cuMemcpyDtoH_v2");
#undef TAKE
    check(driver.init(0), "cuInit");
    check(driver.get(&device, 0), "cuDeviceGet");
    check(driver.retain(&ctx, device), "cuDevicePrimaryCtxRetain");
    check(driver.set(ctx), "cuCtxSetCurrent");
    check(driver.load(&module, kernel_ptx), "cuModuleLoadData");
    check(driver.function(&driver.kernel, module, "nothing"), "cuModuleGetFunction");
    check(driver.create(&driver.stream, 1), "cuStreamCreate");
}

/* ---- enqueueing a launch: both alternate, and each batch begins with an empty queue */

static double leat_batch(leat_kernel *kernel, leat_array *y, leat_array *x, leat_stream *stream) {
    const leat_dim3 one = {1, 1, 1}, warp = {32, 1, 1};
    double start = now_us();
    for (int k = 0; k < LAUNCHES; k++) {
        const leat_argument arguments[] = {leat_out(y), leat_in(x), leat_i32(k)};
        must(leat_kernel_launch(kernel, one, warp, 0, stream, arguments, 3), "launch");
    }
    double elapsed = now_us() - start;
    must(leat_stream_synchronize(stream), "synchronize");
    return elapsed / LAUNCHES;
}

static double driver_batch(uint64_t y, uint64_t x) {
    double start = now_us();
    for (int k = 0; k < LAUNCHES; k++) {
        void *parameters[] = {&y, &x, &k};
        check(driver.launch(driver.kernel, 1, 1, 1, 32, 1, 1, 0, driver.stream, parameters, NULL), "cuLaunchKernel");
    }
    double elapsed = now_us() - start;
    check(driver.synchronize(driver.stream), "cuStreamSynchronize");
    return elapsed / LAUNCHES;
}

static void launches(leat_context *ctx, bool real) {
    leat_module *module;
    leat_kernel *kernel;
    leat_stream *stream;
    leat_array *x, *y;
    leat_description dx, dy;
    double ours[BATCHES], theirs[BATCHES];
    const int64_t shape[] = {64};
    must(leat_module_new(ctx, kernel_text, NULL, &module), "module");
    must(leat_module_kernel(module, "nothing", &kernel), "kernel");
    must(leat_stream_new(ctx, &stream), "stream");
    must(leat_array_new(ctx, LEAT_F32, 1, shape, LEAT_MEMORY_DEVICE, &x), "array");
    must(leat_array_new(ctx, LEAT_F32, 1, shape, LEAT_MEMORY_DEVICE, &y), "array");
    must(leat_array_get(x, &dx), "get");
    must(leat_array_get(y, &dy), "get");
    for (int k = 0; k < BATCHES; k++) {
        ours[k] = leat_batch(kernel, y, x, stream);
        theirs[k] = real ? driver_batch((uint64_t)(uintptr_t)dy.data, (uint64_t)(uintptr_t)dx.data) : NAN;
    }
    report("enqueue a launch, 3 arguments", median(ours, BATCHES), real ? median(theirs, BATCHES) : NAN, "us");
    leat_array_free(x);
    leat_array_free(y);
    leat_stream_free(stream);
    leat_module_free(module);
}

/* ---- memory */

static void allocations(leat_context *ctx, bool real) {
    double ours[BATCHES], theirs[BATCHES];
    const int64_t shape[] = {1 << 18};
    for (int b = 0; b < BATCHES; b++) {
        double start = now_us();
        for (int k = 0; k < ALLOCATIONS; k++) {
            leat_array *array;
            must(leat_array_new_empty(ctx, LEAT_F32, 1, shape, LEAT_MEMORY_DEVICE, &array), "array");
            leat_array_free(array);
        }
        ours[b] = (now_us() - start) / ALLOCATIONS;
        start = now_us();
        for (int k = 0; real && k < 20; k++) {
            uint64_t address;
            check(driver.alloc(&address, 1 << 20), "cuMemAlloc");
            check(driver.free(address), "cuMemFree");
        }
        theirs[b] = (now_us() - start) / 20;
    }
    report("allocate and release 1 MiB", median(ours, BATCHES), real ? median(theirs, BATCHES) : NAN, "us");
}

/* ---- pageable copies, GB/s */

static double rate(double start_us) {
    return (double)COPY_MIB * 1048576 / (now_us() - start_us) * 1e-3;
}

static void copies(leat_context *ctx, bool real, int mebibytes) {
    double up[COPIES], down[COPIES], driver_up[COPIES], driver_down[COPIES];
    size_t size_bytes = (size_t)mebibytes << 20;
    const int64_t shape[] = {(int64_t)(size_bytes / 4)};
    leat_array *array;
    leat_description d;
    char *memory = malloc(size_bytes);
    memset(memory, 1, size_bytes);
    must(leat_array_new_empty(ctx, LEAT_F32, 1, shape, LEAT_MEMORY_DEVICE, &array), "array");
    must(leat_array_get(array, &d), "get");
    for (int k = -1; k < COPIES; k++) { /* the first one starts the threads */
        double start = now_us();
        must(leat_array_write(array, memory, size_bytes, NULL, NULL), "write");
        double this_up = rate(start);
        start = now_us();
        must(leat_array_read(array, memory, size_bytes, NULL, NULL), "read");
        double this_down = rate(start);
        if (k < 0)
            continue;
        up[k] = this_up;
        down[k] = this_down;
        start = now_us();
        if (real)
            check(driver.up((uint64_t)(uintptr_t)d.data, memory, size_bytes), "cuMemcpyHtoD");
        driver_up[k] = rate(start);
        start = now_us();
        if (real)
            check(driver.down(memory, (uint64_t)(uintptr_t)d.data, size_bytes), "cuMemcpyDtoH");
        driver_down[k] = rate(start);
    }
    double scale = (double)mebibytes / COPY_MIB;
    report("pageable memory up, 400 MiB", scale * median(up, COPIES), real ? median(driver_up, COPIES) : NAN, "GB/s");
    report("pageable memory down, 400 MiB", scale * median(down, COPIES), real ? median(driver_down, COPIES) : NAN,
           "GB/s");
    leat_array_free(array);
    free(memory);
}

int main(int argc, char **argv) {
    const char *device = argc > 1 ? argv[1] : "cuda";
    bool real = strcmp(device, "sim") != 0;
    leat_options options = {.device = device};
    leat_context *ctx;
    must(leat_open(&options, &ctx), "open");
    if (real)
        open_driver();
    printf("%-34s %10s %10s\n", "median", "Leat", "driver");
    launches(ctx, real);
    allocations(ctx, real);
    copies(ctx, real, real ? COPY_MIB : 16);
    leat_close(ctx);
    return 0;
}
