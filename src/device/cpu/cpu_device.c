/* The cpu's slots. A stream is NULL, an event is the time of its recording, a copy is a loop over rows. */
#include "device/cpu/cpu_device.h"
#include "base/clock.h"
#include "base/memory.h"
#include <stdio.h>
#include <string.h>

struct cpu_event {
    uint64_t time_ns;
};

static void cpu_close(void *native) {
    (void)native;
}

static leat_status cpu_memory_new(void *native, enum le_memory_kind kind, size_t size_bytes, void **host,
                                  uint64_t *address) {
    (void)native, (void)kind;
    *host = le_alloc_aligned(size_bytes);
    *address = (uint64_t)(uintptr_t)*host;
    return *host ? LEAT_OK : le_fail_out_of_memory(size_bytes);
}

static void cpu_memory_free(void *native, enum le_memory_kind kind, void *host, uint64_t address, size_t size_bytes) {
    (void)native, (void)kind, (void)address, (void)size_bytes;
    le_free_aligned(host);
}

/* Unknown: reports 0. */
static leat_status cpu_memory_info(void *native, size_t *free_bytes, size_t *total_bytes) {
    (void)native;
    *free_bytes = *total_bytes = 0;
    return LEAT_OK;
}

static leat_status cpu_host_pin(void *native, void *memory, size_t size_bytes, uint64_t *address) {
    (void)native, (void)size_bytes;
    *address = (uint64_t)(uintptr_t)memory;
    return LEAT_OK;
}

static leat_status cpu_host_unpin(void *native, void *memory) {
    (void)native, (void)memory;
    return LEAT_OK;
}

static enum le_memory_kind cpu_pointer_kind(void *native, const void *pointer, uint64_t *address) {
    (void)native;
    *address = (uint64_t)(uintptr_t)pointer;
    return LE_MEMORY_HOST;
}

/* ---- streams */

static leat_status cpu_stream_new(void *native, void **stream) {
    (void)native;
    *stream = NULL;
    return LEAT_OK;
}

static leat_status cpu_stream_check(void *native, void *stream) {
    (void)native, (void)stream;
    return le_fail(LEAT_INVALID, "device cpu cannot use streams of other libraries");
}

static void cpu_stream_free(void *native, void *stream) {
    (void)native, (void)stream;
}

static leat_status cpu_stream_wait(void *native, void *stream, void *event) {
    (void)native, (void)stream, (void)event;
    return LEAT_OK;
}

static leat_status cpu_stream_synchronize(void *native, void *stream) {
    (void)native, (void)stream;
    return LEAT_OK;
}

static leat_status cpu_synchronize(void *native) {
    (void)native;
    return LEAT_OK;
}

/* ---- copies */

static leat_status cpu_copy(void *native, void *stream, const struct le_native_copy *copy) {
    (void)native, (void)stream;
    for (size_t slice = 0; slice < copy->slices; slice++)
        for (size_t row = 0; row < copy->rows; row++) {
            char *target = (char *)(uintptr_t)copy->target + (int64_t)slice * copy->target_slice_stride +
                           (int64_t)row * copy->target_row_stride;
            const char *source = (const char *)(uintptr_t)copy->source + (int64_t)slice * copy->source_slice_stride +
                                 (int64_t)row * copy->source_row_stride;
            memmove(target, source, copy->row_bytes);
        }
    return LEAT_OK;
}

static leat_status cpu_fill(void *native, void *stream, uint64_t address, uint32_t value, size_t count,
                            int value_bytes) {
    (void)native, (void)stream;
    char *target = (char *)(uintptr_t)address;
    const uint8_t value8 = (uint8_t)value;
    const uint16_t value16 = (uint16_t)value;
    const void *from = value_bytes == 1 ? (const void *)&value8 : value_bytes == 2 ? (const void *)&value16 : &value;
    if (value == 0 || value_bytes == 1) {
        memset(target, value8, count * (size_t)value_bytes);
        return LEAT_OK;
    }
    for (size_t k = 0; k < count; k++)
        memcpy(target + k * (size_t)value_bytes, from, (size_t)value_bytes);
    return LEAT_OK;
}

/* ---- events */

static leat_status cpu_event_new(void *native, bool timed, void **event) {
    (void)native, (void)timed;
    *event = le_alloc_zero(1, sizeof(struct cpu_event));
    return *event ? LEAT_OK : le_fail_out_of_memory(sizeof(struct cpu_event));
}

static void cpu_event_free(void *native, void *event) {
    (void)native;
    le_free(event);
}

static leat_status cpu_event_record(void *native, void *event, void *stream) {
    (void)native, (void)stream;
    ((struct cpu_event *)event)->time_ns = le_clock_ns();
    return LEAT_OK;
}

static leat_status cpu_event_synchronize(void *native, void *event) {
    (void)native, (void)event;
    return LEAT_OK;
}

static leat_status cpu_event_query(void *native, void *event, bool *passed) {
    (void)native, (void)event;
    *passed = true;
    return LEAT_OK;
}

static leat_status cpu_event_elapsed(void *native, void *start, void *stop, double *milliseconds) {
    (void)native;
    const struct cpu_event *from = start, *to = stop;
    *milliseconds = (double)(int64_t)(to->time_ns - from->time_ns) * 1e-6;
    return LEAT_OK;
}

static const struct le_device_ops cpu_ops = {
    .close = cpu_close,
    .memory_new = cpu_memory_new,
    .memory_free = cpu_memory_free,
    .memory_info = cpu_memory_info,
    .host_pin = cpu_host_pin,
    .host_unpin = cpu_host_unpin,
    .pointer_kind = cpu_pointer_kind,
    .stream_new = cpu_stream_new,
    .stream_check = cpu_stream_check,
    .stream_free = cpu_stream_free,
    .stream_wait = cpu_stream_wait,
    .stream_synchronize = cpu_stream_synchronize,
    .synchronize = cpu_synchronize,
    .copy = cpu_copy,
    .fill = cpu_fill,
    .event_new = cpu_event_new,
    .event_free = cpu_event_free,
    .event_record = cpu_event_record,
    .event_synchronize = cpu_event_synchronize,
    .event_query = cpu_event_query,
    .event_elapsed = cpu_event_elapsed,
};

void le_cpu_device_new(struct le_device *device) {
    device->ops = &cpu_ops;
    device->native = NULL;
    device->limits = (struct le_device_limits){.kind = "cpu", .name = "CPU", .host_is_device = true};
}
