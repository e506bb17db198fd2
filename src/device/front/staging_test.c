/* The stager over the device of staging_testing.h. */
#include "device/front/staging_state.h"
#include "device/front/staging_testing.h"
#include <stdatomic.h>

/* ---- copies of plain bytes */

/* Two copies. The first stops at a chunk until the second one has been started. NULL: not used. */
struct race {
    atomic_bool second_is_given;
    atomic_int first_moved,
        first_at_end; /* chunks of the first copy: moved so far; moved when the last chunk of the second copy moved */
};
struct plan {
    bool up, large; /* large: for the threads, even if it is one chunk */
    char *memory, *on_device;
    size_t size_bytes;
    int64_t fails;   /* the chunk whose transfer fails; -1: none */
    void **streamed; /* gets the native stream of the last transfer; NULL: not needed */
    struct race *first_of, *second_of;
};

static size_t size_of(const struct plan *p, int64_t chunk) {
    size_t left = p->size_bytes - (size_t)chunk * CHUNK;
    return left < CHUNK ? left : CHUNK;
}

static void move_bytes(const void *plan, int64_t chunk, char *slot) {
    enum { WAITS_AT = 100 };
    const struct plan *p = plan;
    char *memory = p->memory + chunk * CHUNK;
    while (p->first_of && chunk >= WAITS_AT && !atomic_load(&p->first_of->second_is_given))
        usleep(100);
    if (p->first_of)
        atomic_fetch_add(&p->first_of->first_moved, 1);
    if (p->second_of)
        atomic_store(&p->second_of->first_at_end, atomic_load(&p->second_of->first_moved));
    memcpy(p->up ? slot : memory, p->up ? memory : slot, size_of(p, chunk));
}

static leat_status transfer_bytes(const void *plan, int64_t chunk, void *native_stream,
                                  const struct le_staging_buffer *slot) {
    const struct plan *p = plan;
    char *there = p->on_device + chunk * CHUNK;
    if (p->streamed)
        *p->streamed = native_stream;
    if (chunk == p->fails)
        return le_fail(LEAT_DEVICE, "chunk %d cannot be copied", (int)chunk);
    device_copy(native_stream, p->up ? there : slot->host, p->up ? slot->host : there, size_of(p, chunk));
    return LEAT_OK;
}

static leat_status try_copy(struct le_staging *stager, struct stream *s, struct plan plan, uint64_t id,
                            uint64_t number) {
    const struct le_staging_work work = {.up = plan.up,
                                         .chunks = (int64_t)((plan.size_bytes + CHUNK - 1) / CHUNK),
                                         .small = plan.size_bytes <= CHUNK && !plan.large,
                                         .move = move_bytes,
                                         .transfer = transfer_bytes,
                                         .plan = &plan,
                                         .plan_bytes = sizeof plan};
    struct le_staging_job *job;
    leat_status status = le_staging_job_new(stager, &work, &job);
    if (status)
        return status;
    le_staging_settle(stager, id);
    status = le_staging_enqueue(job, s);
    if (status)
        le_staging_drop(job);
    else
        le_staging_start(job, id, number);
    return status;
}

static void copy_bytes(struct le_staging *stager, struct stream *s, bool up, char *memory, char *on_device,
                       size_t size_bytes, uint64_t id, uint64_t number) {
    const struct plan plan = {
        .up = up, .memory = memory, .on_device = on_device, .size_bytes = size_bytes, .fails = -1};
    assert_int_equal(try_copy(stager, s, plan, id, number), LEAT_OK);
}

static char *pattern_bytes(size_t size_bytes, unsigned seed) {
    char *made = malloc(size_bytes);
    for (size_t k = 0; k < size_bytes; k++)
        made[k] = (char)(k * 7 + k / 257 + seed);
    return made;
}

static struct le_staging *new_stager(int threads) {
    struct le_staging *stager = NULL;
    assert_int_equal(le_staging_new(&ops, NULL, threads, &stager), LEAT_OK);
    return stager;
}

/* ---- tests */

