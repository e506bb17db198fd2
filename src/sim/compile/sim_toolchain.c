/* See sim_toolchain.h. */
#include "sim/compile/sim_toolchain.h"
#include "base/environment.h"
#include <stdlib.h>
#include <string.h>

/* "ccache g++" is two words. */
static bool take_command(struct le_arena *arena, const char *text, struct le_argv *command) {
    command->count = 0;
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        size_t length = strcspn(text, " ");
        le_argv_add(arena, command, le_arena_copy(arena, text, length));
        text += length;
    }
    const char *path = command->count ? le_executable_find(arena, command->at[0]) : NULL;
    if (path)
        command->at[0] = path;
    return path != NULL;
}

leat_status le_sim_toolchain_find(struct le_arena *arena, struct le_argv *command) {
    static const char *const variables[] = {"LEAT_CXX", "CXX"}, *const names[] = {"g++", "c++", "clang++"};
    for (size_t k = 0; k < ARRAY_LEN(variables); k++) {
        const char *value = le_environment_get(variables[k]);
        if (!value || !*value)
            continue;
        if (take_command(arena, value, command))
            return LEAT_OK;
        if (k == 0)
            return le_fail(LEAT_UNSUPPORTED, "LEAT_CXX names a compiler that does not exist: %s", value);
    }
    for (size_t k = 0; k < ARRAY_LEN(names); k++)
        if (take_command(arena, names[k], command))
            return LEAT_OK;
    return le_fail(LEAT_UNSUPPORTED, "the simulator compiles kernels with a C++ compiler of the host, but none was "
                                     "found on PATH: install one (Debian, Ubuntu: "
                                     "apt install g++), or set LEAT_CXX");
}
