/* What the tests' readers of IR and of kernel trees share: the position in a text of lines, and words, numbers and
 * characters there. All functions leave by longjmp if the text is not what they expect. */
#ifndef LE_TEXT_READER_H
#define LE_TEXT_READER_H
#include "base/arena.h"
#include "base/hash.h"
#include "base/status.h"
#include "spec/bytecode.h"

struct word {
    const char *at;
    int length; /* bytes; 0: there is no word */
};
struct text_reader {
    struct le_arena *arena;
    const char *title;                                   /* of the text, for error messages */
    const char *start, *at, *end, *line_start;           /* at: the next character to read */
    int line;                                            /* its number, from 1 on */
    int (*word_length)(const char *at, const char *end); /* bytes of the word that begins at `at`; 0: there is none */
    leat_status status;
    jmp_buf failure;
};
void le_reader_init(struct text_reader *r, struct le_arena *arena, const char *title, const char *text,
                    size_t size_bytes, int (*word_length)(const char *at, const char *end));

_Noreturn void le_read_fail(struct text_reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void le_read_fail_not(struct text_reader *r, struct word w, const char *what);  /* "'w' is not what" */
_Noreturn void le_read_fail_none(struct text_reader *r, const char *what, struct word w); /* "there is no what 'w'" */

/* The next character; '\n' at the end. le_read_next skips spaces first, as all functions below do. */
char le_read_peek(const struct text_reader *r);
char le_read_next(struct text_reader *r);
bool le_read_accept(struct text_reader *r, char c); /* takes it, if it comes next; never a newline */
void le_read_expect(struct text_reader *r, char c);

struct word le_read_look(struct text_reader *r); /* the next word, which may be empty, without taking it */
struct word le_read_take(struct text_reader *r, const char *what);
bool le_word_is(struct word w, const char *text);
bool le_read_accept_word(struct text_reader *r, const char *text);
void le_read_expect_word(struct text_reader *r, const char *text);
/* Takes a word of the table (NULL: a number without a word) and returns its number. */
int le_read_choose(struct text_reader *r, const char *const *table, int count, const char *what);
int64_t le_read_whole(struct text_reader *r, int64_t least, int64_t most);
const char *le_read_rest(struct text_reader *r); /* of the line, without one space at its beginning */
#endif
