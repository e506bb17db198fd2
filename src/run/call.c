/* Makes, prepares and runs calls, and hands out their results. call_inputs.c and call_wants.c bind them. */
#include "run/device/device_run.h"
#include <string.h>

/* ---- making */

leat_status le_call_new(leat_program *program, leat_call **call) {
    leat_call *c = le_alloc_zero(1, sizeof *c);
    if (!c)
        return le_fail_out_of_memory(sizeof *c);
    c->program = le_program_retain(program);
    c->binds = le_alloc_zero((size_t)program->tree->symbol_count + 1, sizeof *c->binds);
    c->home = le_context_home(program->ctx);
    c->want_of = le_alloc_zero((size_t)program->tree->symbol_count + 1, sizeof *c->want_of);
    leat_status status = c->binds && c->want_of ? le_call_default_wants(c) : le_fail_out_of_memory(sizeof *c->binds);
    if (status == LEAT_OK)
        status = le_device_run_new(c);
    if (status != LEAT_OK) {
        le_call_free(c);
        return status;
    }
    *call = c;
    return LEAT_OK;
}

void le_call_drop_results(leat_call *call) {
    for (int k = 0; k < call->want_count; k++) {
        le_array_free(call->wants[k].result);
        call->wants[k].result = NULL;
    }
}

void le_call_unbind(leat_call *call) {
    call->steady = false;
    for (int k = 0; call->binds && k < call->program->tree->symbol_count; k++) {
        le_array_free(call->binds[k].array);
        call->binds[k] = (struct le_bind){0};
    }
    if (call->specialised) {
        le_complex_unbind(call->specialised);
        le_cells_clear(call->specialised);
    }
    le_device_unbind(call);
}

void le_call_free(leat_call *call) {
    if (!call)
        return;
    le_call_unbind(call);
    le_call_drop_wants(call);
    le_specialised_free(call->specialised);
    le_device_run_free(call);
    le_free(call->binds);
    le_free(call->wants);
    le_free(call->want_of);
    le_call_memory_free(call, call->input_memory);
    le_call_memory_free(call, call->result_memory);
    leat_program *program = call->program;
    le_free(call);
    le_program_release(program); /* the last release closes the context, whose allocator frees our memory */
}

/* ---- running */

static leat_status check_targets(const leat_call *call) {
    const struct le_specialised *s = call->specialised;
    for (int k = 0; k < call->want_count; k++) {
        const struct le_want *w = &call->wants[k];
        const struct le_symbol *symbol = s->typed->symbols[w->symbol];
        const struct le_node *fixed = s->ir->fixed[w->symbol];
        if (s->ir->last[w->symbol] < 0 && !(fixed && fixed->kind == LE_NODE_LEN))
            return le_fail(LEAT_MISSING, "'%s' has no value: this input is not bound", symbol->name);
        if (!w->target)
            continue;
        enum le_type type = le_type_strong(symbol->type);
        if ((enum le_type)w->target->dtype != type)
            return le_fail(LEAT_MISMATCH, "cannot write '%s', which is %s, into an array of %s", symbol->name,
                           le_type_name(type), leat_dtype_name(w->target->dtype));
        if (w->target->rank != (symbol->is_array ? symbol->rank : 0))
            return le_fail(LEAT_MISMATCH, "cannot write '%s', which has %d axes, into an array with %d", symbol->name,
                           symbol->is_array ? symbol->rank : 0, w->target->rank);
    }
    return LEAT_OK;
}

/* A result that is the length of an axis. */
static leat_status hand_out_size(leat_call *call, struct le_want *w) {
    const struct le_specialised *s = call->specialised;
    const struct le_node *size = s->ir->fixed[w->symbol];
    leat_status status = LEAT_OK;
    if (w->target)
        w->result = le_array_retain(w->target);
    else
        status = le_array_new_at(&call->home, LEAT_MEMORY_DEVICE, LEAT_I64, 0, NULL, false, &w->result);
    if (status != LEAT_OK)
        return status;
    const struct le_cell cell = {.scalar = (uint64_t)s->plan->space.shape[size->symbol][size->axis]};
    return le_call_store(call, w->result, &cell, s->tree->symbols[w->symbol]->name);
}

leat_status le_call_copy(leat_call *call, const leat_array *target, const leat_array *source, const char *what,
                         const char *cause) {
    struct le_span span;
    if (call->device) {
        bool wait = !target->buffer->allocation || !source->buffer->allocation;
        return le_array_copy_as(target, source, call->home.stream, wait, what, cause);
    }
    le_span_begin(&span, call->program->ctx->ledger, LEAT_COST_COPY, what, cause);
    le_array_copy(target, source);
    le_span_end(&span, 2 * le_array_bytes(target), 0);
    return LEAT_OK;
}

