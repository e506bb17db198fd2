/* Lowers a specialised tree to IR, one stage per statement. lower_control.c and lower_region.c lower statements with
 * blocks. */
#include "ir/lower/lower.h"
#include <string.h>

#define FIXED_COST_MAX 64 /* a scalar that costs more is stored rather than recomputed */

enum { TEXT_BYTES = 240, NAME_BYTES = 60 }; /* limits of a statement's text in comments and in tables */

/* ---- values */

int le_lower_new_value(struct lower *l, int symbol, enum le_type type, int rank, int stage) {
    struct le_ir *ir = l->ir;
    struct le_value *v = LE_PUSH(ir->arena, &ir->values);
    const char *name = symbol >= 0 ? l->tree->symbols[symbol]->name : "t";
    if (!name || !*name)
        name = "fill"; /* the fill of an edge has no name in the program */
    *v = (struct le_value){.id = ir->values.count - 1, .symbol = symbol, .type = type, .rank = rank, .stage = stage};
    v->name = stage < 0 ? name : le_arena_format(ir->arena, "%s.%d", name, v->id);
    return v->id;
}

/* ---- statements */

/* Shortens a longer text to end in "...", without splitting a UTF-8 character. */
static const char *shorten_text(struct le_arena *arena, const char *text, size_t most_bytes) {
    size_t length = strlen(text);
    if (length <= most_bytes)
        return text;
    length = most_bytes - 3;
    while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--;
    return le_arena_format(arena, "%.*s...", (int)length, text);
}

/* Returns the position after line breaks and comments, with the spaces around them; `at` if there are none. */
static int skip_breaks(const char *text, int at, int size_bytes) {
    int end = at;
    bool comment = false, found = false;
    for (; end < size_bytes && text[end] && (comment || strchr(" \t\r\n#", text[end])); end++) {
        comment = text[end] == '#' || (comment && text[end] != '\n');
        found |= comment || text[end] == '\n';
    }
    return found ? end : at;
}

const char *le_lower_text(struct lower *l, const struct le_step *step) {
    const char *text = l->tree->text + step->offset;
    int most =
        step->size_bytes < TEXT_BYTES ? step->size_bytes : TEXT_BYTES + 1; /* one more, so that shorten_text cuts it */
    char *line = LE_NEW_ARRAY(l->ir->arena, most + 1, char);
    int length = 0;
    for (int at = 0; at < step->size_bytes && length < most;) {
        int next = skip_breaks(text, at, step->size_bytes);
        if (next == at) {
            line[length++] = text[at++];
            continue;
        }
        if (length > 0 && line[length - 1] == '{') /* statements of the block get lines of their own */
            break;
        if (next < step->size_bytes)
            line[length++] = ' ';
        at = next;
    }
    return shorten_text(l->ir->arena, line, TEXT_BYTES);
}

const char *le_lower_stage_name(struct le_ir *ir, int statement) {
    return statement < 0 ? "" : shorten_text(ir->arena, ir->statements.at[statement].text, NAME_BYTES);
}

struct le_ir_statement *le_lower_statement(struct lower *l, const struct le_step *step) {
    struct le_ir *ir = l->ir;
    l->shared.count = 0;
    l->shared_numbers = (struct le_names){0};
    l->statement = ir->statements.count;
    struct le_ir_statement *st = LE_PUSH(ir->arena, &ir->statements);
    *st = (struct le_ir_statement){.kind = step->kind,
                                   .location = step->location,
                                   .text = le_lower_text(l, step),
                                   .symbol = step->symbol ? step->symbol->id : -1,
                                   .array = step->array ? step->array->id : -1,
                                   .axis = step->axis,
                                   .is_new = step->is_new,
                                   .has_else = step->otherwise != NULL,
                                   .conditional = step->conditional,
                                   .first_access = ir->accesses.count,
                                   .access_count = step->access_count,
                                   .loop = -1};
    return st;
}

void le_lower_number_accesses(struct lower *l, const struct le_step *step) {
    l->accesses = (struct le_names){0};
    for (int k = 0; k < step->access_count; k++) {
        const struct le_access *a = &step->accesses[k];
        unsigned bare = 0;
        for (int d = 0; d < a->node->child_count; d++)
            bare |= (unsigned)(a->node->children[d]->kind == LE_TREE_INDEX) << d;
        struct le_ir_access *out = LE_PUSH(l->ir->arena, &l->ir->accesses);
        *out = (struct le_ir_access){.symbol = a->node->symbol->id,
                                     .stretch = a->left ? 0 : a->node->dots_count,
                                     .statement = l->statement,
                                     .rank = a->node->child_count,
                                     .bare = bare,
                                     .under_condition = a->under_condition,
                                     .guarded = a->guarded,
                                     .left = a->left,
                                     .has_edge = a->node->edge != LE_EDGE_NONE || a->has_else,
                                     .location = a->node->location};
        le_names_put(l->ir->arena, &l->accesses, (const char *)&a->node, sizeof a->node, l->ir->accesses.count - 1);
    }
}

