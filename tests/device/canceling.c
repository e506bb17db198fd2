/* Canceled runs: from another thread and by a callback, in every kind of long work. The call, its context and its
 * arrays can be used afterwards, and the next run is right. */
#include "support.h"
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#define DELAY_NS    100000000u
#define REACTION_NS 3000000000u /* at most; far more than it takes, because tests may share few slow cores */

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Whether a kernel that has started can be stopped: not on a GPU, and not on sim under the thread sanitizer, which
 * defers signals until the code that it has instrumented runs. */
static bool kernels_stop(void) {
#if defined(__SANITIZE_THREAD__)
    return on_cpu();
#else
    return on_cpu() || on_sim();
#endif
}

struct canceling {
    leat_call *call;
    uint64_t at_ns;
    atomic_bool over;
};

/* Cancels until the run is over: a cancel before it begins has no effect. */
static void *cancel_soon(void *user) {
    struct canceling *canceling = user;
    const struct timespec delay = {.tv_nsec = DELAY_NS};
    do {
        nanosleep(&delay, NULL);
        if (!canceling->at_ns)
            canceling->at_ns = now_ns();
        leat_call_cancel(canceling->call);
    } while (!atomic_load(&canceling->over));
    return NULL;
}

static void run_and_cancel(leat_call *call) {
    struct canceling canceling = {.call = call};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, &canceling), 0);
    leat_status status = leat_call_complete(call, NULL);
    uint64_t end_ns = now_ns();
    atomic_store(&canceling.over, true);
    pthread_join(thread, NULL);
    assert_status(status, LEAT_CANCELED);
    assert_true(end_ns - canceling.at_ns < REACTION_NS);
}

struct watching {
    pthread_t thread;
    int calls, limit;
};

static bool proceed(void *user) {
    struct watching *watching = user;
    assert_true(pthread_equal(watching->thread, pthread_self()));
    return ++watching->calls < watching->limit;
}

static void run_and_watch(leat_call *call) {
    struct watching watching = {.thread = pthread_self(), .limit = 3};
    uint64_t start_ns = now_ns();
    assert_ok(leat_call_watch(call, proceed, &watching));
    assert_status(leat_call_complete(call, NULL), LEAT_CANCELED);
    assert_message("canceled");
    assert_ok(leat_call_watch(call, NULL, NULL));
    assert_int_equal(watching.calls, 3);
    assert_true(now_ns() - start_ns >= DELAY_NS && now_ns() - start_ns < REACTION_NS);
}

static leat_call *new_call(leat_context *ctx, const char *text) {
    leat_program *program;
    leat_call *call;
    assert_ok(leat_program_new(ctx, text, 0, NULL, &program));
    assert_ok(leat_call_new(program, &call));
    leat_program_free(program);
    return call;
}

static double result_of(leat_call *call) {
    leat_array *array;
    double value;
    assert_ok(leat_call_result_at(call, 0, &array));
    assert_ok(leat_array_read(array, &value, sizeof value, NULL, NULL));
    leat_array_free(array);
    return value;
}

/* Each program runs for hours if n is large, and computes `expected` if it is `few`. */
static const struct endless {
    const char *name, *text;
    int64_t few;
    double expected;
} ON_HOST[] = {
    {"a reduction", "y = sum(i in 0..n, j in 0..n: f64(i) * j)", 3, 9},
    {"an `each`", "out y: f64[1]\neach i { s = 0.0; while s < n * f64(n) { s = s + 1 }; y[i] = s }", 3, 9},
    {"a def", "def count(n) { s = 0.0; while s < n * f64(n) { s += 1 }; return s }\ny = sum(i in 0..2: count(n))", 3,
     18},
    {"dependent ranges", "y = sum(i in 0..n, j in 0..i, k in 0..j: f64(i) * j % 7)", 4, 17},
};
static const struct endless LONG_ROW = /* a device has no memory for so many partial results */
    {"one long row", "y = max(i in 0..n, j in 0..n, k in 0..n: f64((i + j + k) % 1000000))", 3, 6};
static const struct endless WITH_LOOPS[] = {
    {"a `while` of scalars", "var y = 0.0\nwhile y < n * f64(n) { y = y + 1 }\nout y", 3, 9},
    {"a `while` of arrays",
     "x[i] = 1.0 * i where i in 0..100\nvar y = 0.0\nwhile y < n * 4950.0 { y = y + sum(i: x[i]) }\nout y", 2, 9900},
    {"a `for`", "var y = 0.0\nx[i] = 1.0 * i where i in 0..100\nfor k in 0..n { y = y + sum(i: x[i] * k) }\nout y", 3,
     14850},
};

