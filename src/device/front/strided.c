/* Canonical axes, and the loops that copy: contiguous runs, single elements, and planes in tiles. */
#include "device/front/strided.h"
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define TILE 32

static void swap_axes(struct le_axes *x, int j, int k) {
    int64_t extent = x->extent[j], target = x->target[j], source = x->source[j];
    x->extent[j] = x->extent[k], x->target[j] = x->target[k], x->source[j] = x->source[k];
    x->extent[k] = extent, x->target[k] = target, x->source[k] = source;
}

static int64_t stride_magnitude(int64_t value) {
    return value < 0 ? -value : value;
}

static void flip_axis(struct le_axes *x, int k, int64_t *target, int64_t *source) {
    if (x->target[k] >= 0)
        return;
    *target += (x->extent[k] - 1) * x->target[k];
    *source += (x->extent[k] - 1) * x->source[k];
    x->target[k] = -x->target[k];
    x->source[k] = -x->source[k];
}

static void sort_axes(struct le_axes *x, int64_t *target, int64_t *source) {
    int count = x->rank;
    x->rank = 0;
    for (int k = 0; k < count; k++) {
        if (x->extent[k] == 1)
            continue;
        int at = x->rank++;
        if (at != k)
            swap_axes(x, at, k);
        flip_axis(x, at, target, source);
        for (; at > 0 && x->target[at - 1] < x->target[at]; at--)
            swap_axes(x, at - 1, at);
    }
}

void le_axes_collapse(struct le_axes *x, int64_t *target, int64_t *source) {
    sort_axes(x, target, source);
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

int64_t le_axes_count(const struct le_axes *x) {
    int64_t count = 1;
    for (int k = 0; k < x->rank; k++)
        count *= x->extent[k];
    return count;
}

struct pair {
    uint64_t first, second;
};
#define COPY_RUN(name, type)                                                                                           \
    static void name(char *target, const char *source, int64_t count, int64_t target_stride, int64_t source_stride) {  \
        for (int64_t k = 0; k < count; k++)                                                                            \
            *(type *)(void *)(target + k * target_stride) = *(const type *)(const void *)(source + k * source_stride); \
    }
COPY_RUN(copy_run_1, uint8_t)
COPY_RUN(copy_run_2, uint16_t)
COPY_RUN(copy_run_4, uint32_t)
COPY_RUN(copy_run_8, uint64_t)
COPY_RUN(copy_run_16, struct pair)
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
    case 8:
        copy_run_8(target, source, count, target_stride, source_stride);
        break;
    default:
        copy_run_16(target, source, count, target_stride, source_stride);
    }
}

/* Copies the two innermost axes in tiles, so that neither side touches a cache line once per element. */
static void copy_plane(const struct le_axes *x, int rows, int columns, char *target, const char *source) {
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

static void copy_axis(const struct le_axes *x, int axis, char *target, const char *source) {
    int64_t size = (int64_t)x->size;
    if (axis == x->rank - 1) {
        if (x->target[axis] == size && x->source[axis] == size)
            memcpy(target, source, (size_t)(x->extent[axis] * size));
        else
            copy_run(x->size, target, source, x->extent[axis], x->target[axis], x->source[axis]);
        return;
    }
    if (axis == x->rank - 2 && stride_magnitude(x->source[axis]) < stride_magnitude(x->source[axis + 1])) {
        copy_plane(x, axis, axis + 1, target, source);
        return;
    }
    for (int64_t k = 0; k < x->extent[axis]; k++)
        copy_axis(x, axis + 1, target + k * x->target[axis], source + k * x->source[axis]);
}

/* Moves the axis with the smallest source stride next to the innermost one, for copy_plane. */
static void pair_axes(struct le_axes *x) {
    int dense = 0;
    for (int k = 1; k < x->rank; k++)
        if (stride_magnitude(x->source[k]) < stride_magnitude(x->source[dense]))
            dense = k;
    if (x->rank > 2 && dense < x->rank - 2)
        swap_axes(x, dense, x->rank - 2);
}

void le_strided_copy(const struct le_axes *axes, char *target, const char *source) {
    struct le_axes x = *axes;
    int64_t to = 0, from = 0;
    le_axes_collapse(&x, &to, &from);
    pair_axes(&x);
    target += to;
    source += from;
    if (x.rank == 0)
        memcpy(target, source, x.size);
    else
        copy_axis(&x, 0, target, source);
}

static void normalize_axis(const struct le_axes *x, int axis, char *at) {
    if (axis == x->rank) {
        *at = *at != 0;
        return;
    }
    for (int64_t k = 0; k < x->extent[axis]; k++)
        normalize_axis(x, axis + 1, at + k * x->target[axis]);
}

void le_strided_normalize_bools(const struct le_axes *axes, char *target) {
    normalize_axis(axes, 0, target);
}

bool le_strided_is_run(const struct le_axes *axes) {
    struct le_axes x = *axes;
    int64_t to = 0, from = 0, size = (int64_t)x.size;
    le_axes_collapse(&x, &to, &from);
    return !to && !from && (x.rank == 0 || (x.rank == 1 && x.target[0] == size && x.source[0] == size));
}

#ifdef __SSE2__
void le_copy_past_cache(char *target, const char *source, size_t size_bytes) {
    size_t head = (16 - (uintptr_t)target % 16) % 16;
    head = head < size_bytes ? head : size_bytes;
    memcpy(target, source, head);
    char *to = target + head;
    const char *from = source + head, *end = source + size_bytes;
    for (; end - from >= 64; from += 64, to += 64)
        for (int k = 0; k < 64; k += 16)
            _mm_stream_si128((__m128i *)(void *)(to + k), _mm_loadu_si128((const __m128i *)(const void *)(from + k)));
    _mm_sfence();
    memcpy(to, from, (size_t)(end - from));
}
#else
void le_copy_past_cache(char *target, const char *source, size_t size_bytes) {
    memcpy(target, source, size_bytes);
}
#endif
