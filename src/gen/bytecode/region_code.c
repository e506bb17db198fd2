/* Regions: structured code over private variables. In lanes, variables are slots, and the mask of a block says which
 * lanes execute it. An IF narrows the mask, a BREAK or RETURN removes lanes from the masks of all blocks that they
 * leave, and a loop ends when its mask is empty. Outside lanes the same code has one lane and real control flow: there
 * are no masks, only a flag that is set when a RETURN executes.
 *
 * Variables are registers that change. Each SET, and each join of control flow, gives a variable a new operand and
 * begins a new *moment*, in which nodes that change are computed again. A variable's first SET begins no moment,
 * because nothing has read the variable yet. After a region the moment before it is current again. */
#include "gen/bytecode/region_steps.h"

struct region {
    struct gen *g;
    struct le_node *node;
    struct region_steps text;
    const struct le_region_step *steps;
    int count;
    bool lanes;
    int outside;
    struct operand *running; /* no RETURN yet, where one may end it early and there are no lanes */
    int results[2];          /* of what it gives; -1: it does not, or is not asked for */
    bool keeps_result;       /* a RETURN may have given some lanes theirs */
    struct operand **given;  /* by operand: made before the region, if it was; NULL */
};

/* Steps under one mask. */
struct block {
    struct block *around;
    struct scope *scope;
    struct operand *mask; /* lanes; NULL: all, or there are none */
    int loop;             /* step that opened it, if it is a loop's body; else -1 */
    int rests;            /* that are open: scope is the innermost one's */
    int rests_from;       /* the step that the first of them began at */
};

/* ---- registers */

static struct operand *new_operand(struct region *r, int reg, struct scope *scope) {
    struct operand *x = LE_NEW(r->g->arena, struct operand);
    *x = (struct operand){.reg = reg, .scope = scope, .vector = r->lanes, .splat = -1};
    return x;
}

static void emit_instr(struct region *r, struct scope *scope, int code, enum le_type type, int d, int a, int b, int c) {
    le_gen_emit(r->g, scope,
                (struct le_instr){.code = (uint16_t)code,
                                  .type = (uint8_t)type,
                                  .type2 = (uint8_t)type,
                                  .d = d < 0 ? LE_NO_REG : (uint16_t)d,
                                  .a = (uint16_t)a,
                                  .b = b < 0 ? LE_NO_REG : (uint16_t)b,
                                  .c = c < 0 ? LE_NO_REG : (uint16_t)c,
                                  .e = LE_NO_REG});
}

static int use_constant(struct region *r, struct scope *scope, enum le_type type, uint64_t bits) {
    struct operand x = {.reg = le_gen_const(r->g, type, bits), .scope = r->g->root, .splat = -1};
    return le_gen_use(r->g, &x, scope);
}

/* reg = the same number in all lanes */
static void set_constant(struct region *r, struct scope *scope, int reg, enum le_type type, uint64_t bits) {
    emit_instr(r, scope, r->lanes ? LE_CODE_SPLAT : LE_CODE_COPY, type, reg, le_gen_const(r->g, type, bits), -1, -1);
}

static void emit_move(struct region *r, struct scope *scope, int reg, enum le_type type, const struct operand *x) {
    emit_instr(r, scope, r->lanes && !x->vector ? LE_CODE_SPLAT : LE_CODE_COPY, type, reg, x->reg, -1, -1);
}

static struct operand **local(const struct gen *g, int number) {
    return &g->locals[number - g->first_local];
}

struct operand *le_gen_local(struct gen *g, const struct le_node *node) {
    struct operand *x = *local(g, node->local);
    if (x)
        return x;
    if (g->status == LEAT_OK)
        g->status = le_fail(LEAT_INTERNAL, "%s: variable %s has no value yet", g->stage->name,
                            g->ir->locals.at[node->local].name);
    x = LE_NEW(g->arena, struct operand);
    *x = (struct operand){.reg = le_gen_const(g, node->type, 0), .scope = g->root, .splat = -1};
    return x;
}

