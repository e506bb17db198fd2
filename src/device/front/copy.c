/* Copies between any kinds of memory and any layouts. If the device can reach both sides, the copy runs in the stream.
 * If one side is pageable, it goes through the stager. If both are host memory, it runs on the calling thread. Threads
 * and slots are staging.c's; what one driver copy can do is copy_native.c's.
 *
 * Before threads of the host read or write memory, they wait on the host: a wait in a stream would not hold them
 * back. */
#include "device/front/copy_kernel.h"
#include "device/front/copy_native.h"
#include "device/front/staging.h"
#include "device/front/timing.h"
#include "base/thread.h"
#include <string.h>

#define COPY_THREADS_MAX ((int)8)
#define CHUNK_MIN_BYTES  ((size_t)128 << 10)
#define STREAM_MIN_BYTES ((size_t)32 << 20) /* downloads from this size on do not fit a cache anyway */
enum { WHAT_BYTES = 48 };

/* ---- sides */

enum copy_reach { REACH_DEVICE, REACH_PINNED, REACH_PAGEABLE };
struct side {
    enum copy_reach reach;
    struct le_copy_side native;
};

static struct side side_of_allocation(const struct le_allocation *allocation, const char *memory) {
    uint64_t at = (uint64_t)(uintptr_t)memory;
    if (allocation->kind == LE_MEMORY_DEVICE && !allocation->device->limits.host_is_device)
        return (struct side){.reach = REACH_DEVICE, .native = {.at = at, .visible = at}};
    bool pinned = allocation->kind == LE_MEMORY_PINNED || allocation->kind == LE_MEMORY_MAPPED;
    uint64_t moved = at - (uint64_t)(uintptr_t)allocation->host;
    return (struct side){
        .reach = pinned ? REACH_PINNED : REACH_PAGEABLE,
        .native = {.is_host = true, .at = at, .visible = allocation->address ? allocation->address + moved : 0}};
}

/* The user's memory between its lowest and its highest element. */
static struct side side_of_memory(struct le_device *device, const char *low, const char *high, const char *memory) {
    uint64_t at = (uint64_t)(uintptr_t)memory, low_seen = 0, high_seen = 0;
    struct side side = {.reach = REACH_PAGEABLE, .native = {.is_host = true, .at = at}};
    if (device->limits.host_is_device)
        return side;
    enum le_memory_kind first = device->ops->pointer_kind(device->native, low, &low_seen);
    if (first == LE_MEMORY_HOST || first == LE_MEMORY_DEVICE)
        return side;
    enum le_memory_kind last = device->ops->pointer_kind(device->native, high, &high_seen);
    if (last != first || high_seen - low_seen != (uint64_t)(high - low))
        return side;
    side.reach = REACH_PINNED;
    side.native.visible = low_seen ? low_seen + (uint64_t)(memory - low) : 0;
    return side;
}

static void address_range(const struct le_axes *x, const int64_t *strides, const char *memory, const char **low,
                          const char **high) {
    int64_t least = 0, most = (int64_t)x->size - 1;
    for (int k = 0; k < x->rank; k++) {
        int64_t reach = (x->extent[k] - 1) * strides[k];
        *(reach < 0 ? &least : &most) += reach;
    }
    *low = memory + least;
    *high = memory + most;
}

static struct side side_of(struct le_device *device, struct le_allocation *allocation, const struct le_axes *x,
                           const int64_t *strides, const char *memory) {
    const char *low, *high;
    if (allocation)
        return side_of_allocation(allocation, memory);
    address_range(x, strides, memory, &low, &high);
    return side_of_memory(device, low, high, memory);
}

/* ---- one copy */

struct copying {
    struct le_device *device;
    struct le_device_stream *stream;
    const struct le_copy *copy;
    struct le_axes axes;
    struct side target, source;
    struct le_allocation_use uses[2];
    int use_count;
    size_t size_bytes;
};

static leat_cost_kind cost_of(bool to_host, bool from_host) {
    return to_host && !from_host ? LEAT_COST_DOWNLOAD : from_host && !to_host ? LEAT_COST_UPLOAD : LEAT_COST_COPY;
}

/* ---- on the calling thread */

