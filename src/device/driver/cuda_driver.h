/* CUDA's driver interface as Leat declares it: the types, constants and functions that it uses, so that building needs
 * no toolkit. cuda_driver.def lists the functions. A table of them is filled from libcuda.so.1 (device/cuda) or by the
 * simulator (device/sim). Nothing is called here. If a real cuda.h is present, tests/cuda_headers compares every
 * declaration, size, offset and constant with it. Names are CUDA's, with le_cu_ for CU. */
#ifndef LE_CUDA_DRIVER_H
#define LE_CUDA_DRIVER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int le_cu_result;
typedef int le_cu_device;
typedef uint64_t le_cu_deviceptr;
/* CUDA's types are enums of an int's size; their values are among the constants below. */
typedef int le_cu_device_attribute;
typedef int le_cu_function_attribute;
typedef int le_cu_pointer_attribute;
typedef int le_cu_jit_option;
typedef int le_cu_memory_type;
typedef int le_cu_proc_address_result;
typedef int le_cu_capture_mode;
typedef int le_cu_capture_status; /* 0: the stream is not being captured */
typedef struct CUctx_st *le_cu_context;
typedef struct CUmod_st *le_cu_module;
typedef struct CUfunc_st *le_cu_function;
typedef struct CUstream_st *le_cu_stream;
typedef struct CUevent_st *le_cu_event;
typedef struct CUkern_st *le_cu_kernel;
typedef struct CUgraph_st *le_cu_graph;
typedef struct CUgraphNode_st *le_cu_graph_node;
typedef struct CUgraphExec_st *le_cu_graph_exec;
typedef struct le_cu_uuid {
    unsigned char bytes[16];
} le_cu_uuid;

/* Only in newer headers, so not compared with a real cuda.h. */
enum { LE_CU_ERROR_CONTAINED = 226, LE_CU_ERROR_TENSOR_MEMORY_LEAK = 721 };

