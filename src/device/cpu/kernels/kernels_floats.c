/* Arithmetic and comparisons of floats: one instance of floats.inc per type. Library functions are in
 * kernels_functions.c. */
#include "device/cpu/kernels/kernels.h"
#include <math.h>

/* x if condition holds, else 0; without a branch. */
static inline double value_or_zero(double x, bool condition) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits &= 0 - (uint64_t)condition;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#define T le_f32
#if defined(__SSE4_1__) || defined(__aarch64__) /* these round in one instruction */
#define QUOTIENT_MAX 0x1p28
#else
#define QUOTIENT_MAX 0
#endif
#define EXACT_REST(a, quotient, b) ((a) - (quotient) * (b))
#define M(name)                    name##f
#define F(name)                    name##_f32
#include "device/cpu/kernels/floats.inc"

#define T le_f64
#if LE_FUSED
#define QUOTIENT_MAX               0x1p51
#define EXACT_REST(a, quotient, b) __builtin_fma(-(quotient), b, a)
#else
#define QUOTIENT_MAX               0
#define EXACT_REST(a, quotient, b) fmod(a, b)
#endif
#define M(name) name
#define F(name) name##_f64
#include "device/cpu/kernels/floats.inc"

le_cpu_op *LE_SET(le_floats_find)(const struct le_instr *instr) {
    return instr->type == LE_F32 ? table_f32[instr->code] : instr->type == LE_F64 ? table_f64[instr->code] : NULL;
}
