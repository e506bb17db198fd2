/* Rewrites messages of g++ and clang++ ("file:line:column: error: text") as NVRTC's ("file(line): error: text"). */
#include "sim/compile/sim_compile_steps.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct message {
    const char *file, *kind, *text;
    size_t file_length, kind_length, text_length;
    long line;
};

/* Splits a line into file, line number, kind and text. false: it is not a message. */
static bool split_message(const char *line, size_t length, struct message *m) {
    const char *end = line + length;
    for (const char *at = line; at < end; at++) {
        if (*at != ':' || at + 1 >= end || !isdigit((unsigned char)at[1]))
            continue;
        char *after;
        long number = strtol(at + 1, &after, 10);
        if (after < end && *after == ':' && isdigit((unsigned char)after[1]))
            strtol(after + 1, &after, 10);
        if (after + 1 >= end || *after != ':' || after[1] != ' ')
            continue;
        const char *kind = after + 2;
        const char *colon = memchr(kind, ':', (size_t)(end - kind));
        if (!colon)
            return false;
        *m = (struct message){.file = line,
                              .file_length = (size_t)(at - line),
                              .line = number,
                              .kind = kind,
                              .kind_length = (size_t)(colon - kind),
                              .text = colon + 1,
                              .text_length = (size_t)(end - colon - 1)};
        return true;
    }
    return false;
}

static bool is_kind(const struct message *m, const char *kind) {
    return m->kind_length == strlen(kind) && memcmp(m->kind, kind, m->kind_length) == 0;
}

static bool in_file(const struct message *m, const char *prefix) {
    return m->file_length >= strlen(prefix) && memcmp(m->file, prefix, strlen(prefix)) == 0;
}

/* The compiler names files of this compilation with their folder, which is removed. */
static void add_message(struct sim_compilation *c, const struct message *m, const char *kind) {
    size_t skip = 0, folder = strlen(c->folder);
    if (in_file(m, c->folder) && m->file_length > folder)
        skip = folder + 1;
    le_text_add_bytes(&c->log, m->file + skip, m->file_length - skip);
    le_text_add(&c->log, "(%ld): %s:", m->line, kind);
    le_text_add_bytes(&c->log, m->text, m->text_length);
    le_text_add(&c->log, "\n\n");
}

/* "file:12:3:   required from here": where a template that failed was instantiated. */
static bool is_context(const char *line, size_t length) {
    return memmem(line, length, "required from", 13) || memmem(line, length, "In instantiation of", 19) ||
           memmem(line, length, "In substitution of", 18);
}

int le_sim_log_add(struct sim_compilation *c, const char *messages) {
    int errors = 0, of_expressions = 0;
    for (const char *line = messages; line && *line;) {
        size_t length = strcspn(line, "\n");
        struct message m;
        if (!is_context(line, length) && split_message(line, length, &m)) {
            bool error = is_kind(&m, "error") || is_kind(&m, "fatal error");
            errors += error;
            of_expressions += error && in_file(&m, SIM_EXPRESSION_IN);
            if (error)
                add_message(c, &m, is_kind(&m, "error") ? "error" : "catastrophic error");
            else if (is_kind(&m, "warning") && !c->read.quiet && !in_file(&m, SIM_OWN_FILES))
                add_message(c, &m, "warning");
            else if (is_kind(&m, "note") && !in_file(&m, SIM_OWN_FILES))
                add_message(c, &m, "note");
        } else if (memmem(line, length, "undefined reference to", 22) || memmem(line, length, "undefined symbol", 16)) {
            const char *what = memmem(line, length, "undefined", 9);
            le_text_add(&c->log, "%s: error: %.*s\n\n", c->options->name, (int)(line + length - what), what);
            errors++;
        }
        line += length + (line[length] == '\n');
    }
    c->expression_failed = errors && errors == of_expressions;
    return errors;
}

void le_sim_log_end(struct sim_compilation *c, int errors) {
    if (errors)
        le_text_add(&c->log, "%d error%s detected in the compilation of \"%s\".\n", errors, errors == 1 ? "" : "s",
                    c->options->name);
}
