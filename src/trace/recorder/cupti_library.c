/* See cupti_library.h. */
#include "trace/recorder/cupti_library.h"
#include "base/library_search.h"
#include "base/status.h"
#include "trace/recorder/cupti_layout.h"
#include <stdio.h>

static const char *const names[] = {
    "libcupti.so.13",   "libcupti.so.12",   "libcupti.so.11.8", "libcupti.so.11.7", "libcupti.so.11.6",
    "libcupti.so.11.5", "libcupti.so.11.4", "libcupti.so.11.3", "libcupti.so.11.2", NULL};
/* relative to a toolkit's root, conda's prefix, or site-packages/nvidia */
static const char *const folders[] = {"lib64",
                                      "lib",
                                      "extras/CUPTI/lib64",
                                      "extras/CUPTI/lib",
                                      "targets/x86_64-linux/lib",
                                      "targets/sbsa-linux/lib",
                                      "targets/aarch64-linux/lib",
                                      "cu13/lib",
                                      "cuda_cupti/lib",
                                      ".",
                                      NULL};
static const enum le_search_place search_order[] = {
    LE_SEARCH_LEAT_CUDA_PATH, LE_SEARCH_LOADED, LE_SEARCH_BESIDE_LOADED, LE_SEARCH_LOADER,       LE_SEARCH_CUDA_PATH,
    LE_SEARCH_LOCAL,          LE_SEARCH_OWN,    LE_SEARCH_VIRTUAL_ENV,   LE_SEARCH_CONDA_PREFIX, LE_SEARCH_END};

static const struct le_library_symbol symbols[] = {
#define X(name, symbol, need, parameters) {#symbol, offsetof(struct le_cupti, name), need, 0},
    LE_CUPTI_SYMBOLS(X) LE_CUPTI_YOUNGER_SYMBOLS(X)
#undef X
};

struct cupti_offer {
    struct le_cupti_library *library;
    le_cupti_take *take;
    void *user;
};

static bool check_library(void *user, struct le_search *search, const char *name, const char *path, void *handle) {
    const struct cupti_offer *offer = user;
    struct le_cupti_library *library = offer->library;
    (void)name;
    library->handle = handle;
    const struct le_library_symbol *missing =
        le_library_fill(symbols, ARRAY_LEN(symbols), le_library_dlsym, handle, &library->table);
    if (missing)
        snprintf(search->reason, sizeof search->reason, "%.160s lacks %s", path, missing->name);
    else if (library->table.get_version(&library->version) != LE_CUPTI_SUCCESS ||
             library->version < LE_CUPTI_VERSION_MIN)
        snprintf(search->reason, sizeof search->reason, "%.160s is too old: CUPTI of CUDA 10.0 or later is needed",
                 path);
    else if (offer->take(offer->user, library))
        return true;
    else
        snprintf(search->reason, sizeof search->reason, "%s", library->reason);
    return false;
}

bool le_cupti_library_open(struct le_cupti_library *library, le_cupti_take *offered, void *user) {
    struct cupti_offer offer = {.library = library, .take = offered, .user = user};
    const struct le_search_request request = {
        .what = "libcupti", .names = names, .below = folders, .load = true, .take = check_library, .user = &offer};
    struct le_search search = {.reason =
                                   "CUPTI was not found; install the CUDA toolkit or the package nvidia-cuda-cupti, or "
                                   "set LEAT_CUDA_PATH to its folder"};
    *library = (struct le_cupti_library){.version = 0};
    bool found = le_search_run(&search, &request, search_order);
    snprintf(library->reason, sizeof library->reason, "%.255s", search.reason);
    return found;
}
