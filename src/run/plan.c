/* Planning: ranges, code and memory for one set of extents and numbers. */
#include "base/text.h"
#include "run/call.h"
#include <limits.h>
#include <string.h>

/* ---- values that ranges need */

struct needed {
    struct le_specialised *s;
    bool pending, from_data;
};

static void find_needed(struct le_node *node, void *user) {
    struct needed *n = user;
    if (node->kind != LE_NODE_LOAD)
        return;
    const struct le_value *v = &n->s->ir->values.at[node->value];
    n->from_data |= v->rank > 0 || v->stage >= 0;
    n->pending |= v->stage >= 0 && !n->s->cells[v->id].ready;
}

/* The plan then holds for this number alone. */
static void key_number(struct le_node *node, void *user) {
    struct le_specialised *s = user;
    if (node->kind == LE_NODE_LOAD && s->ir->values.at[node->value].stage < 0 && node->operand_count == 0)
        s->plan->keyed[s->ir->values.at[node->value].symbol] = true;
}

static leat_status evaluate(void *user, struct le_node *node, int64_t *value) {
    struct leat_call *call = user;
    struct le_specialised *s = call->specialised;
    struct needed n = {.s = s};
    uint64_t bits = 0;
    le_node_walk(s->ir, node, find_needed, &n);
    if (n.from_data)
        s->plan->once = true;
    le_node_walk(s->ir, node, key_number, s);
    leat_status status = LEAT_OK;
    if (n.pending)
        status = le_perform(call);
    if (status == LEAT_OK)
        status = le_perform_scalar(call, node, LE_I64, &bits);
    if (status != LEAT_OK)
        s->plan->space.failure = status;
    memcpy(value, &bits, sizeof bits);
    return status;
}

/* ---- placing values */

static void dense_layout(struct le_layout *layout, const int64_t *shape, int rank) {
    int64_t stride = 1;
    for (int d = rank - 1; d >= 0; d--) {
        layout->shape[d] = shape[d];
        layout->strides[d] = stride;
        stride *= shape[d] > 0 ? shape[d] : 1;
    }
}

/* A hoisted reduction's array has an element for each value of its indices, from their low ends on. */
static void hoisted_layout(struct le_plan *plan, const struct le_stage *stage, struct le_layout *layout) {
    int64_t shape[LEAT_RANK_MAX];
    for (int d = 0; d < stage->left_count; d++) {
        const struct le_range *r = &plan->space.ranges[stage->left[d]->index];
        shape[d] = r->high > r->low ? r->high - r->low : 0;
    }
    dense_layout(layout, shape, stage->left_count);
    for (int d = 0; d < stage->left_count; d++)
        layout->offset -= plan->space.ranges[stage->left[d]->index].low * layout->strides[d];
}

static bool covers(const struct le_plan *plan, const struct le_ir *ir, const struct le_stage *stage) {
    const struct le_value *v = &ir->values.at[stage->target];
    if (stage->index_count != stage->left_count)
        return false;
    for (int d = 0; d < stage->left_count; d++) {
        const struct le_node *x = stage->left[d];
        if (x->kind != LE_NODE_INDEX)
            return false;
        for (int q = 0; q < d; q++)
            if (stage->left[q] == x)
                return false;
        const struct le_range *r = &plan->space.ranges[x->index];
        if (r->dynamic || r->low > 0 || r->by != 1 || r->high < plan->space.shape[v->symbol][d])
            return false;
    }
    return true;
}

struct own_reads {
    const struct le_specialised *s;
    const struct le_stage *stage;
    bool same;
};

static void find_own_read(struct le_node *node, void *user) {
    struct own_reads *r = user;
    if (node->kind != LE_NODE_LOAD || node->value != r->stage->base || !r->same)
        return;
    r->same = node->edge == LE_EDGE_NONE && node->operand_count == r->stage->left_count;
    for (int d = 0; r->same && d < node->operand_count; d++)
        r->same = node->operands[d] == r->stage->left[d];
}

struct find_read {
    int value;
    bool found;
};

static void find_read(struct le_node *node, void *user) {
    struct find_read *f = user;
    f->found |= node->kind == LE_NODE_LOAD && node->value == f->value;
}

