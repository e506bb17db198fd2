/* What an accumulator holds, and a lane accumulator. Both are made by their INIT instruction and are one worker's. */
#ifndef LE_ACCUMULATOR_H
#define LE_ACCUMULATOR_H
#include "device/cpu/machine/ops.h"

#define LE_NO_INDEX INT64_MIN /* no index of a program is that; what comes out is -1 */

/* Sums and products of floats: after `count` terms, bit b of count says that pending[b] is the total of 2^b terms, the
 * later terms in the lower bits. All others: the total so far; argmin and argmax: the best value and its index,
 * LE_NO_INDEX before the first. */
struct le_acc {
    int64_t count, index;
    union {
        uint64_t bits;
        double f64;
        float f32;
    } total;
    union {
        double f64[64];
        float f32[64];
    } pending;
};

/* Of an extreme so far and a term: a NaN stays, and of the zeros -0.0 is the lower, so that the order does not show.
 * Equal numbers differ in the sign's bit only, which either or both must have. */
#define LE_EXTREMES(t, T, BITS)                                                                                        \
    union le_bits_##t {                                                                                                \
        T value;                                                                                                       \
        BITS bits;                                                                                                     \
    };                                                                                                                 \
    static inline T le_lower_##t(T m, T a) {                                                                           \
        const union le_bits_##t least = {.value = ((a < m) | (a != a)) ? a : m}, zero = {.value = a == m ? a : 0};     \
        const union le_bits_##t result = {.bits = least.bits | zero.bits};                                             \
        return result.value;                                                                                           \
    }                                                                                                                  \
    static inline T le_higher_##t(T m, T a) {                                                                          \
        const union le_bits_##t most = {.value = ((a > m) | (a != a)) ? a : m},                                        \
                                zero = {.value = a == m ? a : most.value};                                             \
        const union le_bits_##t result = {.bits = most.bits & zero.bits};                                              \
        return result.value;                                                                                           \
    }
LE_EXTREMES(f32, float, uint32_t)
LE_EXTREMES(f64, double, uint64_t)
/* The same of vectors, as bits: `same` masks where m and x are equal, so that they differ in the sign of a zero only.
 */
#define LE_EITHER_SIGN(m, x, same) ((m) | ((x) & (same)))
#define LE_BOTH_SIGNS(m, x, same)  ((m) & ((x) | ~(same)))

/* A scan's, in an accumulator's memory. Sums and products of floats: `count` terms of the chunk at hand, whose total is
 * `inside`, after `before`. All others: `inside` is the total so far, or that of a task's own chunk, and `before` that
 * of the tasks before it; argmin and argmax: the best value and its index, LE_NO_INDEX before the first. */
struct le_scan_totals {
    int64_t count, index;
    union {
        uint64_t bits;
        double f64;
        float f32;
    } before, inside;
};

/* The same for each lane, one count for all. Behind this header: a byte per lane, whether it has had a term; then rows
 * of `stride` bytes: row 0 the totals and row 1 the indices, or rows b the pending totals. */
struct le_vec {
    int64_t count, stride_bytes, rows_offset_bytes;
    bool all_seen; /* some addition left no lane out */
};
static inline size_t le_vec_round(size_t size_bytes) {
    return (size_bytes + 63) & ~(size_t)63;
}
static inline uint8_t *le_vec_seen(struct le_vec *vec) {
    return (uint8_t *)vec + le_vec_round(sizeof *vec);
}
static inline void *le_vec_row(struct le_vec *vec, int row) {
    return (char *)vec + vec->rows_offset_bytes + row * vec->stride_bytes;
}

/* Totals row after row: that of `row` so far, whose first `taken` terms are in acc; behind this header the totals of
 * those before. */
struct le_rows {
    int64_t row, taken;
    struct le_acc acc;
};
/* Values from low to high; none where there are more than can be counted. */
static inline int64_t le_row_length(int64_t low, int64_t high) {
    int64_t length = high > low ? (int64_t)((uint64_t)high - (uint64_t)low) : 0;
    return length > 0 ? length : 0;
}
static inline void *le_rows_totals(struct le_rows *rows) {
    return (char *)rows + le_vec_round(sizeof *rows);
}
#endif
