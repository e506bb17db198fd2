/* Predicts how long a mapping's kernels take: the longest of what memory takes, what arithmetic takes, and what the
 * teams take that have to wait for room. The constants were measured on an H100 with forced mappings of 30 works. */
#include "gen/mapping/mapping.h"
#include "ir/passes/factor_pairs.h"
#include <math.h>

#define SECTOR_BYTES    32
#define LATENCY_SECONDS 0.4e-6 /* of a read from memory */
#define LAUNCH_SECONDS  2e-6   /* from one kernel of a stream to the next */
#define BUSY_THREADS    512    /* of a multiprocessor, that keep its arithmetic busy */
#define UNIT_ADDITIONS  128    /* that a multiprocessor makes in the clock in which it takes one request */
#define LINE_BYTES      128
#define WARP_THREADS    32

/* Memory's time is its own at full rate, and that in which as many reads as are in flight come back. Multiprocessors
 * that get a block less than others wait for these. */
double le_cost_seconds(const struct le_device_facts *facts, const struct le_cost *cost) {
    double units = facts->multiprocessors, room = units * facts->multiprocessor_threads;
    double threads = fmin(cost->threads, room), waves = fmax(1, cost->threads / room);
    double memory = cost->bytes / facts->bytes_per_second;
    if (cost->bytes_in_flight > 0)
        memory += cost->bytes * LATENCY_SECONDS / (threads * cost->bytes_in_flight);
    double share = cost->blocks > 0 ? cost->blocks / (units * ceil(cost->blocks / units)) : 1;
    double rate = facts->operations_per_second * fmin(share, threads / (units * BUSY_THREADS));
    double arithmetic = fmax(cost->operations, cost->requests * UNIT_ADDITIONS) / rate;
    double longest = fmax(fmax(memory, arithmetic), waves * cost->team_seconds);
    return longest + cost->tail_seconds + cost->launches * LAUNCH_SECONDS;
}

/* ---- bytes */

double le_cost_extent(const struct le_device_kernel_job *job, int index) {
    return job->kernel.ir->indices.at[index].host ? 1 : (double)le_index_extent(job->kernel.space, index);
}

struct row_search {
    const struct le_device_kernel_job *job;
    int index;
    double least; /* elements of an axis along which the index moves by itself */
};

static void find_axis(struct le_node *node, void *user) {
    struct row_search *r = user;
    for (int d = 0; d < node->operand_count && node->kind == LE_NODE_LOAD; d++)
        if (node->operands[d]->kind == LE_NODE_INDEX && node->operands[d]->index == r->index)
            r->least = fmin(r->least, (double)r->job->kernel.layouts[node->value].shape[d]);
}

double le_cost_terms(const struct le_device_kernel_job *job, const struct le_node *node) {
    const struct le_space *space = job->kernel.space;
    double terms = 1;
    for (int k = 0; k < node->index_count; k++)
        terms *= le_cost_extent(job, node->indices[k]);
    const struct le_range *r = le_range_of(space, node->indices[0]);
    if (node->index_count != 1 || !r->dynamic || le_index_is_bounded(space, node->indices[0]))
        return terms;
    struct row_search s = {.job = job, .index = node->indices[0], .least = INFINITY};
    le_node_walk(job->kernel.ir, node->operands[0], find_axis, &s);
    double points = 1; /* rows */
    for (int k = 0; k < node->free_count; k++)
        if (le_node_depends(job->kernel.ir->indices.at[s.index].range.low, node->free[k]))
            points *= le_cost_extent(job, node->free[k]);
    return s.least < INFINITY ? fmax(1, s.least / points) : terms;
}

/* Whether the node depends on another index whose bounds depend on this one: then neighbours are anywhere. */
static bool is_scattered(const struct le_device_kernel_job *job, const struct le_node *node, int index) {
    for (int k = 0; k < node->free_count; k++) {
        const struct le_range_nodes *range = &job->kernel.ir->indices.at[node->free[k]].range;
        if (node->free[k] != index && le_range_of(job->kernel.space, node->free[k])->dynamic &&
            (le_node_depends(range->low, index) || (range->high && le_node_depends(range->high, index))))
            return true;
    }
    return false;
}

/* How far apart in memory the elements of neighbouring threads are, which have neighbouring values of the index. Where
 * that is not known, far. */
static double bytes_apart(const struct le_device_kernel_job *job, int value, struct le_node *const *subscripts,
                          int rank, int index) {
    const struct le_address address = {&job->kernel.layouts[value], subscripts, rank, 0};
    int64_t stride = 0;
    if (index >= 0 && !le_address_stride(job->kernel.space, &address, index, &stride))
        return LINE_BYTES;
    for (int d = 0; d < rank && index >= 0; d++)
        if (is_scattered(job, subscripts[d], index))
            return LINE_BYTES;
    return fabs((double)stride) * (double)le_type_size(job->kernel.ir->values.at[value].type);
}

