/* sim as a driver, without kernels: handles, contexts, memory, copies, planned faults, fork and threads. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "sim/driver/sim_driver_test.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES 4096

/* ---- contexts and handles */

static void contexts_are_needed(void **state) {
    (void)state;
    le_cu_context now;
    le_cu_deviceptr address;
    ok(cu->CtxGetCurrent(&now));
    assert_ptr_equal(now, primary);
    ok(cu->CtxSetCurrent(NULL));
    fails(INVALID_CONTEXT, cu->MemAlloc(&address, 1));
    fails(INVALID_CONTEXT, cu->CtxSetCurrent((le_cu_context)(void *)&address));
    ok(cu->CtxSetCurrent(primary));
    ok(cu->DevicePrimaryCtxRelease(0));
    fails(CONTEXT_IS_DESTROYED, cu->MemAlloc(&address, 1));
    fails(INVALID_CONTEXT, cu->DevicePrimaryCtxRelease(0));
    fails(INVALID_DEVICE, cu->DevicePrimaryCtxRetain(&now, 1));
    ok(cu->DevicePrimaryCtxRetain(&primary, 0));
    ok(cu->MemAlloc(&address, 1));
}

static void *without_context(void *result) {
    le_cu_stream stream;
    *(le_cu_result *)result = cu->StreamCreate(&stream, 0);
    return NULL;
}

static void contexts_are_current_by_thread(void **state) {
    (void)state;
    pthread_t thread;
    le_cu_result result = LE_CU_SUCCESS;
    assert_int_equal(pthread_create(&thread, NULL, without_context, &result), 0);
    pthread_join(thread, NULL);
    assert_int_equal(result, LE_CU_ERROR_INVALID_CONTEXT);
}

