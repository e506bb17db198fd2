/* Tree to IR: one stage a statement. Here the numbers are fixed: conversions become nodes, a multiplication and an addition of one
 * statement become a multiply-add, small whole powers become products, values are rounded to their array's type. No later pass
 * changes a rounding. */
#include "base/hash.h"
#include "ir/ir.h"
#include <string.h>

#define DEPTH_MAX 4000    /* of one expression: passes walk it recursively */
#define FIXED_DEPTH_MAX 64 /* a scalar of deeper arithmetic is stored rather than repeated */

struct lower {
    struct le_ir *ir;
    const struct le_tree *tree;
    const struct le_input *inputs;
    int *current;             /* by symbol: its value now; -1: none */
    const struct le_step *step;
    int statement, first_access, depth;
    struct le_names accesses; /* READ node to number in ir->accesses */
    bool failed;
};

static struct le_node *lower_as(struct lower *l, const struct le_tree_node *n, enum le_type type);

/* ---- indices */

static void add_index(struct lower *l, const struct le_index *index)
{
    struct le_ir_index *out = &l->ir->indices.at[index->id];
    if (out->name) return;
    out->name = index->name;
    out->place = index->place;
    out->from_dots = index->from_dots;
    out->depends = index->depends;
    out->explicit_range = index->has_range;
    if (!index->has_range) return;
    struct le_range_nodes range = {.low = lower_as(l, index->low, LE_I64), .high = lower_as(l, index->high, LE_I64)};
    if (index->by) range.by = lower_as(l, index->by, LE_I64);
    l->ir->indices.at[index->id].range = range;
}

static int *index_ids(struct lower *l, struct le_index *const *indices, int count)
{
    int *ids = LE_NEW_ARRAY(l->ir->arena, count, int);
    for (int k = 0; k < count; k++) {
        add_index(l, indices[k]);
        ids[k] = indices[k]->id;
    }
    return ids;
}

/* ---- values */

static int new_value(struct lower *l, int symbol, enum le_type type, int rank, int stage)
{
    struct le_ir *ir = l->ir;
    struct le_value *v = LE_PUSH(ir->arena, &ir->values);
    const char *name = symbol >= 0 ? l->tree->symbols[symbol]->name : "t";
    *v = (struct le_value){.id = ir->values.count - 1, .symbol = symbol, .type = type, .rank = rank, .stage = stage};
    v->name = stage < 0 ? name : le_arena_format(ir->arena, "%s.%d", name, v->id);
    return v->id;
}

static struct le_node *load_value(struct lower *l, int value)
{
    const struct le_value *v = &l->ir->values.at[value];
    return le_node_make(l->ir, &(struct le_node){.kind = LE_NODE_LOAD, .type = le_type_compute(v->type), .value = value});
}

static struct le_node *scalar(struct lower *l, const struct le_symbol *symbol)
{
    struct le_node *fixed = l->ir->fixed[symbol->id];
    return fixed ? fixed : load_value(l, l->current[symbol->id]);
}

/* ---- expressions */

static struct le_node *lower(struct lower *l, const struct le_tree_node *n);

static struct le_node *op1(struct lower *l, int code, enum le_type type, struct le_node *a)
{
    return le_node_op(l->ir, code, type, &a, 1);
}

static struct le_node *op2(struct lower *l, int code, enum le_type type, struct le_node *a, struct le_node *b)
{
    struct le_node *x[] = {a, b};
    return le_node_op(l->ir, code, type, x, 2);
}

static struct le_node *lower_const(struct lower *l, const struct le_tree_node *n)
{
    if (n->type == LE_BOOL) return le_node_bool(l->ir, n->integer != 0);
    if (n->type == LE_WEAK_FLOAT) return le_node_real(l->ir, LE_F64, n->real);
    return le_node_const(l->ir, n->is_u64 ? LE_U64 : LE_I64, (uint64_t)n->integer);
}

