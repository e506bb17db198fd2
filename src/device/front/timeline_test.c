/* The timeline: unions, gaps and their causes, and that busy and idle time add up. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "device/front/timeline.h"
#include <stdio.h>
#include <string.h>

/* All that a timeline has returned. */
struct gaps {
    struct le_timeline_gaps at[16];
    int count;
};

static struct le_timeline_sums settle_all(struct le_timeline *timeline, struct gaps *gaps) {
    struct le_timeline_sums sums = le_timeline_settle(timeline);
    while (le_timeline_next_gaps(timeline, &gaps->at[gaps->count]))
        gaps->count++;
    assert_int_equal(sums.span_ns, sums.busy_ns + sums.idle_ns);
    uint64_t returned_ns = 0;
    for (int k = 0; k < gaps->count; k++)
        returned_ns += gaps->at[k].time_ns;
    assert_int_equal(returned_ns, sums.idle_ns);
    return sums;
}

static void joins_what_overlaps(void **state) {
    (void)state;
    struct le_timeline *timeline = le_timeline_new();
    struct gaps gaps = {0};
    le_timeline_busy(timeline, 500, 600); /* in no order */
    le_timeline_busy(timeline, 100, 200);
    le_timeline_busy(timeline, 150, 300);
    le_timeline_busy(timeline, 160, 170);
    struct le_timeline_sums sums = settle_all(timeline, &gaps);
    assert_int_equal(sums.span_ns, 500);
    assert_int_equal(sums.busy_ns, 300);
    assert_int_equal(sums.idle_ns, 200);
    assert_int_equal(sums.total_ns, 100 + 150 + 10 + 100);
    assert_int_equal(gaps.count, 1);
    assert_string_equal(gaps.at[0].what, "");
    le_timeline_busy(timeline, 700, 800); /* continues after settling */
    sums = settle_all(timeline, &gaps);   /* returns the new gap alone */
    assert_int_equal(sums.idle_ns, 300);
    assert_int_equal(gaps.count, 2);
    assert_int_equal(gaps.at[1].time_ns, 100);
    sums = settle_all(timeline, &gaps);
    assert_int_equal(gaps.count, 2);
    le_timeline_clear(timeline);
    gaps.count = 0;
    sums = settle_all(timeline, &gaps);
    assert_int_equal(sums.span_ns, 0);
    le_timeline_free(timeline);
}

/* A gap of 1,000: 600 of it a compilation, 500 of which are a load inside it; 300 of the program's own. */
static void names_what_fills_most(void **state) {
    (void)state;
    struct le_timeline *timeline = le_timeline_new();
    struct gaps gaps = {0};
    le_timeline_busy(timeline, 1000, 2000);
    le_timeline_busy(timeline, 3000, 4000);
    le_timeline_busy(timeline, 5000, 6000);
    le_timeline_host(timeline, 1, 1, 2050, 2550, LEAT_COST_MODULE, "load");
    le_timeline_host(timeline, 1, 0, 2000, 2600, LEAT_COST_COMPILE, "compile");
    le_timeline_host(timeline, 2, 0, 2000, 2100, LEAT_COST_READ, "file");
    le_timeline_host(timeline, 1, 0, 4100, 4400, LEAT_COST_WAIT, "wait");
    settle_all(timeline, &gaps);
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
    struct gaps gaps = {0};
    for (uint64_t k = 0; k < 300000; k++) {
        le_timeline_host(timeline, 1, 0, 1000 + 10 * k, 1004 + 10 * k, LEAT_COST_LAUNCH, "f");
        le_timeline_busy(timeline, 1004 + 10 * k, 1010 + 10 * k);
    }
    struct le_timeline_sums sums = settle_all(timeline, &gaps);
    assert_int_equal(sums.busy_ns, 6 * 300000);
    assert_int_equal(sums.idle_ns, 4 * 299999);
    assert_int_equal(sums.dropped, 0);
    uint64_t launches_ns = 0;
    for (int k = 0; k < gaps.count; k++)
        launches_ns += gaps.at[k].kind == LEAT_COST_LAUNCH ? gaps.at[k].time_ns : 0;
    assert_true(launches_ns > sums.idle_ns / 2);
    le_timeline_free(timeline);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(joins_what_overlaps), cmocka_unit_test(names_what_fills_most),
                                       cmocka_unit_test(stays_small)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
