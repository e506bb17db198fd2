/* Rules about copies: known answers, and thresholds from both sides. */
#include "trace/rules/index_testing.h"

static const char *const own = "/home/u/app";
enum { MIB = 1 << 20 };
static const uint64_t piece = 40000000; /* bytes */
static const double size = 40000000;

/* Long kernels, so that rules about proportions find nothing. */
static void play_busy(struct play *play, uint64_t time_ns) {
    play_launch(play, 1, "work", 10560, 256, time_ns);
    play_wait(play);
}

static void finds_pageable_copies(void **state) {
    (void)state;
    struct play *play = play_new(own);
    for (int k = 0; k < 20; k++) {
        play_copy(play, (struct played_copy){.up = true, .bytes = piece, .host = 0x1000, .stream = 1});
        play_busy(play, MS(20));
    }
    play_end(play);
    const struct le_finding *finding = play_expect(play, "pageable-copy", 20 * (size / 9 - size / 55));
    assert_int_equal(finding->confidence, LE_LIKELY); /* the 40 MB are pinned only once */
    assert_non_null(strstr(finding->advice, "cudaMallocHost"));
    play_free(play);
}

/* Pinned memory is assumed to be as fast as the best pageable copy in the trace. */
static void pageable_copies_give_a_rate(void **state) {
    (void)state;
    struct play *play = play_new(own);
    for (int k = 0; k < 20; k++) {
        play_copy(play, (struct played_copy){.up = true, .bytes = piece, .host = 0x1000, .stream = 1});
        play_busy(play, MS(20));
        play_copy(play, (struct played_copy){.bytes = piece, .host = 0x1000, .stream = 1, .rate = 80});
        play_busy(play, MS(20));
    }
    play_end(play);
    const struct le_finding *finding = play_expect(play, "pageable-copy", 20 * (size / 9 - size / 80));
    assert_non_null(strstr(finding->title, "(9.0 GB/s to the device, 80 GB/s to the host); pinned memory reaches 80"));
    play_free(play);
}

static void pageable_has_its_limits(void **state) {
    (void)state;
    for (int known = 0; known < 2; known++) { /* each buffer is used once, so pinning may not pay */
        struct play *play = play_new(own);
        for (uint64_t k = 0; k < 20; k++) {
            play_copy(play, (struct played_copy){
                                .up = true, .bytes = piece, .stream = 1, .host = known ? 0x1000 + k * piece : 0});
            play_busy(play, MS(20));
        }
        play_end(play);
        assert_int_equal(play_found(play, "pageable-copy")->confidence, LE_PLAUSIBLE);
        play_free(play);
    }
    for (int small = 0; small < 2; small++) {
        struct play *play = play_new(own);
        for (int k = 0; k < 50; k++) {
            play_copy(play, (struct played_copy){.up = true, .bytes = 65537 - (uint64_t)small, .stream = 1});
            play_busy(play, US(50));
        }
        play_end(play);
        assert_true((play_found(play, "pageable-copy") == NULL) == small);
        play_free(play);
    }
    struct play *play = play_new(own); /* pinned copies are not pageable */
    play_copy(play, (struct played_copy){.up = true, .pinned = true, .bytes = piece, .stream = 1});
    play_busy(play, MS(20));
    play_end(play);
    play_expect_none(play);
    play_free(play);
}

static void finds_blocked_async(void **state) {
    (void)state;
    struct play *play = play_new(own);
    for (int k = 0; k < 20; k++) {
        play_copy(play, (struct played_copy){.up = true, .async = true, .bytes = 4 * MIB, .stream = 1});
        play_busy(play, MS(3));
    }
    play_end(play);
    play_expect(play, "blocked-async",
                20 * (4 * MIB / 9.0 - 0.5e3)); /* without the call itself and what comes after it */
    play_free(play);
    for (int variant = 0; variant < 2; variant++) { /* not asynchronous; pinned */
        play = play_new(own);
        for (int k = 0; k < 20; k++) {
            play_copy(play, (struct played_copy){
                                .up = true, .async = variant, .pinned = variant, .bytes = 4 * MIB, .stream = 1});
            play_busy(play, MS(3));
        }
        play_end(play);
        assert_null(play_found(play, "blocked-async"));
        play_free(play);
    }
    for (int fast = 0; fast < 2; fast++) { /* calls of 50 us and below */
        play = play_new(own);
        for (int k = 0; k < 50; k++) {
            play_copy(play, (struct played_copy){.up = true, .async = true, .bytes = fast ? 350000 : 400000});
            play_busy(play, US(100));
        }
        play_end(play);
        assert_true((play_found(play, "blocked-async") == NULL) == fast);
        play_free(play);
    }
}