static bool bare(const struct lower *l, const struct le_node *const *subscripts, int count)
{
    for (int k = 0; k < count; k++) {
        if (subscripts[k]->kind != LE_NODE_INDEX || l->ir->indices.at[subscripts[k]->index].explicit_range) return false;
    }
    return true;
}

static struct le_node *lower_read(struct lower *l, const struct le_tree_node *n)
{
    int value = l->current[n->symbol->id];
    struct le_node *x[LEAT_RANK_MAX];
    for (int k = 0; k < n->child_count; k++) x[k] = lower_as(l, n->children[k], LE_I64);
    struct le_node model = {.kind = LE_NODE_LOAD,
                            .type = le_type_compute(l->ir->values.at[value].type),
                            .value = value,
                            .edge = n->edge,
                            .stretch = n->dots_count,
                            .operands = x,
                            .operand_count = n->child_count,
                            .access = le_names_get(&l->accesses, (const char *)&n, sizeof n)};
    model.trusted = n->edge == LE_EDGE_NONE && bare(l, (const struct le_node *const *)x, n->child_count);
    if (n->edge == LE_EDGE_FILL) {
        struct le_node *fill = le_node_cast(l->ir, l->ir->values.at[value].type, scalar(l, n->fill));
        enum le_type stored = l->ir->values.at[value].type;
        model.fill = stored == LE_F16 || stored == LE_BF16 ? le_node_round(l->ir, stored, fill) : fill;
    }
    return le_node_make(l->ir, &model);
}

static struct le_node *lower_len(struct lower *l, const struct le_tree_node *n)
{
    struct le_node *axis = lower_as(l, n->children[0], LE_I64);
    int rank = n->symbol->rank;
    if (axis->kind == LE_NODE_CONST) {
        int64_t k = le_const_i64(axis);
        if (k >= -rank && k < rank) return le_node_len(l->ir, n->symbol->id, (int)(k < 0 ? k + rank : k));
        le_fail_at(LEAT_MISMATCH, n->place, "an axis from 0, or from -1 backwards", "%s has no axis %lld", n->symbol->name,
                   (long long)k);
        l->failed = true;
        return le_node_i64(l->ir, 0);
    }
    struct le_node *out = le_node_len(l->ir, n->symbol->id, rank - 1);
    for (int k = 0; k + 1 < rank; k++)
        out = le_node_select(l->ir, op2(l, LE_OP_EQ, LE_BOOL, axis, le_node_i64(l->ir, k)),
                             le_node_len(l->ir, n->symbol->id, k), out);
    return out;
}

/* A multiply-add where one operand is a product: the left one first. */
static struct le_node *contract(struct lower *l, int code, enum le_type type, struct le_node *a, struct le_node *b)
{
    if (type != LE_F32 && type != LE_F64) return op2(l, code, type, a, b);
    bool left = a->kind == LE_NODE_OP && a->code == LE_OP_MUL, right = b->kind == LE_NODE_OP && b->code == LE_OP_MUL;
    if (left) {
        struct le_node *x[] = {a->operands[0], a->operands[1], b};
        return le_node_op(l->ir, code == LE_OP_ADD ? LE_CODE_MULADD : LE_CODE_MULSUB, type, x, 3);
    }
    if (right) {
        struct le_node *x[] = {b->operands[0], b->operands[1], a};
        return le_node_op(l->ir, code == LE_OP_ADD ? LE_CODE_MULADD : LE_CODE_NMULADD, type, x, 3);
    }
    return op2(l, code, type, a, b);
}

/* x ** literal, where products, a root or a division say the same. */
static struct le_node *power(struct lower *l, enum le_type type, struct le_node *x, struct le_node *y)
{
    if (y->kind != LE_NODE_CONST) return op2(l, LE_OP_POW, type, x, y);
    double e = le_type_is_float(type) ? le_const_real(y) : (double)le_const_i64(y);
    if (e == 1.0) return x;
    if (e == 2.0) return op2(l, LE_OP_MUL, type, x, x);
    if (e == 3.0) return op2(l, LE_OP_MUL, type, op2(l, LE_OP_MUL, type, x, x), x);
    if (!le_type_is_float(type)) return op2(l, LE_OP_POW, type, x, y);
    if (e == -1.0) return op2(l, LE_OP_DIV, type, le_node_real(l->ir, type, 1.0), x);
    if (e == 1.5) return op2(l, LE_OP_MUL, type, x, op1(l, LE_OP_SQRT, type, x));
    return op2(l, LE_OP_POW, type, x, y);
}

