/* Reductions over the lanes whose result does not depend on the order: integers, and minima and maxima. All NaNs give
 * the same NaN, and -0.0 is lower than 0.0. argmin and argmax: the first hit wins, and a NaN wins over all numbers. */
#include "device/cpu/machine/accumulator.h"
#include "device/cpu/kernels/kernels.h"
#include <math.h>

#define FOLD(name, T, EMPTY, expression)                                                                               \
    KERNEL(init_##name) {                                                                                              \
        struct le_acc *acc = reg[instr->d];                                                                            \
        (void)n;                                                                                                       \
        *(T *)&acc->total = EMPTY;                                                                                     \
    }                                                                                                                  \
    KERNEL(add_##name) {                                                                                               \
        struct le_acc *acc = reg[instr->d];                                                                            \
        const T *x = reg[instr->a];                                                                                    \
        T m = *(const T *)&acc->total;                                                                                 \
        for (int64_t k = 0; k < n; k++) {                                                                              \
            const T a = x[k];                                                                                          \
            m = (T)(expression);                                                                                       \
        }                                                                                                              \
        *(T *)&acc->total = m;                                                                                         \
    }
#include "device/cpu/kernels/folds.inc"

#define END(size_, T)                                                                                                  \
    KERNEL(end_##size_) {                                                                                              \
        const struct le_acc *acc = reg[instr->a];                                                                      \
        (void)n;                                                                                                       \
        *(T *)reg[instr->d] = *(const T *)&acc->total;                                                                 \
    }
END(1, le_u8)
END(2, le_u16)
END(4, le_u32)
END(8, le_u64)

KERNEL(init_arg) {
    struct le_acc *acc = reg[instr->d];
    (void)n;
    acc->index = LE_NO_INDEX;
}
KERNEL(end_arg) {
    const struct le_acc *acc = reg[instr->a];
    (void)n;
    *(le_i64 *)reg[instr->d] = acc->index == LE_NO_INDEX ? -1 : acc->index;
}

/* BEST(x, n): the extreme of a block, NaN if it has one. Its index is searched only if it beats the best so far. */
#define ARG(name, T, BEST, BEATS)                                                                                      \
    KERNEL(add_##name) {                                                                                               \
        struct le_acc *acc = reg[instr->d];                                                                            \
        const T *x = reg[instr->a];                                                                                    \
        const le_i64 *index = reg[instr->b];                                                                           \
        T *total = (T *)&acc->total;                                                                                   \
        if (n == 0)                                                                                                    \
            return;                                                                                                    \
        const T best = BEST(x, n);                                                                                     \
        if (acc->index != LE_NO_INDEX && !(*total == *total && (best BEATS * total || best != best)))                  \
            return;                                                                                                    \
        int64_t k = 0;                                                                                                 \
        while (!(x[k] == best || (best != best && x[k] != x[k])))                                                      \
            k++;                                                                                                       \
        *total = best;                                                                                                 \
        acc->index = index[k];                                                                                         \
    }
