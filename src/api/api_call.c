/* leat.h: calls, and leat_eval. */
#include "api/api_check.h"
#include "base/text.h"
#include "run/program_cache.h"
#include "run/show_code.h"
#include <string.h>

#define LE_CHECK_CALL(call)                                                                                            \
    do {                                                                                                               \
        LE_CHECK_POINTER(call);                                                                                        \
        LE_CHECK_CONTEXT((call)->program->ctx);                                                                        \
    } while (0)

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

leat_status leat_call_set_array(leat_call *call, const char *name, leat_array *array) {
    LE_CHECK_CALL(call);
    LE_CHECK_POINTER(name);
    if (array)
        LE_CHECK_BOUND_ARRAY(array);
    return le_call_set_array(call, name, array);
}

static leat_status set_number(leat_call *call, const char *name, enum le_type type, const void *value, size_t size) {
    uint64_t bits = 0;
    LE_CHECK_CALL(call);
    LE_CHECK_POINTER(name);
    memcpy(&bits, value, size);
    return le_call_set_number(call, name, type, bits);
}

leat_status leat_call_set_f64(leat_call *call, const char *name, double value) {
    return set_number(call, name, LE_WEAK_FLOAT, &value, sizeof value);
}

leat_status leat_call_set_i64(leat_call *call, const char *name, int64_t value) {
    return set_number(call, name, LE_WEAK_INT, &value, sizeof value);
}

/* A value up to 2^63 - 1 is a weak integer, like an i64. A larger one only fits u64 and is a strong u64. */
leat_status leat_call_set_u64(leat_call *call, const char *name, uint64_t value) {
    return set_number(call, name, value > INT64_MAX ? LE_U64 : LE_WEAK_INT, &value, sizeof value);
}

leat_status leat_call_set_bool(leat_call *call, const char *name, bool value) {
    uint8_t byte = value;
    return set_number(call, name, LE_BOOL, &byte, sizeof byte);
}

leat_status leat_call_set_c128(leat_call *call, const char *name, double re, double im) {
    LE_CHECK_CALL(call);
    LE_CHECK_POINTER(name);
    return le_call_set_complex(call, name, re, im);
}

leat_status leat_call_want(leat_call *call, const char *name, leat_array *array) {
    LE_CHECK_CALL(call);
    LE_CHECK_POINTER(name);
    if (array)
        LE_CHECK_BOUND_ARRAY(array);
    return le_call_want(call, name, array);
}

leat_status leat_call_want_clear(leat_call *call) {
    LE_CHECK_CALL(call);
    le_call_want_clear(call);
    return LEAT_OK;
}

leat_status leat_call_run(leat_call *call, leat_stream *stream, leat_ticket *ticket) {
    LE_CHECK_CALL(call);
    leat_context *ctx = call->program->ctx;
    if (stream && stream->ctx != ctx)
        return le_fail(LEAT_INVALID, "the stream is of another context");
    leat_status status = le_call_run(call, le_context_stream(ctx, stream));
    if (status || !ticket)
        return status;
    le_order_end(le_context_stream(ctx, stream), NULL, 0, true);
    *ticket = le_context_ticket(ctx, stream);
    return LEAT_OK;
}

leat_status leat_call_result(leat_call *call, const char *name, leat_array **array) {
    LE_CHECK_CALL(call);
    LE_CHECK_POINTER(name);
    LE_CHECK_POINTER(array);
    const struct le_want *w = le_call_result(call, name);
    if (!w)
        return le_fail(LEAT_INVALID, "'%s' is not a result of this call: request it with leat_call_want", name);
    if (!w->result)
        return le_fail(LEAT_INVALID, "'%s' has no value: the call has not run, or its last run failed", name);
    *array = le_array_retain(w->result);
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

static leat_status give_text(leat_status status, struct le_text *out, char **text) {
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
    if ((unsigned)form > LEAT_FORM_SASS)
        return le_fail(LEAT_INVALID, "%d is not a form", (int)form);
    if (form >= LEAT_FORM_CUDA)
        return leat_call_show_code(call, form, NULL, text);
    return give_text(le_plan_show(call, form, &out), &out, text);
}

leat_status leat_call_show_code(leat_call *call, leat_form form, const char *architecture, char **text) {
    struct le_text out = {0};
    LE_CHECK_CALL(call);
    LE_CHECK_POINTER(text);
    if (form < LEAT_FORM_CUDA || form > LEAT_FORM_SASS)
        return le_fail(LEAT_INVALID, "%d is not a form of code", (int)form);
    return give_text(le_code_show(call, form, architecture, &out), &out, text);
}

leat_status leat_call_show_pass(leat_call *call, const char *pass, char **text) {
    struct le_text out = {0};
    LE_CHECK_CALL(call);
    LE_CHECK_POINTER(pass);
    LE_CHECK_POINTER(text);
    return give_text(le_pass_show(call, pass, &out), &out, text);
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
        status = le_call_want(call, r->name, NULL);
    if (status == LEAT_OK)
        status = le_call_run(call, le_context_stream(call->program->ctx, NULL));
    for (leat_binding *r = results; status == LEAT_OK && r->name; r++) {
        r->kind = LEAT_VALUE_ARRAY;
        r->array = le_array_retain(le_call_result(call, r->name)->result);
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
