/* Reductions lane by lane: each lane has its own total. Sums and products of floats follow the tree of kernels_sums.c,
 * with a binary counter shared by all lanes. A term that is left out is replaced by the neutral one, -0.0 or 1, which
 * changes no total. All others fold in place. A mask (c) marks the lanes that an addition leaves out. */
#include "device/cpu/machine/accumulator.h"
#include "device/cpu/kernels/vectors.h"
#include <math.h>

#define CHUNK 128 /* lanes whose carry stays in the first-level cache */

static void init_lanes(struct le_vec *vec, int64_t n) {
    vec->count = 0;
    vec->stride_bytes = (int64_t)le_vec_round((size_t)n * 8);
    vec->rows_offset_bytes = (int64_t)(le_vec_round(sizeof *vec) + le_vec_round((size_t)n));
    vec->all_seen = false;
}

KERNEL(init_tree) {
    struct le_vec *vec = reg[instr->d];
    init_lanes(vec, n);
    memset(le_vec_seen(vec), 0, (size_t)n);
}

static void note_seen(struct le_vec *vec, const le_bool *omitted, int64_t n) {
    le_bool *seen = le_vec_seen(vec);
    if (omitted == NULL)
        vec->all_seen = true;
    else
        LANES for (int64_t k = 0; k < n; k++) seen[k] = seen[k] | !omitted[k];
}

#define TREE(name, T, OP, TERM, EMPTY)                                                                                 \
    /* Adds the terms x, with carry, after `count` others; the rows from `first` on have the pending totals. */        \
    static void carry_##name(struct le_vec *vec, int first, int64_t count, const T *x, int64_t n) {                    \
        const int levels = __builtin_ctzll(~(unsigned long long)count);                                                \
        T *top = le_vec_row(vec, first + levels);                                                                      \
        T carried[CHUNK];                                                                                              \
        for (int64_t k = 0; k < n; k += CHUNK) {                                                                       \
            const int64_t lanes = n - k < CHUNK ? n - k : CHUNK;                                                       \
            const T *from = x + k;                                                                                     \
            for (int level = 0; level < levels; level++) {                                                             \
                const T *pending = (const T *)le_vec_row(vec, first + level) + k;                                      \
                T *to = level + 1 == levels ? top + k : carried;                                                       \
                LANES for (int64_t j = 0; j < lanes; j++) to[j] = pending[j] OP from[j];                               \
                from = to;                                                                                             \
            }                                                                                                          \
            if (levels == 0)                                                                                           \
                memcpy(top + k, from, (size_t)lanes * sizeof(T));                                                      \
        }                                                                                                              \
    }                                                                                                                  \
    /* d = the pending totals of `count` terms with x after them, which may be d, or be NULL if count is not 0. */     \
    static void join_##name(struct le_vec *vec, int first, int64_t count, const T *x, T *d, int64_t n) {               \
        for (uint64_t rest = (uint64_t)count; rest != 0; rest &= rest - 1) {                                           \
            const T *pending = le_vec_row(vec, first + __builtin_ctzll(rest));                                         \
            if (x == NULL)                                                                                             \
                memcpy(d, pending, (size_t)n * sizeof(T));                                                             \
            else                                                                                                       \
                LANES for (int64_t k = 0; k < n; k++) d[k] = pending[k] OP x[k];                                       \
            x = d;                                                                                                     \
        }                                                                                                              \
        if (x != NULL && x != d)                                                                                       \
            memcpy(d, x, (size_t)n * sizeof(T));                                                                       \
    }                                                                                                                  \
    static void settle_##name(struct le_vec *vec, T *d, int64_t n) {                                                   \
        const le_bool *seen = le_vec_seen(vec);                                                                        \
        if (vec->all_seen)                                                                                             \
            return;                                                                                                    \
        for (int64_t k = 0; k < n; k++)                                                                                \
            d[k] = seen[k] ? d[k] : EMPTY;                                                                             \
    }                                                                                                                  \
    KERNEL(add_##name) {                                                                                               \
        struct le_vec *vec = reg[instr->d];                                                                            \
        const T *x = reg[instr->a];                                                                                    \
        const le_bool *omitted = le_kernel_optional(reg, instr->c);                                                    \
        T terms[LE_BLOCK_MAX];                                                                                         \
        note_seen(vec, omitted, n);                                                                                    \
        if (omitted != NULL) {                                                                                         \
            LANES for (int64_t k = 0; k < n; k++) terms[k] = omitted[k] ? TERM : x[k];                                 \
            x = terms;                                                                                                 \
        }                                                                                                              \
        carry_##name(vec, 0, vec->count++, x, n);                                                                      \
    }                                                                                                                  \
    KERNEL(end_##name) {                                                                                               \
        struct le_vec *vec = reg[instr->a];                                                                            \
        join_##name(vec, 0, vec->count, NULL, reg[instr->d], n);                                                       \
        settle_##name(vec, reg[instr->d], n);                                                                          \
    }
