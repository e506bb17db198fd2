/* See dlpack.h. */
#include "array/dlpack.h"
#include "spec/type.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct dl_type dl_types[LE_TYPES] = {
    [LE_BOOL] = {DL_BOOL, 8, 1},  [LE_I8] = {DL_INT, 8, 1},       [LE_I16] = {DL_INT, 16, 1},
    [LE_I32] = {DL_INT, 32, 1},   [LE_I64] = {DL_INT, 64, 1},     [LE_U8] = {DL_UINT, 8, 1},
    [LE_U16] = {DL_UINT, 16, 1},  [LE_U32] = {DL_UINT, 32, 1},    [LE_U64] = {DL_UINT, 64, 1},
    [LE_F16] = {DL_FLOAT, 16, 1}, [LE_BF16] = {DL_BFLOAT, 16, 1}, [LE_F32] = {DL_FLOAT, 32, 1},
    [LE_F64] = {DL_FLOAT, 64, 1}, [LE_C64] = {DL_COMPLEX, 64, 1}, [LE_C128] = {DL_COMPLEX, 128, 1},
};

static bool is_simulated(const struct le_device *device) {
    return strcmp(le_device_limits_of(device)->kind, "sim") == 0;
}

/* ---- out */

struct exported {
    union {
        struct DLManagedTensor plain;
        struct DLManagedTensorVersioned versioned;
    } tensor;
    int64_t shape[LEAT_RANK_MAX], strides[LEAT_RANK_MAX];
    leat_array *array;
    struct le_allocation *consumed; /* device memory, which the consumer uses in a stream; NULL: host memory */
    enum le_allocation_access access;
    uint64_t stream_id; /* see le_consumer_begin */
};

/* The array keeps its pool and its device alive, also after the context is closed. In a forked child nothing is freed:
 * the memory belongs to the parent. If waiting for the consumer's work failed, the array is never freed, because that
 * work may still use it. */
static void delete_exported(struct exported *exported) {
    if (le_memory_pool_forked(exported->array->buffer->pool))
        return;
    if (exported->consumed && !le_consumer_end(exported->consumed, exported->access, exported->stream_id))
        return;
    struct le_memory_pool *pool =
        le_memory_pool_retain(exported->array->buffer->pool); /* the tensor's memory comes from the pool's allocator */
    le_array_free(exported->array);
    le_free(exported);
    le_memory_pool_release(pool);
}

static void delete_plain(struct DLManagedTensor *self) {
    delete_exported(self->manager_ctx);
}

static void delete_versioned(struct DLManagedTensorVersioned *self) {
    delete_exported(self->manager_ctx);
}

/* The DLPack device of the array's memory. Other libraries cannot use the memory of a simulated device. */
static leat_status find_device(const leat_array *array, struct dl_device *device) {
    const struct le_allocation *allocation = array->buffer->allocation;
    *device = (struct dl_device){.device_type = DL_CPU};
    if (!allocation || allocation->kind == LE_MEMORY_HOST || (allocation->host && is_simulated(allocation->device)))
        return LEAT_OK;
    if (is_simulated(allocation->device))
        return le_fail(LEAT_UNSUPPORTED,
                       "the array is in the memory of a simulated device, which other libraries cannot "
                       "use; copy it to host memory");
    device->device_type = allocation->host ? DL_CUDA_HOST : DL_CUDA;
    device->device_id = allocation->host ? 0 : le_device_limits_of(allocation->device)->ordinal;
    return LEAT_OK;
}

leat_status le_array_to_dltensor(const leat_array *array, int64_t *shape, int64_t *strides, struct DLTensor *tensor) {
    struct dl_device device;
    leat_status status = find_device(array, &device);
    if (status)
        return status;
    for (int k = 0; k < array->rank; k++) {
        shape[k] = array->shape[k];
        strides[k] = array->strides[k];
    }
    *tensor = (struct DLTensor){.data = array->data,
                                .device = device,
                                .ndim = array->rank,
                                .dtype = dl_types[array->dtype],
                                .shape = shape,
                                .strides = strides};
    return LEAT_OK;
}

