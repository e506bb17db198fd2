/* Creates and frees arrays and their buffers, and answers questions about their layout. */
#include "array/array.h"
#include "spec/type.h"
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define DEFERRED_BYTES_MAX ((size_t)16 << 20)

leat_status le_shape_check(leat_dtype dtype, int rank, const int64_t *shape, int64_t *strides, size_t *size_bytes) {
    if (dtype < LEAT_BOOL || dtype > LEAT_C128)
        return le_fail(LEAT_INVALID, "%d is not an element type", (int)dtype);
    if (rank < 0 || rank > LEAT_RANK_MAX)
        return le_fail(LEAT_INVALID, "rank %d: an array has 0 to %d axes", rank, LEAT_RANK_MAX);
    int64_t product = (int64_t)le_type_size((enum le_type)dtype), unit = product;
    bool empty = false;
    for (int k = rank - 1; k >= 0; k--) {
        if (shape[k] < 0)
            return le_fail(LEAT_INVALID, "extent %" PRId64 " of axis %d is negative", shape[k], k);
        strides[k] = product / unit;
        empty = empty || shape[k] == 0;
        if (shape[k] && !le_mul_i64(product, shape[k], &product))
            return le_fail(LEAT_INVALID, "the product of the extents is too large");
    }
    *size_bytes = empty ? 0 : (size_t)product;
    return LEAT_OK;
}

/* ---- buffers */

struct le_deferred {
    struct le_array_home home; /* the device is retained */
    bool zero;
    pthread_mutex_t lock; /* guards source, and materializing */
    leat_array *source;   /* in host memory: the elements to load; NULL: none were written */
};

static void free_deferred(struct le_deferred *deferred) {
    if (!deferred)
        return;
    le_array_free(deferred->source);
    le_device_release(deferred->home.device);
    pthread_mutex_destroy(&deferred->lock);
    le_free(deferred);
}

static void release_buffer(struct le_buffer *buffer) {
    if (atomic_fetch_sub_explicit(&buffer->refcount, 1, memory_order_acq_rel) != 1)
        return;
    struct le_memory_pool *pool = buffer->pool;
    le_errors_save();
    if (buffer->allocation && !buffer->is_borrowed) {
        if (buffer->kind != LE_BUFFER_ALLOCATION &&
            buffer->release) /* the memory goes back to the caller, so wait for the work on it */
            (void)le_allocation_wait(buffer->allocation, LE_ACCESS_WRITE);
        le_allocation_free(buffer->allocation);
    }
    free_deferred(buffer->deferred);
    le_errors_restore();
    switch (buffer->kind) {
    case LE_BUFFER_POOL:
        le_memory_pool_give(pool, buffer->memory, buffer->size_bytes);
        break;
    case LE_BUFFER_MAPPED:
        munmap(buffer->memory, buffer->size_bytes);
        break;
    case LE_BUFFER_USER:
        if (buffer->release)
            buffer->release(buffer->user);
        break;
    case LE_BUFFER_ALLOCATION:
        break;
    }
    le_free(buffer);
    le_memory_pool_release(pool);
}

/* Creates an array and its buffer, without memory for the elements. */
static leat_status new_pair(struct le_memory_pool *pool, leat_dtype dtype, int rank, const int64_t *shape,
                            const int64_t *strides, leat_array **array) {
    leat_array *made = le_alloc_zero(1, sizeof *made);
    struct le_buffer *buffer = le_alloc_zero(1, sizeof *buffer);
    if (!made || !buffer) {
        le_free(made);
        le_free(buffer);
        return le_fail_out_of_memory(sizeof *made + sizeof *buffer);
    }
    atomic_init(&made->refcount, 1);
    atomic_init(&buffer->refcount, 1);
    buffer->pool = le_memory_pool_retain(pool);
    made->buffer = buffer;
    made->dtype = dtype;
    made->rank = rank;
    for (int k = 0; k < rank; k++) {
        made->shape[k] = shape[k];
        made->strides[k] = strides[k];
    }
    *array = made;
    return LEAT_OK;
}

static void free_pair(leat_array *array) {
    struct le_memory_pool *pool = array->buffer->pool;
    le_free(array->buffer);
    le_free(array);
    le_memory_pool_release(pool);
}

