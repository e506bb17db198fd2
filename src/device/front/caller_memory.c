/* The caller's memory: allocations that wrap it, and page-locking. Wrapped memory is never in a pool.
 *
 * Memory that was page-locked here is listed under the device's lock, so that every device reports the same
 * mistakes. */
#include "base/memory.h"
#include "device/front/device_state.h"
#include <inttypes.h>
#include <string.h>

/* Finds the actual kind of the memory, and its address as kernels see it. */
static leat_status identify_memory(struct le_device *device, struct le_allocation *allocation, void *memory) {
    if (device->limits.host_is_device || !memory) {
        allocation->host = memory;
        allocation->address = (uint64_t)(uintptr_t)memory;
        return LEAT_OK;
    }
    if (allocation->kind == LE_MEMORY_HOST &&
        le_device_is_opening(device)) { /* it cannot have page-locked anything yet */
        allocation->host = memory;
        return LEAT_OK;
    }
    uint64_t address = 0;
    enum le_memory_kind found = device->ops->pointer_kind(device->native, memory, &address), given = allocation->kind;
    if ((given == LE_MEMORY_DEVICE) != (found == LE_MEMORY_DEVICE))
        return le_fail(LEAT_INVALID, "%p was declared as %s memory, but %s", memory,
                       given == LE_MEMORY_DEVICE ? "device" : "host",
                       given == LE_MEMORY_DEVICE ? "the device does not know it" : "it is device memory");
    if (given > LE_MEMORY_HOST && found == LE_MEMORY_HOST)
        return le_fail(LEAT_INVALID, "%p was declared as page-locked memory, but it is not; see leat_host_pin", memory);
    if (given == LE_MEMORY_HOST)
        allocation->kind = found;
    allocation->host = given == LE_MEMORY_DEVICE ? NULL : memory;
    allocation->address = address;
    return LEAT_OK;
}

leat_status le_allocation_wrap(struct le_device *device, enum le_memory_kind kind, void *memory, size_t size_bytes,
                               struct le_allocation **allocation) {
    leat_status status = le_device_check(device);
    if (status)
        return status;
    struct le_allocation *made = le_alloc_zero(1, sizeof *made);
    if (!made)
        return le_fail_out_of_memory(sizeof *made);
    made->kind = kind;
    made->size_bytes = made->capacity_bytes = size_bytes;
    status = identify_memory(device, made, memory);
    if (status) {
        le_free(made);
        return status;
    }
    made->device = le_device_retain(device);
    *allocation = made;
    return LEAT_OK;
}

/* The address of mapped memory is the only thing that the driver must be asked for. */
void le_allocation_place(struct le_allocation *allocation, enum le_memory_kind kind, void *memory, size_t size_bytes) {
    struct le_device *device = allocation->device;
    bool is_device = kind == LE_MEMORY_DEVICE && !device->limits.host_is_device;
    uint64_t address = is_device || device->limits.host_is_device ? (uint64_t)(uintptr_t)memory : 0;
    if (kind == LE_MEMORY_MAPPED && memory && !address &&
        device->ops->pointer_kind(device->native, memory, &address) == LE_MEMORY_DEVICE)
        address = 0;
    allocation->kind = kind;
    allocation->host = is_device ? NULL : memory;
    allocation->address = address;
    allocation->size_bytes = allocation->capacity_bytes = size_bytes;
    le_allocation_forget_order(allocation);
}

void le_allocation_forget_order(struct le_allocation *allocation) {
    pthread_mutex_lock(&allocation->device->lock);
    allocation->order = (struct le_order){0};
    pthread_mutex_unlock(&allocation->device->lock);
}

void le_allocation_follow(struct le_allocation *allocation, const struct le_device_stream *stream) {
    struct le_order order = {0};
    if (allocation->kind != LE_MEMORY_HOST)
        return;
    pthread_mutex_lock(&allocation->device->lock);
    if (stream->staged_download)
        order.write = (struct le_point){stream->id, stream->staged_download};
    if (stream->staged_upload)
        order.reads[order.read_count++] = (struct le_point){stream->id, stream->staged_upload};
    allocation->order = order;
    pthread_mutex_unlock(&allocation->device->lock);
}

/* ---- page-locking */

static int find_pin(const struct le_device *device, uintptr_t start, size_t size_bytes) {
    for (int k = 0; k < device->pin_count; k++) {
        const struct le_pinned *pin = &device->pins[k];
        if (start < pin->start + pin->size_bytes && pin->start < start + size_bytes)
            return k;
    }
    return -1;
}

static leat_status add_pin(struct le_device *device, uintptr_t start, size_t size_bytes) {
    if (find_pin(device, start, size_bytes) >= 0)
        return le_fail(LEAT_INVALID, "memory at %p is already page-locked", (void *)start);
    if (device->pin_count == device->pin_capacity) {
        int capacity = device->pin_capacity ? 2 * device->pin_capacity : 8;
        struct le_pinned *grown = le_realloc(device->pins, (size_t)capacity * sizeof *grown);
        if (!grown)
            return le_fail_out_of_memory((size_t)capacity * sizeof *grown);
        device->pins = grown;
        device->pin_capacity = capacity;
    }
    device->pins[device->pin_count++] = (struct le_pinned){start, size_bytes};
    return LEAT_OK;
}

/* false: no pinned range starts there. */
static bool remove_pin(struct le_device *device, uintptr_t start) {
    pthread_mutex_lock(&device->lock);
    int k = find_pin(device, start, 1);
    bool found = k >= 0 && device->pins[k].start == start;
    if (found)
        device->pins[k] = device->pins[--device->pin_count];
    pthread_mutex_unlock(&device->lock);
    return found;
}

leat_status le_host_pin(struct le_device *device, void *memory, size_t size_bytes) {
    uint64_t address;
    leat_status status = le_device_check(device);
    if (status)
        return status;
    if (size_bytes == 0 || size_bytes > UINTPTR_MAX - (uintptr_t)memory)
        return le_fail(LEAT_INVALID, "%zu bytes cannot be page-locked", size_bytes);
    pthread_mutex_lock(&device->lock);
    status = add_pin(device, (uintptr_t)memory, size_bytes);
    pthread_mutex_unlock(&device->lock);
    if (status)
        return status;
    struct le_device_span span;
    le_device_span_begin(device, &span, LEAT_COST_PIN, "memory", "");
    status = device->ops->host_pin(device->native, memory, size_bytes, &address);
    le_device_span_end(&span, status ? 0 : size_bytes);
    if (status)
        remove_pin(device, (uintptr_t)memory);
    return status;
}

leat_status le_host_unpin(struct le_device *device, void *memory) {
    leat_status status = le_device_synchronize(device);
    if (status)
        return status;
    if (!remove_pin(device, (uintptr_t)memory))
        return le_fail(LEAT_INVALID, "%p was not page-locked by leat_host_pin", memory);
    return device->ops->host_unpin(device->native, memory);
}
