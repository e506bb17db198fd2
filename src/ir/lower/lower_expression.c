/* Lowers expressions to nodes. This fixes the numerical results: conversions become nodes, a multiplication and an
 * addition of one statement become a multiply-add, small powers become products. No later pass changes a rounding. */
#include "ir/lower/lower.h"
#include "lang/static_ranges.h"

#define NEAR_ZERO (1 << 20)
#define DEPTH_MAX 4000 /* of one expression; passes recurse over it */

static struct le_node *lower_node(struct lower *l, const struct le_tree_node *n);

/* ---- indices */

static struct le_node *at_most_an_i64(struct lower *l, const struct le_tree_node *n) {
    struct le_node *x = le_lower_as(l, n, LE_U64);
    return le_node_cast(l->ir, LE_I64, le_lower_op2(l, LE_OP_MIN, LE_U64, x, le_node_const(l->ir, LE_U64, INT64_MAX)));
}

struct le_node *le_lower_bound(struct lower *l, const struct le_tree_node *n) {
    return n->type == LE_U64 ? at_most_an_i64(l, n) : le_lower_as(l, n, LE_I64);
}

static void add_index(struct lower *l, const struct le_index *index) {
    struct le_ir_index *out = &l->ir->indices.at[index->id];
    if (out->name)
        return;
    out->name = index->name;
    out->location = index->location;
    out->from_dots = index->from_dots;
    out->depends = index->depends;
    out->host = index->host;
    out->explicit_range = index->has_range;
    if (!index->has_range)
        return;
    struct le_range_nodes range = {.low = le_lower_bound(l, index->low), .high = le_lower_bound(l, index->high)};
    if (index->by)
        range.by = le_lower_bound(l, index->by);
    l->ir->indices.at[index->id].range = range;
    bool moves = range.low->reduces || range.high->reduces || (range.by && (range.by->free_count || range.by->reduces));
    l->ir->indices.at[index->id].depends |= moves;
}

static struct le_node *lower_index(struct lower *l, int index) {
    bool known = index < l->index_node_count && l->index_nodes[index];
    return known ? l->index_nodes[index] : le_node_index(l->ir, index);
}

static struct le_node *known_steps(struct lower *l, int64_t low, int64_t high, int64_t by) {
    __int128 way = by > 0 ? (__int128)high - low : (__int128)low - high, size = by > 0   ? by
                                                                                : by < 0 ? -(__int128)by
                                                                                         : 1;
    __int128 count = way > 0 ? (way - 1) / size + 1 : 0;
    return le_node_i64(l->ir, count > INT64_MAX ? INT64_MAX : (int64_t)count);
}

/* The number of steps of `size` (U64, not 0) from low to before high, whose distance fits an unsigned number. The
 * result is at most the greatest i64, which is more than a loop may have. */
static struct le_node *far_steps(struct lower *l, struct le_node *low, struct le_node *high, struct le_node *size) {
    struct le_ir *ir = l->ir;
    struct le_node *one = le_node_const(ir, LE_U64, 1);
    struct le_node *distance =
        le_lower_op2(l, LE_OP_SUB, LE_U64, le_node_cast(ir, LE_U64, high), le_node_cast(ir, LE_U64, low));
    struct le_node *before_last = le_lower_op2(l, LE_OP_SUB, LE_U64, distance, one);
    struct le_node *steps = le_lower_op2(l, LE_OP_FLOORDIV, LE_U64, before_last, size);
    steps = le_lower_op2(l, LE_OP_MIN, LE_U64, le_lower_op2(l, LE_OP_ADD, LE_U64, steps, one),
                         le_node_const(ir, LE_U64, INT64_MAX));
    struct le_node *is_empty = le_lower_op2(l, LE_OP_GE, LE_BOOL, low, high);
    return le_node_select(ir, is_empty, le_node_i64(ir, 0), le_node_cast(ir, LE_I64, steps));
}

/* The number of steps from low to before high, without overflow for any bounds. A step of 0 counts as 1. */
static struct le_node *unbounded_steps(struct lower *l, struct le_node *low, struct le_node *high, struct le_node *by) {
    struct le_ir *ir = l->ir;
    struct le_node *zero = le_node_const(ir, LE_U64, 0), *size = le_node_cast(ir, LE_U64, by);
    struct le_node *is_down = le_lower_op2(l, LE_OP_LT, LE_BOOL, by, le_node_i64(ir, 0));
    size = le_node_select(ir, is_down, le_lower_op2(l, LE_OP_SUB, LE_U64, zero, size), size);
    size = le_lower_op2(l, LE_OP_MAX, LE_U64, size, le_node_const(ir, LE_U64, 1));
    return far_steps(l, le_node_select(ir, is_down, high, low), le_node_select(ir, is_down, low, high), size);
}

