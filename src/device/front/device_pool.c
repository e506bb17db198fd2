/* Memory pools, one for each kind of memory. Small allocations (up to SMALL_MAX) are cells of chunks that serve one
 * size class; there are eight classes per doubling. Each larger allocation is a chunk of its own, which is reused if
 * that wastes at most an eighth. Plain host memory (the cpu's, and LE_MEMORY_HOST) is not divided into cells: the
 * host's allocator is fast, and memory checkers see each allocation.
 *
 * A released cell keeps the points of its last uses as the order of its next allocation, so the next user is ordered
 * after them, in any stream. So any released cell of the device may be reused. Cells whose points the requesting stream
 * has passed come first. If the caller does not name a stream, and all recent work went to one stream, that stream is
 * assumed. Memory that the host sees is reused only when its points have passed.
 *
 * Releasing calls no driver; chunks above the cap are freed when memory is requested or waited for. Everything runs
 * under the device's lock, except the driver's allocations and frees. */
#include "base/memory.h"
#include "base/environment.h"
#include "device/front/device_state.h"
#include "device/front/staging.h"
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#define SMALL_MAX   ((size_t)1 << 20)
#define CHUNK_BYTES ((size_t)2 << 20)
#define CHUNK_SMALL ((size_t)256 << 10) /* chunk size for cells of up to CELL_SMALL */
#define CELL_SMALL  ((size_t)16 << 10)
#define KEEP_MIN    ((size_t)64 << 10) /* smaller plain host memory is not kept */
#define CACHE_CAP   ((size_t)1 << 30)
#define CHECKED_GAP ((size_t)256) /* gap after each allocation when the simulator checks for accesses past the end */
enum { CLASSES = 72, LARGE = CLASSES, LOOKS = 8, QUERIES = 4, KINDS = LE_MEMORY_MAPPED + 1 };

struct le_cell {
    struct le_allocation allocation; /* first: callers get a pointer to it */
    struct chunk *chunk;
    bool pending; /* in the pending list: released, but its work may not be done */
    struct le_cell *next, *previous;
};
struct cell_list { /* newest first */
    struct le_cell *first, *last;
};
struct chunk {
    struct chunk *next, *previous; /* list of the pool's chunks, oldest first */
    void *host;
    uint64_t address;
    size_t size_bytes;
    int class, live, cell_count;
    struct le_cell cells[];
};
struct pool {
    enum le_memory_kind kind;
    size_t unit_bytes, gap_bytes;
    bool has_cells, host_sees, plain; /* plain: from base/memory.h, not from the backend */
    struct cell_list ready[CLASSES + 1], pending[CLASSES + 1];
    struct chunk *first, *last;
    size_t live_bytes, total_bytes, peak_bytes; /* total: live and cached */
    size_t growing_bytes;                       /* being allocated right now */
    uint64_t trims;
};
struct le_pools {
    struct pool of[KINDS];
};

static bool is_checked(const struct le_device *device) {
    const char *asked = le_environment_get("LEAT_SIM_CHECK");
    return device->ops->memory_note && (device->options.sim_check || (asked && atoi(asked)));
}

leat_status le_pools_new(struct le_device *device) {
    device->pools = le_alloc_zero(1, sizeof *device->pools);
    if (!device->pools)
        return le_fail_out_of_memory(sizeof *device->pools);
    for (int k = 0; k < KINDS; k++) {
        struct pool *pool = &device->pools->of[k];
        pool->kind = (enum le_memory_kind)k;
        pool->plain = k == LE_MEMORY_HOST && !device->limits.host_is_device;
        pool->has_cells = !pool->plain && !device->limits.host_is_device;
        pool->host_sees = k != LE_MEMORY_DEVICE || device->limits.host_is_device;
        pool->gap_bytes = pool->plain || !is_checked(device) ? 0 : CHECKED_GAP;
        pool->unit_bytes = !pool->has_cells ? 64 : k == LE_MEMORY_DEVICE ? 512 : 4096;
    }
    return LEAT_OK;
}

/* ---- sizes */

