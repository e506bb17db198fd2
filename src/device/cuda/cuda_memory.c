/* Memory over a CUDA driver: device memory, page-locked memory, copies and fills. Pooling is done elsewhere
 * (device_pool.c). */
#include "device/cuda/cuda_device.h"
#include <limits.h>
#include <string.h>

static const char *const kind_words[] = {"device", "host", "page-locked", "mapped"};

/* ---- allocating */

static leat_status allocate_host(struct le_cuda_device *cuda, enum le_memory_kind kind, size_t size_bytes, void **host,
                                 uint64_t *address) {
    unsigned flags = LE_CU_MEMHOSTALLOC_PORTABLE | (kind == LE_MEMORY_MAPPED ? LE_CU_MEMHOSTALLOC_DEVICEMAP : 0);
    le_cu_result result = cuda->driver->MemHostAlloc(host, size_bytes, flags);
    if (result == LE_CU_SUCCESS) {
        result = cuda->driver->MemHostGetDevicePointer(address, *host, 0);
        if (result != LE_CU_SUCCESS)
            cuda->driver->MemFreeHost(*host);
    }
    return le_cuda_result(cuda, result, "allocating %zu bytes of %s memory", size_bytes, kind_words[kind]);
}

leat_status le_cuda_memory_new(void *native, enum le_memory_kind kind, size_t size_bytes, void **host,
                               uint64_t *address) {
    struct le_cuda_device *cuda = native;
    le_cu_context before;
    leat_status status = le_cuda_enter(cuda, &before);
    if (status)
        return status;
    if (kind == LE_MEMORY_DEVICE) {
        *host = NULL;
        status = le_cuda_result(cuda, cuda->driver->MemAlloc(address, size_bytes),
                                "allocating %zu bytes of device memory", size_bytes);
    } else {
        status = allocate_host(cuda, kind, size_bytes, host, address);
    }
    return le_cuda_leave(cuda, before, status);
}

/* Ignores the result of freeing: after a fatal error, it only repeats that error. */
void le_cuda_memory_free(void *native, enum le_memory_kind kind, void *host, uint64_t address, size_t size_bytes) {
    struct le_cuda_device *cuda = native;
    le_cu_context before;
    (void)size_bytes;
    if (!le_cuda_enter_to_free(cuda, &before))
        return;
    if (kind == LE_MEMORY_DEVICE)
        cuda->driver->MemFree(address);
    else
        cuda->driver->MemFreeHost(host);
    le_cuda_leave(cuda, before, LEAT_OK);
}

leat_status le_cuda_memory_info(void *native, size_t *free_bytes, size_t *total_bytes) {
    struct le_cuda_device *cuda = native;
    le_cu_context before;
    leat_status status = le_cuda_enter(cuda, &before);
    if (status)
        return status;
    status = le_cuda_result(cuda, cuda->driver->MemGetInfo(free_bytes, total_bytes), "asking for free memory");
    return le_cuda_leave(cuda, before, status);
}

void le_cuda_memory_note(void *native, uint64_t address, size_t size_bytes, bool live) {
    struct le_cuda_device *cuda = native;
    le_cu_context before;
    if (!le_cuda_enter_to_free(cuda, &before))
        return;
    cuda->driver->note_memory(address, size_bytes, live);
    le_cuda_leave(cuda, before, LEAT_OK);
}

/* ---- the caller's memory */

leat_status le_cuda_host_pin(void *native, void *memory, size_t size_bytes, uint64_t *address) {
    struct le_cuda_device *cuda = native;
    le_cu_context before;
    leat_status status = le_cuda_enter(cuda, &before);
    if (status)
        return status;
    unsigned flags = LE_CU_MEMHOSTREGISTER_PORTABLE | LE_CU_MEMHOSTREGISTER_DEVICEMAP;
    le_cu_result result = cuda->driver->MemHostRegister(memory, size_bytes, flags);
    if (result == LE_CU_SUCCESS) {
        result = cuda->driver->MemHostGetDevicePointer(address, memory, 0);
        if (result != LE_CU_SUCCESS)
            cuda->driver->MemHostUnregister(memory);
    }
    status = le_cuda_result(cuda, result, "page-locking %zu bytes at %p", size_bytes, memory);
    return le_cuda_leave(cuda, before, status);
}

