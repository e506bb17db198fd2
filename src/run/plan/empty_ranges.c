/* Stages that nothing reads because a range is empty. A statement may compute stages first: hoisted reductions, or a
 * side of a product. If every reader has an empty range, known before the statement runs, such a stage is filled with
 * zeros: its own out-of-range reads must not fail. Likewise an update over an empty domain writes nothing, wherever its
 * subscripts would be. If all ranges have points there is nothing to do. */
#include "run/plan/plan.h"

struct group_reads {
    struct le_specialised *s;
    const struct le_plan_step *group;
    struct {
        int readers; /* number of actions of the group that read its value */
        int last;    /* the last of them that was counted */
        bool needed; /* some reader may execute its read */
    } * at;          /* by action of the group */
    int reader, epoch;
};

static bool is_empty(const struct group_reads *r, int index) {
    const struct le_range *range = &r->s->plan->space.ranges[index];
    return range->solved && !range->dynamic && range->low >= range->high;
}

static bool any_empty(const struct group_reads *r, const int *indices, int count) {
    for (int k = 0; k < count; k++)
        if (is_empty(r, indices[k]))
            return true;
    return false;
}

/* The action of the group, counted from its first, that computes the value; -1: none of them. */
static int maker_of(const struct group_reads *r, int value) {
    int maker = r->s->plan->maker[value] - r->group->first_action;
    return maker >= 0 && maker < r->group->action_count ? maker : -1;
}

static void count_reader(struct le_node *node, void *user) {
    struct group_reads *r = user;
    int maker = node->kind == LE_NODE_LOAD ? maker_of(r, node->value) : -1;
    if (maker < 0 || r->at[maker].last == r->reader)
        return;
    r->at[maker].last = r->reader;
    r->at[maker].readers++;
}

/* Marks the stages that the node reads as needed, except for reads inside reductions over an empty range. */
static void mark_needed(struct group_reads *r, struct le_node *node) {
    if (!node || le_walk_met(r->s->ir, node, r->epoch))
        return;
    int maker = node->kind == LE_NODE_LOAD ? maker_of(r, node->value) : -1;
    if (maker >= 0)
        r->at[maker].needed = true;
    if (node->kind == LE_NODE_REDUCE && any_empty(r, node->indices, node->index_count))
        return;
    for (int k = 0; k < node->operand_count; k++)
        mark_needed(r, node->operands[k]);
    mark_needed(r, node->fill);
    for (int k = 0; k < node->index_count; k++) {
        const struct le_range_nodes *range = &r->s->ir->indices.at[node->indices[k]].range;
        mark_needed(r, range->low);
        mark_needed(r, range->high);
        mark_needed(r, range->by);
    }
}

/* Calls visit for each node that a stage computes from. */
static void each_root(struct group_reads *r, const struct le_stage *stage,
                      void (*visit)(struct group_reads *r, struct le_node *root)) {
    visit(r, stage->node);
    visit(r, stage->product);
    for (int d = 0; d < stage->left_count; d++)
        visit(r, stage->left[d]);
    for (int k = 0; k < stage->index_count; k++) {
        const struct le_range_nodes *range = &r->s->ir->indices.at[stage->indices[k]].range;
        visit(r, range->low);
        visit(r, range->high);
        visit(r, range->by);
    }
}

static void count_root(struct group_reads *r, struct le_node *root) {
    if (root)
        le_node_walk(r->s->ir, root, count_reader, r);
}

/* Whether the stage only serves other stages of its statement. */
static bool is_auxiliary(const struct le_ir *ir, const struct le_stage *stage) {
    return le_stage_computes(stage) && stage->pair_count == 0 && ir->values.at[stage->target].symbol < 0 &&
           !ir->values.at[stage->target].wanted;
}

static bool updates_nothing(const struct group_reads *r, const struct le_stage *stage) {
    const struct le_ir_statement *st = &r->s->ir->statements.at[stage->statement];
    bool writes = stage->kind == LE_STAGE_MAP || stage->kind == LE_STAGE_CONTRACT;
    return writes && stage->base >= 0 && st->kind == LE_STEP_ASSIGN && r->s->ir->values.at[stage->target].symbol >= 0 &&
           any_empty(r, st->free, st->free_count);
}

/* A copy of the stage whose only index is one of the statement's indices with an empty range. */
static const struct le_stage *without_points(const struct group_reads *r, struct le_arena *arena,
                                             const struct le_stage *stage) {
    const struct le_ir_statement *st = &r->s->ir->statements.at[stage->statement];
    struct le_stage *made = LE_NEW(arena, struct le_stage);
    int k = 0;
    while (!is_empty(r, st->all[k]))
        k++;
    *made = *stage;
    made->kind = made->kind == LE_STAGE_CONTRACT ? LE_STAGE_MAP : made->kind;
    made->product = NULL;
    made->indices = &st->all[k];
    made->index_count = 1;
    return made;
}

/* Whether some of its own ranges are evaluated at run time, which may fail. */
static bool any_dynamic(const struct group_reads *r, const struct le_stage *stage) {
    for (int k = 0; k < stage->index_count; k++)
        if (r->s->plan->space.ranges[stage->indices[k]].dynamic)
            return true;
    return false;
}

static const struct le_stage *zero_stage(const struct group_reads *r, struct le_arena *arena,
                                         const struct le_stage *stage) {
    struct le_stage *made = LE_NEW(arena, struct le_stage);
    *made = *stage;
    made->kind = LE_STAGE_MAP;
    made->node = le_node_const(r->s->ir, stage->node->type, 0);
    made->product = NULL;
    made->leader = made->sibling = -1;
    return made;
}

static void decide_action(struct group_reads *r, struct le_arena *arena, int number) {
    struct le_action *action = &r->s->plan->actions[r->group->first_action + number];
    const struct le_stage *stage = action->stage;
    bool known = is_auxiliary(r->s->ir, stage) && r->at[number].readers == r->s->ir->values.at[stage->target].uses;
    if (known && !r->at[number].needed)
        action->generated = any_dynamic(r, stage) ? without_points(r, arena, stage) : zero_stage(r, arena, stage);
    else if ((action->writes_nothing = updates_nothing(r, stage)))
        action->generated = without_points(r, arena, stage);
    else if (!le_stage_computes(stage) || !any_empty(r, stage->indices, stage->index_count))
        each_root(r, stage, mark_needed);
}

static bool has_empty(const struct group_reads *r) {
    for (int k = 0; k < r->group->statement_count; k++) {
        const struct le_ir_statement *st = &r->s->ir->statements.at[r->group->first_statement + k];
        if (any_empty(r, st->all, st->all_count))
            return true;
    }
    return false;
}

void le_find_empty_ranges(struct le_specialised *s, const struct le_plan_step *g) {
    struct group_reads r = {.s = s, .group = g};
    if (!has_empty(&r))
        return;
    r.at = le_arena_array(g->arena, (size_t)g->action_count, sizeof *r.at);
    for (int k = 0; k < g->action_count; k++) {
        r.reader = k + 1;
        each_root(&r, s->plan->actions[g->first_action + k].stage, count_root);
    }
    r.epoch = le_walk_begin(s->ir);
    for (int k = g->action_count - 1; k >= 0; k--)
        decide_action(&r, g->arena, k);
}
