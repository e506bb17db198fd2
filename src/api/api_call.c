/* leat.h: calls and their results, and leat_eval. api_bind.c binds the inputs. */
#include "api/api_check.h"
#include "base/text.h"
#include "run/program_cache.h"
#include "run/show_code.h"
#include <string.h>

leat_status leat_call_new(leat_program *program, leat_call **call) {
    LE_CHECK_POINTER(program);
    LE_CHECK_CONTEXT(program->ctx);
    LE_CHECK_POINTER(call);
    return le_call_new(program, call);
}

void leat_call_free(leat_call *call) {
    if (call && le_context_check(call->program->ctx) == LEAT_OK)
        le_call_free(call);
}

/* Checks nothing: a signal handler may call it. */
void leat_call_cancel(leat_call *call) {
    if (call)
        atomic_store_explicit(&call->cancel.requested, true, memory_order_relaxed);
}

leat_status leat_call_watch(leat_call *call, bool (*proceed)(void *user), void *user) {
    LE_CHECK_CALL(call);
    call->cancel.proceed = proceed;
    call->cancel.user = user;
    return LEAT_OK;
}

/* ---- results */

/* Finds the symbol of a result by its number. */
static leat_status find_result(const leat_call *call, size_t k, int *symbol) {
    *symbol = le_program_symbol(call->program, LEAT_NAME_RESULT, k);
    return *symbol >= 0 ? LEAT_OK
                        : le_fail(LEAT_INVALID, "k is %zu, and there are %zu results", k,
                                  call->program->name_counts[LEAT_NAME_RESULT]);
}

leat_status leat_call_want(leat_call *call, const char *name, leat_array *array) {
    int symbol;
    LE_CHECK_CALL(call);
    LE_CHECK_POINTER(name);
    if (array)
        LE_CHECK_BOUND_ARRAY(array);
    leat_status status = le_call_find_want(call, name, &symbol);
    return status == LEAT_OK ? le_call_want(call, symbol, array) : status;
}

leat_status leat_call_want_at(leat_call *call, size_t k, leat_array *array) {
    int symbol;
    LE_CHECK_CALL(call);
    if (array)
        LE_CHECK_BOUND_ARRAY(array);
    leat_status status = find_result(call, k, &symbol);
    return status == LEAT_OK ? le_call_want(call, symbol, array) : status;
}

leat_status leat_call_want_memory_at(leat_call *call, size_t k, const leat_description *description) {
    int symbol;
    LE_CHECK_CALL(call);
    LE_CHECK_POINTER(description);
    leat_status status = find_result(call, k, &symbol);
    return status == LEAT_OK ? le_call_want_memory(call, symbol, description) : status;
}

leat_status leat_call_want_clear(leat_call *call) {
    LE_CHECK_CALL(call);
    le_call_want_clear(call);
    return LEAT_OK;
}

leat_status leat_call_complete(leat_call *call, leat_stream *stream) {
    LE_CHECK_CALL(call);
    leat_context *ctx = call->program->ctx;
    leat_status status = le_check_stream(ctx, stream);
    return status ? status : le_call_complete(call, le_context_stream(ctx, stream));
}

leat_status leat_call_run(leat_call *call, leat_stream *stream, leat_ticket *ticket) {
    LE_CHECK_CALL(call);
    leat_context *ctx = call->program->ctx;
    leat_status status = le_check_stream(ctx, stream);
    if (!status)
        status = le_call_run(call, le_context_stream(ctx, stream));
    if (status || !ticket)
        return status;
    le_order_end(le_context_stream(ctx, stream), NULL, 0, true);
    *ticket = le_context_ticket(ctx, stream);
    return LEAT_OK;
}

static leat_status give_result(const leat_call *call, int symbol, const char *name, leat_array **array) {
    const struct le_want *w = le_call_result(call, symbol);
    if (!w)
        return le_fail(LEAT_INVALID, "'%s' is not a result of this call: request it with leat_call_want", name);
    if (w->is_memory)
        return le_fail(LEAT_INVALID, "'%s' is in memory of the caller's (leat_call_want_memory_at), not in an array",
                       name);
    if (!w->result)
        return le_fail(LEAT_INVALID, "'%s' has no value: the call has not run, or its last run failed", name);
    *array = le_array_retain(w->result);
    return LEAT_OK;
}

leat_status leat_call_result(leat_call *call, const char *name, leat_array **array) {
    LE_CHECK_CALL(call);
    LE_CHECK_POINTER(name);
    LE_CHECK_POINTER(array);
    return give_result(call, le_tree_find(call->program->tree, name), name, array);
}

leat_status leat_call_result_at(leat_call *call, size_t k, leat_array **array) {
    int symbol;
    LE_CHECK_CALL(call);
    LE_CHECK_POINTER(array);
    leat_status status = find_result(call, k, &symbol);
    if (status != LEAT_OK)
        return status;
    return give_result(call, symbol, call->program->tree->symbols[symbol]->name, array);
}

