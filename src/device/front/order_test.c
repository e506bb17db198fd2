/* Order by tickets: no event within one stream, few across streams, and every pair of operations that must be ordered
 * is ordered, whatever runs in whatever streams. */
#include "device/front/device_testing.h"
#include <pthread.h>
#include <stdio.h>

#define MIB ((size_t)1 << 20)

static void test_one_stream(void **state) {
    (void)state;
    struct fake *fake;
    struct le_device *device = fake_open(NULL, 64 * MIB, &fake);
    struct le_device_stream *stream = le_device_stream_own(device);
    struct le_allocation *a = fake_allocation(device, 4096, NULL), *b = fake_allocation(device, 4096, NULL);
    for (int k = 0; k < 1000; k++) {
        fake_use(stream, (struct le_allocation_use[]){{a, LE_ACCESS_READ}, {b, LE_ACCESS_BOTH}}, 2);
        fake_touch(stream, a, LE_ACCESS_WRITE);
        struct le_allocation *temporary = fake_allocation(device, 8192, stream);
        fake_touch(stream, temporary, LE_ACCESS_WRITE);
        le_allocation_free(temporary);
    }
    struct le_point end = le_device_stream_point(stream);
    assert_int_equal(end.number, 3000);
    assert_ok(le_device_wait_point(device, end.stream_id, end.number));
    assert_ok(le_device_stream_synchronize(stream));
    assert_int_equal(fake->records + fake->waits + fake->queries + fake->live_events, 0);
    assert_int_equal(fake->allocations, 2); /* one chunk for each size */
    le_allocation_free(a);
    le_allocation_free(b);
    fake_finish(device, fake);
}

static void test_crossing_once(void **state) {
    (void)state;
    struct fake *fake;
    struct le_device *device = fake_open(NULL, 64 * MIB, &fake);
    struct le_device_stream *one = fake_stream_of(device), *two = fake_stream_of(device);
    struct le_allocation *allocations[5];
    for (int k = 0; k < 5; k++) {
        allocations[k] = fake_allocation(device, 4096, one);
        fake_touch(one, allocations[k], LE_ACCESS_WRITE);
    }
    assert_int_equal(fake->records, 0);
    for (int k = 0; k < 5; k++)
        fake_touch(two, allocations[k], LE_ACCESS_READ);
    assert_int_equal(fake->records, 1); /* one event covers all five */
    assert_int_equal(fake->waits, 1);
    for (int k = 0; k < 5; k++)
        fake_touch(two, allocations[k], LE_ACCESS_BOTH); /* the earlier wait is remembered */
    assert_int_equal(fake->records, 1);
    assert_int_equal(fake->waits, 1);
    fake_touch(one, allocations[0], LE_ACCESS_READ); /* the other direction needs another event */
    assert_int_equal(fake->records, 2);
    assert_int_equal(fake->waits, 2);
    for (int k = 0; k < 5; k++)
        le_allocation_free(allocations[k]);
    le_device_stream_free(one);
    le_device_stream_free(two);
    fake_finish(device, fake);
}

static void test_hazards(void **state) {
    (void)state;
    struct fake *fake;
    struct le_device *device = fake_open(NULL, 64 * MIB, &fake);
    struct le_device_stream *stream[3];
    for (int k = 0; k < 3; k++)
        stream[k] = fake_stream_of(device);
    struct le_allocation *allocation = fake_allocation(device, 4096, stream[0]);
    struct fake_operation write = fake_touch(stream[0], allocation, LE_ACCESS_WRITE);
    struct fake_operation read = fake_touch(stream[1], allocation, LE_ACCESS_READ);
    struct fake_operation other = fake_touch(stream[2], allocation, LE_ACCESS_READ);
    struct fake_operation again = fake_touch(stream[0], allocation, LE_ACCESS_WRITE);
    struct fake_operation last = fake_touch(stream[1], allocation, LE_ACCESS_WRITE);
    assert_true(fake_is_before(&write, &read) && fake_is_before(&write, &other));
    assert_false(fake_is_before(&read, &other)); /* reads are not ordered */
    assert_false(fake_is_before(&other, &read));
    assert_true(fake_is_before(&read, &again) && fake_is_before(&other, &again));
    assert_true(fake_is_before(&again, &last) && fake_is_before(&other, &last));
    le_allocation_free(allocation);
    for (int k = 0; k < 3; k++)
        le_device_stream_free(stream[k]);
    fake_finish(device, fake);
}

