/* Runs a plan's actions in order, following loops and branches. Knows nothing about kernels or memory. */
#include "run/call.h"
#include "run/plan/contraction.h"
#include "run/device/device_run.h"

#define WORK_KEPT_BYTES ((size_t)65536) /* from one run to the next */

static bool is_inside(const struct le_plan *plan, int at) {
    return at < plan->action_count && plan->groups[plan->actions[at].group].inside;
}

/* Leaves a loop or skips a branch. */
static leat_status exit_block(struct leat_call *call, const struct le_action *a, int to, int *at) {
    le_storage_drop(call, a->dying_on_exit, true);
    *at = to;
    return LEAT_OK;
}
static leat_status go_on(struct leat_call *call, const struct le_action *a, int *at) {
    le_storage_drop(call, a->dying, true);
    ++*at;
    return LEAT_OK;
}

/* Checks the step now: the range rules could not if it reads a value that its own statement computes. */
static leat_status check_step(struct leat_call *call, const struct le_ir_index *index) {
    uint64_t by = 1;
    leat_status status = index->range.by ? le_host_scalar_get(call, index->range.by, LE_I64, &by) : LEAT_OK;
    if (status != LEAT_OK || by != 0)
        return status;
    return le_fail_at(LEAT_PROGRAM, index->location, LE_LOOP_STEP_ADVICE, "`by` must not be zero");
}

static leat_status begin_for(struct leat_call *call, struct le_action *a, int *at) {
    struct le_specialised *s = call->specialised;
    const struct le_range_nodes *range = &s->ir->indices.at[a->stage->index].range;
    uint64_t low, high;
    leat_status status = check_step(call, &s->ir->indices.at[a->stage->index]);
    if (status == LEAT_OK)
        status = le_host_scalar_get(call, range->low, LE_I64, &low);
    if (status == LEAT_OK)
        status = le_host_scalar_get(call, range->high, LE_I64, &high);
    if (status != LEAT_OK)
        return status;
    a->next = (int64_t)low;
    a->end = (int64_t)high;
    if (a->next >= a->end)
        return exit_block(call, a, a->partner + 1, at);
    s->cells[a->stage->target].scalar = low;
    s->cells[a->stage->target].ready = true;
    s->buffers[a->stage->target] = &s->cells[a->stage->target].scalar;
    return go_on(call, a, at);
}

static leat_status end_block(struct leat_call *call, const struct le_action *a, int *at) {
    struct le_specialised *s = call->specialised;
    struct le_action *first = &s->plan->actions[a->partner];
    if (first->stage->kind == LE_STAGE_LOOP) {
        *at = a->partner + 1;
    } else if (first->stage->kind != LE_STAGE_FOR) {
        ++*at;
    } else if (++first->next < first->end) {
        s->cells[first->stage->target].scalar = (uint64_t)first->next;
        *at = a->partner + 1;
    } else {
        return exit_block(call, a, *at + 1, at);
    }
    return LEAT_OK;
}

static leat_status take_branch(struct leat_call *call, const struct le_action *a, int *at) {
    uint64_t holds = 0;
    leat_status status = le_host_scalar_get(call, a->stage->node, LE_BOOL, &holds);
    if (status != LEAT_OK)
        return status;
    return (uint8_t)holds ? go_on(call, a, at) : exit_block(call, a, a->partner + 1, at);
}

/* The name of the library that computes the action, or "". */
static const char *cause_of(const struct le_action *a) {
    if (a->contract)
        return le_contract_cause(a->contract);
    return a->device && a->device->contract ? "cuBLAS" : "";
}

static leat_status perform_computation(struct leat_call *call, struct le_action *a) {
    struct le_span span;
    le_span_begin(&span, call->program->ctx->ledger, LEAT_COST_KERNEL, a->name, cause_of(a));
    leat_status status = le_perform_action(call, a);
    le_span_end(&span, (uint64_t)a->bytes, a->operations);
    return status;
}

/* The last reads of an action that is fused into a later one of its group happen in that later action, so the values
 * live until the group ends. */
static void drop_dying(struct leat_call *call, const struct le_action *a, int at) {
    const struct le_plan *plan = call->specialised->plan;
    const struct le_plan_step *g = &plan->groups[a->group];
    if (a->storage != LE_STORAGE_NONE)
        le_storage_drop(call, a->dying, is_inside(plan, at));
    for (int k = g->first_action; at + 1 == g->first_action + g->action_count && k < at; k++)
        if (plan->actions[k].storage == LE_STORAGE_NONE)
            le_storage_drop(call, plan->actions[k].dying, is_inside(plan, at));
}

static leat_status compute(struct leat_call *call, struct le_action *a, int *at) {
    struct le_specialised *s = call->specialised;
    bool by_other = a->storage == LE_STORAGE_NONE || a->joined_to;
    leat_status status = by_other ? LEAT_OK : perform_computation(call, a);
    if (status != LEAT_OK)
        return status;
    s->cells[a->stage->target].ready = true;
    for (int k = 0; k < a->stage->pair_count; k++)
        s->cells[a->stage->pairs[k].target].ready = true;
    drop_dying(call, a, *at);
    ++*at;
    return LEAT_OK;
}

static leat_status move_values(struct leat_call *call, const struct le_action *a, int *at) {
    leat_status status = le_storage_move(call, a);
    return status == LEAT_OK ? go_on(call, a, at) : status;
}

static leat_status run_step(struct leat_call *call, int *at) {
    struct le_plan *plan = call->specialised->plan;
    struct le_action *a = &plan->actions[*at];
    struct le_plan_step *g = &plan->groups[a->group];
    plan->running = a->stage;
    if (g->inside && g->first_action == *at) {
        leat_status status = le_ensure_group_planned(call, g);
        if (status != LEAT_OK)
            return status;
    }
    switch (a->stage->kind) {
    case LE_STAGE_MOVE:
        return move_values(call, a, at);
    case LE_STAGE_FOR:
        return begin_for(call, a, at);
    case LE_STAGE_LOOP:
        ++*at;
        return LEAT_OK;
    case LE_STAGE_TEST:
    case LE_STAGE_IF:
        return take_branch(call, a, at);
    case LE_STAGE_ELSE:
        *at = a->partner;
        return LEAT_OK;
    case LE_STAGE_BREAK:
        *at = a->partner + 1;
        return LEAT_OK;
    case LE_STAGE_END:
        return end_block(call, a, at);
    default:
        return compute(call, a, at);
    }
}

leat_status le_perform(struct leat_call *call, int until) {
    struct le_specialised *s = call->specialised;
    struct le_plan *plan = s->plan;
    leat_status status = LEAT_OK;
    int at = plan->done;
    while (at < until && status == LEAT_OK) {
        status = le_cancel_check();
        if (status == LEAT_OK)
            status = run_step(call, &at);
        if (s->spare_count > 0 && !is_inside(plan, at))
            le_storage_drop_spares(s);
    }
    if (s->work_bytes > WORK_KEPT_BYTES) {
        le_free(s->work);
        s->work = NULL;
        s->work_bytes = 0;
    }
    plan->done = at;
    plan->running = NULL;
    return status;
}