static bool is_near_zero(const struct le_node *node) {
    return node->kind == LE_NODE_CONST && le_const_i64(node) >= -NEAR_ZERO && le_const_i64(node) <= NEAR_ZERO;
}

/* The number of steps from low to before high. In an element's loop, dividing the difference of the bounds gives
 * le_interval tighter bounds. So this form is used if a bound near zero keeps the difference in range. */
static struct le_node *count_steps(struct lower *l, const struct le_index *index, struct le_node *low,
                                   struct le_node *high, struct le_node *by) {
    struct le_ir *ir = l->ir;
    bool fixed = by->kind == LE_NODE_CONST && le_const_i64(by) != INT64_MIN, down = fixed && le_const_i64(by) < 0;
    if (by->kind == LE_NODE_CONST && low->kind == LE_NODE_CONST && high->kind == LE_NODE_CONST)
        return known_steps(l, le_const_i64(low), le_const_i64(high), le_const_i64(by));
    bool near = is_near_zero(low) || is_near_zero(high), by_one = fixed && le_const_i64(by) == -1;
    if (!near || (index->host && !by_one))
        return unbounded_steps(l, low, high, by);
    struct le_node *one = le_node_i64(ir, 1), *sign = one;
    struct le_node *way =
        down ? le_lower_op2(l, LE_OP_SUB, LE_I64, low, high) : le_lower_op2(l, LE_OP_SUB, LE_I64, high, low);
    if (down)
        by = le_node_i64(ir, -le_const_i64(by));
    if (!fixed) {
        by = le_node_select(ir, le_lower_op2(l, LE_OP_EQ, LE_BOOL, by, le_node_i64(ir, 0)), one, by);
        sign = le_node_select(ir, le_lower_op2(l, LE_OP_LT, LE_BOOL, by, le_node_i64(ir, 0)), le_node_i64(ir, -1), one);
    }
    struct le_node *less = le_lower_op2(l, LE_OP_SUB, LE_I64, way, sign); /* way + by might overflow */
    return le_lower_op2(l, LE_OP_ADD, LE_I64, le_lower_op2(l, LE_OP_FLOORDIV, LE_I64, less, by), one);
}

void le_lower_for_range(struct lower *l, const struct le_index *index, struct le_node *low, struct le_node *by) {
    struct le_ir *ir = l->ir;
    struct le_node *high = le_lower_bound(l, index->high);
    struct le_range_nodes range = {.low = low, .high = high};
    if (by && by->kind == LE_NODE_CONST && le_const_i64(by) == 0) {
        le_fail_at(LEAT_PROGRAM, index->by->location, LE_LOOP_STEP_ADVICE, "`by` must not be zero");
        l->failed = true;
    }
    if (by && !(by->kind == LE_NODE_CONST && le_const_i64(by) == 1)) {
        struct le_node *zero = le_node_i64(ir, 0);
        range = (struct le_range_nodes){.low = zero, .high = count_steps(l, index, low, high, by)};
        if (by->kind != LE_NODE_CONST)
            range.by = le_node_select(ir, le_lower_op2(l, LE_OP_EQ, LE_BOOL, by, zero), zero, le_node_i64(ir, 1));
        struct le_node *way = le_lower_op2(l, LE_OP_MUL, LE_I64, le_node_index(ir, index->id), by);
        l->index_nodes[index->id] = le_lower_op2(l, LE_OP_ADD, LE_I64, low, way);
    }
    struct le_ir_index *out = &ir->indices.at[index->id];
    bool moves = range.low->reduces || range.high->reduces || (range.by && (range.by->free_count || range.by->reduces));
    *out = (struct le_ir_index){.name = index->name,
                                .location = index->location,
                                .explicit_range = true,
                                .host = index->host,
                                .stepped = range.by != NULL,
                                .depends = !index->host && (index->depends || moves),
                                .range = range};
}

int *le_lower_indices(struct lower *l, struct le_index *const *indices, int count) {
    int *ids = LE_NEW_ARRAY(l->ir->arena, count, int);
    for (int k = 0; k < count; k++) {
        add_index(l, indices[k]);
        ids[k] = indices[k]->id;
    }
    return ids;
}

