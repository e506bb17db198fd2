/* The state and the steps of a compilation, shared by the files of the compiler. */
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

/* ---- sim_log.c: rewrites the host compiler's messages as NVRTC writes them, without warnings and notes in our own
 * headers */
int le_sim_log_add(struct sim_compilation *c, const char *messages); /* returns the number of errors */
void le_sim_log_end(struct sim_compilation *c, int errors);

/* ---- sim_assembly.c: adds unused bytes after each writable variable in assembly text */
bool le_sim_assembly_pad(const char *text, size_t length, struct le_text *padded);

/* ---- sim_ptx.c: writes the substitute for PTX from the table of the object file at path */
leat_status le_sim_ptx_write(const char *path, struct le_text *ptx);
#endif