leat_status le_cuda_host_unpin(void *native, void *memory) {
    struct le_cuda_device *cuda = native;
    le_cu_context before;
    leat_status status = le_cuda_enter(cuda, &before);
    if (status)
        return status;
    status = le_cuda_result(cuda, cuda->driver->MemHostUnregister(memory), "unlocking the pages at %p", memory);
    return le_cuda_leave(cuda, before, status);
}

static enum le_memory_kind host_kind(const struct le_cuda_device *cuda, const void *pointer, uint64_t *address) {
    void *memory;
    memcpy(&memory, &pointer, sizeof memory); /* the driver does not write through it */
    if (cuda->driver->MemHostGetDevicePointer(address, memory, 0) != LE_CU_SUCCESS)
        *address = 0;
    return LE_MEMORY_PINNED;
}

enum le_memory_kind le_cuda_pointer_kind(void *native, const void *pointer, uint64_t *address) {
    struct le_cuda_device *cuda = native;
    le_cu_context before;
    unsigned type = 0;
    enum le_memory_kind kind = LE_MEMORY_HOST;
    *address = 0;
    if (le_cuda_enter(cuda, &before))
        return kind;
    le_cu_deviceptr asked = (le_cu_deviceptr)(uintptr_t)pointer;
    /* PointerGetAttributes does not fail for memory that the driver does not know: the type stays 0 */
    le_cu_pointer_attribute attribute = LE_CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    void *values[] = {&type};
    le_cu_result result = cuda->driver->PointerGetAttributes(1, &attribute, values, asked);
    if (result == LE_CU_SUCCESS && type == LE_CU_MEMORYTYPE_HOST)
        kind = host_kind(cuda, pointer, address);
    if (result == LE_CU_SUCCESS && (type == LE_CU_MEMORYTYPE_DEVICE || type == LE_CU_MEMORYTYPE_UNIFIED)) {
        kind = LE_MEMORY_DEVICE;
        *address = asked;
    }
    le_cuda_leave(cuda, before, LEAT_OK);
    return kind;
}

/* ---- copies */

static le_cu_result copy_row(const struct le_cuda_driver *driver, const struct le_native_copy *copy, uint64_t target,
                             uint64_t source, size_t size_bytes, le_cu_stream stream) {
    if (copy->source_is_host && !copy->target_is_host)
        return driver->MemcpyHtoDAsync(target, (const void *)(uintptr_t)source, size_bytes, stream);
    if (copy->target_is_host && !copy->source_is_host)
        return driver->MemcpyDtoHAsync((void *)(uintptr_t)target, source, size_bytes, stream);
    if (copy->target_is_host)
        return driver->MemcpyAsync(target, source, size_bytes, stream);
    return driver->MemcpyDtoDAsync(target, source, size_bytes, stream);
}

/* Whether the distance of the rows of one side is a pitch that the driver accepts. */
static bool has_pitch(int64_t row_stride, const struct le_native_copy *copy) {
    return copy->rows == 1 || (row_stride >= (int64_t)copy->row_bytes && row_stride <= INT_MAX);
}

static size_t pitch_of(int64_t row_stride, const struct le_native_copy *copy) {
    return copy->rows == 1 ? copy->row_bytes : (size_t)row_stride;
}

static bool has_height(int64_t slice_stride, int64_t row_stride, const struct le_native_copy *copy) {
    int64_t pitch = (int64_t)pitch_of(row_stride, copy);
    return copy->slices == 1 || (slice_stride % pitch == 0 && slice_stride / pitch >= (int64_t)copy->rows);
}

