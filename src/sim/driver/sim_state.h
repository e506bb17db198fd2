/* The state of sim's driver, and the functions that its files share. The driver implements the functions of the driver
 * table (sim_driver.c) with memory, streams, events, a queue of operations for each stream, and a virtual clock.
 * Private to sim.
 *
 * Operations are numbered from 1 in the order in which they are enqueued. Their order and their virtual times are fixed
 * at that time. They run later, on sim's own thread (sim_worker.c), when something forces them. The state's lock guards
 * everything here unless stated otherwise. Heap memory of the state exists from the first retain of the primary context
 * to its last release. */
#ifndef LE_SIM_STATE_H
#define LE_SIM_STATE_H
#include "sim/sim.h"
#include "sim/check/sim_check.h"
#include "sim/grid/sim_exec.h"
#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

enum {
    SIM_QUEUE_DEPTH = 1021,  /* operations that a stream holds before enqueueing blocks: measured, H200 */
    SIM_MULTIPROCESSORS = 4, /* the default; LEAT_SIM_MULTIPROCESSORS sets another number */
    SIM_MULTIPROCESSORS_MOST = 1024,
    SIM_BLOCK_THREADS = 1024,
    SIM_MULTIPROCESSOR_THREADS = 2048,
    SIM_MULTIPROCESSOR_BLOCKS = 32,
    SIM_SHARED_BYTES = 48 << 10,
    SIM_SHARED_OPTIN_BYTES = 227 << 10,
    SIM_MULTIPROCESSOR_SHARED_BYTES = 228 << 10,
    SIM_BLOCK_SHARED_RESERVED_BYTES = 1 << 10,
    SIM_REGISTERS = 65536
};

/* ---- handles: numbers, not addresses, so a destroyed handle or one of another kind is recognized as invalid */
enum sim_handle_kind {
    SIM_HANDLE_STREAM = 1,
    SIM_HANDLE_EVENT,
    SIM_HANDLE_MODULE,
    SIM_HANDLE_FUNCTION,
    SIM_HANDLE_GRAPH,
    SIM_HANDLE_EXEC
};
struct sim_handles {
    struct sim_handle_slot {
        void *object;
        uint32_t generation;
    } * at;
    int count;
    uint32_t generation;
    enum sim_handle_kind kind;
};
uintptr_t le_sim_handle_put(struct sim_handles *handles, void *object); /* 0: out of memory */
void *le_sim_handle_get(const struct sim_handles *handles, uintptr_t handle);
void le_sim_handle_drop(struct sim_handles *handles, uintptr_t handle);
void le_sim_handles_finish(struct sim_handles *handles);

/* ---- order, recorded while checking: for each stream's slot, the last operation known to be complete */
struct sim_vector {
    uint64_t *at;
    int count;
};
bool le_sim_vector_join(struct sim_vector *into, const struct sim_vector *from); /* false: out of memory */
bool le_sim_vector_raise(struct sim_vector *vector, int slot, uint64_t number);
bool le_sim_vector_has(const struct sim_vector *vector, int slot, uint64_t number);
void le_sim_vector_finish(struct sim_vector *vector);

/* ---- memory that the driver knows: allocated, registered, or a module's variables */
enum sim_allocation_kind {
    SIM_ALLOCATION_DEVICE,
    SIM_ALLOCATION_PINNED,
    SIM_ALLOCATION_REGISTERED,
    SIM_ALLOCATION_MODULE
};
struct sim_allocation {
    uintptr_t address;
    size_t size_bytes, span_bytes; /* span_bytes: size_bytes rounded up to whole pages if sim allocated the memory */
    enum sim_allocation_kind kind;
    bool pooled; /* a pool hands it out: note_memory says which parts are live */
};
struct sim_memory {
    struct sim_allocation *at; /* sorted by address, without overlaps */
    int count, capacity;
    uintptr_t base, next; /* base: start of the device's reserved addresses; next: end of the highest allocation */
    size_t reserved_bytes, used_bytes;
    struct sim_allocation *retired; /* freed pinned memory whose addresses stay reserved */
    int retired_count;
};
size_t le_sim_page_bytes(void);
void le_sim_memory_finish(void);
/* The allocation that contains all of [address, address + size_bytes), or NULL. */
const struct sim_allocation *le_sim_memory_find(uintptr_t address, size_t size_bytes);
bool le_sim_memory_add(const struct sim_allocation *allocation); /* false: out of memory */
void le_sim_memory_remove(uintptr_t address);
/* Called when checking starts: declares every allocation to the check, as initialized. */
void le_sim_memory_declare_all(void);

