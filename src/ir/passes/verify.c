/* The verifier: checks the invariants of stages and nodes that later rooms rely on. It does not know ranges; the range
 * rules check whether an access is in range. Blocks must nest, and every value must be set on every path to its reads.
 * Dead stages are skipped, and their values must not be read. */
#include "ir/passes/contract.h"
#include "ir/passes/verify.h"

/* ---- values made by a stage */

static const char *definition_problem(const struct verify *v, int value) {
    const struct le_value *target = &v->ir->values.at[value];
    if (target->moved != (v->stage->kind == LE_STAGE_MOVE) || (!target->moved && target->stage != v->at))
        return "a target's stage";
    return target->moved || !v->defined[value] ? NULL : "a value that is defined twice";
}

static const char *target_problem(const struct verify *v) {
    const struct le_stage *s = v->stage;
    const struct le_value *target = &v->ir->values.at[s->target];
    if (s->kind == LE_STAGE_FILL && (s->left_count || s->index_count || s->base >= 0))
        return "a fill with indices or a base";
    if (s->kind != LE_STAGE_FILL && s->kind != LE_STAGE_EACH && s->left_count != target->rank)
        return "the left side's rank";
    for (int k = 0; k < s->index_count; k++)
        if (is_among(s->indices, k, s->indices[k]))
            return "a duplicate index";
    return definition_problem(v, s->target);
}

static const char *base_problem(const struct verify *v) {
    const struct le_stage *s = v->stage;
    const struct le_value *target = &v->ir->values.at[s->target];
    if (s->base < 0)
        return NULL;
    const struct le_value *base = &v->ir->values.at[s->base];
    if (!v->defined[s->base])
        return "a base that is not defined yet";
    return base->type == target->type && base->rank == target->rank ? NULL : "a base's type or rank";
}

/* The pairs of an EACH or a MOVE. */
static const char *pairs_problem(const struct verify *v) {
    const struct le_stage *s = v->stage;
    bool has_pairs = s->kind == LE_STAGE_EACH || s->kind == LE_STAGE_MOVE;
    if (has_pairs != (s->pair_count > 0))
        return "the number of pairs";
    for (int k = 0; k < s->pair_count; k++) {
        const struct le_value *target = &v->ir->values.at[s->pairs[k].target];
        if (s->pairs[k].source < 0 || !v->defined[s->pairs[k].source])
            return "a pair's source that is not defined yet";
        const struct le_value *source = &v->ir->values.at[s->pairs[k].source];
        if (source->type != target->type || source->rank != target->rank)
            return "a pair's types or ranks";
        if (v->paired[s->pairs[k].target] == v->at)
            return "a value that is defined twice";
        v->paired[s->pairs[k].target] = v->at;
        const char *problem = definition_problem(v, s->pairs[k].target);
        if (problem)
            return problem;
    }
    return NULL;
}

/* Fused reductions run in their leader's loops. */
static const char *fused_problem(const struct verify *v) {
    const struct le_stage *s = v->stage;
    if (s->leader < 0)
        return NULL;
    const struct le_stage *leader = &v->ir->stages.at[s->leader];
    if (s->leader >= v->at || leader->dead || leader->leader >= 0 || leader->block != s->block)
        return "a fused reduction's leader";
    const struct le_node *own = le_node_total(v->ir, s->node), *first = le_node_total(v->ir, leader->node);
    if (!own || !first || s->index_count || leader->index_count)
        return "a fused reduction that does not reduce a whole array";
    return le_node_same_indices(own, first) ? NULL : "a fused reduction's indices";
}

static const char *order_problem(const struct verify *v) {
    int statements = v->ir->statements.count, before = v->at > 0 ? v->ir->stages.at[v->at - 1].statement : -1;
    return v->stage->statement < before || v->stage->statement >= statements ? "a stage's statement" : NULL;
}

static const char *stored_problem(const struct verify *v) {
    const struct le_stage *s = v->stage;
    if (s->kind == LE_STAGE_EACH)
        return s->node->kind == LE_NODE_REGION && s->node->type == LE_NONE ? NULL : "an each's node";
    return s->node->type == le_type_compute(v->ir->values.at[s->target].type) ? NULL : "the stored type";
}

static void verify_range(struct verify *v, int index) {
    const struct le_range_nodes *range = &v->ir->indices.at[index].range;
    struct le_node *bounds[] = {range->low, range->high, range->by};
    for (int q = 0; q < 3 && !v->problem; q++)
        if (bounds[q])
            le_verify_tree(v, bounds[q]);
}

