/* The CUDA backend over the simulator's driver table, with its calls counted: no event within one stream, the caller's
 * context restored, error messages, fatal errors latched. */
#include "base/memory.h"
#include "device/cuda/cuda_device.h"
#include "device/front/device_testing.h"
#include "sim/sim.h"
#include <stdio.h>

#define MIB ((size_t)1 << 20)

static struct le_cuda_driver driver;
static int events_made, records, waits, queries;
static le_cu_result next_synchronize, next_allocation;

static le_cu_result count_create(le_cu_event *event, unsigned flags) {
    events_made++;
    return le_sim_driver()->EventCreate(event, flags);
}
static le_cu_result count_record(le_cu_event event, le_cu_stream stream) {
    records++;
    return le_sim_driver()->EventRecord(event, stream);
}
static le_cu_result count_wait(le_cu_stream stream, le_cu_event event, unsigned flags) {
    waits++;
    return le_sim_driver()->StreamWaitEvent(stream, event, flags);
}
static le_cu_result count_query(le_cu_event event) {
    queries++;
    return le_sim_driver()->EventQuery(event);
}
static le_cu_result maybe_synchronize(le_cu_stream stream) {
    return next_synchronize ? next_synchronize : le_sim_driver()->StreamSynchronize(stream);
}
static le_cu_result maybe_allocate(le_cu_deviceptr *address, size_t size_bytes) {
    return next_allocation ? next_allocation : le_sim_driver()->MemAlloc(address, size_bytes);
}

static struct le_device *open_counted(void) {
    driver = *le_sim_driver();
    driver.EventCreate = count_create;
    driver.EventRecord = count_record;
    driver.StreamWaitEvent = count_wait;
    driver.EventQuery = count_query;
    driver.StreamSynchronize = maybe_synchronize;
    driver.MemAlloc = maybe_allocate;
    events_made = records = waits = queries = 0;
    next_synchronize = next_allocation = LE_CU_SUCCESS;
    struct le_device *device = le_device_allocate(NULL);
    assert_non_null(device);
    assert_int_equal(driver.Init(0), LE_CU_SUCCESS);
    const struct le_cuda_opening opening = {.driver = &driver, .cublas = le_sim_cublas(), .kind = "sim"};
    assert_ok(le_cuda_device_new(&opening, device));
    assert_ok(le_device_start(device));
    return device;
}

static void fill_allocation(struct le_device_stream *stream, struct le_allocation *allocation) {
    struct le_device *device = stream->device;
    const struct le_allocation_use use = {allocation, LE_ACCESS_WRITE};
    assert_ok(le_order_begin(stream, &use, 1));
    assert_ok(device->ops->fill(device->native, stream->native, allocation->address, 7, allocation->size_bytes / 4, 4));
    le_order_end(stream, &use, 1, true);
}

static void copy_allocation(struct le_device_stream *stream, struct le_allocation *target,
                            struct le_allocation *source) {
    struct le_device *device = stream->device;
    const struct le_allocation_use uses[2] = {{target, LE_ACCESS_WRITE}, {source, LE_ACCESS_READ}};
    const struct le_native_copy copy = {.target = target->host ? (uint64_t)(uintptr_t)target->host : target->address,
                                        .source = source->host ? (uint64_t)(uintptr_t)source->host : source->address,
                                        .target_is_host = target->host != NULL,
                                        .source_is_host = source->host != NULL,
                                        .row_bytes = target->size_bytes,
                                        .rows = 1,
                                        .slices = 1};
    assert_ok(le_order_begin(stream, uses, 2));
    assert_ok(device->ops->copy(device->native, stream->native, &copy));
    le_order_end(stream, uses, 2, true);
}

