/* A device: names, the first fatal error, a forked child, events, and objects that outlive each other. */
#include "device/front/device_testing.h"
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

static void test_names(void **state) {
    static const char *const right[] = {"cpu", "cpu:0", "cuda", "cuda:0", "cuda:12", "sim"};
    static const char *const wrong[] = {"",      "gpu",         "cuda:", "cuda:x", "cuda:-1",
                                        "cuda0", "cuda:123456", "cpu:1", "SIM"};
    struct le_device *device = NULL;
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(right); k++)
        assert_true(le_device_is_name(right[k]));
    for (size_t k = 0; k < ARRAY_LEN(wrong); k++) {
        assert_false(le_device_is_name(wrong[k]));
        assert_int_equal(le_device_open(wrong[k], NULL, &device), LEAT_DEVICE);
        assert_null(device);
    }
    assert_ok(le_device_open("cpu", NULL, &device));
    assert_string_equal(le_device_limits_of(device)->kind, "cpu");
    assert_true(le_device_limits_of(device)->host_is_device);
    assert_null(le_device_stream_native(le_device_stream_own(device)));
    assert_true(le_device_clock_ns(device) > 0);
    le_device_close(device);
}

/* ---- the first fatal error */

static void test_latch(void **state) {
    (void)state;
    struct fake *fake;
    struct le_device *device = fake_open(NULL, 64 * MIB, &fake);
    struct le_device_stream *one = fake_stream_of(device), *two = fake_stream_of(device);
    struct le_allocation *allocation = fake_allocation(device, 1000, one), *other = NULL;
    struct le_device_event *event = NULL;
    assert_ok(le_device_event_new(device, &event));
    assert_ok(le_device_event_record(event, one));
    fake_touch(one, allocation, LE_ACCESS_WRITE);
    le_device_note_launch(one, one->number, "early", (const unsigned[]){9, 1, 1}, (const unsigned[]){64, 1, 1});
    assert_ok(le_device_stream_synchronize(one)); /* so stream one was fine */
    fake_touch(one, allocation, LE_ACCESS_WRITE);
    le_device_note_launch(one, one->number, "first", (const unsigned[]){4, 1, 1}, (const unsigned[]){256, 2, 1});
    fake_touch(two, allocation, LE_ACCESS_WRITE);
    le_device_note_launch(two, two->number, "second", (const unsigned[]){1, 2, 3}, (const unsigned[]){32, 1, 1});
    fake->failing = LEAT_DEVICE;
    assert_int_equal(le_device_stream_synchronize(two), LEAT_DEVICE);
    assert_string_equal(le_error_at(0)->message,
                        "the fake fails; after: kernel 'second' launched as <<<(1,2,3),(32,1,1)>>> in stream 3, kernel "
                        "'first' launched as <<<(4,1,1),(256,2,1)>>> in stream 2");
    assert_string_equal(le_error_at(0)->expected, "the advice");
    fake->failing = LEAT_OK; /* all later calls fail without asking the backend */
    char memory[64];
    double milliseconds;
    const struct le_allocation_use use = {allocation, LE_ACCESS_READ};
    assert_int_equal(le_device_check(device), LEAT_DEVICE);
    assert_message("the device failed earlier: the fake fails; after: kernel 'second'");
    assert_int_equal(le_order_begin(one, &use, 1), LEAT_DEVICE);
    assert_int_equal(le_allocation_new(device, LE_MEMORY_DEVICE, 10, NULL, &other), LEAT_DEVICE);
    assert_int_equal(le_device_synchronize(device), LEAT_DEVICE);
    assert_int_equal(le_device_wait_point(device, 2, 1), LEAT_DEVICE);
    assert_int_equal(le_device_event_record(event, one), LEAT_DEVICE);
    assert_int_equal(le_device_event_synchronize(event), LEAT_DEVICE);
    assert_int_equal(le_device_event_elapsed_ms(event, event, &milliseconds), LEAT_DEVICE);
    assert_int_equal(le_device_stream_wait_event(one, event), LEAT_DEVICE);
    assert_int_equal(le_host_pin(device, memory, sizeof memory), LEAT_DEVICE);
    assert_int_equal(le_device_memory_trim(device), LEAT_DEVICE);
    le_allocation_free(allocation); /* freeing is still safe */
    le_device_event_free(event);
    le_device_stream_free(one);
    le_device_stream_free(two);
    fake_finish(device, fake);
}