#define LE_CU_CONSTANTS(X)                                                                                             \
    X(SUCCESS, CUDA_SUCCESS, 0)                                                                                        \
    X(ERROR_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE, 1)                                                                \
    X(ERROR_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY, 2)                                                                \
    X(ERROR_NOT_INITIALIZED, CUDA_ERROR_NOT_INITIALIZED, 3)                                                            \
    X(ERROR_DEINITIALIZED, CUDA_ERROR_DEINITIALIZED, 4)                                                                \
    X(ERROR_STUB_LIBRARY, CUDA_ERROR_STUB_LIBRARY, 34)                                                                 \
    X(ERROR_NO_DEVICE, CUDA_ERROR_NO_DEVICE, 100)                                                                      \
    X(ERROR_INVALID_DEVICE, CUDA_ERROR_INVALID_DEVICE, 101)                                                            \
    X(ERROR_INVALID_IMAGE, CUDA_ERROR_INVALID_IMAGE, 200)                                                              \
    X(ERROR_INVALID_CONTEXT, CUDA_ERROR_INVALID_CONTEXT, 201)                                                          \
    X(ERROR_NO_BINARY_FOR_GPU, CUDA_ERROR_NO_BINARY_FOR_GPU, 209)                                                      \
    X(ERROR_ECC_UNCORRECTABLE, CUDA_ERROR_ECC_UNCORRECTABLE, 214)                                                      \
    X(ERROR_INVALID_PTX, CUDA_ERROR_INVALID_PTX, 218)                                                                  \
    X(ERROR_NVLINK_UNCORRECTABLE, CUDA_ERROR_NVLINK_UNCORRECTABLE, 220)                                                \
    X(ERROR_INVALID_HANDLE, CUDA_ERROR_INVALID_HANDLE, 400)                                                            \
    X(ERROR_NOT_FOUND, CUDA_ERROR_NOT_FOUND, 500)                                                                      \
    X(ERROR_NOT_READY, CUDA_ERROR_NOT_READY, 600)                                                                      \
    X(ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_ILLEGAL_ADDRESS, 700)                                                          \
    X(ERROR_LAUNCH_OUT_OF_RESOURCES, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701)                                          \
    X(ERROR_LAUNCH_TIMEOUT, CUDA_ERROR_LAUNCH_TIMEOUT, 702)                                                            \
    X(ERROR_CONTEXT_IS_DESTROYED, CUDA_ERROR_CONTEXT_IS_DESTROYED, 709)                                                \
    X(ERROR_ASSERT, CUDA_ERROR_ASSERT, 710)                                                                            \
    X(ERROR_HOST_MEMORY_ALREADY_REGISTERED, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, 712)                            \
    X(ERROR_HOST_MEMORY_NOT_REGISTERED, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, 713)                                    \
    X(ERROR_HARDWARE_STACK_ERROR, CUDA_ERROR_HARDWARE_STACK_ERROR, 714)                                                \
    X(ERROR_ILLEGAL_INSTRUCTION, CUDA_ERROR_ILLEGAL_INSTRUCTION, 715)                                                  \
    X(ERROR_MISALIGNED_ADDRESS, CUDA_ERROR_MISALIGNED_ADDRESS, 716)                                                    \
    X(ERROR_INVALID_ADDRESS_SPACE, CUDA_ERROR_INVALID_ADDRESS_SPACE, 717)                                              \
    X(ERROR_INVALID_PC, CUDA_ERROR_INVALID_PC, 718)                                                                    \
    X(ERROR_LAUNCH_FAILED, CUDA_ERROR_LAUNCH_FAILED, 719)                                                              \
    X(ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, 720)                                \
    X(ERROR_NOT_SUPPORTED, CUDA_ERROR_NOT_SUPPORTED, 801)                                                              \
    X(ERROR_SYSTEM_DRIVER_MISMATCH, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 803)                                            \
    X(ERROR_STREAM_CAPTURE_UNSUPPORTED, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, 900)                                    \
    X(ERROR_UNKNOWN, CUDA_ERROR_UNKNOWN, 999)                                                                          \
    X(STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING, 1)                                                                  \
    X(EVENT_DEFAULT, CU_EVENT_DEFAULT, 0)                                                                              \
    X(EVENT_DISABLE_TIMING, CU_EVENT_DISABLE_TIMING, 2)                                                                \
    X(MEMHOSTALLOC_PORTABLE, CU_MEMHOSTALLOC_PORTABLE, 1)                                                              \
    X(MEMHOSTALLOC_DEVICEMAP, CU_MEMHOSTALLOC_DEVICEMAP, 2)                                                            \
    X(MEMHOSTREGISTER_PORTABLE, CU_MEMHOSTREGISTER_PORTABLE, 1)                                                        \
    X(MEMHOSTREGISTER_DEVICEMAP, CU_MEMHOSTREGISTER_DEVICEMAP, 2)                                                      \
    X(MEMORYTYPE_HOST, CU_MEMORYTYPE_HOST, 1)                                                                          \
    X(MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE, 2)                                                                      \
    X(MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_UNIFIED, 4)                                                                    \
    X(POINTER_ATTRIBUTE_CONTEXT, CU_POINTER_ATTRIBUTE_CONTEXT, 1)                                                      \
    X(POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 2)                                              \
    X(POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, 9)                                        \
    X(DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1)                            \
    X(DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 2)                                        \
    X(DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 3)                                        \
    X(DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 4)                                        \
    X(DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 5)                                          \
    X(DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 6)                                          \
    X(DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 7)                                          \
    X(DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 8)                \
    X(DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 9)                            \
    X(DEVICE_ATTRIBUTE_WARP_SIZE, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 10)                                                   \
    X(DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 12)                       \
    X(DEVICE_ATTRIBUTE_CLOCK_RATE, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 13)                                                 \
    X(DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16)                             \
    X(DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 19)                               \
    X(DEVICE_ATTRIBUTE_COMPUTE_MODE, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, 20)                                             \
    X(DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 36)                                   \
    X(DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 37)                       \
    X(DEVICE_ATTRIBUTE_L2_CACHE_SIZE, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 38)                                           \
    X(DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 39)         \
    X(DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 40)                                 \
    X(DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 41)                                 \
    X(DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75)                     \
    X(DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76)                     \
    X(DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO,                                                          \
      CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, 87)                                                   \
    X(DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 95)                                 \
    X(DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 97)   \
    X(FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0)                                \
    X(FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1)                                        \
    X(FUNC_ATTRIBUTE_CONST_SIZE_BYTES, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, 2)                                          \
    X(FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, 3)                                          \
    X(FUNC_ATTRIBUTE_NUM_REGS, CU_FUNC_ATTRIBUTE_NUM_REGS, 4)                                                          \
    X(FUNC_ATTRIBUTE_PTX_VERSION, CU_FUNC_ATTRIBUTE_PTX_VERSION, 5)                                                    \
    X(FUNC_ATTRIBUTE_BINARY_VERSION, CU_FUNC_ATTRIBUTE_BINARY_VERSION, 6)                                              \
    X(FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 8)                \
    X(COMPUTEMODE_PROHIBITED, CU_COMPUTEMODE_PROHIBITED, 2)                                                            \
    X(JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER, 3)                                                                  \
    X(JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, 4)                                            \
    X(JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER, 5)                                                                \
    X(JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, 6)                                          \
    X(STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_GLOBAL, 0)                                                    \
    X(STREAM_CAPTURE_MODE_RELAXED, CU_STREAM_CAPTURE_MODE_RELAXED, 2)                                                  \
    X(GET_PROC_ADDRESS_DEFAULT, CU_GET_PROC_ADDRESS_DEFAULT, 0)

