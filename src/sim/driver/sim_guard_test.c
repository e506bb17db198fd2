/* Checking without kernels: unordered host accesses, the order of operations in streams, and the bounds and lifetime of
 * memory. Each test has a context of its own. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "sim/sim.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES 10000

static const struct le_cuda_driver *cu;

#define ok(call) assert_int_equal(call, LE_CU_SUCCESS)

static int begin(void **state) {
    (void)state;
    cu = le_sim_driver();
    le_cu_context primary;
    return le_sim_configure(&(struct le_sim_options){.seed = 1, .check = true, .only_on_wait = true}) || cu->Init(0) ||
           cu->DevicePrimaryCtxRetain(&primary, 0) || cu->CtxSetCurrent(primary);
}

static int end(void **state) {
    (void)state;
    return cu->DevicePrimaryCtxRelease(0);
}

static le_cu_stream stream_new(void) {
    le_cu_stream stream;
    ok(cu->StreamCreate(&stream, LE_CU_STREAM_NON_BLOCKING));
    return stream;
}

static le_cu_deviceptr device_new(size_t size_bytes) {
    le_cu_deviceptr address;
    ok(cu->MemAlloc(&address, size_bytes));
    return address;
}

static volatile unsigned char *pinned_new(size_t size_bytes) {
    void *memory;
    ok(cu->MemHostAlloc(&memory, size_bytes, 0));
    return memory;
}

static void expect_no_reports(void) {
    const char *report = cu->report();
    if (report)
        fail_msg("report: %s", report);
}

static void expect_report(const char *part) {
    const char *report = cu->report();
    if (!report || !strstr(report, part))
        fail_msg("wanted: %s\nreport: %s", part, report ? report : "none");
}

static int count_of(const char *part) {
    int count = 0;
    for (const char *at = cu->report(); at && (at = strstr(at, part)); at++)
        count++;
    return count;
}

/* ---- host accesses */

static void a_read_before_the_copy_is_over(void **state) {
    (void)state;
    le_cu_stream first = stream_new(), second = stream_new();
    volatile unsigned char *pinned = pinned_new(BYTES);
    le_cu_deviceptr address = device_new(BYTES);
    pinned[0] = 1;
    ok(cu->MemsetD8Async(address, 7, BYTES, second));
    ok(cu->MemcpyDtoHAsync((void *)pinned, address, BYTES, second));
    ok(cu->StreamSynchronize(first)); /* the wrong one */
    assert_int_equal(pinned[BYTES - 1], 0);
    expect_report(
        "missing synchronization before a host read of pinned memory that 'copy to the host' (stream 2) has not "
        "finished writing");
    ok(cu->StreamSynchronize(second));
    assert_int_equal(pinned[BYTES - 1], 7);
    assert_int_equal(count_of("has not finished"), 1);
}

static void a_write_before_the_copy_is_over(void **state) {
    (void)state;
    le_cu_stream stream = stream_new();
    volatile unsigned char *pinned = pinned_new(BYTES);
    le_cu_deviceptr address = device_new(BYTES);
    ok(cu->MemcpyHtoDAsync(address, (void *)pinned, BYTES, stream));
    assert_int_equal(pinned[5], 0); /* reading what the copy reads is allowed */
    expect_no_reports();
    pinned[5] = 1;
    expect_report(
        "missing synchronization before a host write of pinned memory that 'copy to the device' (stream 1) has not "
        "finished reading");
}

static void waits_are_enough(void **state) {
    (void)state;
    le_cu_stream stream = stream_new(), other = stream_new();
    volatile unsigned char *pinned = pinned_new(BYTES);
    le_cu_deviceptr address = device_new(BYTES);
    le_cu_event event, last;
    ok(cu->EventCreate(&event, LE_CU_EVENT_DISABLE_TIMING));
    ok(cu->EventCreate(&last, LE_CU_EVENT_DISABLE_TIMING));
    for (int method = 0; method < 5; method++) {
        ok(cu->MemsetD8Async(address, (unsigned char)(method + 1), BYTES, stream));
        ok(cu->MemcpyDtoHAsync((void *)pinned, address, BYTES, stream));
        ok(cu->EventRecord(event, stream));
        ok(cu->StreamWaitEvent(other, event, 0));
        ok(cu->EventRecord(last, other));
        if (method == 0)
            ok(cu->StreamSynchronize(stream));
        else if (method == 1)
            ok(cu->CtxSynchronize());
        else if (method == 2)
            ok(cu->EventSynchronize(event));
        else if (method == 3)
            ok(cu->EventSynchronize(last));
        else
            while (cu->StreamQuery(stream) == LE_CU_ERROR_NOT_READY)
                ;
        for (int k = 0; k < BYTES; k++)
            assert_int_equal(pinned[k], method + 1);
        pinned[0] = 0;
    }
    expect_no_reports();
}

