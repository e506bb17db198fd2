/* Specialises a program for the bound types and ranks, and checks whether its IR and its plan still fit the bindings.
 */
#include "run/device/device_run.h"
#include <string.h>

static void describe_inputs(struct leat_call *call, struct le_specialised *s) {
    const struct le_tree *tree = call->program->tree;
    s->inputs = LE_NEW_ARRAY(&s->arena, tree->symbol_count, struct le_input);
    for (int k = 0; k < tree->symbol_count; k++) {
        const struct le_bind *b = &call->binds[k];
        if (b->kind == LE_BOUND_ARRAY)
            s->inputs[k] = (struct le_input){true, b->array->rank > 0, (enum le_type)b->array->dtype, b->array->rank};
        else if (b->kind == LE_BOUND_NUMBER)
            s->inputs[k] = (struct le_input){true, false, b->type, 0};
    }
}

/* Lists what the program over real numbers must compute: the requested symbols and their imaginary parts. */
static void list_real(struct le_specialised *s) {
    s->real_wanted = LE_NEW_ARRAY(&s->arena, 2 * s->wanted_count, int);
    s->real_want_of = LE_NEW_ARRAY(&s->arena, 2 * s->wanted_count, int);
    for (int k = 0; k < s->wanted_count; k++) {
        const struct le_symbol *imaginary = s->tree->symbols[s->wanted[k]]->imaginary;
        s->real_want_of[s->real_wanted_count] = k;
        s->real_wanted[s->real_wanted_count++] = s->wanted[k];
        if (!imaginary)
            continue;
        s->real_want_of[s->real_wanted_count] = k;
        s->real_wanted[s->real_wanted_count++] = imaginary->id;
    }
    if (s->tree != s->typed)
        s->bound = LE_NEW_ARRAY(&s->arena, s->tree->symbol_count, struct le_bind);
}

static leat_status specialise(struct leat_call *call, struct le_specialised *s) {
    if (setjmp(s->arena.failure))
        return le_fail_out_of_memory(0);
    s->wanted = LE_NEW_ARRAY(&s->arena, call->want_count, int);
    s->wanted_count = call->want_count;
    for (int k = 0; k < call->want_count; k++)
        s->wanted[k] = call->wants[k].symbol;
    describe_inputs(call, s);
    le_errors_clear();
    struct le_tree *typed = le_specialise(&s->arena, call->program->tree, s->inputs);
    s->typed = typed;
    s->real_inputs = s->inputs;
    s->tree = typed ? le_complex_split(&s->arena, typed, &s->real_inputs) : NULL;
    if (s->tree)
        list_real(s);
    if (s->tree)
        s->ir = le_lower(&s->arena, s->tree, s->real_inputs, s->real_wanted, s->real_wanted_count);
    if (!s->ir)
        return le_error_at(0) ? le_error_at(0)->code : LEAT_INTERNAL;
    s->ir->portable = call->program->ctx->portable_bits;
    s->ir->for_device = call->device;
    leat_status status = le_passes_run(s->ir);
    if (status != LEAT_OK)
        return status;
    int values = s->ir->values.count;
    le_kernel_work_init(&s->generating, &s->arena);
    s->cells = LE_NEW_ARRAY(&s->arena, values, struct le_cell);
    s->buffers = LE_NEW_ARRAY(&s->arena, values, void *);
    s->faults = LE_NEW_ARRAY(&s->arena, le_pool_threads(call->program->ctx->threads), struct le_fault);
    return le_device_specialise(call, s);
}

static bool same_inputs(const struct leat_call *call) {
    const struct le_specialised *s = call->specialised;
    for (int k = 0; k < call->program->tree->symbol_count; k++) {
        const struct le_bind *b = &call->binds[k];
        const struct le_input *i = &s->inputs[k];
        if (i->bound != (b->kind != LE_BOUND_NOT))
            return false;
        if (b->kind == LE_BOUND_ARRAY && (i->type != (enum le_type)b->array->dtype || i->rank != b->array->rank ||
                                          i->is_array != (b->array->rank > 0)))
            return false;
        if (b->kind == LE_BOUND_NUMBER && (i->type != b->type || i->is_array))
            return false;
    }
    return true;
}

static bool same_wants(const struct leat_call *call) {
    const struct le_specialised *s = call->specialised;
    bool same = s->wanted_count == call->want_count;
    for (int k = 0; k < call->want_count && same; k++)
        same = s->wanted[k] == call->wants[k].symbol;
    return same;
}

static bool all_bound(const struct leat_call *call) {
    const struct le_tree *tree = call->program->tree;
    for (int k = 0; k < tree->symbol_count; k++)
        if (tree->symbols[k]->is_input && !tree->symbols[k]->optional && call->binds[k].kind == LE_BOUND_NOT)
            return false;
    return true;
}

static leat_status find_missing(struct leat_call *call, struct le_specialised *s) {
    if (setjmp(s->arena.failure))
        return le_fail_out_of_memory(0);
    describe_inputs(call, s);
    le_errors_clear();
    bool none = le_specialise(&s->arena, call->program->tree, s->inputs) || !le_error_at(0);
    return none ? LEAT_MISSING : le_error_at(0)->code;
}

/* Reports the missing inputs; keeps the last specialised program. */
static leat_status report_missing(struct leat_call *call) {
    struct le_specialised s = {0};
    le_arena_init(&s.arena);
    leat_status status = find_missing(call, &s);
    le_program_source(call->program);
    le_arena_finish(&s.arena);
    return status;
}

