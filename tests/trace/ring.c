/* Tests the two ways from the program's threads to the writer's: the ring of events and the buffers of activities.
 * Every lost record is counted, and the records of one thread arrive in order. Also tests which functions are recorded.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "trace/recorder/activity_buffers.h"
#include "trace/recorder/event_ring.h"
#include "trace/recorder/selection.h"
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, EACH = 60000 };

struct test {
    struct le_event_ring ring;
    _Atomic int running;
    uint32_t next[THREADS], wrong; /* next: the number that is expected from each thread */
    uint64_t taken;
};
struct producer {
    struct test *test;
    uint32_t thread;
    uint64_t refused;
};

/* Puts records of several lengths. The bytes after the structure repeat its number. A record that does not fit is put
 * again. */
static void *produce(void *user) {
    struct producer *producer = user;
    char bytes[200];
    for (uint32_t k = 0; k < EACH; k++) {
        struct le_trace_origin origin = {.correlation = k, .source = producer->thread};
        memset(bytes, (int)(k % 251), sizeof bytes);
        while (!le_event_ring_put(&producer->test->ring, LE_TRACE_ORIGIN, &origin, sizeof origin, bytes, k * 7 % 200)) {
            producer->refused++;
            sched_yield();
        }
    }
    producer->test->running--;
    return NULL;
}

static void take(void *user, const struct le_trace_record *record) {
    struct test *test = user;
    const struct le_trace_origin *origin = (const void *)(record + 1);
    const unsigned char *bytes = (const void *)(origin + 1);
    size_t length = origin->correlation * 7 % 200;
    test->wrong += record->kind != LE_TRACE_ORIGIN || origin->source >= THREADS;
    test->wrong += record->bytes != ((sizeof *record + sizeof *origin + length + 7) & ~(size_t)7);
    test->wrong += origin->correlation != test->next[origin->source];
    for (size_t k = 0; k < length; k++)
        test->wrong += bytes[k] != origin->correlation % 251;
    test->next[origin->source] = origin->correlation + 1;
    test->taken++;
}

static void take_all(struct test *test) {
    le_event_ring_take(&test->ring, le_event_ring_ready(&test->ring), take, test);
}

/* Enough records to wrap around the ring several times. */
static void test_threads(void **state) {
    struct test *test = calloc(1, sizeof *test);
    struct producer producers[THREADS];
    pthread_t threads[THREADS];
    uint64_t refused = 0;
    (void)state;
    assert_non_null(test);
    assert_true(le_event_ring_init(&test->ring));
    test->running = THREADS;
    for (uint32_t k = 0; k < THREADS; k++) {
        producers[k] = (struct producer){.test = test, .thread = k};
        assert_int_equal(pthread_create(&threads[k], NULL, produce, &producers[k]), 0);
    }
    while (test->running)
        take_all(test);
    for (uint32_t k = 0; k < THREADS; k++) {
        pthread_join(threads[k], NULL);
        refused += producers[k].refused;
    }
    take_all(test);
    assert_int_equal(test->wrong, 0);
    assert_int_equal(test->taken, THREADS * EACH);
    assert_int_equal(test->ring.dropped, refused);
    assert_true(test->ring.taken > 2 * (uint64_t)LE_EVENT_RING_BYTES);
    le_event_ring_finish(&test->ring);
    free(test);
}

/* Fills the ring to the last byte, takes everything, and fills it again. */
static void test_full(void **state) {
    struct test *test = calloc(1, sizeof *test);
    char bytes[200] = {0};
    (void)state;
    assert_non_null(test);
    assert_true(le_event_ring_init(&test->ring));
    for (int turn = 0; turn < 3; turn++) {
        struct le_trace_origin origin = {0};
        uint64_t fit = 0;
        while (le_event_ring_put(&test->ring, LE_TRACE_ORIGIN, &origin, sizeof origin, bytes, 0))
            fit++;
        assert_int_equal(fit, LE_EVENT_RING_BYTES / 16);
        assert_true(le_event_ring_is_half_full(&test->ring));
        assert_int_equal(test->ring.dropped, turn + 1);
        uint64_t ready = le_event_ring_ready(&test->ring);
        assert_int_equal(ready - test->ring.taken, LE_EVENT_RING_BYTES);
        test->ring.taken = ready; /* all records are the same */
        memset(test->ring.words, 0, LE_EVENT_RING_BYTES);
        assert_false(le_event_ring_is_half_full(&test->ring));
    }
    le_event_ring_finish(&test->ring);
    free(test);
}

static void count_buffer(void *user, uint8_t *buffer, size_t valid_bytes) {
    uint32_t *expected = user;
    assert_int_equal(valid_bytes, *expected);
    assert_int_equal(*buffer, (uint8_t)*expected);
    ++*expected;
}

static void test_buffers(void **state) {
    struct le_activity_buffers *buffers = calloc(1, sizeof *buffers);
    static uint8_t *given[LE_ACTIVITY_BUFFERS];
    uint32_t expected = 0;
    (void)state;
    assert_non_null(buffers);
    assert_true(le_activity_buffers_init(buffers));
    for (uint32_t k = 0; k < LE_ACTIVITY_BUFFERS; k++) {
        given[k] = le_activity_buffer_get(buffers);
        assert_ptr_equal(given[k], buffers->memory + (size_t)k * LE_ACTIVITY_BUFFER_BYTES);
        *given[k] = (uint8_t)k;
    }
    assert_null(le_activity_buffer_get(buffers));
    for (uint32_t k = 0; k < LE_ACTIVITY_BUFFERS; k++)
        le_activity_buffer_full(buffers, given[k], k);
    assert_null(le_activity_buffer_get(buffers)); /* full buffers are not free */
    le_activity_buffers_take(buffers, count_buffer, &expected);
    assert_int_equal(expected, LE_ACTIVITY_BUFFERS);
    assert_ptr_equal(le_activity_buffer_get(buffers), given[0]);
    le_activity_buffers_finish(buffers);
    free(buffers);
}

static void test_selection(void **state) {
    static const char *const left_out[] = {"cudaGetDevice_v3020",       "cuCtxGetCurrent",
                                           "cuCtxPushCurrent_v2",       "__cudaPushCallConfiguration_v9020",
                                           "cuStreamGetCaptureInfo_v3", "cudaStreamIsCapturing_ptsz_v10000"};
    static const char *const kept[] = {"cudaGetDeviceProperties_v2_v12000",
                                       "cudaSetDevice_v3020",
                                       "cuDeviceGetUuid_v2",
                                       "cudaLaunchKernel_v7000",
                                       "cuEventQuery",
                                       "cuInit"};
    (void)state;
    for (size_t k = 0; k < sizeof left_out / sizeof *left_out; k++)
        assert_true(le_selection_leaves_out(left_out[k]));
    for (size_t k = 0; k < sizeof kept / sizeof *kept; k++)
        assert_false(le_selection_leaves_out(kept[k]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_buffers),
        cmocka_unit_test(test_selection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
