/* Arithmetic, bits and comparisons of all types against plain definitions in wider arithmetic, on each instruction set,
 * for many lengths, in place and not. Also checks that exactly n elements are written. */
#include "device/cpu/machine/ops_test.h"
#include <math.h>

enum { ROOM = (LE_BLOCK_MAX + 8) * 8 };
static _Alignas(64) unsigned char input[3][ROOM], copies[3][ROOM], output[ROOM];

/* Modulo 2^128. */
static int128 times(int128 a, int128 b) {
    return (int128)((uint128)a * (uint128)b);
}
static int128 plus(int128 a, int128 b) {
    return (int128)((uint128)a + (uint128)b);
}

static int128 floor_divided(int128 a, int128 b) {
    const int128 quotient = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

static int128 power(enum le_type type, int128 a, int128 b) {
    int128 result = 1;
    if (b < 0)
        return 0;
    for (int bit = 63; bit >= 0; bit--) {
        result = wrapped(type, times(result, result));
        if (b >> bit & 1)
            result = wrapped(type, times(result, a));
    }
    return result;
}

static int128 whole_of_two(int code, enum le_type type, int128 a, int128 b) {
    const bool within = b >= 0 && b < le_type_bits(type);
    switch (code) {
    case LE_OP_ADD:
        return type == LE_BOOL ? a | b : a + b;
    case LE_OP_SUB:
        return a - b;
    case LE_OP_MUL:
        return times(a, b);
    case LE_OP_FLOORDIV:
        return b == 0 ? 0 : floor_divided(a, b);
    case LE_OP_MOD:
        return b == 0 ? 0 : a - b * floor_divided(a, b);
    case LE_OP_POW:
        return power(type, a, b);
    case LE_OP_AND:
        return a & b;
    case LE_OP_OR:
        return a | b;
    case LE_OP_XOR:
        return a ^ b;
    case LE_OP_SHL:
        return within ? times(a, (int128)1 << b) : 0;
    case LE_OP_SHR:
        return within ? a >> b : a < 0 ? -1 : 0;
    case LE_OP_MIN:
    case LE_OP_FMIN:
        return a < b ? a : b;
    case LE_OP_MAX:
    case LE_OP_FMAX:
        return a > b ? a : b;
    default:
        fail();
        return 0;
    }
}

static int128 ones(enum le_type type, int128 a) {
    int128 count = 0;
    for (int bit = 0; bit < le_type_bits(type); bit++)
        count += a >> bit & 1;
    return count;
}

static int128 whole_result(int code, enum le_type type, int128 a, int128 b, int128 c) {
    switch (code) {
    case LE_OP_NEG:
        return -a;
    case LE_OP_NOT:
        return ~a;
    case LE_OP_ABS:
        return a < 0 ? -a : a;
    case LE_OP_SIGN:
        return (a > 0) - (a < 0);
    case LE_OP_FLOOR:
    case LE_OP_CEIL:
    case LE_OP_TRUNC:
    case LE_OP_RINT:
        return a;
    case LE_OP_CLAMP:
        a = a > b ? a : b;
        return a < c ? a : c;
    case LE_OP_POPCOUNT:
        return ones(type, a);
    case LE_CODE_MULADD:
        return plus(times(a, b), c);
    case LE_CODE_MULSUB:
        return plus(times(a, b), -c);
    case LE_CODE_NMULADD:
        return plus(c, times(-a, b));
    default:
        return whole_of_two(code, type, a, b);
    }
}

static bool whole_truth(int code, int128 a, int128 b) {
    switch (code) {
    case LE_OP_EQ:
        return a == b;
    case LE_OP_NE:
        return a != b;
    case LE_OP_LT:
        return a < b;
    case LE_OP_LE:
        return a <= b;
    case LE_OP_GT:
        return a > b;
    case LE_OP_GE:
        return a >= b;
    case LE_OP_LAND:
        return a && b;
    case LE_OP_LOR:
        return a || b;
    case LE_OP_LNOT:
        return !a;
    default:
        return code == LE_OP_ISFINITE;
    }
}

/* Python's // and %. */
static double float_modulo(double a, double b) {
    double rest = fmod(a, b);
    if (rest == 0)
        return copysign(0, b);
    return (rest < 0) != (b < 0) ? rest + b : rest;
}
static double float_floor_divided(double a, double b) {
    if (b == 0)
        return a / b;
    if (isinf(a))
        return (double)NAN;
    const double rest = fmod(a, b);
    double quotient = (a - rest) / b;
    if (rest != 0 && (rest < 0) != (b < 0))
        quotient -= 1;
    if (quotient == 0)
        return copysign(0, a / b);
    return quotient - floor(quotient) > 0.5 ? floor(quotient) + 1 : floor(quotient);
}

static bool smaller(double a, double b) {
    return isnan(a) || a < b;
}
static bool larger(double a, double b) {
    return isnan(a) || a > b;
}

/* Computing + - * / sqrt of f32 in f64 and rounding again is equivalent to rounding once. */
static double float_of_one(int code, enum le_type type, double a) {
    switch (code) {
    case LE_OP_NEG:
        return -a;
    case LE_OP_ABS:
        return fabs(a);
    case LE_OP_SIGN:
        return isnan(a) ? a : a > 0 ? 1 : a < 0 ? -1 : 0;
    case LE_OP_FLOOR:
        return floor(a);
    case LE_OP_CEIL:
        return ceil(a);
    case LE_OP_TRUNC:
        return trunc(a);
    case LE_OP_RINT:
        return nearbyint(a);
    case LE_OP_SQRT:
        return sqrt(a);
    case LE_OP_RSQRT:
        return type == LE_F32 ? (double)(1 / (float)sqrt(a)) : 1 / sqrt(a);
    default:
        fail();
        return 0;
    }
}

static double multiply_add(enum le_type type, bool fused, double a, double b, double c) {
    if (type == LE_F64)
        return fused ? fma(a, b, c) : a * b + c;
    return fused ? (double)fmaf((float)a, (float)b, (float)c) : (double)((float)(a * b)) + c;
}

static double float_result(int code, enum le_type type, bool fused, double a, double b, double c) {
    switch (code) {
    case LE_OP_ADD:
        return a + b;
    case LE_OP_SUB:
        return a - b;
    case LE_OP_MUL:
        return a * b;
    case LE_OP_DIV:
        return a / b;
    case LE_OP_FLOORDIV:
        return float_floor_divided(a, b);
    case LE_OP_MOD:
        return float_modulo(a, b);
    case LE_OP_MIN:
        return smaller(a, b) ? a : b;
    case LE_OP_MAX:
        return larger(a, b) ? a : b;
    case LE_OP_FMIN:
        return isnan(a) || b < a ? b : a;
    case LE_OP_FMAX:
        return isnan(a) || b > a ? b : a;
    case LE_OP_CLAMP:
        a = larger(a, b) ? a : b;
        return smaller(a, c) ? a : c;
    case LE_OP_FMA:
        return multiply_add(type, true, a, b, c);
    case LE_CODE_MULADD:
        return multiply_add(type, fused, a, b, c);
    case LE_CODE_MULSUB:
        return multiply_add(type, fused, a, b, -c);
    case LE_CODE_NMULADD:
        return multiply_add(type, fused, -a, b, c);
    default:
        return float_of_one(code, type, a);
    }
}

static bool float_truth(int code, double a, double b) {
    switch (code) {
    case LE_OP_EQ:
        return a == b;
    case LE_OP_NE:
        return a != b;
    case LE_OP_LT:
        return a < b;
    case LE_OP_LE:
        return a <= b;
    case LE_OP_GT:
        return a > b;
    case LE_OP_GE:
        return a >= b;
    case LE_OP_LAND:
        return a != 0 && b != 0;
    case LE_OP_LOR:
        return a != 0 || b != 0;
    case LE_OP_LNOT:
        return a == 0;
    case LE_OP_ISNAN:
        return isnan(a);
    case LE_OP_ISINF:
        return isinf(a);
    case LE_OP_ISFINITE:
        return isfinite(a);
    default:
        fail();
        return false;
    }
}

static bool gives_truth(int code) {
    return (code >= LE_OP_EQ && code <= LE_OP_LOR) || code == LE_OP_LNOT ||
           (code >= LE_OP_ISNAN && code <= LE_OP_ISFINITE);
}

static bool is_library(int code) {
    return code == LE_OP_POW || (code >= LE_OP_CBRT && code <= LE_OP_HYPOT);
}

/* Whether the operation is defined on the type. */
static bool is_defined(int code, enum le_type type) {
    if (le_type_is_float(type))
        return !is_library(code) && !(code >= LE_OP_AND && code <= LE_OP_SHR) && code != LE_OP_NOT &&
               code != LE_OP_POPCOUNT;
    if (code == LE_OP_DIV || code == LE_OP_FMA || (code >= LE_OP_SQRT && code <= LE_OP_HYPOT))
        return false;
    if (type != LE_BOOL)
        return true;
    switch (code) {
    case LE_OP_ADD:
    case LE_OP_MUL:
    case LE_OP_AND:
    case LE_OP_OR:
    case LE_OP_XOR:
    case LE_OP_NOT:
    case LE_OP_MIN:
    case LE_OP_MAX:
    case LE_OP_FMIN:
    case LE_OP_FMAX:
    case LE_OP_CLAMP:
        return true;
    default:
        return gives_truth(code);
    }
}

static struct value expected(int code, enum le_type type, bool fused, int64_t k) {
    struct value v[3];
    for (int p = 0; p < 3; p++)
        v[p] = get(type, copies[p], k);
    if (is_whole(type))
        return (struct value){.i = gives_truth(code) ? whole_truth(code, v[0].i, v[1].i)
                                                     : wrapped(type, whole_result(code, type, v[0].i, v[1].i, v[2].i))};
    if (gives_truth(code))
        return (struct value){.i = float_truth(code, v[0].f, v[1].f)};
    const double x = float_result(code, type, fused, v[0].f, v[1].f, v[2].f);
    return (struct value){.f = type == LE_F32 ? (double)(float)x : x};
}

/* place: the operand whose register also gets the result, or 3 for another register. */
static void check(enum le_simd simd, int code, enum le_type type, int place, int64_t n, uint64_t seed) {
    const enum le_type result = gives_truth(code) ? LE_BOOL : type;
    const struct le_instr instr = {.code = (uint16_t)code, .type = (uint8_t)type, .d = (uint16_t)place, .b = 1, .c = 2};
    void *reg[] = {input[0], input[1], input[2], output};
    for (int p = 0; p < 3; p++) {
        for (int64_t k = 0; k < n + 8; k++)
            put(type, input[p], k, sample(type, &seed));
        memcpy(copies[p], input[p], sizeof input[p]);
    }
    memset(output, 0xab, sizeof output);
    unsigned char *d = reg[place];
    unsigned char after[64];
    memcpy(after, d + (size_t)n * le_type_size(result), sizeof after);
    run_op(simd, &instr, reg, n);
    for (int64_t k = 0; k < n; k++)
        if (!same(result, get(result, d, k), expected(code, type, le_simd_is_fused(simd), k))) {
            const struct value got = get(result, d, k), want = expected(code, type, le_simd_is_fused(simd), k),
                               a = get(type, copies[0], k), b = get(type, copies[1], k);
            fail_msg("%s %s on %s, element %d of %d: %lld %a of %lld %a and %lld %a instead of %lld %a",
                     code < LE_OPS ? le_op_info((enum le_op)code)->name : "multiply-add", le_type_name(type),
                     le_simd_name(simd), (int)k, (int)n, (long long)got.i, got.f, (long long)a.i, a.f, (long long)b.i,
                     b.f, (long long)want.i, want.f);
        }
    if (place == 3)
        assert_memory_equal(after, d + (size_t)n * le_type_size(result), sizeof after);
}

static const int codes[] = {LE_CODE_MULADD, LE_CODE_MULSUB, LE_CODE_NMULADD};
static const enum le_type types[] = {LE_BOOL, LE_I8,  LE_I16, LE_I32, LE_I64, LE_U8,
                                     LE_U16,  LE_U32, LE_U64, LE_F32, LE_F64};

static void check_all_types(int code) {
    EACH_SIMD(simd)
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        if (!is_defined(code, types[t]))
            continue;
        EACH_LENGTH(n)
        for (int place = 0; place < 4; place++)
            check(simd, code, types[t], place, n, (uint64_t)(n * 100 + code));
    }
}

