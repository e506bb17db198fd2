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

struct split_cost {
    const struct map *m;
    double cost;
};

static void find_reduction(struct le_node *node, void *user) {
    if (node->kind == LE_NODE_REDUCE)
        *(const struct le_node **)user = node;
}

/* Of a window, before it was written out. */
static const struct le_node *reduction_of(const struct le_mapping_search *search) {
    const struct le_node *found = NULL;
    le_node_walk(search->job->kernel.ir, search->stage->node, find_reduction, &found);
    for (int k = 0; k < search->stage->also_count && !found; k++)
        le_node_walk(search->job->kernel.ir, search->stage->also[k]->node, find_reduction, &found);
    return found;
}

static void add_split_cost(struct le_node *node, void *user) {
    struct split_cost *s = user;
    if (node->kind == LE_NODE_LOAD && node->operand_count > 0)
        s->cost += le_map_split_cost(s->m, node->value);
}

/* Additions of an element. Nodes and loads that several of its terms share count once. Of what written out windows
 * read, a thread reads most once for all of its elements. */
static double cost_of(const struct le_mapping_search *search, const struct map *m) {
    if (m->windows == MAP_WALKED)
        return le_map_walk_operations(m);
    if (m->windows == MAP_NO_WINDOWS)
        return (double)le_map_cost(m);
    struct split_cost split = {.m = m};
    for (int k = 0; k < m->result_count && m->width > 1; k++)
        le_node_walk(m->c.ir, m->nodes[k], add_split_cost, &split);
    return (double)le_map_arithmetic(m) * le_map_slowness(reduction_of(search)) + 1 +
           (double)le_map_loads(m) / m->width + split.cost;
}

/* Bytes that are read. What lies between the elements of neighbouring threads, these read for other terms of a window:
 * then the nearer of a thread's and a term's neighbours counts. */
static double bytes_of(struct le_mapping_search *search, const struct map *m, int index) {
    struct le_node *nodes[1 + LE_ALSO_MAX] = {search->stage->node}; /* of windows before they were written out */
    int count = 1 + search->stage->also_count;
    for (int k = 1; k < count; k++)
        nodes[k] = search->stage->also[k - 1]->node;
    double bytes = le_cost_bytes(m->c.job, nodes, count, index);
    if (!m->windows)
        return bytes;
    const struct le_node *reduction = reduction_of(search);
    return fmin(bytes, le_cost_bytes(m->c.job, nodes, count, reduction->indices[reduction->index_count - 1]));
}

/* A tile reads along each array's own axis: index -1. */
static void finish(struct le_mapping_search *search, struct le_mapping *mapping, const struct map *m, int index) {
    const struct le_device_kernel_job *job = m->c.job;
    double elements = elements_of(m), part = (double)m->width * m->unroll;
    double bytes = bytes_of(search, m, index), written = 0;
    for (int k = 0; k < m->result_count; k++)
        written += le_cost_target_bytes(job, m->results[k].stage, le_map_inner(m)->index);
    double in_flight = part * bytes / elements;
    if (m->windows == MAP_WALKED) {
        double room = (double)job->facts->multiprocessors * job->facts->multiprocessor_threads;
        in_flight *= fmin(1, le_map_walk_share(m) * fmax(1, room * part / elements));
    }
    struct le_cost cost = {.bytes = bytes + written,
                           .operations = elements * cost_of(search, m),
                           .threads = elements / part,
                           .bytes_in_flight = fmax(16, in_flight),
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
    enum map_windows windows = stage != search->stage ? MAP_WRITTEN_OUT : MAP_NO_WINDOWS;
    return le_map_find(m, search->job, stage, tiles, windows) && (!windows || is_side_by_side(m)) ? m : NULL;
}

/* ---- sums, minima and so on of windows: few terms, many of which are terms of the neighbours', too. They are written
 * out, so that a thread reads what several of its results need once. Their extents are then part of the text. */

#define FEW_TERMS    16 /* more are not written out if a thread can walk through them */
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
    struct le_node *term = le_node_replace(c->ir, node->operands[0], write_out, c);
    if (term != node->operands[0])
        node = le_node_reduce(c->ir, (enum le_reduction)node->code, node->type, term, node->indices, node->index_count);
    if (!is_window(c, node))
        return node;
    bool is_short = le_is_short(&c->safety, node, WINDOW_TERMS, WINDOW_COST) ||
                    le_is_short_in_any_order(&c->safety, node, WINDOW_TERMS, WINDOW_COST);
    return is_short ? le_written_out(c->ir, c->space, node) : node;
}