/* Upload, copy on the device, download: each sees the results of earlier work in the stream, however late the device
 * is. */
static void test_order(void **state) {
    static const size_t sizes[] = {1, CHUNK, CHUNK + 1, 10 * CHUNK + 5, 100 * CHUNK};
    (void)state;
    for (int threads = 1; threads <= 4; threads++) {
        struct le_staging *stager = new_stager(threads);
        struct stream *s = new_stream();
        uint64_t number = 0;
        for (size_t k = 0; k < 5; k++)
            for (int turn = 0; turn < 3; turn++) {
                size_t size_bytes = sizes[k];
                char *out = pattern_bytes(size_bytes, (unsigned)(k + 3 * (size_t)turn)), *back = calloc(1, size_bytes);
                char *there = calloc(1, size_bytes), *other = calloc(1, size_bytes);
                copy_bytes(stager, s, true, out, there, size_bytes, 1, ++number);
                le_staging_settle(stager, 1);
                device_copy(s, other, there, size_bytes);
                copy_bytes(stager, s, false, back, other, size_bytes, 1, ++number);
                le_staging_settle(stager, 1);
                device_copy(s, other, back + 0, 0); /* work after it is ordered, too */
                assert_int_equal(le_staging_wait(stager, 1, number), LEAT_OK);
                assert_true(le_staging_is_done(stager, 1, number));
                assert_memory_equal(out, back, size_bytes);
                fake_stream_synchronize(NULL, s);
                free(out);
                free(back);
                free(there);
                free(other);
            }
        le_staging_free(stager);
        fake_stream_free(NULL, s);
    }
}

/* Concurrent jobs of many streams; some wait for the device first. */
static void test_streams(void **state) {
    enum { COUNT = 8, SIZE = 40 * CHUNK };
    (void)state;
    struct le_staging *stager = new_stager(3);
    struct stream *s[COUNT];
    char *out[COUNT], *back[COUNT], *there[COUNT], *other[COUNT];
    for (int k = 0; k < COUNT; k++) {
        s[k] = new_stream();
        out[k] = pattern_bytes(SIZE, (unsigned)k);
        back[k] = calloc(1, SIZE), there[k] = calloc(1, SIZE), other[k] = calloc(1, SIZE);
        copy_bytes(stager, s[k], true, out[k], there[k], SIZE, (uint64_t)k + 1, 1);
    }
    for (int k = COUNT - 1; k >= 0; k--) {
        le_staging_settle(stager, (uint64_t)k + 1);
        hold(s[k], true);
        device_copy(s[k], other[k], there[k], SIZE);
        copy_bytes(stager, s[k], false, back[k], other[k], SIZE, (uint64_t)k + 1, 2);
        assert_false(le_staging_is_done(stager, (uint64_t)k + 1, 2));
        assert_false(le_staging_is_settled(stager, (uint64_t)k + 1));
    }
    for (int k = 0; k < COUNT; k++)
        hold(s[k], false);
    for (int k = 0; k < COUNT; k++) {
        assert_int_equal(le_staging_wait(stager, (uint64_t)k + 1, 2), LEAT_OK);
        assert_memory_equal(out[k], back[k], SIZE);
    }
    le_staging_free(stager);
    for (int k = 0; k < COUNT; k++) {
        end_stream(s[k]);
        free(out[k]);
        free(back[k]);
        free(there[k]);
        free(other[k]);
    }
}

