/* Splits axes into rows, slices, and loops around them. */
#include "device/front/copy_native.h"
#include "device/front/copy_kernel.h"

#define ROW_MIN_BYTES 64 /* shorter rows are slow in a driver's copy */
#define ROWS_FEW      4096
#define COPIES_MAX    8 /* driver copies up to which a kernel is not better */
#define PITCH_MAX     INT32_MAX

static bool is_pitch(int64_t stride, size_t row_bytes) {
    return stride >= (int64_t)row_bytes && stride <= PITCH_MAX;
}

/* The driver measures the distance of slices in rows. */
static bool is_slice(int64_t stride, int64_t row_stride, size_t rows) {
    return stride > 0 && stride % row_stride == 0 && (uint64_t)(stride / row_stride) >= rows;
}

/* Plans one driver copy for the innermost collapsed axes. Returns how many outer axes are left to loop over. */
static int plan_native(const struct le_axes *x, struct le_native_copy *n) {
    int k = x->rank;
    n->row_bytes = x->size;
    n->rows = n->slices = 1;
    if (k && x->target[k - 1] == (int64_t)x->size && x->source[k - 1] == (int64_t)x->size)
        n->row_bytes *= (size_t)x->extent[--k];
    n->target_row_stride = n->source_row_stride = (int64_t)n->row_bytes;
    if (k && is_pitch(x->target[k - 1], n->row_bytes) && is_pitch(x->source[k - 1], n->row_bytes)) {
        k--;
        n->rows = (size_t)x->extent[k];
        n->target_row_stride = x->target[k];
        n->source_row_stride = x->source[k];
        if (k && is_slice(x->target[k - 1], n->target_row_stride, n->rows) &&
            is_slice(x->source[k - 1], n->source_row_stride, n->rows)) {
            k--;
            n->slices = (size_t)x->extent[k];
            n->target_slice_stride = x->target[k];
            n->source_slice_stride = x->source[k];
        }
    }
    if (n->slices == 1) {
        n->target_slice_stride = n->target_row_stride * (int64_t)n->rows;
        n->source_slice_stride = n->source_row_stride * (int64_t)n->rows;
    }
    return k;
}

static bool is_slow(const struct le_axes *collapsed) {
    struct le_native_copy n;
    int64_t copies = 1;
    for (int k = plan_native(collapsed, &n) - 1; k >= 0 && copies <= COPIES_MAX; k--)
        copies *= collapsed->extent[k];
    bool many_rows = n.row_bytes < ROW_MIN_BYTES && n.rows * n.slices > ROWS_FEW;
    return copies > COPIES_MAX || many_rows;
}

bool le_copy_wants_kernel(const struct le_axes *axes) {
    struct le_axes x = *axes;
    int64_t to = 0, from = 0;
    le_axes_collapse(&x, &to, &from);
    return is_slow(&x);
}

leat_status le_copy_enqueue(struct le_device *device, void *native_stream, const struct le_axes *axes,
                            struct le_copy_side target, struct le_copy_side source, struct le_device_kernel *kernel) {
    struct le_axes x = *axes;
    int64_t to = 0, from = 0;
    le_axes_collapse(&x, &to, &from);
    if (kernel && target.visible && source.visible && is_slow(&x))
        return le_copy_kernel_launch(device, native_stream, kernel, &x, target.visible + (uint64_t)to,
                                     source.visible + (uint64_t)from);
    struct le_native_copy n = {.target_is_host = target.is_host, .source_is_host = source.is_host};
    int loops = plan_native(&x, &n);
    int64_t index[LE_AXES_MAX] = {0};
    for (;;) {
        n.target = target.at + (uint64_t)to;
        n.source = source.at + (uint64_t)from;
        for (int k = 0; k < loops; k++) {
            n.target += (uint64_t)(index[k] * x.target[k]);
            n.source += (uint64_t)(index[k] * x.source[k]);
        }
        leat_status status = device->ops->copy(device->native, native_stream, &n);
        if (status)
            return status;
        int k = loops - 1;
        while (k >= 0 && ++index[k] == x.extent[k])
            index[k--] = 0;
        if (k < 0)
            return LEAT_OK;
    }
}