/* Bounds are looked at again and again while the stage writes. */
static bool bounds_read(const struct le_specialised *s, const struct le_stage *stage, int value) {
    struct find_read f = {.value = value};
    for (int q = 0; q < stage->index_count; q++) {
        const struct le_range_nodes *r = &s->ir->indices.at[stage->indices[q]].range;
        struct le_node *bounds[] = {r->low, r->high, r->by};
        for (size_t b = 0; b < ARRAY_LEN(bounds); b++)
            if (bounds[b])
                le_node_walk(s->ir, bounds[b], find_read, &f);
    }
    return f.found;
}

/* Whether the stage may write into its base's memory: nobody else reads that later, and it reads what it writes, no
 * other place. */
static bool in_place(struct leat_call *call, const struct le_stage *stage, int action) {
    struct le_specialised *s = call->specialised;
    const struct le_value *base = &s->ir->values.at[stage->base];
    if (base->stage < 0 || base->wanted || s->plan->last_use[base->id] > action)
        return false;
    struct own_reads r = {.s = s, .stage = stage, .same = true};
    le_node_walk(s->ir, stage->node, find_own_read, &r);
    for (int d = 0; d < stage->left_count; d++)
        le_node_walk(s->ir, stage->left[d], find_own_read, &r);
    return r.same && !bounds_read(s, stage, base->id);
}

/* ---- actions */

struct count_bytes {
    const struct le_specialised *s;
    int64_t bytes, points;
};

static void count_load(struct le_node *node, void *user) {
    struct count_bytes *c = user;
    if (node->kind != LE_NODE_LOAD || node->operand_count == 0)
        return;
    int64_t elements = 1;
    for (int d = 0; d < node->operand_count; d++)
        elements *= c->s->plan->layouts[node->value].shape[d];
    int64_t touched = 1;
    for (int k = 0; k < node->free_count; k++)
        touched *= le_range_count(&c->s->plan->space.ranges[node->free[k]]);
    c->bytes += (touched < elements && touched >= 0 ? touched : elements) *
                (int64_t)le_type_size(c->s->ir->values.at[node->value].type);
}

static int64_t bytes_of(const struct le_specialised *s, const struct le_stage *stage) {
    struct count_bytes c = {.s = s, .points = 1};
    le_node_walk(s->ir, stage->node, count_load, &c);
    for (int k = 0; k < stage->index_count; k++)
        c.points *= le_range_count(&s->plan->space.ranges[stage->indices[k]]);
    return c.bytes + c.points * (int64_t)le_type_size(s->ir->values.at[stage->target].type);
}

/* The leader's kernel makes its siblings, too, if it works in parts. */
static bool made_with_leader(const struct le_plan *plan, const struct le_ir *ir, const struct le_stage *stage) {
    if (stage->leader < 0)
        return false;
    for (int k = plan->actions.count - 1; k >= 0; k--)
        if (plan->actions.at[k].stage == &ir->stages.at[stage->leader])
            return plan->actions.at[k].launches.count > 0 && plan->actions.at[k].launches.at[0].parts;
    return false;
}

