/* See csv.h: saves tables. */
#include "array/csv.h"
#include "base/decimal.h"
#include "base/file_out.h"
#include "base/memory.h"
#include "spec/type.h"
#include <stdio.h>

enum { BUFFER_BYTES = 1 << 16, FIELD_BYTES = 40 };

struct table_writer {
    struct le_file_out out;
    char *buffer;
    size_t used;
};

static leat_status flush_buffer(struct table_writer *w) {
    leat_status status = le_file_out_write(&w->out, w->buffer, w->used);
    w->used = 0;
    return status;
}

static size_t integer_text(leat_dtype dtype, const void *at, char *text) {
    switch (dtype) {
    case LEAT_I8:
        return (size_t)sprintf(text, "%d", *(const int8_t *)at);
    case LEAT_I16:
        return (size_t)sprintf(text, "%d", *(const int16_t *)at);
    case LEAT_I32:
        return (size_t)sprintf(text, "%d", *(const int32_t *)at);
    case LEAT_I64:
        return (size_t)sprintf(text, "%lld", (long long)*(const int64_t *)at);
    case LEAT_U16:
        return (size_t)sprintf(text, "%u", *(const uint16_t *)at);
    case LEAT_U32:
        return (size_t)sprintf(text, "%u", *(const uint32_t *)at);
    case LEAT_U64:
        return (size_t)sprintf(text, "%llu", (unsigned long long)*(const uint64_t *)at);
    default: /* bool, u8 */
        return (size_t)sprintf(text, "%u", *(const uint8_t *)at);
    }
}

static leat_status write_field(struct table_writer *w, leat_dtype dtype, const void *at, char end) {
    enum le_type type = (enum le_type)dtype;
    char *text = w->buffer + w->used;
    w->used += le_type_is_float(type) ? le_decimal_text(le_real_element(dtype, at), le_type_bits(type), 0, text)
                                      : integer_text(dtype, at, text);
    w->buffer[w->used++] = end;
    return w->used + FIELD_BYTES > BUFFER_BYTES ? flush_buffer(w) : LEAT_OK;
}

/* A vector is one column; a scalar, one field. */
static leat_status write_rows(struct table_writer *w, const leat_array *array, char delimiter) {
    int64_t size_bytes = (int64_t)le_type_size((enum le_type)array->dtype);
    int64_t rows = array->rank > 0 ? array->shape[0] : 1, columns = array->rank > 1 ? array->shape[1] : 1;
    int64_t down = array->rank > 0 ? array->strides[0] : 0, right = array->rank > 1 ? array->strides[1] : 0;
    leat_status status = LEAT_OK;
    for (int64_t row = 0; row < rows; row++)
        for (int64_t column = 0; column < columns && !status; column++) {
            const char *at = (const char *)array->data + (row * down + column * right) * size_bytes;
            status = write_field(w, array->dtype, at, column + 1 < columns ? delimiter : '\n');
        }
    return status ? status : flush_buffer(w);
}

static leat_status check_is_table(const leat_array *array, const char *path) {
    char text[LE_SHAPE_TEXT_MAX];
    if (le_type_is_complex((enum le_type)array->dtype))
        return le_fail_at(LEAT_INVALID, (struct le_location){0}, "save re(...), im(...) or abs(...) of it",
                          "%s: %s is complex, but a table of text holds real numbers", path,
                          le_array_describe(array, text));
    if (array->rank > 2)
        return le_fail_at(LEAT_INVALID, (struct le_location){0}, "save it as .npy",
                          "%s: %s has more than the two axes of a table", path, le_array_describe(array, text));
    return LEAT_OK;
}

leat_status le_csv_save(const leat_array *array, const char *path, char delimiter, const leat_save_options *options) {
    struct table_writer w = {0};
    leat_status status = check_is_table(array, path);
    if (!status)
        status = le_file_out_open(path, options, &w.out);
    if (status)
        return status;
    w.buffer = le_alloc(BUFFER_BYTES);
    status = w.buffer ? write_rows(&w, array, delimiter) : le_fail_out_of_memory(BUFFER_BYTES);
    le_free(w.buffer);
    return le_file_out_close(&w.out, status);
}
