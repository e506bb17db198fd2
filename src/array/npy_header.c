/* The header of an .npy file: a Python dict as text with exactly three keys. The parser is strict, since the bytes are
 * untrusted: it reads nothing past `end` and uses no size before checking it. */
#include "array/npy.h"
#include "spec/type.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct parser {
    const char *name; /* the file's */
    const char *at, *end;
    leat_dtype declared;
    struct le_npy_header *header;
};

static leat_status fail_header(const struct parser *p, const char *what) {
    return le_fail(LEAT_FILE, "%s: the .npy header is malformed: %s", p->name, what);
}

static void skip_space(struct parser *p) {
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\n' || *p->at == '\t' || *p->at == '\r'))
        p->at++;
}

static bool take_char(struct parser *p, char c) {
    skip_space(p);
    if (p->at == p->end || *p->at != c)
        return false;
    p->at++;
    return true;
}

static bool take_word(struct parser *p, const char *word) {
    size_t length = strlen(word);
    skip_space(p);
    if ((size_t)(p->end - p->at) < length || memcmp(p->at, word, length) != 0)
        return false;
    p->at += length;
    return true;
}

/* 'text' or "text", without escapes. */
static bool take_string(struct parser *p, const char **text, size_t *length) {
    skip_space(p);
    if (p->at == p->end || (*p->at != '\'' && *p->at != '"'))
        return false;
    char quote = *p->at;
    const char *start = p->at + 1, *stop = start;
    while (stop < p->end && *stop != quote && *stop != '\\' && *stop != '\n')
        stop++;
    if (stop == p->end || *stop != quote)
        return false;
    *text = start;
    *length = (size_t)(stop - start);
    p->at = stop + 1;
    return true;
}

/* ---- descr: the element type */

static const char *kind_name(char kind) {
    switch (kind) {
    case 'O':
        return "Python objects";
    case 'S':
    case 'a':
    case 'U':
        return "strings";
    case 'M':
    case 'm':
        return "dates or times";
    case 'V':
        return "raw bytes";
    default:
        return NULL;
    }
}

static leat_status fail_type(const struct parser *p, const char *text, size_t length) {
    int shown = length < 32 ? (int)length : 32;
    const char *kind = length > 1 ? kind_name(text[1]) : NULL;
    if (!kind && length)
        kind = text[0] == 'O' ? "Python objects" : NULL;
    if (length == 3 && memcmp(text + 1, "V2", 2) == 0)
        return le_fail_at(LEAT_FILE, (struct le_location){0}, "declare the input as bf16",
                          "%s: elements of type '%.*s' (two plain bytes) are not supported", p->name, shown, text);
    for (int k = 0; k < shown; k++)
        if (text[k] < ' ' || text[k] > '~')
            return le_fail(LEAT_FILE, "%s: the name of the element type is not printable", p->name);
    return le_fail(LEAT_FILE, "%s: elements of type '%.*s'%s%s%s are not supported", p->name, shown, text,
                   kind ? " (" : "", kind ? kind : "", kind ? ")" : "");
}

static leat_status parse_type(struct parser *p) {
    const char *text;
    size_t length;
    if (take_char(p, '['))
        return le_fail(LEAT_FILE, "%s: elements that are structures are not supported", p->name);
    if (!take_string(p, &text, &length))
        return fail_header(p, "'descr' is not a string");
    const uint16_t one = 1;
    bool little_host = *(const uint8_t *)&one == 1;
    if (length < 3 || !strchr("<>|=", text[0]))
        return fail_type(p, text, length);
    for (int t = LEAT_BOOL; t <= LEAT_C128; t++) {
        const char *code = le_type_npy((enum le_type)t);
        if (strlen(code) == length - 1 && memcmp(text + 1, code, length - 1) == 0 &&
            (t != LEAT_BF16 || p->declared == LEAT_BF16))
            p->header->dtype = (leat_dtype)t;
    }
    if (!p->header->dtype)
        return fail_type(p, text, length);
    bool wide = le_type_size((enum le_type)p->header->dtype) > 1;
    p->header->swapped = wide && (text[0] == '>' ? little_host : text[0] == '<' && !little_host);
    return LEAT_OK;
}

/* ---- shape */

static leat_status parse_extent(struct parser *p, int64_t *extent) {
    bool negative = take_char(p, '-');
    skip_space(p);
    const char *start = p->at;
    int64_t value = 0;
    for (; p->at < p->end && *p->at >= '0' && *p->at <= '9'; p->at++)
        if (!le_mul_i64(value, 10, &value) || !le_add_i64(value, *p->at - '0', &value))
            return fail_header(p, "an extent is too large");
    if (p->at == start)
        return fail_header(p, "'shape' is not a tuple of whole numbers");
    if (negative)
        return fail_header(p, "an extent is negative");
    if (p->at < p->end && *p->at == 'L') /* as Python 2 wrote it */
        p->at++;
    *extent = value;
    return LEAT_OK;
}

static leat_status parse_shape(struct parser *p) {
    struct le_npy_header *header = p->header;
    if (!take_char(p, '('))
        return fail_header(p, "'shape' is not a tuple");
    bool comma = true;
    while (!take_char(p, ')')) {
        if (!comma)
            return fail_header(p, "'shape' is not a tuple");
        int64_t extent = 0;
        leat_status status = parse_extent(p, &extent);
        if (status)
            return status;
        if (header->rank < LEAT_RANK_MAX)
            header->shape[header->rank] = extent;
        header->rank++;
        comma = take_char(p, ',');
    }
    if (header->rank > LEAT_RANK_MAX)
        return le_fail(LEAT_FILE, "%s: %d axes; at most %d are supported", p->name, header->rank, LEAT_RANK_MAX);
    if (header->rank == 1 && !comma)
        return fail_header(p, "'shape' is not a tuple");
    return LEAT_OK;
}

