/* Scans: all prefixes of a row of terms at once, or (back) all suffixes.
 *
 * Sums and products of floats have one order, fixed by the number of terms alone: the same for rows and columns, for
 * any instruction set and number of threads. Terms are numbered in the direction of the scan, from the last one on if
 * it goes back. T is the tree of kernels_sums.c:
 *
 *     T(n terms) = T(first h) + T(the rest), h the largest power of two below n
 *
 *     before = the total of what comes before the first element that is wanted, or nothing
 *     for each chunk of LE_SCAN_CHUNK terms:
 *         inside = nothing
 *         for each group of LE_SCAN_GROUP terms in it:
 *             for j in the group: total[j] = before + (inside + T(the group's terms up to j))
 *             inside = inside + T(the group)
 *         before = before + inside
 *
 * `nothing` is -0.0 for sums and 1 for products, which change no number. A chunk's `inside` does not depend on earlier
 * chunks, so threads scan chunks independently (with before = nothing), pass `before` on from chunk to chunk, and then
 * add it. The error grows with the number of groups in a chunk plus that of the chunks, not with that of the terms.
 *
 * All others may be joined in any order: for minima and maxima of floats all NaNs count as one, and -0.0 is lower than
 * 0.0.
 *
 * Lane by lane (scans along an axis while the lanes run along another) the group's tree is a binary counter of pending
 * totals, one row each; then come `inside` and `before`. Other scans than sums and products of floats use VEC_ADD and
 * VEC_END instead. */
#include "device/cpu/machine/accumulator.h"
#include "device/cpu/kernels/kernels.h"
#include <math.h>
#include <sched.h>
#include <stdatomic.h>

/* ---- chunks of one row: each task's link receives the total up to its end; the previous link has the total before its
 * start */

static bool is_first(const struct le_scan_link *link) {
    return atomic_load_explicit(&link[-1].state, memory_order_acquire) == LE_LINK_START;
}

/* Tasks start in order, so the previous one is running or done. */
static const void *wait_for_before(const struct le_scan_link *link) {
    for (int looks = 0; atomic_load_explicit(&link[-1].state, memory_order_acquire) == LE_LINK_OPEN; looks++)
        if (looks % 64 == 63)
            sched_yield();
    return &link[-1].total;
}

static void publish_total(struct le_scan_link *link, const void *total, size_t size_bytes) {
    memcpy(&link->total, total, size_bytes);
    atomic_store_explicit(&link->state, LE_LINK_READY, memory_order_release);
}

/* ---- sums, products and extremes of floats along a row */

#define SHUFFLE2(a, b, ...)   __builtin_shufflevector(a, b, __VA_ARGS__)
#define SHUFFLE(a, b, places) SHUFFLE2(a, b, places)
#define SAME_2(x)             x, x
#define SAME_4(x)             SAME_2(x), SAME_2(x)
#define SAME_8(x)             SAME_4(x), SAME_4(x)
#define SAME_16(x)            SAME_8(x), SAME_8(x)
/* STEPh for a vector of WIDTH lanes: the lane to join to each lane, or WIDTH for none. BACKh: the same for scans that
 * go back. */
#define STEP1_2  2, 0
#define BACK1_2  1, 2
#define STEP1_4  4, 0, 4, 2
#define BACK1_4  1, 4, 3, 4
#define STEP2_4  4, 4, 1, 1
#define BACK2_4  2, 2, 4, 4
#define STEP1_8  8, 0, 8, 2, 8, 4, 8, 6
#define BACK1_8  1, 8, 3, 8, 5, 8, 7, 8
#define STEP2_8  8, 8, 1, 1, 8, 8, 5, 5
#define BACK2_8  2, 2, 8, 8, 6, 6, 8, 8
#define STEP4_8  8, 8, 8, 8, 3, 3, 3, 3
#define BACK4_8  4, 4, 4, 4, 8, 8, 8, 8
#define STEP1_16 16, 0, 16, 2, 16, 4, 16, 6, 16, 8, 16, 10, 16, 12, 16, 14
#define BACK1_16 1, 16, 3, 16, 5, 16, 7, 16, 9, 16, 11, 16, 13, 16, 15, 16
#define STEP2_16 16, 16, 1, 1, 16, 16, 5, 5, 16, 16, 9, 9, 16, 16, 13, 13
#define BACK2_16 2, 2, 16, 16, 6, 6, 16, 16, 10, 10, 16, 16, 14, 14, 16, 16
#define STEP4_16 16, 16, 16, 16, 3, 3, 3, 3, 16, 16, 16, 16, 11, 11, 11, 11
#define BACK4_16 4, 4, 4, 4, 16, 16, 16, 16, 12, 12, 12, 12, 16, 16, 16, 16
#define STEP8_16 16, 16, 16, 16, 16, 16, 16, 16, 7, 7, 7, 7, 7, 7, 7, 7
#define BACK8_16 8, 8, 8, 8, 8, 8, 8, 8, 16, 16, 16, 16, 16, 16, 16, 16

