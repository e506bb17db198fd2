/* See selection.h. */
#include "trace/recorder/selection.h"
#include "trace/recorder/call_places.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof(*(a)))

static const char *const names[] = {
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

bool le_selection_has(const char *function_name) {
    for (size_t k = 0; k < ARRAY_LEN(names); k++)
        if (le_call_is(function_name, names[k]))
            return true;
    return false;
}

static void find(struct le_selection *selection, const struct le_cupti *cupti, le_cupti_domain domain) {
    int which = domain == LE_CUPTI_DOMAIN_RUNTIME;
    const char *name;
    for (uint32_t id = 0; le_call_next(cupti, domain, &id, &name);)
        if (le_selection_has(name) && selection->count[which] < LE_SELECTION_MOST)
            selection->ids[which][selection->count[which]++] = id;
}

void le_selection_find(struct le_selection *selection, const struct le_cupti *cupti) {
    *selection = (struct le_selection){0};
    if (cupti->select_driver)
        find(selection, cupti, LE_CUPTI_DOMAIN_DRIVER);
    if (cupti->select_runtime)
        find(selection, cupti, LE_CUPTI_DOMAIN_RUNTIME);
}

void le_selection_apply(const struct le_selection *selection, const struct le_cupti *cupti) {
    for (int k = 0; k < selection->count[0]; k++)
        cupti->select_driver(selection->ids[0][k], 0);
    for (int k = 0; k < selection->count[1]; k++)
        cupti->select_runtime(selection->ids[1][k], 0);
}