/* ---- operations */
enum sim_op_kind { SIM_OP_COPY, SIM_OP_FILL, SIM_OP_KERNEL, SIM_OP_RECORD, SIM_OP_WAIT };
enum sim_engine { SIM_ENGINE_NONE, SIM_ENGINE_UP, SIM_ENGINE_DOWN, SIM_ENGINE_COMPUTE };
struct sim_copy {
    uintptr_t target, source;
    size_t row_bytes, rows, slices;
    size_t target_row_stride, target_slice_stride, source_row_stride, source_slice_stride;
    bool target_known, source_known; /* the memory is the device's, pinned or a module's, so it is checked */
    const char *name;
};
struct sim_fill {
    uintptr_t target;
    size_t count;
    int value_bytes;
    uint32_t value;
};
struct sim_kernel;
struct sim_op {
    struct sim_op *next;
    uint64_t number;
    int slot;
    enum sim_op_kind kind;
    enum sim_engine engine;
    int lanes;            /* lanes of the compute engine that it occupies */
    uint64_t duration_ns; /* on the virtual clock */
    uint64_t end_ns;
    struct sim_vector vector;       /* while checking: the operations that are complete before it */
    void *staged;                   /* copy of the pageable source, owned by the operation */
    struct le_cancel_tokens tokens; /* of a kernel */
    union {
        struct sim_copy copy;
        struct sim_fill fill;
        struct sim_kernel *kernel;
        struct {
            int slot;
            uint64_t number;
        } wait;
    };
};
const char *le_sim_op_name(const struct sim_op *op);
void le_sim_op_free(struct sim_op *op);

struct sim_stream {
    int slot;    /* index in state.streams; 0: the NULL stream */
    unsigned id; /* for messages: from 1 in the order of creation; 0: the NULL stream */
    bool blocking, destroyed;
    struct sim_op *head, *tail;
    int length;
    uint64_t last_number; /* of the operation enqueued last */
    uint64_t end_ns;      /* when everything enqueued so far ends */
    struct sim_vector vector;
    uint64_t ends_ns[SIM_QUEUE_DEPTH]; /* a ring of the end times of the operations enqueued last */
    uint64_t enqueued;                 /* operations put in the ring so far */
};
struct sim_event {
    bool timed, recorded;
    int slot;
    uint64_t number, time_ns;
    struct sim_vector vector;
};

/* ---- the virtual clock: the times at which each engine is busy, without those in the past */
enum { SIM_LANES = SIM_MULTIPROCESSORS }; /* simulated times do not depend on LEAT_SIM_MULTIPROCESSORS */
struct sim_lane {
    struct sim_span {
        uint64_t start_ns, end_ns;
    } * at;
    int count, capacity;
};
struct sim_engines {
    struct sim_lane up, down, compute[SIM_LANES];
};
enum sim_call {
    SIM_CALL_FREE, /* takes no time */
    SIM_CALL_QUERY,
    SIM_CALL_LAUNCH,
    SIM_CALL_GRAPH_LAUNCH,
    SIM_CALL_COPY,
    SIM_CALL_EVENT,
    SIM_CALL_SYNCHRONIZE,
    SIM_CALL_CREATE,
    SIM_CALL_ALLOCATE,
    SIM_CALL_MODULE,
    SIM_CALL_CONTEXT
};
uint64_t le_sim_call_ns(enum sim_call call);
uint64_t le_sim_pin_ns(size_t size_bytes);
uint64_t le_sim_stage_ns(size_t size_bytes); /* the host's part of a copy from pageable memory */
uint64_t le_sim_copy_down_pageable_ns(size_t size_bytes);
uint64_t le_sim_copy_ns(enum sim_engine engine, size_t size_bytes);
uint64_t le_sim_fill_ns(size_t size_bytes);
uint64_t le_sim_kernel_ns(uint64_t blocks, uint64_t threads); /* sim's estimate */
/* Finds the first time, from ready_ns on, at which the engine of op is free for op's duration, and reserves it. false:
 * out of memory. */
