/* An array: a type, a shape and strides over a buffer that it shares with its views. Files, views and copies are in
 * files of their own; what an array means to a program is not known here.
 *
 * On the CPU a buffer is plain memory. In the context of another device it has a block besides, which keeps the order
 * of the work on it, and may be memory that the host cannot read: whoever touches elements asks le_array_is_on_host, or
 * takes le_array_host.
 *
 * A new array of a device that is still being opened (le_device_is_opening) may be late: its memory is got, and what
 * was written to it by then is put there, when it is settled. The api settles arrays before anything but a call sees
 * them, a call at its run, when the first kernel is compiled.
 *
 * The fields of an array do not change while anyone else holds it, but for those of a late one as it is settled; its
 * elements are the caller's to order. Any thread.
 */
#ifndef LE_ARRAY_H
#define LE_ARRAY_H
#include "array/pool.h"
#include "device/front/device.h"
#include <stdatomic.h>

enum le_buffer_kind {
    LE_BUFFER_POOL,      /* memory of the pool's */
    LE_BUFFER_MAPPED,    /* a mapped file */
    LE_BUFFER_USER,      /* the caller's: release(user) gives it back, if there is one */
    LE_BUFFER_ALLOCATION /* the block's own */
};
struct le_buffer {
    atomic_int refcount;
    enum le_buffer_kind kind;
    struct le_memory_pool *pool; /* retained, for every kind */
    void *memory;
    size_t size_bytes;
    void (*release)(void *user);
    void *user;
    struct le_allocation *allocation; /* NULL: the CPU's */
    bool is_borrowed;                 /* the block: it is released with `release` */
    struct le_deferred *deferred;     /* NULL, or how its block comes to be */
    atomic_bool is_deferred; /* there is no block yet, and the one array over it has no data: le_array_materialize */
};

struct leat_array {
    atomic_int refcount;
    leat_dtype dtype;
    int rank;
    int64_t shape[LEAT_RANK_MAX];
    int64_t strides[LEAT_RANK_MAX]; /* in elements */
    void *data;                     /* of element [0,...,0]; a device's address where the memory is not the host's */
    bool read_only;
    struct le_buffer *buffer;
};

/* Row-major strides; LEAT_INVALID for a rank, extent or product (of the extents that are not 0) that no array has. */
leat_status le_shape_check(leat_dtype dtype, int rank, const int64_t *shape, int64_t *strides, size_t *size_bytes);

/* A dense array from the pool; zero: its elements are 0, else anything. */
leat_status le_array_new(struct le_memory_pool *pool, leat_dtype dtype, int rank, const int64_t *shape, bool zero,
                         leat_array **array);
/* Gives an array that nobody else holds another type and shape, which take as many bytes. */
void le_array_renew(leat_array *array, leat_dtype dtype, int rank, const int64_t *shape);
/* Over memory that is the caller's (strides of axes with at most one element become the dense ones), or a mapping of
 * size_bytes bytes from `memory` on; not released where this fails. */
leat_status le_array_wrap(struct le_memory_pool *pool, const leat_description *description, void (*release)(void *user),
                          void *user, leat_array **array);
leat_status le_array_wrap_mapping(struct le_memory_pool *pool, const leat_description *description, void *memory,
                                  size_t size_bytes, leat_array **array);
/* The same for the arrays of a context: where they live. */
struct le_array_home {
    struct le_memory_pool *pool;
    struct le_device *device;        /* NULL: the CPU, where all is host memory */
    struct le_device_stream *stream; /* where a new array is zeroed and loaded */
};
leat_status le_array_new_at(const struct le_array_home *home, leat_memory memory, leat_dtype dtype, int rank,
                            const int64_t *shape, bool zero, leat_array **array);
/* The same in the device's own memory, or late. */
leat_status le_array_new_deferred(const struct le_array_home *home, leat_dtype dtype, int rank, const int64_t *shape,
                                  bool zero, leat_array **array);
leat_status le_array_wrap_at(const struct le_array_home *home, const leat_description *description,
                             void (*release)(void *user), void *user, leat_array **array);