/* Comparison of integers by their values, whatever their types. */
static struct le_node *compare_values(struct lower *l, int code, struct le_node *a, struct le_node *b)
{
    if (a->type == LE_BOOL) a = le_node_cast(l->ir, LE_I64, a);
    if (b->type == LE_BOOL) b = le_node_cast(l->ir, LE_I64, b);
    if (a->type == b->type) return op2(l, code, LE_BOOL, a, b);
    if (a->type != LE_U64 && b->type != LE_U64)
        return op2(l, code, LE_BOOL, le_node_cast(l->ir, LE_I64, a), le_node_cast(l->ir, LE_I64, b));
    bool flip = a->type == LE_U64; /* the other one may be negative, and then is the lesser */
    struct le_node *other = flip ? b : a, *zero = le_node_const(l->ir, other->type, 0);
    struct le_node *same =
        op2(l, code, LE_BOOL, le_node_cast(l->ir, LE_U64, a), le_node_cast(l->ir, LE_U64, b));
    if (le_type_is_unsigned(other->type)) return same;
    bool negative = code == LE_OP_NE || (flip ? code == LE_OP_GT || code == LE_OP_GE : code == LE_OP_LT || code == LE_OP_LE);
    return le_node_select(l->ir, op2(l, LE_OP_LT, LE_BOOL, other, zero), le_node_bool(l->ir, negative), same);
}

/* i64 with u64 gives f64, which does not hold all of either. */
static void note_mixed(struct lower *l, const struct le_tree_node *n, enum le_rule rule)
{
    if (n->child_count != 2 || n->operand != LE_F64 || (rule != LE_RULE_ARITH && rule != LE_RULE_CHOOSE)) return;
    enum le_type a = n->children[0]->type, b = n->children[1]->type;
    if (!le_type_is_int(a) || !le_type_is_int(b) || (le_type_strong(a) != LE_U64 && le_type_strong(b) != LE_U64)) return;
    struct le_ir_note *note = LE_PUSH(l->ir->arena, &l->ir->notes);
    *note = (struct le_ir_note){.line = n->place.line, .text = "a signed integer with u64 gives f64, which rounds: cast one of them"};
}

static struct le_node *lower_op(struct lower *l, const struct le_tree_node *n)
{
    const struct le_op_info *info = le_op_info((enum le_op)n->op);
    enum le_type type = le_type_compute(le_type_strong(n->type));
    if (info->rule == LE_RULE_COMPARE && n->operand == LE_NONE)
        return compare_values(l, n->op, lower(l, n->children[0]), lower(l, n->children[1]));
    enum le_type operand = info->rule == LE_RULE_LOGIC ? LE_BOOL : le_type_strong(n->operand);
    struct le_node *x[3];
    note_mixed(l, n, info->rule);
    for (int k = 0; k < n->child_count; k++) x[k] = lower_as(l, n->children[k], operand);
    if (n->op == LE_OP_ADD || n->op == LE_OP_SUB) return contract(l, n->op, type, x[0], x[1]);
    if (n->op == LE_OP_POW) return power(l, type, x[0], x[1]);
    if (info->rule == LE_RULE_ROUND && !le_type_is_float(type)) return x[0];
    return le_node_op(l->ir, n->op, type, x, n->child_count);
}

