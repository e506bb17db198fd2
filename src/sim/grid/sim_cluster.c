/* Clusters: blocks that run together, share a barrier, and can access each other's shared memory. A kernel without
 * __cluster_dims__ has clusters of one block.
 *
 * Only the running block's shared memory is in place (sim_thread_block.c); the other blocks have theirs set aside. A
 * mapped address points into the set-aside copy. It is therefore valid in the block that asked for it, and needs no
 * copying. */
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

/* The number of a block in the grid, from its cluster and its rank in the cluster. */
uint64_t le_sim_cluster_block(const struct sim_run *run, uint64_t cluster, unsigned rank) {
    const unsigned *dim = run->cluster_dim, *grid = run->grid->grid;
    uint64_t x = cluster % (grid[0] / dim[0]) * dim[0] + rank % dim[0];
    uint64_t y = cluster / (grid[0] / dim[0]) % (grid[1] / dim[1]) * dim[1] + rank / dim[0] % dim[1];
    uint64_t z = cluster / (grid[0] / dim[0]) / (grid[1] / dim[1]) * dim[2] + rank / dim[0] / dim[1];
    return (z * grid[1] + y) * grid[0] + x;
}

/* ---- the barrier */

static void check_barrier(struct sim_run *run, const struct sim_cluster *cluster) {
    uint64_t blocks[SIM_CLUSTER_BLOCKS];
    unsigned count = 0;
    for (unsigned b = 0; b < run->cluster_blocks; b++)
        if (cluster->thread_blocks[b])
            blocks[count++] = cluster->thread_blocks[b]->number;
    le_sim_check_cluster_barrier(run->check, blocks, count);
}

static void complete_barrier(struct sim_run *run, struct sim_cluster *cluster) {
    if (run->check)
        check_barrier(run, cluster);
    cluster->phase++;
    cluster->arrived = 0;
    run->released = true;
    for (unsigned b = 0; b < run->cluster_blocks; b++) {
        struct sim_thread_block *thread_block = cluster->thread_blocks[b];
        if (!thread_block)
            continue;
        thread_block->progressed = true;
        for (unsigned k = 0; k < run->threads; k++)
            if (thread_block->state[k] == SIM_AT_CLUSTER)
                thread_block->state[k] = SIM_READY;
    }
}

static void arrive_at_barrier(struct sim_run *run, struct sim_cluster *cluster) {
    struct sim_thread *thread = run->thread;
    if (thread->arrived)
        le_sim_run_stop(run, SIM_GRID_TRAP,
                        "%s:%d: the thread arrives at the cluster's barrier again without waiting first", thread->file,
                        thread->line);
    thread->arrived = true;
    thread->arrival = cluster->phase;
    run->thread_block->progressed = true;
    if (++cluster->arrived == cluster->live)
        complete_barrier(run, cluster);
}

static void wait_at_barrier(struct sim_run *run, const struct sim_cluster *cluster) {
    struct sim_thread *thread = run->thread;
    if (!thread->arrived)
        le_sim_run_stop(run, SIM_GRID_TRAP, "%s:%d: the thread waits at the cluster's barrier without having arrived",
                        thread->file, thread->line);
    thread->arrived = false;
    if (cluster->phase != thread->arrival)
        return;
    run->thread_block->state[thread - run->thread_block->threads] = SIM_AT_CLUSTER;
    run->thread_block->progressed = true;
    le_sim_run_next_thread(run);
}

void le_sim_cluster_service(int kind, const char *file, int line) {
    struct sim_run *run = le_sim_current_run();
    struct sim_thread *thread = run->thread;
    le_sim_flush_deferred_read(run);
    thread->file = file;
    thread->line = line;
    thread->self->budget = SIM_BUDGET;
    if (kind == SIM_CLUSTER_ARRIVE)
        arrive_at_barrier(run, run->thread_block->cluster);
    else
        wait_at_barrier(run, run->thread_block->cluster);
}

void le_sim_cluster_thread_ended(struct sim_run *run, struct sim_thread *thread) {
    struct sim_cluster *cluster = run->thread_block->cluster;
    cluster->live--;
    cluster->arrived -= thread->arrived && thread->arrival == cluster->phase;
    thread->arrived = false;
    if (cluster->live && cluster->arrived == cluster->live)
        complete_barrier(run, cluster);
}

bool le_sim_cluster_may_go_on(const struct sim_run *run, const struct sim_thread_block *thread_block) {
    bool may = false;
    for (unsigned b = 0; b < run->cluster_blocks; b++) {
        const struct sim_thread_block *other = thread_block->cluster->thread_blocks[b];
        may |= other && memchr(other->state, SIM_READY, run->threads);
    }
    return may && memchr(thread_block->state, SIM_AT_CLUSTER, run->threads);
}

/* ---- shared memory */

void *le_sim_cluster_map(const void *address, unsigned rank, const char *file, int line) {
    struct sim_run *run = le_sim_current_run();
    size_t offset;
    le_sim_flush_deferred_read(run);
    if (rank >= run->cluster_blocks)
        le_sim_run_stop(run, SIM_GRID_TRAP, "%s:%d: a cluster of %u blocks has no block of rank %u", file, line,
                        run->cluster_blocks, rank);
    if (!le_sim_aside_offset(run, (uintptr_t)address, &offset))
        le_sim_run_stop(run, SIM_GRID_TRAP, "%s:%d: %p is not in the block's shared memory", file, line, address);
    struct sim_thread_block *thread_block = run->thread_block->cluster->thread_blocks[rank];
    if (!thread_block || !thread_block->live)
        le_sim_run_stop(run, SIM_GRID_TRAP, "%s:%d: the block of rank %u has ended, so its shared memory is gone", file,
                        line, rank);
    return thread_block == run->thread_block ? (void *)(uintptr_t)address : thread_block->shared + offset;
}

bool le_sim_cluster_find(const struct sim_run *run, uintptr_t *address, uint64_t *home) {
    for (unsigned b = 0; run->cluster_blocks > 1 && b < run->cluster_blocks; b++) {
        const struct sim_thread_block *thread_block = run->thread_block->cluster->thread_blocks[b];
        size_t offset = thread_block && thread_block != run->thread_block && thread_block->aside
                            ? *address - (uintptr_t)thread_block->shared
                            : SIZE_MAX;
        if (offset >= le_sim_aside_bytes(run))
            continue;
        *address = le_sim_aside_address(run, offset);
        *home = thread_block->number;
        return true;
    }
    return false;
}
