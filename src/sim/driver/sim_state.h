/* sim's driver, its one state and what its files offer each other: the table's functions (sim_driver.c lists them) over
 * memory, streams, events, a queue of operations for each stream, and the virtual clock. Not seen outside of sim.
 *
 * Operations are numbered from 1 as they are given. What orders them is known at that time, and with it their virtual
 * times; they run later, on sim's own thread (sim_worker.c), when something forces them. Everything here is guarded by
 * the state's lock unless it says otherwise; what lives on the heap exists from the first retain of the primary context
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
    SIM_QUEUE_DEPTH = 1021, /* operations in a stream before enqueueing waits: measured, H200 */
    SIM_MULTIPROCESSORS = 4,
    SIM_BLOCK_THREADS = 1024,
    SIM_MULTIPROCESSOR_THREADS = 2048,
    SIM_MULTIPROCESSOR_BLOCKS = 32,
    SIM_SHARED_BYTES = 48 << 10,
    SIM_SHARED_OPTIN_BYTES = 227 << 10,
    SIM_MULTIPROCESSOR_SHARED_BYTES = 228 << 10,
    SIM_BLOCK_SHARED_RESERVED_BYTES = 1 << 10,
    SIM_REGISTERS = 65536
};

/* ---- handles: what the caller holds is no address; one that was destroyed, or is of another kind, is known as bad */
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
uintptr_t le_sim_handle_put(struct sim_handles *handles, void *object); /* 0: no memory */
void *le_sim_handle_get(const struct sim_handles *handles, uintptr_t handle);
void le_sim_handle_drop(struct sim_handles *handles, uintptr_t handle);
void le_sim_handles_finish(struct sim_handles *handles);

/* ---- order, kept while checking: for each stream's slot the last operation that is over before */
struct sim_vector {
    uint64_t *at;
    int count;
};
bool le_sim_vector_join(struct sim_vector *into, const struct sim_vector *from); /* false: no memory */
bool le_sim_vector_raise(struct sim_vector *vector, int slot, uint64_t number);
bool le_sim_vector_has(const struct sim_vector *vector, int slot, uint64_t number);
void le_sim_vector_finish(struct sim_vector *vector);

/* ---- memory that the driver knows */
enum sim_allocation_kind {
    SIM_ALLOCATION_DEVICE,
    SIM_ALLOCATION_PINNED,
    SIM_ALLOCATION_REGISTERED,
    SIM_ALLOCATION_MODULE
};
struct sim_allocation {
    uintptr_t address;
    size_t size_bytes, span_bytes; /* span: in whole pages, but for what is not sim's own */
    enum sim_allocation_kind kind;
    bool pooled; /* parts of it are noted as live or not */
};
struct sim_memory {
    struct sim_allocation *at; /* by address; no two overlap */
    int count, capacity;
    uintptr_t base, next; /* of the device's reserved addresses; where the next block goes while there is room */
    size_t reserved_bytes, used_bytes;
    struct sim_allocation *retired; /* freed pinned memory whose addresses are kept */
    int retired_count;
};
size_t le_sim_page_bytes(void);
void le_sim_memory_finish(void);
/* The block with all of [address, +size_bytes); NULL: none. */
const struct sim_allocation *le_sim_memory_find(uintptr_t address, size_t size_bytes);
bool le_sim_memory_add(const struct sim_allocation *allocation); /* false: no memory */
void le_sim_memory_remove(uintptr_t address);
/* The check begins: tells it of all blocks, whose contents are anything. */
void le_sim_memory_declare_all(void);

