/* Tokens of preprocessed C++: words, numbers, strings (also raw ones), signs and line markers. Text of a header that is
 * not the user's is one token. */
#include "sim/compile/sim_rewrite.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    struct le_arena *arena;
    const struct sim_source *source;
    struct sim_tokens *tokens;
    const char *at, *end, *blank; /* blank: where the blanks before this token start */
    const char *file;
    int line;
    bool foreign;
};

bool le_sim_token_is(const struct sim_token *token, const char *text) {
    return token->length == strlen(text) && memcmp(token->text, text, token->length) == 0;
}

static struct sim_token *push_token(struct reader *r, enum sim_token_kind kind, const char *end) {
    struct sim_token *token = LE_PUSH(r->arena, r->tokens);
    *token = (struct sim_token){.start = r->blank,
                                .text = r->at,
                                .length = (size_t)(end - r->at),
                                .kind = kind,
                                .line = r->line,
                                .file = r->file};
    for (const char *c = r->at; c < end; c++)
        r->line += *c == '\n';
    r->at = r->blank = end;
    return token;
}

static const char *line_end(const struct reader *r, const char *at) {
    const char *end = memchr(at, '\n', (size_t)(r->end - at));
    return end ? end : r->end;
}

/* A line marker: # 12 "file" 1 3 means that line 12 of the file follows. */
static bool read_marker(struct reader *r) {
    char *after;
    const char *end = line_end(r, r->at);
    if (r->at[1] != ' ' || !isdigit((unsigned char)r->at[2]))
        return false;
    long line = strtol(r->at + 2, &after, 10);
    if (after >= end || after[1] != '"')
        return false;
    const char *name = after + 2, *close = end;
    while (close > name && *close != '"')
        close--;
    bool system = false;
    for (const char *flag = close; flag < end; flag++)
        system |= *flag == '3';
    size_t folder = strlen(r->source->folder);
    bool own = (size_t)(close - name) > folder && memcmp(name, r->source->folder, folder) == 0;
    char *file = own ? le_arena_format(r->arena, SIM_OWN_FILES "%.*s", (int)(close - name) - (int)folder, name + folder)
                     : le_arena_copy(r->arena, name, (size_t)(close - name));
    const char *headers = SIM_OWN_FILES "/headers/";
    if (own && strncmp(file, headers, strlen(headers)) == 0) { /* headers given with the program are the user's */
        file += strlen(headers);
        own = false;
    }
    r->foreign = system || own;
    struct sim_token *token = push_token(r, SIM_MARKER, end);
    token->instead = le_arena_format(r->arena, "# %ld \"%s\"%s", line, file, r->foreign ? " 3" : "");
    r->file = file;
    r->line = (int)line - 1; /* the newline after the marker */
    return true;
}

static const char *raw_string_end(const struct reader *r, const char *quote) {
    char close[24] = ")";
    const char *open = quote + 1;
    size_t length = 0;
    while (open + length < r->end && open[length] != '(' && length < 17)
        length++;
    memcpy(close + 1, open, length);
    close[length + 1] = '"';
    const char *end = memmem(open + length, (size_t)(r->end - open) - length, close, length + 2);
    return end ? end + length + 2 : r->end;
}

static const char *quoted_end(const struct reader *r, const char *at) {
    char quote = *at++;
    while (at < r->end && *at != quote && *at != '\n')
        at += *at == '\\' ? 2 : 1;
    return at < r->end ? at + 1 : r->end;
}

static const char *word_end(const struct reader *r) {
    const char *at = r->at;
    while (at < r->end && (isalnum((unsigned char)*at) || *at == '_' || *at == '$' || (unsigned char)*at >= 128))
        at++;
    return at;
}

static const char *number_end(const struct reader *r) {
    const char *at = r->at;
    while (at < r->end &&
           (isalnum((unsigned char)*at) || *at == '_' || *at == '.' || (*at == '\'' && isalnum((unsigned char)at[1])) ||
            ((*at == '+' || *at == '-') && strchr("eEpP", at[-1]))))
        at++;
    return at;
}

static void read_token(struct reader *r) {
    unsigned char c = (unsigned char)*r->at;
    if (isalpha(c) || c == '_' || c >= 128) {
        const char *end = word_end(r);
        if (end < r->end && *end == '"' && end[-1] == 'R' && end - r->at <= 3)
            push_token(r, SIM_STRING, raw_string_end(r, end));
        else
            push_token(r, SIM_WORD, end);
    } else if (isdigit(c) || (c == '.' && isdigit((unsigned char)r->at[1])))
        push_token(r, SIM_NUMBER, number_end(r));
    else if (c == '"' || c == '\'')
        push_token(r, SIM_STRING, quoted_end(r, r->at));
    else if (c == ':' && r->at + 1 < r->end && r->at[1] == ':')
        push_token(r, SIM_SIGN, r->at + 2);
    else
        push_token(r, SIM_SIGN, r->at + 1);
}

/* Skips the text of a header that is not the user's, up to the next marker. */
static void skip_foreign(struct reader *r) {
    const char *at = r->at;
    while (at < r->end && !(*at == '#' && at[1] == ' ' && isdigit((unsigned char)at[2]))) {
        at = line_end(r, at);
        at += at < r->end;
    }
    if (at > r->at)
        push_token(r, SIM_FOREIGN, at);
}

void le_sim_tokens_read(struct le_arena *arena, const struct sim_source *source, struct sim_tokens *tokens) {
    struct reader r = {.arena = arena,
                       .source = source,
                       .tokens = tokens,
                       .at = source->text,
                       .blank = source->text,
                       .end = source->text + source->length,
                       .file = "",
                       .line = 1};
    bool first = true; /* nothing but blanks before it on its line */
    while (r.at < r.end) {
        if (*r.at == '\n' || *r.at == ' ' || *r.at == '\t' || *r.at == '\f' || *r.at == '\r' || *r.at == '\v') {
            first |= *r.at == '\n';
            r.line += *r.at++ == '\n';
            if (first && r.foreign)
                skip_foreign(&r);
            continue;
        }
        if (first && *r.at == '#') {
            if (!read_marker(&r))
                push_token(&r, SIM_MARKER, line_end(&r, r.at)); /* a pragma */
        } else
            read_token(&r);
        first = false;
    }
    r.at = r.end;
    push_token(&r, SIM_FOREIGN, r.end);
}