static void invalid_handles_are_refused(void **state) {
    (void)state;
    le_cu_stream stream = stream_new(0), wrong = (le_cu_stream)(uintptr_t)0x1234560;
    le_cu_event event = event_new();
    le_cu_deviceptr address = device_new(16);
    le_cu_function function;
    fails(INVALID_HANDLE, cu->StreamSynchronize(wrong));
    fails(INVALID_HANDLE, cu->StreamSynchronize((le_cu_stream)(void *)event));
    fails(INVALID_HANDLE, cu->EventRecord((le_cu_event)(void *)stream, stream));
    ok(cu->StreamDestroy(stream));
    fails(INVALID_HANDLE, cu->StreamDestroy(stream));
    fails(INVALID_HANDLE, cu->StreamQuery(stream));
    fails(INVALID_HANDLE, cu->MemsetD8Async(address, 0, 1, stream));
    assert_ptr_not_equal(stream_new(0), stream); /* a new stream has another handle */
    ok(cu->EventDestroy(event));
    fails(INVALID_HANDLE, cu->EventSynchronize(event));
    fails(INVALID_HANDLE, cu->StreamWaitEvent(NULL, event, 0));
    fails(INVALID_HANDLE, cu->ModuleGetFunction(&function, NULL, "f"));
    fails(INVALID_HANDLE, cu->LaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    fails(INVALID_VALUE, cu->StreamCreate(&stream, 2));
    fails(INVALID_HANDLE, cu->StreamDestroy(NULL));
}

static void errors_have_names(void **state) {
    (void)state;
    const char *text;
    ok(cu->GetErrorName(700, &text));
    assert_string_equal(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
    ok(cu->GetErrorName(0, &text));
    assert_string_equal(text, "CUDA_SUCCESS");
    ok(cu->GetErrorString(700, &text));
    assert_string_equal(text, "an illegal memory access was encountered");
    fails(INVALID_VALUE, cu->GetErrorName(12345, &text));
    assert_null(text);
}

static void device_has_the_limits_of_one(void **state) {
    (void)state;
    char name[64], id[16];
    int value;
    size_t size_bytes;
    le_cu_uuid uuid;
    ok(cu->DeviceGetCount(&value));
    assert_int_equal(value, 1);
    fails(INVALID_DEVICE, cu->DeviceGet(&value, 1));
    ok(cu->DeviceGetName(name, sizeof name, 0));
    assert_string_equal(name, "Leat simulated device");
    ok(cu->DeviceGetName(name, 5, 0));
    assert_string_equal(name, "Leat");
    ok(cu->DeviceGetPCIBusId(id, sizeof id, 0));
    assert_int_equal(strlen(id), 12);
    fails(INVALID_VALUE, cu->DeviceGetPCIBusId(id, 12, 0));
    ok(cu->DeviceGetUuid(&uuid, 0));
    ok(cu->DeviceTotalMem(&size_bytes, 0));
    assert_int_equal(size_bytes, (size_t)4 << 30);
    ok(cu->DeviceGetAttribute(&value, LE_CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
    assert_int_equal(value, 32);
    fails(INVALID_VALUE, cu->DeviceGetAttribute(&value, 9999, 0));
}

/* ---- memory */

static void memory_is_counted(void **state) {
    (void)state;
    size_t before_bytes, after_bytes, total_bytes;
    le_cu_deviceptr address, other;
    ok(cu->MemGetInfo(&before_bytes, &total_bytes));
    assert_int_equal(before_bytes, total_bytes);
    fails(INVALID_VALUE, cu->MemAlloc(&address, 0));
    fails(OUT_OF_MEMORY, cu->MemAlloc(&address, total_bytes + 1));
    fails(OUT_OF_MEMORY, cu->MemAlloc(&address, SIZE_MAX));
    address = device_new(1);
    other = device_new(1000);
    assert_int_equal(address % 256, 0);
    assert_int_equal(other % 256, 0);
    ok(cu->MemGetInfo(&after_bytes, &total_bytes));
    assert_true(after_bytes < before_bytes);
    fails(INVALID_VALUE, cu->MemFree(address + 1));
    ok(cu->MemFree(address));
    fails(INVALID_VALUE, cu->MemFree(address));
    ok(cu->MemFree(other));
    ok(cu->MemFree(0));
    ok(cu->MemGetInfo(&after_bytes, &total_bytes));
    assert_int_equal(after_bytes, before_bytes);
}

static void memory_ends_at_the_cap(void **state) {
    (void)state;
    begin_again(&(struct le_sim_options){.memory_bytes = 1 << 20});
    le_cu_deviceptr address = device_new(1 << 19), other;
    fails(OUT_OF_MEMORY, cu->MemAlloc(&other, (1 << 19) + 1));
    ok(cu->MemFree(address));
    ok(cu->MemAlloc(&other, (1 << 19) + 1));
}

static void addresses_are_found_again(void **state) {
    (void)state;
    begin_again(&(struct le_sim_options){.memory_bytes = (size_t)1 << 30});
    for (int k = 0; k < 1000; k++) { /* far more memory than there are addresses */
        le_cu_deviceptr address = device_new((size_t)1 << 30);
        ok(cu->MemFree(address));
    }
}

static void pinned_memory_is_known(void **state) {
    (void)state;
    unsigned char *memory = pinned_new(BYTES);
    le_cu_deviceptr address;
    unsigned type;
    int ordinal;
    le_cu_context ctx;
    assert_int_equal((uintptr_t)memory % 4096, 0);
    ok(cu->MemHostGetDevicePointer(&address, memory + 8, 0));
    assert_int_equal(address, (uintptr_t)memory + 8);
    ok(cu->PointerGetAttribute(&type, LE_CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
    assert_int_equal(type, LE_CU_MEMORYTYPE_HOST);
    ok(cu->PointerGetAttribute(&type, LE_CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device_new(1)));
    assert_int_equal(type, LE_CU_MEMORYTYPE_DEVICE);
    ok(cu->PointerGetAttribute(&ordinal, LE_CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address));
    assert_int_equal(ordinal, 0);
    ok(cu->PointerGetAttribute(&ctx, LE_CU_POINTER_ATTRIBUTE_CONTEXT, address));
    assert_ptr_equal(ctx, primary);
    fails(INVALID_VALUE, cu->PointerGetAttribute(&type, LE_CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (uintptr_t)&type));
    fails(INVALID_VALUE, cu->MemFreeHost(memory + 1));
    ok(cu->MemFreeHost(memory));
    fails(INVALID_VALUE, cu->MemFreeHost(memory));
    fails(INVALID_VALUE, cu->MemHostGetDevicePointer(&address, memory, 0));
}

static void host_memory_is_registered(void **state) {
    (void)state;
    unsigned char *memory = malloc(3 * BYTES);
    le_cu_deviceptr address;
    ok(cu->MemHostRegister(memory + 100, BYTES, 0));
    fails(HOST_MEMORY_ALREADY_REGISTERED, cu->MemHostRegister(memory, BYTES, 0));
    ok(cu->MemHostGetDevicePointer(&address, memory + 100, 0));
    fails(INVALID_VALUE, cu->MemHostGetDevicePointer(&address, memory, 0));
    fails(HOST_MEMORY_NOT_REGISTERED, cu->MemHostUnregister(memory));
    ok(cu->MemHostUnregister(memory + 100));
    fails(HOST_MEMORY_NOT_REGISTERED, cu->MemHostUnregister(memory + 100));
    free(memory);
}

/* ---- copies */

static void copies_check_their_ranges(void **state) {
    (void)state;
    unsigned char host[16] = {0};
    le_cu_deviceptr address = device_new(16);
    fails(INVALID_VALUE, cu->MemcpyHtoDAsync(address, host, 17, NULL));
    fails(INVALID_VALUE, cu->MemcpyHtoDAsync(address + 1, host, 16, NULL));
    fails(INVALID_VALUE, cu->MemcpyHtoDAsync((uintptr_t)host, host, 16, NULL));
    fails(INVALID_VALUE, cu->MemcpyDtoHAsync(host, (uintptr_t)host, 16, NULL));
    fails(INVALID_VALUE, cu->MemcpyHtoDAsync(address, NULL, 16, NULL));
    fails(INVALID_VALUE, cu->MemsetD8Async(address, 1, 17, NULL));
    fails(INVALID_VALUE, cu->MemsetD32Async(address + 2, 1, 1, NULL));
    ok(cu->MemcpyHtoDAsync(address, host, 0, NULL));
    ok(cu->CtxSynchronize());
}

/* Pageable memory is read during the call, pinned memory when the copy runs. Copies to pageable memory wait. */
static void copies_run_late(void **state) {
    (void)state;
    unsigned char pageable[16], *pinned = pinned_new(16), back[16];
    le_cu_stream stream = stream_new(LE_CU_STREAM_NON_BLOCKING);
    le_cu_deviceptr first = device_new(16), second = device_new(16);
    memset(pageable, 1, 16);
    memset(pinned, 1, 16);
    ok(cu->MemcpyHtoDAsync(first, pageable, 16, stream));
    ok(cu->MemcpyHtoDAsync(second, pinned, 16, stream));
    memset(pageable, 2, 16);
    memset(pinned, 2, 16);
    ok(cu->MemcpyDtoHAsync(back, first, 16, stream));
    assert_int_equal(back[15], 1);
    ok(cu->MemcpyDtoHAsync(back, second, 16, stream));
    assert_int_equal(back[15], 2);
    memset(pinned, 0, 16);
    ok(cu->MemcpyDtoHAsync(pinned, first, 16, stream));
    assert_int_equal(pinned[15], 0); /* the copy has not run */
    ok(cu->StreamSynchronize(stream));
    assert_int_equal(pinned[15], 1);
}

static void fills_have_three_widths(void **state) {
    (void)state;
    le_cu_deviceptr address = device_new(64);
    unsigned char back[64];
    ok(cu->MemsetD8Async(address, 7, 64, NULL));
    ok(cu->MemsetD16Async(address + 2, 0x0201, 3, NULL));
    ok(cu->MemsetD32Async(address + 32, 0x04030201, 5, NULL));
    ok(cu->MemcpyDtoHAsync(back, address, 64, NULL));
    static const unsigned char words[] = {7, 7, 1, 2, 1, 2, 1, 2, 7};
    assert_memory_equal(back, words, sizeof words);
    for (size_t k = 0; k < 20; k++)
        assert_int_equal(back[32 + k], k % 4 + 1);
    assert_int_equal(back[52], 7);
}

static void copies_have_three_axes(void **state) {
    (void)state;
    unsigned char source[4][5][8], back[2][3][4];
    for (size_t k = 0; k < sizeof source; k++)
        ((unsigned char *)source)[k] = (unsigned char)k;
    le_cu_deviceptr address = device_new(2 * 6 * 16);
    le_cu_memcpy3d up = {.srcMemoryType = LE_CU_MEMORYTYPE_HOST,
                         .srcHost = source,
                         .srcXInBytes = 1,
                         .srcY = 2,
                         .srcZ = 1,
                         .srcPitch = 8,
                         .srcHeight = 5,
                         .dstMemoryType = LE_CU_MEMORYTYPE_DEVICE,
                         .dstDevice = address,
                         .dstPitch = 16,
                         .dstHeight = 6,
                         .WidthInBytes = 4,
                         .Height = 3,
                         .Depth = 2};
    le_cu_memcpy3d down = {.srcMemoryType = LE_CU_MEMORYTYPE_DEVICE,
                           .srcDevice = address,
                           .srcPitch = 16,
                           .srcHeight = 6,
                           .dstMemoryType = LE_CU_MEMORYTYPE_HOST,
                           .dstHost = back,
                           .dstPitch = 4,
                           .dstHeight = 3,
                           .WidthInBytes = 4,
                           .Height = 3,
                           .Depth = 2};
    ok(cu->Memcpy3DAsync(&up, NULL));
    ok(cu->Memcpy3DAsync(&down, NULL));
    for (int z = 0; z < 2; z++)
        for (int y = 0; y < 3; y++)
            for (int x = 0; x < 4; x++)
                assert_int_equal(back[z][y][x], source[z + 1][y + 2][x + 1]);
    up.dstPitch = 3;
    fails(INVALID_VALUE, cu->Memcpy3DAsync(&up, NULL));
    up.dstPitch = 16;
    up.Depth = 3;
    fails(INVALID_VALUE, cu->Memcpy3DAsync(&up, NULL));
}

/* ---- faults */

static void the_nth_fails(void **state) {
    (void)state;
    begin_again(&(struct le_sim_options){.only_on_wait = true, .faults = {.allocation = 3, .copy = 2, .module = 1}});
    le_cu_deviceptr address = device_new(8), other;
    void *memory;
    le_cu_module module;
    char byte = 0;
    ok(cu->MemHostAlloc(&memory, 8, 0));
    fails(OUT_OF_MEMORY, cu->MemAlloc(&other, 8));
    ok(cu->MemAlloc(&other, 8));
    ok(cu->MemcpyHtoDAsync(address, &byte, 1, NULL));
    fails(LAUNCH_FAILED, cu->MemcpyHtoDAsync(address, &byte, 1, NULL));
    ok(cu->MemcpyHtoDAsync(address, &byte, 1, NULL));
    fails(INVALID_IMAGE, cu->ModuleLoadDataEx(&module, "x", 0, NULL, NULL));
}

static void faults_come_from_the_environment(void **state) {
    (void)state;
    setenv("LEAT_SIM_FAULT", "allocation=2,memory=0x100000", 1);
    begin_again(NULL);
    unsetenv("LEAT_SIM_FAULT");
    size_t size_bytes;
    le_cu_deviceptr address = device_new(8);
    fails(OUT_OF_MEMORY, cu->MemAlloc(&address, 8));
    ok(cu->DeviceTotalMem(&size_bytes, 0));
    assert_int_equal(size_bytes, 1 << 20);
}

static void a_forked_child_gets_errors(void **state) {
    (void)state;
    pid_t child = fork();
    if (!child) {
        le_cu_deviceptr address;
        bool right = cu->MemAlloc(&address, 8) == LE_CU_ERROR_NOT_INITIALIZED &&
                     cu->Init(0) == LE_CU_ERROR_NOT_INITIALIZED && le_sim_configure(NULL) == LEAT_DEVICE;
        _exit(right ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    device_new(8);
}

/* ---- threads */

static void *work_in_a_stream(void *user) {
    uintptr_t value = (uintptr_t)user;
    le_cu_stream stream;
    le_cu_deviceptr address;
    unsigned char back[64];
    uintptr_t failed = cu->CtxSetCurrent(primary) || cu->StreamCreate(&stream, 1) || cu->MemAlloc(&address, 64);
    for (int k = 0; !failed && k < 200; k++) {
        memset(back, 0, sizeof back);
        failed = cu->MemsetD8Async(address, (unsigned char)value, 64, stream) ||
                 cu->MemcpyDtoHAsync(back, address, 64, stream) || back[63] != value;
    }
    failed = failed || cu->MemFree(address) || cu->StreamDestroy(stream);
    return (void *)failed;
}

static void threads_share_the_device(void **state) {
    (void)state;
    pthread_t threads[4];
    for (uintptr_t k = 0; k < 4; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, work_in_a_stream, (void *)(k + 1)), 0);
    for (int k = 0; k < 4; k++) {
        void *failed;
        pthread_join(threads[k], &failed);
        assert_null(failed);
    }
}

int main(void) {
#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(contexts_are_needed),
        TEST(contexts_are_current_by_thread),
        TEST(invalid_handles_are_refused),
        TEST(errors_have_names),
        TEST(device_has_the_limits_of_one),
        TEST(memory_is_counted),
        TEST(memory_ends_at_the_cap),
        TEST(addresses_are_found_again),
        TEST(pinned_memory_is_known),
        TEST(host_memory_is_registered),
        TEST(copies_check_their_ranges),
        TEST(copies_run_late),
        TEST(fills_have_three_widths),
        TEST(copies_have_three_axes),
        TEST(the_nth_fails),
        TEST(faults_come_from_the_environment),
        TEST(a_forked_child_gets_errors),
        TEST(threads_share_the_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