static void test_first_cause_stays(void **state) {
    (void)state;
    struct fake *fake;
    struct le_device *device = fake_open(NULL, 64 * MIB, &fake);
    le_fail(LEAT_DEVICE, "the cause");
    assert_int_equal(le_device_latch(device, LEAT_DEVICE, NULL), LEAT_DEVICE);
    le_fail(LEAT_DEVICE, "what came of it");
    assert_int_equal(le_device_latch(device, LEAT_DEVICE, NULL), LEAT_DEVICE);
    assert_int_equal(le_device_check(device), LEAT_DEVICE);
    assert_string_equal(le_error_at(0)->message, "the device failed earlier: the cause");
    fake_finish(device, fake);
}

/* ---- fork */

static bool child_is_refused(struct le_device *device, struct le_device_stream *stream,
                             struct le_allocation *allocation, struct le_device_event *event) {
    struct le_allocation *other = NULL;
    bool refused = le_device_check(device) == LEAT_INVALID && le_device_synchronize(device) == LEAT_INVALID &&
                   le_allocation_new(device, LE_MEMORY_DEVICE, 10, NULL, &other) == LEAT_INVALID &&
                   le_device_event_record(event, stream) == LEAT_INVALID &&
                   le_device_wait_point(device, 1, 0) == LEAT_INVALID &&
                   strstr(le_error_at(0)->message, "before fork()");
    le_allocation_free(allocation);
    le_device_event_free(event);
    le_device_stream_free(stream);
    le_device_close(device);
    return refused;
}

static void test_fork(void **state) {
    (void)state;
    struct fake *fake;
    struct le_device *device = fake_open(NULL, 64 * MIB, &fake);
    struct le_device_stream *stream = fake_stream_of(device);
    struct le_allocation *allocation = fake_allocation(device, 1000, stream);
    struct le_device_event *event = NULL;
    assert_ok(le_device_event_new(device, &event));
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(child_is_refused(device, stream, allocation, event) ? 0 : 1);
    int result = -1;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result) && WEXITSTATUS(result) == 0);
    le_allocation_free(allocation);
    le_device_event_free(event);
    le_device_stream_free(stream);
    fake_finish(device, fake);
}

/* ---- events */

static void test_events(void **state) {
    (void)state;
    struct fake *fake;
    struct le_device *device = fake_open(NULL, 64 * MIB, &fake), *other = NULL;
    struct le_device_stream *one = fake_stream_of(device), *two = fake_stream_of(device), *elsewhere;
    struct le_allocation *allocation = fake_allocation(device, 1000, one), *second = fake_allocation(device, 1000, one);
    struct le_device_event *start = NULL, *stop = NULL;
    double milliseconds = -1;
    assert_ok(le_device_event_new(device, &start));
    assert_ok(le_device_event_new(device, &stop));
    assert_int_equal(le_device_event_elapsed_ms(start, stop, &milliseconds), LEAT_INVALID);
    assert_message("start was not recorded");
    assert_ok(le_device_event_synchronize(start)); /* never recorded: counts as passed */
    assert_ok(le_device_stream_wait_event(two, start));
    assert_ok(le_device_event_record(start, one));
    assert_int_equal(le_device_event_elapsed_ms(start, stop, &milliseconds), LEAT_INVALID);
    assert_message("stop was not recorded");
    struct fake_operation first = fake_touch(one, allocation, LE_ACCESS_WRITE);
    fake_touch(one, second, LE_ACCESS_WRITE);
    assert_ok(le_device_event_record(stop, one));
    int waits = fake->waits, records = fake->records;
    assert_ok(le_device_stream_wait_event(two, stop));
    struct fake_operation last = fake_touch(two, allocation, LE_ACCESS_READ);
    assert_true(fake_is_before(&first, &last));
    assert_int_equal(fake->waits, waits + 1); /* only the user's own wait */
    assert_int_equal(fake->records, records);
    assert_ok(le_device_event_elapsed_ms(start, stop, &milliseconds));
    assert_true(milliseconds == 2);
    assert_int_equal(fake->stream[first.stream]->done, 2);
    assert_ok(le_device_open("cpu", NULL, &other));
    elsewhere = le_device_stream_own(other);
    assert_int_equal(le_device_event_record(start, elsewhere), LEAT_INVALID);
    assert_int_equal(le_device_stream_wait_event(elsewhere, start), LEAT_INVALID);
    le_device_close(other);
    le_device_event_free(start);
    le_device_event_free(stop);
    le_device_event_free(NULL);
    le_allocation_free(allocation);
    le_allocation_free(second);
    le_device_stream_free(one);
    le_device_stream_free(two);
    fake_finish(device, fake);
}

/* ---- every allocation fails once */

static int allocation_count, failing;

