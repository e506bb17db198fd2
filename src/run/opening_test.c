/* Programs on a device whose context takes long to open: sim, with the option behind LEAT_SIM_CONTEXT_MS. Tests what is
 * compiled meanwhile, what waits, and what happens if the context cannot be created. */
#include "base/store_testing.h"
#include "sim/sim.h"
#include "leat.h"
#include <pthread.h>
#include <stdatomic.h>

enum { N = 1000, OPENING_MS = 400, OPENING_MOST_MS = 30000 };

struct setting {
    struct scratch scratch;
    leat_context *ctx;
};

static void must(leat_status status) {
    if (status)
        fail_msg("%s", leat_error_text(NULL));
}

static void configure(uint64_t context_ms, uint64_t call) {
    const struct le_sim_options options = {.context_ms = context_ms, .faults.call = call};
    must(le_sim_configure(&options));
}

static leat_status open_sim(struct setting *setting) {
    const leat_options options = {.device = "sim", .threads = 1, .keep_code = true, .ledger_level = 1};
    return leat_open(&options, &setting->ctx);
}

static void begin(struct setting *setting, uint64_t context_ms) {
    scratch_make(&setting->scratch);
    setenv("LEAT_CACHE_DIR", setting->scratch.folder, 1);
    configure(context_ms, 0);
    must(open_sim(setting));
}

static void end(struct setting *setting) {
    struct le_sim_tally tally;
    leat_close(setting->ctx);
    le_sim_tally_get(&tally);
    assert_int_equal(tally.contexts, 0);
    assert_int_equal(tally.allocations + tally.modules + tally.streams + tally.events, 0);
    le_sim_configure(NULL);
    scratch_remove(&setting->scratch);
}

/* ---- calls */

static void new_array(leat_context *ctx, leat_array **array) {
    const int64_t shape[] = {N};
    must(leat_array_new_empty(ctx, LEAT_F32, 1, shape, LEAT_MEMORY_DEVICE, array));
}

static void write_ones(leat_array *array) {
    float ones[N];
    for (int k = 0; k < N; k++)
        ones[k] = 1;
    must(leat_array_write(array, ones, sizeof ones, NULL, NULL));
    memset(ones, 0, sizeof ones); /* the source may be overwritten by now */
}

static void check_all(const leat_array *array, float expected) {
    float values[N];
    must(leat_array_read(array, values, sizeof values, NULL, NULL));
    for (int k = 0; k < N; k++)
        assert_true(values[k] == expected);
}

static leat_call *new_call(leat_context *ctx, const char *text) {
    leat_program *program;
    leat_call *call;
    must(leat_program_new(ctx, text, 0, NULL, &program));
    must(leat_call_new(program, &call));
    leat_program_free(program);
    return call;
}

/* ---- work while the context is being created */

struct watch {
    atomic_bool stop;
    uint64_t compiler_calls; /* the most compiler calls seen before the context existed */
};

static void *watch_sim(void *user) {
    struct watch *watch = user;
    struct le_sim_tally tally;
    do {
        le_sim_tally_get(&tally);
        if (tally.contexts == 0 && tally.nvrtc_calls > watch->compiler_calls)
            watch->compiler_calls = tally.nvrtc_calls;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    } while (!atomic_load(&watch->stop));
    return NULL;
}

static uint64_t count_of(leat_context *ctx, leat_cost_kind kind, const char *what) {
    uint64_t count = 0;
    leat_cost cost;
    for (size_t k = 0; leat_ledger_get(ctx, k, &cost) == LEAT_OK; k++)
        if (cost.kind == kind && strcmp(cost.what, what) == 0)
            count += cost.count;
    return count;
}

/* Runs with a device array or a host array. Returns how many times the compiler was called before the context existed.
 */
