/* Linear combinations: expands nodes into sums of products, and recognises the products that a CONTRACT stage computes.
 */
#include "ir/passes/contract.h"

static bool add_factor(struct le_term *term, struct le_node *node) {
    if (node->kind == LE_NODE_OP && node->code == LE_OP_MUL)
        return add_factor(term, node->operands[0]) && add_factor(term, node->operands[1]);
    if (node->kind == LE_NODE_OP && node->code == LE_OP_NEG) {
        term->negative = !term->negative;
        return add_factor(term, node->operands[0]);
    }
    if (term->count == LE_FACTORS_MAX)
        return false;
    term->factors[term->count++] = node;
    return true;
}

static bool add_product(struct le_terms *terms, bool negative, struct le_node *const *factors, int count) {
    if (terms->count == LE_TERMS_MAX)
        return false;
    struct le_term *term = &terms->at[terms->count++];
    *term = (struct le_term){.negative = negative};
    for (int k = 0; k < count; k++)
        if (!add_factor(term, factors[k]))
            return false;
    return true;
}

static bool add_terms(struct le_terms *terms, bool negative, struct le_node *node) {
    struct le_node **x = node->operands;
    switch (node->kind == LE_NODE_OP ? node->code : LE_OPS) {
    case LE_OP_ADD:
    case LE_OP_SUB:
        return add_terms(terms, negative, x[0]) && add_terms(terms, negative != (node->code == LE_OP_SUB), x[1]);
    case LE_OP_NEG:
        return add_terms(terms, !negative, x[0]);
    case LE_CODE_MULADD:
    case LE_CODE_MULSUB:
    case LE_CODE_NMULADD:
        return add_product(terms, negative != (node->code == LE_CODE_NMULADD), x, 2) &&
               add_terms(terms, negative != (node->code == LE_CODE_MULSUB), x[2]);
    default:
        return add_product(terms, negative, &node, 1);
    }
}

bool le_terms_of(struct le_node *node, struct le_terms *out) {
    out->count = 0;
    return add_terms(out, false, node);
}

/* ---- products of a CONTRACT stage */

static bool is_number(const struct le_node *node) {
    return node->kind == LE_NODE_CONST || (node->kind == LE_NODE_LOAD && node->operand_count == 0);
}

static bool add_sum(struct le_contraction *c, struct le_node *sum, struct le_node *scale, bool negative) {
    struct le_node *body = sum->operands[0];
    if (body->kind == LE_NODE_CAST)
        body = body->operands[0];
    if (sum->code != LE_RED_SUM || body->kind != LE_NODE_OP || body->code != LE_OP_MUL ||
        c->product_count == LE_TERMS_MAX)
        return false;
    for (int k = 0; k < 2; k++)
        if (body->operands[k]->kind != LE_NODE_LOAD || body->operands[k]->operand_count == 0)
            return false;
    c->factor_type = body->type;
    c->products[c->product_count].sum = sum;
    c->products[c->product_count].left = body->operands[0];
    c->products[c->product_count].right = body->operands[1];
    c->products[c->product_count].scale = scale;
    c->products[c->product_count++].negative = negative;
    return true;
}

static bool add_term(struct le_contraction *c, const struct le_term *term) {
    struct le_node *main = term->factors[term->count - 1], *scale = term->count == 2 ? term->factors[0] : NULL;
    if (term->count > 2 || (scale && !is_number(scale)))
        return false;
    if (main->kind == LE_NODE_REDUCE)
        return add_sum(c, main, scale, term->negative);
    if (main->kind != LE_NODE_LOAD || main->operand_count == 0 || c->kept)
        return false;
    c->kept = main;
    c->kept_scale = scale;
    c->kept_negative = term->negative;
    return true;
}

bool le_contraction_of(struct le_node *product, struct le_contraction *out) {
    struct le_terms terms;
    *out = (struct le_contraction){.product_count = 0};
    if (!le_terms_of(product, &terms))
        return false;
    for (int k = 0; k < terms.count; k++)
        if (!add_term(out, &terms.at[k]))
            return false;
    return out->product_count > 0;
}
