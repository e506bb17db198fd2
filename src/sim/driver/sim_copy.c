/* Copies and fills: checked and enqueued here, run later on sim's thread. Pageable memory is read during the call, and
 * written before it returns; pinned memory is accessed when the copy runs. Guarded by the state's lock. */
#include "base/memory.h"
#include "sim/driver/sim_state.h"
#include <string.h>

enum side { SIDE_PAGEABLE, SIDE_HOST, SIDE_DEVICE, SIDE_BAD };

/* The kind of memory of a range. A range that is only partly in known memory is SIDE_BAD. */
static enum side side_of(uintptr_t address, size_t size_bytes) {
    if (!address)
        return SIDE_BAD;
    const struct sim_allocation *first = le_sim_memory_find(address, 1);
    if (!first)
        return SIDE_PAGEABLE;
    if (!le_sim_memory_find(address, size_bytes))
        return SIDE_BAD;
    return first->kind == SIM_ALLOCATION_PINNED || first->kind == SIM_ALLOCATION_REGISTERED ? SIDE_HOST : SIDE_DEVICE;
}

/* The distance from the first byte of the copy to the end of the last. */
static size_t extent_bytes(const struct sim_copy *copy, size_t row_stride, size_t slice_stride) {
    return (copy->slices - 1) * slice_stride + (copy->rows - 1) * row_stride + copy->row_bytes;
}

static void rows_copy(char *target, const char *source, const struct sim_copy *copy, size_t target_row,
                      size_t target_slice, size_t source_row, size_t source_slice) {
    for (size_t z = 0; z < copy->slices; z++)
        for (size_t y = 0; y < copy->rows; y++)
            memmove(target + z * target_slice + y * target_row, source + z * source_slice + y * source_row,
                    copy->row_bytes);
}

/* Copies the pageable source, without gaps, into op->staged, which becomes the source. */
static bool stage_source(struct sim_op *op) {
    struct sim_copy *copy = &op->copy;
    size_t row = copy->row_bytes, slice = row * copy->rows;
    op->staged = le_alloc(slice * copy->slices);
    if (!op->staged)
        return false;
    rows_copy(op->staged, (const char *)copy->source, copy, row, slice, copy->source_row_stride,
              copy->source_slice_stride);
    copy->source = (uintptr_t)op->staged;
    copy->source_row_stride = row;
    copy->source_slice_stride = slice;
    return true;
}

/* Reports the accesses of the copy to the check, row by row. */
static void check_copy(const struct sim_op *op, bool write) {
    const struct sim_copy *copy = &op->copy;
    uintptr_t at = write ? copy->target : copy->source;
    size_t row = write ? copy->target_row_stride : copy->source_row_stride;
    size_t slice = write ? copy->target_slice_stride : copy->source_slice_stride;
    struct sim_check *check = le_sim_state()->check;
    for (size_t z = 0; z < copy->slices; z++)
        for (size_t y = 0; y < copy->rows; y++)
            le_sim_check_range(check, op->number, copy->name, at + z * slice + y * row, copy->row_bytes, write);
}

void le_sim_copy_run(const struct sim_op *op) {
    const struct sim_copy *copy = &op->copy;
    if (le_sim_state()->check && copy->source_known)
        check_copy(op, false);
    rows_copy((char *)copy->target, (const char *)copy->source, copy, copy->target_row_stride,
              copy->target_slice_stride, copy->source_row_stride, copy->source_slice_stride);
    if (le_sim_state()->check && copy->target_known)
        check_copy(op, true);
}

void le_sim_fill_run(const struct sim_op *op) {
    const struct sim_fill *fill = &op->fill;
    size_t step = (size_t)fill->value_bytes, size_bytes = fill->count * step;
    char *target = (char *)fill->target;
    memcpy(target, &fill->value, step);
    for (size_t done = step; done < size_bytes; done *= 2) /* doubles the part that is filled */
        memcpy(target + done, target, done < size_bytes - done ? done : size_bytes - done);
    if (le_sim_state()->check)
        le_sim_check_range(le_sim_state()->check, op->number, "fill", fill->target, size_bytes, true);
}

/* ---- enqueueing */

/* Sets the engine, the duration and the name of a copy. */
static void plan_copy(struct sim_op *op, enum side target, enum side source, size_t size_bytes) {
    static const char *const names[2][2] = {{"copy in host memory", "copy to the host"},
                                            {"copy to the device", "copy on the device"}};
    op->copy.name = names[target == SIDE_DEVICE][source == SIDE_DEVICE];
    op->copy.target_known = target != SIDE_PAGEABLE;
    op->copy.source_known = source != SIDE_PAGEABLE;
    op->engine = target != SIDE_DEVICE ? SIM_ENGINE_DOWN : source != SIDE_DEVICE ? SIM_ENGINE_UP : SIM_ENGINE_COMPUTE;
    op->lanes = SIM_LANES;
    op->duration_ns =
        target == SIDE_PAGEABLE ? le_sim_copy_down_pageable_ns(size_bytes) : le_sim_copy_ns(op->engine, size_bytes);
}

