/* Proposes the mappings of stages that compute one value for each point from reads and operations alone. */
#include "gen/mapping/map.h"
#include <math.h>

#define NEAR_STRIDE 4 /* elements */

static double elements_of(const struct map *m) {
    double elements = 1;
    for (int a = 0; a < m->axis_count; a++)
        elements *= (double)m->axes[a].count;
    return elements;
}

static void count_load(struct le_node *node, void *user) {
    *(double *)user += node->kind == LE_NODE_LOAD;
}

/* Additions of an element. Of what windows read, a thread reads most once for all of its sums. */
static double cost_of(const struct map *m) {
    double loads = 0, cost = (double)le_map_cost(m);
    if (!m->windows)
        return cost;
    le_node_walk(m->c.ir, m->stage->node, count_load, &loads);
    return cost - loads + loads / m->width;
}

/* A tile reads along each array's own axis: index -1. */
static void finish(struct le_mapping_search *search, struct le_mapping *mapping, const struct map *m, int index) {
    const struct le_device_kernel_job *job = m->c.job;
    double elements = elements_of(m), part = (double)m->width * m->unroll;
    double bytes = m->windows ? le_cost_bytes(job, &search->stage->node, 1, index)
                              : le_cost_bytes(job, m->nodes, m->result_count, index),
           written = 0;
    for (int k = 0; k < m->result_count; k++)
        written += le_cost_target_bytes(job, m->results[k].stage, le_map_inner(m)->index);
    struct le_cost cost = {.bytes = bytes + written,
                           .operations = elements * cost_of(m),
                           .threads = elements / part,
                           .bytes_in_flight = fmax(16, part * bytes / elements),
                           .launches = 1};
    mapping->seconds = le_cost_seconds(job->facts, &cost);
}

/* Whether neighbouring threads read elements that are close to each other. */
static bool is_side_by_side(const struct map *m) {
    for (int k = 0; k < m->stream_count; k++) {
        int64_t stride = m->streams[k].place.strides[m->axis_count - 1];
        if (stride > NEAR_STRIDE || stride < -NEAR_STRIDE)
            return false;
    }
    return true;
}

static struct map *find(struct le_mapping_search *search, const struct le_stage *stage, bool tiles) {
    struct map *m = LE_NEW(search->job->kernel.arena, struct map);
    bool windows = stage != search->stage;
    return le_map_find(m, search->job, stage, tiles, windows) && (!windows || is_side_by_side(m)) ? m : NULL;
}

/* ---- sums, minima and so on of windows: few terms, many of which are terms of the neighbours', too. They are written
 * out, so that a thread reads what several of its results need once. Their extents are then part of the text. */

#define WINDOW_TERMS 128
#define WINDOW_COST  1024 /* additions of all terms */

struct slide_search {
    const struct codegen *c;
    const struct le_node *reduction;
    bool found;
};

static void find_slide(struct le_node *node, void *user) {
    struct slide_search *s = user;
    for (int d = 0; d < node->operand_count && node->kind == LE_NODE_LOAD; d++)
        s->found |= le_node_depends_on_any(node->operands[d], s->reduction->indices, s->reduction->index_count) &&
                    le_node_depends_on_any(node->operands[d], s->c->stage->indices, s->c->stage->index_count);
}

/* Whether a subscript adds an index of the reduction to one of the stage. */
static bool is_window(const struct codegen *c, const struct le_node *reduction) {
    struct slide_search s = {.c = c, .reduction = reduction};
    le_node_walk(c->ir, reduction->operands[0], find_slide, &s);
    return s.found;
}

static struct le_node *write_out(struct le_node *node, void *user) {
    struct codegen *c = user;
    if (node->kind != LE_NODE_REDUCE)
        return NULL;
    if (!is_window(c, node))
        return node;
    bool is_short = le_is_short(&c->safety, node, WINDOW_TERMS, WINDOW_COST) ||
                    le_is_short_in_any_order(&c->safety, node, WINDOW_TERMS, WINDOW_COST);
    return is_short ? le_written_out(c->ir, c->space, node) : node;
}

/* The stage with its reductions of windows written out; or the stage itself. */
static const struct le_stage *without_windows(struct le_mapping_search *search) {
    struct le_arena *arena = search->job->kernel.arena;
    if (!search->stage->node->reduces || search->stage->kind == LE_STAGE_SCATTER || search->stage->also_count > 0)
        return search->stage;
    struct codegen *c = LE_NEW(arena, struct codegen);
    struct le_stage *written = LE_NEW(arena, struct le_stage);
    le_codegen_begin(c, search->job, search->stage, "");
    *written = *search->stage;
    written->node = le_node_replace(c->ir, written->node, write_out, c);
    return written->node->reduces ? search->stage : written;
}

void le_propose_maps(struct le_mapping_search *search) {
    const struct le_stage *stage = without_windows(search);
    struct map *m = find(search, stage, true);
    if (m && m->way == MAP_TILE) {
        struct le_mapping *mapping = le_mapping_add(search, LE_MAPPING_TILE, le_map_make, m);
        le_mapping_set(mapping, "rows", m->tile_rows, m->tile_rows, m->tile_rows, false);
        le_mapping_set(mapping, "columns", m->tile_columns, m->tile_columns, m->tile_columns, false);
        le_mapping_set(mapping, "vector", m->width, m->width, m->width, false);
        finish(search, mapping, m, -1);
        m = find(search, stage, false);
    }
    if (!m)
        return;
    struct le_mapping *mapping = le_mapping_add(search, LE_MAPPING_MAP, le_map_make, m);
    le_mapping_set(mapping, "vector", m->width, 1, m->width, true);
    le_mapping_set(mapping, "unrolled", m->unroll, 1, 16, true);
    finish(search, mapping, m, le_map_inner(m)->index);
}
