/* Names of C++ as compilers write them (the Itanium ABI's) made readable: "at::native::fill<4, Fill<float> >" of
 * "_ZN2at6native4fillILi4E4FillIfEEEvi", without the function's own parameters and what it returns, which say nothing
 * of a kernel that its name does not. c++filt's way to write it, but for anonymous namespaces, "(anon)", and tags of
 * the ABI, which are left out.
 *
 * Texts come from files that anyone may have made: what is built is bounded, however often a name repeats its parts. */
#ifndef LE_TRACE_DEMANGLE_H
#define LE_TRACE_DEMANGLE_H
#include "base/arena.h"

/* NULL: it is none, or has what is not known here. */
const char *le_demangle(struct le_arena *arena, const char *symbol);
#endif
