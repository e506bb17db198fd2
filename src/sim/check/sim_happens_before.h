/* The order of accesses within a grid: which accesses a thread knows to come before its own, through barriers,
 * __syncwarp, and fences with atomic or volatile accesses. Each resident block has a clock, which advances at these
 * events; stamps hold its time. Knowledge of other blocks is an immutable tree by block number, shared by all threads
 * that know the same. This does not access the kernel's memory, and makes no reports. Owned by struct sim_check; trees
 * live until the grid ends. */
#ifndef LE_SIM_HAPPENS_BEFORE_H
#define LE_SIM_HAPPENS_BEFORE_H
#include "sim/check/sim_check.h"
#include "sim/check/sim_shadow.h"

enum { SIM_WARP = 32, SIM_THREADS_MAX = 1 << SIM_THREAD_BITS };

/* Knowledge of one block: everything that its threads did up to time `all`, and what some threads did up to later
 * times. */
struct sim_leaf {
    uint32_t all, count;
    struct sim_time {
        uint32_t thread, time;
    } times[]; /* sorted by thread */
};
/* What a thread may publish after a fence: knowledge of its own block, and of others (a tree). */
struct sim_published {
    const struct sim_leaf *own;
    const void *others;
};
struct sim_learnt {
    const void *acquired;           /* a tree */
    struct sim_published fences[2]; /* SIM_FENCE_BLOCK, SIM_FENCE_DEVICE */
};
struct sim_warp_known {
    uint32_t full;               /* up to this time, all lanes know everything of each other */
    bool partial;                /* `lanes` is in use */
    uint32_t (*lanes)[SIM_WARP]; /* [a][b]: lane a knows lane b up to this time */
};
struct sim_resident { /* a block that has begun and not ended */
    uint64_t number;
    uint32_t clock, barrier; /* barrier: the time of the last one */
    unsigned threads;
    bool learnt; /* `all` or `each` is in use */
    struct sim_learnt all;
    struct sim_learnt *each; /* SIM_THREADS_MAX elements; NULL until needed */
    struct sim_warp_known warps[SIM_THREADS_MAX / SIM_WARP];
    struct sim_cell *cells; /* of shared memory, one for each word; stamps of blocks outside the cluster are ignored */
    uint64_t *written;      /* one bit for each byte of shared memory */
    size_t cell_count;
    struct sim_resident *next;
};

struct sim_known {
    struct sim_known_chunk *chunks;
    size_t chunk_left, chunk_count;
    int levels; /* height of the trees */
    struct sim_release *releases;
    size_t release_count, release_capacity;
    bool failed; /* out of memory: knowledge is incomplete from here on */
    uint32_t dense[SIM_THREADS_MAX];
    struct sim_time merged[SIM_THREADS_MAX];
};
void le_sim_known_begin(struct sim_known *known, uint64_t blocks);
void le_sim_known_end(struct sim_known *known);

void le_sim_resident_begin(struct sim_resident *resident, uint64_t number, unsigned threads);
void le_sim_resident_finish(struct sim_resident *resident); /* frees its memory, but not the structure */

/* Whether an access of the same phase comes before what the thread of resident does now. */
bool le_sim_known_before(const struct sim_known *known, const struct sim_resident *resident, unsigned thread,
                         const struct sim_stamp *stamp);
void le_sim_known_barrier(struct sim_known *known, struct sim_resident *resident);
/* A barrier of the blocks of a cluster. */
void le_sim_known_cluster_barrier(struct sim_known *known, struct sim_resident *const *residents, unsigned count);
void le_sim_known_warp_barrier(struct sim_known *known, struct sim_resident *resident, unsigned warp, uint32_t mask);
void le_sim_known_fence(struct sim_known *known, struct sim_resident *resident, unsigned thread, enum sim_fence scope);
/* An atomic or volatile access. owner: for shared memory, the number of its block + 1; else 0. */
enum sim_strong { SIM_STRONG_READ, SIM_STRONG_STORE, SIM_STRONG_UPDATE };
void le_sim_known_strong_access(struct sim_known *known, struct sim_resident *resident, unsigned thread,
                                uintptr_t address, uint64_t owner, enum sim_strong strong);
#endif