static void check_endless(leat_context *ctx, const struct endless *endless) {
    leat_call *call = new_call(ctx, endless->text);
    for (int round = 0; round < 2; round++) {
        assert_ok(leat_call_set_i64(call, "n", 1000000));
        if (round == 0)
            run_and_cancel(call);
        else
            run_and_watch(call);
        leat_array *array;
        assert_status(leat_call_result_at(call, 0, &array), LEAT_INVALID);
        assert_ok(leat_call_set_i64(call, "n", endless->few));
        assert_ok(leat_call_run(call, NULL, NULL));
        if (result_of(call) != endless->expected)
            fail_msg("%s: %g, not %g", endless->name, result_of(call), endless->expected);
    }
    leat_call_free(call);
}

static void check_all(int threads) {
    const leat_options options = {.threads = threads};
    leat_context *ctx = open_device(&options);
    if (on_cpu())
        check_endless(ctx, &LONG_ROW);
    for (size_t k = 0; k < ARRAY_LEN(ON_HOST) && kernels_stop(); k++)
        check_endless(ctx, &ON_HOST[k]);
    for (size_t k = 0; k < ARRAY_LEN(WITH_LOOPS); k++)
        check_endless(ctx, &WITH_LOOPS[k]);
    leat_close(ctx);
}

static void test_one_thread(void **state) {
    (void)state;
    check_all(1);
}

static void test_threads(void **state) {
    (void)state;
    check_all(3);
}

/* Work over arrays of the caller's: products, and a scan, whose tasks wait for each other. A loop repeats them, so that
 * the run does not end before it is canceled. */
static void check_arrays(const char *text, int64_t rows, int64_t columns) {
    leat_context *ctx = open_device(&(leat_options){.threads = 2});
    leat_call *call = new_call(ctx, text);
    leat_array *x;
    double first, second;
    const int64_t shape[] = {rows, columns};
    size_t count = (size_t)(rows * columns);
    double *values = malloc(count * sizeof *values);
    assert_non_null(values);
    for (size_t k = 0; k < count; k++)
        values[k] = (double)(k % 5) / 64;
    assert_ok(leat_array_new(ctx, LEAT_F64, 2, shape, LEAT_MEMORY_DEVICE, &x));
    assert_ok(leat_array_write(x, values, count * sizeof *values, NULL, NULL));
    assert_ok(leat_call_set_array(call, "x", x));
    assert_ok(leat_call_set_i64(call, "n", 1));
    assert_ok(leat_call_run(call, NULL, NULL));
    first = result_of(call);
    assert_ok(leat_call_set_i64(call, "n", 100000000));
    for (int round = 0; round < 3; round++)
        run_and_cancel(call);
    run_and_watch(call);
    assert_ok(leat_call_set_i64(call, "n", 1));
    assert_ok(leat_call_run(call, NULL, NULL));
    second = result_of(call);
    assert_true(first == second && first != 0);
    free(values);
    leat_array_free(x);
    leat_call_free(call);
    leat_close(ctx);
}

static void test_arrays(void **state) {
    (void)state;
    const int64_t side = on_cpu() ? 700 : 24;
    check_arrays("var y = 0.0\nfor t in 0..n { z[i,j] = (t + 1) * sum(k: x[i,k] * x[j,k]); y = y + z[1,2] }\nout y",
                 side, side);
    check_arrays(
        "var y = 0.0\nfor t in 0..n { z[j] = sum(k in 0..j+1: x[0,k] * (t + 1)); y = y + z[len(x,1) - 1] }\nout y", 1,
        side * side);
}

/* A canceled run leaves the work of other calls alone, before and after it and in another stream. */
static void test_other_calls(void **state) {
    (void)state;
    leat_context *ctx = open_device(&(leat_options){.threads = 2});
    leat_call *endless = new_call(ctx, ON_HOST[1].text), *other[3];
    leat_stream *stream;
    assert_ok(leat_stream_new(ctx, &stream));
    for (int k = 0; k < 3; k++) {
        other[k] = new_call(ctx, "y = sum(i in 0..n: f64(i))");
        assert_ok(leat_call_set_i64(other[k], "n", 1000 + k));
    }
    for (int round = 0; round < 3 && kernels_stop(); round++) {
        assert_ok(leat_call_run(other[0], NULL, NULL));
        assert_ok(leat_call_run(other[1], stream, NULL));
        assert_ok(leat_call_set_i64(endless, "n", 1000000));
        run_and_cancel(endless);
        assert_ok(leat_call_run(other[2], NULL, NULL));
        for (int k = 0; k < 3; k++)
            assert_true(result_of(other[k]) == (1000 + k) * (999 + k) / 2);
        assert_ok(leat_call_set_i64(endless, "n", 3));
        assert_ok(leat_call_complete(endless, stream));
        assert_true(result_of(endless) == ON_HOST[1].expected);
    }
    for (int k = 0; k < 3; k++)
        leat_call_free(other[k]);
    leat_call_free(endless);
    leat_stream_free(stream);
    leat_close(ctx);
}

