/* See csv.h: loads tables. A first pass over the text counts lines and fields, so that a ragged table is refused before
 * memory of its size is allocated. A second pass parses the numbers into the array. */
#include "array/csv.h"
#include "base/text.h"
#include "spec/type.h"
#include <stdio.h>
#include <string.h>

enum { SHOWN_MAX = 40 }; /* bytes of a field in a message */

struct table {
    const char *name;
    char delimiter;
    const char *at, *end; /* the rows, without blank lines at the end */
    int64_t line;         /* number of the line at `at`, from 1 */
    int64_t rows, columns;
    leat_dtype dtype;
    bool is_declared;
    char *data; /* the elements */
};
struct field {
    const char *at;
    size_t length;
};

static const char *line_end(const char *at, const char *end) {
    const char *found = memchr(at, '\n', (size_t)(end - at));
    return found ? found : end;
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

/* Removes blanks and quotes around the field in [at, end). */
static struct field trim_field(const char *at, const char *end) {
    while (at < end && is_blank(*at))
        at++;
    while (at < end && is_blank(end[-1]))
        end--;
    if (end - at >= 2 && *at == '"' && end[-1] == '"')
        at++, end--;
    return (struct field){at, (size_t)(end - at)};
}

/* The field that begins at `at`; *next: where the next one begins, or NULL after the last of the line. */
static struct field take_field(const struct table *t, const char *at, const char *end, const char **next) {
    const char *stop = memchr(at, t->delimiter, (size_t)(end - at));
    *next = stop ? stop + 1 : NULL;
    return trim_field(at, stop ? stop : end);
}

/* ---- failures */

/* what: the text after the field in the message. A tab in the field is shown as `\t`, other unprintable characters as
 * `?`. */
static leat_status fail_field(const struct table *t, int64_t column, const struct field *field, const char *expected,
                              const char *what) {
    char shown[2 * SHOWN_MAX + 1];
    size_t length = field->length < SHOWN_MAX ? field->length : SHOWN_MAX, end = 0;
    for (size_t k = 0; k < length; k++) {
        char c = field->at[k];
        if (c == '\t')
            shown[end++] = '\\';
        shown[end++] = c == '\t' ? 't' : c >= ' ' && c < 127 ? c : '?';
    }
    shown[end] = '\0';
    return le_fail_at(LEAT_FILE, (struct le_location){0}, expected, "%s: line %lld, column %lld: '%s%s' %s", t->name,
                      (long long)t->line, (long long)column, shown, field->length > SHOWN_MAX ? "..." : "", what);
}

static bool contains(const struct field *field, char c) {
    return memchr(field->at, c, field->length) != NULL;
}

static leat_status fail_text(const struct table *t, int64_t column, const struct field *field) {
    const char *expected =
        t->delimiter == '\t' ? "write numbers separated by tabs" : "write numbers separated by commas";
    if (t->delimiter == ',' && contains(field, '\t'))
        expected = "fields of a .csv file are separated by commas; name a file with tabs .tsv";
    else if (t->delimiter == '\t' && contains(field, ','))
        expected = "fields of a .tsv file are separated by tabs; name a file with commas .csv";
    return fail_field(t, column, field, expected, "is not a number");
}

static leat_status fail_number(const struct table *t, int64_t column, const struct field *field,
                               enum le_csv_number found) {
    char what[64];
    const char *type = leat_dtype_name(t->dtype);
    if (field->length == 0)
        return le_fail_at(LEAT_FILE, (struct le_location){0}, "write nan where a number is missing",
                          "%s: line %lld, column %lld is empty", t->name, (long long)t->line, (long long)column);
    if (found == LE_CSV_TEXT)
        return fail_text(t, column, field);
    const char *expected = !t->is_declared && t->dtype == LEAT_I64 ? "declare the input as u64 or f64" : NULL;
    snprintf(what, sizeof what, found == LE_CSV_RANGE ? "does not fit in %s" : "is not a whole number, as %s needs",
             type);
    return fail_field(t, column, field, expected, what);
}

/* ---- lines before the rows */

static bool is_number(const struct field *field, leat_dtype declared) {
    char element[16];
    enum le_csv_number found = le_csv_parse(field->at, field->length, LEAT_F64, element);
    if (found == LE_CSV_TEXT && declared == LEAT_BOOL)
        found = le_csv_parse(field->at, field->length, LEAT_BOOL, element);
    return found != LE_CSV_TEXT;
}

static bool is_separator(char c) {
    return is_blank(c) || c == ',' || c == ';';
}

/* Whether the field consists of numbers. More than one: the file uses another separator, as `1;2` in a .csv file. */
static bool is_numeric(const struct field *field, leat_dtype declared) {
    const char *at = field->at, *end = at + field->length;
    bool any = false;
    while (at < end) {
        const char *stop = at;
        while (stop < end && !is_separator(*stop))
            stop++;
        struct field part = trim_field(at, stop);
        if (part.length > 0 && !is_number(&part, declared))
            return false;
        any |= part.length > 0;
        at = stop < end ? stop + 1 : stop;
    }
    return any;
}

/* Whether no field of the line is numeric, and at least one is not empty. */
static bool is_header(const struct table *t, leat_dtype declared) {
    const char *end = line_end(t->at, t->end), *next = t->at;
    bool any = false;
    while (next) {
        struct field field = take_field(t, next, end, &next);
        if (is_numeric(&field, declared))
            return false;
        any |= field.length > 0;
    }
    return any;
}

static void skip_line(struct table *t) {
    const char *end = line_end(t->at, t->end);
    t->at = end < t->end ? end + 1 : end;
    t->line++;
}

static leat_status skip_header(struct table *t, struct le_memory_pool *pool, leat_dtype declared) {
    struct le_text note = {0};
    while (t->at < t->end && *t->at == '#')
        skip_line(t);
    if (t->at < t->end && is_header(t, declared)) {
        le_text_add(&note, "%s: skipped line %lld, a header", t->name, (long long)t->line);
        if (!note.failed)
            le_memory_pool_note(pool, LEAT_LOG_NOTE, note.at);
        le_text_finish(&note);
        skip_line(t);
    }
    while (t->end > t->at && t->end[-1] != t->delimiter && (is_blank(t->end[-1]) || t->end[-1] == '\n'))
        t->end--;
    return t->at < t->end ? LEAT_OK : le_fail(LEAT_FILE, "%s: contains no numbers", t->name);
}

/* ---- rows */

static int64_t count_fields(const struct table *t, const char *at, const char *end) {
    int64_t count = 1;
    while ((at = memchr(at, t->delimiter, (size_t)(end - at)))) {
        count++;
        at++;
    }
    return count;
}

static leat_status fail_count(const struct table *t, int64_t line, int64_t count, const struct field *whole) {
    if (whole->length == 0)
        return le_fail(LEAT_FILE, "%s: line %lld is empty", t->name, (long long)line);
    return le_fail_at(LEAT_FILE, (struct le_location){0}, "write the same number of fields in every line",
                      "%s: line %lld has %lld field%s, and line %lld has %lld", t->name, (long long)line,
                      (long long)count, count == 1 ? "" : "s", (long long)t->line, (long long)t->columns);
}

static leat_status count_rows(struct table *t) {
    const char *at = t->at;
    t->columns = count_fields(t, at, line_end(at, t->end));
    for (t->rows = 0; at < t->end; t->rows++) {
        const char *end = line_end(at, t->end);
        int64_t count = count_fields(t, at, end);
        struct field whole = trim_field(at, end);
        if (count != t->columns)
            return fail_count(t, t->line + t->rows, count, &whole);
        at = end < t->end ? end + 1 : end;
    }
    return LEAT_OK;
}

/* Converts the numbers so far from i64 to f64, after the first number with a point or an exponent. */
static void convert_to_f64(struct table *t, int64_t count) {
    for (int64_t k = 0; k < count; k++) {
        int64_t whole;
        memcpy(&whole, t->data + k * 8, 8);
        double real = (double)whole;
        memcpy(t->data + k * 8, &real, 8);
    }
    t->dtype = LEAT_F64;
}

static leat_status read_row(struct table *t, int64_t row) {
    const char *end = line_end(t->at, t->end), *next = t->at;
    int64_t size_bytes = (int64_t)le_type_size((enum le_type)t->dtype);
    for (int64_t column = 0; column < t->columns; column++) {
        int64_t index = row * t->columns + column;
        struct field field = take_field(t, next, end, &next);
        char *at = t->data + index * size_bytes;
        enum le_csv_number found = le_csv_parse(field.at, field.length, t->dtype, at);
        if (found == LE_CSV_FRACTION && !t->is_declared) {
            convert_to_f64(t, index);
            found = le_csv_parse(field.at, field.length, t->dtype, at);
        }
        if (found != LE_CSV_OK)
            return fail_number(t, column + 1, &field, found);
    }
    return LEAT_OK;
}

static leat_status read_rows(struct table *t) {
    for (int64_t row = 0; row < t->rows; row++) {
        leat_status status = read_row(t, row);
        if (status)
            return status;
        skip_line(t);
    }
    return LEAT_OK;
}

leat_status le_csv_load(struct le_memory_pool *pool, const char *name, const uint8_t *bytes, size_t size_bytes,
                        char delimiter, leat_dtype declared, leat_array **array) {
    static const char mark[] = "\xef\xbb\xbf"; /* byte order mark of UTF-8 */
    bool is_declared = declared && !le_type_is_complex((enum le_type)declared);
    struct table t = {.name = name,
                      .delimiter = delimiter,
                      .at = (const char *)bytes,
                      .end = (const char *)bytes + size_bytes,
                      .line = 1,
                      .dtype = is_declared ? declared : LEAT_I64,
                      .is_declared = is_declared};
    if (size_bytes >= 3 && memcmp(bytes, mark, 3) == 0)
        t.at += 3;
    leat_array *made;
    leat_status status = skip_header(&t, pool, declared);
    if (!status)
        status = count_rows(&t);
    if (!status)
        status = le_array_new(pool, t.dtype, t.columns == 1 ? 1 : 2, (int64_t[]){t.rows, t.columns}, false, &made);
    if (status)
        return status;
    t.data = made->data;
    status = read_rows(&t);
    if (status) {
        le_array_free(made);
        return status;
    }
    made->dtype = t.dtype;
    *array = made;
    return LEAT_OK;
}
