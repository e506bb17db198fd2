/* An array: an element type, a shape and strides over a buffer, which views share. Files, views and copies are in other
 * files of this room. What an array means to a program is not known here.
 *
 * On the CPU a buffer is plain memory. In a context on another device it also has a le_allocation, which keeps the
 * order of the work on it and may be memory that the host cannot read. Code that touches elements asks
 * le_array_is_on_host first, or calls le_array_host.
 *
 * A new array of a device that is still being opened (le_device_is_opening) may be deferred: it has no memory yet. When
 * it is materialized, it gets its memory and the elements that were written to it until then. Functions of the api
 * materialize an array before anyone but a call looks at it. A call does so when it runs, while the first kernel
 * compiles.
 *
 * Fields do not change while an array is shared, except that materializing sets those of a deferred one. The caller
 * orders access to the elements. Any thread. */
#ifndef LE_ARRAY_H
#define LE_ARRAY_H
#include "array/pool.h"
#include "device/front/device.h"
#include <stdatomic.h>

enum le_buffer_kind {
    LE_BUFFER_POOL,      /* memory from the pool */
    LE_BUFFER_MAPPED,    /* a mapped file */
    LE_BUFFER_USER,      /* the caller's memory: release(user) gives it back, if not NULL */
    LE_BUFFER_ALLOCATION /* the allocation's own memory */
};
struct le_buffer {
    atomic_int refcount;
    enum le_buffer_kind kind;
    struct le_memory_pool *pool; /* retained, whatever the kind */
    void *memory;
    size_t size_bytes;
    void (*release)(void *user);
    void *user;
    struct le_allocation *allocation; /* NULL: on the CPU */
    bool is_borrowed;                 /* the allocation is not owned: `release` gives it back */
    struct le_deferred *deferred;     /* NULL, or how to get the allocation */
    atomic_bool is_deferred;          /* no allocation yet; the only array over it has no data: le_array_materialize */
};

struct leat_array {
    atomic_int refcount;
    leat_dtype dtype;
    int rank;
    int64_t shape[LEAT_RANK_MAX];
    int64_t strides[LEAT_RANK_MAX]; /* in elements */
    void *data; /* address of element [0,...,0]; a device address if the host cannot read the memory */
    bool read_only;
    struct le_buffer *buffer;
};

/* Computes row-major strides and the size. LEAT_INVALID if the type, the rank, an extent or the product of the nonzero
 * extents is invalid. */
leat_status le_shape_check(leat_dtype dtype, int rank, const int64_t *shape, int64_t *strides, size_t *size_bytes);

/* A new dense array from the pool. zero: its elements are 0; else they are undefined. */
leat_status le_array_new(struct le_memory_pool *pool, leat_dtype dtype, int rank, const int64_t *shape, bool zero,
                         leat_array **array);
/* Changes the type and shape of an array that has no other references. The total size in bytes must stay the same. */
void le_array_renew(leat_array *array, leat_dtype dtype, int rank, const int64_t *shape);
/* A new array over the caller's memory, or over a mapping of size_bytes bytes at `memory`. Strides of axes with at most
 * one element are replaced by dense ones. On failure the memory is not released. */
leat_status le_array_wrap(struct le_memory_pool *pool, const leat_description *description, void (*release)(void *user),
                          void *user, leat_array **array);
leat_status le_array_wrap_mapping(struct le_memory_pool *pool, const leat_description *description, void *memory,
                                  size_t size_bytes, leat_array **array);
/* Where a context's arrays live. The functions below are like those above, for arrays of a context. */
struct le_array_home {
    struct le_memory_pool *pool;
    struct le_device *device;        /* NULL: the CPU, where all memory is host memory */
    struct le_device_stream *stream; /* in which new arrays are zeroed and loaded */
};
leat_status le_array_new_at(const struct le_array_home *home, leat_memory memory, leat_dtype dtype, int rank,
                            const int64_t *shape, bool zero, leat_array **array);
/* A new array in the device's own memory; it may be deferred. */
leat_status le_array_new_deferred(const struct le_array_home *home, leat_dtype dtype, int rank, const int64_t *shape,
                                  bool zero, leat_array **array);
leat_status le_array_wrap_at(const struct le_array_home *home, const leat_description *description,
                             void (*release)(void *user), void *user, leat_array **array);
/* An array that shows one memory of the caller's after another. It has no elements until le_array_place changes it to
 * the description, or fails as le_array_wrap does and changes nothing. The kind of memory is not checked. Placing the
 * array drops its record of work on the previous memory, so the caller must order that work. The array must not be
 * shared between threads. */
