/* Measures what a launch costs the host, and the time of short kernels in sequence. tracing.py runs it with and without
 * `leat trace`. Uses only the driver, by dlopen. Answers lines of stdin: `launch` with `launch_ns` and the median of
 * rounds of empty kernels, `kernel` with `kernel_ns` and the wall time per kernel of 3,000 kernels, `count` with
 * `launches` and their number so far. A stream's queue holds 1,021 launches, so rounds of 500 never fill it. */
#include <dlfcn.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 5, ROUND = 500, KERNELS = 3000, WARM = 3000, WARM_AGAIN = 1000 };
/* 5.6 us at 1.98 GHz; the time from one kernel to the next also has its start and end. */
#define CYCLES 11000

static const char *const text = ".version 7.0\n.target sm_75\n.address_size 64\n"
                                ".visible .entry nothing() {\n  ret;\n}\n"
                                ".visible .entry spin(.param .u64 cycles) {\n"
                                "  .reg .u64 %from, %now, %most;\n  .reg .pred %on;\n"
                                "  ld.param.u64 %most, [cycles];\n  mov.u64 %from, %clock64;\n"
                                "again:\n"
                                "  mov.u64 %now, %clock64;\n  sub.u64 %now, %now, %from;\n"
                                "  setp.lt.u64 %on, %now, %most;\n  @%on bra again;\n  ret;\n}\n";

static struct driver {
    int (*init)(unsigned), (*get)(int *, int), (*retain)(void **, int), (*set)(void *), (*load)(void **, const void *);
    int (*function)(void **, void *, const char *), (*create)(void **, unsigned), (*wait)(void *);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                  void **);
    void *nothing, *spin, *stream;
    long launches;
} driver;

static void fail(const char *what, int result) {
    fprintf(stderr, "launches: %s (the driver's error %d)\n", what, result);
    exit(1);
}

static void check(int result, const char *what) {
    if (result != 0)
        fail(what, result);
}

static void *find(void *library, const char *name) {
    void *found = dlsym(library, name);
    if (!found)
        fail(name, 0);
    return found;
}

static void open_driver(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *context, *module;
    int device;
    if (!library)
        fail("no libcuda.so.1", 0);
    *(void **)&driver.init = find(library, "cuInit");
    *(void **)&driver.get = find(library, "cuDeviceGet");
    *(void **)&driver.retain = find(library, "cuDevicePrimaryCtxRetain");
    *(void **)&driver.set = find(library, "cuCtxSetCurrent");
    *(void **)&driver.load = find(library, "cuModuleLoadData");
    *(void **)&driver.function = find(library, "cuModuleGetFunction");
    *(void **)&driver.create = find(library, "cuStreamCreate");
    *(void **)&driver.wait = find(library, "cuStreamSynchronize");
    *(void **)&driver.launch = find(library, "cuLaunchKernel");
    check(driver.init(0), "cuInit");
    check(driver.get(&device, 0), "cuDeviceGet");
    check(driver.retain(&context, device), "cuDevicePrimaryCtxRetain");
    check(driver.set(context), "cuCtxSetCurrent");
    check(driver.load(&module, text), "cuModuleLoadData");
    check(driver.function(&driver.nothing, module, "nothing"), "cuModuleGetFunction");
    check(driver.function(&driver.spin, module, "spin"), "cuModuleGetFunction");
    check(driver.create(&driver.stream, 1), "cuStreamCreate"); /* 1: not ordered with the null stream */
}

static double now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *values, size_t count) {
    qsort(values, count, sizeof *values, by_value);
    return values[count / 2];
}

static void launch(void *kernel, int count) {
    uint64_t cycles = CYCLES;
    void *arguments[] = {&cycles};
    driver.launches += count;
    for (int k = 0; k < count; k++)
        check(
            driver.launch(kernel, 1, 1, 1, 32, 1, 1, 0, driver.stream, kernel == driver.spin ? arguments : NULL, NULL),
            "cuLaunchKernel");
}

static void wait(void) {
    check(driver.wait(driver.stream), "cuStreamSynchronize");
}

static double launch_ns(void) {
    double times[ROUNDS];
    for (int k = 0; k < ROUNDS; k++) {
        double start = now_ns();
        launch(driver.nothing, ROUND);
        times[k] = (now_ns() - start) / ROUND;
        wait();
    }
    return median(times, ROUNDS);
}

static double kernel_ns(void) {
    double start = now_ns();
    launch(driver.spin, KERNELS);
    wait();
    return (now_ns() - start) / KERNELS;
}

/* All compared processes launch from the same core, one at a time, because the same work may take a third longer on
 * another core. The threads of the recorder and the driver have started already, and keep their cores. */
static void stay(void) {
    cpu_set_t mine;
    sched_getaffinity(0, sizeof mine, &mine);
    int core = CPU_SETSIZE - 1;
    while (core > 0 && !CPU_ISSET(core, &mine))
        core--;
    CPU_ZERO(&mine);
    CPU_SET(core, &mine);
    sched_setaffinity(0, sizeof mine, &mine);
}

int main(void) {
    char line[64];
    open_driver();
    stay();
    launch(driver.spin, WARM); /* until the clocks have risen, as in all processes that start together */
    while (fgets(line, sizeof line, stdin)) {
        launch(driver.spin, WARM_AGAIN);
        launch(driver.nothing, ROUND);
        wait();
        if (strcmp(line, "launch\n") == 0)
            printf("launch_ns %.1f\n", launch_ns());
        else if (strcmp(line, "kernel\n") == 0)
            printf("kernel_ns %.1f\n", kernel_ns());
        else
            printf("launches %ld\n", driver.launches);
        fflush(stdout);
    }
    return 0;
}
