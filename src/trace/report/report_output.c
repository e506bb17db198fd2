/* See report_output.h. */
#include "trace/report/report_output.h"
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
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    le_output_text(output, text);
}

/* ---- numbers and columns */

static void spaces(struct le_output *output, int count) {
    for (; count > 0; count--)
        le_output_bytes(output, " ", 1);
}

void le_output_fixed(struct le_output *output, uint64_t value, int digits, int width) {
    char text[48];
    int at = (int)sizeof text, places = 0;
    do {
        if (places == digits && digits > 0)
            text[--at] = '.';
        text[--at] = (char)('0' + value % 10);
        value /= 10;
        places++;
    } while (value || places <= digits);
    spaces(output, width - ((int)sizeof text - at));
    le_output_bytes(output, text + at, sizeof text - (size_t)at);
}

void le_output_count(struct le_output *output, uint64_t value) {
    le_output_fixed(output, value, 0, 0);
}

static int characters(const char *text) {
    int count = 0;
    for (; *text; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

void le_output_right(struct le_output *output, const char *text, int width) {
    spaces(output, width - characters(text));
    le_output_text(output, text);
}

void le_output_left(struct le_output *output, const char *text, int width) {
    le_output_text(output, text);
    spaces(output, width - characters(text));
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
        if (strchr("<>&\"", *text))
            le_output_text(output, entity);
        else
            le_output_bytes(output, text, 1);
    }
}

/* ---- JSON */

/* Texts of a trace are UTF-8 without control characters; findings have lines. */
static void quote(struct le_output *output, const char *text) {
    le_output_text(output, "\"");
    while (*text) {
        size_t plain = strcspn(text, "\"\\\n");
        le_output_bytes(output, text, plain);
        text += plain;
        if (*text)
            le_output_text(output, *text == '\n' ? "\\n" : *text == '"' ? "\\\"" : "\\\\");
        text += *text != '\0';
    }
    le_output_text(output, "\"");
}

static void lead(struct le_output *output, const char *name) {
    if (output->comma)
        le_output_text(output, ",");
    output->comma = true;
    if (!name)
        return;
    quote(output, name);
    le_output_text(output, ":");
}

void le_output_open(struct le_output *output, const char *name, char bracket) {
    lead(output, name);
    le_output_bytes(output, &bracket, 1);
    output->comma = false;
}

void le_output_close(struct le_output *output, char bracket) {
    le_output_bytes(output, &bracket, 1);
    output->comma = true;
}

void le_output_json_text(struct le_output *output, const char *name, const char *text) {
    lead(output, name);
    quote(output, text);
}

void le_output_json_count(struct le_output *output, const char *name, uint64_t value) {
    lead(output, name);
    le_output_count(output, value);
}

void le_output_json_fixed(struct le_output *output, const char *name, uint64_t value, int digits) {
    lead(output, name);
    le_output_fixed(output, value, digits, 0);
}

void le_output_json_flag(struct le_output *output, const char *name, bool value) {
    lead(output, name);
    le_output_text(output, value ? "true" : "false");
}

void le_output_json_null(struct le_output *output, const char *name) {
    lead(output, name);
    le_output_text(output, "null");
}
