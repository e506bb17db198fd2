/* leat.h: errors, and the names of statuses and types. */
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

/* Asking for one too many must not replace what is there. */
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

const char *leat_status_name(leat_status status) {
    static const char *const names[] = {
        [LEAT_OK] = "ok",
        [LEAT_INVALID] = "invalid argument",
        [LEAT_PROGRAM] = "wrong program",
        [LEAT_MISMATCH] = "mismatch",
        [LEAT_MISSING] = "missing input",
        [LEAT_FILE] = "file error",
        [LEAT_DEVICE] = "device error",
        [LEAT_OUT_OF_MEMORY] = "out of memory",
        [LEAT_DATA] = "data error",
        [LEAT_UNSUPPORTED] = "unsupported",
        [LEAT_INTERNAL] = "internal error",
    };
    return (size_t)status < ARRAY_LEN(names) ? names[status] : "?";
}

static bool is_dtype(leat_dtype dtype) {
    return dtype >= LEAT_BOOL && dtype <= LEAT_C128;
}

const char *leat_dtype_name(leat_dtype dtype) {
    return is_dtype(dtype) ? le_type_name((enum le_type)dtype) : "?";
}

leat_status leat_dtype_parse(const char *name, leat_dtype *dtype) {
    LE_CHECK_POINTER(name);
    LE_CHECK_POINTER(dtype);
    enum le_type type = le_type_parse(name, strlen(name));
    if (!is_dtype((leat_dtype)type))
        return le_fail(LEAT_INVALID, "'%.40s' is not an element type", name);
    *dtype = (leat_dtype)type;
    return LEAT_OK;
}

size_t leat_dtype_size_bytes(leat_dtype dtype) {
    return is_dtype(dtype) ? le_type_size((enum le_type)dtype) : 0;
}
