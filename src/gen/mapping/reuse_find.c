/* See reuse.h: which indices of the points are rows, which are columns, and what is kept in shared memory. */
#include "gen/mapping/reuse.h"

#define EXTENT_MAX ((int64_t)1 << 30)
#define MASK_BITS  31
#define APART      4

static bool add_index(const struct codegen *c, struct reuse_loop *to, int index) {
    int64_t count = le_range_count(le_range_of(c->space, index));
    if (to->count == POINTS_MAX || !le_mul_i64(to->total, count, &to->total) || to->total >= EXTENT_MAX)
        return false;
    to->at[to->count++] = index;
    return true;
}

/* ---- which loads depend on an index: a set of bits */

struct load_search {
    struct reuse *r;
    struct le_node *loads[LOADS_MAX]; /* that depend on the terms */
    int count;
    bool fits;
};

static void find_load(struct load_search *s, struct le_node *node, int epoch) {
    const struct group *g = &s->r->t.groups[0];
    if (!s->fits || le_note_met(s->r->c.notes, node, epoch))
        return;
    s->fits = node->kind != LE_NODE_REDUCE && node->kind != LE_NODE_REGION && !node->changes;
    if (node->kind == LE_NODE_LOAD && le_node_depends_on_any(node, g->indices, g->index_count)) {
        s->fits = s->count < LOADS_MAX;
        if (s->fits)
            s->loads[s->count++] = node;
        return;
    }
    for (int k = 0; k < node->operand_count && s->fits; k++)
        find_load(s, node->operands[k], epoch);
}

static unsigned loads_of(const struct load_search *s, int index) {
    unsigned set = 0;
    for (int k = 0; k < s->count; k++)
        set |= le_node_depends(s->loads[k], index) ? 1u << k : 0;
    return set;
}

/* An index whose loads all depend on this side belongs to it; one that loads of both sides depend on is of the batch.
 */
static bool sort_indices(struct reuse *r, const struct load_search *s, unsigned rows, unsigned columns) {
    r->rows.lines = r->columns.lines = r->batch = (struct reuse_loop){.total = 1};
    for (int k = 0; k < r->t.points_count; k++) {
        int index = r->t.points_at[k];
        unsigned set = loads_of(s, index);
        struct reuse_loop *to = set && !(set & ~rows)      ? &r->rows.lines
                                : set && !(set & ~columns) ? &r->columns.lines
                                                           : &r->batch;
        if (!add_index(&r->c, to, index))
            return false;
    }
    return true;
}

/* ---- leaves */

static bool depends(const struct le_node *node, const struct reuse_loop *loop) {
    return le_node_depends_on_any(node, loop->at, loop->count);
}

static bool add_leaf(struct reuse_side *side, struct le_node *node) {
    for (int k = 0; k < side->leaf_count; k++)
        if (side->leaves[k] == node)
            return true;
    if (side->leaf_count == LEAVES_MAX || (side->leaf_count && side->leaves[0]->type != node->type) ||
        node->type == LE_BOOL)
        return false;
    side->leaves[side->leaf_count++] = node;
    return true;
}

static bool find_leaves(struct reuse *r, struct le_node *node, int epoch) {
    bool left = depends(node, &r->rows.lines), right = depends(node, &r->columns.lines);
    if ((!left && !right) || le_note_met(r->c.notes, node, epoch))
        return true;
    if (!left || !right)
        return add_leaf(left ? &r->rows : &r->columns, node);
    if (node->kind != LE_NODE_OP && node->kind != LE_NODE_CAST && node->kind != LE_NODE_ROUND &&
        node->kind != LE_NODE_SELECT)
        return false;
    for (int k = 0; k < node->operand_count; k++)
        if (!find_leaves(r, node->operands[k], epoch))
            return false;
    return true;
}

static bool find_all_leaves(struct reuse *r) {
    const struct group *g = &r->t.groups[0];
    int epoch = ++r->c.notes->epoch;
    r->rows.leaf_count = r->columns.leaf_count = 0;
    for (int k = 0; k < g->node_count; k++)
        if (!find_leaves(r, g->bodies[k], epoch))
            return false;
    return r->rows.leaf_count > 0 && r->columns.leaf_count > 0;
}

/* Whether neighbours in memory of what the side reads differ in the term. Lines that lie a few elements apart are
 * neighbours, too: the next terms read what lies between, and a thread has fewer lines. */
