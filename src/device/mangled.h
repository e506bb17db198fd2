/* Names as C++ compilers write them (the Itanium ABI's), as far as finding a kernel by the name in its source needs:
 * qualified names, whether it is a template's, and of each parameter whether it is a pointer. It is no demangler: what
 * it does not know is "unknown", never a guess. Any thread. */
#ifndef LE_DEVICE_MANGLED_H
#define LE_DEVICE_MANGLED_H
#include <stdbool.h>
#include <stddef.h>

enum { LE_MANGLED_PARAMETERS_MAX = 64 };
enum le_mangled_kind { LE_MANGLED_UNKNOWN, LE_MANGLED_POINTER, LE_MANGLED_NUMBER };

struct le_mangled {
    char name[256]; /* "ns::f": without template arguments and anonymous namespaces; a name that is not mangled as it is
                     */
    bool is_template; /* an instance of one */
    bool is_mangled;
    int parameter_count; /* that are known, from the first on; -1: none is */
    enum le_mangled_kind kinds[LE_MANGLED_PARAMETERS_MAX];
    char pointees[LE_MANGLED_PARAMETERS_MAX]; /* the code of the builtin type that it points to ('f'), else 0 */
    char parameters[256];                     /* "const float *, int": "" where one of them cannot be said */
};
void le_mangled_read(const char *symbol, struct le_mangled *mangled);
#endif