static void fill_accesses(struct lower *l, const struct le_step *step) {
    struct le_ir_statement *st = &l->ir->statements.at[l->statement];
    l->as_written = true;
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
    l->as_written = false;
}

void le_lower_finish_statement(struct lower *l, const struct le_step *step) {
    int *all = le_lower_indices(l, step->all, step->all_count);
    fill_accesses(l, step);
    struct le_ir_statement *st = &l->ir->statements.at[l->statement];
    st->all = all;
    st->all_count = step->all_count;
}

struct le_stage *le_lower_blank_stage(struct lower *l, enum le_stage_kind kind) {
    struct le_ir *ir = l->ir;
    struct le_stage *s = LE_PUSH(ir->arena, &ir->stages);
    *s = (struct le_stage){.kind = kind,
                           .statement = l->statement,
                           .name = le_lower_stage_name(ir, l->statement),
                           .target = -1,
                           .base = -1,
                           .leader = -1,
                           .sibling = -1,
                           .access = -1,
                           .index = -1,
                           .block = l->block};
    return s;
}

struct le_stage *le_lower_stage(struct lower *l, enum le_stage_kind kind, const struct le_symbol *symbol) {
    int rank = symbol->is_array ? symbol->rank : 0;
    int target = le_lower_new_value(l, symbol->id, le_type_strong(symbol->type), rank, l->ir->stages.count);
    struct le_stage *s = le_lower_blank_stage(l, kind);
    s->target = target;
    return s;
}

bool le_lower_repeats(const struct le_node *node) {
    bool product = node->kind == LE_NODE_OP && node->code == LE_OP_MUL && le_type_is_float(node->type);
    return !product && !node->loads && !node->reduces && !node->changes && node->cost <= FIXED_COST_MAX;
}

void le_lower_set(struct lower *l, const struct le_symbol *symbol, struct le_node *node) {
    node = le_lower_stored(l, node, le_type_strong(symbol->type));
    struct le_stage *s = le_lower_stage(l, LE_STAGE_MAP, symbol);
    s->node = node;
    l->current[symbol->id] = s->target;
    l->ir->fixed[symbol->id] = le_lower_repeats(node) ? node : NULL;
}

