/* See library_search.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "base/library_search.h"
#include "base/environment.h"
#include "base/hash.h"
#include "base/status.h"
#include <dirent.h>
#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void le_search_log(struct le_search *search, const char *name, const char *path, const char *format, ...) {
    if (search->line_count == search->line_capacity) {
        if (search->lines)
            search->lines[search->line_count - 1] = (struct le_search_line){.name = "...", .outcome = "and more"};
        return;
    }
    struct le_search_line *line = &search->lines[search->line_count++];
    snprintf(line->name, sizeof line->name, "%s", name);
    snprintf(line->path, sizeof line->path, "%s", path ? path : "");
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line->outcome, sizeof line->outcome, format, arguments);
    va_end(arguments);
}

/* ---- the dynamic loader */

/* Whether the folder, or one of its subfolders for newer processors, has a file of that name. */
static bool is_in_search_folder(const char *folder, const char *soname) {
    char pattern[PATH_MAX];
    static const char *const below[] = {"", "glibc-hwcaps/*/"};
    for (size_t k = 0; k < ARRAY_LEN(below); k++) {
        glob_t found = {0};
        if (snprintf(pattern, sizeof pattern, "%s/%s%s", folder, below[k], soname) >= (int)sizeof pattern)
            continue;
        bool some = glob(pattern, GLOB_NOSORT, NULL, &found) == 0;
        globfree(&found);
        if (some)
            return true;
    }
    return false;
}

/* Whether an element of LD_LIBRARY_PATH that is relative to the working directory has a file of that name. */
static bool is_in_working_directory(const char *soname) {
    const char *rest = le_environment_get("LD_LIBRARY_PATH");
    if (!rest || !rest[0]) /* an empty value means unset */
        return false;
    for (size_t length; rest; rest = rest[length] ? rest + length + 1 : NULL) {
        char folder[PATH_MAX];
        length = strcspn(rest, ":;");
        bool fits = length < sizeof folder;
        if (rest[0] == '/' || rest[0] == '$' || !fits) /* $ORIGIN, $LIB */
            continue;
        memcpy(folder, length ? rest : ".", length ? length : 1);
        folder[length ? length : 1] = 0;
        if (is_in_search_folder(folder, soname))
            return true;
    }
    return false;
}

/* Writes dlerror's text without the name at its beginning. */
static void describe_loader_error(const char *name, char *why, size_t size_bytes) {
    const char *text = dlerror();
    size_t length = strlen(name);
    if (text && strncmp(text, name, length) == 0 && strncmp(text + length, ": ", 2) == 0)
        text += length + 2;
    if (text && !strchr(name, '/') && strstr(text, "No such file"))
        text = "not found by the dynamic loader";
    snprintf(why, size_bytes, "%s", text ? text : "unknown reason");
}

void *le_library_load(const char *name, int mode, char *why, size_t size_bytes) {
    if (!strchr(name, '/') && is_in_working_directory(name)) {
        snprintf(why, size_bytes,
                 "not loaded from the working directory, which an empty or relative element of "
                 "LD_LIBRARY_PATH names");
        return NULL;
    }
    void *library = dlopen(name, mode | RTLD_LOCAL);
    if (!library)
        describe_loader_error(name, why, size_bytes);
    return library;
}

bool le_library_path(void *library, char path[PATH_MAX]) {
    struct link_map *map = NULL;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) || !map || map->l_name[0] != '/')
        return false;
    return snprintf(path, PATH_MAX, "%s", map->l_name) < PATH_MAX;
}

bool le_library_own_folder(char folder[PATH_MAX]) {
    static const char here;
    Dl_info info;
    char path[PATH_MAX];
    bool is_library = dladdr(&here, &info) && info.dli_fname && strstr(info.dli_fname, ".so");
    ssize_t length = 0;
    if (!is_library)
        length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length < 0)
        return false;
    path[length] = 0;
    if (!realpath(is_library ? info.dli_fname : path, folder))
        return false;
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = 0;
    return slash != NULL;
}

bool le_library_load_beside(const char *path, const char *soname) {
    char real[PATH_MAX], beside[PATH_MAX], why[8];
    const char *const paths[] = {path, realpath(path, real)};
    for (size_t k = 0; k < ARRAY_LEN(paths); k++) {
        const char *slash = paths[k] ? strrchr(paths[k], '/') : NULL;
        if (slash &&
            snprintf(beside, sizeof beside, "%.*s/%s", (int)(slash - paths[k]), paths[k], soname) <
                (int)sizeof beside &&
            dlopen(beside, RTLD_LAZY | RTLD_LOCAL))
            return true;
    }
    return le_library_load(soname, RTLD_LAZY, why, sizeof why) != NULL;
}

/* ---- tables of symbols */

void *le_library_dlsym(void *user, const struct le_library_symbol *symbol) {
    return dlsym(user, symbol->name);
}