TREE(sum_f32, le_f32, +, -0.0f, 0)
TREE(sum_f64, le_f64, +, -0.0, 0)
TREE(prod_f32, le_f32, *, 1, 1)
TREE(prod_f64, le_f64, *, 1, 1)

/* Sums with reuse (kernels_chains.c). A lane that is left out keeps its totals. */
enum { UNIT_TERMS = LE_CHAIN_TERMS * LE_CHAIN_CHUNKS };
#define CHAIN(t, T, ADDED_ONE)                                                                                         \
    static void add_terms_##t(T *total, const T *x, const T *y, int64_t n) {                                           \
        if (y == NULL)                                                                                                 \
            LANES for (int64_t k = 0; k < n; k++) total[k] = total[k] + x[k];                                          \
        else                                                                                                           \
            LANES for (int64_t k = 0; k < n; k++) total[k] = ADDED_ONE(x[k], y[k], total[k]);                          \
    }                                                                                                                  \
    static void add_some_##t(T *total, const T *x, const T *y, const le_bool *omitted, int64_t n) {                    \
        LANES for (int64_t k = 0; k < n; k++) {                                                                        \
            const T next = y == NULL ? total[k] + x[k] : ADDED_ONE(x[k], y[k], total[k]);                              \
            total[k] = omitted[k] ? total[k] : next;                                                                   \
        }                                                                                                              \
    }                                                                                                                  \
    static void close_chunk_##t(struct le_vec *vec, int64_t n) {                                                       \
        const T *chunk = le_vec_row(vec, 0);                                                                           \
        T *unit = le_vec_row(vec, 1);                                                                                  \
        if (vec->count % UNIT_TERMS == LE_CHAIN_TERMS)                                                                 \
            memcpy(unit, chunk, (size_t)n * sizeof(T));                                                                \
        else                                                                                                           \
            add_terms_##t(unit, chunk, NULL, n);                                                                       \
        if (vec->count % UNIT_TERMS == 0)                                                                              \
            carry_sum_##t(vec, 2, vec->count / UNIT_TERMS - 1, unit, n);                                               \
    }                                                                                                                  \
    KERNEL(add_chain_##t) {                                                                                            \
        struct le_vec *vec = reg[instr->d];                                                                            \
        const T *x = reg[instr->a], *y = le_kernel_optional(reg, instr->b);                                            \
        const le_bool *omitted = le_kernel_optional(reg, instr->c);                                                    \
        T *total = le_vec_row(vec, 0);                                                                                 \
        note_seen(vec, omitted, n);                                                                                    \
        if (vec->count++ % LE_CHAIN_TERMS == 0)                                                                        \
            for (int64_t k = 0; k < n; k++)                                                                            \
                total[k] = -(T)0;                                                                                      \
        if (omitted == NULL)                                                                                           \
            add_terms_##t(total, x, y, n);                                                                             \
        else                                                                                                           \
            add_some_##t(total, x, y, omitted, n);                                                                     \
        if (vec->count % LE_CHAIN_TERMS == 0)                                                                          \
            close_chunk_##t(vec, n);                                                                                   \
    }                                                                                                                  \
    KERNEL(end_chain_##t) {                                                                                            \
        struct le_vec *vec = reg[instr->a];                                                                            \
        const T *chunk = le_vec_row(vec, 0), *unit = le_vec_row(vec, 1), *rest = NULL;                                 \
        T *d = reg[instr->d];                                                                                          \
        if (vec->count % LE_CHAIN_TERMS != 0)                                                                          \
            rest = chunk;                                                                                              \
        if (vec->count % UNIT_TERMS >= LE_CHAIN_TERMS && rest != NULL) {                                               \
            LANES for (int64_t k = 0; k < n; k++) d[k] = unit[k] + chunk[k];                                           \
            rest = d;                                                                                                  \
        } else if (vec->count % UNIT_TERMS >= LE_CHAIN_TERMS) {                                                        \
            rest = unit;                                                                                               \
        }                                                                                                              \
        join_sum_##t(vec, 2, vec->count / UNIT_TERMS, rest, d, n);                                                     \
        settle_sum_##t(vec, d, n);                                                                                     \
    }
