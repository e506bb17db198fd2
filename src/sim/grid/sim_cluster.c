/* Clusters: blocks that run together, with a barrier of their own, and reach each other's shared memory. A kernel that
 * says nothing of them has clusters of one block.
 *
 * One block's shared memory is in its place at a time, that of the block that runs (sim_thread_block.c); all others of
 * its cluster have theirs put aside then, and that is where a mapped address points. So such an address is good in the
 * block that asked for it, and nobody copies anything. */
#include "sim/grid/sim_thread_block.h"
#include "base/memory.h"
#include <string.h>

bool le_sim_clusters_make(struct sim_run *run) {
    const struct sim_grid *grid = run->grid;
    const unsigned *extents = grid->kernel->cluster;
    uint64_t blocks = 1;
    for (int k = 0; k < 3; k++) {
        run->cluster_dim[k] = extents[0] ? extents[k] : 1;
        blocks *= run->cluster_dim[k];
    }
    for (int k = 0; k < 3; k++)
        if (blocks == 0 || blocks > SIM_CLUSTER_BLOCKS || grid->grid[k] % run->cluster_dim[k])
            return false;
    run->cluster_blocks = (unsigned)blocks;
    return true;
}

/* Blocks are numbered along the grid; those of a cluster along it, by rank. */
uint64_t le_sim_cluster_block(const struct sim_run *run, uint64_t cluster, unsigned rank) {
    const unsigned *dim = run->cluster_dim, *grid = run->grid->grid;
    uint64_t x = cluster % (grid[0] / dim[0]) * dim[0] + rank % dim[0];
    uint64_t y = cluster / (grid[0] / dim[0]) % (grid[1] / dim[1]) * dim[1] + rank / dim[0] % dim[1];
    uint64_t z = cluster / (grid[0] / dim[0]) / (grid[1] / dim[1]) * dim[2] + rank / dim[0] / dim[1];
    return (z * grid[1] + y) * grid[0] + x;
}

/* ---- the barrier */

static void tell_check(struct sim_run *run, const struct sim_cluster *cluster) {
    uint64_t blocks[SIM_CLUSTER_BLOCKS];
    unsigned count = 0;
    for (unsigned b = 0; b < run->cluster_blocks; b++)
        if (cluster->teams[b])
            blocks[count++] = cluster->teams[b]->number;
    le_sim_check_cluster_barrier(run->check, blocks, count);
}

static void complete(struct sim_run *run, struct sim_cluster *cluster) {
    if (run->check)
        tell_check(run, cluster);
    cluster->phase++;
    cluster->arrived = 0;
    run->released = true;
    for (unsigned b = 0; b < run->cluster_blocks; b++) {
        struct sim_team *team = cluster->teams[b];
        if (!team)
            continue;
        team->moved = true;
        for (unsigned k = 0; k < run->threads; k++)
            if (team->state[k] == SIM_AT_CLUSTER)
                team->state[k] = SIM_READY;
    }
}

static void arrive(struct sim_run *run, struct sim_cluster *cluster) {
    struct sim_thread *thread = run->thread;
    if (thread->arrived)
        le_sim_run_stop(run, SIM_GRID_TRAP, "%s:%d: it arrives at the cluster's barrier again before it has waited",
                        thread->file, thread->line);
    thread->arrived = true;
    thread->arrival = cluster->phase;
    run->team->moved = true;
    if (++cluster->arrived == cluster->live)
        complete(run, cluster);
}

static void wait(struct sim_run *run, const struct sim_cluster *cluster) {
    struct sim_thread *thread = run->thread;
    if (!thread->arrived)
        le_sim_run_stop(run, SIM_GRID_TRAP, "%s:%d: it waits at the cluster's barrier, where it has not arrived",
                        thread->file, thread->line);
    thread->arrived = false;
    if (cluster->phase != thread->arrival)
        return;
    run->team->state[thread - run->team->threads] = SIM_AT_CLUSTER;
    run->team->moved = true;
    le_sim_run_next(run);
}

void le_sim_cluster_service(int kind, const char *file, int line) {
    struct sim_run *run = le_sim_run_now();
    struct sim_thread *thread = run->thread;
    le_sim_held_tell(run);
    thread->file = file;
    thread->line = line;
    thread->self->budget = SIM_BUDGET;
    if (kind == SIM_CLUSTER_ARRIVE)
        arrive(run, run->team->cluster);
    else
        wait(run, run->team->cluster);
}

void le_sim_cluster_left(struct sim_run *run, struct sim_thread *thread) {
    struct sim_cluster *cluster = run->team->cluster;
    cluster->live--;
    cluster->arrived -= thread->arrived && thread->arrival == cluster->phase;
    thread->arrived = false;
    if (cluster->live && cluster->arrived == cluster->live)
        complete(run, cluster);
}

bool le_sim_cluster_may_go_on(const struct sim_run *run, const struct sim_team *team) {
    bool may = false;
    for (unsigned b = 0; b < run->cluster_blocks; b++) {
        const struct sim_team *other = team->cluster->teams[b];
        may |= other && memchr(other->state, SIM_READY, run->threads);
    }
    return may && memchr(team->state, SIM_AT_CLUSTER, run->threads);
}

/* ---- shared memory */

void *le_sim_cluster_map(const void *address, unsigned rank, const char *file, int line) {
    struct sim_run *run = le_sim_run_now();
    size_t offset;
    le_sim_held_tell(run);
    if (rank >= run->cluster_blocks)
        le_sim_run_stop(run, SIM_GRID_TRAP, "%s:%d: a cluster of %u blocks has none of rank %u", file, line,
                        run->cluster_blocks, rank);
    if (!le_sim_aside_offset(run, (uintptr_t)address, &offset))
        le_sim_run_stop(run, SIM_GRID_TRAP, "%s:%d: %p is no address of the block's shared memory", file, line,
                        address);
    struct sim_team *team = run->team->cluster->teams[rank];
    if (!team || !team->live)
        le_sim_run_stop(run, SIM_GRID_TRAP, "%s:%d: the block of rank %u, whose shared memory is asked for, has ended",
                        file, line, rank);
    return team == run->team ? (void *)(uintptr_t)address : team->shared + offset;
}

bool le_sim_cluster_find(const struct sim_run *run, uintptr_t *address, uint64_t *home) {
    for (unsigned b = 0; run->cluster_blocks > 1 && b < run->cluster_blocks; b++) {
        const struct sim_team *team = run->team->cluster->teams[b];
        size_t offset = team && team != run->team && team->aside ? *address - (uintptr_t)team->shared : SIZE_MAX;
        if (offset >= le_sim_aside_bytes(run))
            continue;
        *address = le_sim_aside_place(run, offset);
        *home = team->number;
        return true;
    }
    return false;
}
