/* A device, as the rooms above use it. Calls go through the front door: device.c, stream.c, order.c, consumer.c,
 * device_pool.c, copy.c, staging.c, launch.c, replay.c and product.c. It checks arguments once, orders work by tickets,
 * pools memory, stages pageable copies, latches the first fatal error, and records costs. It knows nothing of programs,
 * and nothing of arrays' shapes beyond strided copies.
 *
 * Behind the front door is a backend: device/cpu or device/cuda (sim is device/cuda over the simulator's driver table).
 * It fills le_device_ops and may assume valid input. Only device_open.c knows the backends.
 *
 * Threads: several threads may use a device and a stream at once; operations are atomic. Ownership: reference-counted;
 * streams, allocations and modules retain their device. */
#ifndef LE_DEVICE_H
#define LE_DEVICE_H
#include "base/ledger.h"
#include "base/status.h"
#include "base/text.h"
#include <stdatomic.h>

struct le_device;
struct le_device_stream;
struct le_device_event;
struct le_device_module;
struct le_device_kernel;

/* ---- lifetime; device_open.h opens a device */

struct le_device_options {
    size_t memory_cap_bytes; /* limit on device memory in use at one time; 0: none */
    size_t cache_cap_bytes;  /* limit on released memory kept for reuse, for each kind; 0: 1 GiB */
    int copy_threads;        /* threads that stage pageable memory; 0: one per core, at most 8 */
    bool sim_check;
    uint64_t sim_seed; /* 0: LEAT_SIM_SEED */
    struct le_ledger *ledger;
    /* CUDA C will be compiled: the compiler is prepared while the device opens, and the device may open in the
     * background (le_device_is_opening). */
    bool compiles;
    struct le_store *store; /* caches compiled code until the device is closed; NULL: no cache */
    void (*log)(leat_log_level level, const char *text, void *user);
    void *log_user;
};
/* Whether a background thread is still opening the backend. Until it is done the limits are known and modules compile,
 * but memory, streams and the loading of modules wait. If opening fails, the call that waited reports the error, and
 * the device has failed. */
bool le_device_is_opening(struct le_device *device);
struct le_device *le_device_retain(struct le_device *device);
void le_device_release(struct le_device *device);
/* The owner's last call. Waits for the device, frees cached memory, stops logging and recording costs, and releases. */
void le_device_close(struct le_device *device);
/* Returns LEAT_INVALID in a forked child of the process that opened the device; after the first fatal error, that
 * error. Cheap. */
leat_status le_device_check(struct le_device *device);
bool le_device_forked(const struct le_device *device); /* then callers free nothing and take no lock */
/* Latches the thread's current error as the device's fatal error, unless one is latched already. Returns status.
 * advice: what to do, or NULL.
 * Backends call it for errors that the driver does not recover from. The caller may hold any lock but notes_lock. */
leat_status le_device_latch(struct le_device *device, leat_status status, const char *advice);

struct le_device_limits {
    char kind[16], name[96]; /* "cpu", "cuda", "sim" */
    int capability;          /* 90 for 9.0; 0: no CUDA device */
    int ordinal;             /* CUDA's device number */
    int multiprocessors, warp_threads, block_threads;
    int multiprocessor_threads; /* most threads resident on one multiprocessor */
    unsigned block[3], grid[3];
    size_t shared_bytes;              /* per thread block, static and dynamic, by default */
    size_t shared_optin_bytes;        /* per thread block, after opting in, which Leat does when a launch needs it */
    size_t memory_bytes;              /* total device memory */
    double memory_bytes_per_second;   /* by the memory's clock and width; 0: unknown */
    double clock_hz;                  /* of a multiprocessor, at most; 0: unknown */
    bool cooperative, host_is_device; /* host_is_device: device memory is host memory (cpu) */
    char architecture[16];            /* "sm_90"; "": none */
};
const struct le_device_limits *le_device_limits_of(const struct le_device *device);
/* The clock for the device's costs: CLOCK_MONOTONIC, except that sim has a virtual clock. */
uint64_t le_device_clock_ns(struct le_device *device);

/* ---- order: each stream numbers its operations with tickets. An allocation keeps the points of its last write and of
 * the reads since. An event is recorded only for a dependency that crosses streams. */

struct le_point {
    uint64_t stream_id, number; /* {0}: always passed; so is a point of a stream that no longer exists */
};
enum { LE_ORDER_READS = 4 }; /* reading streams remembered; a further reader first waits for one of them */
struct le_order {            /* one per allocation; guarded by the device's lock */
    struct le_point write, reads[LE_ORDER_READS];
    int read_count;
    leat_status error; /* LEAT_OK, or the error of the operation that wrote the contents; readers and waiters get it */
};
enum le_allocation_access { LE_ACCESS_READ = 1, LE_ACCESS_WRITE = 2, LE_ACCESS_BOTH = 3 };

