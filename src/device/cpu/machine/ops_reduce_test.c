/* Reductions: float sums and products against a plain implementation of the tree, all others against a plain fold.
 * Terms come in pieces of any length, lane by lane with and without masks, and joined from parts. */
#include "device/cpu/machine/ops_test.h"
#include <stdlib.h>

enum { MOST = 5000 };
static _Alignas(64) double terms[MOST];
static int64_t indices[MOST];
static const enum le_type types[] = {LE_BOOL, LE_I8,  LE_I16, LE_I32, LE_I64, LE_U8,
                                     LE_U16,  LE_U32, LE_U64, LE_F32, LE_F64};
enum { TYPES = sizeof types / sizeof *types };

static const char *element_at(enum le_type type, int64_t k) {
    return (const char *)terms + (size_t)k * le_type_size(type);
}

/* T(n) = T(first h) + T(rest), h the largest power of two below n. */
static double tree(enum le_type type, enum le_reduction reduction, int64_t first, int64_t n) {
    if (n == 1)
        return get(type, terms, first).f;
    int64_t half = 1;
    while (2 * half < n)
        half *= 2;
    const double a = tree(type, reduction, first, half), b = tree(type, reduction, first + half, n - half);
    const double total = reduction == LE_RED_SUM ? a + b : a * b;
    return type == LE_F32 ? (double)(float)total : total;
}

static bool beats(enum le_reduction reduction, enum le_type type, struct value a, struct value b) {
    const bool least = reduction == LE_RED_MIN || reduction == LE_RED_ARGMIN;
    if (is_whole(type))
        return least ? a.i < b.i : a.i > b.i;
    return !isnan(b.f) && (isnan(a.f) || (least ? a.f < b.f : a.f > b.f));
}

/* -0.0 is lower than 0.0. */
static bool is_other_zero(enum le_reduction reduction, struct value a, struct value b) {
    return a.f == 0 && b.f == 0 && (signbit(a.f) != 0) == (reduction == LE_RED_MIN);
}

static struct value extreme(enum le_type type, enum le_reduction reduction, int64_t n) {
    const bool least = reduction == LE_RED_MIN;
    struct value best = {.i = least ? greatest_of(type) : least_of(type), .f = (double)INFINITY * (least ? 1 : -1)};
    for (int64_t k = 0; k < n; k++)
        if (beats(reduction, type, get(type, terms, k), best) ||
            (!is_whole(type) && is_other_zero(reduction, get(type, terms, k), best)))
            best = get(type, terms, k);
    return best;
}

static struct value index_of_extreme(enum le_type type, enum le_reduction reduction, int64_t n) {
    int64_t best = -1;
    for (int64_t k = 0; k < n; k++)
        if (best < 0 || beats(reduction, type, get(type, terms, k), get(type, terms, best)))
            best = k;
    return (struct value){.i = best < 0 ? -1 : indices[best]};
}

static struct value expected(enum le_type type, enum le_reduction reduction, int64_t n) {
    struct value total = {.i = reduction == LE_RED_PROD || reduction == LE_RED_ALL, .f = reduction == LE_RED_PROD};
    if (reduction == LE_RED_ARGMIN || reduction == LE_RED_ARGMAX)
        return index_of_extreme(type, reduction, n);
    if (reduction == LE_RED_MIN || reduction == LE_RED_MAX)
        return extreme(type, reduction, n);
    if (!is_whole(type))
        return n == 0 ? total : (struct value){.f = tree(type, reduction, 0, n)};
    for (int64_t k = 0; k < n; k++) {
        const int128 a = get(type, terms, k).i;
        if (type == LE_BOOL)
            total.i = reduction == LE_RED_SUM || reduction == LE_RED_ANY ? total.i | a : total.i & a;
        else
            total.i = wrapped(type, reduction == LE_RED_SUM ? total.i + a : (int128)((uint128)total.i * (uint128)a));
    }
    return total;
}

static bool is_defined(enum le_type type, enum le_reduction reduction) {
    return reduction != LE_RED_MEAN && (type == LE_BOOL || (reduction != LE_RED_ANY && reduction != LE_RED_ALL));
}

/* kind 0: all kinds of values; 1: moderate floats whose rounding reveals the order. */
static void fill(enum le_type type, int64_t n, int kind, uint64_t seed) {
    for (int64_t k = 0; k < n; k++) {
        struct value value = sample(type, &seed);
        if (kind == 1)
            value.f = 1 + ((double)(next_random(&seed) >> 11) * 0x1p-53 - 0.5) * 0.1;
        put(type, terms, k, value);
        indices[k] = 3 * k + 5;
    }
}

