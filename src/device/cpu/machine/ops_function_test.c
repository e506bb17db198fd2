/* Library functions: close to libm's on every instruction set (tests/ulp has a table of how close), the same bits on
 * all sets with fused multiply-adds, special values as in C, and exactly n elements read and written. */
#include "device/cpu/machine/ops_test.h"

static double rsqrt(double x) {
    return 1 / sqrt(x);
}

// clang-format off
static const struct {
    enum le_op op;
    double (*one)(double);
    double (*two)(double, double);
} functions[] = {
    {LE_OP_SQRT, sqrt, NULL}, {LE_OP_RSQRT, rsqrt, NULL}, {LE_OP_CBRT, cbrt, NULL}, {LE_OP_EXP, exp, NULL},
    {LE_OP_EXP2, exp2, NULL}, {LE_OP_EXPM1, expm1, NULL}, {LE_OP_LOG, log, NULL}, {LE_OP_LOG2, log2, NULL},
    {LE_OP_LOG10, log10, NULL}, {LE_OP_LOG1P, log1p, NULL}, {LE_OP_SIN, sin, NULL}, {LE_OP_COS, cos, NULL},
    {LE_OP_TAN, tan, NULL}, {LE_OP_ASIN, asin, NULL}, {LE_OP_ACOS, acos, NULL}, {LE_OP_ATAN, atan, NULL},
    {LE_OP_SINH, sinh, NULL}, {LE_OP_COSH, cosh, NULL}, {LE_OP_TANH, tanh, NULL}, {LE_OP_ASINH, asinh, NULL},
    {LE_OP_ACOSH, acosh, NULL}, {LE_OP_ATANH, atanh, NULL}, {LE_OP_ERF, erf, NULL}, {LE_OP_ERFC, erfc, NULL},
    {LE_OP_LGAMMA, lgamma, NULL}, {LE_OP_TGAMMA, tgamma, NULL}, {LE_OP_POW, NULL, pow}, {LE_OP_ATAN2, NULL, atan2},
    {LE_OP_HYPOT, NULL, hypot},
};
// clang-format on
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static _Alignas(64) double input[2][LE_BLOCK_MAX], output[LE_BLOCK_MAX + 8], first[LE_BLOCK_MAX];

/* kind 0: special values and all bit patterns; 1: moderate. */
static void fill(enum le_type type, uint64_t seed, int kind, int64_t n) {
    for (int p = 0; p < 2; p++)
        for (int64_t k = 0; k < n; k++) {
            struct value value = sample(type, &seed);
            if (kind == 1)
                value.f = ((double)(next_random(&seed) >> 11) * 0x1p-53 - 0.25) * 8;
            if (type == LE_F32)
                value.f = (double)(float)value.f;
            put(type, input[p], k, value);
        }
}

static bool is_close(enum le_type type, enum le_op op, double got, double want) {
    const double least = type == LE_F32 ? 0x1p-126 : 0x1p-1022, epsilon = type == LE_F32 ? 0x1p-23 : 0x1p-52;
    if (type == LE_F32)
        want = (double)(float)want;
    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got);
    if (got == want)
        return !signbit(got) == !signbit(want) || want != 0;
    if (op == LE_OP_LGAMMA)
        return fabs(got - want) <= 4 * epsilon * fmax(1, fabs(want));
    return isfinite(got) && isfinite(want) && fabs(got - want) <= 3 * epsilon * fabs(want) + 20 * least * epsilon;
}

static void check(enum le_simd simd, int f, enum le_type type, int64_t n) {
    const struct le_instr instr = {.code = (uint16_t)functions[f].op, .type = (uint8_t)type, .d = 2, .b = 1};
    memset(output, 0xab, sizeof output);
    run_op(simd, &instr, (void *[]){input[0], input[1], output}, n);
    assert_int_equal(((const unsigned char *)output)[(size_t)n * le_type_size(type)], 0xab);
    for (int64_t k = 0; k < n; k++) {
        const double x = get(type, input[0], k).f, y = get(type, input[1], k).f, got = get(type, output, k).f;
        const double want = functions[f].one ? functions[f].one(x) : functions[f].two(x, y);
        if (!is_close(type, functions[f].op, got, want))
            fail_msg("%s %s on %s of %a (and %a): %a instead of %a", le_op_info(functions[f].op)->name,
                     le_type_name(type), le_simd_name(simd), x, y, got, want);
    }
}

