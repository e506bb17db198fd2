/* Consumers: other code that uses an allocation in a stream of its own. What Leat does with the memory afterwards comes
 * after that code's work, without a wait if its stream is known. */
#include "device/front/device_testing.h"

#define MIB ((size_t)1 << 20)

/* Work that Leat does not see. */
static struct fake_operation work_in(void *native) {
    struct fake_stream *stream = native;
    fake_enqueue(stream);
    return (struct fake_operation){stream->index, stream->enqueued, stream->clock};
}

static void *new_native(struct fake *fake) {
    void *native = NULL;
    assert_ok(fake_stream_new(fake, &native));
    return native;
}

static uint64_t begin(struct le_allocation *allocation, enum le_allocation_access access, void *native) {
    uint64_t stream_id = 99;
    assert_ok(le_consumer_begin(allocation, access, native, &stream_id));
    return stream_id;
}

/* The allocation is freed while the consumer works, and its memory is used again at once in another stream. */
static void check_reuse(struct le_device *device, struct fake *fake, void *native, bool waits) {
    struct le_device_stream *own = le_device_stream_own(device);
    struct le_allocation *first = fake_allocation(device, 3 * MIB, own), *second;
    struct fake_operation write = fake_touch(own, first, LE_ACCESS_WRITE);
    uint64_t address = first->address, stream_id = begin(first, LE_ACCESS_BOTH, native);
    struct fake_operation work = work_in(native);
    assert_true(fake_is_before(&write, &work));
    int synchronizes = fake->synchronizes;
    assert_true(le_consumer_end(first, LE_ACCESS_BOTH, stream_id));
    assert_int_equal(fake->synchronizes > synchronizes, waits);
    le_allocation_free(first);
    second = fake_allocation(device, 3 * MIB, own);
    assert_int_equal(second->address, address);
    struct fake_operation next = fake_touch(own, second, LE_ACCESS_WRITE);
    assert_true(fake_is_before(&work, &next));
    le_allocation_free(second);
}

static void test_reuse(void **state) {
    (void)state;
    struct fake *fake;
    struct le_device_stream *wrapped = NULL, *made, *again = NULL;
    const struct le_device_options options = {.cache_cap_bytes = 1}; /* released memory is reused, even if busy */
    struct le_device *device = fake_open(&options, 64 * MIB, &fake);
    made = fake_stream_of(device);
    void *native = new_native(fake);
    check_reuse(device, fake, made->native, true); /* Leat's own: the consumer may work anywhere */
    check_reuse(device, fake, native, true);       /* unknown: it may no longer exist at the end */
    assert_ok(le_device_stream_new(device, native, &wrapped));
    check_reuse(device, fake, native, false);
    le_device_stream_free(wrapped);
    check_reuse(device, fake, native, true);
    assert_ok(le_device_stream_new(device, made->native, &again));
    check_reuse(device, fake, made->native, true);
    le_device_stream_free(again);
    le_device_stream_free(made);
    fake_finish(device, fake);
}

static void test_stream_freed_meanwhile(void **state) {
    (void)state;
    struct fake *fake;
    struct le_device *device = fake_open(NULL, 64 * MIB, &fake);
    struct le_device_stream *own = le_device_stream_own(device), *wrapped = NULL;
    struct le_allocation *allocation = fake_allocation(device, MIB, own);
    void *native = new_native(fake);
    assert_ok(le_device_stream_new(device, native, &wrapped));
    fake_touch(own, allocation, LE_ACCESS_WRITE);
    uint64_t stream_id = begin(allocation, LE_ACCESS_BOTH, native);
    assert_int_equal(stream_id, wrapped->id);
    struct fake_operation work = work_in(native);
    le_device_stream_free(wrapped); /* now its owner may destroy it: no event may be recorded in it */
    int records = fake->records;
    assert_true(le_consumer_end(allocation, LE_ACCESS_BOTH, stream_id));
    struct fake_operation next = fake_touch(own, allocation, LE_ACCESS_WRITE);
    assert_int_equal(fake->records, records);
    assert_true(fake_is_before(&work, &next));
    le_allocation_free(allocation);
    fake_finish(device, fake);
}