static void operations(void **state) {
    (void)state;
    for (int code = 0; code < LE_OPS; code++)
        check_all_types(code);
}

static void multiply_adds(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof codes / sizeof *codes; k++)
        check_all_types(codes[k]);
}

static void all_pairs_of_bytes(void **state) {
    (void)state;
    const enum le_type bytes[] = {LE_I8, LE_U8};
    EACH_SIMD(simd)
    for (int t = 0; t < 2; t++)
        for (int code = 0; code < LE_OP_EQ; code++) {
            const struct le_instr instr = {.code = (uint16_t)code, .type = (uint8_t)bytes[t], .d = 3, .b = 1, .c = 2};
            void *reg[] = {input[0], input[1], input[2], output};
            if (!is_defined(code, bytes[t]))
                continue;
            for (int a = 0; a < 256; a++) {
                for (int64_t k = 0; k < 256; k++) {
                    put(bytes[t], copies[0], k, (struct value){.i = a});
                    put(bytes[t], copies[1], k, (struct value){.i = k});
                }
                memcpy(input, copies, sizeof input);
                run_op(simd, &instr, reg, 256);
                for (int64_t k = 0; k < 256; k++)
                    assert_true(same(bytes[t], get(bytes[t], output, k), expected(code, bytes[t], false, k)));
            }
        }
}