static leat_status add_action(struct leat_call *call, const struct le_stage *stage) {
    struct le_specialised *s = call->specialised;
    struct le_plan *plan = s->plan;
    const struct le_value *v = &s->ir->values.at[stage->target];
    struct le_layout *layout = &plan->layouts[stage->target];
    if (v->symbol < 0)
        hoisted_layout(plan, stage, layout);
    else
        dense_layout(layout, plan->space.shape[v->symbol], v->rank);
    struct le_action action = {.stage = stage, .place = LE_PLACE_NEW};
    if (stage->base >= 0 && v->rank > 0) {
        if (in_place(call, stage, plan->actions.count))
            action.place = LE_PLACE_BASE;
        else if (stage->kind == LE_STAGE_SCATTER || !covers(plan, s->ir, stage))
            action.place = LE_PLACE_COPY;
    }
    struct le_kernel kernel = {.ir = s->ir,
                               .stage = stage,
                               .space = &plan->space,
                               .layouts = plan->layouts,
                               .threads = le_pool_threads(call->program->ctx->threads),
                               .arena = &plan->arena,
                               .merged_into = s->merged_into,
                               .merged_count = s->merged_count};
    leat_status status = LEAT_OK;
    if (stage->kind == LE_STAGE_FILL)
        status = le_kernel_scalar(&kernel, stage->node, v->type, LE_PUSH(&plan->arena, &action.launches));
    else if (!made_with_leader(plan, s->ir, stage))
        status = le_kernel_generate(&kernel, &action.launches);
    plan->placed[stage->target] = action.place;
    action.codes = LE_NEW_ARRAY(&plan->arena, action.launches.count, struct le_cpu_code);
    for (int k = 0; k < action.launches.count && status == LEAT_OK; k++) {
        status = le_cpu_prepare(&plan->arena, action.launches.at[k].unit, call->program->ctx->simd, &action.codes[k]);
        if (action.codes[k].scratch_bytes > plan->scratch_bytes)
            plan->scratch_bytes = action.codes[k].scratch_bytes;
    }
    action.bytes = stage->kind == LE_STAGE_FILL || action.launches.count == 0 ? 0 : bytes_of(s, stage);
    *LE_PUSH(&plan->arena, &plan->actions) = action;
    return status;
}

/* ---- liveness: by stage that lives, in order, which is by action */

struct uses {
    int *last;
    int at;
};

static void use_load(struct le_node *node, void *user) {
    struct uses *u = user;
    if (node->kind == LE_NODE_LOAD && u->last[node->value] < u->at)
        u->last[node->value] = u->at;
}

static void find_last_uses(struct le_specialised *s, int *last) {
    struct uses u = {.last = last};
    for (int k = 0; k < s->ir->values.count; k++)
        last[k] = s->ir->values.at[k].wanted ? INT_MAX : -1;
    for (int k = 0; k < s->ir->stages.count; k++) {
        const struct le_stage *stage = &s->ir->stages.at[k];
        if (stage->dead)
            continue;
        le_node_walk(s->ir, stage->node, use_load, &u);
        for (int d = 0; d < stage->left_count; d++)
            le_node_walk(s->ir, stage->left[d], use_load, &u);
        for (int q = 0; q < stage->index_count; q++) {
            const struct le_range_nodes *r = &s->ir->indices.at[stage->indices[q]].range;
            if (r->low)
                le_node_walk(s->ir, r->low, use_load, &u);
            if (r->high)
                le_node_walk(s->ir, r->high, use_load, &u);
            if (r->by)
                le_node_walk(s->ir, r->by, use_load, &u);
        }
        if (stage->base >= 0 && last[stage->base] < u.at)
            last[stage->base] = u.at;
        u.at++;
    }
}

/* Lists, for each action, the values that nobody reads after it. */
static void list_dying(struct le_specialised *s) {
    struct le_plan *plan = s->plan;
    plan->dying = LE_NEW_ARRAY(&plan->arena, s->ir->stages.count, int);
    plan->dying_next = LE_NEW_ARRAY(&plan->arena, s->ir->values.count, int);
    for (int k = 0; k < s->ir->stages.count; k++)
        plan->dying[k] = -1;
    for (int k = 0; k < s->ir->values.count; k++) {
        int last = plan->last_use[k];
        if (last < 0 || last == INT_MAX || s->ir->values.at[k].stage < 0)
            continue;
        plan->dying_next[k] = plan->dying[last];
        plan->dying[last] = k;
    }
}

/* ---- the plan */

