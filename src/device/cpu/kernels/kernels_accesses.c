/* Subscripts: index values, range checks, clamping to edges, recording of faults, and scatters that update (op=). */
#include "device/cpu/kernels/kernels.h"
#include <math.h>

KERNEL(iota) {
    le_i64 *d = reg[instr->d];
    const uint64_t first = *(const le_u64 *)reg[instr->a], step = (uint64_t)instr->imm;
    for (int64_t k = 0; k < n; k++)
        d[k] = (int64_t)(first + (uint64_t)k * step);
}

KERNEL(in_range) {
    le_bool *d = reg[instr->d];
    const le_u64 *x = reg[instr->a];
    const le_bool *wanted = le_kernel_optional(reg, instr->b);
    const int64_t extent = *(const le_i64 *)reg[instr->e];
    const uint64_t end = extent > 0 ? (uint64_t)extent : 0; /* a negative subscript becomes a huge unsigned number */
    if (wanted == NULL)
        LANES for (int64_t k = 0; k < n; k++) d[k] = x[k] < end;
    else
        LANES for (int64_t k = 0; k < n; k++) d[k] = wanted[k] & (x[k] < end);
}

static bool is_bad(const le_bool *wanted, const le_bool *good, int64_t k) {
    return (wanted == NULL || wanted[k]) && (good == NULL || !good[k]);
}

/* Whether any lane is wanted but not good. */
static bool any_bad(const le_bool *wanted, const le_bool *good, int64_t n) {
    le_bool bad = 0;
    if (wanted == NULL || good == NULL)
        return true;
    for (int64_t k = 0; k < n; k++)
        bad |= wanted[k] & !good[k];
    return bad;
}

KERNEL(fault) {
    struct le_fault *fault = reg[0];
    const le_i64 *x = reg[instr->a];
    const le_bool *wanted = le_kernel_optional(reg, instr->b), *good = le_kernel_optional(reg, instr->c);
    if (fault->set || (wanted == NULL && good != NULL && memchr(good, 0, (size_t)n) == NULL) ||
        !any_bad(wanted, good, n))
        return;
    for (int64_t k = 0; k < n && !fault->set; k++)
        if (is_bad(wanted, good, k)) {
            fault->set = true;
            fault->access_axis = instr->imm;
            fault->value = x[k];
        }
}

KERNEL(note) {
    struct le_fault *fault = reg[0];
    if (memchr(reg[instr->a], 1, (size_t)n) != NULL)
        fault->notes |= (unsigned)instr->imm;
}

KERNEL(outside) {
    le_bool *d = reg[instr->d];
    const le_bool *wanted = le_kernel_optional(reg, instr->b), *good = le_kernel_optional(reg, instr->c);
    if (good == NULL)
        LANES for (int64_t k = 0; k < n; k++) d[k] |= wanted == NULL || wanted[k];
    else if (wanted == NULL)
        LANES for (int64_t k = 0; k < n; k++) d[k] |= !good[k];
    else
        LANES for (int64_t k = 0; k < n; k++) d[k] |= wanted[k] & !good[k];
}

/* x modulo period, 0 <= result < period. */
static int64_t wrapped(int64_t x, uint64_t period) {
    const uint64_t rest = x < 0 ? (uint64_t)~x % period : (uint64_t)x % period;
    return (int64_t)(x < 0 ? period - 1 - rest : rest);
}
static int64_t edge_clamp(int64_t x, int64_t extent) {
    return x < 0 ? 0 : x >= extent ? extent - 1 : x;
}
static int64_t edge_wrap(int64_t x, int64_t extent) {
    return x >= 0 && x < extent ? x : wrapped(x, (uint64_t)extent);
}
static int64_t edge_mirror(int64_t x, int64_t extent) {
    if (x >= 0 && x < extent)
        return x;
    const uint64_t period = extent > 1 ? 2 * ((uint64_t)extent - 1) : 1;
    const int64_t at = wrapped(x, period);
    return at < extent ? at : (int64_t)(period - (uint64_t)at);
}
static int64_t edge_symmetric(int64_t x, int64_t extent) {
    if (x >= 0 && x < extent)
        return x;
    const uint64_t period = 2 * (uint64_t)extent;
    const int64_t at = wrapped(x, period);
    return at < extent ? at : (int64_t)(period - 1 - (uint64_t)at);
}

#define EDGE(name)                                                                                                     \
    KERNEL(all_##name) {                                                                                               \
        le_i64 *d = reg[instr->d];                                                                                     \
        const le_i64 *x = reg[instr->a];                                                                               \
        const int64_t extent = *(const le_i64 *)reg[instr->e];                                                         \
        for (int64_t k = 0; k < n; k++)                                                                                \
            d[k] = extent > 0 ? name(x[k], extent) : 0;                                                                \
    }
EDGE(edge_clamp)
EDGE(edge_wrap)
EDGE(edge_mirror)
EDGE(edge_symmetric)
// clang-format off
static le_cpu_op *const edges[LE_EDGES] = {
    [LE_EDGE_CLAMP] = all_edge_clamp, [LE_EDGE_WRAP] = all_edge_wrap, [LE_EDGE_MIRROR] = all_edge_mirror,
    [LE_EDGE_SYMMETRIC] = all_edge_symmetric,
};
// clang-format on

