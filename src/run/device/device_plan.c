/* See device_run.h: plans an action as launches of kernels. Kernels are generated, then compiled or found, and their
 * arguments are laid out, so that a run only fills in addresses and numbers. */
#include "base/text.h"
#include "run/device/device_run.h"
#include <stdio.h>
#include <string.h>

bool le_device_computes(const struct leat_call *call, const struct le_stage *stage) {
    const struct le_specialised *s = call->specialised;
    return call->device && !(stage->pair_count == 0 && s->on_host[stage->target]);
}

void le_device_work_finish(struct le_action *action) {
    struct le_device_work *w = action->device;
    action->device = NULL;
    for (int k = 0; w && k < w->step_count; k++) {
        le_replay_finish(&w->steps[k].replay);
        le_code_release(w->steps[k].code);
    }
    if (w)
        le_device_contract_finish(w->contract);
}

/* ---- the generator's input */

static bool is_at_16(const leat_array *array) {
    return array && le_device_address(array) % 16 == 0;
}

int le_device_other_part(const struct leat_call *call, int value, bool *is_imaginary) {
    const struct le_specialised *s = call->specialised;
    const struct le_value *v = &s->ir->values.at[value];
    const int count = s->typed->symbol_count;
    *is_imaginary = false;
    for (int k = 0; k < count && s->tree != s->typed && v->symbol >= 0 && v->rank > 0; k++) {
        const struct le_symbol *imaginary = s->tree->symbols[k]->imaginary;
        if (!imaginary || (v->symbol != k && v->symbol != imaginary->id))
            continue;
        *is_imaginary = v->symbol != k;
        if (v->stage >= 0)
            return s->plan->other_part[value];
        const leat_array *given = call->device->binds[k].array;
        bool both = call->device->binds[k].kind == LE_BOUND_ARRAY && le_type_is_complex((enum le_type)given->dtype);
        return both ? s->ir->first[*is_imaginary ? k : imaginary->id] : -1;
    }
    return -1;
}

/* Memory from the pool is aligned, but imaginary parts lie behind real ones where both are stored in one array. An
 * input may have any alignment, and a MOVE may share a dense input's memory. */
static bool is_aligned(void *user, int value) {
    const struct leat_call *call = user;
    const struct le_specialised *s = call->specialised;
    const struct le_value *v = &s->ir->values.at[value];
    if (v->stage < 0)
        return is_at_16(s->cells[value].array);
    bool is_imaginary;
    if (s->plan->other_part[value] >= 0 && le_device_other_part(call, value, &is_imaginary) >= 0 && is_imaginary)
        return false;
    for (int k = 0; k < s->tree->symbol_count; k++) {
        int input = s->ir->first[k];
        const leat_array *array = input >= 0 ? s->cells[input].array : NULL;
        if (array && le_array_is_contiguous(array) && !is_at_16(array)) /* a strided one is copied */
            return false;
    }
    return true;
}

static int imaginary_of(void *user, int value) {
    bool is_imaginary;
    int other = le_device_other_part(user, value, &is_imaginary);
    return is_imaginary ? -1 : other;
}

#define MEMORY_EFFICIENCY      0.9  /* of what the memory's clock and width say, that kernels reach */
#define USUAL_BYTES_PER_SECOND 5e11 /* where the driver does not say it */
#define USUAL_CLOCK_HZ         1.5e9
#define UNIT_OPERATIONS        128 /* additions of f32 that a multiprocessor makes in a clock */

struct le_device_facts le_device_facts_of(struct leat_call *call) {
    const struct le_device_limits *limits = le_device_limits_of(call->home.device);
    return (struct le_device_facts){.multiprocessors = limits->multiprocessors,
                                    .multiprocessor_threads = limits->multiprocessor_threads,
                                    .block_threads = limits->block_threads,
                                    .bytes_per_second = limits->memory_bytes_per_second > 0
                                                            ? MEMORY_EFFICIENCY * limits->memory_bytes_per_second
                                                            : USUAL_BYTES_PER_SECOND,
                                    .operations_per_second = UNIT_OPERATIONS * limits->multiprocessors *
                                                             (limits->clock_hz > 0 ? limits->clock_hz : USUAL_CLOCK_HZ),
                                    .mapping = call->program->ctx->mapping,
                                    .shared_bytes = limits->shared_bytes,
                                    .shared_most_bytes = limits->shared_optin_bytes,
                                    .capability = limits->capability,
                                    .is_aligned = is_aligned,
                                    .imaginary_of = imaginary_of,
                                    .user = call};
}

