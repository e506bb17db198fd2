/* Reductions in one thread. Sums and products of floats use the same tree as all devices (prelude: le_tree). All others
 * accumulate term by term, because their order does not affect the result. */
#include "gen/tree/codegen.h"

#define FEW_TERMS 8
#define FEW_COST  256 /* additions of all terms */

struct le_expression *le_codegen_empty(struct codegen *c, enum le_reduction code, enum le_type type) {
    return le_ktree_constant(c->tree, (int)type, le_empty_total_bits(code, type));
}

struct le_expression *le_codegen_fold(struct codegen *c, enum le_reduction code, enum le_type type,
                                      struct le_expression *m, struct le_expression *a) {
    struct le_expression *x[] = {m, a};
    bool any = code == LE_RED_ANY || code == LE_RED_SUM || code == LE_RED_MAX;
    if (type == LE_BOOL)
        return le_ktree_binary(c->tree, any ? LE_OP_OR : LE_OP_AND, m, a);
    if (code == LE_RED_MIN || code == LE_RED_MAX)
        return le_ktree_call(c->tree, code == LE_RED_MIN ? LE_CALL_LOWER : LE_CALL_HIGHER, (int)type,
                             &LE_STATIC_TYPE((int)type), x);
    return le_ktree_binary(c->tree, code == LE_RED_PROD ? LE_OP_MUL : LE_OP_ADD, m, a);
}

/* ---- few terms: their tree, written out. Such an extent is part of the text. */

static bool is_written_out(const struct codegen *c, const struct le_node *node) {
    for (int k = 0; k < node->index_count; k++) {
        const struct le_range *r = le_range_of(c->space, node->indices[k]);
        const struct le_range_nodes *nodes = &c->ir->indices.at[node->indices[k]].range;
        bool is_fixed = nodes->low && le_node_is_const(nodes->low) && le_node_is_const(nodes->high) &&
                        (!nodes->by || le_node_is_const(nodes->by));
        if (!is_fixed && (r->low != 0 || r->by != 1))
            return false;
    }
    return le_is_short(&c->safety, node, FEW_TERMS, FEW_COST);
}

/* ---- loops */

static const char *name_of(struct codegen *c, const struct le_node *node) {
    return le_arena_format(c->arena, "%s_%s", le_reduction_name((enum le_reduction)node->code),
                           c->ir->indices.at[node->indices[0]].name);
}

static struct le_block *open_loops(struct codegen *c, const struct le_node *node, struct le_block *block,
                                   struct le_variable *outside) {
    for (int k = 0; k < node->index_count; k++)
        block = le_codegen_loop(c, block, node->indices[k], outside);
    return block;
}

struct le_expression *le_codegen_chained(struct codegen *c, enum le_reduction code, struct le_node *term,
                                         struct le_block *block, struct le_variable *outside,
                                         struct le_expression *chunk) {
    bool fused = le_chain_adds_products(code, term);
    struct le_expression *x[3];
    for (int k = 0; k < (fused ? 2 : 1); k++)
        x[k + !fused] = le_codegen_node(c, fused ? term->operands[k] : term, block, outside);
    x[fused ? 2 : 0] = chunk;
    return le_ktree_op(c->tree, fused ? LE_CODE_MULADD : LE_OP_ADD, (int)term->type, x, fused ? 3 : 2);
}

/* Adds the term of the point that the block's loops are at. */
static void add_term(struct codegen *c, const struct le_node *node, struct le_block *block, struct le_variable *outside,
                     struct le_expression *tree) {
    struct le_kernel_tree *t = c->tree;
    struct le_expression *x[] = {tree, NULL};
    if (le_node_is_chain(node)) {
        struct le_expression *so_far = le_ktree_call(t, LE_CALL_CHAIN_SO_FAR, (int)node->operands[0]->type, NULL, x);
        x[1] = le_codegen_chained(c, (enum le_reduction)node->code, node->operands[0], block, outside, so_far);
    } else {
        x[1] = le_codegen_node(c, node->operands[0], block, outside);
    }
    le_do(t, block, le_node_is_chain(node) ? LE_CALL_CHAIN_PUT : LE_CALL_TREE_ADD, NULL, x);
}

/* Computes several sums or products over the same indices in one loop nest. */
static void reduce_trees(struct codegen *c, struct le_node *const *nodes, int count, struct le_block *block,
                         struct le_variable *outside, struct le_expression **totals) {
    struct le_kernel_tree *t = c->tree;
    struct le_expression *trees[2];
    for (int k = 0; k < count; k++) {
        const char *name = le_arena_format(c->arena, "%s_terms", name_of(c, nodes[k]));
        const struct le_static statics[] = {LE_STATIC_TYPE((int)nodes[k]->operands[0]->type),
                                            LE_STATIC_NUMBER(nodes[k]->code == LE_RED_PROD)};
        struct le_variable *tree = le_ktree_declare(t, block, name, (int)nodes[k]->operands[0]->type, NULL);
        tree->object =
            le_ktree_call(t, le_node_is_chain(nodes[k]) ? LE_CALL_CHAIN : LE_CALL_TREE, LE_KTREE_VOID, statics, NULL);
        trees[k] = le_ktree_use(t, tree);
    }
    struct le_block *inner = open_loops(c, nodes[0], block, outside);
    for (int k = 0; k < count; k++)
        add_term(c, nodes[k], inner, outside, trees[k]);
    le_ktree_close_to(c->tree, inner, block);
    for (int k = 0; k < count; k++) {
        int type = (int)nodes[k]->operands[0]->type;
        totals[k] = le_let(t, block, name_of(c, nodes[k]), le_ktree_call(t, LE_CALL_TREE_TOTAL, type, NULL, &trees[k]));
    }
}

