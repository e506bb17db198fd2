/* Several threads in one stream: each copies and runs with memory of its own, and gets the values of its own work. */
#include "support.h"
#include <pthread.h>

#ifdef __SANITIZE_THREAD__
enum { ROUNDS = 3 }; /* a round takes seconds */
#else
enum { ROUNDS = 8 };
#endif
enum { THREADS = 4, SMALL = 500, LARGE = 100000 }; /* large: the copy threads stage it */

struct worker {
    leat_context *ctx;
    leat_stream *stream;
    leat_program *program;
    int number, wrong;
    float *a, *b, *y;
};

static bool all_are(const float *values, int count, float value) {
    for (int k = 0; k < count; k++)
        if (values[k] != value)
            return false;
    return true;
}

static void fill(float *values, int count, float value) {
    for (int k = 0; k < count; k++)
        values[k] = value;
}

static leat_description describe(float *values, int count) {
    return (leat_description){
        .dtype = LEAT_F32, .rank = 1, .shape = {count}, .strides = {1}, .data = values, .memory = LEAT_MEMORY_HOST};
}

static bool wait_for(const struct worker *w, leat_ticket ticket) {
    bool reached = false;
    leat_status status = LEAT_OK;
    while (!status && !reached)
        status = leat_ticket_wait_for(w->ctx, ticket, 5, &reached);
    return status == LEAT_OK;
}

/* y = a * b + 1 in memory of the thread's. */
static bool run_once(struct worker *w, leat_call *call, int count, int round) {
    const leat_description a = describe(w->a, count), b = describe(w->b, count), y = describe(w->y, count);
    leat_ticket ticket;
    fill(w->b, count, (float)round);
    fill(w->y, count, -1);
    return !leat_call_set_memory_at(call, 0, &a) && !leat_call_set_memory_at(call, 1, &b) &&
           !leat_call_want_memory_at(call, 0, &y) && !leat_call_run(call, w->stream, &ticket) &&
           (round % 2 ? wait_for(w, ticket) : leat_ticket_wait(w->ctx, ticket) == LEAT_OK) &&
           all_are(w->y, count, (float)(w->number * round + 1));
}

/* Through an array of the thread's, and back. */
static bool copy_once(struct worker *w, leat_array *array, int count, int round) {
    size_t size_bytes = (size_t)count * sizeof(float);
    leat_ticket up, down;
    fill(w->b, count, (float)(w->number + round));
    fill(w->y, count, -1);
    return !leat_array_write(array, w->b, size_bytes, w->stream, &up) &&
           !leat_array_read(array, w->y, size_bytes, w->stream, round % 3 ? &down : NULL) &&
           (round % 3 == 0 || wait_for(w, down)) && wait_for(w, up) && all_are(w->y, count, (float)(w->number + round));
}

static void *work(void *user) {
    struct worker *w = user;
    leat_call *call = NULL;
    leat_array *small = NULL, *large = NULL;
    bool is_ready = !leat_call_new(w->program, &call) &&
                    !leat_array_new(w->ctx, LEAT_F32, 1, SHAPE(SMALL), LEAT_MEMORY_DEVICE, &small) &&
                    !leat_array_new(w->ctx, LEAT_F32, 1, SHAPE(LARGE), LEAT_MEMORY_DEVICE, &large);
    w->wrong += !is_ready;
    fill(w->a, LARGE, (float)w->number);
    for (int round = 0; round < ROUNDS && is_ready; round++) {
        w->wrong += !run_once(w, call, round % 4 ? SMALL : LARGE, round);
        w->wrong += !copy_once(w, round % 4 ? small : large, round % 4 ? SMALL : LARGE, round);
    }
    leat_array_free(small);
    leat_array_free(large);
    leat_call_free(call);
    return NULL;
}

static void check_threads(leat_context *ctx, leat_stream *stream) {
    leat_program *program;
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    assert_ok(leat_program_new(ctx, "y[i] = a[i] * b[i] + 1", 0, NULL, &program));
    for (int k = 0; k < THREADS; k++) {
        workers[k] = (struct worker){.ctx = ctx, .stream = stream, .program = program, .number = k + 1};
        workers[k].a = malloc(LARGE * sizeof(float));
        workers[k].b = malloc(LARGE * sizeof(float));
        workers[k].y = malloc(LARGE * sizeof(float));
        assert_true(workers[k].a && workers[k].b && workers[k].y);
        assert_int_equal(pthread_create(&threads[k], NULL, work, &workers[k]), 0);
    }
    for (int k = 0; k < THREADS; k++) {
        pthread_join(threads[k], NULL);
        assert_int_equal(workers[k].wrong, 0);
        free(workers[k].a);
        free(workers[k].b);
        free(workers[k].y);
    }
    leat_program_free(program);
}

static void test_threads(void **state) {
    (void)state;
    leat_context *ctx = open_device(NULL);
    leat_stream *stream;
    assert_ok(leat_stream_new(ctx, &stream));
    check_threads(ctx, NULL);
    check_threads(ctx, stream);
    leat_stream_free(stream);
    leat_close(ctx);
}

/* Waits of limited time: for work that takes long, for none, and for tickets that do not exist. */
static void test_limited_waits(void **state) {
    (void)state;
    leat_context *ctx = open_device(NULL);
    leat_program *program;
    leat_call *call;
    leat_ticket ticket;
    bool reached = false;
    assert_ok(leat_program_new(ctx, "y = sum(i in 0..n: sin(f64(i)))", 0, NULL, &program));
    assert_ok(leat_call_new(program, &call));
    assert_ok(leat_call_set_i64_at(call, 0, 10));
    assert_ok(leat_call_run(call, NULL, NULL)); /* compiles it */
    assert_ok(leat_call_set_i64_at(call, 0, on_cpu() ? 1000 : on_sim() ? 30000 : 3000000));
    assert_ok(leat_call_run(call, NULL, &ticket));
    assert_ok(leat_ticket_wait_for(ctx, ticket, 0, &reached));
    assert_true(reached || !on_cpu());
    while (!reached)
        assert_ok(leat_ticket_wait_for(ctx, ticket, 1, &reached));
    reached = false;
    assert_ok(leat_ticket_wait_for(ctx, (leat_ticket){0}, 0, &reached));
    assert_true(reached);
    assert_status(leat_ticket_wait_for(ctx, (leat_ticket){1u << 30, 1}, 1, &reached), LEAT_INVALID);
    assert_status(leat_ticket_wait_for(ctx, (leat_ticket){ticket.stream_id, 1u << 30}, 1, &reached), LEAT_INVALID);
    assert_status(leat_ticket_wait_for(NULL, ticket, 1, &reached), LEAT_INVALID);
    assert_status(leat_ticket_wait_for(ctx, ticket, 1, NULL), LEAT_INVALID);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
}

int main(int count, char **arguments) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads), cmocka_unit_test(test_limited_waits)};
    return start(count, arguments) ? cmocka_run_group_tests_name(device_name, tests, NULL, NULL) : SKIPPED;
}
