/* Rules about launches and kernels: known answers, and thresholds from both sides. */
#include "trace/rules/index_testing.h"
#include "trace/rules/occupancy.h"

static const char *const own = "/home/u/app";

/* call_ns: the part of launch_ns that the launch call takes; 0: the default in these tests. */
static struct play *launches_by(const char *library, bool is_switched, int count, uint64_t launch_ns,
                                uint64_t kernel_ns, uint64_t call_ns) {
    struct play *play = play_new(own);
    play->index.processes.at[0].is_switched = is_switched;
    play->launch_ns = call_ns ? call_ns : play->launch_ns;
    for (int k = 0; k < count; k++) {
        char name[32];
        snprintf(name, sizeof name, "%skernel%d", library, k * 7 % 61); /* no short pattern */
        play_launch(play, 1, name, 2000, 256, kernel_ns);
        play->host_ns += launch_ns - play->launch_ns;
    }
    play_wait(play);
    play_end(play);
    return play;
}

static struct play *launches_of(const char *library, bool is_switched, int count, uint64_t launch_ns,
                                uint64_t kernel_ns) {
    return launches_by(library, is_switched, count, launch_ns, kernel_ns, 0);
}

/* The device is idle while the host takes launch_ns for each kernel of kernel_ns, mostly in its own code. */
static struct play *launches(int count, uint64_t launch_ns, uint64_t kernel_ns) {
    return launches_of("", false, count, launch_ns, kernel_ns);
}

static void finds_launch_bound(void **state) {
    (void)state;
    struct play *play =
        launches(300, US(20), US(5)); /* idle for 15 us before each kernel, of which 1.1 us are CUPTI's */
    play_expect(play, "launch-bound", 299 * (15e3 - 1.1e3));
    play_free(play);
    play = launches(51, US(20), US(5));
    assert_non_null(play_found(play, "launch-bound"));
    play_free(play);
    play = launches(50, US(20), US(5)); /* 49 gaps */
    assert_null(play_found(play, "launch-bound"));
    play_free(play);
}

/* If the program switches recording on, a recorded launch of 3 us contains 1.29 to 1.9 us of recording in CuPy and 2.04
 * to 2.88 us in PyTorch, plus 0.22 us for the call. Recording never takes more than the whole. */
static void recording_takes_more_of_python(void **state) {
    (void)state;
    struct play *play = launches(300, US(20), US(5));
    assert_non_null(strstr(play_found(play, "launch-bound")->evidence, "between 4.06 ms and 4.24 ms"));
    play_free(play);
    play = launches_of("cupy_", false, 300, US(20), US(5)); /* recording from the start: as in C */
    play_expect(play, "launch-bound", 299 * (15e3 - 1.12e3));
    play_free(play);
    play = launches_of("cupy_", true, 300, US(20), US(5));
    const struct le_finding *finding = play_expect(play, "launch-bound", 299 * (15e3 - 1.813e3));
    assert_non_null(strstr(finding->evidence, "between 3.85 ms and 4.04 ms"));
    play_free(play);
    play = launches_of("triton_poi_fused_", true, 300, US(20), US(5));
    finding = play_expect(play, "launch-bound", 299 * (15e3 - 2.68e3));
    assert_non_null(strstr(finding->evidence, "between 3.56 ms and 3.81 ms"));
    play_free(play);
    play = launches_of("triton_poi_fused_", true, 300, US(8), US(5)); /* 3 us, of which 1.1 us would be CUPTI's in C */
    assert_null(play_found(play, "launch-bound"));
    play_free(play);
    play = launches(300, US(8), US(5));
    assert_non_null(play_found(play, "launch-bound"));
    play_free(play);
}

/* The cost grows with the length of the call, up to twice the usual length; a longer call has waited. */
static void recording_takes_more_of_longer_calls(void **state) {
    static const struct {
        uint64_t call_ns;
        double recording_ns;
    } calls[] = {{US(2.1), 1335}, {US(4.2), 2450}, {US(8.4), 4680}, {US(12), 4680}};
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(calls); k++) {
        struct play *play = launches_by("cupy_", true, 300, US(20), US(5), calls[k].call_ns);
        play_expect(play, "launch-bound", 299 * (15e3 - calls[k].recording_ns));
        play_free(play);
        play = launches_by("cupy_", false, 300, US(20), US(5), calls[k].call_ns);
        play_expect(play, "launch-bound", 299 * (15e3 - 1.12e3));
        play_free(play);
    }
}

