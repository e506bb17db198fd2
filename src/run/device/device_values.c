/* See device_run.h: where scalars live, and host copies of what the host needs to compute one. A scalar that a kernel
 * computes lives in a slot: 8 bytes of an allocation of the call. A slot is reused only when no cell holds it any more.
 */
#include "run/device/device_run.h"
#include <string.h>

/* ---- slots */

static int *users_of(struct leat_call *call, const struct le_device_scalar *on_device) {
    struct le_device_run *d = call->device;
    if (!on_device->address || on_device->allocation != d->slots)
        return NULL;
    return &d->slot_users[(on_device->address - d->slots->address) / sizeof(uint64_t)];
}

void le_device_scalar_release(struct leat_call *call, struct le_cell *cell) {
    int *users = users_of(call, &cell->on_device);
    if (users)
        --*users;
    cell->on_device = (struct le_device_scalar){0};
}

void le_device_scalar_retain(struct leat_call *call, const struct le_cell *cell) {
    int *users = users_of(call, &cell->on_device);
    if (users)
        ++*users;
}

leat_status le_device_new_slot(struct leat_call *call, struct le_device_scalar *on_device) {
    struct le_device_run *d = call->device;
    leat_status status = LEAT_OK;
    if (!d->slots)
        status = le_allocation_new(call->home.device, LE_MEMORY_DEVICE, (size_t)d->slot_count * sizeof(uint64_t),
                                   call->home.stream, &d->slots);
    if (status != LEAT_OK)
        return status;
    while (d->slot_users[d->next_slot] > 0)
        d->next_slot = (d->next_slot + 1) % d->slot_count;
    d->slot_users[d->next_slot]++;
    on_device->allocation = d->slots;
    on_device->address = d->slots->address + (uint64_t)d->next_slot * sizeof(uint64_t);
    d->next_slot = (d->next_slot + 1) % d->slot_count;
    return LEAT_OK;
}

/* ---- to the host */

/* Why the host waits for a scalar. */
static const char *cause_of(const struct leat_call *call) {
    const struct le_plan *plan = call->specialised->plan;
    if (call->device->cause)
        return call->device->cause;
    switch (plan && plan->running ? plan->running->kind : LE_STAGE_MAP) {
    case LE_STAGE_TEST:
        return "the while's condition";
    case LE_STAGE_IF:
        return "the if's condition";
    case LE_STAGE_FOR:
        return "the loop's bounds";
    default:
        return "ranges depend on it";
    }
}

/* Copies one element to host memory, and waits for it. */
static leat_status fetch_element(struct leat_call *call, struct le_allocation *allocation, uint64_t at,
                                 size_t size_bytes, const char *name, void *to) {
    struct le_device_run *d = call->device;
    leat_status status = LEAT_OK;
    if (!d->fetched)
        status =
            le_allocation_new(call->home.device, LE_MEMORY_PINNED, sizeof(uint64_t), call->home.stream, &d->fetched);
    if (status != LEAT_OK)
        return status;
    const struct le_copy copy = {.target = d->fetched,
                                 .source = allocation,
                                 .target_memory = d->fetched->host,
                                 .source_memory = (const char *)(uintptr_t)at,
                                 .element_bytes = size_bytes,
                                 .what = name,
                                 .cause = cause_of(call)};
    status = le_device_copy(call->home.stream, &copy);
    if (status == LEAT_OK)
        status = le_stream_watch(call->home.stream, name, copy.cause);
    if (status == LEAT_OK)
        status = le_allocation_wait_for(d->fetched, LE_ACCESS_READ, name, copy.cause);
    if (status == LEAT_OK)
        memcpy(to, d->fetched->host, size_bytes);
    return status == LEAT_OK ? le_device_check_records(call, false) : status;
}

leat_status le_device_fetch(struct leat_call *call, int value) {
    const struct le_specialised *s = call->specialised;
    struct le_cell *cell = &s->cells[value];
    const struct le_value *v = &s->ir->values.at[value];
    uint64_t bits = 0;
    if (!cell->on_device.address)
        return LEAT_OK;
    leat_status status =
        fetch_element(call, cell->on_device.allocation, cell->on_device.address, le_type_size(v->type), v->name, &bits);
    if (status != LEAT_OK)
        return status;
    le_device_scalar_release(call, cell);
    cell->scalar = bits;
    return LEAT_OK;
}

/* ---- arrays that a host scalar depends on */