static void *hook_allocate(size_t size_bytes, void *user) {
    void *memory = ++allocation_count == failing ? NULL : malloc(size_bytes);
    *(int *)user += memory != NULL;
    return memory;
}
static void *hook_reallocate(void *memory, size_t size_bytes, void *user) {
    void *grown = ++allocation_count == failing ? NULL : realloc(memory, size_bytes);
    *(int *)user += grown && !memory;
    return grown;
}
static void hook_release(void *memory, void *user) {
    *(int *)user -= memory != NULL;
    free(memory);
}

/* Uses a device in every way, up to the first failure. */
static leat_status try_all(struct le_device *device) {
    enum { STREAMS = 20 };
    static char memory[4096];
    struct le_device_stream *streams[STREAMS] = {NULL};
    struct le_allocation *allocations[3] = {NULL}, *wrapped = NULL;
    struct le_device_event *event = NULL;
    leat_status status = le_device_event_new(device, &event);
    for (int k = 0; k < STREAMS && !status; k++)
        status = le_device_stream_new(device, NULL, &streams[k]);
    for (size_t k = 0; k < 3 && !status; k++)
        status = le_allocation_new(device, (enum le_memory_kind)k, 100000 + 3 * MIB * k, streams[0], &allocations[k]);
    if (!status)
        status = le_allocation_wrap(device, LE_MEMORY_HOST, memory, sizeof memory, &wrapped);
    for (int k = 0; k < STREAMS && !status; k++) {
        const struct le_allocation_use use = {allocations[k % 3], k % 5 ? LE_ACCESS_READ : LE_ACCESS_BOTH};
        status = le_order_begin(streams[k], &use, 1);
        le_order_end(streams[k], &use, 1, !status);
    }
    if (!status)
        status = le_device_event_record(event, streams[3]);
    if (!status)
        status = le_device_stream_wait_event(streams[4], event);
    if (!status)
        status = le_host_pin(device, memory, sizeof memory);
    if (!status)
        status = le_host_unpin(device, memory);
    if (!status)
        status = le_device_synchronize(device);
    for (int k = 0; k < STREAMS; k++)
        le_device_stream_free(streams[k]);
    for (int k = 0; k < 3; k++)
        le_allocation_free(allocations[k]);
    le_allocation_free(wrapped);
    le_device_event_free(event);
    return status;
}

static void test_allocations_fail(void **state) {
    (void)state;
    int live = 0, tried = 0;
    const struct le_allocator hooks = {hook_allocate, hook_reallocate, hook_release, &live};
    leat_status status = LEAT_OUT_OF_MEMORY;
    le_memory_set_allocator(&hooks);
    for (failing = 1; status || failing < tried; failing++) {
        struct fake *fake;
        int fails = failing;
        failing = 0; /* failures start after opening the fake */
        allocation_count = 0;
        struct le_device *device = fake_open(NULL, 64 * MIB, &fake);
        allocation_count = 0;
        failing = fails;
        status = try_all(device);
        assert_true(status == LEAT_OK || status == LEAT_OUT_OF_MEMORY);
        tried = allocation_count;
        fake_finish(device, fake);
        assert_int_equal(live, 0);
        assert_true(failing < 500);
    }
    assert_true(failing > 20);
    for (failing = 1; failing < 6; failing++) { /* opening the cpu device */
        struct le_device *device = NULL;
        allocation_count = 0;
        status = le_device_open("cpu", NULL, &device);
        assert_true(status == LEAT_OK || status == LEAT_OUT_OF_MEMORY);
        le_device_close(device);
        assert_int_equal(live, 0);
    }
    le_memory_set_allocator(NULL);
}

/* ---- objects that outlive each other */

static void test_things_outlive_the_owner(void **state) {
    (void)state;
    struct le_ledger *ledger = NULL;
    assert_ok(le_ledger_new(1, &ledger));
    const struct le_device_options options = {.ledger = ledger};
    struct le_device *device = NULL;
    struct le_device_stream *stream = NULL;
    struct le_allocation *allocation = NULL;
    assert_ok(le_device_open("cpu", &options, &device));
    assert_ok(le_device_stream_new(device, NULL, &stream));
    assert_ok(le_allocation_new(device, LE_MEMORY_DEVICE, 100000, stream, &allocation));
    assert_true(le_ledger_count(ledger) > 0); /* the allocation */
    le_device_close(device);
    le_ledger_free(ledger);
    assert_ok(le_device_stream_synchronize(stream)); /* and records nothing more */
    memset(allocation->host, 1, 100000);
    le_allocation_free(allocation);
    le_device_stream_free(stream);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_latch),
        cmocka_unit_test(test_first_cause_stays),
        cmocka_unit_test(test_allocations_fail),
        cmocka_unit_test(test_fork),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_things_outlive_the_owner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
