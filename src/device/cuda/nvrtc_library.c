/* Finds NVRTC in the first place where it is complete. NVRTC opens its builtins, a separate library, by soname. They
 * are loaded here from beside NVRTC, since the dynamic loader would not look there. */
#include "device/cuda/toolkit_search.h"
#include <pthread.h>
#include <stdio.h>

static struct le_search_line lines[LE_SEARCH_LINES];
static struct {
    struct le_nvrtc table;
    struct le_search search;
    bool was_loaded;
} nvrtc_library = {.search = {.lines = lines, .line_capacity = LE_SEARCH_LINES}};

static const struct le_library_symbol symbols[] = {
#define X(name, symbol, need, type, parameters) {symbol, offsetof(struct le_nvrtc, name), need, 0},
    LE_NVRTC_SYMBOLS(X)
#undef X
};

static bool take_nvrtc(void *user, struct le_search *search, const char *name, const char *path, void *library) {
    const struct le_search_request *request = user;
    char builtins[64], text[24];
    int major = 0, minor = 0;
    const struct le_library_symbol *missing =
        le_library_fill(symbols, ARRAY_LEN(symbols), le_library_dlsym, library, &nvrtc_library.table);
    if (missing) {
        le_search_log(search, name, path, "lacks %s", missing->name);
        return false;
    }
    if (nvrtc_library.table.Version(&major, &minor)) {
        le_search_log(search, name, path, "returns no version");
        return false;
    }
    if (request->major_max && major > request->major_max) {
        le_search_log(search, name, path, "for CUDA %d, newer than the driver's %d", major, request->major_max);
        return false;
    }
    snprintf(builtins, sizeof builtins, "libnvrtc-builtins.so.%d.%d", major, minor);
    if (!le_library_load_beside(path, builtins)) {
        le_search_log(search, name, path, "incomplete: %s is missing", builtins);
        return false;
    }
    search->version = 1000 * major + 10 * minor;
    snprintf(search->path, sizeof search->path, "%s", path);
    le_search_log(search, name, path, "found, %s", le_cuda_version_text(search->version, text));
    return true;
}

static void search_nvrtc(void) {
    static const char *const names[] = {LE_TOOLKIT_SONAMES("libnvrtc")}, *const below[] = {
                                                                             LE_TOOLKIT_FOLDERS("cuda_nvrtc")};
    struct le_search_request request = {.names = names, .below = below, .load = true, .take = take_nvrtc};
    request.user = &request;
    nvrtc_library.search.found =
        le_toolkit_library_find(&nvrtc_library.search, &request, "libnvrtc", &nvrtc_library.was_loaded);
    if (nvrtc_library.search.found)
        return;
    char newest[24] = "";
    if (request.major_max)
        snprintf(newest, sizeof newest, ", not above CUDA %d", request.major_max);
    snprintf(
        nvrtc_library.search.reason, sizeof nvrtc_library.search.reason,
        "NVRTC, which compiles CUDA C, was not found: install a CUDA toolkit or the wheel nvidia-cuda-nvrtc (12 or "
        "later%s), and set LEAT_CUDA_PATH to its folder if `leat devices` does not find it; Leat looks in "
        "LEAT_CUDA_PATH, where the dynamic loader looks, and in CUDA_PATH, /usr/local/cuda*, VIRTUAL_ENV and "
        "CONDA_PREFIX",
        newest);
}

const struct le_search *le_find_nvrtc(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, search_nvrtc);
    return &nvrtc_library.search;
}

bool le_nvrtc_was_loaded(void) {
    return nvrtc_library.was_loaded;
}

leat_status le_nvrtc_open(const struct le_nvrtc **nvrtc, int *version) {
    const struct le_search *search = le_find_nvrtc();
    if (!search->found)
        return le_fail(LEAT_UNSUPPORTED, "%s", search->reason);
    *nvrtc = &nvrtc_library.table;
    *version = search->version;
    return LEAT_OK;
}
