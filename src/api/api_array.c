/* leat.h: arrays, their files and views. */
#include "api/api_check.h"
#include "array/dlpack.h"
#include "array/load.h"
#include "array/npy.h"
#include <string.h>

static leat_status new_array(leat_context *ctx, leat_dtype dtype, int rank, const int64_t *shape, leat_memory memory,
                             bool zero, leat_array **array) {
    LE_CHECK_CONTEXT(ctx);
    LE_CHECK_POINTER(array);
    if (rank > 0)
        LE_CHECK_POINTER(shape);
    if (memory != LEAT_MEMORY_DEVICE)
        return le_fail(LEAT_INVALID, "%d is not a kind of memory", (int)memory);
    struct le_span span;
    le_span_begin(&span, ctx->ledger, LEAT_COST_ALLOCATE, "arrays", "");
    leat_status status = le_array_new(ctx->memory, dtype, rank, shape, zero, array);
    le_span_end(&span, status ? 0 : le_array_bytes(*array), 0);
    return status;
}

leat_status leat_array_new(leat_context *ctx, leat_dtype dtype, int rank, const int64_t *shape, leat_memory memory,
                           leat_array **array) {
    return new_array(ctx, dtype, rank, shape, memory, true, array);
}

leat_status leat_array_new_empty(leat_context *ctx, leat_dtype dtype, int rank, const int64_t *shape,
                                 leat_memory memory, leat_array **array) {
    return new_array(ctx, dtype, rank, shape, memory, false, array);
}

leat_status leat_array_wrap(leat_context *ctx, const leat_description *description, void (*release)(void *user),
                            void *user, leat_array **array) {
    LE_CHECK_CONTEXT(ctx);
    LE_CHECK_POINTER(description);
    LE_CHECK_POINTER(array);
    return le_array_wrap(ctx->memory, description, release, user, array);
}

leat_status leat_array_get(const leat_array *array, leat_description *description) {
    LE_CHECK_ARRAY(array);
    LE_CHECK_POINTER(description);
    *description = (leat_description){
        .dtype = array->dtype, .rank = array->rank, .data = array->data, .read_only = array->read_only};
    memcpy(description->shape, array->shape, sizeof array->shape);
    memcpy(description->strides, array->strides, sizeof array->strides);
    return LEAT_OK;
}

static leat_status check_transfer(const leat_array *array, const void *memory, const char *name, size_t size_bytes) {
    LE_CHECK_ARRAY(array);
    size_t has = le_array_bytes(array);
    if (!memory && has)
        return le_fail(LEAT_INVALID, "%s is NULL", name);
    if (size_bytes != has)
        return le_fail(LEAT_INVALID, "size_bytes is %zu, and the array has %zu bytes of elements", size_bytes, has);
    return LEAT_OK;
}

leat_status leat_array_write(leat_array *array, const void *source, size_t size_bytes, leat_stream *stream,
                             leat_ticket *ticket) {
    (void)stream;
    (void)ticket;
    leat_status status = check_transfer(array, source, "source", size_bytes);
    if (!status && array->read_only)
        status = le_fail(LEAT_INVALID, "the array is read-only");
    if (!status)
        le_array_write(array, source);
    return status;
}

leat_status leat_array_read(const leat_array *array, void *target, size_t size_bytes, leat_stream *stream,
                            leat_ticket *ticket) {
    (void)stream;
    (void)ticket;
    leat_status status = check_transfer(array, target, "target", size_bytes);
    if (!status)
        le_array_read(array, target);
    return status;
}

leat_status leat_array_slice(leat_array *array, const int64_t *start, const int64_t *stop, const int64_t *step,
                             leat_array **view) {
    LE_CHECK_ARRAY(array);
    LE_CHECK_POINTER(view);
    if (array->rank > 0) {
        LE_CHECK_POINTER(start);
        LE_CHECK_POINTER(stop);
        LE_CHECK_POINTER(step);
    }
    return le_array_slice(array, start, stop, step, view);
}