leat_status le_allocation_wait_for(struct le_allocation *allocation, enum le_allocation_access access, const char *what,
                                   const char *cause) {
    struct le_device *device = allocation->device;
    struct le_point points[1 + LE_ORDER_READS];
    leat_status status = le_device_check(device);
    if (status)
        return status;
    pthread_mutex_lock(&device->lock);
    leat_status error = access & LE_ACCESS_READ ? allocation->order.error : LEAT_OK;
    int count = le_order_points(&allocation->order, points);
    if (!(access & LE_ACCESS_WRITE)) {
        count = allocation->order.write.stream_id != 0;
        points[0] = allocation->order.write;
    }
    pthread_mutex_unlock(&device->lock);
    for (int k = 0; k < count && !status; k++)
        status = le_point_wait_for(device, points[k], what, cause);
    if (!status && error)
        status = le_fail(error, "its contents are invalid: the operation that produced it failed");
    return status;
}

struct le_point le_allocation_written(struct le_allocation *allocation) {
    pthread_mutex_lock(&allocation->device->lock);
    struct le_point point = allocation->order.write;
    pthread_mutex_unlock(&allocation->device->lock);
    return point;
}

leat_status le_allocation_wait(struct le_allocation *allocation, enum le_allocation_access access) {
    return le_allocation_wait_for(allocation, access, "ticket", "");
}

/* Waits until host threads may touch the pageable allocations; all: every allocation. */
static leat_status wait_for_allocations(const struct copying *c, bool all) {
    leat_status status = LEAT_OK;
    for (int k = 0; k < c->use_count && !status; k++)
        if (all || c->uses[k].allocation->kind == LE_MEMORY_HOST)
            status = le_allocation_wait(c->uses[k].allocation, c->uses[k].access);
    return status;
}

/* Waits for all earlier work and copies at once, so no ticket is needed. */
static leat_status copy_on_host(const struct copying *c) {
    leat_status status = wait_for_allocations(c, true);
    if (status)
        return status;
    le_strided_copy(&c->axes, c->copy->target_memory, c->copy->source_memory);
    if (c->copy->as_bool)
        le_strided_normalize_bools(&c->axes, c->copy->target_memory);
    if (c->copy->target)
        le_order_set_error(c->copy->target, LEAT_OK);
    return LEAT_OK;
}

/* ---- in the stream */

static leat_status copy_in_stream(const struct copying *c) {
    struct le_device *device = c->device;
    void *native_stream = c->stream->native;
    struct le_device_kernel *kernel = NULL;
    struct le_timed timed;
    if (le_copy_wants_kernel(&c->axes))
        kernel = le_copy_kernel(device, c->axes.size);
    leat_status status = le_order_begin(c->stream, c->uses, c->use_count);
    if (status)
        return status;
    le_timing_begin(device, native_stream, &timed);
    status = le_copy_enqueue(device, native_stream, &c->axes, c->target.native, c->source.native, kernel);
    if (status)
        le_timing_drop(device, &timed);
    else
        le_timing_end(device, native_stream, &timed,
                      cost_of(c->target.reach == REACH_PINNED, c->source.reach == REACH_PINNED), c->copy->what,
                      c->size_bytes);
    le_order_end(c->stream, c->uses, c->use_count, status == LEAT_OK);
    return status;
}

/* ---- through the stager: a chunk is a box. It has all axes after `split`, and a part of that one */

struct staged {
    struct le_device *device;
    struct le_device_kernel *kernel;
    struct le_axes axes; /* target: the device's side; source: the user's memory */
    char *memory;
    uint64_t address;
    bool up, as_bool, past_cache;
    int split;
    int64_t part, parts; /* part: a chunk's extent along the split axis; parts: chunks along it */
    char what[WHAT_BYTES];
};

/* The chunk's axes, and the offsets of its first element from the copy's. */
static struct le_axes chunk_axes(const struct staged *s, int64_t chunk, int64_t *on_device, int64_t *in_memory) {
    const struct le_axes *x = &s->axes;
    struct le_axes box = {.size = x->size};
    int64_t outer = chunk / s->parts, start = chunk % s->parts * s->part;
    *on_device = *in_memory = 0;
    if (x->rank == 0)
        return box;
    for (int k = s->split - 1; k >= 0; k--) {
        int64_t at = outer % x->extent[k];
        outer /= x->extent[k];
        *on_device += at * x->target[k];
        *in_memory += at * x->source[k];
    }
    *on_device += start * x->target[s->split];
    *in_memory += start * x->source[s->split];
    for (int k = s->split; k < x->rank; k++) {
        box.extent[box.rank] = x->extent[k];
        box.target[box.rank] = x->target[k];
        box.source[box.rank++] = x->source[k];
    }
    int64_t left = x->extent[s->split] - start;
    box.extent[0] = left < s->part ? left : s->part;
    return box;
}