static const char KERNELS[] =
    "extern \"C\" __global__ void endless(double *y) { for (long long k = 0;; k++) y[0] = k; }\n"
    "extern \"C\" __global__ void fine(double *y) { y[0] = 42; }\n";

static void launch(leat_module *module, const char *name, leat_stream *stream, leat_array *y) {
    leat_kernel *kernel;
    const leat_argument arguments[] = {leat_out(y)};
    assert_ok(leat_module_kernel(module, name, &kernel));
    assert_ok(leat_kernel_launch(kernel, (leat_dim3){1, 1, 1}, (leat_dim3){1, 1, 1}, 0, stream, arguments, 1));
}

static double element_of(leat_array *y) {
    double value;
    assert_ok(leat_array_read(y, &value, sizeof value, NULL, NULL));
    return value;
}

static void cancel_launches(leat_context *ctx, leat_stream *const stream[2], leat_array *const y[2]) {
    leat_module *module;
    leat_ticket ticket;
    bool reached = true;
    assert_ok(leat_module_new(ctx, KERNELS, NULL, &module));
    launch(module, "fine", stream[1], y[1]);
    launch(module, "endless", stream[0], y[0]);
    launch(module, "endless", stream[0], y[0]);
    assert_ok(leat_array_ticket(y[0], &ticket));
    assert_ok(leat_ticket_wait_for(ctx, ticket, 200, &reached));
    assert_false(reached);
    uint64_t start_ns = now_ns();
    assert_ok(leat_context_synchronize_for(ctx, 50, &reached));
    assert_false(reached);
    assert_ok(leat_context_cancel(ctx));
    assert_ok(leat_context_synchronize_for(ctx, 60000, &reached));
    assert_true(reached && now_ns() - start_ns < REACTION_NS);
    launch(module, "fine", stream[0], y[0]);
    launch(module, "fine", stream[1], y[1]);
    assert_true(element_of(y[0]) == 42 && element_of(y[1]) == 42);
    leat_module_free(module);
}

/* Launches without a call are canceled, too. Later work runs. */
static void test_all(void **state) {
    (void)state;
    leat_context *ctx = open_device(NULL);
    leat_stream *stream[2];
    leat_array *y[2];
    leat_ticket ticket;
    bool done;
    for (int k = 0; k < 2; k++) {
        assert_ok(leat_stream_new(ctx, &stream[k]));
        assert_ok(leat_array_new(ctx, LEAT_F64, 1, (const int64_t[]){1}, LEAT_MEMORY_DEVICE, &y[k]));
    }
    assert_ok(leat_array_ticket(y[0], &ticket));
    assert_ok(leat_ticket_wait(ctx, ticket));
    assert_ok(leat_context_cancel(ctx));
    assert_ok(leat_context_synchronize_for(ctx, 0, &done));
    if (!on_cpu() && kernels_stop())
        cancel_launches(ctx, stream, y);
    for (int k = 0; k < 2; k++) {
        leat_array_free(y[k]);
        leat_stream_free(stream[k]);
    }
    leat_close(ctx);
}

/* Cancelling has no effect before and after a run; a callback that lets the run proceed changes nothing. */
static void test_no_effect(void **state) {
    (void)state;
    leat_context *ctx = open_device(NULL);
    leat_call *call = new_call(ctx, "y = sum(i in 0..10: f64(i))");
    struct watching watching = {.thread = pthread_self(), .limit = 1000000};
    leat_call_cancel(NULL);
    for (int run = 0; run < 3; run++) {
        leat_call_cancel(call);
        assert_ok(leat_call_run(call, NULL, NULL));
        leat_call_cancel(call);
        assert_true(result_of(call) == 45);
        assert_ok(leat_call_watch(call, proceed, &watching));
    }
    leat_call_free(call);
    leat_close(ctx);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_thread),  cmocka_unit_test(test_threads), cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_other_calls), cmocka_unit_test(test_all),     cmocka_unit_test(test_no_effect),
    };
    return start(argc, argv) ? cmocka_run_group_tests(tests, NULL, NULL) : SKIPPED;
}
