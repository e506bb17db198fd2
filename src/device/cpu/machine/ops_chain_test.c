/* Sums with reuse against a plain implementation of rule 3b: over the lanes in pieces of any length, lane by lane with
 * and without masks, in rows of any length, and joined from whole units. */
#include "device/cpu/machine/ops_test.h"
#include <stdlib.h>

enum { MOST = 5200, UNIT = LE_CHAIN_TERMS * LE_CHAIN_CHUNKS, CARRIED = 21 * UNIT + 77 };
static _Alignas(64) double left[CARRIED], right[CARRIED];
static const enum le_type types[] = {LE_F32, LE_F64};
static const int64_t sizes[] = {0,    1,    2,    3,    31,   32,   33,   63,   64,   65,   95,   96,   97,   127,
                                128,  160,  255,  256,  257,  511,  512,  513,  700,  992,  1000, 1023, 1024, 1025,
                                1055, 1056, 1057, 2047, 2048, 2049, 3072, 4095, 4096, 4097, 5000, MOST};
enum { SIZES = sizeof sizes / sizeof *sizes };
enum way { TERMS, PRODUCTS, SQUARES, WAYS };

static double rounded(enum le_type type, double x) {
    return type == LE_F32 ? (double)(float)x : x;
}

static double multiply_add(enum le_type type, bool fused, double a, double b, double c) {
    if (type == LE_F64)
        return fused ? fma(a, b, c) : a * b + c;
    return fused ? (double)fmaf((float)a, (float)b, (float)c) : rounded(type, rounded(type, a * b) + c);
}

/* ---- the rule */

struct series {
    enum le_type type;
    bool fused;
    enum way way;
    int64_t first, n;
    const void *left, *right;
};

static double chunk_of(const struct series *s, int64_t first, int64_t n) {
    double acc = -0.0;
    for (int64_t k = first; k < first + n; k++) {
        double a = get(s->type, s->left, k).f;
        if (s->way == TERMS)
            acc = rounded(s->type, acc + a);
        else
            acc = multiply_add(s->type, s->fused, a, s->way == SQUARES ? a : get(s->type, s->right, k).f, acc);
    }
    return acc;
}

static double unit_of(const struct series *s, int64_t first, int64_t n) {
    double total = -0.0;
    for (int64_t k = 0; k < n; k += LE_CHAIN_TERMS)
        total =
            rounded(s->type, total + chunk_of(s, first + k, n - k < LE_CHAIN_TERMS ? n - k : (int64_t)LE_CHAIN_TERMS));
    return total;
}

static double tree_of(const struct series *s, int64_t first, int64_t n) {
    int64_t half = UNIT;
    if (n <= UNIT)
        return unit_of(s, first, n);
    while (2 * half < n)
        half *= 2;
    return rounded(s->type, tree_of(s, first, half) + tree_of(s, first + half, n - half));
}

static struct value expected(const struct series *s) {
    return (struct value){.f = s->n == 0 ? 0 : tree_of(s, s->first, s->n)};
}

/* kind 0: all kinds of values; 1: moderate ones whose rounding reveals the order. */
static void fill(enum le_type type, int64_t n, int kind, uint64_t seed) {
    for (int64_t k = 0; k < 2 * n; k++) {
        struct value value = sample(type, &seed);
        if (kind == 1)
            value.f = 1 + ((double)(next_random(&seed) >> 11) * 0x1p-53 - 0.5) * 0.1;
        put(type, k < n ? left : right, k % n, value);
    }
}

static struct le_instr instruction(int code, enum le_type type, enum way way) {
    return (struct le_instr){.code = (uint16_t)code,
                             .type = (uint8_t)type,
                             .d = 0,
                             .a = 1,
                             .b = way == TERMS ? LE_NO_REG : 2,
                             .c = LE_NO_REG,
                             .e = LE_NO_REG,
                             .imm = way == TERMS ? LE_RED_CHAIN : LE_RED_CHAIN_OF_PRODUCTS};
}

static void *at(enum le_type type, double *of, int64_t k) {
    return (char *)of + (size_t)k * le_type_size(type);
}

/* ---- over the lanes */

static struct value reduce(enum le_simd simd, const struct series *s, int64_t most) {
    void *acc = aligned_alloc(64, le_acc_size());
    struct le_instr instr = instruction(LE_CODE_ACC_INIT, s->type, s->way);
    uint64_t seed = (uint64_t)(s->n + most), result = 0;
    void *reg[] = {acc, NULL, NULL};
    run_op(simd, &instr, reg, 1);
    instr.code = LE_CODE_ACC_ADD;
    for (int64_t k = 0; k < s->n;) {
        int64_t length = most == LE_BLOCK_MAX ? most : (int64_t)(next_random(&seed) % (uint64_t)(most + 1));
        length = length < s->n - k ? length : s->n - k;
        reg[1] = at(s->type, left, k);
        reg[2] = s->way == SQUARES ? reg[1] : at(s->type, right, k);
        run_op(simd, &instr, reg, length);
        k += length;
    }
    instr.code = LE_CODE_ACC_END;
    void *ends[] = {&result, acc};
    run_op(simd, &instr, ends, 1);
    free(acc);
    return get(s->type, &result, 0);
}