/* The class of a size, and the capacity of its cells. */
static int class_of(const struct pool *pool, size_t size_bytes, size_t *capacity_bytes) {
    size_t unit = pool->unit_bytes, units = size_bytes ? (size_bytes - 1) / unit + 1 : 1;
    if (!pool->has_cells || size_bytes > SMALL_MAX) {
        size_t page = size_bytes >= SMALL_MAX ? 4096 : unit;
        *capacity_bytes = size_bytes ? (size_bytes - 1) / page * page + page : page;
        return LARGE;
    }
    int shift = 0;
    while (((units - 1) >> shift) >= 16)
        shift++;
    if (units <= 8) {
        *capacity_bytes = units * unit;
        return (int)units - 1;
    }
    size_t eighths = ((units - 1) >> shift) + 1; /* 9 to 16 */
    *capacity_bytes = (eighths << shift) * unit;
    return 8 + 8 * shift + (int)eighths - 9;
}

static size_t cache_cap(const struct le_device *device) {
    if (atomic_load_explicit(&device->closed, memory_order_relaxed))
        return 0;
    return device->options.cache_cap_bytes ? device->options.cache_cap_bytes : CACHE_CAP;
}

/* ---- lists; call with the lock held */

static void push_cell(struct cell_list *cells, struct le_cell *cell) {
    cell->previous = NULL;
    cell->next = cells->first;
    if (cells->first)
        cells->first->previous = cell;
    else
        cells->last = cell;
    cells->first = cell;
}

static void unlink_cell(struct cell_list *cells, struct le_cell *cell) {
    *(cell->previous ? &cell->previous->next : &cells->first) = cell->next;
    *(cell->next ? &cell->next->previous : &cells->last) = cell->previous;
}

static void link_chunk(struct pool *pool, struct chunk *chunk) {
    chunk->previous = pool->last;
    *(pool->last ? &pool->last->next : &pool->first) = chunk;
    pool->last = chunk;
    pool->total_bytes += chunk->size_bytes;
}

static void unlink_chunk(struct pool *pool, struct chunk *chunk) {
    *(chunk->previous ? &chunk->previous->next : &pool->first) = chunk->next;
    *(chunk->next ? &chunk->next->previous : &pool->last) = chunk->previous;
    pool->total_bytes -= chunk->size_bytes;
}

/* ---- which released cells may be reused; call with the lock held */

static bool is_staged(struct le_device *device, const struct pool *pool, struct le_point point) {
    struct le_staging *stager = atomic_load_explicit(&device->stager, memory_order_acquire);
    return pool->plain && stager && !le_staging_is_done(stager, point.stream_id, point.number);
}

/* Whether all uses of the cell have passed, as seen by the stream, or by the host (NULL). ask: asks the driver. Errors
 * count as no. */
static bool has_passed(struct le_device *device, const struct pool *pool, struct le_cell *cell,
                       const struct le_device_stream *stream, bool ask) {
    struct le_point points[1 + LE_ORDER_READS];
    int count = le_order_points(&cell->allocation.order, points);
    for (int k = 0; k < count; k++) {
        bool passed = le_point_passed(device, points[k], stream);
        le_errors_save();
        if (!passed && ask && le_point_query(device, points[k], &passed))
            passed = false;
        le_errors_restore();
        if (!passed || is_staged(device, pool, points[k]))
            return false;
    }
    if (!stream)
        cell->allocation.order = (struct le_order){0};
    return true;
}

static bool cell_fits(const struct le_cell *cell, size_t capacity_bytes) {
    size_t has = cell->allocation.capacity_bytes;
    return has >= capacity_bytes && has - capacity_bytes <= capacity_bytes / 8;
}

static struct le_cell *take_cell(struct pool *pool, struct le_cell *cell) {
    int class = cell->chunk->class;
    unlink_cell(cell->pending ? &pool->pending[class] : &pool->ready[class], cell);
    cell->pending = false;
    return cell;
}

/* Keeps the cell's chunk from being freed. Call it under the same lock under which the cell left a list or entered the
 * pool. */
static void hold_cell(struct le_cell *cell) {
    cell->chunk->live++;
}

static struct le_cell *take_ready(struct pool *pool, int class, size_t capacity_bytes) {
    struct le_cell *best = NULL;
    for (struct le_cell *cell = pool->ready[class].first; cell; cell = cell->next) {
        if (class != LARGE)
            return take_cell(pool, cell);
        if (cell_fits(cell, capacity_bytes) &&
            (!best || cell->allocation.capacity_bytes < best->allocation.capacity_bytes))
            best = cell;
    }
    return best ? take_cell(pool, best) : NULL;
}

