/* Elements in host memory: copies between layouts, and single elements. Single-threaded. */
#include "array/array.h"
#include "device/front/strided.h"
#include "spec/type.h"
#include <assert.h>
#include <math.h>
#include <string.h>

static struct le_axes axes_of(const leat_array *target, const leat_array *source) {
    struct le_axes x = {.rank = target->rank, .size = le_type_size((enum le_type)source->dtype)};
    for (int k = 0; k < target->rank; k++) {
        x.extent[k] = target->shape[k];
        x.target[k] = target->strides[k] * (int64_t)x.size;
        x.source[k] = source->strides[k] * (int64_t)x.size;
    }
    return x;
}

static void copy_elements(const leat_array *target, const leat_array *source) {
    if (le_array_count(source) == 0)
        return;
    const struct le_axes axes = axes_of(target, source);
    le_strided_copy(&axes, target->data, source->data);
}

void le_array_copy(const leat_array *target, const leat_array *source) {
    assert(le_array_is_on_host(target) && le_array_is_on_host(source));
    copy_elements(target, source);
}

static leat_array dense_over(const leat_array *array, void *data) {
    leat_array dense = {.dtype = array->dtype, .rank = array->rank, .data = data};
    int64_t stride = 1;
    for (int k = array->rank - 1; k >= 0; k--) {
        dense.shape[k] = array->shape[k];
        dense.strides[k] = stride;
        stride *= array->shape[k];
    }
    return dense;
}

void le_array_write(const leat_array *array, const void *source) {
    assert(le_array_is_on_host(array));
    leat_array dense = dense_over(array, (void *)(uintptr_t)source);
    copy_elements(array, &dense);
    const struct le_axes axes = axes_of(array, &dense);
    if (array->dtype == LEAT_BOOL && le_array_count(array))
        le_strided_normalize_bools(&axes, array->data);
}

void le_array_read(const leat_array *array, void *target) {
    assert(le_array_is_on_host(array));
    leat_array dense = dense_over(array, target);
    copy_elements(&dense, array);
}

leat_status le_array_dense(leat_array *array, leat_array **dense) {
    if (le_array_is_contiguous(array)) {
        *dense = le_array_retain(array);
        return LEAT_OK;
    }
    leat_array *made;
    leat_status status = le_array_new(array->buffer->pool, array->dtype, array->rank, array->shape, false, &made);
    if (status)
        return status;
    le_array_copy(made, array);
    *dense = made;
    return LEAT_OK;
}

/* ---- one element */

static double half_value(uint16_t bits) {
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double size = exponent == 31  ? (fraction ? (double)NAN : (double)INFINITY)
                  : exponent == 0 ? ldexp(fraction, -24)
                                  : ldexp(fraction + 1024, exponent - 25);
    return bits >> 15 ? -size : size;
}

static double bfloat_value(uint16_t bits) {
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return (double)value;
}

double le_real_element(leat_dtype dtype, const void *at) {
    switch (dtype) {
    case LEAT_BOOL:
        return *(const uint8_t *)at != 0;
    case LEAT_I8:
        return *(const int8_t *)at;
    case LEAT_I16:
        return *(const int16_t *)at;
    case LEAT_I32:
        return *(const int32_t *)at;
    case LEAT_I64:
        return (double)*(const int64_t *)at;
    case LEAT_U8:
        return *(const uint8_t *)at;
    case LEAT_U16:
        return *(const uint16_t *)at;
    case LEAT_U32:
        return *(const uint32_t *)at;
    case LEAT_U64:
        return (double)*(const uint64_t *)at;
    case LEAT_F16:
        return half_value(*(const uint16_t *)at);
    case LEAT_BF16:
        return bfloat_value(*(const uint16_t *)at);
    case LEAT_F32:
        return (double)*(const float *)at;
    default:
        return *(const double *)at;
    }
}