/* ---- memory */

enum le_memory_kind { LE_MEMORY_DEVICE, LE_MEMORY_HOST, LE_MEMORY_PINNED, LE_MEMORY_MAPPED };
struct le_allocation {
    struct le_device *device; /* retained */
    enum le_memory_kind kind;
    void *host;        /* NULL for device memory */
    uint64_t address;  /* as kernels see it; 0: not accessible to kernels */
    size_t size_bytes; /* requested size */
    size_t capacity_bytes;
    bool owned; /* false: the caller's memory, wrapped */
    struct le_order order;
};
/* Allocates from the pool, for work in stream (NULL: unknown). The contents are undefined. Fails with OUT_OF_MEMORY
 * only after freeing cached memory and retrying; an array larger than the device's memory gets a message of its own. */
leat_status le_allocation_new(struct le_device *device, enum le_memory_kind kind, size_t size_bytes,
                              struct le_device_stream *stream, struct le_allocation **allocation);
/* Wraps memory of the caller. With kind HOST, pinned memory is recognized. */
leat_status le_allocation_wrap(struct le_device *device, enum le_memory_kind kind, void *memory, size_t size_bytes,
                               struct le_allocation **allocation);
/* Changes an allocation that le_allocation_wrap made to other memory of the caller's, whose kind is trusted. Forgets
 * the work on the memory that it had: the caller orders the work. No other thread may use the allocation. */
void le_allocation_place(struct le_allocation *allocation, enum le_memory_kind kind, void *memory, size_t size_bytes);
void le_allocation_forget_order(struct le_allocation *allocation);
/* The same for pageable memory that the stream's next work uses. The stream's earlier copies may have used it too, and
 * only the host orders such copies, so they become the work on it. Other kinds of memory are left alone. */
void le_allocation_follow(struct le_allocation *allocation, const struct le_device_stream *stream);
/* Never waits. The memory is reused only after the work that uses it. */
void le_allocation_free(struct le_allocation *allocation);
leat_status le_host_pin(struct le_device *device, void *memory, size_t size_bytes);
leat_status le_host_unpin(struct le_device *device, void *memory);
struct le_memory_usage {
    size_t live_bytes, kept_bytes, peak_bytes, cap_bytes, device_free_bytes;
    uint64_t trims; /* number of times cached memory was freed because memory ran out */
};
leat_status le_device_memory_use(struct le_device *device, enum le_memory_kind kind, struct le_memory_usage *use);
leat_status le_device_memory_trim(struct le_device *device); /* waits for the device, then frees all cached memory */

/* ---- streams, tickets, events */

/* native NULL: creates a non-blocking stream. Otherwise wraps a stream of another library, which must outlive this
 * one. */
leat_status le_device_stream_new(struct le_device *device, void *native, struct le_device_stream **stream);
void le_device_stream_free(struct le_device_stream *stream); /* never waits */
struct le_device_stream *
le_device_stream_own(struct le_device *device); /* the default stream, for callers that pass NULL */
void *le_device_stream_native(struct le_device_stream *stream);
leat_status le_device_stream_synchronize(struct le_device_stream *stream);
leat_status le_device_synchronize(struct le_device *device);
leat_status le_device_synchronize_for(struct le_device *device, uint64_t limit_ns, bool *done); /* for a limited time */
leat_status le_device_cancel(struct le_device *device); /* stops all kernels, where kernels can be stopped */
/* The point after all work given to the stream so far. */
struct le_point le_device_stream_point(struct le_device_stream *stream);
leat_status le_device_wait_point(struct le_device *device, uint64_t stream_id, uint64_t number);
/* The same for a limited time. *passed: whether the point was reached. */
leat_status le_device_wait_point_for(struct le_device *device, struct le_point point, uint64_t limit_ns, bool *passed);
leat_status le_device_event_new(struct le_device *device, struct le_device_event **event);
void le_device_event_free(struct le_device_event *event);
leat_status le_device_event_record(struct le_device_event *event, struct le_device_stream *stream);
leat_status le_device_event_synchronize(struct le_device_event *event);
leat_status le_device_event_elapsed_ms(struct le_device_event *start, struct le_device_event *stop,
                                       double *milliseconds);
leat_status le_device_stream_wait_event(struct le_device_stream *stream, struct le_device_event *event);

