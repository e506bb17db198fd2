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

static bool has_few_terms(const struct le_safety *safety, const struct le_node *node, int64_t terms_most,
                          int64_t cost_most) {
    const struct le_node *term = node->operands[0];
    if (term->reduces || term->changes || !le_node_is_safe(safety, node) ||
        !le_ranges_are_fixed(safety->space, node->indices, node->index_count))
        return false;
    int64_t terms = le_points(safety->space, node->indices, node->index_count);
    if (le_node_is_chain(node) && terms_most > LE_CHAIN_TERMS * LE_CHAIN_CHUNKS)
        terms_most = LE_CHAIN_TERMS * LE_CHAIN_CHUNKS;
    return terms >= 1 && terms <= terms_most && terms * (term->cost + 1) <= cost_most;
}

bool le_is_short(const struct le_safety *safety, const struct le_node *node, int64_t terms_most, int64_t cost_most) {
    return node->kind == LE_NODE_REDUCE && le_node_is_ordered(node) &&
           has_few_terms(safety, node, terms_most, cost_most);
}

bool le_is_short_in_any_order(const struct le_safety *safety, const struct le_node *node, int64_t terms_most,
                              int64_t cost_most) {
    return node->kind == LE_NODE_REDUCE && !le_node_is_ordered(node) && !le_node_is_arg(node) &&
           has_few_terms(safety, node, terms_most, cost_most);
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

static struct le_node *added(struct le_ir *ir, const struct le_node *node, struct le_node *total,
                             struct le_node *term) {
    bool fused = le_chain_adds_products((enum le_reduction)node->code, term);
    struct le_node *x[] = {fused ? term->operands[0] : total, fused ? term->operands[1] : term, total};
    return total ? le_node_op(ir, fused ? LE_CODE_MULADD : LE_OP_ADD, node->type, x, fused ? 3 : 2) : term;
}

/* A chain of at most one unit. */
static struct le_node *chain(struct le_ir *ir, const struct le_space *space, const struct le_node *node,
                             int64_t count) {
    struct le_node *unit = NULL, *chunk = NULL;
    for (int64_t at = 0; at < count; at++) {
        chunk = added(ir, node, chunk, term_at(ir, space, node, at));
        if ((at + 1) % LE_CHAIN_TERMS != 0 && at + 1 < count)
            continue;
        struct le_node *x[] = {unit, chunk};
        unit = unit ? le_node_op(ir, LE_OP_ADD, node->type, x, 2) : chunk;
        chunk = NULL;
    }
    return unit;
}

/* The operation that joins two totals. */
static int joining(const struct le_node *node) {
    const bool least = node->code == LE_RED_MIN, greatest = node->code == LE_RED_MAX;
    if (node->type == LE_BOOL)
        return greatest || node->code == LE_RED_ANY || node->code == LE_RED_SUM ? LE_OP_OR : LE_OP_AND;
    if (least || greatest)
        return le_type_is_float(node->type) ? (least ? LE_CODE_LOWER : LE_CODE_HIGHER)
                                            : (least ? LE_OP_MIN : LE_OP_MAX);
    return node->code == LE_RED_PROD ? LE_OP_MUL : LE_OP_ADD;
}

static struct le_node *tree(struct le_ir *ir, const struct le_space *space, const struct le_node *node, int64_t first,
                            int64_t count) {
    if (count == 1)
        return le_node_cast(ir, node->type, term_at(ir, space, node, first));
    int64_t half = 1;
    while (2 * half < count)
        half *= 2;
    struct le_node *x[] = {tree(ir, space, node, first, half), tree(ir, space, node, first + half, count - half)};
    return le_node_op(ir, joining(node), node->type, x, 2);
}

struct le_node *le_written_out(struct le_ir *ir, const struct le_space *space, const struct le_node *reduction) {
    int64_t count = le_points(space, reduction->indices, reduction->index_count);
    assert(!le_node_is_chain(reduction) || count <= LE_CHAIN_TERMS * LE_CHAIN_CHUNKS);
    return le_node_is_chain(reduction) ? chain(ir, space, reduction, count) : tree(ir, space, reduction, 0, count);
}
