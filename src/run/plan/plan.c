/* Makes a plan for the bindings, or reuses the last one, and runs it. */
#include "run/device/device_run.h"
#include <string.h>

static void shape_inputs(struct leat_call *call) {
    struct le_specialised *s = call->specialised;
    struct le_plan *plan = s->plan;
    for (int k = 0; k < s->tree->symbol_count; k++) {
        const struct le_bind *b = &s->bound[k];
        if (b->kind != LE_BOUND_ARRAY || b->array->rank == 0 || s->ir->first[k] < 0)
            continue;
        struct le_layout *layout = &plan->layouts[s->ir->first[k]];
        memcpy(layout->shape, b->array->shape, sizeof layout->shape);
        memcpy(layout->strides, b->array->strides, sizeof layout->strides);
        memcpy(plan->space.shape[k], b->array->shape, sizeof plan->space.shape[k]);
        plan->space.shaped[k] = true;
    }
}

static struct le_plan *new_plan(struct le_specialised *s) {
    struct le_plan *plan = le_alloc_zero(1, sizeof *plan);
    if (!plan)
        return NULL;
    le_arena_init(&plan->arena);
    le_plan_free(s->plan);
    s->plan = plan;
    return plan;
}

static leat_status plan_groups(struct leat_call *call) {
    struct le_plan *plan = call->specialised->plan;
    leat_status status = LEAT_OK;
    for (plan->planned = 0; plan->planned < plan->group_count && status == LEAT_OK; plan->planned++)
        if (!plan->groups[plan->planned].inside)
            status = le_plan_group(call, &plan->groups[plan->planned]);
    return status;
}

static leat_status make_plan(struct leat_call *call) {
    struct le_specialised *s = call->specialised;
    struct le_plan *plan = s->plan;
    int symbols = s->tree->symbol_count, values = s->ir->values.count, indices = s->ir->indices.count;
    plan->space = (struct le_space){.ir = s->ir, .arena = &plan->arena, .evaluate = le_evaluate, .user = call};
    plan->space.shape = le_arena_array(&plan->arena, (size_t)symbols, sizeof *plan->space.shape);
    plan->is_key = LE_NEW_ARRAY(&plan->arena, symbols, bool);
    plan->space.shaped = LE_NEW_ARRAY(&plan->arena, symbols, bool);
    plan->space.ranges = LE_NEW_ARRAY(&plan->arena, indices, struct le_range);
    plan->layouts = LE_NEW_ARRAY(&plan->arena, values, struct le_layout);
    plan->shape_changed = LE_NEW_ARRAY(&plan->arena, symbols, uint64_t);
    plan->range_changed = LE_NEW_ARRAY(&plan->arena, indices, uint64_t);
    plan->layout_changed = LE_NEW_ARRAY(&plan->arena, values, uint64_t);
    le_list_actions(s);
    le_find_dying_values(s);
    le_find_result_layouts(call);
    shape_inputs(call);
    leat_status status = plan_groups(call);
    return status == LEAT_OK ? le_keep_extents(call) : status;
}

/* Calls work and catches out-of-memory from two arenas: nodes made while planning live in the IR's arena, everything
 * else in the arena of the plan or its groups. */
static leat_status catch_out_of_memory(struct leat_call *call, leat_status (*work)(struct leat_call *call)) {
    struct le_specialised *s = call->specialised;
    struct le_span *const open = le_span_innermost();
    if (setjmp(s->plan->arena.failure)) {
        le_span_drop(open);
        le_plan_stop(s->plan);
        return le_fail_out_of_memory(0);
    }
    if (setjmp(s->arena.failure)) {
        le_span_drop(open);
        le_plan_stop(s->plan);
        return le_fail_out_of_memory(0);
    }
    return work(call);
}

static leat_status plan_again(struct leat_call *call) {
    struct le_specialised *s = call->specialised;
    struct le_span span;
    const char *cause =
        s->plan ? (s->plan->single_use ? "ranges depend on data" : "new shapes or numbers") : "first run";
    if (!new_plan(s))
        return le_fail_out_of_memory(sizeof *s->plan);
    le_span_begin(&span, call->program->ctx->ledger, LEAT_COST_PLAN, call->program->name, cause);
    leat_status status = catch_out_of_memory(call, make_plan);
    le_span_end(&span, 0, 0);
    return status;
}

static leat_status perform_all(struct leat_call *call) {
    return le_perform(call, call->specialised->plan->action_count);
}

static leat_status run_plan(struct leat_call *call, bool place) {
    leat_status status = call->device ? le_device_begin(call) : LEAT_OK;
    if (status != LEAT_OK)
        return status;
    call->wants_placed = place && call->specialised->plan->done == 0;
    for (int k = 0; k < call->want_count && call->wants_placed; k++)
        le_result_place(call, k);
    return catch_out_of_memory(call, perform_all);
}

static void begin_again(struct le_plan *plan) {
    plan->done = 0;
    plan->space.failure = LEAT_OK; /* of a run that failed */
    for (int k = 0; k < plan->action_count; k++)
        plan->actions[k].notes_reported = 0;
}

/* Discards what the last run left, and binds the inputs. */
static leat_status begin_run(struct leat_call *call) {
    leat_status status = call->device ? le_device_reset(call) : LEAT_OK;
    if (call->steady || status != LEAT_OK)
        return status;
    le_cells_clear_computed(call->specialised); /* planning only, to show the plan, may have run a part of it */
    return le_bind_inputs(call);
}

leat_status le_plan_run(struct leat_call *call, bool only_plan) {
    struct le_specialised *s = call->specialised;
    call->steady &= !only_plan;
    call->wants_placed = false; /* planning may run a part of the plan */
    leat_status status = begin_run(call);
    if (status != LEAT_OK)
        return status;
    bool serves = call->steady || (s->plan && !s->plan->single_use && le_same_extents(call));
    if (serves)
        begin_again(s->plan);
    else
        status = plan_again(call);
    bool planned = status == LEAT_OK;
    if (planned && (!only_plan || s->plan->has_blocks))
        status = run_plan(call, !only_plan);
    if (status == LEAT_OK)
        return LEAT_OK;
    le_program_source(call->program);
    le_storage_drop_spares(s);
    call->stale |= status == LEAT_OUT_OF_MEMORY; /* the generator did not restore its work space */
    if (!planned) {
        le_plan_free(s->plan);
        s->plan = NULL;
    }
    return status;
}