/* A job whose stream does not reach it delays no other job. */
static void test_waiting(void **state) {
    enum { SIZE = 30 * CHUNK };
    (void)state;
    struct le_staging *stager = new_stager(2);
    struct stream *stuck[3], *s = new_stream();
    char *out = pattern_bytes(SIZE, 1), *there = calloc(1, SIZE), *sinks[3];
    for (int k = 0; k < 3; k++) {
        stuck[k] = new_stream();
        sinks[k] = calloc(1, SIZE);
        hold(stuck[k], true);
        copy_bytes(stager, stuck[k], true, out, sinks[k], SIZE, (uint64_t)k + 10, 1);
    }
    for (uint64_t number = 1; number <= 5; number++) {
        copy_bytes(stager, s, true, out, there, SIZE, 1, number);
        assert_int_equal(le_staging_wait(stager, 1, number), LEAT_OK);
    }
    for (int k = 0; k < 3; k++) {
        assert_false(le_staging_is_done(stager, (uint64_t)k + 10, 1));
        hold(stuck[k], false);
    }
    assert_int_equal(le_staging_wait_all(stager), LEAT_OK);
    le_staging_free(stager);
    end_stream(s);
    for (int k = 0; k < 3; k++) {
        end_stream(stuck[k]);
        assert_memory_equal(out, sinks[k], SIZE);
        free(sinks[k]);
    }
    free(out);
    free(there);
}

/* A short job finishes long before a long one that started first. */
static void test_turns(void **state) {
    enum { CHUNKS = 600, LONG = CHUNKS * CHUNK, SHORT = 4 * CHUNK };
    (void)state;
    struct race race = {0};
    struct le_staging *stager = new_stager(2);
    struct stream *s = new_stream(), *t = new_stream();
    char *out = pattern_bytes(LONG, 1), *there = malloc(LONG), *back = malloc(SHORT), *other = pattern_bytes(SHORT, 2);
    const struct plan first = {
        .up = true, .memory = out, .on_device = there, .size_bytes = LONG, .fails = -1, .first_of = &race};
    const struct plan second = {
        .memory = back, .on_device = other, .size_bytes = SHORT, .fails = -1, .second_of = &race};
    assert_int_equal(try_copy(stager, s, first, 1, 1), LEAT_OK);
    assert_int_equal(try_copy(stager, t, second, 2, 1), LEAT_OK);
    atomic_store(&race.second_is_given, true);
    assert_int_equal(le_staging_wait(stager, 2, 1), LEAT_OK);
    assert_memory_equal(back, other, SHORT);
    assert_true(atomic_load(&race.first_at_end) < CHUNKS / 2);
    le_staging_free(stager); /* finishes the other one */
    end_stream(s);
    end_stream(t);
    assert_memory_equal(out, there, LONG);
    free(out);
    free(there);
    free(back);
    free(other);
}

static void copy_chunk(struct le_staging *stager, struct stream *s, char *memory, char *there, uint64_t number,
                       void **streamed) {
    const struct plan plan = {.up = number % 2,
                              .large = true,
                              .memory = memory,
                              .on_device = there,
                              .size_bytes = 100,
                              .fails = -1,
                              .streamed = streamed};
    assert_int_equal(try_copy(stager, s, plan, 1, number), LEAT_OK);
    assert_int_equal(le_staging_wait(stager, 1, number), LEAT_OK);
}

/* Single chunks, one after the other, go through the same thread's stream, which is warm by then, unless that thread
 * has to wait. */
static void test_latest(void **state) {
    (void)state;
    struct le_staging *stager = new_stager(4);
    struct stream *s = new_stream(), *stuck = new_stream();
    char *out = pattern_bytes(4 * CHUNK, 1), *there = calloc(4, CHUNK), *sink = calloc(1, CHUNK);
    void *first, *last;
    copy_bytes(stager, s, true, out, there, 4 * CHUNK, 1, 1); /* starts all threads */
    assert_int_equal(le_staging_wait(stager, 1, 1), LEAT_OK);
    copy_chunk(stager, s, out, there, 2, &first);
    for (uint64_t number = 3; number < 200; number++) {
        copy_chunk(stager, s, out, there, number, &last);
        assert_ptr_equal(last, first);
        if (number % 8 == 0)
            usleep(200); /* lets all threads fall asleep */
    }
    hold(stuck, true);
    const struct plan waits = {
        .up = true, .large = true, .memory = out, .on_device = sink, .size_bytes = 100, .fails = -1};
    assert_int_equal(try_copy(stager, stuck, waits, 2, 1), LEAT_OK);
    for (uint64_t number = 200; number < 300; number++)
        copy_chunk(stager, s, out, there, number, &last);
    assert_false(le_staging_is_done(stager, 2, 1));
    hold(stuck, false);
    le_staging_free(stager);
    end_stream(s);
    end_stream(stuck);
    assert_memory_equal(sink, out, 100);
    free(out);
    free(there);
    free(sink);
}