/* A number as an element of the type that the program declares for it. */
static leat_status convert_number(struct leat_call *call, const char *name, enum le_type from, enum le_type to,
                                  uint64_t *bits) {
    struct le_instr cast = {.code = LE_CODE_CAST, .type = (uint8_t)from, .type2 = (uint8_t)to, .d = 0, .a = 1};
    struct le_instr back = {.code = LE_CODE_CAST, .type = (uint8_t)to, .type2 = (uint8_t)from, .d = 0, .a = 1};
    cast.b = cast.c = cast.e = back.b = back.c = back.e = LE_NO_REG;
    if (from == to)
        return LEAT_OK;
    if (le_type_is_int(to) && le_type_is_float(from))
        return le_fail(LEAT_MISMATCH, "'%s' is %s, but declared %s: it needs a cast", name, le_type_name(from),
                       le_type_name(to));
    uint64_t result = 0, again = 0;
    le_cpu_op_find(call->program->ctx->simd, &cast)((void *[]){&result, bits}, &cast, 1);
    le_cpu_op_find(call->program->ctx->simd, &back)((void *[]){&again, &result}, &back, 1);
    bool negative = le_type_is_int(from) && from != LE_U64 && (int64_t)*bits < 0;
    if (le_type_is_int(to) && (again != *bits || (negative && le_type_is_unsigned(to))))
        return le_fail(LEAT_MISMATCH, "the number given for '%s' is out of the range of %s", name, le_type_name(to));
    *bits = result;
    return LEAT_OK;
}

static leat_status bind_scalar(struct leat_call *call, int symbol, struct le_cell *cell) {
    struct le_specialised *s = call->specialised;
    const struct le_bind *b = &call->binds[symbol];
    const struct le_symbol *sym = s->tree->symbols[symbol];
    enum le_type from = b->kind == LE_BOUND_ARRAY ? (enum le_type)b->array->dtype : le_type_strong(b->type);
    cell->scalar = b->bits;
    if (b->kind == LE_BOUND_ARRAY) {
        cell->scalar = 0;
        memcpy(&cell->scalar, b->array->data, leat_dtype_size_bytes(b->array->dtype));
    }
    return convert_number(call, sym->name, from, le_type_strong(sym->type), &cell->scalar);
}

static leat_status bind_inputs(struct leat_call *call) {
    struct le_specialised *s = call->specialised;
    leat_status status = LEAT_OK;
    for (int k = 0; k < call->program->tree->symbol_count && status == LEAT_OK; k++) {
        const struct le_bind *b = &call->binds[k];
        int value = s->ir->first[k];
        if (value < 0)
            continue;
        struct le_cell *cell = &s->cells[value];
        cell->ready = true;
        if (b->kind == LE_BOUND_ARRAY && b->array->rank > 0) {
            if (cell->array != b->array) {
                le_array_free(cell->array);
                cell->array = le_array_retain(b->array);
            }
            s->buffers[value] = b->array->data;
        } else {
            status = bind_scalar(call, k, cell);
            s->buffers[value] = &cell->scalar;
        }
    }
    return status;
}

static void shape_inputs(struct leat_call *call) {
    struct le_specialised *s = call->specialised;
    struct le_plan *plan = s->plan;
    for (int k = 0; k < call->program->tree->symbol_count; k++) {
        const struct le_bind *b = &call->binds[k];
        if (b->kind != LE_BOUND_ARRAY || b->array->rank == 0 || s->ir->first[k] < 0)
            continue;
        struct le_layout *layout = &plan->layouts[s->ir->first[k]];
        memcpy(layout->shape, b->array->shape, sizeof layout->shape);
        memcpy(layout->strides, b->array->strides, sizeof layout->strides);
        memcpy(plan->space.shape[k], b->array->shape, sizeof plan->space.shape[k]);
        plan->space.shaped[k] = true;
    }
}

static leat_status fail_found(struct leat_call *call, leat_status status) {
    le_program_source(call->program);
    return status;
}

static leat_status plan_steps(struct leat_call *call) {
    struct le_specialised *s = call->specialised;
    leat_status status = LEAT_OK;
    int stage = 0;
    for (int k = 0; k < s->ir->statements.count && status == LEAT_OK; k++) {
        status = le_ranges_find(&s->plan->space, &s->ir->statements.at[k]);
        for (; status == LEAT_OK && stage < s->ir->stages.count && s->ir->stages.at[stage].statement == k; stage++)
            if (!s->ir->stages.at[stage].dead)
                status = add_action(call, &s->ir->stages.at[stage]);
    }
    return status == LEAT_OK ? LEAT_OK : fail_found(call, status);
}

