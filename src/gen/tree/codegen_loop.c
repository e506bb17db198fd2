/* Indices: their ranges as loops of one thread, and the distribution of the kept indices' points over the threads. */
#include "gen/tree/codegen.h"

#define SHORT_TERMS 32

void le_codegen_bind(struct codegen *c, struct le_block *block, int index, struct le_expression *x) {
    *LE_PUSH(c->arena, &block->binds) = index;
    c->indices[index] = (struct held){.x = x, .block = block};
}

void le_codegen_bind_value(struct codegen *c, struct le_block *block, int index, struct le_expression *x) {
    struct le_variable *variable = le_codegen_index_variable(c, index, x->type);
    le_ktree_add(c->tree, block, (struct le_statement){.kind = LE_STATEMENT_LET, .variable = variable, .x = x});
    le_codegen_bind(c, block, index, le_ktree_use(c->tree, variable));
}

void le_codegen_split(struct codegen *c, struct le_block *block, struct le_expression *position, int type,
                      struct le_expression *const *extents, int count, struct le_expression **places) {
    struct le_kernel_tree *t = c->tree;
    bool first = position->kind == LE_EXPRESSION_CONSTANT && position->bits == 0;
    for (int k = 0; k < count && first; k++)
        places[k] = position;
    for (int k = count - 1; k > 0 && !first; k--) {
        struct le_expression *extent = le_ktree_cast(t, type, extents[k]);
        position = le_ktree_cast(t, type, position);
        struct le_expression *rest = le_let(t, block, "rest", le_ktree_quotient(t, position, extent));
        places[k] = le_let(t, block, "place", le_minus(t, position, le_times(t, rest, extent)));
        position = rest;
    }
    if (count > 0 && !first)
        places[0] = position;
}

/* ---- ranges */

/* A range in the kernel. */
struct range {
    const struct le_ir_index *ix;
    const struct le_range *known;
    int type;                              /* of the index */
    struct le_expression *low, *high, *by; /* by NULL: 1; high NULL: not a parameter yet */
};

struct le_expression *le_codegen_index_number(struct codegen *c, int index, const char *what, int64_t value, int type) {
    const char *name = le_codegen_index_name(c, index);
    return le_ktree_cast(c->tree, type, le_codegen_number(c, le_arena_format(c->arena, "%s_%s", name, what), value));
}

int le_codegen_index_type(const struct codegen *c, int index, int64_t past) {
    const struct le_range *r = le_range_of(c->space, index);
    bool narrow = le_codegen_fits_int(r->low, r->high) && r->by <= INT32_MAX && r->high <= INT32_MAX - r->by - past;
    return narrow ? LE_KTREE_INT : LE_KTREE_LONG;
}

static void find_fixed(struct codegen *c, int index, struct range *r) {
    const struct le_range *k = r->known;
    r->low = k->low == 0 ? le_ktree_constant(c->tree, r->type, 0)
                         : le_codegen_index_number(c, index, "low", k->low, r->type);
    r->by = k->by == 1 ? NULL : le_codegen_index_number(c, index, "by", k->by, r->type);
}

/* A step that is not positive is a fault. */
static void ask_step(struct codegen *c, struct le_block *block, struct le_variable *outside, struct le_expression *by) {
    struct le_kernel_tree *t = c->tree;
    struct le_expression *x = le_ktree_binary(t, LE_OP_LE, by, le_ktree_long(t, 0));
    if (outside)
        x = le_both(t, x, le_ktree_not(t, le_ktree_use(t, outside)));
    struct le_block *inner = le_ktree_open_if(t, block, x);
    le_codegen_add_fault(c, inner, LE_FAULT_STEP, by);
    le_ktree_close(t, inner);
}