/* A mask of its own, which may change: a copy of the one given. */
static struct operand *own_mask(struct region *r, struct scope *scope, struct operand *from) {
    int reg = le_gen_result(r->g, scope, LE_BOOL);
    if (from)
        emit_move(r, scope, reg, LE_BOOL, from);
    else
        set_constant(r, scope, reg, LE_BOOL, 1);
    return new_operand(r, reg, scope);
}

static struct condition condition_of(const struct region *r, const struct block *b) {
    return (struct condition){.mask = r->lanes ? b->mask : NULL, .outside = r->outside};
}

static struct operand *operand_value(struct region *r, const struct block *b, int operand) {
    if (r->given[operand])
        return r->given[operand];
    return le_gen_node(r->g, r->node->operands[operand], b->scope, condition_of(r, b));
}

static void next_moment(struct gen *g) {
    g->moment = ++g->moments;
}

/* Variables that steps from..to-1 set have what they have from now on in scope. */
static void join_branches(struct region *r, int from, int to, struct scope *scope) {
    for (int k = from; k < to; k++)
        if (r->steps[k].kind == LE_REGION_SET) {
            struct operand **x = local(r->g, r->steps[k].local);
            if (*x)
                *x = new_operand(r, (*x)->reg, scope);
        }
    next_moment(r->g);
}

/* ---- variables */

static void start_variables(struct region *r, struct scope *scope) {
    for (int k = 0; k < r->count; k++) {
        const struct le_region_step *s = &r->steps[k];
        if (s->kind != LE_REGION_SET)
            continue;
        const struct region_variable *v = le_gen_variable(&r->text, s->local);
        if (v->first_set != k)
            continue;
        *local(r->g, s->local) = NULL;
        if (!le_gen_starts_outside(&r->text, v))
            continue;
        enum le_type type = r->g->ir->locals.at[s->local].type;
        int reg = le_gen_result(r->g, scope, type);
        set_constant(r, scope, reg, type, 0);
        *local(r->g, s->local) = new_operand(r, reg, scope);
    }
}

/* The instruction that made a node's value just now may write it where it belongs. */
static bool made_in_place(struct region *r, struct scope *scope, struct operand *x, const struct le_node *node,
                          int code_before, int reg) {
    bool fresh = node->kind == LE_NODE_OP || node->kind == LE_NODE_CAST || node->kind == LE_NODE_ROUND ||
                 node->kind == LE_NODE_SELECT || node->kind == LE_NODE_REDUCE || node->kind == LE_NODE_LOAD;
    return fresh && scope->code.count > code_before && x->vector == r->lanes && le_gen_retarget(r->g, x, scope, reg);
}

/* reg = the node's value, of lanes in the block, or of all if that does no harm */
static void assign_variable(struct region *r, struct block *b, int reg, int operand, bool masked) {
    struct le_node *node = r->node->operands[operand];
    int before = b->scope->code.count;
    struct operand *x = operand_value(r, b, operand);
    if (masked)
        emit_instr(r, b->scope, LE_CODE_SELECT, node->type, reg, b->mask->reg, le_gen_use(r->g, x, b->scope), reg);
    else if (!made_in_place(r, b->scope, x, node, before, reg))
        emit_move(r, b->scope, reg, node->type, x);
}

static void run_set(struct region *r, struct block *b, int step) {
    const struct le_region_step *s = &r->steps[step];
    struct operand **x = local(r->g, s->local), *old = *x;
    int reg = old ? old->reg : le_gen_result(r->g, b->scope, r->g->ir->locals.at[s->local].type);
    bool masked = r->lanes && b->mask && old && (b->loop < 0 || le_gen_others_need(&r->text, b->loop, step));
    assign_variable(r, b, reg, s->value, masked);
    *x = new_operand(r, reg, b->scope);
    if (old)
        next_moment(r->g);
}

/* ---- stores */

