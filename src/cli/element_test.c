/* The text of elements: it reads back as the same value, and no shorter text does. */
#include "cli/element.c"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void expect(double value, leat_dtype dtype, enum le_style style, const char *text) {
    struct le_element element = {.kind = 'f', .f64 = value};
    char got[LE_ELEMENT_CHARS];
    le_element_text(&element, dtype, style, got);
    assert_string_equal(got, text);
}

static void known_texts(void **state) {
    (void)state;
    expect(0.1, LEAT_F64, LE_STYLE_SHORTEST, "0.1");
    expect(0.1 + 0.2, LEAT_F64, LE_STYLE_SHORTEST, "0.30000000000000004");
    expect((double)0.1f, LEAT_F32, LE_STYLE_SHORTEST, "0.1");
    expect((double)0.1f, LEAT_F64, LE_STYLE_SHORTEST, "0.10000000149011612");
    expect(1, LEAT_F64, LE_STYLE_SHORTEST, "1.0");
    expect(1, LEAT_F64, LE_STYLE_FIXED, "1.");
    expect(1, LEAT_F64, LE_STYLE_EXPONENT, "1e+00");
    expect(-0.0, LEAT_F64, LE_STYLE_SHORTEST, "-0.0");
    expect(1e15, LEAT_F64, LE_STYLE_SHORTEST, "1000000000000000.0");
    expect(1e16, LEAT_F64, LE_STYLE_SHORTEST, "1e+16");
    expect(0.0001, LEAT_F64, LE_STYLE_SHORTEST, "0.0001");
    expect(0.00005, LEAT_F64, LE_STYLE_SHORTEST, "5e-05");
    expect(5e-324, LEAT_F64, LE_STYLE_SHORTEST, "5e-324");
    expect(DBL_MAX, LEAT_F64, LE_STYLE_SHORTEST, "1.7976931348623157e+308");
    expect((double)NAN, LEAT_F64, LE_STYLE_SHORTEST, "nan");
    expect(-(double)INFINITY, LEAT_F32, LE_STYLE_FIXED, "-inf");
    expect(65504, LEAT_F16, LE_STYLE_SHORTEST, "65500.0");
    expect(0.0999755859375, LEAT_F16, LE_STYLE_SHORTEST, "0.1");
    expect(0.10009765625, LEAT_BF16, LE_STYLE_SHORTEST, "0.1");
}

/* Every value of the two small types. */
static void small_floats_read_back(void **state) {
    (void)state;
    for (int pass = 0; pass < 2; pass++) {
        leat_dtype dtype = pass ? LEAT_BF16 : LEAT_F16;
        for (uint32_t bits = 0; bits < 65536; bits++) {
            uint16_t stored = (uint16_t)bits;
            struct le_element element = le_element_get(&stored, dtype);
            char text[LE_ELEMENT_CHARS];
            if (!isfinite(element.f64) || fabs(element.f64) >= 3.38e38)
                continue;
            le_element_text(&element, dtype, LE_STYLE_SHORTEST, text);
            assert_true(reads_back(text, element.f64, dtype));
        }
    }
}

static void random_floats_read_back(void **state) {
    (void)state;
    uint64_t bits = 88172645463325252u;
    for (int k = 0; k < 100000; k++) {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        for (int style = 0; style < 2; style++) {
            leat_dtype dtype = style ? LEAT_F32 : LEAT_F64;
            struct le_element element = le_element_get(&bits, dtype);
            char text[LE_ELEMENT_CHARS];
            if (!isfinite(element.f64))
                continue;
            le_element_text(&element, dtype, LE_STYLE_SHORTEST, text);
            assert_true(reads_back(text, element.f64, dtype));
        }
    }
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
        le_element_text(&element, CASES[k].dtype, LE_STYLE_SHORTEST, text);
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
        le_element_text(&element, LEAT_C128, CASES[k].style, text);
        assert_string_equal(text, CASES[k].text);
    }
    float pair[2] = {0.1f, 1e-9f};
    struct le_element element = le_element_get(pair, LEAT_C64);
    assert_true(le_element_wants_exponent(&element));
    le_element_text(&element, LEAT_C64, LE_STYLE_SHORTEST, text);
    assert_string_equal(text, "0.1+1e-09j");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_texts), cmocka_unit_test(small_floats_read_back),
                                       cmocka_unit_test(random_floats_read_back), cmocka_unit_test(whole_types),
                                       cmocka_unit_test(complex_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