/* More small copies than slots, waited for in another order. */
static void test_small(void **state) {
    enum { COUNT = 200, SIZE = 100 };
    (void)state;
    struct le_staging *stager = new_stager(2);
    struct stream *s = new_stream();
    char *out = pattern_bytes(COUNT * SIZE, 5), *back = calloc(COUNT, SIZE), *there = calloc(COUNT, SIZE);
    for (int k = 0; k < COUNT; k++) {
        copy_bytes(stager, s, true, out + k * SIZE, there + k * SIZE, SIZE, 1, (uint64_t)(2 * k + 1));
        copy_bytes(stager, s, false, back + k * SIZE, there + k * SIZE, SIZE, 1, (uint64_t)(2 * k + 2));
    }
    for (int k = COUNT - 1; k >= 0; k--)
        assert_int_equal(le_staging_wait(stager, 1, (uint64_t)(2 * k + 2)), LEAT_OK);
    assert_memory_equal(out, back, COUNT * SIZE);
    le_staging_free(stager);
    end_stream(s);
    free(out);
    free(back);
    free(there);
}

/* An error is returned once, to the thread that waits for that job or a later one of its stream, and affects no other
 * job. */
static void test_failures(void **state) {
    enum { SIZE = 12 * CHUNK };
    (void)state;
    struct le_staging *stager = new_stager(3);
    struct stream *s = new_stream(), *t = new_stream();
    char *out = pattern_bytes(SIZE, 1), *there = calloc(1, SIZE), *back = calloc(1, SIZE);
    for (int up = 0; up < 2; up++)
        for (int64_t fails = 0; fails < 12; fails += 5) {
            struct plan plan = {.up = up, .memory = back, .on_device = there, .size_bytes = SIZE, .fails = fails};
            assert_int_equal(try_copy(stager, s, plan, 1, 1), LEAT_OK);
            copy_bytes(stager, t, true, out, there, SIZE, 2, 1);
            assert_int_equal(le_staging_wait(stager, 2, 1), LEAT_OK);
            assert_int_equal(le_staging_wait(stager, 1, 2), LEAT_DEVICE);
            assert_non_null(strstr(le_error_at(0)->message, "cannot be copied"));
            assert_int_equal(le_staging_wait(stager, 1, 2), LEAT_OK);
        }
    struct plan lost = {.up = true, .memory = back, .on_device = there, .size_bytes = SIZE, .fails = 3};
    assert_int_equal(try_copy(stager, s, lost, 1, 2), LEAT_OK);
    assert_int_equal(try_copy(stager, t, lost, 2, 2), LEAT_OK);
    assert_int_equal(le_staging_wait_all(stager), LEAT_DEVICE);
    assert_int_equal(le_staging_wait_all(stager), LEAT_OK);
    struct plan plan = {.up = false, .memory = back, .on_device = there, .size_bytes = 10, .fails = 0};
    assert_int_equal(try_copy(stager, s, plan, 1, 1), LEAT_DEVICE); /* a small copy fails at once */
    le_staging_free(stager);
    end_stream(s);
    end_stream(t);
    free(out);
    free(there);
    free(back);
}

/* An allocation that fails when a job is created fails only that job; one thread is enough. */
static void test_scarcity(void **state) {
    enum { SIZE = 5 * CHUNK };
    (void)state;
    char *out = pattern_bytes(SIZE, 1), *there = calloc(1, SIZE);
    for (int succeed = 0; succeed < 24; succeed++)
        for (size_t size_bytes = 100; size_bytes <= SIZE; size_bytes += SIZE - 100) {
            struct le_staging *stager = new_stager(3);
            struct stream *s = new_stream();
            const struct plan plan = {
                .up = true, .memory = out, .on_device = there, .size_bytes = size_bytes, .fails = -1};
            memset(there, 0, SIZE);
            device.fail_after = succeed;
            leat_status status = try_copy(stager, s, plan, 1, 1);
            device.fail_after = -1;
            if (status)
                assert_int_equal(try_copy(stager, s, plan, 1, 1), LEAT_OK);
            assert_int_equal(le_staging_wait(stager, 1, 1), LEAT_OK);
            le_staging_free(stager);
            end_stream(s);
            assert_memory_equal(out, there, size_bytes);
        }
    free(out);
    free(there);
}

