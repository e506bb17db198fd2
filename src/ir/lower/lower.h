/* Inside the lowering: what lower.c (statements), lower_array.c, lower_control.c (the host's blocks), lower_region.c
 * (an element's) and lower_expression.c share. */
#ifndef LE_LOWER_H
#define LE_LOWER_H
#include "base/hash.h"
#include "ir/ir.h"

/* A loop of the host's around what is lowered: what it changes, and the values of its head. */
struct lower_loop {
    struct lower_loop *outer;
    const int *symbols, *heads;
    int *exits; /* values after it; NULL: the heads are */
    int *moved; /* what each exit holds at this place of the body */
    int count, block;
};

/* An array that an `each` writes. */
struct lower_pair {
    const struct le_symbol *symbol;
    int base, target;
    enum le_type wide; /* that its scatters compute in; LE_NONE: its own */
    struct {
        struct lower_store {
            int step;
            const struct le_step *from;
        } * at;
        int count, capacity;
    } stores;
};

/* The region that is lowered. */
struct lower_region {
    struct lower_region *outer;
    struct {
        struct le_region_step *at;
        int count, capacity;
    } steps;
    struct {
        struct le_node **at;
        int count, capacity;
    } operands;
    struct {
        int *at;
        int count, capacity;
    } indices;
    enum le_type returns; /* LE_NONE: of an EACH */
    const int *free;      /* EACH: its indices */
    int free_count;
    struct {
        struct lower_pair *at;
        int count, capacity;
    } pairs;
};

/* One lowering. */
struct lower {
    struct le_ir *ir;
    const struct le_tree *tree;
    const struct le_input *inputs;
    int *current;           /* by symbol: its value now; -1: none */
    int *local;             /* by symbol: its number in ir->locals; -1: none */
    int *pair;              /* by symbol: its number in the pairs of the EACH that is lowered; -1: none */
    int *sets;              /* by symbol: how many steps of a region set it */
    struct le_node **known; /* by symbol of a region: what it always is; NULL */
    bool as_written;        /* variables are read as such, whatever is known of them: the range rules see no more */
    int *stamp;             /* by symbol: the last look that met it */
    int looks;
    struct le_node **index_nodes; /* by index: what its name stands for; NULL: itself */
    int index_node_count;
    struct lower_loop *loop;
    struct lower_region *region; /* NULL: statements are the host's */
    int region_loop;             /* the step of its innermost loop */
    int statement, block, depth;
    bool reached;             /* no BREAK stands before in the block at hand */
    struct le_names accesses; /* READ node to number in ir->accesses */
    struct {
        struct le_node **at;
        int count, capacity;
    } shared;                       /* of the statement: what nodes with several parents became */
    struct le_names shared_numbers; /* node of the tree to its number there */
    struct lower_hold {
        const struct le_symbol *symbol; /* NULL: none */
        int value;
        struct le_node *fixed;
    } held; /* what a step assigned that shows after the next step */
    bool failed;
};

/* lower.c */
void le_lower_steps(struct lower *l, int first, int end); /* of the tree, the host's: from first to before end */
int le_lower_new_value(struct lower *l, int symbol, enum le_type type, int rank, int stage);
const char *le_lower_text(struct lower *l, const struct le_step *step); /* one line, of a block its head */
const char *le_lower_stage_name(struct le_ir *ir, int statement);       /* the same, short enough for a table */
struct le_ir_statement *le_lower_statement(struct lower *l, const struct le_step *step);
/* Numbers the accesses first, so that reads can name theirs; their subscripts follow once the indices are known. */
void le_lower_number_accesses(struct lower *l, const struct le_step *step);
/* With all indices of the step, once what is in it has been lowered. */
void le_lower_finish_statement(struct lower *l, const struct le_step *step);
struct le_stage *le_lower_blank_stage(struct lower *l, enum le_stage_kind kind); /* without a target */
struct le_stage *le_lower_stage(struct lower *l, enum le_stage_kind kind, const struct le_symbol *symbol);
/* A scalar becomes `node`: a stage, and, where that needs no array, the node itself wherever it is read. */
void le_lower_set(struct lower *l, const struct le_symbol *symbol, struct le_node *node);

/* Whether it may be repeated wherever the scalar that it is assigned to is read: no product, which a sum there would
 * take into a multiply-add. */
bool le_lower_repeats(const struct le_node *node);

/* lower_array.c */
struct le_node *le_lower_term(struct lower *l, const struct le_step *step);
/* old op term, over the reduced indices if there are any */
struct le_node *le_lower_updated(struct lower *l, const struct le_step *step, struct le_node *old, struct le_node *term,
                                 const int *reduced, int count);
/* Whether different points write different elements: each index of its own in a subscript that it moves. */
bool le_lower_injective(struct le_node *const *left, int left_count, const int *indices, int count);
bool le_lower_needs_wide(enum le_assign op, enum le_type type, enum le_type wide);
int le_lower_convert(struct lower *l, const struct le_symbol *symbol, int source, enum le_type type);
/* left: the subscripts on the left side */
void le_lower_array(struct lower *l, const struct le_step *step, struct le_node **left, struct le_node *term,
                    const int *all, int count);

/* lower_control.c: the step and all that it encloses; the number of the step after that */
int le_lower_for(struct lower *l, int number);
int le_lower_while(struct lower *l, int number);
int le_lower_if(struct lower *l, int number);
void le_lower_break(struct lower *l);

/* lower_region.c */
int le_lower_each(struct lower *l, int number);
struct le_node *le_lower_call(struct lower *l, const struct le_tree_node *n);

/* lower_expression.c */
int *le_lower_indices(struct lower *l, struct le_index *const *indices,
                      int count); /* their ids, each described in the IR */
/* A FOR's range, from 0 by 1 if it has a step: then its name stands for another node. low: its first value. */
void le_lower_for_range(struct lower *l, const struct le_index *index, struct le_node *low, struct le_node *by);
struct le_node *le_lower_as(struct lower *l, const struct le_tree_node *n, enum le_type type); /* converted to type */
/* An end or a step of a range: a number that no i64 holds lies beyond all that do. */
struct le_node *le_lower_bound(struct lower *l, const struct le_tree_node *n);
struct le_node *le_lower_any(struct lower *l, const struct le_tree_node *n); /* in its own type */
struct le_node *le_lower_scalar(struct lower *l, const struct le_symbol *symbol);
/* As an assignment to an array or scalar of that type stores it: rounded once, also to a 16-bit float. */
struct le_node *le_lower_stored(struct lower *l, struct le_node *x, enum le_type type);
struct le_node *le_lower_into(struct lower *l, const struct le_tree_node *n, enum le_type type);
struct le_node *le_lower_op1(struct lower *l, int code, enum le_type type, struct le_node *a);
struct le_node *le_lower_op2(struct lower *l, int code, enum le_type type, struct le_node *a, struct le_node *b);
/* a + b or a - b: a multiply-add where one operand is a product, the left one first */
struct le_node *le_lower_contracted(struct lower *l, int code, enum le_type type, struct le_node *a, struct le_node *b);
/* Whether all subscripts of the access, lowered to these nodes, are written as indices whose ranges follow from axes.
 */
bool le_lower_is_bare(const struct lower *l, const struct le_tree_node *access, struct le_node *const *subscripts);
#endif
