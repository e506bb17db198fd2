/* Checks one access against the accesses in a cell, and records it: is there a conflicting access that does not come
 * before it? */
#include "sim/check/sim_check_state.h"
#include <string.h>

/* Stamps left by another cluster, which had the same shared memory before, do not count. */
static bool is_of_cluster(const struct sim_access *access, const struct sim_stamp *stamp) {
    const struct sim_grid_info *grid = &access->check->grid;
    uint64_t a = stamp->block, b = access->me.block;
    bool same = true;
    for (int k = 0; k < 3; k++) {
        same &= a % grid->grid[k] / grid->cluster[k] == b % grid->grid[k] / grid->cluster[k];
        a /= grid->grid[k];
        b /= grid->grid[k];
    }
    return same;
}

static inline bool is_before(const struct sim_access *access, const struct sim_stamp *stamp) {
    const struct sim_stamp *me = &access->me;
    if (stamp->who == me->who && stamp->block == me->block)
        return true;
    if ((stamp->who ^ me->who) >> SIM_THREAD_BITS)
        return access->shared || le_sim_op_before(access->check, stamp->who >> SIM_THREAD_BITS,
                                                  access->check->phases[me->who >> SIM_THREAD_BITS].op);
    if (access->shared && stamp->block != me->block && !is_of_cluster(access, stamp))
        return true;
    return le_sim_known_before(&access->check->known, access->block, access->thread, stamp);
}

static bool same_warp(const struct sim_stamp *a, const struct sim_stamp *b) {
    return a->block == b->block && (a->who ^ b->who) / SIM_WARP == 0;
}

/* Lanes of a warp that exchange values through volatile elements of a shared array, as old code did when lanes ran in
 * step, need a __syncwarp. A single volatile number is a flag, which needs none, and neither do atomic operations. */
static bool is_out_of_step(const struct sim_access *access, const struct sim_stamp *stamp) {
    const struct sim_check *check = access->check;
    if (!access->shared || (stamp->where | access->me.where) & SIM_UPDATE || !same_warp(&access->me, stamp))
        return false;
    for (size_t k = 0; k < check->variable_count; k++)
        if (access->address - check->variables[k].address < check->variables[k].size_bytes)
            return check->variables[k].size_bytes > 2 * sizeof(uint64_t);
    return false;
}

static inline bool is_conflict(const struct sim_access *access, const struct sim_stamp *stamp) {
    if (!stamp->who || ((stamp->where & access->me.where & SIM_STRONG) && !is_out_of_step(access, stamp)))
        return false;
    return !is_before(access, stamp);
}

/* Two unordered plain writes. Whether they write the same value is known only when the second is done. */
static void conflict_of_writes(struct sim_access *access, const struct sim_stamp *other) {
    struct sim_pending *pending = &access->check->pending;
    bool same_op = !((other->who ^ access->me.who) >> SIM_THREAD_BITS);
    if (access->reported)
        return;
    if (!same_op || !access->block || access->home != access->block || access->flags & SIM_ATOMIC ||
        access->size_bytes > sizeof pending->old) {
        le_sim_report_conflict(access, other, true);
    } else if (!pending->active) {
        pending->active = true;
        pending->access = *access;
        pending->other = *other;
        memcpy(pending->old, (const void *)access->address, access->size_bytes);
    }
}

static uint32_t next_random(struct sim_check *check) {
    uint32_t x = check->random;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return check->random = x;
}

/* All reads are by other threads, and none comes before this one. Chooses which to forget, so that the remaining ones
 * are of as many warps and blocks as possible. */
static struct sim_stamp *least_needed(struct sim_access *access, struct sim_cell *cell) {
    struct sim_stamp *reads = cell->reads;
    uint32_t random = next_random(access->check);
    for (int pass = 0; pass < 2; pass++)
        for (int a = 0; a < SIM_READS; a++)
            for (int b = a + 1; b < SIM_READS; b++)
                if (pass ? reads[a].block == reads[b].block : same_warp(&reads[a], &reads[b]))
                    return &reads[random & 1 ? a : b];
    return &reads[random % SIM_READS];
}

static void keep_read(struct sim_access *access, struct sim_cell *cell) {
    const struct sim_stamp *me = &access->me;
    struct sim_stamp *room = NULL;
    for (int k = 0; k < SIM_READS; k++) {
        struct sim_stamp *read = &cell->reads[k];
        bool weaker = read->who && !(read->where & SIM_STRONG) && (me->where & SIM_STRONG);
        if (read->who == me->who && read->block == me->block) {
            if (!weaker)
                *read = *me;
            return;
        }
        if (!room && (!read->who || (!weaker && is_before(access, read))))
            room = read;
    }
    *(room ? room : least_needed(access, cell)) = *me;
}

/* Whether an atomic operation must stay among the reads. A plain read races with every atomic operation that does not
 * come before it, not only with the last. A plain write after the thread's own atomic operation is not compared with
 * the earlier ones: the thread that draws the last ticket may reset the counter, because the numbers rule out another
 * draw. */
static inline bool must_stay(const struct sim_access *access, const struct sim_stamp *stamp) {
    return (stamp->where & access->me.where & SIM_UPDATE) && stamp->who && !is_before(access, stamp);
}

static void keep_update(struct sim_access *access, struct sim_cell *cell) {
    struct sim_stamp *room = NULL;
    for (int k = 0; !room && k < SIM_READS; k++)
        if (!cell->reads[k].who)
            room = &cell->reads[k];
    *(room ? room : least_needed(access, cell)) = cell->write;
}

static inline void visit_read(struct sim_access *access, struct sim_cell *cell) {
    for (int k = 0; k < SIM_READS; k++)
        if ((cell->reads[k].where & SIM_UPDATE) && is_conflict(access, &cell->reads[k]))
            le_sim_report_conflict(access, &cell->reads[k], true);
    keep_read(access, cell);
}

static inline void visit_unsplit(struct sim_access *access, struct sim_cell *cell) {
    if (is_conflict(access, &cell->write)) {
        if (access->writes)
            conflict_of_writes(access, &cell->write);
        else
            le_sim_report_conflict(access, &cell->write, true);
    }
    if (!access->writes) {
        visit_read(access, cell);
        return;
    }
    for (int k = 0; k < SIM_READS; k++) {
        if (!(cell->reads[k].where & SIM_UPDATE) && is_conflict(access, &cell->reads[k]))
            le_sim_report_conflict(access, &cell->reads[k], false);
        if (!must_stay(access, &cell->reads[k]))
            cell->reads[k].who = 0;
    }
    if (must_stay(access, &cell->write))
        keep_update(access, cell);
    cell->write = access->me;
}

void le_sim_visit_cell(struct sim_access *access, struct sim_cell *cell) {
    if (!sim_cell_is_split(cell)) {
        visit_unsplit(access, cell);
        return;
    }
    for (int k = 0; k < 4; k++)
        visit_unsplit(access, &cell->bytes[k]);
}

void le_sim_visit_cells(struct sim_access *access, struct sim_cell *cells, size_t first, size_t count) {
    for (size_t at = first, end = first + count; at < end;) {
        struct sim_cell *cell = &cells[at / 4];
        size_t next = (at / 4 + 1) * 4;
        if (at % 4 == 0 && next <= end) {
            le_sim_visit_cell(access, cell);
        } else {
            struct sim_cell *bytes = le_sim_cell_split(cell);
            if (!bytes)
                access->check->failed = true;
            for (size_t k = at; bytes && k < next && k < end; k++)
                visit_unsplit(access, &bytes[k % 4]);
        }
        at = next;
    }
}
