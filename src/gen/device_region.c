/* Regions: structured code over private variables, generated as plain C with C variables. A RETURN that is not the last
 * step becomes a goto. Nodes that change from step to step are computed again after each step, except after a
 * variable's first SET. After a region, nodes computed before it are valid again. */
#include "gen/device_gen.h"
#include <string.h>

struct region {
    struct cuda *c;
    struct le_node *node;
    const struct le_region_step *steps;
    int count;
    const char *outside, *done; /* done: the label behind it, once used */
    const char *results[2];     /* of what it gives; NULL: it does not */
    bool *first;                /* by step: the first SET of its variable, which nothing has read yet */
    const char *told;           /* the statement that stands there as a comment last */
};

static void run_steps(struct region *r, struct block *block, int from, int to);

static const struct held *operand_value(struct region *r, struct block *block, int operand) {
    return le_cuda_node(r->c, r->node->operands[operand], block, r->outside);
}

/* ---- variables */

static void next_moment(struct cuda *c) {
    c->moment = ++c->moments;
}

static void declare_variables(struct region *r, struct block *block) {
    struct cuda *c = r->c;
    r->first = LE_NEW_ARRAY(c->arena, r->count, bool);
    for (int k = 0; k < r->count; k++)
        if (r->steps[k].kind == LE_REGION_SET)
            c->locals[r->steps[k].local] = NULL;
    for (int k = 0; k < r->count; k++) {
        int local = r->steps[k].local;
        if (r->steps[k].kind != LE_REGION_SET || c->locals[local])
            continue;
        const struct le_local *l = &c->ir->locals.at[local];
        r->first[k] = true;
        c->locals[local] = le_cuda_name(c, l->name);
        le_cuda_line(c, block, "%s %s = 0;", le_cuda_type(l->type), c->locals[local]);
    }
}

static void run_set(struct region *r, struct block *block, const struct le_region_step *s) {
    const struct held *x = operand_value(r, block, s->value);
    le_cuda_line(r->c, block, "%s = %s;", r->c->locals[s->local], x->text);
}

/* ---- stores */

/* Where the last one wins: claims the place, or writes it, if no other one's claim is greater. */
static void run_claimed(struct region *r, struct block *block, const struct le_region_step *s, struct destination to) {
    struct cuda *c = r->c;
    struct destination claim = to;
    const char *number, *place, *own = le_cuda_claim(c);
    enum le_type type = c->ir->values.at[to.value].type;
    const struct held *x = c->meet == LE_MEET_LAST ? operand_value(r, block, s->value) : NULL;
    claim.dense = c->winners[s->target];
    struct block *inner = le_cuda_place(c, &claim, block, r->outside, &number);
    if (x) {
        struct block *winner = le_cuda_open(c, inner, le_arena_format(c->arena, "if (%s == %s)", number, own));
        winner->conditional = true;
        to.trusted = true;
        le_cuda_place(c, &to, winner, r->outside, &place);
        le_cuda_line(c, winner, "%s = %s;", place,
                     le_cuda_to_memory(c, le_cuda_wide(c, x), le_type_compute(type), type));
        le_cuda_close(c, winner);
    } else {
        le_cuda_line(c, inner, "atomicMax(&%s, %s);", number, own);
    }
    if (inner != block)
        le_cuda_close(c, inner);
}

/* How elements meet: device_each.c. */
static void run_store(struct region *r, struct block *block, const struct le_region_step *s) {
    struct cuda *c = r->c;
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
    const struct held *x = operand_value(r, block, s->value);
    const char *place;
    struct block *inner = le_cuda_place(c, &to, block, r->outside, &place);
    enum le_type type = le_type_compute(target->type);
    if (c->meet != LE_MEET_IN_ORDER && !s->own)
        le_cuda_update_atomic(c, inner, s->scatter, target->type, place, le_cuda_wide(c, x));
    else if (s->scatter == LE_SCATTER_SET)
        le_cuda_line(c, inner, "%s = %s;", place, le_cuda_to_memory(c, le_cuda_wide(c, x), type, target->type));
    else
        le_cuda_line(c, inner, "%s = %s;", place,
                     le_cuda_updated(c, s->scatter, target->type, place, le_cuda_wide(c, x)));
    if (inner != block)
        le_cuda_close(c, inner);
}

/* ---- ways through it */

static void run_return(struct region *r, struct block *block, int step) {
    const struct le_region_step *s = &r->steps[step];
    const int operands[] = {s->value, s->second};
    if (r->results[0] && r->results[1])
        le_cuda_both(r->c, r->node->operands[s->value], r->node->operands[s->second], block, r->outside);
    for (int k = 0; k < 2; k++)
        if (r->results[k])
            le_cuda_line(r->c, block, "%s = %s;", r->results[k], operand_value(r, block, operands[k])->text);
    if (step + 1 >= r->count)
        return;
    if (!r->done)
        r->done = le_cuda_name(r->c, "done");
    le_cuda_line(r->c, block, "goto %s;", r->done);
}

