/* A BLAS of the machine's, found and loaded when the first contraction wants it; without one Leat has kernels of its
 * own. What is found stays for the process, so that all its contractions are computed alike.
 *
 * LEAT_BLAS names the library to load for all products, by its soname or path; "none" loads none. Without it,
 * libopenblas.so.0 is tried, then libblas.so.3 if that is an OpenBLAS too (the plain BLAS of that name is slower than
 * Leat's own kernels). An OpenBLAS that does not know the CPU and chose kernels for an older instruction set is not
 * used: they are slower, too. Nor is one loaded for which the process has no room (blas_room.h).
 *
 * The library must not start threads of its own. An OpenBLAS with threads is told to use one, and its threads end
 * unless it was loaded before; that holds for whoever else uses it in the process. Several threads then call it at one
 * time. An OpenBLAS that was built without threads gives wrong numbers when they do (Debian's libopenblas0-serial was
 * seen to), and of another BLAS nothing is known: calls of those take turns. */
#ifndef LE_CPU_BLAS_H
#define LE_CPU_BLAS_H
#include "base/status.h"

enum { LE_BLAS_ROWS = 101, LE_BLAS_AS_IS = 111, LE_BLAS_TRANSPOSED = 112 }; /* CBLAS's enums */

/* The interface of CBLAS, for matrices of rows. */
struct le_blas {
    void (*sgemm)(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha, const float *a,
                  int lda, const float *b, int ldb, float beta, float *c, int ldc);
    void (*dgemm)(int order, int transpose_a, int transpose_b, int m, int n, int k, double alpha, const double *a,
                  int lda, const double *b, int ldb, double beta, double *c, int ldc);
    void (*sgemv)(int order, int transpose, int m, int n, float alpha, const float *a, int lda, const float *x,
                  int incx, float beta, float *y, int incy);
    void (*dgemv)(int order, int transpose, int m, int n, double alpha, const double *a, int lda, const double *x,
                  int incx, double beta, double *y, int incy);
    char name[128]; /* its own words: "OpenBLAS 0.3.21 ..." */
};
#define LE_BLAS_NONE "Leat's own kernels"
/* Loads it at the first call. NULL: there is none, or none is wanted. Any thread. */
const struct le_blas *le_blas_find(void);
/* It does only what our own kernels are slower at: where the machine has AVX-512, if LEAT_BLAS names none. Loads
 * nothing. */
bool le_blas_is_fallback(void);
/* Why the library that LEAT_BLAS names is not used; NULL: it is, or none is named. After le_blas_find. */
const char *le_blas_missing(void);
/* What computes contractions of floats: "OpenBLAS 0.3.21 ..., kernels for SkylakeX", or our own kernels and why. */
const char *le_blas_description(void);
#endif
