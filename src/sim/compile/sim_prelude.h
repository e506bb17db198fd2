/* The files with which every kernel is compiled, embedded in the library: the prelude's .inc files, and replacements
 * for headers of CUDA and C. */
#ifndef LE_SIM_PRELUDE_H
#define LE_SIM_PRELUDE_H
#include "base/status.h"

struct sim_file {
    const char *name, *bytes;
    size_t size_bytes;
};
/* File k, from 0; false after the last. */
bool le_sim_prelude_file(size_t k, struct sim_file *file);
#endif
