/* Copies elements between device and host memory. If no array has an allocation, everything is on the CPU and the copy
 * is done at once. */
#include "array/array.h"
#include "spec/type.h"
#include <assert.h>

static void set_axes(struct le_copy *copy, const leat_array *array, int64_t *strides) {
    copy->element_bytes = le_type_size((enum le_type)array->dtype);
    copy->rank = array->rank;
    for (int k = 0; k < array->rank; k++) {
        copy->shape[k] = array->shape[k];
        strides[k] = array->strides[k] * (int64_t)copy->element_bytes;
    }
}

static void set_dense(struct le_copy *copy, int64_t *strides) {
    int64_t stride = (int64_t)copy->element_bytes;
    for (int k = copy->rank - 1; k >= 0; k--) {
        strides[k] = stride;
        stride *= copy->shape[k];
    }
}

leat_status le_array_copy_in(const leat_array *target, const leat_array *source, struct le_device_stream *stream,
                             bool wait) {
    if (target->buffer->allocation || source->buffer->allocation)
        return le_array_copy_as(target, source, stream, wait, "between arrays", NULL);
    le_array_copy(target, source);
    return LEAT_OK;
}

leat_status le_array_copy_as(const leat_array *target, const leat_array *source, struct le_device_stream *stream,
                             bool wait, const char *what, const char *cause) {
    struct le_copy copy = {.target = target->buffer->allocation,
                           .source = source->buffer->allocation,
                           .target_memory = target->data,
                           .source_memory = source->data,
                           .what = what,
                           .cause = cause,
                           .as_bool = target->dtype == LEAT_BOOL && le_array_is_on_host(source),
                           .wait = wait};
    set_axes(&copy, target, copy.target_strides);
    set_axes(&copy, source, copy.source_strides);
    return le_device_copy(stream, &copy);
}

leat_status le_array_write_in(const leat_array *array, const void *source, struct le_device_stream *stream, bool wait) {
    struct le_copy copy = {.target = array->buffer->allocation,
                           .target_memory = array->data,
                           .source_memory = source,
                           .what = "to an array",
                           .as_bool = array->dtype == LEAT_BOOL,
                           .wait = wait};
    if (!copy.target) {
        le_array_write(array, source);
        return LEAT_OK;
    }
    set_axes(&copy, array, copy.target_strides);
    set_dense(&copy, copy.source_strides);
    return le_device_copy(stream, &copy);
}

leat_status le_array_read_in(const leat_array *array, void *target, struct le_device_stream *stream, bool wait) {
    struct le_copy copy = {.source = array->buffer->allocation,
                           .target_memory = target,
                           .source_memory = array->data,
                           .what = "from an array",
                           .wait = wait};
    if (!copy.source) {
        le_array_read(array, target);
        return LEAT_OK;
    }
    set_axes(&copy, array, copy.source_strides);
    set_dense(&copy, copy.target_strides);
    return le_device_copy(stream, &copy);
}

/* The elements are only read. */
leat_status le_array_host(const leat_array *array, leat_array **host) {
    struct le_allocation *allocation = array->buffer->allocation;
    leat_array *made;
    leat_status status = LEAT_OK;
    if (le_array_is_on_host(array)) {
        if (allocation)
            status = le_allocation_wait(allocation, LE_ACCESS_READ);
        if (!status)
            *host = le_array_retain((leat_array *)(uintptr_t)array);
        return status;
    }
    status = le_array_new(array->buffer->pool, array->dtype, array->rank, array->shape, false, &made);
    if (status)
        return status;
    status = le_array_read_in(array, made->data, le_device_stream_own(allocation->device), true);
    if (status)
        le_array_free(made);
    else
        *host = made;
    return status;
}

leat_status le_array_upload(const struct le_array_home *home, leat_array *array, leat_array **uploaded) {
    leat_array *made;
    if (!home->device) {
        *uploaded = le_array_retain(array);
        return LEAT_OK;
    }
    assert(!array->buffer->allocation);
    leat_status status = le_array_new_deferred(home, array->dtype, array->rank, array->shape, false, &made);
    if (status)
        return status;
    if (!le_array_load_deferred(made, array))
        status = le_array_copy_in(made, array, home->stream, true);
    if (status)
        le_array_free(made);
    else
        *uploaded = made;
    return status;
}
