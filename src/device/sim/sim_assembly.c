/* Variables get 64 bytes of nobody's after them, so that a subscript that is one too far finds no neighbour. Works on
 * what g++ and clang++ write for ELF: section directives, labels, data directives. */
#include "device/sim/sim_compile_steps.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PADDING_BYTES = 64 };

struct line {
    const char *at, *word; /* word: after the blanks */
    size_t length, word_length;
};

static bool starts(const struct line *line, const char *text) {
    return line->word_length >= strlen(text) && memcmp(line->word, text, strlen(text)) == 0;
}

static bool is_data(const struct line *line) {
    static const char *const words[] = {".zero",  ".long",  ".value", ".byte",  ".quad",  ".string", ".asci",
                                        ".word",  ".xword", ".hword", ".short", ".octa",  ".4byte",  ".8byte",
                                        ".2byte", ".skip",  ".space", ".fill",  ".dword", ".single", ".double"};
    for (size_t k = 0; k < ARRAY_LEN(words); k++)
        if (starts(line, words[k]))
            return true;
    return false;
}

/* Sections of variables that can be written: their names, with or without what COMDAT adds. */
static bool is_variable_section(const struct line *line) {
    static const char *const names[] = {".tbss", ".tdata", ".bss", ".data"};
    struct line rest = *line;
    if (starts(line, ".section")) {
        size_t skip = strlen(".section") + strspn(line->word + strlen(".section"), " \t");
        rest.word += skip;
        rest.word_length -= skip < rest.word_length ? skip : rest.word_length;
    }
    if (starts(&rest, ".data.rel.ro"))
        return false;
    for (size_t k = 0; k < ARRAY_LEN(names); k++)
        if (starts(&rest, names[k]))
            return true;
    return false;
}

static bool is_section(const struct line *line) {
    return starts(line, ".section") || starts(line, ".text") || starts(line, ".data") || starts(line, ".bss");
}

/* .comm name,size,alignment: a larger size. The symbol gets it, too; a variable's own is in the table. */
static bool pad_common(const struct line *line, struct le_text *padded) {
    const char *comma = memchr(line->at, ',', line->length);
    if (!starts(line, ".comm") || !comma)
        return false;
    char *after;
    unsigned long size = strtoul(comma + 1, &after, 10);
    le_text_add_bytes(padded, line->at, (size_t)(comma - line->at));
    le_text_add(padded, ",%lu", size + PADDING_BYTES);
    le_text_add_bytes(padded, after, line->length - (size_t)(after - line->at));
    return true;
}

bool sim_assembly_pad(const char *text, size_t length, struct le_text *padded) {
    const char *end = text + length;
    bool variables = false, in_data = false;
    for (const char *at = text; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop + 1 : end;
        struct line line = {.at = at, .length = (size_t)(stop - at)};
        line.word = at + strspn(at, " \t");
        line.word_length = line.word < stop ? (size_t)(stop - line.word) : 0;
        bool data = is_data(&line), blank = line.word_length <= 1 || *line.word == '#';
        if (in_data && !data && !blank) {
            le_text_add(padded, "\t.zero\t%d\n", PADDING_BYTES);
            in_data = false;
        }
        if (is_section(&line))
            variables = is_variable_section(&line);
        in_data |= variables && data;
        if (!pad_common(&line, padded))
            le_text_add_bytes(padded, line.at, line.length);
        at = stop;
    }
    return !padded->failed;
}