leat_status le_array_new_unplaced(const struct le_array_home *home, leat_array **array);
leat_status le_array_place(leat_array *array, const leat_description *description);
void le_array_forget_order(const leat_array *array); /* what placing it once more would do */
/* A new u8[n] array over an allocation that it does not own. The allocation must stay valid until release(user) is
 * called. */
leat_status le_array_borrow_allocation(struct le_memory_pool *pool, struct le_allocation *allocation,
                                       void (*release)(void *user), void *user, leat_array **array);
/* A new array in the device's own memory with the elements of a host array; on the CPU the same array, retained. */
leat_status le_array_upload(const struct le_array_home *home, leat_array *array, leat_array **uploaded);

static inline bool le_array_is_deferred(const leat_array *array) {
    return atomic_load_explicit(&array->buffer->is_deferred, memory_order_acquire);
}
leat_status le_array_materialize(const leat_array *array); /* waits for the device if the array is deferred */
/* Stores a host array, which is retained, as the elements of a deferred array. false: the array is no longer deferred.
 */
bool le_array_load_deferred(const leat_array *array, leat_array *source);
struct le_device *le_array_device(const leat_array *array); /* NULL: on the CPU */

leat_array *le_array_retain(leat_array *array);
void le_array_free(leat_array *array); /* NULL is accepted */

size_t le_array_count(const leat_array *array); /* number of elements */
size_t le_array_bytes(const leat_array *array); /* size of the elements when dense */
/* Row-major and dense. Strides of axes with at most one element do not matter. */
bool le_array_is_contiguous(const leat_array *array);
bool le_array_repeats(const leat_array *array); /* whether two of its elements share memory */
/* The address range of the elements, [*low, *high); empty if there are none. */
void le_array_range(const leat_array *array, const char **low, const char **high);
bool le_array_overlaps(const leat_array *a,
                       const leat_array *b); /* whether these ranges overlap; the elements may still be disjoint */
/* Whether an element of a and one of b share memory. Also true if finding out would take too long. */
bool le_array_shares(const leat_array *a, const leat_array *b);

/* Views, which share and retain the buffer. */
leat_status le_array_slice(leat_array *array, const int64_t *start, const int64_t *stop, const int64_t *step,
                           leat_array **view);
leat_status le_array_transpose(leat_array *array, const int *axes, leat_array **view); /* NULL: reversed */
leat_status le_array_reshape(leat_array *array, int rank, const int64_t *shape, leat_array **view);

static inline bool le_array_is_on_host(const leat_array *array) {
    return !array->buffer->allocation || array->buffer->allocation->host;
}
leat_memory le_array_memory(const leat_array *array);
/* Waits for the work on the array and returns its elements where the host can read them: array itself, retained, or a
 * dense copy. */
leat_status le_array_host(const leat_array *array, leat_array **host);

/* ---- elements in host memory; work on the arrays must be done */

/* Copies between arrays of the same type and shape, which must not overlap. The caller has checked this. */
void le_array_copy(const leat_array *target, const leat_array *source);
/* Copy from or to dense host memory of exactly le_array_bytes bytes. Writing normalizes bools to 0 or 1. */
void le_array_write(const leat_array *array, const void *source);
void le_array_read(const leat_array *array, void *target);
/* The element of a real type at that address as a double; 64-bit integers are rounded. */
double le_real_element(leat_dtype dtype, const void *at);
/* A dense row-major array of the same elements; array itself, retained, if it is dense. */
leat_status le_array_dense(leat_array *array, leat_array **dense);
/* ---- copies between any kinds of memory, in a stream of the arrays' device (NULL: the CPU, done at once). wait:
 * return when the host may use the target's elements, or reuse the source. */

leat_status le_array_copy_in(const leat_array *target, const leat_array *source, struct le_device_stream *stream,
                             bool wait);
/* The same with the texts for the ledger. At least one of the arrays has an allocation. */
leat_status le_array_copy_as(const leat_array *target, const leat_array *source, struct le_device_stream *stream,
                             bool wait, const char *what, const char *cause);
leat_status le_array_write_in(const leat_array *array, const void *source, struct le_device_stream *stream, bool wait);
leat_status le_array_read_in(const leat_array *array, void *target, struct le_device_stream *stream, bool wait);

/* Writes and returns "f32[3,4]". */
#define LE_SHAPE_TEXT_MAX 200
const char *le_array_describe(const leat_array *array, char text[LE_SHAPE_TEXT_MAX]);
#endif