static void check(enum le_simd simd, enum le_type type, enum way way, int64_t n, int kind) {
    static const int64_t most[] = {LE_BLOCK_MAX, 1, 5, 64, 700};
    const struct series s = {
        .type = type, .fused = le_simd_is_fused(simd), .way = way, .n = n, .left = left, .right = right};
    fill(type, n, kind, (uint64_t)n);
    const struct value want = expected(&s);
    for (size_t k = 0; k < sizeof most / sizeof *most; k++) {
        const struct value got = reduce(simd, &s, most[k]);
        if (!same(type, got, want))
            fail_msg("way %d of %d %s on %s in pieces up to %d: %a instead of %a", way, (int)n, le_type_name(type),
                     le_simd_name(simd), (int)most[k], got.f, want.f);
    }
}

#define EACH_WAY(t, way)                                                                                               \
    for (int t = 0; t < 2; t++)                                                                                        \
        for (enum way way = TERMS; way < WAYS; way++)

static void over_lanes(void **state) {
    (void)state;
    EACH_SIMD(simd)
    EACH_WAY(t, way) {
        for (int k = 0; k < SIZES; k++)
            for (int kind = 0; kind < 2; kind++)
                check(simd, types[t], way, sizes[k], kind);
        check(simd, types[t], way, CARRIED, 1);
    }
}

/* A sum of -0.0 alone is -0.0; one of no terms is 0.0. */
static void zeros(void **state) {
    (void)state;
    memset(left, 0, sizeof left);
    for (int64_t k = 0; k < MOST; k++)
        left[k] = -0.0;
    EACH_SIMD(simd)
    for (int k = 0; k < SIZES; k++) {
        const struct series s = {.type = LE_F64, .way = TERMS, .n = sizes[k]};
        assert_int_equal(signbit(reduce(simd, &s, 700).f) != 0, sizes[k] > 0);
    }
}

/* Totals of whole units, and of what is left, joined are the total of all. */
static void joined(void **state) {
    (void)state;
    EACH_SIMD(simd)
    EACH_WAY(t, way)
    for (int k = 1; k < SIZES; k++) {
        double parts[MOST / UNIT + 1];
        uint64_t result = 0;
        int64_t count = 0;
        struct series s = {.type = types[t], .way = way, .n = sizes[k], .left = left, .right = right};
        fill(s.type, s.n, 1, 5);
        const struct value want = expected(&s);
        for (s.first = 0; s.first < sizes[k]; s.first += UNIT, count++) {
            s.n = sizes[k] - s.first < UNIT ? sizes[k] - s.first : (int64_t)UNIT;
            put(s.type, parts, count, expected(&s));
        }
        le_acc_join(simd, s.type, way == TERMS ? LE_RED_CHAIN : LE_RED_CHAIN_OF_PRODUCTS, parts, count, &result);
        assert_true(same(s.type, get(s.type, &result, 0), want));
    }
}

/* ---- lane by lane */

enum { LANES = 35, STEPS = 4200 };
static uint8_t omitted[STEPS][LANES];

static void fill_lanes(enum le_type type, int steps, int mask, double (*x)[2][LANES]) {
    uint64_t seed = (uint64_t)steps;
    for (int s = 0; s < steps; s++)
        for (int k = 0; k < LANES; k++) {
            omitted[s][k] = k % 5 == 0 ? next_random(&seed) % 3 == 0 : s >= k * 131;
            omitted[s][k] = mask && omitted[s][k];
            for (int side = 0; side < 2; side++)
                put(type, x[s][side], k,
                    (struct value){.f = 1 + ((double)(next_random(&seed) >> 11) * 0x1p-53 - 0.5) * 0.1});
        }
}

/* What is left out has a place all the same. */
static struct value expected_of_lane(const struct series *s, double (*x)[2][LANES], int lane) {
    double units[STEPS / UNIT + 1], total = 0, unit = -0.0, chunk = -0.0;
    int count = 0;
    bool seen = false;
    for (int64_t k = 0; k < s->n; k++) {
        const double a = get(s->type, x[k][0], lane).f, b = get(s->type, x[k][s->way == SQUARES ? 0 : 1], lane).f;
        seen |= !omitted[k][lane];
        if (!omitted[k][lane])
            chunk = s->way == TERMS ? rounded(s->type, chunk + a) : multiply_add(s->type, s->fused, a, b, chunk);
        if ((k + 1) % LE_CHAIN_TERMS == 0 || k + 1 == s->n) {
            unit = rounded(s->type, unit + chunk);
            chunk = -0.0;
        }
        if ((k + 1) % UNIT == 0 || k + 1 == s->n) {
            units[count++] = unit;
            unit = -0.0;
        }
    }
    if (count <= 2)
        total = count == 2 ? rounded(s->type, units[0] + units[1]) : count == 1 ? units[0] : 0;
    else
        total = rounded(s->type, rounded(s->type, units[0] + units[1]) +
                                     (count == 3 ? units[2] : rounded(s->type, units[2] + units[3])));
    if (count == 5)
        total = rounded(s->type, total + units[4]);
    return (struct value){.f = seen ? total : 0};
}