static struct le_node *load_value(struct lower *l, int value) {
    const struct le_value *v = &l->ir->values.at[value];
    return le_node_make(l->ir,
                        &(struct le_node){.kind = LE_NODE_LOAD, .type = le_type_compute(v->type), .value = value});
}

struct le_node *le_lower_scalar(struct lower *l, const struct le_symbol *symbol) {
    if (l->known[symbol->id] && !l->as_written)
        return l->known[symbol->id];
    if (l->local[symbol->id] >= 0)
        return le_node_make(l->ir, &(struct le_node){.kind = LE_NODE_LOCAL,
                                                     .type = le_type_compute(le_type_strong(symbol->type)),
                                                     .local = l->local[symbol->id]});
    struct le_node *fixed = l->ir->fixed[symbol->id];
    return fixed ? fixed : load_value(l, l->current[symbol->id]);
}

/* ---- expressions */

struct le_node *le_lower_op1(struct lower *l, int code, enum le_type type, struct le_node *a) {
    return le_node_op(l->ir, code, type, &a, 1);
}

struct le_node *le_lower_op2(struct lower *l, int code, enum le_type type, struct le_node *a, struct le_node *b) {
    struct le_node *x[] = {a, b};
    return le_node_op(l->ir, code, type, x, 2);
}

static struct le_node *lower_const(struct lower *l, const struct le_tree_node *n) {
    if (n->type == LE_BOOL)
        return le_node_bool(l->ir, n->integer != 0);
    if (n->type == LE_WEAK_FLOAT)
        return le_node_real(l->ir, LE_F64, n->real);
    return le_node_const(l->ir, n->is_u64 ? LE_U64 : LE_I64, (uint64_t)n->integer);
}

bool le_lower_is_bare(const struct lower *l, const struct le_tree_node *access, struct le_node *const *subscripts) {
    for (int k = 0; k < access->child_count; k++) {
        if (access->children[k]->kind != LE_TREE_INDEX || subscripts[k]->kind != LE_NODE_INDEX ||
            l->ir->indices.at[subscripts[k]->index].explicit_range)
            return false;
    }
    return true;
}

/* Edge modes work on the subscript's value, so a u64 that does not fit i64 is replaced by a subscript that selects the
 * same element. */
static struct le_node *lower_subscript(struct lower *l, const struct le_tree_node *read, int axis) {
    const struct le_tree_node *n = read->children[axis];
    if (n->type != LE_U64 || read->edge == LE_EDGE_NONE || read->edge == LE_EDGE_FILL)
        return le_lower_as(l, n, LE_I64);
    if (read->edge == LE_EDGE_CLAMP)
        return at_most_an_i64(l, n);
    struct le_node *x = le_lower_as(l, n, LE_U64), *length = le_node_len(l->ir, read->symbol->id, axis);
    struct le_node *turn = length; /* the period after which the elements repeat */
    if (read->edge != LE_EDGE_WRAP)
        turn = le_lower_op2(l, LE_OP_MUL, LE_I64, length, le_node_i64(l->ir, 2));
    if (read->edge == LE_EDGE_MIRROR)
        turn = le_lower_op2(l, LE_OP_MAX, LE_I64, le_lower_op2(l, LE_OP_SUB, LE_I64, turn, le_node_i64(l->ir, 2)),
                            le_node_i64(l->ir, 1));
    return le_node_cast(l->ir, LE_I64, le_lower_op2(l, LE_OP_MOD, LE_U64, x, le_node_cast(l->ir, LE_U64, turn)));
}

static struct le_node *lower_read(struct lower *l, const struct le_tree_node *n) {
    int value = l->current[n->symbol->id];
    struct le_node *x[LEAT_RANK_MAX];
    for (int k = 0; k < n->child_count; k++)
        x[k] = lower_subscript(l, n, k);
    struct le_node model = {.kind = LE_NODE_LOAD,
                            .type = le_type_compute(l->ir->values.at[value].type),
                            .value = value,
                            .edge = n->edge,
                            .stretch = n->dots_count,
                            .operands = x,
                            .operand_count = n->child_count,
                            .access = le_names_get(&l->accesses, (const char *)&n, sizeof n),
                            .live = l->pair[n->symbol->id] >= 0};
    model.trusted = n->edge == LE_EDGE_NONE && le_lower_is_bare(l, n, x);
    if (n->edge == LE_EDGE_FILL) {
        model.fill = le_lower_stored(l, le_lower_scalar(l, n->fill), l->ir->values.at[value].type);
    }
    return le_node_make(l->ir, &model);
}

