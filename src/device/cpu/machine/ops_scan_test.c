/* Scans: sums and products of floats against a plain implementation of their order, all others against a plain fold of
 * every prefix. In blocks as the machine makes them, up and back, from a start value, lane by lane, and in linked
 * chunks. */
#include "device/cpu/machine/accumulator.h"
#include "device/cpu/machine/ops_test.h"
#include <stdlib.h>

enum { MOST = 2 * LE_SCAN_CHUNK + 1500 };
static _Alignas(64) double terms[MOST], totals[MOST], want[MOST];
static int64_t indices[MOST];
static const enum le_type types[] = {LE_BOOL, LE_I8,  LE_I16, LE_I32, LE_I64, LE_U8,
                                     LE_U16,  LE_U32, LE_U64, LE_F32, LE_F64};
static const int64_t counts[] = {0, 1, 2, 15, 16, 17, 33, 511, 1024, 1025, LE_SCAN_CHUNK, LE_SCAN_CHUNK + 1, MOST};

static bool is_arg(enum le_reduction reduction) {
    return reduction == LE_RED_ARGMIN || reduction == LE_RED_ARGMAX;
}
static bool is_total(enum le_type type, enum le_reduction reduction) {
    return !is_whole(type) && (reduction == LE_RED_SUM || reduction == LE_RED_PROD);
}
static bool is_defined(enum le_type type, enum le_reduction reduction) {
    return reduction != LE_RED_MEAN && (type == LE_BOOL || (reduction != LE_RED_ANY && reduction != LE_RED_ALL));
}
static enum le_type result_type(enum le_type type, enum le_reduction reduction) {
    return is_arg(reduction) ? LE_I64 : type;
}
static void *element_at(void *array, enum le_type type, int64_t k) {
    return (char *)array + (size_t)k * le_type_size(type);
}

/* ---- expected results */

static double rounded(enum le_type type, double x) {
    return type == LE_F32 ? (double)(float)x : x;
}
static double join(enum le_type type, enum le_reduction reduction, double a, double b) {
    return rounded(type, reduction == LE_RED_SUM ? a + b : a * b);
}

/* T of the first n of x, by the tree's definition. */
static double tree(enum le_type type, enum le_reduction reduction, const double *x, int64_t n) {
    int64_t half = 1;
    if (n == 1)
        return x[0];
    while (2 * half < n)
        half *= 2;
    return join(type, reduction, tree(type, reduction, x, half), tree(type, reduction, x + half, n - half));
}

/* The order of kernels_scans.c, terms in the scan's order. */
static void plain_totals(enum le_type type, enum le_reduction reduction, const double *x, int64_t n, double before,
                         double *out) {
    const double nothing = reduction == LE_RED_SUM ? -0.0 : 1;
    for (int64_t chunk = 0; chunk < n; chunk += LE_SCAN_CHUNK) {
        const int64_t end = chunk + LE_SCAN_CHUNK < n ? chunk + LE_SCAN_CHUNK : n;
        double inside = nothing;
        for (int64_t group = chunk; group < end; group += LE_SCAN_GROUP) {
            const int64_t last = group + LE_SCAN_GROUP < end ? group + LE_SCAN_GROUP : end;
            for (int64_t j = group; j < last; j++) {
                const double own = join(type, reduction, inside, tree(type, reduction, x + group, j - group + 1));
                out[j] = join(type, reduction, before, own);
            }
            inside = join(type, reduction, inside, tree(type, reduction, x + group, last - group));
        }
        before = join(type, reduction, before, inside);
    }
}

static bool beats(enum le_type type, enum le_reduction reduction, struct value a, struct value b) {
    const bool least = reduction == LE_RED_MIN || reduction == LE_RED_ARGMIN;
    if (is_whole(type))
        return least ? a.i < b.i : a.i > b.i;
    return !isnan(b.f) && (isnan(a.f) || (least ? a.f < b.f : a.f > b.f));
}

static struct value folded(enum le_type type, enum le_reduction reduction, struct value m, struct value a) {
    if (reduction == LE_RED_MIN || reduction == LE_RED_MAX)
        return beats(type, reduction, a, m) ? a : m;
    if (type == LE_BOOL)
        return (struct value){.i = reduction == LE_RED_SUM || reduction == LE_RED_ANY ? m.i | a.i : m.i & a.i};
    return (struct value){
        .i = wrapped(type, reduction == LE_RED_SUM ? m.i + a.i : (int128)((uint128)m.i * (uint128)a.i))};
}

static struct value neutral(enum le_type type, enum le_reduction reduction) {
    struct value v = {.i = reduction == LE_RED_PROD || reduction == LE_RED_ALL};
    if (reduction == LE_RED_MIN || reduction == LE_RED_MAX) {
        v.i = reduction == LE_RED_MIN ? greatest_of(type) : least_of(type);
        v.f = reduction == LE_RED_MIN ? (double)INFINITY : -(double)INFINITY;
    }
    return v;
}

