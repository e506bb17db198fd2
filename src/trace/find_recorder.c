/* See record_command.h. Finds libleat_trace.so. */
#include "trace/record_command.h"
#include "base/library_search.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define RECORDER "libleat_trace.so"

static bool try_path(const char *path, char found[LE_RECORDER_PATH_BYTES]) {
    _Static_assert(LE_RECORDER_PATH_BYTES >= PATH_MAX, "realpath writes up to PATH_MAX bytes");
    return realpath(path, found) && access(found, R_OK) == 0;
}

bool le_recorder_find(const char *wanted, char path[LE_RECORDER_PATH_BYTES]) {
    static const char *const relative_paths[] = {"leat/" RECORDER, RECORDER, LE_RECORDER_PLACE "/" RECORDER};
    char folder[PATH_MAX], candidate[PATH_MAX + 64];
    if (!wanted)
        wanted = getenv("LEAT_TRACE_RECORDER");
    if (wanted && *wanted)
        return try_path(wanted, path);
    if (!le_library_own_folder(folder))
        return false;
    for (size_t k = 0; k < ARRAY_LEN(relative_paths); k++)
        if (snprintf(candidate, sizeof candidate, "%s/%s", folder, relative_paths[k]) < (int)sizeof candidate &&
            try_path(candidate, path))
            return true;
    return false;
}