leat_status le_array_new(struct le_memory_pool *pool, leat_dtype dtype, int rank, const int64_t *shape, bool zero,
                         leat_array **array) {
    int64_t strides[LEAT_RANK_MAX];
    size_t size_bytes;
    leat_status status = le_shape_check(dtype, rank, shape, strides, &size_bytes);
    if (status)
        return status;
    leat_array *made;
    status = new_pair(pool, dtype, rank, shape, strides, &made);
    if (status)
        return status;
    made->buffer->kind = LE_BUFFER_POOL;
    status = le_memory_pool_take(pool, size_bytes, zero, &made->buffer->memory, &made->buffer->size_bytes);
    if (status) {
        free_pair(made);
        return status;
    }
    made->data = made->buffer->memory;
    *array = made;
    return LEAT_OK;
}

void le_array_renew(leat_array *array, leat_dtype dtype, int rank, const int64_t *shape) {
    array->dtype = dtype;
    array->rank = rank;
    for (int64_t k = rank - 1, stride = 1; k >= 0; k--) {
        array->shape[k] = shape[k];
        array->strides[k] = stride;
        stride *= shape[k] > 0 ? shape[k] : 1;
    }
}

/* The range of the elements, [low, high) in bytes from data; false on overflow. */
static bool extent_bytes(const leat_description *d, int64_t *low, int64_t *high) {
    int64_t least = 0, most = 0, size = (int64_t)le_type_size((enum le_type)d->dtype);
    for (int k = 0; k < d->rank; k++) {
        int64_t reach;
        if (!le_mul_i64(d->shape[k] - 1, d->strides[k], &reach) || !le_mul_i64(reach, size, &reach) ||
            !le_add_i64(reach < 0 ? least : most, reach, reach < 0 ? &least : &most))
            return false;
    }
    *low = least;
    return least > -INT64_MAX && le_add_i64(most, size, high);
}

/* Checks a description and returns the array's strides. The stride of an axis with at most one element is never used
 * and may be arbitrary, so it is replaced by the dense one, whose products do not overflow. */
static leat_status check_description(const leat_description *d, int64_t *strides) {
    int64_t low, high;
    size_t size_bytes;
    leat_status status = le_shape_check(d->dtype, d->rank, d->shape, strides, &size_bytes);
    if (status || size_bytes == 0)
        return status;
    for (int k = 0; k < d->rank; k++)
        if (d->shape[k] > 1)
            strides[k] = d->strides[k];
    if (!d->data)
        return le_fail(LEAT_INVALID, "data is NULL, and the array has elements");
    if ((uintptr_t)d->data % le_type_size(le_type_part((enum le_type)d->dtype)))
        return le_fail(LEAT_INVALID, "data is not aligned for its type, %s", le_type_name((enum le_type)d->dtype));
    uintptr_t at = (uintptr_t)d->data, end;
    if (!extent_bytes(d, &low, &high) || at < (uintptr_t)-low || __builtin_add_overflow(at, (uintptr_t)high, &end))
        return le_fail(LEAT_INVALID, "the strides exceed the address space");
    return LEAT_OK;
}

static leat_status wrap(struct le_memory_pool *pool, const leat_description *description, leat_array **array) {
    int64_t strides[LEAT_RANK_MAX];
    leat_status status = check_description(description, strides);
    if (status)
        return status;
    leat_array *made;
    status = new_pair(pool, description->dtype, description->rank, description->shape, strides, &made);
    if (status)
        return status;
    made->data = description->data;
    made->read_only = description->read_only;
    *array = made;
    return LEAT_OK;
}

leat_status le_array_wrap(struct le_memory_pool *pool, const leat_description *description, void (*release)(void *user),
                          void *user, leat_array **array) {
    leat_status status = wrap(pool, description, array);
    if (status)
        return status;
    (*array)->buffer->kind = LE_BUFFER_USER;
    (*array)->buffer->memory = description->data;
    (*array)->buffer->release = release;
    (*array)->buffer->user = user;
    return LEAT_OK;
}

leat_status le_array_wrap_mapping(struct le_memory_pool *pool, const leat_description *description, void *memory,
                                  size_t size_bytes, leat_array **array) {
    leat_status status = wrap(pool, description, array);
    if (status)
        return status;
    (*array)->buffer->kind = LE_BUFFER_MAPPED;
    (*array)->buffer->memory = memory;
    (*array)->buffer->size_bytes = size_bytes;
    return LEAT_OK;
}

