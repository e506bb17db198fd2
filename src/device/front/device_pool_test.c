/* Memory pools: sizes, reuse in order, caps, running out of memory, page-locking, and the cpu's pools. */
#include "device/front/device_testing.h"
#include <pthread.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)

static struct le_memory_usage use_of(struct le_device *device, enum le_memory_kind kind) {
    struct le_memory_usage use;
    assert_ok(le_device_memory_use(device, kind, &use));
    return use;
}

static void test_sizes(void **state) {
    static const size_t sizes[] = {0,   1,   511, 512,     513,         4096,    4097,         65536,
                                   100, 999, MIB, MIB + 1, 2 * MIB - 3, 1000000, 5 * MIB + 77, 64 * MIB};
    static const enum le_memory_kind kinds[] = {LE_MEMORY_DEVICE, LE_MEMORY_HOST, LE_MEMORY_PINNED, LE_MEMORY_MAPPED};
    (void)state;
    struct fake *fake;
    struct le_device *device = fake_open(NULL, GIB, &fake);
    for (size_t m = 0; m < ARRAY_LEN(kinds); m++) {
        struct le_allocation *allocations[ARRAY_LEN(sizes)];
        size_t live_bytes = 0;
        for (size_t k = 0; k < ARRAY_LEN(sizes); k++) {
            assert_ok(le_allocation_new(device, kinds[m], sizes[k], NULL, &allocations[k]));
            assert_int_equal(allocations[k]->size_bytes, sizes[k]);
            assert_true(allocations[k]->capacity_bytes >= sizes[k] && allocations[k]->capacity_bytes > 0);
            assert_true(allocations[k]->capacity_bytes <= sizes[k] + sizes[k] / 7 + 4096);
            assert_true((kinds[m] == LE_MEMORY_DEVICE) == !allocations[k]->host);
            assert_true((kinds[m] == LE_MEMORY_HOST) == !allocations[k]->address);
            live_bytes += allocations[k]->capacity_bytes;
        }
        assert_int_equal(use_of(device, kinds[m]).live_bytes, live_bytes);
        for (size_t k = 0; k < ARRAY_LEN(sizes); k++) /* device allocations do not overlap */
            for (size_t n = 0; n < k && kinds[m] == LE_MEMORY_DEVICE; n++)
                assert_true(allocations[k]->address + allocations[k]->capacity_bytes <= allocations[n]->address ||
                            allocations[n]->address + allocations[n]->capacity_bytes <= allocations[k]->address);
        for (size_t k = 0; k < ARRAY_LEN(sizes); k++)
            le_allocation_free(allocations[k]);
        assert_int_equal(use_of(device, kinds[m]).live_bytes, 0);
    }
    assert_ok(le_device_memory_trim(device));
    assert_int_equal(use_of(device, LE_MEMORY_DEVICE).kept_bytes, 0);
    assert_int_equal(fake->used_bytes, 0);
    assert_int_equal(fake->allocations, fake->frees);
    fake_finish(device, fake);
}

static void test_reuse_in_one_stream(void **state) {
    static const size_t sizes[] = {1000, 1000000, 50 * MIB};
    (void)state;
    struct fake *fake;
    struct le_device *device = fake_open(NULL, GIB, &fake);
    struct le_device_stream *stream = fake_stream_of(device);
    for (size_t k = 0; k < ARRAY_LEN(sizes); k++) {
        struct le_allocation *allocation = fake_allocation(device, sizes[k], stream);
        uint64_t address = allocation->address;
        int allocations = fake->allocations;
        for (int m = 0; m < 10; m++) {
            fake_touch(stream, allocation, LE_ACCESS_WRITE);
            le_allocation_free(allocation);
            allocation = fake_allocation(device, sizes[k] - (size_t)m, stream);
            assert_int_equal(allocation->address, address);
        }
        assert_int_equal(fake->allocations, allocations);
        le_allocation_free(allocation);
    }
    assert_int_equal(fake->records + fake->queries + fake->synchronizes, 0);
    le_device_stream_free(stream);
    fake_finish(device, fake);
}