static void launch_bound_needs_a_quarter(void **state) {
    (void)state;
    struct play *play = launches(300, US(20), US(14)); /* 6 - 1.1 of 18.9: 26 % */
    assert_non_null(play_found(play, "launch-bound"));
    play_free(play);
    play = launches(300, US(20), US(14.5)); /* 4.4 of 18.9: 23 % */
    assert_null(play_found(play, "launch-bound"));
    play_free(play);
    play = launches(300, US(3), US(20)); /* the host is ahead */
    assert_null(play_found(play, "launch-bound"));
    play_free(play);
}

/* Steps, each of `kernels` launches and a wait. */
static struct play *steps(int count, int kernels, uint64_t launch_ns, uint64_t kernel_ns) {
    struct play *play = play_new(own);
    play->launch_ns = launch_ns;
    for (int step = 0; step < count; step++) {
        for (int k = 0; k < kernels; k++) {
            char name[32];
            snprintf(name, sizeof name, "kernel%d", k % 5 * (k % 3 + 1));
            play_launch(play, 1, name, 4, 128, kernel_ns);
        }
        play_wait(play);
    }
    play_end(play);
    return play;
}

static void finds_the_pattern(void **state) {
    (void)state;
    struct play *play = steps(40, 500, US(4), US(1.5)); /* 500 small kernels a step */
    /* a launch takes 4 - 1.1 us, a node 1.0 us, and a graph 8 us */
    const struct le_finding *finding = play_expect(play, "repeating-pattern", 40 * (500 * (2.9e3 - 1e3) - 8e3));
    assert_non_null(strstr(finding->title, "The same 501 calls are made 40 times in a row: "));
    assert_non_null(strstr(finding->evidence, "each time: 500 launches, 1 wait; the first launches kernel0\n"));
    assert_non_null(strstr(finding->evidence, "without it the gain is between "));
    assert_non_null(strstr(finding->advice, "cudaGraphLaunch"));
    play_free(play);
}

static void pattern_needs_turns(void **state) {
    (void)state;
    struct play *play = steps(10, 100, US(8), US(1.5));
    assert_non_null(play_found(play, "repeating-pattern"));
    play_free(play);
    play = steps(9, 100, US(8), US(1.5));
    assert_null(play_found(play, "repeating-pattern"));
    play_free(play);
    play = steps(400, 4, US(8), US(1.5)); /* a graph of four nodes gains nothing */
    assert_null(play_found(play, "repeating-pattern"));
    play_free(play);
    play = steps(40, 100, US(3), US(40)); /* long kernels */
    assert_null(play_found(play, "repeating-pattern"));
    play_free(play);
}

/* The same launch again and again, without waits, is a pattern, too. Random launches are not. */
static void pattern_of_one_and_none(void **state) {
    (void)state;
    struct play *play = play_new(own);
    play->launch_ns = US(10);
    for (int k = 0; k < 2000; k++)
        play_launch(play, 1, "same", 4, 128, US(2));
    play_wait(play);
    play_end(play);
    const struct le_finding *finding = play_expect(play, "repeating-pattern", 2000 * (10e3 - 1.1e3 - 1.5e3) - 4 * 8e3);
    assert_non_null(strstr(finding->title, "The same call is made 2,000 times in a row: "));
    assert_non_null(strstr(finding->evidence, "each time: 1 launch; it launches same\n"));
    assert_non_null(strstr(finding->evidence, " in graphs of 500 launches;"));
    play_free(play);
    play = play_new(own);
    play->launch_ns = US(10);
    uint32_t random = 1;
    for (int k = 0; k < 2000; k++) {
        random = random * 1664525 + 1013904223;
        play_launch(play, 1, random >> 31 ? "one" : "other", 4 + (random >> 28), 128, US(2));
    }
    play_wait(play);
    play_end(play);
    assert_null(play_found(play, "repeating-pattern"));
    play_free(play);
}

static struct play *grids(uint32_t blocks, uint32_t threads, uint64_t kernel_ns, int count) {
    struct play *play = play_new(own);
    for (int k = 0; k < count; k++) {
        play_launch(play, 1, "grid", blocks, threads, kernel_ns);
        play_wait(play);
    }
    play_end(play);
    return play;
}