/* An element one of whose reads fell outside has lost its value already. */
static void run_fail(struct region *r, struct block *block, const struct le_region_step *s) {
    struct cuda *c = r->c;
    c->may_fault = true;
    if (r->outside)
        le_cuda_line(c, block, "if (!%s)", r->outside);
    le_cuda_line(c, block, "%sle_fault(%s, %s, %s, %d, %lldll)%s", r->outside ? "    " : "", le_cuda_fault(c),
                 le_cuda_number(c, "action", c->job->action), le_cuda_point(c), LE_FAULT_END,
                 (long long)le_fault_location(s->location.line, s->location.column), le_cuda_and_fails(c));
}

/* The block is still open: what is hoisted out of it comes before it. */
static struct block *run_branch(struct region *r, struct block *block, const char *head, int from, int to) {
    struct block *inner = le_cuda_open(r->c, block, head);
    inner->conditional = true;
    next_moment(r->c);
    run_steps(r, inner, from, to);
    next_moment(r->c);
    return inner;
}

static int run_if(struct region *r, struct block *block, int step) {
    int middle = r->steps[step].partner;
    int end = r->steps[middle].kind == LE_REGION_ELSE ? r->steps[middle].partner : middle;
    const char *x = operand_value(r, block, r->steps[step].value)->text;
    struct block *then = run_branch(r, block, le_arena_format(r->c->arena, "if (%s)", x), step + 1, middle);
    struct block *otherwise = end != middle ? run_branch(r, block, "else", middle + 1, end) : NULL;
    le_cuda_close(r->c, then);
    if (otherwise)
        le_cuda_close(r->c, otherwise);
    return end;
}

/* An element one of whose reads fell outside will not be asked for its value: it need not go on. After a fault what is
 * read is 0, with which a `while` might never end. */
static int run_loop(struct region *r, struct block *block, int step) {
    const struct le_region_step *s = &r->steps[step];
    struct block *inner;
    bool loops = s->kind == LE_REGION_WHILE;
    inner = loops ? le_cuda_open(r->c, block, le_arena_format(r->c->arena, "while (!%s)", r->c->failed))
                  : le_cuda_loop(r->c, block, r->node->indices[s->index], r->outside);
    inner->conditional = true;
    next_moment(r->c);
    if (loops) {
        const char *x = operand_value(r, inner, s->value)->text;
        le_cuda_line(r->c, inner, "if (!%s)\n    break;", x);
        if (r->outside)
            le_cuda_line(r->c, inner, "if (%s)\n    break;", r->outside);
    }
    run_steps(r, inner, step + 1, s->partner);
    le_cuda_close(r->c, inner);
    next_moment(r->c);
    return s->partner;
}

/* Of one line, which none goes on behind. */
static void tell_statement(struct region *r, struct block *block, const char *text) {
    if (!text || !*text || strpbrk(text, "\\\n") || (r->told && strcmp(text, r->told) == 0))
        return;
    le_cuda_line(r->c, block, "// %s", text);
    r->told = text;
}

static void run_steps(struct region *r, struct block *block, int from, int to) {
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
            le_cuda_line(r->c, block, "break;");
            return; /* nothing behind it is reached */
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

const struct held *le_cuda_region(struct cuda *c, struct le_node *node, struct block *block, const char *outside) {
    struct region r = {
        .c = c, .node = node, .steps = node->region->steps, .count = node->region->step_count, .outside = outside};
    int count = node->type == LE_NONE ? 0 : le_region_gives_two(node) ? 2 : 1, moment = c->moment;
    for (int k = 0; k < count; k++) {
        r.results[k] = le_cuda_name(c, "result");
        le_cuda_line(c, block, "%s %s = 0;", le_cuda_type(node->type), r.results[k]);
    }
    struct block *inner = le_cuda_open(c, block, "");
    bool watches = !c->failed && le_region_has_while(node);
    if (watches) {
        c->failed = le_cuda_name(c, "failed");
        le_cuda_line(c, inner, "bool %s = false;", c->failed);
    }
    next_moment(c);
    declare_variables(&r, inner);
    run_steps(&r, inner, 0, r.count);
    le_cuda_close(c, inner);
    if (watches)
        c->failed = NULL;
    if (r.done)
        le_cuda_line(c, block, "%s:;", r.done);
    c->moment = moment;
    if (count == 0)
        return NULL;
    struct held *x = LE_NEW(c->arena, struct held);
    *x = *le_cuda_variable(c, block, r.results[0]);
    x->second = r.results[1];
    return x;
}

const struct held *le_cuda_second(struct cuda *c, struct le_node *node, struct block *block, const char *outside) {
    const struct held *x = le_cuda_node(c, node->operands[0], block, outside);
    return le_cuda_variable(c, x->block, x->second);
}
