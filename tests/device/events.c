/* Events: recording, waiting on the host and in streams, and the time between two. Only properties of times that hold
 * on every device are checked; times in the transcript are masked. */
#include "work.h"

static leat_event *new_event(void) {
    leat_event *event = NULL;
    assert_ok(leat_event_new(ctx, &event));
    return event;
}

static const char *yes(bool value) {
    return value ? "yes" : "no";
}

static void test_mistakes(void **state) {
    (void)state;
    leat_event *start_event = new_event(), *stop = new_event();
    double milliseconds = -1;
    say_failure(leat_event_elapsed_ms(start_event, stop, &milliseconds));
    assert_ok(leat_event_record(start_event, NULL));
    say_failure(leat_event_elapsed_ms(start_event, stop, &milliseconds));
    say_failure(leat_event_elapsed_ms(start_event, start_event, NULL));
    assert_ok(leat_event_synchronize(stop)); /* an event that was never recorded counts as passed */
    assert_true(milliseconds == -1);
    leat_context *other = open_device(NULL);
    leat_stream *elsewhere = NULL;
    leat_event *theirs = NULL;
    assert_ok(leat_stream_new(other, &elsewhere));
    assert_ok(leat_event_new(other, &theirs));
    say_failure(leat_event_record(start_event, elsewhere));
    assert_ok(leat_event_record(theirs, elsewhere));
    say_failure(leat_stream_wait_event(elsewhere, start_event));
    say_failure(leat_event_elapsed_ms(start_event, theirs, &milliseconds));
    leat_event_free(theirs);
    leat_stream_free(elsewhere);
    leat_close(other);
    leat_event_free(start_event);
    leat_event_free(stop);
    leat_event_free(NULL);
}

static void test_elapsed(void **state) {
    (void)state;
    leat_stream *stream = new_stream();
    leat_array *y = words(LEAT_MEMORY_DEVICE, 1), *x = words(LEAT_MEMORY_DEVICE, 2);
    leat_event *events[4];
    double first = -1, second = -1, both = -1, back = 1;
    for (int k = 0; k < 4; k++)
        events[k] = new_event();
    assert_ok(spin(stream, y, 1000)); /* first launches take longer */
    assert_ok(leat_event_record(events[0], stream));
    assert_ok(mix(stream, y, x));
    assert_ok(leat_event_record(events[1], stream));
    assert_ok(spin(stream, y, 300000));
    assert_ok(mix(stream, y, x));
    assert_ok(leat_event_record(events[2], stream));
    assert_ok(leat_event_elapsed_ms(events[0], events[1], &first)); /* waits */
    assert_ok(leat_event_elapsed_ms(events[1], events[2], &second));
    assert_ok(leat_event_elapsed_ms(events[0], events[2], &both));
    assert_ok(leat_event_elapsed_ms(events[2], events[0], &back));
    say("the time between two events is positive: %s", yes(first > 0 && second > 0));
    say("times add up: %s", yes(first + second - both < 0.01 && both - first - second < 0.01));
    say("backwards they are negative: %s", yes(back < 0 && back + both < 0.01 && back + both > -0.01));
    assert_true(on_cpu() || second > first);
    assert_ok(leat_event_record(events[0], stream)); /* the later record counts */
    assert_ok(leat_event_elapsed_ms(events[2], events[0], &first));
    say("recorded again, it is later: %s", yes(first >= 0));
    say("what was computed: %08x", checksum(y));
    for (int k = 0; k < 4; k++)
        leat_event_free(events[k]);
    leat_stream_free(stream);
    leat_array_free(y);
    leat_array_free(x);
}

static void test_host_waits(void **state) {
    static unsigned back[WORDS];
    (void)state;
    leat_stream *stream = new_stream();
    leat_array *y = words(LEAT_MEMORY_DEVICE, 1), *x = words(LEAT_MEMORY_DEVICE, 2);
    leat_event *event = new_event();
    leat_ticket ticket;
    assert_ok(spin(stream, y, 50000));
    assert_ok(mix(stream, y, x));
    assert_ok(leat_array_read(y, back, sizeof back, stream, &ticket));
    assert_ok(leat_event_record(event, stream));
    assert_ok(leat_event_synchronize(event));
    unsigned sum = 0;
    for (unsigned k = 0; k < WORDS; k++)
        sum = sum * 31 + back[k];
    say("after waiting for an event the host reads: %08x", sum);
    leat_event_free(event);
    leat_stream_free(stream);
    leat_array_free(y);
    leat_array_free(x);
}

