/* Searches for a library of the toolkit: NVRTC or cuBLAS. */
#include "device/cuda/toolkit_search.h"
#include <stdio.h>

bool le_toolkit_library_find(struct le_search *search, struct le_search_request *request, const char *stem,
                             bool *loaded) {
    static const enum le_search_place loaded_already[] = {LE_SEARCH_LOADED, LE_SEARCH_END};
    static const enum le_search_place others[] = {LE_SEARCH_LEAT_CUDA_PATH, LE_SEARCH_LOADER, LE_SEARCH_CUDA_PATH,
                                                  LE_SEARCH_LOCAL,          LE_SEARCH_OWN,    LE_SEARCH_VIRTUAL_ENV,
                                                  LE_SEARCH_CONDA_PREFIX,   LE_SEARCH_END};
    char what[64];
    int newest = le_cuda_driver_version() / 1000;
    request->major_max = newest;
    if (!newest || newest > LE_CUDA_MAJOR_MAX)
        newest = LE_CUDA_MAJOR_MAX;
    int length = snprintf(what, sizeof what, "%s.so.%d", stem, LE_CUDA_MAJOR_MIN);
    if (newest > LE_CUDA_MAJOR_MIN)
        snprintf(what + length, sizeof what - (size_t)length, " to .%d", newest);
    request->what = what;
    *loaded = le_search_run(search, request, loaded_already);
    bool found = *loaded || le_search_run(search, request, others);
    request->what = NULL;
    return found;
}