leat_status leat_array_transpose(leat_array *array, const int *axes, leat_array **view) {
    LE_CHECK_ARRAY(array);
    LE_CHECK_POINTER(view);
    return le_array_transpose(array, axes, view);
}

leat_status leat_array_reshape(leat_array *array, int rank, const int64_t *shape, leat_array **view) {
    LE_CHECK_ARRAY(array);
    LE_CHECK_POINTER(view);
    if (rank > 0)
        LE_CHECK_POINTER(shape);
    return le_array_reshape(array, rank, shape, view);
}

leat_array *leat_array_retain(leat_array *array) {
    return array ? le_array_retain(array) : NULL;
}

void leat_array_free(leat_array *array) {
    le_array_free(array);
}

/* ---- files */

static leat_status check_declared(leat_dtype declared) {
    if (declared && !leat_dtype_size_bytes(declared))
        return le_fail(LEAT_INVALID, "declared is %d, which is not an element type", (int)declared);
    return LEAT_OK;
}

leat_status leat_array_load(leat_context *ctx, const char *path, const char *key, leat_dtype declared,
                            leat_array **array) {
    LE_CHECK_CONTEXT(ctx);
    LE_CHECK_POINTER(path);
    LE_CHECK_POINTER(array);
    leat_status status = check_declared(declared);
    if (status)
        return status;
    struct le_span span;
    le_span_begin(&span, ctx->ledger, LEAT_COST_READ, path, "");
    status = le_array_load(ctx->memory, path, key, declared, array);
    le_span_end(&span, status ? 0 : le_array_bytes(*array), 0);
    return status;
}

leat_status leat_array_load_memory(leat_context *ctx, const void *bytes, size_t size_bytes, leat_dtype declared,
                                   leat_array **array) {
    LE_CHECK_CONTEXT(ctx);
    LE_CHECK_POINTER(bytes);
    LE_CHECK_POINTER(array);
    leat_status status = check_declared(declared);
    if (status)
        return status;
    struct le_span span;
    le_span_begin(&span, ctx->ledger, LEAT_COST_READ, "memory", "");
    status = le_array_load_memory(ctx->memory, "memory", bytes, size_bytes, declared, array);
    le_span_end(&span, status ? 0 : le_array_bytes(*array), 0);
    return status;
}

leat_status leat_array_save(const leat_array *array, const char *path, const char *key, leat_colormap colormap) {
    LE_CHECK_ARRAY(array);
    LE_CHECK_POINTER(path);
    if (colormap != LEAT_COLORMAP_GREY && colormap != LEAT_COLORMAP_VIRIDIS)
        return le_fail(LEAT_INVALID, "%d is not a colormap", (int)colormap);
    return le_array_save(array, path, key, colormap);
}

leat_status leat_array_save_memory(const leat_array *array, void **bytes, size_t *size_bytes) {
    LE_CHECK_ARRAY(array);
    LE_CHECK_POINTER(bytes);
    LE_CHECK_POINTER(size_bytes);
    return le_npy_save_memory(array, bytes, size_bytes);
}

/* ---- DLPack */

leat_status leat_array_to_dlpack(leat_array *array, void *native_stream, struct DLManagedTensor **tensor) {
    LE_CHECK_ARRAY(array);
    LE_CHECK_POINTER(tensor);
    if (native_stream)
        return le_fail(LEAT_INVALID, "native_stream must be NULL: the array is in host memory");
    return le_array_to_dlpack(array, tensor);
}

leat_status leat_array_from_dlpack(leat_context *ctx, struct DLManagedTensor *tensor, leat_array **array) {
    LE_CHECK_CONTEXT(ctx);
    LE_CHECK_POINTER(tensor);
    LE_CHECK_POINTER(array);
    return le_array_from_dlpack(ctx->memory, tensor, array);
}
