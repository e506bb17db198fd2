/* See standin.h: stands in for libcuda.so.1, and includes a function of the runtime. cuInit loads the library that
 * CUDA_INJECTION64_PATH names, once per process. */
#include "standin.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

enum { DRIVER = 1, RUNTIME = 2, UP = 1, DOWN = 2 };

static const struct standin *cupti; /* NULL: there is none, or it is not loaded */

static void start(void) {
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *recorder = path ? dlopen(path, RTLD_NOW) : NULL, *library;
    int (*initialize)(void) = NULL;
    const struct standin *(*table)(void) = NULL;
    if (recorder)
        *(void **)&initialize = dlsym(recorder, "InitializeInjection");
    if (!initialize)
        return;
    initialize();
    library = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
    if (library)
        *(void **)&table = dlsym(library, "standin_table");
    cupti = table ? table() : NULL;
}

int cuInit(unsigned flags) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start);
    return (int)flags;
}

int cuDriverGetVersion(int *version) {
    *version = 13000;
    return 0;
}

static _Thread_local bool is_capturing;

int cuLaunchKernel(const char *name) {
    uint64_t start_ns;
    if (!cupti)
        return 0;
    uint32_t correlation = cupti->enter(DRIVER, STANDIN_cuLaunchKernel, NULL, &start_ns);
    if (!is_capturing)
        cupti->kernel(correlation, name);
    cupti->leave(DRIVER, STANDIN_cuLaunchKernel, NULL, correlation, start_ns);
    return 0;
}

int cudaLaunchKernel(const char *name) {
    uint64_t start_ns;
    if (!cupti)
        return 0;
    uint32_t correlation = cupti->enter(RUNTIME, STANDIN_cudaLaunchKernel_v7000, NULL, &start_ns);
    cuLaunchKernel(name);
    cupti->leave(RUNTIME, STANDIN_cudaLaunchKernel_v7000, NULL, correlation, start_ns);
    return 0;
}

/* A call with no record except its own. */
static int record(int domain, uint32_t function, const void *parameters) {
    uint64_t start_ns;
    if (!cupti)
        return 0;
    uint32_t correlation = cupti->enter(domain, function, parameters, &start_ns);
    cupti->leave(domain, function, parameters, correlation, start_ns);
    return 0;
}

int cudaGetDevice(int *device) {
    *device = 0;
    return record(RUNTIME, STANDIN_cudaGetDevice_v3020, NULL);
}

int cuStreamBeginCapture_v2(void *stream, int mode) {
    struct {
        void *stream;
        int mode;
    } parameters = {stream, mode};
    is_capturing = true;
    return record(DRIVER, STANDIN_cuStreamBeginCapture_v2, &parameters);
}

int cuStreamEndCapture(void *stream) {
    struct {
        void *stream;
    } parameters = {stream};
    is_capturing = false;
    if (cupti)
        cupti->graph_made();
    return record(DRIVER, STANDIN_cuStreamEndCapture, &parameters);
}

int cuStreamSynchronize(void *stream) {
    struct {
        void *stream;
    } parameters = {stream};
    return record(DRIVER, STANDIN_cuStreamSynchronize, &parameters);
}

int cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
    struct {
        void *stream, *event;
        unsigned flags;
    } parameters = {stream, event, flags};
    return record(DRIVER, STANDIN_cuStreamWaitEvent, &parameters);
}

int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t size_bytes) {
    struct {
        uint64_t to;
        const void *from;
        size_t size_bytes;
    } parameters = {to, from, size_bytes};
    uint64_t start_ns;
    if (!cupti)
        return 0;
    uint32_t correlation = cupti->enter(DRIVER, STANDIN_cuMemcpyHtoD_v2, &parameters, &start_ns);
    cupti->copy(correlation, UP, size_bytes);
    cupti->leave(DRIVER, STANDIN_cuMemcpyHtoD_v2, &parameters, correlation, start_ns);
    return 0;
}

int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t size_bytes) {
    struct {
        void *to;
        uint64_t from;
        size_t size_bytes;
    } parameters = {to, from, size_bytes};
    uint64_t start_ns;
    if (!cupti)
        return 0;
    uint32_t correlation = cupti->enter(DRIVER, STANDIN_cuMemcpyDtoH_v2, &parameters, &start_ns);
    cupti->copy(correlation, DOWN, size_bytes);
    cupti->leave(DRIVER, STANDIN_cuMemcpyDtoH_v2, &parameters, correlation, start_ns);
    return 0;
}

int cuGraphCreate(void) {
    uint64_t start_ns;
    if (!cupti)
        return 0;
    uint32_t correlation = cupti->enter(DRIVER, STANDIN_cuGraphCreate, NULL, &start_ns);
    cupti->graph_made();
    cupti->leave(DRIVER, STANDIN_cuGraphCreate, NULL, correlation, start_ns);
    return 0;
}

int cuGraphLaunch(void) {
    uint64_t start_ns;
    if (!cupti)
        return 0;
    uint32_t correlation = cupti->enter(DRIVER, STANDIN_cuGraphLaunch, NULL, &start_ns);
    cupti->graph_launched(correlation);
    cupti->leave(DRIVER, STANDIN_cuGraphLaunch, NULL, correlation, start_ns);
    return 0;
}

int cuProfilerStart(void) {
    return record(DRIVER, STANDIN_cuProfilerStart, NULL);
}

int cuProfilerStop(void) {
    return record(DRIVER, STANDIN_cuProfilerStop, NULL);
}

int standin_everything(void) {
    if (cupti)
        cupti->everything();
    return 0;
}
