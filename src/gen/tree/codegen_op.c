/* What is known of operations before they are generated. */
#include "gen/tree/codegen.h"

bool le_codegen_has_quick_way(const struct le_node *node) {
    if (node->kind != LE_NODE_OP || node->code >= LE_OPS)
        return false;
    const struct le_cuda_spelling *cuda = &le_op_info((enum le_op)node->code)->cuda;
    enum le_type type = node->operands[0]->type;
    return (type == LE_F32 && cuda->quick32) || (type == LE_F64 && cuda->quick64);
}

static void find_quick(struct le_node *node, void *user) {
    *(bool *)user |= le_codegen_has_quick_way(node);
}

bool le_codegen_has_quick_ways(const struct codegen *c, struct le_node *node) {
    bool found = false;
    le_node_walk(c->ir, node, find_quick, &found);
    return found;
}