static struct le_node *updated_value(struct region *r, const struct stored *to, struct le_node *term) {
    static const enum le_op ops[] = {
        [LE_SCATTER_ADD] = LE_OP_ADD, [LE_SCATTER_SUB] = LE_OP_SUB, [LE_SCATTER_MUL] = LE_OP_MUL,
        [LE_SCATTER_DIV] = LE_OP_DIV, [LE_SCATTER_MIN] = LE_OP_MIN, [LE_SCATTER_MAX] = LE_OP_MAX};
    struct le_ir *ir = r->g->ir;
    struct le_node *now = le_node_make(ir, &(struct le_node){.kind = LE_NODE_LOAD,
                                                             .type = term->type,
                                                             .value = to->value,
                                                             .access = to->access,
                                                             .live = true,
                                                             .operands = (struct le_node **)(uintptr_t)to->subscripts,
                                                             .operand_count = to->rank});
    struct le_node *x[] = {now, term}, *sum = le_node_op(ir, (int)ops[to->op], term->type, x, 2);
    enum le_type type = ir->values.at[to->value].type;
    return le_type_compute(type) == type ? sum : le_node_round(ir, type, sum);
}

static void run_store(struct region *r, struct block *b, const struct le_region_step *s) {
    struct stored to = {.value = r->g->stage->pairs[s->target].target,
                        .rank = s->subscript_count,
                        .access = s->access,
                        .subscripts = r->node->operands + s->first_subscript,
                        .op = s->scatter,
                        .own = s->own};
    struct le_node *node = r->node->operands[s->value];
    struct condition c = condition_of(r, b);
    if (to.own && to.op != LE_SCATTER_SET)
        node = updated_value(r, &to, node);
    le_gen_store_step(r->g, &to, le_gen_node(r->g, node, b->scope, c), b->scope, c);
    next_moment(r->g);
}

/* Several lanes may write one place: a SET is the last one's in order of the elements only if they come one by one, or
 * all meet at one step. */
bool le_gen_in_lanes(const struct gen *g) {
    const struct le_node *node = g->stage->node;
    if (g->stage->kind != LE_STAGE_EACH)
        return true;
    int shared = 0;
    for (int k = 0, depth = 0; k < node->region->step_count; k++) {
        const struct le_region_step *s = &node->region->steps[k];
        if (le_region_is_loop(s->kind))
            depth++;
        if (s->kind == LE_REGION_END && le_region_is_loop(node->region->steps[s->partner].kind))
            depth--;
        if (s->kind == LE_REGION_STORE && !s->own)
            shared += depth > 0 ? 2 : 1;
    }
    return shared <= 1;
}

/* ---- leaving */

/* Takes the block's lanes out of the blocks around it, up to the body of `loop`, or all. */
static void take_out(struct region *r, struct block *b, int loop) {
    int others = -1;
    for (struct block *p = b; p; p = p->around) {
        if (p != b && p->mask) {
            if (others < 0) {
                others = le_gen_result(r->g, b->scope, LE_BOOL);
                emit_instr(r, b->scope, LE_OP_LNOT, LE_BOOL, others, b->mask->reg, -1, -1);
            }
            emit_instr(r, b->scope, LE_OP_LAND, LE_BOOL, p->mask->reg, p->mask->reg, others, -1);
        }
        if (p->loop >= 0 && p->loop == loop)
            break;
    }
    if (b->mask)
        set_constant(r, b->scope, b->mask->reg, LE_BOOL, 0);
}

static void emit_leave(struct region *r, struct block *b, int mask) {
    emit_instr(r, b->scope, LE_CODE_LEAVE, LE_BOOL, -1, mask, -1, -1);
}

static void run_break(struct region *r, struct block *b, const struct le_region_step *s) {
    if (r->lanes) {
        take_out(r, b, s->partner);
        if (b->loop == s->partner)
            emit_leave(r, b, b->mask->reg);
    } else {
        emit_leave(r, b, le_gen_const(r->g, LE_BOOL, 0));
    }
}

