/* Casts between all pairs of types against plain definitions, on each instruction set, in place and not. 16-bit floats
 * are rounded by searching all their values for the nearest. */
#include "device/cpu/machine/ops_test.h"

static _Alignas(64) unsigned char input[LE_BLOCK_MAX * 8], before[LE_BLOCK_MAX * 8], output[LE_BLOCK_MAX * 8 + 64];

/* The value of a 16-bit float, by its definition. */
static double half_value(enum le_type type, unsigned bits) {
    const int mantissa_bits = type == LE_F16 ? 10 : 7, exponent_bits = 15 - mantissa_bits,
              bias = (1 << (exponent_bits - 1)) - 1;
    const int exponent = (int)(bits >> mantissa_bits) & ((1 << exponent_bits) - 1),
              mantissa = (int)bits & ((1 << mantissa_bits) - 1);
    const double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == (1 << exponent_bits) - 1)
        return mantissa ? (double)NAN : sign * (double)INFINITY;
    if (exponent == 0)
        return sign * ldexp(mantissa, 1 - bias - mantissa_bits);
    return sign * ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
}

/* x (exact, as a long double) rounded to the nearest, ties to even. */
static unsigned half_nearest(enum le_type type, long double x) {
    const unsigned sign = signbit(x) ? 0x8000 : 0, infinite = type == LE_F16 ? 0x7c00 : 0x7f80;
    unsigned low = 0, high = infinite;
    if (isnan(x))
        return infinite + 1;
    x = fabsl(x);
    if (isinf(x))
        return sign | infinite;
    while (high - low > 1) {
        const unsigned middle = (low + high) / 2;
        if (x >= (long double)half_value(type, middle))
            low = middle;
        else
            high = middle;
    }
    const long double below = (long double)half_value(type, low), last = (long double)half_value(type, infinite - 1);
    const long double above =
        high == infinite ? 2 * last - (long double)half_value(type, infinite - 2) : (long double)half_value(type, high);
    const long double down = x - below, up = above - x;
    return sign | (down < up || (down == up && low % 2 == 0) ? low : high);
}

static const enum le_type types[] = {LE_BOOL, LE_I8,  LE_I16, LE_I32,  LE_I64, LE_U8, LE_U16,
                                     LE_U32,  LE_U64, LE_F16, LE_BF16, LE_F32, LE_F64};
enum { TYPES = sizeof types / sizeof *types };

static bool is_half(enum le_type type) {
    return type == LE_F16 || type == LE_BF16;
}

static void fill(enum le_type type, uint64_t seed, int64_t n) {
    for (int64_t k = 0; k < n; k++) {
        const uint16_t bits = (uint16_t)next_random(&seed);
        if (is_half(type))
            memcpy(input + 2 * k, &bits, sizeof bits);
        else
            put(type, input, k, sample(type, &seed));
    }
    memcpy(before, input, sizeof before);
}

/* Element k as a whole number or as a float. */
static struct value source(enum le_type type, int64_t k) {
    uint16_t bits;
    if (!is_half(type))
        return get(type, before, k);
    memcpy(&bits, before + 2 * k, sizeof bits);
    return (struct value){.f = half_value(type, bits)};
}

static int128 whole_from_float(enum le_type type, double x) {
    if (type == LE_BOOL)
        return x != 0;
    if (isnan(x))
        return 0;
    const double least = (double)least_of(type), greatest = (double)greatest_of(type);
    return x <= least ? least_of(type) : x >= greatest ? greatest_of(type) : (int128)x;
}

static void check_element(enum le_simd simd, enum le_type from, enum le_type to, const unsigned char *d, int64_t k) {
    const struct value a = source(from, k);
    const bool whole = is_whole(from);
    bool right;
    if (is_half(to)) {
        uint16_t bits;
        memcpy(&bits, d + 2 * k, sizeof bits);
        right = whole || !isnan(a.f) ? bits == half_nearest(to, whole ? (long double)a.i : (long double)a.f)
                                     : isnan(half_value(to, bits));
    } else if (is_whole(to)) {
        const int128 want = !whole ? whole_from_float(to, a.f) : to == LE_BOOL ? a.i != 0 : wrapped(to, a.i);
        right = get(to, d, k).i == want;
    } else {
        const double want = to == LE_F64 ? (whole ? (double)a.i : a.f) : (double)(whole ? (float)a.i : (float)a.f);
        right = same(to, get(to, d, k), (struct value){.f = want});
    }
    if (!right)
        fail_msg("%s to %s on %s: element %d, from %lld %a", le_type_name(from), le_type_name(to), le_simd_name(simd),
                 (int)k, (long long)a.i, a.f);
}

static void check(enum le_simd simd, enum le_type from, enum le_type to, bool in_place, int64_t n) {
    const struct le_instr instr = {.code = LE_CODE_CAST, .type = (uint8_t)from, .type2 = (uint8_t)to, .d = !in_place};
    void *reg[] = {input, output};
    unsigned char *d = reg[!in_place];
    fill(from, (uint64_t)(n + 1), n);
    memset(output, 0xab, sizeof output);
    run_op(simd, &instr, reg, n);
    for (int64_t k = 0; k < n; k++)
        check_element(simd, from, to, d, k);
    if (!in_place)
        assert_int_equal(output[(size_t)n * le_type_size(to)], 0xab);
}

