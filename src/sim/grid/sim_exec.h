/* The compiler and the executor of sim. The compiler turns CUDA C into an image: a host object file with a header. An
 * image is loaded as a module, and a kernel of a module runs as a grid of fibers on the calling thread. Streams and
 * device memory belong to the driver (sim_driver.c), and the NVRTC interface to sim_nvrtc.c.
 *
 * Threads: any thread may compile. Modules are loaded and freed under the driver's lock. le_sim_grid_run runs on one
 * thread at a time (the driver's executor), and on the same thread as long as a grid of the module runs. */
#ifndef LE_SIM_EXEC_H
#define LE_SIM_EXEC_H
#include "base/cancel.h"
#include "base/text.h"
#include "sim/grid/sim_abi.h"
#include "sim/check/sim_check.h"

/* ---- compiling */
struct sim_compile_options {
    const char *source, *name; /* name: the file name in messages */
    const char *const *header_names, *const *headers;
    int header_count;
    const char *const *options; /* options of NVRTC */
    int option_count;
    const char *const *expressions; /* name expressions */
    int expression_count;
    bool check; /* instrument the code, for grids that run with a check */
};
struct sim_compiled { /* owned; le_sim_compiled_finish */
    char *log;        /* "" if empty; also set on failure */
    char *ptx;        /* a substitute for PTX: entries, parameters, variables */
    void *image;
    size_t image_bytes;
    const char **lowered; /* one for each expression */
};
/* LEAT_PROGRAM: the program is invalid or outside the subset; the log says why. LEAT_UNSUPPORTED: no compiler was
 * found. LEAT_INVALID: an invalid option, named in the log. LEAT_MISSING: a name expression does not name a kernel or
 * variable. */
leat_status le_sim_compile(const struct sim_compile_options *options, struct sim_compiled *compiled);
void le_sim_compiled_finish(struct sim_compiled *compiled);
/* sim_fault.c: whether code compiled now must be instrumented (le_sim_configure, LEAT_SIM_CHECK). */
bool le_sim_checking(void);
/* sim_identify.c: adds a text that differs between compilers; false: no compiler was found, or out of memory. */
bool le_sim_identify(struct le_text *text);

/* ---- modules */
struct sim_module;
/* Loads an image made by le_sim_compile; its size is in its header. LEAT_DEVICE if it is not such an image. */
leat_status le_sim_module_load(const void *image, struct sim_module **module);
/* Declares the variables of an instrumented module to check (NULL: none) with le_sim_check_memory. Freeing the module
 * ends them. */
void le_sim_module_check(struct sim_module *module, struct sim_check *check);
void le_sim_module_free(struct sim_module *module);
bool le_sim_module_checking(const struct sim_module *module); /* whether it is instrumented */
/* Finds a kernel or variable by its name as written or its lowered name; NULL if there is none. Items live as long as
 * the module. */
const struct sim_item *le_sim_module_kernel(const struct sim_module *module, const char *name);
const struct sim_item *le_sim_module_global(const struct sim_module *module, const char *name);
size_t le_sim_module_shared_bytes(const struct sim_module *module,
                                  const struct sim_item *kernel); /* static shared memory */
int le_sim_module_registers(const struct sim_module *module, const struct sim_item *kernel);
/* Variable k of the module, from 0; NULL after the last. The driver treats them as device memory. */
const struct sim_item *le_sim_module_variable(const struct sim_module *module, size_t k);

/* ---- grids */
enum sim_grid_status {
    SIM_GRID_OK,
    SIM_GRID_TRAP,    /* __trap(), an integer division by zero, or an illegal instruction */
    SIM_GRID_ASSERT,  /* an assertion failed, and its message was printed */
    SIM_GRID_ADDRESS, /* an access to an invalid address */
    SIM_GRID_STACK,   /* a stack overflow */
    SIM_GRID_DEADLOCK,
    SIM_GRID_TIMEOUT, /* threads only waited for too long */
    SIM_GRID_MEMORY,  /* out of memory */
    SIM_GRID_CANCELED /* one of the grid's tokens was requested */
};

struct sim_stacks;
/* The stacks of a block's threads, reused by one grid after the other. */
struct sim_stack_cache {
    struct sim_stacks *stacks; /* NULL: none yet */
    size_t stack_bytes;        /* as requested by the grid */
};
struct sim_grid {
    struct sim_module *module;
    const struct sim_item *kernel;
    unsigned grid[3], block[3];
    size_t dynamic_bytes;
    void **parameters;                     /* the address of each parameter; NULL: use buffer */
    void *buffer;                          /* the parameters, at their offsets */
    uint64_t seed;                         /* decides the order of blocks and threads */
    bool cooperative;                      /* all blocks are resident together; grid barriers are allowed */
    unsigned resident;                     /* the most blocks resident together; 0: 132 */
    size_t stack_bytes;                    /* per thread; 0: 640 KiB */
    struct sim_stack_cache *stack_cache;   /* NULL: allocates its own stacks */
    const struct le_cancel_tokens *tokens; /* end the grid at any instruction; NULL: none do */
    uint64_t spin_limit_ms;                /* CPU time of the calling thread; 0: 10,000 */
    struct sim_check *check;               /* NULL: unchecked; ignored if the module is not instrumented */
    uint64_t op;                           /* the operation's number, for the check */
    void (*print)(void *user, const char *text, size_t size_bytes); /* output of printf; NULL: discarded */
    void *user;
    char message[512]; /* out: unless SIM_GRID_OK, the reason, with thread and block */
};
enum sim_grid_status le_sim_grid_run(struct sim_grid *grid);
#endif
