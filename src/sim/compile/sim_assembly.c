/* Adds 64 unused bytes after each variable, so that a subscript that is one too large does not reach the next variable.
 * Works on the assembly text that g++ and clang++ write for ELF: section directives, labels, data directives. */
#include "sim/compile/sim_compile_steps.h"
#include "sim/grid/sim_module.h"
#include <stdio.h>
#include <string.h>

enum { PADDING_BYTES = SIM_PADDING_BYTES };

struct asm_line {
    const char *at, *word; /* word: the line after its blanks */
    size_t length, word_length;
};

static bool line_starts_with(const struct asm_line *line, const char *text) {
    return line->word_length >= strlen(text) && memcmp(line->word, text, strlen(text)) == 0;
}

static bool is_data(const struct asm_line *line) {
    static const char *const words[] = {".zero",  ".long",  ".value", ".byte",  ".quad",  ".string", ".asci",
                                        ".word",  ".xword", ".hword", ".short", ".octa",  ".4byte",  ".8byte",
                                        ".2byte", ".skip",  ".space", ".fill",  ".dword", ".single", ".double"};
    for (size_t k = 0; k < ARRAY_LEN(words); k++)
        if (line_starts_with(line, words[k]))
            return true;
    return false;
}

/* Whether the line starts a section of writable variables, by its name, with or without a COMDAT suffix. */
static bool is_variable_section(const struct asm_line *line) {
    static const char *const names[] = {".tbss", ".tdata", ".bss", ".data"};
    struct asm_line rest = *line;
    if (line_starts_with(line, ".section")) {
        size_t skip = strlen(".section") + strspn(line->word + strlen(".section"), " \t");
        rest.word += skip;
        rest.word_length -= skip < rest.word_length ? skip : rest.word_length;
    }
    if (line_starts_with(&rest, ".data.rel.ro"))
        return false;
    for (size_t k = 0; k < ARRAY_LEN(names); k++)
        if (line_starts_with(&rest, names[k]))
            return true;
    return false;
}

static bool is_section(const struct asm_line *line) {
    return line_starts_with(line, ".section") || line_starts_with(line, ".text") || line_starts_with(line, ".data") ||
           line_starts_with(line, ".bss");
}

/* Replaces .comm name,size,alignment with a variable in .bss and its padding. */
static bool pad_common(const struct asm_line *line, struct le_text *padded) {
    char name[512];
    unsigned long size, alignment;
    if (!line_starts_with(line, ".comm") || sscanf(line->word, ".comm %511[^,],%lu,%lu", name, &size, &alignment) != 3)
        return false;
    le_text_add(padded, "\t.section\t.bss\n\t.balign\t%lu\n\t.type\t%s, %%object\n\t.size\t%s, %lu\n", alignment, name,
                name, size);
    le_text_add(padded, "%s:\n\t.zero\t%lu\n\t.zero\t%d\n\t.previous\n", name, size, PADDING_BYTES);
    return true;
}

bool le_sim_assembly_pad(const char *text, size_t length, struct le_text *padded) {
    const char *end = text + length;
    bool variables = false, in_data = false;
    for (const char *at = text; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop + 1 : end;
        struct asm_line line = {.at = at, .length = (size_t)(stop - at)};
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