static bool reduces(const struct le_stage *stage) {
    bool found = stage->node->reduces;
    for (int k = 0; k < stage->also_count; k++)
        found |= stage->also[k]->node->reduces;
    return found;
}

static struct le_stage *with_written(struct codegen *c, const struct le_stage *stage) {
    struct le_stage *written = LE_NEW(c->arena, struct le_stage);
    *written = *stage;
    written->node = le_node_replace(c->ir, written->node, write_out, c);
    return written;
}

/* The stage with its reductions of windows written out; or the stage itself. */
static const struct le_stage *without_windows(struct le_mapping_search *search) {
    struct le_arena *arena = search->job->kernel.arena;
    if (!reduces(search->stage) || search->stage->kind == LE_STAGE_SCATTER)
        return search->stage;
    struct codegen *c = LE_NEW(arena, struct codegen);
    le_codegen_begin(c, search->job, search->stage, "");
    struct le_stage *written = with_written(c, search->stage);
    const struct le_stage **also = LE_NEW_ARRAY(arena, written->also_count + 1, const struct le_stage *);
    for (int k = 0; k < written->also_count; k++)
        also[k] = with_written(c, written->also[k]);
    written->also = also;
    return reduces(written) ? search->stage : written;
}

#define WALK_GAIN      0.95 /* of the time: what more elements have to gain, which take the compiler longer */
#define NOT_OVERLAPPED 0.25 /* of arithmetic, that memory does not hide */

/* Sets how many columns and rows of elements a thread computes, if all of them fit one. Gives a time to compare. */
static double try_walk(struct le_mapping_search *search, struct le_mapping *mapping, struct map *m, int columns,
                       int rows) {
    if (!le_map_set_walk(m, columns, rows) || m->width != columns || !le_map_walk_fits(m))
        return INFINITY;
    finish(search, mapping, m, le_map_inner(m)->index);
    return mapping->seconds +
           NOT_OVERLAPPED * elements_of(m) * cost_of(search, m) / search->job->facts->operations_per_second;
}

/* The same without writing them out: a thread walks through the terms of its elements together. */
static struct map *find_walk(struct le_mapping_search *search) {
    struct map *m = LE_NEW(search->job->kernel.arena, struct map);
    bool found = reduces(search->stage) && search->stage->kind != LE_STAGE_SCATTER &&
                 le_map_find(m, search->job, search->stage, false, MAP_WALKED);
    return found ? m : NULL;
}

#define ROWS_CHOSEN 8 /* of a thread, at most: with 16, windows took longer on an H100 than is predicted */

static void propose_walk(struct le_mapping_search *search, struct map *m) {
    struct le_mapping *mapping = le_mapping_add(search, LE_MAPPING_WINDOW, le_map_make, m);
    int64_t columns = 1, rows = 1, rows_most = m->row >= 0 ? MAP_WALK_ROWS : 1;
    double least = INFINITY;
    for (int r = 1; r <= rows_most && r <= ROWS_CHOSEN; r *= 2)
        for (int c = 1; c <= m->widest; c *= 2) {
            double seconds = try_walk(search, mapping, m, c, r);
            if (seconds < WALK_GAIN * least) {
                least = seconds;
                columns = c;
                rows = r;
            }
        }
    columns = le_mapping_set(mapping, "columns", columns, 1, m->widest, true);
    rows = le_mapping_set(mapping, "rows", rows, 1, rows_most, true);
    le_map_set_walk(m, (int)columns, (int)rows);
    finish(search, mapping, m, le_map_inner(m)->index);
}

static void propose_map(struct le_mapping_search *search, const struct le_stage *stage) {
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

void le_propose_maps(struct le_mapping_search *search) {
    struct map *walk = find_walk(search);
    if (!walk || le_map_walk_terms(walk) <= FEW_TERMS)
        propose_map(search, without_windows(search));
    if (walk)
        propose_walk(search, walk);
}
