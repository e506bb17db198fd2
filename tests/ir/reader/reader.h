/* Internals of the IR reader: read.c reads lines, read_stages.c stages, read_region.c regions, read_nodes.c nodes. All
 * of them leave by longjmp if the text is not IR. */
#ifndef LE_READER_H
#define LE_READER_H
#include "base/text.h"
#include "tests/ir/reader/ir_reader.h"
#include "tests/reader/text_reader.h"

#define READ_DEPTH_MAX 10000 /* of nodes, and of indices whose bounds use indices */

struct reader {
    struct text_reader text;
    struct le_ir *ir;
    struct le_tree *tree;
    int nesting;
    const char *comment;                              /* the last comment: a statement's text */
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
};

/* read.c */
int le_read_number(struct reader *r, int most); /* from 0 to most */
int le_read_find(struct reader *r, const struct le_names *names, const char *what);
enum le_type le_read_type(struct reader *r);
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
