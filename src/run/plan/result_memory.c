/* Results computed directly in the caller's targets: in memory without gaps, with the axes in any order. On a device
 * the order of the axes is part of the plan's key. The CPU's kernels write row by row, so any other order needs a copy.
 */
#include "run/device/device_run.h"
#include <string.h>

/* ---- the order of axes */

/* Whether the array has no gaps but is not row-major. */
static bool is_permuted(const leat_array *array) {
    bool taken[LEAT_RANK_MAX] = {false};
    int64_t dense = 1;
    for (int k = 0; k < array->rank; k++) {
        int d = 0;
        while (d < array->rank && (taken[d] || (array->shape[d] != 1 && array->strides[d] != dense)))
            d++;
        if (d == array->rank)
            return false;
        taken[d] = true;
        dense *= array->shape[d];
    }
    return !le_array_is_contiguous(array);
}

static bool may_be_laid(const struct leat_call *call, const struct le_want *w) {
    return call->device && w->target && is_permuted(w->target) && le_device_can_write(w->target);
}

int le_result_layout_key(const struct leat_call *call, const struct le_want *w, int64_t *out) {
    bool laid = may_be_laid(call, w);
    out[0] = laid;
    if (laid)
        memcpy(out + 1, w->target->strides, (size_t)w->target->rank * sizeof *out);
    return laid ? 1 + w->target->rank : 1;
}

/* Whether one kernel, or one product of matrices, computes the whole value, and no other value takes over its memory. */
static bool is_made_at_once(const struct le_specialised *s, int value, bool or_product) {
    const struct le_stage *maker = &s->ir->stages.at[s->ir->values.at[value].stage];
    bool free = (maker->kind == LE_STAGE_MAP || (or_product && maker->kind == LE_STAGE_CONTRACT)) && maker->base < 0 &&
                maker->pair_count == 0;
    for (int k = 0; k < s->ir->stages.count && free; k++) {
        const struct le_stage *stage = &s->ir->stages.at[k];
        free = stage->dead || stage->base != value;
        for (int q = 0; q < stage->pair_count; q++)
            free = free && stage->pairs[q].source != value;
    }
    return free;
}

/* The parts of a complex result, if kernels can store both in the result's own array. */
static void find_parts(struct leat_call *call, const struct le_want *w) {
    struct le_specialised *s = call->specialised;
    const struct le_symbol *symbol = s->tree->symbols[w->symbol];
    int re = s->ir->last[symbol->id], im = s->ir->last[symbol->imaginary->id];
    const struct le_value *values = s->ir->values.at;
    if (re < 0 || im < 0 || values[re].stage < 0 || values[im].stage < 0 || values[re].rank == 0 ||
        values[re].type != values[im].type || !is_made_at_once(s, re, true) || !is_made_at_once(s, im, true))
        return;
    s->plan->other_part[re] = im;
    s->plan->other_part[im] = re;
    s->plan->result_layouts[re] = LE_NEW(&s->plan->arena, struct le_layout);
    s->plan->result_layouts[im] = LE_NEW(&s->plan->arena, struct le_layout);
}

void le_result_spread(struct le_plan *plan, int value, int rank) {
    struct le_layout *laid = (struct le_layout *)(uintptr_t)plan->result_layouts[value];
    if (plan->other_part[value] < 0)
        return;
    *laid = plan->layouts[value];
    for (int d = 0; d < rank; d++)
        laid->strides[d] *= 2;
}

void le_find_result_layouts(struct leat_call *call) {
    struct le_specialised *s = call->specialised;
    struct le_plan *plan = s->plan;
    plan->result_layouts = LE_NEW_ARRAY(&plan->arena, s->ir->values.count, const struct le_layout *);
    plan->other_part = LE_NEW_ARRAY(&plan->arena, s->ir->values.count, int);
    for (int k = 0; k < s->ir->values.count; k++)
        plan->other_part[k] = -1;
    for (int k = 0; k < call->want_count && !plan->has_blocks && call->device; k++)
        if (le_is_complex_result(s, call->wants[k].symbol))
            find_parts(call, &call->wants[k]);
    for (int k = 0; k < call->want_count && !plan->has_blocks; k++) {
        const struct le_want *w = &call->wants[k];
        int value = s->ir->last[w->symbol];
        if (value < 0 || s->ir->values.at[value].stage < 0 || le_is_complex_result(s, w->symbol) ||
            !may_be_laid(call, w) || !is_made_at_once(s, value, false))
            continue;
        struct le_layout *laid = LE_NEW(&plan->arena, struct le_layout);
        memcpy(laid->shape, w->target->shape, sizeof laid->shape);
        memcpy(laid->strides, w->target->strides, sizeof laid->strides);
        plan->result_layouts[value] = laid;
    }
}

const struct le_layout *le_result_layout(const struct le_plan *plan, int value, int rank) {
    const struct le_layout *laid = plan->result_layouts[value];
    size_t size_bytes = (size_t)rank * sizeof *laid->shape;
    return laid && memcmp(laid->shape, plan->layouts[value].shape, size_bytes) == 0 ? laid : NULL;
}

/* ---- memory */