static struct le_mirror *add_mirror(struct leat_call *call, int value, size_t size_bytes) {
    struct le_device_run *d = call->device;
    if (d->mirrors.count == d->mirrors.capacity) {
        int capacity = 2 * d->mirrors.capacity + 8;
        struct le_mirror *grown = le_realloc(d->mirrors.at, (size_t)capacity * sizeof *grown);
        if (!grown)
            return NULL;
        d->mirrors.at = grown;
        d->mirrors.capacity = capacity;
    }
    bool small = size_bytes <= sizeof *d->elements && d->mirrors.count < LE_DEVICE_ELEMENTS;
    void *owned = small ? NULL : le_alloc(size_bytes + 1);
    if (!small && !owned)
        return NULL;
    struct le_mirror *made = &d->mirrors.at[d->mirrors.count++];
    *made = (struct le_mirror){.value = value,
                               .memory = small ? &d->elements[d->mirrors.count - 1] : owned,
                               .owned = owned,
                               .size_bytes = size_bytes,
                               .before = call->specialised->buffers[value]};
    return made;
}

static leat_status copy_all(struct leat_call *call, int value) {
    const struct le_specialised *s = call->specialised;
    const leat_array *array = s->cells[value].array;
    const char *low, *high;
    le_array_range(array, &low, &high);
    size_t size_bytes = (size_t)(high - low);
    const struct le_mirror *made = add_mirror(call, value, size_bytes);
    if (!made)
        return le_fail_out_of_memory(size_bytes);
    s->buffers[value] = (char *)made->memory + ((const char *)array->data - low);
    const struct le_copy copy = {.source = array->buffer->allocation,
                                 .target_memory = made->memory,
                                 .source_memory = low,
                                 .element_bytes = 1,
                                 .rank = 1,
                                 .shape = {(int64_t)size_bytes},
                                 .target_strides = {1},
                                 .source_strides = {1},
                                 .what = s->ir->values.at[value].name,
                                 .cause = cause_of(call),
                                 .wait = true};
    /* once begun, the copy into the mirror must end */
    leat_status status = le_stream_watch(call->home.stream, copy.what, copy.cause);
    if (status == LEAT_OK)
        status = le_device_copy(call->home.stream, &copy);
    return status == LEAT_OK ? le_device_check_records(call, false) : status;
}

/* Sets the buffer's address so that the code finds the element at its offset; the code reads no other element. */
static leat_status copy_element(struct leat_call *call, int value, int64_t start) {
    const struct le_specialised *s = call->specialised;
    const leat_array *array = s->cells[value].array;
    size_t size = le_type_size(s->ir->values.at[value].type);
    const struct le_mirror *made = add_mirror(call, value, sizeof(uint64_t));
    if (!made)
        return le_fail_out_of_memory(sizeof(uint64_t));
    uint64_t from = (uint64_t)start * size;
    s->buffers[value] = (void *)((uintptr_t)made->memory - (uintptr_t)from);
    return fetch_element(call, array->buffer->allocation, (uint64_t)(uintptr_t)array->data + from, size,
                         s->ir->values.at[value].name, made->memory);
}

/* Finds the element that a load reads; false: it is not known now, or out of range. */
static bool find_element(struct leat_call *call, const struct le_node *load, int64_t *start) {
    const struct le_specialised *s = call->specialised;
    const struct le_layout *layout = &s->plan->layouts[load->value];
    *start = layout->offset;
    if (load->stretch || load->fill || s->ir->values.at[load->value].symbol < 0)
        return false;
    for (int d = 0; d < load->operand_count; d++) {
        struct le_node *x = load->operands[d];
        uint64_t bits = 0;
        bool found = x->type == LE_I64 && !x->reduces && le_node_is_hosts(s->ir, x);
        if (!found || le_host_scalar_try(call, x, &bits, &found) != LEAT_OK || !found)
            return false;
        if (bits >= (uint64_t)layout->shape[d])
            return false;
        *start += (int64_t)bits * layout->strides[d];
    }
    return true;
}

static bool is_mirrored(const struct leat_call *call, int value, int mark) {
    for (int k = mark; k < call->device->mirrors.count; k++)
        if (call->device->mirrors.at[k].value == value)
            return true;
    return false;
}

