/* See text_reader.h. */
#include "tests/reader/text_reader.h"
#include "base/memory.h"
#include "base/text.h"
#include <stdio.h>
#include <string.h>

#define SHOWN_MOST 60 /* bytes of a word in a message */

void le_reader_init(struct text_reader *r, struct le_arena *arena, const char *title, const char *text,
                    size_t size_bytes, int (*word_length)(const char *at, const char *end)) {
    *r = (struct text_reader){.arena = arena, .title = title, .line = 1, .word_length = word_length};
    r->start = r->at = r->line_start = text;
    r->end = text + size_bytes;
}

void le_read_fail(struct text_reader *r, const char *format, ...) {
    char message[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    struct le_location location = {.line = r->line, .column = (int)(r->at - r->line_start) + 1, .span = 1};
    r->status = le_fail_at(LEAT_PROGRAM, location, NULL, "line %d: %s", r->line, message);
    le_errors_source(r->title, r->start, (size_t)(r->end - r->start));
    longjmp(r->failure, 1);
}

void le_read_fail_not(struct text_reader *r, struct word w, const char *what) {
    le_read_fail(r, "'%.*s' is not %s", w.length < SHOWN_MOST ? w.length : SHOWN_MOST, w.at, what);
}

void le_read_fail_none(struct text_reader *r, const char *what, struct word w) {
    le_read_fail(r, "there is no %s '%.*s'", what, w.length < SHOWN_MOST ? w.length : SHOWN_MOST, w.at);
}

/* ---- characters */

char le_read_peek(const struct text_reader *r) {
    return r->at < r->end ? *r->at : '\n';
}

char le_read_next(struct text_reader *r) {
    while (le_read_peek(r) == ' ')
        r->at++;
    return le_read_peek(r);
}

bool le_read_accept(struct text_reader *r, char c) {
    if (le_read_next(r) != c || c == '\n')
        return false;
    r->at++;
    return true;
}

void le_read_expect(struct text_reader *r, char c) {
    if (!le_read_accept(r, c))
        le_read_fail(r, "'%c' is missing", c);
}

/* ---- words and numbers */

struct word le_read_look(struct text_reader *r) {
    le_read_next(r);
    return (struct word){.at = r->at, .length = r->word_length(r->at, r->end)};
}

struct word le_read_take(struct text_reader *r, const char *what) {
    struct word w = le_read_look(r);
    if (w.length == 0)
        le_read_fail(r, "%s is missing", what);
    r->at += w.length;
    return w;
}

bool le_word_is(struct word w, const char *text) {
    return (size_t)w.length == strlen(text) && memcmp(w.at, text, (size_t)w.length) == 0;
}

bool le_read_accept_word(struct text_reader *r, const char *text) {
    struct word w = le_read_look(r);
    if (!le_word_is(w, text))
        return false;
    r->at += w.length;
    return true;
}

void le_read_expect_word(struct text_reader *r, const char *text) {
    if (!le_read_accept_word(r, text))
        le_read_fail(r, "'%s' is missing", text);
}

int le_read_choose(struct text_reader *r, const char *const *table, int count, const char *what) {
    for (int k = 0; k < count; k++)
        if (table[k] && le_read_accept_word(r, table[k]))
            return k;
    struct word w = le_read_look(r);
    le_read_fail(r, "'%.*s' is not a valid %s", w.length < SHOWN_MOST ? w.length : SHOWN_MOST, w.at, what);
}

int64_t le_read_whole(struct text_reader *r, int64_t least, int64_t most) {
    bool negative = le_read_accept(r, '-');
    int64_t n = 0;
    if (!le_is_digit(le_read_peek(r)))
        le_read_fail(r, "a number is missing");
    for (; le_is_digit(le_read_peek(r)); r->at++)
        if (!le_mul_i64(n, 10, &n) || !le_add_i64(n, *r->at - '0', &n))
            le_read_fail(r, "the number is too large");
    n = negative ? -n : n;
    if (n < least || n > most)
        le_read_fail(r, n < least ? "%lld is below %lld" : "%lld is above %lld", (long long)n,
                     (long long)(n < least ? least : most));
    return n;
}

const char *le_read_rest(struct text_reader *r) {
    if (le_read_peek(r) == ' ')
        r->at++;
    const char *from = r->at;
    while (le_read_peek(r) != '\n' && *r->at)
        r->at++;
    if (le_read_peek(r) != '\n')
        le_read_fail(r, "a byte that is 0");
    return le_arena_copy(r->arena, from, (size_t)(r->at - from));
}