struct le_device_kernel_job le_device_job(struct leat_call *call, struct le_plan_step *g,
                                          const struct le_action *action, const struct le_device_facts *facts) {
    struct le_specialised *s = call->specialised;
    return (struct le_device_kernel_job){.kernel = {.ir = s->ir,
                                                    .stage = action->generated,
                                                    .space = &s->plan->space,
                                                    .layouts = s->plan->layouts,
                                                    .threads = 1,
                                                    .arena = g->arena,
                                                    .work = &s->generating},
                                         .facts = facts,
                                         .action = (int)(action - s->plan->actions)};
}

leat_status le_device_predict(struct leat_call *call, struct le_plan_step *g, const struct le_action *action,
                              double *seconds) {
    const struct le_device_facts facts = le_device_facts_of(call);
    const struct le_device_kernel_job job = le_device_job(call, g, action, &facts);
    struct le_generated_launches made = {0};
    leat_status status = le_device_generate(&job, &made);
    *seconds = 0;
    for (int k = 0; k < made.count && status == LEAT_OK; k++)
        *seconds += made.at[k].mapping ? made.at[k].predicted_seconds : 0;
    return status;
}

/* ---- steps */

static size_t size_of(enum le_argument_kind kind) {
    return kind == LE_ARGUMENT_SCALAR ? sizeof(struct le_scalar) : sizeof(uint64_t);
}

static void add_result(struct le_arena *arena, const struct le_stage *stage, struct le_device_work *w, int value) {
    int base = value == stage->target ? stage->base : -1;
    for (int k = 0; k < w->results.count; k++)
        if (w->results.at[k].value == value)
            return;
    for (int k = 0; k < stage->pair_count; k++)
        if (stage->pairs[k].target == value)
            base = stage->pairs[k].source;
    *LE_PUSH(arena, &w->results) = (struct le_device_result){.value = value, .base = base};
}

static void lay_out(struct le_arena *arena, const struct le_action *action, struct le_device_step *step) {
    const struct le_stage *stage = action->stage;
    struct le_device_work *w = action->device;
    const struct le_generated_launch *made = step->generated;
    int numbers = 0;
    step->arguments = LE_NEW_ARRAY(arena, made->argument_count, struct le_launch_argument);
    step->values = LE_NEW_ARRAY(arena, made->argument_count, union le_device_value);
    for (int k = 0; k < made->argument_count; k++) {
        const struct le_argument *a = &made->arguments[k];
        step->values[k].number = a->number;
        step->arguments[k] = (struct le_launch_argument){.value = &step->values[k], .size_bytes = size_of(a->kind)};
        step->arguments[k].access = a->kind == LE_ARGUMENT_ARRAY ? LE_ACCESS_READ : LE_ACCESS_BOTH;
        if (a->kind == LE_ARGUMENT_RESULT)
            add_result(arena, stage, w, a->value);
        numbers += a->kind == LE_ARGUMENT_SCALAR;
    }
    step->uses = LE_NEW_ARRAY(arena, numbers, struct le_allocation_use);
    step->launch = (struct le_kernel_launch){.shared_bytes = made->shared_bytes,
                                             .replay = &step->replay,
                                             .arguments = step->arguments,
                                             .argument_count = made->argument_count,
                                             .uses = step->uses,
                                             .what = action->name};
    memcpy(step->launch.grid, made->grid, sizeof made->grid);
    memcpy(step->launch.block, made->block, sizeof made->block);
}

void le_device_make_steps(struct le_plan_step *g, struct le_action *action) {
    struct le_device_work *w = action->device;
    w->steps = LE_NEW_ARRAY(g->arena, w->launches.count, struct le_device_step);
    for (int k = 0; k < w->launches.count; k++) {
        const struct le_generated_launch *made = &w->launches.at[k];
        if (made->grid[0] == 0)
            continue;
        struct le_device_step *step = &w->steps[w->step_count];
        step->generated = made;
        lay_out(g->arena, action, step);
        w->may_report |= made->may_fault || made->may_note;
        action->operations += (uint64_t)made->operations;
        w->step_count++;
    }
}

/* ---- kernels: compiled or found when they first run, so that showing a plan needs no compiler */

