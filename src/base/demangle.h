/* Reads C++ symbols as compilers mangle them (the Itanium ABI). Reports show readable names; the device layer finds
 * kernels by name and checks their arguments. Any thread.
 *
 * Symbols come from files that anyone may have made: time and memory are bounded (about 2 MB for a symbol), however
 * often a name repeats its parts. What is not known is never guessed. Memory comes from the arena, whose `failure` is
 * taken when it runs out. */
#ifndef LE_DEMANGLE_H
#define LE_DEMANGLE_H
#include "base/arena.h"
#include <stdbool.h>

/* "at::native::fill<4, Fill<float> >" of "_ZN2at6native4fillILi4E4FillIfEEEvi": the name without the function's own
 * parameters and result. It is written as c++filt does, but unnamed namespaces are "(anon)", and ABI tags are left
 * out. NULL if the symbol is not mangled or has something that is not known here. */
const char *le_demangle(struct le_arena *arena, const char *symbol);

enum le_demangled_kind { LE_DEMANGLED_UNKNOWN, LE_DEMANGLED_POINTER, LE_DEMANGLED_NUMBER };
struct le_demangled_parameter {
    enum le_demangled_kind kind;
    char code; /* the ABI's for the builtin type of a number, or of what a pointer points to ('f'); 0: unknown */
};
struct le_demangled_function {
    const char *name; /* without template arguments and unnamed namespaces: "at::native::fill" */
    const char *last; /* its last part: "fill" */
    bool is_template; /* an instance of one */
    struct {
        struct le_demangled_parameter *at;
        int count, capacity;
    } parameters;               /* the first ones, up to what is not known */
    const char *parameter_list; /* as in sources: "const float *, int"; "" if there are none or some are not known */
};
/* The name of a function or a variable. A symbol that cannot be read is taken for a name as in sources ("ns::f<3>"). */
void le_demangle_function(struct le_arena *arena, const char *symbol, struct le_demangled_function *function);
#endif
