/* Stand-ins for CUPTI and for CUDA's driver and runtime, for tests of the recorder without a GPU. The program calls the
 * driver functions below. These notify the stand-in for CUPTI, which calls back and writes activity records like CUPTI.
 * It crashes if a graph is launched that was created while kernels were not recorded, if it is flushed before the end
 * although there is a graph, and if a buffer is not cleared although the recorder promised that. Environment variables
 * of the stand-in for CUPTI: STANDIN_VERSION (default 130001), STANDIN_PICKS (default 1; 0: cannot select functions),
 * STANDIN_SUBSCRIBE (the error of cuptiSubscribe), STANDIN_DROPPED (the number of records that it reports as dropped),
 * STANDIN_MIG (1: the device is a MIG instance). */
#ifndef STANDIN_H
#define STANDIN_H
#include <stddef.h>
#include <stdint.h>

#define STANDIN_OUT __attribute__((visibility("default")))

/* ---- the driver and the runtime, with only the parameters that are used */
STANDIN_OUT int cuInit(unsigned flags);
STANDIN_OUT int cuDriverGetVersion(int *version);
STANDIN_OUT int cuLaunchKernel(const char *name);
STANDIN_OUT int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t size_bytes);
STANDIN_OUT int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t size_bytes);
STANDIN_OUT int cuGraphCreate(void); /* there is one graph, with one kernel */
STANDIN_OUT int cuGraphLaunch(void);
STANDIN_OUT int cuStreamBeginCapture_v2(void *stream,
                                        int mode); /* until it ends, launches of the thread run no kernels */
STANDIN_OUT int cuStreamEndCapture(void *stream);
STANDIN_OUT int cuStreamSynchronize(void *stream);
STANDIN_OUT int cuStreamWaitEvent(void *stream, void *event, unsigned flags);
STANDIN_OUT int cuProfilerStart(void);
STANDIN_OUT int cuProfilerStop(void);
STANDIN_OUT int cudaLaunchKernel(const char *name); /* calls cuLaunchKernel */
STANDIN_OUT int cudaGetDevice(int *device);
STANDIN_OUT int standin_everything(void); /* makes a record of each other kind */

/* ---- functions of the stand-in for CUPTI that the driver calls */
struct standin {
    /* the callbacks at the beginning and end of a call; the second one also writes the call's record */
    uint32_t (*enter)(int domain, uint32_t id, const void *parameters, uint64_t *start_ns);
    void (*leave)(int domain, uint32_t id, const void *parameters, uint32_t correlation, uint64_t start_ns);
    void (*kernel)(uint32_t correlation, const char *name);
    void (*copy)(uint32_t correlation, int direction, uint64_t size_bytes);
    void (*graph_made)(void);
    void (*graph_launched)(uint32_t correlation);
    void (*everything)(void);
};
STANDIN_OUT const struct standin *standin_table(void);

/* The numbers of the functions. */
enum {
    STANDIN_cuInit = 1,
    STANDIN_cuLaunchKernel,
    STANDIN_cuMemcpyHtoD_v2,
    STANDIN_cuMemcpyDtoH_v2,
    STANDIN_cuProfilerStart,
    STANDIN_cuProfilerStop,
    STANDIN_cuGraphCreate,
    STANDIN_cuGraphLaunch,
    STANDIN_cuStreamSynchronize,
    STANDIN_cuStreamWaitEvent,
    STANDIN_cuStreamBeginCapture_v2,
    STANDIN_cuStreamEndCapture,
    STANDIN_FUNCTIONS,
    STANDIN_cudaLaunchKernel_v7000 = 1,
    STANDIN_cudaGetDevice_v3020
};
#endif
