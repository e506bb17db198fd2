/* Finds where values die. It walks a plan's actions from the last to the first with the set of live values: those that
 * are read after the current action. It knows nothing about memory: two values may share theirs.
 *
 * Values from outside a loop that its body reads live until the loop is left. Values that only the body sets do not
 * live from one iteration to the next. A value that a MOVE right before a loop's END sets is dead between its last read
 * in the body and that MOVE. For an action with two successors, the values that die on the way to the next action and
 * on the other way are recorded separately. The result is conservative: a value may be reported to live longer than it
 * does. */
#include "run/call.h"
#include <limits.h>
#include <string.h>

struct value_set {
    uint64_t *words;
};
struct block {
    int end;                    /* the action that ends the block */
    struct value_set after;     /* live where the block is left */
    struct value_set otherwise; /* IF: live at the start of the second branch */
};

struct liveness {
    struct le_specialised *s;
    struct le_plan *plan;
    int words;
    struct value_set now;
    struct {
        int *at;
        int count, capacity;
    } reads;         /* values, grouped by action */
    int *first_read; /* by action, plus two entries: the reads after the last action, and their end */
    struct {
        struct block *at;
        int count, capacity;
    } blocks; /* the first `open` are open; the others keep their memory for reuse */
    int open;
};

/* ---- sets */

static bool set_has(struct value_set set, int value) {
    return set.words[value / 64] >> (value % 64) & 1;
}
static void set_add(struct value_set set, int value) {
    set.words[value / 64] |= (uint64_t)1 << (value % 64);
}
static void set_remove(struct value_set set, int value) {
    set.words[value / 64] &= ~((uint64_t)1 << (value % 64));
}
static void set_copy(const struct liveness *l, struct value_set to, struct value_set from) {
    memcpy(to.words, from.words, (size_t)l->words * sizeof *to.words);
}
static void set_union(const struct liveness *l, struct value_set to, struct value_set from) {
    for (int k = 0; k < l->words; k++)
        to.words[k] |= from.words[k];
}

/* ---- what an action reads */

static void add_read(struct liveness *l, int value) {
    if (l->s->ir->values.at[value].stage >= 0)
        *LE_PUSH(&l->plan->arena, &l->reads) = value;
}

static void read_load(struct le_node *node, void *user) {
    if (node->kind == LE_NODE_LOAD && !node->live)
        add_read(user, node->value);
}

/* The range rules evaluate nodes whose only indices are the host's. */
static void read_number(struct le_node *node, void *user) {
    const struct liveness *l = user;
    if (node->kind == LE_NODE_LOAD && le_node_is_hosts(l->s->ir, node))
        add_read(user, node->value);
}

static void read_bounds(struct liveness *l, int index, void (*visit)(struct le_node *, void *)) {
    const struct le_range_nodes *r = &l->s->ir->indices.at[index].range;
    struct le_node *bounds[] = {r->low, r->high, r->by};
    for (size_t b = 0; b < ARRAY_LEN(bounds); b++)
        if (bounds[b])
            le_node_walk(l->s->ir, bounds[b], visit, l);
}

static void read_statement(struct liveness *l, const struct le_ir_statement *st) {
    struct le_ir *ir = l->s->ir;
    for (int k = 0; k < st->all_count; k++)
        read_bounds(l, st->all[k], read_number);
    for (int k = 0; k < st->access_count; k++) {
        const struct le_ir_access *a = &ir->accesses.at[st->first_access + k];
        for (int d = 0; d < a->rank; d++)
            le_node_walk(ir, a->subscripts[d], read_number, l);
    }
    for (int k = 0; k < st->size_count; k++)
        le_node_walk(ir, st->sizes[k], read_number, l);
    if (st->value)
        le_node_walk(ir, st->value, read_number, l);
}

static void read_group(struct liveness *l, const struct le_plan_step *g) {
    for (int k = 0; k < g->statement_count; k++) {
        const struct le_ir_statement *st = &l->s->ir->statements.at[g->first_statement + k];
        if (!st->unchecked)
            read_statement(l, st);
    }
}

