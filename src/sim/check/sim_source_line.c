/* Source lines of code addresses, found with addr2line, which comes with the host's compiler (binutils). It reads the
 * object from the module's file in memory. Answers are cached, because reports ask for few addresses, many times. */
#include "base/memory.h"
#include "sim/grid/sim_module.h"
#include "sim/compile/sim_toolchain.h"
#include <stdio.h>
#include <string.h>

#define OBJECT_FOLDER "/leat/" /* the name that objects give to the folder in which they were compiled */

/* Takes the first line that is not in our own headers. addr2line lists inlined functions from the inside out. */
static bool take_user_line(const char *lines, char *text, size_t size_bytes) {
    while (lines && *lines) {
        size_t length = strcspn(lines, "\n"), shown = length;
        const char *at = lines;
        if (strncmp(at, OBJECT_FOLDER, strlen(OBJECT_FOLDER)) == 0) {
            at += strlen(OBJECT_FOLDER);
            shown -= strlen(OBJECT_FOLDER);
        }
        const char *more = memmem(at, shown, " (discriminator", 15);
        if (more)
            shown = (size_t)(more - at);
        bool own = strncmp(at, "<leat>", 6) == 0 || *at == '?' || (shown && at[shown - 1] == '?') ||
                   (shown > 1 && strncmp(at + shown - 2, ":0", 2) == 0);
        if (!own && shown) {
            snprintf(text, size_bytes, "%.*s", (int)shown, at);
            return true;
        }
        lines += length + (lines[length] == '\n');
    }
    return false;
}

static bool ask_addr2line(struct le_arena *arena, struct sim_module *module, uintptr_t pc, char *text,
                          size_t size_bytes) {
    struct le_argv command = {0};
    struct le_text output = {0};
    int code = 1;
    const char *path = le_executable_find(arena, "addr2line");
    if (!path)
        return false;
    le_argv_add(arena, &command, path);
    le_argv_add(arena, &command, "-i");
    le_argv_add(arena, &command, "-e");
    le_argv_add(arena, &command, "/proc/self/fd/0");
    le_argv_add(arena, &command, le_arena_format(arena, "0x%lx", (unsigned long)(pc - module->base)));
    bool found = le_process_run(arena, &command, NULL, module->fd, &output, NULL, &code) == LEAT_OK && code == 0 &&
                 take_user_line(output.at, text, size_bytes);
    le_text_finish(&output);
    return found;
}

static void keep_line(struct sim_module *module, uintptr_t pc, const char *text) {
    struct sim_line_cache *grown = le_realloc(module->lines, (module->line_count + 1) * sizeof *module->lines);
    if (!grown)
        return;
    module->lines = grown;
    char *copy = le_strdup(text);
    if (copy)
        grown[module->line_count++] = (struct sim_line_cache){.pc = pc, .text = copy};
}

bool le_sim_source_line_find(struct sim_module *module, uintptr_t pc, char *text, size_t size_bytes) {
    for (size_t k = 0; k < module->line_count; k++)
        if (module->lines[k].pc == pc) {
            snprintf(text, size_bytes, "%s", module->lines[k].text);
            return *text != '\0';
        }
    struct le_arena arena;
    le_arena_init(&arena);
    *text = '\0';
    if (le_sim_module_has(module, pc) && setjmp(arena.failure) == 0)
        ask_addr2line(&arena, module, pc - 1, text, size_bytes); /* pc is the return address of the call */
    le_arena_finish(&arena);
    keep_line(module, pc, text);
    return *text != '\0';
}

void le_sim_source_lines_finish(struct sim_module *module) {
    for (size_t k = 0; k < module->line_count; k++)
        le_free(module->lines[k].text);
    le_free(module->lines);
    module->lines = NULL;
    module->line_count = 0;
}
