/* See disassemble.h. */
#include "device/cuda/disassemble.h"
#include "base/process.h"
#include "base/scratch_folder.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct tool {
    struct le_arena arena;
    const char *path, *option; /* option NULL: it needs none */
};

static const struct { const char *name, *option; } TOOLS[] = {{"nvdisasm", NULL}, {"cuobjdump", "-sass"}};

static bool look_in(struct tool *tool, const char *folder) {
    for (size_t k = 0; k < ARRAY_LEN(TOOLS); k++) {
        const char *path = le_arena_format(&tool->arena, "%s/bin/%s", folder, TOOLS[k].name);
        if (access(path, X_OK) != 0)
            continue;
        tool->path = path;
        tool->option = TOOLS[k].option;
        return true;
    }
    return false;
}

static bool find_tool(struct tool *tool) {
    static const char *const variables[] = {"LEAT_CUDA_PATH", "CUDA_PATH"};
    for (size_t k = 0; k < ARRAY_LEN(variables); k++) {
        const char *folder = getenv(variables[k]);
        if (folder && *folder == '/' && look_in(tool, folder))
            return true;
    }
    if (look_in(tool, "/usr/local/cuda"))
        return true;
    for (size_t k = 0; k < ARRAY_LEN(TOOLS) && !tool->path; k++) {
        tool->path = le_executable_find(&tool->arena, TOOLS[k].name);
        tool->option = TOOLS[k].option;
    }
    return tool->path != NULL;
}

static leat_status run_tool(struct tool *tool, const char *folder, struct le_text *out) {
    struct le_argv command = {0};
    struct le_text errors = {0};
    int code = 0;
    le_argv_add(&tool->arena, &command, tool->path);
    if (tool->option)
        le_argv_add(&tool->arena, &command, tool->option);
    le_argv_add(&tool->arena, &command, "kernel.cubin");
    leat_status status = le_process_run(&tool->arena, &command, folder, -1, out, &errors, &code);
    if (status == LEAT_OK && code != 0)
        status = le_fail(LEAT_DEVICE, "%s fails (%d): %.300s", tool->path, code, errors.at ? errors.at : "");
    le_text_finish(&errors);
    return status;
}

static leat_status disassemble(struct tool *tool, const void *cubin, size_t size_bytes, struct le_text *out) {
    char *folder = NULL;
    if (!find_tool(tool))
        return le_fail(
            LEAT_UNSUPPORTED,
            "machine code is shown by nvdisasm or cuobjdump, and neither is there: install a CUDA toolkit's, "
            "and name its folder in LEAT_CUDA_PATH; looked for in bin of LEAT_CUDA_PATH, CUDA_PATH and "
            "/usr/local/cuda, and on PATH");
    leat_status status = le_scratch_new(&tool->arena, &folder);
    if (status == LEAT_OK)
        status = le_scratch_write(folder, "kernel.cubin", cubin, size_bytes);
    if (status == LEAT_OK)
        status = run_tool(tool, folder, out);
    le_scratch_remove(folder);
    return status;
}

leat_status le_disassemble(const void *cubin, size_t size_bytes, struct le_text *out) {
    struct tool tool = {.path = NULL};
    sigset_t before;
    le_arena_init(&tool.arena);
    le_signals_hold(&before);
    leat_status status =
        setjmp(tool.arena.failure) ? le_fail_out_of_memory(size_bytes) : disassemble(&tool, cubin, size_bytes, out);
    le_signals_release(&before);
    le_arena_finish(&tool.arena);
    return status;
}
