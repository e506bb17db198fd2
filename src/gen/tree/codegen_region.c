/* Regions: structured code over private variables, generated as plain C with C variables. A RETURN that is not the last
 * step becomes a goto. Nodes that change from step to step are computed again after each step, except after a
 * variable's first SET. After a region, nodes computed before it are valid again. */
#include "gen/tree/codegen.h"
#include <string.h>

struct region {
    struct codegen *c;
    struct le_node *node;
    const struct le_region_step *steps;
    int count;
    struct le_variable *outside;
    struct le_block *scope;         /* the whole region */
    struct le_variable *results[2]; /* its results; NULL: it has none */
    bool *first;                    /* by step: it is the first SET of its variable, which nothing has read yet */
    const char *told;               /* the last statement that was added as a comment */
};

static void run_steps(struct region *r, struct le_block *block, int from, int to);

static struct le_expression *operand_value(struct region *r, struct le_block *block, int operand) {
    return le_codegen_node(r->c, r->node->operands[operand], block, r->outside);
}

/* ---- variables */

static void next_moment(struct codegen *c) {
    c->moment = ++c->moments;
}

static void declare_variables(struct region *r, struct le_block *block) {
    struct codegen *c = r->c;
    r->first = LE_NEW_ARRAY(c->arena, r->count, bool);
    for (int k = 0; k < r->count; k++)
        if (r->steps[k].kind == LE_REGION_SET)
            c->locals[r->steps[k].local] = NULL;
    for (int k = 0; k < r->count; k++) {
        int local = r->steps[k].local;
        if (r->steps[k].kind != LE_REGION_SET || c->locals[local])
            continue;
        const struct le_local *l = &c->ir->locals.at[local];
        int type = (int)le_type_compute(l->type);
        r->first[k] = true;
        c->locals[local] = le_ktree_declare(c->tree, block, l->name, type, le_ktree_constant(c->tree, type, 0));
    }
}

static void run_set(struct region *r, struct le_block *block, const struct le_region_step *s) {
    struct le_expression *x = operand_value(r, block, s->value);
    le_ktree_set(r->c->tree, block, le_ktree_use(r->c->tree, r->c->locals[s->local]), le_codegen_wide(r->c, x));
}

/* ---- stores */

/* For EACHs where the last iteration wins: claims the element, or writes it if no claim is greater than the thread's
 * own. */
static void run_claimed(struct region *r, struct le_block *block, const struct le_region_step *s,
                        struct destination to) {
    struct codegen *c = r->c;
    struct destination claim = to;
    struct le_expression *number, *place, *own = le_codegen_claim(c);
    enum le_type type = c->ir->values.at[to.value].type;
    struct le_expression *x = c->meet == LE_MEET_LAST ? operand_value(r, block, s->value) : NULL;
    claim.dense = c->winners[s->target];
    struct le_block *inner = le_codegen_place(c, &claim, block, r->outside, &number);
    if (x) {
        struct le_block *winner = le_codegen_open_branch(c, inner, le_ktree_binary(c->tree, LE_OP_EQ, number, own));
        to.trusted = true;
        le_codegen_place(c, &to, winner, r->outside, &place);
        le_ktree_set(c->tree, winner, place, le_codegen_to_memory(c, x, type));
        le_ktree_close(c->tree, winner);
    } else {
        struct le_expression *operands[] = {le_ktree_address(c->tree, number), own};
        le_do(c->tree, inner, LE_CALL_CLAIM, NULL, operands);
    }
    le_ktree_close_to(c->tree, inner, block);
}