/* Bounds that the kernel computes. */
static void find_dynamic(struct codegen *c, struct le_block *block, struct le_variable *outside, struct range *r) {
    const struct le_range_nodes *nodes = &r->ix->range;
    struct le_kernel_tree *t = c->tree;
    struct le_expression *low = le_codegen_node(c, nodes->low, block, outside);
    struct le_expression *high = le_codegen_node(c, nodes->high, block, outside);
    r->type =
        le_ktree_is_narrow(low->type) && le_ktree_is_narrow(high->type) && !nodes->by ? LE_KTREE_INT : LE_KTREE_LONG;
    r->low = le_ktree_cast(t, r->type, low);
    r->high = le_ktree_cast(t, r->type, high);
    if (!nodes->by)
        return;
    r->by = le_to_long(t, le_codegen_node(c, nodes->by, block, outside));
    bool is_positive = nodes->by->kind == LE_NODE_CONST && le_const_i64(nodes->by) > 0;
    if (is_positive && le_const_i64(nodes->by) <= INT32_MAX)
        return;
    if (!is_positive)
        ask_step(c, block, outside, r->by);
    struct le_expression *x[] = {r->low, r->high, r->by};
    r->by = le_let(t, block, "step", le_ktree_call(t, LE_CALL_STEP, LE_KTREE_LONG, NULL, x));
    struct le_expression *steps = le_greater(t, r->by, le_ktree_long(t, 0));
    r->high = le_let(t, block, "end", le_ktree_select(t, steps, r->high, r->low));
}

static struct le_expression *end_of(struct codegen *c, int index, const struct range *r) {
    return r->high ? r->high : le_codegen_index_number(c, index, "high", r->known->high, r->type);
}

static struct range find_range(struct codegen *c, int index, struct le_block *block, struct le_variable *outside) {
    struct range r = {.ix = &c->ir->indices.at[index], .known = le_range_of(c->space, index)};
    if (r.known->dynamic) {
        find_dynamic(c, block, outside, &r);
    } else {
        r.type = le_codegen_index_type(c, index, 0);
        find_fixed(c, index, &r);
    }
    return r;
}

static struct le_expression *value_at(struct codegen *c, const struct range *r, struct le_expression *place) {
    struct le_expression *x = le_ktree_cast(c->tree, r->type, place);
    return le_plus(c->tree, r->low, r->by ? le_times(c->tree, x, r->by) : x);
}

struct le_expression *le_codegen_index_value(struct codegen *c, int index, int type, struct le_expression *place) {
    struct range r = {.known = le_range_of(c->space, index), .type = type};
    find_fixed(c, index, &r);
    return value_at(c, &r, place);
}

static struct le_block *open_range(struct codegen *c, struct le_block *block, int index, const struct range *r) {
    struct le_variable *variable = le_codegen_index_variable(c, index, r->type);
    struct le_block *inner =
        le_ktree_open_loop(c->tree, block, LE_ROLE_SERIAL, variable, r->low, end_of(c, index, r), r->by);
    le_codegen_bind(c, inner, index, le_ktree_use(c->tree, variable));
    return inner;
}

struct le_block *le_codegen_loop(struct codegen *c, struct le_block *block, int index, struct le_variable *outside) {
    struct range r = find_range(c, index, block, outside);
    return open_range(c, block, index, &r);
}

struct le_block *le_codegen_run(struct codegen *c, struct le_block *block, int index, bool down) {
    struct range r = find_range(c, index, block, NULL);
    struct le_block *inner = open_range(c, block, index, &r);
    inner->owner->down = down;
    return inner;
}

struct le_block *le_codegen_part_loop(struct codegen *c, struct le_block *block, int index, struct le_expression *part,
                                      struct le_expression *size) {
    struct le_kernel_tree *t = c->tree;
    struct range r = find_range(c, index, block, NULL);
    struct le_expression *by = le_to_long(t, r.by ? r.by : le_ktree_long(t, 1));
    struct le_expression *turn = le_let(t, block, "turn", le_times(t, part, size));
    struct le_expression *first = le_let(t, block, "first", le_plus(t, r.low, le_times(t, turn, by)));
    struct le_expression *last = le_let(t, block, "last", le_plus(t, first, le_times(t, size, by)));
    struct le_variable *variable = le_codegen_index_variable(c, index, LE_KTREE_LONG);
    struct le_expression *end = le_to_long(t, end_of(c, index, &r));
    struct le_block *inner = le_ktree_open_loop(t, block, LE_ROLE_SERIAL, variable, first, end, by);
    inner->owner->guard = le_less(t, le_ktree_use(t, variable), last);
    le_codegen_bind(c, inner, index, le_ktree_use(t, variable));
    return inner;
}

