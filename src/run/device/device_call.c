/* See device_run.h: a call's state on a device, its inputs there, and the fault records. */
#include "run/device/device_run.h"
#include <string.h>

#define WORK_KEPT_BYTES ((size_t)1 << 20) /* kept from one run to the next */

/* ---- making */

leat_status le_device_run_new(struct leat_call *call) {
    size_t symbols = (size_t)call->program->tree->symbol_count + 1;
    if (!call->home.device)
        return LEAT_OK;
    struct le_device_run *d = call->device = le_alloc_zero(1, sizeof *d);
    if (d) {
        d->binds = le_alloc_zero(symbols, sizeof *d->binds);
        d->uploads = le_alloc_zero(symbols, sizeof *d->uploads);
        d->record_actions = le_alloc_zero(LE_DEVICE_RECORDS, sizeof *d->record_actions);
    }
    bool made = d && d->binds && d->uploads && d->record_actions;
    return made ? LEAT_OK : le_fail_out_of_memory(symbols * sizeof *d->binds);
}

void le_device_unbind(struct leat_call *call) {
    struct le_device_run *d = call->device;
    for (int k = 0; d && d->uploads && k < call->program->tree->symbol_count; k++) {
        le_array_free(d->uploads[k]);
        d->uploads[k] = NULL;
    }
}

void le_device_run_free(struct leat_call *call) {
    struct le_device_run *d = call->device;
    if (!d)
        return;
    le_device_unbind(call);
    le_allocation_free(d->slots);
    le_allocation_free(d->records);
    le_allocation_free(d->work);
    le_allocation_free(d->counters);
    le_allocation_free(d->fetched);
    le_free(d->slot_users);
    le_free(d->record_actions);
    while (d->mirrors.count > 0)
        le_free(d->mirrors.at[--d->mirrors.count].owned);
    le_free(d->mirrors.at);
    le_free(d->loads.at);
    le_free(d->uploads);
    le_free(d->binds);
    le_free(d);
    call->device = NULL;
}

/* ---- scalars that the host computes */

struct host_operands {
    const struct le_specialised *s;
    bool all; /* the host has all operands */
};

static void find_away(struct le_node *node, void *user) {
    struct host_operands *t = user;
    if (node->kind == LE_NODE_LOAD)
        t->all &= node->operand_count == 0 && t->s->on_host[node->value];
    t->all &= node->kind != LE_NODE_REDUCE;
}

static bool host_has(const struct le_specialised *s, const struct le_stage *stage) {
    struct host_operands t = {.s = s, .all = stage->base < 0 || s->on_host[stage->base]};
    if (stage->kind == LE_STAGE_FOR)
        return true;
    if (stage->kind != LE_STAGE_MAP || stage->index_count > 0)
        return false;
    le_node_walk(s->ir, stage->node, find_away, &t);
    return t.all;
}

/* Finds the scalars that the host computes. Loops pass scalars on, so one that only the device has can remove others
 * from the set: repeats until nothing changes. */
static void find_on_host(struct le_specialised *s) {
    const struct le_ir *ir = s->ir;
    bool changed = true;
    for (int k = 0; k < ir->values.count; k++)
        s->on_host[k] = ir->values.at[k].rank == 0;
    while (changed) {
        changed = false;
        for (int k = 0; k < ir->stages.count; k++) {
            const struct le_stage *stage = &ir->stages.at[k];
            bool moves = stage->kind == LE_STAGE_MOVE;
            bool makes = stage->pair_count == 0 && (le_stage_computes(stage) || stage->kind == LE_STAGE_FOR);
            if (stage->dead)
                continue;
            for (int q = 0; q < stage->pair_count; q++) {
                bool *at = &s->on_host[stage->pairs[q].target], has = moves && s->on_host[stage->pairs[q].source];
                changed |= *at && !has;
                *at &= has;
            }
            if (makes && s->on_host[stage->target] && !host_has(s, stage))
                changed = true, s->on_host[stage->target] = false;
        }
    }
}

leat_status le_device_specialise(struct leat_call *call, struct le_specialised *s) {
    struct le_device_run *d = call->device;
    int slots = 2;
    if (!d)
        return LEAT_OK;
    s->on_host = LE_NEW_ARRAY(&s->arena, s->ir->values.count + 1, bool);
    find_on_host(s);
    for (int k = 0; k < s->ir->values.count; k++) /* twice, for the time while a MOVE runs */
        slots += 2 * (s->ir->values.at[k].rank == 0);
    le_allocation_free(d->slots);
    le_free(d->slot_users);
    d->slots = NULL;
    d->slot_count = slots;
    d->next_slot = 0;
    d->slot_users = le_alloc_zero((size_t)slots, sizeof *d->slot_users);
    return d->slot_users ? LEAT_OK : le_fail_out_of_memory((size_t)slots * sizeof *d->slot_users);
}

