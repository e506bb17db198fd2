/* Stands in for libcublas in the tests of the library search. It multiplies nothing. Compiled with FAKE_MISSING it
 * lacks cublasSetWorkspace. */
#include "device/driver/cublas.h"

#define OUT __attribute__((visibility("default")))

#define NOTHING(symbol)                                                                                                \
    OUT le_cublas_status symbol(void);                                                                                 \
    OUT le_cublas_status symbol(void) {                                                                                \
        return LE_CUBLAS_NOT_INITIALIZED;                                                                              \
    }
NOTHING(cublasCreate_v2)
NOTHING(cublasDestroy_v2)
NOTHING(cublasGetStatusString)
NOTHING(cublasSetStream_v2)
NOTHING(cublasSetMathMode)
NOTHING(cublasSgemmStridedBatched)
NOTHING(cublasDgemmStridedBatched)
NOTHING(cublasGemmStridedBatchedEx)
#ifndef FAKE_MISSING
NOTHING(cublasSetWorkspace_v2)
#endif
