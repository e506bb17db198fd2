/* Binding the inputs of a call: arrays, numbers, and memory of the caller's. For memory, the call keeps one array per
 * symbol, which is changed in place for each description, so that binding allocates nothing. Such an array never leaves
 * the call: its second reference, in the table, makes a run copy it where it would hand it out. */
#include "run/device/device_run.h"
#include <string.h>

leat_status le_call_find_input(const leat_call *call, const char *name, int *symbol) {
    const struct le_tree *tree = call->program->tree;
    *symbol = le_tree_find(tree, name);
    if (*symbol >= 0 && tree->symbols[*symbol]->is_input)
        return LEAT_OK;
    if (*symbol < 0 && le_program_is_index(call->program, name))
        return le_fail(LEAT_INVALID, "'%s' is an index of this program, not an input; declare it with `in %s`", name,
                       name);
    return le_fail(LEAT_INVALID, "'%s' is not an input of this program", name);
}

/* Until the next run, the cells also hold the array that was bound. */
static void forget_array(leat_call *call, int symbol) {
    struct le_specialised *s = call->specialised;
    if (s)
        le_complex_forget(s, symbol);
    int value = s ? s->ir->first[symbol] : -1;
    if (value < 0)
        return;
    le_array_free(s->cells[value].array);
    s->cells[value].array = NULL;
}

/* An array of another context may be an input if its memory is on the host. A run on the CPU waits for the work on it.
 */
static leat_status check_input(leat_call *call, int symbol, const leat_array *array) {
    const char *name = call->program->tree->symbols[symbol]->name;
    const struct le_device *device = array ? le_array_device(array) : NULL;
    if (!device)
        return LEAT_OK;
    if (call->device)
        return device == call->home.device ? LEAT_OK
                                           : le_fail(LEAT_INVALID, "'%s' is an array of another context", name);
    call->has_foreign_inputs = true;
    if (!le_array_is_deferred(array) && le_array_is_on_host(array))
        return LEAT_OK;
    return le_fail(LEAT_INVALID,
                   "'%s' is in memory that programs on the CPU cannot read; copy it into an array of this "
                   "context",
                   name);
}

static void bind_array(leat_call *call, int symbol, leat_array *array) {
    struct le_bind *b = &call->binds[symbol];
    leat_array *old = b->array;
    forget_array(call, symbol);
    *b =
        (struct le_bind){.kind = array ? LE_BOUND_ARRAY : LE_BOUND_NOT, .array = array ? le_array_retain(array) : NULL};
    le_array_free(old);
    call->steady = false;
}

leat_status le_call_set_array(leat_call *call, int symbol, leat_array *array) {
    if (array && call->binds[symbol].array == array)
        return LEAT_OK;
    leat_status status = check_input(call, symbol, array);
    if (status == LEAT_OK)
        bind_array(call, symbol, array);
    return status;
}

static leat_status set_number(leat_call *call, int symbol, const struct le_bind *bind) {
    struct le_bind *b = &call->binds[symbol];
    if (b->kind == LE_BOUND_NUMBER && b->type == bind->type && b->bits == bind->bits && b->im_bits == bind->im_bits)
        return LEAT_OK;
    forget_array(call, symbol);
    le_array_free(b->array);
    *b = *bind;
    call->steady = false;
    return LEAT_OK;
}

leat_status le_call_set_number(leat_call *call, int symbol, enum le_type type, uint64_t bits) {
    return set_number(call, symbol, &(struct le_bind){.kind = LE_BOUND_NUMBER, .type = type, .bits = bits});
}

leat_status le_call_set_complex(leat_call *call, int symbol, double re, double im) {
    struct le_bind bind = {.kind = LE_BOUND_NUMBER, .type = LE_WEAK_COMPLEX};
    memcpy(&bind.bits, &re, sizeof re);
    memcpy(&bind.im_bits, &im, sizeof im);
    return set_number(call, symbol, &bind);
}

/* ---- memory without an array of the caller's */

