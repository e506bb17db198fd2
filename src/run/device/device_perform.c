/* See device_run.h: runs one action on the device. All work is enqueued in the run's stream, without waiting. */
#include "run/device/device_run.h"
#include <string.h>

/* ---- scalars that the action computes */

/* Initializes the result with its base. */
static leat_status copy_base(struct leat_call *call, const struct le_device_result *r) {
    const struct le_specialised *s = call->specialised;
    const struct le_cell *base = &s->cells[r->base];
    const struct le_copy copy = {.target = r->on_device.allocation,
                                 .source = base->on_device.allocation,
                                 .target_memory = (char *)(uintptr_t)r->on_device.address,
                                 .source_memory = base->on_device.address
                                                      ? (const char *)(uintptr_t)base->on_device.address
                                                      : (const char *)&base->scalar,
                                 .element_bytes = le_type_size(s->ir->values.at[r->value].type),
                                 .what = s->ir->values.at[r->value].name,
                                 .cause = "its initial value",
                                 .wait = !base->on_device.address};
    return le_device_copy(call->home.stream, &copy);
}

static leat_status begin_result(struct leat_call *call, struct le_device_result *r) {
    const leat_array *wanted = r->base < 0 ? le_result_scalar(call, r->value) : NULL;
    if (wanted && le_device_address(wanted)) {
        r->on_device =
            (struct le_device_scalar){.allocation = wanted->buffer->allocation, .address = le_device_address(wanted)};
        return LEAT_OK;
    }
    leat_status status = le_device_new_slot(call, &r->on_device);
    return status == LEAT_OK && r->base >= 0 ? copy_base(call, r) : status;
}

static leat_status begin_results(struct leat_call *call, struct le_device_work *w) {
    leat_status status = LEAT_OK;
    for (int k = 0; k < w->results.count; k++)
        w->results.at[k].on_device = (struct le_device_scalar){0};
    for (int k = 0; k < w->results.count && status == LEAT_OK; k++)
        status = begin_result(call, &w->results.at[k]);
    return status;
}

static void end_results(struct leat_call *call, const struct le_device_work *w) {
    for (int k = 0; k < w->results.count; k++) {
        struct le_cell *cell = &call->specialised->cells[w->results.at[k].value];
        le_device_scalar_release(call, cell);
        cell->on_device = w->results.at[k].on_device;
    }
}

/* ---- memory for partial results */

/* Kernels leave the counters at 0, so they are zeroed only once. */
static leat_status begin_counters(struct leat_call *call, size_t size_bytes) {
    struct le_device_run *d = call->device;
    if (size_bytes == 0 || (d->counters && d->counters->size_bytes >= size_bytes))
        return LEAT_OK;
    le_allocation_free(d->counters);
    d->counters = NULL;
    leat_status status =
        le_allocation_new(call->home.device, LE_MEMORY_DEVICE, size_bytes, call->home.stream, &d->counters);
    return status == LEAT_OK ? le_device_fill_zero(call->home.stream, d->counters, size_bytes) : status;
}

static leat_status begin_work(struct leat_call *call, const struct le_device_work *w) {
    struct le_device_run *d = call->device;
    leat_status status = begin_counters(call, w->launches.counter_bytes);
    if (w->launches.work_bytes == 0)
        return status;
    if (status == LEAT_OK && (!d->work || d->work->size_bytes < w->launches.work_bytes)) {
        le_allocation_free(d->work);
        d->work = NULL;
        status =
            le_allocation_new(call->home.device, LE_MEMORY_DEVICE, w->launches.work_bytes, call->home.stream, &d->work);
    }
    if (status == LEAT_OK && w->launches.zeroed_bytes)
        status = le_device_fill_zero(call->home.stream, d->work, w->launches.zeroed_bytes);
    return status;
}

/* ---- arguments */

const leat_array *le_device_array_of(const struct leat_call *call, const struct le_action *action, int value,
                                     bool target) {
    const struct le_specialised *s = call->specialised;
    const struct le_stage *stage = action->stage;
    if (target && s->part && value == stage->target)
        return s->part;
    if (s->cells[value].array)
        return s->cells[value].array;
    for (int k = 0; action->device && k < action->device->also_count; k++)
        if (action->device->also[k]->stage->base == value)
            return s->cells[action->device->also[k]->stage->target].array;
    for (int k = 0; k < stage->pair_count; k++)
        if (stage->pairs[k].source == value)
            return s->cells[stage->pairs[k].target].array;
    return s->cells[stage->target].array;
}

const struct le_device_scalar *le_device_find_result(const struct le_device_work *w, int value) {
    const struct le_device_result *r = w->results.at;
    while (r->value != value)
        r++;
    return &r->on_device;
}