/* Among the newest: a cell that the stream may use without waiting, usually the one it used last. */
static struct le_cell *take_in_order(struct le_device *device, struct pool *pool, int class, size_t capacity_bytes,
                                     const struct le_device_stream *stream) {
    int looks = 0;
    for (struct le_cell *cell = pool->pending[class].first; cell && looks < LOOKS; cell = cell->next)
        if (cell_fits(cell, capacity_bytes) && looks++ < LOOKS &&
            has_passed(device, pool, cell, pool->host_sees ? NULL : stream, false))
            return take_cell(pool, cell);
    return NULL;
}

/* Among the oldest: a cell whose work is done, according to the driver. */
static struct le_cell *take_queried(struct le_device *device, struct pool *pool, int class, size_t capacity_bytes) {
    int looks = 0;
    for (struct le_cell *cell = pool->pending[class].last; cell && looks < QUERIES; cell = cell->previous)
        if (cell_fits(cell, capacity_bytes) && looks++ < QUERIES && has_passed(device, pool, cell, NULL, true))
            return take_cell(pool, cell);
    return NULL;
}

/* The oldest that fits, passed or not: its next work will wait in its stream. */
static struct le_cell *take_pending(struct pool *pool, int class, size_t capacity_bytes) {
    if (pool->host_sees)
        return NULL;
    for (struct le_cell *cell = pool->pending[class].last; cell; cell = cell->previous)
        if (cell_fits(cell, capacity_bytes))
            return take_cell(pool, cell);
    return NULL;
}

/* ---- freeing chunks */

/* Removes a chunk from the pool if none of its cells is allocated or used by unfinished work. */
static bool take_chunk(struct le_device *device, struct pool *pool, struct chunk *chunk) {
    if (chunk->live > 0)
        return false;
    for (int k = 0; k < chunk->cell_count; k++) {
        struct le_cell *cell = &chunk->cells[k];
        if (!cell->pending)
            continue;
        if (!atomic_load(&device->failed) && !has_passed(device, pool, cell, NULL, true))
            return false;
        push_cell(&pool->ready[chunk->class], take_cell(pool, cell));
    }
    for (int k = 0; k < chunk->cell_count; k++)
        unlink_cell(&pool->ready[chunk->class], &chunk->cells[k]);
    unlink_chunk(pool, chunk);
    return true;
}

static void free_chunk(struct le_device *device, const struct pool *pool, struct chunk *chunk) {
    if (pool->plain)
        le_free_aligned(chunk->host);
    else
        device->ops->memory_free(device->native, pool->kind, chunk->host, chunk->address, chunk->size_bytes);
    le_free(chunk);
}

/* Frees the oldest chunks that are free, until at most keep_bytes are cached. Call without the lock. */
static void trim_pool(struct le_device *device, struct pool *pool, size_t keep_bytes) {
    struct chunk *out = NULL;
    pthread_mutex_lock(&device->lock);
    for (struct chunk *chunk = pool->first, *next; chunk && pool->total_bytes - pool->live_bytes > keep_bytes;
         chunk = next) {
        next = chunk->next;
        if (take_chunk(device, pool, chunk)) {
            chunk->next = out;
            out = chunk;
        }
    }
    pthread_mutex_unlock(&device->lock);
    while (out) {
        struct chunk *chunk = out;
        out = chunk->next;
        free_chunk(device, pool, chunk);
    }
}

void le_pools_trim(struct le_device *device, bool all) {
    for (int k = 0; k < KINDS; k++)
        trim_pool(device, &device->pools->of[k], all ? 0 : cache_cap(device));
}

void le_pools_free(struct le_device *device) {
    for (int k = 0; device->pools && k < KINDS; k++) {
        struct pool *pool = &device->pools->of[k];
        while (pool->first) {
            struct chunk *chunk = pool->first;
            unlink_chunk(pool, chunk);
            free_chunk(device, pool, chunk);
        }
    }
    le_free(device->pools);
    device->pools = NULL;
}

