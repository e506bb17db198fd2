/* A loaded image: the object's table, its variables, and the location of its shared memory. Read-only once loaded,
 * except for the cache of source lines. */
#ifndef LE_SIM_MODULE_H
#define LE_SIM_MODULE_H
#include "sim/grid/sim_exec.h"
#include "sim/grid/sim_fiber.h"
#include "sim/compile/sim_image.h"

struct sim_shared_symbol {
    char *name; /* as in the source */
    const char *mangled;
    size_t offset, size_bytes; /* in the module's thread-local block */
};
enum { SIM_PADDING_BYTES = 64 }; /* unused bytes after each variable of an instrumented module */
struct sim_variable {            /* a writable variable that is not shared */
    char *name;                  /* as in the source */
    uintptr_t address;
    size_t size_bytes;
};
struct sim_module {
    char *image; /* the module's own copy */
    struct sim_image_parts parts;
    void *handle;
    int fd;
    const struct sim_table *table;
    struct sim_check *check;
    uintptr_t base, low, high; /* of the loaded object */
    uintptr_t text_low, text_high;
    uintptr_t data_low, data_high; /* the writable part */
    struct sim_shared_symbol *shared;
    size_t shared_count;
    size_t *init_guards; /* offsets of guard variables for initialization, which are shared memory, too; all bits set
                            means initialized */
    size_t init_guard_count;
    struct sim_variable *variables;
    size_t variable_count;
    size_t block_bytes, dynamic_offset; /* the module's thread-local block */
    struct sim_line_cache {
        uintptr_t pc;
        char *text;
    } * lines;
    size_t line_count;
};

/* The module's shared memory on the calling thread. */
struct sim_shared_area {
    uintptr_t low, high, dynamic;
};
struct sim_shared_area le_sim_module_area(const struct sim_module *module);
bool le_sim_module_has(const struct sim_module *module, uintptr_t pc); /* whether pc is in its code */

/* The "file:line" of a return address, found with addr2line of binutils and cached. It is the innermost line in the
 * user's source. false: unknown. */
bool le_sim_source_line_find(struct sim_module *module, uintptr_t pc, char *text, size_t size_bytes);
void le_sim_source_lines_finish(struct sim_module *module);

/* ---- sim_elf.c */
/* Reads the object's segments and symbols into module; frees nothing on failure. */
leat_status le_sim_elf_read(struct sim_module *module);
#endif
