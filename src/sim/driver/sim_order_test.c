/* The order of work, and the virtual clock of sim's driver, without kernels. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "sim/driver/sim_driver_test.h"
#include <unistd.h>

/* ---- order */

/* Enqueues fills of one byte in two streams; returns the value of the fill that ran last. */
static int last_of_two(uint64_t seed, unsigned flags, bool by_event) {
    begin_again(&(struct le_sim_options){.seed = seed, .only_on_wait = true});
    le_cu_stream a = stream_new(flags), b = stream_new(flags);
    le_cu_event event = event_new();
    le_cu_deviceptr address = device_new(1);
    unsigned char back;
    for (int k = 0; k < 8; k++)
        ok(cu->MemsetD8Async(address, 1, 1, a));
    ok(cu->EventRecord(event, a));
    if (by_event)
        ok(cu->StreamWaitEvent(b, event, 0));
    for (int k = 0; k < 8; k++)
        ok(cu->MemsetD8Async(address, 2, 1, b));
    ok(cu->CtxSynchronize());
    ok(cu->MemcpyDtoHAsync(&back, address, 1, NULL));
    return back;
}

static void the_seed_decides_the_order(void **state) {
    (void)state;
    int seen[3] = {0};
    for (uint64_t seed = 1; seed <= 20; seed++) {
        int last = last_of_two(seed, LE_CU_STREAM_NON_BLOCKING, false);
        assert_int_equal(last, last_of_two(seed, LE_CU_STREAM_NON_BLOCKING, false));
        seen[last]++;
        assert_int_equal(last_of_two(seed, LE_CU_STREAM_NON_BLOCKING, true), 2);
    }
    assert_true(seen[1] > 0 && seen[2] > 0);
}

/* Whether the NULL stream orders two streams with work before and after its own. */
static bool null_stream_orders(uint64_t seed, unsigned flags) {
    begin_again(&(struct le_sim_options){.seed = seed, .only_on_wait = true});
    le_cu_stream a = stream_new(flags), b = stream_new(flags);
    le_cu_deviceptr address = device_new(1), other = device_new(1);
    unsigned char back, *pinned = pinned_new(2);
    ok(cu->MemsetD8Async(address, 1, 1, a));
    ok(cu->MemsetD8Async(address, 2, 1, NULL));
    ok(cu->MemsetD8Async(address, 3, 1, b));
    ok(cu->MemcpyDtoDAsync(other, address, 1, b));
    ok(cu->MemcpyDtoHAsync(pinned, address, 1, NULL));
    ok(cu->CtxSynchronize());
    ok(cu->MemcpyDtoHAsync(&back, address, 1, NULL));
    return back == 3 && pinned[0] == 3;
}

static void null_stream_orders_blocking_ones(void **state) {
    (void)state;
    int loose = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        assert_true(null_stream_orders(seed, 0));
        loose += !null_stream_orders(seed, LE_CU_STREAM_NON_BLOCKING);
    }
    assert_true(loose > 0);
}

static void waits_keep_the_record_they_saw(void **state) {
    (void)state;
    le_cu_stream a = stream_new(1), b = stream_new(1);
    le_cu_event event = event_new();
    unsigned char *pinned = pinned_new(1);
    le_cu_deviceptr address = device_new(1);
    ok(cu->StreamWaitEvent(b, event, 0)); /* never recorded: nothing to wait for */
    ok(cu->EventQuery(event));
    ok(cu->EventSynchronize(event));
    ok(cu->MemsetD8Async(address, 1, 1, a));
    ok(cu->EventRecord(event, a));
    ok(cu->StreamWaitEvent(b, event, 0));
    ok(cu->MemsetD8Async(address, 2, 1, a));
    ok(cu->EventRecord(event, b)); /* recorded again in another stream: b still waits for the first record */
    ok(cu->EventDestroy(event));
    ok(cu->MemcpyDtoHAsync(pinned, address, 1, b));
    ok(cu->StreamDestroy(a));
    ok(cu->StreamSynchronize(b));
    assert_in_range(pinned[0], 1, 2);
    ok(cu->CtxSynchronize());
}

/* ---- the clock */

static void host_calls_take_their_time(void **state) {
    (void)state;
    le_cu_stream stream = stream_new(1);
    le_cu_deviceptr address = device_new(4096);
    uint64_t start_ns = cu->clock_ns();
    ok(cu->MemsetD8Async(address, 0, 1, stream));
    assert_int_equal(cu->clock_ns() - start_ns, 2750);
    ok(cu->StreamSynchronize(stream)); /* the launch, 2 us of work, and the wait */
    near_ns(cu->clock_ns() - start_ns, 7700);
}

