/* The tables of operations, reductions and edge modes, by number and by name. Pure functions. */
#include "spec/op.h"
#include <string.h>

static const struct le_op_info infos[] = {
#define LE_OP(id, op_name, op_arity, op_rule, op_cost)                                                                 \
    [LE_OP_##id] = {.name = op_name, .arity = op_arity, .rule = LE_RULE_##op_rule, .cost = op_cost},
#include "spec/op.def"
#undef LE_OP
};
static const char *const reductions[LE_REDUCTIONS] = {
    [LE_RED_SUM] = "sum",   [LE_RED_PROD] = "prod",     [LE_RED_MIN] = "min",
    [LE_RED_MAX] = "max",   [LE_RED_ANY] = "any",       [LE_RED_ALL] = "all",
    [LE_RED_MEAN] = "mean", [LE_RED_ARGMIN] = "argmin", [LE_RED_ARGMAX] = "argmax",
};
static const char *const edges[LE_EDGES] = {
    [LE_EDGE_NONE] = "none",     [LE_EDGE_CLAMP] = "clamp",         [LE_EDGE_WRAP] = "wrap",
    [LE_EDGE_MIRROR] = "mirror", [LE_EDGE_SYMMETRIC] = "symmetric", [LE_EDGE_FILL] = "fill",
};

static bool equal(const char *known, const char *name, size_t length) {
    return strlen(known) == length && memcmp(known, name, length) == 0;
}

const struct le_op_info *le_op_info(enum le_op op) {
    return &infos[op];
}

/* Operators' spellings are no names, and negation's name is for printing only. */
static bool is_callable(enum le_op op) {
    return op != LE_OP_NEG && infos[op].name[0] >= 'a' && infos[op].name[0] <= 'z';
}

enum le_op le_op_function(const char *name, size_t length) {
    for (enum le_op op = 0; op < LE_OPS; op++)
        if (is_callable(op) && equal(infos[op].name, name, length))
            return op;
    return LE_OPS;
}

const char *le_reduction_name(enum le_reduction reduction) {
    return reductions[reduction];
}

enum le_reduction le_reduction_parse(const char *name, size_t length) {
    enum le_reduction reduction = 0;
    while (reduction < LE_REDUCTIONS && !equal(reductions[reduction], name, length))
        reduction++;
    return reduction;
}

const char *le_edge_name(enum le_edge edge) {
    return edges[edge];
}

enum le_edge le_edge_parse(const char *name, size_t length) {
    enum le_edge edge = 0;
    while (edge < LE_EDGES && !equal(edges[edge], name, length))
        edge++;
    return edge;
}
