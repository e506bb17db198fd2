/* A grid as it runs: blocks ("teams") of threads, each a fiber, and what they wait for. sim_grid.c has the turns,
 * sim_warp.c what lanes do together, sim_services.c what modules call, sim_trap.c the machine's faults. All of it on
 * the one thread that runs the grid; nothing outlives le_sim_grid_run. */
#ifndef LE_SIM_THREAD_BLOCK_H
#define LE_SIM_THREAD_BLOCK_H
#include "sim/grid/sim_exec.h"
#include "sim/grid/sim_fiber.h"
#include "sim/grid/sim_module.h"

enum { SIM_WARP = 32, SIM_ORDERS = 16, SIM_BUDGET = 32, SIM_BLOCK_WARPS = 32 };
enum sim_thread_state { SIM_READY, SIM_AT_BARRIER, SIM_AT_GRID, SIM_AT_CLUSTER, SIM_AT_WARP, SIM_ENDED };

struct sim_thread {
    struct sim_fiber fiber;
    struct sim_self *self; /* at the top of its stack */
    const char *file;      /* where it waits */
    int line, kind;        /* enum sim_collective or sim_barrier_kind */
    unsigned mask, argument;
    uint64_t value, result;
    bool arrived; /* at the cluster's barrier, where it has not waited yet */
    uint64_t arrival;
};

struct sim_cluster {
    struct sim_thread_block *thread_blocks[SIM_CLUSTER_BLOCKS]; /* by rank; NULL: it has ended */
    unsigned live, arrived;                                     /* threads */
    uint64_t phase;                                             /* barriers that are over */
};

struct sim_thread_block {
    uint64_t number; /* of the block, linear */
    unsigned live, at_barrier, at_grid;
    bool progressed; /* somebody did more than wait, this round */
    bool predicated;
    bool started;
    struct sim_stacks *stacks;
    const uint16_t *order; /* whose turn comes after whose */
    unsigned position;
    unsigned char *state; /* enum sim_thread_state of each */
    struct sim_thread *threads;
    unsigned char *shared; /* its shared memory while another's is in place: in aside */
    unsigned char *aside;
    struct sim_cluster *cluster;
};

struct sim_run {
    struct sim_grid *grid;
    struct sim_module *module;
    struct sim_check *check;
    enum sim_grid_status status;
    struct sim_self **self; /* the module's */
    struct sim_fiber home;
    struct sim_thread_block *thread_block; /* that runs; its shared memory is in place */
    struct sim_thread *thread;
    struct sim_thread_block **thread_blocks; /* resident */
    unsigned thread_block_count, thread_block_limit;
    struct sim_cluster *clusters; /* as many as teams */
    unsigned cluster_dim[3], cluster_blocks;
    bool released; /* a cluster's threads go on, perhaps of blocks that were passed over */
    uint64_t blocks, started, ended, stride, first; /* cluster k of the order is (first + k * stride) % clusters */
    unsigned threads, warps;                        /* of a block */
    uint64_t random;
    uint16_t *orders; /* SIM_ORDERS permutations */
    void **arguments;
    struct sim_shared_area area;
    uint64_t idle_since_ns, yielded_ns; /* of the thread's own time */
    struct sim_deferred_read { /* the running thread's last access, a plain read, until it is known what comes next */
        uintptr_t address, pc;
        uint64_t home;     /* the block whose memory it is */
        size_t size_bytes; /* 0: none */
    } deferred;
    const void *fault_address;
    int fault_signal;
    bool fault_guard;
    void *trap_stack;
    char *landing; /* a stack for leaving a fiber whose own cannot be used */
    struct sim_shared_variable *variables;
};

struct sim_run *le_sim_current_run(void); /* NULL: this thread runs no grid */

/* ---- sim_grid.c */
/* The running thread's state is set: the next one goes on. Returns when this one does. */
void le_sim_run_next_thread(struct sim_run *run);
/* Ends the grid; does not return on a fiber. */
void le_sim_run_stop(struct sim_run *run, enum sim_grid_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
struct sim_thread_id le_sim_thread_id_of(const struct sim_run *run, const struct sim_thread *thread);

/* ---- sim_warp.c */
/* Completes what the lanes of the thread's warp wait for, if all are there now. */
void le_sim_warp_try_complete(struct sim_run *run, struct sim_thread *thread);
/* A thread of the warp has ended: others may have waited for it alone. */
void le_sim_warp_ended(struct sim_run *run, unsigned warp);
/* Nobody is ready: lanes that ask who is with them get their answer. false: there are none. */
bool le_sim_warp_answer_activemask(struct sim_run *run);

/* ---- sim_cluster.c */
bool le_sim_clusters_make(struct sim_run *run); /* false: its grid is none of whole clusters */
uint64_t le_sim_cluster_block(const struct sim_run *run, uint64_t cluster, unsigned rank);
void le_sim_cluster_thread_ended(struct sim_run *run, struct sim_thread *thread); /* it has ended */
/* The team waits for its cluster, of which another one can go on. */
bool le_sim_cluster_may_go_on(const struct sim_run *run, const struct sim_thread_block *thread_block);
void le_sim_cluster_service(int kind, const char *file, int line);
/* A byte that another block of the cluster has put aside: where it is in place, and that block. false: it is none. */
bool le_sim_cluster_find(const struct sim_run *run, uintptr_t *address, uint64_t *home);
void *le_sim_cluster_map(const void *address, unsigned rank, const char *file, int line);

/* ---- sim_services.c */
/* The running thread waits or ends: what it did last is told to the check. */
void le_sim_flush_deferred_read(struct sim_run *run);
extern const struct sim_services le_sim_services;

/* ---- sim_trap.c: faults of the machine on a fiber of this thread end the grid: run->fault_signal */
bool le_sim_trap_begin(struct sim_run *run);
void le_sim_trap_end(struct sim_run *run);

/* ---- sim_thread_block.c */
/* The first one's stacks are those that are kept for the next grid, where any are. */
struct sim_thread_block *le_sim_thread_block_new(struct sim_run *run, unsigned slot);
void le_sim_thread_block_free(struct sim_run *run, struct sim_thread_block *thread_block);
void le_sim_thread_block_switch_in(struct sim_run *run,
                                   struct sim_thread_block *thread_block); /* puts its shared memory in place */
/* Where in what is put aside the byte lies; false: it is no shared memory that the block has. */
bool le_sim_aside_offset(const struct sim_run *run, uintptr_t address, size_t *offset);
size_t le_sim_aside_bytes(const struct sim_run *run);                     /* all of it */
uintptr_t le_sim_aside_address(const struct sim_run *run, size_t offset); /* and back */
void le_sim_thread_block_begin(struct sim_run *run, struct sim_thread_block *thread_block, uint64_t number,
                               void (*entry)(void *));
void le_sim_orders_make(struct sim_run *run);
void le_sim_order_choose(struct sim_run *run, struct sim_thread_block *thread_block);
uint64_t le_sim_random(uint64_t *state);
#endif