/* ---- operations */
enum sim_op_kind { SIM_OP_COPY, SIM_OP_FILL, SIM_OP_KERNEL, SIM_OP_RECORD, SIM_OP_WAIT };
enum sim_engine { SIM_ENGINE_NONE, SIM_ENGINE_UP, SIM_ENGINE_DOWN, SIM_ENGINE_COMPUTE };
struct sim_copy {
    uintptr_t target, source;
    size_t row_bytes, rows, slices;
    size_t target_row_stride, target_slice_stride, source_row_stride, source_slice_stride;
    bool target_known, source_known; /* device, pinned or a module's: checked */
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
    int lanes;            /* of the compute engine */
    uint64_t duration_ns; /* on the virtual clock */
    uint64_t end_ns;
    struct sim_vector vector; /* while checking: what is over before it */
    void *staged;             /* pageable memory as it was; freed with it */
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
    int slot;    /* in state.streams; 0: the NULL stream */
    unsigned id; /* for people: from 1 in the order of creation; 0: the NULL stream */
    bool blocking, destroyed;
    struct sim_op *head, *tail;
    int length;
    uint64_t last_number; /* given last */
    uint64_t end_ns;      /* when all that was given ends */
    struct sim_vector vector;
    uint64_t ends_ns[SIM_QUEUE_DEPTH]; /* of the operations given last: a ring */
    uint64_t enqueued;                 /* to the ring */
};
struct sim_event {
    bool timed, recorded;
    int slot;
    uint64_t number, time_ns;
    struct sim_vector vector;
};

/* ---- the virtual clock: busy times of the engines that are not over yet */
enum { SIM_LANES = SIM_MULTIPROCESSORS };
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
uint64_t le_sim_stage_ns(size_t size_bytes); /* the host's share of a copy from pageable memory */
uint64_t le_sim_copy_down_pageable_ns(size_t size_bytes);
uint64_t le_sim_copy_ns(enum sim_engine engine, size_t size_bytes);
uint64_t le_sim_fill_ns(size_t size_bytes);
uint64_t le_sim_kernel_ns(uint64_t blocks, uint64_t threads); /* sim's estimate */
/* When the engine has duration_ns free, not before ready_ns; takes it. */
bool le_sim_engines_take(struct sim_engines *engines, const struct sim_op *op, uint64_t ready_ns, uint64_t *start_ns);
void le_sim_engines_finish(struct sim_engines *engines);

/* ---- what waits for work to run */
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
    pthread_mutex_t life_lock; /* around retain and release; taken before lock */
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    pid_t process; /* that called Init; 0: nobody has */
    struct sim_settings {
        bool configured, check, only_on_wait;
        uint64_t seed, kernel_ns, context_ms;
        size_t memory_bytes;
        struct le_sim_faults faults;
    } options;
    struct sim_counts counts;
    struct le_sim_tally leftovers; /* behind by the last context */
    int context_uses;
    le_cu_result fatal;
    uint64_t clock_ns; /* the host's virtual time */

    struct sim_memory memory;
    struct sim_handles stream_handles, event_handles, module_handles, function_handles, graph_handles, exec_handles;
    struct sim_stream **streams;
    int stream_count;
    unsigned stream_ids;
    struct sim_loaded *retired; /* modules that were unloaded while checking */
    struct sim_destroyed_streams {
        struct sim_vector vector;
        uint64_t end_ns;
    } destroyed[2]; /* what streams that are no more had been given: of those that were not blocking, and of blocking
                       ones */
    struct sim_engines engines;
    uint64_t op_count;     /* operations given so far */
    uint64_t failed_polls; /* in a row that found nothing over */

    struct sim_check *check;         /* NULL: no checks now */
    struct sim_check *context_check; /* the context's, if there ever was one: its modules know it */
    struct sim_vector host_vector;   /* what the host has waited for */
    int32_t *op_slots;               /* of operation first_checked + k */
    uint64_t first_checked, op_slot_capacity;

    pthread_t worker;
    bool worker_started, stop;
    struct sim_stack_cache stack_cache; /* the worker's */
    uint64_t queued;                    /* operations in all streams */
    struct sim_goal *goals;
    const struct sim_op *running;
    uint64_t last_call_ns; /* real time */
};
struct sim_state *le_sim_state(void);
le_cu_context le_sim_primary(void);

/* ---- the door of each call: takes the lock and the call's virtual time, or gives the error that it returns */
le_cu_result le_sim_enter(enum sim_call call);       /* a context must be current */
le_cu_result le_sim_enter_early(enum sim_call call); /* only Init must have been called */
le_cu_result le_sim_leave(le_cu_result result);      /* gives it back, or the fatal error that came up meanwhile */