/* No copy in flight is waited for while older ones are done, and no more slots are added than needed. */
static void test_small_ages(void **state) {
    enum { COUNT = 2 * LE_STAGE_SMALL_SLOTS, SIZE = 100 };
    (void)state;
    struct le_staging *stager = new_stager(1);
    struct stream *s = new_stream(), *stuck = new_stream();
    char *out = pattern_bytes(SIZE, 7), *back = calloc(1, SIZE), *there = calloc(1, SIZE), *other = calloc(1, SIZE);
    hold(stuck, true);
    for (uint64_t number = 1; number <= COUNT; number++) {
        copy_bytes(stager, s, true, out, there, SIZE, 1, number);
        if (number == 10)
            copy_bytes(stager, s, false, back, there, SIZE, 1, number);
        if (number == 10)
            copy_bytes(stager, stuck, true, out, other, SIZE, 2, 1);
        if (number == LE_STAGE_SMALL_SLOTS)
            assert_int_equal(le_staging_wait(stager, 1, number), LEAT_OK);
        fake_stream_synchronize(NULL, s);
    }
    assert_true(stager->small_count == LE_STAGE_SMALL_STEP); /* each time, earlier copies had passed */
    hold(stuck, false);
    le_staging_free(stager);
    end_stream(s);
    end_stream(stuck);
    assert_memory_equal(out, back, SIZE);
    assert_memory_equal(out, other, SIZE);
    free(out);
    free(back);
    free(there);
    free(other);
}

static void *release_later(void *stream) {
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    hold(stream, false);
    return NULL;
}

/* More slots are added as more copies are in flight. If memory for them runs out, existing ones are waited for. */
static void test_few_small(void **state) {
    enum { COUNT = 3 * LE_STAGE_SMALL_STEP, SIZE = 100 };
    (void)state;
    for (int refused = 0; refused < 2; refused++) {
        struct le_staging *stager = new_stager(1);
        struct stream *s = new_stream();
        pthread_t later;
        char *out = pattern_bytes(COUNT * SIZE, 7), *there = calloc(COUNT, SIZE);
        hold(s, true);
        assert_int_equal(pthread_create(&later, NULL, release_later, s), 0);
        for (int k = 0; k < COUNT; k++) {
            device.fail_after = refused && k >= LE_STAGE_SMALL_STEP ? 0 : -1;
            copy_bytes(stager, s, true, out + k * SIZE, there + k * SIZE, SIZE, 1, (uint64_t)k + 1);
        }
        device.fail_after = -1;
        if (refused)
            assert_int_equal(stager->small_count, LE_STAGE_SMALL_STEP);
        assert_null(le_error_at(0));
        pthread_join(later, NULL);
        le_staging_free(stager);
        end_stream(s);
        assert_memory_equal(out, there, COUNT * SIZE);
        free(out);
        free(there);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_order, open_device, close_device),
        cmocka_unit_test_setup_teardown(test_streams, open_device, close_device),
        cmocka_unit_test_setup_teardown(test_waiting, open_device, close_device),
        cmocka_unit_test_setup_teardown(test_turns, open_device, close_device),
        cmocka_unit_test_setup_teardown(test_latest, open_device, close_device),
        cmocka_unit_test_setup_teardown(test_small, open_device, close_device),
        cmocka_unit_test_setup_teardown(test_small_ages, open_device, close_device),
        cmocka_unit_test_setup_teardown(test_few_small, open_device, close_device),
        cmocka_unit_test_setup_teardown(test_failures, open_device, close_device),
        cmocka_unit_test_setup_teardown(test_scarcity, open_device, close_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