static void add_shape(struct le_text *text, const leat_array *array) {
    for (int d = 0; d < array->rank; d++)
        le_text_add(text, "%s%lld", d ? "," : "[", (long long)array->shape[d]);
    le_text_add(text, "]");
}

leat_status le_call_check_shape(const char *name, const leat_array *value, const leat_array *target) {
    if (memcmp(value->shape, target->shape, (size_t)value->rank * sizeof(int64_t)) == 0)
        return LEAT_OK;
    struct le_text text = {0};
    le_text_add(&text, "cannot write '%s', which has the shape ", name);
    add_shape(&text, value);
    le_text_add(&text, ", into an array with the shape ");
    add_shape(&text, target);
    leat_status status = text.failed ? le_fail_out_of_memory(text.capacity) : le_fail(LEAT_MISMATCH, "%s", text.at);
    le_text_finish(&text);
    return status;
}

leat_status le_call_store(leat_call *call, const leat_array *target, const struct le_cell *cell, const char *what) {
    if (call->device)
        return le_device_store_scalar(call, target, cell, what);
    memcpy(target->data, &cell->scalar, leat_dtype_size_bytes(target->dtype));
    return LEAT_OK;
}

leat_status le_new_result(leat_call *call, struct le_want *w, int value) {
    const struct le_value *v = &call->specialised->ir->values.at[value];
    const leat_array *array = call->specialised->cells[value].array;
    return le_array_new_at(&call->home, LEAT_MEMORY_DEVICE, (leat_dtype)v->type, v->rank, array ? array->shape : NULL,
                           false, &w->result);
}

static leat_status copy_out(leat_call *call, struct le_want *w, int value) {
    const struct le_value *v = &call->specialised->ir->values.at[value];
    const struct le_cell *cell = &call->specialised->cells[value];
    leat_status status = LEAT_OK;
    if (w->target)
        w->result = le_array_retain(w->target);
    else if (!w->result)
        status = le_new_result(call, w, value);
    if (status != LEAT_OK)
        return status;
    return cell->array ? le_call_copy(call, w->result, cell->array, v->name, "into the caller's array")
                       : le_call_store(call, w->result, cell, v->name);
}

/* Gives the value's array to the caller; by now nothing else holds it. */
static leat_status hand_out(leat_call *call, struct le_want *w) {
    struct le_specialised *s = call->specialised;
    int value = s->ir->last[w->symbol];
    if (value < 0)
        return hand_out_size(call, w);
    if (le_is_complex_result(s, w->symbol))
        return le_complex_deliver(call, w);
    const struct le_value *v = &s->ir->values.at[value];
    struct le_cell *cell = &s->cells[value];
    if (cell->array && w->target) {
        leat_status status = le_call_check_shape(s->tree->symbols[w->symbol]->name, cell->array, w->target);
        if (status)
            return status;
    }
    if (cell->array && v->stage >= 0 && !w->target) {
        w->result = le_array_retain(cell->array);
        return LEAT_OK;
    }
    if (cell->array && v->stage >= 0 && w->target->data == cell->array->data) { /* it was computed there */
        w->result = le_array_retain(w->target);
        return LEAT_OK;
    }
    return copy_out(call, w, value);
}

/* Whether a result must be copied before it is handed out: an input or another result shares its array, or its memory
 * overlaps the target of another result. */
static bool is_shared(const leat_call *call, int want, leat_array *array) {
    bool shared = atomic_load(&array->refcount) > 1;
    for (int k = 0; k < call->want_count && call->has_targets && !shared; k++)
        shared = k != want && call->wants[k].target && le_array_overlaps(call->wants[k].target, array);
    return shared;
}

static leat_status separate_value(leat_call *call, int want, int value) {
    struct le_specialised *s = call->specialised;
    if (value < 0 || s->ir->values.at[value].stage < 0 || !s->cells[value].array ||
        !is_shared(call, want, s->cells[value].array))
        return LEAT_OK;
    leat_array *shared = s->cells[value].array, *own;
    leat_status status =
        le_array_new_at(&call->home, LEAT_MEMORY_DEVICE, shared->dtype, shared->rank, shared->shape, false, &own);
    if (status != LEAT_OK)
        return status;
    status = le_call_copy(call, own, shared, s->ir->values.at[value].name, "its memory is shared");
    le_array_free(status == LEAT_OK ? shared : own);
    if (status == LEAT_OK)
        s->cells[value].array = own;
    return status;
}

static leat_status separate(leat_call *call) {
    const struct le_specialised *s = call->specialised;
    leat_status status = LEAT_OK;
    call->has_targets = false;
    for (int k = 0; k < call->want_count; k++)
        call->has_targets |= call->wants[k].target != NULL;
    for (int k = 0; k < s->real_wanted_count && status == LEAT_OK; k++)
        status = separate_value(call, s->real_want_of[k], s->ir->last[s->real_wanted[k]]);
    return status;
}

