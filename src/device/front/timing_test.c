/* Times of a device's work in the ledger. The fake's events count its operations, one millisecond each; the host's
 * clock is set by hand. */
#include "device/front/device_testing.h"
#include "device/front/timing.h"
#include <stdio.h>

enum { MS = 1000000 };

static uint64_t now_ns;
static uint64_t clock_by_hand(void *user) {
    (void)user;
    return now_ns;
}

struct setup {
    struct le_ledger *ledger;
    struct le_device *device;
    struct fake *fake;
    struct fake_stream *stream; /* the device's default stream */
    uint64_t from_ns;           /* the ledger's clock when now_ns is 0 */
};

static struct setup open_timed(void) {
    struct setup t = {0};
    assert_ok(le_ledger_new(2, &t.ledger));
    uint64_t before_ns = le_ledger_clock_ns(t.ledger);
    now_ns = 0;
    le_ledger_clock_set(t.ledger, clock_by_hand, NULL);
    t.from_ns = le_ledger_clock_ns(t.ledger); /* continues from the earlier clock */
    assert_true(t.from_ns >= before_ns && before_ns > 0);
    t.device = fake_open(&(struct le_device_options){.ledger = t.ledger}, 1 << 20, &t.fake);
    t.stream = le_device_stream_native(t.device->own);
    return t;
}

static void close_timed(struct setup *t) {
    fake_finish(t->device, t->fake);
    le_ledger_free(t->ledger);
}

static void advance_clock(struct setup *t, int operations) {
    for (int k = 0; k < operations; k++)
        fake_enqueue(t->stream);
}

static void device_work(struct setup *t, int operations, leat_cost_kind kind, const char *what, uint64_t bytes) {
    struct le_timed timed;
    le_timing_begin(t->device, t->stream, &timed);
    assert_non_null(timed.start);
    advance_clock(t, operations);
    le_timing_end(t->device, t->stream, &timed, kind, what, bytes);
}

static void host_span(struct setup *t, uint64_t start_ms, uint64_t stop_ms, leat_cost_kind kind, const char *what) {
    struct le_span span;
    now_ns = start_ms * MS;
    le_span_begin(&span, t->ledger, kind, what, "");
    now_ns = stop_ms * MS;
    le_span_end(&span, 0, 0);
}

static leat_cost find_cost(struct setup *t, leat_cost_kind kind) {
    leat_cost cost = {0};
    for (size_t k = 0; le_ledger_at(t->ledger, k, &cost); k++)
        if (cost.kind == kind)
            return cost;
    fail_msg("no such record");
    return cost;
}

static void gaps_are_part_of_the_ledger(void **state) {
    (void)state;
    struct setup t = open_timed();
    device_work(&t, 5, LEAT_COST_UPLOAD, "a", 64); /* 0 to 5 ms */
    host_span(&t, 1, 14, LEAT_COST_COMPILE, "f.cu");
    advance_clock(&t, 10);
    device_work(&t, 3, LEAT_COST_KERNEL, "f", 0); /* 15 to 18 ms */
    device_work(&t, 4, LEAT_COST_KERNEL, "f", 0);
    struct le_timeline_sums sums = le_timing_settle(t.device);
    assert_int_equal(sums.span_ns, 0); /* nothing has finished */
    assert_ok(fake_synchronize(t.fake));
    for (int again = 0; again < 2; again++) { /* settling twice counts nothing twice */
        sums = le_timing_settle(t.device);
        assert_int_equal(sums.span_ns, 22 * MS);
        assert_int_equal(sums.busy_ns, 12 * MS);
        leat_cost idle = find_cost(&t, LEAT_COST_IDLE), kernel = find_cost(&t, LEAT_COST_KERNEL),
                  up = find_cost(&t, LEAT_COST_UPLOAD);
        assert_string_equal(idle.cause, "the host: compile f.cu");
        assert_true(idle.time_ns == 10 * MS && idle.count == 1 && idle.on_device);
        assert_true(kernel.time_ns == 7 * MS && kernel.count == 2 && kernel.on_device);
        assert_true(up.time_ns == 5 * MS && up.bytes == 64 && up.on_device);
        assert_int_equal(find_cost(&t, LEAT_COST_COMPILE).time_ns, 13 * MS);
    }
    advance_clock(&t, 2); /* one more gap, which no host span fills */
    device_work(&t, 1, LEAT_COST_KERNEL, "f", 0);
    assert_ok(fake_synchronize(t.fake));
    assert_int_equal(le_timing_settle(t.device).idle_ns, 12 * MS);
    le_timing_clear(t.device);
    le_ledger_clear(t.ledger);
    assert_int_equal(le_timing_settle(t.device).span_ns, 0);
    assert_int_equal(le_ledger_count(t.ledger), 0);
    close_timed(&t);
}

/* Names that differ only after the point where a cause is cut off share a record. */
static void long_names_add_up(void **state) {
    (void)state;
    struct setup t = open_timed();
    for (uint64_t k = 0; k < 2; k++) {
        char what[256];
        memset(what, 'x', sizeof what - 2);
        what[sizeof what - 2] = (char)('a' + k);
        what[sizeof what - 1] = 0;
        device_work(&t, 1, LEAT_COST_KERNEL, "f", 0); /* 0 to 1 ms, 10 to 11 ms */
        host_span(&t, 10 * k + 1, 10 * k + 10, LEAT_COST_COMPILE, what);
        advance_clock(&t, 9);
    }
    device_work(&t, 1, LEAT_COST_KERNEL, "f", 0);
    assert_ok(fake_synchronize(t.fake));
    for (int again = 0; again < 2; again++) {
        assert_int_equal(le_timing_settle(t.device).idle_ns, 18 * MS);
        assert_int_equal(find_cost(&t, LEAT_COST_IDLE).time_ns, 18 * MS);
        assert_int_equal(find_cost(&t, LEAT_COST_IDLE).count, 2);
    }
    close_timed(&t);
}

static void nothing_is_timed_below_level_2(void **state) {
    (void)state;
    struct setup t = open_timed();
    struct le_timed timed;
    le_ledger_level_set(t.ledger, 1);
    le_timing_begin(t.device, t.stream, &timed);
    assert_null(timed.start);
    assert_int_equal(le_timing_settle(t.device).span_ns, 0);
    close_timed(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaps_are_part_of_the_ledger),
        cmocka_unit_test(long_names_add_up),
        cmocka_unit_test(nothing_is_timed_below_level_2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
