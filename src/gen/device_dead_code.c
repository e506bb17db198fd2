/* Removes unused integer constants and parameters from a kernel's text: generators bind indices that the expressions
 * may then not need. Each definition is on a line of its own, before all of its uses. */
#include "base/hash.h"
#include "gen/device_gen.h"
#include <string.h>

struct identifier {
    const char *at;
    size_t length;
    int uses;
};
struct sweep {
    struct identifier *words; /* by hash, a power of two of places */
    size_t places;
    struct {
        const char **at;
        int count, capacity;
    } unused; /* lines, from the last one on */
};

/* The next word from *at on, which is set behind it; its length, 0: there is none before end. */
static size_t next_word(const char **at, const char *end, const char **word) {
    const char *c = *at;
    while (c < end && !le_cuda_is_of_word(*c))
        c++;
    *word = c;
    while (c < end && le_cuda_is_of_word(*c))
        c++;
    *at = c;
    return (size_t)(c - *word);
}

static int *uses_of(const struct sweep *s, const char *word, size_t length) {
    size_t place = (size_t)le_hash(word, length, 0) & (s->places - 1);
    while (s->words[place].at && (s->words[place].length != length || memcmp(s->words[place].at, word, length) != 0))
        place = (place + 1) & (s->places - 1);
    if (!s->words[place].at)
        s->words[place] = (struct identifier){.at = word, .length = length};
    return &s->words[place].uses;
}

static void count(const struct sweep *s, const char *from, const char *end, int by) {
    const char *word;
    for (size_t length; (length = next_word(&from, end, &word)) > 0;)
        *uses_of(s, word, length) += by;
}

/* "const int i = a + b;", without a call in it: the name; NULL: another line. */
static const char *defined(const char *line, const char *end, size_t *length) {
    static const char *const types[] = {"const int ", "const unsigned ", "const long long ",
                                        "const unsigned long long "};
    const char *name = NULL, *at;
    while (line < end && *line == ' ')
        line++;
    for (size_t k = 0; k < ARRAY_LEN(types); k++)
        if ((size_t)(end - line) > strlen(types[k]) && memcmp(line, types[k], strlen(types[k])) == 0)
            name = line + strlen(types[k]);
    if (!name || end[-1] != ';')
        return NULL;
    at = name;
    *length = next_word(&at, end, &name);
    if (end - at < 4 || memcmp(at, " = ", 3) != 0)
        return NULL;
    for (const char *c = at + 3; c < end; c++)
        if (*c == ',' || (*c == '(' && le_cuda_is_of_word(c[-1])))
            return NULL;
    return name;
}

/* From the last line to the first: what a line that goes had used is used less then. */
static void find_unused(struct le_arena *arena, struct sweep *s, const char *text) {
    const char *end = text + strlen(text), *line;
    for (size_t length; end > text; end = line) {
        line = end - 1;
        while (line > text && line[-1] != '\n')
            line--;
        const char *name = defined(line, end - 1, &length);
        if (!name || *uses_of(s, name, length) > 1)
            continue;
        count(s, line, end, -1);
        *LE_PUSH(arena, &s->unused) = line;
    }
}

static void drop_unused(const struct sweep *s, char *text) {
    char *to = text;
    const char *from = text;
    for (int k = s->unused.count - 1; k >= 0; k--) {
        size_t kept = (size_t)(s->unused.at[k] - from);
        memmove(to, from, kept);
        to += kept;
        from = strchr(s->unused.at[k], '\n') + 1;
    }
    memmove(to, from, strlen(from) + 1);
}

void le_cuda_sweep(struct cuda *c, char *text) {
    const char *at = text, *end = text + strlen(text), *word;
    struct sweep s = {.places = 64};
    for (size_t words = 0; next_word(&at, end, &word) > 0; words++)
        if (2 * words > s.places)
            s.places *= 2;
    s.words = LE_NEW_ARRAY(c->arena, s.places, struct identifier);
    count(&s, text, end, 1);
    find_unused(c->arena, &s, text);
    int kept = 0;
    for (int k = 0; k < c->parameters.count; k++)
        if (*uses_of(&s, c->parameters.at[k].name, strlen(c->parameters.at[k].name)) > 0)
            c->parameters.at[kept++] = c->parameters.at[k];
    c->parameters.count = kept;
    drop_unused(&s, text);
}
