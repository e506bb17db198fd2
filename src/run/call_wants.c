/* The results that a call asks for, and the arrays that they are written into. */
#include "run/call.h"
#include <stdio.h>
#include <string.h>

/* The caller has made room for it. */
static void add_want(leat_call *call, int symbol, leat_array *target) {
    call->wants[call->want_count++] =
        (struct le_want){.symbol = symbol, .target = target ? le_array_retain(target) : NULL, .is_fresh = true};
    call->want_of[symbol] = call->want_count;
}

leat_status le_call_default_wants(leat_call *call) {
    const leat_program *p = call->program;
    call->want_count = 0;
    call->default_wants = true;
    if (p->result_count > call->want_capacity) {
        struct le_want *more = le_realloc(call->wants, (size_t)p->result_count * sizeof *more);
        if (!more)
            return le_fail_out_of_memory((size_t)p->result_count * sizeof *more);
        call->wants = more;
        call->want_capacity = p->result_count;
    }
    for (int k = 0; k < p->result_count; k++)
        add_want(call, p->results[k], NULL);
    return LEAT_OK;
}

void le_call_drop_wants(leat_call *call) {
    le_call_drop_results(call);
    call->steady = false;
    for (int k = 0; k < call->want_count; k++) {
        le_array_free(call->wants[k].target);
        le_array_free(call->wants[k].view);
        call->want_of[call->wants[k].symbol] = 0;
    }
    call->want_count = 0;
}

void le_call_drop_result(leat_call *call, int symbol) {
    struct le_want *want = &call->wants[call->want_of[symbol] - 1];
    le_array_free(want->result);
    want->result = NULL;
}

void le_call_want_clear(leat_call *call) {
    le_call_drop_wants(call);
    le_call_default_wants(call); /* cannot fail: le_call_new has allocated the room */
}

static leat_status check_target(const leat_call *call, const char *name, const leat_array *array) {
    if (!le_context_has(call->program->ctx, array))
        return le_fail(LEAT_INVALID, "cannot write '%s' into an array of another context", name);
    if (array->read_only)
        return le_fail(LEAT_INVALID, "cannot write '%s' into a read-only array", name);
    if (le_array_repeats(array))
        return le_fail(LEAT_INVALID, "cannot write '%s' into an array with overlapping elements", name);
    return LEAT_OK;
}

/* Two results that share memory would overwrite each other. */
static leat_status check_overlap(const leat_call *call, int symbol, const leat_array *array, bool only_fresh) {
    struct le_symbol *const *symbols = call->program->tree->symbols;
    for (int k = 0; k < call->want_count; k++) {
        const struct le_want *w = &call->wants[k];
        if (w->symbol != symbol && w->target && (w->is_fresh || !only_fresh) && le_array_shares(w->target, array))
            return le_fail_at(LEAT_INVALID, (struct le_location){0}, "use a separate array for each result",
                              "cannot write '%s' into an array that shares memory with the array for '%s'",
                              symbols[symbol]->name, symbols[w->symbol]->name);
    }
    return LEAT_OK;
}

static leat_status refuse_want(const leat_program *program, const char *name) {
    char advice[200] = "the names are";
    size_t used = strlen(advice);
    if (le_program_is_index(program, name))
        return le_fail(LEAT_INVALID, "'%s' is an index, not a result", name);
    for (int k = program->tree->symbol_count - 1; k >= 0; k--) {
        const struct le_symbol *symbol = program->tree->symbols[k];
        bool has_name = symbol->name[0] && !symbol->in_block;
        if (has_name && used + strlen(symbol->name) + sizeof ", ..." < sizeof advice)
            used += (size_t)snprintf(advice + used, sizeof advice - used, "%s %s",
                                     used > sizeof "the names are" ? "," : "", symbol->name);
    }
    return le_fail_at(LEAT_INVALID, (struct le_location){0}, advice, "'%s' is not a result of this program", name);
}

leat_status le_call_find_want(const leat_call *call, const char *name, int *symbol) {
    *symbol = le_tree_find(call->program->tree, name);
    return *symbol < 0 ? refuse_want(call->program, name) : LEAT_OK;
}

/* Whether the call wants the result already, without a target, and the request drops no default result. */
static bool is_wanted_anew(const leat_call *call, int symbol) {
    const struct le_want *want = le_call_result(call, symbol);
    return want && !want->target && (!call->default_wants || call->want_count == 1);
}

leat_status le_call_want(leat_call *call, int symbol, leat_array *array) {
    if (!array && is_wanted_anew(call, symbol)) {
        call->default_wants = false;
        return LEAT_OK;
    }
    leat_status status = array ? check_target(call, call->program->tree->symbols[symbol]->name, array) : LEAT_OK;
    if (!status && array)
        status = check_overlap(call, symbol, array, true);
    if (status)
        return status;
    call->steady = call->targets_are_disjoint = false;
    if (call->default_wants) {
        le_call_drop_wants(call);
        call->default_wants = false;
    }
    if (call->want_of[symbol] > 0) {
        struct le_want *known = &call->wants[call->want_of[symbol] - 1];
        leat_array *old = known->target;
        known->is_fresh = true;
        known->is_memory = false;
        known->target = array ? le_array_retain(array) : NULL;
        le_array_free(old);
        le_array_free(known->view);
        known->view = NULL;
        return LEAT_OK;
    }
    if (call->want_count == call->want_capacity) {
        int room = call->want_capacity * 2 + 4;
        struct le_want *more = le_realloc(call->wants, (size_t)room * sizeof *more);
        if (!more)
            return le_fail_out_of_memory((size_t)room * sizeof *more);
        call->wants = more;
        call->want_capacity = room;
    }
    add_want(call, symbol, array);
    return LEAT_OK;
}

/* The caller may exchange targets one by one between two runs, so only now must they all be disjoint. */
leat_status le_call_check_disjoint(leat_call *call) {
    leat_status status = LEAT_OK;
    for (int k = 0; k < call->want_count && !call->targets_are_disjoint; k++) {
        const struct le_want *w = &call->wants[k];
        call->wants[k].is_fresh = false;
        if (!status && w->target)
            status = check_overlap(call, w->symbol, w->target, false);
    }
    call->targets_are_disjoint = status == LEAT_OK;
    return status;
}

const struct le_want *le_call_result(const leat_call *call, int symbol) {
    int number = symbol >= 0 ? call->want_of[symbol] : 0;
    return number > 0 ? &call->wants[number - 1] : NULL;
}
