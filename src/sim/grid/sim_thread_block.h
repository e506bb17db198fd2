/* A running grid: its thread blocks, their threads (fibers), and what these wait for. sim_grid.c schedules threads and
 * blocks, sim_warp.c does what lanes do together, sim_services.c has the functions that modules call, and sim_trap.c
 * handles faults of the machine. Everything runs on the thread that called le_sim_grid_run, and is freed before it
 * returns. */
#ifndef LE_SIM_THREAD_BLOCK_H
#define LE_SIM_THREAD_BLOCK_H
#include "sim/grid/sim_exec.h"
#include "sim/grid/sim_fiber.h"
#include "sim/grid/sim_module.h"
#include <fenv.h>
#include <time.h>

enum { SIM_WARP = 32, SIM_ORDERS = 16, SIM_BUDGET = 32, SIM_BLOCK_WARPS = 32 };
enum sim_thread_state { SIM_READY, SIM_AT_BARRIER, SIM_AT_GRID, SIM_AT_CLUSTER, SIM_AT_WARP, SIM_ENDED };

struct sim_thread {
    struct sim_fiber fiber;
    struct sim_self *self; /* lies at the top of the thread's stack */
    const char *file;      /* source location where it waits */
    int line, kind;        /* enum sim_collective or sim_barrier_kind */
    unsigned mask, argument;
    uint64_t value, result;
    bool arrived; /* has arrived at the cluster's barrier, but not yet waited */
    uint64_t arrival;
};

struct sim_cluster {
    struct sim_thread_block *thread_blocks[SIM_CLUSTER_BLOCKS]; /* by rank; NULL: has ended */
    unsigned live, arrived;                                     /* numbers of threads */
    uint64_t phase;                                             /* completed barriers */
};

struct sim_thread_block {
    uint64_t number; /* linear block number in the grid */
    unsigned live, at_barrier, at_grid;
    bool progressed; /* a thread did more than wait in this round */
    bool predicated; /* a thread waits at a barrier with a predicate */
    bool started;
    struct sim_stacks *stacks;
    const uint16_t *order; /* the order of the threads' turns */
    unsigned position;
    unsigned char *state; /* enum sim_thread_state of each thread */
    struct sim_thread *threads;
    unsigned char *shared; /* its shared memory, within aside, while another block's is in place */
    unsigned char *aside;
    struct sim_cluster *cluster;
};

struct sim_run {
    struct sim_grid *grid;
    struct sim_module *module;
    struct sim_check *check;
    enum sim_grid_status status;
    struct sim_self **self; /* the module's pointer to the running thread */
    struct sim_fiber home;
    struct sim_thread_block *thread_block; /* the running one, whose shared memory is in place */
    struct sim_thread *thread;
    struct sim_thread_block **thread_blocks; /* the resident blocks */
    unsigned thread_block_count, thread_block_limit;
    struct sim_cluster *clusters; /* thread_block_limit of them */
    unsigned cluster_dim[3], cluster_blocks;
    bool released; /* a cluster's barrier has just completed, so blocks that stalled can go on */
    uint64_t blocks, started, ended, stride, first; /* the k-th cluster to start is (first + k * stride) % clusters */
    unsigned threads, warps;                        /* of a block */
    uint64_t random;
    uint16_t *orders; /* SIM_ORDERS permutations */
    void **arguments;
    struct sim_shared_area area;
    uint64_t idle_since_ns, yielded_ns; /* CPU time of the executor thread */
    struct sim_deferred_read { /* a plain read of the running thread, not yet passed to the check (service_access) */
        uintptr_t address, pc;
        uint64_t home;     /* the block that owns the memory */
        size_t size_bytes; /* 0: none */
    } deferred;
    const void *fault_address;
    int fault_signal;
    bool fault_guard, fault_null;
    void *trap_stack;
    volatile bool must_stop; /* the grid is canceled: its threads leave at the next service, or sooner */
    bool has_timer;
    timer_t timer;      /* looks at the grid's tokens now and then */
    fenv_t float_state; /* before the grid */
    char *landing;      /* a stack for leaving a fiber whose own stack is unusable */
    struct sim_shared_variable *variables;
};

