/* NVRTC: opened from the first place where it is whole. Its builtins, a library of its own that NVRTC opens by soname,
 * are loaded here from beside it, since the dynamic loader would not look there. */
#include "device/cuda/door_search.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    struct le_nvrtc table;
    struct le_door_search search;
    bool was_loaded;
} door;

struct symbol {
    const char *name;
    size_t offset; /* of its member in the table */
    enum le_door_need need;
};
static const struct symbol symbols[] = {
#define X(name, symbol, need, type, parameters) {symbol, offsetof(struct le_nvrtc, name), need},
    LE_NVRTC_SYMBOLS(X)
#undef X
};

/* The first symbol that is missing; NULL: the table is filled. */
static const char *fill_table(void *library, struct le_nvrtc *table) {
    for (size_t k = 0; k < ARRAY_LEN(symbols); k++) {
        void *function = dlsym(library, symbols[k].name);
        if (!function && symbols[k].need == REQUIRED)
            return symbols[k].name;
        *(void **)((char *)table + symbols[k].offset) = function;
    }
    return NULL;
}

/* In the folder of path, as it stands and with its links followed; else by soname. */
static bool load_builtins(const char *path, const char *soname) {
    char real[PATH_MAX], beside[PATH_MAX], why[8];
    const char *const paths[] = {path, realpath(path, real)};
    for (size_t k = 0; k < ARRAY_LEN(paths); k++) {
        const char *slash = paths[k] ? strrchr(paths[k], '/') : NULL;
        if (!slash)
            continue;
        int length = (int)(slash - paths[k]);
        if (snprintf(beside, sizeof beside, "%.*s/%s", length, paths[k], soname) < (int)sizeof beside &&
            dlopen(beside, RTLD_LAZY | RTLD_LOCAL))
            return true;
    }
    return le_door_load(soname, why, sizeof why) != NULL;
}

static bool take(void *user, struct le_door_search *search, const char *name, const char *path, void *library) {
    const struct le_door_library *wanted = user;
    char builtins[64], text[24];
    int major = 0, minor = 0;
    if (!library && !(library = dlopen(path, RTLD_LAZY | RTLD_LOCAL))) {
        const char *why = dlerror();
        le_door_tell(search, name, path, "cannot be loaded: %s", why ? why : "unknown reason");
        return false;
    }
    const char *missing = fill_table(library, &door.table);
    if (missing) {
        le_door_tell(search, name, path, "lacks %s", missing);
        return false;
    }
    if (door.table.Version(&major, &minor)) {
        le_door_tell(search, name, path, "returns no version");
        return false;
    }
    if (wanted->driver_major && major > wanted->driver_major) {
        le_door_tell(search, name, path, "for CUDA %d, newer than the driver's %d", major, wanted->driver_major);
        return false;
    }
    snprintf(builtins, sizeof builtins, "libnvrtc-builtins.so.%d.%d", major, minor);
    if (!load_builtins(path, builtins)) {
        le_door_tell(search, name, path, "incomplete: %s is missing", builtins);
        return false;
    }
    search->version = 1000 * major + 10 * minor;
    snprintf(search->path, sizeof search->path, "%s", path);
    le_door_tell(search, name, path, "found, %s", le_door_version_text(search->version, text));
    return true;
}

static void search_nvrtc(void) {
    struct le_door_library library = {.stem = "libnvrtc",
                                      .wheel = "cuda_nvrtc",
                                      .driver_major = le_door_driver_version() / 1000,
                                      .load = true,
                                      .take = take};
    library.user = &library;
    door.search.found = le_door_find_library(&door.search, &library, &door.was_loaded);
    if (door.search.found)
        return;
    char newest[24] = "";
    if (library.driver_major)
        snprintf(newest, sizeof newest, ", not above CUDA %d", library.driver_major);
    snprintf(
        door.search.reason, sizeof door.search.reason,
        "NVRTC, which compiles CUDA C, was not found: install a CUDA toolkit or the wheel nvidia-cuda-nvrtc (12 or "
        "later%s), and set LEAT_CUDA_PATH to its folder if `leat devices` does not find it; Leat looks in "
        "LEAT_CUDA_PATH, where the dynamic loader looks, and in CUDA_PATH, /usr/local/cuda*, VIRTUAL_ENV and "
        "CONDA_PREFIX",
        newest);
}

const struct le_door_search *le_door_search_nvrtc(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, search_nvrtc);
    return &door.search;
}

bool le_door_nvrtc_was_loaded(void) {
    return door.was_loaded;
}

leat_status le_nvrtc_open(const struct le_nvrtc **nvrtc, int *version) {
    const struct le_door_search *search = le_door_search_nvrtc();
    if (!search->found)
        return le_fail(LEAT_UNSUPPORTED, "%s", search->reason);
    *nvrtc = &door.table;
    *version = search->version;
    return LEAT_OK;
}
