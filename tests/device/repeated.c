/* Programs that run many times, so that their launches are kept. Each run uses its own arrays, numbers and shapes, in
 * any streams, loops and threads. Kept launches are freed with their call. */
#include "support.h"
#include <pthread.h>

enum { N = 96, RUNS = 40, THREADS = 3 };
static const char *const KEPT = "a graph, for repeated launches";

static leat_array *filled(leat_context *ctx, int64_t count, float value) {
    float values[N];
    leat_array *array = NULL;
    for (int k = 0; k < N; k++)
        values[k] = value + (float)k;
    assert_ok(leat_array_new_empty(ctx, LEAT_F32, 1, &count, LEAT_MEMORY_DEVICE, &array));
    assert_ok(leat_array_write(array, values, (size_t)count * sizeof *values, NULL, NULL));
    return array;
}

static void assert_filled(const leat_array *array, int64_t count, float value) {
    float values[N];
    assert_ok(leat_array_read(array, values, (size_t)count * sizeof *values, NULL, NULL));
    for (int k = 0; k < count; k++)
        assert_true(values[k] == value + (float)k);
}

/* The number of launches that the context keeps. */
static int kept_count(leat_context *ctx) {
    size_t count = 0;
    int found = 0;
    leat_cost cost;
    assert_ok(leat_ledger_count(ctx, &count));
    for (size_t k = 0; k < count; k++)
        if (leat_ledger_get(ctx, k, &cost) == LEAT_OK && cost.kind == LEAT_COST_PLAN && strcmp(cost.cause, KEPT) == 0)
            found += (int)cost.count;
    return found;
}

static leat_call *new_call(leat_context *ctx, const char *text) {
    leat_program *program;
    leat_call *call;
    assert_ok(leat_program_new(ctx, text, 0, NULL, &program));
    assert_ok(leat_call_new(program, &call));
    leat_program_free(program);
    return call;
}

static void test_arguments(void **state) {
    (void)state;
    leat_context *ctx = open_device(NULL);
    leat_call *call = new_call(ctx, "y[i] = x[i] + a");
    leat_array *x[] = {filled(ctx, N, 1), filled(ctx, N, 2)};
    leat_array *y[] = {filled(ctx, N, 0), filled(ctx, N, 0), filled(ctx, N, 0)};
    for (int k = 0; k < RUNS; k++) {
        assert_ok(leat_call_set_array(call, "x", x[k % 2]));
        assert_ok(leat_call_set_f64(call, "a", k / 2));
        assert_ok(leat_call_want(call, "y", y[k % 3]));
        assert_ok(leat_call_run(call, NULL, NULL));
        if (k % 7 == 0)
            assert_filled(y[k % 3], N, 1 + (float)(k % 2 + k / 2));
    }
    for (int k = RUNS - 3; k < RUNS; k++)
        assert_filled(y[k % 3], N, 1 + (float)(k % 2 + k / 2));
    assert_int_equal(kept_count(ctx), !on_cpu());
    leat_call_free(call); /* while its last launch may be running */
    for (int k = 0; k < 2; k++)
        leat_array_free(x[k]);
    for (int k = 0; k < 3; k++)
        leat_array_free(y[k]);
    leat_close(ctx);
}

/* The same code for another extent: another plan, whose launches are kept anew. */
static void test_shapes(void **state) {
    (void)state;
    static const int64_t counts[] = {N, 40, 3};
    leat_context *ctx = open_device(NULL);
    leat_call *call = new_call(ctx, "y[i] = x[i] * 2 - x[i]\ns = sum(i: x[i])");
    int kept = 0;
    for (int which = 0; which < 3; which++) {
        leat_array *x = filled(ctx, counts[which], (float)(which + 1));
        assert_ok(leat_call_set_array(call, "x", x));
        for (int k = 0; k < RUNS; k++) {
            leat_array *y, *s;
            float sum;
            assert_ok(leat_call_run(call, NULL, NULL));
            assert_ok(leat_call_result(call, "y", &y));
            assert_ok(leat_call_result(call, "s", &s));
            assert_filled(y, counts[which], (float)(which + 1));
            assert_ok(leat_array_read(s, &sum, sizeof sum, NULL, NULL));
            assert_true(sum == (float)(counts[which] * (which + 1) + counts[which] * (counts[which] - 1) / 2));
            leat_array_free(y);
            leat_array_free(s);
        }
        assert_true(on_cpu() || kept_count(ctx) > kept);
        kept = kept_count(ctx);
        leat_array_free(x);
    }
    leat_call_free(call);
    leat_close(ctx);
}