/* Orders the consumer's use of the array after the work on it so far. Work on host memory must be done by then, and the
 * consumer's before it calls the deleter. */
static leat_status begin_use(struct exported *exported, const struct DLTensor *tensor, void *native_stream) {
    struct le_allocation *allocation = exported->array->buffer->allocation;
    exported->access = exported->array->read_only ? LE_ACCESS_READ : LE_ACCESS_BOTH;
    if (tensor->device.device_type == DL_CUDA) {
        exported->consumed = allocation;
        return le_consumer_begin(allocation, exported->access, native_stream, &exported->stream_id);
    }
    if (native_stream)
        return le_fail(LEAT_INVALID, "native_stream must be NULL: the array is in host memory");
    return allocation ? le_allocation_wait(allocation, exported->access) : LEAT_OK;
}

/* Exports the array, except for the fields of one version. *tensor is inside *exported. */
static leat_status export_array(leat_array *array, void *native_stream, struct exported **exported,
                                struct DLTensor *tensor) {
    struct exported *made = le_alloc_zero(1, sizeof *made);
    if (!made)
        return le_fail_out_of_memory(sizeof *made);
    made->array = array;
    leat_status status = le_array_to_dltensor(array, made->shape, made->strides, tensor);
    if (!status)
        status = begin_use(made, tensor, native_stream);
    if (status) {
        le_free(made);
        return status;
    }
    le_array_retain(array);
    *exported = made;
    return LEAT_OK;
}

leat_status le_array_to_dlpack(leat_array *array, void *native_stream, struct DLManagedTensor **tensor) {
    struct exported *made;
    struct DLTensor filled;
    if (array->read_only)
        return le_fail(LEAT_UNSUPPORTED, "the array is read-only, which a DLPack tensor of version 0.8 cannot express; "
                                         "copy it to a new array");
    leat_status status = export_array(array, native_stream, &made, &filled);
    if (status)
        return status;
    made->tensor.plain = (struct DLManagedTensor){.dl_tensor = filled, .manager_ctx = made, .deleter = delete_plain};
    *tensor = &made->tensor.plain;
    return LEAT_OK;
}

leat_status le_array_to_dlpack_versioned(leat_array *array, void *native_stream,
                                         struct DLManagedTensorVersioned **tensor) {
    struct exported *made;
    struct DLTensor filled;
    leat_status status = export_array(array, native_stream, &made, &filled);
    if (status)
        return status;
    made->tensor.versioned = (struct DLManagedTensorVersioned){.version = {DL_MAJOR, DL_MINOR},
                                                               .manager_ctx = made,
                                                               .deleter = delete_versioned,
                                                               .flags = array->read_only ? DL_READ_ONLY : 0,
                                                               .dl_tensor = filled};
    *tensor = &made->tensor.versioned;
    return LEAT_OK;
}

/* ---- in */

static leat_status find_type(const struct DLTensor *t, leat_dtype *dtype) {
    for (int k = LE_BOOL; k < LE_TYPES; k++)
        if (dl_types[k].code == t->dtype.code && dl_types[k].bits == t->dtype.bits && t->dtype.lanes == 1) {
            *dtype = (leat_dtype)k;
            return LEAT_OK;
        }
    return le_fail(LEAT_UNSUPPORTED, "Leat has no type for the tensor's elements (code %d, %d bits, %d lanes)",
                   t->dtype.code, t->dtype.bits, t->dtype.lanes);
}

/* Managed memory counts as the memory of the GPU that the tensor names. */
static bool is_on_cuda(struct dl_device device) {
    return device.device_type == DL_CUDA || device.device_type == DL_CUDA_MANAGED;
}

static leat_status describe_device(struct dl_device device, leat_memory *memory, int *cuda_device) {
    *memory = is_on_cuda(device)                   ? LEAT_MEMORY_DEVICE
              : device.device_type == DL_CUDA_HOST ? LEAT_MEMORY_PINNED
                                                   : LEAT_MEMORY_HOST;
    *cuda_device = is_on_cuda(device) ? device.device_id : -1;
    if (is_on_cuda(device) || device.device_type == DL_CPU || device.device_type == DL_CUDA_HOST)
        return LEAT_OK;
    return le_fail(LEAT_DEVICE, "the tensor is on a device of type %d, which is neither CUDA nor host memory",
                   device.device_type);
}

