/* The checks of sim: what every byte of memory last saw, and whether two accesses were ordered. It knows no streams and
 * runs nothing: the driver (sim_stream) and the executor (sim_grid) tell it what happens; it answers with reports.
 * Under the driver's lock, or on the executor while the driver waits for it; never from two threads at once.
 *
 * Order between operations (launches, copies, fills, host accesses through the driver) is the driver's to know: ops are
 * numbered from 1, and before(user, a, b) tells whether a is over before b may start. */
#ifndef LE_SIM_CHECK_H
#define LE_SIM_CHECK_H
#include "base/status.h"

struct sim_check;

enum { SIM_CLUSTER_BLOCKS = 8 }; /* at most */

enum sim_report_kind {
    SIM_REPORT_DIVERGENT_BARRIER,
    SIM_REPORT_SHARED_RACE,
    SIM_REPORT_GLOBAL_RACE,
    SIM_REPORT_UNINITIALISED,
    SIM_REPORT_OUT_OF_BOUNDS,
    SIM_REPORT_MISALIGNED,
    SIM_REPORT_HOST_READ, /* missing synchronisation before a host access */
    SIM_REPORT_USE_AFTER_FREE,
    SIM_REPORT_STREAM_ORDER,
    SIM_REPORT_DYNAMIC_SHARED, /* dynamic shared memory too small */
    SIM_REPORT_KINDS
};

leat_status le_sim_check_new(bool (*before)(void *user, uint64_t a, uint64_t b), void *user, struct sim_check **check);
void le_sim_check_free(struct sim_check *check);

/* ---- memory: [address, address + size_bytes) of the device's, pinned or a module's */
enum sim_memory_state {
    SIM_MEMORY_NONE,  /* an access is out of bounds */
    SIM_MEMORY_FRESH, /* valid, never written: reading it is an error */
    SIM_MEMORY_VALID, /* valid and initialised */
    SIM_MEMORY_FREED, /* an access is a use after free */
    SIM_MEMORY_OTHER  /* nothing is known of it any more: the host's own */
};
/* what: for reports, "array of 4,000 bytes", "__device__ counter"; copied. Memory may be given in parts of what was
 * one. */
void le_sim_check_memory(struct sim_check *check, uintptr_t address, size_t size_bytes, enum sim_memory_state state,
                         const char *what);

/* Something that the check does not see may have written all memory: what was fresh counts as initialised. */
void le_sim_check_assume_written(struct sim_check *check);

/* ---- operations that are no kernels: [address, +size_bytes) is read or written by op. what: "copy to the host", ...
 */
void le_sim_check_range(struct sim_check *check, uint64_t op, const char *what, uintptr_t address, size_t size_bytes,
                        bool write);

/* ---- a kernel's grid */
struct sim_shared_variable { /* of the module's __shared__ variables; addresses of the executor's thread */
    const char *name;
    uintptr_t address;
    size_t size_bytes;
};
struct sim_grid_info {
    uint64_t op;
    const char *kernel;
    unsigned grid[3], block[3], cluster[3]; /* cluster: in blocks */
    uintptr_t shared_low, shared_high;      /* everything between is shared memory: variables, padding, dynamic */
    const struct sim_shared_variable *variables;
    int variable_count;
    uintptr_t dynamic; /* where dynamic shared memory starts */
    size_t dynamic_bytes;
    /* Source line of a code address: "file:line"; false where it cannot be told. Also asked after the grid's end, when
     * a later operation meets what this one did: stays callable while the check lives. */
    bool (*source_line)(void *user, uintptr_t pc, char *text, size_t size_bytes);
    void *user;
};
struct sim_thread_id {
    uint64_t block;  /* linear, blockIdx.x fastest */
    unsigned thread; /* linear in the block, threadIdx.x fastest */
};
void le_sim_check_grid_begin(struct sim_check *check, const struct sim_grid_info *grid);
void le_sim_check_grid_end(struct sim_check *check);
/* A block starts: its shared memory is unwritten. Blocks may be resident together (cooperative launches, or one that
 * waits for another): the executor then tells which one runs from now on, having put its shared memory in place. */
void le_sim_check_block_begin(struct sim_check *check, uint64_t block);
void le_sim_check_block_switch(struct sim_check *check, uint64_t block);
void le_sim_check_block_end(struct sim_check *check, uint64_t block);

enum {
    SIM_WRITE = 1,
    SIM_VOLATILE = 2,
    SIM_ATOMIC = 4,    /* reads and writes, whether SIM_WRITE is given or not */
    SIM_BLIND = 8,     /* with SIM_ATOMIC: an exchange or a store, for which memory need not be initialised */
    SIM_UNALIGNED = 16 /* the compiler knows that the address is no multiple of the size: no misaligned access */
};
/* Before the access is done. Not for the thread's stack nor the module's constants and code: an address that is in no
 * memory that was declared is reported. pc: of the access. */
void le_sim_check_access(struct sim_check *check, struct sim_thread_id thread, uintptr_t address, size_t size_bytes,
                         unsigned flags, uintptr_t pc);
/* The same, of shared memory of the block `home` in the thread's cluster; address: as if it were in place. */
void le_sim_check_access_of(struct sim_check *check, struct sim_thread_id thread, uint64_t home, uintptr_t address,
                            size_t size_bytes, unsigned flags, uintptr_t pc);
/* What was told last is done: called before a thread of another block runs, whose shared memory takes the place. */
void le_sim_check_resolve_pending(struct sim_check *check);
void le_sim_check_barrier(struct sim_check *check, uint64_t block); /* all threads of the block have passed */
/* All threads of the blocks, which are a cluster, have come. */
void le_sim_check_cluster_barrier(struct sim_check *check, const uint64_t *blocks, unsigned count);
void le_sim_check_warp_barrier(struct sim_check *check, uint64_t block, unsigned warp, uint32_t mask); /* __syncwarp */
void le_sim_check_grid_barrier(struct sim_check *check);
enum sim_fence { SIM_FENCE_BLOCK, SIM_FENCE_DEVICE, SIM_FENCE_SYSTEM };
void le_sim_check_fence(struct sim_check *check, struct sim_thread_id thread, enum sim_fence scope);

/* ---- reports: one of a kind for each place in the source; the rest are counted */
/* For what the executor and the driver find themselves. place: "file:line" or NULL. detail: a sentence. */
void le_sim_check_report(struct sim_check *check, enum sim_report_kind kind, const struct sim_thread_id *thread,
                         const char *place, const char *format, ...) __attribute__((format(printf, 5, 6)));
size_t le_sim_check_report_count(const struct sim_check *check);
/* All of them as text, a paragraph each; NULL if there are none. Lives until the next call of this check. */
const char *le_sim_check_reports(struct sim_check *check);
void le_sim_check_reports_clear(struct sim_check *check);
#endif