static void neighbours_are_not_reported(void **state) {
    (void)state;
    le_cu_stream stream = stream_new();
    volatile unsigned char *pinned = pinned_new(BYTES);
    le_cu_deviceptr address = device_new(100);
    ok(cu->MemsetD8Async(address, 7, 100, stream));
    ok(cu->MemcpyDtoHAsync((void *)(pinned + 100), address, 100, stream));
    pinned[99] = 1;
    pinned[200] = 1;
    expect_no_reports();
    ok(cu->StreamSynchronize(stream));
    assert_int_equal(pinned[99] + pinned[100] + pinned[199] + pinned[200], 16);
    expect_no_reports();
}

static void registered_memory_is_guarded(void **state) {
    (void)state;
    le_cu_stream stream = stream_new();
    size_t size_bytes = 1 << 16;
    volatile unsigned char *memory = malloc(size_bytes);
    le_cu_deviceptr address = device_new(size_bytes);
    memory[9999] = 0;
    ok(cu->MemHostRegister((void *)memory, size_bytes, 0));
    ok(cu->MemsetD8Async(address, 7, size_bytes, stream));
    ok(cu->MemcpyDtoHAsync((void *)memory, address, size_bytes, stream));
    assert_int_equal(memory[9999], 0);
    expect_report("missing synchronization before a host read of registered memory that 'copy to the host' (stream 1)");
    ok(cu->MemHostUnregister((void *)memory));
    for (size_t k = 0; k < size_bytes; k++)
        assert_int_equal(memory[k], 7);
    assert_int_equal(count_of("has not finished"), 1);
    free((void *)memory);
}

static void host_accesses_to_device_memory_are_reported(void **state) {
    (void)state;
    le_cu_deviceptr address = device_new(BYTES);
    volatile unsigned char *wrong = (unsigned char *)(uintptr_t)address;
    ok(cu->MemsetD8Async(address, 7, BYTES, NULL));
    ok(cu->CtxSynchronize());
    (void)wrong[0];
    expect_report("host read of device memory: use copies to access it");
    wrong[BYTES - 1] = 1;
    expect_report("host write of device memory");
}

/* A fault that sim did not cause goes to the previous handler. */
static sigjmp_buf escape;
static void former_handler(int number) {
    (void)number;
    siglongjmp(escape, 1);
}

static void other_faults_are_passed_on(void **state) {
    (void)state;
    ok(cu->DevicePrimaryCtxRelease(0));
    struct sigaction action = {.sa_handler = former_handler}, before;
    sigaction(SIGSEGV, &action, &before);
    assert_int_equal(begin(state), 0);
    volatile unsigned char *closed = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(closed, MAP_FAILED);
    bool came = false;
    if (sigsetjmp(escape, 1) == 0)
        (void)closed[0];
    else
        came = true;
    assert_true(came);
    expect_no_reports();
    munmap((void *)closed, 4096);
    ok(cu->DevicePrimaryCtxRelease(0));
    struct sigaction after;
    sigaction(SIGSEGV, &before, &after);
    assert_ptr_equal(after.sa_handler, former_handler); /* sim's handler was removed */
    assert_int_equal(begin(state), 0);
}

