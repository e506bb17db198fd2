/* A loaded image: the object's table, its shared variables, and where they are on a thread. Read-only once loaded. */
#ifndef LE_SIM_MODULE_H
#define LE_SIM_MODULE_H
#include "sim/grid/sim_exec.h"
#include "sim/grid/sim_fiber.h"
#include "sim/compile/sim_image.h"

struct sim_shared_symbol {
    char *name; /* as in the source */
    const char *mangled;
    size_t offset, size_bytes; /* in the module's block of a thread */
};
enum { SIM_PADDING_BYTES = 64 }; /* of nobody's after each variable of a checking module */
struct sim_variable {            /* a variable that can be written, shared ones apart */
    char *name;                  /* as in the source */
    uintptr_t address;
    size_t size_bytes;
};
struct sim_module {
    char *image; /* a copy */
    struct sim_image_parts parts;
    void *handle;
    int fd;
    const struct sim_table *table;
    struct sim_check *check;
    uintptr_t base, low, high; /* of the object in memory */
    uintptr_t text_low, text_high;
    uintptr_t data_low, data_high; /* writable */
    struct sim_shared_symbol *shared;
    size_t shared_count;
    size_t
        *init_guards; /* offsets of what compilers ask before they construct a variable: set, as all shared memory is */
    size_t init_guard_count;
    struct sim_variable *variables;
    size_t variable_count;
    size_t block_bytes, dynamic_offset; /* of the module's block of a thread */
    struct sim_line_cache {
        uintptr_t pc;
        char *text;
    } * lines;
    size_t line_count;
};

/* Where the calling thread has the module's shared memory. */
struct sim_shared_area {
    uintptr_t low, high, dynamic;
};
struct sim_shared_area le_sim_module_area(const struct sim_module *module);
bool le_sim_module_has(const struct sim_module *module, uintptr_t pc); /* pc is in its code */

/* "file:line" of a return address, through addr2line of binutils; the innermost line that is the user's. Kept. */
bool le_sim_source_line_find(struct sim_module *module, uintptr_t pc, char *text, size_t size_bytes);
void le_sim_source_lines_finish(struct sim_module *module);

/* ---- sim_elf.c */
/* Fills in what the object says of itself; frees nothing on failure. */
leat_status le_sim_elf_read(struct sim_module *module);
#endif
