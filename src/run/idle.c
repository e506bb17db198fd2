/* Which statements have no ranges to find: those in a block of the host's that is dead and whose stages are dead, too.
 * Such a block does not run, so that what its names stand for is not known. Where it has become a stage that lives (the
 * loops pass), the statements that went into that stage keep their ranges, and so does all that needs no such name. */
#include "run/plan.h"

struct idle {
    struct le_plan *plan;
    struct le_ir *ir;
    bool *lives;   /* by statement: it has a stage that lives */
    bool *used;    /* by index: a stage that lives runs over it */
    bool *stopped; /* by index: a host's loop that does not run */
    bool *lost;    /* by symbol: an array without a shape */
    bool unknown;  /* while bounds are looked at */
};

static void note_index(struct le_node *node, void *user) {
    struct idle *l = user;
    if (node->kind == LE_NODE_INDEX)
        l->used[node->index] = true;
    for (int k = 0; k < node->index_count; k++)
        l->used[node->indices[k]] = true;
}

static void note_stage(struct idle *l, const struct le_stage *stage) {
    l->lives[stage->statement] = true;
    for (int k = 0; k < stage->index_count; k++)
        l->used[stage->indices[k]] = true;
    for (int d = 0; d < stage->left_count; d++)
        le_node_walk(l->ir, stage->left[d], note_index, l);
    if (stage->node)
        le_node_walk(l->ir, stage->node, note_index, l);
    if (stage->product)
        le_node_walk(l->ir, stage->product, note_index, l);
}

static void note_unknown(struct le_node *node, void *user) {
    struct idle *l = user;
    l->unknown |= node->kind == LE_NODE_INDEX && l->stopped[node->index];
    l->unknown |= node->kind == LE_NODE_LOAD && l->ir->values.at[node->value].stage >= 0;
    l->unknown |= node->kind == LE_NODE_LEN && l->lost[node->symbol];
}

static bool has_unknown(struct idle *l, const struct le_ir_statement *st) {
    l->unknown = false;
    for (int k = 0; k < st->all_count; k++) {
        const struct le_range_nodes *r = &l->ir->indices.at[st->all[k]].range;
        struct le_node *bounds[] = {r->low, r->high, r->by};
        for (size_t b = 0; b < ARRAY_LEN(bounds); b++)
            if (bounds[b])
                le_node_walk(l->ir, bounds[b], note_unknown, l);
    }
    for (int k = 0; k < st->access_count; k++)
        l->unknown |= l->lost[l->ir->accesses.at[st->first_access + k].symbol];
    return l->unknown;
}

static bool is_needed(const struct idle *l, int statement) {
    const struct le_ir_statement *st = &l->ir->statements.at[statement];
    for (int k = 0; k < st->all_count; k++)
        if (l->used[st->all[k]])
            return true;
    return false;
}

static void mark_block(struct idle *l, int first, int end) {
    bool all = true;
    for (int k = first; k < end; k++)
        all &= !l->lives[k] && !is_needed(l, k);
    for (int k = first; k < end; k++) {
        const struct le_ir_statement *st = &l->ir->statements.at[k];
        l->plan->idle[k] = all || (!is_needed(l, k) && has_unknown(l, st));
        if (l->plan->idle[k] && st->is_new)
            l->lost[st->symbol] = true;
    }
}

static bool opens(const struct le_stage *stage) {
    return stage->kind == LE_STAGE_FOR || stage->kind == LE_STAGE_LOOP || stage->kind == LE_STAGE_IF;
}

void le_find_idle(struct le_plan *plan, struct le_ir *ir) {
    struct idle l = {.plan = plan, .ir = ir};
    plan->idle = LE_NEW_ARRAY(&plan->arena, ir->statements.count, bool);
    l.lives = LE_NEW_ARRAY(&plan->arena, ir->statements.count, bool);
    l.used = LE_NEW_ARRAY(&plan->arena, ir->indices.count, bool);
    l.stopped = LE_NEW_ARRAY(&plan->arena, ir->indices.count, bool);
    l.lost = LE_NEW_ARRAY(&plan->arena, ir->tree->symbol_count, bool);
    for (int k = 0; k < plan->action_count; k++)
        if (le_stage_computes(plan->actions[k].stage))
            note_stage(&l, plan->actions[k].stage);
    for (int k = 0, depth = 0, first = 0; k < ir->stages.count; k++) {
        const struct le_stage *stage = &ir->stages.at[k];
        if (stage->dead && opens(stage) && depth++ == 0)
            first = stage->statement + 1;
        if (stage->dead && stage->kind == LE_STAGE_FOR)
            l.stopped[stage->index] = true;
        if (stage->dead && stage->kind == LE_STAGE_END && --depth == 0)
            mark_block(&l, first, stage->statement + 1);
    }
}