static le_cu_result stage_and_enqueue(struct sim_op *op, struct sim_stream *stream, enum side target,
                                      enum side source) {
    size_t size_bytes = op->copy.row_bytes * op->copy.rows * op->copy.slices;
    plan_copy(op, target, source, size_bytes);
    if (source == SIDE_PAGEABLE) {
        if (!stage_source(op)) {
            le_sim_op_free(op);
            return LE_CU_ERROR_OUT_OF_MEMORY;
        }
        le_sim_state()->clock_ns += le_sim_stage_ns(size_bytes);
    }
    le_cu_result result = le_sim_enqueue(stream, op);
    if (!result && target == SIDE_PAGEABLE)
        le_sim_wait_stream(stream);
    return result;
}

enum { EXPECT_ANY, EXPECT_HOST, EXPECT_DEVICE };

static bool as_expected(enum side side, int expected) {
    return side != SIDE_BAD && (expected == EXPECT_ANY || (expected == EXPECT_DEVICE) == (side == SIDE_DEVICE) ||
                                (expected == EXPECT_DEVICE && side == SIDE_HOST));
}

static le_cu_result submit_copy(const struct sim_copy *asked, int target_is, int source_is, le_cu_stream handle) {
    struct sim_state *state = le_sim_state();
    struct sim_stream *stream = le_sim_stream_of(handle);
    if (!stream)
        return LE_CU_ERROR_INVALID_HANDLE;
    if (!asked->row_bytes || !asked->rows || !asked->slices)
        return LE_CU_SUCCESS;
    enum side target =
        side_of(asked->target, extent_bytes(asked, asked->target_row_stride, asked->target_slice_stride));
    enum side source =
        side_of(asked->source, extent_bytes(asked, asked->source_row_stride, asked->source_slice_stride));
    if (!as_expected(target, target_is) || !as_expected(source, source_is))
        return LE_CU_ERROR_INVALID_VALUE;
    if (le_sim_fault_now(&state->counts.copy, state->options.faults.copy))
        return LE_CU_ERROR_LAUNCH_FAILED;
    struct sim_op *op = le_alloc_zero(1, sizeof *op);
    if (!op)
        return LE_CU_ERROR_OUT_OF_MEMORY;
    op->kind = SIM_OP_COPY;
    op->copy = *asked;
    return stage_and_enqueue(op, stream, target, source);
}

static le_cu_result copy_flat(uintptr_t target, uintptr_t source, size_t size_bytes, int target_is, int source_is,
                              le_cu_stream stream) {
    le_cu_result result = le_sim_enter(SIM_CALL_COPY);
    if (result)
        return result;
    struct sim_copy asked = {.target = target, .source = source, .row_bytes = size_bytes, .rows = 1, .slices = 1};
    return le_sim_leave(submit_copy(&asked, target_is, source_is, stream));
}

le_cu_result le_sim_MemcpyHtoDAsync(le_cu_deviceptr target, const void *source, size_t size_bytes,
                                    le_cu_stream stream) {
    return copy_flat(target, (uintptr_t)source, size_bytes, EXPECT_DEVICE, EXPECT_HOST, stream);
}

le_cu_result le_sim_MemcpyDtoHAsync(void *target, le_cu_deviceptr source, size_t size_bytes, le_cu_stream stream) {
    return copy_flat((uintptr_t)target, source, size_bytes, EXPECT_HOST, EXPECT_DEVICE, stream);
}

le_cu_result le_sim_MemcpyDtoDAsync(le_cu_deviceptr target, le_cu_deviceptr source, size_t size_bytes,
                                    le_cu_stream stream) {
    return copy_flat(target, source, size_bytes, EXPECT_DEVICE, EXPECT_DEVICE, stream);
}

le_cu_result le_sim_MemcpyAsync(le_cu_deviceptr target, le_cu_deviceptr source, size_t size_bytes,
                                le_cu_stream stream) {
    return copy_flat(target, source, size_bytes, EXPECT_ANY, EXPECT_ANY, stream);
}

/* ---- copies with three axes */

struct copy_operand {
    int type; /* LE_CU_MEMORYTYPE_... */
    const void *host;
    le_cu_deviceptr device;
    const void *array;
    size_t x_bytes, y, z, pitch_bytes, height;
};

