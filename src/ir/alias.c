/* Whether a stage may write in place into an array that it reads. It may if each element it reads is the one it writes
 * at that point, or is disjoint on some axis from everything it writes, for all values of host indices and scalars. If
 * neither can be shown but the stage writes a box, the caller may compute the box elsewhere and copy it.
 *
 * A subscript is a sum of *terms*: indices of the stage, and any other nodes that are constant while the stage runs.
 * Nothing is known about those except that equal nodes have equal values. */
#include "ir/alias.h"
#include <stdlib.h>

/* ---- sums of terms */

#define TERMS_MAX 12
struct sum {
    int64_t constant;
    int count;
    struct le_node *term[TERMS_MAX];
    int64_t factor[TERMS_MAX];
};

static bool add_term(struct sum *f, struct le_node *term, int64_t factor) {
    for (int k = 0; k < f->count; k++)
        if (f->term[k] == term) {
            if (!le_add_i64(f->factor[k], factor, &f->factor[k]))
                return false;
            if (f->factor[k] == 0) {
                f->term[k] = f->term[--f->count];
                f->factor[k] = f->factor[f->count];
            }
            return true;
        }
    if (f->count == TERMS_MAX)
        return false;
    f->term[f->count] = term;
    f->factor[f->count++] = factor;
    return true;
}

static bool add_node(const struct le_space *space, struct sum *f, struct le_node *node, int64_t factor);

static bool add_operation(const struct le_space *space, struct sum *f, struct le_node *node, int64_t factor) {
    struct le_node *const *x = node->operands;
    int64_t scaled;
    if (node->code == LE_OP_NEG)
        return le_mul_i64(factor, -1, &scaled) && add_node(space, f, x[0], scaled);
    if (node->code == LE_OP_ADD)
        return add_node(space, f, x[0], factor) && add_node(space, f, x[1], factor);
    if (node->code == LE_OP_SUB)
        return add_node(space, f, x[0], factor) && le_mul_i64(factor, -1, &scaled) && add_node(space, f, x[1], scaled);
    for (int k = 0; node->code == LE_OP_MUL && k < 2; k++)
        if (le_node_is_const(x[k]))
            return le_mul_i64(factor, le_const_i64(x[k]), &scaled) && add_node(space, f, x[1 - k], scaled);
    return le_node_is_hosts(space->ir, node) && add_term(f, node, factor);
}

static bool add_node(const struct le_space *space, struct sum *f, struct le_node *node, int64_t factor) {
    int64_t x;
    if (node->type != LE_I64)
        return false;
    if (factor == 0)
        return true;
    if (node->kind == LE_NODE_CONST)
        return le_mul_i64(le_const_i64(node), factor, &x) && le_add_i64(f->constant, x, &f->constant);
    if (node->kind == LE_NODE_LEN && space->shaped[node->symbol])
        return le_mul_i64(space->shape[node->symbol][node->axis], factor, &x) &&
               le_add_i64(f->constant, x, &f->constant);
    if (node->kind == LE_NODE_OP)
        return add_operation(space, f, node, factor);
    return (node->kind == LE_NODE_INDEX || le_node_is_hosts(space->ir, node)) && add_term(f, node, factor);
}

/* ---- extremes: the greatest or smallest value of a sum, in terms of constant nodes */

static int stage_term(const struct le_ir *ir, const struct sum *f) {
    for (int k = 0; k < f->count; k++)
        if (f->term[k]->kind == LE_NODE_INDEX && !ir->indices.at[f->term[k]->index].host)
            return k;
    return -1;
}

/* Replaces an index by one of its bounds: by the node of the bound, or by its number if that is known. */
static bool add_end(const struct le_space *space, struct sum *f, int index, int64_t factor, bool upper) {
    const struct le_range_nodes *bounds = &space->ir->indices.at[index].range;
    const struct le_range *r = &space->ranges[index];
    const bool highest = (factor > 0) == upper;
    struct le_node *bound = highest ? bounds->high : bounds->low;
    struct sum with = *f;
    int64_t end;
    if (highest && (!le_mul_i64(factor, -1, &end) || !le_add_i64(with.constant, end, &with.constant)))
        return false;
    *f = with; /* the last value is one below the high bound */
    if (bound && add_node(space, &with, bound, factor)) {
        *f = with;
        return true;
    }
    if (!r->solved || (r->dynamic && !r->bounded))
        return false;
    return le_mul_i64(highest ? r->high : r->low, factor, &end) && le_add_i64(f->constant, end, &f->constant);
}

static bool add_extreme(const struct le_space *space, struct sum *f, struct le_node *subscript, bool upper) {
    *f = (struct sum){0};
    if (!add_node(space, f, subscript, 1))
        return false;
    for (int k = stage_term(space->ir, f); k >= 0; k = stage_term(space->ir, f)) {
        int index = f->term[k]->index;
        int64_t factor = f->factor[k];
        f->term[k] = f->term[--f->count];
        f->factor[k] = f->factor[f->count];
        if (!add_end(space, f, index, factor, upper))
            return false;
    }
    return true;
}

/* ---- disjoint subscripts */

/* Whether the sum is above 0 for all values of its terms. */
static bool is_positive(const struct le_space *space, const struct sum *f) {
    int64_t least = f->constant, x;
    for (int k = 0; k < f->count; k++) {
        const struct le_range *r = &space->ranges[f->term[k]->kind == LE_NODE_INDEX ? f->term[k]->index : 0];
        if (f->term[k]->kind != LE_NODE_INDEX || !r->solved || (r->dynamic && !r->bounded) || r->high <= r->low)
            return false;
        if (!le_mul_i64(f->factor[k] > 0 ? r->low : r->high - 1, f->factor[k], &x) || !le_add_i64(least, x, &least))
            return false;
    }
    return least > 0;
}

