/* Reads words of a kernel's text, and reports errors in them. */
#include "tests/ktree/reader/kernel_words.h"
#include "base/memory.h"
#include "base/text.h"
#include <stdio.h>
#include <string.h>

void le_kernel_fail(struct kernel_reader *r, const char *format, ...) {
    char message[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    struct le_location location = {.line = r->line, .column = (int)(r->at - r->line_start) + 1, .span = 1};
    r->status = le_fail_at(LEAT_PROGRAM, location, NULL, "line %d: %s", r->line, message);
    le_errors_source("kernel", r->start, (size_t)(r->end - r->start));
    longjmp(r->failure, 1);
}

char le_kernel_glued(struct kernel_reader *r) {
    return r->at < r->end ? *r->at : '\n';
}

char le_kernel_peek(struct kernel_reader *r) {
    while (le_kernel_glued(r) == ' ')
        r->at++;
    return le_kernel_glued(r);
}

bool le_kernel_accept(struct kernel_reader *r, char c) {
    if (le_kernel_peek(r) != c || c == '\n')
        return false;
    r->at++;
    return true;
}

void le_kernel_expect(struct kernel_reader *r, char c) {
    if (!le_kernel_accept(r, c))
        le_kernel_fail(r, "'%c' is missing", c);
}

static bool is_part(const char *at, const char *end) {
    return at < end && (le_is_letter(*at) || le_is_digit(*at) || *at == '_');
}

struct kernel_word le_kernel_look(struct kernel_reader *r) {
    le_kernel_peek(r);
    const char *end = r->at;
    while (is_part(end, r->end) || (end > r->at && end < r->end && *end == '.' && is_part(end + 1, r->end)))
        end++;
    return (struct kernel_word){.at = r->at, .length = le_is_digit(le_kernel_glued(r)) ? 0 : (int)(end - r->at)};
}

struct kernel_word le_kernel_take(struct kernel_reader *r, const char *what) {
    struct kernel_word w = le_kernel_look(r);
    if (w.length == 0 || w.length > 1000)
        le_kernel_fail(r, "%s is missing", what);
    r->at += w.length;
    return w;
}

bool le_kernel_is(struct kernel_word w, const char *text) {
    return (size_t)w.length == strlen(text) && memcmp(w.at, text, (size_t)w.length) == 0;
}

bool le_kernel_accept_word(struct kernel_reader *r, const char *text) {
    struct kernel_word w = le_kernel_look(r);
    if (!le_kernel_is(w, text))
        return false;
    r->at += w.length;
    return true;
}

int64_t le_kernel_whole(struct kernel_reader *r, int64_t least, int64_t most) {
    bool negative = le_kernel_accept(r, '-');
    int64_t n = 0;
    if (!le_is_digit(le_kernel_glued(r)))
        le_kernel_fail(r, "a number is missing");
    for (; le_is_digit(le_kernel_glued(r)); r->at++)
        if (!le_mul_i64(n, 10, &n) || !le_add_i64(n, *r->at - '0', &n))
            le_kernel_fail(r, "the number is too large");
    n = negative ? -n : n;
    if (n < least || n > most)
        le_kernel_fail(r, "%lld is not from %lld to %lld", (long long)n, (long long)least, (long long)most);
    return n;
}

const char *le_kernel_rest(struct kernel_reader *r) {
    const char *from = r->at;
    while (le_kernel_glued(r) != '\n' && *r->at)
        r->at++;
    if (le_kernel_glued(r) != '\n')
        le_kernel_fail(r, "a byte that is 0");
    return le_arena_copy(r->arena, from, (size_t)(r->at - from));
}

void le_kernel_enter(struct kernel_reader *r) {
    if (++r->depth > LE_KERNEL_DEPTH_MAX)
        le_kernel_fail(r, "more than %d levels", LE_KERNEL_DEPTH_MAX);
}

int le_kernel_choose(struct kernel_reader *r, const char *const *table, const char *what) {
    for (int k = 0; table[k]; k++)
        if (le_kernel_accept_word(r, table[k]))
            return k;
    struct kernel_word w = le_kernel_look(r);
    le_kernel_fail(r, "'%.*s' is not %s", w.length < 60 ? w.length : 60, w.at, what);
}

const char *le_kernel_define(struct kernel_reader *r, struct le_variable *variable) {
    struct kernel_word w = le_kernel_look(r);
    if (memchr(w.at, '.', (size_t)w.length))
        le_kernel_fail(r, "a name with a point");
    if (le_names_get(&r->names, w.at, (size_t)w.length) >= 0)
        le_kernel_fail(r, "'%.*s' is defined twice", w.length < 60 ? w.length : 60, w.at);
    le_kernel_take(r, "a name");
    const char *name = le_arena_copy(r->arena, w.at, (size_t)w.length);
    le_names_put(r->arena, &r->names, name, (size_t)w.length, r->variables.count);
    le_names_put(r->arena, &r->tree->names, name, (size_t)w.length, 1);
    *LE_PUSH(r->arena, &r->variables) = variable;
    if (variable) {
        variable->name = name;
        variable->id = r->tree->variable_count++;
    }
    return name;
}

struct le_variable *le_kernel_find(struct kernel_reader *r, struct kernel_word w) {
    int k = le_names_get(&r->names, w.at, (size_t)w.length);
    if (k < 0 || !r->variables.at[k])
        le_kernel_fail(r, "there is no variable '%.*s'", w.length < 60 ? w.length : 60, w.at);
    return r->variables.at[k];
}
