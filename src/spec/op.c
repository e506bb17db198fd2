/* The tables of operations, reductions and edge modes, by number and by name. Pure functions. */
#include "spec/op.h"
#include <string.h>

static const struct le_op_properties infos[] = {
#define LE_OP(id, op_name, op_arity, op_rule, op_cost, op_usage, op_summary, ...)                                      \
    [LE_OP_##id] = {.name = op_name,                                                                                   \
                    .arity = op_arity,                                                                                 \
                    .rule = LE_RULE_##op_rule,                                                                         \
                    .cost = op_cost,                                                                                   \
                    .words = {op_name, op_usage, op_summary},                                                          \
                    .cuda = {__VA_ARGS__}},
#include "spec/op.def"
#undef LE_OP
};
static const struct le_words specials[LE_SPECIALS] = {
    [LE_SPECIAL_LEN] = {"len", "len(x, axis)", "extent of an axis of array x; axis -1 is the last"},
    [LE_SPECIAL_RAND] = {"rand", "rand(seed, i)", "random number in [0, 1); depends on the arguments only"},
    [LE_SPECIAL_RANDN] = {"randn", "randn(seed, i)",
                          "normally distributed random number; depends on the arguments only"},
    [LE_SPECIAL_RE] = {"re", "re(z)", "real part"},
    [LE_SPECIAL_IM] = {"im", "im(z)", "imaginary part"},
    [LE_SPECIAL_CONJ] = {"conj", "conj(z)", "complex conjugate"},
};
static const struct le_words reductions[LE_REDUCTIONS] = {
    [LE_RED_SUM] = {"sum", "sum(i: x[i])", "sum; 0 over nothing"},
    [LE_RED_PROD] = {"prod", "prod(i: x[i])", "product; 1 over nothing"},
    [LE_RED_MIN] = {"min", "min(i: x[i])", "minimum; NaN if a value is NaN"},
    [LE_RED_MAX] = {"max", "max(i: x[i])", "maximum; NaN if a value is NaN"},
    [LE_RED_ANY] = {"any", "any(i: x[i])", "whether any is true"},
    [LE_RED_ALL] = {"all", "all(i: x[i])", "whether all are true"},
    [LE_RED_MEAN] = {"mean", "mean(i: x[i])", "mean; NaN over nothing"},
    [LE_RED_ARGMIN] = {"argmin", "argmin(i: x[i])", "index of the first minimum; -1 over nothing"},
    [LE_RED_ARGMAX] = {"argmax", "argmax(i: x[i])", "index of the first maximum; -1 over nothing"},
    [LE_RED_CHAIN] = {"chain", "", ""},
    [LE_RED_CHAIN_OF_PRODUCTS] = {"chain_of_products", "", ""},
};
static const struct le_words edges[LE_EDGES] = {
    [LE_EDGE_NONE] = {"none", "edge x none", "reads outside x are errors (default)"},
    [LE_EDGE_CLAMP] = {"clamp", "edge x clamp", "reads outside x return the nearest element"},
    [LE_EDGE_WRAP] = {"wrap", "edge x wrap", "x repeats periodically"},
    [LE_EDGE_MIRROR] = {"mirror", "edge x mirror", "x is mirrored without repeating the border"},
    [LE_EDGE_SYMMETRIC] = {"symmetric", "edge x symmetric", "x is mirrored, repeating the border"},
    [LE_EDGE_FILL] = {"fill", "edge x fill(0)", "reads outside x return this value"},
};

static bool equal(const char *known, const char *name, size_t length) {
    return strlen(known) == length && memcmp(known, name, length) == 0;
}

const struct le_op_properties *le_op_info(enum le_op op) {
    return &infos[op];
}

/* Operators are not spelled as names, except negation, whose name is for printing only. */
bool le_op_is_function(enum le_op op) {
    return op != LE_OP_NEG && infos[op].name[0] >= 'a' && infos[op].name[0] <= 'z';
}

enum le_op le_op_function(const char *name, size_t length) {
    for (enum le_op op = 0; op < LE_OPS; op++)
        if (le_op_is_function(op) && equal(infos[op].name, name, length))
            return op;
    return LE_OPS;
}

const struct le_words *le_special_words(enum le_special special) {
    return &specials[special];
}

enum le_special le_special_parse(const char *name, size_t length) {
    enum le_special special = 0;
    while (special < LE_SPECIALS && !equal(specials[special].name, name, length))
        special++;
    return special;
}

const char *le_reduction_name(enum le_reduction reduction) {
    return reductions[reduction].name;
}

const struct le_words *le_reduction_words(enum le_reduction reduction) {
    return &reductions[reduction];
}

enum le_reduction le_reduction_parse(const char *name, size_t length) {
    enum le_reduction reduction = 0;
    while (reduction < LE_REDUCTIONS && !equal(reductions[reduction].name, name, length))
        reduction++;
    return reduction;
}

const char *le_edge_name(enum le_edge edge) {
    return edges[edge].name;
}

const struct le_words *le_edge_words(enum le_edge edge) {
    return &edges[edge];
}

enum le_edge le_edge_parse(const char *name, size_t length) {
    enum le_edge edge = 0;
    while (edge < LE_EDGES && !equal(edges[edge].name, name, length))
        edge++;
    return edge;
}
