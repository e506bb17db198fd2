/* The pieces of the .cu files of gen, which the assembler includes (LE_GEN_FOLDER: their folder at build time). A
 * line "//: a b" begins a piece that a text needs if it contains the word a or b. A unit gets only the pieces that it
 * uses, because each costs compile time. */
#include "gen/tree/codegen.h"
#include <assert.h>
#include <pthread.h>
#include <string.h>

__asm__(".pushsection .rodata\n"
        ".hidden le_device_prelude\n"
        ".globl le_device_prelude\n"
        "le_device_prelude:\n"
        ".incbin \"" LE_GEN_FOLDER "/cuda/prelude.cu\"\n"
        ".incbin \"" LE_GEN_FOLDER "/cuda/reduce.cu\"\n"
        ".incbin \"" LE_GEN_FOLDER "/cuda/scan.cu\"\n"
        ".incbin \"" LE_GEN_FOLDER "/cuda/map.cu\"\n"
        ".incbin \"" LE_GEN_FOLDER "/cuda/reuse.cu\"\n"
        ".incbin \"" LE_GEN_FOLDER "/cuda/private_scatter.cu\"\n"
        ".incbin \"" LE_GEN_FOLDER "/interpreter/interpreter.cu\"\n"
        ".byte 0\n"
        ".popsection\n");
extern const char le_device_prelude[] __attribute__((visibility("hidden")));

enum { PIECES_MAX = 192, WORDS = PIECES_MAX / 64 };
struct uses { /* a set of pieces */
    uint64_t words[WORDS];
};
struct piece {
    const char *names, *text, *end;
    bool known; /* what it uses: found when the piece is used for the first time */
    struct uses uses;
};

static struct {
    pthread_mutex_t lock;
    struct piece at[PIECES_MAX];
    int count; /* 0: not found yet */
} pieces = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool has_piece(const struct uses *uses, int k) {
    return uses->words[k / 64] >> k % 64 & 1;
}

static bool has_name(const struct piece *p, const char *name, size_t length) {
    for (const char *at = p->names; at < p->text; at += strcspn(at, " \n") + 1)
        if (strncmp(at, name, length) == 0 && (at[length] == ' ' || at[length] == '\n'))
            return true;
    return false;
}

/* The pieces whose words the text contains. */
static struct uses find_uses(const char *text, const char *end) {
    struct uses uses = {{0}};
    size_t length;
    for (const char *at = text; (at = strstr(at, "le_")) && at < end; at += length) {
        length = strlen("le_");
        if (at > text && le_is_of_word(at[-1]))
            continue;
        while (le_is_of_word(at[length]))
            length++;
        for (int k = 0; k < pieces.count; k++)
            if (!has_piece(&uses, k) && has_name(&pieces.at[k], at, length))
                uses.words[k / 64] |= (uint64_t)1 << k % 64;
    }
    return uses;
}

static void find_pieces(void) {
    const char *next = le_device_prelude;
    while (next && pieces.count < PIECES_MAX) {
        struct piece *p = &pieces.at[pieces.count++];
        *p = (struct piece){.names = next + strlen("//: "), .text = strchr(next, '\n') + 1};
        next = strstr(p->text, "//: ");
        p->end = next ? next : p->text + strlen(p->text);
    }
    assert(!next); /* there is room for all */
}

static const struct uses *uses_of(struct piece *p) {
    if (!p->known)
        p->uses = find_uses(p->text, p->end);
    p->known = true;
    return &p->uses;
}

/* Adds the pieces that the pieces in the set use. */
static void close_uses(struct uses *uses) {
    struct uses done = {{0}};
    bool more = true;
    while (more) {
        more = false;
        for (int k = 0; k < pieces.count; k++) {
            if (!has_piece(uses, k) || has_piece(&done, k))
                continue;
            more = true;
            done.words[k / 64] |= (uint64_t)1 << k % 64;
            for (int w = 0; w < WORDS; w++)
                uses->words[w] |= uses_of(&pieces.at[k])->words[w];
        }
    }
}

void le_prelude_add(struct le_arena *arena, struct words *unit, const char *text) {
    pthread_mutex_lock(&pieces.lock);
    if (pieces.count == 0)
        find_pieces();
    struct uses uses = find_uses(text, text + strlen(text));
    close_uses(&uses);
    pthread_mutex_unlock(&pieces.lock);
    for (int k = 0; k < pieces.count; k++)
        if (has_piece(&uses, k))
            le_words_put(arena, unit, pieces.at[k].text, (size_t)(pieces.at[k].end - pieces.at[k].text));
}
