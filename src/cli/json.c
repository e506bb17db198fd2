/* See json.h. */
#include "cli/json.h"
#include "cli/element.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Length in bytes of the UTF-8 character at text; 0 if the bytes are not valid. */
static int character_bytes(const unsigned char *text) {
    static const struct {
        unsigned char mask, lead;
        unsigned least;
    } FORMS[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    for (int more = 0; more < 4; more++) {
        if ((text[0] & FORMS[more].mask) != FORMS[more].lead)
            continue;
        unsigned code = text[0] & (unsigned)(unsigned char)~FORMS[more].mask;
        for (int k = 1; k <= more; k++) {
            if ((text[k] & 0xc0) != 0x80)
                return 0;
            code = code << 6 | (text[k] & 0x3fu);
        }
        bool is_surrogate = code >= 0xd800 && code < 0xe000;
        return code >= FORMS[more].least && code < 0x110000 && !is_surrogate ? more + 1 : 0;
    }
    return 0;
}

static void write_quoted(FILE *file, const char *text) {
    fputc('"', file);
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        int bytes = character_bytes(at);
        if (bytes == 0)
            fputs("\\ufffd", file);
        else if (*at == '"' || *at == '\\')
            fprintf(file, "\\%c", *at);
        else if (*at == '\n')
            fputs("\\n", file);
        else if (*at < 0x20 || *at == 0x7f)
            fprintf(file, "\\u%04x", (unsigned)*at);
        else
            fwrite(at, 1, (size_t)bytes, file);
        at += bytes ? bytes : 1;
    }
    fputc('"', file);
}

static void begin_value(struct le_json *json, const char *name) {
    if (json->comma)
        fputc(',', json->file);
    json->comma = true;
    if (!name)
        return;
    write_quoted(json->file, name);
    fputc(':', json->file);
}

void le_json_open(struct le_json *json, const char *name, char bracket) {
    begin_value(json, name);
    fputc(bracket, json->file);
    json->comma = false;
}

void le_json_close(struct le_json *json, char bracket) {
    fputc(bracket, json->file);
    json->comma = true;
}

void le_json_string(struct le_json *json, const char *name, const char *text) {
    begin_value(json, name);
    if (text)
        write_quoted(json->file, text);
    else
        fputs("null", json->file);
}

void le_json_integer(struct le_json *json, const char *name, int64_t value) {
    begin_value(json, name);
    fprintf(json->file, "%lld", (long long)value);
}

void le_json_count(struct le_json *json, const char *name, uint64_t value) {
    begin_value(json, name);
    fprintf(json->file, "%llu", (unsigned long long)value);
}

/* JSON has no NaN and no infinities: they are written as strings. */
static void put_number(struct le_json *json, const char *text, bool special) {
    fprintf(json->file, special ? "\"%s\"" : "%s", text);
}

void le_json_real(struct le_json *json, const char *name, double value) {
    char text[LEAT_FLOAT_TEXT_BYTES];
    leat_float_text(LEAT_F64, value, 0, text);
    char *whole = strstr(text, ".0");
    if (whole && !whole[2])
        *whole = '\0';
    begin_value(json, name);
    put_number(json, text, !isfinite(value));
}

void le_json_boolean(struct le_json *json, const char *name, bool value) {
    begin_value(json, name);
    fputs(value ? "true" : "false", json->file);
}

void le_json_null(struct le_json *json, const char *name) {
    begin_value(json, name);
    fputs("null", json->file);
}

void le_json_raw(struct le_json *json, const char *name, const char *text, size_t length) {
    begin_value(json, name);
    fwrite(text, 1, length, json->file);
}

void le_json_members(struct le_json *json, const char *object) {
    begin_value(json, NULL);
    fwrite(object + 1, 1, strlen(object) - 2, json->file);
}

static void error_object(struct le_json *json, const struct le_cli_message *error) {
    le_json_open(json, NULL, '{');
    le_json_string(json, "code", leat_status_name(error->code));
    le_json_integer(json, "line", error->line);
    le_json_integer(json, "column", error->column);
    le_json_integer(json, "span", error->span);
    le_json_string(json, "message", error->message);
    le_json_string(json, "expected", error->expected);
    le_json_close(json, '}');
}

void le_json_messages(struct le_json *json, const struct le_cli *cli) {
    le_json_open(json, "notes", '[');
    for (size_t k = 0; k < cli->notes.count; k++)
        le_json_string(json, NULL, cli->notes.items[k].message);
    le_json_close(json, ']');
    le_json_open(json, "errors", '[');
    for (size_t k = 0; k < cli->errors.count; k++)
        error_object(json, &cli->errors.items[k]);
    le_json_close(json, ']');
}

static void write_element(struct le_json *json, const struct le_element *value, leat_dtype dtype) {
    if (value->kind == 'c') {
        leat_dtype part = dtype == LEAT_C64 ? LEAT_F32 : LEAT_F64;
        le_json_open(json, NULL, '[');
        write_element(json, &(struct le_element){.kind = 'f', .f64 = value->f64}, part);
        write_element(json, &(struct le_element){.kind = 'f', .f64 = value->im}, part);
        le_json_close(json, ']');
        return;
    }
    char text[LE_ELEMENT_CHARS];
    le_element_text(value, dtype, LE_STYLE_SHORTEST, 0, text);
    begin_value(json, NULL);
    put_number(json, text, le_element_is_special(value, 0));
}

static void write_data(struct le_json *json, const leat_description *array, const char *at, int axis) {
    if (axis == array->rank) {
        struct le_element value = le_element_get(at, array->dtype);
        write_element(json, &value, array->dtype);
        return;
    }
    int64_t step_bytes = array->strides[axis] * (int64_t)leat_dtype_size_bytes(array->dtype);
    le_json_open(json, NULL, '[');
    for (int64_t k = 0; k < array->shape[axis]; k++)
        write_data(json, array, at + k * step_bytes, axis + 1);
    le_json_close(json, ']');
}

void le_json_array(struct le_json *json, const leat_array *array, bool with_data) {
    leat_description description;
    if (leat_array_get(array, &description))
        return;
    le_json_string(json, "dtype", leat_dtype_name(description.dtype));
    le_json_open(json, "shape", '[');
    for (int axis = 0; axis < description.rank; axis++)
        le_json_integer(json, NULL, description.shape[axis]);
    le_json_close(json, ']');
    if (!with_data)
        return;
    begin_value(json, "data");
    json->comma = false;
    write_data(json, &description, description.data, 0);
    json->comma = true;
}
