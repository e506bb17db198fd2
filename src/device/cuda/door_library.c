/* A library of the toolkit in all the places where it may be, and the search for cuBLAS, which is located only. */
#include "base/hash.h"
#include "device/cuda/door_search.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOADED "loaded already"

struct hunt {
    struct le_door_search *search;
    const struct le_door_library *library;
    int top;              /* the newest major that will do */
    uint64_t refused[32]; /* hashes of the real paths of files that would not do: lib64 may be lib, cuda cuda-13.0 */
    size_t refused_count;
};

static void write_soname(const struct hunt *hunt, int major, char soname[64]) {
    snprintf(soname, 64, "%s.so.%d", hunt->library->stem, major);
}

/* "libnvrtc.so.12 to .13", or one of them */
static void write_sonames(const struct hunt *hunt, char text[64]) {
    write_soname(hunt, LE_CUDA_MAJOR_MIN, text);
    size_t length = strlen(text);
    if (hunt->top > LE_CUDA_MAJOR_MIN)
        snprintf(text + length, 64 - length, " to .%d", hunt->top);
}

static void tell_newer(const struct hunt *hunt, const char *soname, const char *path, int major) {
    le_door_tell(hunt->search, soname, path, "for CUDA %d, newer than the driver's %d", major,
                 hunt->library->driver_major);
}

