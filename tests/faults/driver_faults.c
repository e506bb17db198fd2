/* Programs on sim while calls of the driver, of NVRTC and of cuBLAS fail, each once: call 1, call 2, ... until the work
 * goes through without the fault. In each case the work fails with an error that names the call and what the driver
 * says of it, or is right; nothing of the device's or the host's memory is left when the context is closed; and the
 * same work is right afterwards, in the same context where the failure was not fatal, else in a new one.
 *
 * usage: driver_faults [all] [SCENARIO...]; all: every call of every scenario, in every way (13 minutes of one core);
 * else those of opening once, of long scenarios some, and the ways that differ most. Exit status 77 where sim cannot
 * compile. */
#include "sim/sim.h"
#include "leat.h"
#include "sparsely.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 40, COLUMNS = 25, SKIPPED = 77 };

/* ---- memory that is counted */

static atomic_llong live;

static void *count_allocate(size_t size_bytes, void *user) {
    (void)user;
    void *memory = malloc(size_bytes);
    live += memory != NULL;
    return memory;
}

static void *count_reallocate(void *memory, size_t size_bytes, void *user) {
    (void)user;
    void *moved = realloc(memory, size_bytes);
    live += moved && !memory;
    return moved;
}

static void count_release(void *memory, void *user) {
    (void)user;
    live -= memory != NULL;
    free(memory);
}

/* ---- work: what it came to */

struct outcome {
    leat_status status;
    char message[600];
    uint64_t hash; /* of all results */
};

static void add_result(struct outcome *outcome, const void *bytes, size_t size_bytes) {
    for (size_t k = 0; k < size_bytes; k++)
        outcome->hash = (outcome->hash ^ ((const unsigned char *)bytes)[k]) * 0x100000001b3u;
}

static leat_status take_array(const leat_array *array, struct outcome *outcome) {
    void *bytes = NULL;
    size_t size_bytes = 0;
    leat_status status = leat_array_save_memory(array, &bytes, &size_bytes);
    if (!status)
        add_result(outcome, bytes, size_bytes);
    leat_memory_free(bytes);
    return status;
}

static leat_status ramp(leat_context *ctx, leat_array **array) {
    float values[ROWS * COLUMNS];
    for (int k = 0; k < ROWS * COLUMNS; k++)
        values[k] = (float)(k % 17) * 0.25f - 1.0f;
    leat_status status = leat_array_new(ctx, LEAT_F32, 2, (int64_t[]){ROWS, COLUMNS}, LEAT_MEMORY_DEVICE, array);
    return status ? status : leat_array_write(*array, values, sizeof values, NULL, NULL);
}

static leat_status take_results(leat_call *call, struct outcome *outcome) {
    size_t count = 0;
    const char *name = NULL;
    leat_status status = leat_call_result_count(call, &count);
    for (size_t k = 0; k < count && !status; k++) {
        leat_array *result = NULL;
        (void)((status = leat_call_result_name(call, k, &name)) || (status = leat_call_result(call, name, &result)) ||
               (status = take_array(result, outcome)));
        leat_array_free(result);
    }
    return status;
}

static leat_status run_times(leat_context *ctx, const char *text, int times, leat_stream *stream,
                             struct outcome *outcome) {
    leat_program *program = NULL;
    leat_call *call = NULL;
    leat_array *x = NULL;
    leat_status status;
    (void)((status = leat_program_new(ctx, text, 0, NULL, &program)) || (status = leat_call_new(program, &call)) ||
           (strstr(text, "x[") && ((status = ramp(ctx, &x)) || (status = leat_call_set_array(call, "x", x)))));
    for (int k = 0; k < times && !status; k++)
        status = leat_call_run(call, stream, NULL);
    if (!status)
        status = take_results(call, outcome);
    leat_call_free(call);
    leat_program_free(program);
    leat_array_free(x);
    return status;
}

/* Twice, unless it is slow: the second run finds its plan. */
static leat_status run_text(leat_context *ctx, const char *text, leat_stream *stream, struct outcome *outcome) {
    return run_times(ctx, text, strstr(text, "512") ? 1 : 2, stream, outcome);
}

/* So often that its launch is kept. */
static leat_status run_often(leat_context *ctx, const char *text, struct outcome *outcome) {
    return run_times(ctx, text, 35, NULL, outcome);
}

