/* cuBLAS's interface as Leat declares it, in the same way as nvrtc.h: matrix products of f32 and f64, and of
 * 16-bit floats, batched by strides. Filled from libcublas (device/cuda) or by the simulator (device/sim). Names are
 * cuBLAS's. If a real cublas_v2.h is present, tests/cuda_headers compares every declaration and constant with it. */
#ifndef LE_CUBLAS_H
#define LE_CUBLAS_H
#include <stddef.h>

typedef int le_cublas_status;
typedef int le_cublas_operation;
typedef int le_cublas_math;
typedef int le_cublas_type;    /* cudaDataType_t */
typedef int le_cublas_compute; /* cublasComputeType_t */
typedef int le_cublas_algorithm;
typedef struct cublasContext *le_cublas_handle;
typedef struct CUstream_st *le_cublas_stream;
#define LE_CUBLAS_CONSTANTS(X)                                                                                         \
    X(SUCCESS, CUBLAS_STATUS_SUCCESS, 0)                                                                               \
    X(NOT_INITIALIZED, CUBLAS_STATUS_NOT_INITIALIZED, 1)                                                               \
    X(ALLOC_FAILED, CUBLAS_STATUS_ALLOC_FAILED, 3)                                                                     \
    X(INVALID_VALUE, CUBLAS_STATUS_INVALID_VALUE, 7)                                                                   \
    X(EXECUTION_FAILED, CUBLAS_STATUS_EXECUTION_FAILED, 13)                                                            \
    X(INTERNAL_ERROR, CUBLAS_STATUS_INTERNAL_ERROR, 14)                                                                \
    X(OP_N, CUBLAS_OP_N, 0)                                                                                            \
    X(OP_T, CUBLAS_OP_T, 1)                                                                                            \
    X(DEFAULT_MATH, CUBLAS_DEFAULT_MATH, 0)                                                                            \
    X(NO_REDUCED_SUMS, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION, 16)                                           \
    X(R_32F, CUDA_R_32F, 0)                                                                                            \
    X(R_16F, CUDA_R_16F, 2)                                                                                            \
    X(R_16BF, CUDA_R_16BF, 14)                                                                                         \
    X(C_32F, CUDA_C_32F, 4)                                                                                            \
    X(C_64F, CUDA_C_64F, 5)                                                                                            \
    X(COMPUTE_32F, CUBLAS_COMPUTE_32F, 68)                                                                             \
    X(COMPUTE_64F, CUBLAS_COMPUTE_64F, 70)                                                                             \
    X(COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_32F_FAST_TF32, 77)                                                         \
    X(GEMM_DEFAULT, CUBLAS_GEMM_DEFAULT, -1)

enum le_cublas_constant {
#define X(name, theirs, value) LE_CUBLAS_##name = value,
    LE_CUBLAS_CONSTANTS(X)
#undef X
};

#define LE_CUBLAS_PRODUCT(T)                                                                                           \
    (le_cublas_handle handle, le_cublas_operation a_is, le_cublas_operation b_is, int m, int n, int k, const T *alpha, \
     const T *a, int lda, long long a_stride, const T *b, int ldb, long long b_stride, const T *beta, T *c, int ldc,   \
     long long c_stride, int count)

/* X(our name, symbol, result, parameters); all are required */
#define LE_CUBLAS_SYMBOLS(X)                                                                                           \
    X(Create, cublasCreate_v2, le_cublas_status, (le_cublas_handle * handle))                                          \
    X(Destroy, cublasDestroy_v2, le_cublas_status, (le_cublas_handle handle))                                          \
    X(GetStatusString, cublasGetStatusString, const char *, (le_cublas_status status))                                 \
    X(SetStream, cublasSetStream_v2, le_cublas_status, (le_cublas_handle handle, le_cublas_stream stream))             \
    X(SetWorkspace, cublasSetWorkspace_v2, le_cublas_status,                                                           \
      (le_cublas_handle handle, void *workspace, size_t size_bytes))                                                   \
    X(SetMathMode, cublasSetMathMode, le_cublas_status, (le_cublas_handle handle, le_cublas_math mode))                \
    X(SgemmStridedBatched, cublasSgemmStridedBatched, le_cublas_status, LE_CUBLAS_PRODUCT(float))                      \
    X(DgemmStridedBatched, cublasDgemmStridedBatched, le_cublas_status, LE_CUBLAS_PRODUCT(double))                     \
    X(GemmStridedBatchedEx, cublasGemmStridedBatchedEx, le_cublas_status,                                              \
      (le_cublas_handle handle, le_cublas_operation a_is, le_cublas_operation b_is, int m, int n, int k,               \
       const void *alpha, const void *a, le_cublas_type a_type, int lda, long long a_stride, const void *b,            \
       le_cublas_type b_type, int ldb, long long b_stride, const void *beta, void *c, le_cublas_type c_type, int ldc,  \
       long long c_stride, int count, le_cublas_compute compute, le_cublas_algorithm algorithm))

struct le_cublas {
#define X(name, symbol, type, parameters) type(*name) parameters;
    LE_CUBLAS_SYMBOLS(X)
#undef X
};
#endif