/* A stream in which nothing has been kept, and a stream that is freed. */
static void test_streams(void **state) {
    (void)state;
    leat_context *ctx = open_device(NULL);
    leat_call *call = new_call(ctx, "y[i] = x[i] + 1");
    leat_array *at[] = {filled(ctx, N, 0), filled(ctx, N, 0)};
    leat_stream *streams[3];
    for (int k = 0; k < 3; k++)
        assert_ok(leat_stream_new(ctx, &streams[k]));
    for (int k = 0; k < 4 * RUNS; k++) {
        assert_ok(leat_call_set_array(call, "x", at[k % 2]));
        assert_ok(leat_call_want(call, "y", at[(k + 1) % 2]));
        assert_ok(leat_call_run(call, k < RUNS ? NULL : streams[k < 2 * RUNS ? 0 : k % 3], NULL));
        if (k == 2 * RUNS + 1) {
            leat_stream_free(streams[0]);
            assert_ok(leat_stream_new(ctx, &streams[0]));
        }
    }
    assert_filled(at[0], N, 4 * RUNS);
    leat_call_free(call);
    for (int k = 0; k < 3; k++)
        leat_stream_free(streams[k]);
    leat_array_free(at[0]);
    leat_array_free(at[1]);
    leat_close(ctx);
}

/* Loops repeat launches within a run. */
static void test_loop(void **state) {
    (void)state;
    enum { STEPS = 40 };
    leat_context *ctx = open_device(NULL);
    leat_call *call =
        new_call(ctx, "out u\nu[i] = x[i]\nn = len(x, 0)\n"
                      "for t in 0..40 { v[i] = u[(i + 1) % n] where i in 0..n; u[i] = v[i] + f32(t % 2) }");
    leat_array *x = filled(ctx, N, 5), *u;
    float values[N];
    assert_ok(leat_call_set_array(call, "x", x));
    for (int run = 0; run < 3; run++) {
        assert_ok(leat_call_run(call, NULL, NULL));
        assert_ok(leat_call_result(call, "u", &u));
        assert_ok(leat_array_read(u, values, sizeof values, NULL, NULL));
        for (int k = 0; k < N; k++)
            assert_true(values[k] == 5 + (float)((k + STEPS) % N) + STEPS / 2);
        leat_array_free(u);
    }
    assert_true(on_cpu() || kept_count(ctx) > 0);
    leat_array_free(x);
    leat_call_free(call);
    leat_close(ctx);
}

static uint64_t device_ns(leat_context *ctx) {
    size_t count = 0;
    uint64_t total_ns = 0;
    leat_cost cost;
    assert_ok(leat_ledger_count(ctx, &count));
    for (size_t k = 0; k < count; k++)
        if (leat_ledger_get(ctx, k, &cost) == LEAT_OK && cost.kind == LEAT_COST_KERNEL && cost.on_device)
            total_ns += cost.time_ns;
    return total_ns;
}

/* The host's work to keep a launch does not count as device time. Checked with sim's clock, on which equal kernels take
 * equal times. */