/* What one stream makes another one reads, with times of the device. */
static leat_status run_streams(leat_context *ctx, const char *text, struct outcome *outcome) {
    leat_stream *streams[2] = {NULL, NULL};
    leat_event *start = NULL, *stop = NULL;
    double milliseconds;
    leat_status status;
    (void)((status = leat_ledger_level_set(ctx, 2)) || (status = leat_stream_new(ctx, &streams[0])) ||
           (status = leat_stream_new(ctx, &streams[1])) || (status = leat_event_new(ctx, &start)) ||
           (status = leat_event_new(ctx, &stop)) || (status = leat_event_record(start, streams[0])) ||
           (status = leat_stream_wait_event(streams[1], start)) ||
           (status = run_text(ctx, text, streams[0], outcome)) || (status = run_text(ctx, text, streams[1], outcome)) ||
           (status = leat_event_record(stop, streams[1])) || (status = leat_event_synchronize(stop)) ||
           (status = leat_event_elapsed_ms(start, stop, &milliseconds)) || (status = leat_context_synchronize(ctx)));
    leat_event_free(start);
    leat_event_free(stop);
    leat_stream_free(streams[0]);
    leat_stream_free(streams[1]);
    return status;
}

/* A kernel of the caller's own, and views of arrays, which kernels copy. */
static leat_status run_module(leat_context *ctx, const char *text, struct outcome *outcome) {
    leat_module *module = NULL;
    leat_kernel *kernel = NULL;
    leat_array *x = NULL, *turned = NULL;
    leat_status status;
    (void)((status = ramp(ctx, &x)) || (status = leat_module_new(ctx, text, NULL, &module)) ||
           (status = leat_module_kernel(module, "twice", &kernel)) ||
           (status =
                leat_kernel_launch_cooperative(kernel, (leat_dim3){4, 1, 1}, (leat_dim3){250, 1, 1}, 200 << 10, NULL,
                                               (leat_argument[]){leat_inout(x), leat_i32(ROWS * COLUMNS)}, 2)) ||
           (status = leat_array_transpose(x, NULL, &turned)) || (status = take_array(turned, outcome)));
    leat_array_free(turned);
    leat_array_free(x);
    leat_module_free(module);
    return status;
}

static const struct scenario {
    const char *name, *text;
    leat_status (*run)(leat_context *ctx, const char *text, struct outcome *outcome); /* NULL: as a program */
    leat_status expected;
    bool is_slow;
} scenarios[] = {
    {.name = "map", .text = "y[i,j] = x[i,j] * 3 + 1"},
    {.name = "reductions", .text = "r[i] = sum(j: x[i,j])\nc[j] = max(i: x[i,j])\nt = sum(i, j: x[i,j])"},
    {.name = "rows", .text = "y[i,j] = exp(x[i,j] - max(k: x[i,k])) / sum(k: exp(x[i,k] - max(q: x[i,q])))"},
    {.name = "scan", .text = "c[i,j] = sum(k in 0..j+1: x[i,k])"},
    {.name = "scatter", .text = "out h: i64[9]\nh[i64(abs(x[i,j]))] += 1"},
    {.name = "each",
     .text = "out y: f32[40]\neach i { s = x[i,0]; for k in 0..20 { s = s * 0.5 + x[i,k]; if s > 2 { break } }; y[i] = "
             "s }"},
    {.name = "time loop",
     .text = "out u\nu[i,j] = x[i,j]\nvar e = inf\nwhile e > 0.3 { w[i,j] = u[i,j] / 2\n"
             "e = max(i,j: abs(w[i,j] - u[i,j])); u[i,j] = w[i,j] }"},
    {.name = "numbers", .text = "m = 1\nfor t in 0..3 { m = m + i64(abs(x[t,0])) + 1 }\nr[c] = x[c,0] where c in 0..m"},
    {.name = "product", .text = "y[i,j] = sum(k: x[k,i] * x[k,j])"},
    {.name = "random", .text = "r[i] = rand(3, i) + x[i,0]"},
    {.name = "data error", .text = "y[i] = x[i64(x[i,0] * 1000), 0]", .expected = LEAT_DATA},
    {.name = "again and again", .text = "y[i,j] = x[i,j] * 3 + 1", .run = run_often},
    {.name = "streams", .text = "y[i,j] = x[i,j] * 3 + 1", .run = run_streams},
    {.name = "module",
     .text = "extern \"C\" __global__ void twice(float *x, int n) { extern __shared__ float part[];\n"
             "int i = blockIdx.x * blockDim.x + threadIdx.x;\npart[threadIdx.x] = 2; if (i < n) x[i] *= "
             "part[threadIdx.x]; }",
     .run = run_module},
    {.name = "cuBLAS",
     .text = "a[i,j] = f32(i - j) where i in 0..512, j in 0..512\ny[i,j] = sum(k: a[i,k] * a[j,k])\n"
             "t = sum(i: y[i,i])\nout t",
     .is_slow = true},
};

