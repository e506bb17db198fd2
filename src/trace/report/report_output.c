/* See report_output.h. */
#include "trace/report/report_output.h"
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void le_output_flush(struct le_output *output) {
    if (output->length && !output->failed)
        output->failed = !output->write(output->user, output->bytes, output->length);
    output->length = 0;
}

void le_output_bytes(struct le_output *output, const void *bytes, size_t length) {
    if (length > LE_OUTPUT_BYTES - output->length)
        le_output_flush(output);
    if (length > LE_OUTPUT_BYTES) {
        if (!output->failed)
            output->failed = !output->write(output->user, bytes, length);
        return;
    }
    memcpy(output->bytes + output->length, bytes, length);
    output->length += length;
}

void le_output_text(struct le_output *output, const char *text) {
    le_output_bytes(output, text, strlen(text));
}

void le_output_format(struct le_output *output, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    assert(length >= 0 && length < (int)sizeof text);
    le_output_bytes(output, text, (size_t)length);
}

/* Makes room for `length` bytes in the buffer, at most LE_OUTPUT_BYTES, and returns where they go. */
static char *buffer_room(struct le_output *output, size_t length) {
    if (length > LE_OUTPUT_BYTES - output->length)
        le_output_flush(output);
    return output->bytes + output->length;
}

static void put_byte(struct le_output *output, char byte) {
    *buffer_room(output, 1) = byte;
    output->length++;
}

/* ---- numbers and columns */

static void put_spaces(struct le_output *output, int count) {
    for (; count > 0; count--)
        put_byte(output, ' ');
}

void le_output_fixed(struct le_output *output, uint64_t value, int digits, int width) {
    char text[48];
    int at = (int)sizeof text, written = 0;
    do {
        if (written == digits && digits > 0)
            text[--at] = '.';
        text[--at] = (char)('0' + value % 10);
        value /= 10;
        written++;
    } while (value || written <= digits);
    put_spaces(output, width - ((int)sizeof text - at));
    char *to = buffer_room(output, sizeof text);
    for (size_t k = (size_t)at; k < sizeof text; k++)
        *to++ = text[k];
    output->length += sizeof text - (size_t)at;
}

void le_output_count(struct le_output *output, uint64_t value) {
    le_output_fixed(output, value, 0, 0);
}

/* printf rounds the exact number, but 100 * value is itself rounded. If it is close to the middle between two results,
 * printf decides. */
void le_output_hundredths(struct le_output *output, double value) {
    const double near_middle = 1e-3;
    double scaled = 100 * value;
    uint64_t below = (uint64_t)scaled;
    double part = scaled - (double)below;
    if (part > 0.5 - near_middle && part < 0.5 + near_middle)
        le_output_format(output, "%.2f", value);
    else
        le_output_fixed(output, below + (part > 0.5), 2, 0);
}

int le_output_characters(const char *text) {
    int count = 0;
    for (; *text; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

void le_output_right(struct le_output *output, const char *text, int width) {
    put_spaces(output, width - le_output_characters(text));
    le_output_text(output, text);
}

void le_output_left(struct le_output *output, const char *text, int width) {
    le_output_text(output, text);
    put_spaces(output, width - le_output_characters(text));
}

/* ---- CSV and XML */

void le_output_csv(struct le_output *output, const char *text) {
    if (!strpbrk(text, ",\"\n\r")) {
        le_output_text(output, text);
        return;
    }
    le_output_text(output, "\"");
    for (; *text; text++)
        le_output_bytes(output, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    le_output_text(output, "\"");
}

void le_output_xml(struct le_output *output, const char *text) {
    for (; *text; text++) {
        const char *entity = *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : *text == '&' ? "&amp;" : "&quot;";
        if (*text == '<' || *text == '>' || *text == '&' || *text == '"')
            le_output_text(output, entity);
        else
            put_byte(output, *text);
    }
}

/* ---- JSON */

static size_t escape_json(char *to, const char *from, size_t length) {
    size_t out = 0;
    for (size_t k = 0; k < length; k++) {
        if (from[k] == '"' || from[k] == '\\' || from[k] == '\n')
            to[out++] = '\\';
        to[out++] = from[k] == '\n' ? 'n' : from[k];
    }
    return out;
}

/* Texts of a trace are UTF-8 without control characters. Findings have line breaks. */
static void put_quoted(struct le_output *output, const char *text) {
    enum { PIECE = LE_OUTPUT_BYTES / 4 };
    put_byte(output, '"');
    for (size_t left = strlen(text), some; left > 0; text += some, left -= some) {
        some = left < PIECE ? left : PIECE;
        output->length += escape_json(buffer_room(output, 2 * some), text, some);
    }
    put_byte(output, '"');
}

static void begin_member(struct le_output *output, const char *name) {
    if (output->comma)
        put_byte(output, ',');
    output->comma = true;
    if (!name)
        return;
    size_t length = strlen(name);
    char *to = buffer_room(output, length + 3);
    *to++ = '"';
    for (size_t k = 0; k < length; k++)
        *to++ = name[k];
    *to++ = '"';
    *to = ':';
    output->length += length + 3;
}

void le_output_open(struct le_output *output, const char *name, char bracket) {
    begin_member(output, name);
    put_byte(output, bracket);
    output->comma = false;
}

void le_output_close(struct le_output *output, char bracket) {
    put_byte(output, bracket);
    output->comma = true;
}

void le_output_json_text(struct le_output *output, const char *name, const char *text) {
    begin_member(output, name);
    put_quoted(output, text);
}

void le_output_json_count(struct le_output *output, const char *name, uint64_t value) {
    begin_member(output, name);
    le_output_count(output, value);
}

void le_output_json_fixed(struct le_output *output, const char *name, uint64_t value, int digits) {
    begin_member(output, name);
    le_output_fixed(output, value, digits, 0);
}

void le_output_json_flag(struct le_output *output, const char *name, bool value) {
    begin_member(output, name);
    le_output_text(output, value ? "true" : "false");
}