/* Elements in a slot are dense, in the order of the axes. */
static void dense_strides(const struct le_axes *box, int64_t *strides) {
    int64_t stride = (int64_t)box->size;
    for (int k = box->rank - 1; k >= 0; k--) {
        strides[k] = stride;
        stride *= box->extent[k];
    }
}

static void move_chunk(const void *plan, int64_t chunk, char *slot) {
    const struct staged *s = plan;
    int64_t on_device, in_memory;
    struct le_axes box = chunk_axes(s, chunk, &on_device, &in_memory);
    if (!s->up) {
        memcpy(box.target, box.source, sizeof box.target);
        dense_strides(&box, box.source);
        if (s->past_cache && le_strided_is_run(&box))
            le_copy_past_cache(s->memory + in_memory, slot, (size_t)le_axes_count(&box) * box.size);
        else
            le_strided_copy(&box, s->memory + in_memory, slot);
        return;
    }
    dense_strides(&box, box.target);
    le_strided_copy(&box, slot, s->memory + in_memory);
    if (s->as_bool)
        le_strided_normalize_bools(&box, slot);
}

static leat_status transfer_chunk(const void *plan, int64_t chunk, void *native_stream,
                                  const struct le_staging_buffer *slot) {
    const struct staged *s = plan;
    int64_t on_device, in_memory;
    struct le_axes box = chunk_axes(s, chunk, &on_device, &in_memory);
    uint64_t at = s->address + (uint64_t)on_device, bytes = (uint64_t)le_axes_count(&box) * box.size;
    struct le_copy_side device = {.at = at, .visible = at};
    struct le_copy_side pinned = {.is_host = true, .at = (uint64_t)(uintptr_t)slot->host, .visible = slot->address};
    struct le_timed timed;
    leat_status status;
    le_timing_begin(s->device, native_stream, &timed);
    if (s->up) {
        dense_strides(&box, box.source);
        status = le_copy_enqueue(s->device, native_stream, &box, device, pinned, s->kernel);
    } else {
        memcpy(box.source, box.target, sizeof box.source);
        dense_strides(&box, box.target);
        status = le_copy_enqueue(s->device, native_stream, &box, pinned, device, s->kernel);
    }
    if (status)
        le_timing_drop(s->device, &timed);
    else
        le_timing_end(s->device, native_stream, &timed, s->up ? LEAT_COST_UPLOAD : LEAT_COST_DOWNLOAD, s->what, bytes);
    return status;
}

/* Cuts the copy into chunks of about chunk_bytes, at least one element each. Returns the number of chunks. */
static int64_t cut_chunks(struct staged *s, size_t chunk_bytes) {
    const struct le_axes *x = &s->axes;
    int64_t inner = (int64_t)x->size, chunks = 1;
    s->split = x->rank - 1;
    while (s->split > 0 && inner * x->extent[s->split] <= (int64_t)chunk_bytes)
        inner *= x->extent[s->split--];
    s->part = s->parts = 1;
    if (x->rank == 0)
        return 1;
    s->part = (int64_t)chunk_bytes / inner;
    s->part = s->part < 1 ? 1 : s->part > x->extent[s->split] ? x->extent[s->split] : s->part;
    s->parts = (x->extent[s->split] + s->part - 1) / s->part;
    for (int k = 0; k < s->split; k++)
        chunks *= x->extent[k];
    return chunks * s->parts;
}

/* A chunk size that gives all threads work. If the device is timed, chunks are as large as possible: the gap that the
 * host leaves between an event and its copy counts as copy time, and should be small compared with it. */
static size_t chunk_bytes_for(struct le_device *device, size_t size_bytes) {
    if (le_timing_is_on(device))
        return LE_STAGE_CHUNK_BYTES;
    size_t share = size_bytes / (size_t)(2 * (device->options.copy_threads > 0 ? device->options.copy_threads : 4));
    size_t bytes = share < CHUNK_MIN_BYTES ? CHUNK_MIN_BYTES : share;
    return bytes < LE_STAGE_CHUNK_BYTES ? bytes : LE_STAGE_CHUNK_BYTES;
}