leat_status le_device_memory_trim(struct le_device *device) {
    leat_status status = le_device_synchronize(device);
    if (!status)
        le_pools_trim(device, true);
    return status;
}

/* ---- allocating chunks */

struct request {
    struct le_device *device;
    struct pool *pool;
    size_t size_bytes, capacity_bytes; /* requested; of the cell */
    int class;
};

static leat_status allocate_chunk(const struct request *request, struct chunk *chunk) {
    struct le_device *device = request->device;
    if (!request->pool->plain)
        return device->ops->memory_new(device->native, request->pool->kind, chunk->size_bytes, &chunk->host,
                                       &chunk->address);
    chunk->host = le_alloc_aligned(chunk->size_bytes);
    return chunk->host ? LEAT_OK : le_fail_out_of_memory(request->size_bytes);
}

static leat_status fail_full(const struct request *request, const struct chunk *chunk, leat_status status) {
    struct le_device *device = request->device;
    char unit[64] = "";
    size_t free_bytes = 0, total_bytes = 0;
    if (status != LEAT_OUT_OF_MEMORY || request->pool->kind != LE_MEMORY_DEVICE || device->limits.host_is_device ||
        device->ops->memory_info(device->native, &free_bytes, &total_bytes))
        return status;
    pthread_mutex_lock(&device->lock);
    size_t live_bytes = request->pool->live_bytes;
    pthread_mutex_unlock(&device->lock);
    if (request->size_bytes <= free_bytes)
        snprintf(unit, sizeof unit, "it needs a piece of %zu bytes, and ", chunk->size_bytes);
    return le_fail(status,
                   "an array of %zu bytes does not fit: %s%zu of the device's %zu bytes are free; this "
                   "context's arrays use %zu",
                   request->size_bytes, unit, free_bytes, total_bytes, live_bytes);
}

/* The backend is out of memory: waits for unfinished work, frees all cached memory, and tries again. */
static leat_status allocate_after_trim(const struct request *request, struct chunk *chunk) {
    struct le_device *device = request->device;
    leat_status status = le_device_synchronize(device);
    if (status)
        return status;
    le_pools_trim(device, true);
    pthread_mutex_lock(&device->lock);
    request->pool->trims++;
    pthread_mutex_unlock(&device->lock);
    return fail_full(request, chunk, allocate_chunk(request, chunk));
}

static struct chunk *new_chunk(const struct request *request) {
    size_t size_bytes = request->capacity_bytes;
    if (request->class != LARGE)
        size_bytes = request->capacity_bytes <= CELL_SMALL ? CHUNK_SMALL : CHUNK_BYTES;
    size_t count = size_bytes / request->capacity_bytes;
    struct chunk *chunk = le_alloc_zero(1, sizeof *chunk + count * sizeof *chunk->cells);
    if (!chunk)
        return NULL;
    chunk->size_bytes = size_bytes;
    chunk->class = request->class;
    chunk->cell_count = (int)count;
    return chunk;
}

static void make_cells(const struct request *request, struct chunk *chunk) {
    for (int k = 0; k < chunk->cell_count; k++) {
        size_t offset = (size_t)k * request->capacity_bytes;
        chunk->cells[k].chunk = chunk;
        chunk->cells[k].allocation = (struct le_allocation){
            .device = request->device,
            .kind = request->pool->kind,
            .host = chunk->host ? (char *)chunk->host + offset : NULL,
            .address = chunk->address ? chunk->address + offset : 0,
            .capacity_bytes = request->capacity_bytes,
            .owned = true,
        };
    }
}

static void note_memory(struct le_device *device, uint64_t address, size_t size_bytes, bool live) {
    if (device->ops->memory_note && address)
        device->ops->memory_note(device->native, address, size_bytes, live);
}

