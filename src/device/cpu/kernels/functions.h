/* Library functions used by other kernels: x[k] = f(x[k]) for k < n. */
#ifndef LE_FUNCTIONS_H
#define LE_FUNCTIONS_H
#include <stdint.h>
void le_log_f64_baseline(double *x, int64_t n);
void le_log_f64_avx2(double *x, int64_t n);
void le_log_f64_avx512(double *x, int64_t n);
void le_cos_f64_baseline(double *x, int64_t n);
void le_cos_f64_avx2(double *x, int64_t n);
void le_cos_f64_avx512(double *x, int64_t n);
#endif