/* each.c says how iterations that write the same element are ordered. */
static void run_store(struct region *r, struct le_block *block, const struct le_region_step *s) {
    struct codegen *c = r->c;
    const struct le_value *target = &c->ir->values.at[c->stage->pairs[s->target].target];
    struct destination to = {.value = target->id,
                             .rank = s->subscript_count,
                             .access = s->access,
                             .subscripts = r->node->operands + s->first_subscript};
    if (!s->own && c->winners && c->winners[s->target]) {
        run_claimed(r, block, s, to);
        return;
    }
    if (c->meet == LE_MEET_CLAIM)
        return;
    struct le_expression *x = le_codegen_wide(c, operand_value(r, block, s->value)), *place;
    struct le_block *inner = le_codegen_place(c, &to, block, r->outside, &place);
    if (c->meet != LE_MEET_IN_ORDER && !s->own)
        le_ktree_add(c->tree, inner,
                     (struct le_statement){.kind = LE_STATEMENT_UPDATE, .code = (int)s->scatter, .to = place, .x = x});
    else if (s->scatter == LE_SCATTER_SET)
        le_ktree_set(c->tree, inner, place, le_codegen_to_memory(c, x, target->type));
    else
        le_ktree_set(c->tree, inner, place, le_codegen_updated(c, s->scatter, target->type, !s->own, place, x));
    le_ktree_close_to(c->tree, inner, block);
}

/* ---- ways through it */

static void run_return(struct region *r, struct le_block *block, int step) {
    const struct le_region_step *s = &r->steps[step];
    struct le_kernel_tree *t = r->c->tree;
    const int operands[] = {s->value, s->second};
    if (r->results[0] && r->results[1])
        le_codegen_both(r->c, r->node->operands[s->value], r->node->operands[s->second], block, r->outside);
    for (int k = 0; k < 2; k++)
        if (r->results[k])
            le_ktree_set(t, block, le_ktree_use(t, r->results[k]),
                         le_codegen_wide(r->c, operand_value(r, block, operands[k])));
    if (step + 1 >= r->count)
        return;
    if (!r->scope->owner->variable)
        r->scope->owner->variable = le_ktree_variable(t, "done", LE_KTREE_VOID);
    le_ktree_add(t, block, (struct le_statement){.kind = LE_STATEMENT_LEAVE, .variable = r->scope->owner->variable});
}

/* No fault if a read was out of range: then the value is not used. */
static void run_fail(struct region *r, struct le_block *block, const struct le_region_step *s) {
    struct codegen *c = r->c;
    struct le_block *inner =
        r->outside ? le_ktree_open_if(c->tree, block, le_ktree_not(c->tree, le_ktree_use(c->tree, r->outside))) : block;
    le_codegen_add_fault(c, inner, LE_FAULT_END,
                         le_ktree_long(c->tree, le_fault_location(s->location.line, s->location.column)));
    le_ktree_close_to(c->tree, inner, block);
}

/* Runs steps in a branch (x NULL: the other one), which stays open, so that code hoisted out of it comes before it. */
static struct le_block *run_branch(struct region *r, struct le_block *block, struct le_expression *x, int from,
                                   int to) {
    struct le_block *inner = le_codegen_open_branch(r->c, block, x);
    next_moment(r->c);
    run_steps(r, inner, from, to);
    next_moment(r->c);
    return inner;
}

static int run_if(struct region *r, struct le_block *block, int step) {
    int middle = r->steps[step].partner;
    int end = r->steps[middle].kind == LE_REGION_ELSE ? r->steps[middle].partner : middle;
    struct le_expression *x = operand_value(r, block, r->steps[step].value);
    struct le_block *then = run_branch(r, block, x, step + 1, middle);
    struct le_block *otherwise = end != middle ? run_branch(r, block, NULL, middle + 1, end) : NULL;
    le_ktree_close(r->c->tree, then);
    if (otherwise)
        le_ktree_close(r->c->tree, otherwise);
    return end;
}

static void break_if(struct region *r, struct le_block *block, struct le_expression *x) {
    struct le_block *inner = le_ktree_open_if(r->c->tree, block, x);
    le_ktree_add(r->c->tree, inner, (struct le_statement){.kind = LE_STATEMENT_BREAK});
    le_ktree_close(r->c->tree, inner);
}

/* A `while` ends after an out-of-range read, because its value is not used, and after a fault, because reads then give
 * 0 and it might never end. */
