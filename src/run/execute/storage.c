/* Memory for values while a plan runs: new, taken over from the base if nothing else holds it, or shared by a MOVE.
 * Arrays that die in a loop become spares. The next new array of the same size takes one, so that a loop does not
 * allocate.
 *
 * An array belongs to the cells that hold it. The caller's arrays have references besides the cells', so they are never
 * written to. If a result is computed in the caller's target, the cell holds a view of the target instead. */
#include "run/device/device_run.h"
#include <string.h>

int le_storage_base(const struct le_plan *plan, int value) {
    const struct le_action *a = le_maker_of(plan, value);
    if (!a)
        return -1;
    for (int k = 0; a->storages && k < a->stage->pair_count; k++) /* storages NULL: not planned yet */
        if (a->stage->pairs[k].target == value)
            return a->storages[k] == LE_STORAGE_BASE ? a->stage->pairs[k].source : -1;
    return a->storage == LE_STORAGE_BASE || a->storage == LE_STORAGE_PART ? a->stage->base : -1;
}

/* ---- spares */

void le_storage_drop_spares(struct le_specialised *s) {
    for (; s->spare_count > 0; s->spare_count--)
        le_array_free(s->spares[s->spare_count - 1]);
    le_array_free(s->part); /* of an action that failed */
    s->part = NULL;
}

static bool is_ours_alone(const leat_array *array) {
    return atomic_load_explicit(&((leat_array *)(uintptr_t)array)->refcount, memory_order_acquire) == 1;
}

static void keep_spare(struct le_specialised *s, leat_array *array) {
    if (!is_ours_alone(array) ||
        (array->buffer->kind != LE_BUFFER_POOL && array->buffer->kind != LE_BUFFER_ALLOCATION) ||
        atomic_load_explicit(&array->buffer->refcount, memory_order_acquire) != 1) {
        le_array_free(array);
        return;
    }
    if (s->spare_count == LE_SPARES_MAX) {
        le_array_free(s->spares[0]);
        memmove(s->spares, s->spares + 1, sizeof s->spares - sizeof s->spares[0]);
        s->spare_count--;
    }
    s->spares[s->spare_count++] = array;
}

/* The last one that died is the most likely to be in a cache. */
static leat_array *take_spare(struct le_specialised *s, enum le_type type, int rank, const int64_t *shape) {
    size_t bytes = le_type_size(type);
    for (int d = 0; d < rank; d++)
        if (!le_mul_size(bytes, (size_t)shape[d], &bytes))
            return NULL;
    for (int k = s->spare_count - 1; k >= 0; k--) {
        leat_array *array = s->spares[k];
        if (le_array_bytes(array) != bytes)
            continue;
        memmove(s->spares + k, s->spares + k + 1, (size_t)(s->spare_count - k - 1) * sizeof array);
        s->spare_count--;
        le_array_renew(array, (leat_dtype)type, rank, shape);
        return array;
    }
    return NULL;
}

static void drop_array(struct le_specialised *s, int value, bool in_loop) {
    leat_array *array = s->cells[value].array;
    s->cells[value].array = NULL;
    if (array && in_loop)
        keep_spare(s, array);
    else
        le_array_free(array);
}

void le_storage_drop(struct leat_call *call, struct le_dying_values deaths, bool in_loop) {
    struct le_specialised *s = call->specialised;
    for (int k = 0; k < deaths.count; k++)
        drop_array(s, s->plan->deaths.at[deaths.first + k], in_loop);
}

/* ---- new arrays */

/* Uninitialized memory, poisoned in debug builds: with NaNs, or -1 for integers. */
static void poison(const struct leat_call *call, const leat_array *array) {
#ifdef NDEBUG
    (void)call;
    (void)array;
#else
    if (!call->device)
        memset(array->data, 0xff, le_array_bytes(array));
#endif
}

static leat_status new_at(struct leat_call *call, const struct le_value *v, const int64_t *shape, bool zero,
                          leat_array **array) {
    const struct le_layout *laid = le_result_layout(call->specialised->plan, v->id, v->rank);
    if (call->specialised->plan->other_part[v->id] >= 0)
        return le_complex_part_new(call, v->id, array);
    leat_status status =
        laid ? le_result_array_new(call, v->type, v->rank, laid, array)
             : le_array_new_at(&call->home, LEAT_MEMORY_DEVICE, (leat_dtype)v->type, v->rank, shape, zero, array);
    if (status != LEAT_OUT_OF_MEMORY || v->symbol < 0 || v->symbol >= call->specialised->tree->symbol_count)
        return status;
    const char *name = call->specialised->tree->symbols[v->symbol]->name;
    return name && *name ? le_fail_prefix(status, "'%s'", name) : status;
}