/* Returns a held cell of a new chunk or, if memory has run out, a pending cell, whose next work must wait. */
static leat_status grow_pool(const struct request *request, struct le_cell **cell) {
    struct le_device *device = request->device;
    struct pool *pool = request->pool;
    *cell = NULL;
    trim_pool(device, pool, cache_cap(device));
    struct chunk *chunk = new_chunk(request);
    if (!chunk)
        return le_fail_out_of_memory(sizeof *chunk);
    struct le_device_span span;
    le_device_span_begin(device, &span, LEAT_COST_ALLOCATE, "memory", "");
    leat_status status = allocate_chunk(request, chunk);
    if (status == LEAT_OUT_OF_MEMORY) {
        pthread_mutex_lock(&device->lock);
        *cell = take_pending(pool, request->class, request->capacity_bytes);
        if (*cell)
            hold_cell(*cell);
        pthread_mutex_unlock(&device->lock);
        if (!*cell)
            status = allocate_after_trim(request, chunk);
    }
    le_device_span_end(&span, status ? 0 : chunk->size_bytes);
    if (status || *cell) {
        le_free(chunk);
        return *cell ? LEAT_OK : status;
    }
    make_cells(request, chunk);
    pthread_mutex_lock(&device->lock);
    link_chunk(pool, chunk);
    note_memory(device, chunk->address, chunk->size_bytes, false);
    for (int k = chunk->cell_count - 1; k > 0; k--)
        push_cell(&pool->ready[chunk->class], &chunk->cells[k]);
    *cell = &chunk->cells[0];
    hold_cell(*cell);
    pthread_mutex_unlock(&device->lock);
    return LEAT_OK;
}

/* ---- new and free */

/* Returns a held released cell, if one fits. Otherwise counts the request as growing. Fails if it would exceed the cap.
 * Call with the lock held. */
static leat_status reserve_cell(const struct request *request, struct le_device_stream *stream, struct le_cell **cell) {
    struct le_device *device = request->device;
    struct pool *pool = request->pool;
    size_t cap = device->options.memory_cap_bytes ? device->options.memory_cap_bytes : SIZE_MAX;
    size_t capacity_bytes = request->capacity_bytes;
    int class = request->class;
    size_t used_bytes = pool->live_bytes + pool->growing_bytes;
    if (capacity_bytes > cap || used_bytes > cap - capacity_bytes)
        return le_fail(LEAT_OUT_OF_MEMORY,
                       "an array of %zu bytes does not fit: %zu of the %zu bytes that the options allow are in use",
                       request->size_bytes, used_bytes, cap);
    if (!stream)
        stream = le_stream_recent(device);
    *cell = take_in_order(device, pool, class, capacity_bytes, stream ? stream : device->own);
    if (!*cell)
        *cell = take_ready(pool, class, capacity_bytes);
    if (!*cell)
        *cell = take_queried(device, pool, class, capacity_bytes);
    if (!*cell && pool->total_bytes - pool->live_bytes > cache_cap(device))
        *cell = take_pending(pool, class, capacity_bytes);
    if (*cell)
        hold_cell(*cell);
    else
        pool->growing_bytes += capacity_bytes;
    return LEAT_OK;
}

/* Frees cached memory so that a new chunk stays below the cap. */
static void make_room(const struct request *request) {
    struct pool *pool = request->pool;
    size_t cap = request->device->options.memory_cap_bytes;
    pthread_mutex_lock(&request->device->lock);
    size_t used_bytes = pool->live_bytes + pool->growing_bytes;
    pthread_mutex_unlock(&request->device->lock);
    if (cap)
        trim_pool(request->device, pool, cap > used_bytes ? cap - used_bytes : 0);
}

static leat_status check_size(const struct le_device *device, enum le_memory_kind kind, size_t size_bytes) {
    if (kind == LE_MEMORY_DEVICE && !device->limits.host_is_device && size_bytes > device->limits.memory_bytes)
        return le_fail(LEAT_OUT_OF_MEMORY, "an array of %zu bytes does not fit the device's %zu bytes", size_bytes,
                       device->limits.memory_bytes);
    return size_bytes > PTRDIFF_MAX - CHUNK_BYTES ? le_fail_out_of_memory(size_bytes) : LEAT_OK;
}

static void finish_request(const struct request *request, struct le_cell *cell) {
    struct pool *pool = request->pool;
    pool->live_bytes += cell->allocation.capacity_bytes;
    cell->allocation.size_bytes = request->size_bytes;
    cell->allocation.order.error = LEAT_OK;
    note_memory(request->device, cell->allocation.address, request->size_bytes, true);
    if (pool->total_bytes > pool->peak_bytes)
        pool->peak_bytes = pool->total_bytes;
}

