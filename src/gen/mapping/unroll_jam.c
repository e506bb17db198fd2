/* Unrolls a kept index with few values if the expensive part of the terms does not depend on it, such as the axes of
 * the force between two bodies. The stage becomes one stage for each value, and one team computes all of them as totals
 * of one group, so that the shared part is computed once for each term. The number of values is then part of the text.
 */
#include "gen/mapping/group_reduce.h"

#define SPREAD_MOST 4  /* values */
#define SPREAD_COST 12 /* least cost of the shared part, in additions */
#define FEW_TERMS   8
#define FEW_COST    64 /* additions of all terms */

bool le_is_counted(const struct codegen *c, int index) {
    const struct le_range *r = le_range_of(c->space, index);
    return !r->dynamic && !c->ir->indices.at[index].host && r->low == 0 && r->by == 1;
}

/* ---- reductions of few terms inside of terms, written out */

bool le_team_is_few(const struct codegen *c, const struct le_node *node) {
    for (int k = 0; k < node->index_count && node->kind == LE_NODE_REDUCE; k++)
        if (!le_is_counted(c, node->indices[k]))
            return false;
    return le_is_short(&c->safety, node, FEW_TERMS, FEW_COST);
}

static struct le_node *write_out(struct le_node *node, void *user) {
    struct codegen *c = user;
    return le_team_is_few(c, node) ? le_written_out(c->ir, c->space, node) : NULL;
}

/* ---- along which index */

struct ranges {
    const struct le_ir *ir;
    int index;
    bool found;
};

static void find_range(struct le_node *node, void *user) {
    struct ranges *r = user;
    for (int k = 0; k < node->index_count; k++) {
        const struct le_range_nodes *range = &r->ir->indices.at[node->indices[k]].range;
        struct le_node *bounds[] = {range->low, range->high, range->by};
        for (size_t b = 0; b < ARRAY_LEN(bounds); b++)
            r->found |= bounds[b] && le_node_depends(bounds[b], r->index);
    }
}

bool le_bounds_depend(const struct codegen *c, struct le_node *node, int index) {
    struct ranges r = {.ir = c->ir, .index = index};
    le_node_walk(c->ir, node, find_range, &r);
    return r.found;
}

/* A kept index of the stage's; -1: there is none. */
static int find_index(struct codegen *c, const struct le_stage *stage, const struct team_stage *t) {
    const struct group *g = &t->groups[0];
    for (int k = t->points_count - 1; k >= 0; k--) {
        int index = t->points_at[k];
        int64_t count = le_range_count(le_range_of(c->space, index));
        if (le_is_counted(c, index) && count > 1 && count <= SPREAD_MOST && count * g->node_count <= GROUP_NODES &&
            !le_bounds_depend(c, stage->node, index) && le_side_shared_cost(c, g, index) >= SPREAD_COST)
            return index;
    }
    return -1;
}

/* ---- the stages */

static struct le_stage at_value(struct codegen *c, const struct le_stage *stage, int index, int64_t value) {
    struct le_stage made = *stage;
    struct le_node *to = le_node_i64(c->ir, value);
    made.indices = LE_NEW_ARRAY(c->arena, stage->index_count, int);
    made.left = LE_NEW_ARRAY(c->arena, stage->left_count, struct le_node *);
    made.index_count = 0;
    for (int k = 0; k < stage->index_count; k++)
        if (stage->indices[k] != index)
            made.indices[made.index_count++] = stage->indices[k];
    for (int d = 0; d < stage->left_count; d++)
        made.left[d] = le_node_substitute(c->ir, stage->left[d], &index, &to, 1);
    made.node = le_node_substitute(c->ir, stage->node, &index, &to, 1);
    return made;
}

static bool find_all(struct codegen *c, const struct le_stage *stage, int index, struct team_stage *t) {
    int count = (int)le_range_count(le_range_of(c->space, index));
    struct le_stage *stages = LE_NEW_ARRAY(c->arena, count, struct le_stage);
    for (int k = 0; k < count; k++)
        stages[k] = at_value(c, stage, index, k);
    c->stage = &stages[0];
    return le_team_find(c, stages, count, t) && t->group_count == 1 && t->rest_count == 0 && !t->ragged;
}

bool le_team_spread(struct codegen *c, const struct le_stage *stage, struct team_stage *t) {
    struct le_stage written = *stage;
    if (stage->kind != LE_STAGE_MAP || stage->sibling >= 0 || stage->index_count == 0 || !stage->node->reduces ||
        !le_node_is_safe(&c->safety, stage->node))
        return false;
    written.node = le_node_replace(c->ir, stage->node, write_out, c);
    if (!le_team_find(c, &written, 1, t) || t->group_count != 1 || t->rest_count != 0 || t->ragged)
        return false;
    int index = find_index(c, &written, t);
    if (index >= 0 && find_all(c, &written, index, t))
        return true;
    c->stage = stage;
    return false;
}