/* Fills `want`, in the elements' own order. */
static void expect(enum le_type type, enum le_reduction reduction, int64_t n, bool back, double start) {
    static double x[MOST], out[MOST];
    struct value total = neutral(type, reduction);
    int64_t best = -1;
    for (int64_t s = 0; s < n; s++)
        x[s] = is_total(type, reduction) ? get(type, terms, back ? n - 1 - s : s).f : 0;
    if (is_total(type, reduction))
        plain_totals(type, reduction, x, n, start, out);
    for (int64_t s = 0; s < n; s++) {
        const int64_t k = back ? n - 1 - s : s;
        const struct value a = get(type, terms, k);
        if (is_total(type, reduction)) {
            put(type, want, k, (struct value){.f = out[s]});
        } else if (is_arg(reduction)) {
            const bool keeps = best >= 0 && (back ? beats(type, reduction, get(type, terms, best), a)
                                                  : !beats(type, reduction, a, get(type, terms, best)));
            best = keeps ? best : k;
            put(LE_I64, want, k, (struct value){.i = indices[best]});
        } else {
            total = folded(type, reduction, total, a);
            put(type, want, k, total.f == 0 && !is_whole(type) ? (struct value){.f = 0} : total);
        }
    }
}

/* ---- running */

static struct le_instr instruction(int code, enum le_type type, enum le_reduction reduction) {
    return (struct le_instr){.code = (uint16_t)code,
                             .type = (uint8_t)type,
                             .d = 0,
                             .a = 1,
                             .b = 2,
                             .c = 3,
                             .e = LE_NO_REG,
                             .imm = reduction};
}

static void begin(enum le_simd simd, enum le_type type, enum le_reduction reduction, void *state, void *start) {
    struct le_instr instr = instruction(LE_CODE_SCAN_INIT, type, reduction);
    instr.a = start ? 1 : LE_NO_REG;
    run_op(simd, &instr, (void *[]){state, start}, 1);
}

/* Terms first..first+n of the array into out, in blocks: full ones first, as the loop goes. */
static void scan_blocks(enum le_simd simd, enum le_type type, enum le_reduction reduction, void *state, int64_t first,
                        int64_t n, bool back, void *out) {
    const struct le_instr instr = instruction(back ? LE_CODE_SCAN_BACK : LE_CODE_SCAN, type, reduction);
    const int64_t block = le_type_size(type) == 8 ? LE_BLOCK_MAX / 2 : LE_BLOCK_MAX;
    for (int64_t done = 0; done < n; done += block) {
        const int64_t length = n - done < block ? n - done : block, k = first + (back ? n - done - length : done);
        void *reg[] = {element_at(out, result_type(type, reduction), k), element_at(terms, type, k), indices + k,
                       state};
        run_op(simd, &instr, reg, length);
    }
}

/* kind 0: all kinds of values; 1: moderate floats whose rounding reveals the order. */
static void fill(enum le_type type, int64_t n, int kind, uint64_t seed) {
    for (int64_t k = 0; k < n; k++) {
        struct value value = sample(type, &seed);
        if (kind == 1)
            value.f = 1 + ((double)(next_random(&seed) >> 11) * 0x1p-53 - 0.5) * 0.001;
        put(type, terms, k, value);
        indices[k] = 3 * k + 5;
    }
}

static void compare(enum le_simd simd, enum le_type type, enum le_reduction reduction, int64_t n, const char *how) {
    const enum le_type result = result_type(type, reduction);
    for (int64_t k = 0; k < n; k++) {
        const struct value a = get(result, totals, k), b = get(result, want, k);
        if (!same(result, a, b))
            fail_msg("%s of %d %s on %s, %s: element %d is %lld %a instead of %lld %a", le_reduction_name(reduction),
                     (int)n, le_type_name(type), le_simd_name(simd), how, (int)k, (long long)a.i, a.f, (long long)b.i,
                     b.f);
    }
}

