/* Decides in which order a sum of floats is added (NUMERICS, rules 3 and 3b). A sum has *reuse* if a read of its term
 * serves several results: the read uses a summed index and omits an index bound outside the sum that the term mentions,
 * or one subscript mixes a summed index with such an index. Bounds of ranges do not count, nor do reads without summed
 * indices. The statement's text alone decides, before any fusion, so that extents, devices and other statements do not
 * change a result's bits. */
#include "ir/lower/lower.h"
#include "ir/path.h"

#define KEPT_MAX (4 * LEAT_RANK_MAX)

struct reuse_search {
    const struct le_ir *ir;
    const int *summed;
    int summed_count;
    int kept[KEPT_MAX], kept_count; /* indices bound outside that the term mentions */
    int epoch;
    bool found;
};

static void find_kept(struct reuse_search *s, const struct le_node *term, const struct le_node *node) {
    if (le_walk_met(s->ir, node, s->epoch))
        return;
    bool is_kept = node->kind == LE_NODE_INDEX && le_node_depends(term, node->index) &&
                   !s->ir->indices.at[node->index].host && !le_has_index(s->summed, s->summed_count, node->index);
    if (is_kept && s->kept_count < KEPT_MAX)
        s->kept[s->kept_count++] = node->index;
    for (int k = 0; k < node->operand_count; k++)
        find_kept(s, term, node->operands[k]);
}

static bool subscripts_use(const struct le_node *load, int index) {
    for (int d = 0; d < load->operand_count; d++)
        if (le_node_depends(load->operands[d], index))
            return true;
    return false;
}

static bool is_reused(const struct reuse_search *s, const struct le_node *load) {
    bool summed = false;
    for (int d = 0; d < load->operand_count; d++) {
        bool mixes = le_node_depends_on_any(load->operands[d], s->summed, s->summed_count);
        summed |= mixes;
        if (mixes && le_node_depends_on_any(load->operands[d], s->kept, s->kept_count))
            return true;
    }
    for (int k = 0; k < s->kept_count && summed; k++)
        if (!subscripts_use(load, s->kept[k]))
            return true;
    return false;
}

static void find_reuse(struct reuse_search *s, const struct le_node *node) {
    if (s->found || le_walk_met(s->ir, node, s->epoch))
        return;
    s->found = node->kind == LE_NODE_LOAD && is_reused(s, node);
    for (int k = 0; k < node->operand_count; k++)
        find_reuse(s, node->operands[k]);
}

enum le_reduction le_lower_sum(const struct le_ir *ir, const struct le_node *term, const int *indices, int count) {
    struct reuse_search s = {.ir = ir, .summed = indices, .summed_count = count};
    if (!le_type_is_float(term->type))
        return LE_RED_SUM;
    s.epoch = le_walk_begin(ir);
    find_kept(&s, term, term);
    s.epoch = le_walk_begin(ir);
    find_reuse(&s, term);
    if (!s.found)
        return LE_RED_SUM;
    return term->kind == LE_NODE_OP && term->code == LE_OP_MUL ? LE_RED_CHAIN_OF_PRODUCTS : LE_RED_CHAIN;
}