static void test_no_events_in_one_stream(void **state) {
    (void)state;
    struct le_device *device = open_counted();
    struct le_device_stream *stream = le_device_stream_own(device), *other = fake_stream_of(device);
    struct le_allocation *host = NULL, *kept = fake_allocation(device, MIB, stream);
    assert_ok(le_allocation_new(device, LE_MEMORY_PINNED, MIB, stream, &host));
    for (int k = 0; k < 100; k++) {
        struct le_allocation *allocation = fake_allocation(device, MIB, stream);
        fill_allocation(stream, allocation);
        copy_allocation(stream, kept, allocation);
        copy_allocation(stream, host, kept);
        le_allocation_free(allocation);
    }
    struct le_point point = le_device_stream_point(stream);
    assert_ok(le_device_wait_point(device, point.stream_id, point.number));
    assert_ok(le_device_stream_synchronize(stream));
    assert_int_equal(events_made + records + waits + queries, 0);
    assert_int_equal(((const uint32_t *)host->host)[MIB / 4 - 1], 7);
    fill_allocation(stream, kept);
    copy_allocation(other, host, kept); /* the first dependency that crosses streams */
    assert_int_equal(events_made, 1);
    assert_int_equal(records, 1);
    assert_int_equal(waits, 1);
    assert_ok(le_device_synchronize(device));
    le_allocation_free(host);
    le_allocation_free(kept);
    le_device_stream_free(other);
    le_device_close(device);
}

static void test_strides(void **state) {
    (void)state;
    enum { SLICES = 3, ROWS = 4, BYTES = 5 };
    static const struct {
        int64_t row, slice;
    } layouts[] = {{BYTES, BYTES * ROWS}, {8, 40}, {16, 67}, {-7, 50}, {7, -60}, {0, 0}};
    struct le_device *device = open_counted();
    struct le_device_stream *stream = le_device_stream_own(device);
    struct le_allocation *up = fake_allocation(device, 1024, stream), *down = NULL, *from = NULL;
    assert_ok(le_allocation_new(device, LE_MEMORY_PINNED, 1024, stream, &from));
    assert_ok(le_allocation_new(device, LE_MEMORY_PINNED, 1024, stream, &down));
    for (int k = 0; k < 1024; k++)
        ((unsigned char *)from->host)[k] = (unsigned char)(k * 7);
    copy_allocation(stream, up, from);
    for (size_t k = 0; k < ARRAY_LEN(layouts); k++) {
        const struct le_native_copy copy = {.target = (uint64_t)(uintptr_t)down->host,
                                            .source = up->address + 400,
                                            .target_is_host = true,
                                            .row_bytes = BYTES,
                                            .rows = ROWS,
                                            .slices = SLICES,
                                            .target_row_stride = 9,
                                            .target_slice_stride = 36,
                                            .source_row_stride = layouts[k].row,
                                            .source_slice_stride = layouts[k].slice};
        assert_ok(device->ops->copy(device->native, stream->native, &copy));
        assert_ok(le_device_stream_synchronize(stream));
        for (int64_t s = 0; s < SLICES; s++)
            for (int64_t r = 0; r < ROWS; r++)
                for (int64_t b = 0; b < BYTES; b++) {
                    int64_t at = 400 + s * layouts[k].slice + r * layouts[k].row + b;
                    assert_int_equal(((unsigned char *)down->host)[s * 36 + r * 9 + b], (unsigned char)(at * 7));
                }
    }
    le_allocation_free(up);
    le_allocation_free(from);
    le_allocation_free(down);
    le_device_close(device);
}

static void test_context_is_put_back(void **state) {
    (void)state;
    le_cu_context before = NULL, now = NULL;
    struct le_device *device = open_counted();
    assert_int_equal(driver.CtxGetCurrent(&before), LE_CU_SUCCESS);
    assert_null(before); /* no context is left current */
    struct le_allocation *allocation = fake_allocation(device, 1000, NULL);
    fill_allocation(le_device_stream_own(device), allocation);
    assert_ok(le_device_synchronize(device));
    assert_int_equal(driver.CtxGetCurrent(&now), LE_CU_SUCCESS);
    assert_null(now);
    struct le_cuda_device *cuda = device->native;
    assert_int_equal(driver.CtxSetCurrent(cuda->context), LE_CU_SUCCESS);
    fill_allocation(le_device_stream_own(device), allocation);
    assert_int_equal(driver.CtxGetCurrent(&now), LE_CU_SUCCESS);
    assert_ptr_equal(now, cuda->context);
    assert_int_equal(driver.CtxSetCurrent(NULL), LE_CU_SUCCESS);
    le_allocation_free(allocation);
    le_device_close(device);
}

