/* The error record of each thread. It has a fixed size, so that reporting a failure never fails. It holds either one
 * failure or all errors of a program's text, with the excerpts of the text that are needed to show them. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "base/status.h"
#include "base/text.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MESSAGE_BYTES  512
#define EXPECTED_BYTES 256
#define NAME_BYTES     128
#define ECHO_COLUMNS   160 /* limit of an excerpt from a line */
#define ECHO_BEFORE    60  /* columns before the span in a longer line */
#define ECHO_BYTES     264
#define TEXT_BYTES     (LE_ERRORS_MAX * 1024)

struct entry {
    leat_error error;
    char message[MESSAGE_BYTES], expected[EXPECTED_BYTES];
    bool has_echo;
    char echo[ECHO_BYTES]; /* printable excerpt of the line around the span */
    int caret_at, carets;  /* in characters of echo */
};
struct error_record {
    int count, dropped;
    bool rendered;
    int order[LE_ERRORS_MAX]; /* the order of reporting, as indices of entries */
    struct entry entries[LE_ERRORS_MAX];
    char name[NAME_BYTES]; /* of the program's text */
    char text[TEXT_BYTES]; /* all errors as text for people */
};
static _Thread_local struct error_record record;

/* The part of the record that one failure overwrites, saved at the first failure after le_errors_save. */
static _Thread_local struct {
    int depth;
    bool is_used;
    int count, dropped, first;
    struct entry entry;
    char name[NAME_BYTES];
} aside;

/* ---- printable text */

/* Whether it is a control character, or one that changes the direction of the text after it. */
static bool is_unprintable(const unsigned char *text, size_t size) {
    if (size == 1)
        return text[0] < 0x20 || text[0] == 0x7f;
    if (size == 2)
        return text[0] == 0xc2 && text[1] < 0xa0;
    if (size != 3 || text[0] != 0xe2)
        return false;
    return (text[1] == 0x80 && text[2] >= 0xa8 && text[2] <= 0xae) ||
           (text[1] == 0x81 && text[2] >= 0xa6 && text[2] <= 0xa9);
}

/* Copies the character at *from to *to and advances both. An unprintable character becomes '?', a carriage return a
 * space; a tab stays. false if there is no room. */
static bool take_character(const unsigned char **from, const unsigned char *end, char **to, const char *to_end) {
    size_t size = le_utf8_length((const char *)*from, (size_t)(end - *from));
    bool plain = size > 0 && !is_unprintable(*from, size);
    if ((size_t)(to_end - *to) < (plain ? size : 1))
        return false;
    if (plain) {
        memcpy(*to, *from, size);
    } else {
        size = size ? size : 1;
        **to = **from == '\t' ? '\t' : **from == '\r' ? ' ' : '?';
    }
    *to += plain ? size : 1;
    *from += size;
    return true;
}

/* Copies as many whole characters as fit, made printable on one line. */
static void copy_clean(char *target, size_t size_bytes, const char *text, size_t length) {
    const unsigned char *from = (const unsigned char *)text, *end = from + length;
    char *to = target, *to_end = target + size_bytes - 1;
    while (from < end && take_character(&from, end, &to, to_end)) {
    }
    *to = 0;
    for (to = target; *to; to++)
        if (*to == '\t')
            *to = ' ';
}

/* The length of a text that was printed into size_bytes bytes, without an incomplete last character. */
static size_t whole_length(const char *text, size_t size_bytes) {
    size_t length = strlen(text), start = length;
    if (length + 1 < size_bytes)
        return length;
    while (start > 0 && length - start < 3 && ((unsigned char)text[start - 1] & 0xc0) == 0x80)
        start--;
    if (start > 0 && (unsigned char)text[start - 1] >= 0xc0)
        start--;
    return le_utf8_length(text + start, length - start) ? length : start;
}

/* ---- the record */

static void save_record(void) {
    if (aside.depth == 0 || aside.is_used)
        return;
    aside.is_used = true;
    aside.count = record.count;
    aside.dropped = record.dropped;
    aside.first = record.order[0];
    aside.entry = record.entries[0];
    memcpy(aside.name, record.name, sizeof aside.name);
}

void le_errors_save(void) {
    aside.depth++;
}

void le_errors_restore(void) {
    if (--aside.depth > 0 || !aside.is_used)
        return;
    aside.is_used = false;
    record.count = aside.count;
    record.dropped = aside.dropped;
    record.order[0] = aside.first;
    record.entries[0] = aside.entry;
    record.rendered = false;
    memcpy(record.name, aside.name, sizeof record.name);
}

void le_errors_clear(void) {
    save_record();
    record.count = record.dropped = 0;
    record.rendered = false;
    record.name[0] = 0;
}

