/* cuBLAS: loaded from where it was located, when a product first wants it. A library of its own, which it opens by
 * soname, is loaded here from beside it, since the dynamic loader may not look there. */
#include "device/cuda/door_search.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    struct le_cublas table;
    bool loaded;
    char reason[512];
} door;

struct symbol {
    const char *name;
    size_t offset; /* of its member in the table */
};
static const struct symbol symbols[] = {
#define X(name, symbol, type, parameters) {#symbol, offsetof(struct le_cublas, name)},
    LE_CUBLAS_SYMBOLS(X)
#undef X
};

/* The first symbol that is missing; NULL: the table is filled. */
static const char *fill_table(void *library) {
    for (size_t k = 0; k < ARRAY_LEN(symbols); k++) {
        void *function = dlsym(library, symbols[k].name);
        if (!function)
            return symbols[k].name;
        *(void **)((char *)&door.table + symbols[k].offset) = function;
    }
    return NULL;
}

/* libcublas.so.13 -> libcublasLt.so.13 in the same folder, links followed. Where it is not there, the loader may know
 * another place. */
static void load_part(const char *path) {
    char real[PATH_MAX], part[PATH_MAX];
    const char *name = strrchr(path, '/'), *ending = name ? strstr(name, ".so") : NULL;
    const char *folder_end = realpath(path, real) ? strrchr(real, '/') : NULL;
    if (ending && folder_end &&
        snprintf(part, sizeof part, "%.*s/libcublasLt%.6s", (int)(folder_end - real), real, ending) < (int)sizeof part)
        dlopen(part, RTLD_LAZY | RTLD_LOCAL);
}

static void load(void) {
    const struct le_door_search *search = le_door_search_cublas();
    if (!search->found) {
        snprintf(door.reason, sizeof door.reason, "%s", search->reason);
        return;
    }
    load_part(search->path);
    void *library = dlopen(search->path, RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
        const char *why = dlerror();
        snprintf(door.reason, sizeof door.reason, "cuBLAS cannot be loaded: %.400s", why ? why : search->path);
        return;
    }
    const char *missing = fill_table(library);
    door.loaded = !missing;
    if (missing)
        snprintf(door.reason, sizeof door.reason, "%.400s lacks %s", search->path, missing);
}

leat_status le_cublas_open(const struct le_cublas **cublas) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    if (!door.loaded)
        return le_fail(LEAT_UNSUPPORTED, "%s", door.reason);
    *cublas = &door.table;
    return LEAT_OK;
}