/* In a run that is watched, or whose work can be stopped (base/cancel.h), returns when the stream's work so far is
 * done, or with LEAT_CANCELED. Otherwise returns at once: the wait that follows does the waiting. what and cause: for
 * the ledger. */
leat_status le_stream_watch(struct le_device_stream *stream, const char *what, const char *cause);

/* An operation in a stream on allocations. Begin makes the stream wait for the work that must come first; end issues
 * the ticket. Every launch, copy and fill happens between the two. A failed operation ends without a ticket (done:
 * false). */
struct le_allocation_use {
    struct le_allocation *allocation;
    enum le_allocation_access access;
};
leat_status le_order_begin(struct le_device_stream *stream, const struct le_allocation_use *uses, int count);
/* Returns the ticket's number; 0: none. */
uint64_t le_order_end(struct le_device_stream *stream, const struct le_allocation_use *uses, int count, bool done);
/* Marks the contents as the result of a failed operation: readers get status until the allocation is written again. */
void le_order_set_error(struct le_allocation *allocation, leat_status status);

/* The stream's later work waits for what must come before this use. The use itself is unknown to Leat. */
leat_status le_stream_wait_use(struct le_device_stream *stream, struct le_allocation_use use);

/* Another library, the consumer, uses an allocation in its stream `native` until the end (consumer.c). Begin makes that
 * stream wait for the work on the allocation so far; native NULL, or the handle of the default streams of threads:
 * waits for that work. *stream_id is for the end, 0 if the stream is not known to stay valid (it is neither the legacy
 * default stream nor wrapped), or if it is Leat's own, as the consumer may then work anywhere. End, on any thread,
 * orders all later use of the allocation after the consumer's work so far, in that stream; if there is none, or it was
 * freed, it waits for the device. Returns false if waiting failed,
 * so that the memory must not be used again. */
leat_status le_consumer_begin(struct le_allocation *allocation, enum le_allocation_access access, void *native,
                              uint64_t *stream_id);
bool le_consumer_end(struct le_allocation *allocation, enum le_allocation_access access, uint64_t stream_id);

/* ---- copies. Strides are in bytes; element_bytes is 1, 2, 4, 8 or 16. Axes of extent 1 and axes that could be merged
 * are allowed. */
#define LE_COPY_RANK_MAX 8
struct le_copy {
    struct le_allocation *target, *source; /* NULL: host memory, pageable or pinned, that has no le_allocation */
    char *target_memory; /* address of the first element: a host pointer, or a device address cast to a pointer */
    const char *source_memory;
    size_t element_bytes;
    int rank;
    int64_t shape[LE_COPY_RANK_MAX], target_strides[LE_COPY_RANK_MAX], source_strides[LE_COPY_RANK_MAX];
    const char *what, *cause; /* for the ledger; cause NULL means "" */
    bool as_bool;             /* elements are bytes; nonzero ones become 1 */
    bool wait; /* return only when host memory without an le_allocation may be reused (source) or is filled (target) */
};
/* Enqueues the copy. Pageable memory goes through pinned staging buffers, asynchronously: it must stay unchanged until
 * the point has passed. */
leat_status le_device_copy(struct le_device_stream *stream, const struct le_copy *copy);
struct le_point le_allocation_written(struct le_allocation *allocation); /* the point of its last write */
/* Returns when host threads may access the contents: all work that must come first is done. */
leat_status le_allocation_wait(struct le_allocation *allocation, enum le_allocation_access access);
/* The same; a wait is recorded in the ledger under what and cause. */
leat_status le_allocation_wait_for(struct le_allocation *allocation, enum le_allocation_access access, const char *what,
                                   const char *cause);
leat_status le_device_fill_zero(struct le_device_stream *stream, struct le_allocation *allocation, size_t size_bytes);

/* ---- modules and kernels: CUDA C */
struct le_module_source {
    const char *text, *name; /* name: the user's file, for the log */
    const char *const *macros, *const *include_paths, *const *options, *const *names; /* each NULL, or ends with NULL */
    bool line_info;
    bool is_whole;     /* includes no file, so the result can be cached in the device's store */
    bool is_plain;     /* uses nothing of CUDA's runtime and no textures: compiles faster */
    bool only_cached;  /* only look in the cache: LEAT_MISSING, without a message, if it is not there */
    const char *owner; /* the owner of the cache entry: a program's name; NULL: none */
    const char *label; /* purpose, for the ledger and the cache; NULL: name */
    const char *cause; /* why it is needed, for the ledger; NULL: "" */
    /* Polled by a compiler that can be stopped; true cancels the compilation. NULL: never cancelled. */
    bool (*is_unwanted)(void *user);
    void *user;
};
leat_status le_device_module_new(struct le_device *device, const struct le_module_source *source,
                                 struct le_device_module **module);
