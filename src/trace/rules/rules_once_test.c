/* Threads, streams and copies at the same time: the gain of a rule counts each moment once. */
#include "trace/rules/index_testing.h"

static const char *const own = "/home/u/app";

static void play_busy(struct play *play, uint64_t time_ns) {
    play_launch(play, 1, "work", 10560, 256, time_ns);
    play_wait(play);
}

/* The host waits for the step before the last one. The device is never idle, and a graph gains only what it hides. */
static void a_busy_device_needs_no_graph(void **state) {
    (void)state;
    struct play *play = play_new(own);
    uint64_t ends[100];
    for (int step = 0; step < 100; step++) {
        for (int k = 0; k < 10; k++)
            play_launch(play, 1, k % 2 ? "even" : "odd", 10560, 256, US(20));
        ends[step] = play->stream_ns[1];
        struct le_call *call = play_call(play, "cuEventSynchronize", LE_CALL_WAIT, US(2));
        if (step > 0 && ends[step - 1] + 2000 > play->host_ns)
            play->host_ns = call->end_ns = ends[step - 1] + 2000;
    }
    play_wait(play);
    play_end(play);
    assert_null(play_found(play, "repeating-pattern"));
    play_free(play);
}

/* Copies in another stream do not interrupt the kernels. */
static void copies_beside_kernels_are_no_gap(void **state) {
    (void)state;
    struct play *play = play_new(own);
    for (int step = 0; step < 100; step++) {
        for (int k = 0; k < 10; k++)
            play_launch(play, 1, k % 2 ? "even" : "odd", 10560, 256, US(60));
        play_copy(play, (struct played_copy){.up = true, .bytes = 4 << 20, .stream = 2});
    }
    play_wait(play);
    play_end(play);
    assert_null(play_found(play, "repeating-pattern"));
    play_free(play);
}

/* Eight kernels of 100 ms at once take 100 ms. */
static void small_grids_at_once_take_their_time_once(void **state) {
    (void)state;
    struct play *play = play_new(own);
    play->shared = true;
    for (int k = 0; k < 8; k++)
        play_launch(play, 1 + k, "grid", 1, 32, MS(100));
    play_wait(play);
    play->host_ns += MS(900);
    play_end(play);
    const struct le_finding *finding = play_expect(play, "small-grid", 100e6);
    assert_non_null(strstr(finding->title, "of the device take 100 ms"));
    play_free(play);
}

static void tails_at_once_take_their_time_once(void **state) {
    (void)state;
    struct play *play = play_new(own);
    play->shared = true;
    for (int k = 0; k < 4; k++)
        play_launch(play, 1 + k, "grid", 1057, 256, MS(10));
    play_wait(play);
    play_end(play);
    play_expect(play, "tail-wave", 10e6 * (2112 - 1057) / 2112.0);
    play_free(play);
}

/* Both threads make the call at the same time. */
static struct le_call *call_twice(struct play *play, const char *function, enum le_call_kind kind, uint64_t time_ns) {
    play_call(play, function, kind, time_ns);
    play->host_ns -= time_ns;
    play->thread = 1;
    struct le_call *call = play_call(play, function, kind, time_ns);
    play->thread = 0;
    return call;
}

static void copy_twice(struct play *play, struct played_copy copy) {
    uint64_t start_ns = play->host_ns;
    play->shared = true;
    play_copy(play, copy);
    play->host_ns = start_ns;
    play->thread = 1;
    copy.stream++;
    play_copy(play, copy);
    play->thread = 0;
}

static struct play *copies_of_two(struct played_copy copy, int count) {
    struct play *play = play_new(own);
    play_busy(play, MS(1));
    for (int k = 0; k < count; k++)
        copy_twice(play, copy);
    play_busy(play, MS(1));
    play_end(play);
    return play;
}

static void copies_of_two_threads_take_their_time_once(void **state) {
    (void)state;
    struct played_copy copy = {.up = true, .bytes = 40000000, .stream = 1};
    double time_ns = 40e6 / 9;
    struct play *play = copies_of_two(copy, 20);
    play_expect(play, "pageable-copy", 20 * (time_ns - 40e6 / 55));
    play_free(play);
    copy.async = true;
    play = copies_of_two(copy, 20);
    play_expect(play, "blocked-async", 20 * time_ns);
    play_free(play);
    copy.async = false;
    copy.host = 0x1000;
    play = copies_of_two(copy, 20);
    const struct le_finding *finding = play_expect(play, "transfer-bound", 20 * time_ns);
    assert_non_null(strstr(finding->evidence, "1.60 GB to the device in 88.9 ms"));
    play_free(play);
    play = copies_of_two((struct played_copy){.up = true, .pinned = true, .bytes = 400, .stream = 1}, 1000);
    assert_true(play_found(play, "small-copies")->gain_ns < 1000 * US(8.6));
    play_free(play);
}