#if VECTOR_BYTES == 64
#define WIDE_F32 16
#define WIDE_F64 8
#elif VECTOR_BYTES == 32
#define WIDE_F32 8
#define WIDE_F64 4
#else
#define WIDE_F32 4
#define WIDE_F64 2
#endif
typedef le_f32 vector_f32 __attribute__((vector_size(VECTOR_BYTES), aligned(4), may_alias));
typedef le_f64 vector_f64 __attribute__((vector_size(VECTOR_BYTES), aligned(8), may_alias));
typedef int32_t mask_f32 __attribute__((vector_size(VECTOR_BYTES)));
typedef int64_t mask_f64 __attribute__((vector_size(VECTOR_BYTES)));

#define EXTREME(name, t, BEATS, ZEROS)                                                                                 \
    static inline vector_##t name##_##t(vector_##t m, vector_##t x) {                                                  \
        const mask_##t take = (mask_##t)(x BEATS m) | (mask_##t)(x != x), same = (mask_##t)(x == m);                   \
        return (vector_##t)ZEROS(((mask_##t)x & take) | ((mask_##t)m & ~take), (mask_##t)x, same);                     \
    }
#define EXTREMES(t, NAN_BITS)                                                                                          \
    EXTREME(least, t, <, LE_EITHER_SIGN)                                                                               \
    EXTREME(greatest, t, >, LE_BOTH_SIGNS)                                                                             \
    static inline vector_##t canonical_##t(vector_##t x) {                                                             \
        const mask_##t none = (mask_##t)(x != x);                                                                      \
        return (vector_##t)(((mask_##t)x & ~none) | (none & NAN_BITS));                                                \
    }
EXTREMES(f32, 0x7fc00000)
EXTREMES(f64, 0x7ff8000000000000)

#define T          le_f32
#define V          vector_f32
#define FIELD      f32
#define WIDTH      WIDE_F32
#define JOIN(a, b) ((a) + (b))
#define NEUTRAL    (-0.0)
#define LAST(v)    (v)
#define F(name)    name##_sum_f32
#include "device/cpu/kernels/scans.inc"

#define T          le_f32
#define V          vector_f32
#define FIELD      f32
#define WIDTH      WIDE_F32
#define JOIN(a, b) ((a) * (b))
#define NEUTRAL    1
#define LAST(v)    (v)
#define F(name)    name##_prod_f32
#include "device/cpu/kernels/scans.inc"

#define T          le_f32
#define V          vector_f32
#define FIELD      f32
#define WIDTH      WIDE_F32
#define JOIN(a, b) least_f32(a, b)
#define NEUTRAL    INFINITY
#define LAST(v)    canonical_f32(v)
#define F(name)    name##_min_f32
#include "device/cpu/kernels/scans.inc"

#define T          le_f32
#define V          vector_f32
#define FIELD      f32
#define WIDTH      WIDE_F32
#define JOIN(a, b) greatest_f32(a, b)
#define NEUTRAL    (-INFINITY)
#define LAST(v)    canonical_f32(v)
#define F(name)    name##_max_f32
#include "device/cpu/kernels/scans.inc"

#define T          le_f64
#define V          vector_f64
#define FIELD      f64
#define WIDTH      WIDE_F64
#define JOIN(a, b) ((a) + (b))
#define NEUTRAL    (-0.0)
#define LAST(v)    (v)
#define F(name)    name##_sum_f64
#include "device/cpu/kernels/scans.inc"

#define T          le_f64
#define V          vector_f64
#define FIELD      f64
#define WIDTH      WIDE_F64
#define JOIN(a, b) ((a) * (b))
#define NEUTRAL    1
#define LAST(v)    (v)
#define F(name)    name##_prod_f64
#include "device/cpu/kernels/scans.inc"

