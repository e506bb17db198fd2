/* Measures calls of a program on a device, in C. programs.py starts it. Prints only numbers, except as noted below.
 *
 * usage: bench_gpu_calls warm DEVICE               us to enqueue a call of 1,000 numbers; us for one with a wait; us of
 *                                                  the driver alone for a kernel, and for it as a graph; 0 on sim
 *        bench_gpu_calls first DEVICE START_NS     ms from START_NS (CLOCK_MONOTONIC) to the first result
 *        bench_gpu_calls context DEVICE START_NS   ms from START_NS to cuInit and a context, without Leat
 *
 * For the last two, the figure is the last number. Before it are its parts, as NAME MS pairs. Leat's parts are the
 * program's own steps, which add up to the figure, and, after "of which", the ledger's records of them. Work of Leat's
 * threads is in neither. */
#include "leat.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = 1000, BATCH = 200, BATCHES = 41 };

static void must(leat_status status) {
    if (status == LEAT_OK)
        return;
    fprintf(stderr, "bench_gpu_calls: %s", leat_error_text(NULL));
    exit(1);
}

static uint64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *values) {
    qsort(values, BATCHES, sizeof *values, by_value);
    return values[BATCHES / 2];
}

struct steps {
    uint64_t last_ns; /* 0: steps are not printed */
};

/* Prints the time since the last step. */
static void step(struct steps *steps, const char *name) {
    uint64_t now = now_ns();
    if (steps->last_ns == 0)
        return;
    printf("%s %.1f, ", name, (double)(now - steps->last_ns) / 1e6);
    steps->last_ns = now;
}

static void must_driver(bool good) {
    if (good)
        return;
    fprintf(stderr, "bench_gpu_calls: no driver, or no device\n");
    exit(1);
}

static struct driver {
    int (*init)(unsigned), (*get)(int *, int), (*retain)(void **, int), (*set)(void *), (*load)(void **, const void *);
    int (*function)(void **, void *, const char *), (*create)(void **, unsigned), (*wait)(void *);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                  void **);
    int (*capture)(void *, int), (*captured)(void *, void **), (*instantiate)(void **, void *, unsigned long long),
        (*launch_graph)(void *, void *);
    void *context;
} driver;

static void *find(void *library, const char *name) {
    void *found = dlsym(library, name);
    must_driver(found != NULL);
    return found;
}

/* The driver alone: the part that every first result needs. */
static void make_context(struct steps *steps) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    int device;
    must_driver(library != NULL);
    *(void **)&driver.init = find(library, "cuInit");
    *(void **)&driver.get = find(library, "cuDeviceGet");
    *(void **)&driver.retain = find(library, "cuDevicePrimaryCtxRetain");
    *(void **)&driver.set = find(library, "cuCtxSetCurrent");
    *(void **)&driver.load = find(library, "cuModuleLoadData");
    *(void **)&driver.function = find(library, "cuModuleGetFunction");
    *(void **)&driver.create = find(library, "cuStreamCreate");
    *(void **)&driver.wait = find(library, "cuStreamSynchronize");
    *(void **)&driver.launch = find(library, "cuLaunchKernel");
    *(void **)&driver.capture = find(library, "cuStreamBeginCapture_v2");
    *(void **)&driver.captured = find(library, "cuStreamEndCapture");
    *(void **)&driver.instantiate = find(library, "cuGraphInstantiateWithFlags");
    *(void **)&driver.launch_graph = find(library, "cuGraphLaunch");
    step(steps, "driver loaded");
    must_driver(driver.init(0) == 0);
    step(steps, "cuInit");
    must_driver(driver.get(&device, 0) == 0 && driver.retain(&driver.context, device) == 0);
    step(steps, "context");
}

/* The ledger's records of the calling thread, from 0.1 ms on. */
static void print_ledger(leat_context *ctx) {
    leat_cost cost;
    printf("of which");
    for (size_t k = 0; leat_ledger_get(ctx, k, &cost) == LEAT_OK; k++)
        if (cost.time_ns >= 100000)
            printf(" %s (%.24s) %.1f,", leat_cost_name(cost.kind), cost.what, (double)cost.time_ns / 1e6);
    printf(" ");
}

/* A prepared call of x+x+x+x+x that has run. */
static leat_call *prepared(leat_context *ctx, struct steps *steps) {
    const int64_t shape[] = {N};
    float ones[N];
    leat_array *x, *y;
    leat_program *program;
    leat_call *call;
    for (int k = 0; k < N; k++)
        ones[k] = 1;
    must(leat_array_new_empty(ctx, LEAT_F32, 1, shape, LEAT_MEMORY_DEVICE, &x));
    must(leat_array_new_empty(ctx, LEAT_F32, 1, shape, LEAT_MEMORY_DEVICE, &y));
    must(leat_array_write(x, ones, sizeof ones, NULL, NULL));
    step(steps, "arrays");
    must(leat_program_new(ctx, "y[i] = x[i] + x[i] + x[i] + x[i] + x[i]", 0, NULL, &program));
    must(leat_call_new(program, &call));
    must(leat_call_set_array(call, "x", x));
    must(leat_call_want(call, "y", y));
    step(steps, "program");
    must(leat_call_run(call, NULL, NULL));
    step(steps, "run");
    must(leat_array_read(y, ones, sizeof ones, NULL, NULL));
    step(steps, "copied back");
    if (ones[0] != 5 || ones[N - 1] != 5) {
        fprintf(stderr, "bench_gpu_calls: a wrong result\n");
        exit(1);
    }
    leat_array_free(x);
    leat_array_free(y);
    leat_program_free(program);
    return call;
}

