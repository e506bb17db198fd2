/* Stands in for libopenblas. It behaves as the real one does when memory or threads run out: it asks for a buffer again
 * and again, and if it cannot start a thread it prints and raises SIGINT. Its products are correct, and slow. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define OUT __attribute__((visibility("default")))
enum { BUFFERS = 64, BUFFER_BYTES = 128 << 20, AS_IS = 111 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    void *at;
    int used;
} buffers[BUFFERS];

OUT void *blas_memory_alloc(int purpose);
OUT void *blas_memory_alloc(int purpose) {
    (void)purpose;
    pthread_mutex_lock(&lock);
    int k = 0;
    while (k < BUFFERS && buffers[k].used)
        k++;
    if (k < BUFFERS)
        buffers[k].used = 1;
    pthread_mutex_unlock(&lock);
    if (k == BUFFERS) {
        puts("OpenBLAS : Program is Terminated.");
        abort();
    }
    while (!buffers[k].at) {
        void *at = mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        buffers[k].at = at == MAP_FAILED ? NULL : at;
    }
    return buffers[k].at;
}

OUT void blas_memory_free(void *buffer);
OUT void blas_memory_free(void *buffer) {
    pthread_mutex_lock(&lock);
    for (int k = 0; k < BUFFERS; k++)
        if (buffers[k].at == buffer)
            buffers[k].used = 0;
    pthread_mutex_unlock(&lock);
}

static pthread_t servers[BUFFERS];
static int server_count;
static pthread_mutex_t at_work = PTHREAD_MUTEX_INITIALIZER; /* held until the servers end */

static void *serve(void *user) {
    (void)user;
    usleep(10000);
    void *buffer = blas_memory_alloc(2);
    pthread_mutex_lock(&at_work);
    pthread_mutex_unlock(&at_work);
    blas_memory_free(buffer);
    return NULL;
}

__attribute__((constructor)) static void start(void) {
    cpu_set_t cores;
    const char *asked = getenv("OPENBLAS_NUM_THREADS");
    int count = asked ? atoi(asked) : sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
    pthread_mutex_lock(&at_work);
    for (; server_count < count - 1 && server_count < BUFFERS / 2; server_count++)
        if (pthread_create(&servers[server_count], NULL, serve, NULL) != 0) {
            fprintf(stderr, "OpenBLAS blas_thread_init: pthread_create failed\n");
            raise(SIGINT);
            return;
        }
}

OUT int blas_thread_shutdown_(void);
OUT __attribute__((destructor)) int blas_thread_shutdown_(void) {
    if (server_count)
        pthread_mutex_unlock(&at_work);
    for (; server_count; server_count--)
        pthread_join(servers[server_count - 1], NULL);
    return 0;
}

OUT const char *openblas_get_config(void);
OUT const char *openblas_get_config(void) {
    return "OpenBLAS of the tests MAX_THREADS=32";
}

OUT void openblas_set_num_threads(int count);
OUT void openblas_set_num_threads(int count) {
    (void)count;
}

OUT int openblas_get_parallel(void);
OUT int openblas_get_parallel(void) {
    return 1;
}

/* The element of a matrix in rows, or of one that lies in columns. */
#define AT(a, transpose, stride, row, column)                                                                          \
    ((a)[(transpose) == AS_IS ? (ptrdiff_t)(row) * (stride) + (column) : (ptrdiff_t)(column) * (stride) + (row)])

#define MATRIX(name, T)                                                                                                \
    OUT void name(int order, int transpose_a, int transpose_b, int m, int n, int k, T alpha, const T *a, int lda,      \
                  const T *b, int ldb, T beta, T *c, int ldc);                                                         \
    OUT void name(int order, int transpose_a, int transpose_b, int m, int n, int k, T alpha, const T *a, int lda,      \
                  const T *b, int ldb, T beta, T *c, int ldc) {                                                        \
        void *buffer = blas_memory_alloc(0);                                                                           \
        (void)order;                                                                                                   \
        for (int i = 0; i < m; i++)                                                                                    \
            for (int j = 0; j < n; j++) {                                                                              \
                T sum = 0, *to = &c[(ptrdiff_t)i * ldc + j];                                                           \
                for (int q = 0; q < k; q++)                                                                            \
                    sum += AT(a, transpose_a, lda, i, q) * AT(b, transpose_b, ldb, q, j);                              \
                *to = alpha * sum + (beta != 0 ? beta * *to : 0);                                                      \
            }                                                                                                          \
        blas_memory_free(buffer);                                                                                      \
    }
MATRIX(cblas_sgemm, float)
MATRIX(cblas_dgemm, double)

#define VECTOR(name, T)                                                                                                \
    OUT void name(int order, int transpose, int m, int n, T alpha, const T *a, int lda, const T *x, int incx, T beta,  \
                  T *y, int incy);                                                                                     \
    OUT void name(int order, int transpose, int m, int n, T alpha, const T *a, int lda, const T *x, int incx, T beta,  \
                  T *y, int incy) {                                                                                    \
        const int rows = transpose == AS_IS ? m : n, columns = transpose == AS_IS ? n : m;                             \
        (void)order;                                                                                                   \
        for (int i = 0; i < rows; i++) {                                                                               \
            T sum = 0, *to = &y[(ptrdiff_t)i * incy];                                                                  \
            for (int q = 0; q < columns; q++)                                                                          \
                sum += AT(a, transpose, lda, i, q) * x[(ptrdiff_t)q * incx];                                           \
            *to = alpha * sum + (beta != 0 ? beta * *to : 0);                                                          \
        }                                                                                                              \
    }
VECTOR(cblas_sgemv, float)
VECTOR(cblas_dgemv, double)
