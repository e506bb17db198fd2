/* Which process's time counts when several processes share a device: the processes that use it, while each was
 * recorded. report_test.c compares random traces with a count of every nanosecond. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "trace/device_time.h"
#include "trace/trace_testing.h"

enum { THREAD = 5 };

static void begin(struct le_made_trace *made, uint32_t process, uint64_t on_ns) {
    le_made_part(made, process);
    made->correlation = 0;
    le_made_device(made, 0, "H200", 132);
    le_made_switch(made, on_ns, true);
}

static void kernel(struct le_made_trace *made, uint64_t start_ns, uint64_t duration_ns) {
    uint32_t call = le_made_call(made, THREAD, "cudaLaunchKernel", start_ns - 100, 50);
    le_made_kernel(made, call, 7, "k", start_ns, duration_ns, 1, 32);
}

static struct le_device_time time_of(struct le_made_trace *made, int32_t device) {
    struct le_device_time time;
    struct le_arena arena;
    struct le_trace_index *index = le_made_index(made);
    le_arena_init(&arena);
    le_device_time_find(index, device, &arena, &time);
    le_arena_finish(&arena);
    le_trace_free(index);
    le_made_finish(made);
    return time;
}

static void between_two_windows_nothing_is_recorded(void **state) {
    (void)state;
    struct le_made_trace made = {0};
    begin(&made, 1, 1000);
    kernel(&made, 1200, 300);
    le_made_switch(&made, 2000, false);
    le_made_end(&made, 9000, 0);
    begin(&made, 2, 6000);
    kernel(&made, 6200, 300);
    le_made_switch(&made, 7000, false);
    le_made_end(&made, 9000, 0);
    struct le_device_time time = time_of(&made, 0);
    assert_true(time.wall_ns == 6000 && time.busy_ns == 600);
    assert_true(time.host_ns[LE_HOST_PAUSED] == 4000 && time.host_ns[LE_HOST_LAUNCHING] == 100);
    assert_true(time.host_ns[LE_HOST_OTHER] == 1300);
}

static void one_process_pause_hides_no_other(void **state) {
    (void)state;
    struct le_made_trace made = {0};
    begin(&made, 1, 1000);
    kernel(&made, 1200, 300);
    le_made_switch(&made, 2000, false);
    le_made_switch(&made, 8000, true);
    le_made_end(&made, 9000, 0);
    begin(&made, 2, 1000);
    le_made_call(&made, THREAD, "cuModuleLoadData", 3000, 4000);
    le_made_switch(&made, 7500, false);
    le_made_end(&made, 9000, 0);
    struct le_device_time time = time_of(&made, 0);
    assert_true(time.wall_ns == 8000 && time.busy_ns == 300);
    assert_true(time.host_ns[LE_HOST_COMPILING] == 4000);
    assert_true(time.host_ns[LE_HOST_PAUSED] == 500); /* both */
}

/* A process with a context uses the device, even if none of its work was recorded, so its waits count. */
static void waits_alone_are_waits(void **state) {
    (void)state;
    struct le_made_trace made = {0};
    begin(&made, 1, 1000);
    le_made_call(&made, THREAD, "cudaDeviceSynchronize", 2000, 900);
    le_made_end(&made, 4000, 0);
    struct le_device_time time = time_of(&made, 0);
    assert_true(time.wall_ns == 3000 && time.busy_ns == 0);
    assert_true(time.host_ns[LE_HOST_WAITING] == 900 && time.host_ns[LE_HOST_OTHER] == 2100);
}

/* Calls of a process that does not use the device do not count. */
static void others_calls_do_not_count(void **state) {
    (void)state;
    struct le_made_trace made = {0};
    begin(&made, 1, 1000);
    kernel(&made, 1200, 300);
    le_made_end(&made, 5000, 0);
    le_made_part(&made, 2);
    made.correlation = 0;
    le_made_device(&made, 1, "H200", 132);
    le_made_call(&made, THREAD, "cudaDeviceSynchronize", 2000, 900);
    le_made_end(&made, 5000, 0);
    struct le_device_time time = time_of(&made, 0);
    assert_true(time.host_ns[LE_HOST_WAITING] == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(between_two_windows_nothing_is_recorded),
        cmocka_unit_test(one_process_pause_hides_no_other),
        cmocka_unit_test(waits_alone_are_waits),
        cmocka_unit_test(others_calls_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
