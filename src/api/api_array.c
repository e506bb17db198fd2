/* leat.h: arrays, their files and views. */
#include "api/api_check.h"
#include "array/load.h"
#include "array/npy.h"
#include <string.h>

static leat_status new_array(leat_context *ctx, leat_dtype dtype, int rank, const int64_t *shape, leat_memory memory,
                             bool zero, leat_array **array) {
    LE_CHECK_CONTEXT(ctx);
    LE_CHECK_POINTER(array);
    if (rank > 0)
        LE_CHECK_POINTER(shape);
    const struct le_array_home home = le_context_home(ctx);
    struct le_span span;
    le_span_begin(&span, ctx->ledger, LEAT_COST_ALLOCATE, "arrays", "");
    leat_status status = memory == LEAT_MEMORY_DEVICE ? le_array_new_deferred(&home, dtype, rank, shape, zero, array)
                                                      : le_array_new_at(&home, memory, dtype, rank, shape, zero, array);
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
    const struct le_array_home home = le_context_home(ctx);
    return le_array_wrap_at(&home, description, release, user, array);
}

leat_status leat_array_get(const leat_array *array, leat_description *description) {
    LE_CHECK_ARRAY(array);
    LE_CHECK_POINTER(description);
    *description = (leat_description){.dtype = array->dtype,
                                      .rank = array->rank,
                                      .data = array->data,
                                      .read_only = array->read_only,
                                      .memory = le_array_memory(array)};
    memcpy(description->shape, array->shape, sizeof array->shape);
    memcpy(description->strides, array->strides, sizeof array->strides);
    return LEAT_OK;
}

/* ---- elements */

static struct le_device *device_of(const leat_array *array) {
    return array->buffer->allocation ? array->buffer->allocation->device : NULL;
}

/* Finds the device stream for work on the array: the caller's, or the default stream of the array's device; NULL on the
 * CPU. */
static leat_status find_stream(const leat_array *array, leat_stream *stream, struct le_device_stream **work) {
    struct le_device *device = device_of(array);
    *work = device ? le_device_stream_own(device) : NULL;
    if (!stream)
        return LEAT_OK;
    LE_CHECK_CONTEXT(stream->ctx);
    if (!le_context_has(stream->ctx, array))
        return le_fail(LEAT_INVALID, "the array and the stream are of different contexts");
    *work = device ? stream->work : NULL;
    return LEAT_OK;
}

/* Sets *ticket to the end of the work in the stream. On the CPU the work is already done. */
static void set_ticket(leat_stream *stream, struct le_device_stream *work, leat_ticket *ticket) {
    if (!ticket)
        return;
    *ticket = stream ? le_context_ticket(stream->ctx, stream) : (leat_ticket){0};
    if (!stream && work) {
        struct le_point point = le_device_stream_point(work);
        *ticket = (leat_ticket){.stream_id = point.stream_id, .number = point.number};
    }
}

static leat_status check_transfer(const leat_array *array, const void *memory, const char *name, size_t size_bytes) {
    LE_CHECK_BOUND_ARRAY(array);
    size_t has = le_array_bytes(array);
    if (!memory && has)
        return le_fail(LEAT_INVALID, "%s is NULL", name);
    if (size_bytes != has)
        return le_fail(LEAT_INVALID, "size_bytes is %zu, and the array has %zu bytes of elements", size_bytes, has);
    return LEAT_OK;
}

static leat_status check_writable(const leat_array *array, const char *name) {
    if (array->read_only)
        return le_fail(LEAT_INVALID, "%s is read-only", name);
    return le_array_repeats(array) ? le_fail(LEAT_INVALID, "%s has overlapping elements", name) : LEAT_OK;
}

/* Stores a copy of source with a deferred array, which receives the elements when it is materialized. *written: whether
 * this was done. */
static leat_status write_deferred(const leat_array *array, const void *source, bool *written) {
    leat_array *copy = NULL;
    *written = false;
    if (!le_array_is_deferred(array) || !le_device_is_opening(le_array_device(array)))
        return LEAT_OK;
    leat_status status = le_array_new(array->buffer->pool, array->dtype, array->rank, array->shape, false, &copy);
    if (status)
        return status;
    le_array_write(copy, source);
    *written = le_array_load_deferred(array, copy);
    le_array_free(copy);
    return LEAT_OK;
}

leat_status leat_array_write(leat_array *array, const void *source, size_t size_bytes, leat_stream *stream,
                             leat_ticket *ticket) {
    struct le_device_stream *work;
    bool written = false;
    leat_status status = check_transfer(array, source, "source", size_bytes);
    if (!status)
        status = check_writable(array, "the array");
    if (!status && !stream && !ticket)
        status = write_deferred(array, source, &written);
    if (status || written)
        return status;
    status = le_array_materialize(array);
    if (!status)
        status = find_stream(array, stream, &work);
    if (!status)
        status = le_array_write_in(array, source, work, !ticket);
    if (!status)
        set_ticket(stream, work, ticket);
    return status;
}

leat_status leat_array_read(const leat_array *array, void *target, size_t size_bytes, leat_stream *stream,
                            leat_ticket *ticket) {
    struct le_device_stream *work;
    leat_status status = check_transfer(array, target, "target", size_bytes);
    if (!status)
        status = le_array_materialize(array);
    if (!status)
        status = find_stream(array, stream, &work);
    if (!status)
        status = le_array_read_in(array, target, work, !ticket);
    if (!status)
        set_ticket(stream, work, ticket);
    return status;
}

