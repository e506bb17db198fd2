/* What is known of operations before they are generated. */
#include "gen/tree/codegen.h"

/* An integer's divisor may be 0, or its exponent negative. */
bool le_codegen_may_note(const struct le_node *node) {
    bool power = node->code == LE_OP_POW, divides = node->code == LE_OP_FLOORDIV || node->code == LE_OP_MOD;
    if (node->kind != LE_NODE_OP || !(power || divides) || !le_type_is_int(node->type))
        return false;
    if (power && le_type_is_unsigned(node->type))
        return false;
    const struct le_node *right = node->operands[node->operand_count - 1];
    return right->kind != LE_NODE_CONST || (power ? le_const_i64(right) < 0 : right->bits == 0);
}

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