static struct le_node *lower_reduce(struct lower *l, const struct le_tree_node *n)
{
    const int *indices = index_ids(l, n->indices, n->index_count);
    enum le_type type = le_type_compute(le_type_strong(n->operand));
    enum le_reduction reduction = (enum le_reduction)n->op;
    if (reduction == LE_RED_ANY || reduction == LE_RED_ALL) type = LE_BOOL;
    struct le_node *body = lower_as(l, n->children[0], type);
    if (n->index_count == 0) return body; /* over `...` of no axes */
    bool arg = reduction == LE_RED_ARGMIN || reduction == LE_RED_ARGMAX;
    if (reduction != LE_RED_MEAN)
        return le_node_reduce(l->ir, reduction, arg ? LE_I64 : type, body, indices, n->index_count);
    struct le_node count = {
        .kind = LE_NODE_COUNT, .type = LE_I64, .indices = (int *)(uintptr_t)indices, .index_count = n->index_count};
    return op2(l, LE_OP_DIV, type, le_node_reduce(l->ir, LE_RED_SUM, type, body, indices, n->index_count),
               le_node_cast(l->ir, type, le_node_make(l->ir, &count)));
}

static struct le_node *lower_rand(struct lower *l, const struct le_tree_node *n)
{
    struct le_node **x = LE_NEW_ARRAY(l->ir->arena, n->child_count, struct le_node *);
    for (int k = 0; k < n->child_count; k++) x[k] = lower_as(l, n->children[k], LE_I64);
    return le_node_make(l->ir, &(struct le_node){.kind = LE_NODE_RAND,
                                                 .type = LE_F64,
                                                 .code = n->op ? LE_CODE_RANDN : LE_CODE_RAND,
                                                 .operands = x,
                                                 .operand_count = n->child_count});
}

static struct le_node *lower_select(struct lower *l, const struct le_tree_node *n)
{
    struct le_node *c = lower_as(l, n->children[0], LE_BOOL);
    return le_node_select(l->ir, c, lower_as(l, n->children[1], n->type), lower_as(l, n->children[2], n->type));
}

static struct le_node *lower_cast(struct lower *l, const struct le_tree_node *n)
{
    struct le_node *x = lower_as(l, n->children[0], n->type);
    return n->type == LE_F16 || n->type == LE_BF16 ? le_node_round(l->ir, n->type, x) : x;
}

static struct le_node *lower(struct lower *l, const struct le_tree_node *n)
{
    switch (n->kind) {
    case LE_TREE_CONST: return lower_const(l, n);
    case LE_TREE_INDEX: return le_node_index(l->ir, n->index->id);
    case LE_TREE_SCALAR: return scalar(l, n->symbol);
    case LE_TREE_READ: return lower_read(l, n);
    case LE_TREE_LEN: return lower_len(l, n);
    case LE_TREE_OP: return lower_op(l, n);
    case LE_TREE_SELECT: return lower_select(l, n);
    case LE_TREE_CAST: return lower_cast(l, n);
    case LE_TREE_RAND: return lower_rand(l, n);
    case LE_TREE_REDUCE: return lower_reduce(l, n);
    }
    return NULL;
}

static struct le_node *lower_as(struct lower *l, const struct le_tree_node *n, enum le_type type)
{
    struct le_node *x;
    if (++l->depth > DEPTH_MAX) {
        if (!l->failed) le_fail_at(LEAT_PROGRAM, n->place, "several statements", "the expression is nested too deep");
        l->failed = true;
        x = le_node_i64(l->ir, 0);
    } else {
        x = lower(l, n);
    }
    l->depth--;
    return le_node_cast(l->ir, le_type_strong(type), x);
}

/* A value as an assignment to an array or scalar of that storage type rounds it. */
static struct le_node *stored(struct lower *l, struct le_node *x, enum le_type type)
{
    x = le_node_cast(l->ir, type, x);
    return type == LE_F16 || type == LE_BF16 ? le_node_round(l->ir, type, x) : x;
}

/* ---- statements */

static const char *statement_text(struct lower *l, const struct le_step *step)
{
    const char *text = l->tree->text + step->offset;
    int length = 0;
    while (length < step->line_length && length < 60 && text[length] != '\n') length++;
    return le_arena_copy(l->ir->arena, text, (size_t)length);
}