/* A distance equals its parts computed one after the other; with b or with b's first element, with a sum or without. */
static void check_distance(enum le_simd simd, enum le_type type, int64_t n, bool sum, int flags, uint64_t seed) {
    const bool one = flags & LE_DISTANCE_ONE, fused = flags & LE_DISTANCE_FUSED;
    static unsigned char whole[8 * LE_BLOCK_MAX], parts[8 * LE_BLOCK_MAX], many[8 * LE_BLOCK_MAX];
    void *reg[] = {input[0], input[1], input[2], whole, parts, many};
    for (int p = 0; p < 3; p++)
        for (int64_t k = 0; k < n; k++)
            put(type, input[p], k, sample(type, &seed));
    const struct le_instr steps[] = {{.code = LE_CODE_SPLAT, .type = (uint8_t)type, .d = 5, .a = 1},
                                     {.code = LE_OP_SUB, .type = (uint8_t)type, .d = 4, .a = 0, .b = one ? 5 : 1},
                                     {.code = LE_OP_MUL, .type = (uint8_t)type, .d = 4, .a = 4, .b = 4},
                                     {.code = LE_OP_ADD, .type = (uint8_t)type, .d = 4, .a = 2, .b = 4},
                                     {.code = LE_CODE_MULADD, .type = (uint8_t)type, .d = 4, .a = 4, .b = 4, .c = 2}};
    for (int k = 0; k < (sum && !fused ? 4 : sum ? 2 : 3); k++)
        run_op(simd, &steps[k], reg, n);
    if (sum && fused)
        run_op(simd, &steps[4], reg, n);
    const struct le_instr instr = {
        .code = LE_CODE_DISTANCE, .type = (uint8_t)type, .d = 3, .b = 1, .c = sum ? 2 : LE_NO_REG, .imm = flags};
    run_op(simd, &instr, reg, n);
    for (int64_t k = 0; k < n; k++)
        assert_true(same(type, get(type, whole, k), get(type, parts, k)));
}

