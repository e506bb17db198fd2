/* The pieces of the folder's .cu files, which the assembler puts here (LE_GEN_FOLDER: where they are when the library
 * is built). A line "//: a b" begins the piece that text has to have if it says a or b; a unit gets no more pieces than
 * it uses, since each costs the compiler time. */
#include "gen/device_gen.h"
#include <ctype.h>
#include <string.h>

__asm__(".pushsection .rodata\n"
        ".hidden le_device_prelude\n"
        ".globl le_device_prelude\n"
        "le_device_prelude:\n"
        ".incbin \"" LE_GEN_FOLDER "/device_prelude.cu\"\n"
        ".incbin \"" LE_GEN_FOLDER "/device_reduce.cu\"\n"
        ".incbin \"" LE_GEN_FOLDER "/device_scan.cu\"\n"
        ".incbin \"" LE_GEN_FOLDER "/device_map.cu\"\n"
        ".incbin \"" LE_GEN_FOLDER "/device_product.cu\"\n"
        ".incbin \"" LE_GEN_FOLDER "/device_own.cu\"\n"
        ".incbin \"" LE_GEN_FOLDER "/device_interpreter.cu\"\n"
        ".byte 0\n"
        ".popsection\n");
extern const char le_device_prelude[] __attribute__((visibility("hidden")));

enum { PIECES_MAX = 128 };
struct piece {
    const char *names, *text, *end;
    bool used;
};
struct pieces {
    struct piece at[PIECES_MAX];
    int count;
};

static void find_pieces(struct pieces *pieces) {
    const char *next = le_device_prelude;
    while (next && pieces->count < PIECES_MAX) {
        struct piece *p = &pieces->at[pieces->count++];
        *p = (struct piece){.names = next + strlen("//: "), .text = strchr(next, '\n') + 1};
        next = strstr(p->text, "//: ");
        p->end = next ? next : p->text + strlen(p->text);
    }
}

static bool has_name(const struct piece *p, const char *name, size_t length) {
    for (const char *at = p->names; at < p->text; at += strcspn(at, " \n") + 1)
        if (strcspn(at, " \n") == length && memcmp(at, name, length) == 0)
            return true;
    return false;
}

/* Marks what the text uses, and what that uses. */
static void mark(struct pieces *pieces, const char *text, const char *end) {
    for (const char *at = text; at < end; at++) {
        if (strncmp(at, "le_", 3) != 0 || (at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '_')))
            continue;
        size_t length = 0;
        while (isalnum((unsigned char)at[length]) || at[length] == '_')
            length++;
        for (int k = 0; k < pieces->count; k++) {
            struct piece *p = &pieces->at[k];
            if (p->used || !has_name(p, at, length))
                continue;
            p->used = true;
            mark(pieces, p->text, p->end);
        }
        at += length - 1;
    }
}

void le_prelude_add(struct le_arena *arena, struct words *unit, const char *text) {
    struct pieces pieces = {.count = 0};
    find_pieces(&pieces);
    mark(&pieces, text, text + strlen(text));
    for (int k = 0; k < pieces.count; k++)
        if (pieces.at[k].used)
            le_words_add(arena, unit, "%.*s", (int)(pieces.at[k].end - pieces.at[k].text), pieces.at[k].text);
}