static void round_trips_of_two_threads_take_their_time_once(void **state) {
    (void)state;
    struct play *play = play_new(own);
    play_busy(play, MS(1));
    struct played_copy copy = {.pinned = true, .bytes = 40000000, .stream = 1, .host = 64, .sample = 7};
    for (int k = 0; k < 10; k++) {
        copy.up = false;
        copy_twice(play, copy);
        copy.up = true;
        copy_twice(play, copy);
    }
    play_end(play);
    assert_true(play_found(play, "round-trip")->gain_ns <= 10 * 2 * US(40e3 / 55 + 9));
    play_free(play);
}

static void allocations_of_two_threads_take_their_time_once(void **state) {
    (void)state;
    struct play *play = play_new(own);
    play_busy(play, MS(1));
    for (int k = 0; k < 50; k++)
        call_twice(play, "cudaMalloc", LE_CALL_ALLOCATE, US(100));
    play_busy(play, MS(1));
    play_end(play);
    assert_non_null(strstr(play_expect(play, "allocation-churn", 50 * 99e3)->title, "100 calls took 5.00 ms"));
    play_free(play);
}

static void waits_of_two_threads_are_one_gap(void **state) {
    (void)state;
    struct play *play = play_new(own);
    for (int k = 0; k < 100; k++) {
        play_launch(play, 1, "work", 10560, 256, US(100));
        play->thread = 1;
        play_launch(play, 1, "work", 10560, 256, US(100));
        uint64_t start_ns = play->host_ns;
        play_wait(play);
        play->host_ns = start_ns;
        play->thread = 0;
        play_launch(play, 1, "work", 10560, 256, US(100));
        play_wait(play);
        play->host_ns += US(10);
    }
    play_end(play);
    play_expect(play, "needless-wait", 99 * (16e3 - 2.24e3)); /* each gap has the recording of two launches */
    play_free(play);
}

static void blamed_waits_of_two_threads_count_once(void **state) {
    (void)state;
    struct play *play = play_new(own);
    play->shared = true;
    play_launch(play, 1, "work", 10560, 256, MS(50));
    copy_twice(play, (struct played_copy){.pinned = true, .bytes = 1000, .stream = 1});
    struct le_call *calls = play->index.calls.at; /* including the waits for the other stream */
    calls[2].end_ns = calls[1].end_ns;
    play->index.operations.at[2].start_ns = play->index.operations.at[1].start_ns;
    play->index.operations.at[2].end_ns = play->index.operations.at[1].end_ns;
    play->host_ns = calls[1].end_ns;
    play_end(play);
    assert_non_null(strstr(play_found(play, "blamed-wait")->title, "50.0 ms of its 50.0 ms"));
    play_free(play);
}

static void graphs_of_two_threads_take_their_time_once(void **state) {
    (void)state;
    struct play *play = play_new(own);
    play_busy(play, MS(1));
    for (int k = 0; k < 50; k++)
        call_twice(play, "cuGraphInstantiate", LE_CALL_GRAPH_BUILD, US(300));
    play_busy(play, MS(1));
    play_end(play);
    play_expect(play, "graph-rebuilt", 50 * 299.5e3);
    play_free(play);
}

static void full_queues_of_two_threads_hold_once(void **state) {
    (void)state;
    struct play *play = play_new(own);
    for (int k = 0; k < 3000; k++) {
        play->launch_ns = k < 1100 ? US(3) : US(120);
        play_launch(play, 1, "work", 10560, 256, US(63));
        if (k < 1100)
            continue;
        play->host_ns -= US(120);
        play->thread = 1;
        play_launch(play, 1, "work", 10560, 256, US(63));
        play->thread = 0;
    }
    play_wait(play);
    play_end(play);
    assert_non_null(strstr(play_found(play, "queue-full")->title, "3,800 launches held the host for 228 ms"));
    play_free(play);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_busy_device_needs_no_graph),
        cmocka_unit_test(copies_beside_kernels_are_no_gap),
        cmocka_unit_test(small_grids_at_once_take_their_time_once),
        cmocka_unit_test(tails_at_once_take_their_time_once),
        cmocka_unit_test(copies_of_two_threads_take_their_time_once),
        cmocka_unit_test(round_trips_of_two_threads_take_their_time_once),
        cmocka_unit_test(allocations_of_two_threads_take_their_time_once),
        cmocka_unit_test(waits_of_two_threads_are_one_gap),
        cmocka_unit_test(blamed_waits_of_two_threads_count_once),
        cmocka_unit_test(graphs_of_two_threads_take_their_time_once),
        cmocka_unit_test(full_queues_of_two_threads_hold_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
