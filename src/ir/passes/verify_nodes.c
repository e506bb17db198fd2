/* The verifier's checks of nodes: operands, types, indices, and that loaded values are defined. Each check returns the
 * problem, or NULL. */
#include "ir/passes/verify.h"

static bool is_target(const struct le_stage *s, int value) {
    for (int k = 0; k < s->pair_count && s->kind == LE_STAGE_EACH; k++)
        if (s->pairs[k].target == value)
            return true;
    return false;
}

static const char *load_problem(const struct verify *v, const struct le_node *n) {
    const struct le_value *value = &v->ir->values.at[n->value];
    if (value->rank != n->operand_count)
        return "a load's rank";
    if (n->live && !is_target(v->stage, n->value))
        return "a live load of an array that the stage does not store";
    if (!n->live && !v->defined[n->value])
        return "a load of a value that is not defined on every path";
    if (n->type != le_type_compute(value->type))
        return "a load's type";
    if ((n->edge == LE_EDGE_FILL) != (n->fill != NULL) || (n->fill && n->fill->type != n->type))
        return "a load's fill";
    for (int k = 0; k < n->operand_count; k++) {
        if (n->operands[k]->type != LE_I64)
            return "a subscript that is not i64";
        if (n->trusted && n->operands[k]->kind != LE_NODE_INDEX && value->symbol >= 0)
            return "a trusted load with a subscript that is not an index";
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
    bool arg = le_node_is_arg(n);
    if (n->operand_count != 1 || n->index_count < 1 || n->code == LE_RED_MEAN || (arg && n->index_count != 1))
        return "a reduction's operand or indices";
    if (n->type != (arg ? LE_I64 : n->operands[0]->type))
        return "a reduction's type";
    if ((n->code == LE_RED_ANY || n->code == LE_RED_ALL) && n->type != LE_BOOL)
        return "a reduction's type";
    for (int k = 0; k < n->index_count; k++)
        if (is_among(v->stage->indices, v->stage->index_count, n->indices[k]) || is_among(n->indices, k, n->indices[k]))
            return "a duplicate index";
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

static const char *local_problem(const struct verify *v, const struct le_node *n) {
    if (n->local < 0 || n->local >= v->ir->locals.count)
        return "a variable's number";
    return n->type == le_type_compute(v->ir->locals.at[n->local].type) ? NULL : "a variable's type";
}

static const char *second_problem(const struct le_node *n) {
    const struct le_node *region = n->operand_count == 1 ? n->operands[0] : NULL;
    if (!region || region->kind != LE_NODE_REGION || region->type != n->type)
        return "a second number's region or type";
    return le_region_gives_two(region) ? NULL : "a region that returns one number";
}

static const char *round_problem(const struct le_node *n) {
    bool right = n->operand_count == 1 && n->type == LE_F32 && le_type_is_half(n->rounded) &&
                 le_round_takes(n->operands[0]->type, n->rounded);
    return right ? NULL : "a rounding's operand or type";
}

static const char *node_problem(const struct verify *v, const struct le_node *n) {
    if (n->kind == LE_NODE_REGION)
        return le_region_problem(v, n);
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
        return round_problem(n);
    case LE_NODE_SELECT:
    case LE_NODE_ELSE:
        return choice_problem(n);
    case LE_NODE_RAND:
        return rand_problem(n);
    case LE_NODE_REDUCE:
        return reduce_problem(v, n);
    case LE_NODE_LOCAL:
        return local_problem(v, n);
    case LE_NODE_SECOND:
        return second_problem(n);
    case LE_NODE_REGION:
        break;
    }
    return "a node's kind";
}

static void verify_node(struct le_node *n, void *user) {
    struct verify *v = user;
    if (!v->problem)
        v->problem = node_problem(v, n);
}

static bool is_open_index(const struct verify *v, int index) {
    for (int k = 0; k < v->open.count; k++)
        if (v->open.at[k].kind == LE_STAGE_FOR && v->open.at[k].index == index)
            return true;
    return false;
}

void le_verify_tree(struct verify *v, struct le_node *root) {
    for (int k = 0; k < root->free_count && !v->problem; k++)
        if (!is_among(v->stage->indices, v->stage->index_count, root->free[k]) && !is_open_index(v, root->free[k]))
            v->problem = "an index that the stage does not run over";
    if (!v->problem && root->changes && le_node_has_free_local(v->ir, root))
        v->problem = "a variable that nothing sets";
    if (!v->problem)
        le_node_walk(v->ir, root, verify_node, v);
}
