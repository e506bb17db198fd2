/* Floats as digits: they read back as the same value, and no shorter decimal does. */
#include "base/decimal.c"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { BF16_BITS = 8 };

static void expect(double value, int bits, int digits, const char *text) {
    char got[LE_DECIMAL_TEXT_BYTES];
    assert_int_equal(le_decimal_text(value, bits, digits, got), strlen(text));
    assert_string_equal(got, text);
}

static void known_texts(void **state) {
    (void)state;
    expect(0.1, F64_BITS, 0, "0.1");
    expect(0.1 + 0.2, F64_BITS, 0, "0.30000000000000004");
    expect((double)0.1f, F32_BITS, 0, "0.1");
    expect((double)0.1f, F64_BITS, 0, "0.10000000149011612");
    expect(0, F64_BITS, 0, "0.0");
    expect(-0.0, F64_BITS, 0, "-0.0");
    expect(1, F64_BITS, 0, "1.0");
    expect(1e15, F64_BITS, 0, "1000000000000000.0");
    expect(1e16, F64_BITS, 0, "1e+16");
    expect(0.0001, F64_BITS, 0, "0.0001");
    expect(0.00005, F64_BITS, 0, "5e-05");
    expect(5e-324, F64_BITS, 0, "5e-324");
    expect(0x1.fffffffffffffp+1023, F64_BITS, 0, "1.7976931348623157e+308");
    expect((double)NAN, F64_BITS, 0, "nan");
    expect((double)INFINITY, F16_BITS, 3, "inf");
    expect(-(double)INFINITY, F32_BITS, 0, "-inf");
    expect(65504, F16_BITS, 0, "65500.0");
    expect(0.0999755859375, F16_BITS, 0, "0.1");
    expect(0.10009765625, BF16_BITS, 0, "0.1");
}

/* The nearest decimals with 16 digits do not read back, but the next larger ones do. */
static void powers_of_two(void **state) {
    (void)state;
    expect(0x1p-44, F64_BITS, 0, "5.684341886080802e-14");
    expect(0x1p+89, F64_BITS, 0, "6.189700196426902e+26");
    expect(0x1p-24, F32_BITS, 0, "5.9604645e-08");
}

static void given_digits(void **state) {
    (void)state;
    expect(3.14159, F64_BITS, 3, "3.14");
    expect(0.0625, F64_BITS, 2, "0.062");
    expect(2.0 / 3, F64_BITS, 17, "0.6666666666666666");
    expect(0.99996, F64_BITS, 4, "1.0");
    expect(1000, F64_BITS, 2, "1000.0");
    expect(1234.5, F64_BITS, 4, "1234.0");
    expect(1234.5, F64_BITS, 2, "1.2e+03");
    expect(-99999.5, F64_BITS, 5, "-1e+05");
    expect(1.0001e-7, F64_BITS, 2, "1e-07");
    expect(0.30004883, F16_BITS, 2, "0.3");
}

/* Integer arithmetic and printf find the same digits. */
static void agree(double value, int bits) {
    struct le_decimal fast, slow;
    if (!find_shortest_exactly(value, bits, &fast))
        return;
    find_shortest(value, bits, &slow);
    strip_zeros(&fast);
    strip_zeros(&slow);
    assert_int_equal(fast.count, slow.count);
    assert_int_equal(fast.point, slow.point);
    assert_memory_equal(fast.digits, slow.digits, (size_t)fast.count);
}

/* All values of the 16-bit floats: no text with fewer digits reads back. */
static void small_floats(void **state) {
    (void)state;
    for (int bits = F16_BITS; bits; bits = bits == F16_BITS ? BF16_BITS : 0) {
        int greatest = bits == F16_BITS ? 15 : 127, least = bits == F16_BITS ? -24 : -133;
        for (int exponent = least; exponent <= greatest; exponent++)
            for (int fraction = 1 << (bits - 1); fraction < 1 << bits; fraction++) {
                double value = ldexp(fraction, exponent - bits + 1);
                struct le_decimal decimal, fewer;
                if (round_to_bits(value, bits, least) != value)
                    continue;
                le_decimal_shortest(value, bits, &decimal);
                assert_true(reads_back(&decimal, value, bits));
                agree(value, bits);
                if (decimal.count == 1)
                    continue;
                le_decimal_round(value, decimal.count - 1, &fewer);
                assert_false(reads_back(&fewer, value, bits));
            }
    }
}

/* Values of ordinary size, powers of two and ten, and their neighbours. */
static void both_ways_agree(void **state) {
    (void)state;
    for (unsigned k = 0; k < 200000; k++) {
        double value = ldexp((double)(k * 2654435761u % 1000003u) + 1, (int)(k % 64) - 40);
        agree(value, F64_BITS);
        agree(value / 7, F64_BITS);
        agree((double)(float)(value / 7), F32_BITS);
    }
    for (int k = -40; k <= 80; k++)
        for (int side = -1; side <= 1; side++) {
            double power = ldexp(1, k), ten = pow(10, k % 20);
            agree(nextafter(power, power + side), F64_BITS);
            agree(nextafter(ten, ten + side), F64_BITS);
            agree((double)nextafterf((float)power, (float)power * (float)(1 + side)), F32_BITS);
        }
}

static void random_floats(void **state) {
    (void)state;
    uint64_t bits = 88172645463325252u;
    for (int k = 0; k < 100000; k++) {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        double value;
        float single;
        memcpy(&value, &bits, sizeof value);
        memcpy(&single, &bits, sizeof single);
        struct le_decimal decimal, fewer;
        for (int pass = 0; pass < 2; pass++) {
            double one = pass ? (double)single : value;
            int precision = pass ? F32_BITS : F64_BITS;
            if (!isfinite(one))
                continue;
            le_decimal_shortest(one, precision, &decimal);
            assert_true(reads_back(&decimal, fabs(one), precision));
            agree(one, precision);
            le_decimal_round(one, decimal.count > 1 ? decimal.count - 1 : 1, &fewer);
            assert_true(decimal.count == 1 || !reads_back(&fewer, fabs(one), precision));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_texts),   cmocka_unit_test(powers_of_two),
                                       cmocka_unit_test(given_digits),  cmocka_unit_test(small_floats),
                                       cmocka_unit_test(random_floats), cmocka_unit_test(both_ways_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
