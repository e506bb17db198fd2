/* What a module's PTX says of it: its kernels with their parameters, and its variables. Only declarations are read, and
 * of a kernel's body what tells a pointer from a 64-bit number: a parameter that is converted to an address. It checks
 * no PTX: that is the driver's. The simulator's text has the same declarations.
 *
 * A le_ptx owns all that it points to; it never changes once read. Any thread. */
#ifndef LE_DEVICE_PTX_H
#define LE_DEVICE_PTX_H
#include "base/arena.h"
#include "base/hash.h"
#include "device/front/device.h"

struct le_ptx_kernel {
    const char *symbol; /* as the driver knows it */
    const char *name;   /* as the source does: "ns::f", without template arguments */
    bool is_template;
    const char *parameter_list; /* "const float *, int"; "" where it is not known */
    int parameter_count;
    struct le_parameter *parameters;
    bool uses_all; /* it may use any variable: it calls functions, or its body is not there */
    struct {
        int *at, count, capacity;
    } uses; /* else those of le_ptx.variables that it names */
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
    } kernels; /* in the order of the text */
    struct {
        struct le_ptx_variable *at;
        int count, capacity;
    } variables;
    struct le_names variable_names; /* by symbol */
};
/* OUT_OF_MEMORY is the only failure: then there is nothing to finish. */
leat_status le_ptx_read(const char *text, struct le_ptx *ptx);
void le_ptx_finish(struct le_ptx *ptx);
#endif