/* A product is launched 3,000 times and then copied back: the copy looks slow. */
static void finds_the_blamed_copy(void **state) {
    (void)state;
    struct play *play = play_new(own);
    for (int k = 0; k < 3000; k++)
        play_launch(play, 1, "matmul", 1024, 256, US(63));
    uint64_t before_ns = play->host_ns;
    play_copy(play, (struct played_copy){.bytes = MIB, .stream = 1});
    uint64_t took_ns = play->host_ns - before_ns;
    play_end(play);
    const struct le_finding *finding = play_found(play, "blamed-wait");
    assert_non_null(finding);
    assert_int_equal(finding->gain_ns, 0);
    assert_true(took_ns > MS(170));
    assert_non_null(strstr(finding->title, "cuMemcpy is not slow: 180 ms of its 180 ms"));
    assert_non_null(strstr(finding->evidence, "1 call waited for 3,000 kernels, mostly for matmul"));
    assert_non_null(strstr(finding->evidence, "the copies themselves took 63.2 us"));
    play_free(play);
}

static void blame_has_its_limits(void **state) {
    (void)state;
    for (int waits = 0; waits < 2; waits++) { /* waits: 50 launches are not enough */
        struct play *play = play_new(own);
        for (int k = 0; k < 50; k++)
            play_launch(play, 1, "matmul", 1024, 256, US(100));
        if (waits)
            play_wait(play);
        play_copy(play, (struct played_copy){.pinned = true, .bytes = MIB, .stream = 1});
        play_end(play);
        assert_true((play_found(play, "blamed-wait") == NULL) == waits);
        play_free(play);
    }
    for (int launches = 99; launches <= 100; launches++) { /* a wait needs many launches */
        struct play *play = play_new(own);
        for (int k = 0; k < launches; k++)
            play_launch(play, 1, "matmul", 1024, 256, US(100));
        play_wait(play);
        play_end(play);
        assert_true((play_found(play, "blamed-wait") != NULL) == (launches == 100));
        play_free(play);
    }
}

static struct play *transfers(uint64_t bytes, uint64_t kernel_ns, bool again) {
    struct play *play = play_new(own);
    for (uint64_t k = 0; k < 20; k++) {
        play_copy(play,
                  (struct played_copy){
                      .up = true, .pinned = true, .bytes = bytes, .stream = 1, .host = again ? 8 : 8 + k * bytes});
        play_busy(play, kernel_ns);
    }
    play_end(play);
    return play;
}

static void finds_transfer_bound(void **state) {
    (void)state;
    struct play *play = transfers(piece, US(500), false); /* 727 us up, 500 us of kernels */
    play_expect(play, "transfer-bound", 20 * 500e3);
    play_free(play);
    play = transfers(piece, US(200), true); /* the same memory 19 times more */
    play_expect(play, "transfer-bound", 19 * size / 55);
    play_free(play);
    play = transfers(piece, US(700), false);
    assert_non_null(play_found(play, "transfer-bound"));
    play_free(play);
    play = transfers(piece, US(760), false); /* 49 % */
    assert_null(play_found(play, "transfer-bound"));
    play_free(play);
}

/* Copies from the device to itself count as work, like kernels. */
static void transfers_cross_the_bus(void **state) {
    (void)state;
    for (int within = 0; within < 2; within++) {
        struct play *play = play_new(own);
        play_copy(play, (struct played_copy){.up = true, .bytes = 4, .stream = 1});
        for (int k = 0; k < 20; k++) {
            play_copy(play, (struct played_copy){.up = true, .pinned = true, .bytes = piece, .stream = 1});
            play_busy(play, US(500));
        }
        for (int32_t k = 0; k < play->index.shapes.count && within; k++)
            if (play->index.shapes.at[k].from == LE_TRACE_PINNED)
                play->index.shapes.at[k].direction = LE_TRACE_DTOD;
        play_end(play);
        assert_true((play_found(play, "transfer-bound") == NULL) == within);
        play_free(play);
    }
}

static struct play *small(int count, uint64_t bytes) {
    struct play *play = play_new(own);
    for (int k = 0; k < count; k++) {
        play_copy(play, (struct played_copy){.up = true, .pinned = true, .bytes = bytes, .stream = 1});
        play_launch(play, 1, "work", 10560, 256, US(20));
    }
    play_wait(play);
    play_end(play);
    return play;
}

