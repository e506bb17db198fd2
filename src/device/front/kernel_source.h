/* What the text of CUDA C says about the parameters of its kernels that compiled code does not: their names, and what
 * they point to. It is no compiler: it finds `__global__` functions in the text as it is, without macros. What it does
 * not understand, or what several declarations of one name say differently, stays unknown. Any thread. */
#ifndef LE_KERNEL_SOURCE_H
#define LE_KERNEL_SOURCE_H
#include "device/front/ptx.h"

struct le_source_parameter {
    const char *name;   /* "": it has none */
    leat_dtype pointee; /* of a pointer to numbers (integers: i16 to i64, whether signed or not); 0: not known */
};
struct le_source_parameters {
    struct le_source_parameter *at;
    int count, capacity;
};
struct le_source_kernel {
    const char *name; /* without namespaces and template arguments */
    bool is_ambiguous;
    struct le_source_parameters parameters;
};
struct le_source_kernels {
    struct le_source_kernel *at;
    int count, capacity;
};
/* Adds the kernels of the text. Leaves by the arena's longjmp when memory runs out. */
void le_kernel_source_read(const char *text, struct le_arena *arena, struct le_source_kernels *kernels);
/* Adds names and pointees to the parameters of a module's kernels, as far as the text says them. */
void le_kernel_source_refine(const char *text, struct le_ptx *ptx);
#endif
