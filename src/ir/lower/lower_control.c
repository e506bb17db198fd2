/* Lowers host blocks. Loops and branches become control stages, and MOVE stages hand on the values that they change
 * (see le_stage_kind in ir.h). Statements after a BREAK in its block never run and are dropped. */
#include "ir/lower/lower.h"
#include <string.h>

/* ---- values that a block changes */

struct changed_values {
    int *symbols, *values; /* values: at the loop's head, or after both branches */
    int count;
};

static bool has_value(const struct lower *l, int symbol) {
    return l->current[symbol] >= 0 || l->ir->fixed[symbol];
}

static bool sets_symbol(enum le_step_kind kind) {
    return kind == LE_STEP_ASSIGN || kind == LE_STEP_NEW || kind == LE_STEP_FILL;
}

/* The symbols set by steps first..end-1. Those that already have a value come first; *before is their number, *count
 * the number of all. */
static int *find_set(struct lower *l, int first, int end, int *count, int *before) {
    int *out = LE_NEW_ARRAY(l->ir->arena, end - first, int);
    l->looks++;
    *count = *before = 0;
    for (int k = first; k < end; k++) {
        const struct le_step *step = &l->tree->steps[k];
        if (!sets_symbol(step->kind) || step->symbol->local || l->stamp[step->symbol->id] == l->looks)
            continue;
        l->stamp[step->symbol->id] = l->looks;
        out[(*count)++] = step->symbol->id;
        if (has_value(l, step->symbol->id)) {
            out[*count - 1] = out[*before];
            out[(*before)++] = step->symbol->id;
        }
    }
    return out;
}

/* Adds a MOVE of the symbols' current values to targets. held: what each target already holds; equal values are not
 * moved. */
static void add_move(struct lower *l, const int *targets, const int *held, const int *symbols, int count) {
    int pair_count = 0, at = 0;
    for (int k = 0; k < count; k++)
        pair_count += held[k] != l->current[symbols[k]];
    if (pair_count == 0)
        return;
    struct le_pair *pairs = LE_NEW_ARRAY(l->ir->arena, pair_count, struct le_pair);
    for (int k = 0; k < count; k++)
        if (held[k] != l->current[symbols[k]])
            pairs[at++] = (struct le_pair){.target = targets[k], .source = l->current[symbols[k]]};
    struct le_stage *s = le_lower_blank_stage(l, LE_STAGE_MOVE);
    s->pairs = pairs;
    s->pair_count = pair_count;
    s->target = pairs[0].target;
    for (int k = 0; k < pair_count; k++) {
        struct le_value *v = &l->ir->values.at[pairs[k].target];
        if (v->stage == 0)
            v->stage = l->ir->stages.count - 1;
    }
}

/* Stores a scalar that has only been a node so far. */
static void store_scalar(struct lower *l, int symbol) {
    if (l->current[symbol] < 0)
        le_lower_set(l, l->tree->symbols[symbol], l->ir->fixed[symbol]);
}

/* Creates a value for each of the symbols. */
static struct changed_values new_values(struct lower *l, const int *symbols, int count) {
    struct changed_values c = {.symbols = (int *)(uintptr_t)symbols, .count = count};
    c.values = LE_NEW_ARRAY(l->ir->arena, count, int);
    for (int k = 0; k < count; k++) {
        const struct le_symbol *s = l->tree->symbols[symbols[k]];
        c.values[k] = le_lower_new_value(l, s->id, le_type_strong(s->type), s->is_array ? s->rank : 0, 0);
        l->ir->values.at[c.values[k]].moved = true;
    }
    return c;
}

static void set_current(struct lower *l, const int *symbols, const int *values, int count) {
    for (int k = 0; k < count; k++) {
        l->current[symbols[k]] = values[k];
        l->ir->fixed[symbols[k]] = NULL;
    }
}

/* A symbol does not exist after the block that set it. */
static void forget_symbols(struct lower *l, const int *symbols, int count) {
    for (int k = 0; k < count; k++) {
        l->current[symbols[k]] = -1;
        l->ir->fixed[symbols[k]] = NULL;
    }
}

/* ---- loops */

static void open_block(struct lower *l) {
    l->block = ++l->ir->block_count;
}

#define BREAKS_MIN 16 /* loops with at least so many give their scalars exits */

