/* Exchange of arrays through DLPack, versions 0.8 and 1.x. Its structures are declared here, so that building needs no
 * other header; their layout is fixed by its ABI. */
#ifndef LE_DLPACK_H
#define LE_DLPACK_H
#include "array/array.h"

enum dl_device_type { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_HOST = 3, DL_CUDA_MANAGED = 13 };
enum dl_type_code { DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2, DL_BFLOAT = 4, DL_COMPLEX = 5, DL_BOOL = 6 };
enum { DL_MAJOR = 1, DL_MINOR = 3 };
enum { DL_READ_ONLY = 1 }; /* a flag of DLManagedTensorVersioned */

struct dl_device {
    int32_t device_type, device_id;
};
struct dl_type {
    uint8_t code, bits;
    uint16_t lanes;
};
struct DLTensor {
    void *data;
    struct dl_device device;
    int32_t ndim;
    struct dl_type dtype;
    int64_t *shape, *strides; /* in elements; strides NULL, before 1.2: dense and row-major */
    uint64_t byte_offset;
};
struct DLManagedTensor { /* version 0.8 */
    struct DLTensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
};
struct DLManagedTensorVersioned {
    struct {
        uint32_t major, minor;
    } version; /* another major version has other fields, except the deleter and those before it */
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    struct DLTensor dl_tensor;
};

/* Exports an array as a tensor, which retains it. For device memory, later work in native_stream, the consumer's
 * stream, runs after the work on the array so far; NULL waits for that work. When the consumer calls the deleter, its
 * work on device memory may still be running: see le_consumer_end. Its work on host memory must be done.
 * LEAT_UNSUPPORTED for the memory of a simulated device, and for a read-only array, which version 0.8 cannot express.
 */
leat_status le_array_to_dlpack(leat_array *array, void *native_stream, struct DLManagedTensor **tensor);
leat_status le_array_to_dlpack_versioned(leat_array *array, void *native_stream,
                                         struct DLManagedTensorVersioned **tensor);
/* Imports a tensor. On success the array owns it and calls its deleter; on failure the caller keeps it. A tensor on
 * CUDA must be on the context's device, and its producer must have ordered its work before the stream that Leat uses.
 * LEAT_UNSUPPORTED for a major version other than 1. */
leat_status le_array_from_dlpack(const struct le_array_home *home, struct DLManagedTensor *tensor, leat_array **array);
leat_status le_array_from_dlpack_versioned(const struct le_array_home *home, struct DLManagedTensorVersioned *tensor,
                                           leat_array **array);

/* Describes a tensor. *cuda_device receives the CUDA device of its memory, or -1. */
leat_status le_dltensor_describe(const struct DLTensor *tensor, leat_description *description, int *cuda_device);
/* Fills a tensor that does not retain the array, over shape and strides of LEAT_RANK_MAX entries each. */
leat_status le_array_to_dltensor(const leat_array *array, int64_t *shape, int64_t *strides, struct DLTensor *tensor);
#endif
