/* The verifier: what every stage and node has to be, so that later floors need not ask. It knows no ranges: whether an
 * access falls outside is theirs. Dead stages are left alone, and nobody may read what they made. */
#include "ir/ir.h"

struct verify {
    const struct le_ir *ir;
    const struct le_stage *stage;
    int at;
    const char *problem;
};

static bool is_among(const int *set, int count, int index) {
    for (int k = 0; k < count; k++)
        if (set[k] == index)
            return true;
    return false;
}

/* ---- nodes: NULL, or what is wrong */

static const char *load_problem(const struct verify *v, const struct le_node *n) {
    const struct le_value *value = &v->ir->values.at[n->value];
    if (value->rank != n->operand_count)
        return "a load's rank";
    if (value->stage >= v->at)
        return "a load of a value that is made later";
    if (value->stage >= 0 && v->ir->stages.at[value->stage].dead)
        return "a load of a value that a dead stage made";
    if (n->type != le_type_compute(value->type))
        return "a load's type";
    if ((n->edge == LE_EDGE_FILL) != (n->fill != NULL) || (n->fill && n->fill->type != n->type))
        return "a load's fill";
    for (int k = 0; k < n->operand_count; k++) {
        if (n->operands[k]->type != LE_I64)
            return "a subscript that is not i64";
        if (n->trusted && n->operands[k]->kind != LE_NODE_INDEX)
            return "a trusted load with a subscript that is no index";
    }
    return NULL;
}

static bool rule_fits(enum le_rule rule, enum le_type operand, enum le_type type) {
    switch (rule) {
    case LE_RULE_COMPARE:
    case LE_RULE_CLASSIFY:
        return type == LE_BOOL;
    case LE_RULE_LOGIC:
        return type == LE_BOOL && operand == LE_BOOL;
    case LE_RULE_TRUEDIV:
    case LE_RULE_FLOAT:
        return type == operand && le_type_is_float(type);
    case LE_RULE_BITS:
    case LE_RULE_SHIFT:
    case LE_RULE_INTEGER:
        return type == operand && !le_type_is_float(type);
    default:
        return type == operand;
    }
}

static const char *op_problem(const struct le_node *n) {
    bool in_table = n->code < LE_OPS;
    int arity = in_table ? le_op_info((enum le_op)n->code)->arity : 3;
    if (n->operand_count != arity)
        return "the number of an operation's operands";
    for (int k = 1; k < arity; k++)
        if (n->operands[k]->type != n->operands[0]->type)
            return "an operation whose operands differ in type";
    enum le_rule rule = in_table ? le_op_info((enum le_op)n->code)->rule : LE_RULE_FLOAT;
    return rule_fits(rule, n->operands[0]->type, n->type) ? NULL : "an operation's type";
}

static const char *reduce_problem(const struct verify *v, const struct le_node *n) {
    bool arg = n->code == LE_RED_ARGMIN || n->code == LE_RED_ARGMAX;
    if (n->operand_count != 1 || n->index_count < 1 || n->code == LE_RED_MEAN || (arg && n->index_count != 1))
        return "a reduction's operand or indices";
    if (n->type != (arg ? LE_I64 : n->operands[0]->type))
        return "a reduction's type";
    if ((n->code == LE_RED_ANY || n->code == LE_RED_ALL) && n->type != LE_BOOL)
        return "a reduction's type";
    for (int k = 0; k < n->index_count; k++)
        if (is_among(v->stage->indices, v->stage->index_count, n->indices[k]) || is_among(n->indices, k, n->indices[k]))
            return "an index that runs twice";
    return NULL;
}

static const char *rand_problem(const struct le_node *n) {
    for (int k = 0; k < n->operand_count; k++)
        if (n->operands[k]->type != LE_I64 && n->operands[k]->type != LE_U64)
            return "a random number's operands";
    return n->operand_count > 0 && n->type == LE_F64 ? NULL : "a random number's operands";
}

static const char *choice_problem(const struct le_node *n) {
    int first = n->kind == LE_NODE_SELECT;
    if (n->operand_count != first + 2 || (first && n->operands[0]->type != LE_BOOL) ||
        n->operands[first]->type != n->type || n->operands[first + 1]->type != n->type)
        return first ? "a select's operands" : "an else's operands";
    return NULL;
}

static const char *leaf_problem(const struct le_node *n) {
    bool is_i64 = n->type == LE_I64 || n->kind == LE_NODE_CONST;
    return n->operand_count == 0 && is_i64 ? NULL : "a node's operands or type";
}

static const char *node_problem(const struct verify *v, const struct le_node *n) {
    if (n->type < LE_BOOL || n->type >= LE_TYPES || n->type != le_type_compute(n->type))
        return "a node's type";
    switch (n->kind) {
    case LE_NODE_CONST:
    case LE_NODE_INDEX:
    case LE_NODE_LEN:
    case LE_NODE_COUNT:
        return leaf_problem(n);
    case LE_NODE_LOAD:
        return load_problem(v, n);
    case LE_NODE_OP:
        return op_problem(n);
    case LE_NODE_CAST:
        return n->operand_count == 1 ? NULL : "a cast's operand";
    case LE_NODE_ROUND:
        return n->operand_count == 1 && n->operands[0]->type == LE_F32 && n->type == LE_F32 &&
                       (n->rounded == LE_F16 || n->rounded == LE_BF16)
                   ? NULL
                   : "a rounding's operand or type";
    case LE_NODE_SELECT:
    case LE_NODE_ELSE:
        return choice_problem(n);
    case LE_NODE_RAND:
        return rand_problem(n);
    case LE_NODE_REDUCE:
        return reduce_problem(v, n);
    }
    return "a node's kind";
}

