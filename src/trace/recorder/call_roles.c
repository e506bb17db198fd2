/* See call_roles.h. Names of runtime functions end with a version, "cudaMemcpy_v3020". Some runtime and driver
 * functions have "_ptds" or "_ptsz" before it, for per-thread default streams. */
#include "trace/recorder/call_roles.h"
#include <string.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof(*(a)))

static bool begins(const char *name, const char *with) {
    return strncmp(name, with, strlen(with)) == 0;
}

bool le_call_is(const char *name, const char *base) {
    size_t length = strlen(base);
    while (*name == '_')
        name++;
    return begins(name, base) && (name[length] == 0 || begins(name + length, "_v") || begins(name + length, "_ptds") ||
                                  begins(name + length, "_ptsz"));
}

/* The names end when a hundred numbers in a row have none. */
bool le_call_next(const struct le_cupti *cupti, le_cupti_domain domain, uint32_t *id, const char **name) {
    enum { HOLE = 100, MOST = 4096 };
    for (uint32_t next = *id + 1; next <= *id + HOLE && next < MOST; next++) {
        *name = NULL;
        if (cupti->get_callback_name(domain, next, name) != LE_CUPTI_SUCCESS || !*name)
            continue;
        *id = next;
        return true;
    }
    return false;
}

/* Functions whose callers are recorded; the names after "cu" or "cuda". */
static const char *const origins[] = {"Launch",        "GraphLaunch",     "Memcpy",          "Memset",
                                      "MemAlloc",      "MemFree",         "Malloc",          "Free",
                                      "HostAlloc",     "MemHostAlloc",    "MemHostRegister", "HostRegister",
                                      "ModuleLoad",    "LibraryLoad",     "LinkCreate",      "LinkComplete",
                                      "FuncLoad",      "GraphInstan",     "GraphExecUpdate", "StreamBeginCapture",
                                      "CtxSync",       "StreamSync",      "EventSync",       "DeviceSync",
                                      "ThreadSync",    "MemPrefetch",     "CtxCreate",       "DevicePrimaryCtxRetain",
                                      "ModuleGetFunc", "LibraryGetKernel"};

static const struct {
    const char *name; /* after "cu" or "cuda" */
    uint16_t roles;
} syncs[] = {{"EventSynchronize", LE_ROLE_SYNC_EVENT},    {"StreamWaitEvent", LE_ROLE_SYNC_STREAM_EVENT},
             {"StreamSynchronize", LE_ROLE_SYNC_STREAM},  {"CtxSynchronize", LE_ROLE_SYNC_CONTEXT},
             {"DeviceSynchronize", LE_ROLE_SYNC_CONTEXT}, {"ThreadSynchronize", LE_ROLE_SYNC_CONTEXT}};

uint16_t le_call_roles_of(const char *function_name) {
    static const struct {
        const char *name;
        uint16_t roles;
    } others[] = {
        {"cuMemcpyHtoD_v2", LE_ROLE_ORIGIN | LE_ROLE_UPLOAD | LE_ROLE_WAITS},
        {"cuMemcpyHtoDAsync_v2", LE_ROLE_ORIGIN | LE_ROLE_UPLOAD},
        {"cuMemcpyDtoH_v2", LE_ROLE_ORIGIN | LE_ROLE_DOWNLOAD | LE_ROLE_WAITS},
        {"cuMemcpyDtoHAsync_v2", LE_ROLE_ORIGIN | LE_ROLE_DOWNLOAD},
        {"cudaMemcpy", LE_ROLE_ORIGIN | LE_ROLE_EITHER | LE_ROLE_WAITS},
        {"cudaMemcpyAsync", LE_ROLE_ORIGIN | LE_ROLE_EITHER},
        {"cuProfilerStart", LE_ROLE_RESUME},
        {"cuProfilerStop", LE_ROLE_PAUSE},
        {"cudaProfilerStart", LE_ROLE_RESUME},
        {"cudaProfilerStop", LE_ROLE_PAUSE},
    };
    for (size_t k = 0; k < ARRAY_LEN(others); k++)
        if (le_call_is(function_name, others[k].name))
            return others[k].roles;
    while (*function_name == '_')
        function_name++;
    static const struct {
        const char *start; /* after "cu" or "cuda" */
        uint16_t roles;
    } starts[] = {{"StreamBeginCapture", LE_ROLE_GRAPH | LE_ROLE_CAPTURE_BEGIN},
                  {"StreamBeginRecaptureToGraph", LE_ROLE_GRAPH | LE_ROLE_CAPTURE_BEGIN},
                  {"StreamEndCapture", LE_ROLE_CAPTURE_END},
                  {"GraphCreate", LE_ROLE_GRAPH}};
    const char *rest = begins(function_name, "cuda") ? function_name + 4 : function_name + 2;
    if (!begins(function_name, "cu"))
        return 0;
    uint16_t roles = 0;
    for (size_t k = 0; k < ARRAY_LEN(syncs); k++)
        roles |= le_call_is(rest, syncs[k].name) ? syncs[k].roles : 0;
    for (size_t k = 0; k < ARRAY_LEN(starts); k++)
        roles |= begins(rest, starts[k].start) ? starts[k].roles : 0;
    if (begins(rest, "Launch") && !begins(rest, "LaunchHostFunc"))
        roles |= LE_ROLE_LAUNCH;
    for (size_t k = 0; k < ARRAY_LEN(origins); k++)
        roles |= begins(rest, origins[k]) ? LE_ROLE_ORIGIN : 0;
    return roles;
}