static struct le_ir_statement *add_statement(struct lower *l, const struct le_step *step)
{
    struct le_ir *ir = l->ir;
    l->step = step;
    l->statement = ir->statements.count;
    struct le_ir_statement *st = LE_PUSH(ir->arena, &ir->statements);
    *st = (struct le_ir_statement){.kind = step->kind,
                                   .place = step->place,
                                   .text = statement_text(l, step),
                                   .symbol = step->symbol ? step->symbol->id : -1,
                                   .array = step->array ? step->array->id : -1,
                                   .axis = step->axis,
                                   .is_new = step->is_new,
                                   .has_else = step->otherwise != NULL,
                                   .first_access = ir->accesses.count,
                                   .access_count = step->access_count};
    return st;
}

/* Numbers the accesses first, so that reads can name theirs; their subscripts follow once the indices are known. */
static void number_accesses(struct lower *l, const struct le_step *step)
{
    l->accesses = (struct le_names){0};
    for (int k = 0; k < step->access_count; k++) {
        const struct le_access *a = &step->accesses[k];
        struct le_ir_access *out = LE_PUSH(l->ir->arena, &l->ir->accesses);
        *out = (struct le_ir_access){.symbol = a->node->symbol->id,
                                     .stretch = a->left ? 0 : a->node->dots_count,
                                     .statement = l->statement,
                                     .rank = a->node->child_count,
                                     .guarded = a->guarded,
                                     .left = a->left,
                                     .has_edge = a->node->edge != LE_EDGE_NONE,
                                     .place = a->node->place};
        le_names_put(l->ir->arena, &l->accesses, (const char *)&a->node, sizeof a->node, l->ir->accesses.count - 1);
    }
}

static void fill_accesses(struct lower *l, const struct le_step *step)
{
    struct le_ir_statement *st = &l->ir->statements.at[l->statement];
    for (int k = 0; k < step->access_count; k++) {
        const struct le_access *a = &step->accesses[k];
        struct le_node **x = LE_NEW_ARRAY(l->ir->arena, a->node->child_count, struct le_node *);
        for (int d = 0; d < a->node->child_count; d++) x[d] = lower_as(l, a->node->children[d], LE_I64);
        int *around = index_ids(l, a->around, a->around_count);
        struct le_ir_access *out = &l->ir->accesses.at[st->first_access + k];
        out->subscripts = x;
        out->around = around;
        out->around_count = a->around_count;
    }
}

static struct le_stage *add_stage(struct lower *l, enum le_stage_kind kind, const struct le_symbol *symbol)
{
    struct le_ir *ir = l->ir;
    int stage = ir->stages.count;
    int target = new_value(l, symbol->id, le_type_strong(symbol->type), symbol->is_array ? symbol->rank : 0, stage);
    struct le_stage *s = LE_PUSH(ir->arena, &ir->stages);
    *s = (struct le_stage){.kind = kind,
                           .statement = l->statement,
                           .name = ir->statements.at[l->statement].text,
                           .target = target,
                           .base = -1,
                           .access = -1};
    return s;
}

/* A scalar becomes `node`: a stage, and, where that needs no array, the node itself wherever it is read. */
static void set_scalar(struct lower *l, const struct le_symbol *symbol, struct le_node *node)
{
    node = stored(l, node, le_type_strong(symbol->type));
    struct le_stage *s = add_stage(l, LE_STAGE_MAP, symbol);
    s->node = node;
    l->current[symbol->id] = s->target;
    l->ir->fixed[symbol->id] = !node->loads && !node->reduces && node->depth <= FIXED_DEPTH_MAX ? node : NULL;
}

