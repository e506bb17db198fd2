/* Library functions: SLEEF's deterministic variants, `finz` if the set has fused multiply-adds, else `cinz`, so that
 * all sets with fused multiply-adds agree bit for bit. Where SLEEF 3.5.1 overflows early, the range is extended here.
 *
 * A vector V has WIDTH elements. The last, partial vector is padded with ones. */
#include "device/cpu/kernels/functions.h"
#include "device/cpu/kernels/kernels.h"
#include <math.h>
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#include <sleef.h>
#pragma GCC diagnostic pop

#if LE_SIMD == 2
#define SLEEF_F32(name, ulp) Sleef_finz_##name##f16_##ulp##avx512f
#define SLEEF_F64(name, ulp) Sleef_finz_##name##d8_##ulp##avx512f
#elif LE_SIMD == 1
#define SLEEF_F32(name, ulp) Sleef_finz_##name##f8_##ulp##avx2
#define SLEEF_F64(name, ulp) Sleef_finz_##name##d4_##ulp##avx2
#elif defined(__SSE2__)
#define SLEEF_F32(name, ulp) Sleef_cinz_##name##f4_##ulp##sse2
#define SLEEF_F64(name, ulp) Sleef_cinz_##name##d2_##ulp##sse2
#elif defined(__aarch64__)
#define SLEEF_F32(name, ulp) Sleef_finz_##name##f4_##ulp##advsimd
#define SLEEF_F64(name, ulp) Sleef_finz_##name##d2_##ulp##advsimd
#else
#define SCALAR
#if LE_FUSED
#define SLEEF_F32(name, ulp) Sleef_finz_##name##f1_##ulp##purecfma
#define SLEEF_F64(name, ulp) Sleef_finz_##name##d1_##ulp##purecfma
#else
#define SLEEF_F32(name, ulp) Sleef_cinz_##name##f1_##ulp##purec
#define SLEEF_F64(name, ulp) Sleef_cinz_##name##d1_##ulp##purec
#endif
#endif

#ifdef SCALAR
#define CALL1(V, function, x)    ((V){function((x)[0])})
#define CALL2(V, function, x, y) ((V){function((x)[0], (y)[0])})
#else
#define CALL1(V, function, x)    ((V)function(x))
#define CALL2(V, function, x, y) ((V)function(x, y))
#endif

#define T    le_f32
#define BITS int32_t
#ifdef SCALAR
#define WIDTH 1
#else
#define WIDTH (VECTOR_BYTES / 4)
#endif
#define F(name)          name##_f32
#define SLEEF(name, ulp) SLEEF_F32(name, ulp)
#define HUGE_SQUARE      0x1p60f
#define SINH_LIMIT       80.f
#define HALF_EXP_SHIFT   0x1.45c778p+7f /* 235 ln 2, almost exactly */
#define HALF_EXP_SCALE   0x1p117f
#define LOG1P_LIMIT      0x1p100f
#include "device/cpu/kernels/functions.inc"

#define T    le_f64
#define BITS int64_t
#ifdef SCALAR
#define WIDTH 1
#else
#define WIDTH (VECTOR_BYTES / 8)
#endif
#define F(name)          name##_f64
#define SLEEF(name, ulp) SLEEF_F64(name, ulp)
#define HUGE_SQUARE      0x1p500
#define SINH_LIMIT       709.
#define HALF_EXP_SHIFT   0x1.62066151add8bp+10 /* 2043 ln 2, almost exactly */
#define HALF_EXP_SCALE   0x1p1021
#define LOG1P_LIMIT      0x1p1000
#include "device/cpu/kernels/functions.inc"

/* The gamma functions of f32 are those of f64, rounded: SLEEF's own lose small results for negative x. */
static void each_wide(function1_f64 function, le_f32 *d, const le_f32 *x, int64_t n) {
    double wide[64];
    for (int64_t k = 0; k < n; k += 64) {
        const int64_t count = n - k < 64 ? n - k : 64;
        for (int64_t j = 0; j < count; j++)
            wide[j] = (double)x[k + j];
        each_f64(function, wide, wide, count);
        for (int64_t j = 0; j < count; j++)
            d[k + j] = (float)wide[j];
    }
}

/* For huge x, by Stirling's formula: x (log x - 1). */
static vector_f64 vector_lgamma(vector_f64 x) {
    const vector_f64 inside = CALL1(vector_f64, SLEEF_F64(lgamma, u10), x);
    const mask_f64 huge = x > 0x1p1000;
    return any_f64(huge) ? choose_f64(huge, x * (vector_log_f64(x) - 1), inside) : inside;
}

/* For negative x the sign changes at each integer, even if the library's result has underflowed to 0. */
static vector_f64 vector_tgamma(vector_f64 x) {
    vector_f64 result = CALL1(vector_f64, SLEEF_F64(tgamma, u10), x);
    const mask_f64 sunk = result == 0;
    if (!any_f64(sunk))
        return result;
    for (size_t k = 0; k < sizeof x / sizeof x[0]; k++)
        if (sunk[k] && fmod(floor(x[k]), 2) != 0)
            result[k] = -0.0;
    return result;
}
KERNEL(lgamma_f32) {
    each_wide(vector_lgamma, reg[instr->d], reg[instr->a], n);
}
KERNEL(tgamma_f32) {
    each_wide(vector_tgamma, reg[instr->d], reg[instr->a], n);
}
KERNEL(lgamma_f64) {
    each_f64(vector_lgamma, reg[instr->d], reg[instr->a], n);
}
KERNEL(tgamma_f64) {
    each_f64(vector_tgamma, reg[instr->d], reg[instr->a], n);
}

void LE_SET(le_log_f64)(double *x, int64_t n) {
    each_f64(vector_log_f64, x, x, n);
}
void LE_SET(le_cos_f64)(double *x, int64_t n) {
    each_f64(vector_cos_f64, x, x, n);
}

le_cpu_op *LE_SET(le_functions_find)(const struct le_instr *instr) {
    if (instr->code >= LE_OPS || (instr->type != LE_F32 && instr->type != LE_F64))
        return NULL;
    if (instr->code == LE_OP_LGAMMA)
        return instr->type == LE_F32 ? lgamma_f32 : lgamma_f64;
    if (instr->code == LE_OP_TGAMMA)
        return instr->type == LE_F32 ? tgamma_f32 : tgamma_f64;
    return instr->type == LE_F32 ? table_f32[instr->code] : table_f64[instr->code];
}