/* ---- options and faults */
bool le_sim_is_child(void);           /* of the process that called Init, by fork */
void le_sim_configuration_read(void); /* from the environment, if nobody has configured */
/* Counts one more; true: it is the one that fails. */
bool le_sim_fault_now(uint64_t *count, uint64_t which);
le_cu_result le_sim_call_fault(void);     /* of one more call of the driver's */
le_nvrtc_result le_sim_nvrtc_fault(void); /* of one more call; these two take the lock */
le_cublas_status le_sim_cublas_fault(void);
void le_sim_count_leftovers(void); /* before all of it is freed */
int le_sim_handles_live(const struct sim_handles *handles);

/* ---- streams and queues */
struct sim_stream *le_sim_stream_of(le_cu_stream stream); /* NULL: a bad handle */
bool le_sim_streams_start(void);
void le_sim_streams_finish(void);
void le_sim_stream_reap(struct sim_stream *stream); /* frees it if it is destroyed and empty */
/* Takes the operation over, also when it fails. */
le_cu_result le_sim_enqueue(struct sim_stream *stream, struct sim_op *op);
bool le_sim_op_done(int slot, uint64_t number);
/* Of the runnable heads the one whose turn it is; NULL: none. */
struct sim_op *le_sim_queue_pick(void);
void le_sim_queue_pop(struct sim_op *op);
void le_sim_queue_drop_all(void); /* after a fatal error */
/* Runs what is needed for it; the host's clock does not move. */
void le_sim_force(int slot, uint64_t number);
void le_sim_force_all(void);
bool le_sim_force_briefly(int slot, uint64_t number); /* false: a kernel still runs after a second */
/* The same, and the host waits: its clock goes to the end, and it knows what is over. */
void le_sim_host_waits(uint64_t end_ns, const struct sim_vector *vector);
void le_sim_wait_stream(struct sim_stream *stream);
void le_sim_wait_all(void);
/* Whether it is over by now; else the clock goes on so that polling ends. */
le_cu_result le_sim_poll(int slot, uint64_t number, uint64_t end_ns, const struct sim_vector *vector);

void le_sim_events_finish(void);
void le_sim_modules_declare_all(void); /* to the check, which begins */
void le_sim_modules_finish(void);
void le_sim_graphs_finish(void);

/* ---- launches, as the calls of the table check and make them */
struct sim_shape {
    unsigned grid[3], block[3], shared_bytes;
    bool cooperative;
};
struct sim_saved_launch { /* what a graph keeps of one */
    le_cu_function function;
    struct sim_shape shape;
    size_t buffer_bytes;
    unsigned char buffer[]; /* of the parameters, at their offsets */
};
le_cu_result le_sim_launch(le_cu_function function, const struct sim_shape *shape, le_cu_stream stream,
                           void **parameters, void **extra);
le_cu_result le_sim_launch_save(le_cu_function function, const struct sim_shape *shape, void **parameters, void **extra,
                                struct sim_saved_launch **kept); /* le_free */

/* ---- order */
bool le_sim_order_enqueue(struct sim_stream *stream, struct sim_op *op);
bool le_sim_order_before(void *user, uint64_t a, uint64_t b);
void le_sim_order_host_knows(const struct sim_vector *vector);
le_cu_result le_sim_check_start(void);
void le_sim_check_stop(void);
void le_sim_check_finish(void); /* with the context */

/* ---- sim's own thread */
le_cu_result le_sim_worker_start(void);
void le_sim_worker_stop(void);
void le_sim_copy_run(const struct sim_op *op);
void le_sim_fill_run(const struct sim_op *op);
void le_sim_kernel_run(const struct sim_op *op);
void le_sim_kernel_free(struct sim_kernel *kernel);
const char *le_sim_kernel_name(const struct sim_kernel *kernel);
/* The k-th of the addresses that its parameters may be; 0 after the last. */
uintptr_t le_sim_kernel_address(const struct sim_kernel *kernel, size_t k);

/* ---- the table's functions */
#define LE_CU(name, symbol, version, need, parameters) le_cu_result le_sim_##name parameters;
#include "device/driver/cuda_driver.def"
#undef LE_CU
void le_sim_note_memory(le_cu_deviceptr address, size_t size_bytes, int live);
#endif