/* Appends the launch's values with their types: "y f64[:], a f32[:,:], s i64". */
static void add_values(struct le_text *text, const struct le_ir *ir, const struct le_generated_launch *made) {
    int count = 0;
    for (int k = 0; k < made->argument_count; k++) {
        enum le_argument_kind kind = made->arguments[k].kind;
        if (kind == LE_ARGUMENT_NUMBER || kind >= LE_ARGUMENT_WORK)
            continue;
        const struct le_value *v = &ir->values.at[made->arguments[k].value];
        int length = (int)strcspn(v->name, ".");
        le_text_add(text, "%s%.*s %s", count++ ? ", " : "", length, v->name, le_type_name(v->type));
        for (int d = 0; d < v->rank; d++)
            le_text_add(text, d ? ",:" : "[:");
        le_text_add(text, v->rank ? "]" : "");
    }
}

/* A compile error in generated code is our bug, not an error in the user's program. */
static leat_status explain_failure(leat_status status, const struct le_stage *stage) {
    char message[512] = "";
    if (le_error_at(0))
        snprintf(message, sizeof message, "%s", le_error_at(0)->message);
    if (status == LEAT_PROGRAM)
        return le_fail(LEAT_INTERNAL, "the code generated for '%s' does not compile: %s", stage->name, message);
    return status == LEAT_UNSUPPORTED ? le_fail(LEAT_DEVICE, "programs cannot be compiled for this device: %s", message)
                                      : status;
}

/* what: a text for the caller to finish; the source points into it. */
static struct le_code_source source_of(const struct leat_call *call, const struct le_action *action,
                                       const struct le_device_step *step, struct le_text *what) {
    *what = (struct le_text){0};
    le_text_add(what, "%s; ", action->name);
    add_values(what, call->specialised->ir, step->generated);
    return (struct le_code_source){.kernel = step->generated->kernel,
                                   .text = step->generated->text,
                                   .program = call->program->name,
                                   .what = what->failed ? action->name : what->at,
                                   .cause = "first use with these types"};
}

static leat_status load_step(struct leat_call *call, const struct le_action *action, struct le_device_step *step) {
    struct le_text what;
    const struct le_code_source source = source_of(call, action, step, &what);
    leat_status status = le_code_get(call->program->ctx, &source, &step->code);
    le_text_finish(&what);
    return status == LEAT_OK ? LEAT_OK : explain_failure(status, action->stage);
}

bool le_device_code_is_loaded(const struct le_action *action) {
    const struct le_device_work *w = action->device;
    for (int k = 0; k < w->step_count; k++)
        if (!w->steps[k].code)
            return false;
    return true;
}

bool le_device_request_code(struct leat_call *call, struct le_action *action, enum le_code_wish wish) {
    struct le_device_work *w = action->device;
    bool none_comes = true;
    for (int k = 0; k < w->step_count; k++) {
        struct le_text what;
        const struct le_code_source source = source_of(call, action, &w->steps[k], &what);
        if (!w->steps[k].code)
            none_comes &= le_code_request(call->program->ctx, &source, wish, &w->steps[k].code) != LE_CODE_COMING;
        le_text_finish(&what);
    }
    return none_comes;
}

/* ---- a plan's kernels are compiled at the same time, by threads of the context */

static bool wants_kernels(const struct leat_call *call, const struct le_action *action) {
    const struct le_device_work *w = action->device;
    return w && !(w->contract && le_device_contract_can_run(call, w->contract)) && !le_device_code_is_loaded(action);
}

/* Whether the action and those after it have several kernels that the process has not loaded yet. */
static bool misses_several(const struct leat_call *call, const struct le_action *action) {
    const struct le_plan *plan = call->specialised->plan;
    int count = 0;
    for (; action < plan->actions + plan->action_count && count < 2; action++)
        if (wants_kernels(call, action))
            count += action->device->step_count;
    return count > 1;
}

static void prefetch_step(struct leat_call *call, const struct le_action *action, const struct le_device_step *step) {
    struct le_text what;
    const struct le_code_source source = source_of(call, action, step, &what);
    if (!step->code)
        le_code_prefetch(call->program->ctx, &source);
    le_text_finish(&what);
}

