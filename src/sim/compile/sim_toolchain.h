/* The host's C++ compiler, which compiles the simulator's kernels. */
#ifndef LE_SIM_TOOLCHAIN_H
#define LE_SIM_TOOLCHAIN_H
#include "base/process.h"

/* The words with which a command line of the compiler begins; the first is a path. They come from LEAT_CXX, else CXX,
 * else g++, c++ or clang++. LEAT_UNSUPPORTED, with advice, if there is none. */
leat_status le_sim_toolchain_find(struct le_arena *arena, struct le_argv *command);
#endif