/* Adds facts about kernels' parameters that compiled code lacks, from the source text. Call it before the module is
 * shared. */
void le_device_module_read_source(struct le_device_module *module, const char *text);
/* Call before a thread of Leat creates modules. Makes sure that the compiler has been used once in this process, so
 * that exit() can wait for such a thread (base/exit_guard.h). May take some hundredths of a second. */
void le_device_compiler_begin(struct le_device *device);
void le_device_module_free(struct le_device_module *module);
/* The same, with a cause for the ledger. */
void le_device_module_unload(struct le_device_module *module, const char *cause);
bool le_device_module_was_cached(const struct le_device_module *module);   /* found in the cache, not compiled */
size_t le_device_module_size_bytes(const struct le_device_module *module); /* memory used while it is loaded */
const char *le_device_module_log(const struct le_device_module *module);   /* warnings; "" */
/* The kernel lives as long as its module. name: "f", "ns::f", or one of source.names. If there is none, LEAT_INVALID,
 * and the message lists the kernels. */
leat_status le_device_module_kernel(struct le_device_module *module, const char *name,
                                    struct le_device_kernel **kernel);
int le_device_module_kernel_count(const struct le_device_module *module);
struct le_device_kernel *le_device_module_kernel_at(struct le_device_module *module, int k);
/* The memory of a variable. It lives as long as the module; the caller must not free it. From then on, kernels of the
 * module that may use the variable are ordered with all other work on it. */
leat_status le_device_module_symbol(struct le_device_module *module, const char *name,
                                    struct le_allocation **allocation);

struct le_parameter {
    /* Of a number, as far as PTX shows: signedness is unknown, and i32 and i64 also stand for u32 and u64. 0: a pointer
     * (is_pointer) or bytes. */
    leat_dtype dtype;
    bool may_be_pointer;      /* 8 bytes that could hold an address */
    bool is_pointer;          /* known to be a pointer */
    bool is_declared_pointer; /* the source says so; an address may still be passed as an i64 */
    bool is_const;            /* known to point to const */
    leat_dtype pointee; /* of a pointer to numbers or pairs of floats; i16 to i64 also stand for unsigned integers. 0:
                           unknown, or bytes */
    const char *name;   /* name in the source; "": unknown */
    size_t offset_bytes, size_bytes, align_bytes;
};
struct le_kernel_facts {
    const char *name, *lowered;
    int registers, max_block_threads, best_block_threads;
    size_t static_shared_bytes, max_dynamic_shared_bytes, local_bytes, constant_bytes;
    int parameter_count;
    const struct le_parameter *parameters;
};
leat_status le_device_kernel_facts(struct le_device_kernel *kernel, struct le_kernel_facts *facts);

struct le_launch_argument {
    const void *value; /* size_bytes bytes; for an allocation, the address that the kernel gets */
    size_t size_bytes;
    leat_dtype dtype;                 /* of a number, or of an array's elements; 0: bytes, an address, or unknown */
    struct le_allocation *allocation; /* NULL for a number */
    enum le_allocation_access access;
};
/* State for a launch that one thread repeats (replay.c): of one kernel, in one of the context's own streams. Starts
 * over if the kernel or the stream changes. Zero-initialized by the owner. */
struct le_replay {
    struct le_device_kernel *kernel;
    uint64_t stream_id;
    int launches; /* since the start or the last failure to create native */
    void *native; /* the backend's object; NULL: none yet */
};
void le_replay_finish(struct le_replay *replay); /* before the kernel's module is freed */
struct le_kernel_launch {
    unsigned grid[3], block[3];
    size_t shared_bytes;
    bool cooperative;
    const struct le_launch_argument *arguments;
    int argument_count;
    /* Memory used besides the arguments, such as memory whose address is in a struct. */
    const struct le_allocation_use *uses;
    int use_count;
    const char *what;         /* name in the device's timings; NULL: the kernel's name */
    struct le_replay *replay; /* NULL: never replayed */
};
leat_status le_device_launch(struct le_device_kernel *kernel, const struct le_kernel_launch *launch,
                             struct le_device_stream *stream);

/* ---- matrix products by the device's library (cuBLAS): target = scale * left * right + kept * target, in f32 or f64.
 * The factors may also be f16 or bf16, and the target the same or f32; such products are added in f32. One fixed mode
 * (TF32 only if asked for) and one workspace size give the same bits for the same product. Left is rows x terms, right
 * is terms x columns, target is rows x columns and not transposed. The `batch` products lie batch_stride elements
 * apart. If kept is 0, the target's contents are ignored; if scale is 0, so are the factors. */