static leat_status ensure_stager(struct le_device *device, struct le_staging **stager) {
    leat_status status = LEAT_OK;
    *stager = atomic_load_explicit(&device->stager, memory_order_acquire);
    if (*stager)
        return LEAT_OK;
    int threads = device->options.copy_threads;
    if (threads <= 0)
        threads = le_cores() < COPY_THREADS_MAX ? le_cores() : COPY_THREADS_MAX;
    pthread_mutex_lock(&device->lock);
    *stager = atomic_load_explicit(&device->stager, memory_order_relaxed);
    if (!*stager) {
        status = le_staging_new(device->ops, device->native, threads, stager);
        if (!status)
            atomic_store_explicit(&device->stager, *stager, memory_order_release);
    }
    pthread_mutex_unlock(&device->lock);
    return status;
}

static void plan_staged(const struct copying *c, struct staged *s) {
    const struct le_copy *copy = c->copy;
    bool up = c->target.reach == REACH_DEVICE;
    int64_t on_device = 0, in_memory = 0;
    *s = (struct staged){.device = c->device,
                         .axes = c->axes,
                         .up = up,
                         .as_bool = up && copy->as_bool,
                         .past_cache = c->size_bytes >= STREAM_MIN_BYTES};
    if (!up) {
        memcpy(s->axes.target, c->axes.source, sizeof s->axes.target);
        memcpy(s->axes.source, c->axes.target, sizeof s->axes.source);
    }
    le_axes_collapse(&s->axes, &on_device, &in_memory);
    s->memory = up ? (char *)(uintptr_t)copy->source_memory : copy->target_memory;
    s->memory += in_memory;
    s->address = (up ? c->target : c->source).native.at + (uint64_t)on_device;
    if (copy->what)
        strncpy(s->what, copy->what, WHAT_BYTES - 1);
}

/* Whether a kernel is faster at the device's side of a chunk. */
static bool chunk_wants_kernel(const struct staged *s) {
    int64_t on_device, in_memory;
    struct le_axes box = chunk_axes(s, 0, &on_device, &in_memory);
    dense_strides(&box, box.source);
    return le_copy_wants_kernel(&box);
}

static void start_job(const struct copying *c, struct le_staging_job *job, bool up) {
    struct le_device_stream *stream = c->stream;
    pthread_mutex_lock(&c->device->lock);
    uint64_t number = le_order_issue(stream, c->uses, c->use_count);
    le_staging_start(job, stream->id, number);
    *(up ? &stream->staged_upload : &stream->staged_download) = number;
    pthread_mutex_unlock(&c->device->lock);
}

static leat_status copy_staged(const struct copying *c) {
    struct staged s;
    struct le_staging *stager;
    struct le_staging_job *job;
    plan_staged(c, &s);
    struct le_staging_work work = {.up = s.up,
                                   .small = c->size_bytes <= LE_STAGE_SMALL_BYTES,
                                   .move = move_chunk,
                                   .transfer = transfer_chunk,
                                   .plan = &s,
                                   .plan_bytes = sizeof s};
    work.chunks = cut_chunks(&s, work.small ? LE_STAGE_SMALL_BYTES : chunk_bytes_for(c->device, c->size_bytes));
    if (chunk_wants_kernel(&s))
        s.kernel = le_copy_kernel(c->device, s.axes.size);
    leat_status status = ensure_stager(c->device, &stager);
    if (!status)
        status = wait_for_allocations(c, false);
    if (!status)
        status = le_staging_job_new(stager, &work, &job);
    if (status)
        return status;
    status = le_order_begin(c->stream, c->uses, c->use_count);
    if (!status)
        status = le_staging_enqueue(job, c->stream->native);
    if (status)
        le_staging_drop(job);
    else
        start_job(c, job, s.up);
    return status;
}

/* ---- any copy */