/* ---- inputs */

/* Whether kernels read the array in place. They may read an input several times, so they read over the bus only if the
 * caller asked for mapped memory. */
static bool is_reached(const leat_array *array) {
    if (le_array_is_deferred(array))
        return true;
    const struct le_allocation *allocation = array->buffer->allocation;
    return allocation && allocation->address &&
           (allocation->kind == LE_MEMORY_DEVICE || allocation->kind == LE_MEMORY_MAPPED);
}

bool le_device_can_write(const leat_array *array) {
    return is_reached(array) && le_device_address(array) % 16 == 0;
}

static bool is_like(const leat_array *a, const leat_array *b) {
    return a && a->dtype == b->dtype && a->rank == b->rank &&
           memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) == 0;
}

static leat_status copy_up(struct leat_call *call, int symbol) {
    const leat_array *from = call->binds[symbol].array;
    return le_array_copy_as(call->device->uploads[symbol], from, call->home.stream, !from->buffer->allocation,
                            call->program->tree->symbols[symbol]->name, "it is in host memory");
}

/* Uploads the input again in each run, because nothing reports when its elements change. */
static leat_status upload_input(struct leat_call *call, int symbol) {
    struct le_device_run *d = call->device;
    leat_array *from = call->binds[symbol].array;
    leat_status status = LEAT_OK;
    if (!is_like(d->uploads[symbol], from)) {
        le_array_free(d->uploads[symbol]);
        d->uploads[symbol] = NULL;
        status = le_array_new_deferred(&call->home, from->dtype, from->rank, from->shape, false, &d->uploads[symbol]);
    }
    d->binds[symbol].array = d->uploads[symbol];
    return status != LEAT_OK || le_array_is_deferred(d->uploads[symbol]) ? status : copy_up(call, symbol);
}

static leat_status settle_input(struct leat_call *call, int symbol) {
    const struct le_device_run *d = call->device;
    const struct le_specialised *s = call->specialised;
    leat_array *array = d->binds[symbol].array;
    if (d->binds[symbol].kind != LE_BOUND_ARRAY || !le_array_is_deferred(array))
        return LEAT_OK;
    leat_status status = le_array_materialize(array);
    if (status == LEAT_OK && array == d->uploads[symbol])
        status = copy_up(call, symbol);
    if (status == LEAT_OK && s->ir->first[symbol] >= 0)
        s->buffers[s->ir->first[symbol]] = array->data;
    return status;
}

leat_status le_device_materialize(struct leat_call *call) {
    struct le_device_run *d = call->device;
    leat_status status = LEAT_OK;
    for (int k = 0; d->has_deferred && k < call->program->tree->symbol_count && status == LEAT_OK; k++)
        status = settle_input(call, k);
    for (int k = 0; d->has_deferred && k < call->want_count && status == LEAT_OK; k++)
        if (call->wants[k].target)
            status = le_array_materialize(call->wants[k].target);
    d->has_deferred &= status != LEAT_OK;
    return status;
}

leat_status le_device_begin(struct leat_call *call) {
    struct le_plan *plan = call->specialised->plan;
    bool first = true;
    leat_status status = LEAT_OK;
    for (int k = 0; call->device->has_deferred && k < plan->action_count && first; k++) {
        const struct le_device_work *w = plan->actions[k].device;
        first = !w || w->step_count == 0;
        if (!first && !w->contract)
            status = le_device_load_code(call, &plan->actions[k]);
    }
    return status == LEAT_OK ? le_device_materialize(call) : status;
}

static bool find_deferred(const struct leat_call *call) {
    const struct le_device_run *d = call->device;
    bool deferred = false;
    for (int k = 0; k < call->program->tree->symbol_count; k++)
        deferred |= d->binds[k].kind == LE_BOUND_ARRAY && le_array_is_deferred(d->binds[k].array);
    for (int k = 0; k < call->want_count; k++)
        deferred |= call->wants[k].target && le_array_is_deferred(call->wants[k].target);
    return deferred;
}