static void test_times(void **state) {
    (void)state;
    const leat_options options = {.ledger_level = 2};
    leat_context *ctx = open_device(&options);
    leat_call *call = new_call(ctx, "y[i] = x[i] + 1");
    leat_array *x = filled(ctx, N, 5), *y = filled(ctx, N, 0);
    uint64_t times_ns[RUNS];
    assert_ok(leat_call_set_array(call, "x", x));
    assert_ok(leat_call_want(call, "y", y));
    for (int k = 0; k < RUNS; k++) {
        assert_ok(leat_call_run(call, NULL, NULL));
        assert_ok(leat_context_synchronize(ctx));
        times_ns[k] = device_ns(ctx);
    }
    assert_int_equal(kept_count(ctx), !on_cpu());
    for (int k = 2; k < RUNS && strcmp(device_name, "sim") == 0; k++)
        assert_true(times_ns[k] - times_ns[k - 1] < times_ns[1] - times_ns[0] + 50);
    leat_array_free(x);
    leat_array_free(y);
    leat_call_free(call);
    leat_close(ctx);
}

struct part {
    leat_context *ctx;
    leat_call *call;
    leat_array *x, *y;
};

static void *run_part(void *user) {
    struct part *part = user;
    leat_stream *stream = NULL;
    leat_status status = leat_stream_new(part->ctx, &stream);
    for (int k = 0; k < 2 * RUNS && !status; k++)
        status = leat_call_run(part->call, stream, NULL);
    leat_stream_free(stream);
    return status ? part : NULL;
}

/* All calls are of one program, so that they share the code. */
static void test_threads(void **state) {
    (void)state;
    leat_context *ctx = open_device(NULL);
    struct part parts[THREADS];
    pthread_t threads[THREADS];
    for (int k = 0; k < THREADS; k++) {
        parts[k] = (struct part){ctx, new_call(ctx, "y[i] = x[i] + 10"), filled(ctx, N, (float)k), filled(ctx, N, 0)};
        assert_ok(leat_call_set_array(parts[k].call, "x", parts[k].x));
        assert_ok(leat_call_want(parts[k].call, "y", parts[k].y));
        assert_int_equal(pthread_create(&threads[k], NULL, run_part, &parts[k]), 0);
    }
    for (int k = 0; k < THREADS; k++) {
        void *failed;
        pthread_join(threads[k], &failed);
        assert_null(failed);
        assert_filled(parts[k].y, N, (float)k + 10);
        leat_call_free(parts[k].call);
        leat_array_free(parts[k].x);
        leat_array_free(parts[k].y);
    }
    assert_int_equal(kept_count(ctx), on_cpu() ? 0 : THREADS);
    leat_close(ctx);
}

/* Launches of some of many calls are kept; all results are right. Takes long on sim. */
static void test_many(void **state) {
    (void)state;
    enum { CALLS = 70, TIMES = 34 };
    if (strcmp(device_name, "sim") == 0)
        skip();
    leat_context *ctx = open_device(NULL);
    leat_array *x = filled(ctx, N, 3), *y[CALLS];
    leat_call *calls[CALLS];
    for (int k = 0; k < CALLS; k++) {
        calls[k] = new_call(ctx, "y[i] = x[i] + a");
        y[k] = filled(ctx, N, 0);
        assert_ok(leat_call_set_array(calls[k], "x", x));
        assert_ok(leat_call_set_f64(calls[k], "a", k));
        assert_ok(leat_call_want(calls[k], "y", y[k]));
        for (int run = 0; run < TIMES; run++)
            assert_ok(leat_call_run(calls[k], NULL, NULL));
    }
    int kept = kept_count(ctx);
    assert_true(on_cpu() ? kept == 0 : kept > 0 && kept < CALLS);
    for (int k = 0; k < CALLS; k++) {
        assert_filled(y[k], N, 3 + (float)k);
        leat_call_free(calls[k]);
        leat_array_free(y[k]);
    }
    leat_array_free(x);
    leat_close(ctx);
}

int main(int count, char **arguments) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arguments), cmocka_unit_test(test_shapes), cmocka_unit_test(test_streams),
        cmocka_unit_test(test_loop),      cmocka_unit_test(test_times),  cmocka_unit_test(test_threads),
        cmocka_unit_test(test_many),
    };
    if (!start(count, arguments))
        return SKIPPED;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