leat_status le_dltensor_describe(const struct DLTensor *t, leat_description *description, int *cuda_device) {
    leat_description d = {0};
    int ordinal;
    size_t size_bytes;
    int64_t dense[LEAT_RANK_MAX];
    leat_status status = describe_device(t->device, &d.memory, &ordinal);
    if (status)
        return status;
    if (t->ndim < 0 || t->ndim > LEAT_RANK_MAX)
        return le_fail(LEAT_INVALID, "the tensor has %d axes; an array has 0 to %d", t->ndim, LEAT_RANK_MAX);
    if (t->ndim > 0 && !t->shape)
        return le_fail(LEAT_INVALID, "the tensor's shape is NULL");
    status = find_type(t, &d.dtype);
    if (!status)
        status = le_shape_check(d.dtype, t->ndim, t->shape, dense, &size_bytes);
    if (status)
        return status;
    d.rank = t->ndim;
    for (int k = 0; k < t->ndim; k++) {
        d.shape[k] = t->shape[k];
        d.strides[k] = t->strides ? t->strides[k] : dense[k];
    }
    d.data = t->data ? (char *)t->data + t->byte_offset : NULL;
    *description = d;
    *cuda_device = ordinal;
    return LEAT_OK;
}

static leat_status check_device(const struct le_array_home *home, struct dl_device device) {
    const struct le_device_limits *limits = home->device ? le_device_limits_of(home->device) : NULL;
    if (!is_on_cuda(device))
        return LEAT_OK;
    if (!limits || is_simulated(home->device) || limits->host_is_device)
        return le_fail(LEAT_DEVICE, "the tensor is on CUDA device %d, but this context is on %s", device.device_id,
                       limits ? limits->kind : "cpu");
    if (device.device_id != limits->ordinal)
        return le_fail(LEAT_DEVICE, "the tensor is on CUDA device %d, but this context is on CUDA device %d",
                       device.device_id, limits->ordinal);
    return LEAT_OK;
}

/* Page-locked memory is imported as host memory: whether this device knows it as page-locked, its driver says. */
static leat_status import_tensor(const struct le_array_home *home, const struct DLTensor *tensor, bool read_only,
                                 void (*release)(void *user), void *user, leat_array **array) {
    leat_description description;
    int ordinal;
    leat_status status = le_dltensor_describe(tensor, &description, &ordinal);
    if (!status)
        status = check_device(home, tensor->device);
    if (status)
        return status;
    description.read_only = read_only;
    if (description.memory == LEAT_MEMORY_PINNED)
        description.memory = LEAT_MEMORY_HOST;
    return le_array_wrap_at(home, &description, release, user, array);
}

static void delete_imported(void *user) {
    struct DLManagedTensor *tensor = user;
    if (tensor->deleter)
        tensor->deleter(tensor);
}

leat_status le_array_from_dlpack(const struct le_array_home *home, struct DLManagedTensor *tensor, leat_array **array) {
    return import_tensor(home, &tensor->dl_tensor, false, delete_imported, tensor, array);
}

static void delete_imported_versioned(void *user) {
    struct DLManagedTensorVersioned *tensor = user;
    if (tensor->deleter)
        tensor->deleter(tensor);
}

leat_status le_array_from_dlpack_versioned(const struct le_array_home *home, struct DLManagedTensorVersioned *tensor,
                                           leat_array **array) {
    if (tensor->version.major != DL_MAJOR)
        return le_fail(LEAT_UNSUPPORTED, "the tensor is of DLPack %" PRIu32 ".%" PRIu32 "; Leat reads version %d",
                       tensor->version.major, tensor->version.minor, DL_MAJOR);
    return import_tensor(home, &tensor->dl_tensor, tensor->flags & DL_READ_ONLY, delete_imported_versioned, tensor,
                         array);
}