leat_status le_result_array_new(struct leat_call *call, enum le_type type, int rank, const struct le_layout *laid,
                                leat_array **array) {
    int64_t shape[LEAT_RANK_MAX];
    int axes[LEAT_RANK_MAX];
    leat_array *dense;
    for (int k = 0; k < rank; k++) { /* the axis goes behind those with larger strides */
        axes[k] = 0;
        for (int q = 0; q < rank; q++)
            axes[k] += laid->strides[q] > laid->strides[k] || (laid->strides[q] == laid->strides[k] && q < k);
        shape[axes[k]] = laid->shape[k];
    }
    leat_status status = le_array_new_at(&call->home, LEAT_MEMORY_DEVICE, (leat_dtype)type, rank, shape, false, &dense);
    if (status != LEAT_OK)
        return status;
    status = le_array_transpose(dense, axes, array);
    le_array_free(dense);
    return status;
}

static leat_status view_of(leat_array *target, const int64_t *shape, leat_array **view) {
    if (le_array_is_contiguous(target))
        return le_array_reshape(target, target->rank, shape, view);
    return le_array_transpose(target, (const int[LEAT_RANK_MAX]){0, 1, 2, 3, 4, 5, 6, 7}, view);
}

/* Other targets never share memory with it. */
bool le_result_is_bound(const struct leat_call *call, const leat_array *target) {
    for (int q = 0; q < call->program->tree->symbol_count; q++)
        if (call->binds[q].kind == LE_BOUND_ARRAY && le_array_overlaps(call->binds[q].array, target))
            return true;
    return false;
}

/* The value to compute directly in the target of a want; -1: none. */
static int find_placed(const struct leat_call *call, int want) {
    const struct le_specialised *s = call->specialised;
    const struct le_want *w = &call->wants[want];
    int value = s->ir->last[w->symbol];
    if (!w->target || w->target->rank == 0 || value < 0 || le_is_complex_result(s, w->symbol) ||
        (call->device && !le_device_can_write(w->target)))
        return -1;
    if (!le_array_is_contiguous(w->target) && !le_result_layout(s->plan, value, w->target->rank))
        return -1;
    for (int base = value; base >= 0; base = le_storage_base(s->plan, value))
        value = base;
    if (!le_maker_of(s->plan, value) || le_result_is_bound(call, w->target))
        return -1;
    const int64_t *shape = s->plan->layouts[value].shape;
    const struct le_cell *cell = &s->cells[value];
    bool fits = memcmp(shape, w->target->shape, (size_t)w->target->rank * sizeof *shape) == 0;
    return fits && !cell->array && !cell->wanted ? value : -1;
}

/* The scalar that kernels write directly into its result array; -1: none. A scalar that loops compute repeatedly is
 * copied at the end instead. */
static int find_number(const struct leat_call *call, int want) {
    const struct le_specialised *s = call->specialised;
    const struct le_want *w = &call->wants[want];
    int value = s->ir->last[w->symbol];
    bool may_be = call->device && value >= 0 && s->ir->values.at[value].stage >= 0 &&
                  s->ir->values.at[value].rank == 0 && !s->plan->has_blocks && !le_is_complex_result(s, w->symbol);
    bool fits = !w->target || (le_device_can_write(w->target) && !le_result_is_bound(call, w->target));
    return may_be && fits ? value : -1;
}

const leat_array *le_result_scalar(const struct leat_call *call, int value) {
    for (int k = 0; k < call->want_count && call->wants_placed; k++)
        if (call->wants[k].placed_scalar == value)
            return call->wants[k].target ? call->wants[k].target : call->wants[k].result;
    return NULL;
}

/* In a steady call the placement of the last run is used again. */
void le_result_place(struct leat_call *call, int want) {
    const struct le_specialised *s = call->specialised;
    struct le_want *w = &call->wants[want];
    if (!call->steady) {
        le_array_free(w->view);
        w->view = NULL;
        w->placed_array = find_placed(call, want);
        w->placed_scalar = find_number(call, want);
    }
    if (w->placed_scalar >= 0 && !w->target && le_new_result(call, w, w->placed_scalar) != LEAT_OK)
        le_errors_clear();
    if (w->placed_array < 0)
        return;
    struct le_cell *cell = &s->cells[w->placed_array];
    cell->wanted = w->view;
    w->view = NULL;
    /* a view, so that only the cells hold references to it; without memory for the view the result is copied */
    if (!cell->wanted && view_of(w->target, s->plan->layouts[w->placed_array].shape, &cell->wanted) != LEAT_OK)
        le_errors_clear();
}

void le_result_keep_views(struct leat_call *call) {
    const struct le_specialised *s = call->specialised;
    for (int k = 0; k < call->want_count && call->wants_placed; k++) {
        struct le_want *w = &call->wants[k];
        if (w->placed_array < 0)
            continue;
        struct le_cell *cell = &s->cells[s->ir->last[w->symbol]];
        leat_array *view = cell->array;
        if (!view || view->data != w->target->data || view->buffer != w->target->buffer ||
            atomic_load_explicit(&view->refcount, memory_order_acquire) != 1)
            continue;
        w->view = view;
        cell->array = NULL;
    }
}
