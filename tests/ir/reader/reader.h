/* Internals of the IR reader: read.c reads lines, read_stages.c stages, read_region.c regions, read_nodes.c nodes,
 * read_words.c words. All of them leave by longjmp if the text is not IR. */
#ifndef LE_READER_H
#define LE_READER_H
#include "base/hash.h"
#include "base/text.h"
#include "tests/ir/reader/ir_reader.h"

#define READ_DEPTH_MAX 10000 /* of nodes, and of indices whose bounds use indices */

struct word {
    const char *at;
    int length;
};

struct reader {
    struct le_arena *arena;
    struct le_ir *ir;
    struct le_tree *tree;
    const char *start, *at, *end, *line_start;
    int line, nesting;
    struct word comment;                              /* the last comment: a statement's text */
    struct le_names symbols, values, indices, locals; /* from names in the text to numbers */
    struct {
        struct le_node **at;
        int count, capacity;
    } numbered; /* the `%n` of the current line */
    struct {
        struct le_symbol **at;
        int count, capacity;
    } all_symbols;
    struct {
        struct le_node **at;
        int count, capacity;
    } sizes; /* by symbol: the extent that it stands for */
    struct {
        struct open_block {
            enum le_stage_kind kind;
            int block;
        } * at;
        int count, capacity;
    } open;          /* control stages that are not closed yet */
    int access_most; /* the highest access number used so far */
    int *depths;     /* by index */
    size_t index_limit;
    leat_status status;
    jmp_buf failure;
};

/* read_words.c: these skip spaces, and stay on one line */
_Noreturn void le_read_fail(struct reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
char le_read_peek(const struct reader *r); /* the next character; '
' at the end */
void le_read_skip_spaces(struct reader *r);
bool le_read_accept(struct reader *r, char c);
void le_read_expect(struct reader *r, char c);
struct word le_read_look(struct reader *r); /* the next word, possibly empty, without taking it */
struct word le_read_take(struct reader *r, const char *what);
bool le_word_is(struct word w, const char *text);
bool le_read_accept_word(struct reader *r, const char *text);
void le_read_expect_word(struct reader *r, const char *text);
int le_read_number(struct reader *r, int most);
int le_read_choose(struct reader *r, const char *const *table, int count,
                   const char *what); /* the next word's number in the table */
int le_read_find(struct reader *r, const struct le_names *names, const char *what);
enum le_type le_read_type(struct reader *r);

/* read.c */
void le_read_end_line(struct reader *r);

/* read_stages.c */
void le_read_stage(struct reader *r);
enum le_scatter le_read_scatter(struct reader *r); /* SET if there is no such word */

/* read_region.c */
bool le_read_is_region(struct reader *r);
struct le_node *le_read_region(struct reader *r);

/* read_nodes.c */
struct le_node *le_read_made(struct reader *r, const struct le_node *model);
int le_read_local(struct reader *r); /* its number, after the `$` */
struct le_node *le_read_node(struct reader *r);
struct le_node **le_read_nodes(struct reader *r, int *count); /* [node, ...]: at most LEAT_RANK_MAX */
int *le_read_indices(struct reader *r, int *count);           /* {index, ...} */
int le_read_access(struct reader *r);                         /* returns its number */
struct le_node *le_read_length(struct reader *r);             /* the rest after "(len" */
#endif