/* What the process has loaded already. */
static bool look_loaded(const struct hunt *hunt) {
    char soname[64], path[PATH_MAX];
    int before = hunt->search->line_count;
    for (int major = LE_CUDA_MAJOR_MAX; major >= LE_CUDA_MAJOR_MIN; major--) {
        write_soname(hunt, major, soname);
        void *library = dlopen(soname, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
        if (!library)
            continue;
        if (!le_door_loaded_path(library, path))
            snprintf(path, sizeof path, "%s", soname);
        if (major > hunt->top)
            tell_newer(hunt, LOADED, path, major);
        else if (hunt->library->take(hunt->library->user, hunt->search, LOADED, path, library))
            return true;
    }
    if (hunt->search->line_count == before) {
        write_sonames(hunt, soname);
        le_door_tell(hunt->search, LOADED, NULL, "not loaded: %s", soname);
    }
    return false;
}

static bool look_by_soname(const struct hunt *hunt) {
    char soname[64], path[PATH_MAX], why[160] = "not found by the dynamic loader";
    int before = hunt->search->line_count;
    for (int major = hunt->top; major >= LE_CUDA_MAJOR_MIN; major--) {
        void *library = NULL;
        write_soname(hunt, major, soname);
        if (hunt->library->load && !(library = le_door_load(soname, why, sizeof why)))
            continue;
        bool known = library ? le_door_loaded_path(library, path) : le_door_locate(soname, path);
        if (!known && !library)
            continue;
        if (!known)
            snprintf(path, sizeof path, "%s", soname);
        if (hunt->library->take(hunt->library->user, hunt->search, soname, path, library))
            return true;
    }
    if (hunt->search->line_count == before) {
        write_sonames(hunt, soname);
        le_door_tell(hunt->search, soname, NULL, "%s", why);
    }
    return false;
}

/* Was it refused under this or another path? Else it is about to be looked at, and will not be twice. */
static bool seen_before(struct hunt *hunt, const char *path) {
    char real[PATH_MAX];
    if (!realpath(path, real))
        return false;
    uint64_t hash = le_hash(real, strlen(real), 0);
    for (size_t k = 0; k < hunt->refused_count; k++)
        if (hunt->refused[k] == hash)
            return true;
    if (hunt->refused_count < ARRAY_LEN(hunt->refused))
        hunt->refused[hunt->refused_count++] = hash;
    return false;
}

/* One folder: the newest that fits the driver. *seen: some version lies there. */
static bool look_in_folder(struct hunt *hunt, const char *name, const char *folder, bool *seen) {
    char soname[64], path[PATH_MAX];
    for (int major = LE_CUDA_MAJOR_MAX; major >= LE_CUDA_MAJOR_MIN; major--) {
        write_soname(hunt, major, soname);
        if (snprintf(path, sizeof path, "%s/%s", folder, soname) >= (int)sizeof path || access(path, F_OK) != 0)
            continue;
        *seen = true;
        if (seen_before(hunt, path))
            continue;
        if (major > hunt->top)
            tell_newer(hunt, name, path, major);
        else if (hunt->library->take(hunt->library->user, hunt->search, name, path, NULL))
            return true;
    }
    return false;
}

/* The root of a toolkit, of a conda environment, or site-packages/nvidia; or the library's own folder. */
static bool look_below(void *user, const char *name, const char *root) {
    struct hunt *hunt = user;
    char below[LE_CUDA_MAJOR_MAX + 8][64], folder[PATH_MAX];
    static const char *const toolkit[] = {
        "lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "targets/aarch64-linux/lib", "."};
    size_t count = 0;
    bool seen = false;
    for (; count < ARRAY_LEN(toolkit); count++)
        snprintf(below[count], sizeof *below, "%s", toolkit[count]);
    for (int major = hunt->top; major > LE_CUDA_MAJOR_MIN; major--) /* wheels have folders of this kind since 13 */
        snprintf(below[count++], sizeof *below, "cu%d/lib", major);
    snprintf(below[count++], sizeof *below, "%s/lib", hunt->library->wheel);
    for (size_t k = 0; k < count; k++) {
        bool fits = snprintf(folder, sizeof folder, "%s/%s", root, below[k]) < (int)sizeof folder;
        if (fits && look_in_folder(hunt, name, folder, &seen))
            return true;
    }
    if (!seen) {
        char sonames[64];
        write_sonames(hunt, sonames);
        le_door_tell(hunt->search, name, root, "no %s found", sonames);
    }
    return false;
}

static bool look_in_variable(struct hunt *hunt, const char *variable) {
    const char *folder = le_door_variable(hunt->search, variable);
    return folder && look_below(hunt, variable, folder);
}

bool le_door_find_library(struct le_door_search *search, const struct le_door_library *library, bool *loaded) {
    int top = library->driver_major;
    struct hunt hunt = {
        .search = search, .library = library, .top = top && top < LE_CUDA_MAJOR_MAX ? top : LE_CUDA_MAJOR_MAX};
    *loaded = look_loaded(&hunt);
    return *loaded || look_in_variable(&hunt, "LEAT_CUDA_PATH") || look_by_soname(&hunt) ||
           look_in_variable(&hunt, "CUDA_PATH") || le_door_local(look_below, &hunt) ||
           le_door_wheels(search, look_below, &hunt);
}

/* ---- cuBLAS: located only. Its files are named by their full version: libcublas.so.13 -> libcublas.so.13.1.0.3 */

static bool take_cublas(void *user, struct le_door_search *search, const char *name, const char *path, void *library) {
    char real[PATH_MAX];
    (void)user, (void)library;
    if (access(path, R_OK) != 0) {
        le_door_tell(search, name, path, "cannot be read");
        return false;
    }
    const char *version = strstr(realpath(path, real) ? real : path, ".so.");
    int major = 0, minor = 0;
    if (version)
        sscanf(version, ".so.%3d.%3d", &major, &minor);
    search->version = 1000 * major + 10 * minor;
    snprintf(search->path, sizeof search->path, "%s", path);
    le_door_tell(search, name, path, "found, version %s", version ? version + 4 : "unknown");
    return true;
}

static struct le_door_search cublas;

static void search_cublas(void) {
    bool loaded;
    struct le_door_library library = {
        .stem = "libcublas", .wheel = "cublas", .driver_major = le_door_driver_version() / 1000, .take = take_cublas};
    cublas.found = le_door_find_library(&cublas, &library, &loaded);
    if (!cublas.found)
        snprintf(cublas.reason, sizeof cublas.reason, "cuBLAS was not found");
}

const struct le_door_search *le_door_search_cublas(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, search_cublas);
    return &cublas;
}