const struct le_library_symbol *le_library_fill(const struct le_library_symbol *symbols, size_t count,
                                                le_library_find *find, void *user, void *table) {
    for (size_t k = 0; k < count; k++) {
        void *function = find(user, &symbols[k]);
        if (!function && symbols[k].need == REQUIRED)
            return &symbols[k];
        memcpy((char *)table + symbols[k].offset, &function, sizeof function);
    }
    return NULL;
}

/* ---- candidates */

struct search_walk {
    struct le_search *search;
    const struct le_search_request *request;
    /* Hashes of the real paths of files already offered: lib64 may be a link to lib, and cuda one to cuda-13.0. */
    uint64_t offered[32];
    size_t offered_count;
};

/* The number after ".so."; 0: none. */
static int major_of(const char *name) {
    const char *version = strstr(name, ".so.");
    return version ? atoi(version + strlen(".so.")) : 0;
}

static bool is_too_new(const struct search_walk *walk, const char *file) {
    return walk->request->major_max && major_of(file) > walk->request->major_max;
}

/* Offers a candidate to the request. library: its handle if it is loaded, else NULL. */
static bool offer_candidate(struct search_walk *walk, const char *name, const char *file, const char *path,
                            void *library) {
    const struct le_search_request *request = walk->request;
    struct le_search *search = walk->search;
    char why[160];
    if (is_too_new(walk, file)) {
        le_search_log(search, name, path, "for CUDA %d, newer than the driver's %d", major_of(file),
                      request->major_max);
        return false;
    }
    if (request->load && !library && !(library = le_library_load(path, RTLD_LAZY, why, sizeof why))) {
        le_search_log(search, name, path, "cannot be loaded: %s", why);
        snprintf(search->reason, sizeof search->reason, "%.200s cannot be loaded: %s", path, why);
        return false;
    }
    if (!request->take(request->user, search, name, path, library))
        return false;
    search->reason[0] = 0; /* clears the reason of an earlier candidate */
    return true;
}

static bool was_offered(struct search_walk *walk, const char *path) {
    char real[PATH_MAX];
    if (!realpath(path, real))
        return false;
    uint64_t hash = le_hash(real, strlen(real), 0);
    for (size_t k = 0; k < walk->offered_count; k++)
        if (walk->offered[k] == hash)
            return true;
    if (walk->offered_count < ARRAY_LEN(walk->offered))
        walk->offered[walk->offered_count++] = hash;
    return false;
}

static bool look_below(struct search_walk *walk, const char *name, const char *root) {
    const struct le_search_request *request = walk->request;
    bool some = false;
    for (const char *const *below = request->below; *below; below++)
        for (const char *const *file = request->names; *file; file++) {
            char path[PATH_MAX];
            if (snprintf(path, sizeof path, "%s/%s/%s", root, *below, *file) >= (int)sizeof path ||
                access(path, F_OK) != 0)
                continue;
            some = true;
            if (!was_offered(walk, path) && offer_candidate(walk, name, *file, path, NULL))
                return true;
        }
    if (!some)
        le_search_log(walk->search, name, root, "no %s found", request->what);
    return false;
}

/* ---- places */