/* The array that shows the caller's memory, made when it is first needed. */
static leat_status find_memory(leat_call *call, struct le_call_memory **table, int symbol,
                               struct le_call_memory **memory) {
    size_t count = (size_t)call->program->tree->symbol_count;
    if (!*table)
        *table = le_alloc_zero(count, sizeof **table);
    if (!*table)
        return le_fail_out_of_memory(count * sizeof **table);
    *memory = *table + symbol;
    return (*memory)->array ? LEAT_OK : le_array_new_unplaced(&call->home, &(*memory)->array);
}

void le_call_memory_free(const leat_call *call, struct le_call_memory *table) {
    for (int k = 0; table && k < call->program->tree->symbol_count; k++)
        le_array_free(table[k].array);
    le_free(table);
}

static bool is_same(const leat_description *a, const leat_description *b) {
    size_t size_bytes = a->rank > 0 && a->rank <= LEAT_RANK_MAX ? (size_t)a->rank * sizeof *a->shape : 0;
    return a->data == b->data && a->dtype == b->dtype && a->rank == b->rank && a->read_only == b->read_only &&
           a->memory == b->memory && memcmp(a->shape, b->shape, size_bytes) == 0 &&
           memcmp(a->strides, b->strides, size_bytes) == 0;
}

leat_status le_call_set_memory(leat_call *call, int symbol, const leat_description *description) {
    struct le_call_memory *m;
    leat_status status = find_memory(call, &call->input_memory, symbol, &m);
    if (status != LEAT_OK)
        return status;
    bool is_bound = call->binds[symbol].array == m->array;
    if (is_bound && is_same(&m->description, description)) {
        le_array_forget_order(m->array);
        return LEAT_OK;
    }
    status = le_array_place(m->array, description);
    if (status != LEAT_OK)
        return status;
    m->description = *description;
    call->steady = false;
    if (!is_bound)
        bind_array(call, symbol, m->array);
    return LEAT_OK;
}

void le_call_follow_stream(leat_call *call, const struct le_device_stream *stream) {
    for (int k = 0; call->input_memory && k < call->program->tree->symbol_count; k++)
        if (call->input_memory[k].array && call->binds[k].array == call->input_memory[k].array)
            le_allocation_follow(call->binds[k].array->buffer->allocation, stream);
    for (int k = 0; call->result_memory && k < call->want_count; k++)
        if (call->wants[k].is_memory)
            le_allocation_follow(call->wants[k].target->buffer->allocation, stream);
}

/* The memory of a device that Leat allocated is used again only after its work. */
static void drain(leat_call *call, const leat_array *array) {
    struct le_allocation *allocation = array ? array->buffer->allocation : NULL;
    bool is_callers = allocation && (allocation->kind != LE_MEMORY_DEVICE || !allocation->owned);
    if (is_callers && allocation->device == call->home.device)
        le_allocation_wait(allocation, LE_ACCESS_BOTH);
}

void le_call_drain(leat_call *call) {
    le_errors_save();
    for (int k = 0; k < call->program->tree->symbol_count; k++)
        drain(call, call->binds[k].array);
    for (int k = 0; k < call->want_count; k++)
        drain(call, call->wants[k].target);
    le_errors_restore();
}

/* The checks need the new description in the array, so after a failure the array gets the last one back. */
static leat_status want_memory(leat_call *call, int symbol, struct le_call_memory *m, bool is_wanted,
                               const leat_description *description) {
    leat_status status = le_array_place(m->array, description);
    if (status != LEAT_OK)
        return status;
    status = le_call_want(call, symbol, m->array);
    if (status == LEAT_OK) {
        m->description = *description;
        call->wants[call->want_of[symbol] - 1].is_memory = true;
    } else if (is_wanted) {
        le_array_place(m->array, &m->description); /* cannot fail: it did not before */
    }
    return status;
}

leat_status le_call_want_memory(leat_call *call, int symbol, const leat_description *description) {
    struct le_call_memory *m;
    leat_status status = find_memory(call, &call->result_memory, symbol, &m);
    if (status != LEAT_OK)
        return status;
    int want = call->want_of[symbol] - 1;
    bool is_wanted = want >= 0 && call->wants[want].target == m->array;
    if (!is_wanted || !is_same(&m->description, description))
        return want_memory(call, symbol, m, is_wanted, description);
    le_array_forget_order(m->array);
    return LEAT_OK;
}
