/* Rules about launches and kernels: known answers, and thresholds from both sides. */
#include "trace/rules/index_testing.h"
#include "trace/rules/occupancy.h"

static const char *const own = "/home/u/app";

static struct play *launches_of(const char *library, bool is_switched, int count, uint64_t launch_ns,
                                uint64_t kernel_ns) {
    struct play *play = play_new(own);
    play->index.processes.at[0].is_switched = is_switched;
    for (int k = 0; k < count; k++) {
        char name[32];
        snprintf(name, sizeof name, "%skernel%d", library, k * 7 % 61); /* no pattern of few */
        play_launch(play, 1, name, 2000, 256, kernel_ns);
        play->host_ns += launch_ns - play->launch_ns;
    }
    play_wait(play);
    play_end(play);
    return play;
}

/* The device idles while the host takes `launch` for each kernel of `kernel`, most of it its own code. */
static struct play *launches(int count, uint64_t launch_ns, uint64_t kernel_ns) {
    return launches_of("", false, count, launch_ns, kernel_ns);
}

static void finds_launch_bound(void **state) {
    (void)state;
    struct play *play = launches(300, US(20), US(5)); /* 15 us idle before each, 1.1 of them CUPTI's */
    play_expect(play, "launch-bound", 299 * (15e3 - 1.1e3));
    play_free(play);
    play = launches(51, US(20), US(5));
    assert_non_null(play_found(play, "launch-bound"));
    play_free(play);
    play = launches(50, US(20), US(5)); /* 49 gaps */
    assert_null(play_found(play, "launch-bound"));
    play_free(play);
}

/* Where the program switches recording on, a launch of CuPy's takes 1.7 to 3.4 us more, of PyTorch's 2.1 to 3.8, and
 * the call's 0.22; what recording cannot have taken, it has not. */
static void recording_takes_more_of_python(void **state) {
    (void)state;
    struct play *play = launches(300, US(20), US(5));
    assert_non_null(strstr(play_found(play, "launch-bound")->evidence, "4.06 ms to 4.24 ms would be gained"));
    play_free(play);
    play = launches_of("cupy_", false, 300, US(20), US(5)); /* from the start: as C's */
    play_expect(play, "launch-bound", 299 * (15e3 - 1.12e3));
    play_free(play);
    play = launches_of("cupy_", true, 300, US(20), US(5));
    const struct le_finding *finding = play_expect(play, "launch-bound", 299 * (15e3 - 2.77e3));
    assert_non_null(strstr(finding->evidence, "3.40 ms to 3.91 ms would be gained"));
    play_free(play);
    play = launches_of("triton_poi_fused_", true, 300, US(20), US(5));
    finding = play_expect(play, "launch-bound", 299 * (15e3 - 3.17e3));
    assert_non_null(strstr(finding->evidence, "3.28 ms to 3.79 ms would be gained"));
    play_free(play);
    play =
        launches_of("triton_poi_fused_", true, 300, US(8), US(5)); /* 3 us, of which a program of C's would lose 1.1 */
    assert_null(play_found(play, "launch-bound"));
    play_free(play);
    play = launches(300, US(8), US(5));
    assert_non_null(play_found(play, "launch-bound"));
    play_free(play);
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

/* Steps of `kernels` launches and a wait. */
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
    /* a launch 4 - 1.1 us, a node 1.0 us, and 8 us for the graph */
    const struct le_finding *finding = play_expect(play, "repeating-pattern", 40 * (500 * (2.9e3 - 1e3) - 8e3));
    assert_non_null(strstr(finding->title, "The same 501 calls 40 times"));
    assert_non_null(strstr(finding->evidence, " would be gained"));
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
    play = steps(400, 4, US(8), US(1.5)); /* a graph of four is no gain */
    assert_null(play_found(play, "repeating-pattern"));
    play_free(play);
    play = steps(40, 100, US(3), US(40)); /* long kernels */
    assert_null(play_found(play, "repeating-pattern"));
    play_free(play);
}

/* Launches without waits and without two alike are a pattern, too; random ones are not. */
static void pattern_of_one_and_none(void **state) {
    (void)state;
    struct play *play = play_new(own);
    play->launch_ns = US(10);
    for (int k = 0; k < 2000; k++)
        play_launch(play, 1, "same", 4, 128, US(2));
    play_wait(play);
    play_end(play);
    play_expect(play, "repeating-pattern", 2000 * (10e3 - 1.1e3 - 1.5e3) - 4 * 8e3);
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
    play = grids(63, 64, US(19), 100); /* short: its latency */
    assert_null(play_found(play, "small-grid"));
    play_free(play);
}

/* Small grids that run side by side fill the device together. */
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

/* What the host does not wait for is not won. */
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
    assert_non_null(play_found(play, "tail-wave"));
    play_free(play);
    play = grids(1691, 256, MS(1), 10); /* 19.93 % */
    assert_null(play_found(play, "tail-wave"));
    play_free(play);
    play = grids(5 * 1056 + 1, 256, MS(1), 10); /* six waves */
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
    shape.registers = 65; /* 72 a thread, by the unit */
    assert_int_equal(le_occupancy_blocks(&device, &shape), 3);
    shape.registers = 16;
    shape.dynamic_shared_bytes = 100 << 10; /* with the system's 1 KiB, 2 times 101 of 228 */
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_launch_bound),      cmocka_unit_test(launch_bound_needs_a_quarter),
        cmocka_unit_test(finds_the_pattern),       cmocka_unit_test(pattern_needs_turns),
        cmocka_unit_test(pattern_of_one_and_none), cmocka_unit_test(finds_small_grids),
        cmocka_unit_test(small_grids_together),    cmocka_unit_test(small_grid_is_capped_by_waits),
        cmocka_unit_test(finds_tail_waves),        cmocka_unit_test(knows_occupancy),
        cmocka_unit_test(finds_kernels_apart),     cmocka_unit_test(recording_takes_more_of_python),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