static void finds_small_grids(void **state) {
    (void)state;
    struct play *play = grids(63, 64, MS(6), 10); /* 4,032 of 270,336 threads */
    const struct le_finding *finding = play_expect(play, "small-grid", 10 * 6e6 * (1 - 4032.0 / 270336));
    assert_int_equal(finding->confidence, LE_LIKELY);
    play_free(play);
    play = grids(263, 256, MS(6), 10); /* 67,328 threads: 24.9 % */
    play_expect(play, "small-grid", 10 * 6e6 * (1 - 67328.0 / 270336));
    play_free(play);
    play = grids(265, 256, MS(6), 10); /* 67,840: 25.1 % */
    assert_null(play_found(play, "small-grid"));
    play_free(play);
    play = grids(63, 64, US(20), 100);
    assert_non_null(play_found(play, "small-grid"));
    play_free(play);
    play = grids(63, 64, US(19), 100); /* short kernels: bound by latency */
    assert_null(play_found(play, "small-grid"));
    play_free(play);
}

/* Small grids that run at the same time fill the device together. */
static void small_grids_together(void **state) {
    (void)state;
    struct play *play = play_new(own);
    play->shared = true;
    for (int k = 0; k < 400; k++)
        play_launch(play, 1 + k % 10, "grid", 132, 64, US(200));
    play_wait(play);
    play_end(play);
    assert_null(play_found(play, "small-grid")); /* 3 % each, ten at once */
    assert_null(play_found(play, "kernels-apart"));
    play_free(play);
}

/* Time for which the host does not wait is not gained. */
static void small_grid_is_capped_by_waits(void **state) {
    (void)state;
    struct play *play = play_new(own);
    for (int k = 0; k < 10; k++) {
        play_launch(play, 1, "grid", 63, 64, MS(6));
        play->host_ns += MS(5);
        play_wait(play);
    }
    play_end(play);
    play_expect(play, "small-grid", 10 * 1e6);
    play_free(play);
}

static void finds_tail_waves(void **state) {
    (void)state;
    /* 256 threads of 32 registers: 8 blocks on each of 132 multiprocessors, 1,056 at once */
    struct play *play = grids(1057, 256, MS(1), 10);
    play_expect(play, "tail-wave", 10 * 1e6 * (2112 - 1057) / 2112.0);
    play_free(play);
    play = grids(1056, 256, MS(1), 10);
    assert_null(play_found(play, "tail-wave"));
    play_free(play);
    play = grids(1689, 256, MS(1), 10); /* 20.03 % lost */
    assert_non_null(
        strstr(play_found(play, "tail-wave")->title, "2 waves of up to 1,056, and the last wave is 60 % full"));
    play_free(play);
    play = grids(1691, 256, MS(1), 10); /* 19.93 % */
    assert_null(play_found(play, "tail-wave"));
    play_free(play);
    play = grids(3 * 1056 + 1, 256, MS(1), 10); /* four waves */
    assert_non_null(play_found(play, "tail-wave"));
    play_free(play);
    play = grids(4 * 1056 + 1, 256, MS(1), 10); /* five: 19.98 % */
    assert_null(play_found(play, "tail-wave"));
    play_free(play);
}

static void knows_occupancy(void **state) {
    (void)state;
    struct le_trace_device device = {.capability_major = 9,
                                     .multiprocessors = 132,
                                     .warp_threads = 32,
                                     .multiprocessor_threads = 2048,
                                     .multiprocessor_blocks = 32,
                                     .multiprocessor_registers = 65536,
                                     .multiprocessor_shared_bytes = 233472};
    struct le_shape shape = {.grid = {1, 1, 1}, .block = {256, 1, 1}, .registers = 32};
    assert_int_equal(le_occupancy_blocks(&device, &shape), 8);
    shape.registers = 64;
    assert_int_equal(le_occupancy_blocks(&device, &shape), 4);
    shape.registers = 65; /* rounded up to 72 per thread */
    assert_int_equal(le_occupancy_blocks(&device, &shape), 3);
    shape.registers = 16;
    shape.dynamic_shared_bytes = 100 << 10; /* with the system's 1 KiB: 2 times 101 KiB of 228 KiB */
    assert_int_equal(le_occupancy_blocks(&device, &shape), 2);
    shape.dynamic_shared_bytes = 0;
    shape.block[0] = 32;
    assert_int_equal(le_occupancy_blocks(&device, &shape), 32);
    shape.block[0] = 0;
    assert_int_equal(le_occupancy_blocks(&device, &shape), 0);
    assert_int_equal(le_occupancy_blocks(&(struct le_trace_device){0}, &shape), 0);
}