/* Formats before it writes, because the arguments may be strings of the record. */
__attribute__((format(printf, 4, 0))) static void
add_entry(leat_status code, struct le_location location, const char *expected, const char *format, va_list arguments) {
    char message[MESSAGE_BYTES], hint[EXPECTED_BYTES];
    vsnprintf(message, sizeof message, format, arguments);
    snprintf(hint, sizeof hint, "%s", expected ? expected : "");
    struct entry *entry = &record.entries[record.count];
    copy_clean(entry->message, sizeof entry->message, message, whole_length(message, sizeof message));
    copy_clean(entry->expected, sizeof entry->expected, hint, whole_length(hint, sizeof hint));
    entry->has_echo = false;
    entry->error = (leat_error){.code = code,
                                .message = entry->message,
                                .expected = entry->expected,
                                .line = location.line,
                                .column = location.column,
                                .span = location.span};
    record.order[record.count] = record.count;
    record.count++;
    record.rendered = false;
}

/* Whether the last error is already recorded. A def that is called twice produces its errors twice. */
static bool is_recorded(const leat_error *last) {
    for (int k = 0; k < record.count - 1; k++) {
        const leat_error *error = &record.entries[k].error;
        if (last->line > 0 && error->line == last->line && error->column == last->column &&
            strcmp(error->message, last->message) == 0)
            return true;
    }
    return false;
}

void le_errors_add(leat_status code, struct le_location location, const char *expected, const char *format,
                   va_list arguments) {
    if (record.count == LE_ERRORS_MAX) {
        record.dropped++;
        record.rendered = false;
        return;
    }
    add_entry(code, location, expected, format, arguments);
    if (is_recorded(&record.entries[record.count - 1].error))
        record.count--;
}

/* Replaces all errors by one. The arguments may be strings of the record: clearing does not change these. */
__attribute__((format(printf, 4, 0))) static void replace_all(leat_status code, struct le_location location,
                                                              const char *expected, const char *format,
                                                              va_list arguments) {
    le_errors_clear();
    add_entry(code, location, expected, format, arguments);
}

leat_status le_fail(leat_status code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    replace_all(code, (struct le_location){0}, NULL, format, arguments);
    va_end(arguments);
    return code;
}

leat_status le_fail_out_of_memory(size_t size_bytes) {
    if (size_bytes == 0)
        return le_fail(LEAT_OUT_OF_MEMORY, "out of memory");
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double size = (double)size_bytes;
    int unit = 0;
    for (; size >= 1024; unit++)
        size /= 1024;
    return le_fail(LEAT_OUT_OF_MEMORY, "out of memory: cannot allocate %.*f %s", unit ? 1 : 0, size, units[unit]);
}

leat_status le_fail_file(const char *verb, const char *path, int number) {
    char text[128];
    bool no_folder = number == ENOENT && strcmp(verb, "write") == 0; /* writing creates the file itself */
    return le_fail(LEAT_FILE, "cannot %s %s: %s", verb, path,
                   no_folder ? "the folder does not exist" : strerror_r(number, text, sizeof text));
}

leat_status le_fail_at(leat_status code, struct le_location location, const char *expected, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    replace_all(code, location, expected, format, arguments);
    va_end(arguments);
    return code;
}

