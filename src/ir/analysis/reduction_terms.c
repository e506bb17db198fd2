/* See analysis.h: the totals of reductions without terms, and reductions of few terms as expressions. */
#include "ir/analysis/analysis.h"
#include <assert.h>
#include <string.h>

/* The bits of an integer type's least or greatest value, or of a bool's. */
static uint64_t integer_end(enum le_type type, bool greatest) {
    int bits = le_type_bits(type);
    if (type == LE_BOOL)
        return greatest;
    if (le_type_is_unsigned(type))
        return greatest ? UINT64_MAX >> (64 - bits) : 0;
    uint64_t most = UINT64_MAX >> (65 - bits);
    return greatest ? most : ~most;
}

uint64_t le_empty_total_bits(enum le_reduction code, enum le_type type) {
    bool one = code == LE_RED_PROD || code == LE_RED_ALL, low = code == LE_RED_MIN, end = low || code == LE_RED_MAX;
    double real = !end ? one : low ? __builtin_inf() : -__builtin_inf();
    float single = (float)real;
    uint64_t bits = 0;
    if (code == LE_RED_ARGMIN || code == LE_RED_ARGMAX)
        return UINT64_MAX;
    if (type == LE_F32)
        memcpy(&bits, &single, sizeof single);
    else if (type == LE_F64)
        memcpy(&bits, &real, sizeof real);
    else
        bits = end ? integer_end(type, low) : one;
    return bits;
}

/* ---- terms written out */

bool le_is_short(const struct le_safety *safety, const struct le_node *node, int64_t terms_most, int64_t cost_most) {
    const struct le_node *term = node->kind == LE_NODE_REDUCE ? node->operands[0] : NULL;
    if (!term || !le_node_is_ordered(node) || term->reduces || term->changes || !le_node_is_safe(safety, node) ||
        !le_ranges_are_fixed(safety->space, node->indices, node->index_count))
        return false;
    int64_t terms = le_points(safety->space, node->indices, node->index_count);
    if (le_node_is_chain(node) && terms_most > LE_CHAIN_TERMS)
        terms_most = LE_CHAIN_TERMS;
    return terms >= 1 && terms <= terms_most && terms * (term->cost + 1) <= cost_most;
}

/* Term number at: the last index runs fastest. */
static struct le_node *term_at(struct le_ir *ir, const struct le_space *space, const struct le_node *node, int64_t at) {
    struct le_node **to = LE_NEW_ARRAY(ir->arena, node->index_count, struct le_node *);
    for (int k = node->index_count - 1; k >= 0; k--) {
        const struct le_range *r = le_range_of(space, node->indices[k]);
        int64_t turns = le_range_count(r);
        to[k] = le_node_i64(ir, r->low + at % turns * r->by);
        at /= turns;
    }
    return le_node_substitute(ir, node->operands[0], node->indices, to, node->index_count);
}

/* A chain of at most one chunk: its terms in order. */
static struct le_node *chain(struct le_ir *ir, const struct le_space *space, const struct le_node *node,
                             int64_t count) {
    struct le_node *total = term_at(ir, space, node, 0);
    for (int64_t at = 1; at < count; at++) {
        struct le_node *term = term_at(ir, space, node, at);
        bool fused = node->code == LE_RED_CHAIN_OF_PRODUCTS && term->kind == LE_NODE_OP && term->code == LE_OP_MUL;
        struct le_node *x[] = {fused ? term->operands[0] : total, fused ? term->operands[1] : term, total};
        total = le_node_op(ir, fused ? LE_CODE_MULADD : LE_OP_ADD, node->type, x, fused ? 3 : 2);
    }
    return total;
}

static struct le_node *tree(struct le_ir *ir, const struct le_space *space, const struct le_node *node, int64_t first,
                            int64_t count) {
    if (count == 1)
        return term_at(ir, space, node, first);
    int64_t half = 1;
    while (2 * half < count)
        half *= 2;
    struct le_node *x[] = {tree(ir, space, node, first, half), tree(ir, space, node, first + half, count - half)};
    return le_node_op(ir, le_node_is_sum(node) ? LE_OP_ADD : LE_OP_MUL, node->type, x, 2);
}

struct le_node *le_written_out(struct le_ir *ir, const struct le_space *space, const struct le_node *reduction) {
    int64_t count = le_points(space, reduction->indices, reduction->index_count);
    assert(!le_node_is_chain(reduction) || count <= LE_CHAIN_TERMS);
    return le_node_is_chain(reduction) ? chain(ir, space, reduction, count) : tree(ir, space, reduction, 0, count);
}
