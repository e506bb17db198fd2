/* The ledger: one record per cost, exclusive times, several threads, out of memory. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/clock.h"
#include "base/ledger.h"
#include "base/memory.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void pause_ms(long time_ms) {
    nanosleep(&(struct timespec){.tv_nsec = time_ms * 1000000}, NULL);
}

static leat_cost cost_at(struct le_ledger *ledger, size_t k) {
    leat_cost cost;
    assert_true(le_ledger_at(ledger, k, &cost));
    return cost;
}

static void counts_at_level_0(void **state) {
    (void)state;
    struct le_ledger *ledger;
    assert_int_equal(le_ledger_new(0, &ledger), LEAT_OK);
    for (int k = 0; k < 10; k++) {
        char what[] = "y[i] = a[i]"; /* the record has a copy at another address */
        struct le_span span;
        le_span_begin(&span, ledger, LEAT_COST_KERNEL, what, NULL);
        le_span_end(&span, 8, 2);
        le_ledger_add(ledger, LEAT_COST_COPY, what, "first use", 5);
    }
    assert_int_equal(le_ledger_count(ledger), 2);
    leat_cost kernel = cost_at(ledger, 0), copy = cost_at(ledger, 1);
    assert_int_equal(kernel.kind, LEAT_COST_KERNEL);
    assert_string_equal(kernel.what, "y[i] = a[i]");
    assert_string_equal(kernel.cause, "");
    assert_true(kernel.count == 10 && kernel.bytes == 80 && kernel.operations == 20 && kernel.time_ns == 0);
    assert_string_equal(copy.cause, "first use");
    assert_true(copy.count == 10 && copy.bytes == 50);
    assert_false(le_ledger_at(ledger, 2, &copy));
    le_ledger_clear(ledger);
    assert_int_equal(le_ledger_count(ledger), 0);
    le_ledger_add(ledger, LEAT_COST_COPY, NULL, NULL, 1);
    assert_string_equal(cost_at(ledger, 0).what, "");
    le_ledger_free(ledger);
}

static void tallies_remember_their_record(void **state) {
    (void)state;
    struct le_ledger *ledger;
    assert_int_equal(le_ledger_new(0, &ledger), LEAT_OK);
    struct le_tally launches = {0};
    for (int round = 0; round < 2; round++) {
        le_ledger_add(ledger, LEAT_COST_COPY, "first", "", 1);
        for (int k = 0; k < 100; k++)
            le_ledger_tally(ledger, &launches, LEAT_COST_LAUNCH, "f");
        le_ledger_add(ledger, LEAT_COST_LAUNCH, "f", "", 0); /* the same record */
        assert_int_equal(le_ledger_count(ledger), 2);
        assert_int_equal(cost_at(ledger, 1).count, 101);
        assert_int_equal(cost_at(ledger, 0).count, 1);
        le_ledger_clear(ledger);
        if (round == 0)
            le_ledger_add(ledger, LEAT_COST_WRITE, "another record in its place", "", 1);
        le_ledger_clear(ledger);
    }
    le_ledger_free(ledger);
}

static void times_exclude_inner_ones(void **state) {
    (void)state;
    struct le_ledger *ledger, *other;
    assert_int_equal(le_ledger_new(1, &ledger), LEAT_OK);
    assert_int_equal(le_ledger_new(1, &other), LEAT_OK);
    uint64_t start_ns = le_clock_ns();
    struct le_span outer, foreign, inner;
    le_span_begin(&outer, ledger, LEAT_COST_PLAN, "outer", NULL);
    le_span_begin(&foreign, other, LEAT_COST_OTHER, "foreign", NULL);
    le_span_begin(&inner, ledger, LEAT_COST_ALLOCATE, "inner", NULL);
    pause_ms(20);
    le_span_end(&inner, 0, 0);
    le_span_end(&foreign, 0, 0);
    pause_ms(2);
    le_span_end(&outer, 0, 0);
    uint64_t elapsed_ns = le_clock_ns() - start_ns;
    leat_cost allocate = cost_at(ledger, 0), plan = cost_at(ledger, 1);
    assert_true(allocate.time_ns >= 20000000 && plan.time_ns >= 2000000);
    assert_true(allocate.time_ns + plan.time_ns <= elapsed_ns);
    assert_true(cost_at(other, 0).time_ns >= 20000000);
    le_ledger_free(ledger);
    le_ledger_free(other);
}