/* ---- in the context of a device */

static enum le_memory_kind kind_of(leat_memory memory) {
    static const enum le_memory_kind kinds[] = {[LEAT_MEMORY_DEVICE] = LE_MEMORY_DEVICE,
                                                [LEAT_MEMORY_HOST] = LE_MEMORY_HOST,
                                                [LEAT_MEMORY_PINNED] = LE_MEMORY_PINNED,
                                                [LEAT_MEMORY_MAPPED] = LE_MEMORY_MAPPED};
    return kinds[memory];
}

static leat_status check_memory(leat_memory memory) {
    if ((unsigned)memory > LEAT_MEMORY_MAPPED)
        return le_fail(LEAT_INVALID, "%d is not a kind of memory", (int)memory);
    return LEAT_OK;
}

/* Registers the array's existing host memory with a device, which orders its work on it from now on. */
static leat_status track_host_memory(struct le_device *device, enum le_memory_kind kind, leat_array *array) {
    const char *low, *high;
    le_array_range(array, &low, &high);
    return le_allocation_wrap(device, kind, (void *)(uintptr_t)low, (size_t)(high - low), &array->buffer->allocation);
}

static leat_status new_allocation(const struct le_array_home *home, enum le_memory_kind kind, size_t size_bytes,
                                  bool zero, leat_array *array) {
    struct le_allocation *allocation;
    leat_status status =
        le_allocation_new(home->device, kind, size_bytes ? size_bytes : 1, zero ? home->stream : NULL, &allocation);
    if (status)
        return status;
    array->buffer->kind = LE_BUFFER_ALLOCATION;
    array->buffer->allocation = allocation;
    array->data = allocation->host ? allocation->host : (void *)(uintptr_t)allocation->address;
    return zero ? le_device_fill_zero(home->stream, allocation, size_bytes) : LEAT_OK;
}

/* ---- deferred arrays */

/* A large array is not worth the extra copy. Scalars and complex arrays are read when they are bound, so deferring
 * gains nothing. */
static bool may_be_deferred(const struct le_array_home *home, const leat_array *array) {
    size_t size_bytes = le_array_bytes(array);
    return array->rank > 0 && size_bytes > 0 && size_bytes <= DEFERRED_BYTES_MAX && array->dtype != LEAT_C64 &&
           array->dtype != LEAT_C128 && le_device_is_opening(home->device);
}

static leat_status make_deferred(const struct le_array_home *home, bool zero, leat_array *array) {
    struct le_deferred *deferred = le_alloc_zero(1, sizeof *deferred);
    if (!deferred)
        return le_fail_out_of_memory(sizeof *deferred);
    deferred->home = *home;
    deferred->zero = zero;
    le_device_retain(home->device);
    pthread_mutex_init(&deferred->lock, NULL);
    array->buffer->kind = LE_BUFFER_ALLOCATION;
    array->buffer->deferred = deferred;
    atomic_init(&array->buffer->is_deferred, true);
    return LEAT_OK;
}

static leat_status give_memory(const struct le_deferred *deferred, leat_array *array) {
    leat_array *source = deferred->source;
    leat_status status =
        new_allocation(&deferred->home, LE_MEMORY_DEVICE, le_array_bytes(array), deferred->zero && !source, array);
    if (!status && source)
        status = le_array_copy_as(array, source, deferred->home.stream, true, "to an array", NULL);
    if (status && array->buffer->allocation) {
        le_allocation_free(array->buffer->allocation);
        array->buffer->allocation = NULL;
        array->data = NULL;
    }
    return status;
}

/* Casts away const: materializing is invisible to users of the array, and this is the only function that does it. */
leat_status le_array_materialize(const leat_array *array) {
    struct le_buffer *buffer = array->buffer;
    struct le_deferred *deferred = buffer->deferred;
    leat_status status = LEAT_OK;
    if (!le_array_is_deferred(array))
        return LEAT_OK;
    pthread_mutex_lock(&deferred->lock);
    if (le_array_is_deferred(array))
        status = give_memory(deferred, (leat_array *)(uintptr_t)array);
    if (!status) {
        le_array_free(deferred->source);
        deferred->source = NULL;
        atomic_store_explicit(&buffer->is_deferred, false, memory_order_release);
    }
    pthread_mutex_unlock(&deferred->lock);
    return status;
}

