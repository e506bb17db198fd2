/* What the searches for CUDA's libraries share: acceptable CUDA versions, and the folders of a toolkit's libraries. The
 * places and the walk over them are in base/library_search.h. Only for driver_library.c, nvrtc_library.c,
 * cublas_library.c, toolkit_headers.c and their helpers; others use cuda_libraries.h. */
#ifndef LE_TOOLKIT_SEARCH_H
#define LE_TOOLKIT_SEARCH_H
#include "device/cuda/cuda_libraries.h"

enum { LE_CUDA_MAJOR_MIN = LE_CUDA_VERSION_MIN / 1000, LE_CUDA_MAJOR_MAX = 19 }; /* range of sonames to try */

/* "CUDA 12.4" */
const char *le_cuda_version_text(int version, char text[24]);
/* The version of a usable driver, from its library alone, without cuInit. 0: there is none. */
int le_cuda_driver_version(void);

enum { LE_SEARCH_LINES = 64 }; /* lines in a search's log */

/* The sonames of a library, newest first, and the folders that may contain it, relative to a toolkit's root, to conda's
 * prefix, or to site-packages/nvidia. There, wheels use their own folder or, since CUDA 13, a common one (cu13). */
#define LE_TOOLKIT_SONAMES(stem)                                                                                       \
    stem ".so.19", stem ".so.18", stem ".so.17", stem ".so.16", stem ".so.15", stem ".so.14", stem ".so.13",           \
        stem ".so.12", NULL
#define LE_TOOLKIT_FOLDERS(wheel)                                                                                      \
    "lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "targets/aarch64-linux/lib", ".",            \
        "cu19/lib", "cu18/lib", "cu17/lib", "cu16/lib", "cu15/lib", "cu14/lib", "cu13/lib", wheel "/lib", NULL

/* Searches all places for a library of the toolkit whose major version is not newer than the driver's. stem:
 * "libnvrtc". *loaded: the process had already loaded it. */
bool le_toolkit_library_find(struct le_search *search, struct le_search_request *request, const char *stem,
                             bool *loaded);
/* Finds the file that the dynamic loader would load for soname, without loading it: in LD_LIBRARY_PATH, the loader's
 * cache, and the default folders. */
bool le_loader_cache_find(const char *soname, char path[PATH_MAX]);

/* The searches. Each runs once; le_cuda_library_search selects one. */
const struct le_search *le_find_driver(void);
const struct le_search *le_find_nvrtc(void);
const struct le_search *le_find_cublas(void);
const struct le_search *le_find_headers(void);
/* Whether NVRTC was loaded before Leat looked for it. After le_find_nvrtc. */
bool le_nvrtc_was_loaded(void);
#endif
