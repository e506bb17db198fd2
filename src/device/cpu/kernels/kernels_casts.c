/* Casts between all pairs of types, and rounding to a 16-bit float. Every cast rounds once, to nearest even, with the
 * same bits on every instruction set. */
#include "device/cpu/kernels/kernels.h"
#ifdef __F16C__
#include <immintrin.h>
#endif

static inline uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline float from_f16(uint16_t half) {
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16, magnitude = half & 0x7fff;
    const uint32_t normal = (magnitude << 13) + (112u << 23);
    const float subnormal = float_of((magnitude << 13) + (113u << 23)) - float_of(113u << 23);
    const uint32_t special = (magnitude << 13) | 0x7f800000 | (magnitude > 0x7c00 ? 0x400000 : 0);
    return float_of(sign | (magnitude >= 0x7c00 ? special : magnitude < 0x400 ? bits_of(subnormal) : normal));
}
static inline uint16_t to_f16(float x) {
    const uint32_t bits = bits_of(x), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    const uint32_t normal = (magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
    const uint32_t subnormal =
        bits_of(float_of(magnitude) + 0.5f) - bits_of(0.5f); /* the ulp of the sum is the smallest step of f16 */
    const uint32_t special = magnitude > 0x7f800000 ? 0x7e00 | (magnitude >> 13 & 0x3ff) : 0x7c00;
    return (uint16_t)(sign | (magnitude >= 0x47800000 ? special : magnitude < 0x38800000 ? subnormal : normal));
}
static inline float from_bf16(uint16_t half) {
    return float_of((uint32_t)half << 16);
}
static inline uint16_t to_bf16(float x) {
    const uint32_t bits = bits_of(x);
    return (uint16_t)(x != x ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* Rounds to odd: converts to f32 and sets the last bit of inexact results. Rounding that again to fewer bits is
 * equivalent to rounding once. */
static inline float to_odd(double x) {
    const float near = (float)x;
    const double error = (double)near - x;
    uint32_t bits = bits_of(near);
    const uint32_t away = (near > 0 && error > 0) | (near < 0 && error < 0);
    bits = (bits - away) | ((double)near != x);
    return x != x ? near : float_of(bits);
}
/* Converts to a double. Bits below the upper 48 are merged into the last of those by `or`; no 16-bit float keeps
 * them. */
static inline double sticky_double(uint64_t x) {
    return x >> 48 == 0 ? (double)x : (double)(int64_t)(x >> 16 | ((x & 0xffff) != 0)) * 65536.0;
}
static inline double whole_unsigned(uint64_t x) {
    return sticky_double(x);
}
static inline double whole_signed(int64_t x) {
    return x < 0 ? -sticky_double(0 - (uint64_t)x) : sticky_double((uint64_t)x);
}

/* Saturates; NaN becomes 0. LOW: the greatest float at or below the least value. HIGH: the least float above the
 * greatest value. */
#define SATURATE(name, A, R, LEAST, GREATEST, LOW, HIGH)                                                               \
    static inline R name(A x) {                                                                                        \
        const R inside = (R)(((x > (A)(LOW)) & (x < (A)(HIGH))) ? x : 0);                                              \
        return x >= (A)(HIGH) ? (R)GREATEST : x <= (A)(LOW) ? (R)LEAST : inside;                                       \
    }
#define SATURATE_FROM(A, a)                                                                                            \
    SATURATE(a##_to_i8, A, int8_t, INT8_MIN, INT8_MAX, -0x1p7, 0x1p7)                                                  \
    SATURATE(a##_to_i16, A, int16_t, INT16_MIN, INT16_MAX, -0x1p15, 0x1p15)                                            \
    SATURATE(a##_to_i32, A, int32_t, INT32_MIN, INT32_MAX, -0x1p31, 0x1p31)                                            \
    SATURATE(a##_to_i64, A, int64_t, INT64_MIN, INT64_MAX, -0x1p63, 0x1p63)                                            \
    SATURATE(a##_to_u8, A, uint8_t, 0, UINT8_MAX, 0, 0x1p8)                                                            \
    SATURATE(a##_to_u16, A, uint16_t, 0, UINT16_MAX, 0, 0x1p16)                                                        \
    SATURATE(a##_to_u32, A, uint32_t, 0, UINT32_MAX, 0, 0x1p32)                                                        \
    SATURATE(a##_to_u64, A, uint64_t, 0, UINT64_MAX, 0, 0x1p64)
SATURATE_FROM(float, f32)
SATURATE_FROM(double, f64)

/* Casts n elements. If the result is wider and overwrites its operand, it reads a copy. */
#define CAST(name, A, R, expression)                                                                                   \
    KERNEL(name) {                                                                                                     \
        A room[sizeof(R) > sizeof(A) ? LE_BLOCK_MAX : 1];                                                              \
        R *d = reg[instr->d];                                                                                          \
        const A *operand = reg[instr->a];                                                                              \
        const A *x = sizeof(R) > sizeof(A) ? le_kernel_apart(operand, d, (size_t)n * sizeof(A), room) : operand;       \
        LANES for (int64_t k = 0; k < n; k++) {                                                                        \
            const A a = x[k];                                                                                          \
            d[k] = (R)(expression);                                                                                    \
        }                                                                                                              \
    }

/* Casts from integers and bools. WHOLE(a): a as a double, for the 16-bit floats. */
#define CASTS_FROM_WHOLE(A, a_, WHOLE)                                                                                 \
    CAST(a_##_bool, A, le_bool, a != 0)                                                                                \
    CAST(a_##_1, A, le_u8, a)                                                                                          \
    CAST(a_##_2, A, le_u16, a)                                                                                         \
    CAST(a_##_4, A, le_u32, a)                                                                                         \
    CAST(a_##_8, A, le_u64, a)                                                                                         \
    CAST(a_##_f16, A, le_u16, to_f16(to_odd(WHOLE(a))))                                                                \
    CAST(a_##_bf16, A, le_u16, to_bf16(to_odd(WHOLE(a))))                                                              \
    CAST(a_##_f32, A, le_f32, a)                                                                                       \
    CAST(a_##_f64, A, le_f64, a)                                                                                       \
    static le_cpu_op *const table_##a_[LE_TYPES] = {                                                                   \
        [LE_BOOL] = a_##_bool, [LE_I8] = a_##_1,    [LE_I16] = a_##_2,   [LE_I32] = a_##_4, [LE_I64] = a_##_8,         \
        [LE_U8] = a_##_1,      [LE_U16] = a_##_2,   [LE_U32] = a_##_4,   [LE_U64] = a_##_8, [LE_F16] = a_##_f16,       \
        [LE_BF16] = a_##_bf16, [LE_F32] = a_##_f32, [LE_F64] = a_##_f64,                                               \
    };
CASTS_FROM_WHOLE(le_i8, i8, )
CASTS_FROM_WHOLE(le_i16, i16, )
CASTS_FROM_WHOLE(le_i32, i32, )
CASTS_FROM_WHOLE(le_i64, i64, whole_signed)
CASTS_FROM_WHOLE(le_u8, u8, )
CASTS_FROM_WHOLE(le_u16, u16, )
CASTS_FROM_WHOLE(le_u32, u32, )
CASTS_FROM_WHOLE(le_u64, u64, whole_unsigned)

/* Casts from floats stored as A. VALUE(a): the same value as an f32 or f64 (v). */
#define CASTS_FROM_FLOAT(A, a_, v, VALUE, F16, BF16)                                                                   \
    CAST(a_##_bool, A, le_bool, VALUE(a) != 0)                                                                         \
    CAST(a_##_i8, A, le_i8, v##_to_i8(VALUE(a)))                                                                       \
    CAST(a_##_i16, A, le_i16, v##_to_i16(VALUE(a)))                                                                    \
    CAST(a_##_i32, A, le_i32, v##_to_i32(VALUE(a)))                                                                    \
    CAST(a_##_i64, A, le_i64, v##_to_i64(VALUE(a)))                                                                    \
    CAST(a_##_u8, A, le_u8, v##_to_u8(VALUE(a)))                                                                       \
    CAST(a_##_u16, A, le_u16, v##_to_u16(VALUE(a)))                                                                    \
    CAST(a_##_u32, A, le_u32, v##_to_u32(VALUE(a)))                                                                    \
    CAST(a_##_u64, A, le_u64, v##_to_u64(VALUE(a)))                                                                    \
    CAST(a_##_f16, A, le_u16, F16)                                                                                     \
    CAST(a_##_bf16, A, le_u16, BF16)                                                                                   \
    CAST(a_##_f32, A, le_f32, VALUE(a))                                                                                \
    CAST(a_##_f64, A, le_f64, VALUE(a))                                                                                \
    static le_cpu_op *const table_##a_[LE_TYPES] = {                                                                   \
        [LE_BOOL] = a_##_bool, [LE_I8] = a_##_i8,   [LE_I16] = a_##_i16, [LE_I32] = a_##_i32, [LE_I64] = a_##_i64,     \
        [LE_U8] = a_##_u8,     [LE_U16] = a_##_u16, [LE_U32] = a_##_u32, [LE_U64] = a_##_u64, [LE_F16] = a_##_f16,     \
        [LE_BF16] = a_##_bf16, [LE_F32] = a_##_f32, [LE_F64] = a_##_f64,                                               \
    };
CASTS_FROM_FLOAT(le_u16, f16, f32, from_f16, a, to_bf16(from_f16(a)))
CASTS_FROM_FLOAT(le_u16, bf16, f32, from_bf16, to_f16(from_bf16(a)), a)
CASTS_FROM_FLOAT(le_f32, f32, f32, , to_f16(a), to_bf16(a))
CASTS_FROM_FLOAT(le_f64, f64, f64, , to_f16(to_odd(a)), to_bf16(to_odd(a)))

// clang-format off
static le_cpu_op *const *const casts[LE_TYPES] = {
    [LE_BOOL] = table_u8, [LE_I8] = table_i8, [LE_I16] = table_i16, [LE_I32] = table_i32, [LE_I64] = table_i64,
    [LE_U8] = table_u8, [LE_U16] = table_u16, [LE_U32] = table_u32, [LE_U64] = table_u64, [LE_F16] = table_f16,
    [LE_BF16] = table_bf16, [LE_F32] = table_f32, [LE_F64] = table_f64,
};
// clang-format on

#define ROUND(name, expression)                                                                                        \
    KERNEL(name) {                                                                                                     \
        le_f32 *d = reg[instr->d];                                                                                     \
        const le_f32 *x = reg[instr->a];                                                                               \
        LANES for (int64_t k = 0; k < n; k++) d[k] = expression;                                                       \
    }
#ifndef __F16C__
ROUND(round_f16, from_f16(to_f16(x[k])))
#endif
ROUND(round_bf16, from_bf16(to_bf16(x[k])))

#ifdef __F16C__
/* The same with F16C instructions, eight at a time; the last few by the kernels above. */
static inline void eight_to_f16(le_u16 *d, const le_f32 *x) {
    _mm_storeu_si128((__m128i *)d, _mm256_cvtps_ph(_mm256_loadu_ps(x), _MM_FROUND_TO_NEAREST_INT));
}
static inline void eight_from_f16(le_f32 *d, const le_u16 *x) {
    _mm256_storeu_ps(d, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)x)));
}
KERNEL(quick_f32_f16) {
    le_u16 *d = reg[instr->d];
    const le_f32 *x = reg[instr->a];
    int64_t k = 0;
    for (; k + 8 <= n; k += 8)
        eight_to_f16(d + k, x + k);
    for (; k < n; k++)
        d[k] = to_f16(x[k]);
}
KERNEL(quick_f16_f32) {
    le_u16 room[LE_BLOCK_MAX];
    le_f32 *d = reg[instr->d];
    const le_u16 *x = le_kernel_apart(reg[instr->a], d, (size_t)n * sizeof *x, room);
    int64_t k = 0;
    for (; k + 8 <= n; k += 8)
        eight_from_f16(d + k, x + k);
    for (; k < n; k++)
        d[k] = from_f16(x[k]);
}
KERNEL(quick_round_f16) {
    le_u16 eight[8];
    le_f32 *d = reg[instr->d];
    const le_f32 *x = reg[instr->a];
    int64_t k = 0;
    for (; k + 8 <= n; k += 8) {
        eight_to_f16(eight, x + k);
        eight_from_f16(d + k, eight);
    }
    for (; k < n; k++)
        d[k] = from_f16(to_f16(x[k]));
}
#else
#define quick_f32_f16   f32_f16
#define quick_f16_f32   f16_f32
#define quick_round_f16 round_f16
#endif

le_cpu_op *LE_SET(le_casts_find)(const struct le_instr *instr) {
    if (instr->type >= LE_TYPES || instr->type2 >= LE_TYPES)
        return NULL;
    if (instr->code == LE_CODE_ROUND)
        return instr->type2 == LE_F16 ? quick_round_f16 : instr->type2 == LE_BF16 ? round_bf16 : NULL;
    if (instr->code == LE_CODE_CAST && instr->type == LE_F16 && instr->type2 == LE_F32)
        return quick_f16_f32;
    if (instr->code == LE_CODE_CAST && instr->type == LE_F32 && instr->type2 == LE_F16)
        return quick_f32_f16;
    return instr->code == LE_CODE_CAST && casts[instr->type] != NULL ? casts[instr->type][instr->type2] : NULL;
}