static bool is_by_terms(const struct reuse *r, const struct reuse_side *side, const struct load_search *s) {
    const struct group *g = &r->t.groups[0];
    int last = g->indices[g->index_count - 1], line = side->lines.at[side->lines.count - 1];
    int by_term = 0;
    for (int k = 0; k < s->count; k++) {
        const struct le_address address = le_load_address(r->c.layouts, s->loads[k]);
        int64_t term = 0, across = 0;
        if (!depends(s->loads[k], &side->lines) || !le_address_stride(r->c.space, &address, last, &term) ||
            !le_address_stride(r->c.space, &address, line, &across))
            continue;
        term = term < 0 ? -term : term;
        across = across < 0 ? -across : across;
        by_term += term != 0 && (across == 0 || APART * term <= across) ? 1 : -1;
    }
    return by_term > 0;
}

/* The columns are to run along the target's last axis. */
static void order_sides(struct reuse *r) {
    const struct le_stage *stage = r->c.stage;
    const struct le_node *last = stage->left[stage->left_count - 1];
    if (!depends(last, &r->rows.lines) || depends(last, &r->columns.lines))
        return;
    struct reuse_side rows = r->rows;
    r->rows = r->columns;
    r->columns = rows;
}

/* ---- where values are */

/* Whether the node is the sum of what the side's lines and what the terms add, whatever these are. */
static bool is_sum(const struct reuse *r, const struct reuse_side *side, const struct le_node *node) {
    const struct group *g = &r->t.groups[0];
    if (!depends(node, &side->lines) || !le_node_depends_on_any(node, g->indices, g->index_count))
        return true;
    if (node->kind != LE_NODE_OP || node->type != LE_I64)
        return false;
    const struct le_node *const *x = (const struct le_node *const *)node->operands;
    if (node->code == LE_OP_NEG)
        return is_sum(r, side, x[0]);
    if (node->code != LE_OP_ADD && node->code != LE_OP_SUB && node->code != LE_OP_MUL)
        return false;
    if (!is_sum(r, side, x[0]) || !is_sum(r, side, x[1]))
        return false;
    bool varies[2];
    for (int k = 0; k < 2; k++)
        varies[k] = depends(x[k], &side->lines) || le_node_depends_on_any(x[k], g->indices, g->index_count);
    return node->code != LE_OP_MUL || !varies[0] || !varies[1];
}

#define SUBSCRIPT_MAX ((int64_t)1 << 29) /* an int holds differences of such numbers */

/* Whether an int holds the offset along all axes, also where subscripts are out of range. */
static bool reaches_outside(const struct reuse *r, const struct le_node *leaf) {
    const struct le_layout *layout = &r->c.layouts[leaf->value];
    int64_t low, high, reach = layout->offset, step;
    for (int d = 0; d < leaf->operand_count; d++) {
        if (!le_interval(r->c.space, leaf->operands[d], &low, &high) || low < -SUBSCRIPT_MAX || high > SUBSCRIPT_MAX)
            return false;
        int64_t most = -low > high ? -low : high, stride = layout->strides[d];
        if (!le_mul_i64(most, stride < 0 ? -stride : stride, &step) || !le_add_i64(reach, step, &reach) ||
            reach > SUBSCRIPT_MAX)
            return false;
    }
    return reach >= 0;
}

/* Finds the numbers that terms add to the subscript. */
static bool find_added(const struct reuse *r, struct le_node *subscript, int64_t *least, int64_t *count) {
    const struct group *g = &r->t.groups[0];
    struct le_affine f;
    int64_t added, all;
    *least = 0;
    *count = 1;
    if (!le_affine_of(r->c.space, subscript, &f))
        return false;
    for (int k = 0; k < f.count; k++) {
        bool of_terms = false;
        for (int n = 0; n < g->index_count; n++)
            of_terms |= f.index[k] == g->indices[n];
        if (!of_terms)
            continue;
        const struct le_range *range = le_range_of(r->c.space, f.index[k]);
        if (!le_mul_i64(f.factor[k], le_range_last(range) - range->low, &added) ||
            !le_add_i64(*count, added < 0 ? -added : added, &all) || all > MASK_BITS)
            return false;
        *count = all;
        *least += added < 0 ? added : 0;
    }
    return true;
}

