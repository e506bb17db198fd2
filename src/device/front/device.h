/* A device behind its front door, which the floors above call. A backend (device/cpu, device/cuda; sim is device/cuda
 * over another table) fills le_device_ops and assumes valid input. device_open.c chooses the backend; the other files
 * of the front door know none. The front door (device.c, stream.c, order.c, device_pool.c, copy.c, staging.c, launch.c,
 * replay.c, product.c) checks arguments once, keeps order by tickets, pools memory, stages pageable copies, latches the
 * first fatal error, and records costs. It knows nothing of programs, nor of arrays' shapes beyond strided copies.
 *
 * Threads: several threads may use a device at once. One thread at a time uses a stream, but any thread may wait for a
 * ticket of it. Ownership: reference-counted; streams, blocks and modules retain their device. */
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

/* ---- life; device_open.h opens a device */

struct le_device_options {
    size_t memory_cap_bytes; /* of device memory that is out at one time; 0: none */
    size_t cache_cap_bytes;  /* of released memory kept for reuse, each kind; 0: 1 GiB */
    int copy_threads;        /* that stage pageable memory; 0: as many as there are cores, at most 8 */
    bool sim_check;
    uint64_t sim_seed; /* 0: LEAT_SIM_SEED */
    struct le_ledger *ledger;
    bool compiles; /* CUDA C will be compiled: the compiler is made ready while the device is opened, and before the
                      device is: le_device_is_opening */
    struct le_store *store; /* where compiled code is kept until the device is closed; NULL: nowhere */
    void (*log)(leat_log_level level, const char *text, void *user);
    void *log_user;
};
/* Whether the backend is still being opened by a thread of its own. Until then the limits are known and modules
 * compile; memory, streams and the loading of modules wait. If opening fails, the call that waited reports it, and the
 * device has failed. */
bool le_device_is_opening(struct le_device *device);
struct le_device *le_device_retain(struct le_device *device);
void le_device_release(struct le_device *device);
/* The owner's last word: waits for the device, drops what is kept, logs and notes no more; and releases. */
void le_device_close(struct le_device *device);
/* LEAT_INVALID in a child of the process that opened it; the first fatal error, once there was one. Cheap. */
leat_status le_device_check(struct le_device *device);
bool le_device_forked(const struct le_device *device); /* in such a child nothing is freed, and no lock is taken */
/* Latches the thread's present error as the device's first cause, if none is latched, and gives status back. Backends
 * call it for errors that the driver does not recover from; under any lock but notes_lock. */
leat_status le_device_latch(struct le_device *device, leat_status status);

struct le_device_limits {
    char kind[16], name[96]; /* "cpu", "cuda", "sim" */
    int capability;          /* 90 for 9.0; 0: no CUDA device */
    int ordinal;             /* CUDA's number of it */
    int multiprocessors, warp_threads, block_threads;
    int multiprocessor_threads; /* that one has at a time, at most */
    unsigned block[3], grid[3];
    size_t shared_bytes;              /* static and dynamic, without asking */
    size_t shared_optin_bytes;        /* with it, which Leat does by itself */
    size_t memory_bytes;              /* of the device */
    bool cooperative, host_is_device; /* host_is_device: its memory is the host's (cpu) */
    char architecture[16];            /* "sm_90"; "" where there is none */
};
const struct le_device_limits *le_device_limits(const struct le_device *device);
/* Host time as the device's costs are measured: CLOCK_MONOTONIC, but for sim its virtual clock. */
uint64_t le_device_clock_ns(struct le_device *device);

/* ---- order: each stream counts tickets; a block of memory keeps the points of its last write and of the reads since.
 * An event is recorded only at the first dependency that crosses streams. */

struct le_point {
    uint64_t stream_id, number; /* {0}: always passed; a stream that is not there any more has passed */
};
enum { LE_ORDER_READS = 4 }; /* by that many streams; a further one waits for one of them */
struct le_order {            /* in each block; guarded by the device's lock */
    struct le_point write, reads[LE_ORDER_READS];
    int read_count;
    leat_status spoiled; /* an error in the data that was written: told to whoever waits for or reads it */
};
enum le_allocation_access { LE_ACCESS_READ = 1, LE_ACCESS_WRITE = 2, LE_ACCESS_BOTH = 3 };

/* ---- memory */