bool le_array_load_deferred(const leat_array *array, leat_array *source) {
    struct le_deferred *deferred = array->buffer->deferred;
    if (!le_array_is_deferred(array))
        return false;
    pthread_mutex_lock(&deferred->lock);
    bool is_deferred = le_array_is_deferred(array);
    leat_array *before = is_deferred ? deferred->source : NULL;
    if (is_deferred)
        deferred->source = le_array_retain(source);
    pthread_mutex_unlock(&deferred->lock);
    le_array_free(before);
    return is_deferred;
}

struct le_device *le_array_device(const leat_array *array) {
    const struct le_buffer *buffer = array->buffer;
    return buffer->deferred ? buffer->deferred->home.device : buffer->allocation ? buffer->allocation->device : NULL;
}

/* ---- where a context's arrays live */

static leat_status new_at(const struct le_array_home *home, leat_memory memory, leat_dtype dtype, int rank,
                          const int64_t *shape, bool zero, bool deferred, leat_array **array) {
    int64_t strides[LEAT_RANK_MAX];
    size_t size_bytes;
    leat_array *made;
    if (!home->device)
        return le_array_new(home->pool, dtype, rank, shape, zero, array);
    leat_status status = le_shape_check(dtype, rank, shape, strides, &size_bytes);
    if (!status)
        status = new_pair(home->pool, dtype, rank, shape, strides, &made);
    if (status)
        return status;
    status = deferred && may_be_deferred(home, made) ? make_deferred(home, zero, made)
                                                     : new_allocation(home, kind_of(memory), size_bytes, zero, made);
    if (!status)
        *array = made;
    else if (made->buffer->allocation)
        le_array_free(made);
    else
        free_pair(made);
    return status;
}

leat_status le_array_new_at(const struct le_array_home *home, leat_memory memory, leat_dtype dtype, int rank,
                            const int64_t *shape, bool zero, leat_array **array) {
    leat_status status = check_memory(memory);
    return status ? status : new_at(home, memory, dtype, rank, shape, zero, false, array);
}

leat_status le_array_new_deferred(const struct le_array_home *home, leat_dtype dtype, int rank, const int64_t *shape,
                                  bool zero, leat_array **array) {
    return new_at(home, LEAT_MEMORY_DEVICE, dtype, rank, shape, zero, true, array);
}

leat_status le_array_wrap_at(const struct le_array_home *home, const leat_description *description,
                             void (*release)(void *user), void *user, leat_array **array) {
    leat_array *made;
    leat_status status = check_memory(description->memory);
    if (!status)
        status = le_array_wrap(home->pool, description, NULL, NULL, &made);
    if (status)
        return status;
    if (home->device && (status = track_host_memory(home->device, kind_of(description->memory), made))) {
        le_array_free(made);
        return status;
    }
    made->buffer->release = release;
    made->buffer->user = user;
    *array = made;
    return LEAT_OK;
}

leat_status le_array_new_unplaced(const struct le_array_home *home, leat_array **array) {
    leat_array *made;
    leat_status status = new_pair(home->pool, LEAT_U8, 1, (const int64_t[]){0}, (const int64_t[]){1}, &made);
    if (status)
        return status;
    made->buffer->kind = LE_BUFFER_USER;
    if (home->device)
        status = le_allocation_wrap(home->device, LE_MEMORY_HOST, NULL, 0, &made->buffer->allocation);
    if (status)
        free_pair(made);
    else
        *array = made;
    return status;
}

leat_status le_array_place(leat_array *array, const leat_description *description) {
    int64_t strides[LEAT_RANK_MAX];
    const char *low, *high;
    leat_status status = check_memory(description->memory);
    if (!status)
        status = check_description(description, strides);
    if (status)
        return status;
    array->dtype = description->dtype;
    array->rank = description->rank;
    memcpy(array->shape, description->shape, (size_t)description->rank * sizeof *array->shape);
    memcpy(array->strides, strides, (size_t)description->rank * sizeof *array->strides);
    array->data = array->buffer->memory = description->data;
    array->read_only = description->read_only;
    if (!array->buffer->allocation)
        return LEAT_OK;
    le_array_range(array, &low, &high);
    le_allocation_place(array->buffer->allocation, kind_of(description->memory), (void *)(uintptr_t)low,
                        (size_t)(high - low));
    return LEAT_OK;
}