static void lower_new(struct lower *l, const struct le_step *step)
{
    struct le_ir_statement *st = add_statement(l, step);
    number_accesses(l, step);
    struct le_node **sizes = LE_NEW_ARRAY(l->ir->arena, step->size_count, struct le_node *);
    for (int k = 0; k < step->size_count; k++) sizes[k] = lower_as(l, step->sizes[k], LE_I64);
    enum le_type type = le_type_strong(step->symbol->type);
    struct le_node *value = step->value ? lower_as(l, step->value, type) : le_node_const(l->ir, le_type_compute(type), 0);
    fill_accesses(l, step);
    st = &l->ir->statements.at[l->statement];
    st->sizes = sizes;
    st->size_count = step->size_count;
    if (!step->symbol->is_array) {
        set_scalar(l, step->symbol, value);
        return;
    }
    struct le_stage *s = add_stage(l, LE_STAGE_FILL, step->symbol);
    s->node = stored(l, value, type);
    l->current[step->symbol->id] = s->target;
}

static void lower_value_step(struct lower *l, const struct le_step *step)
{
    add_statement(l, step);
    number_accesses(l, step);
    struct le_node *value = lower(l, step->value);
    fill_accesses(l, step);
    struct le_ir_statement *st = &l->ir->statements.at[l->statement];
    st->all = index_ids(l, step->all, step->all_count);
    st->all_count = step->all_count;
    if (step->kind == LE_STEP_AGREE) st->value = le_node_cast(l->ir, LE_I64, value);
    else set_scalar(l, step->symbol, value);
}

static void lower_bind(struct lower *l, const struct le_step *step)
{
    struct le_ir_statement *st = add_statement(l, step);
    struct le_node *extent = le_node_len(l->ir, step->array->id, step->axis);
    if (l->ir->fixed[step->symbol->id]) st->value = l->ir->fixed[step->symbol->id];
    else if (l->current[step->symbol->id] >= 0) st->value = le_node_cast(l->ir, LE_I64, scalar(l, step->symbol));
    else l->ir->fixed[step->symbol->id] = extent;
}

/* Whether different points write different elements: each index of its own in a subscript that it moves. */
static bool injective(struct lower *l, struct le_node *const *left, int left_count, const int *indices, int count)
{
    for (int k = 0; k < count; k++) {
        bool found = false;
        for (int d = 0; d < left_count && !found; d++) {
            const struct le_node *x = left[d], *y = x;
            if (x->free_count != 1 || x->free[0] != indices[k]) continue;
            if (x->kind == LE_NODE_OP && (x->code == LE_OP_ADD || x->code == LE_OP_SUB))
                y = x->operands[0]->free_count ? x->operands[0] : x->operands[1];
            if (y->kind == LE_NODE_OP && y->code == LE_OP_MUL) {
                const struct le_node *c = y->operands[0]->free_count ? y->operands[1] : y->operands[0];
                if (c->kind != LE_NODE_CONST || le_const_i64(c) == 0) continue;
                y = y->operands[0]->free_count ? y->operands[0] : y->operands[1];
            }
            found = y->kind == LE_NODE_INDEX && (x == y || x->kind == LE_NODE_OP) &&
                    (x == y || x->operands[0]->free_count == 0 || x->operands[1]->free_count == 0);
        }
        if (!found) return false;
    }
    (void)l;
    return true;
}

static int update_code(enum le_assign op)
{
    static const int codes[] = {LE_OPS,    LE_OP_ADD, LE_OP_SUB, LE_OP_MUL,
                                LE_OP_DIV, LE_OP_MIN, LE_OP_MAX};
    return codes[op];
}

static enum le_reduction update_reduction(enum le_assign op)
{
    switch (op) {
    case LE_ASSIGN_MUL: return LE_RED_PROD;
    case LE_ASSIGN_MIN: return LE_RED_MIN;
    case LE_ASSIGN_MAX: return LE_RED_MAX;
    default: return LE_RED_SUM;
    }
}