static void run_return(struct region *r, struct block *b, int step) {
    const struct le_region_step *s = &r->steps[step];
    bool masked = r->lanes && b->mask && r->keeps_result;
    if (r->results[0] >= 0 && r->results[1] >= 0)
        le_gen_both(r->g, r->node->operands[s->value], r->node->operands[s->second], b->scope, condition_of(r, b));
    if (r->results[0] >= 0)
        assign_variable(r, b, r->results[0], s->value, masked);
    if (r->results[1] >= 0)
        assign_variable(r, b, r->results[1], s->second, masked);
    r->keeps_result = true;
    if (step + 1 >= r->count)
        return;
    if (r->lanes) {
        take_out(r, b, -1);
        if (b->loop >= 0)
            emit_leave(r, b, b->mask->reg);
    } else {
        set_constant(r, b->scope, r->running->reg, LE_BOOL, 0);
        if (r->text.around[step] >= 0)
            emit_leave(r, b, r->running->reg);
    }
}

/* A fault of the block's lanes that are not good. */
static void emit_fault(struct region *r, struct block *b, int value, int good, int64_t kind) {
    le_gen_emit(r->g, b->scope,
                (struct le_instr){.code = LE_CODE_FAULT,
                                  .type = LE_I64,
                                  .type2 = LE_BOOL,
                                  .d = LE_NO_REG,
                                  .a = (uint16_t)value,
                                  .b = b->mask ? (uint16_t)b->mask->reg : LE_NO_REG,
                                  .c = (uint16_t)good,
                                  .e = LE_NO_REG,
                                  .imm = kind});
}

/* Lanes whose reads fell outside have lost their value already. */
static void run_fail(struct region *r, struct block *b, const struct le_region_step *s) {
    int place = use_constant(r, b->scope, LE_I64, (uint64_t)le_fault_location(s->location.line, s->location.column));
    emit_fault(r, b, place, r->outside >= 0 ? r->outside : use_constant(r, b->scope, LE_BOOL, 0), LE_FAULT_END);
}

static void check_step(struct region *r, struct block *b, struct le_node *by) {
    struct operand *x = le_gen_node(r->g, by, b->scope, condition_of(r, b));
    int value = le_gen_use(r->g, x, b->scope), good = le_gen_result(r->g, b->scope, LE_BOOL);
    emit_instr(r, b->scope, LE_OP_LT, LE_I64, good, use_constant(r, b->scope, LE_I64, 0), value, -1);
    if (r->outside >= 0)
        emit_instr(r, b->scope, LE_OP_LOR, LE_BOOL, good, good, r->outside, -1);
    emit_fault(r, b, value, good, LE_FAULT_STEP);
}

/* ---- blocks */

static void run_steps(struct region *r, struct block *b, int from, int to);

/* What a block does behind steps that some lanes left it in is skipped once no lane is left. Each such rest lies in the
 * one before, so that what is computed in one serves in the next; but only so many, since the code of each is copied
 * into what is around it. */
#define RESTS_MAX 16

static int who_goes_on(const struct region *r, const struct block *b) {
    return r->lanes ? b->mask->reg : r->running->reg;
}

static void end_rests(struct region *r, struct block *b, int to) {
    if (b->rests == 0)
        return;
    for (; b->rests > 0; b->rests--) {
        struct scope *rest = b->scope;
        b->scope = rest->parent;
        le_gen_close_body(r->g, rest, who_goes_on(r, b));
    }
    join_branches(r, b->rests_from, to, b->scope);
}

static void start_rest(struct region *r, struct block *b, int from) {
    if (b->loop >= 0 || (!r->lanes && r->text.around[from] >= 0)) {
        emit_leave(r, b, who_goes_on(r, b));
        return;
    }
    if (b->rests == RESTS_MAX)
        end_rests(r, b, from);
    if (b->rests == 0)
        b->rests_from = from;
    b->scope = le_gen_open_skip(r->g, b->scope);
    b->rests++;
}

/* Lanes of the block where x holds, or does not. */
static struct operand *narrowed(struct region *r, const struct block *b, struct operand *x, bool when) {
    int reg = le_gen_result(r->g, b->scope, LE_BOOL), from = le_gen_use(r->g, x, b->scope);
    if (when && !b->mask)
        emit_instr(r, b->scope, LE_CODE_COPY, LE_BOOL, reg, from, -1, -1);
    if (!when)
        emit_instr(r, b->scope, LE_OP_LNOT, LE_BOOL, reg, from, -1, -1);
    if (b->mask)
        emit_instr(r, b->scope, LE_OP_LAND, LE_BOOL, reg, b->mask->reg, when ? from : reg, -1);
    return new_operand(r, reg, b->scope);
}

