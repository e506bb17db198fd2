/* A call's IR, plan and bytecode as text. */
#include "base/text.h"
#include "run/call.h"
#include <limits.h>

static void show_range(const struct le_plan *plan, const struct le_ir *ir, int index, struct le_text *out) {
    const struct le_range *r = &plan->space.ranges[index];
    const char *name = ir->indices.at[index].name;
    if (r->dynamic)
        le_text_add(out, "%s in (depends)", name);
    else
        le_text_add(out, "%s in %lld..%lld", name, (long long)r->low, (long long)r->high);
    if (r->by != 1)
        le_text_add(out, " by %lld", (long long)r->by);
}

static void show_action(const struct leat_call *call, int k, struct le_text *out) {
    static const char *const places[] = {"new memory", "a copy", "in place"};
    const struct le_specialised *s = call->specialised;
    const struct le_action *action = &s->plan->actions.at[k];
    const struct le_value *v = &s->ir->values.at[action->stage->target];
    le_text_add(out, "%d  %s\n   %s: %s", k, action->stage->name, v->name, le_type_name(v->type));
    for (int d = 0; d < v->rank; d++)
        le_text_add(out, "%s%lld", d ? "," : "[", (long long)s->plan->layouts[v->id].shape[d]);
    le_text_add(out, "%s, %s", v->rank ? "]" : "", v->rank ? places[action->place] : "a scalar");
    if (s->plan->last_use[v->id] != INT_MAX)
        le_text_add(out, ", until %d", s->plan->last_use[v->id]);
    if (action->stage->index_count)
        le_text_add(out, "; ");
    for (int q = 0; q < action->stage->index_count; q++) {
        le_text_add(out, q ? ", " : "");
        show_range(s->plan, s->ir, action->stage->indices[q], out);
    }
    le_text_add(out, "; %lld bytes\n", (long long)action->bytes);
    for (int q = 0; q < action->launches.count; q++) {
        const struct le_launch *l = &action->launches.at[q];
        le_text_add(out, "   launch %d: %lld points, %lld tasks%s%s\n", q, (long long)l->elements, (long long)l->tasks,
                    l->parts ? ", partial totals" : "", l->copies ? ", copies of the target" : "");
    }
}

static void show_bytecode(const struct leat_call *call, struct le_text *out) {
    const struct le_plan *plan = call->specialised->plan;
    for (int k = 0; k < plan->actions.count; k++)
        for (int q = 0; q < plan->actions.at[k].launches.count; q++)
            le_unit_print(plan->actions.at[k].launches.at[q].unit, out);
}

leat_status le_plan_show(struct leat_call *call, leat_form form, struct le_text *out) {
    leat_status status = le_call_prepare(call);
    if (status != LEAT_OK)
        return status;
    if (form == LEAT_FORM_TREE)
        le_tree_print(call->specialised->tree, out);
    if (form == LEAT_FORM_IR)
        le_ir_print(call->specialised->ir, out);
    if (form == LEAT_FORM_TREE || form == LEAT_FORM_IR)
        return LEAT_OK;
    status = le_plan_run(call, true);
    if (status != LEAT_OK)
        return status;
    if (form == LEAT_FORM_BYTECODE)
        show_bytecode(call, out);
    for (int k = 0; form == LEAT_FORM_PLAN && k < call->specialised->plan->actions.count; k++)
        show_action(call, k, out);
    return LEAT_OK;
}

static leat_status show_after(const struct leat_call *call, const char *pass, struct le_arena *arena,
                              struct le_text *out) {
    const struct le_specialised *s = call->specialised;
    if (setjmp(arena->failure))
        return le_fail_out_of_memory(0);
    struct le_ir *ir = le_lower(arena, s->tree, s->inputs, s->wanted, s->wanted_count);
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
