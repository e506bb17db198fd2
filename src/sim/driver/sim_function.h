/* Modules and functions of the driver table, as launches use them. Guarded by the state's lock. */
#ifndef LE_SIM_FUNCTION_H
#define LE_SIM_FUNCTION_H
#include "sim/driver/sim_state.h"

struct sim_function {
    uintptr_t handle;
    const struct sim_item *item;
    struct sim_loaded *loaded;
    size_t static_bytes, dynamic_max_bytes;
    int registers;
    struct sim_function *next;
};
struct sim_loaded { /* a module */
    struct sim_module *module;
    struct sim_function *functions;
    struct sim_loaded *next; /* in the list of unloaded modules */
};

struct sim_function *le_sim_function_of(le_cu_function function); /* NULL: invalid handle */
int le_sim_max_threads(const struct sim_function *function);      /* per block */
/* How many blocks fit on one multiprocessor, limited by threads (in whole warps), shared memory and registers. */
int le_sim_resident_blocks(const struct sim_function *function, int threads, size_t shared_bytes);
#endif
