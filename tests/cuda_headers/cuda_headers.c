/* Leat's own declarations of CUDA's driver interface, of NVRTC and of cuBLAS against the real cuda.h, cudaTypedefs.h,
 * nvrtc.h and, where there is one, cublas_v2.h: what compiles is right. Everything is generated from the tables in
 * src/device; there is no second list here. Types that the two sides name differently (an enum that is an int to us)
 * are first compared in size, alignment and sign; then ours are renamed to theirs, and every function must be of
 * exactly their type, which is that of the version that the table asks the driver for. Each comparison counts one; main
 * says how many there were. */
#include "device/driver/cublas.h"
#include "device/driver/cuda_driver.h"
#include "device/driver/nvrtc.h"
#include <cuda.h>
#include <cudaTypedefs.h>
#include <nvrtc.h>
#if __has_include(<cublas_v2.h>)
#include <cublas_v2.h>
#define HAS_CUBLAS 1
#else
#define HAS_CUBLAS 0
#endif
#include <stdio.h>
#include <string.h>

#define SAME(a, b) __builtin_types_compatible_p(a, b)

/* ---- constants */
#define X(name, theirs, value) _Static_assert((long long)(theirs) == (long long)LE_CU_##name, #theirs);
LE_CU_CONSTANTS(X)
#undef X
#define X(name, theirs, value) _Static_assert((long long)(theirs) == (long long)LE_NVRTC_##name, #theirs);
LE_NVRTC_CONSTANTS(X)
#undef X
#if HAS_CUBLAS
#define X(name, theirs, value) _Static_assert((long long)(theirs) == (long long)LE_CUBLAS_##name, #theirs);
LE_CUBLAS_CONSTANTS(X)
#undef X
#endif