static void finds_small_copies(void **state) {
    (void)state;
    struct play *play = play_new(own);
    for (int k = 0; k < 1000; k++)
        play_copy(play, (struct played_copy){.up = true, .pinned = true, .bytes = 400, .stream = 1});
    play_busy(play, MS(60));
    play_end(play);
    play_expect(play, "small-copies", 1000 * (6e3 + 1.5e3 + 1e3 - 1.12e3)); /* 1.12 us are CUPTI's */
    play_free(play);
    play = play_new(own); /* with the host's own time between them */
    for (int k = 0; k < 1000; k++, play->host_ns += US(20))
        play_copy(play, (struct played_copy){.up = true, .pinned = true, .bytes = 400, .stream = 1});
    play_busy(play, MS(60));
    play_end(play);
    play_expect(play, "small-copies", 1000 * (28.5e3 - 1.12e3));
    play_free(play);
    play = small(100, 1000);
    assert_non_null(play_found(play, "small-copies"));
    play_free(play);
    play = small(99, 1000);
    assert_null(play_found(play, "small-copies"));
    play_free(play);
    play = small(100, 65536);
    assert_non_null(play_found(play, "small-copies"));
    play_free(play);
    play = small(100, 65537);
    assert_null(play_found(play, "small-copies"));
    play_free(play);
}

/* The recorder takes 2.3 us for each sampled copy, but no more than it measured in total. */
static void subtracts_the_cost_of_samples(void **state) {
    (void)state;
    for (int part = 1; part <= 4; part++) {
        struct play *play = play_new(own);
        play->source = play_source(play, "/home/u/app.py", 3, LE_NONE);
        for (int k = 0; k < 1000; k++)
            play_copy(play, (struct played_copy){
                                .up = true, .pinned = true, .bytes = 400, .host = 64, .sample = 7, .stream = 1});
        play_busy(play, MS(60));
        play->index.processes.at[0].recorder_ns = (uint64_t)part * 1000 * 2300 / 2;
        play_end(play);
        play_expect(play, "small-copies", 1000 * (8.5e3 - 1.12e3 - (part < 2 ? 1.15e3 : 2.3e3)));
        play_free(play);
    }
}

/* For a Python program that switches recording on. */
static void recording_takes_more_of_copies_of_python(void **state) {
    (void)state;
    for (int is_async = 0; is_async <= 1; is_async++) {
        struct play *play = play_new(own);
        play->index.processes.at[0].is_switched = true;
        for (int k = 0; k < 1000; k++)
            play_copy(play, (struct played_copy){
                                .up = true, .pinned = true, .async = is_async, .bytes = 400, .host = 64, .stream = 1});
        play_launch(play, 1, "cupy_work", 10560, 256, MS(10));
        play_wait(play);
        play_end(play);
        play_expect(play, "small-copies", 1000 * (is_async ? 6e3 - 4.742e3 - .22e3 : 8.5e3 - 2.45e3 - .22e3));
        play_free(play);
    }
}

static struct play *trips(int count, uint64_t bytes, bool changed) {
    struct play *play = play_new(own);
    for (uint64_t k = 0; k < (uint64_t)count; k++) {
        play_busy(play, MS(5));
        struct played_copy copy = {.bytes = bytes, .host = 64, .sample = 100 + k, .stream = 1, .pinned = true};
        play_copy(play, copy);
        copy.up = true;
        copy.sample += changed ? 1000 : 0;
        play_copy(play, copy);
    }
    play_end(play);
    return play;
}

static void finds_round_trips(void **state) {
    (void)state;
    struct play *play = trips(10, piece, false);
    play_expect(play, "round-trip", 10 * 2 * size / 55);
    assert_non_null(strstr(play_found(play, "round-trip")->title,
                           "400 MB were copied to the host in 10 copies and back unchanged in 10"));
    play_free(play);
    play = play_new(own); /* bytes are copied to the host once and back several times */
    struct played_copy copy = {.bytes = piece, .host = 64, .sample = 100, .stream = 1, .pinned = true};
    for (int k = 0; k <= 10; k++, copy.up = true) {
        play_busy(play, MS(1));
        play_copy(play, copy);
    }
    play_end(play);
    const char *title = play_expect(play, "round-trip", 11 * size / 55)->title;
    assert_non_null(strstr(title, "40.0 MB were copied to the host in 1 copy and back unchanged in 10"));
    play_free(play);
    play = trips(10, piece, true);
    assert_null(play_found(play, "round-trip"));
    play_free(play);
    play = trips(2, piece, false);
    assert_non_null(play_found(play, "round-trip"));
    play_free(play);
    play = trips(1, piece, false);
    assert_null(play_found(play, "round-trip"));
    play_free(play);
    play = trips(4000, 4095, false);
    assert_null(play_found(play, "round-trip"));
    play_free(play);
}