static leat_status bring_array(struct leat_call *call, int load, int first, int mark) {
    const struct le_specialised *s = call->specialised;
    const struct le_device_run *d = call->device;
    const struct le_node *node = d->loads.at[load];
    const int value = node->value;
    const leat_array *array = s->cells[value].array;
    int64_t start;
    if (!array || le_array_count(array) == 0 || is_mirrored(call, value, mark))
        return LEAT_OK;
    if (le_array_is_on_host(array)) {
        s->buffers[value] = array->data;
        return array->buffer->allocation ? le_allocation_wait_for(array->buffer->allocation, LE_ACCESS_READ,
                                                                  s->ir->values.at[value].name, cause_of(call))
                                         : LEAT_OK;
    }
    bool alone = true;
    for (int k = first; k < d->loads.count; k++)
        alone &= k == load || d->loads.at[k]->value != value;
    return alone && find_element(call, node, &start) ? copy_element(call, value, start) : copy_all(call, value);
}

static void note_load(struct le_node *node, void *user) {
    struct le_device_run *d = user;
    if (node->kind != LE_NODE_LOAD)
        return;
    if (d->loads.count == d->loads.capacity) {
        int capacity = 2 * d->loads.capacity + 16;
        struct le_node **grown = le_realloc(d->loads.at, (size_t)capacity * sizeof(*grown));
        if (!grown) {
            d->out_of_memory = true;
            return;
        }
        d->loads.at = grown;
        d->loads.capacity = capacity;
    }
    d->loads.at[d->loads.count++] = node;
}

/* Fetches a scalar that a kernel computed, and points the host's code to it. */
static leat_status bring_number(struct leat_call *call, int value) {
    struct le_specialised *s = call->specialised;
    s->buffers[value] = &s->cells[value].scalar;
    return le_device_fetch(call, value);
}

leat_status le_device_fetch_operands(struct leat_call *call, struct le_node *node, int *mark) {
    struct le_device_run *d = call->device;
    const int first = d->loads.count;
    *mark = d->mirrors.count;
    d->out_of_memory = false;
    le_node_walk(call->specialised->ir, node, note_load, d);
    leat_status status = d->out_of_memory ? le_fail_out_of_memory(0) : LEAT_OK;
    if (status == LEAT_OK && d->loads.count > first)
        status = le_device_materialize(call);
    for (int k = first; k < d->loads.count && status == LEAT_OK; k++) {
        if (d->loads.at[k]->operand_count == 0)
            status = bring_number(call, d->loads.at[k]->value);
        else
            status = bring_array(call, k, first, *mark);
    }
    d->loads.count = first;
    return status;
}

void le_device_release_mirrors(struct leat_call *call, int mark) {
    struct le_device_run *d = call->device;
    for (; d->mirrors.count > mark; d->mirrors.count--) {
        const struct le_mirror *m = &d->mirrors.at[d->mirrors.count - 1];
        call->specialised->buffers[m->value] = m->before;
        le_free(m->owned);
    }
}

/* ---- results */

uint64_t le_device_address(const leat_array *array) {
    const struct le_allocation *allocation = le_array_is_deferred(array) ? NULL : array->buffer->allocation;
    if (!allocation)
        return 0;
    if (!allocation->host)
        return (uint64_t)(uintptr_t)array->data;
    return allocation->address
               ? allocation->address + (uint64_t)((const char *)array->data - (const char *)allocation->host)
               : 0;
}

leat_status le_device_store_scalar(struct leat_call *call, const leat_array *target, const struct le_cell *cell,
                                   const char *name) {
    struct le_device_stream *stream = call->home.stream;
    if (!cell->on_device.address && !target->buffer->allocation) {
        memcpy(target->data, &cell->scalar, leat_dtype_size_bytes(target->dtype));
        return LEAT_OK;
    }
    if (!cell->on_device.address)
        return le_array_write_in(target, &cell->scalar, stream, true);
    if (cell->on_device.address == le_device_address(target)) /* it was computed there */
        return LEAT_OK;
    const struct le_copy copy = {.target = target->buffer->allocation,
                                 .source = cell->on_device.allocation,
                                 .target_memory = target->data,
                                 .source_memory = (const char *)(uintptr_t)cell->on_device.address,
                                 .element_bytes = leat_dtype_size_bytes(target->dtype),
                                 .what = name,
                                 .cause = "a result",
                                 .wait = !target->buffer->allocation};
    return le_device_copy(stream, &copy);
}

leat_status le_device_clean_copy(struct leat_call *call, const leat_array *target, const leat_array *source,
                                 const char *name) {
    leat_array *host;
    if (source->dtype != LEAT_BOOL)
        return le_call_copy(call, target, source, name, "it is not dense");
    leat_status status = le_array_host(source, &host);
    if (status == LEAT_OK) {
        status = le_array_copy_as(target, host, call->home.stream, true, name, "its bools may hold any byte");
        le_array_free(host);
    }
    return status;
}