static struct le_node *lower_len(struct lower *l, const struct le_tree_node *n) {
    struct le_node *axis = le_lower_as(l, n->children[0], LE_I64);
    int rank = n->symbol->rank;
    if (axis->kind == LE_NODE_CONST) {
        int64_t k = le_const_i64(axis);
        if (k >= -rank && k < rank)
            return le_node_len(l->ir, n->symbol->id, (int)(k < 0 ? k + rank : k));
        le_fail_at(LEAT_MISMATCH, n->location, "axes count from 0, or from -1 at the end", "'%s' has no axis %lld",
                   n->symbol->name, (long long)k);
        l->failed = true;
        return le_node_i64(l->ir, 0);
    }
    struct le_node *out = le_node_len(l->ir, n->symbol->id, rank - 1);
    for (int k = 0; k + 1 < rank; k++)
        out = le_node_select(l->ir, le_lower_op2(l, LE_OP_EQ, LE_BOOL, axis, le_node_i64(l->ir, k)),
                             le_node_len(l->ir, n->symbol->id, k), out);
    return out;
}

struct le_node *le_lower_contracted(struct lower *l, int code, enum le_type type, struct le_node *a,
                                    struct le_node *b) {
    if (type != LE_F32 && type != LE_F64)
        return le_lower_op2(l, code, type, a, b);
    bool left = a->kind == LE_NODE_OP && a->code == LE_OP_MUL, right = b->kind == LE_NODE_OP && b->code == LE_OP_MUL;
    if (left) {
        struct le_node *x[] = {a->operands[0], a->operands[1], b};
        return le_node_op(l->ir, code == LE_OP_ADD ? LE_CODE_MULADD : LE_CODE_MULSUB, type, x, 3);
    }
    if (right) {
        struct le_node *x[] = {b->operands[0], b->operands[1], a};
        return le_node_op(l->ir, code == LE_OP_ADD ? LE_CODE_MULADD : LE_CODE_NMULADD, type, x, 3);
    }
    return le_lower_op2(l, code, type, a, b);
}

/* Whether it is written as a number. A scalar with a known value does not count: the results must be the same if it is
 * an input. */
static bool is_literal(const struct le_tree_node *n) {
    return n->kind == LE_TREE_CONST || (n->kind == LE_TREE_OP && n->op == LE_OP_NEG && is_literal(n->children[0]));
}

/* x ** literal, as products, a root or a division if they give the same result (except that (-inf)**1.5 is NaN). */
static struct le_node *lower_power(struct lower *l, enum le_type type, struct le_node *x, struct le_node *y) {
    double e = le_type_is_float(type) ? le_const_real(y) : (double)le_const_i64(y);
    if (e == 1.0)
        return x;
    if (e == 2.0)
        return le_lower_op2(l, LE_OP_MUL, type, x, x);
    if (e == 3.0)
        return le_lower_op2(l, LE_OP_MUL, type, le_lower_op2(l, LE_OP_MUL, type, x, x), x);
    if (!le_type_is_float(type))
        return le_lower_op2(l, LE_OP_POW, type, x, y);
    if (e == -1.0)
        return le_lower_op2(l, LE_OP_DIV, type, le_node_real(l->ir, type, 1.0), x);
    if (e == 1.5)
        return le_lower_op2(l, LE_OP_MUL, type, x, le_lower_op1(l, LE_OP_SQRT, type, x));
    return le_lower_op2(l, LE_OP_POW, type, x, y);
}

