/* Failures: each function returns a leat_status; the deepest one that fails writes the calling thread's error record.
 */
#ifndef LE_STATUS_H
#define LE_STATUS_H
#include "leat.h"
#include <stdarg.h>

#define ARRAY_LEN(a)  (sizeof(a) / sizeof(*(a)))
#define LE_ERRORS_MAX 20

/* Where in a program's text; line and column from 1, span in bytes; {0}: nowhere. */
struct le_location {
    int line, column, span;
};

/* Replaces the thread's record by one error; gives code back. */
leat_status le_fail(leat_status code, const char *format, ...) __attribute__((format(printf, 2, 3)));
leat_status le_fail_out_of_memory(size_t size_bytes);
/* The same with what to do instead (expected may be NULL) and a place. */
leat_status le_fail_at(leat_status code, struct le_location location, const char *expected, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Puts "prefix: " before the message of the last failure. */
leat_status le_fail_prefix(leat_status code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Between the two the thread's record may be written, and is then as it was: around work whose failure is nobody's to
 * know, such as what gives back. They nest. le_errors_add is not called between them more than once. */
void le_errors_save(void);
void le_errors_restore(void);

/* A program's errors come all at once: clear, add (at most LE_ERRORS_MAX are kept, one that is there only once), sort
 * by place. */
void le_errors_clear(void);
void le_errors_add(leat_status code, struct le_location location, const char *expected, const char *format,
                   va_list arguments) __attribute__((format(printf, 4, 0)));
size_t le_errors_count(void);
void le_errors_sort(void);
/* Attaches the text that the places point into (name: a file's or "program"), so that leat_error_text shows lines and
 * carets. */
void le_errors_source(const char *name, const char *text, size_t size_bytes);
/* The k-th error; NULL if there are fewer. Strings live until the thread's next failure. */
const leat_error *le_error_at(size_t k);
const char *le_errors_text(void);
#endif
