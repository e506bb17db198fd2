/* Shared by the tests of sim's driver: a context for each test, and functions that create objects. */
#ifndef LE_SIM_DRIVER_TEST_H
#define LE_SIM_DRIVER_TEST_H
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "sim/sim.h"

static const struct le_cuda_driver *cu;
static le_cu_context primary;

#define ok(call)               assert_int_equal(call, LE_CU_SUCCESS)
#define fails(error, call)     assert_int_equal(call, LE_CU_ERROR_##error)
#define near_ns(value, wanted) assert_in_range(value, (wanted)-50, (wanted) + 50)

static inline void open_with(const struct le_sim_options *options) {
    assert_int_equal(le_sim_configure(options), LEAT_OK);
    ok(cu->Init(0));
    ok(cu->DevicePrimaryCtxRetain(&primary, 0));
    ok(cu->CtxSetCurrent(primary));
}

static inline int begin(void **state) {
    (void)state;
    cu = le_sim_driver();
    open_with(&(struct le_sim_options){.seed = 1, .only_on_wait = true});
    return 0;
}

static inline int end(void **state) {
    (void)state;
    return cu->DevicePrimaryCtxRelease(0);
}

static inline void begin_again(const struct le_sim_options *options) {
    ok(cu->DevicePrimaryCtxRelease(0));
    open_with(options);
}

static inline le_cu_stream stream_new(unsigned flags) {
    le_cu_stream stream;
    ok(cu->StreamCreate(&stream, flags));
    return stream;
}

static inline le_cu_event event_new(void) {
    le_cu_event event;
    ok(cu->EventCreate(&event, 0));
    return event;
}

static inline le_cu_deviceptr device_new(size_t size_bytes) {
    le_cu_deviceptr address;
    ok(cu->MemAlloc(&address, size_bytes));
    return address;
}

static inline unsigned char *pinned_new(size_t size_bytes) {
    void *memory;
    ok(cu->MemHostAlloc(&memory, size_bytes, 0));
    return memory;
}
#endif
