/* What is known of nodes before they are generated. */
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

static bool is_quick(const struct le_node *node, const void *user) {
    (void)user;
    return le_codegen_has_quick_way(node);
}

bool le_codegen_has_quick_ways(const struct codegen *c, struct le_node *node) {
    return le_codegen_any(c->ir, node, is_quick, NULL);
}

/* ---- searches */

struct search {
    bool (*is)(const struct le_node *node, const void *user);
    const void *user;
    bool found;
};

static void look_at(struct le_node *node, void *user) {
    struct search *s = user;
    s->found = s->found || s->is(node, s->user);
}

bool le_codegen_any(const struct le_ir *ir, struct le_node *node,
                    bool (*is)(const struct le_node *node, const void *user), const void *user) {
    struct search s = {.is = is, .user = user};
    le_node_walk(ir, node, look_at, &s);
    return s.found;
}

bool le_codegen_depends(const struct le_node *node, const int *indices, int count) {
    for (int k = 0; k < count; k++)
        if (le_node_depends(node, indices[k]))
            return true;
    return false;
}

struct index_set {
    const int *at;
    int count;
};

static bool is_loop_over(const struct le_node *node, const void *user) {
    const struct index_set *indices = user;
    return node->index_count > 0 && le_codegen_depends(node, indices->at, indices->count);
}

bool le_codegen_has_loop_over(const struct codegen *c, struct le_node *node, const int *indices, int count) {
    return le_codegen_any(c->ir, node, is_loop_over, &(struct index_set){indices, count});
}

int64_t le_codegen_count(const struct codegen *c, const int *indices, int count) {
    int64_t all = 1;
    for (int k = 0; k < count; k++) {
        const struct le_range *r = le_range_of(c->space, indices[k]);
        if (r->dynamic || c->ir->indices.at[indices[k]].host || !le_mul_i64(all, le_range_count(r), &all))
            return -1;
    }
    return all;
}