static enum le_type result_type(enum le_type type, enum le_reduction reduction) {
    return reduction == LE_RED_ARGMIN || reduction == LE_RED_ARGMAX ? LE_I64 : type;
}

static struct le_instr instruction(int code, enum le_type type, enum le_reduction reduction) {
    return (struct le_instr){
        .code = (uint16_t)code, .type = (uint8_t)type, .d = 0, .a = 1, .b = 2, .c = LE_NO_REG, .imm = reduction};
}

/* Adds n terms in pieces: all at once, or of random lengths up to `most`. */
static struct value reduce(enum le_simd simd, enum le_type type, enum le_reduction reduction, int64_t n, int64_t most) {
    void *acc = aligned_alloc(64, le_acc_size());
    struct le_instr instr = instruction(LE_CODE_ACC_INIT, type, reduction);
    uint64_t seed = (uint64_t)(n + most), result = 0;
    void *reg[] = {acc, NULL, NULL};
    run_op(simd, &instr, reg, 1);
    instr.code = LE_CODE_ACC_ADD;
    for (int64_t k = 0; k < n;) {
        int64_t length = most == LE_BLOCK_MAX ? most : (int64_t)(next_random(&seed) % (uint64_t)(most + 1));
        if (length > n - k)
            length = n - k;
        reg[1] = (void *)(uintptr_t)element_at(type, k);
        reg[2] = indices + k;
        run_op(simd, &instr, reg, length);
        k += length;
    }
    instr.code = LE_CODE_ACC_END;
    void *ends[] = {&result, acc};
    run_op(simd, &instr, ends, 1);
    free(acc);
    return get(result_type(type, reduction), &result, 0);
}

static void check(enum le_simd simd, enum le_type type, enum le_reduction reduction, int64_t n, int kind) {
    static const int64_t most[] = {LE_BLOCK_MAX, 1, 5, 64, 700};
    fill(type, n, kind, (uint64_t)n);
    const struct value want = expected(type, reduction, n);
    for (size_t k = 0; k < sizeof most / sizeof *most; k++) {
        const struct value got = reduce(simd, type, reduction, n, most[k]);
        if (!same(result_type(type, reduction), got, want))
            fail_msg("%s of %d %s on %s in pieces up to %d: %lld %a instead of %lld %a", le_reduction_name(reduction),
                     (int)n, le_type_name(type), le_simd_name(simd), (int)most[k], (long long)got.i, got.f,
                     (long long)want.i, want.f);
    }
}

static void over_lanes(void **state) {
    (void)state;
    EACH_SIMD(simd)
    for (int t = 0; t < TYPES; t++)
        for (enum le_reduction reduction = 0; reduction < LE_RED_FUNCTIONS; reduction++) {
            if (!is_defined(types[t], reduction))
                continue;
            EACH_LENGTH(n)
            for (int kind = 0; kind < 2; kind++)
                check(simd, types[t], reduction, n, kind);
            check(simd, types[t], reduction, 4097, 1);
            check(simd, types[t], reduction, MOST, 1);
        }
}

/* The order of zeros and of NaNs does not affect an extreme. Sums and extremes of -0.0 alone give -0.0. */
static void zeros(void **state) {
    (void)state;
    EACH_SIMD(simd)
    for (int flip = 0; flip < 2; flip++) {
        for (int k = 0; k < 40; k++)
            put(LE_F64, terms, k, (struct value){.f = k % 2 == flip ? -0.0 : 0.0});
        assert_true(signbit(reduce(simd, LE_F64, LE_RED_MIN, 40, 7).f));
        assert_false(signbit(reduce(simd, LE_F64, LE_RED_MAX, 40, 7).f));
        for (int k = 0; k < 40; k++)
            put(LE_F64, terms, k, (struct value){.f = -0.0});
        assert_true(signbit(reduce(simd, LE_F64, LE_RED_SUM, 40, 7).f));
        assert_true(signbit(reduce(simd, LE_F64, LE_RED_MIN, 40, 7).f));
        assert_true(signbit(reduce(simd, LE_F64, LE_RED_MAX, 40, 7).f));
        assert_false(signbit(reduce(simd, LE_F64, LE_RED_SUM, 0, 7).f));
    }
}