/* The initial value must fit the type that the first assignment gives. */
static void check_start(struct lower *l, const struct le_step *step, enum le_type type) {
    const char *name = step->symbol->name;
    bool whole = le_type_is_int(type);
    if (whole && le_type_is_float(step->value->type)) {
        le_fail_at(LEAT_MISMATCH, step->value->location, "write a cast", "assigning %s to '%s' (%s) needs a cast",
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
    le_fail_at(LEAT_MISMATCH, step->value->location, NULL, "the number %lld is out of range for %s", (long long)number,
               le_type_name(type));
    l->failed = true;
}

static void lower_new(struct lower *l, const struct le_step *step) {
    struct le_ir_statement *st = le_lower_statement(l, step);
    le_lower_number_accesses(l, step);
    struct le_node **sizes = LE_NEW_ARRAY(l->ir->arena, step->size_count, struct le_node *);
    for (int k = 0; k < step->size_count; k++)
        sizes[k] = le_lower_as(l, step->sizes[k], LE_I64);
    enum le_type type = le_type_strong(step->symbol->type);
    if (step->value)
        check_start(l, step, type);
    struct le_node *value =
        step->value ? le_lower_into(l, step->value, type) : le_node_const(l->ir, le_type_compute(type), 0);
    le_lower_finish_statement(l, step);
    st = &l->ir->statements.at[l->statement];
    st->sizes = sizes;
    st->size_count = step->size_count;
    if (!step->symbol->is_array) {
        le_lower_set(l, step->symbol, value);
        return;
    }
    struct le_stage *s = le_lower_stage(l, LE_STAGE_FILL, step->symbol);
    s->node = le_lower_stored(l, value, type);
    l->current[step->symbol->id] = s->target;
}

static void lower_value_step(struct lower *l, const struct le_step *step) {
    le_lower_statement(l, step);
    le_lower_number_accesses(l, step);
    struct le_node *value = le_lower_any(l, step->value);
    le_lower_finish_statement(l, step);
    if (step->kind == LE_STEP_AGREE)
        l->ir->statements.at[l->statement].value = le_node_cast(l->ir, LE_I64, value);
    else
        le_lower_set(l, step->symbol, value);
}

static void lower_bind(struct lower *l, const struct le_step *step) {
    struct le_ir_statement *st = le_lower_statement(l, step);
    struct le_node *extent = le_node_len(l->ir, step->array->id, step->axis);
    if (l->ir->fixed[step->symbol->id])
        st->value = l->ir->fixed[step->symbol->id];
    else if (l->current[step->symbol->id] >= 0)
        st->value = le_node_cast(l->ir, LE_I64, le_lower_scalar(l, step->symbol));
    else
        l->ir->fixed[step->symbol->id] = extent;
}

static void assign_scalar(struct lower *l, const struct le_step *step, struct le_node *term, const int *free,
                          int count) {
    if (step->op != LE_ASSIGN_SET)
        term = le_lower_updated(l, step, le_lower_scalar(l, step->symbol), term, free, count);
    le_lower_set(l, step->symbol, term);
}

static struct le_node **lower_left(struct lower *l, const struct le_step *step) {
    int count = step->left ? step->left->child_count : 0;
    struct le_node **left = LE_NEW_ARRAY(l->ir->arena, count, struct le_node *);
    for (int d = 0; d < count; d++)
        left[d] = le_lower_as(l, step->left->children[d], LE_I64);
    return left;
}

/* Both sides are lowered before the accesses, which may be inside a def's block and read its variables. */
static void lower_assign(struct lower *l, const struct le_step *step) {
    le_lower_statement(l, step);
    le_lower_number_accesses(l, step);
    int *free = le_lower_indices(l, step->free, step->free_count);
    struct le_node *term = le_lower_term(l, step), **left = lower_left(l, step);
    le_lower_finish_statement(l, step);
    struct le_ir_statement *st = &l->ir->statements.at[l->statement];
    st->free = free;
    st->free_count = step->free_count;
    if (step->left)
        le_lower_array(l, step, left, term, free, step->free_count);
    else
        assign_scalar(l, step, term, free, step->free_count);
}

static void show_held(struct lower *l, const struct lower_hold *held) {
    if (!held->symbol)
        return;
    l->current[held->symbol->id] = held->value;
    l->ir->fixed[held->symbol->id] = held->fixed;
}

/* The assignment of a held step stays hidden until the next step, the other half of its statement, has been lowered. */
static void lower_halves(struct lower *l, const struct le_step *step) {
    struct lower_hold before = l->held, old = {.symbol = step->symbol,
                                               .value = l->current[step->symbol->id],
                                               .fixed = l->ir->fixed[step->symbol->id]};
    l->held = (struct lower_hold){0};
    lower_assign(l, step);
    if (step->held) {
        l->held = (struct lower_hold){step->symbol, l->current[step->symbol->id], l->ir->fixed[step->symbol->id]};
        show_held(l, &old);
    }
    show_held(l, &before);
}

/* Statements without blocks. */
static void lower_plain(struct lower *l, const struct le_step *step) {
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
        lower_halves(l, step);
        return;
    default:
        le_lower_break(l);
    }
}

void le_lower_steps(struct lower *l, int first, int end) {
    for (int k = first; k < end && !l->failed && l->reached;) {
        enum le_step_kind kind = l->tree->steps[k].kind;
        if (kind == LE_STEP_FOR)
            k = le_lower_for(l, k);
        else if (kind == LE_STEP_WHILE)
            k = le_lower_while(l, k);
        else if (kind == LE_STEP_IF)
            k = le_lower_if(l, k);
        else if (kind == LE_STEP_EACH)
            k = le_lower_each(l, k);
        else
            lower_plain(l, &l->tree->steps[k++]);
    }
}

static void add_inputs(struct lower *l) {
    struct le_ir *ir = l->ir;
    int count = l->tree->symbol_count;
    l->current = LE_NEW_ARRAY(ir->arena, count, int);
    l->local = LE_NEW_ARRAY(ir->arena, count, int);
    l->pair = LE_NEW_ARRAY(ir->arena, count, int);
    l->stamp = LE_NEW_ARRAY(ir->arena, count, int);
    l->sets = LE_NEW_ARRAY(ir->arena, count, int);
    l->known = LE_NEW_ARRAY(ir->arena, count, struct le_node *);
    l->index_nodes = LE_NEW_ARRAY(ir->arena, l->tree->index_count, struct le_node *);
    l->index_node_count = l->tree->index_count;
    ir->first = LE_NEW_ARRAY(ir->arena, count, int);
    ir->fixed = LE_NEW_ARRAY(ir->arena, count, struct le_node *);
    for (int k = 0; k < count; k++) {
        const struct le_symbol *s = l->tree->symbols[k];
        l->local[k] = l->pair[k] = -1;
        bool bound = s->is_input && l->inputs[k].bound;
        l->current[k] = bound ? le_lower_new_value(l, k, le_type_strong(s->type), s->is_array ? s->rank : 0, -1) : -1;
        ir->first[k] = l->current[k];
    }
}

struct le_ir *le_lower(struct le_arena *arena, const struct le_tree *tree, const struct le_input *inputs,
                       const int *wanted, int wanted_count) {
    struct le_ir *ir = le_ir_new(arena, tree);
    struct lower l = {.ir = ir, .tree = tree, .inputs = inputs, .statement = -1, .reached = true};
    ir->indices.at = LE_NEW_ARRAY(arena, tree->index_count, struct le_ir_index);
    ir->indices.count = ir->indices.capacity = tree->index_count;
    add_inputs(&l);
    le_lower_steps(&l, 0, tree->step_count);
    if (l.failed)
        return NULL;
    ir->last = l.current;
    for (int k = 0; k < wanted_count; k++)
        if (ir->last[wanted[k]] >= 0)
            ir->values.at[ir->last[wanted[k]]].wanted = true;
    return ir;
}
