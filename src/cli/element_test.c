/* The text of elements, in each style. */
#include "cli/element.c"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void expect(double value, leat_dtype dtype, enum le_style style, int digits, const char *text) {
    struct le_element element = {.kind = 'f', .f64 = value};
    char got[LE_ELEMENT_CHARS];
    le_element_text(&element, dtype, style, digits, got);
    assert_string_equal(got, text);
}

static void styles(void **state) {
    (void)state;
    expect(1, LEAT_F64, LE_STYLE_SHORTEST, 0, "1.0");
    expect(1, LEAT_F64, LE_STYLE_FIXED, 0, "1.");
    expect(1, LEAT_F64, LE_STYLE_EXPONENT, 0, "1e+00");
    expect(0, LEAT_F32, LE_STYLE_EXPONENT, 0, "0e+00");
    expect(-0.0, LEAT_F64, LE_STYLE_EXPONENT, 0, "-0e+00");
    expect(-0.0125, LEAT_F64, LE_STYLE_EXPONENT, 0, "-1.25e-02");
    expect(0.5, LEAT_F64, LE_STYLE_EXPONENT, 0, "5e-01");
    expect(1230, LEAT_F64, LE_STYLE_EXPONENT, 0, "1.23e+03");
    expect(10.5, LEAT_F64, LE_STYLE_EXPONENT, 0, "1.05e+01");
    expect(1e-7, LEAT_F64, LE_STYLE_EXPONENT, 0, "1e-07");
    expect((double)NAN, LEAT_F64, LE_STYLE_SHORTEST, 0, "nan");
    expect(-(double)INFINITY, LEAT_F32, LE_STYLE_FIXED, 0, "-inf");
    expect(0.0999755859375, LEAT_F16, LE_STYLE_SHORTEST, 0, "0.1");
    expect(2.0 / 3, LEAT_F64, LE_STYLE_FIXED, 3, "0.667");
    expect(2.0 / 3, LEAT_F64, LE_STYLE_EXPONENT, 3, "6.67e-01");
}

static void whole_types(void **state) {
    (void)state;
    char text[LE_ELEMENT_CHARS];
    uint8_t bytes[8] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    static const struct {
        leat_dtype dtype;
        const char *text;
    } CASES[] = {{LEAT_BOOL, "true"},
                 {LEAT_I8, "-1"},
                 {LEAT_I64, "-1"},
                 {LEAT_U8, "255"},
                 {LEAT_U16, "65535"},
                 {LEAT_U32, "4294967295"},
                 {LEAT_U64, "18446744073709551615"}};
    for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; k++) {
        struct le_element element = le_element_get(bytes, CASES[k].dtype);
        le_element_text(&element, CASES[k].dtype, LE_STYLE_SHORTEST, 0, text);
        assert_string_equal(text, CASES[k].text);
    }
}

static void complex_numbers(void **state) {
    (void)state;
    static const struct {
        double pair[2];
        enum le_style style;
        const char *text;
    } CASES[] = {{{1, 2}, LE_STYLE_FIXED, "1.+2.j"},
                 {{-0.0, -0.0}, LE_STYLE_SHORTEST, "-0.0-0.0j"},
                 {{0.5, -1e-9}, LE_STYLE_EXPONENT, "5e-01-1e-09j"},
                 {{(double)NAN, -(double)INFINITY}, LE_STYLE_SHORTEST, "nan-infj"},
                 {{-(double)INFINITY, (double)NAN}, LE_STYLE_FIXED, "-inf+nanj"}};
    char text[LE_ELEMENT_CHARS];
    for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; k++) {
        struct le_element element = le_element_get(CASES[k].pair, LEAT_C128);
        le_element_text(&element, LEAT_C128, CASES[k].style, 0, text);
        assert_string_equal(text, CASES[k].text);
    }
    float pair[2] = {0.1f, 1e-9f};
    struct le_element element = le_element_get(pair, LEAT_C64);
    assert_true(le_element_wants_exponent(&element, LEAT_C64, 0));
    le_element_text(&element, LEAT_C64, LE_STYLE_SHORTEST, 0, text);
    assert_string_equal(text, "0.1+1e-09j");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(styles), cmocka_unit_test(whole_types),
                                       cmocka_unit_test(complex_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