static void close_to_libm(void **state) {
    const enum le_type types[] = {LE_F32, LE_F64};
    (void)state;
    EACH_SIMD(simd)
    for (int f = 0; f < FUNCTIONS; f++)
        for (int t = 0; t < 2; t++)
            for (int kind = 0; kind < 2; kind++)
                EACH_LENGTH(n) {
                    fill(types[t], (uint64_t)(n + f), kind, n);
                    check(simd, f, types[t], n);
                }
}

/* Every pair of special values. */
static void special_pairs(void **state) {
    const enum le_type types[] = {LE_F32, LE_F64};
    const int count = sizeof special_floats / sizeof *special_floats;
    (void)state;
    EACH_SIMD(simd)
    for (int f = 0; f < FUNCTIONS; f++)
        for (int t = 0; t < 2; t++)
            for (int a = 0; a < count; a++) {
                for (int b = 0; b < count; b++) {
                    put(types[t], input[0], b, (struct value){.f = special_floats[a]});
                    put(types[t], input[1], b, (struct value){.f = special_floats[b]});
                }
                check(simd, f, types[t], count);
            }
}

static void fused_sets_agree(void **state) {
    const enum le_type types[] = {LE_F32, LE_F64};
    (void)state;
    if (!le_simd_here(LE_SIMD_AVX512))
        skip();
    for (int f = 0; f < FUNCTIONS; f++)
        for (int t = 0; t < 2; t++)
            for (uint64_t seed = 0; seed < 60; seed++) {
                const struct le_instr instr = {
                    .code = (uint16_t)functions[f].op, .type = (uint8_t)types[t], .d = 2, .b = 1};
                fill(types[t], seed, seed % 2, LE_BLOCK_MAX);
                run_op(LE_SIMD_AVX2, &instr, (void *[]){input[0], input[1], first}, LE_BLOCK_MAX);
                run_op(LE_SIMD_AVX512, &instr, (void *[]){input[0], input[1], output}, LE_BLOCK_MAX);
                for (int64_t k = 0; k < LE_BLOCK_MAX; k++)
                    assert_true(same(types[t], get(types[t], first, k), get(types[t], output, k)));
            }
}

/* A value's result does not depend on its position in the block, and may overwrite an operand. */
static void places(void **state) {
    const enum le_type types[] = {LE_F32, LE_F64};
    (void)state;
    EACH_SIMD(simd)
    for (int f = 0; f < FUNCTIONS; f++)
        for (int t = 0; t < 2; t++) {
            struct le_instr instr = {.code = (uint16_t)functions[f].op, .type = (uint8_t)types[t], .d = 2, .b = 1};
            const size_t size = le_type_size(types[t]);
            fill(types[t], 5, 1, 37);
            run_op(simd, &instr, (void *[]){input[0], input[1], output}, 37);
            for (size_t k = 0; k < 37; k++) {
                run_op(simd, &instr, (void *[]){(char *)input[0] + k * size, (char *)input[1] + k * size, first}, 1);
                assert_true(same(types[t], get(types[t], first, 0), get(types[t], output, (int64_t)k)));
            }
            instr.d = 1;
            if (functions[f].one)
                instr.d = 0;
            run_op(simd, &instr, (void *[]){input[0], input[1]}, 37);
            for (int64_t k = 0; k < 37; k++)
                assert_true(same(types[t], get(types[t], input[instr.d], k), get(types[t], output, k)));
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(close_to_libm), cmocka_unit_test(special_pairs),
                                       cmocka_unit_test(fused_sets_agree), cmocka_unit_test(places)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