/* Ten arrays: up, kernels, down. */
static struct play *normalise(int turns, int arrays, int streams, bool pinned, uint64_t bytes) {
    struct play *play = play_new(own);
    for (int turn = 0; turn < turns; turn++) {
        for (int k = 0; k < arrays; k++) {
            int stream = streams == 0 ? 0 : 1 + k % streams;
            struct played_copy copy = {.up = true,
                                       .pinned = pinned,
                                       .async = true,
                                       .bytes = bytes,
                                       .stream = stream,
                                       .host = 0x1000 + (uint64_t)k * bytes};
            play_copy(play, copy);
            play_launch(play, stream, "sum", 1056, 256, US(20));
            play_launch(play, stream, "divide", 1056, 256, US(30));
            copy.up = false;
            play_copy(play, copy);
        }
        play_wait(play);
    }
    play_end(play);
    return play;
}

static void finds_no_overlap(void **state) {
    (void)state;
    /* now: 10 * (4.44 + 0.05 + 2.35) ms per turn. Then: 400 MB to the device at 55 GB/s, both directions at 101 GB/s,
     * and a tenth of the rest. */
    double turn = 10 * (size / 9 + 50e3 + size / 17 + 10e3);
    double then = 20 * size / (2 * 55 * 0.92) + (10 * size / 55 + 500e3) / 10;
    struct play *play = normalise(5, 10, 1, false, piece);
    const struct le_finding *finding = play_expect(play, "no-overlap", 5 * (turn - then));
    assert_non_null(strstr(finding->evidence, "reason: the copies use pageable memory"));
    play_free(play);
    play = normalise(5, 10, 1, true, piece);
    turn = 10 * (2 * size / 55 + 50e3 + 10e3);
    finding = play_expect(play, "no-overlap", 5 * (turn - then));
    assert_non_null(strstr(finding->evidence, "in one stream"));
    play_free(play);
    play = normalise(5, 10, 0, true, piece);
    assert_non_null(strstr(play_found(play, "no-overlap")->evidence, "in the null stream"));
    play_free(play);
}

static void no_overlap_has_its_limits(void **state) {
    (void)state;
    struct play *play = normalise(5, 10, 10, true, piece); /* as advised */
    assert_null(play_found(play, "no-overlap"));
    play_free(play);
    play = normalise(5, 4, 1, true, piece);
    assert_non_null(play_found(play, "no-overlap"));
    play_free(play);
    play = normalise(5, 3, 1, true, piece);
    assert_null(play_found(play, "no-overlap"));
    play_free(play);
    play = normalise(5, 10, 1, true, MIB);
    assert_non_null(play_found(play, "no-overlap"));
    play_free(play);
    play = normalise(5, 10, 1, true, MIB - 1);
    assert_null(play_found(play, "no-overlap"));
    play_free(play);
}

static struct play *blamed(uint64_t kernel_ns, uint64_t bytes, uint64_t work_ns) {
    struct play *play = play_new(own);
    play_launch(play, 1, "before", 10560, 256, kernel_ns);
    play_copy(play, (struct played_copy){.pinned = true, .bytes = bytes, .stream = 1});
    play_busy(play, work_ns);
    play_end(play);
    return play;
}

static void blame_is_for_much(void **state) {
    (void)state;
    play_expect_when(blamed(MS(9), 330000000, MS(1)), "blamed-wait", true); /* 9 ms of 15 */
    play_expect_when(blamed(MS(4), 330000000, MS(1)), "blamed-wait", false);
    play_expect_when(blamed(MS(10), 4, MS(180)), "blamed-wait", true); /* 5.3 % of the whole */
    play_expect_when(blamed(MS(10), 4, MS(210)), "blamed-wait", false);
}

static void enqueueing_is_left_to_async_copies(void **state) {
    (void)state;
    struct play *play = play_new(own);
    for (int k = 0; k < 100; k++) { /* calls of 60 us */
        play_copy(play, (struct played_copy){.up = true, .async = true, .bytes = 463500, .stream = 1});
        play_busy(play, US(100));
    }
    play_end(play);
    play_expect(play, "blocked-async", 100 * (60e3 - 8e3));
    play_free(play);
}

static void pinning_has_to_pay(void **state) {
    (void)state;
    for (int uses = 3; uses <= 4; uses++) { /* 11.3 ms, against 3.7 each */
        struct play *play = play_new(own);
        for (int k = 0; k < uses; k++)
            play_copy(play, (struct played_copy){.up = true, .bytes = piece, .host = 0x1000, .stream = 1});
        play_busy(play, MS(20));
        play_end(play);
        assert_int_equal(play_found(play, "pageable-copy")->confidence, uses == 4 ? LE_LIKELY : LE_PLAUSIBLE);
        play_free(play);
    }
}