/* Bytes that move for each element: a share of a sector, or all of it. */
static double bytes_of_element(const struct le_device_kernel_job *job, int value, struct le_node *const *subscripts,
                               int rank, int index) {
    double size = (double)le_type_size(job->kernel.ir->values.at[value].type);
    return fmax(size, fmin(SECTOR_BYTES, bytes_apart(job, value, subscripts, rank, index)));
}

struct bytes_search {
    const struct le_device_kernel_job *job;
    int index, epoch;
    bool outside; /* of reductions */
    const int *along;
    int along_count;
    double bytes, requests;
};

/* How many combinations of values the node's indices have. An index whose bounds depend on others has other values for
 * each of theirs. */
static double combinations(const struct le_device_kernel_job *job, const struct le_node *node) {
    const struct le_ir *ir = job->kernel.ir;
    struct le_index_set set = le_set_of(ir, node);
    double count = 1;
    for (int k = 0; k < set.count; k++) {
        const struct le_range_nodes *range = &ir->indices.at[set.at[k]].range;
        count *= le_cost_extent(job, set.at[k]);
        if (!le_range_of(job->kernel.space, set.at[k])->dynamic)
            continue;
        le_set_add(ir, &set, range->low->free, range->low->free_count);
        le_set_add(ir, &set, range->high->free, range->high->free_count);
    }
    return count;
}

static void add_load(struct bytes_search *s, const struct le_node *node) {
    double elements, all = 1;
    if (node->kind != LE_NODE_LOAD || node->operand_count == 0)
        return;
    elements = combinations(s->job, node);
    for (int d = 0; d < node->operand_count; d++)
        all *= (double)s->job->kernel.layouts[node->value].shape[d];
    if (!s->along || le_node_depends_on_any(node, s->along, s->along_count))
        s->requests += fmin(
            WARP_THREADS, fmax(1, WARP_THREADS / (double)LINE_BYTES *
                                      bytes_apart(s->job, node->value, node->operands, node->operand_count, s->index)));
    s->bytes += (elements < all ? elements : all) *
                bytes_of_element(s->job, node->value, node->operands, node->operand_count, s->index);
}

static void add_loads(struct bytes_search *s, struct le_node *node) {
    struct le_node_notes *notes = &s->job->kernel.work->notes;
    if (!node->loads || (s->outside && node->kind == LE_NODE_REDUCE) || le_note_met(notes, node, s->epoch))
        return;
    add_load(s, node);
    for (int k = 0; k < node->operand_count; k++)
        add_loads(s, node->operands[k]);
}

double le_cost_bytes(const struct le_device_kernel_job *job, struct le_node *const *nodes, int count, int index) {
    struct bytes_search s = {.job = job, .index = index, .epoch = ++job->kernel.work->notes.epoch};
    for (int k = 0; k < count; k++)
        add_loads(&s, nodes[k]);
    return s.bytes;
}

double le_cost_requests(const struct le_device_kernel_job *job, struct le_node *const *nodes, int count, int index,
                        const int *along, int along_count) {
    struct bytes_search s = {.job = job,
                             .index = index,
                             .epoch = ++job->kernel.work->notes.epoch,
                             .along = along,
                             .along_count = along_count};
    for (int k = 0; k < count; k++)
        add_loads(&s, nodes[k]);
    return s.requests;
}

double le_cost_bytes_outside(const struct le_device_kernel_job *job, struct le_node *node, int index) {
    struct bytes_search s = {.job = job, .index = index, .epoch = ++job->kernel.work->notes.epoch, .outside = true};
    add_loads(&s, node);
    return s.bytes;
}

double le_cost_points(const struct le_device_kernel_job *job, const struct le_stage *stage) {
    double points = 1;
    for (int k = 0; k < stage->index_count; k++)
        points *= le_cost_extent(job, stage->indices[k]);
    return points;
}

double le_cost_target_bytes(const struct le_device_kernel_job *job, const struct le_stage *stage, int index) {
    return le_cost_points(job, stage) * bytes_of_element(job, stage->target, stage->left, stage->left_count, index);
}

struct le_cost le_cost_of_points(const struct le_device_kernel_job *job, const struct le_stage *stage, double threads) {
    int last = stage->index_count ? stage->indices[stage->index_count - 1] : -1;
    double points = le_cost_points(job, stage);
    return (struct le_cost){
        .bytes = le_cost_bytes(job, &stage->node, 1, last) + le_cost_bytes(job, stage->left, stage->left_count, last),
        .operations = (double)le_kernel_operations(&job->kernel),
        .requests = (le_cost_requests(job, &stage->node, 1, last, NULL, 0) + 1) * points / WARP_THREADS,
        .threads = threads,
        .bytes_in_flight = 8,
        .team_seconds = ceil(points / threads) * LE_TERM_SECONDS,
        .launches = 1};
}

struct le_cost le_cost_twice(struct le_cost cost) {
    cost.bytes *= 2;
    cost.operations *= 2;
    cost.requests *= 2;
    cost.team_seconds *= 2;
    cost.tail_seconds *= 2;
    cost.launches *= 2;
    return cost;
}