/* Another stream gets different memory until the point has passed, and then the same. */
static void test_reuse_across_streams(void **state) {
    (void)state;
    struct fake *fake;
    struct le_device *device = fake_open(NULL, GIB, &fake);
    struct le_device_stream *one = fake_stream_of(device), *two = fake_stream_of(device);
    struct le_allocation *allocation = fake_allocation(device, 3 * MIB, one);
    uint64_t address = allocation->address;
    struct fake_operation first = fake_touch(one, allocation, LE_ACCESS_WRITE);
    le_allocation_free(allocation);
    allocation = fake_allocation(device, 3 * MIB, two);
    assert_int_not_equal(allocation->address, address);
    assert_int_equal(fake->synchronizes, 0);
    le_allocation_free(allocation);
    fake_advance(fake, first.stream, first.position);
    struct le_allocation *taken = fake_allocation(device, 3 * MIB, two), *again = fake_allocation(device, 3 * MIB, two);
    assert_true(taken->address == address || again->address == address);
    struct fake_operation second = fake_touch(two, taken, LE_ACCESS_WRITE);
    le_allocation_free(taken);
    le_allocation_free(again);
    (void)second;
    le_device_stream_free(one);
    le_device_stream_free(two);
    fake_finish(device, fake);
}

/* A stream that has waited for the work on an allocation may reuse it at once. */
static void test_reuse_after_wait(void **state) {
    (void)state;
    struct fake *fake;
    struct le_device *device = fake_open(NULL, GIB, &fake);
    struct le_device_stream *one = fake_stream_of(device), *two = fake_stream_of(device);
    struct le_allocation *allocation = fake_allocation(device, 3 * MIB, one);
    uint64_t address = allocation->address;
    fake_touch(one, allocation, LE_ACCESS_WRITE);
    fake_touch(two, allocation, LE_ACCESS_READ);
    le_allocation_free(allocation);
    allocation = fake_allocation(device, 3 * MIB, two);
    assert_int_equal(allocation->address, address);
    le_allocation_free(allocation);
    le_device_stream_free(one);
    le_device_stream_free(two);
    fake_finish(device, fake);
}

/* The caller does not say which stream will use the memory. While all work is in one stream, that one is assumed. When
 * two streams are busy, they are not made to wait for each other. */
static void test_stream_of_late(void **state) {
    (void)state;
    struct fake *fake;
    struct le_device *device = fake_open(NULL, GIB, &fake);
    struct le_device_stream *one = fake_stream_of(device), *two = fake_stream_of(device);
    struct le_allocation *other = fake_allocation(device, 100, two);
    int allocations = 0, records = 0;
    for (int k = 0; k < 300; k++) {
        struct le_allocation *allocation = fake_allocation(device, 3 * MIB, NULL);
        fake_touch(one, allocation, LE_ACCESS_WRITE);
        le_allocation_free(allocation);
        if (k == 100) {
            allocations = fake->allocations;
            records = fake->records;
        }
    }
    assert_int_equal(fake->allocations, allocations);
    assert_int_equal(fake->records, records);
    fake_touch(two, other, LE_ACCESS_WRITE);
    for (int k = 0; k < 100; k++)
        fake_touch(one, other, LE_ACCESS_WRITE);
    int before = fake->queries;
    le_allocation_free(fake_allocation(device, 3 * MIB, NULL));
    assert_true(fake->queries > before);
    le_allocation_free(other);
    le_device_stream_free(one);
    le_device_stream_free(two);
    fake_finish(device, fake);
}