static void distances(void **state) {
    (void)state;
    EACH_SIMD(simd)
    EACH_LENGTH(n)
    for (int way = 0; way < 16 && n > 0; way++)
        check_distance(simd, way & 1 ? LE_F32 : LE_F64, n, way & 2, way / 4, (uint64_t)(n * 16 + way));
}

static void names(void **state) {
    (void)state;
    for (enum le_simd simd = 0; simd < LE_SIMDS; simd++)
        assert_int_equal(le_simd_parse(le_simd_name(simd)), simd);
    assert_int_equal(le_simd_parse("mmx"), LE_SIMDS);
    assert_true(le_simd_here(LE_SIMD_BASELINE));
    assert_true(le_simd_here(le_simd_best()));
    assert_null(le_cpu_op_find(LE_SIMD_BASELINE, &(struct le_instr){.code = LE_CODE_LOOP, .type = LE_F32}));
    assert_null(le_cpu_op_find(LE_SIMD_BASELINE, &(struct le_instr){.code = LE_OP_SHL, .type = LE_F32}));
    assert_null(le_cpu_op_find(LE_SIMD_BASELINE, &(struct le_instr){.code = LE_OP_DIV, .type = LE_I32}));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(names), cmocka_unit_test(operations),
                                       cmocka_unit_test(multiply_adds), cmocka_unit_test(distances),
                                       cmocka_unit_test(all_pairs_of_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
