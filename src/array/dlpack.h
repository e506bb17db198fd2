/* DLPack 0.8's structures, declared here so that building needs no other header (their layout is that ABI's), and the
 * exchange of arrays through them. */
#ifndef LE_DLPACK_H
#define LE_DLPACK_H
#include "array/array.h"

enum dl_device_type { DL_CPU = 1, DL_CUDA_HOST = 3 };
enum dl_type_code { DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2, DL_BFLOAT = 4, DL_BOOL = 6 };

struct dl_device {
    int32_t device_type, device_id;
};
struct dl_type {
    uint8_t code, bits;
    uint16_t lanes;
};
struct dl_tensor {
    void *data;
    struct dl_device device;
    int32_t ndim;
    struct dl_type dtype;
    int64_t *shape, *strides; /* in elements; strides NULL: dense and row-major */
    uint64_t byte_offset;
};
struct DLManagedTensor {
    struct dl_tensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
};

/* The tensor retains the array. A read-only array is LEAT_UNSUPPORTED: version 0.8 cannot say so. */
leat_status le_array_to_dlpack(leat_array *array, struct DLManagedTensor **tensor);
/* On success the array owns the tensor, and calls its deleter; on failure the caller still does. */
leat_status le_array_from_dlpack(struct le_memory_pool *pool, struct DLManagedTensor *tensor, leat_array **array);
#endif