static void perform(leat_context *ctx, const struct scenario *scenario, struct outcome *outcome) {
    leat_error error = {.message = ""};
    *outcome = (struct outcome){.hash = 1};
    outcome->status =
        scenario->run ? scenario->run(ctx, scenario->text, outcome) : run_text(ctx, scenario->text, NULL, outcome);
    if (outcome->status && leat_error_get(NULL, &error) == LEAT_OK)
        snprintf(outcome->message, sizeof outcome->message, "%s", error.message);
}

/* ---- faults */

enum library { LIBRARY_DRIVER, LIBRARY_NVRTC, LIBRARY_CUBLAS };

/* Of a short run: in all scenarios, in one of them (the first, or the one that has such calls), or not at all. */
enum when { ALWAYS, ONCE, LONG_RUN };

static const struct fault_kind {
    const char *name;
    enum library library;
    int result; /* the library's own */
    bool sticks;
    enum when when;
    leat_status status;
    const char *told;  /* by every error of it, but where Leat knows what it means: */
    const char *meant; /* of any status */
} fault_kinds[] = {
    {"driver call", LIBRARY_DRIVER, LE_CU_ERROR_UNKNOWN, false, ALWAYS, LEAT_DEVICE, "unknown error", NULL},
    {"fatal", LIBRARY_DRIVER, LE_CU_ERROR_ILLEGAL_ADDRESS, true, ONCE, LEAT_DEVICE, "illegal memory access", NULL},
    {"launch failed", LIBRARY_DRIVER, LE_CU_ERROR_LAUNCH_FAILED, true, LONG_RUN, LEAT_DEVICE,
     "unspecified launch failure", NULL},
    {"out of memory", LIBRARY_DRIVER, LE_CU_ERROR_OUT_OF_MEMORY, false, ONCE, LEAT_OUT_OF_MEMORY, "out of memory",
     NULL},
    {"invalid value", LIBRARY_DRIVER, LE_CU_ERROR_INVALID_VALUE, false, LONG_RUN, LEAT_DEVICE, "invalid argument",
     NULL},
    {"invalid handle", LIBRARY_DRIVER, LE_CU_ERROR_INVALID_HANDLE, false, LONG_RUN, LEAT_DEVICE,
     "invalid resource handle", NULL},
    {"not found", LIBRARY_DRIVER, LE_CU_ERROR_NOT_FOUND, false, LONG_RUN, LEAT_DEVICE, "named symbol not found",
     "the driver does not find it"},
    {"not supported", LIBRARY_DRIVER, LE_CU_ERROR_NOT_SUPPORTED, false, LONG_RUN, LEAT_UNSUPPORTED,
     "operation not supported", NULL},
    {"NVRTC call", LIBRARY_NVRTC, LE_NVRTC_ERROR_INTERNAL_ERROR, false, ONCE, LEAT_DEVICE, "NVRTC_ERROR_INTERNAL_ERROR",
     NULL},
    {"NVRTC out of memory", LIBRARY_NVRTC, LE_NVRTC_ERROR_OUT_OF_MEMORY, false, LONG_RUN, LEAT_OUT_OF_MEMORY,
     "NVRTC is out of memory", NULL},
    {"NVRTC compilation", LIBRARY_NVRTC, LE_NVRTC_ERROR_COMPILATION, false, LONG_RUN, LEAT_DEVICE,
     "NVRTC_ERROR_COMPILATION", "does not compile"},
    {"NVRTC option", LIBRARY_NVRTC, LE_NVRTC_ERROR_INVALID_OPTION, false, LONG_RUN, LEAT_DEVICE,
     "NVRTC_ERROR_INVALID_OPTION", "NVRTC_ERROR_INVALID_OPTION"},
    {"cuBLAS call", LIBRARY_CUBLAS, LE_CUBLAS_INTERNAL_ERROR, false, ONCE, LEAT_DEVICE, "CUBLAS_STATUS_INTERNAL_ERROR",
     NULL},
    {"cuBLAS out of memory", LIBRARY_CUBLAS, LE_CUBLAS_ALLOC_FAILED, false, LONG_RUN, LEAT_OUT_OF_MEMORY,
     "CUBLAS_STATUS_ALLOC_FAILED", NULL},
};