/* ---- the element's number, for faults */

static int64_t most_of(const struct le_range *r) {
    if (r->dynamic)
        return r->bounded && r->high > r->low ? r->high - r->low : (int64_t)1 << 20;
    return le_range_count(r);
}

/* How many values of the index come before the current one. */
static struct le_expression *place_of(struct codegen *c, int index, const struct le_range *r) {
    struct le_kernel_tree *t = c->tree;
    if (!c->indices[index].x)
        return le_ktree_long(t, 0); /* it has no value yet */
    struct le_expression *at = le_to_long(t, c->indices[index].x);
    if (r->low != 0 && (!r->dynamic || r->bounded))
        at = le_minus(t, at, le_codegen_index_number(c, index, "low", r->low, LE_KTREE_LONG));
    if (r->by != 1 && !r->dynamic)
        at = le_ktree_quotient(t, at, le_codegen_index_number(c, index, "by", r->by, LE_KTREE_LONG));
    return at;
}

struct le_expression *le_codegen_point(struct codegen *c) {
    const struct le_stage *stage = c->stage;
    struct le_kernel_tree *t = c->tree;
    struct le_expression *point = NULL;
    for (int k = 0; k < stage->index_count; k++) {
        int index = stage->indices[k];
        const struct le_range *r = le_range_of(c->space, index);
        struct le_expression *most = le_codegen_index_number(c, index, "most", most_of(r), LE_KTREE_LONG);
        struct le_expression *at = place_of(c, index, r);
        point = point ? le_plus(t, le_times(t, point, most), at) : at;
    }
    point = point ? le_ktree_cast(t, LE_KTREE_ULONG, point) : le_ktree_constant(t, LE_KTREE_ULONG, 0);
    if (!c->terms)
        return point;
    struct le_expression *count = le_plus(t, c->terms, le_ktree_int(t, 1));
    return le_plus(t, le_times(t, point, le_ktree_cast(t, LE_KTREE_ULONG, count)),
                   le_ktree_cast(t, LE_KTREE_ULONG, c->term ? c->term : c->terms));
}

/* ---- threads to points */

struct shared {
    int at[16]; /* kept indices that are distributed over threads */
    int count;
};

enum { HULL_MOST = 1 << 24 };
#define POINTS_MOST ((int64_t)1 << 36) /* a tenth of the most threads of a grid */

/* A range is distributed over threads if its values can be counted: it is fixed, or lies in fixed bounds that are not
 * much wider. The bounds of an i32 read from data are 2^32 values apart; such a range is a loop in each thread. */
static bool is_countable(const struct le_range *r, int64_t *points) {
    int64_t all;
    if (r->dynamic &&
        (!r->bounded || most_of(r) > HULL_MOST || !le_mul_i64(*points, most_of(r), &all) || all > POINTS_MOST))
        return false;
    if (!le_mul_i64(*points, most_of(r), points))
        *points = INT64_MAX;
    return true;
}

struct deepest {
    struct codegen *c;
    int last; /* position of the last kept index that some reduction depends on */
    bool found;
};

/* It is cheaper to add up few terms again for every element. */
static bool is_short(const struct codegen *c, const struct le_node *node) {
    return le_ranges_are_fixed(c->space, node->indices, node->index_count) &&
           le_points(c->space, node->indices, node->index_count) <= SHORT_TERMS && !node->operands[0]->reduces;
}

static void find_deepest(struct le_node *node, void *user) {
    struct deepest *d = user;
    if (node->kind != LE_NODE_REDUCE || is_short(d->c, node))
        return;
    d->found = true;
    for (int k = 0; k < d->c->stage->index_count; k++)
        if (le_node_depends(node, d->c->stage->indices[k]) && k > d->last)
            d->last = k;
}

/* Elements that share a reduction are computed by one thread. */
static void find_shared(struct codegen *c, struct shared *s) {
    const struct le_stage *stage = c->stage;
    struct deepest d = {.c = c, .last = -1};
    if (stage->kind == LE_STAGE_MAP || stage->kind == LE_STAGE_CONTRACT)
        le_node_walk(c->ir, stage->node, find_deepest, &d);
    int count = d.found ? d.last + 1 : stage->index_count;
    int64_t points = 1;
    for (int k = 0; k < count && s->count < 16; k++) {
        if (!is_countable(le_range_of(c->space, stage->indices[k]), &points))
            break;
        s->at[s->count++] = stage->indices[k];
    }
}

