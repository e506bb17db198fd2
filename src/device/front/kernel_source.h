/* Reads from CUDA C text what compiled code lacks about kernels' parameters: their names, the types that they point to,
 * and whether they point to const. It is not a compiler: it finds `__global__` functions in the text without expanding
 * macros. Anything it does not understand, and anything on which several declarations of a name disagree, stays
 * unknown. Any thread. */
#ifndef LE_KERNEL_SOURCE_H
#define LE_KERNEL_SOURCE_H
#include "device/front/ptx.h"

struct le_source_parameter {
    const char *name;   /* "": none */
    leat_dtype pointee; /* of a pointer to numbers (i16 to i64 also stand for unsigned integers); 0: unknown */
    bool is_const;      /* a pointer to const */
    bool is_pointer;    /* false: no, or unknown */
};
struct le_source_parameters {
    struct le_source_parameter *at;
    int count, capacity;
};
struct le_source_kernel {
    const char *name; /* without namespaces and template arguments */
    bool is_ambiguous, is_template;
    struct le_source_parameters parameters;
};
struct le_source_kernels {
    struct le_source_kernel *at;
    int count, capacity;
};
/* Adds the kernels of the text. Out of memory: longjmps to the arena's failure handler. */
void le_kernel_source_read(const char *text, struct le_arena *arena, struct le_source_kernels *kernels);
/* Adds names, pointees and constness, where the text gives them, to the parameters of a module's kernels, and the names
 * of kernel templates. */
void le_kernel_source_refine(const char *text, struct le_ptx *ptx);
#endif
