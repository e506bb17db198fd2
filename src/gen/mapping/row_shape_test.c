/* How many threads, blocks and clusters share a row: as many as a device of a given capability has room for, and never
 * more. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "gen/mapping/row.h"

struct sample {
    int64_t terms;
    int width, bytes; /* bytes: kept of an element, and of a total */
};

static struct le_device_facts facts_of(int capability, size_t shared_most_bytes) {
    return (struct le_device_facts){.multiprocessors = 132,
                                    .block_threads = 1024,
                                    .bytes_per_second = 3e12,
                                    .shared_bytes = 48 * 1024,
                                    .shared_most_bytes = shared_most_bytes,
                                    .capability = capability};
}

static bool shape_of(const struct le_device_facts *facts, struct sample row, struct row_shape *shape) {
    struct row_need need = {.reads = (row.terms + row.width - 1) / row.width,
                            .words = row.width * row.bytes / 4,
                            .is_wide = row.bytes > 4,
                            .are_totals_big = row.bytes > 4};
    return le_row_shape(facts, &need, shape);
}

static bool strip_of(const struct le_device_facts *facts, int64_t terms, int64_t points, int bytes,
                     struct strip_wish wish, struct row_shape *shape) {
    struct row_need need = {.reads = terms,
                            .words = bytes < 4 ? 1 : bytes / 4,
                            .is_wide = bytes > 4,
                            .are_totals_big = bytes > 4,
                            .points = points,
                            .passes = 3,
                            .stores = true,
                            .element = bytes,
                            .bytes = bytes,
                            .vector_most = 16 / bytes,
                            .totals_bytes = 32};
    return le_strip_shape(facts, &need, wish, shape);
}

/* Each thread's elements are a power of two, the strip is a sector or more, and all fits the device. */
static void check_strip(const struct le_device_facts *facts, int64_t terms, int64_t points, int bytes) {
    struct row_shape s;
    assert_true(strip_of(facts, terms, points, bytes, (struct strip_wish){-1, -1, -1, -1}, &s));
    assert_true(s.strip * bytes >= 32 && s.strip % s.vector == 0 && s.vector * bytes <= 16);
    int across = s.strip / s.vector;
    assert_true(s.threads % across == 0 && s.threads <= 1024);
    assert_true(s.cluster == 1 || facts->capability >= 90);
    assert_true((int64_t)s.threads / across * s.cluster * s.lines >= terms);
    assert_true((s.lines & (s.lines - 1)) == 0 && (s.near & (s.near - 1)) == 0 && s.near <= s.lines && s.near > 0);
    assert_true(s.far_bytes <= facts->shared_most_bytes);
    assert_true(s.far_bytes >= (size_t)(s.lines - s.near) * (size_t)s.threads * (size_t)(s.vector * bytes));
    assert_true(s.resident >= 1 && s.resident * s.threads <= 1024);
}

static void strips_that_fit(void **state) {
    (void)state;
    static const int64_t terms[] = {1, 2, 31, 32, 33, 100, 1000, 1024, 1025, 4096, 5000, 8192};
    static const int64_t points[] = {1, 8, 9, 1000, 4096, 1 << 20};
    struct le_device_facts hopper = facts_of(90, 227 * 1024), ampere = facts_of(80, 99 * 1024);
    for (size_t k = 0; k < ARRAY_LEN(terms); k++)
        for (size_t p = 0; p < ARRAY_LEN(points); p++)
            for (int bytes = 1; bytes <= 8; bytes *= 2) {
                check_strip(&hopper, terms[k], points[p], bytes);
                if (terms[k] <= 1000)
                    check_strip(&ampere, terms[k], points[p], bytes);
            }
}

/* A strip of one sector fits a cluster's memory up to 58,000 f32 of a column. */
static void long_strips(void **state) {
    (void)state;
    struct le_device_facts facts = facts_of(90, 227 * 1024);
    struct row_shape s;
    assert_true(strip_of(&facts, 58000, 1024, 4, (struct strip_wish){-1, -1, -1, -1}, &s));
    assert_int_equal(s.cluster, 8);
    assert_int_equal(s.strip, 8);
    assert_false(strip_of(&facts, 70000, 1024, 4, (struct strip_wish){-1, -1, -1, -1}, &s));
    facts.capability = 80;
    assert_false(strip_of(&facts, 58000, 1024, 4, (struct strip_wish){-1, -1, -1, -1}, &s));
}

/* Short columns need no other thread. Of longer ones a cluster keeps strips as wide as a line of memory, with room for
 * several of its blocks on a multiprocessor. */
static void strips_apart(void **state) {
    (void)state;
    struct le_device_facts facts = facts_of(90, 227 * 1024);
    struct row_shape s;
    assert_true(strip_of(&facts, 8, 1 << 20, 4, (struct strip_wish){-1, -1, -1, -1}, &s));
    assert_int_equal(s.strip, s.threads * s.vector);
    assert_int_equal(s.cluster, 1);
    assert_true(strip_of(&facts, 4096, 1 << 14, 4, (struct strip_wish){-1, -1, -1, -1}, &s));
    assert_int_equal(s.strip, 32);
    assert_true(s.cluster > 1);
    assert_int_equal(s.vector, 4);
    assert_true(s.resident >= 2);
}

