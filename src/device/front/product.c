/* Matrix products by the device's library. Arguments are checked, the product is ordered like a launch and given to the
 * backend. Its workspace comes from the pool and is reserved until the product is done. */
#include "base/cancel.h"
#include "base/memory.h"
#include "device/front/device_state.h"
#include "device/front/timing.h"
#include "spec/type.h"

/* The size that NVIDIA recommends for the newest devices. Older devices use it as well: the workspace size decides how
 * sums are split. */
enum { WORK_BYTES = 32 << 20 };

/* The number of elements from the first one to the last; false: overflow. */
static bool find_reach(const struct le_matrix *m, int rows, int columns, int batch, int64_t *reach) {
    int64_t lines = m->transposed ? columns : rows, length = m->transposed ? rows : columns, last;
    return m->stride >= length && m->batch_stride >= 0 && le_mul_i64(m->batch_stride, batch - 1, &last) &&
           le_add_i64(last, (lines - 1) * m->stride + length, reach);
}

static leat_status check_matrix(const struct le_product *p, const char *which, const struct le_matrix *m, int rows,
                                int columns) {
    size_t size = le_type_size((enum le_type)(m == &p->target ? p->target_dtype : p->dtype));
    int64_t reach;
    if (!find_reach(m, rows, columns, p->batch, &reach))
        return le_fail(LEAT_INVALID, "%s: invalid stride %d of the %s matrix, %d x %d", p->what, m->stride, which, rows,
                       columns);
    uint64_t skipped = m->address - m->allocation->address;
    if (m->address < m->allocation->address || m->address % size || skipped > m->allocation->size_bytes ||
        (uint64_t)reach > (m->allocation->size_bytes - skipped) / size)
        return le_fail(LEAT_INVALID, "%s: the %s matrix extends beyond its memory", p->what, which);
    return LEAT_OK;
}

static leat_status check_product(const struct le_device_stream *stream, const struct le_product *p) {
    const bool half = p->dtype == LEAT_F16 || p->dtype == LEAT_BF16;
    const bool full = p->dtype == LEAT_F32 || p->dtype == LEAT_F64 || p->dtype == LEAT_C64 || p->dtype == LEAT_C128;
    if ((!half && !full) || (p->tf32 && p->dtype != LEAT_F32) ||
        (p->target_dtype != p->dtype && !(half && p->target_dtype == LEAT_F32)))
        return le_fail(LEAT_INVALID, "%s: matrix products support only floats and complex numbers", p->what);
    if (p->rows < 1 || p->columns < 1 || p->terms < 1 || p->batch < 1 || p->target.transposed ||
        (p->batch > 1 && p->target.batch_stride < 1))
        return le_fail(LEAT_INVALID, "%s: invalid product: %d x %d x %d, batch of %d", p->what, p->rows, p->columns,
                       p->terms, p->batch);
    if (p->left.allocation->device != stream->device || p->right.allocation->device != stream->device ||
        p->target.allocation->device != stream->device)
        return le_fail(LEAT_INVALID, "%s: a matrix belongs to another context", p->what);
    leat_status status = check_matrix(p, "left", &p->left, p->rows, p->terms);
    if (!status)
        status = check_matrix(p, "right", &p->right, p->terms, p->columns);
    return status ? status : check_matrix(p, "target", &p->target, p->rows, p->columns);
}

static leat_status enqueue_product(struct le_device_stream *stream, const struct le_product *p,
                                   const struct le_allocation *work, const struct le_allocation_use *uses,
                                   int use_count) {
    struct le_device *device = stream->device;
    leat_status status = le_order_begin(stream, uses, use_count);
    if (status)
        return status;
    struct le_timed timed;
    le_timing_begin(device, stream->native, &timed);
    le_cancel_token_offer(stream->token);
    status = device->ops->product(device->native, stream->native, p, work->address, work->size_bytes);
    le_cancel_token_offer(NULL);
    if (status)
        le_timing_drop(device, &timed);
    else
        le_timing_end(device, stream->native, &timed, LEAT_COST_KERNEL, p->what, 0);
    uint64_t number = le_order_end(stream, uses, use_count, !status);
    if (!status)
        le_device_note_launch(stream, number, "cuBLAS product", (const unsigned[3]){1, 1, 1},
                              (const unsigned[3]){1, 1, 1});
    return status;
}

leat_status le_device_product(struct le_device_stream *stream, const struct le_product *asked) {
    struct le_device *device = stream->device;
    struct le_product with_types = *asked, *product = &with_types;
    struct le_allocation *work;
    if (!product->target_dtype)
        product->target_dtype = product->dtype;
    leat_status status = le_device_product_open(device);
    if (!status)
        status = check_product(stream, product);
    if (!status)
        status = le_allocation_new(device, LE_MEMORY_DEVICE, WORK_BYTES, stream, &work);
    if (status)
        return status;
    const struct le_allocation_use uses[] = {{product->left.allocation, LE_ACCESS_READ},
                                             {product->right.allocation, LE_ACCESS_READ},
                                             {product->target.allocation, LE_ACCESS_BOTH},
                                             {work, LE_ACCESS_WRITE}};
    struct le_device_span span;
    le_device_span_begin(device, &span, LEAT_COST_LAUNCH, product->what, "cuBLAS");
    status = enqueue_product(stream, product, work, uses, ARRAY_LEN(uses));
    le_device_span_end(&span, 0);
    le_allocation_free(work);
    return status;
}

leat_status le_device_product_open(struct le_device *device) {
    leat_status status = le_device_check(device);
    if (status)
        return status;
    if (!device->ops->product_open)
        return le_fail(LEAT_UNSUPPORTED, "the device has no library for matrix products");
    return device->ops->product_open(device->native);
}
