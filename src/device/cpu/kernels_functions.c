/* Library functions: SLEEF's deterministic variants, `finz` where the set has fused multiply-adds, `cinz` where not, so that all sets
 * with them agree bit for bit. Where SLEEF 3.5.1 overflows early the range is extended here.
 *
 * A vector V is WIDTH elements. The last, partial vector is padded with ones. */
#include "device/cpu/functions.h"
#include "device/cpu/kernels.h"
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

#define T le_f32
#define BITS int32_t
#ifdef SCALAR
#define WIDTH 1
#else
#define WIDTH (VECTOR_BYTES / 4)
#endif
#define F(name) name##_f32
#define SLEEF(name, ulp) SLEEF_F32(name, ulp)
#define HUGE_SQUARE 0x1p60f
#define SINH_LIMIT 80.f
#define HALF_EXP_SHIFT 0x1.45c778p+7f /* 235 ln 2, nearly exactly */
#define HALF_EXP_SCALE 0x1p117f
#define LOG1P_LIMIT 0x1p100f
#define LGAMMA_LIMIT 0x1p100f
#include "device/cpu/functions.inc"

#define T le_f64
#define BITS int64_t
#ifdef SCALAR
#define WIDTH 1
#else
#define WIDTH (VECTOR_BYTES / 8)
#endif
#define F(name) name##_f64
#define SLEEF(name, ulp) SLEEF_F64(name, ulp)
#define HUGE_SQUARE 0x1p500
#define SINH_LIMIT 700.
#define HALF_EXP_SHIFT 0x1.62066151add8bp+10 /* 2043 ln 2, nearly exactly */
#define HALF_EXP_SCALE 0x1p1021
#define LOG1P_LIMIT 0x1p1000
#define LGAMMA_LIMIT 0x1p1000
#include "device/cpu/functions.inc"

void LE_SET(le_log_f64)(double *x, int64_t n) { each_f64(vector_log_f64, x, x, n); }
void LE_SET(le_cos_f64)(double *x, int64_t n) { each_f64(vector_cos_f64, x, x, n); }

le_cpu_op *LE_SET(le_functions_find)(const struct le_instr *instr)
{
    if (instr->code >= LE_OPS) return NULL;
    return instr->type == LE_F32 ? table_f32[instr->code] : instr->type == LE_F64 ? table_f64[instr->code] : NULL;
}
