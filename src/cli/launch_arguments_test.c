/* Types with extents, and 16-bit floats. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "cli/element.h"
#include "cli/launch_arguments.h"
#include <math.h>

static void test_extents(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int rank; /* -1: not a type with extents */
        int64_t shape[2];
    } CASES[] = {{"f32[1000]", 1, {1000}},
                 {"i64[10,20]", 2, {10, 20}},
                 {"bool[]", 0, {0}},
                 {"u8[0]", 1, {0}},
                 {"f32", -1, {0}},
                 {"f32[", -1, {0}},
                 {"f32[1", -1, {0}},
                 {"f32[1,]", -1, {0}},
                 {"f32[,1]", -1, {0}},
                 {"f32[-1]", -1, {0}},
                 {"f32[1]x", -1, {0}},
                 {"float[1]", -1, {0}},
                 {"x.npy", -1, {0}},
                 {"f32[ 1]", -1, {0}},
                 {"f32[99999999999999999999]", -1, {0}},
                 {"f32[1,1,1,1,1,1,1,1,1]", -1, {0}}};
    for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; k++) {
        leat_dtype dtype;
        int rank;
        int64_t shape[LEAT_RANK_MAX];
        print_message("%s\n", CASES[k].text);
        assert_int_equal(le_cli_extents_parse(CASES[k].text, &dtype, &rank, shape), CASES[k].rank >= 0);
        for (int axis = 0; axis < CASES[k].rank; axis++)
            assert_int_equal(shape[axis], CASES[k].shape[axis]);
    }
}

/* The value of every 16-bit pattern converts back to that pattern. A value between two neighbours rounds to the
 * nearest, and a tie to the even one. */
static void test_halves(void **state) {
    (void)state;
    static const leat_dtype TYPES[] = {LEAT_F16, LEAT_BF16};
    for (size_t t = 0; t < 2; t++) {
        uint16_t infinite = TYPES[t] == LEAT_F16 ? 0x7c00 : 0x7f80;
        for (unsigned bits = 0; bits < 0x10000; bits++) {
            uint16_t half = (uint16_t)bits, next = (uint16_t)(bits + 1);
            double value = le_element_get(&half, TYPES[t]).f64;
            if ((bits & 0x7fff) > infinite) {
                assert_true(isnan(value));
                half = le_cli_half(value, TYPES[t]);
                assert_true((half & 0x7fff) > infinite);
                continue;
            }
            assert_int_equal(le_cli_half(value, TYPES[t]), half);
            if ((bits & 0x7fff) + 1 >= infinite)
                continue;
            double above = le_element_get(&next, TYPES[t]).f64, middle = (value + above) / 2;
            assert_int_equal(le_cli_half(middle, TYPES[t]), bits & 1 ? next : half);
            assert_int_equal(le_cli_half(value + (above - value) * 0.49, TYPES[t]), half);
            assert_int_equal(le_cli_half(value + (above - value) * 0.51, TYPES[t]), next);
        }
    }
    assert_int_equal(le_cli_half(65519.9, LEAT_F16), 0x7bff);
    assert_int_equal(le_cli_half(65520, LEAT_F16), 0x7c00);
    assert_int_equal(le_cli_half(-1e300, LEAT_BF16), 0xff80);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_extents), cmocka_unit_test(test_halves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