void le_array_forget_order(const leat_array *array) {
    if (array->buffer->allocation)
        le_allocation_forget_order(array->buffer->allocation);
}

leat_status le_array_borrow_allocation(struct le_memory_pool *pool, struct le_allocation *allocation,
                                       void (*release)(void *user), void *user, leat_array **array) {
    const int64_t shape[] = {(int64_t)allocation->size_bytes}, strides[] = {1};
    leat_status status = new_pair(pool, LEAT_U8, 1, shape, strides, array);
    if (status)
        return status;
    struct le_buffer *buffer = (*array)->buffer;
    buffer->kind = LE_BUFFER_USER;
    buffer->allocation = allocation;
    buffer->is_borrowed = true;
    buffer->release = release;
    buffer->user = user;
    (*array)->data = allocation->host ? allocation->host : (void *)(uintptr_t)allocation->address;
    return LEAT_OK;
}

leat_memory le_array_memory(const leat_array *array) {
    static const leat_memory memories[] = {[LE_MEMORY_DEVICE] = LEAT_MEMORY_DEVICE,
                                           [LE_MEMORY_HOST] = LEAT_MEMORY_HOST,
                                           [LE_MEMORY_PINNED] = LEAT_MEMORY_PINNED,
                                           [LE_MEMORY_MAPPED] = LEAT_MEMORY_MAPPED};
    return array->buffer->allocation ? memories[array->buffer->allocation->kind] : LEAT_MEMORY_DEVICE;
}

leat_array *le_array_retain(leat_array *array) {
    atomic_fetch_add_explicit(&array->refcount, 1, memory_order_relaxed);
    return array;
}

/* In a child after fork() nothing is freed: the memory belongs to the parent. */
void le_array_free(leat_array *array) {
    if (!array || le_memory_pool_forked(array->buffer->pool))
        return;
    if (atomic_fetch_sub_explicit(&array->refcount, 1, memory_order_acq_rel) != 1)
        return;
    struct le_buffer *buffer = array->buffer;
    le_free(array);
    release_buffer(buffer);
}

/* ---- layout */

size_t le_array_count(const leat_array *array) {
    size_t count = 1;
    for (int k = 0; k < array->rank; k++)
        count *= (size_t)array->shape[k];
    return count;
}

size_t le_array_bytes(const leat_array *array) {
    return le_array_count(array) * le_type_size((enum le_type)array->dtype);
}

bool le_array_is_contiguous(const leat_array *array) {
    int64_t dense = 1;
    bool fits = true;
    for (int k = array->rank - 1; k >= 0; k--) {
        if (array->shape[k] == 0)
            return true;
        if (array->shape[k] > 1 && array->strides[k] != dense)
            fits = false;
        dense *= array->shape[k];
    }
    return fits;
}

void le_array_range(const leat_array *array, const char **low, const char **high) {
    int64_t size = (int64_t)le_type_size((enum le_type)array->dtype), least = 0, most = size;
    for (int k = 0; k < array->rank; k++) {
        if (array->shape[k] == 0) {
            *low = *high = array->data;
            return;
        }
        int64_t reach = (array->shape[k] - 1) * array->strides[k] * size;
        *(reach < 0 ? &least : &most) += reach;
    }
    *low = (const char *)array->data + least;
    *high = (const char *)array->data + most;
}

bool le_array_overlaps(const leat_array *a, const leat_array *b) {
    const char *a_low, *a_high, *b_low, *b_high;
    le_array_range(a, &a_low, &a_high);
    le_array_range(b, &b_low, &b_high);
    return a_low < a_high && b_low < b_high && a_low < b_high && b_low < a_high;
}

const char *le_array_describe(const leat_array *array, char text[LE_SHAPE_TEXT_MAX]) {
    size_t length = (size_t)snprintf(text, LE_SHAPE_TEXT_MAX, "%s[", le_type_name((enum le_type)array->dtype));
    for (int k = 0; k < array->rank; k++)
        length +=
            (size_t)snprintf(text + length, LE_SHAPE_TEXT_MAX - length, k ? ",%" PRId64 : "%" PRId64, array->shape[k]);
    snprintf(text + length, LE_SHAPE_TEXT_MAX - length, "]");
    return text;
}