static int run_loop(struct region *r, struct le_block *block, int step) {
    const struct le_region_step *s = &r->steps[step];
    struct le_kernel_tree *t = r->c->tree;
    bool loops = s->kind == LE_REGION_WHILE;
    struct le_block *inner = loops ? le_ktree_open_while(t, block, le_ktree_not(t, le_ktree_use(t, r->c->failed)))
                                   : le_codegen_loop(r->c, block, r->node->indices[s->index], r->outside);
    inner->conditional = true;
    next_moment(r->c);
    if (loops) {
        break_if(r, inner, le_ktree_not(t, operand_value(r, inner, s->value)));
        if (r->outside)
            break_if(r, inner, le_ktree_use(t, r->outside));
    }
    run_steps(r, inner, step + 1, s->partner);
    le_ktree_close(t, inner);
    next_moment(r->c);
    return s->partner;
}

/* Adds the statement as a comment, if it is one line without a backslash. */
static void tell_statement(struct region *r, struct le_block *block, const char *text) {
    if (!text || !*text || strpbrk(text, "\\\n") || (r->told && strcmp(text, r->told) == 0))
        return;
    le_ktree_add(r->c->tree, block, (struct le_statement){.kind = LE_STATEMENT_COMMENT, .text = text});
    r->told = text;
}

static void run_steps(struct region *r, struct le_block *block, int from, int to) {
    for (int k = from; k < to && r->c->status == LEAT_OK; k++) {
        const struct le_region_step *s = &r->steps[k];
        tell_statement(r, block, s->text);
        switch (s->kind) {
        case LE_REGION_SET:
            run_set(r, block, s);
            break;
        case LE_REGION_STORE:
            run_store(r, block, s);
            break;
        case LE_REGION_IF:
            k = run_if(r, block, k);
            break;
        case LE_REGION_FOR:
        case LE_REGION_WHILE:
            k = run_loop(r, block, k);
            break;
        case LE_REGION_BREAK:
            le_ktree_add(r->c->tree, block, (struct le_statement){.kind = LE_STATEMENT_BREAK});
            return; /* steps after it are not reached */
        case LE_REGION_RETURN:
            run_return(r, block, k);
            return;
        case LE_REGION_FAIL:
            run_fail(r, block, s);
            break;
        case LE_REGION_ELSE:
        case LE_REGION_END:
            break;
        }
        if (!r->first[k])
            next_moment(r->c);
    }
}

struct held *le_codegen_region(struct codegen *c, struct le_node *node, struct le_block *block,
                               struct le_variable *outside) {
    struct le_kernel_tree *t = c->tree;
    struct region r = {
        .c = c, .node = node, .steps = node->region->steps, .count = node->region->step_count, .outside = outside};
    int count = node->type == LE_NONE ? 0 : le_region_gives_two(node) ? 2 : 1, moment = c->moment;
    for (int k = 0; k < count; k++)
        r.results[k] = le_ktree_declare(t, block, "result", (int)node->type, le_ktree_constant(t, (int)node->type, 0));
    struct le_block *inner = r.scope = le_ktree_open_scope(t, block);
    bool watches = !c->failed && le_region_has_while(node);
    if (watches)
        c->failed = le_ktree_declare(t, inner, "failed", LE_BOOL, le_ktree_constant(t, LE_BOOL, 0));
    next_moment(c);
    declare_variables(&r, inner);
    run_steps(&r, inner, 0, r.count);
    le_ktree_close(t, inner);
    if (watches)
        c->failed = NULL;
    c->moment = moment;
    if (count == 0)
        return NULL;
    struct held *x = LE_NEW(c->arena, struct held);
    *x = (struct held){.x = le_ktree_use(t, r.results[0]), .block = block, .second = r.results[1]};
    return x;
}

struct held *le_codegen_second(struct codegen *c, struct le_node *node, struct le_block *block,
                               struct le_variable *outside) {
    const struct held *first = le_codegen_held(c, node->operands[0], block, outside);
    struct held *x = LE_NEW(c->arena, struct held);
    *x = (struct held){.x = le_ktree_use(c->tree, first->second), .block = first->block};
    return x;
}