static void read_stage(struct liveness *l, const struct le_stage *stage) {
    if (stage->node)
        le_node_walk_through(l->s->ir, stage->node, read_load, l);
    if (stage->product)
        le_node_walk(l->s->ir, stage->product, read_load, l);
    for (int d = 0; d < stage->left_count; d++)
        le_node_walk(l->s->ir, stage->left[d], read_load, l);
    for (int k = 0; k < stage->index_count; k++)
        read_bounds(l, stage->indices[k], read_load);
    if (stage->kind == LE_STAGE_FOR)
        read_bounds(l, stage->index, read_load);
    if (stage->pair_count == 0 && stage->base >= 0 && le_stage_computes(stage))
        add_read(l, stage->base);
    for (int k = 0; k < stage->pair_count; k++)
        if (stage->pairs[k].source >= 0)
            add_read(l, stage->pairs[k].source);
}

/* A group's ranges are found before its first action runs; those of a last group without actions, after all actions. */
static void list_reads(struct liveness *l) {
    struct le_plan *plan = l->plan;
    l->first_read = LE_NEW_ARRAY(&plan->arena, plan->action_count + 2, int);
    for (int k = 0, next = 0; k <= plan->action_count; k++) {
        l->first_read[k] = l->reads.count;
        if (k < plan->action_count)
            read_stage(l, plan->actions[k].stage);
        for (; next < plan->group_count && plan->groups[next].first_action == k; next++)
            read_group(l, &plan->groups[next]);
    }
    l->first_read[plan->action_count + 1] = l->reads.count;
}

/* ---- the walk */

static int push_death(struct liveness *l, int value) {
    const struct le_value *v = &l->s->ir->values.at[value];
    if (v->rank > 0 && v->stage >= 0)
        *LE_PUSH(&l->plan->arena, &l->plan->deaths) = value;
    return l->plan->deaths.count;
}

/* The values in `from` that are not in `to`. */
static struct le_dying_values difference(struct liveness *l, struct value_set from, struct value_set to) {
    struct le_dying_values d = {.first = l->plan->deaths.count};
    for (int w = 0; w < l->words; w++)
        for (uint64_t rest = from.words[w] & ~to.words[w]; rest; rest &= rest - 1)
            push_death(l, w * 64 + __builtin_ctzll(rest));
    d.count = l->plan->deaths.count - d.first;
    return d;
}

static void read_all(struct liveness *l, int action) {
    for (int k = l->first_read[action]; k < l->first_read[action + 1]; k++)
        set_add(l->now, l->reads.at[k]);
}

static int target_count(const struct le_stage *stage) {
    return stage->pair_count > 0 ? stage->pair_count : le_stage_computes(stage) ? 1 : 0;
}
static int target_of(const struct le_stage *stage, int k) {
    return stage->pair_count > 0 ? stage->pairs[k].target : stage->target;
}

static void walk_stage(struct liveness *l, int action) {
    struct le_action *a = &l->plan->actions[action];
    a->dying.first = l->plan->deaths.count;
    for (int k = 0; k < target_count(a->stage); k++) {
        if (!set_has(l->now, target_of(a->stage, k)))
            push_death(l, target_of(a->stage, k));
        set_remove(l->now, target_of(a->stage, k));
    }
    for (int k = l->first_read[action]; k < l->first_read[action + 1]; k++) {
        if (!set_has(l->now, l->reads.at[k]))
            push_death(l, l->reads.at[k]);
        set_add(l->now, l->reads.at[k]);
    }
    a->dying.count = l->plan->deaths.count - a->dying.first;
}

static struct value_set new_set(struct liveness *l) {
    return (struct value_set){LE_NEW_ARRAY(&l->plan->arena, l->words, uint64_t)};
}

static struct block *open_block(struct liveness *l, int action) {
    if (l->open == l->blocks.count)
        *LE_PUSH(&l->plan->arena, &l->blocks) = (struct block){.after = new_set(l), .otherwise = new_set(l)};
    struct block *b = &l->blocks.at[l->open++];
    b->end = action;
    set_copy(l, b->after, l->now);
    return b;
}
static struct block *innermost_block(struct liveness *l) {
    return &l->blocks.at[l->open - 1];
}

