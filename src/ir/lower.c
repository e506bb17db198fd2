/* A specialised tree to IR: one stage a statement. */
#include "ir/lower.h"
#include <string.h>

#define FIXED_COST_MAX 256 /* a scalar of more arithmetic is stored rather than repeated */

/* ---- values */

static int new_value(struct lower *l, int symbol, enum le_type type, int rank, int stage) {
    struct le_ir *ir = l->ir;
    struct le_value *v = LE_PUSH(ir->arena, &ir->values);
    const char *name = symbol >= 0 ? l->tree->symbols[symbol]->name : "t";
    if (!name || !*name)
        name = "fill"; /* an edge's: no name of the program's */
    *v = (struct le_value){.id = ir->values.count - 1, .symbol = symbol, .type = type, .rank = rank, .stage = stage};
    v->name = stage < 0 ? name : le_arena_format(ir->arena, "%s.%d", name, v->id);
    return v->id;
}

/* ---- statements */

static const char *statement_text(struct lower *l, const struct le_step *step) {
    const char *text = l->tree->text + step->offset;
    int length = 0;
    while (length < step->line_length && length < 60 && text[length] != '\n')
        length++;
    return le_arena_copy(l->ir->arena, text, (size_t)length);
}

static struct le_ir_statement *add_statement(struct lower *l, const struct le_step *step) {
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
static void number_accesses(struct lower *l, const struct le_step *step) {
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

static void fill_accesses(struct lower *l, const struct le_step *step) {
    struct le_ir_statement *st = &l->ir->statements.at[l->statement];
    for (int k = 0; k < step->access_count; k++) {
        const struct le_access *a = &step->accesses[k];
        struct le_node **x = LE_NEW_ARRAY(l->ir->arena, a->node->child_count, struct le_node *);
        for (int d = 0; d < a->node->child_count; d++)
            x[d] = le_lower_as(l, a->node->children[d], LE_I64);
        int *around = le_lower_indices(l, a->around, a->around_count);
        struct le_ir_access *out = &l->ir->accesses.at[st->first_access + k];
        out->subscripts = x;
        out->around = around;
        out->around_count = a->around_count;
    }
}

static struct le_stage *add_stage(struct lower *l, enum le_stage_kind kind, const struct le_symbol *symbol) {
    struct le_ir *ir = l->ir;
    int stage = ir->stages.count;
    int target = new_value(l, symbol->id, le_type_strong(symbol->type), symbol->is_array ? symbol->rank : 0, stage);
    struct le_stage *s = LE_PUSH(ir->arena, &ir->stages);
    *s = (struct le_stage){.kind = kind,
                           .statement = l->statement,
                           .name = ir->statements.at[l->statement].text,
                           .target = target,
                           .base = -1,
                           .leader = -1,
                           .sibling = -1,
                           .access = -1};
    return s;
}

/* A scalar becomes `node`: a stage, and, where that needs no array, the node itself wherever it is read. */
static void set_scalar(struct lower *l, const struct le_symbol *symbol, struct le_node *node) {
    node = le_lower_stored(l, node, le_type_strong(symbol->type));
    struct le_stage *s = add_stage(l, LE_STAGE_MAP, symbol);
    s->node = node;
    l->current[symbol->id] = s->target;
    l->ir->fixed[symbol->id] = !node->loads && !node->reduces && node->cost <= FIXED_COST_MAX ? node : NULL;
}

/* The start value has to fit the type that the first assignment gives. */
static void check_start(struct lower *l, const struct le_step *step, enum le_type type) {
    const char *name = step->symbol->name;
    bool whole = le_type_is_int(type);
    if (whole && le_type_is_float(step->value->type)) {
        le_fail_at(LEAT_MISMATCH, step->value->place, "a cast", "%s into %s (%s) needs a cast",
                   le_type_name(step->value->type), name, le_type_name(type));
        l->failed = true;
        return;
    }
    struct le_node *value = le_lower_any(l, step->value);
    if (!whole || value->kind != LE_NODE_CONST || le_type_bits(type) == 64)
        return;
    int64_t number = le_const_i64(value), high = (int64_t)1 << (le_type_bits(type) - !le_type_is_unsigned(type));
    int64_t low = le_type_is_unsigned(type) ? 0 : -high;
    if (number >= low && number < high)
        return;
    le_fail_at(LEAT_MISMATCH, step->value->place, NULL, "the number %lld is out of the range of %s", (long long)number,
               le_type_name(type));
    l->failed = true;
}

static void lower_new(struct lower *l, const struct le_step *step) {
    struct le_ir_statement *st = add_statement(l, step);
    number_accesses(l, step);
    struct le_node **sizes = LE_NEW_ARRAY(l->ir->arena, step->size_count, struct le_node *);
    for (int k = 0; k < step->size_count; k++)
        sizes[k] = le_lower_as(l, step->sizes[k], LE_I64);
    enum le_type type = le_type_strong(step->symbol->type);
    if (step->value)
        check_start(l, step, type);
    struct le_node *value =
        step->value ? le_lower_as(l, step->value, type) : le_node_const(l->ir, le_type_compute(type), 0);
    fill_accesses(l, step);
    st = &l->ir->statements.at[l->statement];
    st->sizes = sizes;
    st->size_count = step->size_count;
    if (!step->symbol->is_array) {
        set_scalar(l, step->symbol, value);
        return;
    }
    struct le_stage *s = add_stage(l, LE_STAGE_FILL, step->symbol);
    s->node = le_lower_stored(l, value, type);
    l->current[step->symbol->id] = s->target;
}

static void lower_value_step(struct lower *l, const struct le_step *step) {
    add_statement(l, step);
    number_accesses(l, step);
    struct le_node *value = le_lower_any(l, step->value);
    fill_accesses(l, step);
    struct le_ir_statement *st = &l->ir->statements.at[l->statement];
    st->all = le_lower_indices(l, step->all, step->all_count);
    st->all_count = step->all_count;
    if (step->kind == LE_STEP_AGREE)
        st->value = le_node_cast(l->ir, LE_I64, value);
    else
        set_scalar(l, step->symbol, value);
}

static void lower_bind(struct lower *l, const struct le_step *step) {
    struct le_ir_statement *st = add_statement(l, step);
    struct le_node *extent = le_node_len(l->ir, step->array->id, step->axis);
    if (l->ir->fixed[step->symbol->id])
        st->value = l->ir->fixed[step->symbol->id];
    else if (l->current[step->symbol->id] >= 0)
        st->value = le_node_cast(l->ir, LE_I64, le_lower_scalar(l, step->symbol));
    else
        l->ir->fixed[step->symbol->id] = extent;
}

/* Whether different points write different elements: each index of its own in a subscript that it moves. */
static bool injective(struct lower *l, struct le_node *const *left, int left_count, const int *indices, int count) {
    for (int k = 0; k < count; k++) {
        bool found = false;
        for (int d = 0; d < left_count && !found; d++) {
            const struct le_node *x = left[d], *y = x;
            if (x->free_count != 1 || x->free[0] != indices[k])
                continue;
            if (x->kind == LE_NODE_OP && (x->code == LE_OP_ADD || x->code == LE_OP_SUB))
                y = x->operands[0]->free_count ? x->operands[0] : x->operands[1];
            if (y->kind == LE_NODE_OP && y->code == LE_OP_MUL) {
                const struct le_node *c = y->operands[0]->free_count ? y->operands[1] : y->operands[0];
                if (c->kind != LE_NODE_CONST || le_const_i64(c) == 0)
                    continue;
                y = y->operands[0]->free_count ? y->operands[0] : y->operands[1];
            }
            found = y->kind == LE_NODE_INDEX && (x == y || x->kind == LE_NODE_OP) &&
                    (x == y || x->operands[0]->free_count == 0 || x->operands[1]->free_count == 0);
        }
        if (!found)
            return false;
    }
    (void)l;
    return true;
}

static int update_code(enum le_assign op) {
    static const int codes[] = {LE_OPS, LE_OP_ADD, LE_OP_SUB, LE_OP_MUL, LE_OP_DIV, LE_OP_MIN, LE_OP_MAX};
    return codes[op];
}

static enum le_reduction update_reduction(enum le_assign op) {
    switch (op) {
    case LE_ASSIGN_MUL:
        return LE_RED_PROD;
    case LE_ASSIGN_MIN:
        return LE_RED_MIN;
    case LE_ASSIGN_MAX:
        return LE_RED_MAX;
    default:
        return LE_RED_SUM;
    }
}

/* old op term, over the reduced indices if there are any. */
static struct le_node *updated(struct lower *l, const struct le_step *step, struct le_node *old, struct le_node *term,
                               const int *reduced, int count) {
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
    if (code == LE_OP_ADD || code == LE_OP_SUB)
        return le_lower_contracted(l, code, type, old, term);
    return le_lower_op2(l, code, type, old, term);
}

/* Splits the statement's indices into those that the left side moves with and the reduced ones. */
static int split_indices(struct le_node *const *left, int left_count, const int *all, int count, int *kept,
                         int *reduced) {
    int kept_count = 0, reduced_count = 0;
    for (int k = 0; k < count; k++) {
        bool found = false;
        for (int d = 0; d < left_count; d++)
            found |= le_node_depends(left[d], all[k]);
        if (found)
            kept[kept_count++] = all[k];
        else
            reduced[reduced_count++] = all[k];
    }
    return kept_count;
}

static struct le_node *term_of(struct lower *l, const struct le_step *step) {
    struct le_node *term = le_lower_as(l, step->value, step->term);
    if (!step->otherwise)
        return term;
    struct le_node *x[] = {term, le_lower_as(l, step->otherwise, step->term)};
    return le_node_make(l->ir,
                        &(struct le_node){.kind = LE_NODE_ELSE, .type = term->type, .operands = x, .operand_count = 2});
}

static void assign_scalar(struct lower *l, const struct le_step *step, struct le_node *term, const int *free,
                          int count) {
    if (step->op != LE_ASSIGN_SET)
        term = updated(l, step, le_lower_scalar(l, step->symbol), term, free, count);
    set_scalar(l, step->symbol, term);
}

/* ---- scatters that compute in another type than their array's */

/* max= and min= compare in the wider type, 16-bit floats compute in f32, bools subtract as integers: the array is taken
 * to that type, updated, and rounded back once. Sums and products of integers wrap the same in their own type. */
static bool needs_wide(enum le_assign op, enum le_type type, enum le_type wide) {
    if (op == LE_ASSIGN_SET)
        return false;
    if (type != le_type_compute(type) || (type == LE_BOOL && (op == LE_ASSIGN_SUB || op == LE_ASSIGN_DIV)))
        return true;
    return (op == LE_ASSIGN_MIN || op == LE_ASSIGN_MAX) && wide != type;
}

/* Fresh indices over all of the symbol's axes. */
static int *whole_axes(struct lower *l, const struct le_symbol *symbol, struct le_node **subscripts) {
    struct le_ir *ir = l->ir;
    struct le_ir_statement *st = &ir->statements.at[l->statement];
    int *indices = LE_NEW_ARRAY(ir->arena, symbol->rank, int);
    int *all = LE_NEW_ARRAY(ir->arena, st->all_count + symbol->rank, int);
    if (st->all_count)
        memcpy(all, st->all, (size_t)st->all_count * sizeof *all);
    for (int d = 0; d < symbol->rank; d++) {
        struct le_range_nodes range = {.low = le_node_i64(ir, 0), .high = le_node_len(ir, symbol->id, d)};
        *LE_PUSH(ir->arena, &ir->indices) =
            (struct le_ir_index){.name = "w", .explicit_range = true, .range = range, .place = symbol->place};
        all[st->all_count + d] = indices[d] = ir->indices.count - 1;
        subscripts[d] = le_node_index(ir, indices[d]);
    }
    st->all = all;
    st->all_count += symbol->rank;
    return indices;
}

/* target = source, element by element, as `type`. */
static int convert_whole(struct lower *l, const struct le_symbol *symbol, int source, enum le_type type) {
    struct le_ir *ir = l->ir;
    struct le_node **left = LE_NEW_ARRAY(ir->arena, symbol->rank, struct le_node *);
    int *indices = whole_axes(l, symbol, left);
    struct le_node load = {.kind = LE_NODE_LOAD,
                           .type = le_type_compute(ir->values.at[source].type),
                           .value = source,
                           .operands = left,
                           .operand_count = symbol->rank,
                           .access = -1,
                           .trusted = true};
    struct le_stage *s = add_stage(l, LE_STAGE_MAP, symbol);
    ir->values.at[s->target].type = type;
    s->indices = indices;
    s->index_count = s->left_count = symbol->rank;
    s->left = left;
    s->node = le_lower_stored(l, le_node_make(ir, &load), type);
    return s->target;
}

static void assign_array(struct lower *l, const struct le_step *step, struct le_node *term, const int *all, int count) {
    struct le_ir *ir = l->ir;
    const struct le_symbol *symbol = step->symbol;
    enum le_type type = le_type_strong(symbol->type);
    int base = step->is_new ? -1 : l->current[symbol->id], left_count = step->left->child_count;
    struct le_node **left = LE_NEW_ARRAY(ir->arena, left_count, struct le_node *);
    for (int d = 0; d < left_count; d++)
        left[d] = le_lower_as(l, step->left->children[d], LE_I64);
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
                              .trusted = le_lower_is_bare(l, left, left_count)};
        term = updated(l, step, le_node_make(ir, &old), term, reduced, count - kept_count);
    }
    enum le_type wide = step->op == LE_ASSIGN_SET ? type : le_type_compute(le_type_strong(step->update));
    bool widened = !map && needs_wide(step->op, type, wide);
    if (widened)
        base = convert_whole(l, symbol, base, wide);
    struct le_stage *s = add_stage(l, map ? LE_STAGE_MAP : LE_STAGE_SCATTER, symbol);
    s->base = base;
    s->left = left;
    s->left_count = left_count;
    s->indices = map ? kept : (int *)(uintptr_t)all;
    s->index_count = map ? kept_count : count;
    s->node = le_lower_stored(l, term, widened ? wide : type);
    if (widened)
        ir->values.at[s->target].type = wide;
    s->scatter = map ? LE_SCATTER_SET : (enum le_scatter)step->op;
    s->access = access;
    l->current[symbol->id] = widened ? convert_whole(l, symbol, s->target, type) : s->target;
    struct le_ir_statement *st = &ir->statements.at[l->statement];
    st->left = left;
    st->left_count = left_count;
}