#define EACH_REDUCTION(t, reduction)                                                                                   \
    for (size_t at_##t = 0; at_##t < sizeof types / sizeof *types; at_##t++)                                           \
        for (enum le_reduction reduction = 0; reduction < LE_RED_FUNCTIONS; reduction++)                               \
            for (enum le_type t = types[at_##t], once = 1; once && is_defined(t, reduction); once = 0)

static void along(void **state) {
    static _Alignas(64) char acc[2048];
    (void)state;
    assert_true(le_acc_size() <= sizeof acc && sizeof(struct le_scan_totals) <= le_acc_size());
    EACH_REDUCTION(type, reduction)
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (int kind = 0; kind < 2; kind++)
            for (int back = 0; back < 2; back++) {
                fill(type, counts[c], kind, (uint64_t)counts[c]);
                expect(type, reduction, counts[c], back, reduction == LE_RED_SUM ? -0.0 : 1);
                EACH_SIMD(simd) {
                    begin(simd, type, reduction, acc, NULL);
                    scan_blocks(simd, type, reduction, acc, 0, counts[c], back, totals);
                    compare(simd, type, reduction, counts[c], back ? "back" : "up");
                }
            }
}

/* Scans with a value before the first element. */
static void started(void **state) {
    static _Alignas(64) char acc[2048];
    const enum le_type floats[] = {LE_F32, LE_F64};
    (void)state;
    for (int f = 0; f < 2; f++)
        for (enum le_reduction reduction = LE_RED_SUM; reduction <= LE_RED_PROD; reduction++)
            EACH_SIMD(simd) {
                double start = 0;
                put(floats[f], &start, 0, (struct value){.f = 1.25});
                fill(floats[f], 2000, 1, 7);
                expect(floats[f], reduction, 2000, false, 1.25);
                begin(simd, floats[f], reduction, acc, &start);
                scan_blocks(simd, floats[f], reduction, acc, 0, 2000, false, totals);
                compare(simd, floats[f], reduction, 2000, "from a start");
            }
}

/* Chunks scanned independently, then shifted by the totals of the chunks before them, give the bits of one scan. */
static void linked(void **state) {
    static _Alignas(64) char acc[2048];
    const int64_t n = MOST, chunks = (n + LE_SCAN_CHUNK - 1) / LE_SCAN_CHUNK;
    (void)state;
    EACH_REDUCTION(type, reduction)
    for (int back = 0; back < 2 && !is_arg(reduction); back++) {
        fill(type, n, 1, 11);
        expect(type, reduction, n, back, reduction == LE_RED_SUM ? -0.0 : 1);
        EACH_SIMD(simd) {
            struct le_scan_link links[8] = {{.state = LE_LINK_START}};
            for (int64_t c = 0; c < chunks; c++) {
                const int64_t done = c * LE_SCAN_CHUNK, length = n - done < LE_SCAN_CHUNK ? n - done : LE_SCAN_CHUNK;
                const int64_t first = back ? n - done - length : done;
                begin(simd, type, reduction, acc, NULL);
                scan_blocks(simd, type, reduction, acc, first, length, back, totals);
                struct le_instr instr = instruction(LE_CODE_SCAN_LINK, type, reduction);
                run_op(simd, &instr, (void *[]){acc, &links[c + 1]}, 1);
                instr.code = LE_CODE_SCAN_SHIFT;
                void *chunk = element_at(totals, type, first);
                run_op(simd, &instr, (void *[]){chunk, chunk, NULL, acc}, length);
            }
            compare(simd, type, reduction, n, "in chunks");
        }
    }
}

/* Lane k has term s + k % 3 at step s: each lane's totals are those of a scan along. */
static void lane_by_lane(void **state) {
    enum { LANES = 140, STEPS = LE_SCAN_CHUNK + 40 };
    const enum le_type floats[] = {LE_F32, LE_F64};
    void *vec = aligned_alloc(64, le_vec_size(LANES, 6));
    static double row[LANES], out[LANES];
    (void)state;
    for (int f = 0; f < 2; f++)
        for (enum le_reduction reduction = LE_RED_SUM; reduction <= LE_RED_PROD; reduction++)
            EACH_SIMD(simd) {
                const enum le_type type = floats[f];
                struct le_instr init = instruction(LE_CODE_SCAN_LANES_INIT, type, reduction);
                const struct le_instr step = instruction(LE_CODE_SCAN_LANES, type, reduction);
                static double all[3][MOST];
                fill(type, STEPS + 3, 1, 5);
                for (int lane = 0; lane < 3; lane++) {
                    memmove(terms, element_at(terms, type, lane > 0), (STEPS + 2) * le_type_size(type));
                    expect(type, reduction, STEPS, false, reduction == LE_RED_SUM ? -0.0 : 1);
                    memcpy(all[lane], want, sizeof want);
                }
                fill(type, STEPS + 3, 1, 5);
                init.a = LE_NO_REG;
                run_op(simd, &init, (void *[]){vec}, LANES);
                for (int64_t s = 0; s < STEPS; s++) {
                    for (int64_t k = 0; k < LANES; k++)
                        put(type, row, k, get(type, terms, s + k % 3));
                    run_op(simd, &step, (void *[]){out, row, NULL, vec}, LANES);
                    for (int64_t k = 0; k < LANES; k++)
                        if (!same(type, get(type, out, k), get(type, all[k % 3], s)))
                            fail_msg("%s of %s on %s: lane %d, step %d", le_reduction_name(reduction),
                                     le_type_name(type), le_simd_name(simd), (int)k, (int)s);
                }
            }
    free(vec);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(along), cmocka_unit_test(started), cmocka_unit_test(linked),
                                       cmocka_unit_test(lane_by_lane)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