static void test_many_readers(void **state) {
    (void)state;
    enum { READERS = 2 * LE_ORDER_READS + 3 };
    struct fake *fake;
    struct le_device *device = fake_open(NULL, 64 * MIB, &fake);
    struct le_device_stream *stream[READERS];
    struct fake_operation read[READERS];
    struct le_allocation *allocation = fake_allocation(device, 4096, NULL);
    fake_touch(le_device_stream_own(device), allocation, LE_ACCESS_WRITE);
    for (int k = 0; k < READERS; k++) {
        stream[k] = fake_stream_of(device);
        read[k] = fake_touch(stream[k], allocation, LE_ACCESS_READ);
    }
    struct fake_operation write = fake_touch(le_device_stream_own(device), allocation, LE_ACCESS_WRITE);
    for (int k = 0; k < READERS; k++)
        assert_true(fake_is_before(&read[k], &write));
    le_allocation_free(allocation);
    for (int k = 0; k < READERS; k++)
        le_device_stream_free(stream[k]);
    fake_finish(device, fake);
}

/* A reader that replaced another one, and then failed, still stands for that one. */
static void test_reader_that_fails(void **state) {
    (void)state;
    struct fake *fake;
    struct le_device *device = fake_open(NULL, 64 * MIB, &fake);
    struct le_device_stream *stream[LE_ORDER_READS + 1];
    struct fake_operation read[LE_ORDER_READS];
    struct le_allocation *allocation = fake_allocation(device, 4096, NULL);
    const struct le_allocation_use use = {allocation, LE_ACCESS_READ};
    for (int k = 0; k <= LE_ORDER_READS; k++)
        stream[k] = fake_stream_of(device);
    for (int k = 0; k < LE_ORDER_READS; k++)
        read[k] = fake_touch(stream[k], allocation, LE_ACCESS_READ);
    assert_ok(le_order_begin(stream[LE_ORDER_READS], &use, 1));
    le_order_end(stream[LE_ORDER_READS], &use, 1, false);
    struct fake_operation write = fake_touch(le_device_stream_own(device), allocation, LE_ACCESS_WRITE);
    for (int k = 0; k < LE_ORDER_READS; k++)
        assert_true(fake_is_before(&read[k], &write));
    le_allocation_free(allocation);
    for (int k = 0; k <= LE_ORDER_READS; k++)
        le_device_stream_free(stream[k]);
    fake_finish(device, fake);
}

/* ---- random operations on several allocations in several streams, which come and go */

enum { STREAMS = 7, BLOCKS = 6, OPERATIONS = 4000 };

static void check_pairs(const struct fake_operation *operations, const struct le_allocation_use (*uses)[2], int last) {
    for (int first = last > 300 ? last - 300 : 0; first < last; first++)
        for (int k = 0; k < 2; k++)
            for (int m = 0; m < 2; m++) {
                bool shares = uses[first][k].allocation == uses[last][m].allocation;
                if (shares && ((uses[first][k].access | uses[last][m].access) & LE_ACCESS_WRITE))
                    assert_true(fake_is_before(&operations[first], &operations[last]));
            }
}

static void advance_some(struct fake *fake, unsigned *seed) {
    struct fake_stream *stream = fake->stream[rand_r(seed) % fake->streams];
    if (stream->done < stream->enqueued && rand_r(seed) % 3 == 0)
        fake_advance(fake, stream->index,
                     stream->done + 1 + (uint64_t)rand_r(seed) % (stream->enqueued - stream->done));
}

static void run_random(unsigned seed) {
    struct fake *fake;
    struct le_device *device = fake_open(NULL, 64 * MIB, &fake);
    struct le_device_stream *stream[STREAMS];
    struct le_allocation *allocation[BLOCKS];
    struct fake_operation *operations = calloc(OPERATIONS, sizeof *operations);
    struct le_allocation_use(*uses)[2] = calloc(OPERATIONS, sizeof *uses);
    for (int k = 0; k < STREAMS; k++)
        stream[k] = fake_stream_of(device);
    for (int k = 0; k < BLOCKS; k++)
        allocation[k] = fake_allocation(device, 4096, NULL);
    for (int k = 0; k < OPERATIONS; k++) {
        int s = rand_r(&seed) % STREAMS;
        for (int m = 0; m < 2; m++)
            uses[k][m] = (struct le_allocation_use){
                allocation[(rand_r(&seed) >> 3) % BLOCKS],
                (enum le_allocation_access)(rand_r(&seed) % 4 ? LE_ACCESS_READ : LE_ACCESS_BOTH)};
        operations[k] = fake_use(stream[s], uses[k], 2);
        check_pairs(operations, (const struct le_allocation_use(*)[2])uses, k);
        advance_some(fake, &seed);
        if (rand_r(&seed) % 200 == 0 && fake->streams < FAKE_STREAMS) {
            le_device_stream_free(stream[s]);
            stream[s] = fake_stream_of(device);
        }
        if (rand_r(&seed) % 300 == 0)
            assert_ok(le_device_stream_synchronize(stream[s]));
    }
    for (int k = 0; k < BLOCKS; k++)
        le_allocation_free(allocation[k]);
    for (int k = 0; k < STREAMS; k++)
        le_device_stream_free(stream[k]);
    free(operations);
    free(uses);
    fake_finish(device, fake);
}