/* false: the description is invalid. expected: EXPECT_..., from the operand's memory type. */
static bool read_operand(const struct copy_operand *operand, const le_cu_memcpy3d *shape, uintptr_t *address,
                         size_t *row, size_t *slice, int *expected) {
    size_t row_bytes = operand->pitch_bytes, rows = operand->height;
    if (!row_bytes && shape->Height <= 1 && !operand->y)
        row_bytes = operand->x_bytes + shape->WidthInBytes;
    if (!rows && shape->Depth <= 1 && !operand->z)
        rows = operand->y + shape->Height;
    if (operand->array || row_bytes < operand->x_bytes + shape->WidthInBytes || rows < operand->y + shape->Height)
        return false;
    uintptr_t start = operand->type == LE_CU_MEMORYTYPE_HOST ? (uintptr_t)operand->host : (uintptr_t)operand->device;
    if (operand->type == LE_CU_MEMORYTYPE_HOST)
        *expected = EXPECT_HOST;
    else if (operand->type == LE_CU_MEMORYTYPE_DEVICE)
        *expected = EXPECT_DEVICE;
    else if (operand->type == LE_CU_MEMORYTYPE_UNIFIED)
        *expected = EXPECT_ANY;
    else
        return false;
    *row = row_bytes;
    *slice = row_bytes * rows;
    *address = start + operand->z * *slice + operand->y * row_bytes + operand->x_bytes;
    return true;
}

static le_cu_result copy_3d(const le_cu_memcpy3d *shape, le_cu_stream stream) {
    if (!shape)
        return LE_CU_ERROR_INVALID_VALUE;
    struct copy_operand to = {shape->dstMemoryType, shape->dstHost,     shape->dstDevice,
                              shape->dstArray,      shape->dstXInBytes, shape->dstY,
                              shape->dstZ,          shape->dstPitch,    shape->dstHeight};
    struct copy_operand from = {shape->srcMemoryType, shape->srcHost,     shape->srcDevice,
                                shape->srcArray,      shape->srcXInBytes, shape->srcY,
                                shape->srcZ,          shape->srcPitch,    shape->srcHeight};
    struct sim_copy asked = {.row_bytes = shape->WidthInBytes, .rows = shape->Height, .slices = shape->Depth};
    int target_is, source_is;
    if (!read_operand(&to, shape, &asked.target, &asked.target_row_stride, &asked.target_slice_stride, &target_is) ||
        !read_operand(&from, shape, &asked.source, &asked.source_row_stride, &asked.source_slice_stride, &source_is))
        return LE_CU_ERROR_INVALID_VALUE;
    return submit_copy(&asked, target_is, source_is, stream);
}

le_cu_result le_sim_Memcpy3DAsync(const le_cu_memcpy3d *shape, le_cu_stream stream) {
    le_cu_result result = le_sim_enter(SIM_CALL_COPY);
    return result ? result : le_sim_leave(copy_3d(shape, stream));
}

/* ---- fills */

static le_cu_result submit_fill(uintptr_t target, uint32_t value, int value_bytes, size_t count, le_cu_stream handle) {
    struct sim_state *state = le_sim_state();
    struct sim_stream *stream = le_sim_stream_of(handle);
    size_t size_bytes;
    if (!stream)
        return LE_CU_ERROR_INVALID_HANDLE;
    if (!count)
        return LE_CU_SUCCESS;
    if (!le_mul_size(count, (size_t)value_bytes, &size_bytes) || target % (size_t)value_bytes ||
        !le_sim_memory_find(target, size_bytes))
        return LE_CU_ERROR_INVALID_VALUE;
    if (le_sim_fault_now(&state->counts.copy, state->options.faults.copy))
        return LE_CU_ERROR_LAUNCH_FAILED;
    struct sim_op *op = le_alloc_zero(1, sizeof *op);
    if (!op)
        return LE_CU_ERROR_OUT_OF_MEMORY;
    op->kind = SIM_OP_FILL;
    op->engine = SIM_ENGINE_COMPUTE;
    op->lanes = SIM_LANES;
    op->duration_ns = le_sim_fill_ns(size_bytes);
    op->fill = (struct sim_fill){target, count, value_bytes, value};
    return le_sim_enqueue(stream, op);
}

le_cu_result le_sim_MemsetD8Async(le_cu_deviceptr target, unsigned char value, size_t count, le_cu_stream stream) {
    le_cu_result result = le_sim_enter(SIM_CALL_LAUNCH);
    return result ? result : le_sim_leave(submit_fill(target, value, 1, count, stream));
}

le_cu_result le_sim_MemsetD16Async(le_cu_deviceptr target, unsigned short value, size_t count, le_cu_stream stream) {
    le_cu_result result = le_sim_enter(SIM_CALL_LAUNCH);
    return result ? result : le_sim_leave(submit_fill(target, value, 2, count, stream));
}

le_cu_result le_sim_MemsetD32Async(le_cu_deviceptr target, unsigned value, size_t count, le_cu_stream stream) {
    le_cu_result result = le_sim_enter(SIM_CALL_LAUNCH);
    return result ? result : le_sim_leave(submit_fill(target, value, 4, count, stream));
}
