/* See selection.h. */
#include "trace/recorder/selection.h"
#include "trace/recorder/call_places.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof(*(a)))

static const char *const left_out[] = {
    "cudaGetDevice",
    "cudaGetDeviceCount",
    "cudaDeviceGetAttribute",
    "cudaGetLastError",
    "cudaPeekAtLastError",
    "cudaPointerGetAttributes",
    "cudaStreamIsCapturing",
    "cudaStreamGetCaptureInfo",
    "cudaDriverGetVersion",
    "cudaRuntimeGetVersion",
    "cudaGetDriverEntryPoint",
    "cudaPushCallConfiguration",
    "cudaPopCallConfiguration",
    "cuDeviceGet",
    "cuDeviceGetCount",
    "cuDeviceGetAttribute",
    "cuCtxGetCurrent",
    "cuCtxSetCurrent",
    "cuCtxGetDevice",
    "cuCtxPushCurrent",
    "cuCtxPopCurrent",
    "cuDevicePrimaryCtxGetState",
    "cuDriverGetVersion",
    "cuGetProcAddress",
    "cuKernelGetName",
    "cuFuncGetName",
    "cuPointerGetAttribute",
    "cuPointerGetAttributes",
    "cuStreamIsCapturing",
    "cuStreamGetCaptureInfo",
    "cuStreamGetCtx",
    "cuGetErrorName",
    "cuGetErrorString",
};

bool le_selection_leaves_out(const char *function_name) {
    for (size_t k = 0; k < ARRAY_LEN(left_out); k++)
        if (le_call_is(function_name, left_out[k]))
            return true;
    return false;
}

bool le_selection_is_possible(const struct le_cupti *cupti) {
    return cupti->select_driver && cupti->select_runtime;
}

static void select_functions(const struct le_cupti *cupti, bool are_left_out, uint8_t is_on) {
    const char *name;
    for (uint32_t id = 0; le_call_next(cupti, LE_CUPTI_DOMAIN_DRIVER, &id, &name);)
        if (le_selection_leaves_out(name) == are_left_out)
            cupti->select_driver(id, is_on);
    for (uint32_t id = 0; le_call_next(cupti, LE_CUPTI_DOMAIN_RUNTIME, &id, &name);)
        if (le_selection_leaves_out(name) == are_left_out)
            cupti->select_runtime(id, is_on);
}

void le_selection_pick(const struct le_cupti *cupti) {
    select_functions(cupti, false, 1);
}

void le_selection_leave_out(const struct le_cupti *cupti) {
    select_functions(cupti, true, 0);
}
