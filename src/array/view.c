/* Views of an array: slices, permuted axes, and other shapes of the same elements. Nothing is copied. */
#include "array/array.h"
#include "spec/type.h"
#include <inttypes.h>

/* A view with the array's own layout. The caller changes the layout before anyone else sees the view. */
static leat_status new_view(leat_array *array, leat_array **view) {
    leat_array *made = le_alloc_zero(1, sizeof *made);
    if (!made)
        return le_fail_out_of_memory(sizeof *made);
    atomic_init(&made->refcount, 1);
    made->dtype = array->dtype;
    made->rank = array->rank;
    for (int k = 0; k < array->rank; k++) {
        made->shape[k] = array->shape[k];
        made->strides[k] = array->strides[k];
    }
    made->data = array->data;
    made->read_only = array->read_only;
    made->buffer = array->buffer;
    atomic_fetch_add_explicit(&array->buffer->refcount, 1, memory_order_relaxed);
    *view = made;
    return LEAT_OK;
}

static int64_t size_of(const leat_array *array) {
    return (int64_t)le_type_size((enum le_type)array->dtype);
}

/* The number of elements start, start + step, ... before stop. LEAT_INVALID if one is not in 0..extent-1. */
static leat_status slice_axis(int axis, int64_t extent, int64_t start, int64_t stop, int64_t step, int64_t *count) {
    if (step == 0)
        return le_fail(LEAT_INVALID, "the step of axis %d is 0", axis);
    bool up = step > 0;
    bool inside = up ? start >= 0 && start <= extent && stop >= 0 && stop <= extent
                     : start >= -1 && start < extent && stop >= -1 && stop < extent;
    if (!inside)
        return le_fail(LEAT_INVALID,
                       "%" PRId64 " to %" PRId64 " is out of range for the %" PRId64 " elements of axis %d", start,
                       stop, extent, axis);
    int64_t distance = up ? stop - start : start - stop;
    uint64_t stride = up ? (uint64_t)step : -(uint64_t)step;
    *count = distance <= 0 ? 0 : (int64_t)(((uint64_t)distance - 1) / stride) + 1;
    return LEAT_OK;
}

leat_status le_array_slice(leat_array *array, const int64_t *start, const int64_t *stop, const int64_t *step,
                           leat_array **view) {
    int64_t count[LEAT_RANK_MAX];
    bool empty = false;
    for (int k = 0; k < array->rank; k++) {
        leat_status status = slice_axis(k, array->shape[k], start[k], stop[k], step[k], &count[k]);
        if (status)
            return status;
        empty = empty || count[k] == 0;
    }
    leat_array *made;
    leat_status status = new_view(array, &made);
    if (status)
        return status;
    int64_t offset = 0;
    for (int k = 0; k < array->rank; k++) {
        made->shape[k] = count[k];
        if (!empty)
            offset += start[k] * array->strides[k];
        if (count[k] > 1) /* otherwise the step is unused, and the product could overflow */
            made->strides[k] = array->strides[k] * step[k];
    }
    made->data = (char *)array->data + offset * size_of(array);
    *view = made;
    return LEAT_OK;
}

leat_status le_array_transpose(leat_array *array, const int *axes, leat_array **view) {
    unsigned seen = 0;
    for (int k = 0; axes && k < array->rank; k++) {
        if (axes[k] < 0 || axes[k] >= array->rank || seen >> axes[k] & 1)
            return le_fail(LEAT_INVALID, "axes must name each of the %d axes once", array->rank);
        seen |= 1u << axes[k];
    }
    leat_array *made;
    leat_status status = new_view(array, &made);
    if (status)
        return status;
    for (int k = 0; k < array->rank; k++) {
        int from = axes ? axes[k] : array->rank - 1 - k;
        made->shape[k] = array->shape[from];
        made->strides[k] = array->strides[from];
    }
    *view = made;
    return LEAT_OK;
}

/* Replaces a -1 in the shape. LEAT_INVALID if the shape cannot hold `count` elements. */
static leat_status resolve_shape(size_t count, int rank, const int64_t *shape, int64_t *resolved) {
    int open = -1;
    uint64_t product = 1;
    for (int k = 0; k < rank; k++) {
        resolved[k] = shape[k];
        if (shape[k] == -1 && open < 0)
            open = k;
        else if (shape[k] < 0)
            return le_fail(LEAT_INVALID, "extent %" PRId64 " of axis %d is negative", shape[k], k);
        else if (__builtin_mul_overflow(product, (uint64_t)shape[k], &product))
            return le_fail(LEAT_INVALID, "the product of the extents is too large");
    }
    if (open >= 0 && product > 0 && count % product == 0) {
        resolved[open] = (int64_t)(count / product);
        product *= (uint64_t)resolved[open];
    } else if (open >= 0) {
        return le_fail(LEAT_INVALID, "%zu elements do not divide into the other extents", count);
    }
    if (product != count)
        return le_fail(LEAT_INVALID, "the new shape has %" PRIu64 " elements, but the array has %zu", product, count);
    return LEAT_OK;
}

/* Drops axes of extent 1 and merges adjacent axes that are contiguous. Returns the resulting rank. */
static int merge_axes(const leat_array *array, int64_t *shape, int64_t *strides) {
    int rank = 0;
    for (int k = 0; k < array->rank; k++) {
        if (array->shape[k] == 1)
            continue;
        if (rank && strides[rank - 1] == array->strides[k] * array->shape[k]) {
            shape[rank - 1] *= array->shape[k];
            strides[rank - 1] = array->strides[k];
        } else {
            shape[rank] = array->shape[k];
            strides[rank++] = array->strides[k];
        }
    }
    return rank;
}

/* Finds strides for a view of `shape`; false if there are none. No extent is 0. */
static bool reshape_strides(const leat_array *array, int rank, const int64_t *shape, int64_t *strides) {
    int64_t old_shape[LEAT_RANK_MAX], old_strides[LEAT_RANK_MAX];
    int old = merge_axes(array, old_shape, old_strides) - 1;
    int64_t left = old >= 0 ? old_shape[old] : 1, stride = old >= 0 ? old_strides[old] : 1;
    for (int k = rank - 1; k >= 0; k--) {
        if (shape[k] > 1 && left == 1 && old > 0) {
            left = old_shape[--old];
            stride = old_strides[old];
        }
        strides[k] = stride;
        if (left % shape[k])
            return false;
        left /= shape[k];
        if (left > 1)
            stride *= shape[k];
    }
    return true;
}

leat_status le_array_reshape(leat_array *array, int rank, const int64_t *shape, leat_array **view) {
    if (rank < 0 || rank > LEAT_RANK_MAX)
        return le_fail(LEAT_INVALID, "rank %d: an array has 0 to %d axes", rank, LEAT_RANK_MAX);
    int64_t resolved[LEAT_RANK_MAX] = {0}, strides[LEAT_RANK_MAX] = {0};
    size_t count = le_array_count(array), size_bytes;
    leat_status status = resolve_shape(count, rank, shape, resolved);
    if (status)
        return status;
    if (count == 0)
        status = le_shape_check(array->dtype, rank, resolved, strides, &size_bytes);
    else if (!reshape_strides(array, rank, resolved, strides))
        status = le_fail(LEAT_UNSUPPORTED, "the array's strides allow no view of that shape; copy the array first");
    leat_array *made;
    if (!status)
        status = new_view(array, &made);
    if (status)
        return status;
    made->rank = rank;
    for (int k = 0; k < rank; k++) {
        made->shape[k] = resolved[k];
        made->strides[k] = strides[k];
    }
    *view = made;
    return LEAT_OK;
}