static int count_breaks(const struct lower *l, int loop) {
    const struct le_step *steps = l->tree->steps;
    int count = 0;
    for (int k = loop + 1; k < steps[loop].partner; k++)
        count += steps[k].kind == LE_STEP_BREAK && steps[k].partner == loop;
    return count;
}

/* Creates the head values for the symbols that the loop changes. If it has many BREAKs, its scalars get exit values as
 * well. */
static struct lower_loop enter_loop(struct lower *l, int number, const int *symbols, int count) {
    for (int k = 0; k < count; k++)
        store_scalar(l, symbols[k]);
    struct changed_values c = new_values(l, symbols, count);
    struct lower_loop loop = {.outer = l->loop, .symbols = symbols, .heads = c.values, .count = count};
    add_move(l, c.values, c.values, symbols, count);
    if (count_breaks(l, number) < BREAKS_MIN)
        return loop;
    loop.exits = LE_NEW_ARRAY(l->ir->arena, count, int);
    loop.moved = LE_NEW_ARRAY(l->ir->arena, count, int);
    for (int k = 0; k < count; k++) {
        bool is_array = l->tree->symbols[symbols[k]]->is_array;
        loop.exits[k] = is_array ? c.values[k] : new_values(l, symbols + k, 1).values[0];
        loop.moved[k] = is_array ? l->current[symbols[k]] : -1;
    }
    add_move(l, loop.exits, loop.moved, symbols, count);
    memcpy(loop.moved, c.values, (size_t)count * sizeof *loop.moved);
    return loop;
}

/* Moves changed scalars to their exits before a branch, so that a BREAK moves only what its branch has changed, not
 * everything changed in the iteration. Nothing in the loop reads exits. */
static void move_exits(struct lower *l) {
    struct lower_loop *loop = l->loop;
    for (int k = 0; k < loop->count; k++) {
        int now = l->current[loop->symbols[k]];
        if (loop->exits[k] == loop->heads[k] || loop->moved[k] == now)
            continue;
        add_move(l, &loop->exits[k], &loop->moved[k], &loop->symbols[k], 1);
        loop->moved[k] = now;
    }
}

/* Lowers the body, steps first..end-1, and adds the END. */
static void lower_body(struct lower *l, struct lower_loop *loop, int first, int end, int around) {
    l->loop = loop;
    loop->block = l->block;
    le_lower_steps(l, first, end);
    if (l->reached && loop->exits)
        move_exits(l);
    if (l->reached)
        add_move(l, loop->heads, loop->heads, loop->symbols, loop->count);
    l->loop = loop->outer;
    l->reached = true;
    l->block = around;
    le_lower_blank_stage(l, LE_STAGE_END);
    set_current(l, loop->symbols, loop->exits ? loop->exits : loop->heads, loop->count);
}

/* A start or step that is not cheap to repeat becomes a scalar of its own before the loop: the body reads it for every
 * value of the index, in statements that do not know the indices of its reductions. */
static struct le_node *keep_value(struct lower *l, struct le_node *node) {
    if (!node || le_lower_repeats(node))
        return node;
    int value = le_lower_new_value(l, -1, LE_I64, 0, l->ir->stages.count);
    struct le_stage *s = le_lower_blank_stage(l, LE_STAGE_MAP);
    s->target = value;
    s->node = node;
    return le_node_make(l->ir, &(struct le_node){.kind = LE_NODE_LOAD, .type = LE_I64, .value = value});
}

int le_lower_for(struct lower *l, int number) {
    const struct le_step *step = &l->tree->steps[number];
    int count, before, around = l->block, *symbols = find_set(l, number + 1, step->partner, &count, &before);
    le_lower_statement(l, step);
    le_lower_number_accesses(l, step);
    struct le_node *low = le_lower_bound(l, step->index->low);
    struct le_node *by = step->index->by ? keep_value(l, le_lower_bound(l, step->index->by)) : NULL;
    le_lower_for_range(l, step->index, by ? keep_value(l, low) : low, by);
    le_lower_finish_statement(l, step);
    struct lower_loop loop = enter_loop(l, number, symbols, before);
    int value = le_lower_new_value(l, -1, LE_I64, 0, l->ir->stages.count);
    struct le_stage *s = le_lower_blank_stage(l, LE_STAGE_FOR);
    s->index = step->index->id;
    s->target = l->ir->indices.at[s->index].host_value = value;
    set_current(l, loop.symbols, loop.heads, loop.count);
    open_block(l);
    lower_body(l, &loop, number + 1, step->partner, around);
    forget_symbols(l, symbols + before, count - before);
    return step->partner + 1;
}