static leat_status make_plan(struct leat_call *call) {
    struct le_specialised *s = call->specialised;
    struct le_plan *plan = le_alloc_zero(1, sizeof *plan);
    if (!plan)
        return le_fail_out_of_memory(sizeof *plan);
    le_arena_init(&plan->arena);
    le_plan_free(s->plan);
    s->plan = plan;
    /* nodes that are made while planning live in the IR's arena, all else in the plan's */
    if (setjmp(plan->arena.failure))
        return le_fail_out_of_memory(0);
    if (setjmp(s->arena.failure))
        return le_fail_out_of_memory(0);
    int symbols = s->tree->symbol_count;
    plan->space = (struct le_space){.ir = s->ir, .arena = &plan->arena, .evaluate = evaluate, .user = call};
    plan->space.shape = le_arena_array(&plan->arena, (size_t)symbols, sizeof *plan->space.shape);
    plan->keyed = LE_NEW_ARRAY(&plan->arena, symbols, bool);
    plan->space.shaped = LE_NEW_ARRAY(&plan->arena, symbols, bool);
    plan->space.ranges = LE_NEW_ARRAY(&plan->arena, s->ir->indices.count, struct le_range);
    plan->layouts = LE_NEW_ARRAY(&plan->arena, s->ir->values.count, struct le_layout);
    plan->last_use = LE_NEW_ARRAY(&plan->arena, s->ir->values.count, int);
    plan->placed = LE_NEW_ARRAY(&plan->arena, s->ir->values.count, enum le_memory_plan);
    find_last_uses(s, plan->last_use);
    list_dying(s);
    shape_inputs(call);
    return plan_steps(call);
}

static leat_status plan_again(struct leat_call *call) {
    struct le_specialised *s = call->specialised;
    struct le_span span;
    const char *cause = s->plan ? (s->plan->once ? "ranges hang on data" : "new shapes or numbers") : "first run";
    le_span_begin(&span, call->program->ctx->ledger, LEAT_COST_PLAN, call->program->name, cause);
    leat_status status = make_plan(call);
    if (status == LEAT_OK)
        status = le_keep_extents(call);
    le_span_end(&span, 0, 0);
    if (status != LEAT_OK) {
        le_plan_free(s->plan);
        s->plan = NULL;
        call->stale |= status == LEAT_OUT_OF_MEMORY; /* the generator left its work space as it was */
    }
    return status;
}

/* Results that may be computed right where the caller wants them: dense, and apart from every input. */
static void place_wants(struct leat_call *call) {
    struct le_specialised *s = call->specialised;
    for (int k = 0; k < call->want_count; k++) {
        const struct le_want *w = &call->wants[k];
        int value = s->ir->last[w->symbol];
        if (!w->target || w->target->rank == 0 || !le_array_is_contiguous(w->target) || value < 0)
            continue;
        while (s->ir->values.at[value].stage >= 0 && s->plan->placed[value] == LE_PLACE_BASE)
            value = s->ir->stages.at[s->ir->values.at[value].stage].base;
        bool apart = s->ir->values.at[value].stage >= 0;
        for (int q = 0; q < call->program->tree->symbol_count && apart; q++)
            if (call->binds[q].kind == LE_BOUND_ARRAY)
                apart = !le_array_overlaps(call->binds[q].array, w->target);
        for (int q = 0; q < k && apart; q++)
            if (call->wants[q].target)
                apart = !le_array_overlaps(call->wants[q].target, w->target);
        const int64_t *shape = s->plan->layouts[value].shape;
        if (apart && !memcmp(shape, w->target->shape, (size_t)w->target->rank * sizeof *shape) &&
            !s->cells[value].array)
            s->cells[value].array = le_array_retain(w->target);
    }
}

leat_status le_plan_run(struct leat_call *call, bool only_plan) {
    struct le_specialised *s = call->specialised;
    le_cells_clear_computed(s); /* a plan that was only shown may have run a part */
    leat_status status = bind_inputs(call);
    if (status != LEAT_OK)
        return status;
    if (s->plan && !s->plan->once && le_same_extents(call))
        s->plan->done = 0;
    else
        status = plan_again(call);
    if (status != LEAT_OK || only_plan)
        return status;
    if (s->plan->done == 0)
        place_wants(call);
    return le_perform(call);
}