static void test_random(void **state) {
    (void)state;
    for (unsigned seed = 1; seed <= 8; seed++)
        run_random(seed);
}

/* ---- tickets */

static void test_tickets(void **state) {
    (void)state;
    struct fake *fake;
    struct le_device *device = fake_open(NULL, 64 * MIB, &fake);
    struct le_device_stream *stream = fake_stream_of(device);
    struct le_allocation *allocation = fake_allocation(device, 4096, stream);
    fake_touch(stream, allocation, LE_ACCESS_WRITE);
    struct le_point point = le_device_stream_point(stream);
    assert_ok(le_device_wait_point(device, 0, 0));
    assert_ok(le_device_wait_point(device, point.stream_id, 0));
    assert_int_equal(fake->synchronizes, 0);
    assert_int_equal(le_device_wait_point(device, point.stream_id + 1, 1), LEAT_INVALID);
    assert_int_equal(le_device_wait_point(device, point.stream_id, point.number + 1), LEAT_INVALID);
    assert_ok(le_device_wait_point(device, point.stream_id, point.number));
    assert_int_equal(fake->synchronizes, 1);
    assert_ok(le_device_wait_point(device, point.stream_id, point.number)); /* known */
    assert_int_equal(fake->synchronizes, 1);
    fake_touch(stream, allocation, LE_ACCESS_READ);
    point = le_device_stream_point(stream);
    le_device_stream_free(stream); /* with unfinished work */
    assert_int_equal(fake->records, 1);
    assert_int_equal(fake->live_streams, 1);
    assert_ok(le_device_wait_point(device, point.stream_id, point.number));
    assert_int_equal(fake->synchronizes, 2);
    struct le_device_stream *next = fake_stream_of(device); /* sweeps */
    assert_int_equal(device->stream_count, 2);
    assert_ok(le_device_wait_point(device, point.stream_id, point.number));
    le_device_stream_free(next);
    le_allocation_free(allocation);
    fake_finish(device, fake);
}

/* Streams that come and go with unfinished work cost few driver queries each, however many there are. */
static void test_many_freed_streams(void **state) {
    enum { COUNT = 50 };
    (void)state;
    struct fake *fake;
    struct le_device *device = fake_open(NULL, 64 * MIB, &fake);
    struct le_allocation *allocation = fake_allocation(device, 4096, NULL);
    for (int k = 0; k < COUNT; k++) {
        struct le_device_stream *stream = fake_stream_of(device);
        fake_touch(stream, allocation, LE_ACCESS_READ);
        le_device_stream_free(stream);
    }
    assert_true(fake->queries <= 5 * COUNT);
    assert_true(device->stream_count > COUNT / 2);
    fake_advance(fake, COUNT, 1);
    le_device_stream_free(fake_stream_of(device));
    assert_ok(le_device_synchronize(device));
    assert_int_equal(device->stream_count, 1);
    le_allocation_free(allocation);
    fake_finish(device, fake);
}

static void test_freed_stream_is_waited_for(void **state) {
    (void)state;
    struct fake *fake;
    struct le_device *device = fake_open(NULL, 64 * MIB, &fake);
    struct le_device_stream *gone = fake_stream_of(device), *stream = fake_stream_of(device);
    struct le_allocation *allocation = fake_allocation(device, 4096, gone);
    struct fake_operation write = fake_touch(gone, allocation, LE_ACCESS_WRITE);
    le_device_stream_free(gone);
    struct fake_operation read = fake_touch(stream, allocation, LE_ACCESS_READ);
    assert_true(fake_is_before(&write, &read));
    le_allocation_free(allocation);
    le_device_stream_free(stream);
    fake_finish(device, fake);
}

static void test_foreign(void **state) {
    (void)state;
    struct fake *fake;
    struct le_device *device = fake_open(NULL, 64 * MIB, &fake);
    void *theirs;
    struct le_device_stream *foreign = NULL, *own = le_device_stream_own(device);
    assert_ok(fake_stream_new(fake, &theirs));
    assert_ok(le_device_stream_new(device, theirs, &foreign));
    struct le_allocation *allocation = fake_allocation(device, 4096, own);
    struct fake_operation write = fake_touch(own, allocation, LE_ACCESS_WRITE);
    struct fake_operation read = fake_touch(foreign, allocation, LE_ACCESS_BOTH);
    struct fake_operation back = fake_touch(own, allocation, LE_ACCESS_BOTH);
    assert_true(fake_is_before(&write, &read) && fake_is_before(&read, &back));
    assert_ok(le_device_stream_synchronize(foreign));
    fake_enqueue(theirs); /* work of the other library */
    struct le_point point = le_device_stream_point(foreign);
    assert_ok(le_device_wait_point(device, point.stream_id, point.number));
    assert_int_equal(fake->stream[1]->done, fake->stream[1]->enqueued);
    int live = fake->live_streams;
    le_device_stream_free(foreign);
    assert_int_equal(fake->live_streams, live); /* not destroyed */
    le_allocation_free(allocation);
    fake_finish(device, fake);
}