static uint64_t run_while_opening(bool by_device_array, uint64_t opening_ms) {
    struct setting setting;
    struct watch watch = {.compiler_calls = 0};
    pthread_t watcher;
    leat_array *x = NULL, *y = NULL;
    float ones[N];
    begin(&setting, opening_ms);
    assert_int_equal(pthread_create(&watcher, NULL, watch_sim, &watch), 0);
    new_array(setting.ctx, &y);
    if (by_device_array) {
        new_array(setting.ctx, &x);
        write_ones(x);
    } else {
        for (int k = 0; k < N; k++)
            ones[k] = 1;
        const leat_description host = {
            .dtype = LEAT_F32, .rank = 1, .shape = {N}, .strides = {1}, .data = ones, .memory = LEAT_MEMORY_HOST};
        must(leat_array_wrap(setting.ctx, &host, NULL, NULL, &x));
    }
    leat_call *call = new_call(setting.ctx, "y[i] = x[i] + x[i] + x[i]");
    must(leat_call_set_array(call, "x", x));
    must(leat_call_want(call, "y", y));
    must(leat_call_run(call, NULL, NULL));
    check_all(y, 3);
    must(leat_call_run(call, NULL, NULL));
    check_all(y, 3);
    atomic_store(&watch.stop, true);
    pthread_join(watcher, NULL);
    assert_int_equal(count_of(setting.ctx, LEAT_COST_INIT, "context"), 1); /* waited for once */
    leat_call_free(call);
    leat_array_free(x);
    leat_array_free(y);
    end(&setting);
    return watch.compiler_calls;
}

/* On a slow machine, opening must be made slower still. */
static void expect_compiled_while_opening(bool by_device_array) {
    uint64_t opening_ms = OPENING_MS;
    while (run_while_opening(by_device_array, opening_ms) == 0) {
        assert_true(opening_ms < OPENING_MOST_MS);
        opening_ms *= 4;
    }
}

static void test_device_array(void **state) {
    (void)state;
    expect_compiled_while_opening(true);
}

static void test_host_array(void **state) {
    (void)state;
    expect_compiled_while_opening(false);
}

/* ---- deferred arrays */

static void test_late_arrays(void **state) {
    (void)state;
    struct setting setting;
    const int64_t shape[] = {N}, start[] = {0}, stop[] = {10}, step[] = {1};
    leat_array *written = NULL, *zero = NULL, *view = NULL, *left = NULL;
    leat_description description;
    begin(&setting, 20);
    new_array(setting.ctx, &left);
    new_array(setting.ctx, &written);
    must(leat_array_new(setting.ctx, LEAT_F32, 1, shape, LEAT_MEMORY_DEVICE, &zero));
    write_ones(written);
    write_ones(written);
    must(leat_array_slice(written, start, stop, step, &view));
    must(leat_array_get(written, &description));
    assert_non_null(description.data);
    assert_int_equal(description.memory, LEAT_MEMORY_DEVICE);
    check_all(written, 1);
    check_all(zero, 0);
    write_ones(zero);
    check_all(zero, 1);
    leat_array_free(view);
    leat_array_free(written);
    leat_array_free(zero);
    leat_array_free(left);
    end(&setting);
}

/* A range that depends on elements: the host reads them while planning. */
static void test_ranges_from_elements(void **state) {
    (void)state;
    struct setting setting;
    const int64_t shape[] = {2}, counts[] = {3, 4};
    leat_array *n = NULL, *result = NULL;
    int64_t sum = 0;
    begin(&setting, 20);
    must(leat_array_new_empty(setting.ctx, LEAT_I64, 1, shape, LEAT_MEMORY_DEVICE, &n));
    must(leat_array_write(n, counts, sizeof counts, NULL, NULL));
    leat_call *call = new_call(setting.ctx, "y[i] = 2 * i where i in 0..n[1]\nt = sum(k: y[k])");
    must(leat_call_set_array(call, "n", n));
    must(leat_call_want(call, "t", NULL));
    must(leat_call_run(call, NULL, NULL));
    must(leat_call_result(call, "t", &result));
    must(leat_array_read(result, &sum, sizeof sum, NULL, NULL));
    assert_int_equal(sum, 12);
    leat_array_free(result);
    leat_array_free(n);
    leat_call_free(call);
    end(&setting);
}

