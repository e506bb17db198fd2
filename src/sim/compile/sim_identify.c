/* Identifies the compiler of the simulator's kernels, so that compiled code is found in the cache without running it:
 * the command, the files of its words, the prelude, and whether the code is instrumented. */
#include "base/arena.h"
#include "base/hash.h"
#include "sim/grid/sim_abi.h"
#include "sim/grid/sim_exec.h"
#include "sim/compile/sim_prelude.h"
#include "sim/compile/sim_toolchain.h"
#include <inttypes.h>
#include <sys/stat.h>

/* A word that is a program is also identified by its file: "ccache g++" has two. */
static void add_word(struct le_arena *arena, const char *word, struct le_text *text) {
    struct stat about;
    const char *path = le_executable_find(arena, word);
    le_text_add(text, " %s", word);
    if (path && stat(path, &about) == 0)
        le_text_add(text, " (%ju %ju %jd %jd.%09ld)", (uintmax_t)about.st_dev, (uintmax_t)about.st_ino,
                    (intmax_t)about.st_size, (intmax_t)about.st_mtim.tv_sec, about.st_mtim.tv_nsec);
}

static uint64_t prelude_hash(void) {
    struct sim_file file;
    uint64_t hash = 0;
    for (size_t k = 0; le_sim_prelude_file(k, &file); k++)
        hash = le_hash(file.bytes, file.size_bytes, hash);
    return hash;
}

bool le_sim_identify(struct le_text *text) {
    struct le_arena arena;
    struct le_argv command = {0};
    le_arena_init(&arena);
    bool found = setjmp(arena.failure) == 0 && le_sim_toolchain_find(&arena, &command) == LEAT_OK;
    if (found) {
        le_text_add(text, "sim %d, prelude %016" PRIx64 "%s:", SIM_ABI, prelude_hash(),
                    le_sim_checking() ? ", checking" : "");
        for (int k = 0; k < command.count; k++)
            add_word(&arena, command.at[k], text);
        le_text_add(text, "\n");
    }
    le_arena_finish(&arena);
    return found && !text->failed;
}
