/* Reads words of the IR's text, and reports errors in them. */
#include "tests/ir/reader/reader.h"
#include <stdio.h>
#include <string.h>

_Noreturn __attribute__((format(printf, 2, 3))) void le_read_fail(struct reader *r, const char *format, ...) {
    char message[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    struct le_location location = {.line = r->line, .column = (int)(r->at - r->line_start) + 1, .span = 1};
    r->status = le_fail_at(LEAT_PROGRAM, location, NULL, "line %d: %s", r->line, message);
    le_errors_source("ir", r->start, (size_t)(r->end - r->start));
    longjmp(r->failure, 1);
}

char le_read_peek(const struct reader *r) {
    return r->at < r->end ? *r->at : '\n';
}

void le_read_skip_spaces(struct reader *r) {
    while (le_read_peek(r) == ' ')
        r->at++;
}

bool le_read_accept(struct reader *r, char c) {
    le_read_skip_spaces(r);
    if (le_read_peek(r) != c || c == '\n')
        return false;
    r->at++;
    return true;
}

void le_read_expect(struct reader *r, char c) {
    if (!le_read_accept(r, c))
        le_read_fail(r, "'%c' is missing", c);
}

static bool is_word(char c) {
    return le_is_letter(c) || le_is_digit(c) || c == '_' || c == '.' || c == '-';
}

static bool starts_number(const char *at) {
    return le_is_digit(*at) || (*at == '-' && le_is_digit(at[1]));
}

/* Letters, digits, points; a plus sign only after an exponent's e. */
struct word le_read_look(struct reader *r) {
    le_read_skip_spaces(r);
    struct word w = {.at = r->at};
    const char *end = r->at;
    while (end < r->end && (is_word(*end) || (*end == '+' && end > r->at && end[-1] == 'e' && starts_number(r->at))))
        end++;
    w.length = (int)(end - r->at);
    return w;
}

struct word le_read_take(struct reader *r, const char *what) {
    struct word w = le_read_look(r);
    if (w.length == 0)
        le_read_fail(r, "%s is missing", what);
    r->at += w.length;
    return w;
}

bool le_word_is(struct word w, const char *text) {
    return (size_t)w.length == strlen(text) && memcmp(w.at, text, (size_t)w.length) == 0;
}

bool le_read_accept_word(struct reader *r, const char *text) {
    struct word w = le_read_look(r);
    if (!le_word_is(w, text))
        return false;
    r->at += w.length;
    return true;
}

void le_read_expect_word(struct reader *r, const char *text) {
    if (!le_read_accept_word(r, text))
        le_read_fail(r, "'%s' is missing", text);
}

int le_read_number(struct reader *r, int most) {
    le_read_skip_spaces(r);
    int64_t n = 0;
    if (!le_is_digit(le_read_peek(r)))
        le_read_fail(r, "a number is missing");
    for (; le_is_digit(le_read_peek(r)) && n <= most; r->at++)
        n = 10 * n + (*r->at - '0');
    if (n > most)
        le_read_fail(r, "the number is above %d", most);
    return (int)n;
}

/* Reads a word of the table and returns its number. */
int le_read_choose(struct reader *r, const char *const *table, int count, const char *what) {
    struct word w = le_read_look(r);
    for (int k = 0; k < count; k++)
        if (table[k] && le_word_is(w, table[k])) {
            r->at += w.length;
            return k;
        }
    le_read_fail(r, "'%.*s' is not a valid %s", w.length < 60 ? w.length : 60, w.at, what);
}

int le_read_find(struct reader *r, const struct le_names *names, const char *what) {
    struct word w = le_read_look(r);
    int found = le_names_get(names, w.at, (size_t)w.length);
    if (found < 0)
        le_read_fail(r, "there is no %s '%.*s'", what, w.length < 60 ? w.length : 60, w.at);
    r->at += w.length;
    return found;
}

enum le_type le_read_type(struct reader *r) {
    struct word w = le_read_look(r);
    enum le_type type = le_type_parse(w.at, (size_t)w.length);
    if (type == LE_NONE)
        le_read_fail(r, "'%.*s' is not a type", w.length < 60 ? w.length : 60, w.at);
    r->at += w.length;
    return type;
}