CHAIN(f32, le_f32, ADDED_ONE_F32)
CHAIN(f64, le_f64, ADDED_ONE_F64)

/* m: the lane's total, a: its term. */
#define FOLD(name, T, EMPTY, expression)                                                                               \
    KERNEL(init_##name) {                                                                                              \
        struct le_vec *vec = reg[instr->d];                                                                            \
        init_lanes(vec, n);                                                                                            \
        T *total = le_vec_row(vec, 0);                                                                                 \
        for (int64_t k = 0; k < n; k++)                                                                                \
            total[k] = EMPTY;                                                                                          \
    }                                                                                                                  \
    KERNEL(add_##name) {                                                                                               \
        T *total = le_vec_row(reg[instr->d], 0);                                                                       \
        const T *x = reg[instr->a];                                                                                    \
        const le_bool *omitted = le_kernel_optional(reg, instr->c);                                                    \
        if (omitted == NULL)                                                                                           \
            LANES for (int64_t k = 0; k < n; k++) {                                                                    \
                const T m = total[k], a = x[k];                                                                        \
                total[k] = (T)(expression);                                                                            \
            }                                                                                                          \
        else                                                                                                           \
            LANES for (int64_t k = 0; k < n; k++) {                                                                    \
                const T m = total[k], a = x[k];                                                                        \
                const T next = (T)(expression);                                                                        \
                total[k] = omitted[k] ? m : next;                                                                      \
            }                                                                                                          \
    }
#include "device/cpu/kernels/folds.inc"
FOLD(min_f32, le_f32, (le_f32)INFINITY, le_lower_f32(m, a))
FOLD(max_f32, le_f32, -(le_f32)INFINITY, le_higher_f32(m, a))
FOLD(min_f64, le_f64, (le_f64)INFINITY, le_lower_f64(m, a))
FOLD(max_f64, le_f64, -(le_f64)INFINITY, le_higher_f64(m, a))

#define END(size_, T)                                                                                                  \
    KERNEL(end_##size_) {                                                                                              \
        memcpy(reg[instr->d], le_vec_row(reg[instr->a], 0), (size_t)n * sizeof(T));                                    \
    }
END(1, le_u8)
END(2, le_u16)
END(4, le_u32)
END(8, le_u64)

/* All NaNs become the same NaN. */
#define END_EXTREME(t, T)                                                                                              \
    KERNEL(end_##t) {                                                                                                  \
        const T *total = le_vec_row(reg[instr->a], 0);                                                                 \
        T *d = reg[instr->d];                                                                                          \
        LANES for (int64_t k = 0; k < n; k++) d[k] = total[k] != total[k] ? (T)NAN : total[k];                         \
    }
END_EXTREME(f32, le_f32)
END_EXTREME(f64, le_f64)

KERNEL(init_arg) {
    struct le_vec *vec = reg[instr->d];
    init_lanes(vec, n);
    le_i64 *at = le_vec_row(vec, 1);
    for (int64_t k = 0; k < n; k++)
        at[k] = LE_NO_INDEX;
}
KERNEL(end_arg) {
    const le_i64 *at = le_vec_row(reg[instr->a], 1);
    le_i64 *d = reg[instr->d];
    LANES for (int64_t k = 0; k < n; k++) d[k] = at[k] == LE_NO_INDEX ? -1 : at[k];
}