/* Totals of pieces of 2^k terms, joined, are the total of all. */
static void joined(void **state) {
    (void)state;
    const int64_t piece = 64;
    EACH_SIMD(simd)
    for (int t = 0; t < TYPES; t++)
        for (enum le_reduction reduction = 0; reduction < LE_RED_ARGMIN; reduction++)
            for (int64_t n = 0; n <= MOST; n += 777) {
                if (!is_defined(types[t], reduction))
                    continue;
                static double parts[MOST];
                uint64_t result = 0;
                int64_t count = 0;
                fill(types[t], MOST, n % 2 == 0, 3);
                const struct value want = expected(types[t], reduction, n);
                for (int64_t k = 0; k < n; k += piece, count++) {
                    static double whole[MOST];
                    memcpy(whole, terms, sizeof whole);
                    memmove(terms, element_at(types[t], k), (size_t)(n - k) * le_type_size(types[t]));
                    put(types[t], parts, count, expected(types[t], reduction, n - k < piece ? n - k : piece));
                    memcpy(terms, whole, sizeof whole);
                }
                le_acc_join(simd, types[t], reduction, parts, count, &result);
                assert_true(same(types[t], get(types[t], &result, 0), want));
            }
}

enum { LANES = 100, STEPS = 70 };
static double rows[STEPS][LANES];
static uint8_t omitted[STEPS][LANES];

/* Lane by lane: lane k of row s is left out if omitted[s][k]. */
static void reduce_lanes(enum le_simd simd, enum le_type type, enum le_reduction reduction, int64_t n, int steps,
                         bool mask, void *results) {
    void *vec = aligned_alloc(64, le_vec_size(LANES, 7));
    static int64_t at_row[LANES];
    struct le_instr instr = instruction(LE_CODE_VEC_INIT, type, reduction);
    void *reg[] = {vec, NULL, at_row, NULL};
    run_op(simd, &instr, reg, n);
    instr.code = LE_CODE_VEC_ADD;
    instr.c = mask ? 3 : LE_NO_REG;
    for (int s = 0; s < steps; s++) {
        reg[1] = rows[s];
        reg[3] = omitted[s];
        for (int64_t k = 0; k < n; k++)
            at_row[k] = 3 * s + 5;
        run_op(simd, &instr, reg, n);
    }
    instr.code = LE_CODE_VEC_END;
    void *ends[] = {results, vec};
    run_op(simd, &instr, ends, n);
    free(vec);
}

static void check_lanes(enum le_simd simd, enum le_type type, enum le_reduction reduction, int64_t n, int steps,
                        bool mask, int kind) {
    static double results[LANES];
    for (int s = 0; s < steps; s++) {
        fill(type, n, kind, (uint64_t)(n * 1000 + s));
        memcpy(rows[s], terms, sizeof rows[s]);
        for (int64_t k = 0; k < n; k++)
            omitted[s][k] = s >= k % (steps + 1); /* lane k has only its first terms, maybe none */
    }
    reduce_lanes(simd, type, reduction, n, steps, mask, results);
    for (int64_t k = 0; k < n; k++) {
        const int count = mask && k % (steps + 1) < steps ? (int)(k % (steps + 1)) : steps;
        for (int s = 0; s < count; s++) {
            put(type, terms, s, get(type, rows[s], k));
            indices[s] = 3 * s + 5;
        }
        const struct value want = expected(type, reduction, count), got = get(result_type(type, reduction), results, k);
        if (!same(result_type(type, reduction), got, want))
            fail_msg("%s of %d %s, lane %d of %d, on %s%s: %lld %a instead of %lld %a", le_reduction_name(reduction),
                     count, le_type_name(type), (int)k, (int)n, le_simd_name(simd), mask ? ", masked" : "",
                     (long long)got.i, got.f, (long long)want.i, want.f);
    }
}

static void lane_by_lane(void **state) {
    (void)state;
    const int steps[] = {0, 1, 2, 3, 4, 7, 8, 16, 31, 63, 70};
    EACH_SIMD(simd)
    for (int t = 0; t < TYPES; t++)
        for (enum le_reduction reduction = 0; reduction < LE_RED_FUNCTIONS; reduction++) {
            if (!is_defined(types[t], reduction))
                continue;
            for (size_t s = 0; s < sizeof steps / sizeof *steps; s++)
                for (int mask = 0; mask < 2; mask++) {
                    check_lanes(simd, types[t], reduction, LANES, steps[s], mask, 1);
                    check_lanes(simd, types[t], reduction, 33, steps[s], mask, 0);
                    check_lanes(simd, types[t], reduction, 1, steps[s], mask, 0);
                }
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(over_lanes), cmocka_unit_test(zeros), cmocka_unit_test(joined),
                                       cmocka_unit_test(lane_by_lane)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