static void verify_bounds(struct verify *v) {
    for (int k = 0; k < v->stage->index_count && !v->problem; k++)
        verify_range(v, v->stage->indices[k]);
}

static void verify_left(struct verify *v) {
    for (int k = 0; k < v->stage->left_count && !v->problem; k++) {
        if (v->stage->left[k]->type != LE_I64)
            v->problem = "a subscript that is not i64";
        else
            le_verify_tree(v, v->stage->left[k]);
    }
}

/* ---- blocks */

static void define_value(struct verify *v, int value) {
    if (v->defined[value])
        return;
    v->defined[value] = true;
    *LE_PUSH(v->ir->arena, &v->made) = value;
}

static void define_targets(struct verify *v) {
    for (int k = 0; k < v->stage->pair_count; k++)
        define_value(v, v->stage->pairs[k].target);
    if (v->stage->target >= 0 && v->stage->kind != LE_STAGE_FOR)
        define_value(v, v->stage->target);
}

static void undefine_values(struct verify *v, int down_to) {
    while (v->made.count > down_to)
        v->defined[v->made.at[--v->made.count]] = false;
}

static void open_block(struct verify *v) {
    struct open_stage *o = LE_PUSH(v->ir->arena, &v->open);
    *o = (struct open_stage){
        .kind = v->stage->kind, .block = ++v->blocks, .index = v->stage->index, .made = v->made.count};
    if (o->kind == LE_STAGE_FOR)
        define_value(v, v->stage->target);
}

static struct open_stage *innermost_block(struct verify *v) {
    return v->open.count ? &v->open.at[v->open.count - 1] : NULL;
}

/* A value is defined after the branches if both define it. A branch whose end is not reached does not count. */
static void join_branches(struct verify *v, const struct open_stage *o) {
    int count = v->made.count - o->made, *second = LE_NEW_ARRAY(v->ir->arena, count, int);
    for (int k = 0; k < count; k++)
        second[k] = v->made.at[o->made + k];
    bool reached = v->reached;
    undefine_values(v, o->made);
    for (int k = 0; k < count && reached && o->reached; k++)
        v->defined[second[k]] = true;
    for (int k = 0; k < o->then_count; k++) /* defined by both, or by the only one that counts */
        if (o->reached && (!reached || v->defined[o->then[k]]))
            *LE_PUSH(v->ir->arena, &v->made) = o->then[k];
    for (int k = 0; k < count; k++) {
        v->defined[second[k]] = false;
        if (reached && !o->reached)
            *LE_PUSH(v->ir->arena, &v->made) = second[k];
    }
    for (int k = o->made; k < v->made.count; k++)
        v->defined[v->made.at[k]] = true;
    v->reached = reached || o->reached;
}

static void enter_else(struct verify *v) {
    struct open_stage o = *innermost_block(v);
    o.kind = LE_STAGE_ELSE;
    o.block = ++v->blocks;
    o.reached = v->reached;
    o.then_count = v->made.count - o.made;
    o.then = LE_NEW_ARRAY(v->ir->arena, o.then_count, int);
    for (int k = 0; k < o.then_count; k++)
        o.then[k] = v->made.at[o.made + k];
    undefine_values(v, o.made);
    v->reached = true;
    *innermost_block(v) = o;
}

static void leave_block(struct verify *v) {
    struct open_stage o = *innermost_block(v);
    v->open.count--;
    if (o.kind == LE_STAGE_ELSE) {
        join_branches(v, &o);
        return;
    }
    undefine_values(v, o.made);
    v->reached = true;
}

static const char *position_problem(struct verify *v) {
    const struct open_stage *o = innermost_block(v);
    enum le_stage_kind kind = v->stage->kind;
    bool around = kind == LE_STAGE_ELSE || kind == LE_STAGE_END; /* they lie outside of the block that they end */
    int outer = v->open.count > 1 ? v->open.at[v->open.count - 2].block : 0;
    if (around && !o)
        return "an end without a block";
    if (kind == LE_STAGE_ELSE && o->kind != LE_STAGE_IF)
        return "an else without its if";
    if (kind == LE_STAGE_END && o->kind == LE_STAGE_IF)
        return "an if without an else";
    if (v->stage->block != (around ? outer : o ? o->block : 0))
        return "a stage's block";
    if (kind == LE_STAGE_TEST && (!o || o->kind != LE_STAGE_LOOP))
        return "a test outside of a loop's own block";
    if (!v->reached && !around && !v->stage->dead)
        return "a stage after a break";
    bool in_loop = false;
    for (int k = 0; k < v->open.count; k++)
        in_loop |= v->open.at[k].kind == LE_STAGE_FOR || v->open.at[k].kind == LE_STAGE_LOOP;
    return kind != LE_STAGE_BREAK || in_loop ? NULL : "a break outside of all loops";
}