/* A range that depends on a kernel's result: the kernel runs before the rest is planned. */
static void test_ranges_from_kernels(void **state) {
    (void)state;
    struct setting setting;
    leat_array *x = NULL, *result = NULL;
    leat_description description;
    begin(&setting, 50);
    new_array(setting.ctx, &x);
    write_ones(x);
    leat_call *call = new_call(setting.ctx, "m = sum(i: x[i])\ny[i] = x[i] where i in 0..i64(m) - 1");
    must(leat_call_set_array(call, "x", x));
    must(leat_call_want(call, "y", NULL));
    must(leat_call_run(call, NULL, NULL));
    must(leat_call_result(call, "y", &result));
    must(leat_array_get(result, &description));
    assert_int_equal(description.shape[0], N - 1);
    leat_array_free(result);
    leat_array_free(x);
    leat_call_free(call);
    end(&setting);
}

/* Threads that share a deferred array and a device that is being opened. */
enum { THREADS = 4 };
struct shared {
    leat_context *ctx;
    leat_array *x;
};

static void *run_shared(void *user) {
    const struct shared *shared = user;
    leat_array *result = NULL;
    leat_call *call = new_call(shared->ctx, "y[i] = x[i] + x[i]");
    must(leat_call_set_array(call, "x", shared->x));
    must(leat_call_run(call, NULL, NULL));
    must(leat_call_result(call, "y", &result));
    leat_array_free(result);
    leat_call_free(call);
    return NULL;
}

static void test_threads(void **state) {
    (void)state;
    struct setting setting;
    struct shared shared;
    pthread_t threads[THREADS];
    begin(&setting, 50);
    shared.ctx = setting.ctx;
    new_array(setting.ctx, &shared.x);
    write_ones(shared.x);
    for (int k = 0; k < THREADS; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, run_shared, &shared), 0);
    for (int k = 0; k < THREADS; k++)
        pthread_join(threads[k], NULL);
    check_all(shared.x, 1);
    leat_array_free(shared.x);
    end(&setting);
}

/* ---- failures */

static void test_closed_at_once(void **state) {
    (void)state;
    struct setting setting;
    begin(&setting, 20);
    end(&setting);
}

static leat_status run_twice(leat_context *ctx, bool *told) {
    const int64_t shape[] = {N};
    const char *text = "y[i] = x[i] * 2";
    leat_array *x = NULL;
    leat_call *call = NULL;
    leat_program *program = NULL;
    leat_status status;
    (void)((status = leat_array_new(ctx, LEAT_F32, 1, shape, LEAT_MEMORY_DEVICE, &x)) ||
           (status = leat_program_new(ctx, text, 0, NULL, &program)) || (status = leat_call_new(program, &call)) ||
           (status = leat_call_set_array(call, "x", x)) || (status = leat_call_run(call, NULL, NULL)));
    *told = status && strstr(leat_error_text(NULL), "creating a context on device cuda:0");
    if (*told)
        status = leat_call_run(call, NULL, NULL);
    leat_call_free(call);
    leat_program_free(program);
    leat_array_free(x);
    return status;
}

/* The driver call that creates the context fails. Opening succeeds, the run reports the failure, and the next run
 * succeeds. */
static void test_no_context(void **state) {
    (void)state;
    struct setting setting;
    bool told = false;
    begin(&setting, 1);
    for (uint64_t call = 1; call < 60 && !told; call++) {
        leat_close(setting.ctx);
        setting.ctx = NULL;
        configure(1, call);
        if (open_sim(&setting))
            continue;
        leat_status status = run_twice(setting.ctx, &told);
        if (told)
            must(status);
    }
    assert_true(told);
    end(&setting);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_device_array),        cmocka_unit_test(test_host_array),
        cmocka_unit_test(test_late_arrays),         cmocka_unit_test(test_ranges_from_elements),
        cmocka_unit_test(test_ranges_from_kernels), cmocka_unit_test(test_threads),
        cmocka_unit_test(test_closed_at_once),      cmocka_unit_test(test_no_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