/* Work on reused memory comes after all work that its earlier owners had enqueued. */
static void test_reuse_is_in_order(void **state) {
    enum { STREAMS = 4, ROUNDS = 2000, PLACES = 64 };
    (void)state;
    unsigned seed = 7;
    struct fake *fake;
    struct le_device *device = fake_open(NULL, 40 * MIB, &fake);
    struct le_device_stream *stream[STREAMS];
    static struct {
        uint64_t address;
        struct fake_operation last[STREAMS];
        bool used[STREAMS];
    } places[PLACES];
    int place_count = 0;
    for (int k = 0; k < STREAMS; k++)
        stream[k] = fake_stream_of(device);
    for (int k = 0; k < ROUNDS; k++) {
        int s = rand_r(&seed) % STREAMS, other = rand_r(&seed) % STREAMS, p = 0;
        struct le_allocation *allocation = fake_allocation(device, 5 * MIB, stream[s]);
        while (p < place_count && places[p].address != allocation->address)
            p++;
        assert_true(p < PLACES);
        place_count += p == place_count;
        places[p].address = allocation->address;
        for (int m = 0; m < 2; m++) {
            int in = m ? other : s;
            struct fake_operation operation = fake_touch(stream[in], allocation, LE_ACCESS_BOTH);
            for (int n = 0; n < STREAMS; n++)
                if (places[p].used[n])
                    assert_true(fake_is_before(&places[p].last[n], &operation));
            places[p].last[in] = operation;
            places[p].used[in] = true;
        }
        le_allocation_free(allocation);
        if (rand_r(&seed) % 4 == 0)
            fake_advance(fake, 1 + s, fake->stream[1 + s]->enqueued);
    }
    for (int k = 0; k < STREAMS; k++)
        le_device_stream_free(stream[k]);
    fake_finish(device, fake);
}

/* The host may write to it at once, so no enqueued work may use it. */
static void test_pinned_waits_for_all(void **state) {
    (void)state;
    struct fake *fake;
    struct le_device *device = fake_open(NULL, GIB, &fake);
    struct le_device_stream *stream = fake_stream_of(device);
    struct le_allocation *allocation = NULL, *other = NULL;
    assert_ok(le_allocation_new(device, LE_MEMORY_PINNED, 3 * MIB, stream, &allocation));
    assert_int_equal(allocation->capacity_bytes % 4096, 0);
    void *host = allocation->host;
    fake_touch(stream, allocation, LE_ACCESS_READ);
    le_allocation_free(allocation);
    assert_ok(le_allocation_new(device, LE_MEMORY_PINNED, 3 * MIB, stream, &other));
    assert_ptr_not_equal(other->host, host);
    assert_ok(le_device_stream_synchronize(stream));
    assert_ok(le_allocation_new(device, LE_MEMORY_PINNED, 3 * MIB, stream, &allocation));
    assert_ptr_equal(allocation->host, host);
    le_allocation_free(allocation);
    le_allocation_free(other);
    le_device_stream_free(stream);
    fake_finish(device, fake);
}

/* ---- limits */

static void test_caps(void **state) {
    const struct le_device_options options = {.memory_cap_bytes = 10 * MIB, .cache_cap_bytes = 4 * MIB};
    (void)state;
    struct fake *fake;
    struct le_device *device = fake_open(&options, GIB, &fake);
    struct le_allocation *a = fake_allocation(device, 6 * MIB, NULL), *b = NULL;
    assert_int_equal(le_allocation_new(device, LE_MEMORY_DEVICE, 5 * MIB, NULL, &b), LEAT_OUT_OF_MEMORY);
    assert_message("5242880 bytes does not fit: 6291456 of the 10485760 bytes that the options allow are in use");
    assert_int_equal(le_allocation_new(device, LE_MEMORY_DEVICE, SIZE_MAX - 5, NULL, &b), LEAT_OUT_OF_MEMORY);
    b = fake_allocation(device, 3 * MIB, NULL);
    le_allocation_free(a);
    le_allocation_free(b);
    assert_int_equal(fake->frees, 0); /* releasing calls no driver */
    assert_int_equal(use_of(device, LE_MEMORY_DEVICE).kept_bytes, 9 * MIB);
    a = fake_allocation(device, 9 * MIB + 1, NULL); /* makes room */
    assert_true(fake->used_bytes <= 10 * MIB);
    assert_int_equal(use_of(device, LE_MEMORY_DEVICE).cap_bytes, 10 * MIB);
    le_allocation_free(a);
    fake_finish(device, fake);
}