/* now: the element; a: the new term. Integers are computed in W. */
#define SCATTER(name, T, W, expression)                                                                                \
    KERNEL(name) {                                                                                                     \
        T *d = reg[instr->d];                                                                                          \
        const T *x = reg[instr->a];                                                                                    \
        const le_i64 *index = reg[instr->b];                                                                           \
        const le_bool *mask = le_kernel_optional(reg, instr->c);                                                       \
        for (int64_t k = 0; k < n; k++) {                                                                              \
            if (mask != NULL && !mask[k])                                                                              \
                continue;                                                                                              \
            const T now = d[index[k]], a = x[k];                                                                       \
            d[index[k]] = (T)(expression);                                                                             \
        }                                                                                                              \
    }
#define SCATTERS(t, T, W)                                                                                              \
    SCATTER(add_##t, T, W, (W)now + (W)a)                                                                              \
    SCATTER(sub_##t, T, W, (W)now - (W)a)                                                                              \
    SCATTER(mul_##t, T, W, (W)now *(W)a)
#define WHOLE_SCATTERS(t, T, W)                                                                                        \
    SCATTERS(t, T, W)                                                                                                  \
    SCATTER(min_##t, T, W, now < a ? now : a)                                                                          \
    SCATTER(max_##t, T, W, now > a ? now : a)
/* -0.0 is lower than 0.0, so the order of updates does not matter. */
#define FLOAT_SCATTERS(t, T, W)                                                                                        \
    SCATTERS(t, T, W)                                                                                                  \
    SCATTER(min_##t, T, W, ((now != now) | (now < a) | ((now == a) & (signbit(now) != 0))) ? now : a)                  \
    SCATTER(max_##t, T, W, ((now != now) | (now > a) | ((now == a) & (signbit(now) == 0))) ? now : a)
#define SCATTER_ROW(t)                                                                                                 \
    {                                                                                                                  \
        [LE_SCATTER_ADD] = add_##t, [LE_SCATTER_SUB] = sub_##t, [LE_SCATTER_MUL] = mul_##t,                            \
        [LE_SCATTER_MIN] = min_##t, [LE_SCATTER_MAX] = max_##t                                                         \
    }
WHOLE_SCATTERS(i8, le_i8, uint32_t)
WHOLE_SCATTERS(i16, le_i16, uint32_t)
WHOLE_SCATTERS(i32, le_i32, uint32_t)
WHOLE_SCATTERS(i64, le_i64, uint64_t)
WHOLE_SCATTERS(u8, le_u8, uint32_t)
WHOLE_SCATTERS(u16, le_u16, uint32_t)
WHOLE_SCATTERS(u32, le_u32, uint32_t)
WHOLE_SCATTERS(u64, le_u64, uint64_t)
FLOAT_SCATTERS(f32, le_f32, float)
FLOAT_SCATTERS(f64, le_f64, double)
SCATTER(div_f32, le_f32, float, now / a)
SCATTER(div_f64, le_f64, double, now / a)
SCATTER(or_bool, le_bool, uint8_t, now | a)
SCATTER(and_bool, le_bool, uint8_t, now &a)

// clang-format off
static le_cpu_op *const scatters[LE_TYPES][LE_SCATTER_MAX + 1] = {
    [LE_BOOL] = {[LE_SCATTER_ADD] = or_bool, [LE_SCATTER_MUL] = and_bool, [LE_SCATTER_MIN] = and_bool, [LE_SCATTER_MAX] = or_bool},
    [LE_I8] = SCATTER_ROW(i8), [LE_I16] = SCATTER_ROW(i16), [LE_I32] = SCATTER_ROW(i32), [LE_I64] = SCATTER_ROW(i64),
    [LE_U8] = SCATTER_ROW(u8), [LE_U16] = SCATTER_ROW(u16), [LE_U32] = SCATTER_ROW(u32), [LE_U64] = SCATTER_ROW(u64),
    [LE_F32] = SCATTER_ROW(f32), [LE_F64] = SCATTER_ROW(f64),
};
// clang-format on

static le_cpu_op *scatter_find(const struct le_instr *instr) {
    if (instr->type >= LE_TYPES || instr->imm < 0 || instr->imm > LE_SCATTER_MAX)
        return NULL;
    if (instr->imm == LE_SCATTER_DIV)
        return instr->type == LE_F32 ? div_f32 : instr->type == LE_F64 ? div_f64 : NULL;
    return scatters[instr->type][instr->imm];
}

le_cpu_op *LE_SET(le_accesses_find)(const struct le_instr *instr) {
    switch (instr->code) {
    case LE_CODE_IOTA:
        return iota;
    case LE_CODE_INRANGE:
        return in_range;
    case LE_CODE_FAULT:
        return fault;
    case LE_CODE_OUTSIDE:
        return outside;
    case LE_CODE_NOTE:
        return note;
    case LE_CODE_EDGE:
        return instr->imm >= 0 && instr->imm < LE_EDGES ? edges[instr->imm] : NULL;
    case LE_CODE_SCATTER:
        return scatter_find(instr);
    default:
        return NULL;
    }
}