static void a_fault_without_a_handler_ends_the_process(void **state) {
    (void)state;
    pid_t child = fork();
    if (!child) {
        signal(SIGSEGV, SIG_DFL);
        volatile unsigned char *closed = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        (void)closed[0];
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

/* ---- streams */

static void unordered_writes_are_reported(void **state) {
    (void)state;
    le_cu_stream a = stream_new(), b = stream_new();
    le_cu_deviceptr address = device_new(BYTES), other = device_new(BYTES);
    ok(cu->MemsetD8Async(address, 1, BYTES, a));
    ok(cu->MemcpyDtoDAsync(other, address, BYTES, b));
    ok(cu->CtxSynchronize());
    expect_report("copy on the device");
    expect_report("fill");
}

static void ordered_writes_are_not_reported(void **state) {
    (void)state;
    le_cu_stream a = stream_new(), b = stream_new();
    le_cu_deviceptr address = device_new(BYTES), other = device_new(BYTES);
    le_cu_event event;
    ok(cu->EventCreate(&event, 0));
    ok(cu->MemsetD8Async(address, 1, BYTES, a));
    ok(cu->EventRecord(event, a));
    ok(cu->StreamWaitEvent(b, event, 0));
    ok(cu->MemcpyDtoDAsync(other, address, BYTES, b));
    ok(cu->EventRecord(event, b));
    ok(cu->StreamWaitEvent(a, event, 0));
    ok(cu->MemsetD8Async(address, 2, BYTES, a));
    ok(cu->StreamSynchronize(a));
    ok(cu->MemsetD8Async(address, 3, BYTES, b)); /* the host has waited */
    ok(cu->CtxSynchronize());
    expect_no_reports();
}

static void the_null_stream_orders_blocking_ones(void **state) {
    (void)state;
    le_cu_stream blocking, loose = stream_new();
    le_cu_deviceptr address = device_new(BYTES);
    ok(cu->StreamCreate(&blocking, 0));
    ok(cu->MemsetD8Async(address, 1, BYTES, blocking));
    ok(cu->MemsetD8Async(address, 2, BYTES, NULL));
    ok(cu->MemsetD8Async(address, 3, BYTES, blocking));
    ok(cu->CtxSynchronize());
    expect_no_reports();
    ok(cu->MemsetD8Async(address, 2, BYTES, NULL));
    ok(cu->MemsetD8Async(address, 3, BYTES, loose));
    ok(cu->CtxSynchronize());
    expect_report("stream");
}

static void destroyed_streams_are_waited_for(void **state) {
    (void)state;
    le_cu_stream loose = stream_new(), blocking;
    volatile unsigned char *pinned = pinned_new(BYTES);
    le_cu_deviceptr address = device_new(BYTES), other = device_new(BYTES);
    ok(cu->MemsetD8Async(address, 7, BYTES, loose));
    ok(cu->MemcpyDtoHAsync((void *)pinned, address, BYTES, loose));
    ok(cu->StreamDestroy(loose));
    ok(cu->MemFree(device_new(1))); /* runs all work, after which the stream is freed */
    ok(cu->CtxSynchronize());
    assert_int_equal(pinned[0], 7);
    ok(cu->StreamCreate(&blocking, 0));
    ok(cu->MemsetD8Async(other, 7, BYTES, blocking));
    ok(cu->StreamDestroy(blocking));
    ok(cu->MemFree(device_new(1)));
    ok(cu->MemsetD8Async(other, 8, BYTES, NULL));
    ok(cu->CtxSynchronize());
    expect_no_reports();
}

/* ---- bounds and lifetime of memory */

static void released_arrays_are_known(void **state) {
    (void)state;
    le_cu_deviceptr pool = device_new(1 << 16);
    cu->note_memory(pool, 1000, true);
    cu->note_memory(pool + 1024, 1000, true);
    ok(cu->MemsetD8Async(pool, 1, 1000, NULL));
    ok(cu->MemsetD8Async(pool + 1024, 1, 1000, NULL));
    cu->note_memory(pool, 1000, false); /* work enqueued before may still use it */
    ok(cu->CtxSynchronize());
    expect_no_reports();
    ok(cu->MemsetD8Async(pool, 1, 1000, NULL));
    ok(cu->CtxSynchronize());
    expect_report("fill");
}

static void arrays_in_pools_have_bounds(void **state) {
    (void)state;
    le_cu_deviceptr pool = device_new(1 << 16);
    cu->note_memory(pool, 1000, true);
    ok(cu->MemsetD8Async(pool, 1, 1000, NULL));
    ok(cu->CtxSynchronize());
    expect_no_reports();
    ok(cu->MemsetD8Async(pool, 1, 1001, NULL));
    ok(cu->CtxSynchronize());
    expect_report("fill");
}

static void addresses_are_not_used_again(void **state) {
    (void)state;
    le_cu_deviceptr first = device_new(100);
    ok(cu->MemFree(first));
    for (int k = 0; k < 100; k++) {
        le_cu_deviceptr next = device_new(100);
        assert_int_not_equal(next, first);
        ok(cu->MemFree(next));
    }
}

int main(void) {
#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(a_read_before_the_copy_is_over),
        TEST(a_write_before_the_copy_is_over),
        TEST(waits_are_enough),
        TEST(neighbours_are_not_reported),
        TEST(registered_memory_is_guarded),
        TEST(host_accesses_to_device_memory_are_reported),
        TEST(other_faults_are_passed_on),
        TEST(a_fault_without_a_handler_ends_the_process),
        TEST(unordered_writes_are_reported),
        TEST(ordered_writes_are_not_reported),
        TEST(the_null_stream_orders_blocking_ones),
        TEST(destroyed_streams_are_waited_for),
        TEST(released_arrays_are_known),
        TEST(arrays_in_pools_have_bounds),
        TEST(addresses_are_not_used_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