struct le_matrix {
    struct le_allocation *allocation;
    uint64_t address;     /* of the first element */
    int stride;           /* elements from one row to the next; if transposed, from one column to the next */
    bool transposed;      /* stored by columns */
    int64_t batch_stride; /* 0: every product of the batch uses the same matrix */
};
struct le_product {
    leat_dtype dtype;                /* of the factors */
    leat_dtype target_dtype;         /* 0: the same */
    bool tf32;                       /* factors of f32 may be rounded to TF32 */
    int rows, columns, terms, batch; /* all at least 1 */
    struct le_matrix left, right, target;
    double scale, kept;
    const char *what; /* for the ledger */
};
/* Returns LEAT_UNSUPPORTED, with the reason, if there is no such library. The first call loads it; cuBLAS takes half a
 * GB. */
leat_status le_device_product_open(struct le_device *device);
leat_status le_device_product(struct le_device_stream *stream, const struct le_product *product);

/* ---- what a backend fills. Natives are its own handles. Every slot is required unless marked optional. */
struct le_native_copy { /* at most 3 axes, the innermost contiguous on both sides; addresses as integers */
    uint64_t target, source;
    bool target_is_host, source_is_host; /* host memory: pinned, or the copy may block */
    size_t row_bytes, rows, slices;
    int64_t target_row_stride, target_slice_stride, source_row_stride, source_slice_stride; /* bytes */
};
struct le_device_ops {
    void (*close)(void *native);
    bool (*is_opening)(void *native); /* optional: false */
    leat_status (*memory_new)(void *native, enum le_memory_kind kind, size_t size_bytes, void **host,
                              uint64_t *address);
    void (*memory_free)(void *native, enum le_memory_kind kind, void *host, uint64_t address, size_t size_bytes);
    leat_status (*memory_info)(void *native, size_t *free_bytes, size_t *total_bytes);
    void (*memory_note)(void *native, uint64_t address, size_t size_bytes, bool live); /* optional; for sim's checks */
    leat_status (*host_pin)(void *native, void *memory, size_t size_bytes, uint64_t *address);
    leat_status (*host_unpin)(void *native, void *memory);
    /* Returns HOST for unknown memory. *address: as kernels see it; 0: not accessible to them */
    enum le_memory_kind (*pointer_kind)(void *native, const void *pointer, uint64_t *address);
    leat_status (*stream_new)(void *native, void **stream);
    leat_status (*stream_check)(
        void *native,
        void *stream); /* for a stream of another library; LEAT_INVALID if it is not a stream of this context */
    void (*stream_free)(void *native, void *stream);
    leat_status (*stream_wait)(void *native, void *stream, void *event);
    leat_status (*stream_synchronize)(void *native, void *stream);
    leat_status (*synchronize)(void *native); /* waits for the whole device */
    leat_status (*copy)(void *native, void *stream, const struct le_native_copy *copy);
    leat_status (*fill)(void *native, void *stream, uint64_t address, uint32_t value, size_t count, int value_bytes);
    leat_status (*event_new)(void *native, bool timed, void **event);
    void (*event_free)(void *native, void *event);
    leat_status (*event_record)(void *native, void *event, void *stream);
    leat_status (*event_synchronize)(void *native, void *event);
    leat_status (*event_query)(void *native, void *event, bool *passed);
    leat_status (*event_elapsed)(void *native, void *start, void *stop, double *milliseconds);
    /* modules: NULL if the backend does not run CUDA C (cpu) */
    leat_status (*module_new)(void *native, const struct le_module_source *source, struct le_device_module *module);
    void (*module_free)(void *native, struct le_device_module *module);
    void (*compiler_begin)(void *native); /* optional */
    leat_status (*launch)(void *native, void *stream, struct le_device_kernel *kernel,
                          const struct le_kernel_launch *launch, void **parameters);
    /* repeated launches (replay.c), never cooperative: NULL if not supported */
    leat_status (*replay_new)(void *native, struct le_device_kernel *kernel, const struct le_kernel_launch *launch,
                              void **parameters, void **replay);
    leat_status (*replay_launch)(void *native, void *stream, bool foreign, struct le_device_kernel *kernel,
                                 const struct le_kernel_launch *launch, void **parameters, void *replay);
    void (*replay_free)(void *native, void *replay);
    /* matrix products: NULL if there is no library for them (cpu) */
    leat_status (*product_open)(void *native);
    leat_status (*product)(void *native, void *stream, const struct le_product *product, uint64_t work,
                           size_t work_bytes);
    uint64_t (*clock_ns)(void *native); /* optional; default CLOCK_MONOTONIC */
};
#endif
