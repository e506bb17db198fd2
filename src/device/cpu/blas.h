/* The machine's BLAS, found and loaded when the first contraction needs it. Without one, Leat uses kernels of its own.
 * The result of the search is fixed for the process, so that all its contractions are computed the same way.
 *
 * LEAT_BLAS names the library to load for all products, by soname or path; "none" loads none. If it is not set,
 * libopenblas.so.0 is tried, then libblas.so.3 if that is also an OpenBLAS (the plain BLAS of that name is slower than
 * Leat's own kernels). An OpenBLAS that does not know the CPU and chose kernels for an older instruction set is not
 * used: those are slower, too. Nor is one for which the process lacks memory or threads (blas_room.h).
 *
 * The library must not start threads of its own. An OpenBLAS with threads is set to use one, and its threads are ended
 * unless the library was already loaded; this affects every user of the library in the process. Several threads then
 * call it concurrently. An OpenBLAS built without threads returns wrong results when called concurrently (seen with
 * Debian's libopenblas0-serial), and nothing is known about other BLAS libraries: calls of those take turns. */
#ifndef LE_CPU_BLAS_H
#define LE_CPU_BLAS_H
#include "base/status.h"

enum { LE_BLAS_ROWS = 101, LE_BLAS_AS_IS = 111, LE_BLAS_TRANSPOSED = 112 }; /* CBLAS's enums */

/* CBLAS functions, used with row-major matrices. */
struct le_blas {
    void (*sgemm)(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha, const float *a,
                  int lda, const float *b, int ldb, float beta, float *c, int ldc);
    void (*dgemm)(int order, int transpose_a, int transpose_b, int m, int n, int k, double alpha, const double *a,
                  int lda, const double *b, int ldb, double beta, double *c, int ldc);
    void (*sgemv)(int order, int transpose, int m, int n, float alpha, const float *a, int lda, const float *x,
                  int incx, float beta, float *y, int incy);
    void (*dgemv)(int order, int transpose, int m, int n, double alpha, const double *a, int lda, const double *x,
                  int incx, double beta, double *y, int incy);
    char name[128]; /* its own description: "OpenBLAS 0.3.21 ..." */
};
#define LE_BLAS_NONE "Leat's own kernels"
/* The first call loads it. NULL: there is none, or LEAT_BLAS is "none". Any thread. */
const struct le_blas *le_blas_find(void);
/* Whether BLAS only computes what Leat's own kernels are slower at: if the machine has AVX-512 and LEAT_BLAS names no
 * library. Loads nothing. */
bool le_blas_is_fallback(void);
/* Why the library that LEAT_BLAS names is not used. NULL: it is used, or none is named. Call after le_blas_find. */
const char *le_blas_missing(void);
/* Describes what computes contractions of floats: "OpenBLAS 0.3.21 ..., kernels for SkylakeX", or Leat's own kernels
 * and why. */
const char *le_blas_description(void);
#endif