static void pass_scalar(const struct le_cell *cell, struct le_device_step *step, union le_device_value *to) {
    to->scalar = (struct le_scalar){.bits = cell->on_device.address ? 0 : cell->scalar, .at = cell->on_device.address};
    if (cell->on_device.address)
        step->uses[step->launch.use_count++] = (struct le_allocation_use){cell->on_device.allocation, LE_ACCESS_READ};
}

static void pass_arguments(struct leat_call *call, struct le_action *action, struct le_device_step *step,
                           uint64_t record) {
    const struct le_device_run *d = call->device;
    step->launch.use_count = 0;
    for (int k = 0; k < step->generated->argument_count; k++) {
        const struct le_argument *a = &step->generated->arguments[k];
        struct le_launch_argument *to = &step->arguments[k];
        union le_device_value *value = &step->values[k];
        switch (a->kind) {
        case LE_ARGUMENT_ARRAY:
        case LE_ARGUMENT_TARGET: {
            const leat_array *array = le_device_array_of(call, action, a->value, a->kind == LE_ARGUMENT_TARGET);
            value->address = le_device_address(array);
            to->allocation = array->buffer->allocation;
            break;
        }
        case LE_ARGUMENT_RESULT: {
            const struct le_device_scalar *on_device = le_device_find_result(action->device, a->value);
            value->address = on_device->address;
            to->allocation = on_device->allocation;
            break;
        }
        case LE_ARGUMENT_SCALAR:
            pass_scalar(&call->specialised->cells[a->value], step, value);
            break;
        case LE_ARGUMENT_WORK:
            value->address = d->work->address + (uint64_t)a->number;
            to->allocation = d->work;
            break;
        case LE_ARGUMENT_COUNTERS:
            value->address = d->counters->address;
            to->allocation = d->counters;
            break;
        case LE_ARGUMENT_FAULT:
            value->address = record;
            to->allocation = d->records;
            break;
        case LE_ARGUMENT_NUMBER:
            break;
        }
    }
}

/* ---- the action */

static leat_status launch_all(struct leat_call *call, struct le_action *action) {
    struct le_device_work *w = action->device;
    uint64_t record = 0;
    leat_status status = begin_work(call, w);
    if (status == LEAT_OK && w->may_report)
        status = le_device_new_record(call, action, &record);
    for (int k = 0; k < w->step_count && status == LEAT_OK; k++) {
        struct le_device_step *step = &w->steps[k];
        pass_arguments(call, action, step, record);
        status = le_device_launch(le_code_kernel(step->code), &step->launch, call->home.stream);
    }
    return status;
}

/* Zeroing starts at the beginning of an allocation, so a target that begins elsewhere is not used directly. */
static leat_status fill_zeros(struct leat_call *call, const struct le_action *action) {
    struct le_cell *cell = &call->specialised->cells[action->stage->target];
    if (cell->wanted && le_device_address(cell->wanted) != cell->wanted->buffer->allocation->address) {
        le_array_free(cell->wanted);
        cell->wanted = NULL;
    }
    return le_storage_prepare(call, action, true);
}

static leat_status prepare_targets(struct leat_call *call, const struct le_action *action) {
    const struct le_device_work *w = action->device;
    leat_status status = action->is_unstored ? LEAT_OK : le_storage_prepare(call, action, false);
    for (int k = 0; k < w->also_count && status == LEAT_OK; k++)
        if (!w->also[k]->is_unstored)
            status = le_storage_prepare(call, w->also[k], false);
    return status;
}

/* Runs the action by the library, else by the interpretation if that is not NULL, else by its loaded kernels. */
static leat_status perform_work(struct leat_call *call, struct le_action *action, bool by_library,
                                struct le_interpretation *interpretation) {
    leat_status status = le_device_materialize(call); /* planning may run actions before le_device_begin does it */
    if (status != LEAT_OK)
        return status;
    status = begin_results(call, action->device);
    if (status == LEAT_OK)
        status = prepare_targets(call, action);
    if (status == LEAT_OK)
        status = by_library       ? le_device_contract_run(call, action)
                 : interpretation ? le_interpretation_run(interpretation)
                                  : launch_all(call, action);
    end_results(call, action->device);
    return le_storage_put_back(call, action, status);
}

leat_status le_device_perform(struct leat_call *call, struct le_action *action) {
    if (action->device->by_leader)
        return LEAT_OK;
    if (action->device->zero)
        return fill_zeros(call, action);
    const struct le_device_contract *contract = action->device->contract;
    bool by_library = contract && le_device_contract_can_run(call, contract);
    if (by_library)
        return perform_work(call, action, true, NULL);
    struct le_interpretation *n = le_device_code_is_loaded(action) ? NULL : le_interpretation_new(call, action);
    leat_status status = n ? LEAT_OK : le_device_load_code(call, action);
    if (status == LEAT_OK)
        status = perform_work(call, action, false, n);
    le_interpretation_free(n);
    return status;
}
