/* Internals of the reader of kernel trees: read_kernel.c reads statements, read_expression.c expressions,
 * kernel_words.c words. All of them leave by longjmp if the text is not a kernel. */
#ifndef LE_KERNEL_WORDS_H
#define LE_KERNEL_WORDS_H
#include "base/status.h"
#include "gen/tree/ktree_text.h"
#include "tests/ktree/reader/ktree_reader.h"

enum { LE_KERNEL_DEPTH_MAX = 200 }; /* of blocks and expressions */

struct kernel_word {
    const char *at;
    int length;
};
struct kernel_reader {
    struct le_arena *arena;
    struct le_kernel_tree *tree;
    const char *start, *at, *end, *line_start;
    int line, depth;
    struct le_names names; /* of variables: their numbers */
    struct {
        struct le_variable **at; /* NULL: the kernel or totals have that name */
        int count, capacity;
    } variables;
    leat_status status;
    jmp_buf failure;
};

/* kernel_words.c: these skip spaces, and stay on one line */
_Noreturn void le_kernel_fail(struct kernel_reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
char le_kernel_peek(struct kernel_reader *r);  /* the next character; '\n' at the end */
char le_kernel_glued(struct kernel_reader *r); /* the same, without skipping spaces */
bool le_kernel_accept(struct kernel_reader *r, char c);
void le_kernel_expect(struct kernel_reader *r, char c);
struct kernel_word le_kernel_look(struct kernel_reader *r); /* letters, digits and points between them; may be empty */
struct kernel_word le_kernel_take(struct kernel_reader *r, const char *what);
bool le_kernel_is(struct kernel_word w, const char *text);
bool le_kernel_accept_word(struct kernel_reader *r, const char *text);
int64_t le_kernel_whole(struct kernel_reader *r, int64_t least, int64_t most);
const char *le_kernel_rest(struct kernel_reader *r); /* of the line */
void le_kernel_enter(struct kernel_reader *r);       /* one level deeper */

/* The next word's number in the table, which ends with NULL. */
int le_kernel_choose(struct kernel_reader *r, const char *const *table, const char *what);

/* A new name, of the variable (NULL: of something else). */
const char *le_kernel_define(struct kernel_reader *r, struct le_variable *variable);
struct le_variable *le_kernel_find(struct kernel_reader *r, struct kernel_word w);

/* read_expression.c */
struct le_expression *le_kernel_expression(struct kernel_reader *r);
int le_kernel_type(struct kernel_reader *r);
#endif