bool le_sim_engines_take(struct sim_engines *engines, const struct sim_op *op, uint64_t ready_ns, uint64_t *start_ns);
void le_sim_engines_finish(struct sim_engines *engines);

/* ---- waiting until work has run */
struct sim_goal {
    struct sim_goal *next;
    int slot; /* -1: every stream */
    uint64_t number;
    bool reached;
};

struct sim_counts {
    uint64_t allocation, launch, copy, module, kernel, call, nvrtc, cublas;
};

struct sim_state {
    pthread_mutex_t life_lock; /* held during retain and release; taken before `lock` */
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    pid_t process; /* the process that called Init; 0: none has */
    struct sim_settings {
        bool configured, check, only_on_wait;
        uint64_t seed, kernel_ns, context_ms;
        int multiprocessors;
        size_t memory_bytes;
        struct le_sim_faults faults;
    } options;
    struct sim_counts counts;
    struct le_sim_tally leftovers; /* what the last context still held when it was released */
    int context_uses;
    le_cu_result fatal;
    char failure[512]; /* why the kernel that set fatal failed; empty: no kernel did */
    uint64_t clock_ns; /* the host's virtual time */

    struct sim_memory memory;
    struct sim_handles stream_handles, event_handles, module_handles, function_handles, graph_handles, exec_handles;
    struct sim_stream **streams;
    int stream_count;
    unsigned stream_ids;
    struct sim_loaded *retired; /* modules unloaded while checking */
    struct sim_destroyed_streams {
        struct sim_vector vector;
        uint64_t end_ns;
    } destroyed[2]; /* order and end of the work of destroyed streams: [0] of non-blocking ones, [1] of blocking ones */
    struct sim_engines engines;
    uint64_t op_count;     /* operations enqueued so far */
    uint64_t failed_polls; /* queries in a row that found the work not complete */

    struct sim_check *check;         /* NULL: not checking now */
    struct sim_check *context_check; /* the check of this context, once it has one; its modules refer to it */
    struct sim_vector host_vector;   /* the operations that the host has waited for */
    int32_t *op_slots;               /* [k]: the stream slot of operation first_checked + k */
    uint64_t first_checked, op_slot_capacity;

    pthread_t worker;
    bool worker_started, stop;
    struct sim_stack_cache stack_cache; /* used by the worker */
    uint64_t queued;                    /* operations in all queues */
    struct sim_goal *goals;
    const struct sim_op *running;
    uint64_t last_call_ns; /* real time */
};
struct sim_state *le_sim_state(void);
le_cu_context le_sim_primary(void);

/* ---- entry and exit of every call. Entering takes the lock and advances the virtual clock, or returns an error */
le_cu_result le_sim_enter(enum sim_call call);       /* a context must be current */
le_cu_result le_sim_enter_early(enum sim_call call); /* only Init must have been called */
/* Releases the lock. Returns result, or a fatal error that occurred meanwhile. */
le_cu_result le_sim_leave(le_cu_result result);

/* ---- options and faults */
bool le_sim_is_child(void);           /* whether this process is a fork of the one that called Init */
void le_sim_configuration_read(void); /* from the environment, unless le_sim_configure was called */
/* Counts one more operation. true: this is the one that must fail. */
bool le_sim_fault_now(uint64_t *count, uint64_t which);
le_cu_result le_sim_call_fault(void);     /* counts a driver call; its planned error, if any */
le_nvrtc_result le_sim_nvrtc_fault(void); /* counts a call of the library; these two take the lock */
le_cublas_status le_sim_cublas_fault(void);
void le_sim_count_leftovers(void); /* called before the context is freed */
int le_sim_handles_live(const struct sim_handles *handles);