/* old op term, over the reduced indices if there are any. */
static struct le_node *updated(struct lower *l, const struct le_step *step, struct le_node *old, struct le_node *term,
                               const int *reduced, int count)
{
    enum le_type type = le_type_compute(le_type_strong(step->update));
    term = le_node_cast(l->ir, type, term);
    if (count > 0) {
        bool adds = step->op == LE_ASSIGN_ADD || step->op == LE_ASSIGN_MUL;
        enum le_type wide = adds ? le_type_compute(le_type_summed(type)) : type;
        term = le_node_reduce(l->ir, update_reduction(step->op), wide, le_node_cast(l->ir, wide, term), reduced, count);
        term = le_node_cast(l->ir, type, term);
    }
    old = le_node_cast(l->ir, type, old);
    int code = update_code(step->op);
    if (code == LE_OP_ADD || code == LE_OP_SUB) return contract(l, code, type, old, term);
    return op2(l, code, type, old, term);
}

/* Splits the statement's indices into those that the left side moves with and the reduced ones. */
static int split_indices(struct le_node *const *left, int left_count, const int *all, int count, int *kept, int *reduced)
{
    int kept_count = 0, reduced_count = 0;
    for (int k = 0; k < count; k++) {
        bool found = false;
        for (int d = 0; d < left_count; d++) found |= le_node_depends(left[d], all[k]);
        if (found) kept[kept_count++] = all[k];
        else reduced[reduced_count++] = all[k];
    }
    return kept_count;
}

static struct le_node *term_of(struct lower *l, const struct le_step *step)
{
    struct le_node *term = lower_as(l, step->value, step->term);
    if (!step->otherwise) return term;
    struct le_node *x[] = {term, lower_as(l, step->otherwise, step->term)};
    return le_node_make(l->ir, &(struct le_node){
                                   .kind = LE_NODE_ELSE, .type = term->type, .operands = x, .operand_count = 2});
}

static void assign_scalar(struct lower *l, const struct le_step *step, struct le_node *term, const int *free, int count)
{
    if (step->op != LE_ASSIGN_SET) term = updated(l, step, scalar(l, step->symbol), term, free, count);
    set_scalar(l, step->symbol, term);
}

static void assign_array(struct lower *l, const struct le_step *step, struct le_node *term, const int *all, int count)
{
    struct le_ir *ir = l->ir;
    const struct le_symbol *symbol = step->symbol;
    enum le_type type = le_type_strong(symbol->type);
    int base = step->is_new ? -1 : l->current[symbol->id], left_count = step->left->child_count;
    struct le_node **left = LE_NEW_ARRAY(ir->arena, left_count, struct le_node *);
    for (int d = 0; d < left_count; d++) left[d] = lower_as(l, step->left->children[d], LE_I64);
    int *kept = LE_NEW_ARRAY(ir->arena, count, int), *reduced = LE_NEW_ARRAY(ir->arena, count, int);
    int kept_count = split_indices(left, left_count, all, count, kept, reduced);
    int access = le_names_get(&l->accesses, (const char *)&step->left, sizeof step->left);
    bool map = injective(l, left, left_count, kept, kept_count);
    if (map && step->op != LE_ASSIGN_SET) {
        struct le_node old = {.kind = LE_NODE_LOAD,
                              .type = le_type_compute(type),
                              .value = base,
                              .operands = left,
                              .operand_count = left_count,
                              .access = access,
                              .trusted = bare(l, (const struct le_node *const *)left, left_count)};
        term = updated(l, step, le_node_make(ir, &old), term, reduced, count - kept_count);
    }
    struct le_stage *s = add_stage(l, map ? LE_STAGE_MAP : LE_STAGE_SCATTER, symbol);
    s->base = base;
    s->left = left;
    s->left_count = left_count;
    s->indices = map ? kept : (int *)(uintptr_t)all;
    s->index_count = map ? kept_count : count;
    s->node = stored(l, term, type);
    s->scatter = map ? LE_SCATTER_SET : (enum le_scatter)step->op;
    s->access = access;
    l->current[symbol->id] = s->target;
    struct le_ir_statement *st = &ir->statements.at[l->statement];
    st->left = left;
    st->left_count = left_count;
}