/* Copies of 11 us each: 1,021 are enqueued without waiting; once the queue holds that many, each waits for one. */
static void full_queues_make_the_host_wait(void **state) {
    (void)state;
    le_cu_stream stream = stream_new(1);
    size_t size_bytes = 524288;
    void *pinned = pinned_new(size_bytes);
    le_cu_deviceptr address = device_new(size_bytes);
    uint64_t start_ns = cu->clock_ns();
    for (int k = 0; k < 1021; k++)
        ok(cu->MemcpyHtoDAsync(address, pinned, size_bytes, stream));
    assert_int_equal(cu->clock_ns() - start_ns, 1021 * 2750);
    for (int k = 0; k < 600; k++)
        ok(cu->MemcpyHtoDAsync(address, pinned, size_bytes, stream));
    start_ns = cu->clock_ns();
    for (int k = 0; k < 10; k++)
        ok(cu->MemcpyHtoDAsync(address, pinned, size_bytes, stream));
    near_ns(cu->clock_ns() - start_ns, 110320);
}

static void events_have_virtual_times(void **state) {
    (void)state;
    le_cu_stream stream = stream_new(1);
    le_cu_event start = event_new(), stop = event_new(), untimed;
    float milliseconds = -1;
    size_t size_bytes = 55000000; /* one millisecond at 55 GB/s */
    void *pinned = pinned_new(size_bytes);
    le_cu_deviceptr address = device_new(size_bytes);
    ok(cu->EventCreate(&untimed, LE_CU_EVENT_DISABLE_TIMING));
    fails(INVALID_HANDLE, cu->EventElapsedTime(&milliseconds, start, stop));
    ok(cu->EventRecord(start, stream));
    ok(cu->MemcpyHtoDAsync(address, pinned, size_bytes, stream));
    ok(cu->EventRecord(stop, stream));
    ok(cu->EventRecord(untimed, stream));
    fails(NOT_READY, cu->EventElapsedTime(&milliseconds, start, stop));
    fails(NOT_READY, cu->EventQuery(stop));
    fails(NOT_READY, cu->StreamQuery(stream));
    ok(cu->EventSynchronize(stop));
    ok(cu->EventQuery(stop));
    ok(cu->StreamQuery(stream));
    ok(cu->EventElapsedTime(&milliseconds, start, stop));
    assert_true(milliseconds > 1.0f && milliseconds < 1.01f);
    fails(INVALID_HANDLE, cu->EventElapsedTime(&milliseconds, start, untimed));
}

static void polling_ends(void **state) {
    (void)state;
    le_cu_stream stream = stream_new(1);
    size_t size_bytes = 55000000;
    unsigned char *pinned = pinned_new(size_bytes);
    le_cu_deviceptr address = device_new(size_bytes);
    ok(cu->MemsetD8Async(address, 9, size_bytes, stream));
    uint64_t start_ns = cu->clock_ns();
    ok(cu->MemcpyDtoHAsync(pinned, address, size_bytes, stream));
    int polls = 0;
    le_cu_result result;
    while ((result = cu->StreamQuery(stream)) == LE_CU_ERROR_NOT_READY)
        polls++;
    ok(result);
    assert_in_range(polls, 2, 100);
    assert_int_equal(pinned[size_bytes - 1], 9);
    assert_in_range(cu->clock_ns() - start_ns, 1000000, 1100000);
}

/* Writes of the device are not data races in C. */
__attribute__((no_sanitize_thread)) static unsigned char polled(const volatile unsigned char *memory) {
    return *memory;
}

static void polled_memory_changes(void **state) {
    (void)state;
    begin_again(&(struct le_sim_options){.seed = 1});
    le_cu_stream stream = stream_new(1);
    unsigned char *pinned = pinned_new(1);
    le_cu_deviceptr address = device_new(1);
    pinned[0] = 0;
    ok(cu->MemsetD8Async(address, 5, 1, stream));
    ok(cu->MemcpyDtoHAsync(pinned, address, 1, stream));
    for (int k = 0; k < 10000 && !polled(pinned); k++)
        usleep(10000);
    assert_int_equal(polled(pinned), 5);
}

/* Copies to the device and to the host overlap; two copies to the device do not. */
static void engines_overlap(void **state) {
    (void)state;
    size_t size_bytes = 55000000;
    void *from = pinned_new(size_bytes), *to = pinned_new(size_bytes);
    le_cu_deviceptr first = device_new(size_bytes), second = device_new(size_bytes);
    le_cu_stream up = stream_new(1), down = stream_new(1);
    uint64_t start_ns = cu->clock_ns();
    ok(cu->MemcpyHtoDAsync(first, from, size_bytes, up));
    ok(cu->MemcpyDtoHAsync(to, second, size_bytes, down));
    ok(cu->CtxSynchronize());
    assert_in_range(cu->clock_ns() - start_ns, 1000000, 1100000);
    start_ns = cu->clock_ns();
    ok(cu->MemcpyHtoDAsync(first, from, size_bytes, up));
    ok(cu->MemcpyHtoDAsync(second, from, size_bytes, down));
    ok(cu->CtxSynchronize());
    assert_in_range(cu->clock_ns() - start_ns, 2000000, 2100000);
}

int main(void) {
#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(the_seed_decides_the_order),
        TEST(null_stream_orders_blocking_ones),
        TEST(waits_keep_the_record_they_saw),
        TEST(host_calls_take_their_time),
        TEST(full_queues_make_the_host_wait),
        TEST(events_have_virtual_times),
        TEST(polling_ends),
        TEST(polled_memory_changes),
        TEST(engines_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
