/* See analysis.h: which nested loops may run as one loop. */
#include "ir/analysis/analysis.h"

static bool node_merges(const struct le_merging *m, struct le_node *node);

static bool moves(const struct le_merging *m, const struct le_node *node) {
    return le_node_depends(node, m->outer) || le_node_depends(node, m->inner);
}

bool le_address_merges(const struct le_merging *m, const struct le_address *address, bool trusted, bool live) {
    int64_t outer, inner, whole;
    bool depends = false;
    for (int d = 0; d < address->rank; d++)
        depends |= moves(m, address->subscripts[d]);
    if (depends && m->is_counted(m->user, address, trusted, live))
        return le_address_stride(m->code->space, address, m->outer, &outer) &&
               le_address_stride(m->code->space, address, m->inner, &inner) &&
               le_mul_i64(inner, m->inner_count, &whole) && outer == whole;
    for (int d = 0; d < address->rank; d++) /* subscripts may contain loads that depend on the loops */
        if ((depends && !m->gathers) || !node_merges(m, address->subscripts[d]))
            return false;
    return true;
}

/* Whether the bounds of the node's own loops allow it. */
static bool bounds_merge(const struct le_merging *m, const struct le_node *node) {
    for (int k = 0; k < node->index_count; k++) {
        const struct le_range_nodes *r = &m->code->ir->indices.at[node->indices[k]].range;
        struct le_node *bounds[] = {r->low, r->high, r->by};
        for (size_t b = 0; le_range_of(m->code->space, node->indices[k])->dynamic && b < ARRAY_LEN(bounds); b++)
            if (bounds[b] && !node_merges(m, bounds[b]))
                return false;
    }
    return true;
}

static bool region_merges(const struct le_merging *m, const struct le_node *node) {
    for (int k = 0; k < node->region->step_count; k++) {
        const struct le_region_step *s = &node->region->steps[k];
        if (s->kind == LE_REGION_STORE) {
            const struct le_address address = le_store_address(m->code->layouts, m->stage, node, s);
            if (!le_address_merges(m, &address, false, false))
                return false;
        }
        if ((le_region_has_value(s->kind) && !node_merges(m, node->operands[s->value])) ||
            (s->second && !node_merges(m, node->operands[s->second])))
            return false;
    }
    return true;
}

static bool node_merges(const struct le_merging *m, struct le_node *node) {
    if ((!moves(m, node) && !node->reduces) || le_note_met(m->code->notes, node, m->epoch))
        return true;
    if (node->kind == LE_NODE_INDEX || (!m->loops && (node->kind == LE_NODE_REDUCE || node->kind == LE_NODE_REGION)))
        return !moves(m, node);
    if (node->kind == LE_NODE_LOAD) {
        const struct le_address address = le_load_address(m->code->layouts, node);
        return le_address_merges(m, &address, node->trusted, node->live) && (!node->fill || node_merges(m, node->fill));
    }
    if (node->kind == LE_NODE_REGION)
        return bounds_merge(m, node) && region_merges(m, node);
    for (int k = 0; k < node->operand_count; k++)
        if (!node_merges(m, node->operands[k]))
            return false;
    return bounds_merge(m, node);
}

bool le_loops_merge(struct le_merging *m, struct le_node *const *nodes, int count) {
    const struct le_range *outer = le_range_of(m->code->space, m->outer),
                          *inner = le_range_of(m->code->space, m->inner);
    if (outer->dynamic || inner->dynamic || outer->by != 1 || inner->by != 1)
        return false;
    m->epoch = ++m->code->notes->epoch;
    for (int k = 0; k < count; k++)
        if (!node_merges(m, nodes[k]))
            return false;
    return true;
}