static void run_branch(struct region *r, struct block *b, struct operand *mask, int from, int to) {
    struct block inner = {.around = b, .scope = le_gen_open_skip(r->g, b->scope), .loop = -1};
    inner.mask = r->lanes ? mask : NULL;
    run_steps(r, &inner, from, to);
    le_gen_close_body(r->g, inner.scope, mask->reg);
    join_branches(r, from, to, b->scope);
}

static int run_if(struct region *r, struct block *b, int step) {
    const struct le_region_step *s = &r->steps[step];
    int middle = s->partner, end = r->steps[middle].kind == LE_REGION_ELSE ? r->steps[middle].partner : middle;
    struct operand *x = operand_value(r, b, s->value), *then = narrowed(r, b, x, true), *otherwise = NULL;
    if (end != middle)
        otherwise = narrowed(r, b, x, false);
    run_branch(r, b, then, step + 1, middle);
    if (otherwise)
        run_branch(r, b, otherwise, middle + 1, end);
    return end;
}

/* ---- loops */

/* Lanes that go round: the block's own mask where they end it one by one. */
static struct operand *loop_mask(struct region *r, const struct block *b, int step) {
    bool one_by_one =
        r->steps[step].kind == LE_REGION_WHILE || le_gen_escapes(&r->text, step, r->steps[step].partner, step + 1);
    if (!r->lanes)
        return NULL;
    return one_by_one ? own_mask(r, b->scope, b->mask) : b->mask;
}

/* Lanes where x does not hold leave the loop; and those whose reads fell outside, as nobody will ask for their value.
 */
static void stay(struct region *r, struct block *b, struct operand *x) {
    if (!r->lanes) {
        emit_leave(r, b, x->reg);
        return;
    }
    int mask = b->mask->reg;
    emit_instr(r, b->scope, LE_OP_LAND, LE_BOOL, mask, mask, le_gen_use(r->g, x, b->scope), -1);
    if (r->outside >= 0) {
        int inside = le_gen_result(r->g, b->scope, LE_BOOL);
        emit_instr(r, b->scope, LE_OP_LNOT, LE_BOOL, inside, r->outside, -1, -1);
        emit_instr(r, b->scope, LE_OP_LAND, LE_BOOL, mask, mask, inside, -1);
    }
    emit_leave(r, b, mask);
}

static void run_while(struct region *r, struct block *b, int step) {
    const struct le_region_step *s = &r->steps[step];
    struct block inner = {.around = b, .mask = loop_mask(r, b, step), .loop = step};
    inner.scope = le_gen_open_repeat(r->g, b->scope, -1);
    join_branches(r, step, s->partner, inner.scope);
    stay(r, &inner, operand_value(r, &inner, s->value));
    if (!r->lanes && r->outside >= 0) {
        int inside = le_gen_result(r->g, inner.scope, LE_BOOL);
        emit_instr(r, inner.scope, LE_OP_LNOT, LE_BOOL, inside, r->outside, -1, -1);
        emit_leave(r, &inner, inside);
    }
    run_steps(r, &inner, step + 1, s->partner);
    le_gen_close_body(r->g, inner.scope, -1);
}

