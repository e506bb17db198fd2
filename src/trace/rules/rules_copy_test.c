/* Rules about copies: known answers, and thresholds from both sides. */
#include "trace/rules/index_testing.h"

static const char *const own = "/home/u/app";
enum { MIB = 1 << 20 };
static const uint64_t piece = 40000000; /* bytes */
static const double size = 40000000;

/* So that the rules about proportions are quiet: kernels that take long. */
static void work(struct play *play, uint64_t time_ns) {
    play_launch(play, 1, "work", 10560, 256, time_ns);
    play_wait(play);
}

static void finds_pageable_copies(void **state) {
    (void)state;
    struct play *play = play_new(own);
    for (int k = 0; k < 20; k++) {
        play_copy(play, (struct played_copy){.up = true, .bytes = piece, .host = 0x1000, .stream = 1});
        work(play, MS(20));
    }
    play_end(play);
    const struct le_finding *finding = play_expect(play, "pageable-copy", 20 * (size / 9 - size / 55));
    assert_int_equal(finding->confidence, LE_LIKELY); /* 40 MB to pin, once */
    assert_non_null(strstr(finding->advice, "cudaMallocHost"));
    play_free(play);
}

static void pageable_has_its_limits(void **state) {
    (void)state;
    for (int known = 0; known < 2; known++) { /* each memory used once: pinning it may not pay */
        struct play *play = play_new(own);
        for (uint64_t k = 0; k < 20; k++) {
            play_copy(play, (struct played_copy){
                                .up = true, .bytes = piece, .stream = 1, .host = known ? 0x1000 + k * piece : 0});
            work(play, MS(20));
        }
        play_end(play);
        assert_int_equal(play_found(play, "pageable-copy")->confidence, LE_PLAUSIBLE);
        play_free(play);
    }
    for (int small = 0; small < 2; small++) {
        struct play *play = play_new(own);
        for (int k = 0; k < 50; k++) {
            play_copy(play, (struct played_copy){.up = true, .bytes = 65537 - (uint64_t)small, .stream = 1});
            work(play, US(50));
        }
        play_end(play);
        assert_true((play_found(play, "pageable-copy") == NULL) == small);
        play_free(play);
    }
    struct play *play = play_new(own); /* pinned ones are none */
    play_copy(play, (struct played_copy){.up = true, .pinned = true, .bytes = piece, .stream = 1});
    work(play, MS(20));
    play_end(play);
    play_expect_none(play);
    play_free(play);
}

static void finds_blocked_async(void **state) {
    (void)state;
    struct play *play = play_new(own);
    for (int k = 0; k < 20; k++) {
        play_copy(play, (struct played_copy){.up = true, .async = true, .bytes = 4 * MIB, .stream = 1});
        work(play, MS(3));
    }
    play_end(play);
    play_expect(play, "blocked-async", 20 * (4 * MIB / 9.0 - 0.5e3)); /* less the call, and what comes after */
    play_free(play);
    for (int variant = 0; variant < 2; variant++) { /* not asynchronous; pinned */
        play = play_new(own);
        for (int k = 0; k < 20; k++) {
            play_copy(play, (struct played_copy){
                                .up = true, .async = variant, .pinned = variant, .bytes = 4 * MIB, .stream = 1});
            work(play, MS(3));
        }
        play_end(play);
        assert_null(play_found(play, "blocked-async"));
        play_free(play);
    }
    for (int fast = 0; fast < 2; fast++) { /* calls of 50 us and below */
        play = play_new(own);
        for (int k = 0; k < 50; k++) {
            play_copy(play, (struct played_copy){.up = true, .async = true, .bytes = fast ? 350000 : 400000});
            work(play, US(100));
        }
        play_end(play);
        assert_true((play_found(play, "blocked-async") == NULL) == fast);
        play_free(play);
    }
}