static bool is_loop(const struct le_action *a) {
    return a->stage->kind == LE_STAGE_FOR || a->stage->kind == LE_STAGE_LOOP;
}

/* Opens the block that ends at the action. After the end of a loop its body may run again. */
static void walk_end(struct liveness *l, int action) {
    struct le_action *a = &l->plan->actions[action];
    struct block *b = open_block(l, action);
    int first = a->partner;
    read_all(l, action);
    if (!is_loop(&l->plan->actions[first]))
        return;
    for (int k = l->first_read[first + 1]; k < l->first_read[action]; k++)
        if (l->plan->maker[l->reads.at[k]] < first)
            set_add(l->now, l->reads.at[k]);
    a->dying_on_exit = difference(l, l->now, b->after);
}

/* The loop that a TEST or BREAK may leave. */
static struct block *left_block(struct liveness *l, int action) {
    int k = l->open - 1;
    while (l->blocks.at[k].end != l->plan->actions[action].partner)
        k--;
    return &l->blocks.at[k];
}

static void walk_for(struct liveness *l, int action) {
    struct le_action *a = &l->plan->actions[action];
    struct block *b = innermost_block(l);
    set_remove(l->now, a->stage->target);
    set_copy(l, b->otherwise, l->now);
    set_union(l, l->now, b->after);
    read_all(l, action);
    a->dying = difference(l, l->now, b->otherwise);
    a->dying_on_exit = difference(l, l->now, b->after);
    l->open--;
}

static void walk_if(struct liveness *l, int action) {
    struct le_action *a = &l->plan->actions[action];
    struct block *b = innermost_block(l);
    set_copy(l, b->after, l->now); /* live at the start of the first branch */
    set_union(l, l->now, b->otherwise);
    read_all(l, action);
    a->dying = difference(l, l->now, b->after);
    a->dying_on_exit = difference(l, l->now, b->otherwise);
    l->open--;
}

static void walk_test(struct liveness *l, int action) {
    struct le_action *a = &l->plan->actions[action];
    struct block *b = left_block(l, action);
    set_copy(l, b->otherwise, l->now);
    set_union(l, l->now, b->after);
    read_all(l, action);
    a->dying = difference(l, l->now, b->otherwise);
    a->dying_on_exit = difference(l, l->now, b->after);
}

static void walk_action(struct liveness *l, int action) {
    switch (l->plan->actions[action].stage->kind) {
    case LE_STAGE_END:
        walk_end(l, action);
        return;
    case LE_STAGE_FOR:
        walk_for(l, action);
        return;
    case LE_STAGE_LOOP:
        l->open--;
        read_all(l, action);
        return;
    case LE_STAGE_TEST:
        walk_test(l, action);
        return;
    case LE_STAGE_BREAK:
        set_copy(l, l->now, left_block(l, action)->after);
        read_all(l, action);
        return;
    case LE_STAGE_IF:
        walk_if(l, action);
        return;
    case LE_STAGE_ELSE:
        set_copy(l, innermost_block(l)->otherwise, l->now);
        set_copy(l, l->now, innermost_block(l)->after);
        read_all(l, action);
        return;
    default:
        walk_stage(l, action);
    }
}

void le_find_dying_values(struct le_specialised *s) {
    struct liveness l = {.s = s, .plan = s->plan, .words = s->ir->values.count / 64 + 1};
    l.now = new_set(&l);
    list_reads(&l);
    for (int k = 0; k < s->real_wanted_count; k++)
        if (s->ir->last[s->real_wanted[k]] >= 0)
            set_add(l.now, s->ir->last[s->real_wanted[k]]);
    read_all(&l, s->plan->action_count);
    for (int k = s->plan->action_count - 1; k >= 0; k--)
        walk_action(&l, k);
}

bool le_value_dies(const struct le_plan *plan, struct le_dying_values deaths, int value) {
    for (int k = 0; k < deaths.count; k++)
        if (plan->deaths.at[deaths.first + k] == value)
            return true;
    return false;
}