static leat_status check_pair(const leat_array *target, const leat_array *source) {
    char text[2][LE_SHAPE_TEXT_MAX];
    LE_CHECK_ARRAY(target);
    LE_CHECK_ARRAY(source);
    if (target->buffer->pool != source->buffer->pool)
        return le_fail(LEAT_INVALID, "target and source are of different contexts");
    bool same = target->dtype == source->dtype && target->rank == source->rank &&
                !memcmp(target->shape, source->shape, (size_t)source->rank * sizeof *source->shape);
    if (!same)
        return le_fail(LEAT_MISMATCH, "target is %s, and source is %s", le_array_describe(target, text[0]),
                       le_array_describe(source, text[1]));
    if (le_array_overlaps(target, source))
        return le_fail(LEAT_INVALID, "target and source overlap");
    return check_writable(target, "target");
}

leat_status leat_array_copy(leat_array *target, const leat_array *source, leat_stream *stream, leat_ticket *ticket) {
    struct le_device_stream *work;
    leat_status status = check_pair(target, source);
    if (!status)
        status = find_stream(target, stream, &work);
    if (!status)
        status = le_array_copy_in(target, source, work, !ticket);
    if (!status)
        set_ticket(stream, work, ticket);
    return status;
}

/* ---- page-locking */

leat_status leat_host_pin(leat_context *ctx, void *memory, size_t size_bytes) {
    LE_CHECK_CONTEXT(ctx);
    LE_CHECK_POINTER(memory);
    return le_host_pin(ctx->device, memory, size_bytes);
}

leat_status leat_host_unpin(leat_context *ctx, void *memory) {
    LE_CHECK_CONTEXT(ctx);
    LE_CHECK_POINTER(memory);
    return le_host_unpin(ctx->device, memory);
}

/* ---- views */

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

/* Uploads a loaded array to where the context's arrays live. Consumes host. */
static leat_status upload_loaded(leat_context *ctx, leat_array *host, leat_array **array) {
    const struct le_array_home home = le_context_home(ctx);
    leat_status status = le_array_upload(&home, host, array);
    le_array_free(host);
    return status;
}

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
    leat_array *host = NULL;
    status = le_array_load(ctx->memory, path, key, declared, &host);
    if (!status && host->buffer->kind == LE_BUFFER_MAPPED)
        span.cause = "mapped";
    le_span_end(&span, status ? 0 : le_array_bytes(host), 0);
    return status ? status : upload_loaded(ctx, host, array);
}

leat_status leat_array_load_fd(leat_context *ctx, int fd, const char *name, leat_dtype declared, leat_array **array) {
    LE_CHECK_CONTEXT(ctx);
    LE_CHECK_POINTER(array);
    leat_status status = check_declared(declared);
    if (!status && fd < 0)
        status = le_fail(LEAT_INVALID, "fd is %d, which is not a file descriptor", fd);
    if (status)
        return status;
    name = name ? name : "the file";
    struct le_span span;
    le_span_begin(&span, ctx->ledger, LEAT_COST_READ, name, "");
    leat_array *host = NULL;
    status = le_array_load_fd(ctx->memory, fd, name, declared, &host);
    le_span_end(&span, status ? 0 : le_array_bytes(host), 0);
    return status ? status : upload_loaded(ctx, host, array);
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
    leat_array *host = NULL;
    status = le_array_load_memory(ctx->memory, "memory", bytes, size_bytes, declared, &host);
    le_span_end(&span, status ? 0 : le_array_bytes(host), 0);
    return status ? status : upload_loaded(ctx, host, array);
}

leat_status leat_array_save_as(const leat_array *array, const char *path, const leat_save_options *options) {
    leat_save_options all;
    LE_CHECK_ARRAY(array);
    LE_CHECK_POINTER(path);
    LE_TAKE_OPTIONS(options, leat_save_options, &all);
    if (all.colormap != LEAT_COLORMAP_GREY && all.colormap != LEAT_COLORMAP_VIRIDIS)
        return le_fail(LEAT_INVALID, "%d is not a colormap", (int)all.colormap);
    return le_array_save(array, path, &all);
}

leat_status leat_array_save(const leat_array *array, const char *path, const char *key, leat_colormap colormap) {
    const leat_save_options options = {.key = key, .colormap = colormap};
    return leat_array_save_as(array, path, &options);
}

leat_status leat_archive_save(const char *path, const leat_named_array *arrays, size_t count,
                              const leat_save_options *options) {
    leat_save_options all;
    LE_CHECK_POINTER(path);
    LE_CHECK_POINTER(arrays);
    LE_TAKE_OPTIONS(options, leat_save_options, &all);
    if (count == 0)
        return le_fail(LEAT_INVALID, "count is 0: an archive holds at least one array");
    for (size_t k = 0; k < count; k++) {
        const leat_array *array = arrays[k].array;
        const char *name = arrays[k].name;
        LE_CHECK_POINTER(name);
        LE_CHECK_ARRAY(array);
    }
    return le_archive_save(arrays, count, path, &all);
}

leat_status leat_array_save_memory(const leat_array *array, void **bytes, size_t *size_bytes) {
    LE_CHECK_ARRAY(array);
    LE_CHECK_POINTER(bytes);
    LE_CHECK_POINTER(size_bytes);
    return le_npy_save_memory(array, bytes, size_bytes);
}
