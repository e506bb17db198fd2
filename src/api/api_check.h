/* The checks that every function of leat.h makes first: for NULL parameters, for handles made before a fork(), and of
 * options. Each macro returns LEAT_INVALID from the calling function, with a message that names the parameter. */
#ifndef LE_API_CHECK_H
#define LE_API_CHECK_H
#include "array/array.h"
#include "run/context.h"

/* Fills *all, a struct of options of this version, from the caller's of any version; NULL: with zeros. LEAT_INVALID if
 * a field that this version does not know is not 0. */
leat_status le_options_take(const void *options, const char *type, size_t known_bytes, void *all);
#define LE_TAKE_OPTIONS(options, type, all)                                                                            \
    do {                                                                                                               \
        leat_status taken_ = le_options_take(options, #type, sizeof(type), all);                                       \
        if (taken_)                                                                                                    \
            return taken_;                                                                                             \
    } while (0)

/* Whether the stream can be used with the context (api_stream.c). NULL is the context's default stream. */
leat_status le_check_stream(const leat_context *ctx, const leat_stream *stream);

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
/* For functions that do not look at the array: a deferred array stays deferred. LE_CHECK_ARRAY materializes it. */
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
/* run/call.h must be included. */
#define LE_CHECK_CALL(call)                                                                                            \
    do {                                                                                                               \
        LE_CHECK_POINTER(call);                                                                                        \
        LE_CHECK_CONTEXT((call)->program->ctx);                                                                        \
    } while (0)
#endif