leat_status le_specialise_call(struct leat_call *call) {
    if (!all_bound(call))
        return report_missing(call);
    if (call->specialised && !call->stale && same_inputs(call) && same_wants(call))
        return LEAT_OK;
    le_specialised_free(call->specialised);
    call->specialised = NULL;
    struct le_specialised *s = le_alloc_zero(1, sizeof *s);
    if (!s)
        return le_fail_out_of_memory(sizeof *s);
    struct le_span span;
    le_arena_init(&s->arena);
    le_span_begin(&span, call->program->ctx->ledger, LEAT_COST_COMPILE, call->program->name,
                  "first use with these types");
    leat_status status = specialise(call, s);
    le_span_end(&span, 0, 0);
    if (status != LEAT_OK) {
        le_program_source(call->program);
        le_specialised_free(s);
        return status;
    }
    for (int k = 0; k < s->ir->notes.count; k++)
        le_context_note(call->program->ctx, "line %d: %s", s->ir->notes.at[k].line, s->ir->notes.at[k].text);
    call->specialised = s;
    call->stale = false;
    return LEAT_OK;
}

void le_plan_free(struct le_plan *plan) {
    if (!plan)
        return;
    for (int k = 0; k < plan->action_count; k++)
        le_device_work_finish(&plan->actions[k]);
    for (int k = 0; k < plan->group_count; k++)
        if (plan->groups[k].arena != &plan->arena)
            le_arena_finish(plan->groups[k].arena);
    for (int k = 0; k < LE_HOST_SCALAR_TABLE; k++)
        for (struct le_host_scalar *n = plan->host_scalars[k]; n; n = n->next)
            le_arena_finish(&n->arena);
    le_arena_finish(&plan->arena);
    le_free(plan);
}

void le_cells_clear(struct le_specialised *s) {
    for (int k = 0; s->ir && s->cells && k < s->ir->values.count; k++) {
        le_array_free(s->cells[k].array);
        le_array_free(s->cells[k].wanted);
        s->cells[k] = (struct le_cell){0};
    }
}

/* Releases the computed arrays; the caller's inputs stay bound. */
void le_cells_clear_computed(struct le_specialised *s) {
    for (int k = 0; k < s->ir->values.count; k++) {
        s->cells[k].on_device = (struct le_device_scalar){0};
        if (s->ir->values.at[k].stage < 0)
            continue;
        le_array_free(s->cells[k].array);
        le_array_free(s->cells[k].wanted);
        s->cells[k].array = s->cells[k].wanted = NULL;
        s->cells[k].ready = false;
    }
}

void le_specialised_free(struct le_specialised *s) {
    if (!s)
        return;
    le_complex_unbind(s);
    le_cells_clear(s);
    le_storage_drop_spares(s);
    le_plan_free(s->plan);
    le_free(s->work);
    le_free(s->extents);
    le_free(s->scratch);
    le_arena_finish(&s->arena);
    le_free(s);
}

/* ---- the key of a plan */

/* The bits of a number that is bound as an array. If it cannot be fetched, returns other bits, so that the program is
 * planned again. */
static uint64_t bound_bits(struct leat_call *call, int symbol) {
    const struct le_specialised *s = call->specialised;
    if (call->device && le_device_fetch(call, s->ir->first[symbol]) != LEAT_OK)
        return ~s->cells[s->ir->first[symbol]].scalar;
    return s->cells[s->ir->first[symbol]].scalar;
}

/* A walk over the numbers of the key: compares them with those that are kept, or stores as many as there is room for.
 */
struct key {
    int64_t *numbers;
    int room, count;
    bool stores, same;
};

static void key_number(struct key *key, int64_t number) {
    if (key->count < key->room && key->stores)
        key->numbers[key->count] = number;
    else
        key->same &= key->count < key->room && key->numbers[key->count] == number;
    key->count++;
}

static void key_array(struct leat_call *call, const leat_array *array, struct key *key) {
    for (int d = 0; d < array->rank; d++) {
        key_number(key, array->shape[d]);
        key_number(key, array->strides[d]);
    }
    if (call->device)
        key_number(key, le_device_address(array) % 16 == 0);
}

static void key_of(struct leat_call *call, struct key *key) {
    const struct le_specialised *s = call->specialised;
    int64_t layout[1 + LEAT_RANK_MAX];
    for (int k = 0; k < s->tree->symbol_count; k++) {
        const struct le_bind *b = &s->bound[k];
        bool keyed = s->plan && s->plan->is_key[k];
        if (b->kind == LE_BOUND_ARRAY)
            key_array(call, b->array, key);
        if (b->kind == LE_BOUND_NUMBER && keyed)
            key_number(key, (int64_t)b->bits);
        if (b->kind == LE_BOUND_ARRAY && b->array->rank == 0 && keyed)
            key_number(key, (int64_t)bound_bits(call, k));
    }
    for (int k = 0; k < call->want_count; k++)
        for (int d = 0, count = le_result_layout_key(call, &call->wants[k], layout); d < count; d++)
            key_number(key, layout[d]);
}

bool le_same_extents(struct leat_call *call) {
    const struct le_specialised *s = call->specialised;
    struct key key = {.numbers = s->extents, .room = s->extent_count, .same = true};
    key_of(call, &key);
    return key.same && key.count == key.room;
}

leat_status le_keep_extents(struct leat_call *call) {
    struct le_specialised *s = call->specialised;
    struct key counted = {.stores = true};
    key_of(call, &counted);
    size_t size_bytes = (size_t)counted.count * sizeof *s->extents;
    struct key kept = {.numbers = le_alloc(size_bytes), .room = counted.count, .stores = true};
    if (!kept.numbers)
        return le_fail_out_of_memory(size_bytes);
    key_of(call, &kept);
    le_free(s->extents);
    s->extents = kept.numbers;
    s->extent_count = kept.count;
    return LEAT_OK;
}