static void test_cache_cap(void **state) {
    const struct le_device_options options = {.cache_cap_bytes = 10 * MIB};
    (void)state;
    struct fake *fake;
    struct le_device *device = fake_open(&options, GIB, &fake);
    struct le_allocation *allocations[8];
    for (size_t k = 0; k < 8; k++)
        allocations[k] = fake_allocation(device, (4 + k) * MIB, NULL);
    for (size_t k = 0; k < 8; k++)
        le_allocation_free(allocations[k]);
    struct le_allocation *allocation = fake_allocation(device, 100 * MIB, NULL);
    assert_true(use_of(device, LE_MEMORY_DEVICE).kept_bytes <= 10 * MIB);
    assert_int_equal(use_of(device, LE_MEMORY_DEVICE).trims, 0); /* memory did not run out */
    le_allocation_free(allocation);
    assert_true(use_of(device, LE_MEMORY_DEVICE).kept_bytes > 10 * MIB); /* releasing frees nothing */
    assert_ok(le_device_synchronize(device));
    assert_true(use_of(device, LE_MEMORY_DEVICE).kept_bytes <= 10 * MIB);
    fake_finish(device, fake);
}

static void test_runs_out(void **state) {
    (void)state;
    struct fake *fake;
    struct le_device *device = fake_open(NULL, 20 * MIB, &fake);
    struct le_device_stream *stream = fake_stream_of(device);
    struct le_allocation *a = fake_allocation(device, 8 * MIB, stream), *b = fake_allocation(device, 8 * MIB, stream),
                         *c = NULL;
    assert_int_equal(le_allocation_new(device, LE_MEMORY_DEVICE, 30 * MIB, stream, &c), LEAT_OUT_OF_MEMORY);
    assert_message("an array of 31457280 bytes does not fit the device's 20971520 bytes");
    assert_int_equal(fake->synchronizes, 0); /* known without trying */
    assert_int_equal(le_allocation_new(device, LE_MEMORY_DEVICE, 12 * MIB, stream, &c), LEAT_OUT_OF_MEMORY);
    assert_message("an array of 12582912 bytes does not fit: 4194304 of the device's 20971520 bytes are free; this "
                   "context's arrays use 16777216");
    assert_int_equal(use_of(device, LE_MEMORY_DEVICE).trims, 1);
    fake_touch(stream, a, LE_ACCESS_WRITE);
    le_allocation_free(a);
    c = fake_allocation(device, 12 * MIB, NULL); /* waits for it, frees it, and tries again */
    assert_int_equal(use_of(device, LE_MEMORY_DEVICE).trims, 2);
    le_allocation_free(b);
    le_allocation_free(c);
    le_device_stream_free(stream);
    fake_finish(device, fake);
}

/* Instead of waiting on the host, the pool returns memory whose work is not done: its next work waits in its stream. */
static void test_runs_out_with_work_queued(void **state) {
    (void)state;
    struct fake *fake;
    struct le_device *device = fake_open(NULL, 20 * MIB, &fake);
    struct le_device_stream *one = fake_stream_of(device), *two = fake_stream_of(device);
    struct le_allocation *a = fake_allocation(device, 12 * MIB, one);
    struct fake_operation first = fake_touch(one, a, LE_ACCESS_WRITE);
    uint64_t address = a->address;
    le_allocation_free(a);
    a = fake_allocation(device, 12 * MIB, two);
    assert_int_equal(a->address, address);
    assert_int_equal(fake->synchronizes, 0);
    struct fake_operation second = fake_touch(two, a, LE_ACCESS_WRITE);
    assert_true(fake_is_before(&first, &second));
    le_allocation_free(a);
    le_device_stream_free(one);
    le_device_stream_free(two);
    fake_finish(device, fake);
}