static void plan_fault(const struct fault_kind *kind, uint64_t number) {
    struct le_sim_options options = {0};
    struct le_sim_faults *faults = &options.faults;
    if (kind->library == LIBRARY_DRIVER)
        *faults = (struct le_sim_faults){.call = number, .call_result = kind->result, .call_sticks = kind->sticks};
    else if (kind->library == LIBRARY_NVRTC)
        *faults = (struct le_sim_faults){.nvrtc = number, .nvrtc_result = kind->result};
    else
        *faults = (struct le_sim_faults){.cublas = number, .cublas_result = kind->result};
    le_sim_configure(&options);
}

static uint64_t calls_of(enum library library) {
    struct le_sim_tally tally;
    le_sim_tally_get(&tally);
    return library == LIBRARY_DRIVER  ? tally.driver_calls
           : library == LIBRARY_NVRTC ? tally.nvrtc_calls
                                      : tally.cublas_calls;
}

/* NVRTC is called only where no code is kept; sim's own store keeps its work short. */
static leat_status open_context(const struct fault_kind *kind, leat_context **ctx) {
    const leat_options options = {.device = "sim",
                                  .threads = 1,
                                  .keep_code = kind->library == LIBRARY_DRIVER,
                                  .allocate = count_allocate,
                                  .reallocate = count_reallocate,
                                  .release = count_release};
    return leat_open(&options, ctx);
}

struct expectation {
    struct outcome clean;
    uint64_t opening_calls, calls;
};

/* What is wrong with an outcome while the fault may have come; NULL: nothing. */
static const char *judge(const struct outcome *outcome, const struct expectation *expected,
                         const struct fault_kind *kind, bool may_fail) {
    const struct outcome *clean = &expected->clean;
    if (outcome->status == clean->status && strcmp(outcome->message, clean->message) == 0)
        return outcome->hash == clean->hash || clean->status ? NULL : "the results are others";
    if (!may_fail)
        return "it fails";
    if (kind->meant && strstr(outcome->message, kind->meant))
        return NULL;
    if (outcome->status != kind->status && outcome->status != LEAT_DEVICE)
        return "the status is another";
    bool is_clear = strstr(outcome->message, kind->told) || strstr(outcome->message, "CUBLAS_STATUS_"); /* its words */
    return is_clear && strstr(outcome->message, ": ") ? NULL : "the error is not clear";
}

/* What a context has left behind. A call that frees something and fails leaves that one thing, and tells nobody; of a
 * launch that was kept it may be the graph and what was made of it. */
static const char *judge_left(const struct fault_kind *kind, bool told) {
    struct le_sim_tally tally;
    le_sim_tally_get(&tally);
    int left = tally.allocations + tally.modules + tally.streams + tally.events + (tally.graphs + 1) / 2;
    if (tally.contexts)
        return "the driver's context is still held";
    if (live)
        return "memory of the host is left behind";
    return !kind->sticks && left > !told ? "something of the device's is left behind" : NULL;
}

static const char *run_anew(const struct scenario *scenario, const struct expectation *expected,
                            const struct fault_kind *kind, struct outcome *outcome) {
    leat_context *ctx = NULL;
    plan_fault(kind, 0);
    if (open_context(kind, &ctx))
        return "a new context cannot be opened";
    perform(ctx, scenario, outcome);
    leat_close(ctx);
    const char *wrong = judge(outcome, expected, kind, false);
    return wrong ? wrong : judge_left(kind, true);
}

/* Call `number` fails. *came: there was such a call. */
static const char *run_faulty(const struct scenario *scenario, const struct expectation *expected,
                              const struct fault_kind *kind, uint64_t number, struct outcome *outcome, bool *came) {
    leat_context *ctx = NULL;
    leat_error error = {.message = ""};
    const char *wrong = NULL;
    bool told = true;
    plan_fault(kind, number);
    *outcome = (struct outcome){.status = open_context(kind, &ctx)};
    if (outcome->status && leat_error_get(NULL, &error) == LEAT_OK)
        snprintf(outcome->message, sizeof outcome->message, "%s", error.message);
    if (outcome->status)
        wrong = judge(outcome, expected, kind, true);
    for (int turn = 0; ctx && turn < 2 && !wrong; turn++) {
        bool may_fail = calls_of(kind->library) < number || (kind->sticks && turn);
        perform(ctx, scenario, outcome);
        wrong = judge(outcome, expected, kind, may_fail);
        told = turn ? told : outcome->status != expected->clean.status;
    }
    leat_close(ctx);
    *came = calls_of(kind->library) >= number;
    if (!wrong)
        wrong = judge_left(kind, told);
    return wrong || !*came || !kind->sticks ? wrong : run_anew(scenario, expected, kind, outcome);
}

