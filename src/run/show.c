/* Prints a call's tree, IR, plan and bytecode. */
#include "base/text.h"
#include "run/call.h"
#include "run/plan/contraction.h"
#include "run/device/device_run.h"

static void show_range(const struct le_plan *plan, const struct le_ir *ir, int index, struct le_text *out) {
    const struct le_range *r = &plan->space.ranges[index];
    const char *name = ir->indices.at[index].name;
    if (r->dynamic)
        le_text_add(out, "%s in (varies)", name);
    else
        le_text_add(out, "%s in %lld..%lld", name, (long long)r->low, (long long)r->high);
    if (r->by != 1)
        le_text_add(out, " by %lld", (long long)r->by);
}

/* The last action after which the value's memory is released; -1: none, it is a result. */
static int last_use(const struct le_plan *plan, int value) {
    int last = -1;
    for (int k = 0; k < plan->action_count; k++)
        if (le_value_dies(plan, plan->actions[k].dying, value) ||
            le_value_dies(plan, plan->actions[k].dying_on_exit, value))
            last = k;
    return last;
}

static void show_target(const struct leat_call *call, int value, enum le_storage_kind place, bool unstored,
                        struct le_text *out) {
    static const char *const places[] = {"new memory", "a copy", "in place", "in place, through a temporary",
                                         "fused into its reader"};
    const struct le_specialised *s = call->specialised;
    const struct le_value *v = &s->ir->values.at[value];
    le_text_add(out, "   %s: %s", v->name, le_type_name(v->type));
    for (int d = 0; d < v->rank; d++)
        le_text_add(out, "%s%lld", d ? "," : "[", (long long)s->plan->layouts[v->id].shape[d]);
    le_text_add(out, "%s, %s", v->rank ? "]" : "", unstored ? "not stored" : v->rank ? places[place] : "a scalar");
    int last = v->rank && !unstored ? last_use(s->plan, value) : -1;
    if (last >= 0)
        le_text_add(out, ", until %d", last);
}

static void show_computation(const struct leat_call *call, const struct le_action *action, struct le_text *out) {
    const struct le_specialised *s = call->specialised;
    const struct le_stage *stage = action->stage;
    if (stage->pair_count == 0)
        show_target(call, stage->target, action->storage, action->is_unstored, out);
    for (int q = 0; q < stage->pair_count; q++) {
        le_text_add(out, q ? "\n" : "");
        show_target(call, stage->pairs[q].target, action->storages[q], false, out);
    }
    le_text_add(out, stage->index_count ? "; " : "");
    for (int q = 0; q < stage->index_count; q++) {
        le_text_add(out, q ? ", " : "");
        show_range(s->plan, s->ir, stage->indices[q], out);
    }
    le_text_add(out, "; %lld bytes\n", (long long)action->bytes);
    if (action->contract)
        le_contract_show(action->contract, out);
    if (action->joined_to)
        le_text_add(out, "   computed by the kernel of action %d\n", (int)(action->joined_to - s->plan->actions));
    else if (action->device)
        le_device_show(action, out);
    for (int q = 0; q < action->launches.count; q++) {
        const struct le_launch *l = &action->launches.at[q];
        le_text_add(out, "   launch %d: %lld points, %lld task%s%s%s\n", q, (long long)l->elements, (long long)l->tasks,
                    l->tasks == 1 ? "" : "s", l->parts ? ", partial totals" : "",
                    l->copies ? ", copies of the target" : "");
    }
}

static void show_control(const struct leat_call *call, const struct le_action *action, struct le_text *out) {
    const struct le_specialised *s = call->specialised;
    const struct le_stage *stage = action->stage;
    for (int q = 0; q < stage->pair_count; q++)
        le_text_add(out, "   %s takes %s\n", s->ir->values.at[stage->pairs[q].target].name,
                    s->ir->values.at[stage->pairs[q].source].name);
    if (stage->kind != LE_STAGE_FOR)
        return;
    le_text_add(out, "   ");
    show_range(s->plan, s->ir, stage->index, out);
    le_text_add(out, "\n");
}

static void show_action(const struct leat_call *call, int k, struct le_text *out) {
    static const char *const kinds[] = {
        [LE_STAGE_MOVE] = "move", [LE_STAGE_FOR] = "for",   [LE_STAGE_LOOP] = "while",  [LE_STAGE_TEST] = "unless",
        [LE_STAGE_IF] = "if",     [LE_STAGE_ELSE] = "else", [LE_STAGE_BREAK] = "break", [LE_STAGE_END] = "end"};
    const struct le_plan *plan = call->specialised->plan;
    const struct le_action *action = &plan->actions[k];
    bool computes = le_stage_computes(action->stage);
    const struct le_plan_step *g = &plan->groups[action->group];
    le_text_add(out, "%d  ", k);
    if (!computes)
        le_text_add(out, "%s: ", kinds[action->stage->kind]);
    le_text_add(out, "%s\n", action->name ? action->name : "");
    if (g->inside && g->dependencies.made == 0)
        le_text_add(out, "   not reached\n");
    else if (computes)
        show_computation(call, action, out);
    else
        show_control(call, action, out);
}

static void show_bytecode(const struct leat_call *call, struct le_text *out) {
    const struct le_plan *plan = call->specialised->plan;
    for (int k = 0; k < plan->action_count; k++)
        for (int q = 0; q < plan->actions[k].launches.count; q++)
            le_unit_print(plan->actions[k].launches.at[q].unit, out);
}

/* Groups in blocks are planned when they are reached. A program with blocks is therefore run first, and the last plan
 * of each group is shown. */
leat_status le_plan_show(struct leat_call *call, leat_form form, struct le_text *out) {
    leat_status status = le_call_prepare(call);
    if (status != LEAT_OK)
        return status;
    if (form == LEAT_FORM_TREE)
        le_tree_print(call->specialised->typed, out);
    if (form == LEAT_FORM_IR)
        le_ir_print(call->specialised->ir, out);
    if (form == LEAT_FORM_TREE || form == LEAT_FORM_IR)
        return LEAT_OK;
    status = le_plan_run(call, true);
    if (status != LEAT_OK)
        return status;
    if (form == LEAT_FORM_BYTECODE)
        show_bytecode(call, out);
    for (int k = 0; form == LEAT_FORM_PLAN && k < call->specialised->plan->action_count; k++)
        show_action(call, k, out);
    return LEAT_OK;
}

static leat_status show_after(const struct leat_call *call, const char *pass, struct le_arena *arena,
                              struct le_text *out) {
    const struct le_specialised *s = call->specialised;
    if (setjmp(arena->failure))
        return le_fail_out_of_memory(0);
    struct le_ir *ir = le_lower(arena, s->tree, s->real_inputs, s->real_wanted, s->real_wanted_count);
    leat_status status = ir ? le_passes_run_to(ir, pass) : le_error_at(0)->code;
    if (status == LEAT_OK)
        le_ir_print(ir, out);
    return status;
}

leat_status le_pass_show(struct leat_call *call, const char *pass, struct le_text *out) {
    struct le_arena arena;
    leat_status status = le_call_prepare(call);
    if (status != LEAT_OK)
        return status;
    le_arena_init(&arena);
    status = show_after(call, pass, &arena, out);
    le_arena_finish(&arena);
    return status;
}