static leat_status allocate_array(struct leat_call *call, const struct le_value *v, const int64_t *shape, bool zero,
                                  leat_array **array) {
    struct le_specialised *s = call->specialised;
    struct le_span span;
    le_span_begin(&span, call->program->ctx->ledger, LEAT_COST_ALLOCATE, v->name, "");
    leat_status status = new_at(call, v, shape, zero, array);
    if (status == LEAT_OUT_OF_MEMORY && s->spare_count > 0) {
        le_storage_drop_spares(s);
        le_errors_clear();
        status = new_at(call, v, shape, zero, array);
    }
    le_span_end(&span, status == LEAT_OK ? le_array_bytes(*array) : 0, 0);
    if (status == LEAT_OK && !zero)
        poison(call, *array);
    return status;
}

static leat_status make_zero(struct leat_call *call, const leat_array *array) {
    if (call->device)
        return le_device_fill_zero(call->home.stream, array->buffer->allocation, le_array_bytes(array));
    memset(array->data, 0, le_array_bytes(array));
    return LEAT_OK;
}

static leat_status new_array(struct leat_call *call, int value, const int64_t *shape, bool zero) {
    struct le_specialised *s = call->specialised;
    const struct le_value *v = &s->ir->values.at[value];
    struct le_cell *cell = &s->cells[value];
    leat_array *array = cell->wanted;
    cell->wanted = NULL;
    if (!array && !le_result_layout(s->plan, value, v->rank) && (array = take_spare(s, v->type, v->rank, shape)))
        poison(call, array);
    bool had = array != NULL;
    leat_status status = array ? LEAT_OK : allocate_array(call, v, shape, zero, &array);
    if (status != LEAT_OK)
        return status;
    le_array_free(cell->array);
    cell->array = array;
    return had && zero ? make_zero(call, array) : LEAT_OK;
}

/* ---- parts */

/* Allocates a part as large as the target, so that the same kernel can write to it. Elements that are not written are
 * not touched. */
static leat_status new_part(struct leat_call *call, int target) {
    struct le_specialised *s = call->specialised;
    const struct le_value *v = &s->ir->values.at[target];
    const int64_t *shape = s->plan->layouts[target].shape;
    s->part = take_spare(s, v->type, v->rank, shape);
    if (!s->part)
        return allocate_array(call, v, shape, false, &s->part);
    poison(call, s->part);
    return LEAT_OK;
}

/* *end is unchanged if there is no node; *found becomes false if the evaluation reads out of range. */
static leat_status find_end(struct leat_call *call, struct le_node *node, int64_t *end, bool *found) {
    uint64_t bits = (uint64_t)*end;
    bool any = true;
    leat_status status = node ? le_host_scalar_try(call, node, &bits, &any) : LEAT_OK;
    *end = (int64_t)bits;
    *found &= any;
    return status;
}

/* Finds the box that the stage writes. Called before the target takes over the base, because the ends may read the
 * base. If the evaluation of an end reads out of range, the box is empty: the statement reports an error when it runs,
 * or writes nothing. */
static leat_status find_box(struct leat_call *call, const struct le_stage *stage) {
    struct le_specialised *s = call->specialised;
    leat_status status = LEAT_OK;
    for (int d = 0; d < stage->left_count && status == LEAT_OK; d++) {
        struct le_node *x = stage->left[d];
        bool runs = x->kind == LE_NODE_INDEX && !s->ir->indices.at[x->index].host, found = true;
        const struct le_range *known = runs ? &s->plan->space.ranges[x->index] : &(struct le_range){0};
        const struct le_range_nodes bounds =
            runs ? s->ir->indices.at[x->index].range : (struct le_range_nodes){.low = x};
        int64_t low = known->low, high = known->high;
        status = find_end(call, bounds.low, &low, &found);
        if (!runs)
            high = low < INT64_MAX ? low + 1 : low;
        if (status == LEAT_OK)
            status = find_end(call, bounds.high, &high, &found);
        s->part_low[d] = low;
        s->part_high[d] = found ? high : low;
    }
    return status;
}

static leat_status copy_box(struct leat_call *call, const leat_array *to, const leat_array *from, const char *what) {
    const int64_t *low = call->specialised->part_low, *high = call->specialised->part_high;
    leat_array target = *to, source = *from;
    for (int d = 0; d < to->rank; d++) {
        if (high[d] <= low[d] || low[d] < 0 || high[d] > to->shape[d])
            return LEAT_OK;
        size_t skipped = (size_t)(low[d] * to->strides[d]) * leat_dtype_size_bytes(to->dtype);
        target.shape[d] = source.shape[d] = high[d] - low[d];
        target.data = (char *)target.data + skipped;
        source.data = (char *)source.data + skipped;
    }
    return le_call_copy(call, &target, &source, what, "assigned elements");
}

