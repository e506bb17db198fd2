/* Copies between layouts, and to and from dense memory. One thread. */
#include "array/array.h"
#include "spec/type.h"
#include <string.h>

#define TILE 32

/* Axes of a copy, outermost first; strides in bytes. */
struct copy_axes {
    int rank;
    int64_t extent[LEAT_RANK_MAX], target[LEAT_RANK_MAX], source[LEAT_RANK_MAX];
    size_t size; /* of one element */
};

static void swap_axes(struct copy_axes *x, int j, int k) {
    int64_t extent = x->extent[j], target = x->target[j], source = x->source[j];
    x->extent[j] = x->extent[k], x->target[j] = x->target[k], x->source[j] = x->source[k];
    x->extent[k] = extent, x->target[k] = target, x->source[k] = source;
}

static int64_t magnitude(int64_t value) {
    return value < 0 ? -value : value;
}

/* Drops extents of 1, sorts by the target's strides and joins axes that run on in both. */
static void plan_copy(struct copy_axes *x, const leat_array *target, const leat_array *source) {
    int64_t size = (int64_t)x->size;
    for (int k = 0; k < target->rank; k++) {
        if (target->shape[k] == 1)
            continue;
        int at = x->rank++;
        x->extent[at] = target->shape[k];
        x->target[at] = target->strides[k] * size;
        x->source[at] = source->strides[k] * size;
        for (; at > 0 && magnitude(x->target[at - 1]) < magnitude(x->target[at]); at--)
            swap_axes(x, at - 1, at);
    }
    int kept = 0;
    for (int k = 1; k < x->rank; k++) {
        bool joins = x->target[kept] == x->target[k] * x->extent[k] && x->source[kept] == x->source[k] * x->extent[k];
        if (!joins) {
            swap_axes(x, ++kept, k);
            continue;
        }
        x->extent[kept] *= x->extent[k];
        x->target[kept] = x->target[k];
        x->source[kept] = x->source[k];
    }
    x->rank = x->rank ? kept + 1 : 0;
}

#define COPY_RUN(name, type)                                                                                           \
    static void name(char *target, const char *source, int64_t count, int64_t target_stride, int64_t source_stride) {  \
        for (int64_t k = 0; k < count; k++)                                                                            \
            *(type *)(void *)(target + k * target_stride) = *(const type *)(const void *)(source + k * source_stride); \
    }
COPY_RUN(copy_run_1, uint8_t)
COPY_RUN(copy_run_2, uint16_t)
COPY_RUN(copy_run_4, uint32_t)
COPY_RUN(copy_run_8, uint64_t)
#undef COPY_RUN

static void copy_run(size_t size, char *target, const char *source, int64_t count, int64_t target_stride,
                     int64_t source_stride) {
    switch (size) {
    case 1:
        copy_run_1(target, source, count, target_stride, source_stride);
        break;
    case 2:
        copy_run_2(target, source, count, target_stride, source_stride);
        break;
    case 4:
        copy_run_4(target, source, count, target_stride, source_stride);
        break;
    default:
        copy_run_8(target, source, count, target_stride, source_stride);
    }
}

/* The two innermost axes in tiles, so that neither side's cache lines are read or written once an element. */
static void copy_plane(const struct copy_axes *x, int rows, int columns, char *target, const char *source) {
    for (int64_t r = 0; r < x->extent[rows]; r += TILE)
        for (int64_t c = 0; c < x->extent[columns]; c += TILE) {
            int64_t width = x->extent[columns] - c < TILE ? x->extent[columns] - c : TILE;
            int64_t stop = x->extent[rows] - r < TILE ? x->extent[rows] : r + TILE;
            for (int64_t row = r; row < stop; row++)
                copy_run(x->size, target + row * x->target[rows] + c * x->target[columns],
                         source + row * x->source[rows] + c * x->source[columns], width, x->target[columns],
                         x->source[columns]);
        }
}

static void copy_axis(const struct copy_axes *x, int axis, char *target, const char *source) {
    int64_t size = (int64_t)x->size;
    if (axis == x->rank - 1) {
        if (x->target[axis] == size && x->source[axis] == size)
            memcpy(target, source, (size_t)(x->extent[axis] * size));
        else
            copy_run(x->size, target, source, x->extent[axis], x->target[axis], x->source[axis]);
        return;
    }
    if (axis == x->rank - 2 && magnitude(x->source[axis]) < magnitude(x->source[axis + 1])) {
        copy_plane(x, axis, axis + 1, target, source);
        return;
    }
    for (int64_t k = 0; k < x->extent[axis]; k++)
        copy_axis(x, axis + 1, target + k * x->target[axis], source + k * x->source[axis]);
}

/* Puts the axis along which the source is densest next to the innermost one, for copy_plane. */
static void pair_axes(struct copy_axes *x) {
    int dense = 0;
    for (int k = 1; k < x->rank; k++)
        if (magnitude(x->source[k]) < magnitude(x->source[dense]))
            dense = k;
    if (x->rank > 2 && dense < x->rank - 2)
        swap_axes(x, dense, x->rank - 2);
}

void le_array_copy(const leat_array *target, const leat_array *source) {
    size_t size = le_type_size((enum le_type)source->dtype);
    if (le_array_count(source) == 0)
        return;
    struct copy_axes x = {.size = size};
    plan_copy(&x, target, source);
    pair_axes(&x);
    if (x.rank == 0)
        memcpy(target->data, source->data, size);
    else
        copy_axis(&x, 0, target->data, source->data);
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

/* Any other byte than 0 and 1 is no bool to the machine. */
static void clean_bools(const leat_array *array, int axis, uint8_t *at) {
    if (axis == array->rank) {
        *at = *at != 0;
        return;
    }
    for (int64_t k = 0; k < array->shape[axis]; k++)
        clean_bools(array, axis + 1, at + k * array->strides[axis]);
}

void le_array_write(const leat_array *array, const void *source) {
    leat_array dense = dense_over(array, (void *)(uintptr_t)source);
    le_array_copy(array, &dense);
    if (array->dtype == LEAT_BOOL)
        clean_bools(array, 0, array->data);
}

void le_array_read(const leat_array *array, void *target) {
    leat_array dense = dense_over(array, target);
    le_array_copy(&dense, array);
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
