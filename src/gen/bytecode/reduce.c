/* Reductions: in the lanes of their own loop, or one for each lane of a loop around them. */
#include "gen/bytecode/bytecode_gen.h"

#define SHORT_TERMS     16
#define SHORT_COST      256 /* additions of all terms */
#define LANE_EXTENT_MIN 16  /* a loop of fewer iterations leaves the lanes to one inside it */

struct inner_search {
    struct gen *g;
    const struct le_node *outer;
    int last; /* its index that the lanes may be */
    int64_t extent;
    bool drives; /* one of its indices bounds a loop: it has no place inside of lanes */
};

/* The range's loop stands around that of index, or is that. */
static bool is_around(const struct gen *g, int range, int index) {
    for (int k = 0; k < g->stage->index_count && range != index; k++) {
        if (g->stage->indices[k] == range)
            return true;
        if (g->stage->indices[k] == index)
            return false;
    }
    return range == index;
}

/* Whether the range's bounds differ from lane to lane if index is the lanes', or are made there, lane by lane: what may
 * fall outside is not made before the place where it stands. */
static bool splits(struct gen *g, int range, int index) {
    const struct le_range_nodes *r = &g->ir->indices.at[range].range;
    struct le_node *bounds[] = {r->low, r->high, r->by};
    bool inside = !is_around(g, range, index);
    for (size_t b = 0; r->low && le_range_of(g->space, range)->dynamic && b < ARRAY_LEN(bounds); b++)
        if (bounds[b] &&
            (le_node_depends(bounds[b], index) || bounds[b]->changes || le_depends_on_loose(&g->safety, bounds[b]) ||
             (inside && !le_node_is_safe(&g->safety, bounds[b]))))
            return true;
    return false;
}

/* A FOR gets by with a mask. */
bool le_gen_splits_bounds(struct gen *g, int index) {
    for (int k = 0; k < g->splitting_count; k++)
        if (splits(g, g->splitting[k], index))
            return true;
    return false;
}

static bool depends_on_index(const struct gen *g, int range, int index) {
    const struct le_range_nodes *r = &g->ir->indices.at[range].range;
    return r->low && le_range_of(g->space, range)->dynamic &&
           (le_node_depends(r->low, index) || le_node_depends(r->high, index) ||
            (r->by && le_node_depends(r->by, index)));
}

static bool bounds_others(const struct gen *g, int index) {
    for (int k = 0; k < g->splitting_count; k++)
        if (depends_on_index(g, g->splitting[k], index))
            return true;
    return false;
}

bool le_gen_drives_bounds(const struct gen *g, int index) {
    for (int k = 0; k < g->all_count; k++)
        if (depends_on_index(g, g->all[k], index))
            return true;
    return false;
}

/* Inside of lanes the bounds come out as one number, not as one a lane: a read that may be skipped does not. */
static bool bounds_are_single(struct gen *g, int index) {
    const struct le_range_nodes *r = &g->ir->indices.at[index].range;
    const struct le_node *bounds[] = {r->low, r->high, r->by};
    for (size_t b = 0; r->low && le_range_of(g->space, index)->dynamic && b < ARRAY_LEN(bounds); b++)
        if (bounds[b] && !le_gen_is_equal(g, bounds[b], g->root))
            return false;
    return true;
}

static void find_inner_reduction(struct le_node *node, void *user) {
    struct inner_search *f = user;
    if (node->kind != LE_NODE_REDUCE || node == f->outer)
        return;
    bool depends = le_node_depends_on_any(node, f->outer->indices, f->outer->index_count);
    int64_t extent = le_gen_extent(f->g, node->indices[node->index_count - 1]);
    if (depends && extent > f->extent)
        f->extent = extent;
    for (int k = 0; k < node->index_count; k++)
        f->drives |= bounds_others(f->g, node->indices[k]) || splits(f->g, node->indices[k], f->last) ||
                     !bounds_are_single(f->g, node->indices[k]);
}

/* Whether the reduction's last loop runs in lanes. */
static bool takes_lanes(struct gen *g, struct le_node *node, const struct scope *scope, struct condition c) {
    if (scope->in_lane || c.outside >= 0)
        return false;
    int last = node->indices[node->index_count - 1];
    if (bounds_others(g, last) || le_gen_by_moves(g, last))
        return false;
    struct inner_search f = {.g = g, .outer = node, .last = last};
    le_node_walk(g->ir, node->operands[0], find_inner_reduction, &f);
    return !f.drives && (le_gen_extent(g, last) >= LANE_EXTENT_MIN || le_gen_extent(g, last) >= f.extent);
}

static int levels_for(struct gen *g, const struct le_node *node) {
    int64_t count = 1;
    for (int k = 0; k < node->index_count; k++) {
        const struct le_range *r = le_range_of(g->space, node->indices[k]);
        int64_t extent = r->dynamic ? (r->bounded ? r->high - r->low : (int64_t)1 << 20) : le_range_count(r);
        if (extent > 0 && (!le_mul_i64(count, extent, &count) || count > (int64_t)1 << 46))
            count = (int64_t)1 << 46;
    }
    int levels = 1, open = 0;
    if (le_node_is_chain(node)) { /* the tree is that of units; the open chunk and unit come before it */
        count /= LE_CHAIN_TERMS * LE_CHAIN_CHUNKS;
        open = 2;
    }
    while (levels < 48 && ((int64_t)1 << levels) <= count)
        levels++;
    return open + levels + 1;
}

