/* Threads: one program with a call in each thread, arrays that all threads read, leat_eval in all threads, and contexts
 * of their own. Each thread gets its own results. */
#include "support.h"
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, ROUNDS = 50, EXTENT = 3000 };

struct worker {
    leat_context *ctx;
    leat_program *program;
    leat_array *shared;
    int number;
    bool right;
};

static void in_threads(struct worker *workers, void *(*body)(void *)) {
    pthread_t threads[THREADS];
    for (int k = 0; k < THREADS; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, body, &workers[k]), 0);
    for (int k = 0; k < THREADS; k++)
        assert_int_equal(pthread_join(threads[k], NULL), 0);
    for (int k = 0; k < THREADS; k++)
        assert_true(workers[k].right);
}

static bool holds(leat_array *array, double factor) {
    double values[EXTENT];
    bool right = !leat_array_read(array, values, sizeof values, NULL, NULL);
    for (int k = 0; k < EXTENT && right; k++)
        right = values[k] == factor * k;
    leat_array_free(array);
    return right;
}

static void *call_often(void *argument) {
    struct worker *worker = argument;
    leat_call *call = NULL;
    bool right = !leat_call_new(worker->program, &call) && !leat_call_set_array(call, "x", worker->shared);
    for (int k = 0; k < ROUNDS && right; k++) {
        const double factor = worker->number * 100 + k;
        leat_array *y = NULL;
        right = !leat_call_set_f64(call, "f", factor) && !leat_call_run(call, NULL, NULL) &&
                !leat_call_result(call, "y", &y) && holds(y, factor);
    }
    leat_call_free(call);
    worker->right = right;
    return NULL;
}

static void *evaluate_often(void *argument) {
    struct worker *worker = argument;
    worker->right = true;
    for (int k = 0; k < ROUNDS && worker->right; k++) {
        const leat_binding inputs[] = {{.name = "x", .kind = LEAT_VALUE_ARRAY, .array = worker->shared},
                                       {.name = "f", .kind = LEAT_VALUE_I64, .i64 = worker->number + k},
                                       {0}};
        leat_binding results[] = {{.name = "y"}, {0}};
        const char *text = k % 2 ? "y[i] = x[i] * f" : "y[i] = f * x[i]";
        worker->right = !leat_eval(worker->ctx, text, inputs, results) && holds(results[0].array, worker->number + k);
    }
    return NULL;
}

static void *fail_often(void *argument) {
    struct worker *worker = argument;
    char text[60], name[30];
    leat_error error;
    worker->right = true;
    for (int k = 0; k < ROUNDS && worker->right; k++) {
        leat_program *program = NULL;
        snprintf(name, sizeof name, "q%d_%d", worker->number, k);
        snprintf(text, sizeof text, "y[i] = a[i] + %s[j]", name);
        worker->right = leat_program_new(worker->ctx, text, 0, NULL, &program) == LEAT_PROGRAM &&
                        !leat_error_get(worker->ctx, &error) && strstr(leat_error_text(worker->ctx), name);
    }
    return NULL;
}

static void *own_context(void *argument) {
    struct worker *worker = argument;
    worker->right = true;
    for (int k = 0; k < 10 && worker->right; k++) {
        leat_context *ctx = NULL;
        leat_binding results[] = {{.name = "y"}, {0}};
        double value = 0;
        worker->right = !leat_open(NULL, &ctx) && !leat_eval(ctx, "y = sum(i in 0..1000: i * 1.0)", NULL, results) &&
                        !leat_array_read(results[0].array, &value, sizeof value, NULL, NULL) && value == 499500.0;
        leat_array_free(results[0].array);
        leat_close(ctx);
    }
    return NULL;
}

static void test_threads(void **state) {
    (void)state;
    leat_options options = {.threads = 2};
    leat_context *ctx = NULL;
    double values[EXTENT];
    struct worker workers[THREADS];
    assert_ok(leat_open(&options, &ctx));
    for (int k = 0; k < EXTENT; k++)
        values[k] = k;
    leat_array *x = vector_f64(ctx, EXTENT, values);
    leat_program *program = program_of(ctx, "y[i] = x[i] * f");
    for (int k = 0; k < THREADS; k++)
        workers[k] = (struct worker){.ctx = ctx, .program = program, .shared = x, .number = k};
    in_threads(workers, call_often);
    in_threads(workers, evaluate_often);
    in_threads(workers, fail_often);
    in_threads(workers, own_context);
    leat_program_free(program);
    leat_array_free(x);
    leat_close(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