#define ARGS_WHOLE(t, T)                                                                                               \
    static inline T least_##t(const T *x, int64_t n) {                                                                 \
        T m = x[0];                                                                                                    \
        for (int64_t k = 1; k < n; k++)                                                                                \
            m = x[k] < m ? x[k] : m;                                                                                   \
        return m;                                                                                                      \
    }                                                                                                                  \
    static inline T greatest_##t(const T *x, int64_t n) {                                                              \
        T m = x[0];                                                                                                    \
        for (int64_t k = 1; k < n; k++)                                                                                \
            m = x[k] > m ? x[k] : m;                                                                                   \
        return m;                                                                                                      \
    }                                                                                                                  \
    ARG(argmin_##t, T, least_##t, <)                                                                                   \
    ARG(argmax_##t, T, greatest_##t, >)
ARGS_WHOLE(i8, le_i8)
ARGS_WHOLE(i16, le_i16)
ARGS_WHOLE(i32, le_i32)
ARGS_WHOLE(i64, le_i64)
ARGS_WHOLE(u8, le_u8)
ARGS_WHOLE(u16, le_u16)
ARGS_WHOLE(u32, le_u32)
ARGS_WHOLE(u64, le_u64)

/* Extremes of floats, in two vectors at once. A NaN stays, because no comparison with it is true. The sign of a zero is
 * determined only if the result is a zero, by JOIN. */
#define FLOAT_EXTREME(name, T, BITS_TYPE, BEATS, JOIN, EMPTY)                                                          \
    typedef T vector_##name __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(T)), may_alias));                 \
    typedef BITS_TYPE mask_##name __attribute__((vector_size(VECTOR_BYTES)));                                          \
    static inline vector_##name step_##name(vector_##name m, vector_##name x) {                                        \
        const mask_##name take = (mask_##name)(x BEATS m) | (mask_##name)(x != x);                                     \
        return (vector_##name)(((mask_##name)x & take) | ((mask_##name)m & ~take));                                    \
    }                                                                                                                  \
    static T name(const T *x, int64_t n) {                                                                             \
        enum { WIDTH = VECTOR_BYTES / sizeof(T) };                                                                     \
        vector_##name m = (vector_##name){0} + EMPTY, o = m;                                                           \
        T best = EMPTY;                                                                                                \
        int64_t k = 0;                                                                                                 \
        for (; k + 2 * WIDTH <= n; k += 2 * WIDTH) {                                                                   \
            m = step_##name(m, *(const vector_##name *)(x + k));                                                       \
            o = step_##name(o, *(const vector_##name *)(x + k + WIDTH));                                               \
        }                                                                                                              \
        m = step_##name(m, o);                                                                                         \
        for (int lane = 0; lane < WIDTH; lane++)                                                                       \
            best = ((m[lane] BEATS best) | (m[lane] != m[lane])) ? m[lane] : best;                                     \
        for (; k < n; k++)                                                                                             \
            best = ((x[k] BEATS best) | (x[k] != x[k])) ? x[k] : best;                                                 \
        return best;                                                                                                   \
    }                                                                                                                  \
    static T zero_of_##name(const T *x, int64_t n, T zero) {                                                           \
        for (int64_t k = 0; k < n; k++)                                                                                \
            zero = JOIN(zero, x[k] == 0 ? x[k] : zero);                                                                \
        return zero;                                                                                                   \
    }                                                                                                                  \
    KERNEL(init_##name) {                                                                                              \
        struct le_acc *acc = reg[instr->d];                                                                            \
        (void)n;                                                                                                       \
        *(T *)&acc->total = EMPTY;                                                                                     \
    }                                                                                                                  \
    KERNEL(add_##name) {                                                                                               \
        struct le_acc *acc = reg[instr->d];                                                                            \
        T *total = (T *)&acc->total, best = name(reg[instr->a], n);                                                    \
        if (best == 0)                                                                                                 \
            best = zero_of_##name(reg[instr->a], n, best);                                                             \
        *total = JOIN(*total, best);                                                                                   \
    }                                                                                                                  \
    KERNEL(end_##name) {                                                                                               \
        const struct le_acc *acc = reg[instr->a];                                                                      \
        const T total = *(const T *)&acc->total;                                                                       \
        (void)n;                                                                                                       \
        *(T *)reg[instr->d] = total != total ? (T)NAN : total;                                                         \
    }
FLOAT_EXTREME(min_f32, le_f32, int32_t, <, le_lower_f32, (le_f32)INFINITY)
FLOAT_EXTREME(max_f32, le_f32, int32_t, >, le_higher_f32, -(le_f32)INFINITY)
FLOAT_EXTREME(min_f64, le_f64, int64_t, <, le_lower_f64, (le_f64)INFINITY)
FLOAT_EXTREME(max_f64, le_f64, int64_t, >, le_higher_f64, -(le_f64)INFINITY)
ARG(argmin_f32, le_f32, min_f32, <)
ARG(argmax_f32, le_f32, max_f32, >)
ARG(argmin_f64, le_f64, min_f64, <)
ARG(argmax_f64, le_f64, max_f64, >)

// clang-format off
#define INIT_ADD_END(name, end) {init_##name, add_##name, end}
#define WHOLE_ROW(t, end)                                                                                                        \
    {                                                                                                                            \
        [LE_RED_SUM] = INIT_ADD_END(sum_##t, end), [LE_RED_PROD] = INIT_ADD_END(prod_##t, end),                                  \
        [LE_RED_MIN] = INIT_ADD_END(min_##t, end), [LE_RED_MAX] = INIT_ADD_END(max_##t, end),                                    \
        [LE_RED_ARGMIN] = {init_arg, add_argmin_##t, end_arg}, [LE_RED_ARGMAX] = {init_arg, add_argmax_##t, end_arg}             \
    }
#define FLOAT_ROW(t)                                                                                                             \
    {                                                                                                                            \
        [LE_RED_MIN] = INIT_ADD_END(min_##t, end_min_##t), [LE_RED_MAX] = INIT_ADD_END(max_##t, end_max_##t),                    \
        [LE_RED_ARGMIN] = {init_arg, add_argmin_##t, end_arg}, [LE_RED_ARGMAX] = {init_arg, add_argmax_##t, end_arg}             \
    }
static le_cpu_op *const tables[LE_TYPES][LE_REDUCTIONS][3] = {
    [LE_BOOL] = {
        [LE_RED_SUM] = INIT_ADD_END(any, end_1), [LE_RED_PROD] = INIT_ADD_END(all, end_1),
        [LE_RED_MIN] = INIT_ADD_END(all, end_1), [LE_RED_MAX] = INIT_ADD_END(any, end_1),
        [LE_RED_ANY] = INIT_ADD_END(any, end_1), [LE_RED_ALL] = INIT_ADD_END(all, end_1),
        [LE_RED_ARGMIN] = {init_arg, add_argmin_u8, end_arg}, [LE_RED_ARGMAX] = {init_arg, add_argmax_u8, end_arg},
    },
    [LE_I8] = WHOLE_ROW(i8, end_1), [LE_I16] = WHOLE_ROW(i16, end_2), [LE_I32] = WHOLE_ROW(i32, end_4),
    [LE_I64] = WHOLE_ROW(i64, end_8), [LE_U8] = WHOLE_ROW(u8, end_1), [LE_U16] = WHOLE_ROW(u16, end_2),
    [LE_U32] = WHOLE_ROW(u32, end_4), [LE_U64] = WHOLE_ROW(u64, end_8), [LE_F32] = FLOAT_ROW(f32), [LE_F64] = FLOAT_ROW(f64),
};
// clang-format on

le_cpu_op *LE_SET(le_folds_find)(const struct le_instr *instr) {
    if (instr->code < LE_CODE_ACC_INIT || instr->code > LE_CODE_ACC_END)
        return NULL;
    if (instr->type >= LE_TYPES || instr->imm < 0 || instr->imm >= LE_REDUCTIONS)
        return NULL;
    return tables[instr->type][instr->imm][instr->code - LE_CODE_ACC_INIT];
}
