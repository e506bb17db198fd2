/* The compiler and the executor of sim: CUDA C becomes an image (an object for the host in a wrapper of ours), an image
 * a module, and a kernel of it a grid of fibers on the calling thread. It knows no streams and no device memory: that
 * is the driver's (sim_driver.c). No NVRTC either: sim_nvrtc.c is its face.
 *
 * Threads: compiling from any thread; loading and freeing under the driver's lock; le_sim_grid_run on one thread at a
 * time (the driver's executor), and always the same one for a module while one of its grids runs. */
#ifndef LE_SIM_EXEC_H
#define LE_SIM_EXEC_H
#include "base/text.h"
#include "sim/grid/sim_abi.h"
#include "sim/check/sim_check.h"

/* ---- compiling */
struct sim_compile_options {
    const char *source, *name; /* name: of the file, for messages */
    const char *const *header_names, *const *headers;
    int header_count;
    const char *const *options; /* as NVRTC takes them */
    int option_count;
    const char *const *expressions; /* name expressions */
    int expression_count;
    bool check; /* instrumented, for grids that are run with a check */
};
struct sim_compiled { /* owned; le_sim_compiled_finish */
    char *log;        /* "" if there is nothing to say; also set after a failure */
    char *ptx;        /* what stands in for it: entries, parameters, globals */
    void *image;
    size_t image_bytes;
    const char **lowered; /* one for each expression */
};
/* LEAT_PROGRAM: the program is wrong or outside of the subset: see the log. LEAT_UNSUPPORTED: no compiler found.
 * LEAT_INVALID: a wrong option, named in the log. LEAT_MISSING: a name expression that names nothing. */
leat_status le_sim_compile(const struct sim_compile_options *options, struct sim_compiled *compiled);
void le_sim_compiled_finish(struct sim_compiled *compiled);
/* sim_driver.c: whether what is compiled now is to be instrumented (le_sim_configure, LEAT_SIM_CHECK). */
bool le_sim_checking(void);
/* sim_identify.c: adds what tells this compiler's code from another's; false: there is none. */
bool le_sim_identify(struct le_text *text);

/* ---- modules */
struct sim_module;
/* The image as le_sim_compile made it: its size is in its header. LEAT_DEVICE if it is none. */
leat_status le_sim_module_load(const void *image, struct sim_module **module);
/* Tells check (NULL: none) of an instrumented module's variables (le_sim_check_memory), and of their end when the
 * module is freed. */
void le_sim_module_check(struct sim_module *module, struct sim_check *check);
void le_sim_module_free(struct sim_module *module);
bool le_sim_module_checking(const struct sim_module *module); /* instrumented */
/* Kernels and variables by name, as written or lowered; NULL if there is none. Items live as long as the module. */
const struct sim_item *le_sim_module_kernel(const struct sim_module *module, const char *name);
const struct sim_item *le_sim_module_global(const struct sim_module *module, const char *name);
size_t le_sim_module_shared_bytes(const struct sim_module *module, const struct sim_item *kernel); /* static */
int le_sim_module_registers(const struct sim_module *module, const struct sim_item *kernel);
/* All of its variables: what a driver has to know as device memory. k from 0; NULL after the last. */
const struct sim_item *le_sim_module_variable(const struct sim_module *module, size_t k);

/* ---- grids */
enum sim_grid_status {
    SIM_GRID_OK,
    SIM_GRID_TRAP,    /* __trap() */
    SIM_GRID_ASSERT,  /* an assert failed; it was printed */
    SIM_GRID_ADDRESS, /* an access that the machine refuses, or a stack that ran over */
    SIM_GRID_DEADLOCK,
    SIM_GRID_TIMEOUT, /* threads that wait for what nobody does */
    SIM_GRID_MEMORY   /* no memory for the fibers */
};

struct sim_stacks;
/* Of a block's threads, for one grid after the other. */
struct sim_stack_cache {
    struct sim_stacks *stacks; /* NULL: none yet */
    size_t stack_bytes;        /* as the grid asked for */
};
struct sim_grid {
    struct sim_module *module;
    const struct sim_item *kernel;
    unsigned grid[3], block[3];
    size_t dynamic_bytes;
    void **parameters;                   /* one address each, or NULL with: */
    void *buffer;                        /* parameters at their offsets */
    uint64_t seed;                       /* of the order of blocks and threads */
    bool cooperative;                    /* all blocks resident together, grid barriers allowed */
    unsigned resident;                   /* blocks that may be resident together; 0: 132 */
    size_t stack_bytes;                  /* of a thread; 0: 64 KiB */
    struct sim_stack_cache *stack_cache; /* NULL: it has its own */
    uint64_t spin_limit_ms;              /* of the caller's own time; 0: 10,000 */
    struct sim_check *check; /* NULL: unchecked; a checking module may run unchecked, not the other way round */
    uint64_t op;             /* for the check */
    void (*print)(void *user, const char *text, size_t size_bytes); /* of printf; NULL: nowhere */
    void *user;
    char message[512]; /* out: why it is not SIM_GRID_OK, with thread and block */
};
enum sim_grid_status le_sim_grid_run(struct sim_grid *grid);
#endif
