/* Proposes the mappings of stages with reductions in which threads share the terms: a warp, a thread block or the whole
 * grid for each point, threads side by side for columns, and rows that stay on chip. */
#include "gen/device_row.h"
#include <math.h>

#define GRID_POINTS   65535 /* a grid's second axis */
#define READ_SECONDS  700e-9
#define WARP_SECONDS  200e-9 /* in which a warp joins its threads' totals */
#define BLOCK_SECONDS 1e-6   /* the same of a thread block, through shared memory */
#define GRID_SECONDS  3e-6   /* in which the last block joins the others' totals */
#define ADD_SECONDS   4e-9   /* from an addition to the next one, which waits for it */

/* What all proposals have in common. */
struct shared_terms {
    struct le_mapping_search *search;
    struct reduction *r;
    double terms, points, operations;
};

static double bytes_of(const struct shared_terms *s, int index) {
    const struct team_stage *t = &s->r->t;
    double bytes = 0;
    for (int g = 0; g < t->group_count; g++)
        for (int k = 0; k < t->groups[g].node_count; k++)
            bytes += le_cost_bytes(s->search->job, t->groups[g].bodies[k], index);
    return bytes;
}

static int term_index(const struct team_stage *t) {
    const struct group *g = &t->groups[0];
    return g->indices[g->axes[g->axis_count - 1].position];
}

/* The common settings, and what a thread of so many for a point does. */
static struct le_cost cost_of(const struct shared_terms *s, struct le_mapping *m, int index, double threads) {
    const struct group *g = &s->r->t.groups[0];
    double bytes = bytes_of(s, index), own = s->terms / threads, ahead;
    int64_t unrolled = le_mapping_set(m, "unrolled", g->unroll, 1, g->unroll, true);
    ahead = fmin(own, (double)unrolled * g->width);
    return (struct le_cost){.bytes = bytes,
                            .operations = s->operations,
                            .threads = s->points * threads,
                            .bytes_in_flight = ahead * bytes / (s->terms * s->points),
                            .busy_seconds = ceil(own / ((double)unrolled * g->width)) * READ_SECONDS,
                            .launches = 1};
}

static void finish(const struct shared_terms *s, struct le_mapping *m, struct le_cost cost) {
    const struct team_stage *t = &s->r->t;
    int last = t->rest_count ? t->rest_at[t->rest_count - 1] : t->points_count ? t->points_at[t->points_count - 1] : -1;
    cost.bytes += le_cost_target_bytes(s->search->job, s->search->stage, last);
    cost.chain_seconds = cost.busy_seconds + cost.idle_seconds;
    m->seconds = le_cost_seconds(s->search->job->facts, &cost);
}

static void propose_warp(const struct shared_terms *s) {
    struct le_mapping *m = le_mapping_add(s->search, "warp", le_reduce_warp, s->r);
    struct le_cost cost = cost_of(s, m, term_index(&s->r->t), WARP);
    cost.idle_seconds = WARP_SECONDS * s->r->t.group_count;
    finish(s, m, cost);
}

static void propose_block(const struct shared_terms *s) {
    struct le_mapping *m = le_mapping_add(s->search, "block", le_reduce_block, s->r);
    int64_t threads = le_mapping_set(m, "threads", le_reduce_threads(&s->r->t), 64, 512, true);
    struct le_cost cost = cost_of(s, m, term_index(&s->r->t), (double)threads);
    cost.idle_seconds = BLOCK_SECONDS * s->r->t.group_count;
    finish(s, m, cost);
}

static void propose_grid(const struct shared_terms *s) {
    struct team_stage *t = &s->r->t;
    const struct le_device_facts *facts = s->search->job->facts;
    if (t->rest_count > 0 || t->points > GRID_POINTS || !le_reduce_stands_alone(t))
        return;
    struct le_mapping *m = le_mapping_add(s->search, "grid", le_reduce_grid, s->r);
    double room = (double)facts->multiprocessors * facts->multiprocessor_threads / s->points;
    struct le_cost cost = cost_of(s, m, term_index(t), fmax(256, fmin(room, s->terms / t->groups[0].width)));
    cost.idle_seconds = GRID_SECONDS;
    cost.busy_seconds = 0;
    finish(s, m, cost);
}

static void propose_columns(const struct shared_terms *s) {
    struct team_stage *t = &s->r->t;
    if (t->rest_count > 0 || t->points_count == 0)
        return;
    struct le_mapping *m = le_mapping_add(s->search, "columns", le_reduce_columns, s->r);
    int64_t chunk = le_mapping_set(m, "chunk", le_reduce_chunk(&s->r->c, t), 64, (int64_t)1 << 40, true);
    double parts = ceil(s->terms / (double)chunk);
    struct le_cost cost = cost_of(s, m, t->points_at[t->points_count - 1], parts);
    cost.chain_seconds = fmin(s->terms, (double)chunk) * ADD_SECONDS;
    cost.idle_seconds = parts > 1 ? GRID_SECONDS : 0;
    cost.busy_seconds = 0;
    finish(s, m, cost);
}

static leat_status make_rows(const struct le_mapping *m, void *found, struct le_generated_launches *out) {
    struct reduction *r = found;
    (void)m;
    le_team_rows(&r->c, &r->t, out);
    return r->c.status;
}

static void propose_rows(const struct shared_terms *s) {
    struct row row = {.c = &s->r->c, .t = &s->r->t};
    if (s->r->t.spread > 1 || !le_row_find(&row))
        return;
    struct le_mapping *m = le_mapping_add(s->search, "rows", make_rows, s->r);
    const struct row_shape *shape = &row.shape;
    double threads = (double)shape->cluster * shape->threads, bytes = 0;
    for (int k = 0; k < row.load_count; k++)
        bytes += le_cost_bytes(s->search->job, row.loads[k], term_index(&s->r->t));
    struct le_cost cost = {.bytes = bytes,
                           .operations = s->operations,
                           .threads = s->points * threads,
                           .bytes_in_flight = bytes / (s->points * threads),
                           .busy_seconds = 2 * READ_SECONDS,
                           .idle_seconds = (shape->rows > 1 ? WARP_SECONDS : BLOCK_SECONDS) * s->r->t.group_count,
                           .launches = 1};
    finish(s, m, cost);
}

static double operations_of(const struct team_stage *t) {
    double operations = 0;
    for (int g = 0; g < t->group_count; g++)
        for (int k = 0; k < t->groups[g].node_count; k++)
            operations += (double)t->groups[g].terms * (double)(t->groups[g].bodies[k]->cost + 1);
    return operations * (double)t->points;
}

void le_propose_reductions(struct le_mapping_search *search) {
    const struct le_stage *stage = search->stage;
    struct reduction *r = LE_NEW(search->job->kernel.arena, struct reduction);
    if (!stage->node->reduces || !le_gen_in_any_order(stage))
        return;
    le_cuda_begin(&r->c, search->job, stage, "");
    if (!le_team_spread(&r->c, stage, &r->t) && !le_team_find(&r->c, stage, 1, &r->t))
        return;
    if (r->t.points > INT32_MAX || r->t.points == 0)
        return;
    if (!le_cuda_is_safe(&r->c, stage->node))
        r->c.terms = le_cuda_number(&r->c, "terms", le_reduce_terms(&r->t));
    struct shared_terms s = {.search = search,
                             .r = r,
                             .terms = fmax(1, (double)le_reduce_terms(&r->t)),
                             .points = (double)r->t.points,
                             .operations = operations_of(&r->t)};
    propose_columns(&s);
    propose_warp(&s);
    propose_block(&s);
    propose_grid(&s);
    propose_rows(&s);
}
