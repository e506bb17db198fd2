/* Exchange of arrays through DLPack 0.8. Its structures are declared here, so that building needs no other header;
 * their layout is fixed by its ABI. */
#ifndef LE_DLPACK_H
#define LE_DLPACK_H
#include "array/array.h"

enum dl_device_type { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_HOST = 3 };
enum dl_type_code { DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2, DL_BFLOAT = 4, DL_COMPLEX = 5, DL_BOOL = 6 };

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

/* Exports an array as a tensor, which retains it. For device memory, later work in native_stream, the consumer's
 * stream, runs after the work on the array so far; NULL waits for that work. The consumer calls the deleter when its
 * own work on the tensor is done. LEAT_UNSUPPORTED for a read-only array, which version 0.8 cannot express, and for the
 * memory of a simulated device. */
leat_status le_array_to_dlpack(leat_array *array, void *native_stream, struct DLManagedTensor **tensor);
/* Imports a tensor. On success the array owns it and calls its deleter; on failure the caller keeps it. A tensor on
 * CUDA must be on the context's device, and its producer must have ordered its work before the stream that Leat uses.
 */
leat_status le_array_from_dlpack(const struct le_array_home *home, struct DLManagedTensor *tensor, leat_array **array);
#endif
