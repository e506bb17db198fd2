/* Demangles C++ symbols (the Itanium ABI). Reports print readable names; the device layer finds kernels by name and
 * checks their arguments. Any thread.
 *
 * Symbols are untrusted: time and memory per symbol are bounded (about 2 MB), even if a name repeats its parts many
 * times. Unknown constructs are never guessed. Memory comes from the arena; if it runs out, control goes to the arena's
 * `failure`. */
#ifndef LE_DEMANGLE_H
#define LE_DEMANGLE_H
#include "base/arena.h"
#include <stdbool.h>

/* Returns "at::native::fill<4, Fill<float> >" for "_ZN2at6native4fillILi4E4FillIfEEEvi": the name without the
 * function's own parameters and result. The format is c++filt's, except that unnamed namespaces are "(anon)" and ABI
 * tags are left out. NULL if the symbol is not mangled or contains an unknown construct. */
const char *le_demangle(struct le_arena *arena, const char *symbol);

enum le_demangled_kind { LE_DEMANGLED_UNKNOWN, LE_DEMANGLED_POINTER, LE_DEMANGLED_NUMBER };
struct le_demangled_parameter {
    enum le_demangled_kind kind;
    char code; /* the ABI's code of the builtin type of a number, or of a pointer's target ('f'); 0: unknown */
};
struct le_demangled_function {
    const char *name; /* without template arguments and unnamed namespaces: "at::native::fill" */
    const char *last; /* its last part: "fill" */
    bool is_template; /* an instance of a template */
    struct {
        struct le_demangled_parameter *at;
        int count, capacity;
    } parameters;               /* the first parameters, up to an unknown construct */
    const char *parameter_list; /* as in sources: "const float *, int"; "" if there are none or some are not known */
};
/* Describes a function or a variable. A symbol that cannot be demangled is taken as a name in a source ("ns::f<3>"). */
void le_demangle_function(struct le_arena *arena, const char *symbol, struct le_demangled_function *function);
#endif
