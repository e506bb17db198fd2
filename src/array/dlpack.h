/* DLPack 0.8's structures, declared here so that building needs no other header (their layout is that ABI's), and the
 * exchange of arrays through them. */
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

/* The tensor retains the array. A read-only array is LEAT_UNSUPPORTED: version 0.8 cannot say so. Of a device's memory:
 * the work on it so far comes before what native_stream, the consumer's, is given from now on; NULL: it is waited for.
 * The consumer calls the deleter when its own work on the tensor is done. The memory of a simulated device is nobody
 * else's: LEAT_UNSUPPORTED. */
leat_status le_array_to_dlpack(leat_array *array, void *native_stream, struct DLManagedTensor **tensor);
/* On success the array owns the tensor, and calls its deleter; on failure the caller still does. A tensor on a CUDA
 * device must be on the context's own; its producer has ordered its work before the stream that Leat works in. */
leat_status le_array_from_dlpack(const struct le_array_home *home, struct DLManagedTensor *tensor, leat_array **array);
#endif