struct sim_run *le_sim_current_run(void); /* NULL: this thread is not running a grid */

/* ---- sim_grid.c */
/* Switches to the next ready thread; the caller has set the running thread's state. Returns when the calling thread
 * continues. */
void le_sim_run_next_thread(struct sim_run *run);
/* Ends the grid. Does not return if called on a fiber. */
void le_sim_run_stop(struct sim_run *run, enum sim_grid_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
struct sim_thread_id le_sim_thread_id_of(const struct sim_run *run, const struct sim_thread *thread);

/* ---- sim_warp.c */
/* Completes the operation that the lanes of the thread's warp wait for, if all of them have arrived. */
void le_sim_warp_try_complete(struct sim_run *run, struct sim_thread *thread);
/* Called when a thread of the warp has ended: completes operations that waited only for it. */
void le_sim_warp_ended(struct sim_run *run, unsigned warp);
/* Called when no thread is ready: answers the lanes that wait in __activemask. false: there are none. */
bool le_sim_warp_answer_activemask(struct sim_run *run);

/* ---- sim_cluster.c */
bool le_sim_clusters_make(struct sim_run *run); /* false: the grid does not consist of whole clusters */
uint64_t le_sim_cluster_block(const struct sim_run *run, uint64_t cluster, unsigned rank);
void le_sim_cluster_thread_ended(struct sim_run *run, struct sim_thread *thread); /* the thread has ended */
/* Whether the block waits at its cluster's barrier and another block of the cluster can go on. */
bool le_sim_cluster_may_go_on(const struct sim_run *run, const struct sim_thread_block *thread_block);
void le_sim_cluster_service(int kind, const char *file, int line);
/* If *address lies in the set-aside shared memory of another block of the cluster: sets *address to where the byte lies
 * when in place, and *home to the number of that block. false: it does not. */
bool le_sim_cluster_find(const struct sim_run *run, uintptr_t *address, uint64_t *home);
void *le_sim_cluster_map(const void *address, unsigned rank, const char *file, int line);

/* ---- sim_services.c */
/* Passes the deferred read to the check. Called before the running thread waits or ends. */
void le_sim_flush_deferred_read(struct sim_run *run);
extern const struct sim_services le_sim_services;

/* Ends the grid if it is canceled. Call it on a fiber, where nothing is half done. */
void le_sim_run_stop_if_canceled(struct sim_run *run);

/* ---- sim_trap.c: while installed, a fault of the machine on a fiber of this thread ends the grid and sets
 * run->fault_signal, and a request of the grid's tokens ends it, too */
bool le_sim_trap_begin(struct sim_run *run);
void le_sim_trap_end(struct sim_run *run);

/* ---- sim_thread_block.c */
/* The block of slot 0 uses the stacks of the stack cache, if the grid has one. NULL: out of memory. */
struct sim_thread_block *le_sim_thread_block_new(struct sim_run *run, unsigned slot);
void le_sim_thread_block_free(struct sim_run *run, struct sim_thread_block *thread_block);
/* Puts the block's shared memory in place, and the former block's aside. */
void le_sim_thread_block_switch_in(struct sim_run *run, struct sim_thread_block *thread_block);
/* The offset of a byte of shared memory in the set-aside copy. false: it is not in shared memory. */
bool le_sim_aside_offset(const struct sim_run *run, uintptr_t address, size_t *offset);
size_t le_sim_aside_bytes(const struct sim_run *run);                     /* size of the copy */
uintptr_t le_sim_aside_address(const struct sim_run *run, size_t offset); /* the inverse of le_sim_aside_offset */
void le_sim_thread_block_begin(struct sim_run *run, struct sim_thread_block *thread_block, uint64_t number,
                               void (*entry)(void *));
void le_sim_orders_make(struct sim_run *run);
void le_sim_order_choose(struct sim_run *run, struct sim_thread_block *thread_block);
uint64_t le_sim_random(uint64_t *state);
#endif