static struct play *apart(int streams, uint32_t blocks, bool with_null) {
    struct play *play = play_new(own);
    for (int k = 0; k < 64; k++) {
        play_launch(play, 1 + k % streams, "part", blocks, 256, US(300));
        if (with_null)
            play_launch(play, 0, "null", 1, 32, US(2));
    }
    play_wait(play);
    play_end(play);
    return play;
}

static void finds_kernels_apart(void **state) {
    (void)state;
    struct play *play = apart(4, 300, false); /* 300 of 1,056 blocks */
    play_expect(play, "kernels-apart", 64 * 300e3 * 3 / 4);
    play_free(play);
    play = apart(4, 300, true);
    assert_non_null(strstr(play_found(play, "kernels-apart")->evidence, "null stream"));
    play_free(play);
    play = apart(4, 529, false); /* more than half */
    assert_null(play_found(play, "kernels-apart"));
    play_free(play);
    play = apart(1, 300, false);
    assert_null(play_found(play, "kernels-apart"));
    play_free(play);
}

/* A wait for an event orders kernels, but only within its own process. */
static void another_process_orders_nothing(void **state) {
    (void)state;
    for (int process = 0; process < 2; process++) {
        struct play *play = apart(4, 300, false);
        struct le_wait wait = {.call = play->index.calls.count, .stream = LE_NONE, .kind = LE_TRACE_SYNC_STREAM_EVENT};
        play->index.threads.at[1].process = process;
        play->thread = 1;
        play_call(play, "cudaStreamWaitEvent", LE_CALL_ORDER, US(1));
        play->index.waits.at = &wait;
        play->index.waits.count = 1;
        play_end(play);
        assert_true((play_found(play, "kernels-apart") == NULL) == (process == 0));
        wait.stream = 1;
        wait.call = LE_NONE;
        play->index.streams.at[1].process = process;
        play_end(play);
        assert_true((play_found(play, "kernels-apart") == NULL) == (process == 0));
        play_free(play);
    }
}

static void the_null_stream_waits_for_its_context(void **state) {
    (void)state;
    for (int same = 0; same < 2; same++) {
        struct play *play = apart(4, 300, true);
        play->index.streams.at[0].context = same ? 0 : 9;
        play_end(play);
        assert_true((strstr(play_found(play, "kernels-apart")->evidence, "null stream") != NULL) == same);
        play_free(play);
    }
}

static void play_busy(struct play *play, uint64_t time_ns) {
    play_launch(play, 1, "work", 10560, 256, time_ns);
    play_wait(play);
}

static void gaps_of_launches_have_limits(void **state) {
    (void)state;
    play_expect_when(launches(300, US(195), US(5)), "launch-bound", true); /* 190 us idle */
    play_expect_when(launches(300, US(215), US(5)), "launch-bound", false);
    for (int late = 0; late < 2; late++) { /* a kernel that starts 24 or 26 us after its call */
        struct play *play = launches(300, US(60), US(5));
        for (int32_t k = 0; k < play->index.operations.count; k++) {
            play->index.operations.at[k].start_ns += US(late ? 25 : 23);
            play->index.operations.at[k].end_ns += US(late ? 25 : 23);
        }
        play_end(play);
        play_expect_when(play, "launch-bound", !late);
    }
}

static void a_graph_has_its_costs(void **state) {
    (void)state;
    struct play *play = steps(40, 500, US(4), 600); /* no node is shorter than 0.5 us */
    play_expect(play, "repeating-pattern", 40 * (500 * (2.88e3 - 500) - 8e3));
    play_free(play);
    play = steps(400, 20, US(4), US(1.5)); /* 8 us for its launch */
    play_expect(play, "repeating-pattern", 400 * (20 * (2.88e3 - 1e3) + 2.5e3 - 8e3));
    play_free(play);
    play = steps(40, 500, US(4), US(3.5)); /* the device waited less than 0.3 us, so recording is hidden */
    play_expect(play, "repeating-pattern", 40 * (500 * (4e3 - 200 - 3e3) - 8e3));
    play_free(play);
    play_expect_when(steps(40, 500, US(7), US(6.5)), "repeating-pattern", true); /* 0.8 us of 6.8: 11 % */
    play_expect_when(steps(40, 500, US(10), US(9.5)), "repeating-pattern", false);
    play_expect_when(steps(400, 5, US(8), US(1.5)), "repeating-pattern", true);
    play = play_new(own); /* all launches are the same: graphs of 500 launches */
    for (int k = 0; k < 2000; k++)
        play_launch(play, 1, "same", 4, 128, 600);
    play_wait(play);
    play_end(play);
    assert_non_null(strstr(play_found(play, "repeating-pattern")->title, ", or 1.03 ms as CUDA graphs"));
    play_free(play);
}