static void all_pairs(void **state) {
    (void)state;
    EACH_SIMD(simd)
    for (int a = 0; a < TYPES; a++)
        for (int b = 0; b < TYPES; b++)
            EACH_LENGTH(n)
    for (int in_place = 0; in_place < 2; in_place++)
        check(simd, types[a], types[b], in_place, n);
}

/* Values at and near the midpoint of two neighbors, where rounding twice goes wrong. */
static void halves_round_once(void **state) {
    (void)state;
    const enum le_type to[] = {LE_F16, LE_BF16};
    EACH_SIMD(simd)
    for (int t = 0; t < 2; t++)
        for (unsigned base = 0; base < 0x7c00; base += 256) {
            const struct le_instr instr = {.code = LE_CODE_CAST, .type = LE_F64, .type2 = (uint8_t)to[t], .d = 1};
            void *reg[] = {input, output};
            for (unsigned k = 0; k < 256; k++) {
                const double low = half_value(to[t], base + k), high = half_value(to[t], base + k + 1),
                             middle = low + (high - low) / 2;
                const double x[] = {middle, nextafter(middle, 0), nextafter(middle, high), -middle};
                put(LE_F64, input, k, (struct value){.f = x[k % 4]});
            }
            memcpy(before, input, sizeof before);
            run_op(simd, &instr, reg, 256);
            for (int k = 0; k < 256; k++)
                check_element(simd, LE_F64, to[t], output, k);
        }
}

static void large_integers_round_once(void **state) {
    (void)state;
    const enum le_type from[] = {LE_I64, LE_U64}, to[] = {LE_F16, LE_BF16, LE_F32, LE_F64};
    EACH_SIMD(simd)
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 4; b++) {
            const struct le_instr instr = {
                .code = LE_CODE_CAST, .type = (uint8_t)from[a], .type2 = (uint8_t)to[b], .d = 1};
            void *reg[] = {input, output};
            for (int k = 0; k < 512; k++) {
                const int bit = k / 8, cut = bit - (to[b] == LE_BF16  ? 8
                                                    : to[b] == LE_F16 ? 11
                                                    : to[b] == LE_F32 ? 24
                                                                      : 53);
                const int128 middle = ((int128)1 << bit) + (cut >= 0 ? (int128)1 << cut : 0) + k % 3 - 1;
                put(from[a], input, k, (struct value){.i = wrapped(from[a], k % 2 ? -middle : middle)});
            }
            memcpy(before, input, sizeof before);
            run_op(simd, &instr, reg, 512);
            for (int k = 0; k < 512; k++)
                check_element(simd, from[a], to[b], output, k);
        }
}

/* ROUND is a cast to the narrow type and back; NaN stays NaN. */
static void rounding(void **state) {
    (void)state;
    const enum le_type to[] = {LE_F16, LE_BF16};
    EACH_SIMD(simd)
    for (int t = 0; t < 2; t++) {
        const struct le_instr instr = {.code = LE_CODE_ROUND, .type = LE_F32, .type2 = (uint8_t)to[t], .d = 0};
        void *reg[] = {input};
        fill(LE_F32, 9, LE_BLOCK_MAX);
        run_op(simd, &instr, reg, LE_BLOCK_MAX);
        for (int64_t k = 0; k < LE_BLOCK_MAX; k++) {
            const double want = half_value(to[t], half_nearest(to[t], (long double)get(LE_F32, before, k).f));
            assert_true(same(LE_F32, get(LE_F32, input, k), (struct value){.f = want}));
        }
    }
}

/* All sets give the same bits, including those of NaNs. */
static void sets_agree(void **state) {
    (void)state;
    const enum le_type halves[] = {LE_F16, LE_BF16};
    static unsigned char first[LE_BLOCK_MAX * 8];
    for (uint64_t seed = 0; seed < 200; seed++)
        for (int t = 0; t < 4; t++)
            EACH_SIMD(simd) {
                const enum le_type half = halves[t % 2];
                const enum le_type from = t < 2 ? half : LE_F32, to = t < 2 ? LE_F32 : half;
                const struct le_instr instr = {
                    .code = LE_CODE_CAST, .type = (uint8_t)from, .type2 = (uint8_t)to, .d = 1};
                void *reg[] = {input, output};
                fill(from, seed, LE_BLOCK_MAX);
                run_op(simd, &instr, reg, LE_BLOCK_MAX);
                if (simd == LE_SIMD_BASELINE)
                    memcpy(first, output, sizeof first);
                assert_memory_equal(first, output, LE_BLOCK_MAX * le_type_size(to));
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_pairs), cmocka_unit_test(halves_round_once),
                                       cmocka_unit_test(large_integers_round_once), cmocka_unit_test(rounding),
                                       cmocka_unit_test(sets_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
