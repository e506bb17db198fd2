/* The widest vectors of floats of an instruction set: SPLAT(x) is a vector of x, ADDED(a, b, c) is a * b + c, rounded
 * once where the instruction set fuses multiply-adds. Included by files that are compiled once per instruction set. */
#ifndef LE_VECTORS_H
#define LE_VECTORS_H
#include "device/cpu/kernels/kernels.h"
#if LE_SIMD > 0
#include <immintrin.h>
#endif

typedef float vector_f32 __attribute__((vector_size(VECTOR_BYTES)));
typedef double vector_f64 __attribute__((vector_size(VECTOR_BYTES)));

#if LE_SIMD == 2
#define SPLAT_F32(x)       ((vector_f32)_mm512_set1_ps(x))
#define SPLAT_F64(x)       ((vector_f64)_mm512_set1_pd(x))
#define ADDED_F32(a, b, c) ((vector_f32)_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#define ADDED_F64(a, b, c) ((vector_f64)_mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c)))
#elif LE_SIMD == 1
#define SPLAT_F32(x)       ((vector_f32)_mm256_set1_ps(x))
#define SPLAT_F64(x)       ((vector_f64)_mm256_set1_pd(x))
#define ADDED_F32(a, b, c) ((vector_f32)_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#define ADDED_F64(a, b, c) ((vector_f64)_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))
#else
#define SPLAT_F32(x) ((vector_f32){(x), (x), (x), (x)})
#define SPLAT_F64(x) ((vector_f64){(x), (x)})
#if LE_FUSED
static inline vector_f32 fused_f32(vector_f32 a, vector_f32 b, vector_f32 c) {
    for (int k = 0; k < 4; k++)
        c[k] = __builtin_fmaf(a[k], b[k], c[k]);
    return c;
}
static inline vector_f64 fused_f64(vector_f64 a, vector_f64 b, vector_f64 c) {
    for (int k = 0; k < 2; k++)
        c[k] = __builtin_fma(a[k], b[k], c[k]);
    return c;
}
#define ADDED_F32(a, b, c) fused_f32(a, b, c)
#define ADDED_F64(a, b, c) fused_f64(a, b, c)
#else
#define ADDED_F32(a, b, c) ((a) * (b) + (c))
#define ADDED_F64(a, b, c) ((a) * (b) + (c))
#endif
#endif

/* a * b + c of two numbers, rounded as ADDED. */
#if LE_FUSED
#define ADDED_ONE_F32(a, b, c) __builtin_fmaf(a, b, c)
#define ADDED_ONE_F64(a, b, c) __builtin_fma(a, b, c)
#else
#define ADDED_ONE_F32(a, b, c) ((a) * (b) + (c))
#define ADDED_ONE_F64(a, b, c) ((a) * (b) + (c))
#endif
#endif
