/* The table of oracle.h. */
#include "oracle.h"
#include <math.h>
#include <string.h>

static long double rsqrt_exact(long double x) {
    return 1 / sqrtl(x);
}
static double rsqrt(double x) {
    return 1 / sqrt(x);
}

/* glibc's vector functions, wrong by at most 4 units of f64, or its scalar ones. */
#if defined(__AVX2__) && defined(__GLIBC__)
#define VECTOR(name)                                                                                                   \
    double4 _ZGVdN4v_##name(double4 x);                                                                                \
    static void block_##name(double *result, const double *x, int64_t n) {                                             \
        for (int64_t k = 0; k < n; k += 4)                                                                             \
            *(double4 *)(result + k) = _ZGVdN4v_##name(*(const double4 *)(x + k));                                     \
    }
typedef double double4 __attribute__((vector_size(32)));
#else
#define VECTOR(name) SCALAR(name)
#endif
#define SCALAR(name)                                                                                                   \
    static void block_##name(double *result, const double *x, int64_t n) {                                             \
        for (int64_t k = 0; k < n; k++)                                                                                \
            result[k] = name(x[k]);                                                                                    \
    }
SCALAR(sqrt)
SCALAR(rsqrt)
VECTOR(cbrt)
VECTOR(exp)
VECTOR(exp2)
VECTOR(expm1)
VECTOR(log)
VECTOR(log2)
VECTOR(log10)
VECTOR(log1p)
VECTOR(sin)
VECTOR(cos)
VECTOR(tan)
VECTOR(asin)
VECTOR(acos)
VECTOR(atan)
VECTOR(sinh)
VECTOR(cosh)
VECTOR(tanh)
VECTOR(asinh)
VECTOR(acosh)
VECTOR(atanh)
VECTOR(erf)
VECTOR(erfc)
SCALAR(lgamma)
SCALAR(tgamma)

#define ROW(id, name)                                                                                                  \
    { LE_OP_##id, block_##name, name##l, NULL }
#define PAIR(id, name)                                                                                                 \
    { LE_OP_##id, NULL, NULL, name##l }
const struct oracle oracles[] = {
    ROW(SQRT, sqrt),     {LE_OP_RSQRT, block_rsqrt, rsqrt_exact, NULL},
    ROW(CBRT, cbrt),     ROW(EXP, exp),
    ROW(EXP2, exp2),     ROW(EXPM1, expm1),
    ROW(LOG, log),       ROW(LOG2, log2),
    ROW(LOG10, log10),   ROW(LOG1P, log1p),
    ROW(SIN, sin),       ROW(COS, cos),
    ROW(TAN, tan),       ROW(ASIN, asin),
    ROW(ACOS, acos),     ROW(ATAN, atan),
    ROW(SINH, sinh),     ROW(COSH, cosh),
    ROW(TANH, tanh),     ROW(ASINH, asinh),
    ROW(ACOSH, acosh),   ROW(ATANH, atanh),
    ROW(ERF, erf),       ROW(ERFC, erfc),
    ROW(LGAMMA, lgamma), ROW(TGAMMA, tgamma),
    PAIR(ATAN2, atan2),  PAIR(HYPOT, hypot),
    PAIR(POW, pow),
};
const int oracle_count = sizeof oracles / sizeof *oracles;

bool oracle_here(void) {
#if defined(__AVX2__)
    return __builtin_cpu_supports("avx2");
#else
    return true;
#endif
}

static inline int64_t bits_of(double x) {
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline double double_of(int64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

bool oracle_all_near(const float *results, const double *wide, int64_t n, double units) {
    int64_t far = 0;
    for (int64_t k = 0; k < n; k++) {
        const double got = (double)results[k], exact = wide[k], binade = double_of(bits_of(exact) & 0x7ff0000000000000);
        const double unit = binade < 0x1p-126 ? 0x1p-149 : binade * 0x1p-23;
        const int64_t differs = bits_of((double)(float)exact) != bits_of(got);
        const int64_t beyond = !(fabs(got - exact) <= units * unit) | (exact == 0);
        far |= differs & beyond & !((got != got) & (exact != exact));
    }
    return far == 0;
}
