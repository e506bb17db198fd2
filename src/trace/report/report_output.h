/* What reports write through: a buffer before the caller's function, and the forms that several of them need. Numbers
 * are written without printf, so that millions of lines take seconds. Once the caller's function fails nothing more is
 * written. */
#ifndef LE_REPORT_OUTPUT_H
#define LE_REPORT_OUTPUT_H
#include "leat.h"

enum { LE_OUTPUT_BYTES = 1 << 16 };
struct le_output {
    leat_report_write *write;
    void *user;
    size_t length;
    bool failed, comma; /* comma: JSON's next member or element needs one */
    char bytes[LE_OUTPUT_BYTES];
};
void le_output_flush(struct le_output *output);
void le_output_bytes(struct le_output *output, const void *bytes, size_t length);
void le_output_text(struct le_output *output, const char *text);
/* Of less than 1,024 bytes: a trace's own texts, which may be of any length, go by le_output_text. */
void le_output_format(struct le_output *output, const char *format, ...) __attribute__((format(printf, 2, 3)));
void le_output_count(struct le_output *output, uint64_t value);
/* value / 10^digits with so many digits behind the point, of at least width characters with spaces before. */
void le_output_fixed(struct le_output *output, uint64_t value, int digits, int width);
/* As "%.2f" has it; of no less than 0 and less than 10^9. */
void le_output_hundredths(struct le_output *output, double value);
int le_output_characters(const char *text); /* of UTF-8 */
/* With spaces before or behind, up to width characters (of UTF-8). */
void le_output_right(struct le_output *output, const char *text, int width);
void le_output_left(struct le_output *output, const char *text, int width);

void le_output_csv(struct le_output *output, const char *text); /* in quotes where it needs them */
void le_output_xml(struct le_output *output, const char *text); /* for text and attributes in double quotes */

/* JSON; name: of a member, one of letters; or NULL for an element. */
void le_output_open(struct le_output *output, const char *name, char bracket);
void le_output_close(struct le_output *output, char bracket);
void le_output_json_text(struct le_output *output, const char *name, const char *text);
void le_output_json_count(struct le_output *output, const char *name, uint64_t value);
void le_output_json_fixed(struct le_output *output, const char *name, uint64_t value, int digits);
void le_output_json_flag(struct le_output *output, const char *name, bool value);
void le_output_json_null(struct le_output *output, const char *name);
#endif
