/* Reductions in one thread. Sums and products of floats use the same tree as all devices (prelude: le_tree). All others
 * accumulate term by term, because their order does not affect the result. */
#include "gen/device_gen.h"

#define FEW_TERMS 8
#define FEW_COST  256 /* additions of all terms */

static bool is_tree(const struct le_node *node) {
    return (node->code == LE_RED_SUM || node->code == LE_RED_PROD) && le_type_is_float(node->operands[0]->type);
}

static bool is_arg(const struct le_node *node) {
    return node->code == LE_RED_ARGMIN || node->code == LE_RED_ARGMAX;
}

static const char *integer_end(enum le_type type, bool greatest) {
    static const struct {
        enum le_type type;
        const char *least, *greatest;
    } ends[] = {
        {LE_I8, "-128", "127"},
        {LE_I16, "-32768", "32767"},
        {LE_I32, "(-2147483647 - 1)", "2147483647"},
        {LE_I64, "(-9223372036854775807ll - 1)", "9223372036854775807ll"},
        {LE_U8, "0", "255"},
        {LE_U16, "0", "65535"},
        {LE_U32, "0u", "4294967295u"},
        {LE_U64, "0ull", "18446744073709551615ull"},
    };
    for (size_t k = 0; k < ARRAY_LEN(ends); k++)
        if (ends[k].type == type)
            return greatest ? ends[k].greatest : ends[k].least;
    return greatest ? "true" : "false"; /* of a bool */
}

const char *le_cuda_empty(struct cuda *c, enum le_reduction code, enum le_type type) {
    bool is_float = le_type_is_float(type), low = code == LE_RED_MIN;
    if (code == LE_RED_MIN || code == LE_RED_MAX)
        return is_float ? le_arena_format(c->arena, "%sle_infinity<%s>()", low ? "" : "-", le_cuda_type(type))
                        : integer_end(type, low);
    bool one = code == LE_RED_PROD || code == LE_RED_ALL;
    return type == LE_BOOL ? (one ? "true" : "false") : one ? "1" : "0";
}

const char *le_cuda_fold(struct cuda *c, enum le_reduction code, enum le_type type, const char *m, const char *a) {
    const char *t = le_cuda_type(type), *w = le_type_size(type) == 8 ? "unsigned long long" : "unsigned";
    bool any = code == LE_RED_ANY || code == LE_RED_SUM || code == LE_RED_MAX;
    if (type == LE_BOOL)
        return le_arena_format(c->arena, any ? "%s | %s" : "%s & %s", m, a);
    if (code == LE_RED_MIN || code == LE_RED_MAX)
        return le_arena_format(c->arena, "%s<%s>(%s, %s)", code == LE_RED_MIN ? "le_lower" : "le_higher", t, m, a);
    return le_arena_format(c->arena, "(%s)((%s)%s %s (%s)%s)", t, w, m, code == LE_RED_PROD ? "*" : "+", w, a);
}

/* ---- few terms: their tree, written out. Such an extent is part of the text. */

static bool has_few_terms(const struct cuda *c, const struct le_node *node) {
    int64_t terms = 1;
    for (int k = 0; k < node->index_count; k++) {
        const struct le_range *r = le_range_of(c->space, node->indices[k]);
        const struct le_range_nodes *nodes = &c->ir->indices.at[node->indices[k]].range;
        bool is_written = nodes->low && le_node_is_const(nodes->low) && le_node_is_const(nodes->high) &&
                          (!nodes->by || le_node_is_const(nodes->by));
        if (r->dynamic || (!is_written && (r->low != 0 || r->by != 1)))
            return false;
        if (!le_mul_i64(terms, le_range_count(r), &terms))
            return false;
    }
    return terms >= 1 && terms <= FEW_TERMS && terms * (node->operands[0]->cost + 1) <= FEW_COST;
}

static bool is_written_out(struct cuda *c, struct le_node *node) {
    const struct le_node *term = node->operands[0];
    return is_tree(node) && !term->reduces && !term->changes && le_cuda_is_safe(c, node) && has_few_terms(c, node);
}

/* ---- loops */

static const char *name_of(struct cuda *c, const struct le_node *node) {
    return le_arena_format(c->arena, "%s_%s", le_reduction_name((enum le_reduction)node->code),
                           c->ir->indices.at[node->indices[0]].name);
}