static struct le_instr accumulate(const struct le_node *node, int code, int d, int a, int b) {
    return (struct le_instr){.code = (uint16_t)code,
                             .type = (uint8_t)node->operands[0]->type,
                             .type2 = (uint8_t)node->type,
                             .d = (uint16_t)d,
                             .a = (uint16_t)a,
                             .b = (uint16_t)b,
                             .c = LE_NO_REG,
                             .e = LE_NO_REG,
                             .imm = node->code};
}

/* Where tasks share out the terms, the first loop heeds clip 0 and a second one, the last, clip 1. */
static struct scope *open_loops(struct gen *g, const struct le_node *node, struct scope *scope, struct condition c,
                                bool lanes, bool cut) {
    int clip = cut ? 0 : -1;
    for (int k = 0; k < node->index_count; k++) {
        int index = node->indices[k];
        if (g->merged_into[index] != index)
            continue;
        scope = le_gen_open(g, scope, index, lanes && k + 1 == node->index_count, clip, c);
        if (cut)
            clip++;
    }
    return scope;
}

struct added_term le_gen_term(struct gen *g, const struct le_node *node, struct scope *scope, struct condition c) {
    struct le_node *term = node->operands[0];
    if (!le_node_adds_products(node))
        return (struct added_term){le_gen_use(g, le_gen_node(g, term, scope, c), scope), LE_NO_REG};
    struct operand *x = le_gen_node(g, term->operands[0], scope, c), *y = le_gen_node(g, term->operands[1], scope, c);
    int first = le_gen_use(g, x, scope);
    return (struct added_term){first, le_gen_use(g, y, scope)};
}

/* Several reductions over the same indices run in one loop nest. */
static void generate_reductions(struct gen *g, struct le_node *const *nodes, int count, struct scope *scope,
                                struct condition c, bool cut, struct operand **totals) {
    bool lanes = true, by_lane = scope->in_lane;
    for (int k = 0; k < count; k++)
        lanes = lanes && takes_lanes(g, nodes[k], scope, c);
    int acc[ARRAY_LEN(g->nodes)];
    for (int k = 0; k < count; k++) {
        acc[k] = le_gen_reg(g, by_lane ? LE_REG_VEC : LE_REG_ACC, nodes[k]->operands[0]->type);
        g->regs.at[acc[k]].levels = levels_for(g, nodes[k]);
        le_gen_emit(g, scope,
                    accumulate(nodes[k], by_lane ? LE_CODE_VEC_INIT : LE_CODE_ACC_INIT, acc[k], LE_NO_REG, LE_NO_REG));
    }
    struct scope *inner = open_loops(g, nodes[0], scope, c, lanes, cut);
    for (int k = 0; k < count; k++) {
        struct added_term term = le_gen_term(g, nodes[k], inner, c);
        if (le_node_is_arg(nodes[k]))
            term.second = le_gen_use(g, le_gen_node(g, le_node_index(g->ir, nodes[k]->indices[0]), inner, c), inner);
        le_gen_emit(g, inner,
                    accumulate(nodes[k], by_lane ? LE_CODE_VEC_ADD : LE_CODE_ACC_ADD, acc[k], term.first, term.second));
    }
    for (struct scope *s = inner; s != scope; s = s->parent)
        le_gen_close(g, s);
    for (int k = 0; k < count; k++) {
        int d = le_gen_result(g, scope, nodes[k]->type);
        le_gen_emit(g, scope, accumulate(nodes[k], by_lane ? LE_CODE_VEC_END : LE_CODE_ACC_END, d, acc[k], LE_NO_REG));
        totals[k] = LE_NEW(g->arena, struct operand);
        *totals[k] = (struct operand){.reg = d, .scope = scope, .vector = by_lane, .splat = -1};
    }
}

/* Inside of lanes a short one is written out: parts of a term that do not change in a loop around are then computed
 * once, outside of that loop. */
static bool is_short(const struct gen *g, const struct le_node *node) {
    return le_is_short(&g->safety, node, SHORT_TERMS, SHORT_COST);
}

struct operand *le_gen_reduce(struct gen *g, struct le_node *node, struct scope *scope, struct condition c) {
    struct operand *total;
    if (scope->in_lane && le_gen_is_row_sum(g, node))
        return le_gen_rows(g, node, scope, c);
    if (scope->in_lane && is_short(g, node))
        return le_gen_node(g, le_written_out(g->ir, g->space, node), scope, c);
    generate_reductions(g, &node, 1, scope, c, false, &total);
    return total;
}

bool le_gen_reduce_both(struct gen *g, struct le_node *const nodes[2], struct scope *scope, struct condition c,
                        struct operand *totals[2]) {
    for (int k = 0; k < 2; k++)
        if (scope->in_lane && (le_gen_is_row_sum(g, nodes[k]) || is_short(g, nodes[k])))
            return false;
    generate_reductions(g, nodes, 2, scope, c, false, totals);
    return true;
}

void le_gen_reduce_parts(struct gen *g, struct operand **totals) {
    generate_reductions(g, g->nodes, g->node_count, g->base, (struct condition){.outside = -1}, true, totals);
}

int64_t le_gen_cuttable(struct gen *g, struct le_node *node, int64_t *row_count) {
    int loops = 0;
    int64_t terms = 1;
    *row_count = 0;
    if (le_node_is_arg(node))
        return 0;
    if (!takes_lanes(g, node, g->base, (struct condition){.outside = -1}))
        return 0;
    for (int k = 0; k < node->index_count; k++) {
        int index = node->indices[k];
        if (g->merged_into[index] != index)
            continue;
        if (le_range_of(g->space, index)->dynamic || !le_mul_i64(terms, le_gen_extent(g, index), &terms))
            return 0;
        if (loops++ > 0)
            *row_count = le_gen_extent(g, index);
    }
    return loops <= 2 ? terms : 0;
}