#define T          le_f64
#define V          vector_f64
#define FIELD      f64
#define WIDTH      WIDE_F64
#define JOIN(a, b) least_f64(a, b)
#define NEUTRAL    INFINITY
#define LAST(v)    canonical_f64(v)
#define F(name)    name##_min_f64
#include "device/cpu/kernels/scans.inc"

#define T          le_f64
#define V          vector_f64
#define FIELD      f64
#define WIDTH      WIDE_F64
#define JOIN(a, b) greatest_f64(a, b)
#define NEUTRAL    (-INFINITY)
#define LAST(v)    canonical_f64(v)
#define F(name)    name##_max_f64
#include "device/cpu/kernels/scans.inc"

/* ---- integers and bools, in any order */

#define FOLD(name, T, EMPTY, expression)                                                                               \
    static inline T join_##name(T m, T a) {                                                                            \
        return (T)(expression);                                                                                        \
    }                                                                                                                  \
    KERNEL(init_##name) {                                                                                              \
        struct le_scan_totals *scan = reg[instr->d];                                                                   \
        const T *start = le_kernel_optional(reg, instr->a);                                                            \
        (void)n;                                                                                                       \
        *(T *)&scan->before = EMPTY;                                                                                   \
        *(T *)&scan->inside = start ? *start : EMPTY;                                                                  \
    }                                                                                                                  \
    KERNEL(up_##name) {                                                                                                \
        struct le_scan_totals *scan = reg[instr->c];                                                                   \
        T *d = reg[instr->d];                                                                                          \
        const T *x = reg[instr->a];                                                                                    \
        T total = *(T *)&scan->inside;                                                                                 \
        for (int64_t k = 0; k < n; k++)                                                                                \
            d[k] = total = join_##name(total, x[k]);                                                                   \
        *(T *)&scan->inside = total;                                                                                   \
    }                                                                                                                  \
    KERNEL(back_##name) {                                                                                              \
        struct le_scan_totals *scan = reg[instr->c];                                                                   \
        T *d = reg[instr->d];                                                                                          \
        const T *x = reg[instr->a];                                                                                    \
        T total = *(T *)&scan->inside;                                                                                 \
        for (int64_t k = n - 1; k >= 0; k--)                                                                           \
            d[k] = total = join_##name(total, x[k]);                                                                   \
        *(T *)&scan->inside = total;                                                                                   \
    }                                                                                                                  \
    KERNEL(link_##name) {                                                                                              \
        struct le_scan_totals *scan = reg[instr->d];                                                                   \
        struct le_scan_link *link = reg[instr->a];                                                                     \
        const T before = is_first(link) ? EMPTY : *(const T *)wait_for_before(link);                                   \
        const T next = join_##name(before, *(T *)&scan->inside);                                                       \
        (void)n;                                                                                                       \
        *(T *)&scan->before = before;                                                                                  \
        publish_total(link, &next, sizeof next);                                                                       \
    }                                                                                                                  \
    KERNEL(shift_##name) {                                                                                             \
        const struct le_scan_totals *scan = reg[instr->c];                                                             \
        T *d = reg[instr->d];                                                                                          \
        const T *x = reg[instr->a], before = *(const T *)&scan->before;                                                \
        LANES for (int64_t k = 0; k < n; k++) d[k] = join_##name(before, x[k]);                                        \
    }
#include "device/cpu/kernels/folds.inc"

/* ---- the index of the extreme so far: the first one in the terms' own order, which is the last one met when going
 * back. A NaN wins over all numbers */

KERNEL(init_arg) {
    struct le_scan_totals *scan = reg[instr->d];
    (void)n;
    scan->index = LE_NO_INDEX;
}