/* Results that are inputs come first: another result's target may be the array of such an input. */
static leat_status hand_out_all(leat_call *call) {
    const struct le_ir *ir = call->specialised->ir;
    leat_status status = separate(call);
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < call->want_count && status == LEAT_OK; k++) {
            int value = ir->last[call->wants[k].symbol];
            bool input = value >= 0 && ir->values.at[value].stage < 0;
            if (input == (pass == 0))
                status = hand_out(call, &call->wants[k]);
        }
    return status;
}

leat_status le_call_prepare(leat_call *call) {
    leat_status status = LEAT_OK;
    if (call->steady)
        return LEAT_OK;
    if (call->want_count == 0)
        status = le_fail(LEAT_PROGRAM, "the program has no result; mark one with `out` or request one");
    if (status == LEAT_OK)
        status = le_specialise_call(call);
    if (status == LEAT_OK)
        status = check_targets(call);
    return status;
}

static leat_status wait_for_arrays(leat_call *call) {
    leat_status status = LEAT_OK;
    for (int k = 0; k < call->program->tree->symbol_count && !status; k++) {
        const leat_array *array = call->binds[k].array;
        if (array && array->buffer->allocation)
            status = le_allocation_wait(array->buffer->allocation, LE_ACCESS_READ);
    }
    return status;
}

/* Faults are checked before any result is handed out. */
static leat_status run_and_deliver(leat_call *call) {
    leat_status status = le_plan_run(call, false);
    if (status == LEAT_OK && call->device)
        status = le_device_check_records(call, true);
    if (status == LEAT_OK)
        status = hand_out_all(call);
    if (call->device)
        le_device_end(call, status == LEAT_OK);
    return status;
}

/* Whether the next run may reuse this run's bindings: all inputs are numbers, or arrays that the run read in place. */
static bool will_stay(const leat_call *call) {
    const struct le_specialised *s = call->specialised;
    bool stays = call->wants_placed && !s->plan->single_use && s->tree == s->typed && !call->has_foreign_inputs;
    for (int k = 0; k < call->program->tree->symbol_count && stays; k++) {
        const struct le_bind *b = &call->binds[k];
        stays = b->kind != LE_BOUND_ARRAY || (b->array->rank > 0 && s->bound[k].array == b->array);
    }
    return stays && !(call->device && call->device->has_deferred);
}

static leat_status prepare_and_run(leat_call *call) {
    leat_status status = le_call_prepare(call);
    if (status != LEAT_OK)
        return status;
    status = run_and_deliver(call);
    if (status == LEAT_OK)
        le_result_keep_views(call);
    else
        le_call_drop_results(call);
    call->steady = status == LEAT_OK && (call->steady || will_stay(call));
    le_cells_clear_computed(call->specialised);
    return status;
}

/* A run that fails while it is prepared has perhaps run a part, too. */
static leat_status run(leat_call *call, struct le_device_stream *stream) {
    le_call_drop_results(call);
    leat_status status = call->has_foreign_inputs ? wait_for_arrays(call) : LEAT_OK;
    if (status == LEAT_OK)
        status = le_call_check_disjoint(call);
    if (status != LEAT_OK)
        return status;
    if (call->device) {
        call->home.stream = stream;
        le_call_follow_stream(call, stream);
    }
    status = prepare_and_run(call);
    if (status != LEAT_OK && call->device)
        le_call_drain(call);
    call->home.stream = le_context_home(call->program->ctx).stream; /* the caller may free its stream */
    return status;
}

/* If it fails, the run counts as failed. */
static leat_status wait_for_end(leat_call *call, struct le_device_stream *stream) {
    le_order_end(stream, NULL, 0, true);
    const struct le_point point = le_device_stream_point(stream);
    leat_status status = le_stream_watch(stream, "ticket", "");
    if (status == LEAT_OK)
        status = le_device_wait_point(call->home.device, point.stream_id, point.number);
    if (status != LEAT_OK) {
        le_device_end(call, false);
        le_call_drop_results(call);
        call->steady = false;
        le_call_drain(call);
    }
    return status;
}

static leat_status run_until_canceled(leat_call *call, struct le_device_stream *stream, bool waits) {
    struct le_cancel *outer;
    le_cancel_enter(&call->cancel, &outer);
    leat_status status = run(call, stream);
    if (status == LEAT_OK && waits && call->device)
        status = wait_for_end(call, stream);
    le_cancel_leave(outer);
    return status;
}

leat_status le_call_run(leat_call *call, struct le_device_stream *stream) {
    return run_until_canceled(call, stream, false);
}

leat_status le_call_complete(leat_call *call, struct le_device_stream *stream) {
    return run_until_canceled(call, stream, true);
}
