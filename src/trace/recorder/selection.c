/* See selection.h. The list has the functions that only tell the program about itself. */
#include "trace/recorder/selection.h"
#include "trace/recorder/call_roles.h"

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

static bool is_left_out(const struct le_selection *selection, const char *function_name) {
    return le_selection_leaves_out(function_name) ||
           (selection->graphs_only && le_call_roles_of(function_name) & LE_ROLE_LAUNCH);
}

static void find_left_out(struct le_selection *selection, const struct le_cupti *cupti, le_cupti_domain domain) {
    int which = domain == LE_CUPTI_DOMAIN_RUNTIME;
    const char *name;
    for (uint32_t id = 0; le_call_next(cupti, domain, &id, &name);)
        if (is_left_out(selection, name) && selection->count[which] < LE_SELECTION_MOST)
            selection->ids[which][selection->count[which]++] = id;
}

void le_selection_find(struct le_selection *selection, const struct le_cupti *cupti) {
    selection->count[0] = selection->count[1] = 0;
    if (!cupti->select_driver || !cupti->select_runtime)
        return;
    find_left_out(selection, cupti, LE_CUPTI_DOMAIN_DRIVER);
    find_left_out(selection, cupti, LE_CUPTI_DOMAIN_RUNTIME);
}

typedef le_cupti_result select_function(uint32_t id, uint8_t is_on);

static bool pick_others(const struct le_selection *selection, const struct le_cupti *cupti, le_cupti_domain domain,
                        select_function *select) {
    const char *name;
    bool picked = select != NULL;
    for (uint32_t id = 0; picked && le_call_next(cupti, domain, &id, &name);)
        picked = is_left_out(selection, name) || select(id, 1) == LE_CUPTI_SUCCESS;
    return picked;
}

bool le_selection_pick(const struct le_selection *selection, const struct le_cupti *cupti) {
    return pick_others(selection, cupti, LE_CUPTI_DOMAIN_DRIVER, cupti->select_driver) &&
           pick_others(selection, cupti, LE_CUPTI_DOMAIN_RUNTIME, cupti->select_runtime);
}

void le_selection_leave_out(const struct le_selection *selection, const struct le_cupti *cupti) {
    for (int k = 0; k < selection->count[0]; k++)
        cupti->select_driver(selection->ids[0][k], 0);
    for (int k = 0; k < selection->count[1]; k++)
        cupti->select_runtime(selection->ids[1][k], 0);
}
