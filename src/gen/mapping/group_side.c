/* Several neighbouring points of a thread, which it reads as vectors: elements of few bytes then fill as many lines of
 * memory with a warp's request as those of four bytes do. All totals of a thread are joined together, as one total of
 * type `several`. */
#include "gen/mapping/group_reduce.h"

void le_side_bind(struct codegen *c, struct side *side, struct le_block *block, const int *indices, int count,
                  struct le_expression *place, bool narrow) {
    struct le_expression *extents[POINTS_MAX] = {NULL}, *places[POINTS_MAX] = {NULL};
    for (int k = 1; k < count; k++) {
        int64_t values = le_range_count(le_range_of(c->space, indices[k]));
        bool last = k == count - 1 && side->width > 1;
        extents[k] = le_codegen_index_number(c, indices[k], last ? "groups" : "count",
                                             last ? values / side->width : values, LE_KTREE_LONG);
    }
    le_codegen_split(c, block, place, narrow ? LE_KTREE_UINT : LE_KTREE_ULONG, extents, count, places);
    for (int k = 0; k < count - (side->width > 1); k++)
        le_team_bind_one(c, block, indices[k], places[k], 0);
    if (side->width > 1)
        side->first = le_let(c->tree, block, "first", le_times_int(c->tree, places[count - 1], side->width));
    side->group_count = side->node_count = 0;
}

static void hold_node(struct codegen *c, const struct group *g, struct le_node *node, int epoch) {
    struct side *side = g->side;
    if (!le_node_depends(node, side->index) || node->kind == LE_NODE_INDEX || le_note_met(c->notes, node, epoch))
        return;
    for (int k = 0; k < side->node_count; k++)
        if (side->nodes[k] == node)
            return;
    if (!le_node_depends_on_any(node, g->indices, g->index_count) && !node->changes &&
        le_node_is_safe(&c->safety, node) && side->node_count < LOADS_MAX) {
        side->nodes[side->node_count++] = node;
        return;
    }
    for (int k = 0; k < node->operand_count; k++)
        hold_node(c, g, node->operands[k], epoch);
}

void le_side_hold(struct codegen *c, const struct group *g, struct le_block *block, struct le_node *const *nodes,
                  int count) {
    struct side *side = g->side;
    int first = side->node_count, epoch = ++c->notes->epoch;
    struct le_expression *e;
    for (int k = 0; k < count; k++)
        hold_node(c, g, nodes[k], epoch);
    int end = side->node_count;
    if (first == end)
        return;
    for (int k = first; k < end; k++)
        side->values[k] =
            le_ktree_array(c->tree, block, "held", (int)side->nodes[k]->type, LE_KTREE_LOCAL, side->width, 0);
    side->node_count = first;
    struct le_block *each = le_side_open_each(c, side, block, &e);
    side->node_count = end;
    for (int k = first; k < end; k++) {
        struct le_expression *x = le_codegen_node(c, side->nodes[k], each, NULL);
        le_ktree_set(c->tree, each, le_ktree_element(c->tree, side->values[k], e),
                     le_codegen_to_memory(c, x, side->nodes[k]->type));
    }
    le_ktree_close(c->tree, each);
}

struct le_block *le_side_open_each(struct codegen *c, const struct side *side, struct le_block *block,
                                   struct le_expression **e) {
    struct le_kernel_tree *t = c->tree;
    struct le_block *each = le_ktree_open_each(t, block, "e", side->width, e);
    le_team_bind_one(c, each, side->index, le_plus(t, side->first, *e), 0);
    for (int k = 0; k < side->group_count; k++) {
        struct le_expression *x[] = {side->totals[k], *e};
        le_group_know_one(c, side->groups[k], each,
                          le_ktree_call(t, LE_CALL_SEVERAL_AT, side->groups[k]->one, NULL, x));
    }
    for (int k = 0; k < side->node_count; k++) {
        struct le_expression *x = le_ktree_element(t, side->values[k], *e);
        le_codegen_know(c, side->nodes[k], each,
                        le_let(t, each, "x", le_codegen_from_memory(c, x, side->nodes[k]->type)));
    }
    return each;
}

void le_side_fill_term(struct codegen *c, const struct group *g, struct le_block *function, struct le_expression *at) {
    struct le_kernel_tree *t = c->tree;
    struct le_node *loads[LOADS_MAX];
    struct le_variable *vectors[LOADS_MAX];
    int width = g->side->width, count = le_side_loads(c, g, loads);
    struct le_expression *e;
    struct le_block *base = le_ktree_open(t, function);
    le_team_bind_one(c, base, g->side->index, g->side->first, 0);
    for (int k = 0; k < count; k++) {
        vectors[k] = le_group_array(c, base, loads[k], "some", width);
        le_group_read(c, base, loads[k], width, le_ktree_use(t, vectors[k]));
    }
    le_ktree_close(t, base);
    struct le_variable *some = le_ktree_array(t, function, "some", g->one, LE_KTREE_LOCAL, width, 0);
    const struct le_block *quick = c->quick;
    struct le_block *each = le_side_open_each(c, g->side, function, &e);
    c->quick = quick ? each : NULL;
    for (int k = 0; k < count; k++)
        le_group_know_element(c, loads[k], each, vectors[k], e);
    le_ktree_set(t, each, le_ktree_element(t, some, e), le_group_total(c, g, each, at));
    c->quick = quick;
    le_ktree_close(t, each);
    struct le_expression *all = le_ktree_use(t, some);
    le_ktree_close_with(t, function, le_ktree_call(t, LE_CALL_SEVERAL, g->type, &LE_STATIC_TYPE(g->type), &all));
}