/* A row of bytes over a block that is not the array's: it lives until release(user). */
leat_status le_array_borrow_allocation(struct le_memory_pool *pool, struct le_allocation *allocation,
                                       void (*release)(void *user), void *user, leat_array **array);
/* A new array of the device's own memory with a host array's elements; on the CPU the same array, retained. */
leat_status le_array_upload(const struct le_array_home *home, leat_array *array, leat_array **uploaded);

static inline bool le_array_is_deferred(const leat_array *array) {
    return atomic_load_explicit(&array->buffer->is_deferred, memory_order_acquire);
}
leat_status le_array_materialize(const leat_array *array); /* waits for the device, where it is late */
/* Of an array that is late: its elements shall be those of a host array, which is retained. false: it is not late any
 * more. */
bool le_array_load_deferred(const leat_array *array, leat_array *source);
struct le_device *le_array_device(const leat_array *array); /* NULL: the CPU */

leat_array *le_array_retain(leat_array *array);
void le_array_free(leat_array *array); /* NULL is fine */

size_t le_array_count(const leat_array *array); /* elements */
size_t le_array_bytes(const leat_array *array); /* that the elements take, laid out densely */
bool le_array_is_contiguous(
    const leat_array *array);                   /* row-major and dense; strides of extents up to 1 do not matter */
bool le_array_repeats(const leat_array *array); /* some of its elements share memory */
/* The bytes that elements may lie in: [*low, *high); equal where there are none. */
void le_array_range(const leat_array *array, const char **low, const char **high);
bool le_array_overlaps(const leat_array *a, const leat_array *b); /* of those ranges: true may be a false alarm */
/* Whether some element of each lies in the same memory; true, too, where that would take too long to tell. */
bool le_array_shares(const leat_array *a, const leat_array *b);

/* Views: they share and retain the buffer. */
leat_status le_array_slice(leat_array *array, const int64_t *start, const int64_t *stop, const int64_t *step,
                           leat_array **view);
leat_status le_array_transpose(leat_array *array, const int *axes, leat_array **view); /* NULL: reversed */
leat_status le_array_reshape(leat_array *array, int rank, const int64_t *shape, leat_array **view);

static inline bool le_array_is_on_host(const leat_array *array) {
    return !array->buffer->allocation || array->buffer->allocation->host;
}
leat_memory le_array_memory(const leat_array *array);
/* The elements as the host can read them, once the work on them is done: array itself, retained, or a dense copy. */
leat_status le_array_host(const leat_array *array, leat_array **host);

/* ---- in host memory, work on it being done */

/* Same type and shape, which the caller has checked; they do not overlap. */
void le_array_copy(const leat_array *target, const leat_array *source);
/* From and to dense host memory of exactly le_array_bytes bytes. Bools become 0 or 1. */
void le_array_write(const leat_array *array, const void *source);
void le_array_read(const leat_array *array, void *target);
/* The element of a real type at that address; integers of 64 bits are rounded. */
double le_real_element(leat_dtype dtype, const void *at);
/* A dense row-major array of the same elements: array itself, retained, if it is one. */
leat_status le_array_dense(leat_array *array, leat_array **dense);
/* ---- between any memories, in a stream of the arrays' device (NULL: the CPU's, where it is done at once). wait:
 * returns when it is done as far as the host can tell: elements are there, or what they came from may be used again. */

leat_status le_array_copy_in(const leat_array *target, const leat_array *source, struct le_device_stream *stream,
                             bool wait);
/* The same with what the ledger says of it; only where one of them has a block. */
leat_status le_array_copy_as(const leat_array *target, const leat_array *source, struct le_device_stream *stream,
                             bool wait, const char *what, const char *cause);
leat_status le_array_write_in(const leat_array *array, const void *source, struct le_device_stream *stream, bool wait);
leat_status le_array_read_in(const leat_array *array, void *target, struct le_device_stream *stream, bool wait);

/* "f32[3,4]" */
#define LE_SHAPE_TEXT_MAX 200
const char *le_array_describe(const leat_array *array, char text[LE_SHAPE_TEXT_MAX]);
#endif
