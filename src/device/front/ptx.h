/* Reads a module's kernels, their parameters, and its variables from its PTX. Only declarations are read, and in
 * kernels' bodies the conversions of parameters to addresses, which distinguish a pointer from a 64-bit number. The PTX
 * is not checked; the driver does that. The simulator's text has the same declarations.
 *
 * A le_ptx owns all that it points to and never changes once read. Any thread. */
#ifndef LE_DEVICE_PTX_H
#define LE_DEVICE_PTX_H
#include "base/arena.h"
#include "base/hash.h"
#include "device/front/device.h"

struct le_ptx_kernel {
    const char *symbol; /* the driver's name for it */
    const char *name;   /* the source's name for it: "ns::f", without template arguments */
    bool is_template;
    const char *parameter_list; /* "const float *, int"; "": unknown */
    int parameter_count;
    struct le_parameter *parameters;
    bool uses_all; /* may use any variable: it calls functions, or its body is missing */
    struct {
        int *at, count, capacity;
    } uses; /* otherwise the indices in le_ptx.variables of those that it names */
};
struct le_ptx_variable {
    const char *symbol, *name;
    bool is_constant;
};
struct le_ptx {
    struct le_arena arena;
    struct {
        struct le_ptx_kernel *at;
        int count, capacity;
    } kernels; /* in text order */
    struct {
        struct le_ptx_variable *at;
        int count, capacity;
    } variables;
    struct le_names variable_names; /* by symbol */
    struct {
        const char **at;
        int count, capacity;
    } templates; /* names of kernel templates in the source, without namespaces; empty if the source was not read */
};
/* Can only fail with OUT_OF_MEMORY; then there is nothing to finish. */
leat_status le_ptx_read(const char *text, struct le_ptx *ptx);
void le_ptx_finish(struct le_ptx *ptx);
#endif