enum le_memory_kind { LE_MEMORY_DEVICE, LE_MEMORY_HOST, LE_MEMORY_PINNED, LE_MEMORY_MAPPED };
struct le_allocation {
    struct le_device *device; /* retained */
    enum le_memory_kind kind;
    void *host;        /* NULL for device memory */
    uint64_t address;  /* as kernels see it; 0: they cannot */
    size_t size_bytes; /* asked for */
    size_t capacity_bytes;
    bool owned; /* false: the caller's memory, wrapped */
    struct le_order order;
};
/* A pooled block for work in stream (NULL: it is not known in which). Its bytes are anything. OUT_OF_MEMORY after what
 * is kept was trimmed and it was tried again; an array larger than the device gets a message that says so. */
leat_status le_allocation_new(struct le_device *device, enum le_memory_kind kind, size_t size_bytes,
                              struct le_device_stream *stream, struct le_allocation **allocation);
/* Memory of the caller's. kind HOST: pinned memory is recognised. */
leat_status le_allocation_wrap(struct le_device *device, enum le_memory_kind kind, void *memory, size_t size_bytes,
                               struct le_allocation **allocation);
/* Never waits: the memory is used again only after the streams that use it have passed that point. */
void le_allocation_free(struct le_allocation *allocation);
leat_status le_host_pin(struct le_device *device, void *memory, size_t size_bytes);
leat_status le_host_unpin(struct le_device *device, void *memory);
struct le_memory_use {
    size_t live_bytes, kept_bytes, peak_bytes, cap_bytes, device_free_bytes;
    uint64_t trims; /* times that what was kept was given back because memory ran out */
};
leat_status le_device_memory_use(struct le_device *device, enum le_memory_kind kind, struct le_memory_use *use);
leat_status le_device_memory_trim(struct le_device *device); /* waits; gives back all that is kept */

/* ---- streams, tickets, events */

/* native NULL: a new non-blocking one; else one of another library's, which outlives this. */
leat_status le_device_stream_new(struct le_device *device, void *native, struct le_device_stream **stream);
void le_device_stream_free(struct le_device_stream *stream);             /* never waits */
struct le_device_stream *le_device_stream_own(struct le_device *device); /* where NULL runs */
void *le_device_stream_native(struct le_device_stream *stream);
leat_status le_device_stream_synchronize(struct le_device_stream *stream);
leat_status le_device_synchronize(struct le_device *device);
/* The point that work given to the stream so far has passed when it is reached. */
struct le_point le_device_stream_point(struct le_device_stream *stream);
leat_status le_device_wait_point(struct le_device *device, uint64_t stream_id, uint64_t number);
leat_status le_device_event_new(struct le_device *device, struct le_device_event **event);
void le_device_event_free(struct le_device_event *event);
leat_status le_device_event_record(struct le_device_event *event, struct le_device_stream *stream);
leat_status le_device_event_synchronize(struct le_device_event *event);
leat_status le_device_event_elapsed_ms(struct le_device_event *start, struct le_device_event *stop,
                                       double *milliseconds);
leat_status le_device_stream_wait_event(struct le_device_stream *stream, struct le_device_event *event);

/* Begins an operation in stream on blocks: waits (in the stream) for what must come before; end makes the ticket. Every
 * launch, copy and fill is between the two; a failed one ends without a ticket (done: false). */
struct le_allocation_use {
    struct le_allocation *allocation;
    enum le_allocation_access access;
};
leat_status le_order_begin(struct le_device_stream *stream, const struct le_allocation_use *uses, int count);
void le_order_end(struct le_device_stream *stream, const struct le_allocation_use *uses, int count, bool done);
/* What is in the block is the outcome of an error in the data: who reads it is told, until it is written anew. */
void le_order_spoil(struct le_allocation *allocation, leat_status status);

/* ---- copies. Strides in bytes; element_bytes 1, 2, 4, 8, 16; axes of extent 1 or mergeable ones may remain. */
#define LE_COPY_RANK_MAX 8
struct le_copy {
    struct le_allocation *target,
        *source;         /* NULL: dense-or-strided pageable or pinned host memory that no block stands for */
    char *target_memory; /* first element: a host pointer, or a device address as a pointer */
    const char *source_memory;
    size_t element_bytes;
    int rank;
    int64_t shape[LE_COPY_RANK_MAX], target_strides[LE_COPY_RANK_MAX], source_strides[LE_COPY_RANK_MAX];
    const char *what, *cause; /* for the ledger; cause NULL: "" */
    bool as_bool;             /* bytes, of which those that are not 0 become 1 */
    bool wait;                /* returns when memory that no block stands for may be used again, or has its elements */
};
/* Enqueues it; pageable memory goes through the pinned ring, asynchronously: it must stay as it is until the point is
 * passed. */