static struct le_expression *reduce_arg(struct codegen *c, struct le_node *node, struct le_block *block,
                                        struct le_variable *outside, const char *name) {
    struct le_kernel_tree *t = c->tree;
    int type = (int)node->operands[0]->type;
    struct le_expression *nowhere = le_ktree_call(t, LE_CALL_NOWHERE, LE_NONE, NULL, NULL);
    struct le_expression *best =
        le_ktree_use(t, le_ktree_declare(t, block, "best", type, le_ktree_constant(t, type, 0)));
    struct le_expression *at = le_ktree_use(t, le_ktree_declare(t, block, name, LE_I64, nowhere));
    struct le_block *inner = open_loops(c, node, block, outside);
    struct le_expression *x = le_codegen_wide(c, le_codegen_node(c, node->operands[0], inner, outside));
    struct le_expression *operands[] = {at, best, x};
    struct le_block *better =
        le_ktree_open_if(t, inner,
                         le_ktree_call(t, node->code == LE_RED_ARGMIN ? LE_CALL_IS_LOWER : LE_CALL_IS_HIGHER, LE_BOOL,
                                       &LE_STATIC_TYPE(type), operands));
    le_ktree_set(t, better, best, x);
    le_ktree_set(t, better, at, le_codegen_wide(c, c->indices[node->indices[0]].x));
    le_ktree_close(t, better);
    le_ktree_close_to(c->tree, inner, block);
    struct le_expression *none = le_ktree_constant(t, LE_I64, (uint64_t)-1);
    le_ktree_set(t, block, at, le_ktree_select(t, le_ktree_binary(t, LE_OP_EQ, at, nowhere), none, at));
    return at;
}

static struct le_expression *reduce(struct codegen *c, struct le_node *node, struct le_block *block,
                                    struct le_variable *outside) {
    enum le_reduction code = (enum le_reduction)node->code;
    const char *name = name_of(c, node);
    struct le_expression *sum;
    enum le_type type = node->operands[0]->type;
    struct le_kernel_tree *t = c->tree;
    if (is_written_out(c, node))
        return le_codegen_node(c, le_written_out(c->ir, c->space, node), block, outside);
    if (le_node_is_ordered(node)) {
        reduce_trees(c, &node, 1, block, outside, &sum);
        return sum;
    }
    if (le_node_is_arg(node))
        return reduce_arg(c, node, block, outside, name);
    struct le_expression *total =
        le_ktree_use(t, le_ktree_declare(t, block, name, (int)type, le_codegen_empty(c, code, type)));
    struct le_block *inner = open_loops(c, node, block, outside);
    struct le_expression *x = le_codegen_wide(c, le_codegen_node(c, node->operands[0], inner, outside));
    le_ktree_set(t, inner, total, le_codegen_fold(c, code, type, total, x));
    le_ktree_close_to(c->tree, inner, block);
    if (!le_type_is_float(type))
        return total;
    return le_let(t, block, name, le_ktree_call(t, LE_CALL_CANONICAL, (int)type, &LE_STATIC_TYPE((int)type), &total));
}

static const struct held *bindings_of(const struct codegen *c, const struct le_node *node) {
    struct held *bound = LE_NEW_ARRAY(c->arena, node->index_count, struct held);
    for (int k = 0; k < node->index_count; k++)
        bound[k] = c->indices[node->indices[k]];
    return bound;
}

static void bind_again(struct codegen *c, const struct le_node *node, const struct held *bound) {
    for (int k = 0; k < node->index_count; k++)
        c->indices[node->indices[k]] = bound[k];
}

/* The caller may be computing a term of another reduction over the same indices, so their bindings are restored. */
struct le_expression *le_codegen_reduce(struct codegen *c, struct le_node *node, struct le_block *block,
                                        struct le_variable *outside) {
    const struct held *bound = bindings_of(c, node);
    struct le_expression *total = reduce(c, node, block, outside);
    bind_again(c, node, bound);
    return total;
}

bool le_codegen_reduce_both(struct codegen *c, struct le_node *const nodes[2], struct le_block *block,
                            struct le_variable *outside, struct le_expression *totals[2]) {
    for (int k = 0; k < 2; k++)
        if (!le_node_is_ordered(nodes[k]) || is_written_out(c, nodes[k]))
            return false;
    const struct held *bound = bindings_of(c, nodes[0]);
    reduce_trees(c, nodes, 2, block, outside, totals);
    bind_again(c, nodes[0], bound);
    return true;
}