enum le_cu_constant {
#define X(name, theirs, value) LE_CU_##name = value,
    LE_CU_CONSTANTS(X)
#undef X
};

/* CUDA_MEMCPY3D: width in bytes, height in rows, depth in slices; pitch and height of the source and the target. CUDA
 * arrays are never used here. */
#define LE_CU_MEMCPY3D(X)                                                                                              \
    X(size_t, srcXInBytes)                                                                                             \
    X(size_t, srcY)                                                                                                    \
    X(size_t, srcZ)                                                                                                    \
    X(size_t, srcLOD)                                                                                                  \
    X(le_cu_memory_type, srcMemoryType)                                                                                \
    X(const void *, srcHost)                                                                                           \
    X(le_cu_deviceptr, srcDevice)                                                                                      \
    X(void *, srcArray)                                                                                                \
    X(void *, reserved0)                                                                                               \
    X(size_t, srcPitch)                                                                                                \
    X(size_t, srcHeight)                                                                                               \
    X(size_t, dstXInBytes)                                                                                             \
    X(size_t, dstY)                                                                                                    \
    X(size_t, dstZ)                                                                                                    \
    X(size_t, dstLOD)                                                                                                  \
    X(le_cu_memory_type, dstMemoryType)                                                                                \
    X(void *, dstHost)                                                                                                 \
    X(le_cu_deviceptr, dstDevice)                                                                                      \
    X(void *, dstArray)                                                                                                \
    X(void *, reserved1)                                                                                               \
    X(size_t, dstPitch)                                                                                                \
    X(size_t, dstHeight)                                                                                               \
    X(size_t, WidthInBytes)                                                                                            \
    X(size_t, Height)                                                                                                  \
    X(size_t, Depth)
typedef struct le_cu_memcpy3d {
#define X(type, name) type name;
    LE_CU_MEMCPY3D(X)
#undef X
} le_cu_memcpy3d;

/* CUDA_KERNEL_NODE_PARAMS of 12.0: a launch as a node of a graph. kern and ctx are only read if func is NULL. */
#define LE_CU_KERNEL_NODE(X)                                                                                           \
    X(le_cu_function, func)                                                                                            \
    X(unsigned, gridDimX)                                                                                              \
    X(unsigned, gridDimY)                                                                                              \
    X(unsigned, gridDimZ)                                                                                              \
    X(unsigned, blockDimX)                                                                                             \
    X(unsigned, blockDimY)                                                                                             \
    X(unsigned, blockDimZ)                                                                                             \
    X(unsigned, sharedMemBytes)                                                                                        \
    X(void **, kernelParams)                                                                                           \
    X(void **, extra)                                                                                                  \
    X(le_cu_kernel, kern)                                                                                              \
    X(le_cu_context, ctx)
typedef struct le_cu_kernel_node {
#define X(type, name) type name;
    LE_CU_KERNEL_NODE(X)
#undef X
} le_cu_kernel_node;

/* The entry points that the library exports, through which all others are found: X(CUDA's name, version,
 * parameters). */
#define LE_CU_ENTRIES(X)                                                                                               \
    X(GetProcAddress, 11030, (const char *symbol, void **function, int version, uint64_t flags))                       \
    X(GetProcAddress, 12000,                                                                                           \
      (const char *symbol, void **function, int version, uint64_t flags, le_cu_proc_address_result *result))
#define X(name, version, parameters) typedef le_cu_result le_cu_##name##_##version parameters;
LE_CU_ENTRIES(X)
#undef X

/* One member for each row of cuda_driver.def, called as driver->MemAlloc(&address, size_bytes). NULL: a row marked
 * OPTIONAL that this driver lacks. */
struct le_cuda_driver {
#define LE_CU(name, symbol, version, need, parameters) le_cu_result(*name) parameters;
#include "device/driver/cuda_driver.def"
#undef LE_CU
    /* Simulator only; NULL for a real driver. Tells which part of a pooled allocation is in use, so that the
     * simulator's checks know an array's exact bounds and lifetime. [address, address + size_bytes) becomes valid
     * (live: true) or invalid memory. */
    void (*note_memory)(le_cu_deviceptr address, size_t size_bytes, int live);
    /* Simulator only: the virtual clock in nanoseconds, which host costs are measured by; the text of the checks' next
     * report, or NULL; whether kernels are checked; why the kernel that made the context unusable failed, or NULL. */
    uint64_t (*clock_ns)(void);
    const char *(*report)(void);
    bool (*checks)(void);
    const char *(*failure)(void);
};
#endif
