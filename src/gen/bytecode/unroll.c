/* Unrolls short sums and products inside lanes: all terms one after the other, added in the order of the sums' tree.
 * Parts of a term that do not change in a loop around are then computed once, outside that loop. */
#include "gen/bytecode/bytecode_gen.h"

#define TERMS_MAX 16
#define COST_MAX  256 /* additions of all terms */

bool le_gen_is_short(struct gen *g, const struct le_node *node) {
    int64_t terms = 1;
    if ((node->code != LE_RED_SUM && node->code != LE_RED_PROD) || !le_type_is_float(node->type))
        return false;
    if (node->operands[0]->reduces || node->operands[0]->changes || !le_gen_is_safe(g, node->operands[0]))
        return false;
    for (int k = 0; k < node->index_count; k++) {
        const struct le_range *r = le_range_of(&g->space, node->indices[k]);
        if (r->dynamic || g->ir->indices.at[node->indices[k]].host || le_range_count(r) < 1 ||
            le_range_count(r) > TERMS_MAX)
            return false;
        terms *= le_range_count(r);
        if (terms > TERMS_MAX)
            return false;
    }
    return terms * (node->operands[0]->cost + 1) <= COST_MAX;
}

/* Term number at: the last index runs fastest. */
static struct le_node *term_at(struct gen *g, const struct le_node *node, int64_t at) {
    struct le_node *to[TERMS_MAX];
    int from[TERMS_MAX], count = 0;
    for (int k = node->index_count - 1; k >= 0; k--) {
        const struct le_range *r = le_range_of(&g->space, node->indices[k]);
        int64_t turns = le_range_count(r), value = r->low + at % turns * r->by;
        at /= turns;
        from[count] = node->indices[k];
        to[count++] = le_node_i64(g->ir, value);
    }
    return le_node_substitute(g->ir, node->operands[0], from, to, count);
}

static struct le_node *tree(struct gen *g, const struct le_node *node, int64_t first, int64_t count) {
    if (count == 1)
        return term_at(g, node, first);
    int64_t half = 1;
    while (2 * half < count)
        half *= 2;
    struct le_node *x[] = {tree(g, node, first, half), tree(g, node, first + half, count - half)};
    return le_node_op(g->ir, node->code == LE_RED_SUM ? LE_OP_ADD : LE_OP_MUL, node->type, x, 2);
}

struct le_node *le_gen_unrolled(struct gen *g, const struct le_node *node) {
    int64_t terms = 1;
    for (int k = 0; k < node->index_count; k++)
        terms *= le_range_count(le_range_of(&g->space, node->indices[k]));
    return tree(g, node, 0, terms);
}

/* ---- */

struct replacing {
    struct le_ir *ir;
    int epoch;
    struct le_node *(*choose)(struct le_node *node, void *user);
    void *user;
};

static struct le_node *replace_node(const struct replacing *r, struct le_node *node) {
    struct le_node *known = le_walk_memo(r->ir, node, r->epoch), *few[8];
    if (known)
        return known;
    struct le_node *made = r->choose(node, r->user);
    if (!made) {
        struct le_node copy = *node;
        copy.operands = few; /* it is copied if it is new */
        if (node->operand_count > (int)ARRAY_LEN(few))
            copy.operands = LE_NEW_ARRAY(r->ir->arena, node->operand_count, struct le_node *);
        for (int k = 0; k < node->operand_count; k++)
            copy.operands[k] = replace_node(r, node->operands[k]);
        made = node->operand_count > 0 ? le_node_make(r->ir, &copy) : node;
    }
    return le_walk_remember(r->ir, node, r->epoch, made);
}

struct le_node *le_gen_replace(struct le_ir *ir, struct le_node *node,
                               struct le_node *(*choose)(struct le_node *node, void *user), void *user) {
    const struct replacing r = {.ir = ir, .epoch = le_walk_begin(ir), .choose = choose, .user = user};
    return replace_node(&r, node);
}