static void check_lanes(enum le_simd simd, enum le_type type, enum way way, int steps, int mask) {
    double(*x)[2][LANES] = calloc(STEPS, sizeof *x), results[LANES];
    void *vec = aligned_alloc(64, le_vec_size(LANES, 2 + 4));
    struct le_instr instr = instruction(LE_CODE_VEC_INIT, type, way);
    void *reg[] = {vec, NULL, NULL, NULL};
    fill_lanes(type, steps, mask, x);
    run_op(simd, &instr, reg, LANES);
    instr.code = LE_CODE_VEC_ADD;
    instr.c = mask ? 3 : LE_NO_REG;
    for (int s = 0; s < steps; s++) {
        reg[1] = x[s][0];
        reg[2] = x[s][way == SQUARES ? 0 : 1];
        reg[3] = omitted[s];
        run_op(simd, &instr, reg, LANES);
    }
    instr.code = LE_CODE_VEC_END;
    void *ends[] = {results, vec};
    run_op(simd, &instr, ends, LANES);
    const struct series s = {.type = type, .fused = le_simd_is_fused(simd), .way = way, .n = steps};
    for (int k = 0; k < LANES; k++) {
        const struct value want = expected_of_lane(&s, x, k), got = get(type, results, k);
        if (!same(type, got, want))
            fail_msg("way %d of %d %s, lane %d, on %s%s: %a instead of %a", way, steps, le_type_name(type), k,
                     le_simd_name(simd), mask ? ", masked" : "", got.f, want.f);
    }
    free(vec);
    free(x);
}

static void lane_by_lane(void **state) {
    (void)state;
    const int steps[] = {0, 1, 2, 31, 32, 33, 63, 64, 65, 1023, 1024, 1025, 1056, 2047, 2049, 3100, 4096, 4097, STEPS};
    EACH_SIMD(simd)
    EACH_WAY(t, way)
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++)
        for (int mask = 0; mask < 2; mask++)
            check_lanes(simd, types[t], way, steps[s], mask);
}

/* ---- rows */

static void check_rows(enum le_simd simd, enum le_type type, enum way way, int64_t most) {
    const int64_t lengths_of_rows[] = {0, 1, 31, 32, 33, 0, 1025, 7, 64, 100, 2500, 2, 1024, 0};
    enum { COUNT = sizeof lengths_of_rows / sizeof *lengths_of_rows };
    int64_t low[COUNT], high[COUNT], all = 0;
    uint64_t seed = 9;
    double results[COUNT];
    void *rows = aligned_alloc(64, le_rows_size(COUNT));
    struct le_instr instr = instruction(LE_CODE_ROWS_INIT, type, way);
    void *reg[] = {rows, NULL, low, high, NULL};
    for (int k = 0; k < COUNT; k++) {
        low[k] = all;
        high[k] = all += lengths_of_rows[k];
    }
    fill(type, all, 1, 3);
    run_op(simd, &instr, reg, COUNT);
    instr =
        (struct le_instr){.code = LE_CODE_ROWS_ADD, .type = (uint8_t)type, .a = 1, .b = 2, .c = 3, .imm = instr.imm};
    instr.e = way == TERMS ? LE_NO_REG : 4;
    for (int64_t k = 0; k < all;) {
        int64_t length = most == LE_BLOCK_MAX ? most : (int64_t)(next_random(&seed) % (uint64_t)(most + 1));
        length = length < all - k ? length : all - k;
        reg[1] = at(type, left, k);
        reg[4] = way == SQUARES ? reg[1] : at(type, right, k);
        run_op(simd, &instr, reg, length);
        k += length;
    }
    instr = instruction(LE_CODE_ROWS_END, type, way);
    void *ends[] = {results, rows};
    run_op(simd, &instr, ends, COUNT);
    for (int k = 0; k < COUNT; k++) {
        const struct series s = {.type = type,
                                 .fused = le_simd_is_fused(simd),
                                 .way = way,
                                 .first = low[k],
                                 .n = lengths_of_rows[k],
                                 .left = left,
                                 .right = right};
        const struct value want = expected(&s), got = get(type, results, k);
        if (!same(type, got, want))
            fail_msg("way %d of %s, row %d, on %s in pieces up to %d: %a instead of %a", way, le_type_name(type), k,
                     le_simd_name(simd), (int)most, got.f, want.f);
    }
    free(rows);
}

static void row_after_row(void **state) {
    (void)state;
    EACH_SIMD(simd)
    EACH_WAY(t, way) {
        check_rows(simd, types[t], way, LE_BLOCK_MAX);
        check_rows(simd, types[t], way, 5);
        check_rows(simd, types[t], way, 300);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(over_lanes), cmocka_unit_test(zeros), cmocka_unit_test(joined),
                                       cmocka_unit_test(lane_by_lane), cmocka_unit_test(row_after_row)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
