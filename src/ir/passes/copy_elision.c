/* copy-elision: a stage that copies a whole array, u[i,j] = w[i,j], becomes a MOVE and shares the source's memory.
 * Inputs are never shared with their copies, nor one result with another. */
#include "ir/ir.h"

/* The load that the stage copies; NULL if it is not a copy. */
static const struct le_node *copied_load(const struct le_ir *ir, const struct le_stage *s) {
    const struct le_node *load = s->node;
    const struct le_value *target = &ir->values.at[s->target];
    if (load->kind == LE_NODE_ROUND && load->rounded == target->type)
        load = load->operands[0];
    bool plain = load->kind == LE_NODE_LOAD && load->trusted && load->edge == LE_EDGE_NONE && load->stretch == 0;
    if (!plain || load->operand_count != s->left_count || s->index_count != s->left_count)
        return NULL;
    for (int d = 0; d < s->left_count; d++) {
        if (s->left[d] != load->operands[d])
            return NULL;
        const struct le_ir_index *index = &ir->indices.at[s->left[d]->index];
        if (index->depends || (index->explicit_range && s->base >= 0))
            return NULL; /* copies only part of the array */
        for (int q = 0; q < d; q++)
            if (s->left[q] == s->left[d])
                return NULL;
    }
    return load;
}

static bool may_share(const struct le_ir *ir, const struct le_stage *s, int source) {
    const struct le_value *from = &ir->values.at[source], *to = &ir->values.at[s->target];
    return from->type == to->type && from->rank == to->rank && from->stage >= 0 && !(from->wanted && to->wanted);
}

void le_pass_elide_copies(struct le_ir *ir) {
    for (int k = 0; k < ir->stages.count; k++) {
        struct le_stage *s = &ir->stages.at[k];
        if (s->dead || s->kind != LE_STAGE_MAP || s->left_count == 0)
            continue;
        const struct le_node *load = copied_load(ir, s);
        if (!load || !may_share(ir, s, load->value))
            continue;
        struct le_pair *pair = LE_NEW(ir->arena, struct le_pair);
        *pair = (struct le_pair){.target = s->target, .source = load->value};
        ir->values.at[s->target].moved = true;
        *s = (struct le_stage){.kind = LE_STAGE_MOVE,
                               .statement = s->statement,
                               .name = s->name,
                               .target = s->target,
                               .base = -1,
                               .pairs = pair,
                               .pair_count = 1,
                               .index = -1,
                               .block = s->block,
                               .leader = -1,
                               .sibling = -1,
                               .access = -1};
    }
}
