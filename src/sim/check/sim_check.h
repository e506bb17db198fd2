/* The checks of sim. The checker records the last accesses to every byte of memory, and whether two accesses were
 * ordered. It knows no streams and runs nothing: the driver and the executor (sim_grid.c) tell it what happens, and it
 * makes reports. It is called under the driver's lock, or by the executor while the driver waits for it, never from two
 * threads at once.
 *
 * The driver knows the order between operations (launches, copies, fills, host accesses through the driver). Operations
 * are numbered from 1, and before(user, a, b) returns whether a is complete before b may start. */
#ifndef LE_SIM_CHECK_H
#define LE_SIM_CHECK_H
#include "base/status.h"

struct sim_check;

enum { SIM_CLUSTER_BLOCKS = 8 }; /* at most, per cluster */

enum sim_report_kind {
    SIM_REPORT_DIVERGENT_BARRIER,
    SIM_REPORT_SHARED_RACE,
    SIM_REPORT_GLOBAL_RACE,
    SIM_REPORT_UNINITIALISED,
    SIM_REPORT_OUT_OF_BOUNDS,
    SIM_REPORT_MISALIGNED,
    SIM_REPORT_HOST_READ, /* missing synchronization before a host access */
    SIM_REPORT_USE_AFTER_FREE,
    SIM_REPORT_STREAM_ORDER,
    SIM_REPORT_DYNAMIC_SHARED, /* dynamic shared memory too small */
    SIM_REPORT_KINDS
};

leat_status le_sim_check_new(bool (*before)(void *user, uint64_t a, uint64_t b), void *user, struct sim_check **check);
void le_sim_check_free(struct sim_check *check);

/* ---- memory: [address, address + size_bytes) of device memory, pinned memory or a module's variables */
enum sim_memory_state {
    SIM_MEMORY_NONE,  /* an access is out of bounds */
    SIM_MEMORY_FRESH, /* valid, but never written: reading it is an error */
    SIM_MEMORY_VALID, /* valid and initialized */
    SIM_MEMORY_FREED, /* an access is a use after free */
    SIM_MEMORY_OTHER  /* not tracked: the host's own memory */
};
/* Sets the state of memory. what: how reports describe it, such as "array of 4,000 bytes"; copied. The range may be a
 * part of memory that was declared before. */
void le_sim_check_memory(struct sim_check *check, uintptr_t address, size_t size_bytes, enum sim_memory_state state,
                         const char *what);

/* Called when code that is not checked may have written memory: SIM_MEMORY_FRESH becomes SIM_MEMORY_VALID. */
void le_sim_check_assume_written(struct sim_check *check);

/* ---- operations other than kernels: op reads or writes [address, address + size_bytes). what: "fill", ... */
void le_sim_check_range(struct sim_check *check, uint64_t op, const char *what, uintptr_t address, size_t size_bytes,
                        bool write);

/* ---- a kernel's grid */
struct sim_shared_variable { /* a __shared__ variable of the module; its address is that on the executor's thread */
    const char *name;
    uintptr_t address;
    size_t size_bytes;
};
struct sim_grid_info {
    uint64_t op;
    const char *kernel;
    unsigned grid[3], block[3], cluster[3]; /* cluster: in blocks */
    uintptr_t shared_low, shared_high;      /* bounds of shared memory: variables, padding, dynamic memory */
    const struct sim_shared_variable *variables;
    int variable_count;
    uintptr_t dynamic; /* address of dynamic shared memory */
    size_t dynamic_bytes;
    /* Finds the source line "file:line" of a code address; false: unknown. It must remain callable while the check
     * exists, because a report on a later operation may name a line of this grid. */
    bool (*source_line)(void *user, uintptr_t pc, char *text, size_t size_bytes);
    void *user;
};
struct sim_thread_id {
    uint64_t block;  /* linear, blockIdx.x fastest */
    unsigned thread; /* linear in the block, threadIdx.x fastest */
};
void le_sim_check_grid_begin(struct sim_check *check, const struct sim_grid_info *grid);
void le_sim_check_grid_end(struct sim_check *check);
/* A block starts, with uninitialized shared memory. Several blocks may be resident (in a cooperative launch, or if one
 * waits for another). The executor then calls le_sim_check_block_switch when another block runs, after it has put that
 * block's shared memory in place. */
void le_sim_check_block_begin(struct sim_check *check, uint64_t block);
void le_sim_check_block_switch(struct sim_check *check, uint64_t block);
void le_sim_check_block_end(struct sim_check *check, uint64_t block);

enum {
    SIM_WRITE = 1,
    SIM_VOLATILE = 2,
    SIM_ATOMIC = 4,    /* reads and writes, with or without SIM_WRITE */
    SIM_BLIND = 8,     /* with SIM_ATOMIC: an exchange or store, which may access uninitialized memory */
    SIM_UNALIGNED = 16 /* the code is compiled for an unaligned address, so this is not a misaligned access */
};
/* Called before the access is done; pc: its code address. Not called for the thread's stack or the module's constants
 * and code. An address outside all declared memory is reported. */
void le_sim_check_access(struct sim_check *check, struct sim_thread_id thread, uintptr_t address, size_t size_bytes,
                         unsigned flags, uintptr_t pc);
/* The same for shared memory of block `home` in the thread's cluster; address: where it lies when in place. */
void le_sim_check_access_of(struct sim_check *check, struct sim_thread_id thread, uint64_t home, uintptr_t address,
                            size_t size_bytes, unsigned flags, uintptr_t pc);
/* Decides whether a pending conflict of two writes is reported. Called when the last access is done, before another
 * block's shared memory is put in place. */
void le_sim_check_resolve_pending(struct sim_check *check);
void le_sim_check_barrier(struct sim_check *check, uint64_t block); /* all threads of the block have arrived */
/* All threads of the blocks of a cluster have arrived. */
void le_sim_check_cluster_barrier(struct sim_check *check, const uint64_t *blocks, unsigned count);
void le_sim_check_warp_barrier(struct sim_check *check, uint64_t block, unsigned warp, uint32_t mask); /* __syncwarp */
void le_sim_check_grid_barrier(struct sim_check *check);
enum sim_fence { SIM_FENCE_BLOCK, SIM_FENCE_DEVICE, SIM_FENCE_SYSTEM };
void le_sim_check_fence(struct sim_check *check, struct sim_thread_id thread, enum sim_fence scope);

/* ---- reports: one for each kind and source location; repetitions are counted */
/* Makes a report of what the executor or the driver found. location: "file:line" or NULL. format: the second line of
 * the report. */
void le_sim_check_report(struct sim_check *check, enum sim_report_kind kind, const struct sim_thread_id *thread,
                         const char *location, const char *format, ...) __attribute__((format(printf, 5, 6)));
size_t le_sim_check_report_count(const struct sim_check *check);
/* All reports as text, one paragraph each; NULL if there are none. Valid until the next call for this check. */
const char *le_sim_check_reports(struct sim_check *check);
void le_sim_check_reports_clear(struct sim_check *check);
#endif