/* Compares integers of any types by value. */
static struct le_node *compare_values(struct lower *l, int code, struct le_node *a, struct le_node *b) {
    if (a->type == LE_BOOL)
        a = le_node_cast(l->ir, LE_I64, a);
    if (b->type == LE_BOOL)
        b = le_node_cast(l->ir, LE_I64, b);
    if (a->type == b->type)
        return le_lower_op2(l, code, LE_BOOL, a, b);
    if (a->type != LE_U64 && b->type != LE_U64)
        return le_lower_op2(l, code, LE_BOOL, le_node_cast(l->ir, LE_I64, a), le_node_cast(l->ir, LE_I64, b));
    bool flip = a->type == LE_U64; /* the other operand may be negative; it is then the smaller one */
    struct le_node *other = flip ? b : a, *zero = le_node_const(l->ir, other->type, 0);
    struct le_node *same =
        le_lower_op2(l, code, LE_BOOL, le_node_cast(l->ir, LE_U64, a), le_node_cast(l->ir, LE_U64, b));
    if (le_type_is_unsigned(other->type))
        return same;
    bool negative =
        code == LE_OP_NE || (flip ? code == LE_OP_GT || code == LE_OP_GE : code == LE_OP_LT || code == LE_OP_LE);
    /* not a select, which would skip reads of the other operand */
    if (negative)
        return le_lower_op2(l, LE_OP_OR, LE_BOOL, le_lower_op2(l, LE_OP_LT, LE_BOOL, other, zero), same);
    return le_lower_op2(l, LE_OP_AND, LE_BOOL, le_lower_op2(l, LE_OP_GE, LE_BOOL, other, zero), same);
}

/* Combining i64 with u64 gives f64, which cannot represent all values of either. */
static void note_mixed(struct lower *l, const struct le_tree_node *n, enum le_rule rule) {
    if (n->child_count != 2 || n->operand != LE_F64 || (rule != LE_RULE_ARITH && rule != LE_RULE_CHOOSE))
        return;
    enum le_type a = n->children[0]->type, b = n->children[1]->type;
    if (!le_type_is_int(a) || !le_type_is_int(b) || (le_type_strong(a) != LE_U64 && le_type_strong(b) != LE_U64))
        return;
    struct le_ir_note *note = LE_PUSH(l->ir->arena, &l->ir->notes);
    *note =
        (struct le_ir_note){.line = n->location.line,
                            .text = "combining a signed integer with u64 gives f64, which rounds: cast one of them"};
}

static struct le_node *lower_op(struct lower *l, const struct le_tree_node *n) {
    const struct le_op_properties *info = le_op_info((enum le_op)n->op);
    enum le_type type = le_type_compute(le_type_strong(n->type));
    if (info->rule == LE_RULE_COMPARE && n->operand == LE_NONE)
        return compare_values(l, n->op, lower_node(l, n->children[0]), lower_node(l, n->children[1]));
    enum le_type operand = info->rule == LE_RULE_LOGIC ? LE_BOOL : le_type_strong(n->operand);
    struct le_node *x[3];
    note_mixed(l, n, info->rule);
    for (int k = 0; k < n->child_count; k++)
        x[k] = le_lower_as(l, n->children[k], operand);
    if (n->op == LE_OP_ADD || n->op == LE_OP_SUB)
        return le_lower_contracted(l, n->op, type, x[0], x[1]);
    if (n->op == LE_OP_POW)
        return is_literal(n->children[1]) ? lower_power(l, type, x[0], x[1]) : le_lower_op2(l, n->op, type, x[0], x[1]);
    if (info->rule == LE_RULE_ROUND && !le_type_is_float(type))
        return x[0];
    return le_node_op(l->ir, n->op, type, x, n->child_count);
}

static struct le_node *lower_reduce(struct lower *l, const struct le_tree_node *n) {
    const int *indices = le_lower_indices(l, n->indices, n->index_count);
    enum le_type type = le_type_compute(le_type_strong(n->operand));
    enum le_reduction reduction = (enum le_reduction)n->op;
    if (reduction == LE_RED_ANY || reduction == LE_RED_ALL)
        type = LE_BOOL;
    struct le_node *body = le_lower_as(l, n->children[0], type);
    if (n->index_count == 0)
        return body; /* over `...` without axes */
    bool arg = reduction == LE_RED_ARGMIN || reduction == LE_RED_ARGMAX;
    enum le_reduction sum = le_lower_sum(l->ir, body, indices, n->index_count);
    if (reduction == LE_RED_SUM)
        reduction = sum;
    if (reduction != LE_RED_MEAN)
        return le_node_reduce(l->ir, reduction, arg ? LE_I64 : type, body, indices, n->index_count);
    struct le_node count = {
        .kind = LE_NODE_COUNT, .type = LE_I64, .indices = (int *)(uintptr_t)indices, .index_count = n->index_count};
    return le_lower_op2(l, LE_OP_DIV, type, le_node_reduce(l->ir, sum, type, body, indices, n->index_count),
                        le_node_cast(l->ir, type, le_node_make(l->ir, &count)));
}

