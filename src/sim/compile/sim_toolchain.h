/* The host's C++ compiler, which compiles the simulator's kernels. */
#ifndef LE_SIM_TOOLCHAIN_H
#define LE_SIM_TOOLCHAIN_H
#include "base/process.h"

/* The words that a command line of the compiler begins with, the first one a path: LEAT_CXX, else CXX, else g++, c++ or
 * clang++. LEAT_UNSUPPORTED, with what to install, if there is none. */
leat_status le_sim_toolchain_find(struct le_arena *arena, struct le_argv *command);
#endif