static bool look_loaded(struct search_walk *walk, const char *name) {
    bool some = false;
    for (const char *const *file = walk->request->names; *file; file++) {
        char path[PATH_MAX];
        void *library = dlopen(*file, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
        if (!library)
            continue;
        some = true;
        if (!le_library_path(library, path))
            snprintf(path, sizeof path, "%s", *file);
        if (offer_candidate(walk, name, *file, path, library))
            return true;
    }
    if (!some)
        le_search_log(walk->search, name, NULL, "not loaded: %s", walk->request->what);
    return false;
}

/* Has no place's name: the lines of the log name the file. */
static bool look_by_loader(struct search_walk *walk, const char *name) {
    const struct le_search_request *request = walk->request;
    char why[160] = "not found by the dynamic loader";
    bool some = false;
    (void)name;
    for (const char *const *file = request->names; *file; file++) {
        char path[PATH_MAX];
        void *library = NULL;
        if (is_too_new(walk, *file))
            continue;
        if (request->load ? !(library = le_library_load(*file, RTLD_LAZY, why, sizeof why))
                          : !request->locate(*file, path))
            continue;
        some = true;
        if (library && !le_library_path(library, path))
            snprintf(path, sizeof path, "%s", *file);
        if (offer_candidate(walk, *file, *file, path, library))
            return true;
    }
    if (!some)
        le_search_log(walk->search, request->what, NULL, "%s", why);
    return false;
}

/* For dl_iterate_phdr: copies the path of the site-packages/nvidia folder that contains the library, if one does. */
static int find_wheels(struct dl_phdr_info *info, size_t size_bytes, void *user) {
    static const char folder[] = "/site-packages/nvidia";
    const char *at = info->dlpi_name ? strstr(info->dlpi_name, folder) : NULL;
    (void)size_bytes;
    size_t length = at ? (size_t)(at - info->dlpi_name) + strlen(folder) : 0;
    if (!at || info->dlpi_name[length] != '/' || length >= PATH_MAX)
        return 0;
    memcpy(user, info->dlpi_name, length);
    ((char *)user)[length] = 0;
    return 1;
}

static bool look_beside_loaded(struct search_walk *walk, const char *name) {
    char root[PATH_MAX];
    if (dl_iterate_phdr(find_wheels, root))
        return look_below(walk, name, root);
    le_search_log(walk->search, name, NULL, "no NVIDIA wheel is loaded");
    return false;
}

/* The folder that the variable names; NULL if it is not set or not an absolute path. */
static const char *folder_of_variable(struct le_search *search, const char *variable) {
    const char *value = le_environment_get(variable);
    if (!value)
        le_search_log(search, variable, NULL, "not set");
    else if (!value[0])
        le_search_log(search, variable, NULL, "ignored: it is empty");
    else if (value[0] != '/')
        le_search_log(search, variable, value, "ignored: it is not an absolute path");
    else
        return value;
    return NULL;
}

static bool look_in_variable(struct search_walk *walk, const char *name) {
    const char *folder = folder_of_variable(walk->search, name);
    return folder && look_below(walk, name, folder);
}

static int newest_first(const void *a, const void *b) {
    return strverscmp(*(char *const *)b, *(char *const *)a);
}

static bool look_in_local(struct search_walk *walk, const char *name) {
    bool done = look_below(walk, name, "/usr/local/cuda");
    glob_t found = {0};
    if (!done && glob("/usr/local/cuda-*", GLOB_NOSORT, NULL, &found) == 0) {
        qsort(found.gl_pathv, found.gl_pathc, sizeof *found.gl_pathv, newest_first);
        for (size_t k = 0; k < found.gl_pathc && !done; k++)
            done = look_below(walk, name, found.gl_pathv[k]);
    }
    globfree(&found);
    return done;
}

/* lib/python3.NN/site-packages/nvidia below prefix. */
static bool look_in_wheels(struct search_walk *walk, const char *name, const char *prefix) {
    char folder[PATH_MAX];
    bool done = false;
    if (snprintf(folder, sizeof folder, "%s/lib", prefix) >= (int)sizeof folder)
        return false;
    DIR *versions = opendir(folder);
    for (struct dirent *entry; versions && !done && (entry = readdir(versions));)
        if (strncmp(entry->d_name, "python3", 7) == 0 &&
            snprintf(folder, sizeof folder, "%s/lib/%s/site-packages/nvidia", prefix, entry->d_name) <
                (int)sizeof folder &&
            access(folder, R_OK | X_OK) == 0)
            done = look_below(walk, name, folder);
    if (versions)
        closedir(versions);
    return done;
}

/* Wheels put Leat's extension into site-packages/leat, the command into bin and the recorder into lib/leat. */
static bool look_in_own(struct search_walk *walk, const char *name) {
    char folder[PATH_MAX], wheels[PATH_MAX + 8];
    if (!le_library_own_folder(folder))
        return false;
    bool done = false;
    for (int up = 0; up < 2 && !done; up++) {
        char *slash = strrchr(folder, '/');
        if (!slash)
            return false;
        *slash = 0;
        snprintf(wheels, sizeof wheels, "%s/nvidia", folder);
        done = (up == 0 && access(wheels, R_OK | X_OK) == 0 && look_below(walk, name, wheels)) ||
               look_in_wheels(walk, name, folder);
    }
    return done;
}

/* A Conda prefix has the layout of a toolkit. */
static bool look_in_environment(struct search_walk *walk, const char *name) {
    const char *prefix = folder_of_variable(walk->search, name);
    return prefix && (look_in_wheels(walk, name, prefix) || look_below(walk, name, prefix));
}

static const struct {
    const char *name; /* in the log */
    bool (*look)(struct search_walk *walk, const char *name);
} places_known[] = {
    [LE_SEARCH_LOADED] = {"in this process", look_loaded},
    [LE_SEARCH_BESIDE_LOADED] = {"beside loaded wheels", look_beside_loaded},
    [LE_SEARCH_LOADER] = {NULL, look_by_loader},
    [LE_SEARCH_LEAT_CUDA_PATH] = {"LEAT_CUDA_PATH", look_in_variable},
    [LE_SEARCH_CUDA_PATH] = {"CUDA_PATH", look_in_variable},
    [LE_SEARCH_LOCAL] = {"/usr/local/cuda*", look_in_local},
    [LE_SEARCH_OWN] = {"Leat's environment", look_in_own},
    [LE_SEARCH_VIRTUAL_ENV] = {"VIRTUAL_ENV", look_in_environment},
    [LE_SEARCH_CONDA_PREFIX] = {"CONDA_PREFIX", look_in_environment},
};

bool le_search_run(struct le_search *search, const struct le_search_request *request,
                   const enum le_search_place *places) {
    struct search_walk walk = {.search = search, .request = request};
    for (; *places; places++)
        if (places_known[*places].look(&walk, places_known[*places].name))
            return true;
    return false;
}

bool le_search_folder(struct le_search *search, const struct le_search_request *request, const char *name,
                      const char *folder) {
    struct search_walk walk = {.search = search, .request = request};
    return look_below(&walk, name, folder);
}
