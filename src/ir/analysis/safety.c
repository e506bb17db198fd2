/* See analysis.h: whether a node may be computed where its value may not be needed. */
#include "ir/analysis/analysis.h"
#include <stdlib.h>

static leat_status no_value(void *user, struct le_node *node, int64_t *value) {
    (void)user, (void)node, (void)value;
    return LEAT_MISSING;
}

/* A divisor or an exponent whose bounds show it. */
static bool is_harmless(const struct le_safety *s, struct le_node *right, bool power) {
    struct le_space space = *s->space;
    int64_t low, high;
    if (right->kind == LE_NODE_CONST)
        return power ? le_const_i64(right) >= 0 : right->bits != 0;
    if (!s->in_subscript)
        space.evaluate = no_value;
    return !le_depends_on_loose(s, right) && le_interval(&space, right, &low, &high) &&
           (low > 0 || (power ? low == 0 : high < 0));
}

bool le_node_may_note(const struct le_safety *s, const struct le_node *node) {
    bool power = node->code == LE_OP_POW, divides = node->code == LE_OP_FLOORDIV || node->code == LE_OP_MOD;
    if (node->kind != LE_NODE_OP || !(power || divides) || !le_type_is_int(node->type))
        return false;
    if (power && le_type_is_unsigned(node->type))
        return false;
    return !is_harmless(s, node->operands[node->operand_count - 1], power);
}

static int by_number(const void *a, const void *b) {
    const int *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

void le_sort_indices(int *indices, int count) {
    if (count > 1)
        qsort(indices, (size_t)count, sizeof *indices, by_number);
}

bool le_index_is_among(const int *sorted, int count, int index) {
    return count > 0 && bsearch(&index, sorted, (size_t)count, sizeof *sorted, by_number);
}

bool le_depends_on_loose(const struct le_safety *s, const struct le_node *node) {
    for (int k = 0; k < node->free_count && s->loose_count > 0; k++)
        if (le_index_is_among(s->loose, s->loose_count, node->free[k]))
            return true;
    return false;
}

bool le_load_is_safe(const struct le_safety *s, const struct le_node *load) {
    const struct le_address address = le_load_address(s->layouts, load);
    if (le_depends_on_loose(s, load))
        return false;
    for (int d = 0; d < load->operand_count && !load->trusted; d++) {
        bool moved = s->edges_move && load->edge != LE_EDGE_NONE && address.layout->shape[d] > 0;
        if (!moved && !le_axis_is_safe(s->space, &address, d))
            return false;
    }
    return !s->edges_move || load->trusted || !load->fill || le_node_is_safe(s, load->fill);
}

static bool bounds_are_safe(const struct le_safety *s, int index) {
    const struct le_range_nodes *r = &s->ir->indices.at[index].range;
    if (r->low && (!le_node_is_safe(s, r->low) || !le_node_is_safe(s, r->high)))
        return false;
    if (s->steps_fault)
        return !r->by || !le_range_of(s->space, index)->dynamic || r->by->kind == LE_NODE_CONST;
    return !r->by || le_node_is_safe(s, r->by);
}

/* A region with a `while` is not safe, because the loop might not end. */
static bool find_safe(const struct le_safety *s, const struct le_node *node) {
    struct le_safety of_operands = *s;
    if ((node->kind == LE_NODE_LOAD && !le_load_is_safe(s, node)) || le_region_has_while(node) ||
        le_region_fails(node) || (s->notes_count && le_node_may_note(s, node)))
        return false;
    of_operands.in_subscript |= node->kind == LE_NODE_LOAD;
    for (int k = 0; k < node->operand_count; k++)
        if (!le_node_is_safe(&of_operands, node->operands[k]))
            return false;
    for (int k = 0; k < node->index_count; k++)
        if (!bounds_are_safe(s, node->indices[k]))
            return false;
    return true;
}

bool le_node_is_safe(const struct le_safety *s, const struct le_node *node) {
    if (node->operand_count == 0 && !node->loads && node->index_count == 0 && node->kind != LE_NODE_REGION)
        return true;
    const struct le_node_note *known = le_note_of(s->notes, node);
    if (known->safe_epoch[s->in_subscript] == s->epoch)
        return known->safe[s->in_subscript];
    bool safe = find_safe(s, node);
    struct le_node_note *note = le_note_of(s->notes, node);
    note->safe_epoch[s->in_subscript] = s->epoch;
    note->safe[s->in_subscript] = safe;
    return safe;
}