static le_cu_result copy_slices(const struct le_cuda_driver *driver, const struct le_native_copy *copy, uint64_t target,
                                uint64_t source, size_t slices, le_cu_stream stream) {
    size_t target_pitch = pitch_of(copy->target_row_stride, copy),
           source_pitch = pitch_of(copy->source_row_stride, copy);
    le_cu_memcpy3d whole = {
        .srcMemoryType = copy->source_is_host ? LE_CU_MEMORYTYPE_HOST : LE_CU_MEMORYTYPE_DEVICE,
        .srcHost = copy->source_is_host ? (const void *)(uintptr_t)source : NULL,
        .srcDevice = copy->source_is_host ? 0 : source,
        .srcPitch = source_pitch,
        .srcHeight = slices == 1 ? copy->rows : (size_t)copy->source_slice_stride / source_pitch,
        .dstMemoryType = copy->target_is_host ? LE_CU_MEMORYTYPE_HOST : LE_CU_MEMORYTYPE_DEVICE,
        .dstHost = copy->target_is_host ? (void *)(uintptr_t)target : NULL,
        .dstDevice = copy->target_is_host ? 0 : target,
        .dstPitch = target_pitch,
        .dstHeight = slices == 1 ? copy->rows : (size_t)copy->target_slice_stride / target_pitch,
        .WidthInBytes = copy->row_bytes,
        .Height = copy->rows,
        .Depth = slices,
    };
    return driver->Memcpy3DAsync(&whole, stream);
}

static le_cu_result copy_each_slice(const struct le_cuda_driver *driver, const struct le_native_copy *copy,
                                    le_cu_stream stream) {
    bool pitched = has_pitch(copy->target_row_stride, copy) && has_pitch(copy->source_row_stride, copy);
    le_cu_result result = LE_CU_SUCCESS;
    for (size_t slice = 0; slice < copy->slices && result == LE_CU_SUCCESS; slice++) {
        uint64_t target = copy->target + (uint64_t)((int64_t)slice * copy->target_slice_stride);
        uint64_t source = copy->source + (uint64_t)((int64_t)slice * copy->source_slice_stride);
        if (pitched && copy->rows > 1) {
            result = copy_slices(driver, copy, target, source, 1, stream);
            continue;
        }
        for (size_t row = 0; row < copy->rows && result == LE_CU_SUCCESS; row++)
            result = copy_row(driver, copy, target + (uint64_t)((int64_t)row * copy->target_row_stride),
                              source + (uint64_t)((int64_t)row * copy->source_row_stride), copy->row_bytes, stream);
    }
    return result;
}

leat_status le_cuda_copy(void *native, void *stream, const struct le_native_copy *copy) {
    struct le_cuda_device *cuda = native;
    le_cu_context before;
    leat_status status = le_cuda_enter(cuda, &before);
    if (status)
        return status;
    le_cu_stream native_stream = le_cuda_stream_of(cuda, stream);
    bool whole = copy->slices > 1 && has_pitch(copy->target_row_stride, copy) &&
                 has_pitch(copy->source_row_stride, copy) &&
                 has_height(copy->target_slice_stride, copy->target_row_stride, copy) &&
                 has_height(copy->source_slice_stride, copy->source_row_stride, copy);
    le_cu_result result = whole
                              ? copy_slices(cuda->driver, copy, copy->target, copy->source, copy->slices, native_stream)
                              : copy_each_slice(cuda->driver, copy, native_stream);
    status = le_cuda_result(cuda, result, "copying %zu x %zu rows of %zu bytes from %s to %s memory", copy->slices,
                            copy->rows, copy->row_bytes, copy->source_is_host ? "host" : "device",
                            copy->target_is_host ? "host" : "device");
    return le_cuda_leave(cuda, before, status);
}

leat_status le_cuda_fill(void *native, void *stream, uint64_t address, uint32_t value, size_t count, int value_bytes) {
    struct le_cuda_device *cuda = native;
    le_cu_context before;
    leat_status status = le_cuda_enter(cuda, &before);
    if (status)
        return status;
    le_cu_stream to = le_cuda_stream_of(cuda, stream);
    le_cu_result result = value_bytes == 1   ? cuda->driver->MemsetD8Async(address, (unsigned char)value, count, to)
                          : value_bytes == 2 ? cuda->driver->MemsetD16Async(address, (unsigned short)value, count, to)
                                             : cuda->driver->MemsetD32Async(address, value, count, to);
    status = le_cuda_result(cuda, result, "filling %zu values of %d bytes", count, value_bytes);
    return le_cuda_leave(cuda, before, status);
}
