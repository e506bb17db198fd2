/* The structures of DLPack 1.3 (dmlc/dlpack): their layout is its ABI. */
#ifndef LE_PY_DLPACK_H
#define LE_PY_DLPACK_H
#include <stdint.h>

struct DLTensor {
    void *data;
    int32_t device_type, device_id;
    int32_t ndim;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
};
struct DLManagedTensorVersioned {
    uint32_t major, minor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self); /* may be NULL */
    uint64_t flags;                                         /* bit 0: read-only */
    struct DLTensor dl_tensor;
};
struct DLManagedTensor { /* of versions before 1.0 */
    struct DLTensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self); /* may be NULL */
};

enum { LE_PY_DLPACK_CPU = 1, LE_PY_DLPACK_CUDA = 2, LE_PY_DLPACK_CUDA_HOST = 3, LE_PY_DLPACK_CUDA_MANAGED = 13 };
enum { LE_PY_DLPACK_READ_ONLY = 1 };

/* Names of unused capsules. A consumer that takes the tensor renames the capsule. */
#define LE_PY_DLPACK_VERSIONED "dltensor_versioned"
#define LE_PY_DLPACK_OLD       "dltensor"
#endif
