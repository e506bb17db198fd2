/* What every function of leat.h checks first: parameters that are NULL, and handles from before a fork(). Each of these
 * leaves the function with LEAT_INVALID and a message that names the parameter. */
#ifndef LE_API_CHECK_H
#define LE_API_CHECK_H
#include "array/array.h"
#include "run/context.h"

#define LE_CHECK_POINTER(parameter)                                                                                    \
    do {                                                                                                               \
        if (!(parameter))                                                                                              \
            return le_fail(LEAT_INVALID, "%s is NULL", #parameter);                                                    \
    } while (0)
#define LE_CHECK_CONTEXT(parameter)                                                                                    \
    do {                                                                                                               \
        leat_status checked_ = le_context_check(parameter);                                                            \
        if (checked_)                                                                                                  \
            return checked_;                                                                                           \
    } while (0)
/* For what does not look into it: a late one stays late. */
#define LE_CHECK_BOUND_ARRAY(parameter)                                                                                \
    do {                                                                                                               \
        LE_CHECK_POINTER(parameter);                                                                                   \
        leat_status checked_ = le_memory_pool_check((parameter)->buffer->pool);                                        \
        if (checked_)                                                                                                  \
            return checked_;                                                                                           \
    } while (0)
#define LE_CHECK_ARRAY(parameter)                                                                                      \
    do {                                                                                                               \
        LE_CHECK_BOUND_ARRAY(parameter);                                                                               \
        leat_status settled_ = le_array_materialize(parameter);                                                        \
        if (settled_)                                                                                                  \
            return settled_;                                                                                           \
    } while (0)
#endif