static leat_status run_copy(const struct copying *c) {
    bool to_host = c->target.reach != REACH_DEVICE, from_host = c->source.reach != REACH_DEVICE;
    bool pageable = c->target.reach == REACH_PAGEABLE || c->source.reach == REACH_PAGEABLE;
    if (to_host && from_host)
        return copy_on_host(c);
    /* pinned memory that one driver copy cannot handle, and that kernels cannot see, is treated as pageable */
    bool unseen = !c->target.native.visible || !c->source.native.visible;
    if (pageable || c->copy->as_bool || (unseen && le_copy_wants_kernel(&c->axes)))
        return copy_staged(c);
    return copy_in_stream(c);
}

/* A pageable source may be reused when the stager is done with it. For the rest, waits for the device. */
static leat_status wait_for_end(const struct copying *c) {
    struct le_point point = le_device_stream_point(c->stream);
    struct le_staging *stager = atomic_load_explicit(&c->device->stager, memory_order_acquire);
    bool to_host = c->target.reach != REACH_DEVICE, from_host = c->source.reach != REACH_DEVICE;
    if (to_host && from_host)
        return LEAT_OK;
    if (c->source.reach == REACH_PAGEABLE || c->copy->as_bool)
        return le_staging_wait(stager, point.stream_id, point.number);
    return c->copy->cause ? le_point_wait_for(c->device, point, c->copy->what, c->copy->cause)
                          : le_point_wait(c->device, point);
}

leat_status le_device_copy(struct le_device_stream *stream, const struct le_copy *copy) {
    struct le_device *device = stream->device;
    struct copying c = {.device = device, .stream = stream, .copy = copy};
    leat_status status = le_device_check(device);
    if (status)
        return status;
    c.axes = (struct le_axes){.rank = copy->rank, .size = copy->element_bytes};
    for (int k = 0; k < copy->rank; k++) {
        if (copy->shape[k] == 0)
            return LEAT_OK;
        c.axes.extent[k] = copy->shape[k];
        c.axes.target[k] = copy->target_strides[k];
        c.axes.source[k] = copy->source_strides[k];
    }
    c.size_bytes = (size_t)le_axes_count(&c.axes) * copy->element_bytes;
    c.target = side_of(device, copy->target, &c.axes, c.axes.target, copy->target_memory);
    c.source = side_of(device, copy->source, &c.axes, c.axes.source, copy->source_memory);
    if (copy->target)
        c.uses[c.use_count++] = (struct le_allocation_use){.allocation = copy->target, .access = LE_ACCESS_WRITE};
    if (copy->source)
        c.uses[c.use_count++] = (struct le_allocation_use){.allocation = copy->source, .access = LE_ACCESS_READ};
    struct le_device_span span;
    le_device_span_begin(device, &span, cost_of(c.target.reach != REACH_DEVICE, c.source.reach != REACH_DEVICE),
                         copy->what ? copy->what : "", copy->cause ? copy->cause : "");
    status = run_copy(&c);
    if (!status && copy->wait)
        status = wait_for_end(&c);
    le_device_span_end(&span, status ? 0 : c.size_bytes);
    return status;
}

static leat_status fill_on_host(struct le_allocation *allocation, size_t size_bytes) {
    leat_status status = le_allocation_wait(allocation, LE_ACCESS_WRITE);
    if (status)
        return status;
    memset(allocation->host, 0, size_bytes);
    le_order_set_error(allocation, LEAT_OK);
    return LEAT_OK;
}

leat_status le_device_fill_zero(struct le_device_stream *stream, struct le_allocation *allocation, size_t size_bytes) {
    struct le_device *device = stream->device;
    const struct le_allocation_use use = {.allocation = allocation, .access = LE_ACCESS_WRITE};
    if (size_bytes == 0)
        return le_device_check(device);
    if (allocation->host)
        return fill_on_host(allocation, size_bytes);
    leat_status status = le_order_begin(stream, &use, 1);
    if (status)
        return status;
    struct le_timed timed;
    bool words = size_bytes % 4 == 0;
    le_timing_begin(device, stream->native, &timed);
    status = device->ops->fill(device->native, stream->native, allocation->address, 0,
                               words ? size_bytes / 4 : size_bytes, words ? 4 : 1);
    if (status)
        le_timing_drop(device, &timed);
    else
        le_timing_end(device, stream->native, &timed, LEAT_COST_KERNEL, "zeros", size_bytes);
    le_order_end(stream, &use, 1, status == LEAT_OK);
    return status;
}
