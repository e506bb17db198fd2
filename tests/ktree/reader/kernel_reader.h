/* Internals of the reader of kernel trees: read_kernel.c reads statements, read_expression.c expressions. Both leave by
 * longjmp if the text is not a kernel. */
#ifndef LE_KERNEL_READER_H
#define LE_KERNEL_READER_H
#include "gen/tree/ktree_text.h"
#include "tests/ktree/reader/ktree_reader.h"
#include "tests/reader/text_reader.h"

enum { LE_KERNEL_DEPTH_MAX = 200 }; /* of blocks and expressions */

struct kernel_reader {
    struct text_reader text;
    struct le_kernel_tree *tree;
    int depth;
    struct le_names names; /* of variables: their numbers */
    struct {
        struct le_variable **at; /* NULL: the kernel or totals have that name */
        int count, capacity;
    } variables;
};

/* read_kernel.c */
void le_kernel_enter(struct kernel_reader *r); /* one level deeper */
struct le_variable *le_kernel_find(struct kernel_reader *r, struct word w);

/* read_expression.c */
struct le_expression *le_kernel_expression(struct kernel_reader *r);
int le_kernel_type(struct kernel_reader *r);
#endif