static void verify_node(struct le_node *n, void *user) {
    struct verify *v = user;
    if (!v->problem)
        v->problem = node_problem(v, n);
}

/* A node of the stage: all below it is sound, and it depends on nothing but the stage's indices. */
static void verify_tree(struct verify *v, struct le_node *root) {
    struct le_ir *writable = (struct le_ir *)(uintptr_t)v->ir; /* the walk marks nodes */
    for (int k = 0; k < root->free_count && !v->problem; k++)
        if (!is_among(v->stage->indices, v->stage->index_count, root->free[k]))
            v->problem = "an index that the stage does not run over";
    if (!v->problem)
        le_node_walk(writable, root, verify_node, v);
}

/* ---- stages */

static const char *target_problem(const struct verify *v) {
    const struct le_stage *s = v->stage;
    const struct le_value *target = &v->ir->values.at[s->target];
    if (target->stage != v->at)
        return "a target's stage";
    if (s->kind == LE_STAGE_FILL && (s->left_count || s->index_count || s->base >= 0))
        return "a fill with indices or a base";
    if (s->kind != LE_STAGE_FILL && s->left_count != target->rank)
        return "the left side's rank";
    for (int k = 0; k < s->index_count; k++)
        if (is_among(s->indices, k, s->indices[k]))
            return "an index that runs twice";
    return NULL;
}

static void verify_stored(struct verify *v) {
    if (!v->problem && v->stage->node->type != le_type_compute(v->ir->values.at[v->stage->target].type))
        v->problem = "the type that is stored";
}

static const char *base_problem(const struct verify *v) {
    const struct le_stage *s = v->stage;
    const struct le_value *target = &v->ir->values.at[s->target];
    if (s->base < 0)
        return NULL;
    const struct le_value *base = &v->ir->values.at[s->base];
    if (base->stage >= v->at || (base->stage >= 0 && v->ir->stages.at[base->stage].dead))
        return "a base that is not there yet";
    return base->type == target->type && base->rank == target->rank ? NULL : "a base's type or rank";
}

/* Siblings run in their leader's loops. */
static const char *sibling_problem(const struct verify *v) {
    const struct le_stage *s = v->stage;
    if (s->leader < 0)
        return NULL;
    const struct le_stage *leader = &v->ir->stages.at[s->leader];
    if (s->leader >= v->at || leader->dead || leader->leader >= 0)
        return "a sibling's leader";
    if (s->node->kind != LE_NODE_REDUCE || leader->node->kind != LE_NODE_REDUCE || s->index_count ||
        leader->index_count)
        return "a sibling that is no reduction of a whole array";
    bool same = s->node->index_count == leader->node->index_count;
    for (int k = 0; same && k < s->node->index_count; k++)
        same = s->node->indices[k] == leader->node->indices[k];
    return same ? NULL : "a sibling's indices";
}

static const char *order_problem(const struct verify *v) {
    int statements = v->ir->statements.count, before = v->at > 0 ? v->ir->stages.at[v->at - 1].statement : -1;
    return v->stage->statement < before || v->stage->statement >= statements ? "a stage's statement" : NULL;
}

static void verify_bounds(struct verify *v) {
    for (int k = 0; k < v->stage->index_count && !v->problem; k++) {
        const struct le_range_nodes *range = &v->ir->indices.at[v->stage->indices[k]].range;
        struct le_node *bounds[] = {range->low, range->high, range->by};
        for (int q = 0; q < 3 && !v->problem; q++)
            if (bounds[q])
                verify_tree(v, bounds[q]);
    }
}

static void verify_left(struct verify *v) {
    for (int k = 0; k < v->stage->left_count && !v->problem; k++) {
        if (v->stage->left[k]->type != LE_I64)
            v->problem = "a subscript that is not i64";
        else
            verify_tree(v, v->stage->left[k]);
    }
}

leat_status le_ir_verify(const struct le_ir *ir) {
    static const char *(*const checks[])(const struct verify *) = {order_problem, target_problem, base_problem,
                                                                   sibling_problem};
    for (int k = 0; k < ir->stages.count; k++) {
        struct verify v = {.ir = ir, .stage = &ir->stages.at[k], .at = k};
        if (v.stage->dead)
            continue;
        for (size_t c = 0; c < ARRAY_LEN(checks) && !v.problem; c++)
            v.problem = checks[c](&v);
        if (!v.problem)
            verify_tree(&v, v.stage->node);
        verify_stored(&v);
        verify_left(&v);
        verify_bounds(&v);
        if (v.problem)
            return le_fail(LEAT_INTERNAL, "stage %d (%s): %s is wrong", k, v.stage->name, v.problem);
    }
    return LEAT_OK;
}
