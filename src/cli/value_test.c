/* Numbers on the command line. */
#include "cli/value.c"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void paths_are_no_numbers(void **state) {
    (void)state;
    static const char *const TEXTS[] = {"",    "-",   "+",     ".",     "a.npy", "1.5x",    "1e",  "1e+",
                                        "0x",  "0xg", "--1",   "1 ",    " 1",    "1..2",    "e5",  ".e5",
                                        "Inf", "NaN", "True",  "-true", "j",     "1_000",   "5/x", "./5",
                                        "0b1", "1f",  "1.5.2", "-",     "0X10",  "infinity"};
    for (size_t k = 0; k < sizeof TEXTS / sizeof TEXTS[0]; k++)
        assert_int_equal(le_cli_value_parse(TEXTS[k]).kind, LE_VALUE_PATH);
}

static void complex_numbers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double re, im;
    } CASES[] = {{"2j", 0, 2},     {"-2.5j", 0, -2.5}, {"1+2j", 1, 2}, {"-1-.5j", -1, -.5}, {"1e3-1e-3j", 1e3, -1e-3},
                 {"(1+2j)", 1, 2}, {"(-0-2j)", 0, -2}, {"(2j)", 0, 2}};
    for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; k++) {
        struct le_cli_value value = le_cli_value_parse(CASES[k].text);
        assert_int_equal(value.kind, LE_VALUE_C128);
        assert_true(value.f64 == CASES[k].re && value.im == CASES[k].im);
    }
    static const char *const PATHS[] = {"1j+2", "1+j",   "1+2",   "1++2j", "0x1j",    "1+2jj", "infj",
                                        "a+1j", "(1+2j", "(1+2)", "1+2j)", "(1+2j)x", "("};
    for (size_t k = 0; k < sizeof PATHS / sizeof PATHS[0]; k++)
        assert_int_equal(le_cli_value_parse(PATHS[k]).kind, LE_VALUE_PATH);
    assert_int_equal(le_cli_value_parse("1+1e999j").kind, LE_VALUE_RANGE);
}

static void whole_numbers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } CASES[] = {{"0", 0},
                 {"-0", 0},
                 {"007", 7},
                 {"+12", 12},
                 {"0x10", 16},
                 {"-0xFf", -255},
                 {"9223372036854775807", INT64_MAX},
                 {"-9223372036854775808", INT64_MIN}};
    for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; k++) {
        struct le_cli_value value = le_cli_value_parse(CASES[k].text);
        assert_int_equal(value.kind, LE_VALUE_I64);
        assert_true(value.i64 == CASES[k].value);
    }
    struct le_cli_value large = le_cli_value_parse("0xffffffffffffffff");
    assert_int_equal(large.kind, LE_VALUE_U64);
    assert_true(large.u64 == UINT64_MAX);
    assert_int_equal(le_cli_value_parse("18446744073709551616").kind, LE_VALUE_RANGE);
    assert_int_equal(le_cli_value_parse("-9223372036854775809").kind, LE_VALUE_RANGE);
}

static void reals(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } CASES[] = {{".5", 0.5},
                 {"3.", 3},
                 {"-2.5", -2.5},
                 {"1e3", 1000},
                 {"1E-3", 1e-3},
                 {"+1.5e+2", 150},
                 {"1.e2", 100},
                 {"inf", (double)INFINITY},
                 {"-inf", -(double)INFINITY}};
    for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; k++) {
        struct le_cli_value value = le_cli_value_parse(CASES[k].text);
        assert_int_equal(value.kind, LE_VALUE_F64);
        assert_true(value.f64 == CASES[k].value);
    }
    assert_true(isnan(le_cli_value_parse("nan").f64));
    assert_true(signbit(le_cli_value_parse("-0.0").f64));
    assert_int_equal(le_cli_value_parse("1e999").kind, LE_VALUE_RANGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(paths_are_no_numbers), cmocka_unit_test(whole_numbers),
                                       cmocka_unit_test(reals), cmocka_unit_test(complex_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