/* As a caller's hook may do: leaves a span open within another, and ends an outer span too early. */
static void unwinds_to_what_ends(void **state) {
    (void)state;
    struct le_ledger *ledger;
    assert_int_equal(le_ledger_new(1, &ledger), LEAT_OK);
    struct le_span outer, middle, left, next;
    le_span_begin(&outer, ledger, LEAT_COST_PLAN, "outer", NULL);
    le_span_begin(&middle, ledger, LEAT_COST_PLAN, "middle", NULL);
    le_span_begin(&left, ledger, LEAT_COST_OTHER, "left open", NULL);
    le_span_end(&middle, 1, 0);
    le_span_begin(&next, ledger, LEAT_COST_PLAN, "next", NULL);
    assert_ptr_equal(next.outer, &outer);
    le_span_end(&left, 2, 0);
    le_span_end(&outer, 3, 0); /* called within `next` */
    memset(&outer, 0xff, sizeof outer);
    pause_ms(1);
    le_span_end(&next, 4, 0);
    le_span_begin(&outer, ledger, LEAT_COST_PLAN, "outer", NULL);
    assert_null(outer.outer);
    le_span_end(&outer, 5, 0);
    static const char *const names[] = {"middle", "left open", "outer", "next"};
    static const uint64_t bytes[] = {1, 2, 8, 4};
    for (size_t k = 0; k < 4; k++) {
        assert_string_equal(cost_at(ledger, k).what, names[k]);
        assert_int_equal(cost_at(ledger, k).bytes, bytes[k]);
    }
    assert_int_equal(cost_at(ledger, 1).time_ns, 0);
    assert_int_equal(cost_at(ledger, 3).time_ns, 0);
    le_ledger_free(ledger);
}

/* A span that began untimed has no time, and the time of spans within it is still subtracted from the outer one. */
static void levels_change_midway(void **state) {
    (void)state;
    struct le_ledger *ledger;
    assert_int_equal(le_ledger_new(1, &ledger), LEAT_OK);
    struct le_span outer, middle, inner;
    uint64_t start_ns = le_clock_ns();
    le_span_begin(&outer, ledger, LEAT_COST_PLAN, "outer", NULL);
    le_ledger_level_set(ledger, 0);
    le_span_begin(&middle, ledger, LEAT_COST_PLAN, "middle", NULL);
    le_ledger_level_set(ledger, 1);
    assert_int_equal(le_ledger_level(ledger), 1);
    le_span_begin(&inner, ledger, LEAT_COST_PLAN, "inner", NULL);
    pause_ms(20);
    le_span_end(&inner, 0, 0);
    le_span_end(&middle, 0, 0);
    le_span_end(&outer, 0, 0);
    uint64_t elapsed_ns = le_clock_ns() - start_ns;
    assert_true(cost_at(ledger, 0).time_ns >= 20000000);
    assert_int_equal(cost_at(ledger, 1).time_ns, 0);
    assert_true(cost_at(ledger, 2).time_ns + cost_at(ledger, 0).time_ns <= elapsed_ns);
    le_ledger_free(ledger);
}

static void *charge_often(void *data) {
    struct le_ledger *ledger = data;
    for (int k = 0; k < 2000; k++) {
        char what[16];
        snprintf(what, sizeof what, "cost %d", k % 300);
        struct le_span span;
        le_span_begin(&span, ledger, LEAT_COST_READ, what, "thread");
        le_span_end(&span, 1, 0);
    }
    return NULL;
}

static void threads_charge_together(void **state) {
    (void)state;
    struct le_ledger *ledger;
    assert_int_equal(le_ledger_new(1, &ledger), LEAT_OK);
    pthread_t threads[3];
    for (int k = 0; k < 3; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, charge_often, ledger), 0);
    for (int k = 0; k < 3; k++)
        pthread_join(threads[k], NULL);
    assert_int_equal(le_ledger_count(ledger), 300);
    uint64_t count = 0;
    for (size_t k = 0; k < 300; k++)
        count += cost_at(ledger, k).count;
    assert_int_equal(count, 6000);
    le_ledger_free(ledger);
}

/* ---- out of memory */

static int requests_left;

static void *allocate_some(size_t size_bytes, void *user) {
    (void)user;
    return requests_left-- > 0 ? malloc(size_bytes) : NULL;
}

static void *reallocate_some(void *memory, size_t size_bytes, void *user) {
    (void)user;
    return requests_left-- > 0 ? realloc(memory, size_bytes) : NULL;
}

static void release(void *memory, void *user) {
    (void)user;
    free(memory);
}

static void drops_what_it_cannot_hold(void **state) {
    (void)state;
    le_memory_set_allocator(&(struct le_allocator){allocate_some, reallocate_some, release, NULL});
    for (int requests = 0; requests < 300; requests++) {
        requests_left = requests;
        struct le_ledger *ledger;
        if (le_ledger_new(0, &ledger) != LEAT_OK)
            continue;
        for (int k = 0; k < 200; k++) {
            char what[16];
            snprintf(what, sizeof what, "cost %d", k % 100);
            le_ledger_add(ledger, LEAT_COST_READ, what, "", 1);
        }
        for (size_t k = 0; k < le_ledger_count(ledger); k++)
            assert_true(cost_at(ledger, k).count >= 1);
        le_ledger_free(ledger);
    }
    le_memory_set_allocator(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_at_level_0),         cmocka_unit_test(tallies_remember_their_record),
        cmocka_unit_test(times_exclude_inner_ones),  cmocka_unit_test(levels_change_midway),
        cmocka_unit_test(unwinds_to_what_ends),      cmocka_unit_test(threads_charge_together),
        cmocka_unit_test(drops_what_it_cannot_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