leat_status le_device_reset(struct leat_call *call) {
    struct le_device_run *d = call->device;
    leat_status status = LEAT_OK;
    le_device_release_mirrors(call, 0); /* of a run that failed */
    d->loads.count = 0;
    if (d->slot_users)
        memset(d->slot_users, 0, (size_t)d->slot_count * sizeof *d->slot_users);
    if (d->record_first < d->record_count) /* of a run that failed */
        status = le_allocation_wait(d->records, LE_ACCESS_BOTH);
    d->record_first = d->record_count = 0;
    return status;
}

leat_status le_device_bind(struct leat_call *call) {
    struct le_device_run *d = call->device;
    leat_status status = LEAT_OK;
    for (int k = 0; k < call->program->tree->symbol_count && status == LEAT_OK; k++) {
        const struct le_bind *b = &call->binds[k];
        d->binds[k] = *b;
        if (b->kind == LE_BOUND_ARRAY && b->array->rank > 0 && !is_reached(b->array))
            status = upload_input(call, k);
    }
    d->has_deferred = status == LEAT_OK && find_deferred(call);
    return status == LEAT_OK && !le_device_is_opening(call->home.device) ? le_device_materialize(call) : status;
}

leat_status le_device_bind_scalar(struct leat_call *call, int symbol, struct le_cell *cell, bool *bound) {
    const struct le_specialised *s = call->specialised;
    const leat_array *array = s->bound[symbol].array;
    const struct le_symbol *sym = s->tree->symbols[symbol];
    const int value = s->ir->first[symbol];
    *bound = false;
    cell->on_device = (struct le_device_scalar){0};
    if (s->bound[symbol].kind != LE_BOUND_ARRAY)
        return LEAT_OK;
    if (le_array_is_on_host(array))
        return array->buffer->allocation
                   ? le_allocation_wait_for(array->buffer->allocation, LE_ACCESS_READ, sym->name, "a scalar input")
                   : LEAT_OK;
    cell->on_device = (struct le_device_scalar){le_device_address(array), array->buffer->allocation};
    *bound = (enum le_type)array->dtype == s->ir->values.at[value].type;
    return LEAT_OK;
}

/* ---- records of faults */

static struct le_device_fault *record_at(const struct le_device_run *d, int k) {
    return (struct le_device_fault *)d->records->host + k;
}

leat_status le_device_new_record(struct leat_call *call, struct le_action *action, uint64_t *address) {
    struct le_device_run *d = call->device;
    leat_status status = LEAT_OK;
    if (!d->records)
        status = le_allocation_new(call->home.device, LE_MEMORY_MAPPED,
                                   LE_DEVICE_RECORDS * sizeof(struct le_device_fault), call->home.stream, &d->records);
    if (status == LEAT_OK && d->record_count == LE_DEVICE_RECORDS) {
        status = le_device_check_records(call, true);
        d->record_first = d->record_count = 0;
    }
    if (status != LEAT_OK)
        return status;
    *record_at(d, d->record_count) = (struct le_device_fault){.point = UINT64_MAX};
    d->record_actions[d->record_count] = action;
    *address = d->records->address + (uint64_t)d->record_count * sizeof(struct le_device_fault);
    d->record_count++;
    return LEAT_OK;
}

leat_status le_device_check_records(struct leat_call *call, bool wait) {
    struct le_device_run *d = call->device;
    leat_status status = LEAT_OK;
    if (d->record_first == d->record_count)
        return LEAT_OK;
    if (wait)
        status = le_stream_watch(call->home.stream, call->program->name, "faults are checked");
    if (wait && status == LEAT_OK)
        status = le_allocation_wait_for(d->records, LE_ACCESS_READ, call->program->name, "faults are checked");
    while (status == LEAT_OK && d->record_first < d->record_count) {
        struct le_action *action = d->record_actions[d->record_first];
        const struct le_device_fault *r = record_at(d, d->record_first);
        if (r->set)
            return le_report_fault(call, action->stage,
                                   &(struct le_fault){.access_axis = r->access_axis, .value = r->value, .set = true});
        if (r->notes)
            le_report_notes(call, action, r->notes);
        d->record_first++;
    }
    return status;
}

void le_device_end(struct leat_call *call, bool done) {
    struct le_device_run *d = call->device;
    if (d->work && d->work->size_bytes > WORK_KEPT_BYTES) {
        le_allocation_free(d->work);
        d->work = NULL;
    }
    if (!done) {
        le_allocation_free(d->counters);
        d->counters = NULL;
    }
}