leat_status le_storage_put_back(struct leat_call *call, const struct le_action *action, leat_status status) {
    struct le_specialised *s = call->specialised;
    const int target = action->stage->target;
    if (!s->part)
        return status;
    if (status == LEAT_OK)
        status = copy_box(call, s->cells[target].array, s->part, action->stage->name);
    if (s->cells[target].array)
        s->buffers[target] = s->cells[target].array->data;
    keep_spare(s, s->part);
    s->part = NULL;
    return status;
}

/* ---- targets */

static leat_status copy_base(struct leat_call *call, const struct le_action *action, int target, int base) {
    const struct le_specialised *s = call->specialised;
    return le_call_copy(call, s->cells[target].array, s->cells[base].array, action->stage->name, "unassigned elements");
}

static leat_status place_target(struct leat_call *call, const struct le_action *action, enum le_storage_kind plan,
                                int target, int base, bool zero) {
    struct le_specialised *s = call->specialised;
    struct le_cell *cell = &s->cells[target];
    leat_status status = LEAT_OK;
    if (s->ir->values.at[target].rank == 0) {
        if (base >= 0)
            cell->scalar = s->cells[base].scalar;
        s->buffers[target] = &cell->scalar;
        return LEAT_OK;
    }
    if (plan == LE_STORAGE_PART)
        status = find_box(call, action->stage);
    if (status != LEAT_OK)
        return status;
    if (plan >= LE_STORAGE_BASE && is_ours_alone(s->cells[base].array)) {
        le_array_free(cell->array);
        cell->array = s->cells[base].array;
        s->cells[base].array = NULL;
    } else {
        status = new_array(call, target, s->plan->layouts[target].shape, zero);
        if (status == LEAT_OK && plan != LE_STORAGE_NEW && !action->writes_all)
            status = copy_base(call, action, target, base);
    }
    if (status == LEAT_OK && plan == LE_STORAGE_PART)
        status = new_part(call, target);
    if (status == LEAT_OK)
        s->buffers[target] = plan == LE_STORAGE_PART ? s->part->data : cell->array->data;
    return status;
}

leat_status le_storage_prepare(struct leat_call *call, const struct le_action *action, bool zero) {
    const struct le_stage *stage = action->stage;
    leat_status status = LEAT_OK;
    if (stage->pair_count == 0)
        return place_target(call, action, action->storage, stage->target, stage->base, zero);
    for (int k = 0; k < stage->pair_count && status == LEAT_OK; k++)
        status = place_target(call, action, action->storages[k], stage->pairs[k].target, stage->pairs[k].source, zero);
    return status;
}

/* ---- moves */

/* Returns the source's array, retained. An input may be strided, and its bools may hold any byte; such an input is
 * copied to a dense array with bools of 0 or 1. */
static leat_status share_source(struct leat_call *call, int source, leat_array **array) {
    struct le_specialised *s = call->specialised;
    const struct le_value *v = &s->ir->values.at[source];
    leat_array *held = s->cells[source].array;
    if (v->stage >= 0 || (v->type != LE_BOOL && le_array_is_contiguous(held))) {
        *array = le_array_retain(held);
        return LEAT_OK;
    }
    leat_status status = allocate_array(call, v, held->shape, false, array);
    if (status != LEAT_OK)
        return status;
    if (call->device)
        return le_device_clean_copy(call, *array, held, v->name);
    le_array_copy(*array, held);
    if (v->type == LE_BOOL)
        le_array_write(*array, (*array)->data);
    return LEAT_OK;
}

static void set_moved(struct leat_call *call, const struct le_pair *pair, int k) {
    const struct le_specialised *s = call->specialised;
    struct le_cell *cell = &s->cells[pair->target];
    cell->ready = true;
    if (s->ir->values.at[pair->target].rank == 0) {
        const struct le_cell *from = &s->plan->moving_cells[k];
        if (call->device)
            le_device_scalar_release(call, cell);
        cell->scalar = from->scalar;
        cell->on_device = from->on_device;
        s->buffers[pair->target] = &cell->scalar;
        return;
    }
    le_array_free(cell->array);
    cell->array = s->plan->moving[k];
    s->buffers[pair->target] = cell->array->data;
}

leat_status le_storage_move(struct leat_call *call, const struct le_action *action) {
    struct le_specialised *s = call->specialised;
    const struct le_stage *stage = action->stage;
    leat_array **moving = s->plan->moving;
    leat_status status = LEAT_OK;
    int count = 0;
    for (; count < stage->pair_count && status == LEAT_OK; count++) {
        int source = stage->pairs[count].source;
        moving[count] = NULL;
        s->plan->moving_cells[count] = s->cells[source];
        if (call->device)
            le_device_scalar_retain(call, &s->cells[source]);
        if (s->ir->values.at[source].rank > 0)
            status = share_source(call, source, &moving[count]);
    }
    for (int k = 0; k < count; k++) {
        if (status == LEAT_OK)
            set_moved(call, &stage->pairs[k], k);
        else
            le_array_free(moving[k]);
    }
    return status;
}
