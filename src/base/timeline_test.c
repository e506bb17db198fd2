/* The timeline: unions, gaps and their causes, and that both add up. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/ledger.h"
#include "base/timeline.h"
#include <stdio.h>
#include <string.h>

struct gap {
    leat_cost_kind kind;
    char what[64];
    uint64_t time_ns, count;
};
struct gaps {
    struct gap at[16];
    int count;
};

static void take_gap(void *user, leat_cost_kind kind, const char *what, uint64_t time_ns, uint64_t count) {
    struct gaps *gaps = user;
    struct gap *gap = &gaps->at[gaps->count++];
    *gap = (struct gap){.kind = kind, .time_ns = time_ns, .count = count};
    snprintf(gap->what, sizeof gap->what, "%s", what);
}

static struct gaps settle(struct le_timeline *timeline, struct le_timeline_sums *sums) {
    struct gaps gaps = {0};
    le_timeline_settle(timeline, take_gap, &gaps, sums);
    assert_int_equal(sums->span_ns, sums->busy_ns + sums->idle_ns);
    uint64_t told_ns = 0;
    for (int k = 0; k < gaps.count; k++)
        told_ns += gaps.at[k].time_ns;
    assert_int_equal(told_ns, sums->idle_ns);
    return gaps;
}

static void joins_what_overlaps(void **state) {
    (void)state;
    struct le_timeline *timeline = le_timeline_new();
    struct le_timeline_sums sums;
    le_timeline_busy(timeline, 500, 600); /* in no order */
    le_timeline_busy(timeline, 100, 200);
    le_timeline_busy(timeline, 150, 300);
    le_timeline_busy(timeline, 160, 170);
    struct gaps gaps = settle(timeline, &sums);
    assert_int_equal(sums.span_ns, 500);
    assert_int_equal(sums.busy_ns, 300);
    assert_int_equal(sums.idle_ns, 200);
    assert_int_equal(sums.total_ns, 100 + 150 + 10 + 100);
    assert_int_equal(gaps.count, 1);
    assert_string_equal(gaps.at[0].what, "");
    le_timeline_busy(timeline, 700, 800); /* goes on after settling */
    gaps = settle(timeline, &sums);
    assert_int_equal(sums.idle_ns, 300);
    assert_int_equal(gaps.at[0].count, 2);
    le_timeline_clear(timeline);
    settle(timeline, &sums);
    assert_int_equal(sums.span_ns, 0);
    le_timeline_free(timeline);
}

/* A gap of 1,000: 600 of it a compilation, 500 of which are a load inside it; 300 of the program's own. */
static void names_what_fills_most(void **state) {
    (void)state;
    struct le_timeline *timeline = le_timeline_new();
    struct le_timeline_sums sums;
    le_timeline_busy(timeline, 1000, 2000);
    le_timeline_busy(timeline, 3000, 4000);
    le_timeline_busy(timeline, 5000, 6000);
    le_timeline_host(timeline, 1, 1, 2050, 2550, LEAT_COST_MODULE, "load");
    le_timeline_host(timeline, 1, 0, 2000, 2600, LEAT_COST_COMPILE, "compile");
    le_timeline_host(timeline, 2, 0, 2000, 2100, LEAT_COST_READ, "file");
    le_timeline_host(timeline, 1, 0, 4100, 4400, LEAT_COST_WAIT, "wait");
    struct gaps gaps = settle(timeline, &sums);
    assert_int_equal(gaps.count, 2);
    assert_string_equal(gaps.at[0].what, "");
    assert_int_equal(gaps.at[0].time_ns, 1000); /* 4,000 to 5,000: 700 in no span */
    assert_int_equal(gaps.at[1].kind, LEAT_COST_MODULE);
    assert_string_equal(gaps.at[1].what, "load");
    assert_int_equal(gaps.at[1].time_ns, 1000);
    le_timeline_free(timeline);
}

static void stays_small(void **state) {
    (void)state;
    struct le_timeline *timeline = le_timeline_new();
    struct le_timeline_sums sums;
    for (uint64_t k = 0; k < 300000; k++) {
        le_timeline_host(timeline, 1, 0, 1000 + 10 * k, 1004 + 10 * k, LEAT_COST_LAUNCH, "f");
        le_timeline_busy(timeline, 1004 + 10 * k, 1010 + 10 * k);
    }
    struct gaps gaps = settle(timeline, &sums);
    assert_int_equal(sums.busy_ns, 6 * 300000);
    assert_int_equal(sums.idle_ns, 4 * 299999);
    assert_int_equal(sums.dropped, 0);
    uint64_t launches_ns = 0;
    for (int k = 0; k < gaps.count; k++)
        launches_ns += gaps.at[k].kind == LEAT_COST_LAUNCH ? gaps.at[k].time_ns : 0;
    assert_true(launches_ns > sums.idle_ns / 2);
    le_timeline_free(timeline);
}