/* ---- bounds as reported to the simulator */

static void test_notes(void **state) {
    (void)state;
    struct fake *fake;
    struct le_device *device = fake_open(NULL, GIB, &fake);
    struct le_allocation *allocation = fake_allocation(device, 1001, NULL);
    assert_int_equal(fake->noted_count, 2);
    assert_false(fake->noted[0].live);
    assert_true(fake->noted[0].size_bytes >= 256 * KIB && fake->noted[0].address <= allocation->address);
    assert_true(fake->noted[1].live && fake->noted[1].address == allocation->address &&
                fake->noted[1].size_bytes == 1001);
    le_allocation_free(allocation);
    assert_int_equal(fake->noted_count, 3);
    assert_true(!fake->noted[2].live && fake->noted[2].size_bytes == 1001);
    fake_finish(device, fake);
}

/* ---- the caller's memory */

static void test_wrap(void **state) {
    _Alignas(64) static char memory[256];
    (void)state;
    struct fake *fake;
    struct le_device *device = fake_open(NULL, GIB, &fake);
    struct le_allocation *allocation = NULL;
    assert_ok(le_allocation_wrap(device, LE_MEMORY_HOST, memory + 32, 100,
                                 &allocation)); /* the fake reports that as pinned */
    assert_int_equal(allocation->kind, LE_MEMORY_PINNED);
    assert_ptr_equal(allocation->host, memory + 32);
    assert_false(allocation->owned);
    le_allocation_free(allocation);
    assert_ok(le_allocation_wrap(device, LE_MEMORY_HOST, memory, 100, &allocation));
    assert_int_equal(allocation->kind, LE_MEMORY_HOST);
    le_allocation_free(allocation);
    assert_int_equal(le_allocation_wrap(device, LE_MEMORY_PINNED, memory, 100, &allocation), LEAT_INVALID);
    assert_message("is not; see leat_host_pin");
    assert_int_equal(le_allocation_wrap(device, LE_MEMORY_DEVICE, memory, 100, &allocation), LEAT_INVALID);
    assert_message("the device does not know it");
    fake_finish(device, fake);
}

static void test_pin(void **state) {
    static char memory[4 * 4096];
    (void)state;
    struct fake *fake;
    struct le_device *device = fake_open(NULL, GIB, &fake);
    assert_ok(le_host_pin(device, memory, 8192));
    assert_int_equal(le_host_pin(device, memory, 8192), LEAT_INVALID);
    assert_int_equal(le_host_pin(device, memory + 8191, 2), LEAT_INVALID);
    assert_int_equal(le_host_pin(device, memory, 0), LEAT_INVALID);
    assert_ok(le_host_pin(device, memory + 8192, 4096));
    assert_int_equal(le_host_unpin(device, memory + 1), LEAT_INVALID);
    assert_ok(le_host_unpin(device, memory));
    assert_int_equal(le_host_unpin(device, memory), LEAT_INVALID);
    assert_ok(le_host_unpin(device, memory + 8192));
    fake_finish(device, fake);
}

/* ---- the cpu's */

