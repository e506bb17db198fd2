/* Failures. Every function that can fail returns a leat_status. The innermost one that fails writes the calling
 * thread's error record. */
#ifndef LE_STATUS_H
#define LE_STATUS_H
#include "leat.h"
#include <stdarg.h>

#define ARRAY_LEN(a)  (sizeof(a) / sizeof(*(a)))
#define LE_ERRORS_MAX 20

/* A location in a program's text. line and column count from 1, span is in bytes; {0}: no location. */
struct le_location {
    int line, column, span;
};

/* Replaces the thread's record by one error. Returns code. */
leat_status le_fail(leat_status code, const char *format, ...) __attribute__((format(printf, 2, 3)));
leat_status le_fail_out_of_memory(size_t size_bytes);
/* Fails with "cannot VERB PATH: REASON", where verb is "open", "read" or "write" and number is errno. */
leat_status le_fail_file(const char *verb, const char *path, int number);
/* Like le_fail, with a location, and with what to do instead (expected, which may be NULL). */
leat_status le_fail_at(leat_status code, struct le_location location, const char *expected, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Puts "prefix: " before the message of the last failure. */
leat_status le_fail_prefix(leat_status code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* le_errors_restore undoes changes to the thread's record since le_errors_save. For work whose failures are not
 * reported, such as freeing. They nest. Do not call le_errors_add more than once in between. */
void le_errors_save(void);
void le_errors_restore(void);

/* To report all errors of a program: clear, add each, then sort by location. At most LE_ERRORS_MAX are stored;
 * duplicates are dropped. */
void le_errors_clear(void);
void le_errors_add(leat_status code, struct le_location location, const char *expected, const char *format,
                   va_list arguments) __attribute__((format(printf, 4, 0)));
size_t le_errors_count(void);
void le_errors_sort(void);
/* Attaches the text that the locations refer to, so that leat_error_text can show lines and carets. name: of a file;
 * NULL: "program". */
void le_errors_source(const char *name, const char *text, size_t size_bytes);
/* Error k, from 0; NULL if there are fewer. Its strings are valid until the thread's next failure. */
const leat_error *le_error_at(size_t k);
const char *le_errors_text(void);
#endif
