/* See compile_log.h. */
#include "device/cuda/compile_log.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* One message of the log; pointers into it. */
struct log_message {
    const char *file;
    size_t file_length;
    int line, column;
    const char *text;
    size_t text_length;
};

static const char *line_end(const char *at) {
    return at + strcspn(at, "\n");
}

static const char *next_line(const char *at) {
    at = line_end(at);
    return *at ? at + 1 : at;
}

/* text in [at, end) */
static const char *find_in(const char *at, const char *end, const char *text) {
    const char *found = strstr(at, text);
    return found && found < end ? found : NULL;
}

/* Reads the text before ": error": FILE(LINE) or FILE:LINE:COLUMN. */
static bool read_location(const char *at, const char *end, struct log_message *complaint) {
    const char *open = end;
    if (end > at && end[-1] == ')') {
        while (open > at && *open != '(')
            open--;
        complaint->line = atoi(open + 1);
    } else {
        int numbers[2] = {0, 0}, count = 0;
        while (count < 2 && open > at && isdigit((unsigned char)open[-1])) {
            while (open > at && isdigit((unsigned char)open[-1]))
                open--;
            numbers[count++] = atoi(open);
            open -= open > at && open[-1] == ':';
        }
        complaint->line = numbers[count == 2];
        complaint->column = count == 2 ? numbers[0] : 0;
    }
    complaint->file = at;
    complaint->file_length = (size_t)(open - at);
    return complaint->line > 0 && open > at;
}

/* The column of the caret two lines below, minus the two blanks that NVRTC puts before the source line. */
static int caret_column(const char *at) {
    const char *below = next_line(next_line(at)), *end = line_end(below);
    const char *caret = below + strspn(below, " \t");
    if (caret >= end || *caret != '^' || caret - below < 2)
        return 0;
    return (int)(caret - below) - 1;
}

static bool read_message(const char *at, struct log_message *complaint) {
    static const char *const WORDS[] = {": error", ": catastrophic error", ": fatal error"};
    const char *end = line_end(at), *word = NULL;
    size_t length = 0;
    for (size_t k = 0; k < ARRAY_LEN(WORDS) && !word; k++) {
        word = find_in(at, end, WORDS[k]);
        length = strlen(WORDS[k]);
    }
    if (!word)
        return false;
    const char *text = word + length;
    text = find_in(text, end, ": "); /* a number may follow: "error #20: " */
    if (!text)
        return false;
    *complaint = (struct log_message){.text = text + 2, .text_length = (size_t)(end - text - 2)};
    if (!read_location(at, word, complaint))
        *complaint = (struct log_message){.text = at, .text_length = (size_t)(end - at)};
    else if (complaint->column == 0)
        complaint->column = caret_column(at);
    return true;
}

__attribute__((format(printf, 2, 3))) static void add_error(struct le_location location, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    le_errors_add(LEAT_PROGRAM, location, NULL, format, arguments);
    va_end(arguments);
}

/* NVRTC compiles name expressions in a file of its own; the message quotes the expression instead of that file. */
static bool add_name_message(const struct log_message *complaint) {
    static const char PRAGMA[] = "#pragma nv_mangled_name ", FILE_NAME[] = "__nv_name_map";
    if (complaint->file_length != sizeof FILE_NAME - 1 || memcmp(complaint->file, FILE_NAME, sizeof FILE_NAME - 1) != 0)
        return false;
    const char *line = next_line(complaint->text), *end = line_end(line), *written = find_in(line, end, PRAGMA);
    if (written)
        written += sizeof PRAGMA - 1;
    else
        written = end;
    add_error((struct le_location){0}, "the name \"%.*s\": %.*s", (int)(end - written), written,
              (int)complaint->text_length, complaint->text);
    return true;
}

static void add_message(const struct log_message *complaint, const char *name) {
    bool own = complaint->file_length == strlen(name) && memcmp(complaint->file, name, complaint->file_length) == 0;
    if (own)
        add_error(
            (struct le_location){.line = complaint->line, .column = complaint->column, .span = complaint->column > 0},
            "%.*s", (int)complaint->text_length, complaint->text);
    else if (complaint->file_length == 0)
        add_error((struct le_location){0}, "%.*s", (int)complaint->text_length, complaint->text);
    else if (!add_name_message(complaint))
        add_error((struct le_location){0}, "%.*s:%d: %.*s", (int)complaint->file_length, complaint->file,
                  complaint->line, (int)complaint->text_length, complaint->text);
}

leat_status le_compile_log_fail(const char *log, const char *name, const char *source) {
    le_errors_clear();
    for (const char *at = log; *at; at = next_line(at)) {
        struct log_message complaint;
        if (read_message(at, &complaint))
            add_message(&complaint, name);
    }
    if (le_errors_count() == 0)
        add_error((struct le_location){0}, "%s does not compile: %.400s", name,
                  *log ? log : "the compiler gave no reason");
    le_errors_source(name, source, strlen(source));
    return LEAT_PROGRAM;
}
