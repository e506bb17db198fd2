/* See disassemble.h. */
#include "device/cuda/disassemble.h"
#include "base/library_search.h"
#include "base/process.h"
#include "base/scratch_folder.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const names[] = {"nvdisasm", "cuobjdump", NULL}, *const below[] = {"bin", NULL};
static const enum le_search_place places[] = {LE_SEARCH_LEAT_CUDA_PATH, LE_SEARCH_CUDA_PATH, LE_SEARCH_LOCAL,
                                              LE_SEARCH_END};

static bool take_tool(void *user, struct le_search *search, const char *name, const char *path, void *library) {
    (void)user, (void)name, (void)library;
    snprintf(search->path, sizeof search->path, "%s", path);
    return access(path, X_OK) == 0;
}

/* Finds the tool in a toolkit, else on PATH. NULL: not found. */
static const char *find_tool(struct le_arena *arena) {
    const struct le_search_request request = {.what = names[0], .names = names, .below = below, .take = take_tool};
    struct le_search search = {.found = false};
    if (le_search_run(&search, &request, places))
        return le_arena_format(arena, "%s", search.path);
    const char *path = NULL;
    for (const char *const *name = names; *name && !path; name++)
        path = le_executable_find(arena, *name);
    return path;
}

static leat_status run_tool(struct le_arena *arena, const char *path, const char *folder, struct le_text *out) {
    struct le_argv argv = {0};
    struct le_text errors = {0};
    int code = 0;
    le_argv_add(arena, &argv, path);
    if (strcmp(strrchr(path, '/') + 1, "cuobjdump") == 0)
        le_argv_add(arena, &argv, "-sass");
    le_argv_add(arena, &argv, "kernel.cubin");
    leat_status status = le_process_run(arena, &argv, folder, -1, out, &errors, &code);
    if (status == LEAT_OK && code != 0)
        status = le_fail(LEAT_DEVICE, "%s failed (exit status %d): %.300s", path, code, errors.at ? errors.at : "");
    le_text_finish(&errors);
    return status;
}

static leat_status disassemble(struct le_arena *arena, const void *cubin, size_t size_bytes, struct le_text *out) {
    const char *path = find_tool(arena);
    char *folder = NULL;
    if (!path)
        return le_fail(LEAT_UNSUPPORTED,
                       "neither nvdisasm nor cuobjdump, which show machine code, was found: install a CUDA toolkit and "
                       "name its folder in LEAT_CUDA_PATH; looked in the folder bin of LEAT_CUDA_PATH, CUDA_PATH and "
                       "/usr/local/cuda*, and on PATH");
    leat_status status = le_scratch_new(arena, &folder);
    if (status == LEAT_OK)
        status = le_scratch_write(folder, "kernel.cubin", cubin, size_bytes);
    if (status == LEAT_OK)
        status = run_tool(arena, path, folder, out);
    le_scratch_remove(folder);
    return status;
}

leat_status le_disassemble(const void *cubin, size_t size_bytes, struct le_text *out) {
    struct le_arena arena;
    sigset_t before;
    le_arena_init(&arena);
    le_signals_hold(&before);
    leat_status status =
        setjmp(arena.failure) ? le_fail_out_of_memory(size_bytes) : disassemble(&arena, cubin, size_bytes, out);
    le_signals_release(&before);
    le_arena_finish(&arena);
    return status;
}
