/* The files that every kernel is compiled with, embedded in the library: the prelude's .inc and what stands in for
 * headers of CUDA and of C. */
#ifndef LE_SIM_PRELUDE_H
#define LE_SIM_PRELUDE_H
#include "base/status.h"

struct sim_file {
    const char *name, *bytes;
    size_t size_bytes;
};
/* NULL after the last. */
bool le_sim_prelude_file(size_t k, struct sim_file *file);
#endif