static void test_failed_operation(void **state) {
    (void)state;
    struct fake *fake;
    struct le_device *device = fake_open(NULL, 64 * MIB, &fake);
    struct le_device_stream *one = fake_stream_of(device), *two = fake_stream_of(device);
    struct le_allocation *allocation = fake_allocation(device, 4096, one);
    const struct le_allocation_use use = {allocation, LE_ACCESS_WRITE};
    assert_ok(le_order_begin(one, &use, 1));
    le_order_end(one, &use, 1, false);
    assert_int_equal(le_device_stream_point(one).number, 0);
    fake_touch(two, allocation, LE_ACCESS_READ);
    assert_int_equal(fake->records, 0); /* nothing to wait for */
    le_allocation_free(allocation);
    le_device_stream_free(one);
    le_device_stream_free(two);
    fake_finish(device, fake);
}

static void test_spoiled(void **state) {
    (void)state;
    struct fake *fake;
    struct le_device *device = fake_open(NULL, 64 * MIB, &fake);
    struct le_device_stream *stream = le_device_stream_own(device);
    struct le_allocation *allocation = fake_allocation(device, 4096, NULL);
    const struct le_allocation_use read = {allocation, LE_ACCESS_READ};
    le_order_set_error(allocation, LEAT_DATA);
    assert_int_equal(le_order_begin(stream, &read, 1), LEAT_DATA);
    fake_touch(stream, allocation, LE_ACCESS_WRITE);
    assert_ok(le_order_begin(stream, &read, 1));
    le_order_end(stream, &read, 1, true);
    le_allocation_free(allocation);
    fake_finish(device, fake);
}

/* ---- threads, each with its own stream, that read shared allocations and write their own */

struct party {
    struct le_device *device;
    struct le_allocation *shared;
    leat_status status;
};

static void *run_thread(void *argument) {
    struct party *party = argument;
    struct le_device_stream *stream = NULL;
    party->status = le_device_stream_new(party->device, NULL, &stream);
    for (int k = 0; k < 300 && !party->status; k++) {
        struct le_allocation *own = NULL;
        party->status = le_allocation_new(party->device, LE_MEMORY_DEVICE, 1000 + 700 * (size_t)(k % 5), stream, &own);
        if (party->status)
            break;
        const struct le_allocation_use uses[2] = {{party->shared, LE_ACCESS_READ}, {own, LE_ACCESS_WRITE}};
        party->status = le_order_begin(stream, uses, 2);
        le_order_end(stream, uses, 2, !party->status);
        struct le_point point = le_device_stream_point(stream);
        if (!party->status && k % 7 == 0)
            party->status = le_device_wait_point(party->device, point.stream_id, point.number);
        if (!party->status && k % 50 == 0)
            party->status = le_device_synchronize(party->device);
        le_allocation_free(own);
    }
    le_device_stream_free(stream);
    return NULL;
}

static void test_threads(void **state) {
    (void)state;
    struct le_device *device = NULL;
    assert_ok(le_device_open("cpu", NULL, &device));
    struct le_allocation *shared = fake_allocation(device, 100000, NULL);
    pthread_t threads[4];
    struct party parties[4];
    for (int k = 0; k < 4; k++) {
        parties[k] = (struct party){device, shared, LEAT_OK};
        assert_int_equal(pthread_create(&threads[k], NULL, run_thread, &parties[k]), 0);
    }
    for (int k = 0; k < 4; k++) {
        pthread_join(threads[k], NULL);
        assert_ok(parties[k].status);
    }
    le_allocation_free(shared);
    le_device_close(device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_stream),
        cmocka_unit_test(test_crossing_once),
        cmocka_unit_test(test_hazards),
        cmocka_unit_test(test_many_readers),
        cmocka_unit_test(test_reader_that_fails),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_tickets),
        cmocka_unit_test(test_many_freed_streams),
        cmocka_unit_test(test_freed_stream_is_waited_for),
        cmocka_unit_test(test_foreign),
        cmocka_unit_test(test_failed_operation),
        cmocka_unit_test(test_spoiled),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
