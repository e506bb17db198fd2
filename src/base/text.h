/* A growing string. If an allocation fails, the text is unchanged and `failed` is set: check it once, at the end. */
#ifndef LE_TEXT_H
#define LE_TEXT_H
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct le_text {
    char *at; /* ends with a NUL; NULL until something is added */
    size_t length, capacity;
    bool failed;
};
void le_text_finish(struct le_text *text);
void le_text_add(struct le_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void le_text_add_list(struct le_text *text, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
void le_text_add_bytes(struct le_text *text, const void *bytes, size_t length);
/* Add the shortest decimal that reads back as the same double or float: "1.5", "inf", "nan", "1e-05". */
void le_text_add_f64(struct le_text *text, double value);
void le_text_add_f32(struct le_text *text, float value);

/* ASCII only, in any locale. */
static inline bool le_is_digit(char c) {
    return c >= '0' && c <= '9';
}
static inline bool le_is_letter(char c) {
    return (unsigned)(c | 0x20) - 'a' < 26;
}

/* The length in bytes of the UTF-8 character at the start of `length` bytes, which is at least 1; 0 if it is not valid.
 */
size_t le_utf8_length(const char *character, size_t length);

/* The number of insertions, deletions and changes of single bytes that turn a into b (Levenshtein distance). Only the
 * first LE_TEXT_DISTANCE_BYTES bytes of each count. */
enum { LE_TEXT_DISTANCE_BYTES = 48 };
int le_text_distance(const char *a, const char *b);
#endif