static void lower_assign(struct lower *l, const struct le_step *step) {
    struct le_ir_statement *st = add_statement(l, step);
    number_accesses(l, step);
    int *free = le_lower_indices(l, step->free, step->free_count),
        *all = le_lower_indices(l, step->all, step->all_count);
    st = &l->ir->statements.at[l->statement];
    st->free = free;
    st->free_count = step->free_count;
    st->all = all;
    st->all_count = step->all_count;
    struct le_node *term = term_of(l, step);
    fill_accesses(l, step);
    if (step->left)
        assign_array(l, step, term, free, step->free_count);
    else
        assign_scalar(l, step, term, free, step->free_count);
}

static void lower_step(struct lower *l, const struct le_step *step) {
    switch (step->kind) {
    case LE_STEP_DEFAULT:
        if (!l->inputs[step->symbol->id].bound)
            lower_value_step(l, step);
        return;
    case LE_STEP_BIND:
        lower_bind(l, step);
        return;
    case LE_STEP_NEW:
        lower_new(l, step);
        return;
    case LE_STEP_AGREE:
    case LE_STEP_FILL:
        lower_value_step(l, step);
        return;
    case LE_STEP_ASSIGN:
        lower_assign(l, step);
        return;
    }
}

static void add_inputs(struct lower *l) {
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
static void mark_host(struct le_node *node, void *user) {
    struct le_ir *ir = user;
    if (node->kind == LE_NODE_LOAD && node->free_count == 0 && ir->values.at[node->value].stage >= 0)
        ir->values.at[node->value].wanted = true;
}

static void mark_host_values(struct le_ir *ir) {
    for (int k = 0; k < ir->accesses.count; k++)
        for (int d = 0; d < ir->accesses.at[k].rank; d++)
            le_node_walk(ir, ir->accesses.at[k].subscripts[d], mark_host, ir);
    for (int k = 0; k < ir->indices.count; k++) {
        struct le_range_nodes *r = &ir->indices.at[k].range;
        if (r->low)
            le_node_walk(ir, r->low, mark_host, ir);
        if (r->high)
            le_node_walk(ir, r->high, mark_host, ir);
        if (r->by)
            le_node_walk(ir, r->by, mark_host, ir);
    }
    for (int k = 0; k < ir->statements.count; k++) {
        struct le_ir_statement *st = &ir->statements.at[k];
        for (int d = 0; d < st->size_count; d++)
            le_node_walk(ir, st->sizes[d], mark_host, ir);
        if (st->value)
            le_node_walk(ir, st->value, mark_host, ir);
    }
}

struct le_ir *le_lower(struct le_arena *arena, const struct le_tree *tree, const struct le_input *inputs,
                       const int *wanted, int wanted_count) {
    struct le_ir *ir = LE_NEW(arena, struct le_ir);
    struct lower l = {.ir = ir, .tree = tree, .inputs = inputs};
    ir->arena = arena;
    ir->tree = tree;
    ir->indices.at = LE_NEW_ARRAY(arena, tree->index_count, struct le_ir_index);
    ir->indices.count = ir->indices.capacity = tree->index_count;
    add_inputs(&l);
    for (int k = 0; k < tree->step_count && !l.failed; k++)
        lower_step(&l, &tree->steps[k]);
    if (l.failed)
        return NULL;
    ir->last = l.current;
    for (int k = 0; k < wanted_count; k++)
        if (ir->last[wanted[k]] >= 0)
            ir->values.at[ir->last[wanted[k]]].wanted = true;
    mark_host_values(ir);
    return ir;
}