/* Without a fault, twice: the first one may compile. */
static const char *run_clean(const struct scenario *scenario, const struct fault_kind *kind,
                             struct expectation *expected) {
    leat_context *ctx = NULL;
    for (int turn = scenario->is_slow; turn < 2; turn++) {
        plan_fault(kind, 0);
        if (open_context(kind, &ctx))
            return "no context can be opened";
        expected->opening_calls = calls_of(kind->library);
        perform(ctx, scenario, &expected->clean);
        expected->calls = calls_of(kind->library);
        leat_close(ctx);
    }
    if (expected->clean.status != scenario->expected)
        return "it fails without a fault";
    return judge_left(kind, true);
}

static bool tell(const struct scenario *scenario, const struct fault_kind *kind, uint64_t number, const char *wrong,
                 const struct outcome *outcome) {
    printf("%s, %s %llu: %s: %s: %s\n", scenario->name, kind->name, (unsigned long long)number, wrong,
           leat_status_name(outcome->status), outcome->message);
    return false;
}

/* Of a short run: calls in the middle of programs are much alike, and more so if programs are interpreted. */
static uint64_t step_of(const struct scenario *scenario, const struct fault_kind *kind) {
    if (kind->library != LIBRARY_DRIVER)
        return 1;
    if (getenv("LEAT_INTERPRET"))
        return 83;
    if (kind->when != ALWAYS)
        return 23;
    return scenario == &scenarios[0] ? 2 : scenario->expected ? 3 : scenario->run == run_module ? 5 : 29;
}

/* first: the calls of opening fail, too. */
static bool run_scenario(const struct scenario *scenario, const struct fault_kind *kind, bool first, bool all) {
    struct expectation expected = {0};
    struct outcome outcome = {0};
    uint64_t tried = 0;
    bool came = true, right = true;
    const char *wrong = run_clean(scenario, kind, &expected);
    if (wrong)
        return tell(scenario, kind, 0, wrong, &expected.clean);
    uint64_t number = first ? 1 : expected.opening_calls + 1;
    uint64_t step = all ? 1 : (uint64_t)sparsely((int64_t)step_of(scenario, kind));
    if (scenario->is_slow && !all)
        number = expected.calls; /* the product itself, and no other */
    for (; came && !(scenario->is_slow && !all && tried); number += step, tried++) {
        wrong = run_faulty(scenario, &expected, kind, number, &outcome, &came);
        live = 0;
        if (wrong)
            right = tell(scenario, kind, number, wrong, &outcome);
    }
    printf("%s, %s: %llu calls failed\n", scenario->name, kind->name, (unsigned long long)tried - !came);
    return right;
}

static bool chosen(const char *name, int argc, char **argv) {
    bool named = false, any = false;
    for (int k = 1; k < argc; k++) {
        any |= strcmp(argv[k], "all") != 0;
        named |= strcmp(argv[k], name) == 0;
    }
    return named || !any;
}

/* Which faults a short run gives a scenario: NVRTC's calls are the same for all programs, and what is fatal or out of
 * memory goes one way in all. */
static bool is_short(const struct scenario *scenario, const struct fault_kind *kind) {
    if (kind->when == LONG_RUN)
        return false;
    if (kind->library == LIBRARY_CUBLAS || scenario->is_slow)
        return kind->library == LIBRARY_CUBLAS && scenario->is_slow;
    return kind->when == ALWAYS || scenario == &scenarios[0] || (kind->sticks && scenario->expected);
}

int main(int argc, char **argv) {
    bool all = argc > 1 && strcmp(argv[1], "all") == 0;
    int failed = 0, tried = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (system("c++ --version >/dev/null 2>&1 || g++ --version >/dev/null 2>&1"))
        return SKIPPED;
    for (size_t f = 0; f < ARRAY_LEN(fault_kinds); f++)
        for (size_t k = 0; k < ARRAY_LEN(scenarios); k++)
            if (chosen(scenarios[k].name, argc, argv) && (all || is_short(&scenarios[k], &fault_kinds[f]))) {
                tried++;
                failed += !run_scenario(&scenarios[k], &fault_kinds[f], k == 0 || (all && !scenarios[k].is_slow), all);
            }
    printf("%d of %d scenarios failed\n", failed, tried);
    return failed || !tried;
}
