/* See analysis.h: the extents of loops, and the work of a stage. */
#include "ir/analysis/analysis.h"

#define UNKNOWN_EXTENT 64                 /* of a range whose bounds are found as the stage runs */
#define HULL_MOST      ((int64_t)1 << 24) /* wider bounds are those of the data's type, and say nothing */

int64_t le_points(const struct le_space *space, const int *indices, int count) {
    int64_t points = 1;
    for (int k = 0; k < count; k++)
        if (!le_mul_i64(points, le_range_count(le_range_of(space, indices[k])), &points))
            points = INT64_MAX;
    return points;
}

bool le_ranges_are_fixed(const struct le_space *space, const int *indices, int count) {
    for (int k = 0; k < count; k++)
        if (le_range_of(space, indices[k])->dynamic)
            return false;
    return true;
}

bool le_index_by_host(const struct le_space *space, int index) {
    const struct le_range_nodes *r = &space->ir->indices.at[index].range;
    const struct le_node *bounds[] = {r->low, r->high, r->by};
    if (!le_range_of(space, index)->dynamic)
        return false;
    for (size_t b = 0; b < ARRAY_LEN(bounds); b++)
        for (int k = 0; bounds[b] && k < bounds[b]->free_count; k++)
            if (!space->ir->indices.at[bounds[b]->free[k]].host || bounds[b]->changes)
                return false;
    return !(r->low->changes || r->high->changes);
}

bool le_index_is_bounded(const struct le_space *space, int index) {
    const struct le_range *r = le_range_of(space, index);
    return !r->dynamic || (r->bounded && r->high - r->low <= HULL_MOST);
}

int64_t le_index_extent(const struct le_space *space, int index) {
    const struct le_range *r = le_range_of(space, index);
    if (!r->dynamic)
        return le_range_count(r);
    if (r->bounded && le_index_by_host(space, index))
        return r->high > r->low ? r->high - r->low : 1;
    if (!le_index_is_bounded(space, index))
        return UNKNOWN_EXTENT;
    return r->high - r->low > 1 ? (r->high - r->low + 1) / 2 : 1; /* as if the bounds were spread evenly */
}

/* ---- work */

int64_t le_new_cost(struct le_node_notes *notes, const struct le_node *node, int epoch) {
    int64_t cost = node->cost;
    if (le_note_met(notes, node, epoch))
        return 0;
    for (int k = 0; k < node->operand_count; k++)
        cost += le_new_cost(notes, node->operands[k], epoch) - node->operands[k]->cost;
    return cost > 0 ? cost : 0;
}

struct work_search {
    const struct le_space *space;
    double time, operations, additions;
};

static double count_points(const struct le_space *space, const int *indices, int count) {
    double points = 1;
    for (int k = 0; k < count; k++)
        if (!space->ir->indices.at[indices[k]].host)
            points *= (double)le_index_extent(space, indices[k]);
    return points;
}

static void add_work(struct le_node *node, void *user) {
    struct work_search *s = user;
    int64_t own = node->cost;
    for (int k = 0; k < node->operand_count; k++)
        own -= node->operands[k]->cost;
    own = node->kind == LE_NODE_REDUCE ? 1 : own < 0 ? 0 : own;
    double points =
        count_points(s->space, node->free, node->free_count) * count_points(s->space, node->indices, node->index_count);
    int fused =
        node->kind == LE_NODE_OP && node->code >= LE_OPS && node->code < LE_CODES ? 2 : 1; /* a multiply-add is two */
    s->time += points * (double)own;
    if (node->kind == LE_NODE_OP || node->kind == LE_NODE_RAND || node->kind == LE_NODE_REDUCE) {
        s->operations += points * fused;
        s->additions += points * (double)(own > fused ? own : fused);
    }
}

static int64_t saturate(double x) {
    return x > 9e18 ? INT64_MAX : (int64_t)x;
}

struct le_work le_work_of(const struct le_ir *ir, const struct le_space *space, const struct le_stage *stage,
                          struct le_node *const *nodes, int count) {
    struct work_search s = {.space = space};
    for (int k = 0; k < count; k++)
        le_node_walk(ir, nodes[k], add_work, &s);
    for (int d = 0; d < stage->left_count; d++)
        le_node_walk(ir, stage->left[d], add_work, &s);
    s.time += count_points(space, stage->indices, stage->index_count);
    return (struct le_work){saturate(s.time), saturate(s.operations), saturate(s.additions)};
}
