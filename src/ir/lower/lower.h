/* Internals of the lowering, shared by lower.c (statements), lower_array.c, lower_control.c (host blocks),
 * lower_region.c (blocks of an element) and lower_expression.c. */
#ifndef LE_LOWER_H
#define LE_LOWER_H
#include "base/hash.h"
#include "ir/ir.h"

/* A host loop around the current statement: the symbols it changes, and the values of its head. */
struct lower_loop {
    struct lower_loop *outer;
    const int *symbols, *heads;
    int *exits; /* the values after it; NULL: those of the head */
    int *moved; /* what each exit holds at this point of the body */
    int count, block;
};

/* An array that an `each` writes. */
struct lower_pair {
    const struct le_symbol *symbol;
    int base, target;
    enum le_type wide; /* type that its scatters compute in; LE_NONE: its own */
    struct {
        struct lower_store {
            int step;
            const struct le_step *from;
        } * at;
        int count, capacity;
    } stores;
};

/* The region being lowered. */
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
    enum le_type returns; /* LE_NONE: the region of an EACH */
    const int *free;      /* EACH: its indices */
    int free_count;
    struct {
        struct lower_pair *at;
        int count, capacity;
    } pairs;
};

/* The state of one lowering. */
struct lower {
    struct le_ir *ir;
    const struct le_tree *tree;
    const struct le_input *inputs;
    int *current;           /* by symbol: its current value; -1: none */
    int *local;             /* by symbol: its number in ir->locals; -1: none */
    int *pair;              /* by symbol: its number in the pairs of the current EACH; -1: none */
    int *sets;              /* by symbol: number of steps of a region that set it */
    struct le_node **known; /* by symbol of a region: the node it is always equal to; NULL: unknown */
    bool as_written;        /* read variables themselves rather than `known`: the range rules see only those */
    int *stamp;             /* by symbol: the last search that found it */
    int looks;
    struct le_node **index_nodes; /* by index: the node that its name stands for; NULL: the index itself */
    int index_node_count;
    struct lower_loop *loop;
    struct lower_region *region; /* NULL: in host statements */
    int region_loop;             /* step of its innermost loop */
    int statement, block, depth;
    bool reached;             /* there is no BREAK earlier in the current block */
    struct le_names accesses; /* READ node to number in ir->accesses */
    struct {
        struct le_node **at;
        int count, capacity;
    } shared;                       /* of the statement: the nodes made of tree nodes with several parents */
    struct le_names shared_numbers; /* from tree nodes to numbers in `shared` */
    struct lower_hold {
        const struct le_symbol *symbol; /* NULL: none */
        int value;
        struct le_node *fixed;
    } held; /* an assignment that becomes visible after the next step */
    bool failed;
};

/* lower.c */
void le_lower_steps(struct lower *l, int first, int end); /* lowers host steps first..end-1 of the tree */
int le_lower_new_value(struct lower *l, int symbol, enum le_type type, int rank, int stage);
const char *le_lower_text(struct lower *l,
                          const struct le_step *step);            /* the source in one line; of a block only its head */
const char *le_lower_stage_name(struct le_ir *ir, int statement); /* the same, shortened for tables */
struct le_ir_statement *le_lower_statement(struct lower *l, const struct le_step *step);
/* Numbers the accesses first, so that reads can refer to them. Their subscripts are filled in once the indices are
 * known. */
void le_lower_number_accesses(struct lower *l, const struct le_step *step);
/* Fills in all indices and accesses of the step, after its contents have been lowered. */
void le_lower_finish_statement(struct lower *l, const struct le_step *step);
struct le_stage *le_lower_blank_stage(struct lower *l, enum le_stage_kind kind); /* a stage without a target */
struct le_stage *le_lower_stage(struct lower *l, enum le_stage_kind kind, const struct le_symbol *symbol);
/* Assigns `node` to a scalar: adds a stage and, if the node may be repeated, makes all reads use the node itself. */
void le_lower_set(struct lower *l, const struct le_symbol *symbol, struct le_node *node);

/* Whether a node assigned to a scalar may be repeated wherever the scalar is read. A product may not: a sum that reads
 * it would turn it into a multiply-add. */
bool le_lower_repeats(const struct le_node *node);

/* lower_array.c */
struct le_node *le_lower_term(struct lower *l, const struct le_step *step);
/* The order of a sum over the indices: SUM, CHAIN or CHAIN_OF_PRODUCTS (lower_sum.c). */
enum le_reduction le_lower_sum(const struct le_ir *ir, const struct le_node *term, const int *indices, int count);
/* old op term; term is first reduced over the given indices, if any */
struct le_node *le_lower_updated(struct lower *l, const struct le_step *step, struct le_node *old, struct le_node *term,
                                 const int *reduced, int count);
/* Whether different points write different elements: each index appears in a subscript of its own that depends on no
 * other index. */
bool le_lower_injective(struct le_node *const *left, int left_count, const int *indices, int count);
bool le_lower_needs_wide(enum le_assign op, enum le_type type, enum le_type wide);
int le_lower_convert(struct lower *l, const struct le_symbol *symbol, int source, enum le_type type);
/* left: the subscripts of the left side */
void le_lower_array(struct lower *l, const struct le_step *step, struct le_node **left, struct le_node *term,
                    const int *all, int count);

/* lower_control.c: these lower the step and all steps that it encloses, and return the number of the next step. */
int le_lower_for(struct lower *l, int number);
int le_lower_while(struct lower *l, int number);
int le_lower_if(struct lower *l, int number);
void le_lower_break(struct lower *l);

/* lower_region.c */
int le_lower_each(struct lower *l, int number);
struct le_node *le_lower_call(struct lower *l, const struct le_tree_node *n);

/* lower_expression.c */
int *le_lower_indices(struct lower *l, struct le_index *const *indices,
                      int count); /* returns their ids; adds each to the IR */
/* Sets the range of a FOR. With a step it counts from 0 by 1, and the index's name stands for another node. low: its
 * first value. */
void le_lower_for_range(struct lower *l, const struct le_index *index, struct le_node *low, struct le_node *by);
struct le_node *le_lower_as(struct lower *l, const struct le_tree_node *n, enum le_type type); /* converted to type */
/* A bound or step of a range. A u64 above the range of i64 becomes INT64_MAX. */
struct le_node *le_lower_bound(struct lower *l, const struct le_tree_node *n);
struct le_node *le_lower_any(struct lower *l, const struct le_tree_node *n); /* in its own type */
struct le_node *le_lower_scalar(struct lower *l, const struct le_symbol *symbol);
/* Converts x as an assignment to that type stores it: rounded once, even to a 16-bit float. */
struct le_node *le_lower_stored(struct lower *l, struct le_node *x, enum le_type type);
struct le_node *le_lower_into(struct lower *l, const struct le_tree_node *n, enum le_type type);
struct le_node *le_lower_op1(struct lower *l, int code, enum le_type type, struct le_node *a);
struct le_node *le_lower_op2(struct lower *l, int code, enum le_type type, struct le_node *a, struct le_node *b);
/* a + b or a - b, as a multiply-add if an operand is a product; the left operand is preferred */
struct le_node *le_lower_contracted(struct lower *l, int code, enum le_type type, struct le_node *a, struct le_node *b);
/* Whether all subscripts of the access, lowered to these nodes, are written as indices whose ranges follow from axes.
 */
bool le_lower_is_bare(const struct lower *l, const struct le_tree_node *access, struct le_node *const *subscripts);
#endif