#define ARG(name, T, BEATS, TIES)                                                                                      \
    static inline void step_##name(struct le_scan_totals *scan, T a, int64_t index, bool back) {                       \
        const T m = *(T *)&scan->inside;                                                                               \
        const bool better = back ? (a != a) | ((m == m) & (a TIES m)) : (m == m) & ((a BEATS m) | (a != a));           \
        if (scan->index == LE_NO_INDEX || better) {                                                                    \
            *(T *)&scan->inside = a;                                                                                   \
            scan->index = index;                                                                                       \
        }                                                                                                              \
    }                                                                                                                  \
    KERNEL(up_##name) {                                                                                                \
        struct le_scan_totals *scan = reg[instr->c];                                                                   \
        le_i64 *d = reg[instr->d];                                                                                     \
        const T *x = reg[instr->a];                                                                                    \
        const le_i64 *index = reg[instr->b];                                                                           \
        T terms[LE_BLOCK_MAX];                                                                                         \
        x = le_kernel_apart(x, d, (size_t)n * sizeof(T), terms);                                                       \
        for (int64_t k = 0; k < n; k++) {                                                                              \
            step_##name(scan, x[k], index[k], false);                                                                  \
            d[k] = scan->index;                                                                                        \
        }                                                                                                              \
    }                                                                                                                  \
    KERNEL(back_##name) {                                                                                              \
        struct le_scan_totals *scan = reg[instr->c];                                                                   \
        le_i64 *d = reg[instr->d];                                                                                     \
        const T *x = reg[instr->a];                                                                                    \
        const le_i64 *index = reg[instr->b];                                                                           \
        for (int64_t k = n - 1; k >= 0; k--) {                                                                         \
            step_##name(scan, x[k], index[k], true);                                                                   \
            d[k] = scan->index;                                                                                        \
        }                                                                                                              \
    }
#define ARGS(t, T)                                                                                                     \
    ARG(argmin_##t, T, <, <=)                                                                                          \
    ARG(argmax_##t, T, >, >=)
ARGS(i8, le_i8)
ARGS(i16, le_i16)
ARGS(i32, le_i32)
ARGS(i64, le_i64)
ARGS(u8, le_u8)
ARGS(u16, le_u16)
ARGS(u32, le_u32)
ARGS(u64, le_u64)
ARGS(f32, le_f32)
ARGS(f64, le_f64)

/* ---- sums and products of floats, lane by lane */

enum { ROW_INSIDE = 4, ROW_BEFORE = 5, TILE = 128 }; /* TILE: lanes whose totals stay in the first-level cache */

#define LANE_SCAN(name, T, OP, NEUTRAL)                                                                                \
    KERNEL(lanes_init_##name) {                                                                                        \
        struct le_vec *vec = reg[instr->d];                                                                            \
        const T *start = le_kernel_optional(reg, instr->a);                                                            \
        vec->count = 0;                                                                                                \
        vec->stride_bytes = (int64_t)le_vec_round((size_t)n * 8);                                                      \
        vec->rows_offset_bytes = (int64_t)(le_vec_round(sizeof *vec) + le_vec_round((size_t)n));                       \
        T *before = le_vec_row(vec, ROW_BEFORE), *inside = le_vec_row(vec, ROW_INSIDE);                                \
        for (int64_t k = 0; k < n; k++) {                                                                              \
            before[k] = start ? start[k] : (T)NEUTRAL;                                                                 \
            inside[k] = (T)NEUTRAL;                                                                                    \
        }                                                                                                              \
    }                                                                                                                  \
    static void close_chunk_##name(struct le_vec *vec, int64_t n) {                                                    \
        T *before = le_vec_row(vec, ROW_BEFORE), *inside = le_vec_row(vec, ROW_INSIDE);                                \
        LANES for (int64_t k = 0; k < n; k++) {                                                                        \
            before[k] = before[k] OP inside[k];                                                                        \
            inside[k] = (T)NEUTRAL;                                                                                    \
        }                                                                                                              \
        vec->count = 0;                                                                                                \
    }                                                                                                                  \
    /* joins the pending total of that level to total */                                                               \
    static void join_level_##name(struct le_vec *vec, int level, int64_t at, int64_t n, T *total) {                    \
        const T *pending = (const T *)le_vec_row(vec, level) + at;                                                     \
        LANES for (int64_t k = 0; k < n; k++) total[k] = pending[k] OP total[k];                                       \
    }                                                                                                                  \
    KERNEL(lanes_##name) {                                                                                             \
        struct le_vec *vec = reg[instr->c];                                                                            \
        if (vec->count == LE_SCAN_CHUNK)                                                                               \
            close_chunk_##name(vec, n);                                                                                \
        const int next = (int)(vec->count % LE_SCAN_GROUP) + 1, own = __builtin_ctz((unsigned)next);                   \
        T total[TILE];                                                                                                 \
        for (int64_t at = 0; at < n; at += TILE) {                                                                     \
            const int64_t lanes = n - at < TILE ? n - at : TILE;                                                       \
            const T *before = (const T *)le_vec_row(vec, ROW_BEFORE) + at;                                             \
            T *inside = (T *)le_vec_row(vec, ROW_INSIDE) + at, *d = (T *)reg[instr->d] + at;                           \
            memcpy(total, (const T *)reg[instr->a] + at, (size_t)lanes * sizeof(T));                                   \
            for (int level = 0; level < own; level++)                                                                  \
                join_level_##name(vec, level, at, lanes, total);                                                       \
            if (next < LE_SCAN_GROUP)                                                                                  \
                memcpy((T *)le_vec_row(vec, own) + at, total, (size_t)lanes * sizeof(T));                              \
            for (int level = own + 1; level < ROW_INSIDE; level++)                                                     \
                if (next >> level & 1)                                                                                 \
                    join_level_##name(vec, level, at, lanes, total);                                                   \
            LANES for (int64_t k = 0; k < lanes; k++) {                                                                \
                total[k] = inside[k] OP total[k];                                                                      \
                d[k] = before[k] OP total[k];                                                                          \
            }                                                                                                          \
            if (next == LE_SCAN_GROUP)                                                                                 \
                memcpy(inside, total, (size_t)lanes * sizeof(T));                                                      \
        }                                                                                                              \
        vec->count++;                                                                                                  \
    }
