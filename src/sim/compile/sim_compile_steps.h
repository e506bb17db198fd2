/* Between the files of the compiler: one compilation's state and its steps. */
#ifndef LE_SIM_COMPILE_STEPS_H
#define LE_SIM_COMPILE_STEPS_H
#include "base/scratch_folder.h"
#include "sim/grid/sim_exec.h"
#include "sim/compile/sim_options.h"
#include "sim/compile/sim_rewrite.h"
#include "sim/compile/sim_toolchain.h"

struct sim_compilation {
    struct le_arena *arena;
    const struct sim_compile_options *options;
    struct sim_options read;
    struct le_argv compiler;
    char *folder;
    struct le_text log, preprocessed, object, ptx;
    struct sim_rewritten rewritten;
    bool expression_failed; /* the only errors were in name expressions */
};

/* ---- sim_log.c: the compiler's messages as NVRTC writes them; what is of our own files is told of the user's line */
int le_sim_log_add(struct sim_compilation *c, const char *messages); /* the number of errors */
void le_sim_log_end(struct sim_compilation *c, int errors);

/* ---- sim_assembly.c: in the assembler's text, bytes of nobody's after each variable that can be written */
bool le_sim_assembly_pad(const char *text, size_t length, struct le_text *padded);

/* ---- sim_ptx.c: of the object in the file, whose table it reads */
leat_status le_sim_ptx_write(const char *path, struct le_text *ptx);
#endif
