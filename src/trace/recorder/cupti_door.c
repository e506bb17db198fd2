/* See cupti_door.h. */
#include "trace/recorder/cupti_door.h"
#include "trace/recorder/cupti_layout.h"
#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof(*(a)))

static const char *const sonames[] = {"libcupti.so.13",   "libcupti.so.12",   "libcupti.so.11.8",
                                      "libcupti.so.11.7", "libcupti.so.11.6", "libcupti.so.11.5",
                                      "libcupti.so.11.4", "libcupti.so.11.3", "libcupti.so.11.2"};
/* below a toolkit's root, a conda environment, or site-packages/nvidia */
static const char *const below[] = {"lib64",         "lib",          "extras/CUPTI/lib64", "extras/CUPTI/lib",
                                    "targets/*/lib", "cu1[0-9]/lib", "cuda_cupti/lib",     "."};

struct hunt {
    struct le_cupti_door *door;
    le_cupti_take *take;
    void *user;
};

enum need { OPTIONAL, REQUIRED };
static const struct symbol {
    const char *name;
    size_t offset;
    enum need need;
} symbols[] = {
#define X(name, symbol, need, parameters) {#symbol, offsetof(struct le_cupti, name), need},
    LE_CUPTI_SYMBOLS(X) LE_CUPTI_YOUNGER_SYMBOLS(X)
#undef X
};

static bool fill_table(struct le_cupti_door *door, void *library, const char *path) {
    for (size_t k = 0; k < ARRAY_LEN(symbols); k++) {
        void *function = dlsym(library, symbols[k].name);
        memcpy((char *)&door->table + symbols[k].offset, &function, sizeof function);
        if (function || symbols[k].need == OPTIONAL)
            continue;
        snprintf(door->reason, sizeof door->reason, "%.160s lacks %s", path, symbols[k].name);
        return false;
    }
    return true;
}

/* Is this library one that will do? */
static bool offer(const struct hunt *hunt, void *library, const char *path) {
    struct le_cupti_door *door = hunt->door;
    door->library = library;
    if (!fill_table(door, library, path))
        return false;
    if (door->table.get_version(&door->version) != LE_CUPTI_SUCCESS || door->version < LE_CUPTI_VERSION_MIN) {
        snprintf(door->reason, sizeof door->reason, "%.160s is too old: CUPTI of CUDA 10.0 or later is needed", path);
        return false;
    }
    if (!hunt->take(hunt->user, door))
        return false;
    door->reason[0] = 0;
    return true;
}

static bool look_loaded(const struct hunt *hunt) {
    for (size_t k = 0; k < ARRAY_LEN(sonames); k++) {
        void *library = dlopen(sonames[k], RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
        if (library && offer(hunt, library, sonames[k]))
            return true;
    }
    return false;
}

static bool load(const struct hunt *hunt, const char *path) {
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (library)
        return offer(hunt, library, path);
    const char *why = dlerror();
    if (strchr(path, '/'))
        snprintf(hunt->door->reason, sizeof hunt->door->reason, "%s", why ? why : path);
    return false;
}

static bool look_by_soname(const struct hunt *hunt) {
    for (size_t k = 0; k < ARRAY_LEN(sonames); k++)
        if (load(hunt, sonames[k]))
            return true;
    return false;
}

static bool look_in_folder(const struct hunt *hunt, const char *folder) {
    char path[PATH_MAX];
    for (size_t k = 0; k < ARRAY_LEN(sonames); k++)
        if (snprintf(path, sizeof path, "%s/%s", folder, sonames[k]) < (int)sizeof path && access(path, F_OK) == 0 &&
            load(hunt, path))
            return true;
    return false;
}

static bool look_in_folders(const struct hunt *hunt, const char *pattern) {
    glob_t found = {0};
    bool done = false;
    if (glob(pattern, GLOB_ONLYDIR, NULL, &found) == 0)
        for (size_t k = 0; k < found.gl_pathc && !done; k++)
            done = look_in_folder(hunt, found.gl_pathv[k]);
    globfree(&found);
    return done;
}

/* root may be a pattern */
static bool look_below(const struct hunt *hunt, const char *root) {
    char pattern[PATH_MAX];
    for (size_t k = 0; k < ARRAY_LEN(below); k++)
        if (snprintf(pattern, sizeof pattern, "%s/%s", root, below[k]) < (int)sizeof pattern &&
            look_in_folders(hunt, pattern))
            return true;
    return false;
}

static bool look_in_variable(const struct hunt *hunt, const char *variable, const char *beneath) {
    char root[PATH_MAX];
    const char *folder = getenv(variable);
    return folder && folder[0] == '/' && snprintf(root, sizeof root, "%s%s", folder, beneath) < (int)sizeof root &&
           look_below(hunt, root);
}

/* The folder `nvidia` of site-packages that some loaded library lies in. */
static int find_wheels(struct dl_phdr_info *info, size_t size_bytes, void *user) {
    char *root = user;
    const char *at = info->dlpi_name ? strstr(info->dlpi_name, "/site-packages/nvidia/") : NULL;
    (void)size_bytes;
    size_t length = at ? (size_t)(at - info->dlpi_name) + strlen("/site-packages/nvidia") : 0;
    if (!at || length >= PATH_MAX)
        return 0;
    memcpy(root, info->dlpi_name, length);
    root[length] = 0;
    return 1;
}

static bool look_beside_loaded(const struct hunt *hunt) {
    char root[PATH_MAX];
    return dl_iterate_phdr(find_wheels, root) && look_below(hunt, root);
}

bool le_cupti_door_open(struct le_cupti_door *door, le_cupti_take *take, void *user) {
    static const char site_packages[] = "/lib/python3*/site-packages/nvidia";
    struct hunt hunt = {.door = door, .take = take, .user = user};
    *door = (struct le_cupti_door){
        .reason = "CUPTI was not found; install the CUDA toolkit or the package nvidia-cuda-cupti, or "
                  "set LEAT_CUDA_PATH to its folder"};
    return look_in_variable(&hunt, "LEAT_CUDA_PATH", "") || look_loaded(&hunt) || look_beside_loaded(&hunt) ||
           look_by_soname(&hunt) || look_in_variable(&hunt, "CUDA_PATH", "") || look_below(&hunt, "/usr/local/cuda") ||
           look_below(&hunt, "/usr/local/cuda-*") || look_in_variable(&hunt, "VIRTUAL_ENV", site_packages) ||
           look_in_variable(&hunt, "CONDA_PREFIX", "") || look_in_variable(&hunt, "CONDA_PREFIX", site_packages);
}
