/* The trace for tests of the reports, which is also tests/trace/small.trace. A Python program starts, compiles, and
 * runs 20 steps. Each step copies to the device, runs kernels in two streams and copies back. The program sleeps in the
 * middle. */
#ifndef LE_REPORT_TESTING_H
#define LE_REPORT_TESTING_H
#include "trace/trace_testing.h"

#define LE_EXAMPLE_KERNEL "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEEEEvi"

/* One step of 100 us that begins at `at`. */
static inline void le_example_step(struct le_made_trace *made, uint32_t source, uint64_t at) {
    uint32_t call = le_made_call_from(made, 4001, "cudaMemcpyAsync_v3020", at, 30000, source);
    le_made_transfer(made, call, 0x10000, 0x20000, 400000, 5);
    le_made_copy(made, call, 7, LE_TRACE_HTOD, LE_TRACE_PAGEABLE, true, 400000, at + 8000, 20000);
    call = le_made_call_from(made, 4001, "cudaLaunchKernel_v7000", at + 31000, 4000, source);
    le_made_call(made, 4001, "cuLaunchKernel", at + 31500, 3000);
    le_made_kernel(made, call, 7, "saxpy(float, float*)", at + 36000, 9000, 132, 256);
    call = le_made_call_from(made, 4001, "cudaLaunchKernel_v7000", at + 36000, 4000, source);
    le_made_kernel(made, call, 13, LE_EXAMPLE_KERNEL, at + 41000, 12000, 64, 128);
    call = le_made_call_from(made, 4001, "cudaMemcpy_v3020", at + 55000, 25000, source);
    le_made_copy(made, call, 7, LE_TRACE_DTOH, LE_TRACE_PAGEABLE, false, 400000, at + 58000, 20000);
}

static inline void le_example_make(struct le_made_trace *made) {
    const uint64_t start = 1000000;
    le_made_part(made, 4000);
    le_made_process(made, "python3 steps.py \"a, b\" <x>", "Python 3.12.1");
    le_made_device(made, 0, "NVIDIA H200", 132);
    le_made_thread(made, 4001, "python3");
    le_made_switch(made, start, true);
    uint32_t outer = le_made_source(made, "main", "/home/me/steps.py", 40, 0);
    uint32_t inner = le_made_source(made, "step", "/home/me/steps.py", 12, outer);
    le_made_call(made, 4001, "cuInit", start + 10000, 290000);
    le_made_call(made, 4001, "cudaMalloc_v3020", start + 310000, 90000);
    le_made_call_from(made, 4001, "cuModuleLoadData", start + 420000, 200000, outer);
    le_made_jit(made, 4001, 1, 3, 5000, start + 430000, 180000);
    le_made_range(made, 4001, "steps", start + 650000, 2400000);
    for (uint64_t k = 0; k < 20; k++)
        le_example_step(made, inner, start + 700000 + 100000 * k + (k < 10 ? 0 : 300000));
    uint32_t wait = le_made_call_from(made, 4001, "cudaDeviceSynchronize_v3020", start + 3010000, 20000, outer);
    le_made_sync(made, wait, LE_TRACE_SYNC_CONTEXT, 0xffffffffu, start + 3010000, 20000);
    le_made_end(made, start + 3200000, 4321);
    le_made_flush(made);
}
#endif
