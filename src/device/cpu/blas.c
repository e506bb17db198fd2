/* Loading a BLAS, once for a process. */
#include "device/cpu/blas.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    struct le_blas table;
    bool found, missing; /* missing: what LEAT_BLAS names is not to be had */
    char state[192];     /* why the last one that was tried will not do */
} door;

static const struct {
    const char *name;
    size_t offset; /* in the table */
} symbols[] = {{"cblas_sgemm", offsetof(struct le_blas, sgemm)},
               {"cblas_dgemm", offsetof(struct le_blas, dgemm)},
               {"cblas_sgemv", offsetof(struct le_blas, sgemv)},
               {"cblas_dgemv", offsetof(struct le_blas, dgemv)}};

static bool fill_table(void *library, const char *name) {
    for (size_t k = 0; k < ARRAY_LEN(symbols); k++) {
        void *function = dlsym(library, symbols[k].name);
        *(void **)((char *)&door.table + symbols[k].offset) = function;
        if (!function) {
            snprintf(door.state, sizeof door.state, "%.100s lacks %s", name, symbols[k].name);
            return false;
        }
    }
    return true;
}

/* OpenBLAS tells what it is, and takes a number of threads. */
static bool is_openblas(void *library) {
    const char *(*config)(void);
    void (*set_threads)(int count);
    int (*parallel)(void);
    *(void **)&config = dlsym(library, "openblas_get_config");
    *(void **)&set_threads = dlsym(library, "openblas_set_num_threads");
    *(void **)&parallel = dlsym(library, "openblas_get_parallel");
    if (!config || !set_threads)
        return false;
    set_threads(1);
    door.table.takes_turns = !parallel || parallel() == 0;
    snprintf(door.table.name, sizeof door.table.name, "%s", config());
    for (size_t length = strlen(door.table.name); length && door.table.name[length - 1] == ' '; length--)
        door.table.name[length - 1] = 0;
    return true;
}

/* asked: it was named, and may be any BLAS. */
static bool try_library(const char *name, bool asked) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *text = dlerror();
        snprintf(door.state, sizeof door.state, "%s", text ? text : name);
        return false;
    }
    snprintf(door.table.name, sizeof door.table.name, "%s", name);
    door.table.takes_turns = true;
    if (!is_openblas(library) && !asked)
        snprintf(door.state, sizeof door.state, "%s is no OpenBLAS", name);
    else if (fill_table(library, name))
        return true;
    dlclose(library);
    return false;
}

static void load(void) {
    static const char *const usual[] = {"libopenblas.so.0", "libblas.so.3"};
    const char *asked = secure_getenv("LEAT_BLAS");
    if (asked && asked[0]) {
        if (strcmp(asked, "none") != 0)
            door.found = try_library(asked, true);
        door.missing = !door.found && strcmp(asked, "none") != 0;
    } else {
        for (size_t k = 0; k < ARRAY_LEN(usual) && !door.found; k++)
            door.found = try_library(usual[k], false);
    }
}

const struct le_blas *le_blas_find(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return door.found ? &door.table : NULL;
}

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

void le_blas_begin(const struct le_blas *blas) {
    if (blas->takes_turns)
        pthread_mutex_lock(&turn);
}

void le_blas_end(const struct le_blas *blas) {
    if (blas->takes_turns)
        pthread_mutex_unlock(&turn);
}

const char *le_blas_missing(void) {
    return door.missing ? door.state : NULL;
}