LANE_SCAN(sum_f32, le_f32, +, -0.0)
LANE_SCAN(sum_f64, le_f64, +, -0.0)
LANE_SCAN(prod_f32, le_f32, *, 1)
LANE_SCAN(prod_f64, le_f64, *, 1)

/* ---- which kernel runs an instruction */

// clang-format off
#define ROW(name) {init_##name, up_##name, back_##name, link_##name, shift_##name}
#define ARG_ROWS(t)                                                                                                              \
    [LE_RED_ARGMIN] = {init_arg, up_argmin_##t, back_argmin_##t}, [LE_RED_ARGMAX] = {init_arg, up_argmax_##t, back_argmax_##t}
#define ROWS(t)                                                                                                                  \
    {                                                                                                                            \
        [LE_RED_SUM] = ROW(sum_##t), [LE_RED_PROD] = ROW(prod_##t), [LE_RED_MIN] = ROW(min_##t), [LE_RED_MAX] = ROW(max_##t),    \
        ARG_ROWS(t)                                                                                                              \
    }
static le_cpu_op *const tables[LE_TYPES][LE_REDUCTIONS][5] = {
    [LE_BOOL] = {
        [LE_RED_SUM] = ROW(any), [LE_RED_PROD] = ROW(all), [LE_RED_MIN] = ROW(all), [LE_RED_MAX] = ROW(any),
        [LE_RED_ANY] = ROW(any), [LE_RED_ALL] = ROW(all), ARG_ROWS(u8),
    },
    [LE_I8] = ROWS(i8), [LE_I16] = ROWS(i16), [LE_I32] = ROWS(i32), [LE_I64] = ROWS(i64), [LE_U8] = ROWS(u8), [LE_U16] = ROWS(u16),
    [LE_U32] = ROWS(u32), [LE_U64] = ROWS(u64), [LE_F32] = ROWS(f32), [LE_F64] = ROWS(f64),
};
static le_cpu_op *const lane_tables[2][2][2] = {
    {{lanes_init_sum_f32, lanes_sum_f32}, {lanes_init_prod_f32, lanes_prod_f32}},
    {{lanes_init_sum_f64, lanes_sum_f64}, {lanes_init_prod_f64, lanes_prod_f64}},
};
// clang-format on

le_cpu_op *LE_SET(le_scans_find)(const struct le_instr *instr) {
    if (instr->code < LE_CODE_SCAN_INIT || instr->code > LE_CODE_SCAN_LANES)
        return NULL;
    if (instr->type >= LE_TYPES || instr->imm < 0 || instr->imm >= LE_REDUCTIONS)
        return NULL;
    if (instr->code <= LE_CODE_SCAN_SHIFT)
        return tables[instr->type][instr->imm][instr->code - LE_CODE_SCAN_INIT];
    bool is_float = instr->type == LE_F32 || instr->type == LE_F64;
    if (!is_float || (instr->imm != LE_RED_SUM && instr->imm != LE_RED_PROD))
        return NULL;
    return lane_tables[instr->type == LE_F64][instr->imm == LE_RED_PROD][instr->code - LE_CODE_SCAN_LANES_INIT];
}