static struct le_node *lower_rand(struct lower *l, const struct le_tree_node *n) {
    struct le_node **x = LE_NEW_ARRAY(l->ir->arena, n->child_count, struct le_node *);
    for (int k = 0; k < n->child_count; k++)
        x[k] = le_lower_as(l, n->children[k], LE_I64);
    return le_node_make(l->ir, &(struct le_node){.kind = LE_NODE_RAND,
                                                 .type = LE_F64,
                                                 .code = n->op ? LE_CODE_RANDN : LE_CODE_RAND,
                                                 .operands = x,
                                                 .operand_count = n->child_count});
}

static struct le_node *lower_select(struct lower *l, const struct le_tree_node *n) {
    struct le_node *c = le_lower_as(l, n->children[0], LE_BOOL);
    return le_node_select(l->ir, c, le_lower_as(l, n->children[1], n->type), le_lower_as(l, n->children[2], n->type));
}

static struct le_node *lower_cast(struct lower *l, const struct le_tree_node *n) {
    return le_lower_into(l, n->children[0], le_type_strong(n->type));
}

static struct le_node *lower_second(struct lower *l, const struct le_tree_node *n) {
    struct le_node *call = lower_node(l, n->children[0]);
    return le_node_make(
        l->ir, &(struct le_node){.kind = LE_NODE_SECOND, .type = call->type, .operands = &call, .operand_count = 1});
}

static struct le_node *lower_kind(struct lower *l, const struct le_tree_node *n) {
    switch (n->kind) {
    case LE_TREE_CONST:
        return lower_const(l, n);
    case LE_TREE_INDEX:
        return lower_index(l, n->index->id);
    case LE_TREE_SCALAR:
        return le_lower_scalar(l, n->symbol);
    case LE_TREE_READ:
        return lower_read(l, n);
    case LE_TREE_LEN:
        return lower_len(l, n);
    case LE_TREE_OP:
        return lower_op(l, n);
    case LE_TREE_SELECT:
        return lower_select(l, n);
    case LE_TREE_CAST:
        return lower_cast(l, n);
    case LE_TREE_RAND:
        return lower_rand(l, n);
    case LE_TREE_REDUCE:
        return lower_reduce(l, n);
    case LE_TREE_CALL:
        return le_lower_call(l, n);
    case LE_TREE_PART: /* the im of a CALL; all other parts have been split */
        return lower_second(l, n);
    }
    return NULL;
}

/* Lowers a node with several parents only once. */
static struct le_node *lower_node(struct lower *l, const struct le_tree_node *n) {
    if (n->parents < 2)
        return lower_kind(l, n);
    int known = le_names_get(&l->shared_numbers, (const char *)&n, sizeof n);
    if (known >= 0)
        return l->shared.at[known];
    struct le_node *x = lower_kind(l, n);
    const struct le_tree_node **key = LE_NEW(l->ir->arena, const struct le_tree_node *);
    *key = n;
    le_names_put(l->ir->arena, &l->shared_numbers, (const char *)key, sizeof n, l->shared.count);
    *LE_PUSH(l->ir->arena, &l->shared) = x;
    return x;
}

/* Lowers the node in its own type, and limits the depth. */
static struct le_node *lower_bounded(struct lower *l, const struct le_tree_node *n) {
    struct le_node *x;
    if (++l->depth > DEPTH_MAX) {
        if (!l->failed)
            le_fail_at(LEAT_PROGRAM, n->location, "split it into several statements",
                       "the expression is nested too deeply");
        l->failed = true;
        x = le_node_i64(l->ir, 0);
    } else {
        x = lower_node(l, n);
    }
    l->depth--;
    if (x->depth > DEPTH_MAX && !l->failed) {
        le_fail_at(LEAT_PROGRAM, n->location, "split it into several statements",
                   "the expression is nested too deeply");
        l->failed = true;
    }
    return x;
}

struct le_node *le_lower_as(struct lower *l, const struct le_tree_node *n, enum le_type type) {
    return le_node_cast(l->ir, le_type_strong(type), lower_bounded(l, n));
}

struct le_node *le_lower_into(struct lower *l, const struct le_tree_node *n, enum le_type type) {
    return le_lower_stored(l, lower_bounded(l, n), type);
}

struct le_node *le_lower_stored(struct lower *l, struct le_node *x, enum le_type type) {
    return le_type_is_half(type) ? le_node_round(l->ir, type, x) : le_node_cast(l->ir, type, x);
}

struct le_node *le_lower_any(struct lower *l, const struct le_tree_node *n) {
    return le_lower_as(l, n, n->type);
}
