/* leat.h: errors, and leat_dtype_parse. leat_status_name is in base/status.c, leat_dtype_name in spec/type.c. */
#include "api/api_check.h"
#include "spec/type.h"
#include <string.h>

static const leat_error no_error = {.code = LEAT_OK, .message = "", .expected = ""};

leat_status leat_error_get(const leat_context *ctx, leat_error *error) {
    (void)ctx;
    LE_CHECK_POINTER(error);
    const leat_error *last = le_error_at(0);
    *error = last ? *last : no_error;
    return LEAT_OK;
}

leat_status leat_error_count(const leat_context *ctx, size_t *count) {
    (void)ctx;
    LE_CHECK_POINTER(count);
    *count = le_errors_count();
    return LEAT_OK;
}

/* A k that is too large must not replace the stored errors, so no message is set. */
leat_status leat_error_at(const leat_context *ctx, size_t k, leat_error *error) {
    (void)ctx;
    LE_CHECK_POINTER(error);
    const leat_error *found = le_error_at(k);
    if (!found)
        return LEAT_INVALID;
    *error = *found;
    return LEAT_OK;
}

const char *leat_error_text(const leat_context *ctx) {
    (void)ctx;
    return le_errors_text();
}

leat_status leat_dtype_parse(const char *name, leat_dtype *dtype) {
    LE_CHECK_POINTER(name);
    LE_CHECK_POINTER(dtype);
    enum le_type type = le_type_parse(name, strlen(name));
    if (type == LE_NONE)
        return le_fail(LEAT_INVALID, "'%.40s' is not an element type", name);
    *dtype = (leat_dtype)type;
    return LEAT_OK;
}