/* A product launched 3,000 times, then copied back: the copy looks slow. */
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
    assert_non_null(strstr(finding->evidence, "3,000 kernels, most of all for matmul"));
    assert_non_null(strstr(finding->evidence, "the copies themselves took 63.2 us"));
    play_free(play);
}

static void blame_has_its_limits(void **state) {
    (void)state;
    for (int waits = 0; waits < 2; waits++) { /* waited for first: nobody is blamed for 50 launches */
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
    for (int launches = 99; launches <= 100; launches++) { /* a wait alone has to be for many */
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
        work(play, kernel_ns);
    }
    play_end(play);
    return play;
}

static void finds_transfer_bound(void **state) {
    (void)state;
    struct play *play = transfers(piece, US(500), false); /* 727 us up, 500 us of kernels */
    play_expect(play, "transfer-bound", 20 * 500e3);
    play_free(play);
    play = transfers(piece, US(200), true); /* the same again 19 times */
    play_expect(play, "transfer-bound", 19 * size / 55);
    play_free(play);
    play = transfers(piece, US(700), false);
    assert_non_null(play_found(play, "transfer-bound"));
    play_free(play);
    play = transfers(piece, US(760), false); /* 49 % */
    assert_null(play_found(play, "transfer-bound"));
    play_free(play);
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
    work(play, MS(60));
    play_end(play);
    play_expect(play, "small-copies", 1000 * (6e3 + 1.5e3 + 1e3 - 1.12e3)); /* 1.12: CUPTI's */
    play_free(play);
    play = play_new(own); /* with the host's own time between them */
    for (int k = 0; k < 1000; k++, play->host_ns += US(20))
        play_copy(play, (struct played_copy){.up = true, .pinned = true, .bytes = 400, .stream = 1});
    work(play, MS(60));
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

/* Of sampled copies the recorder took 2.3 us each, as it told, or the part of it that it told. */
static void takes_off_its_samples(void **state) {
    (void)state;
    for (int part = 1; part <= 4; part++) {
        struct play *play = play_new(own);
        play->source = play_source(play, "/home/u/app.py", 3, LE_NONE);
        for (int k = 0; k < 1000; k++)
            play_copy(play, (struct played_copy){
                                .up = true, .pinned = true, .bytes = 400, .host = 64, .sample = 7, .stream = 1});
        work(play, MS(60));
        play->index.processes.at[0].recorder_ns = (uint64_t)part * 1000 * 2300 / 2;
        play_end(play);
        play_expect(play, "small-copies", 1000 * (8.5e3 - 1.12e3 - (part < 2 ? 1.15e3 : 2.3e3)));
        play_free(play);
    }
}

static struct play *trips(int count, uint64_t bytes, bool changed) {
    struct play *play = play_new(own);
    for (uint64_t k = 0; k < (uint64_t)count; k++) {
        work(play, MS(5));
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
    /* now 10 * (4.44 + 0.05 + 2.35) ms a turn; then 400 MB up at 55 GB/s, both at 101, and a tenth of the rest */
    double turn = 10 * (size / 9 + 50e3 + size / 17 + 10e3);
    double then = 20 * size / (2 * 55 * 0.92) + (10 * size / 55 + 500e3) / 10;
    struct play *play = normalise(5, 10, 1, false, piece);
    const struct le_finding *finding = play_expect(play, "no-overlap", 5 * (turn - then));
    assert_non_null(strstr(finding->evidence, "why: the copies are from or to pageable memory"));
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_pageable_copies),     cmocka_unit_test(pageable_has_its_limits),
        cmocka_unit_test(finds_blocked_async),       cmocka_unit_test(finds_the_blamed_copy),
        cmocka_unit_test(blame_has_its_limits),      cmocka_unit_test(finds_transfer_bound),
        cmocka_unit_test(finds_small_copies),        cmocka_unit_test(finds_round_trips),
        cmocka_unit_test(takes_off_its_samples),     cmocka_unit_test(finds_no_overlap),
        cmocka_unit_test(no_overlap_has_its_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
