/* NVRTC's options, and what they mean for the host's compiler. */
#ifndef LE_SIM_OPTIONS_H
#define LE_SIM_OPTIONS_H
#include "sim/compile/sim_toolchain.h"

struct sim_options {
    struct le_argv folders; /* -I */
    const char *lines;      /* #define, #undef and #include lines, which go between the prelude and the program */
    const char *standard;   /* "-std=c++17" */
    int architecture;       /* 900 */
    bool quiet;             /* no warnings */
    bool no_cache;          /* do not use the cache of compiled code */
};
/* LEAT_INVALID for an invalid option, with a line in log. */
leat_status le_sim_options_read(struct le_arena *arena, const char *const *options, int count, struct sim_options *read,
                                struct le_text *log);
#endif
