/* The contents of accumulators and lane accumulators. Their INIT instruction initializes them; each belongs to one
 * worker. */
#ifndef LE_ACCUMULATOR_H
#define LE_ACCUMULATOR_H
#include "device/cpu/machine/ops.h"

#define LE_NO_INDEX INT64_MIN /* not a valid index of a program; the result is -1 */

/* Sums and products of floats: `count` terms so far. If bit b of count is set, pending[b] is the total of 2^b terms,
 * with later terms in lower bits. Chains: `total` and `unit` are those of the open chunk and unit; if bit b of the
 * count of whole units is set, pending[b] is the total of 2^b units. All others: the total so far. argmin and argmax:
 * the best value and its index, LE_NO_INDEX before the first term. */
struct le_acc {
    int64_t count, index;
    union {
        uint64_t bits;
        double f64;
        float f32;
    } total, unit;
    union {
        double f64[64];
        float f32[64];
    } pending;
};

/* The extreme of m so far and a term a. A NaN stays. -0.0 is lower than 0.0, so that the order of terms does not
 * matter. Equal numbers differ at most in the sign bit, so the signs are combined: for the lower, either sign; for the
 * higher, both. */
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
/* The same for vectors, as bits. `same` masks the lanes where m and x are equal, so that they differ at most in the
 * sign of a zero. */
#define LE_EITHER_SIGN(m, x, same) ((m) | ((x) & (same)))
#define LE_BOTH_SIGNS(m, x, same)  ((m) & ((x) | ~(same)))

/* A scan's totals, in an accumulator's memory. Sums and products of floats: `inside` is the total of the current
 * chunk's `count` terms so far, and `before` that of everything before the chunk. All others: `inside` is the total so
 * far, or that of a task's own chunk, and `before` the total of the tasks before it. argmin and argmax: the best value
 * and its index, LE_NO_INDEX before the first. */
struct le_scan_totals {
    int64_t count, index;
    union {
        uint64_t bits;
        double f64;
        float f32;
    } before, inside;
};

/* A lane accumulator: one total per lane, one count for all lanes. After this header: one byte per lane, whether it has
 * had a term; then rows of `stride` bytes. Row 0 has the totals and row 1 the indices, or row b has the pending totals
 * of level b. Of chains, rows 0 and 1 have the totals of the open chunk and unit, and row 2 + b the pending ones of
 * level b. */
struct le_vec {
    int64_t count, stride_bytes, rows_offset_bytes;
    bool all_seen; /* at least one addition included all lanes */
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

/* Totals of consecutive rows. acc has the first `taken` terms of the current `row`. After this header: the totals of
 * the rows before it. */
struct le_rows {
    int64_t row, taken;
    struct le_acc acc;
};
/* The number of values from low to high; 0 if it overflows. */
static inline int64_t le_row_length(int64_t low, int64_t high) {
    int64_t length = high > low ? (int64_t)((uint64_t)high - (uint64_t)low) : 0;
    return length > 0 ? length : 0;
}
static inline void *le_rows_totals(struct le_rows *rows) {
    return (char *)rows + le_vec_round(sizeof *rows);
}
#endif
