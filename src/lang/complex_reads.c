/* Which reads each part of a complex number performs. This looks at the program before it is split, where every node
 * has one parent. Only reads that may be out of range count, because an `else` applies if any read of the statement, in
 * either part, is out of range. "Yes" is certain; "no" is conservative. */
#include "lang/complex_split.h"

/* A bare index without an explicit range ranges over the axis. */
static bool may_fall_outside(const struct le_tree_node *node, const void *user) {
    (void)user;
    bool outside = false;
    for (int k = 0; node->kind == LE_TREE_READ && node->edge == LE_EDGE_NONE && k < node->child_count; k++)
        outside |= node->children[k]->kind != LE_TREE_INDEX || node->children[k]->index->has_range;
    return outside;
}

static bool may_read_outside(const struct le_tree_node *node) {
    return le_tree_any(node, may_fall_outside, NULL);
}

static bool all_have_reads(const struct le_tree_node *node, int first, bool imaginary) {
    for (int k = first; k < node->child_count; k++)
        if (!le_complex_has_all_reads(node->children[k], imaginary))
            return false;
    return true;
}

/* A power with a nonzero literal exponent evaluates its whole base. */
static bool power_may_skip(const struct le_tree_node *node) {
    const struct le_tree_node *exponent = node->children[1];
    bool counts = exponent->kind == LE_TREE_OP && exponent->op == LE_OP_NEG;
    exponent = counts ? exponent->children[0] : exponent;
    counts = exponent->kind == LE_TREE_CONST && (exponent->integer != 0 || exponent->real != 0);
    return !counts && may_read_outside(node);
}

/* These operations select between values that use one part only, or skip an operand where another one is zero. */
bool le_complex_may_skip_reads(const struct le_tree_node *node) {
    const struct le_tree_node *first = node->children[0];
    if (node->op == LE_OP_POW && power_may_skip(node))
        return true;
    switch ((enum le_op)node->op) {
    case LE_OP_POW:
    case LE_OP_DIV:
    case LE_OP_EXP:
    case LE_OP_SQRT:
        return !le_complex_has_all_reads(first, false) || !le_complex_has_all_reads(first, true);
    default:
        return false;
    }
}

static bool operation_has_reads(const struct le_tree_node *node, bool imaginary) {
    bool by_parts = node->op == LE_OP_ADD || node->op == LE_OP_SUB || node->op == LE_OP_NEG;
    return !by_parts || all_have_reads(node, 0, imaginary);
}

static bool complex_has_reads(const struct le_tree_node *node, bool imaginary) {
    switch (node->kind) {
    case LE_TREE_OP:
        return operation_has_reads(node, imaginary);
    case LE_TREE_SELECT:
        return all_have_reads(node, 1, imaginary);
    case LE_TREE_CAST:
        return node->child_count == 2 ? !may_read_outside(node->children[!imaginary])
                                      : all_have_reads(node, 0, imaginary);
    case LE_TREE_PART:
        return all_have_reads(node, 0, imaginary);
    case LE_TREE_REDUCE:
        return node->op == LE_RED_PROD || all_have_reads(node, 0, imaginary);
    case LE_TREE_CALL:
        return !may_read_outside(node);
    default:
        return true;
    }
}

bool le_complex_has_all_reads(const struct le_tree_node *node, bool imaginary) {
    if (le_type_is_complex(node->type))
        return complex_has_reads(node, imaginary);
    return !imaginary || !may_read_outside(node);
}
