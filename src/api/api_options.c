/* Structs of options, which grow from version to version: see the head of leat.h. */
#include "api/api_check.h"
#include <string.h>

enum { STRUCT_BYTES_MAX = 4096 }; /* a larger size is not one: the struct was not initialized */

/* A later version that adds fields needs the size of version 0.1 besides known_bytes, for a struct_size of 0. */
leat_status le_options_take(const void *options, const char *type, size_t known_bytes, void *all) {
    size_t size_bytes = 0;
    memset(all, 0, known_bytes);
    if (!options)
        return LEAT_OK;
    memcpy(&size_bytes, options, sizeof size_bytes);
    if (size_bytes == 0)
        size_bytes = known_bytes;
    if (size_bytes < sizeof size_bytes || size_bytes > STRUCT_BYTES_MAX)
        return le_fail_at(LEAT_INVALID, (struct le_location){0}, "initialize the struct with {0}",
                          "struct_size of %s is %zu; it must be 0 or sizeof(%s)", type, size_bytes, type);
    for (size_t k = known_bytes; k < size_bytes; k++)
        if (((const char *)options)[k])
            return le_fail(LEAT_INVALID,
                           "%s has a field at byte %zu that is not 0, and this version of Leat (%s) knows only the "
                           "first %zu bytes",
                           type, k, leat_version(), known_bytes);
    memcpy(all, options, size_bytes < known_bytes ? size_bytes : known_bytes);
    return LEAT_OK;
}