/* An empty kernel that the driver launches, the same as a graph, and a stream. */
struct nothing {
    void *kernel, *graph, *stream;
};

static bool launches_kernel(const struct nothing *nothing) {
    return driver.launch(nothing->kernel, 1, 1, 1, 32, 1, 1, 0, nothing->stream, NULL, NULL) == 0;
}

static bool launches_graph(const struct nothing *nothing) {
    return driver.launch_graph(nothing->graph, nothing->stream) == 0;
}

static void load_nothing(struct nothing *nothing) {
    static const char text[] =
        ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry nothing() {\n  ret;\n}\n";
    void *module, *captured;
    make_context(&(struct steps){0});
    must_driver(driver.set(driver.context) == 0 && driver.load(&module, text) == 0 &&
                driver.function(&nothing->kernel, module, "nothing") == 0 && driver.create(&nothing->stream, 1) == 0 &&
                driver.capture(nothing->stream, 1) == 0 && launches_kernel(nothing) &&
                driver.captured(nothing->stream, &captured) == 0 &&
                driver.instantiate(&nothing->graph, captured, 0) == 0 && driver.set(NULL) == 0);
}

static double bare_batch_us(const struct nothing *nothing, bool (*launches)(const struct nothing *nothing)) {
    must_driver(driver.set(driver.context) == 0);
    uint64_t start = now_ns();
    for (int k = 0; k < BATCH; k++)
        must_driver(launches(nothing));
    double us = (double)(now_ns() - start) / BATCH / 1e3;
    must_driver(driver.wait(nothing->stream) == 0 && driver.set(NULL) == 0);
    return us;
}

struct warm {
    double enqueue_us, kernel_us, graph_us; /* Leat; the driver alone */
};

/* Alternates with the driver alone. Each batch begins with an empty queue and fits into it. */
static struct warm enqueue(leat_context *ctx, leat_call *call, bool has_driver) {
    double times[BATCHES], kernels[BATCHES] = {0}, graphs[BATCHES] = {0};
    struct nothing nothing;
    if (has_driver)
        load_nothing(&nothing);
    for (int b = 0; b < BATCHES; b++) {
        uint64_t start = now_ns();
        for (int k = 0; k < BATCH; k++)
            must(leat_call_run(call, NULL, NULL));
        times[b] = (double)(now_ns() - start) / BATCH / 1e3;
        must(leat_context_synchronize(ctx));
        if (!has_driver)
            continue;
        kernels[b] = bare_batch_us(&nothing, launches_kernel);
        graphs[b] = bare_batch_us(&nothing, launches_graph);
    }
    return (struct warm){median(times), median(kernels), median(graphs)};
}

static double wait_us(leat_context *ctx, leat_call *call) {
    double times[BATCHES];
    for (int b = 0; b < BATCHES; b++) {
        uint64_t start = now_ns();
        for (int k = 0; k < BATCH; k++) {
            leat_ticket ticket;
            must(leat_call_run(call, NULL, &ticket));
            must(leat_ticket_wait(ctx, ticket));
        }
        times[b] = (double)(now_ns() - start) / BATCH / 1e3;
    }
    return median(times);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    if (argc < 3 || (strcmp(what, "warm") != 0 && argc < 4)) {
        fprintf(stderr, "usage: bench_gpu_calls warm DEVICE | first DEVICE START_NS | context DEVICE START_NS\n");
        return 2;
    }
    bool warm = strcmp(what, "warm") == 0;
    leat_options options = {.device = argv[2], .keep_code = true, .ledger_level = warm ? 0 : 1};
    leat_context *ctx = NULL;
    leat_call *call = NULL;
    struct steps steps = {.last_ns = warm ? 0 : strtoull(argv[3], NULL, 10)};
    step(&steps, "process started");
    if (strcmp(what, "context") == 0) {
        make_context(&steps);
    } else {
        must(leat_open(&options, &ctx));
        step(&steps, "opened");
        call = prepared(ctx, &steps);
    }
    if (warm) {
        struct warm us = enqueue(ctx, call, strncmp(argv[2], "cuda", 4) == 0);
        printf("%.3f %.3f %.3f %.3f\n", us.enqueue_us, wait_us(ctx, call), us.kernel_us, us.graph_us);
    } else {
        if (ctx)
            print_ledger(ctx);
        printf("%.3f\n", (double)(steps.last_ns - strtoull(argv[3], NULL, 10)) / 1e6);
    }
    if (ctx) {
        leat_call_free(call);
        leat_close(ctx);
    }
    return 0;
}