/* ---- types. Handles are compatible as they are: the same structure tags. */
#define SIZED(ours, theirs)                                                                                            \
    _Static_assert(sizeof(ours) == sizeof(theirs) && _Alignof(ours) == _Alignof(theirs), #theirs)
#define INTEGER(ours, theirs)                                                                                          \
    SIZED(ours, theirs);                                                                                               \
    _Static_assert(((ours)-1 > 0) == ((theirs)-1 > 0), #theirs)
INTEGER(le_cu_deviceptr, CUdeviceptr);
_Static_assert(SAME(le_cu_device, CUdevice), "CUdevice");
/* the compiler picks an enum's sign; no value of theirs needs the upper half of an unsigned int */
SIZED(le_cu_result, CUresult);
SIZED(le_cu_device_attribute, CUdevice_attribute);
SIZED(le_cu_function_attribute, CUfunction_attribute);
SIZED(le_cu_pointer_attribute, CUpointer_attribute);
SIZED(le_cu_jit_option, CUjit_option);
SIZED(le_cu_memory_type, CUmemorytype);
SIZED(le_cu_proc_address_result, CUdriverProcAddressQueryResult);
SIZED(le_cu_capture_mode, CUstreamCaptureMode);
SIZED(le_cu_capture_status, CUstreamCaptureStatus);
SIZED(le_nvrtc_result, nvrtcResult);
#if HAS_CUBLAS
SIZED(le_cublas_status, cublasStatus_t);
SIZED(le_cublas_operation, cublasOperation_t);
SIZED(le_cublas_math, cublasMath_t);
SIZED(le_cublas_type, cudaDataType_t);
SIZED(le_cublas_compute, cublasComputeType_t);
SIZED(le_cublas_algorithm, cublasGemmAlgo_t);
#endif
SIZED(le_cu_uuid, CUuuid);
_Static_assert(SAME(__typeof__(((le_cu_uuid *)0)->bytes[0]), unsigned char) && sizeof((CUuuid *)0)->bytes == 16,
               "CUuuid");
SIZED(le_cu_memcpy3d, CUDA_MEMCPY3D);
#define MEMBER(structure, name) (((structure *)0)->name)
#define X(type, name)                                                                                                  \
    _Static_assert(offsetof(le_cu_memcpy3d, name) == offsetof(CUDA_MEMCPY3D, name), #name);                            \
    _Static_assert(sizeof MEMBER(le_cu_memcpy3d, name) == sizeof MEMBER(CUDA_MEMCPY3D, name), #name);
LE_CU_MEMCPY3D(X)
#undef X
SIZED(le_cu_kernel_node, CUDA_KERNEL_NODE_PARAMS);
#define X(type, name)                                                                                                  \
    _Static_assert(offsetof(le_cu_kernel_node, name) == offsetof(CUDA_KERNEL_NODE_PARAMS, name), #name);               \
    _Static_assert(sizeof MEMBER(le_cu_kernel_node, name) == sizeof MEMBER(CUDA_KERNEL_NODE_PARAMS, name), #name);
LE_CU_KERNEL_NODE(X)
#undef X

/* ---- functions: from here on, our names mean their types */
#define le_cu_deviceptr           CUdeviceptr
#define le_cu_result              CUresult
#define le_cu_device_attribute    CUdevice_attribute
#define le_cu_function_attribute  CUfunction_attribute
#define le_cu_pointer_attribute   CUpointer_attribute
#define le_cu_jit_option          CUjit_option
#define le_cu_proc_address_result CUdriverProcAddressQueryResult
#define le_cu_capture_mode        CUstreamCaptureMode
#define le_cu_capture_status      CUstreamCaptureStatus
#define le_cu_uuid                CUuuid
#define le_cu_memcpy3d            CUDA_MEMCPY3D
#define le_cu_kernel_node         CUDA_KERNEL_NODE_PARAMS
#define le_nvrtc_result           nvrtcResult
#define le_cublas_status          cublasStatus_t
#define le_cublas_operation       cublasOperation_t
#define le_cublas_math            cublasMath_t
#define le_cublas_type            cudaDataType_t
#define le_cublas_compute         cublasComputeType_t
#define le_cublas_algorithm       cublasGemmAlgo_t

/* LE_CU_ROWS: cuda_driver.def, less the functions that this toolkit is too old to know. */
#define LE_CU(name, symbol, version, need, parameters)                                                                 \
    _Static_assert(SAME(le_cu_result(*) parameters, PFN_cu##name##_v##version), symbol " of " #version);
#include LE_CU_ROWS
#undef LE_CU
#define X(name, version, parameters)                                                                                   \
    _Static_assert(SAME(le_cu_result(*) parameters, PFN_cu##name##_v##version), #name " of " #version);
LE_CU_ENTRIES(X)
#undef X
#define X(name, symbol, need, type, parameters)                                                                        \
    _Static_assert(SAME(type(*) parameters, __typeof__(&nvrtc##name)), symbol);
LE_NVRTC_SYMBOLS(X)
#undef X
#if HAS_CUBLAS
#define X(name, symbol, type, parameters) _Static_assert(SAME(type(*) parameters, __typeof__(&symbol)), #symbol);
LE_CUBLAS_SYMBOLS(X)
#undef X
#endif

/* The text that the symbol is looked up by is the name that was compared. */
struct row {
    const char *name, *symbol;
};
static const struct row rows[] = {
#define LE_CU(name, symbol, version, need, parameters) {"cu" #name, symbol},
#include LE_CU_ROWS
#undef LE_CU
#define X(name, symbol, need, type, parameters) {"nvrtc" #name, symbol},
    LE_NVRTC_SYMBOLS(X)
#undef X
};

enum {
#define X(a, b, c) +1
    CONSTANTS = 0 LE_CU_CONSTANTS(X) LE_NVRTC_CONSTANTS(X) + HAS_CUBLAS * (0 LE_CUBLAS_CONSTANTS(X)),
#undef X
#define X(a, b, c, d) +1
    PRODUCTS = HAS_CUBLAS * (0 LE_CUBLAS_SYMBOLS(X)),
#undef X
#define X(a, b) +1
    MEMBERS = 0 LE_CU_MEMCPY3D(X) LE_CU_KERNEL_NODE(X)
#undef X
};

int main(void) {
    int wrong = 0;
    size_t count = sizeof rows / sizeof *rows;
    for (size_t k = 0; k < count; k++)
        if (strcmp(rows[k].name, rows[k].symbol) != 0)
            wrong++, printf("%s is looked up as %s\n", rows[k].name, rows[k].symbol);
    printf("CUDA %d.%d: %zu functions, %d constants and %d members are as declared\n", CUDA_VERSION / 1000,
           CUDA_VERSION % 1000 / 10, count + PRODUCTS, (int)CONSTANTS, (int)MEMBERS);
    return wrong != 0;
}