/* ---- streams and queues */
struct sim_stream *le_sim_stream_of(le_cu_stream stream); /* NULL: invalid handle */
bool le_sim_streams_start(void);
void le_sim_streams_finish(void);
void le_sim_stream_reap(struct sim_stream *stream); /* frees the stream if it is destroyed and empty */
/* Takes ownership of op, also on failure. */
le_cu_result le_sim_enqueue(struct sim_stream *stream, struct sim_op *op);
bool le_sim_op_done(int slot, uint64_t number);
/* The next operation to run, from the heads of all streams that can run; NULL: none can. */
struct sim_op *le_sim_queue_pick(void);
void le_sim_queue_pop(struct sim_op *op);
void le_sim_queue_drop_all(void); /* after a fatal error */
/* Returns when the operation has run. Does not advance the host's clock. */
void le_sim_force(int slot, uint64_t number);
void le_sim_force_all(void);
bool le_sim_force_briefly(int slot, uint64_t number); /* false: it still runs after some hundredths of a second */
/* The host waits: its clock advances to end_ns, and it knows that the operations of vector are complete. */
void le_sim_host_waits(uint64_t end_ns, const struct sim_vector *vector);
void le_sim_wait_stream(struct sim_stream *stream);
void le_sim_wait_all(void);
/* SUCCESS if the operation is complete on the virtual clock. Otherwise advances the clock, so that polling ends, and
 * returns NOT_READY. */
le_cu_result le_sim_poll(int slot, uint64_t number, uint64_t end_ns, const struct sim_vector *vector);

void le_sim_events_finish(void);
void le_sim_modules_declare_all(void); /* to the check, when checking starts */
void le_sim_modules_finish(void);
void le_sim_graphs_finish(void);

/* ---- launches: checking and enqueueing */
struct sim_shape {
    unsigned grid[3], block[3], shared_bytes;
    bool cooperative;
};
struct sim_saved_launch { /* a launch stored in a graph */
    le_cu_function function;
    struct sim_shape shape;
    size_t buffer_bytes;
    unsigned char buffer[]; /* the parameters, at their offsets */
};
le_cu_result le_sim_launch(le_cu_function function, const struct sim_shape *shape, le_cu_stream stream,
                           void **parameters, void **extra);
le_cu_result le_sim_launch_save(le_cu_function function, const struct sim_shape *shape, void **parameters, void **extra,
                                struct sim_saved_launch **saved); /* le_free */

/* ---- order */
bool le_sim_order_enqueue(struct sim_stream *stream, struct sim_op *op);
bool le_sim_order_before(void *user, uint64_t a, uint64_t b);
void le_sim_order_host_knows(const struct sim_vector *vector);
le_cu_result le_sim_check_start(void);
void le_sim_check_stop(void);
void le_sim_check_finish(void); /* when the context is destroyed */

/* ---- sim's own thread */
le_cu_result le_sim_worker_start(void);
void le_sim_worker_stop(void);
void le_sim_copy_run(const struct sim_op *op);
void le_sim_fill_run(const struct sim_op *op);
void le_sim_kernel_run(const struct sim_op *op);
/* A kernel was canceled. What it would have written counts as written, so that the check reports no consequences. */
void le_sim_kernel_skipped(const struct sim_state *state);
void le_sim_kernel_free(struct sim_kernel *kernel);
const char *le_sim_kernel_name(const struct sim_kernel *kernel);
/* Parameter word k of the kernel, taken as an address; 0 after the last. */
uintptr_t le_sim_kernel_address(const struct sim_kernel *kernel, size_t k);

/* ---- the table's functions */
#define LE_CU(name, symbol, version, need, parameters) le_cu_result le_sim_##name parameters;
#include "device/driver/cuda_driver.def"
#undef LE_CU
void le_sim_note_memory(le_cu_deviceptr address, size_t size_bytes, int live);
#endif