/* The bounds differ from lane to lane: so does the index, and lanes leave one by one. */
static void run_for_by_lane(struct region *r, struct block *b, int step, int index) {
    const struct le_range_nodes *range = &r->g->ir->indices.at[index].range;
    struct condition c = condition_of(r, b);
    struct operand *low = le_gen_node(r->g, range->low, b->scope, c);
    struct operand *high = le_gen_node(r->g, range->high, b->scope, c);
    if (range->by)
        check_step(r, b, range->by);
    int at = le_gen_result(r->g, b->scope, LE_I64), end = le_gen_result(r->g, b->scope, LE_I64);
    emit_move(r, b->scope, at, LE_I64, low);
    emit_move(r, b->scope, end, LE_I64, high);
    struct block inner = {.around = b, .mask = own_mask(r, b->scope, b->mask), .loop = step};
    inner.scope = le_gen_open_repeat(r->g, b->scope, index);
    inner.scope->value = new_operand(r, at, inner.scope);
    join_branches(r, step, r->steps[step].partner, inner.scope);
    int within = le_gen_result(r->g, inner.scope, LE_BOOL);
    emit_instr(r, inner.scope, LE_OP_LT, LE_I64, within, at, end, -1);
    stay(r, &inner, new_operand(r, within, inner.scope));
    run_steps(r, &inner, step + 1, r->steps[step].partner);
    int by = use_constant(r, inner.scope, LE_I64, (uint64_t)le_range_of(r->g->space, index)->by);
    emit_instr(r, inner.scope, LE_OP_ADD, LE_I64, at, at, by, -1);
    le_gen_close_body(r->g, inner.scope, -1);
}

static bool bounds_are_equal(struct region *r, const struct block *b, int index) {
    const struct le_range_nodes *range = &r->g->ir->indices.at[index].range;
    if (!r->lanes || !le_range_of(r->g->space, index)->dynamic)
        return true;
    struct scope *low = le_gen_natural(r->g, range->low, b->scope), *high = le_gen_natural(r->g, range->high, b->scope);
    return (!low->in_lane || le_gen_is_equal(r->g, range->low, low)) && !range->low->changes &&
           (!high->in_lane || le_gen_is_equal(r->g, range->high, high)) && !range->high->changes &&
           le_node_is_safe(&r->g->safety, range->low) && le_node_is_safe(&r->g->safety, range->high);
}

static void run_for(struct region *r, struct block *b, int step) {
    const struct le_region_step *s = &r->steps[step];
    int index = r->node->indices[s->index];
    if (!bounds_are_equal(r, b, index)) {
        run_for_by_lane(r, b, step, index);
        return;
    }
    struct block inner = {.around = b, .mask = loop_mask(r, b, step), .loop = step};
    inner.scope = le_gen_open(r->g, b->scope, index, false, -1, (struct condition){.outside = -1});
    join_branches(r, step, s->partner, inner.scope);
    run_steps(r, &inner, step + 1, s->partner);
    le_gen_close(r->g, inner.scope);
}

static int run_loop(struct region *r, struct block *b, int step) {
    if (r->steps[step].kind == LE_REGION_WHILE)
        run_while(r, b, step);
    else
        run_for(r, b, step);
    join_branches(r, step, r->steps[step].partner, b->scope);
    return r->steps[step].partner;
}

/* Gives the last step that it has run. */
static int run_step(struct region *r, struct block *b, int step) {
    const struct le_region_step *s = &r->steps[step];
    if (s->kind == LE_REGION_SET)
        run_set(r, b, step);
    else if (s->kind == LE_REGION_STORE)
        run_store(r, b, s);
    else if (s->kind == LE_REGION_BREAK)
        run_break(r, b, s);
    else if (s->kind == LE_REGION_RETURN)
        run_return(r, b, step);
    else if (s->kind == LE_REGION_FAIL)
        run_fail(r, b, s);
    else if (s->kind == LE_REGION_IF)
        return run_if(r, b, step);
    else if (le_region_is_loop(s->kind))
        return run_loop(r, b, step);
    return step;
}

static void run_steps(struct region *r, struct block *b, int from, int to) {
    for (int k = from; k < to && r->g->status == LEAT_OK; k++) {
        int first = k;
        k = run_step(r, b, first);
        if (r->steps[first].kind == LE_REGION_BREAK || r->steps[first].kind == LE_REGION_RETURN)
            break; /* nothing behind it is reached */
        bool left = k > first &&
                    (r->lanes ? le_gen_escapes(&r->text, first, k, first) : le_gen_returns_early(&r->text, first, k));
        if (left && k + 1 < to)
            start_rest(r, b, k + 1);
        else if (left && !r->lanes && le_region_is_loop(r->steps[first].kind) && r->text.around[first] >= 0)
            emit_leave(r, b, r->running->reg); /* a RETURN has left the inner loop only */
    }
    end_rests(r, b, to);
}

