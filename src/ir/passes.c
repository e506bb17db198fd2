/* The passes, in order, and the verifier that stands between them. */
#include "ir/ir.h"

const struct le_pass le_passes[] = {{"sweep", le_pass_sweep}, {"inline", le_pass_inline},     {"hoist", le_pass_hoist},
                                    {"sweep", le_pass_sweep}, {"siblings", le_pass_siblings}, {NULL, NULL}};

leat_status le_passes_run(struct le_ir *ir) {
    leat_status status = le_ir_verify(ir);
    for (const struct le_pass *pass = le_passes; pass->name && status == LEAT_OK; pass++) {
        pass->run(ir);
        status = le_ir_verify(ir);
        if (status != LEAT_OK)
            le_fail_prefix(status, "after pass %s", pass->name);
    }
    return status;
}

/* ---- sweep */

struct sweep {
    struct le_ir *ir;
    int reader;
    int *last_reader; /* by value: so that a stage counts once */
};

static void count_value(struct sweep *s, int value) {
    if (s->last_reader[value] == s->reader)
        return;
    s->last_reader[value] = s->reader;
    s->ir->values.at[value].uses++;
}

static void count_load(struct le_node *node, void *user) {
    if (node->kind == LE_NODE_LOAD)
        count_value(user, node->value);
}

static void count_index_bounds(struct sweep *s, const int *indices, int count) {
    for (int k = 0; k < count; k++) {
        struct le_range_nodes *r = &s->ir->indices.at[indices[k]].range;
        if (r->low)
            le_node_walk(s->ir, r->low, count_load, s);
        if (r->high)
            le_node_walk(s->ir, r->high, count_load, s);
    }
}

void le_pass_sweep(struct le_ir *ir) {
    struct sweep s = {.ir = ir, .last_reader = LE_NEW_ARRAY(ir->arena, ir->values.count, int)};
    for (int k = 0; k < ir->values.count; k++)
        ir->values.at[k].uses = 0;
    for (int k = 0; k < ir->values.count; k++)
        s.last_reader[k] = -1;
    for (int k = ir->stages.count - 1; k >= 0; k--) {
        struct le_stage *stage = &ir->stages.at[k];
        const struct le_value *target = &ir->values.at[stage->target];
        stage->dead = !target->wanted && target->uses == 0;
        if (stage->dead)
            continue;
        s.reader = k;
        if (stage->base >= 0)
            count_value(&s, stage->base);
        le_node_walk(ir, stage->node, count_load, &s);
        for (int d = 0; d < stage->left_count; d++)
            le_node_walk(ir, stage->left[d], count_load, &s);
        count_index_bounds(&s, stage->indices, stage->index_count);
    }
}

/* ---- verify */

struct verify {
    const struct le_ir *ir;
    const struct le_stage *stage;
    int at;
    const char *problem;
};

static int wanted_operands(const struct le_node *n) {
    switch (n->kind) {
    case LE_NODE_CONST:
    case LE_NODE_INDEX:
    case LE_NODE_LEN:
    case LE_NODE_COUNT:
        return 0;
    case LE_NODE_CAST:
    case LE_NODE_ROUND:
    case LE_NODE_REDUCE:
        return 1;
    case LE_NODE_SELECT:
        return 3;
    case LE_NODE_ELSE:
        return 2;
    case LE_NODE_OP:
        return n->code < LE_OPS ? le_op_info((enum le_op)n->code)->arity : 3;
    case LE_NODE_RAND:
    case LE_NODE_LOAD:
        return n->operand_count;
    }
    return -1;
}

static const char *operand_problem(const struct le_node *n) {
    struct le_node **x = n->operands;
    if (n->kind == LE_NODE_SELECT && (x[0]->type != LE_BOOL || x[1]->type != n->type || x[2]->type != n->type))
        return "a select's operands do not fit";
    if (n->kind == LE_NODE_ELSE && (x[0]->type != n->type || x[1]->type != n->type))
        return "an else's operands do not fit";
    if (n->kind == LE_NODE_OP && n->operand_count == 2 && x[0]->type != x[1]->type)
        return "an operation's operands differ";
    if (n->kind == LE_NODE_LOAD)
        for (int k = 0; k < n->operand_count; k++)
            if (x[k]->type != LE_I64)
                return "a subscript is not i64";
    return NULL;
}

static void verify_node(struct le_node *n, void *user) {
    struct verify *v = user;
    if (v->problem)
        return;
    if (n->type < LE_BOOL || n->type >= LE_TYPES || n->type == LE_F16 || n->type == LE_BF16)
        v->problem = "a node's type";
    else if (n->operand_count != wanted_operands(n))
        v->problem = "the number of a node's operands";
    else
        v->problem = operand_problem(n);
    if (v->problem || n->kind != LE_NODE_LOAD)
        return;
    const struct le_value *value = &v->ir->values.at[n->value];
    if (value->rank != n->operand_count)
        v->problem = "a load's rank";
    else if (value->stage >= v->at)
        v->problem = "a load of a value that is made later";
}

leat_status le_ir_verify(const struct le_ir *ir) {
    struct le_ir *writable = (struct le_ir *)(uintptr_t)ir; /* the walk marks nodes */
    for (int k = 0; k < ir->stages.count; k++) {
        const struct le_stage *stage = &ir->stages.at[k];
        if (stage->dead)
            continue;
        struct verify v = {.ir = ir, .stage = stage, .at = k};
        const struct le_value *target = &ir->values.at[stage->target];
        if (target->stage != k)
            v.problem = "a target's stage";
        else if (stage->kind != LE_STAGE_FILL && stage->left_count != target->rank)
            v.problem = "the left side's rank";
        else if (stage->node->type != le_type_compute(target->type))
            v.problem = "the type that is stored";
        for (int f = 0; f < stage->node->free_count && !v.problem; f++) {
            bool found = false;
            for (int q = 0; q < stage->index_count; q++)
                found |= stage->indices[q] == stage->node->free[f];
            if (!found)
                v.problem = "an index that the stage does not run over";
        }
        if (!v.problem)
            le_node_walk(writable, stage->node, verify_node, &v);
        if (v.problem)
            return le_fail(LEAT_INTERNAL, "stage %d (%s): %s is wrong", k, stage->name, v.problem);
    }
    return LEAT_OK;
}
