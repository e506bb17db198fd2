/* The verifier's checks of regions: numbers are valid, partners and types match, and steps are where they are allowed.
 * verify_nodes.c checks that every variable is set by an enclosing region. */
#include "ir/passes/verify.h"

struct step_check {
    const struct verify *v;
    const struct le_node *node;
    const struct le_region_step *step;
    int at;
};

static const struct le_node *value_of(const struct step_check *l) {
    return l->step->value >= 0 && l->step->value < l->node->operand_count ? l->node->operands[l->step->value] : NULL;
}

static const char *set_problem(const struct step_check *l) {
    const struct le_node *value = value_of(l);
    if (l->step->local < 0 || l->step->local >= l->v->ir->locals.count)
        return "a variable's number";
    enum le_type type = le_type_compute(l->v->ir->locals.at[l->step->local].type);
    return value && value->type == type ? NULL : "a variable's new value";
}

static const char *store_problem(const struct step_check *l) {
    const struct le_region_step *s = l->step;
    const struct le_stage *stage = l->v->stage;
    if (l->node != stage->node || stage->kind != LE_STAGE_EACH)
        return "a store outside of an each";
    if (s->target < 0 || s->target >= stage->pair_count)
        return "a store's target";
    const struct le_value *target = &l->v->ir->values.at[stage->pairs[s->target].target];
    if (s->subscript_count != target->rank || s->first_subscript < 0 ||
        s->first_subscript > l->node->operand_count - s->subscript_count)
        return "a store's subscripts";
    for (int d = 0; d < s->subscript_count; d++)
        if (l->node->operands[s->first_subscript + d]->type != LE_I64)
            return "a store's subscripts";
    const struct le_node *value = value_of(l);
    return value && value->type == le_type_compute(target->type) ? NULL : "a store's value";
}

static const char *for_problem(const struct step_check *l) {
    if (l->step->index < 0 || l->step->index >= l->node->index_count)
        return "a for's index";
    int index = l->node->indices[l->step->index];
    const struct le_ir_index *ix = &l->v->ir->indices.at[index];
    bool ranged = !ix->explicit_range || (ix->range.low && ix->range.high);
    bool twice = is_among(l->v->stage->indices, l->v->stage->index_count, index);
    return !twice && ranged ? NULL : "a for's index";
}

static const struct le_region_step *partner_of(const struct step_check *l) {
    int partner = l->step->partner;
    bool there = partner >= 0 && partner < l->node->region->step_count && partner != l->at;
    return there ? &l->node->region->steps[partner] : NULL;
}

/* Checks one step's partner. If all steps pass, blocks nest. */
static const char *partner_problem(const struct step_check *l) {
    const struct le_region_step *partner = partner_of(l);
    bool mutual = partner && partner->partner == l->at, below = l->step->partner > l->at;
    switch (l->step->kind) {
    case LE_REGION_FOR:
    case LE_REGION_WHILE:
        return mutual && below && partner->kind == LE_REGION_END ? NULL : "a loop's partner";
    case LE_REGION_ELSE: /* the IF names it, and it names its own END */
        return mutual && below && partner->kind == LE_REGION_END ? NULL : "an else's partner";
    case LE_REGION_IF:
        return partner && below && (partner->kind == LE_REGION_ELSE || (mutual && partner->kind == LE_REGION_END))
                   ? NULL
                   : "an if's partner";
    case LE_REGION_END:
        return mutual && !below && partner->kind != LE_REGION_END ? NULL : "an end's partner";
    case LE_REGION_BREAK:
        return partner && !below && partner->partner > l->at &&
                       (partner->kind == LE_REGION_FOR || partner->kind == LE_REGION_WHILE)
                   ? NULL
                   : "a break's loop";
    default:
        return NULL;
    }
}

static const char *return_problem(const struct step_check *l) {
    const struct le_region_step *s = l->step;
    enum le_type type = l->node->type;
    if (!value_of(l) || type == LE_NONE || value_of(l)->type != type)
        return "a return";
    bool fits = !s->second || (s->second > s->value && s->second < l->node->operand_count &&
                               l->node->operands[s->second]->type == type);
    return fits ? NULL : "a return's second number";
}

static const char *step_problem(const struct step_check *l) {
    switch (l->step->kind) {
    case LE_REGION_SET:
        return set_problem(l);
    case LE_REGION_STORE:
        return store_problem(l);
    case LE_REGION_FOR:
        return for_problem(l);
    case LE_REGION_WHILE:
    case LE_REGION_IF:
        return value_of(l) && value_of(l)->type == LE_BOOL ? NULL : "a condition that is not a bool";
    case LE_REGION_RETURN:
        return return_problem(l);
    case LE_REGION_FAIL:
        return l->node->type != LE_NONE && l->at + 1 == l->node->region->step_count ? NULL : "a fail before the end";
    default:
        return NULL;
    }
}

/* The change in the depth of blocks at a step. */
static int depth_change(enum le_region_kind kind) {
    return kind == LE_REGION_FOR || kind == LE_REGION_WHILE || kind == LE_REGION_IF ? 1
           : kind == LE_REGION_END                                                  ? -1
                                                                                    : 0;
}

const char *le_region_problem(const struct verify *v, const struct le_node *n) {
    struct step_check l = {.v = v, .node = n};
    int depth = 0;
    bool returns = false;
    if ((n->type == LE_NONE) != (v->stage->kind == LE_STAGE_EACH && n == v->stage->node))
        return "a region's type";
    if (n->type >= LE_TYPES || n->type != (n->type ? le_type_compute(n->type) : LE_NONE))
        return "a region's type";
    for (l.at = 0; l.at < n->region->step_count; l.at++) {
        l.step = &n->region->steps[l.at];
        const char *problem = step_problem(&l);
        if (!problem)
            problem = partner_problem(&l);
        if (problem)
            return problem;
        depth += depth_change(l.step->kind);
        returns |= l.step->kind == LE_REGION_RETURN || l.step->kind == LE_REGION_FAIL;
        if (depth < 0)
            return "an end's partner";
    }
    return depth != 0                       ? "a block without an end"
           : n->type != LE_NONE && !returns ? "a region that returns nothing"
                                            : NULL;
}
