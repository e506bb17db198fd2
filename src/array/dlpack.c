/* See dlpack.h. */
#include "array/dlpack.h"
#include "spec/type.h"
#include <string.h>

static const struct dl_type dl_types[LE_TYPES] = {
    [LE_BOOL] = {DL_BOOL, 8, 1},  [LE_I8] = {DL_INT, 8, 1},       [LE_I16] = {DL_INT, 16, 1},
    [LE_I32] = {DL_INT, 32, 1},   [LE_I64] = {DL_INT, 64, 1},     [LE_U8] = {DL_UINT, 8, 1},
    [LE_U16] = {DL_UINT, 16, 1},  [LE_U32] = {DL_UINT, 32, 1},    [LE_U64] = {DL_UINT, 64, 1},
    [LE_F16] = {DL_FLOAT, 16, 1}, [LE_BF16] = {DL_BFLOAT, 16, 1}, [LE_F32] = {DL_FLOAT, 32, 1},
    [LE_F64] = {DL_FLOAT, 64, 1}, [LE_C64] = {DL_COMPLEX, 64, 1}, [LE_C128] = {DL_COMPLEX, 128, 1},
};

/* ---- out */

struct exported {
    struct DLManagedTensor tensor;
    int64_t shape[LEAT_RANK_MAX], strides[LEAT_RANK_MAX];
    leat_array *array;
};

static void delete_exported(struct DLManagedTensor *self) {
    struct exported *exported = self->manager_ctx;
    struct le_memory_pool *pool =
        le_memory_pool_retain(exported->array->buffer->pool); /* the tensor's memory comes from the pool's allocator */
    le_array_free(exported->array);
    le_free(exported);
    le_memory_pool_release(pool);
}

static bool is_simulated(const struct le_device *device) {
    return strcmp(le_device_limits_of(device)->kind, "sim") == 0;
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

/* Orders the consumer's use of the array after the work on it so far. */
static leat_status order_consumer(const leat_array *array, void *native_stream) {
    struct le_allocation *allocation = array->buffer->allocation;
    struct le_device_stream *stream;
    if (!allocation)
        return LEAT_OK;
    if (!native_stream)
        return le_allocation_wait(allocation, LE_ACCESS_WRITE);
    leat_status status = le_device_stream_new(allocation->device, native_stream, &stream);
    if (status)
        return status;
    const struct le_allocation_use use = {.allocation = allocation, .access = LE_ACCESS_BOTH};
    status = le_order_begin(stream, &use, 1);
    le_order_end(stream, &use, 1, false);
    le_device_stream_free(stream);
    return status;
}

leat_status le_array_to_dlpack(leat_array *array, void *native_stream, struct DLManagedTensor **tensor) {
    if (array->read_only)
        return le_fail(LEAT_UNSUPPORTED,
                       "the array is read-only, which a DLPack tensor cannot express; copy it to a new array");
    struct dl_device device;
    leat_status status = find_device(array, &device);
    if (!status && native_stream && device.device_type != DL_CUDA)
        status = le_fail(LEAT_INVALID, "native_stream must be NULL: the array is in host memory");
    if (!status)
        status = order_consumer(array, native_stream);
    if (status)
        return status;
    struct exported *made = le_alloc_zero(1, sizeof *made);
    if (!made)
        return le_fail_out_of_memory(sizeof *made);
    for (int k = 0; k < array->rank; k++) {
        made->shape[k] = array->shape[k];
        made->strides[k] = array->strides[k];
    }
    made->array = le_array_retain(array);
    made->tensor.manager_ctx = made;
    made->tensor.deleter = delete_exported;
    made->tensor.dl_tensor = (struct dl_tensor){.data = array->data,
                                                .device = device,
                                                .ndim = array->rank,
                                                .dtype = dl_types[array->dtype],
                                                .shape = made->shape,
                                                .strides = made->strides};
    *tensor = &made->tensor;
    return LEAT_OK;
}

/* ---- in */

static void delete_imported(void *user) {
    struct DLManagedTensor *tensor = user;
    if (tensor->deleter)
        tensor->deleter(tensor);
}

static leat_status find_type(const struct dl_tensor *t, leat_dtype *dtype) {
    for (int k = LE_BOOL; k < LE_TYPES; k++)
        if (dl_types[k].code == t->dtype.code && dl_types[k].bits == t->dtype.bits && t->dtype.lanes == 1) {
            *dtype = (leat_dtype)k;
            return LEAT_OK;
        }
    return le_fail(LEAT_UNSUPPORTED, "Leat has no type for the tensor's elements (code %d, %d bits, %d lanes)",
                   t->dtype.code, t->dtype.bits, t->dtype.lanes);
}

static leat_status check_device(const struct le_array_home *home, struct dl_device device, leat_description *d) {
    const struct le_device_limits *limits = home->device ? le_device_limits_of(home->device) : NULL;
    d->memory = LEAT_MEMORY_HOST;
    if (device.device_type == DL_CPU || device.device_type == DL_CUDA_HOST)
        return LEAT_OK;
    d->memory = LEAT_MEMORY_DEVICE;
    if (device.device_type != DL_CUDA)
        return le_fail(LEAT_DEVICE, "the tensor is on a device of type %d, which is neither CUDA nor host memory",
                       device.device_type);
    if (!limits || is_simulated(home->device) || limits->host_is_device)
        return le_fail(LEAT_DEVICE, "the tensor is on CUDA device %d, but this context is on %s", device.device_id,
                       limits ? limits->kind : "cpu");
    if (device.device_id != limits->ordinal)
        return le_fail(LEAT_DEVICE, "the tensor is on CUDA device %d, but this context is on CUDA device %d",
                       device.device_id, limits->ordinal);
    return LEAT_OK;
}

static leat_status describe_tensor(const struct le_array_home *home, const struct dl_tensor *t, leat_description *d) {
    leat_status placed = check_device(home, t->device, d);
    if (placed)
        return placed;
    if (t->ndim < 0 || t->ndim > LEAT_RANK_MAX || (t->ndim && !t->shape))
        return le_fail(LEAT_INVALID, "the tensor has %d axes; an array has 0 to %d", t->ndim, LEAT_RANK_MAX);
    size_t size_bytes;
    int64_t dense[LEAT_RANK_MAX];
    leat_status status = find_type(t, &d->dtype);
    if (!status)
        status = le_shape_check(d->dtype, t->ndim, t->shape, dense, &size_bytes);
    if (status)
        return status;
    d->rank = t->ndim;
    for (int k = 0; k < t->ndim; k++) {
        d->shape[k] = t->shape[k];
        d->strides[k] = t->strides ? t->strides[k] : dense[k];
    }
    d->data = t->data ? (char *)t->data + t->byte_offset : NULL;
    return LEAT_OK;
}

leat_status le_array_from_dlpack(const struct le_array_home *home, struct DLManagedTensor *tensor, leat_array **array) {
    leat_description description = {0};
    leat_status status = describe_tensor(home, &tensor->dl_tensor, &description);
    return status ? status : le_array_wrap_at(home, &description, delete_imported, tensor, array);
}