/* The statement of a WHILE begins inside the loop, with its condition. Stages before the loop belong to the previous
 * statement. */
int le_lower_while(struct lower *l, int number) {
    const struct le_step *step = &l->tree->steps[number];
    int count, before, around = l->block, *symbols = find_set(l, number + 1, step->partner, &count, &before);
    if (l->statement < 0)
        le_lower_statement(l, &(struct le_step){.kind = LE_STEP_WHILE, .location = step->location});
    struct lower_loop loop = enter_loop(l, number, symbols, before);
    le_lower_blank_stage(l, LE_STAGE_LOOP);
    set_current(l, loop.symbols, loop.heads, loop.count);
    open_block(l);
    le_lower_statement(l, step);
    le_lower_number_accesses(l, step);
    struct le_node *condition = le_lower_as(l, step->value, LE_BOOL);
    le_lower_finish_statement(l, step);
    le_lower_blank_stage(l, LE_STAGE_TEST)->node = condition;
    lower_body(l, &loop, number + 1, step->partner, around);
    forget_symbols(l, symbols + before, count - before);
    return step->partner + 1;
}

void le_lower_break(struct lower *l) {
    const struct lower_loop *loop = l->loop;
    if (loop->exits)
        add_move(l, loop->exits, loop->moved, loop->symbols, loop->count);
    else
        add_move(l, loop->heads, loop->heads, loop->symbols, loop->count);
    le_lower_blank_stage(l, LE_STAGE_BREAK);
    l->reached = false;
}

/* ---- branches */

static bool lower_branch(struct lower *l, const struct changed_values *c, int first, int end, int around) {
    open_block(l);
    le_lower_steps(l, first, end);
    if (l->reached)
        add_move(l, c->values, c->values, c->symbols, c->count);
    bool reached = l->reached;
    l->reached = true;
    l->block = around;
    return reached;
}

/* Saves the current values and nodes of the symbols. */
static struct changed_values save_values(struct lower *l, const int *symbols, int count, struct le_node ***fixed) {
    struct changed_values c = {.symbols = (int *)(uintptr_t)symbols, .count = count};
    c.values = LE_NEW_ARRAY(l->ir->arena, count, int);
    *fixed = LE_NEW_ARRAY(l->ir->arena, count, struct le_node *);
    for (int k = 0; k < count; k++) {
        c.values[k] = l->current[symbols[k]];
        (*fixed)[k] = l->ir->fixed[symbols[k]];
    }
    return c;
}

int le_lower_if(struct lower *l, int number) {
    const struct le_step *step = &l->tree->steps[number], *otherwise = &l->tree->steps[step->partner];
    bool has_else = otherwise->kind == LE_STEP_ELSE;
    int end = has_else ? otherwise->partner : step->partner, count, before, around = l->block;
    int *symbols = find_set(l, number + 1, end, &count, &before);
    struct le_node **fixed;
    for (int k = 0; k < before; k++)
        store_scalar(l, symbols[k]);
    le_lower_statement(l, step);
    le_lower_number_accesses(l, step);
    struct le_node *condition = le_lower_as(l, step->value, LE_BOOL);
    le_lower_finish_statement(l, step);
    struct changed_values c = new_values(l, symbols, before), old = save_values(l, symbols, before, &fixed);
    if (l->loop && l->loop->exits && l->loop->block == l->block)
        move_exits(l);
    le_lower_blank_stage(l, LE_STAGE_IF)->node = condition;
    bool first = lower_branch(l, &c, number + 1, step->partner, around);
    set_current(l, old.symbols, old.values, old.count);
    for (int k = 0; k < before; k++)
        l->ir->fixed[symbols[k]] = fixed[k];
    le_lower_blank_stage(l, LE_STAGE_ELSE);
    bool second = lower_branch(l, &c, step->partner + 1, has_else ? end : step->partner + 1, around);
    le_lower_blank_stage(l, LE_STAGE_END);
    set_current(l, c.symbols, c.values, c.count);
    forget_symbols(l, symbols + before, count - before);
    l->reached = first || second;
    return end + 1;
}
