/* Texts and numbers in them, and hashes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/hash.h"
#include "base/text.h"
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void expect_f64(double value, const char *expected) {
    struct le_text text = {0};
    le_text_add_f64(&text, value);
    assert_string_equal(text.at, expected);
    le_text_finish(&text);
}

static void prints_doubles(void **state) {
    (void)state;
    expect_f64(0.0, "0");
    expect_f64(-0.0, "-0");
    expect_f64(1.5, "1.5");
    expect_f64(100.0, "100");
    expect_f64(-1234.5, "-1234.5");
    expect_f64(0.1, "0.1");
    expect_f64(0.0001, "0.0001");
    expect_f64(1e-5, "1e-05");
    expect_f64(1.25e-7, "1.25e-07");
    expect_f64(1e15, "1000000000000000");
    expect_f64(1e16, "1e+16");
    expect_f64(1e300, "1e+300");
    expect_f64(5e-324, "5e-324");
    expect_f64(0.1 + 0.2, "0.30000000000000004");
    expect_f64(INFINITY, "inf");
    expect_f64(-INFINITY, "-inf");
    expect_f64(NAN, "nan");
}

static void reads_back(void **state) {
    (void)state;
    uint64_t bits = 1;
    for (int k = 0; k < 20000; k++) {
        bits = le_hash(&bits, sizeof bits, (uint64_t)k);
        double value;
        float single;
        memcpy(&value, &bits, sizeof value);
        memcpy(&single, &bits, sizeof single);
        struct le_text text = {0};
        le_text_add_f64(&text, value);
        assert_true(isnan(value) || strtod(text.at, NULL) == value);
        text.length = 0;
        le_text_add_f32(&text, single);
        assert_true(isnan(single) || strtof(text.at, NULL) == single);
        assert_true(text.length <= 17);
        le_text_finish(&text);
    }
}

static void prints_floats_as_floats(void **state) {
    (void)state;
    struct le_text text = {0};
    le_text_add_f32(&text, 0.1f);
    le_text_add_bytes(&text, " ", 1);
    le_text_add_f32(&text, -INFINITY);
    assert_string_equal(text.at, "0.1 -inf");
    le_text_finish(&text);
}

/* Skipped where the machine has no locale with a decimal comma. */
static void points_are_points_in_any_locale(void **state) {
    (void)state;
    static const char *const locales[] = {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "fr_FR"};
    const char *found = NULL;
    for (int k = 0; k < 4 && !found; k++)
        found = setlocale(LC_NUMERIC, locales[k]);
    if (!found)
        skip();
    expect_f64(-1234.5, "-1234.5");
    setlocale(LC_NUMERIC, "C");
}

static void grows(void **state) {
    (void)state;
    struct le_text text = {0};
    for (int k = 0; k < 1000; k++)
        le_text_add(&text, "%d,", k);
    assert_int_equal(text.length, 10 * 2 + 90 * 3 + 900 * 4);
    assert_int_equal(strlen(text.at), text.length);
    assert_memory_equal(text.at + text.length - 8, "998,999,", 8);
    le_text_finish(&text);
    le_text_add(&text, "%s", "");
    assert_string_equal(text.at, "");
    le_text_finish(&text);
}

/* Hashes are the same on every machine, because files and caches may contain them. */
static void hashes_are_fixed(void **state) {
    (void)state;
    assert_true(le_hash("", 0, 0) != le_hash("", 0, 1));
    assert_true(le_hash("a", 1, 0) != le_hash("a\0", 2, 0));
    assert_true(le_hash("abcdefgh", 8, 0) != le_hash("abcdefgh\0", 9, 0));
    assert_true(le_hash("abcdefgh12345678", 16, 0) != le_hash("12345678abcdefgh", 16, 0));
    assert_true(le_hash("leat", 4, 7) == 0x9460b0068f1b7e6cu);
    unsigned char bytes[100];
    uint64_t all = 0;
    assert_true(le_hash(NULL, 0, 0) == le_hash("", 0, 0));
    for (unsigned k = 0; k < sizeof bytes; k++)
        bytes[k] = (unsigned char)(k * 37 + 200);
    for (int from = 0; from < 20; from++)
        for (unsigned length = 0; length < 80; length++)
            all = all * 31 + le_hash(bytes + from, length, length);
    assert_true(all == 0x3e098dfcd226954du);
}

/* The low bits of the hashes of consecutive numbers are spread as if by chance. */
static void hashes_spread(void **state) {
    (void)state;
    static int counts[256];
    for (uint32_t k = 0; k < 65536; k++)
        counts[le_hash(&k, sizeof k, 0) & 255]++;
    for (int k = 0; k < 256; k++)
        assert_in_range(counts[k], 160, 352);
}

static void distances_count_changes(void **state) {
    (void)state;
    char long_a[100], long_b[100];
    assert_int_equal(le_text_distance("", ""), 0);
    assert_int_equal(le_text_distance("kernel", "kernel"), 0);
    assert_int_equal(le_text_distance("kernel", ""), 6);
    assert_int_equal(le_text_distance("", "abc"), 3);
    assert_int_equal(le_text_distance("kitten", "sitting"), 3);
    memset(long_a, 'a', sizeof long_a);
    memset(long_b, 'a', sizeof long_b);
    long_a[99] = long_b[90] = 0;
    assert_int_equal(le_text_distance(long_a, long_b), 0);
    long_b[0] = 'b';
    assert_int_equal(le_text_distance(long_a, long_b), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_doubles),
        cmocka_unit_test(reads_back),
        cmocka_unit_test(prints_floats_as_floats),
        cmocka_unit_test(points_are_points_in_any_locale),
        cmocka_unit_test(grows),
        cmocka_unit_test(hashes_are_fixed),
        cmocka_unit_test(hashes_spread),
        cmocka_unit_test(distances_count_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