static void wished_strips(void **state) {
    (void)state;
    struct le_device_facts facts = facts_of(90, 227 * 1024);
    struct row_shape s;
    assert_true(strip_of(&facts, 1000, 1000, 4, (struct strip_wish){2, 4, -1, -1}, &s));
    assert_int_equal(s.strip, 2);
    assert_int_equal(s.cluster, 4);
    assert_false(strip_of(&facts, 1000, 1000, 4, (struct strip_wish){3, 1, -1, -1}, &s));
    assert_false(strip_of(&facts, 1000, 1000, 4, (struct strip_wish){8, 16, -1, -1}, &s));
    assert_false(strip_of(&facts, 1000, 1000, 4, (struct strip_wish){512, 1, -1, -1}, &s));
}

static void least_clusters(void **state) {
    (void)state;
    static const struct {
        struct sample row;
        int cluster, resident;
    } wanted[] = {
        {{1024, 4, 4}, 1, 4},   {{16384, 4, 4}, 1, 2},  {{16388, 4, 4}, 1, 2},  {{32768, 4, 4}, 1, 2},
        {{65536, 4, 4}, 2, 2},  {{131072, 4, 4}, 4, 2}, {{262144, 4, 4}, 8, 2}, {{524288, 4, 4}, 8, 1},
        {{65537, 1, 4}, 8, 2},  {{8192, 2, 8}, 1, 2},   {{16384, 2, 8}, 1, 2},  {{65536, 2, 8}, 4, 2},
        {{131072, 2, 8}, 8, 2}, {{262144, 2, 8}, 8, 1},
    };
    struct le_device_facts facts = facts_of(90, 227 * 1024);
    struct row_shape s;
    for (size_t k = 0; k < ARRAY_LEN(wanted); k++) {
        assert_true(shape_of(&facts, wanted[k].row, &s));
        assert_int_equal(s.cluster, wanted[k].cluster);
        assert_true(s.resident >= wanted[k].resident);
    }
    assert_false(shape_of(&facts, (struct sample){524292, 4, 4}, &s));
}

static void none_before_hopper(void **state) {
    (void)state;
    struct le_device_facts facts = facts_of(80, 163 * 1024);
    struct row_shape s;
    assert_true(shape_of(&facts, (struct sample){65536, 4, 4}, &s));
    assert_int_equal(s.cluster, 1);
    assert_int_equal(s.threads, 1024);
    assert_int_equal(s.far_bytes, 128 * 1024);
    assert_false(shape_of(&facts, (struct sample){65540, 4, 4}, &s));
}

/* Every row is covered, and so many blocks fit beside each other as the compiler is told. */
static void all_have_room(void **state) {
    (void)state;
    static const size_t shared_bytes[] = {48 * 1024, 99 * 1024, 163 * 1024, 227 * 1024};
    static const int kinds[][2] = {{4, 4}, {1, 4}, {2, 8}, {1, 8}, {4, 8}, {8, 4}, {4, 16}};
    int shared = 0;
    for (size_t f = 0; f < ARRAY_LEN(shared_bytes); f++)
        for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
            for (int64_t terms = 1; terms < 2000000; terms += terms / 7 + 1) {
                struct le_device_facts facts = facts_of(100, shared_bytes[f]);
                struct sample row = {.terms = terms, .width = kinds[k][0], .bytes = kinds[k][1]};
                struct row_shape s;
                if (!shape_of(&facts, row, &s))
                    continue;
                shared += s.cluster > 1;
                assert_true((int64_t)s.cluster * s.threads * s.lines * row.width >= terms);
                assert_true(s.threads * s.rows <= s.most_threads && s.most_threads <= 1024);
                assert_true(s.cluster == 1 || s.cluster == 2 || s.cluster == 4 || s.cluster == 8);
                assert_true(s.cluster == 1 || s.rows == 1);
                assert_true((s.lines & (s.lines - 1)) == 0 && s.lines <= 32);
                assert_true(s.near >= 1 && s.near <= s.lines);
                assert_true(s.resident >= 1 && s.resident * s.most_threads <= 2048);
                assert_int_equal(s.far_bytes, (s.lines - s.near) * row.width * row.bytes * s.threads);
                assert_true(s.far_bytes <= shared_bytes[f]);
                if (s.cluster > 1)
                    assert_true((size_t)s.resident * s.far_bytes <= shared_bytes[f]);
            }
    assert_true(shared > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(least_clusters), cmocka_unit_test(none_before_hopper),
                                       cmocka_unit_test(all_have_room),  cmocka_unit_test(strips_that_fit),
                                       cmocka_unit_test(long_strips),    cmocka_unit_test(strips_apart),
                                       cmocka_unit_test(wished_strips)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