/* Whether a set of bits has room for the numbers that terms add to the edges. */
static bool fit_mask(const struct reuse *r, const struct le_node *leaf, struct reuse_place *place) {
    int64_t bits = 0;
    if (!place->whole || place->edge_count == 0)
        return false;
    for (int k = 0; k < place->edge_count; k++) {
        if (!find_added(r, leaf->operands[place->edges[k]], &place->least[k], &place->counts[k]))
            return false;
        bits += place->counts[k];
    }
    return bits <= MASK_BITS;
}

struct reuse_place le_reuse_place(const struct reuse *r, const struct reuse_side *side, const struct le_node *leaf) {
    const struct le_address address = le_load_address(r->c.layouts, leaf);
    struct reuse_place place = {.is_sum = leaf->kind == LE_NODE_LOAD && leaf->operand_count > 0 && !leaf->live};
    for (int d = 0; d < leaf->operand_count && place.is_sum; d++) {
        if (le_address_is_stretched(&address, d))
            continue;
        place.is_sum = is_sum(r, side, leaf->operands[d]);
        if (leaf->trusted || le_axis_is_safe(r->c.space, &address, d))
            place.axes |= 1u << d;
        else
            place.edges[place.edge_count++] = d;
    }
    place.is_sum &= place.edge_count < PARTS_MAX;
    if (place.edge_count > 0 && leaf->fill && leaf->fill->free_count > 0)
        place.is_sum = false;
    place.whole = place.edge_count == 0 || (leaf->edge == LE_EDGE_FILL && reaches_outside(r, leaf));
    place.masked = place.is_sum && fit_mask(r, leaf, &place);
    return place;
}

/* Whether an int cannot say where the leaf's values are. */
static bool needs_long(const struct reuse *r, const struct le_node *leaf, const struct reuse_place *place) {
    int64_t low, high;
    if (place->is_sum && !le_codegen_reaches_in_int(&r->c, leaf->value))
        return true;
    for (int k = 0; k < place->edge_count && place->is_sum; k++)
        if (!le_interval(r->c.space, leaf->operands[place->edges[k]], &low, &high) || low < -SUBSCRIPT_MAX ||
            high > SUBSCRIPT_MAX)
            return true;
    return false;
}

static void find_places(struct reuse *r, struct reuse_side *side) {
    side->parts = 1;
    for (int k = 0; k < side->leaf_count; k++) {
        const struct reuse_place place = le_reuse_place(r, side, side->leaves[k]);
        int parts = !place.is_sum || place.masked ? 2 : 1 + place.edge_count;
        side->parts = parts > side->parts ? parts : side->parts;
        r->wide |= needs_long(r, side->leaves[k], &place);
    }
}

static bool has_order(const struct group *g) {
    for (int k = 0; k < g->node_count; k++)
        if (le_node_is_ordered(g->nodes[k]))
            return true;
    return false;
}

static bool fits(const struct reuse *r) {
    const struct team_stage *t = &r->t;
    const struct group *g = &t->groups[0];
    if (t->group_count != 1 || t->rest_count > 0 || t->points_count < 2 || t->sibling_count >= GROUP_NODES ||
        g->terms == 0 || g->terms >= EXTENT_MAX || (has_order(g) && !g->chain))
        return false;
    for (int k = 0; k < g->node_count; k++)
        if (!le_node_is_safe(&r->c.safety, g->bodies[k]))
            return false;
    return r->c.stage->left_count > 0 && le_node_is_safe(&r->c.safety, r->c.stage->node);
}

bool le_reuse_find(struct reuse *r) {
    const struct group *g = &r->t.groups[0];
    struct load_search s = {.r = r, .fits = true};
    if (!fits(r))
        return false;
    int epoch = ++r->c.notes->epoch;
    for (int k = 0; k < g->node_count; k++)
        find_load(&s, g->bodies[k], epoch);
    for (int a = 0; s.fits && a < r->t.points_count; a++)
        for (int b = a + 1; b < r->t.points_count; b++) {
            unsigned rows = loads_of(&s, r->t.points_at[a]), columns = loads_of(&s, r->t.points_at[b]);
            if (!rows || !columns || (rows & columns) || !sort_indices(r, &s, rows, columns) || !find_all_leaves(r))
                continue;
            order_sides(r);
            r->rows.by_terms = is_by_terms(r, &r->rows, &s);
            r->columns.by_terms = is_by_terms(r, &r->columns, &s);
            r->wide = false;
            find_places(r, &r->rows);
            find_places(r, &r->columns);
            r->table = g->index_count > 1;
            return true;
        }
    return false;
}