static const char *for_problem(const struct verify *v) {
    const struct le_ir_index *ix = &v->ir->indices.at[v->stage->index];
    const struct le_value *value = &v->ir->values.at[v->stage->target];
    if (!ix->host || ix->host_value != v->stage->target || !ix->range.low || !ix->range.high)
        return "a host loop's index";
    return value->type == LE_I64 && value->rank == 0 ? NULL : "a host loop's value";
}

static void verify_control(struct verify *v) {
    const struct le_stage *s = v->stage;
    if (s->kind == LE_STAGE_MOVE)
        v->problem = pairs_problem(v);
    if (s->kind == LE_STAGE_FOR) {
        v->problem = for_problem(v);
        verify_range(v, s->index);
    }
    if (!v->problem && (s->kind == LE_STAGE_TEST || s->kind == LE_STAGE_IF)) {
        le_verify_tree(v, s->node);
        if (!v->problem && s->node->type != LE_BOOL)
            v->problem = "a condition that is not a bool";
    }
}

static const char *product_problem(const struct verify *v) {
    const struct le_stage *s = v->stage;
    struct le_contraction parsed;
    if (s->kind != LE_STAGE_CONTRACT)
        return s->product ? "a product in a stage that is not a contraction" : NULL;
    return s->product && s->product->type == s->node->type && le_contraction_of(s->product, &parsed)
               ? NULL
               : "a contraction's product";
}

static void verify_elements(struct verify *v) {
    static const char *(*const checks[])(const struct verify *) = {target_problem, base_problem, pairs_problem,
                                                                   fused_problem};
    for (size_t c = 0; c < ARRAY_LEN(checks) && !v->problem; c++)
        v->problem = checks[c](v);
    if (!v->problem)
        le_verify_tree(v, v->stage->node);
    if (!v->problem)
        v->problem = stored_problem(v);
    if (!v->problem)
        v->problem = product_problem(v);
    if (!v->problem && v->stage->product)
        le_verify_tree(v, v->stage->product);
    verify_left(v);
    verify_bounds(v);
}

static void enter_and_leave(struct verify *v) {
    switch (v->stage->kind) {
    case LE_STAGE_FOR:
    case LE_STAGE_LOOP:
    case LE_STAGE_IF:
        open_block(v);
        return;
    case LE_STAGE_ELSE:
        enter_else(v);
        return;
    case LE_STAGE_END:
        leave_block(v);
        return;
    case LE_STAGE_BREAK:
        v->reached = v->stage->dead;
        return;
    default:
        if (!v->stage->dead)
            define_targets(v);
    }
}

static void verify_stage(struct verify *v) {
    v->problem = order_problem(v);
    if (!v->problem)
        v->problem = position_problem(v);
    if (!v->problem && !v->stage->dead) {
        if (v->stage->kind >= LE_STAGE_MOVE)
            verify_control(v);
        else
            verify_elements(v);
    }
    if (!v->problem)
        enter_and_leave(v);
}

leat_status le_ir_verify(const struct le_ir *ir) {
    struct verify v = {.ir = ir, .reached = true};
    v.defined = LE_NEW_ARRAY(ir->arena, ir->values.count, bool);
    v.paired = LE_NEW_ARRAY(ir->arena, ir->values.count, int);
    for (int k = 0; k < ir->values.count; k++) {
        v.defined[k] = ir->values.at[k].stage < 0;
        v.paired[k] = -1;
    }
    for (int k = 0; k < ir->stages.count; k++) {
        v.stage = &ir->stages.at[k];
        v.at = k;
        verify_stage(&v);
        if (v.problem)
            return le_fail(LEAT_INTERNAL, "stage %d (%s) is invalid: %s", k, v.stage->name, v.problem);
    }
    return v.open.count ? le_fail(LEAT_INTERNAL, "a block has no end") : LEAT_OK;
}