leat_status le_fail_prefix(leat_status code, const char *format, ...) {
    char prefix[MESSAGE_BYTES], message[2 * MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(prefix, sizeof prefix, format, arguments);
    va_end(arguments);
    if (record.count == 0)
        return le_fail(code, "%s", prefix);
    struct entry *entry = &record.entries[record.order[0]];
    int length = snprintf(message, sizeof message, "%s: %s", prefix, entry->message);
    copy_clean(entry->message, sizeof entry->message, message, (size_t)length);
    record.rendered = false;
    return code;
}

size_t le_errors_count(void) {
    return (size_t)record.count;
}

const leat_error *le_error_at(size_t k) {
    return k < (size_t)record.count ? &record.entries[record.order[k]].error : NULL;
}

static bool is_before(int a, int b) {
    const leat_error *left = &record.entries[a].error, *right = &record.entries[b].error;
    return left->line != right->line ? left->line < right->line : left->column < right->column;
}

void le_errors_sort(void) {
    for (int k = 1; k < record.count; k++) {
        int moved = record.order[k], to = k;
        for (; to > 0 && is_before(moved, record.order[to - 1]); to--)
            record.order[to] = record.order[to - 1];
        record.order[to] = moved;
    }
    record.rendered = false;
}

/* ---- the lines of text that errors point to */

struct line {
    const unsigned char *start, *end;
};

static bool find_line(const char *text, size_t size_bytes, int number, struct line *line) {
    const unsigned char *at = (const unsigned char *)text, *end = at + size_bytes;
    for (int k = 1; k < number; k++) {
        const unsigned char *newline = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
        if (!newline)
            return false;
        at = newline + 1;
    }
    const unsigned char *newline = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
    *line = (struct line){at, newline ? newline : end};
    return true;
}

/* Appends the characters of from..end to the echo, at most the given number of columns. Returns the number appended. */
static int echo_part(char **to, const char *to_end, const unsigned char **from, const unsigned char *end, int columns) {
    int taken = 0;
    while (taken < columns && *from < end && take_character(from, end, to, to_end))
        taken++;
    return taken;
}

/* The part of a line that an error marks, extended to whole characters. It lies inside the line and has at least one
 * character, or is the line's end. */
static struct line marked_part(const leat_error *error, struct line line) {
    size_t length = (size_t)(line.end - line.start);
    size_t column = error->column > 0 ? (size_t)error->column - 1 : 0;
    size_t span = error->span > 0 ? (size_t)error->span : 1;
    if (column > length)
        column = length;
    if (span > length - column)
        span = length - column;
    struct line part = {line.start + column, line.start + column + span};
    for (int k = 0; k < 3 && part.start > line.start && part.start < line.end && (*part.start & 0xc0) == 0x80; k++)
        part.start--;
    for (int k = 0; k < 3 && part.end < line.end && (*part.end & 0xc0) == 0x80; k++)
        part.end++;
    return part;
}

/* The start of the excerpt from a long line that is clipped before the span. */
static const unsigned char *clipped_start(const unsigned char *mark) {
    const unsigned char *from = mark - (ECHO_BEFORE - 3);
    while (from < mark && (*from & 0xc0) == 0x80)
        from++;
    return from;
}

static void echo_line(struct entry *entry, struct line line) {
    struct line part = marked_part(&entry->error, line);
    const unsigned char *from = line.start;
    char *to = entry->echo, *to_end = to + ECHO_BYTES - 8; /* leaves room for the dots after a clipped line */
    bool clipped = line.end - line.start > ECHO_COLUMNS && part.start - line.start > ECHO_BEFORE;
    if (clipped) {
        from = clipped_start(part.start);
        to = stpcpy(to, "...");
    }
    int columns = clipped ? ECHO_COLUMNS - 3 : ECHO_COLUMNS;
    entry->caret_at = clipped ? 3 : 0;
    int before = echo_part(&to, to_end, &from, part.start, columns);
    entry->caret_at += before;
    entry->carets = echo_part(&to, to_end, &from, part.end, columns - before);
    echo_part(&to, to_end, &from, line.end, columns - before - entry->carets);
    strcpy(to, from < line.end ? "..." : "");
    if (entry->carets == 0)
        entry->carets = 1;
    entry->has_echo = true;
}

void le_errors_source(const char *name, const char *text, size_t size_bytes) {
    copy_clean(record.name, sizeof record.name, name ? name : "program", name ? strlen(name) : strlen("program"));
    for (int k = 0; k < record.count; k++) {
        struct entry *entry = &record.entries[k];
        struct line line;
        if (entry->error.line > 0 && find_line(text, size_bytes, entry->error.line, &line))
            echo_line(entry, line);
    }
    record.rendered = false;
}

/* ---- all errors as text for people */

__attribute__((format(printf, 2, 3))) static void append(size_t *length, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int added = vsnprintf(record.text + *length, sizeof record.text - *length, format, arguments);
    va_end(arguments);
    if (added > 0)
        *length += (size_t)added;
    if (*length > sizeof record.text - 1)
        *length = sizeof record.text - 1;
}

/* The caret line repeats the tabs of the line above it, so that the carets are aligned with the span. */
static void append_echo(size_t *length, const struct entry *entry) {
    append(length, "%s\n", entry->echo);
    if (entry->error.column == 0)
        return;
    const char *at = entry->echo;
    for (int k = 0; k < entry->caret_at && *at; k++) {
        append(length, "%c", *at == '\t' ? '\t' : ' ');
        for (at++; (*at & 0xc0) == 0x80;)
            at++;
    }
    append(length, "^");
    for (int k = 1; k < entry->carets; k++)
        append(length, "~");
    append(length, "\n");
}

static void append_entry(size_t *length, const struct entry *entry) {
    const char *name = record.name[0] ? record.name : "program";
    if (entry->error.line > 0)
        append(length, "%s:%d:", name, entry->error.line);
    if (entry->error.column > 0)
        append(length, "%d:", entry->error.column);
    append(length, entry->error.line > 0 ? " " : "");
    append(length, "error: %s\n", entry->message);
    if (entry->has_echo)
        append_echo(length, entry);
    if (entry->expected[0])
        append(length, "help: %s\n", entry->expected);
}

const char *le_errors_text(void) {
    if (record.rendered)
        return record.text;
    size_t length = 0;
    record.text[0] = 0;
    for (int k = 0; k < record.count; k++)
        append_entry(&length, &record.entries[record.order[k]]);
    if (record.dropped)
        append(&length, "%d more errors are not shown\n", record.dropped);
    record.rendered = true;
    return record.text;
}

const char *leat_status_name(leat_status status) {
    static const char *const names[] = {
        [LEAT_OK] = "ok",
        [LEAT_INVALID] = "invalid argument",
        [LEAT_PROGRAM] = "wrong program",
        [LEAT_MISMATCH] = "mismatch",
        [LEAT_MISSING] = "missing input",
        [LEAT_FILE] = "file error",
        [LEAT_DEVICE] = "device error",
        [LEAT_OUT_OF_MEMORY] = "out of memory",
        [LEAT_DATA] = "data error",
        [LEAT_UNSUPPORTED] = "unsupported",
        [LEAT_INTERNAL] = "internal error",
        [LEAT_CANCELED] = "canceled",
    };
    return (size_t)status < ARRAY_LEN(names) ? names[status] : "?";
}