static int64_t count_points(const struct codegen *c, const struct shared *s) {
    int64_t points = 1;
    for (int k = 0; k < s->count; k++)
        if (!le_mul_i64(points, most_of(le_range_of(c->space, s->at[k])), &points))
            points = INT64_MAX;
    return points;
}

int64_t le_codegen_threads(struct codegen *c) {
    struct shared s = {.count = 0};
    find_shared(c, &s);
    return count_points(c, &s);
}

static bool is_shared(const struct shared *s, int index) {
    for (int k = 0; k < s->count; k++)
        if (s->at[k] == index)
            return true;
    return false;
}

struct le_expression *le_codegen_thread(struct codegen *c, const char *wish, int type) {
    struct le_kernel_tree *t = c->tree;
    struct le_expression *before =
        le_times(t, le_ktree_cast(t, type, le_ktree_thread(t, LE_BLOCK_X)), le_ktree_thread(t, LE_THREADS_X));
    return le_let(t, c->root, wish, le_plus(t, before, le_ktree_thread(t, LE_THREAD_X)));
}

/* Computes the thread's position along each shared index; the last one varies fastest. */
static void find_places(struct codegen *c, const struct shared *s, int64_t points, struct le_expression **place) {
    struct le_kernel_tree *t = c->tree;
    int type = points <= INT32_MAX - 1024 ? LE_KTREE_UINT : LE_KTREE_ULONG;
    struct le_expression *extents[16];
    c->thread = le_codegen_thread(c, "thread", type);
    le_ktree_end_if(t, c->root,
                    le_at_least(t, c->thread, le_ktree_cast(t, type, le_codegen_number(c, "points", points))));
    for (int k = s->count - 1; k > 0; k--)
        extents[k] = le_codegen_index_number(c, s->at[k], "count", most_of(le_range_of(c->space, s->at[k])), type);
    le_codegen_split(c, c->root, c->thread, type, extents, s->count, place);
}

/* Binds the index to its value at the position. Ends threads whose value is not below the range's end. */
static struct le_block *bind_place(struct codegen *c, struct le_block *block, int index, struct le_expression *place) {
    struct le_kernel_tree *t = c->tree;
    struct range r = find_range(c, index, block, NULL);
    struct le_variable *variable = le_codegen_index_variable(c, index, r.type);
    struct le_expression *x = value_at(c, &r, place);
    le_ktree_add(t, block, (struct le_statement){.kind = LE_STATEMENT_LET, .variable = variable, .x = x});
    x = le_ktree_use(t, variable);
    if (r.known->dynamic)
        le_ktree_end_if(t, block, le_at_least(t, x, end_of(c, index, &r)));
    struct le_block *inner = le_ktree_open(t, block);
    le_codegen_bind(c, inner, index, x);
    return inner;
}

void le_codegen_close_all(struct codegen *c, struct le_block *block) {
    le_ktree_close_to(c->tree, block, c->root);
}

struct le_block *le_codegen_points(struct codegen *c, bool in_order, int64_t *points) {
    struct shared s = {.count = 0};
    struct le_expression *place[16];
    struct le_block *block = c->root;
    if (!in_order)
        find_shared(c, &s);
    *points = count_points(c, &s);
    if (s.count > 0)
        find_places(c, &s, *points, place);
    for (int k = 0, q = 0; k < c->stage->index_count; k++) {
        int index = c->stage->indices[k];
        if (is_shared(&s, index))
            block = bind_place(c, block, index, place[q++]);
        else
            block = le_codegen_loop(c, block, index, NULL);
    }
    return block;
}

/* Threads take the values of the first indices in order, and each thread loops over the other indices in order. Of
 * several writes of one thread to an element the last one stays. */
struct le_expression *le_codegen_claim(struct codegen *c) {
    struct le_expression *one = le_ktree_constant(c->tree, LE_KTREE_ULONG, 1);
    return c->thread ? le_plus(c->tree, c->thread, one) : one;
}