leat_status le_device_copy(struct le_device_stream *stream, const struct le_copy *copy);
/* Returns when host threads may read, or write, what is in the block: all that it must come after is done. */
leat_status le_allocation_wait(struct le_allocation *allocation, enum le_allocation_access access);
/* The same; a wait is noted with what it was for. */
leat_status le_allocation_wait_for(struct le_allocation *allocation, enum le_allocation_access access, const char *what,
                                   const char *cause);
leat_status le_device_fill_zero(struct le_device_stream *stream, struct le_allocation *allocation, size_t size_bytes);

/* ---- modules and kernels: CUDA C */
struct le_module_source {
    const char *text, *name; /* name: for the log: the user's file */
    const char *const *macros, *const *include_paths, *const *options,
                                                          *const *names; /* each ends with NULL, or is NULL */
    bool line_info;
    bool is_whole;     /* it includes nothing: what comes out may be kept, and be found in the device's store */
    bool is_plain;     /* it uses nothing of CUDA's runtime, no textures: it is compiled faster */
    bool only_kept;    /* it is not compiled: LEAT_MISSING, without a message, where the store has not got it */
    const char *owner; /* whose it is, in the store: a program's name; NULL: nobody's */
    const char *label; /* what it is for, in the ledger and in the store; NULL: name */
    const char *cause; /* why it is asked for, in the ledger; NULL: "" */
    /* Asked now and then by a compiler that can be stopped; true: it is given up. NULL: it is compiled to the end. */
    bool (*is_unwanted)(void *user);
    void *user;
};
leat_status le_device_module_new(struct le_device *device, const struct le_module_source *source,
                                 struct le_device_module **module);
/* Looks into the text that the module was made of for what compiled code does not say of kernels' parameters. Before
 * anybody else knows the module. */
void le_device_module_read_source(struct le_device_module *module, const char *text);
/* Before modules are made in a thread of Leat's: the compiler has been used once in this process, so that exit() can
 * wait for such a thread (base/exit_guard.h). It may take some hundredths of a second. */
void le_device_compiler_begin(struct le_device *device);
void le_device_module_free(struct le_device_module *module);
void le_device_module_unload(struct le_device_module *module, const char *cause); /* the same, with why */
bool le_device_module_was_kept(const struct le_device_module *module);            /* found in the store, not compiled */
size_t le_device_module_size_bytes(const struct le_device_module *module);        /* that it takes while it is loaded */
const char *le_device_module_log(const struct le_device_module *module);          /* warnings; "" */
/* Lives with the module. name: "f", "ns::f", or one of source.names; LEAT_INVALID lists what there is. */
leat_status le_device_module_kernel(struct le_device_module *module, const char *name,
                                    struct le_device_kernel **kernel);
int le_device_module_kernel_count(const struct le_device_module *module);
struct le_device_kernel *le_device_module_kernel_at(struct le_device_module *module, int k);
/* A variable's bytes; the block lives with the module: it is never freed by the caller. From then on the module's
 * kernels that may use it are in order with all other work on it. */
leat_status le_device_module_symbol(struct le_device_module *module, const char *name,
                                    struct le_allocation **allocation);

struct le_parameter {
    leat_dtype dtype; /* of a number as far as PTX tells (integers: signedness is not known, i32 or i64 stand for both);
                         0: a pointer (is_pointer) or bytes */
    bool may_be_pointer; /* 8 bytes that an address may be */
    bool is_pointer;     /* known to be one */
    leat_dtype
        pointee;      /* of a pointer to numbers (integers: i16 to i64 stand for both kinds); 0: not known, or bytes */
    const char *name; /* as the source has it; "": not known */
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
    const void *value; /* size_bytes bytes; for a block the address as the kernel shall see it */
    size_t size_bytes;
    leat_dtype dtype;                 /* of a number, or of a block's elements; 0: bytes or an address, or not known */
    struct le_allocation *allocation; /* NULL for a number */
    enum le_allocation_access access;
};
/* What is kept ready of a launch that one thread gives again and again: of one kernel in one of the context's own
 * streams; for another kernel or stream it starts anew. Zeroed at first. */
struct le_replay {
    struct le_device_kernel *kernel;
    uint64_t stream_id;
    int launches; /* since it was begun, or could not be kept */
    void *kept;   /* the backend's; NULL: nothing */
};
void le_replay_finish(struct le_replay *replay); /* before the kernel's module is freed */
struct le_kernel_launch {
    unsigned grid[3], block[3];
    size_t shared_bytes;
    bool cooperative;
    const struct le_launch_argument *arguments;
    int argument_count;
    const struct le_allocation_use *uses; /* of memory besides that of the arguments: whose address is in a struct */
    int use_count;
    const char *what;         /* for the device's times; NULL: the kernel's name */
    struct le_replay *replay; /* NULL: nothing is kept of it */
};
leat_status le_device_launch(struct le_device_kernel *kernel, const struct le_kernel_launch *launch,
                             struct le_device_stream *stream);

