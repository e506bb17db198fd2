/* Telling what was looked for; loading by soname; the places where a toolkit may be. */
#include "device/cuda/door_search.h"
#include <dirent.h>
#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void le_door_tell(struct le_door_search *search, const char *name, const char *path, const char *format, ...) {
    if (search->line_count == ARRAY_LEN(search->lines)) {
        struct le_door_line *last = &search->lines[search->line_count - 1];
        *last = (struct le_door_line){.name = "...", .outcome = "and more"};
        return;
    }
    struct le_door_line *line = &search->lines[search->line_count++];
    snprintf(line->name, sizeof line->name, "%s", name);
    snprintf(line->path, sizeof line->path, "%s", path ? path : "");
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line->outcome, sizeof line->outcome, format, arguments);
    va_end(arguments);
}

const char *le_door_version_text(int version, char text[24]) {
    snprintf(text, 24, "CUDA %d.%d", version / 1000, version % 1000 / 10);
    return text;
}

/* ---- the dynamic loader */

bool le_door_loaded_path(void *library, char path[PATH_MAX]) {
    struct link_map *map = NULL;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) || !map || map->l_name[0] != '/')
        return false;
    return snprintf(path, PATH_MAX, "%s", map->l_name) < PATH_MAX;
}

/* Is there such a file in a folder of the search path, or in those below it for better processors? */
static bool lies_in(const char *folder, const char *soname) {
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

/* An element of LD_LIBRARY_PATH that depends on the working directory, and has such a file. */
static bool lies_in_working_directory(const char *soname) {
    const char *rest = getenv("LD_LIBRARY_PATH");
    if (!rest || !rest[0]) /* set but empty is not set */
        return false;
    for (size_t length; rest; rest = rest[length] ? rest + length + 1 : NULL) {
        char folder[PATH_MAX];
        length = strcspn(rest, ":;");
        bool fits = length < sizeof folder;
        if (rest[0] == '/' || rest[0] == '$' || !fits) /* $ORIGIN, $LIB */
            continue;
        memcpy(folder, length ? rest : ".", length ? length : 1);
        folder[length ? length : 1] = 0;
        if (lies_in(folder, soname))
            return true;
    }
    return false;
}

void *le_door_load(const char *soname, char *why, size_t size_bytes) {
    if (lies_in_working_directory(soname)) {
        snprintf(why, size_bytes,
                 "not taken from the working directory, which an empty or relative element of "
                 "LD_LIBRARY_PATH names");
        return NULL;
    }
    void *library = dlopen(soname, RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
        const char *text = dlerror();
        if (text && strncmp(text, soname, strlen(soname)) == 0 && strstr(text, "No such file"))
            text = "not found by the dynamic loader";
        snprintf(why, size_bytes, "%s", text ? text : "unknown reason");
    }
    return library;
}

/* ---- places */

const char *le_door_variable(struct le_door_search *search, const char *variable) {
    const char *value = getenv(variable);
    if (!value)
        le_door_tell(search, variable, NULL, "not set");
    else if (!value[0])
        le_door_tell(search, variable, NULL, "ignored: it is empty");
    else if (value[0] != '/')
        le_door_tell(search, variable, value, "ignored: it is not an absolute path");
    else
        return value;
    return NULL;
}

static int newest_first(const void *a, const void *b) {
    return strverscmp(*(char *const *)b, *(char *const *)a);
}

bool le_door_local(le_door_look *look, void *user) {
    bool taken = look(user, "/usr/local/cuda*", "/usr/local/cuda");
    glob_t found = {0};
    if (!taken && glob("/usr/local/cuda-*", GLOB_NOSORT, NULL, &found) == 0) {
        qsort(found.gl_pathv, found.gl_pathc, sizeof *found.gl_pathv, newest_first);
        for (size_t k = 0; k < found.gl_pathc && !taken; k++)
            taken = look(user, "/usr/local/cuda*", found.gl_pathv[k]);
    }
    globfree(&found);
    return taken;
}

/* lib/python3.NN/site-packages/nvidia below an environment's folder. */
static bool look_in_environment(const char *name, const char *prefix, le_door_look *look, void *user) {
    char folder[PATH_MAX];
    bool taken = false;
    if (snprintf(folder, sizeof folder, "%s/lib", prefix) >= (int)sizeof folder)
        return false;
    DIR *versions = opendir(folder);
    for (struct dirent *entry; versions && !taken && (entry = readdir(versions));) {
        if (strncmp(entry->d_name, "python3", 7) != 0 ||
            snprintf(folder, sizeof folder, "%s/lib/%s/site-packages/nvidia", prefix, entry->d_name) >=
                (int)sizeof folder)
            continue;
        if (access(folder, R_OK | X_OK) == 0)
            taken = look(user, name, folder);
    }
    if (versions)
        closedir(versions);
    return taken;
}

bool le_door_wheels(struct le_door_search *search, le_door_look *look, void *user) {
    static const char *const variables[] = {"VIRTUAL_ENV", "CONDA_PREFIX"};
    for (size_t k = 0; k < ARRAY_LEN(variables); k++) {
        const char *prefix = le_door_variable(search, variables[k]);
        if (!prefix)
            continue;
        int before = search->line_count;
        /* conda's own packages lie in its prefix as in a toolkit */
        if (look_in_environment(variables[k], prefix, look, user) || look(user, variables[k], prefix))
            return true;
        if (search->line_count == before)
            le_door_tell(search, variables[k], prefix, "nothing found");
    }
    return false;
}