/* If the first kernel is not on disk, the others probably are not, either. */
static void prefetch_others(struct leat_call *call, const struct le_device_step *first) {
    struct le_plan *plan = call->specialised->plan;
    for (; plan->prefetched_actions < plan->action_count; plan->prefetched_actions++) {
        const struct le_action *action = &plan->actions[plan->prefetched_actions];
        for (int k = 0; wants_kernels(call, action) && k < action->device->step_count; k++)
            if (&action->device->steps[k] != first)
                prefetch_step(call, action, &action->device->steps[k]);
    }
}

static bool is_kept(struct leat_call *call, const struct le_action *action, struct le_device_step *step) {
    struct le_text what;
    const struct le_code_source source = source_of(call, action, step, &what);
    bool kept = le_code_request(call->program->ctx, &source, LE_CODE_KEPT, &step->code) == LE_CODE_READY;
    le_text_finish(&what);
    return kept;
}

leat_status le_device_load_code(struct leat_call *call, struct le_action *action) {
    const struct le_plan *plan = call->specialised->plan;
    leat_status status = LEAT_OK;
    struct le_device_work *w = action->device;
    for (int k = 0; k < w->step_count && status == LEAT_OK; k++) {
        struct le_device_step *step = &w->steps[k];
        if (!step->code && plan->prefetched_actions < plan->action_count && misses_several(call, action) &&
            !is_kept(call, action, step))
            prefetch_others(call, step);
        if (!step->code)
            status = load_step(call, action, step);
    }
    return status;
}

/* ---- an action */

static bool has_result(const struct le_device_work *w, int value) {
    for (int k = 0; w && k < w->results.count; k++)
        if (w->results.at[k].value == value)
            return true;
    return false;
}

static bool is_made_by_leader(const struct le_specialised *s, const struct le_stage *stage) {
    if (stage->leader < 0)
        return false;
    return has_result(s->plan->actions[s->plan->maker[s->ir->stages.at[stage->leader].target]].device, stage->target);
}

static bool fills_zeros(const struct le_stage *stage) {
    return stage->kind == LE_STAGE_FILL && stage->node->kind == LE_NODE_CONST && stage->node->bits == 0;
}

leat_status le_device_plan(struct leat_call *call, struct le_plan_step *g, struct le_action *action) {
    action->device = LE_NEW(g->arena, struct le_device_work);
    action->device->by_leader = is_made_by_leader(call->specialised, action->stage);
    action->device->zero = fills_zeros(action->stage);
    if (action->device->by_leader || action->device->zero)
        return LEAT_OK;
    if (le_device_make_in_reader(call, g, action)) {
        action->storage = LE_STORAGE_NONE;
        return LEAT_OK;
    }
    leat_status status = LEAT_OK;
    if (le_device_join_earlier(call, g, action, &status) || status != LEAT_OK)
        return status;
    status = le_device_contract_plan(call, g, action);
    const struct le_device_contract *contract = action->device->contract;
    if (status != LEAT_OK || action->joined_to || (contract && le_device_contract_is_sure(contract)))
        return status;
    uint64_t operations = action->operations;
    const struct le_device_facts facts = le_device_facts_of(call);
    const struct le_device_kernel_job job = le_device_job(call, g, action, &facts);
    status = le_device_generate(&job, &action->device->launches);
    if (status == LEAT_OK)
        le_device_make_steps(g, action);
    if (contract)
        action->operations = operations;
    return status;
}

void le_device_show(const struct le_action *action, struct le_text *out) {
    const struct le_device_work *w = action->device;
    if (w->by_leader)
        le_text_add(out, "   computed by the kernel of an earlier action\n");
    if (w->zero)
        le_text_add(out, "   zeros\n");
    if (w->contract)
        le_device_contract_show(w->contract, out);
    for (int k = 0; k < w->step_count; k++) {
        const struct le_generated_launch *l = w->steps[k].generated;
        if (l->mapping)
            le_text_add(out, "   mapping: %s; predicted %.3g us\n", l->mapping, 1e6 * l->predicted_seconds);
        le_text_add(out, "   launch %d: %s: %s; grid %u,%u,%u, block %u,%u,%u", k, l->kernel, l->how ? l->how : "",
                    l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2]);
        if (l->shared_bytes)
            le_text_add(out, ", %zu bytes of shared memory", l->shared_bytes);
        le_text_add(out, "%s\n", l->may_fault || l->may_note ? "; faults are checked at the end of the run" : "");
    }
    if (w->step_count && w->launches.work_bytes)
        le_text_add(out, "   %zu bytes of work memory\n", w->launches.work_bytes);
}