/* Whether every value of `high` is above every value of `low`. */
static bool lies_above(const struct le_space *space, struct le_node *high, struct le_node *low) {
    struct sum difference, most;
    int64_t x;
    if (!add_extreme(space, &difference, high, false) || !add_extreme(space, &most, low, true))
        return false;
    for (int k = 0; k < most.count; k++)
        if (!le_mul_i64(most.factor[k], -1, &x) || !add_term(&difference, most.term[k], x))
            return false;
    return le_mul_i64(most.constant, -1, &x) && le_add_i64(difference.constant, x, &difference.constant) &&
           is_positive(space, &difference);
}

struct base_reads {
    const struct le_space *space;
    const struct le_stage *stage;
    int value;
    bool all_safe; /* every read is of the element being written, or disjoint from all writes */
};

static bool is_written_element(const struct base_reads *r, const struct le_node *load) {
    bool own = r->stage->kind == LE_STAGE_MAP || r->stage->kind == LE_STAGE_CONTRACT;
    for (int d = 0; own && d < load->operand_count; d++)
        own = load->operands[d] == r->stage->left[d];
    return own;
}

static bool is_disjoint(const struct base_reads *r, const struct le_node *load) {
    for (int d = load->stretch; d < load->operand_count; d++)
        if (lies_above(r->space, load->operands[d], r->stage->left[d]) ||
            lies_above(r->space, r->stage->left[d], load->operands[d]))
            return true;
    return false;
}

static void find_read(struct le_node *node, void *user) {
    struct base_reads *r = user;
    if (node->kind == LE_NODE_LOAD && !node->live && node->value == r->value && r->all_safe)
        r->all_safe = node->edge == LE_EDGE_NONE && node->operand_count == r->stage->left_count &&
                      (is_written_element(r, node) || is_disjoint(r, node));
}

static void find_any(struct le_node *node, void *user) {
    struct base_reads *r = user;
    r->all_safe &= node->kind != LE_NODE_LOAD || node->value != r->value;
}

/* Bounds may be evaluated again at any time while the stage writes. */
static void walk_bounds(struct le_ir *ir, const struct le_stage *stage, void (*visit)(struct le_node *node, void *user),
                        void *user) {
    for (int q = 0; q < stage->index_count; q++) {
        const struct le_range_nodes *range = &ir->indices.at[stage->indices[q]].range;
        struct le_node *bounds[] = {range->low, range->high, range->by};
        for (size_t b = 0; b < ARRAY_LEN(bounds); b++)
            if (bounds[b])
                le_node_walk(ir, bounds[b], visit, user);
    }
}

bool le_alias_is_safe(const struct le_space *space, const struct le_stage *stage, int base) {
    struct base_reads r = {.space = space, .stage = stage, .value = base, .all_safe = true};
    le_node_walk_through(space->ir, stage->node, find_read, &r);
    if (stage->product)
        le_node_walk(space->ir, stage->product, find_read, &r);
    for (int d = 0; d < stage->left_count; d++)
        le_node_walk(space->ir, stage->left[d], find_read, &r);
    walk_bounds(space->ir, stage, find_any, &r);
    return r.all_safe;
}

/* ---- all bases of an EACH. It may write anywhere, so no read of a base is safe, except live loads of what the element
 * itself has written */

struct base {
    int value, pair;
};

struct bases {
    struct base *at; /* by value */
    int count;
    bool *safe; /* by pair */
};

static int by_value(const void *a, const void *b) {
    const struct base *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

static void find_base(struct le_node *node, void *user) {
    const struct bases *bases = user;
    const struct base key = {.value = node->value}, *end = bases->at + bases->count, *found;
    if (node->kind != LE_NODE_LOAD || node->live)
        return;
    found = bsearch(&key, bases->at, (size_t)bases->count, sizeof key, by_value);
    while (found && found > bases->at && found[-1].value == key.value)
        found--;
    for (; found && found < end && found->value == key.value; found++)
        bases->safe[found->pair] = false;
}

bool *le_alias_safe_bases(const struct le_space *space, const struct le_stage *stage, struct le_arena *arena) {
    struct bases bases = {.at = LE_NEW_ARRAY(arena, stage->pair_count, struct base),
                          .count = stage->pair_count,
                          .safe = LE_NEW_ARRAY(arena, stage->pair_count, bool)};
    for (int k = 0; k < stage->pair_count; k++) {
        bases.at[k] = (struct base){.value = stage->pairs[k].source, .pair = k};
        bases.safe[k] = true;
    }
    qsort(bases.at, (size_t)bases.count, sizeof *bases.at, by_value);
    le_node_walk_through(space->ir, stage->node, find_base, &bases);
    walk_bounds(space->ir, stage, find_base, &bases);
    return bases.safe;
}

/* ---- boxes */

static bool is_fixed(const struct le_ir *ir, const struct le_node *node) {
    return !node || le_node_is_hosts(ir, node);
}

bool le_alias_writes_box(const struct le_ir *ir, const struct le_stage *stage) {
    int own = 0;
    for (int d = 0; d < stage->left_count; d++) {
        const struct le_node *x = stage->left[d];
        if (le_node_is_hosts(ir, x))
            continue;
        if (x->kind != LE_NODE_INDEX)
            return false;
        const struct le_range_nodes *r = &ir->indices.at[x->index].range;
        if (r->by || !is_fixed(ir, r->low) || !is_fixed(ir, r->high))
            return false;
        for (int q = 0; q < d; q++)
            if (stage->left[q] == x)
                return false;
        own++;
    }
    return stage->kind == LE_STAGE_MAP && own == stage->index_count;
}