static void test_errors(void **state) {
    (void)state;
    struct le_device *device = open_counted();
    struct le_cuda_device *cuda = device->native;
    struct le_device_stream *stream = fake_stream_of(device);
    struct le_allocation *allocation = NULL;
    assert_ok(le_cuda_result(cuda, LE_CU_SUCCESS, "nothing"));
    assert_int_equal(le_cuda_result(cuda, LE_CU_ERROR_INVALID_VALUE, "cuSomething of %d", 5), LEAT_DEVICE);
    assert_string_equal(le_error_at(0)->message, "cuSomething of 5: invalid argument (CUDA_ERROR_INVALID_VALUE)");
    assert_ok(le_device_check(device));
    assert_int_equal(le_cuda_result(cuda, 4711, "cuSomething"), LEAT_DEVICE);
    assert_message("error 4711");
    next_allocation = LE_CU_ERROR_OUT_OF_MEMORY;
    assert_int_equal(le_allocation_new(device, LE_MEMORY_DEVICE, 5 * MIB, stream, &allocation), LEAT_OUT_OF_MEMORY);
    assert_message("an array of 5242880 bytes does not fit: ");
    next_allocation = LE_CU_SUCCESS;
    assert_ok(le_device_check(device));
    static const le_cu_result fatal[] = {
        LE_CU_ERROR_ILLEGAL_ADDRESS,    LE_CU_ERROR_LAUNCH_FAILED,         LE_CU_ERROR_ASSERT,
        LE_CU_ERROR_MISALIGNED_ADDRESS, LE_CU_ERROR_ILLEGAL_INSTRUCTION,   LE_CU_ERROR_HARDWARE_STACK_ERROR,
        LE_CU_ERROR_INVALID_PC,         LE_CU_ERROR_INVALID_ADDRESS_SPACE, LE_CU_ERROR_LAUNCH_TIMEOUT,
        LE_CU_ERROR_ECC_UNCORRECTABLE,  LE_CU_ERROR_NVLINK_UNCORRECTABLE,  LE_CU_ERROR_CONTAINED,
        LE_CU_ERROR_TENSOR_MEMORY_LEAK};
    static const le_cu_result harmless[] = {LE_CU_ERROR_INVALID_VALUE, LE_CU_ERROR_OUT_OF_MEMORY, LE_CU_ERROR_NOT_READY,
                                            LE_CU_ERROR_LAUNCH_OUT_OF_RESOURCES, LE_CU_ERROR_NOT_FOUND};
    for (size_t k = 0; k < ARRAY_LEN(fatal); k++)
        assert_true(le_cuda_is_fatal(fatal[k]));
    for (size_t k = 0; k < ARRAY_LEN(harmless); k++)
        assert_false(le_cuda_is_fatal(harmless[k]));
    allocation = fake_allocation(device, 1000, stream);
    fill_allocation(stream, allocation);
    le_device_note_launch(stream, stream->number, "poke", (const unsigned[]){4, 1, 1}, (const unsigned[]){256, 1, 1});
    next_synchronize = LE_CU_ERROR_ILLEGAL_ADDRESS;
    assert_int_equal(le_device_stream_synchronize(stream), LEAT_DEVICE);
    assert_string_equal(le_error_at(0)->message,
                        "waiting for a stream: an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS); "
                        "after: kernel 'poke' launched as <<<(4,1,1),(256,1,1)>>> in stream 2");
    next_synchronize = LE_CU_SUCCESS;
    assert_int_equal(le_device_stream_synchronize(stream), LEAT_DEVICE);
    le_allocation_free(allocation);
    le_device_stream_free(stream);
    le_device_close(device);
}

static void test_wrong_streams(void **state) {
    (void)state;
    struct le_device *device = open_counted();
    struct le_device_stream *stream = NULL;
    assert_int_equal(le_device_stream_new(device, (void *)(uintptr_t)2, &stream), LEAT_UNSUPPORTED);
    assert_message("CU_STREAM_PER_THREAD");
    le_device_close(device);
    assert_int_equal(le_device_open("cuda:99", NULL, &device), LEAT_DEVICE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_events_in_one_stream), cmocka_unit_test(test_strides),
        cmocka_unit_test(test_context_is_put_back),     cmocka_unit_test(test_errors),
        cmocka_unit_test(test_wrong_streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