/* NULL, and the handle of the default streams of threads: the host waits at both ends. */
static void test_no_stream(void **state) {
    (void)state;
    struct fake *fake;
    struct le_device *device = fake_open(NULL, 64 * MIB, &fake);
    struct le_device_stream *stream = fake_stream_of(device);
    struct le_allocation *allocation = fake_allocation(device, MIB, stream);
    for (uintptr_t handle = 0; handle <= 2; handle += 2) {
        fake_touch(stream, allocation, LE_ACCESS_WRITE);
        int synchronizes = fake->synchronizes;
        assert_int_equal(begin(allocation, LE_ACCESS_BOTH, (void *)handle), 0);
        assert_int_equal(fake->synchronizes, synchronizes + 1);
        assert_true(le_consumer_end(allocation, LE_ACCESS_BOTH, 0));
        assert_int_equal(fake->synchronizes, synchronizes + 2);
    }
    le_allocation_free(allocation);
    le_device_stream_free(stream);
    fake_finish(device, fake);
}

/* Consumers that read are not ordered among themselves; a write comes after all of them, and after reads of Leat's
 * since. */
static void test_readers(void **state) {
    enum { READERS = LE_ORDER_READS + 2 };
    (void)state;
    struct fake *fake;
    struct le_device *device = fake_open(NULL, 64 * MIB, &fake);
    struct le_device_stream *own = le_device_stream_own(device), *stream[READERS];
    struct fake_operation work[READERS];
    uint64_t stream_id[READERS];
    struct le_allocation *allocation = fake_allocation(device, MIB, own);
    fake_touch(own, allocation, LE_ACCESS_WRITE);
    for (int k = 0; k < READERS; k++) {
        assert_ok(le_device_stream_new(device, new_native(fake), &stream[k]));
        stream_id[k] = begin(allocation, LE_ACCESS_READ, stream[k]->native);
        work[k] = work_in(stream[k]->native);
    }
    assert_false(fake_is_before(&work[0], &work[1]));
    struct le_device_stream *reader = fake_stream_of(device);
    struct fake_operation read = fake_touch(reader, allocation, LE_ACCESS_READ);
    for (int k = 0; k < READERS; k++)
        assert_true(le_consumer_end(allocation, LE_ACCESS_READ, stream_id[k]));
    struct fake_operation write = fake_touch(own, allocation, LE_ACCESS_WRITE);
    assert_true(fake_is_before(&read, &write));
    for (int k = 0; k < READERS; k++) {
        assert_true(fake_is_before(&work[k], &write));
        le_device_stream_free(stream[k]);
    }
    le_device_stream_free(reader);
    le_allocation_free(allocation);
    fake_finish(device, fake);
}

/* A failed wait must not free memory that may be in use, except on a device that has failed for good. */
static void test_failure(void **state) {
    (void)state;
    struct fake *fake;
    struct le_device *device = fake_open(NULL, 64 * MIB, &fake);
    struct le_allocation *allocation = fake_allocation(device, MIB, NULL);
    uint64_t stream_id = begin(allocation, LE_ACCESS_BOTH, NULL);
    le_fail(LEAT_INVALID, "an earlier failure");
    fake->failing = LEAT_DEVICE;
    assert_true(le_consumer_end(allocation, LE_ACCESS_BOTH, stream_id));
    assert_message("an earlier failure");
    assert_int_equal(le_consumer_begin(allocation, LE_ACCESS_BOTH, new_native(fake), &stream_id), LEAT_DEVICE);
    le_allocation_free(allocation);
    fake_finish(device, fake);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reuse),     cmocka_unit_test(test_stream_freed_meanwhile),
        cmocka_unit_test(test_no_stream), cmocka_unit_test(test_readers),
        cmocka_unit_test(test_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