static void test_cpu(void **state) {
    (void)state;
    struct le_device *device = NULL;
    assert_ok(le_device_open("cpu", NULL, &device));
    struct le_allocation *allocation = NULL;
    for (int k = LE_MEMORY_DEVICE; k <= LE_MEMORY_MAPPED; k++) {
        assert_ok(le_allocation_new(device, (enum le_memory_kind)k, 3 * MIB + 5, NULL, &allocation));
        assert_int_equal((uintptr_t)allocation->host % 64, 0);
        assert_int_equal(allocation->address, (uintptr_t)allocation->host);
        memset(allocation->host, 1, 3 * MIB + 5);
        void *host = allocation->host;
        le_allocation_free(allocation);
        assert_int_equal(use_of(device, (enum le_memory_kind)k).live_bytes, 0);
        assert_true(use_of(device, (enum le_memory_kind)k).kept_bytes > 3 * MIB);
        assert_ok(le_allocation_new(device, (enum le_memory_kind)k, 3 * MIB, NULL, &allocation));
        assert_ptr_equal(allocation->host, host);
        le_allocation_free(allocation);
        assert_ok(le_allocation_new(device, (enum le_memory_kind)k, 100, NULL, &allocation));
        le_allocation_free(allocation); /* too small to be kept */
    }
    assert_ok(le_device_memory_trim(device));
    assert_int_equal(use_of(device, LE_MEMORY_DEVICE).kept_bytes, 0);
    assert_ok(le_allocation_new(device, LE_MEMORY_DEVICE, 3 * MIB, NULL, &allocation));
    le_device_close(device);
    memset(allocation->host, 2, 3 * MIB);
    le_allocation_free(allocation); /* frees the device, too */
}

struct churned {
    struct le_device *device;
    size_t least_bytes, span_bytes;
};

static void *run_thread(void *argument) {
    const struct churned *c = argument;
    unsigned seed = (unsigned)(uintptr_t)&seed;
    for (int k = 0; k < 2000; k++) {
        struct le_allocation *allocation;
        size_t size_bytes = c->least_bytes + (size_t)rand_r(&seed) % (k % 50 ? c->span_bytes : 15 * c->span_bytes);
        if (le_allocation_new(c->device, LE_MEMORY_DEVICE, size_bytes, NULL, &allocation))
            return c->device;
        if (size_bytes)
            memset(allocation->host, k, size_bytes);
        le_allocation_free(allocation);
    }
    return NULL;
}

static void churn_in_threads(size_t cache_cap_bytes, size_t least_bytes, size_t span_bytes) {
    struct le_device_options options = {.cache_cap_bytes = cache_cap_bytes};
    struct churned churned = {.least_bytes = least_bytes, .span_bytes = span_bytes};
    assert_ok(le_device_open("cpu", &options, &churned.device));
    pthread_t threads[4];
    for (int k = 0; k < 4; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, run_thread, &churned), 0);
    for (int k = 0; k < 4; k++) {
        void *failed;
        pthread_join(threads[k], &failed);
        assert_null(failed);
    }
    assert_int_equal(use_of(churned.device, LE_MEMORY_DEVICE).live_bytes, 0);
    le_device_close(churned.device);
}

static void test_threads(void **state) {
    (void)state;
    churn_in_threads(4 * MIB, 0, 200000);
}

/* All memory is worth keeping, but almost none may be kept: while one thread allocates, others free what is not in
 * use. */
static void test_threads_trim(void **state) {
    (void)state;
    for (int round = 0; round < 2; round++)
        churn_in_threads(1, 65536, 8192);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_reuse_in_one_stream),
        cmocka_unit_test(test_reuse_across_streams),
        cmocka_unit_test(test_reuse_after_wait),
        cmocka_unit_test(test_stream_of_late),
        cmocka_unit_test(test_reuse_is_in_order),
        cmocka_unit_test(test_pinned_waits_for_all),
        cmocka_unit_test(test_caps),
        cmocka_unit_test(test_cache_cap),
        cmocka_unit_test(test_runs_out),
        cmocka_unit_test(test_runs_out_with_work_queued),
        cmocka_unit_test(test_notes),
        cmocka_unit_test(test_wrap),
        cmocka_unit_test(test_pin),
        cmocka_unit_test(test_cpu),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_threads_trim),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