static uint64_t now_ns;
static uint64_t clock_by_hand(void *user) {
    (void)user;
    return now_ns;
}

static leat_cost find(struct le_ledger *ledger, leat_cost_kind kind) {
    leat_cost cost = {0};
    for (size_t k = 0; le_ledger_at(ledger, k, &cost); k++)
        if (cost.kind == kind)
            return cost;
    fail_msg("no such record");
    return cost;
}

static void is_part_of_the_ledger(void **state) {
    (void)state;
    struct le_ledger *ledger;
    assert_int_equal(le_ledger_new(2, &ledger), LEAT_OK);
    le_ledger_clock_set(ledger, clock_by_hand, NULL);
    struct le_span span;
    uint64_t from_ns = le_ledger_clock_ns(ledger); /* goes on from the clock before */
    assert_true(from_ns > 0);
    now_ns = 1000;
    from_ns = le_ledger_clock_ns(ledger) - 1000;
    le_span_begin(&span, ledger, LEAT_COST_COMPILE, "f.cu", "");
    now_ns = 1900;
    le_span_end(&span, 0, 0);
    le_ledger_device(ledger, LEAT_COST_UPLOAD, "a", from_ns + 500, from_ns + 1000, 64);
    le_ledger_device(ledger, LEAT_COST_KERNEL, "f", from_ns + 2000, from_ns + 2300, 0);
    le_ledger_device(ledger, LEAT_COST_KERNEL, "f", from_ns + 2300, from_ns + 2700, 0);
    struct le_timeline_sums sums;
    for (int again = 0; again < 2; again++) { /* settling twice counts nothing twice */
        le_ledger_settle(ledger, &sums);
        assert_int_equal(sums.span_ns, 2200);
        assert_int_equal(sums.busy_ns, 1200);
        leat_cost idle = find(ledger, LEAT_COST_IDLE), kernel = find(ledger, LEAT_COST_KERNEL);
        assert_string_equal(idle.cause, "the host: compile f.cu");
        assert_true(idle.time_ns == 1000 && idle.count == 1 && idle.on_device);
        assert_true(kernel.time_ns == 700 && kernel.count == 2 && kernel.on_device);
        assert_int_equal(find(ledger, LEAT_COST_COMPILE).time_ns, 900);
    }
    le_ledger_clear(ledger);
    le_ledger_settle(ledger, &sums);
    assert_int_equal(sums.span_ns, 0);
    assert_int_equal(le_ledger_count(ledger), 0);
    le_ledger_free(ledger);
}

/* Names that are alike up to where a cause is cut off. */
static void long_names_add_up(void **state) {
    (void)state;
    struct le_ledger *ledger;
    assert_int_equal(le_ledger_new(2, &ledger), LEAT_OK);
    le_ledger_clock_set(ledger, clock_by_hand, NULL);
    now_ns = 0;
    uint64_t from_ns = le_ledger_clock_ns(ledger);
    for (uint64_t k = 0; k < 2; k++) {
        char what[256];
        memset(what, 'x', sizeof what - 2);
        what[sizeof what - 2] = (char)('a' + k);
        what[sizeof what - 1] = 0;
        struct le_span span;
        now_ns = 1000 * k + 100;
        le_span_begin(&span, ledger, LEAT_COST_COMPILE, what, "");
        now_ns = 1000 * k + 1000;
        le_span_end(&span, 0, 0);
        le_ledger_device(ledger, LEAT_COST_KERNEL, "f", from_ns + 1000 * k, from_ns + 1000 * k + 100, 0);
    }
    le_ledger_device(ledger, LEAT_COST_KERNEL, "f", from_ns + 2000, from_ns + 2100, 0);
    struct le_timeline_sums sums;
    for (int again = 0; again < 2; again++) {
        le_ledger_settle(ledger, &sums);
        assert_int_equal(sums.idle_ns, 1800);
        assert_int_equal(find(ledger, LEAT_COST_IDLE).time_ns, 1800);
        assert_int_equal(find(ledger, LEAT_COST_IDLE).count, 2);
    }
    le_ledger_free(ledger);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(joins_what_overlaps), cmocka_unit_test(names_what_fills_most),
                                       cmocka_unit_test(stays_small), cmocka_unit_test(is_part_of_the_ledger),
                                       cmocka_unit_test(long_names_add_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
