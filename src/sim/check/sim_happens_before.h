/* What the threads of a grid know of each other: which accesses come before which, by barriers, __syncwarp, and fences
 * with atomic or volatile accesses. Each resident block has a clock that moves at these events; stamps hold its time.
 * Knowledge of other blocks is a tree by block number, never changed once made and shared by all who know the same.
 * No memory, no reports. Owner: struct sim_check; trees live until the grid ends. */
#ifndef LE_SIM_HAPPENS_BEFORE_H
#define LE_SIM_HAPPENS_BEFORE_H
#include "sim/check/sim_check.h"
#include "sim/check/sim_shadow.h"

enum { SIM_WARP = 32, SIM_THREADS_MAX = 1 << SIM_THREAD_BITS };

/* Of one block: all that its threads did up to time `all`, and what some did up to later times. */
struct sim_leaf {
    uint32_t all, count;
    struct sim_time {
        uint32_t thread, time;
    } times[]; /* by thread */
};
/* What a fence made publishable: of the thread's own block, and of others (a tree). */
struct sim_published {
    const struct sim_leaf *own;
    const void *others;
};
struct sim_learnt {
    const void *acquired;           /* a tree */
    struct sim_published fences[2]; /* SIM_FENCE_BLOCK, SIM_FENCE_DEVICE */
};
struct sim_warp_known {
    uint32_t full;               /* all lanes know all of each other up to here */
    bool partial;                /* lanes holds something */
    uint32_t (*lanes)[SIM_WARP]; /* [a][b]: lane a knows lane b up to here */
};
struct sim_resident { /* a block that has begun and not ended */
    uint64_t number;
    uint32_t clock, barrier; /* barrier: the time of the last one */
    unsigned threads;
    bool learnt; /* one of the next two holds something */
    struct sim_learnt all;
    struct sim_learnt *each; /* SIM_THREADS_MAX, or NULL before they are needed */
    struct sim_warp_known warps[SIM_THREADS_MAX / SIM_WARP];
    struct sim_cell *cells; /* of shared memory, a word each; stamps of other blocks count for nothing */
    uint64_t *written;      /* of shared memory's bytes */
    size_t cell_count;
    struct sim_resident *next;
};

struct sim_known {
    struct sim_known_chunk *chunks;
    size_t chunk_left, chunk_count;
    int levels; /* of the trees */
    struct sim_release *releases;
    size_t release_count, release_capacity;
    bool failed; /* no memory: what is known is too little from here on */
    uint32_t dense[SIM_THREADS_MAX];
    struct sim_time merged[SIM_THREADS_MAX];
};
void le_sim_known_begin(struct sim_known *known, uint64_t blocks);
void le_sim_known_end(struct sim_known *known);

void le_sim_resident_begin(struct sim_resident *resident, uint64_t number, unsigned threads);
void le_sim_resident_finish(struct sim_resident *resident); /* its memory, not itself */

/* Whether stamp, of the same phase, comes before what thread of resident does now. */
bool le_sim_known_before(const struct sim_known *known, const struct sim_resident *resident, unsigned thread,
                         const struct sim_stamp *stamp);
void le_sim_known_barrier(struct sim_known *known, struct sim_resident *resident);
/* Of the blocks of a cluster. */
void le_sim_known_cluster_barrier(struct sim_known *known, struct sim_resident *const *residents, unsigned count);
void le_sim_known_warp_barrier(struct sim_known *known, struct sim_resident *resident, unsigned warp, uint32_t mask);
void le_sim_known_fence(struct sim_known *known, struct sim_resident *resident, unsigned thread, enum sim_fence scope);
/* An atomic or volatile access to a location. owner: of shared memory the block + 1, else 0. */
enum sim_strong { SIM_STRONG_READ, SIM_STRONG_STORE, SIM_STRONG_UPDATE };
void le_sim_known_strong_access(struct sim_known *known, struct sim_resident *resident, unsigned thread,
                                uintptr_t address, uint64_t owner, enum sim_strong strong);
#endif
