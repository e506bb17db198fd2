/* Functions of the table, as launches see them. Under the state's lock. */
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
    struct sim_loaded *next; /* of those that were unloaded */
};

struct sim_function *le_sim_function_of(le_cu_function function); /* NULL: a bad handle */
int le_sim_max_threads(const struct sim_function *function);      /* of a block */
/* Blocks that one multiprocessor has room for: by threads in whole warps, by shared memory, by registers. */
int le_sim_resident_blocks(const struct sim_function *function, int threads, size_t shared_bytes);
#endif