/* Order that Leat cannot derive: two streams share host memory that is not an array. */
static void test_streams_wait(void **state) {
    enum { ROUNDS = 7 };
    (void)state;
    unsigned *shared = NULL;
    leat_array *y = words(LEAT_MEMORY_DEVICE, 1), *x = words(LEAT_MEMORY_DEVICE, 2), *buffer = NULL;
    leat_stream *one = new_stream(), *two = new_stream();
    leat_event *event = new_event();
    leat_description description;
    assert_ok(leat_array_new(ctx, LEAT_U32, 1, SHAPE(WORDS), LEAT_MEMORY_PINNED, &buffer));
    assert_ok(leat_array_get(buffer, &description));
    shared = description.data;
    for (int k = 0; k < ROUNDS; k++) {
        leat_ticket ticket;
        assert_ok(
            leat_stream_wait_event(one, event)); /* in the first round it has not been recorded, which is allowed */
        assert_ok(spin(one, y, 2000));
        assert_ok(mix(one, y, x));
        assert_ok(leat_array_read(y, shared, WORDS * sizeof *shared, one, &ticket));
        assert_ok(leat_event_record(event, one));
        assert_ok(leat_stream_wait_event(two, event));
        assert_ok(leat_array_write(x, shared, WORDS * sizeof *shared, two, &ticket));
        assert_ok(leat_event_record(event, two));
    }
    say("%d rounds through host memory, by events: %08x %08x", ROUNDS, checksum(y), checksum(x));
    leat_event_free(event);
    leat_stream_free(one);
    leat_stream_free(two);
    leat_array_free(buffer);
    leat_array_free(y);
    leat_array_free(x);
}

/* An event outlives its stream, and a context lives on until its events are freed. */
static void test_outlives(void **state) {
    (void)state;
    leat_context *other = open_device(NULL);
    leat_stream *stream = NULL;
    leat_event *first = NULL, *second = NULL;
    double milliseconds = -1;
    assert_ok(leat_stream_new(other, &stream));
    assert_ok(leat_event_new(other, &first));
    assert_ok(leat_event_new(other, &second));
    assert_ok(leat_event_record(first, stream));
    assert_ok(leat_event_record(second, stream));
    leat_stream_free(stream);
    leat_close(other);
    assert_ok(leat_event_synchronize(second));
    assert_ok(leat_event_elapsed_ms(first, second, &milliseconds));
    say("events outlive their stream and leat_close: %s", yes(milliseconds >= 0));
    leat_event_free(first);
    leat_event_free(second);
}

/* The ledger's account of the device at level 2: the sums agree, and lie within the clock's time. */
static void test_device_sums(void **state) {
    (void)state;
    leat_array *y = words(LEAT_MEMORY_DEVICE, 1), *x = words(LEAT_MEMORY_DEVICE, 2);
    uint64_t before_ns = 0, after_ns = 0;
    leat_ledger_sums sums;
    assert_status(leat_ledger_clock(ctx, NULL), LEAT_INVALID);
    assert_status(leat_ledger_device(ctx, NULL), LEAT_INVALID);
    assert_ok(leat_ledger_clear(ctx));
    assert_ok(leat_ledger_level_set(ctx, 2));
    assert_ok(leat_ledger_clock(ctx, &before_ns));
    for (int k = 0; k < 5; k++)
        assert_ok(mix(NULL, y, x));
    assert_ok(leat_context_synchronize(ctx));
    assert_ok(leat_ledger_clock(ctx, &after_ns));
    assert_ok(leat_ledger_device(ctx, &sums));
    assert_true(after_ns > before_ns);
    assert_int_equal(sums.span_ns, sums.busy_ns + sums.idle_ns);
    assert_int_equal(sums.dropped, 0);
    assert_true(on_cpu() ? sums.busy_ns == 0 : sums.busy_ns > 0);
    assert_true(sums.span_ns <= after_ns - before_ns + 1000000); /* the clocks of GPU and host differ a little */
    assert_ok(leat_ledger_level_set(ctx, 0));
    assert_ok(leat_ledger_clear(ctx));
    leat_array_free(y);
    leat_array_free(x);
}

int main(int count, char **arguments) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mistakes),     cmocka_unit_test(test_elapsed),  cmocka_unit_test(test_host_waits),
        cmocka_unit_test(test_streams_wait), cmocka_unit_test(test_outlives), cmocka_unit_test(test_device_sums),
    };
    if (!start(count, arguments) || !work_begin(NULL))
        return SKIPPED;
    int failed = cmocka_run_group_tests_name(device_name, tests, NULL, NULL);
    work_end();
    return failed;
}
