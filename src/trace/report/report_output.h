/* The output of reports: a buffer in front of the caller's write function, and functions for text, numbers, CSV, XML
 * and JSON. Numbers are formatted without printf, so that millions of lines take only seconds. After the caller's
 * function fails, nothing more is written. */
#ifndef LE_REPORT_OUTPUT_H
#define LE_REPORT_OUTPUT_H
#include "leat.h"

enum { LE_OUTPUT_BYTES = 1 << 16 };
struct le_output {
    leat_report_write *write;
    void *user;
    size_t length;
    bool failed, comma; /* comma: the next JSON member or element needs a comma before it */
    char bytes[LE_OUTPUT_BYTES];
};
void le_output_flush(struct le_output *output);
void le_output_bytes(struct le_output *output, const void *bytes, size_t length);
void le_output_text(struct le_output *output, const char *text);
/* The result must be shorter than 1,024 bytes. Texts of a trace may have any length: write them with le_output_text. */
void le_output_format(struct le_output *output, const char *format, ...) __attribute__((format(printf, 2, 3)));
void le_output_count(struct le_output *output, uint64_t value);
/* Writes value / 10^digits with `digits` decimals, right-aligned to `width` characters. */
void le_output_fixed(struct le_output *output, uint64_t value, int digits, int width);
/* Same result as "%.2f"; value must be at least 0 and less than 10^9. */
void le_output_hundredths(struct le_output *output, double value);
int le_output_characters(const char *text); /* number of UTF-8 characters */
/* Write text padded with spaces to `width` UTF-8 characters: right-aligned or left-aligned. */
void le_output_right(struct le_output *output, const char *text, int width);
void le_output_left(struct le_output *output, const char *text, int width);

void le_output_csv(struct le_output *output, const char *text); /* quoted if needed */
void le_output_xml(struct le_output *output, const char *text); /* for text and attributes in double quotes */

/* JSON. name: the member's name, which needs no escapes; NULL for an element of an array. */
void le_output_open(struct le_output *output, const char *name, char bracket);
void le_output_close(struct le_output *output, char bracket);
void le_output_json_text(struct le_output *output, const char *name, const char *text);
void le_output_json_count(struct le_output *output, const char *name, uint64_t value);
void le_output_json_fixed(struct le_output *output, const char *name, uint64_t value, int digits);
void le_output_json_flag(struct le_output *output, const char *name, bool value);
#endif