static leat_status parse_order(struct parser *p) {
    p->header->fortran = take_word(p, "True");
    if (!p->header->fortran && !take_word(p, "False"))
        return fail_header(p, "'fortran_order' is neither True nor False");
    return LEAT_OK;
}

static leat_status parse_dict(struct parser *p) {
    static const struct {
        const char *key;
        leat_status (*parse)(struct parser *p);
    } entries[] = {{"descr", parse_type}, {"fortran_order", parse_order}, {"shape", parse_shape}};
    unsigned seen = 0;
    if (!take_char(p, '{'))
        return fail_header(p, "it is not a dict");
    bool comma = true;
    while (!take_char(p, '}')) {
        const char *key;
        size_t length, k = 0;
        if (!comma || !take_string(p, &key, &length) || !take_char(p, ':'))
            return fail_header(p, "it is not a dict of 'descr', 'fortran_order' and 'shape'");
        while (k < ARRAY_LEN(entries) && (strlen(entries[k].key) != length || memcmp(entries[k].key, key, length) != 0))
            k++;
        if (k == ARRAY_LEN(entries) || seen >> k & 1)
            return fail_header(p, "a key is unknown or repeated");
        seen |= 1u << k;
        leat_status status = entries[k].parse(p);
        if (status)
            return status;
        comma = take_char(p, ',');
    }
    skip_space(p);
    if (seen != 7)
        return fail_header(p, "'descr', 'fortran_order' or 'shape' is missing");
    return p->at == p->end ? LEAT_OK : fail_header(p, "there is text after the dict");
}

/* ---- the whole header */

leat_status le_npy_header_size(const char *name, const uint8_t *bytes, size_t size_bytes, size_t *header_bytes) {
    if (size_bytes < 10)
        return le_fail(LEAT_FILE, "%s: it ends within the .npy header", name);
    if (memcmp(bytes, "\x93NUMPY", 6) != 0)
        return le_fail(LEAT_FILE, "%s: is not an .npy file", name);
    if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0)
        return le_fail(LEAT_FILE, "%s: has version %d.%d of .npy; only 1.0, 2.0 and 3.0 are supported", name, bytes[6],
                       bytes[7]);
    if (bytes[6] > 1 && size_bytes < 12)
        return le_fail(LEAT_FILE, "%s: it ends within the .npy header", name);
    size_t length = bytes[8] | (size_t)bytes[9] << 8;
    if (bytes[6] > 1)
        length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    *header_bytes = (bytes[6] > 1 ? 12 : 10) + length;
    if (*header_bytes > LE_NPY_HEADER_MAX)
        return le_fail(LEAT_FILE, "%s: its .npy header claims %zu bytes, more than the limit of %d", name, length,
                       LE_NPY_HEADER_MAX);
    return LEAT_OK;
}

static leat_status lay_out(const char *name, struct le_npy_header *header) {
    if (le_shape_check(header->dtype, header->rank, header->shape, header->strides, &header->data_bytes))
        return le_fail(LEAT_FILE, "%s: the product of the extents in its .npy header is too large", name);
    int64_t stride = 1;
    for (int k = 0; header->fortran && k < header->rank; k++) {
        header->strides[k] = stride;
        stride *= header->shape[k] ? header->shape[k] : 1;
    }
    return LEAT_OK;
}

leat_status le_npy_header_read(const char *name, const uint8_t *bytes, size_t size_bytes, leat_dtype declared,
                               struct le_npy_header *header) {
    size_t header_bytes;
    leat_status status = le_npy_header_size(name, bytes, size_bytes, &header_bytes);
    if (status)
        return status;
    if (header_bytes > size_bytes)
        return le_fail(LEAT_FILE, "%s: its .npy header claims %zu bytes, but the file has %zu", name, header_bytes,
                       size_bytes);
    *header = (struct le_npy_header){.data_offset = header_bytes};
    struct parser p = {.name = name,
                       .at = (const char *)bytes + (bytes[6] > 1 ? 12 : 10),
                       .end = (const char *)bytes + header_bytes,
                       .declared = declared,
                       .header = header};
    status = parse_dict(&p);
    return status ? status : lay_out(name, header);
}

size_t le_npy_header_write(const leat_array *array, bool fortran, char header[LE_NPY_OUT_MAX]) {
    enum le_type type = (enum le_type)array->dtype;
    char *text = header + 10;
    size_t room = LE_NPY_OUT_MAX - 10;
    const uint16_t one = 1;
    char order = le_type_size(type) == 1 ? '|' : *(const uint8_t *)&one == 1 ? '<' : '>';
    size_t length = (size_t)snprintf(text, room, "{'descr': '%c%s', 'fortran_order': %s, 'shape': (", order,
                                     le_type_npy(type), fortran ? "True" : "False");
    for (int k = 0; k < array->rank; k++)
        length += (size_t)snprintf(text + length, room - length, k ? ", %" PRId64 : "%" PRId64, array->shape[k]);
    length += (size_t)snprintf(text + length, room - length, array->rank == 1 ? ",), }" : "), }");
    size_t total = (10 + length + 1 + 63) / 64 * 64;
    memset(text + length, ' ', total - 10 - length);
    header[total - 1] = '\n';
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = (char)((total - 10) & 0xff);
    header[9] = (char)((total - 10) >> 8);
    return total;
}