/* ---- products of matrices by a library of the device's (cuBLAS): target = scale * left * right + kept * target, f32
 * or f64, in one fixed mode (no TF32) and with workspace of one size, so that the same product gives the same bits.
 * Left is rows x terms, right terms x columns, the target rows x columns and not transposed; `batch` such products lie
 * batch_stride elements apart. kept 0: what the target held is not looked at; nor are the factors where scale is 0. */
struct le_matrix {
    struct le_allocation *allocation;
    uint64_t address;     /* of the first element */
    int stride;           /* elements from one row to the next; transposed: from one column */
    bool transposed;      /* columns lie one after the other */
    int64_t batch_stride; /* 0: all use the same one */
};
struct le_product {
    leat_dtype dtype;
    int rows, columns, terms, batch; /* all at least 1 */
    struct le_matrix left, right, target;
    double scale, kept;
    const char *what; /* for the ledger */
};
/* LEAT_UNSUPPORTED: there is no such library, with the reason. The first call loads it: cuBLAS is of half a GB. */
leat_status le_device_product_open(struct le_device *device);
leat_status le_device_product(struct le_device_stream *stream, const struct le_product *product);

/* ---- what a backend fills: natives are its own handles. Every slot is required unless it says otherwise. */
struct le_native_copy { /* at most 3 axes, the innermost contiguous on both sides; device addresses as integers */
    uint64_t target, source;
    bool target_is_host, source_is_host; /* pinned, or memory that the copy may block for */
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
    void (*memory_note)(void *native, uint64_t address, size_t size_bytes, bool live); /* optional: for sim's checks */
    leat_status (*host_pin)(void *native, void *memory, size_t size_bytes, uint64_t *address);
    leat_status (*host_unpin)(void *native, void *memory);
    /* HOST where nothing is known of it; *address: as kernels see it, 0: they cannot */
    enum le_memory_kind (*pointer_kind)(void *native, const void *pointer, uint64_t *address);
    leat_status (*stream_new)(void *native, void **stream);
    leat_status (*stream_check)(void *native, void *stream); /* another library's: LEAT_INVALID if it is no such */
    void (*stream_free)(void *native, void *stream);
    leat_status (*stream_wait)(void *native, void *stream, void *event);
    leat_status (*stream_synchronize)(void *native, void *stream);
    leat_status (*synchronize)(void *native); /* the device */
    leat_status (*copy)(void *native, void *stream, const struct le_native_copy *copy);
    leat_status (*fill)(void *native, void *stream, uint64_t address, uint32_t value, size_t count, int value_bytes);
    leat_status (*event_new)(void *native, bool timed, void **event);
    void (*event_free)(void *native, void *event);
    leat_status (*event_record)(void *native, void *event, void *stream);
    leat_status (*event_synchronize)(void *native, void *event);
    leat_status (*event_query)(void *native, void *event, bool *passed);
    leat_status (*event_elapsed)(void *native, void *start, void *stop, double *milliseconds);
    /* the three of modules: NULL where there is no CUDA C (cpu) */
    leat_status (*module_new)(void *native, const struct le_module_source *source, struct le_device_module *module);
    void (*module_free)(void *native, struct le_device_module *module);
    void (*compiler_begin)(void *native); /* optional */
    leat_status (*launch)(void *native, void *stream, struct le_device_kernel *kernel,
                          const struct le_kernel_launch *launch, void **parameters);
    /* the three of launches that are kept (replay.c), never cooperative ones: NULL where none is */
    leat_status (*replay_new)(void *native, struct le_device_kernel *kernel, const struct le_kernel_launch *launch,
                              void **parameters, void **replay);
    leat_status (*replay_launch)(void *native, void *stream, struct le_device_kernel *kernel,
                                 const struct le_kernel_launch *launch, void **parameters, void *replay);
    void (*replay_free)(void *native, void *replay);
    /* the two of products: NULL where there is no library for them (cpu) */
    leat_status (*product_open)(void *native);
    leat_status (*product)(void *native, void *stream, const struct le_product *product, uint64_t work,
                           size_t work_bytes);
    uint64_t (*clock_ns)(void *native); /* optional: CLOCK_MONOTONIC */
};
#endif