static struct block *open_loops(struct cuda *c, const struct le_node *node, struct block *block, const char *outside) {
    for (int k = 0; k < node->index_count; k++)
        block = le_cuda_loop(c, block, node->indices[k], outside);
    return block;
}

static void close_loops(struct cuda *c, struct block *inner, const struct block *outer) {
    for (; inner != outer; inner = inner->parent)
        le_cuda_close(c, inner);
}

/* Several over the same indices run in one loop nest. */
static void reduce_trees(struct cuda *c, struct le_node *const *nodes, int count, struct block *block,
                         const char *outside, const struct held **totals) {
    const char *trees[2];
    for (int k = 0; k < count; k++) {
        trees[k] = le_cuda_name(c, le_arena_format(c->arena, "%s_terms", name_of(c, nodes[k])));
        le_cuda_line(c, block, "le_tree<%s, %s> %s;", le_cuda_type(nodes[k]->operands[0]->type),
                     nodes[k]->code == LE_RED_PROD ? "true" : "false", trees[k]);
    }
    struct block *inner = open_loops(c, nodes[0], block, outside);
    for (int k = 0; k < count; k++)
        le_cuda_line(c, inner, "%s.add(%s);", trees[k], le_cuda_node(c, nodes[k]->operands[0], inner, outside)->text);
    close_loops(c, inner, block);
    for (int k = 0; k < count; k++)
        totals[k] = le_cuda_hold(c, block, nodes[k]->operands[0]->type, false, name_of(c, nodes[k]),
                                 le_arena_format(c->arena, "%s.total()", trees[k]));
}

static const struct held *reduce_arg(struct cuda *c, struct le_node *node, struct block *block, const char *outside,
                                     const char *name) {
    const char *best = le_cuda_name(c, "best"), *at = le_cuda_name(c, name);
    enum le_type type = node->operands[0]->type;
    le_cuda_line(c, block, "%s %s = 0;\nlong long %s = le_nowhere;", le_cuda_type(type), best, at);
    struct block *inner = open_loops(c, node, block, outside);
    const struct held *x = le_cuda_node(c, node->operands[0], inner, outside);
    le_cuda_line(c, inner, "if (%s<%s>(%s, %s, %s)) {\n    %s = %s;\n    %s = %s;\n}",
                 node->code == LE_RED_ARGMIN ? "le_is_lower" : "le_is_higher", le_cuda_type(type), at, best,
                 le_cuda_wide(c, x), best, le_cuda_wide(c, x), at, c->indices[node->indices[0]].text);
    close_loops(c, inner, block);
    le_cuda_line(c, block, "%s = %s == le_nowhere ? -1 : %s;", at, at, at);
    return le_cuda_variable(c, block, at);
}

const struct held *le_cuda_reduce(struct cuda *c, struct le_node *node, struct block *block, const char *outside) {
    enum le_reduction code = (enum le_reduction)node->code;
    const char *name = name_of(c, node);
    const struct held *sum;
    enum le_type type = node->operands[0]->type;
    if (is_written_out(c, node)) {
        struct gen g = {.ir = c->ir, .space = *c->space, .arena = c->arena};
        return le_cuda_node(c, le_gen_unrolled(&g, node), block, outside);
    }
    if (is_tree(node)) {
        reduce_trees(c, &node, 1, block, outside, &sum);
        return sum;
    }
    if (is_arg(node))
        return reduce_arg(c, node, block, outside, name);
    const char *total = le_cuda_name(c, name);
    le_cuda_line(c, block, "%s %s = %s;", le_cuda_type(type), total, le_cuda_empty(c, code, type));
    struct block *inner = open_loops(c, node, block, outside);
    const struct held *x = le_cuda_node(c, node->operands[0], inner, outside);
    le_cuda_line(c, inner, "%s = %s;", total, le_cuda_fold(c, code, type, total, le_cuda_wide(c, x)));
    close_loops(c, inner, block);
    if (le_type_is_float(type))
        return le_cuda_hold(c, block, type, false, name,
                            le_arena_format(c->arena, "le_canonical<%s>(%s)", le_cuda_type(type), total));
    return le_cuda_variable(c, block, total);
}

bool le_cuda_reduce_both(struct cuda *c, struct le_node *const nodes[2], struct block *block, const char *outside,
                         const struct held *totals[2]) {
    for (int k = 0; k < 2; k++)
        if (!is_tree(nodes[k]) || is_written_out(c, nodes[k]))
            return false;
    reduce_trees(c, nodes, 2, block, outside, totals);
    return true;
}