leat_status le_allocation_new(struct le_device *device, enum le_memory_kind kind, size_t size_bytes,
                              struct le_device_stream *stream, struct le_allocation **allocation) {
    struct request request = {.device = device, .pool = &device->pools->of[kind], .size_bytes = size_bytes};
    struct le_cell *cell = NULL;
    leat_status status = le_device_check(device);
    if (!status)
        status = check_size(device, kind, size_bytes);
    if (status)
        return status;
    request.class = class_of(request.pool, size_bytes + request.pool->gap_bytes, &request.capacity_bytes);
    pthread_mutex_lock(&device->lock);
    status = reserve_cell(&request, stream, &cell);
    if (!status && !cell) {
        pthread_mutex_unlock(&device->lock);
        make_room(&request);
        status = grow_pool(&request, &cell);
        pthread_mutex_lock(&device->lock);
        request.pool->growing_bytes -= request.capacity_bytes;
    }
    if (!status)
        finish_request(&request, cell);
    pthread_mutex_unlock(&device->lock);
    if (status)
        return status;
    le_device_retain(device);
    *allocation = &cell->allocation;
    return LEAT_OK;
}

/* Whether a released cell is cached. Memory that is too small to keep, or that a closed device will not use again, is
 * freed at once. */
static bool is_kept(const struct le_device *device, const struct pool *pool, const struct le_cell *cell) {
    if (pool->has_cells)
        return !atomic_load_explicit(&device->closed, memory_order_relaxed);
    return cell->allocation.capacity_bytes >= KEEP_MIN && pool->total_bytes - pool->live_bytes <= cache_cap(device);
}

static void release_cell(struct le_device *device, struct le_cell *cell) {
    struct pool *pool = &device->pools->of[cell->allocation.kind];
    struct chunk *chunk = cell->chunk, *out = NULL;
    pthread_mutex_lock(&device->lock);
    note_memory(device, cell->allocation.address, cell->allocation.size_bytes, false);
    chunk->live--;
    pool->live_bytes -= cell->allocation.capacity_bytes;
    cell->pending = !has_passed(device, pool, cell, NULL, false);
    push_cell(cell->pending ? &pool->pending[chunk->class] : &pool->ready[chunk->class], cell);
    if (!is_kept(device, pool, cell) && take_chunk(device, pool, chunk))
        out = chunk;
    pthread_mutex_unlock(&device->lock);
    if (out)
        free_chunk(device, pool, out);
}

/* When the simulator checks accesses, waits for copies that are not enqueued yet: they would be reported as a use after
 * free. */
static void settle_for_checks(struct le_allocation *allocation) {
    struct le_device *device = allocation->device;
    struct le_point points[1 + LE_ORDER_READS];
    if (!device->pools->of[LE_MEMORY_DEVICE].gap_bytes)
        return;
    pthread_mutex_lock(&device->lock);
    int count = le_order_points(&allocation->order, points);
    pthread_mutex_unlock(&device->lock);
    for (int k = 0; k < count; k++)
        le_stream_settle(device, points[k].stream_id);
}

void le_allocation_free(struct le_allocation *allocation) {
    if (!allocation || le_device_forked(allocation->device))
        return;
    struct le_device *device = allocation->device;
    settle_for_checks(allocation);
    if (allocation->owned)
        release_cell(device, (struct le_cell *)allocation);
    else
        le_free(allocation);
    le_device_release(device);
}

leat_status le_device_memory_use(struct le_device *device, enum le_memory_kind kind, struct le_memory_usage *use) {
    const struct pool *pool = &device->pools->of[kind];
    size_t total_bytes;
    leat_status status = le_device_check(device);
    if (status)
        return status;
    *use = (struct le_memory_usage){.cap_bytes = device->options.memory_cap_bytes};
    if (kind == LE_MEMORY_DEVICE)
        status = device->ops->memory_info(device->native, &use->device_free_bytes, &total_bytes);
    pthread_mutex_lock(&device->lock);
    use->live_bytes = pool->live_bytes;
    use->kept_bytes = pool->total_bytes - pool->live_bytes;
    use->peak_bytes = pool->peak_bytes;
    use->trims = pool->trims;
    pthread_mutex_unlock(&device->lock);
    return status;
}