#define ARG(name, T, BEATS)                                                                                            \
    KERNEL(add_##name) {                                                                                               \
        struct le_vec *vec = reg[instr->d];                                                                            \
        const T *x = reg[instr->a];                                                                                    \
        const le_i64 *index = reg[instr->b];                                                                           \
        const le_bool *omitted = le_kernel_optional(reg, instr->c);                                                    \
        T *best = le_vec_row(vec, 0);                                                                                  \
        le_i64 *at = le_vec_row(vec, 1);                                                                               \
        le_bool none[LE_BLOCK_MAX];                                                                                    \
        if (omitted == NULL)                                                                                           \
            omitted = memset(none, 0, (size_t)n);                                                                      \
        LANES for (int64_t k = 0; k < n; k++) {                                                                        \
            const T m = best[k], a = x[k];                                                                             \
            const int64_t i = index[k], now = at[k];                                                                   \
            const bool better = ((now == LE_NO_INDEX) | ((m == m) & ((a BEATS m) | (a != a)))) & !omitted[k];          \
            best[k] = better ? a : m;                                                                                  \
            at[k] = better ? i : now;                                                                                  \
        }                                                                                                              \
    }
#define ARGS(t, T)                                                                                                     \
    ARG(argmin_##t, T, <)                                                                                              \
    ARG(argmax_##t, T, >)
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

// clang-format off
#define INIT_ADD_END(name, end) {init_##name, add_##name, end}
#define ARG_ROWS(t)                                                                                                              \
    [LE_RED_ARGMIN] = {init_arg, add_argmin_##t, end_arg}, [LE_RED_ARGMAX] = {init_arg, add_argmax_##t, end_arg}
#define WHOLE_ROW(t, end)                                                                                                        \
    {                                                                                                                            \
        [LE_RED_SUM] = INIT_ADD_END(sum_##t, end), [LE_RED_PROD] = INIT_ADD_END(prod_##t, end),                                  \
        [LE_RED_MIN] = INIT_ADD_END(min_##t, end), [LE_RED_MAX] = INIT_ADD_END(max_##t, end), ARG_ROWS(t)                        \
    }
#define FLOAT_ROW(t)                                                                                                             \
    {                                                                                                                            \
        [LE_RED_SUM] = {init_tree, add_sum_##t, end_sum_##t}, [LE_RED_PROD] = {init_tree, add_prod_##t, end_prod_##t},           \
        [LE_RED_MIN] = INIT_ADD_END(min_##t, end_##t), [LE_RED_MAX] = INIT_ADD_END(max_##t, end_##t), ARG_ROWS(t),               \
        [LE_RED_CHAIN] = {init_tree, add_chain_##t, end_chain_##t},                                                              \
        [LE_RED_CHAIN_OF_PRODUCTS] = {init_tree, add_chain_##t, end_chain_##t},                                                  \
    }
static le_cpu_op *const tables[LE_TYPES][LE_REDUCTIONS][3] = {
    [LE_BOOL] = {
        [LE_RED_SUM] = INIT_ADD_END(any, end_1), [LE_RED_PROD] = INIT_ADD_END(all, end_1),
        [LE_RED_MIN] = INIT_ADD_END(all, end_1), [LE_RED_MAX] = INIT_ADD_END(any, end_1),
        [LE_RED_ANY] = INIT_ADD_END(any, end_1), [LE_RED_ALL] = INIT_ADD_END(all, end_1), ARG_ROWS(u8),
    },
    [LE_I8] = WHOLE_ROW(i8, end_1), [LE_I16] = WHOLE_ROW(i16, end_2), [LE_I32] = WHOLE_ROW(i32, end_4),
    [LE_I64] = WHOLE_ROW(i64, end_8), [LE_U8] = WHOLE_ROW(u8, end_1), [LE_U16] = WHOLE_ROW(u16, end_2),
    [LE_U32] = WHOLE_ROW(u32, end_4), [LE_U64] = WHOLE_ROW(u64, end_8), [LE_F32] = FLOAT_ROW(f32), [LE_F64] = FLOAT_ROW(f64),
};
// clang-format on

le_cpu_op *LE_SET(le_lanes_find)(const struct le_instr *instr) {
    if (instr->code < LE_CODE_VEC_INIT || instr->code > LE_CODE_VEC_END)
        return NULL;
    if (instr->type >= LE_TYPES || instr->imm < 0 || instr->imm >= LE_REDUCTIONS)
        return NULL;
    return tables[instr->type][instr->imm][instr->code - LE_CODE_VEC_INIT];
}