/* Twenty pieces in one stream, 0.5 ms each way, with the host's time after each. */
static struct play *pieces(uint64_t kernel_ns, uint64_t host_ns) {
    struct play *play = play_new(own);
    for (uint64_t k = 0; k < 20; k++) {
        struct played_copy copy = {.up = true, .pinned = true, .bytes = 27500000, .stream = 1, .host = 64 + k};
        play_copy(play, copy);
        play_launch(play, 1, "sum", 10560, 256, kernel_ns);
        copy.up = false;
        play_copy(play, copy);
        play->host_ns += host_ns;
    }
    play_end(play);
    return play;
}

static uint64_t gain_of_pieces(uint64_t host_ns) {
    struct play *play = pieces(US(500), host_ns);
    uint64_t gain_ns = play_found(play, "no-overlap")->gain_ns;
    play_free(play);
    return gain_ns;
}

static void short_pauses_between_pieces_go(void **state) {
    (void)state;
    uint64_t gain_ns = gain_of_pieces(0);
    assert_true(gain_of_pieces(US(150)) > gain_ns + 19 * US(140));
    assert_true(gain_of_pieces(US(250)) < gain_ns);
    play_expect_when(pieces(MS(5), 0), "no-overlap", true); /* 16 % */
    play_expect_when(pieces(MS(6), 0), "no-overlap", false);
}

static struct play *scattered(int count, uint64_t pause_ns, uint64_t work_ns) {
    struct play *play = play_new(own);
    for (int k = 0; k < count; k++, play->host_ns += pause_ns)
        play_copy(play, (struct played_copy){.up = true, .pinned = true, .bytes = 400, .stream = 1});
    play_busy(play, work_ns);
    play_end(play);
    return play;
}

static void small_copies_have_limits(void **state) {
    (void)state;
    struct play *play = scattered(1000, US(60), MS(10)); /* the pauses are the host's own work */
    play_expect(play, "small-copies", 1000 * (8.5e3 - 1.12e3));
    play_free(play);
    play_expect_when(scattered(100, 0, MS(12)), "small-copies", true); /* 5.8 % */
    play_expect_when(scattered(100, 0, MS(17)), "small-copies", false);
}

static void trips_of_few_bytes_are_chance(void **state) {
    (void)state;
    for (uint64_t bytes = 4095; bytes <= 4096; bytes++) {
        struct play *play = play_new(own);
        for (int k = 0; k < 1000; k++)
            play_copy(play, (struct played_copy){
                                .up = k & 1, .bytes = bytes, .host = 64, .sample = 7, .stream = 1, .pinned = true});
        play_end(play);
        play_expect_when(play, "round-trip", bytes == 4096);
    }
}

static void transfers_have_to_be_a_quarter(void **state) {
    (void)state;
    for (int much = 0; much < 2; much++) { /* 14.5 ms of 66 or of 56 */
        struct play *play = play_new(own);
        for (int k = 0; k < 20; k++)
            play_copy(play, (struct played_copy){.up = true, .pinned = true, .bytes = piece, .stream = 1});
        play->host_ns += MS(much ? 40 : 50);
        play_busy(play, MS(1));
        play_end(play);
        play_expect_when(play, "transfer-bound", much);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_pageable_copies),
        cmocka_unit_test(pageable_copies_give_a_rate),
        cmocka_unit_test(pageable_has_its_limits),
        cmocka_unit_test(finds_blocked_async),
        cmocka_unit_test(finds_the_blamed_copy),
        cmocka_unit_test(blame_has_its_limits),
        cmocka_unit_test(finds_transfer_bound),
        cmocka_unit_test(finds_small_copies),
        cmocka_unit_test(finds_round_trips),
        cmocka_unit_test(subtracts_the_cost_of_samples),
        cmocka_unit_test(recording_takes_more_of_copies_of_python),
        cmocka_unit_test(finds_no_overlap),
        cmocka_unit_test(no_overlap_has_its_limits),
        cmocka_unit_test(transfers_cross_the_bus),
        cmocka_unit_test(blame_is_for_much),
        cmocka_unit_test(enqueueing_is_left_to_async_copies),
        cmocka_unit_test(pinning_has_to_pay),
        cmocka_unit_test(short_pauses_between_pieces_go),
        cmocka_unit_test(small_copies_have_limits),
        cmocka_unit_test(trips_of_few_bytes_are_chance),
        cmocka_unit_test(transfers_have_to_be_a_quarter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