/* The kernels, followed by other work of this length. */
static struct play *beside(uint32_t blocks, int count, uint64_t kernel_ns, uint64_t work_ns) {
    struct play *play = play_new(own);
    for (int k = 0; k < count; k++) {
        play_launch(play, 1, "grid", blocks, 256, kernel_ns);
        play_wait(play);
    }
    play_busy(play, work_ns);
    play_end(play);
    return play;
}

static void grids_have_to_be_a_part_of_the_whole(void **state) {
    (void)state;
    play_expect_when(beside(63, 10, MS(6), MS(1100)), "small-grid", true); /* 5.2 % */
    play_expect_when(beside(63, 10, MS(6), MS(1180)), "small-grid", false);
    play_expect_when(beside(1057, 10, MS(1), MS(180)), "tail-wave", true); /* 5.3 % */
    play_expect_when(beside(1057, 10, MS(1), MS(195)), "tail-wave", false);
    play_expect_when(grids(1057, 256, US(21), 200), "tail-wave", true);
    play_expect_when(grids(1057, 256, US(19), 200), "tail-wave", false);
}

/* Kernels in four streams, each of which overlaps the next for `shared_ns`; then work that fills the device. */
static struct play *parts(int count, uint64_t kernel_ns, uint64_t shared_ns, uint64_t work_ns) {
    struct play *play = play_new(own);
    play->shared = true;
    for (int k = 0; k < count; k++) {
        play_launch(play, 1 + k % 4, "part", 300, 256, kernel_ns);
        play->host_ns += kernel_ns - shared_ns - play->launch_ns;
    }
    play_wait(play);
    if (work_ns)
        play_busy(play, work_ns);
    play_end(play);
    return play;
}

static void kernels_apart_have_limits(void **state) {
    (void)state;
    play_expect_when(parts(64, US(21), 0, 0), "kernels-apart", true);
    play_expect_when(parts(64, US(19), 0, 0), "kernels-apart", false);
    play_expect_when(parts(64, US(300), US(27), 0), "kernels-apart", true); /* 9 % shared */
    play_expect_when(parts(64, US(300), US(33), 0), "kernels-apart", false);
    play_expect_when(parts(8, US(300), 0, 0), "kernels-apart", true);
    play_expect_when(parts(7, US(300), 0, 0), "kernels-apart", false);
    play_expect_when(parts(64, US(300), 0, MS(165)), "kernels-apart", true); /* 10.4 % of the whole */
    play_expect_when(parts(64, US(300), 0, MS(180)), "kernels-apart", false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_launch_bound),
        cmocka_unit_test(launch_bound_needs_a_quarter),
        cmocka_unit_test(finds_the_pattern),
        cmocka_unit_test(pattern_needs_turns),
        cmocka_unit_test(pattern_of_one_and_none),
        cmocka_unit_test(finds_small_grids),
        cmocka_unit_test(small_grids_together),
        cmocka_unit_test(small_grid_is_capped_by_waits),
        cmocka_unit_test(finds_tail_waves),
        cmocka_unit_test(knows_occupancy),
        cmocka_unit_test(finds_kernels_apart),
        cmocka_unit_test(recording_takes_more_of_python),
        cmocka_unit_test(recording_takes_more_of_longer_calls),
        cmocka_unit_test(another_process_orders_nothing),
        cmocka_unit_test(the_null_stream_waits_for_its_context),
        cmocka_unit_test(gaps_of_launches_have_limits),
        cmocka_unit_test(a_graph_has_its_costs),
        cmocka_unit_test(grids_have_to_be_a_part_of_the_whole),
        cmocka_unit_test(kernels_apart_have_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