leat_status leat_call_take_at(leat_call *call, size_t k, leat_array **array) {
    int symbol;
    leat_status status = leat_call_result_at(call, k, array);
    if (status != LEAT_OK)
        return status;
    find_result(call, k, &symbol);
    le_call_drop_result(call, symbol);
    return LEAT_OK;
}

leat_status leat_call_result_count(leat_call *call, size_t *count) {
    LE_CHECK_CALL(call);
    LE_CHECK_POINTER(count);
    *count = (size_t)call->want_count;
    return LEAT_OK;
}

leat_status leat_call_result_name(leat_call *call, size_t k, const char **name) {
    LE_CHECK_CALL(call);
    LE_CHECK_POINTER(name);
    if (k >= (size_t)call->want_count)
        return le_fail(LEAT_INVALID, "k is %zu, and there are %d results", k, call->want_count);
    *name = call->program->tree->symbols[call->wants[k].symbol]->name;
    return LEAT_OK;
}

/* What was printed, once no work uses memory of the caller's: the inputs were bound as for a run. */
static leat_status give_text(leat_call *call, leat_status status, struct le_text *out, char **text) {
    if (call->device)
        le_call_drain(call);
    le_text_add(out, "%s", "");
    if (status == LEAT_OK && out->failed)
        status = le_fail_out_of_memory(out->capacity);
    if (status != LEAT_OK) {
        le_text_finish(out);
        return status;
    }
    *text = out->at;
    return LEAT_OK;
}

leat_status leat_call_show(leat_call *call, leat_form form, char **text) {
    struct le_text out = {0};
    LE_CHECK_CALL(call);
    LE_CHECK_POINTER(text);
    if ((unsigned)form > LEAT_FORM_KERNEL)
        return le_fail(LEAT_INVALID, "%d is not a form", (int)form);
    if (form >= LEAT_FORM_CUDA)
        return leat_call_show_code(call, form, NULL, text);
    return give_text(call, le_plan_show(call, form, &out), &out, text);
}

leat_status leat_call_show_code(leat_call *call, leat_form form, const char *architecture, char **text) {
    struct le_text out = {0};
    LE_CHECK_CALL(call);
    LE_CHECK_POINTER(text);
    if (form < LEAT_FORM_CUDA || form > LEAT_FORM_KERNEL)
        return le_fail(LEAT_INVALID, "%d is not a form of code", (int)form);
    return give_text(call, le_code_show(call, form, architecture, &out), &out, text);
}

leat_status leat_call_show_pass(leat_call *call, const char *pass, char **text) {
    struct le_text out = {0};
    LE_CHECK_CALL(call);
    LE_CHECK_POINTER(pass);
    LE_CHECK_POINTER(text);
    return give_text(call, le_pass_show(call, pass, &out), &out, text);
}

static leat_status bind_value(leat_call *call, const leat_binding *b) {
    switch (b->kind) {
    case LEAT_VALUE_ARRAY:
        return leat_call_set_array(call, b->name, b->array);
    case LEAT_VALUE_F64:
        return leat_call_set_f64(call, b->name, b->f64);
    case LEAT_VALUE_C128:
        return leat_call_set_c128(call, b->name, b->f64, b->im);
    case LEAT_VALUE_I64:
        return leat_call_set_i64(call, b->name, b->i64);
    }
    return le_fail(LEAT_INVALID, "%d is not a kind of value", (int)b->kind);
}

static leat_status run_once(leat_call *call, const leat_binding *inputs, leat_binding *results) {
    leat_status status = LEAT_OK;
    for (const leat_binding *b = inputs; b && b->name && status == LEAT_OK; b++)
        status = bind_value(call, b);
    for (leat_binding *r = results; r->name && status == LEAT_OK; r++)
        status = leat_call_want(call, r->name, NULL);
    if (status == LEAT_OK)
        status = le_call_run(call, le_context_stream(call->program->ctx, NULL));
    for (leat_binding *r = results; status == LEAT_OK && r->name; r++) {
        r->kind = LEAT_VALUE_ARRAY;
        status = leat_call_result(call, r->name, &r->array);
    }
    return status;
}

leat_status leat_eval(leat_context *ctx, const char *text, const leat_binding *inputs, leat_binding *results) {
    LE_CHECK_CONTEXT(ctx);
    LE_CHECK_POINTER(text);
    LE_CHECK_POINTER(results);
    leat_call *call;
    leat_status status = le_program_cache_take(ctx, text, &call);
    if (status != LEAT_OK)
        return status;
    status = run_once(call, inputs, results);
    le_program_cache_give(call);
    return status;
}
