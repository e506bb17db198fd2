/* Internals of the splitting of complex numbers into real parts, shared by complex_statements.c, complex_expressions.c,
 * complex_blocks.c and complex_reads.c. */
#ifndef LE_COMPLEX_SPLIT_H
#define LE_COMPLEX_SPLIT_H
#include "lang/complex_arithmetic.h"
#include <setjmp.h>

struct le_twin {
    struct le_symbol *re, *im;        /* im NULL: not complex */
    const struct le_tree_node *owner; /* for a def's variable: the copy of the CALL that owns it; NULL: none yet */
};
struct le_complex_splitter {
    struct le_arena *arena;
    const struct le_tree *from;
    struct le_tree *tree;
    struct le_twin *twins; /* by id of the original symbol */
    struct {
        struct le_symbol **at;
        int count, capacity;
    } symbols;
    struct step_list {
        struct le_step *at;
        int count, capacity;
    } * steps;                 /* the current list: the program's or a def's */
    struct le_index **indices; /* the latest copies, by id of the original */
    int node_count;
    bool element; /* inside an EACH or a CALL: steps run for one element */
    const struct split_around {
        const struct le_tree_node *reduction;
        const struct split_around *outer;
    } * around;                  /* complex reductions around the current node, innermost first */
    bool gives_two;              /* the current def returns a complex number */
    const struct le_step *owner; /* the original step with the lists of the current statement */
    struct {
        struct le_index **at;
        int count, capacity;
    } all; /* all indices of the copied statement */
    struct {
        struct le_access *at;
        int count, capacity;
    } accesses;
    jmp_buf failure;
};

_Noreturn void le_complex_fail(struct le_complex_splitter *c, struct le_location location, const char *expected,
                               const char *format, ...) __attribute__((format(printf, 4, 5)));
struct le_twin le_twin_of(const struct le_complex_splitter *c,
                          const struct le_symbol *symbol); /* {0} if symbol is NULL */

/* complex_expressions.c: each call makes a new copy. A part that is used must be counted with le_make_child. */
struct le_parts le_complex_parts(struct le_complex_splitter *c, const struct le_tree_node *node);
struct le_parts le_complex_both(struct le_complex_splitter *c,
                                const struct le_tree_node *node); /* as a complex number: both parts are set */
/* Applies the complex operation `from` to operands that are already split. */
struct le_parts le_complex_operate(struct le_complex_splitter *c, const struct le_tree_node *from, struct le_parts a,
                                   struct le_parts b);
/* A real number itself; for a complex number, whether it is not zero. */
struct le_tree_node *le_complex_condition(struct le_complex_splitter *c, const struct le_tree_node *node);
struct le_tree_node *le_complex_real(struct le_complex_splitter *c,
                                     const struct le_tree_node *node); /* as a child; NULL if node is NULL */
/* One part of a complex number. If necessary, it also evaluates the reads of the other part. */
struct le_tree_node *le_complex_one_part(struct le_complex_splitter *c, const struct le_tree_node *node,
                                         bool imaginary);
struct le_tree_node *le_complex_left(struct le_complex_splitter *c, const struct le_tree_node *left,
                                     struct le_symbol *symbol);
struct le_index *le_complex_index(struct le_complex_splitter *c, const struct le_index *index);
struct le_index **le_complex_indices(struct le_complex_splitter *c, struct le_index *const *indices, int count);
/* The parts of a CALL whose RETURNs return two numbers. */
struct le_parts le_complex_call_parts(struct le_complex_splitter *c, struct le_tree_node *call);
/* complex_statements.c: gives `copy` its own copy of the call's steps. */
void le_complex_call(struct le_complex_splitter *c, const struct le_tree_node *call, struct le_tree_node *copy);
struct le_parts le_complex_term(struct le_complex_splitter *c,
                                const struct le_tree_node *reduction); /* the body of a complex reduction */
/* complex_blocks.c: values computed by an element's block that returns both parts: a product of complex numbers, a sum
 * or mean whose parts are given, and a select whose branches are costly. */
struct le_parts le_complex_product(struct le_complex_splitter *c, const struct le_tree_node *product);
struct le_parts le_complex_sum(struct le_complex_splitter *c, const struct le_tree_node *sum, struct le_parts parts);
struct le_parts le_complex_choice(struct le_complex_splitter *c, const struct le_tree_node *select);
/* The parts such that either of them evaluates all reads of both. */
struct le_parts le_complex_with_all_reads(struct le_complex_splitter *c, const struct le_tree_node *from,
                                          struct le_parts parts);
/* A complex operation whose operands are evaluated first, so that a select inside it cannot skip their reads. */
struct le_parts le_complex_operands_first(struct le_complex_splitter *c, const struct le_tree_node *operation);
/* complex_reads.c: reads that may be out of range, which matter to an `else`. The first tells whether one part of the
 * node evaluates all of its reads, the second whether an operation that selects may skip some. */
bool le_complex_has_all_reads(const struct le_tree_node *node, bool imaginary);
bool le_complex_may_skip_reads(const struct le_tree_node *operation);
struct le_symbol *le_complex_local(struct le_complex_splitter *c, const char *name,
                                   enum le_type type); /* complex_statements.c */
#endif
