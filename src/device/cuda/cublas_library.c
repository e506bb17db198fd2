/* cuBLAS: located first, then loaded from there for the first product. cuBLAS opens libcublasLt by soname. It is loaded
 * here from beside cuBLAS, since the dynamic loader may not look there. */
#include "device/cuda/toolkit_search.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct le_search_line lines[LE_SEARCH_LINES];
static struct {
    struct le_cublas table;
    struct le_search search;
    bool loaded;
    char reason[512];
} cublas_library = {.search = {.lines = lines, .line_capacity = LE_SEARCH_LINES}};

static const struct le_library_symbol symbols[] = {
#define X(name, symbol, type, parameters) {#symbol, offsetof(struct le_cublas, name), REQUIRED, 0},
    LE_CUBLAS_SYMBOLS(X)
#undef X
};

/* ---- locating. The version is in the file's name: libcublas.so.13 is a link to libcublas.so.13.1.0.3. */

static bool take_cublas(void *user, struct le_search *search, const char *name, const char *path, void *library) {
    char real[PATH_MAX];
    (void)user, (void)library;
    if (access(path, R_OK) != 0) {
        le_search_log(search, name, path, "cannot be read");
        return false;
    }
    const char *version = strstr(realpath(path, real) ? real : path, ".so.");
    int major = 0, minor = 0;
    if (version)
        sscanf(version, ".so.%3d.%3d", &major, &minor);
    search->version = 1000 * major + 10 * minor;
    snprintf(search->path, sizeof search->path, "%s", path);
    le_search_log(search, name, path, "found, version %s", version ? version + 4 : "unknown");
    return true;
}

static void search_cublas(void) {
    static const char *const names[] = {LE_TOOLKIT_SONAMES("libcublas")}, *const below[] = {
                                                                              LE_TOOLKIT_FOLDERS("cublas")};
    struct le_search_request request = {
        .names = names, .below = below, .locate = le_loader_cache_find, .take = take_cublas};
    bool loaded;
    cublas_library.search.found = le_toolkit_library_find(&cublas_library.search, &request, "libcublas", &loaded);
    if (!cublas_library.search.found)
        snprintf(cublas_library.search.reason, sizeof cublas_library.search.reason, "cuBLAS was not found");
}

const struct le_search *le_find_cublas(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, search_cublas);
    return &cublas_library.search;
}

/* ---- loading */

/* libcublas.so.13 needs libcublasLt.so.13. */
static void load_cublas_lt(const char *path) {
    char part[64];
    const char *version = strstr(path, "libcublas.so.");
    if (version && snprintf(part, sizeof part, "libcublasLt%s", version + strlen("libcublas")) < (int)sizeof part)
        le_library_load_beside(path, part);
}

static void load_cublas(void) {
    const struct le_search *search = le_find_cublas();
    if (!search->found) {
        snprintf(cublas_library.reason, sizeof cublas_library.reason, "%s", search->reason);
        return;
    }
    load_cublas_lt(search->path);
    char why[160];
    void *library = le_library_load(search->path, RTLD_LAZY, why, sizeof why);
    if (!library) {
        snprintf(cublas_library.reason, sizeof cublas_library.reason, "cuBLAS cannot be loaded: %.300s: %s",
                 search->path, why);
        return;
    }
    const struct le_library_symbol *missing =
        le_library_fill(symbols, ARRAY_LEN(symbols), le_library_dlsym, library, &cublas_library.table);
    cublas_library.loaded = !missing;
    if (missing)
        snprintf(cublas_library.reason, sizeof cublas_library.reason, "%.400s lacks %s", search->path, missing->name);
}

leat_status le_cublas_open(const struct le_cublas **cublas) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_cublas);
    if (!cublas_library.loaded)
        return le_fail(LEAT_UNSUPPORTED, "%s", cublas_library.reason);
    *cublas = &cublas_library.table;
    return LEAT_OK;
}
