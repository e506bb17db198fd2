/* NVRTC's options: which there are, and what they mean to the host's compiler. */
#ifndef LE_SIM_OPTIONS_H
#define LE_SIM_OPTIONS_H
#include "sim/compile/sim_toolchain.h"

struct sim_options {
    struct le_argv folders; /* -I */
    const char *lines;      /* #define, #undef, #include: they stand after what is ours, before the program */
    const char *standard;   /* "-std=c++17" */
    int architecture;       /* 900 */
    bool quiet;             /* no warnings */
    bool no_cache;          /* what comes out is not kept, nor looked for */
};
/* LEAT_INVALID for an option that NVRTC does not have: a line in log. */
leat_status le_sim_options_read(struct le_arena *arena, const char *const *options, int count, struct sim_options *read,
                                struct le_text *log);
#endif
