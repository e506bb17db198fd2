/* See record_command.h. Finds libleat_trace.so. */
#include "trace/record_command.h"
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORDER "libleat_trace.so"

static bool try_path(const char *path, char found[LE_RECORDER_PATH_BYTES]) {
    _Static_assert(LE_RECORDER_PATH_BYTES >= PATH_MAX, "realpath writes up to PATH_MAX bytes");
    return realpath(path, found) && access(found, R_OK) == 0;
}

/* The folder of the library; if it is linked statically, that of the command. */
static bool own_folder(char folder[LE_RECORDER_PATH_BYTES]) {
    static const char here;
    Dl_info info;
    ssize_t length = -1;
    if (dladdr(&here, &info) && info.dli_fname && info.dli_fname[0] == '/' && strstr(info.dli_fname, ".so"))
        length = snprintf(folder, LE_RECORDER_PATH_BYTES, "%s", info.dli_fname);
    else
        length = readlink("/proc/self/exe", folder, LE_RECORDER_PATH_BYTES - 1);
    if (length <= 0 || length >= LE_RECORDER_PATH_BYTES)
        return false;
    folder[length] = 0;
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = 0;
    return slash != NULL;
}

bool le_recorder_find(const char *wanted, char path[LE_RECORDER_PATH_BYTES]) {
    static const char *const relative_paths[] = {"leat/" RECORDER, RECORDER, LE_RECORDER_PLACE "/" RECORDER};
    char folder[LE_RECORDER_PATH_BYTES], candidate[LE_RECORDER_PATH_BYTES + 64];
    if (!wanted)
        wanted = getenv("LEAT_TRACE_RECORDER");
    if (wanted && *wanted)
        return try_path(wanted, path);
    if (!own_folder(folder))
        return false;
    for (size_t k = 0; k < ARRAY_LEN(relative_paths); k++)
        if (snprintf(candidate, sizeof candidate, "%s/%s", folder, relative_paths[k]) < (int)sizeof candidate &&
            try_path(candidate, path))
            return true;
    return false;
}