static void lower_assign(struct lower *l, const struct le_step *step)
{
    struct le_ir_statement *st = add_statement(l, step);
    number_accesses(l, step);
    int *free = index_ids(l, step->free, step->free_count), *all = index_ids(l, step->all, step->all_count);
    st = &l->ir->statements.at[l->statement];
    st->free = free;
    st->free_count = step->free_count;
    st->all = all;
    st->all_count = step->all_count;
    struct le_node *term = term_of(l, step);
    fill_accesses(l, step);
    if (step->left) assign_array(l, step, term, free, step->free_count);
    else assign_scalar(l, step, term, free, step->free_count);
}

static void lower_step(struct lower *l, const struct le_step *step)
{
    switch (step->kind) {
    case LE_STEP_DEFAULT:
        if (!l->inputs[step->symbol->id].bound) lower_value_step(l, step);
        return;
    case LE_STEP_BIND: lower_bind(l, step); return;
    case LE_STEP_NEW: lower_new(l, step); return;
    case LE_STEP_AGREE:
    case LE_STEP_FILL: lower_value_step(l, step); return;
    case LE_STEP_ASSIGN: lower_assign(l, step); return;
    }
}

static void add_inputs(struct lower *l)
{
    struct le_ir *ir = l->ir;
    int count = l->tree->symbol_count;
    l->current = LE_NEW_ARRAY(ir->arena, count, int);
    ir->first = LE_NEW_ARRAY(ir->arena, count, int);
    ir->fixed = LE_NEW_ARRAY(ir->arena, count, struct le_node *);
    for (int k = 0; k < count; k++) {
        const struct le_symbol *s = l->tree->symbols[k];
        bool bound = s->is_input && l->inputs[k].bound;
        l->current[k] = bound ? new_value(l, k, le_type_strong(s->type), s->is_array ? s->rank : 0, -1) : -1;
        ir->first[k] = l->current[k];
    }
}

/* Values that the range rules may have to look at before a statement runs have to be stored. */
static void mark_host(struct le_node *node, void *user)
{
    struct le_ir *ir = user;
    if (node->kind == LE_NODE_LOAD && node->free_count == 0 && ir->values.at[node->value].stage >= 0)
        ir->values.at[node->value].wanted = true;
}

static void mark_host_values(struct le_ir *ir)
{
    for (int k = 0; k < ir->accesses.count; k++)
        for (int d = 0; d < ir->accesses.at[k].rank; d++) le_node_walk(ir, ir->accesses.at[k].subscripts[d], mark_host, ir);
    for (int k = 0; k < ir->indices.count; k++) {
        struct le_range_nodes *r = &ir->indices.at[k].range;
        if (r->low) le_node_walk(ir, r->low, mark_host, ir);
        if (r->high) le_node_walk(ir, r->high, mark_host, ir);
        if (r->by) le_node_walk(ir, r->by, mark_host, ir);
    }
    for (int k = 0; k < ir->statements.count; k++) {
        struct le_ir_statement *st = &ir->statements.at[k];
        for (int d = 0; d < st->size_count; d++) le_node_walk(ir, st->sizes[d], mark_host, ir);
        if (st->value) le_node_walk(ir, st->value, mark_host, ir);
    }
}

struct le_ir *le_lower(struct le_arena *arena, const struct le_tree *tree, const struct le_input *inputs, const int *wanted,
                       int wanted_count)
{
    struct le_ir *ir = LE_NEW(arena, struct le_ir);
    struct lower l = {.ir = ir, .tree = tree, .inputs = inputs};
    ir->arena = arena;
    ir->tree = tree;
    ir->indices.at = LE_NEW_ARRAY(arena, tree->index_count, struct le_ir_index);
    ir->indices.count = ir->indices.capacity = tree->index_count;
    add_inputs(&l);
    for (int k = 0; k < tree->step_count && !l.failed; k++) lower_step(&l, &tree->steps[k]);
    if (l.failed) return NULL;
    ir->last = l.current;
    for (int k = 0; k < wanted_count; k++)
        if (ir->last[wanted[k]] >= 0) ir->values.at[ir->last[wanted[k]]].wanted = true;
    mark_host_values(ir);
    return ir;
}