/* ---- the whole */

static void start_result(struct region *r, struct scope *scope) {
    const struct le_node *node = r->node;
    if (node->type == LE_NONE)
        return;
    const struct le_node_note *note = le_note_of(r->g->notes, node);
    bool unknown = note->read_epoch != r->g->safety.epoch; /* made by the generator itself */
    if (unknown || note->reads_first)
        r->results[0] = le_gen_result(r->g, scope, node->type);
    if (unknown ? le_region_gives_two(node) : note->reads_second)
        r->results[1] = le_gen_result(r->g, scope, node->type);
    bool plain = r->steps[r->count - 1].kind == LE_REGION_RETURN;
    for (int k = 0; k < r->count; k++)
        plain &= r->steps[k].kind != LE_REGION_RETURN || r->text.around[k] < 0;
    for (int k = 0; k < 2 && !plain; k++)
        if (r->results[k] >= 0)
            set_constant(r, scope, r->results[k], node->type, 0);
    r->keeps_result = !plain;
}

/* What unsafe code gives the first variables is made outside, where other regions that are given it find it. */
static void make_given(struct region *r, struct scope *scope, struct condition c) {
    r->given = LE_NEW_ARRAY(r->g->arena, r->node->operand_count, struct operand *);
    for (int k = 0; k < r->count && r->steps[k].kind == LE_REGION_SET; k++) {
        struct le_node *node = r->node->operands[r->steps[k].value];
        if (!node->changes && !le_node_is_safe(&r->g->safety, node))
            r->given[r->steps[k].value] = le_gen_node(r->g, node, scope, c);
    }
}

/* A mask that was made outside of the lanes is one number for all of them. */
static struct operand *in_lanes(struct region *r, struct scope *scope, struct operand *mask) {
    return !mask || mask->vector ? mask : new_operand(r, le_gen_use(r->g, mask, scope), scope);
}

/* Where it need not run for any lane, it must not: a loop might never end. */
struct operand *le_gen_region(struct gen *g, struct le_node *node, struct scope *scope, struct condition c) {
    struct region r = {.g = g,
                       .node = node,
                       .steps = node->region->steps,
                       .count = node->region->step_count,
                       .lanes = scope->in_lane,
                       .outside = c.outside,
                       .results = {-1, -1}};
    int moment = g->moment;
    struct block b = {.scope = scope, .mask = r.lanes ? in_lanes(&r, scope, c.mask) : NULL, .loop = -1};
    if (r.count == 0)
        return NULL;
    le_gen_find_steps(g, node, &r.text);
    make_given(&r, scope, c);
    start_result(&r, scope);
    if (c.mask)
        b.scope = le_gen_open_skip(g, scope);
    start_variables(&r, b.scope);
    next_moment(g);
    if (le_gen_returns_early(&r.text, 0, r.count) && r.lanes)
        b.mask = own_mask(&r, b.scope, b.mask);
    else if (le_gen_returns_early(&r.text, 0, r.count))
        r.running = own_mask(&r, b.scope, NULL);
    run_steps(&r, &b, 0, r.count);
    if (c.mask)
        le_gen_close_body(g, b.scope, le_gen_use(g, c.mask, scope));
    g->moment = moment;
    if (node->type == LE_NONE)
        return NULL;
    struct operand *x = new_operand(&r, r.results[0], scope);
    x->second = r.results[1] < 0 ? NULL : new_operand(&r, r.results[1], scope);
    return x;
}

/* What a tile keeps of a region is its first number. */
struct operand *le_gen_second(struct gen *g, struct le_node *node, struct scope *scope, struct condition c) {
    struct operand *x = le_gen_node(g, node->operands[0], scope, c);
    if (g->status != LEAT_OK)
        return x;
    return x->second ? x->second : le_gen_region(g, node->operands[0], scope, c)->second;
}
