/* Integer literals with a sign, and their ranges. */
#include "lang/literal.h"

static const struct le_tree_node *without_sign(const struct le_tree_node *node, int *sign) {
    bool has_sign = node->kind == LE_TREE_OP && (node->op == LE_OP_NEG || node->op == LE_OP_NOT);
    *sign = has_sign ? node->op : LE_OPS;
    return has_sign ? node->children[0] : node;
}

bool le_literal_of(const struct le_tree_node *node, struct le_literal *literal) {
    int sign;
    const struct le_tree_node *number = without_sign(node, &sign);
    if (number->kind != LE_TREE_CONST || number->type != LE_WEAK_INT)
        return false;
    *literal = le_literal_signed((struct le_literal){.size = (uint64_t)number->integer}, sign);
    return true;
}

bool le_literal_fits(const struct le_literal *literal, enum le_type type) {
    type = le_type_strong(type);
    uint64_t half = (uint64_t)1 << (le_type_bits(type) - 1);
    if (literal->negative)
        return le_type_is_unsigned(type) ? literal->size == 0 : literal->size <= half;
    return literal->size <= (le_type_is_unsigned(type) ? half - 1 + half : half - 1);
}

const struct le_symbol *le_signed_scalar(const struct le_tree_node *node, int *sign) {
    const struct le_tree_node *scalar = without_sign(node, sign);
    return scalar->kind == LE_TREE_SCALAR ? scalar->symbol : NULL;
}

/* ~x is -x - 1. */
struct le_literal le_literal_signed(struct le_literal literal, int sign) {
    if (sign != LE_OP_NEG && sign != LE_OP_NOT)
        return literal;
    literal.negative = !literal.negative;
    if (sign == LE_OP_NOT && literal.negative && literal.size < UINT64_MAX)
        literal.size++;
    else if (sign == LE_OP_NOT && !literal.negative)
        literal.size--;
    return literal;
}

struct le_literal le_literal_of_i64(int64_t value) {
    return (struct le_literal){value < 0, value < 0 ? 0 - (uint64_t)value : (uint64_t)value};
}
