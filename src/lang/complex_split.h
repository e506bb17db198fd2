/* Inside the splitting of complex numbers: what complex_statements.c (statements) and complex_expressions.c share. */
#ifndef LE_COMPLEX_SPLIT_H
#define LE_COMPLEX_SPLIT_H
#include "lang/complex_arithmetic.h"
#include <setjmp.h>

struct le_twin {
    struct le_symbol *re, *im;        /* im NULL: not complex */
    const struct le_tree_node *owner; /* of a def's variable: the copy of a call that has it; NULL: none yet */
};
struct le_complex_splitter {
    struct le_arena *arena;
    const struct le_tree *from;
    struct le_tree *tree;
    struct le_twin *twins; /* by id of what they are made of */
    struct {
        struct le_symbol **at;
        int count, capacity;
    } symbols;
    struct list {
        struct le_step *at;
        int count, capacity;
    } * steps;                 /* the list at hand: the program's or a def's */
    struct le_index **indices; /* the last copies, by id of what they copy */
    int node_count;
    bool element; /* steps run for one element */
    const struct split_around {
        const struct le_tree_node *reduction;
        const struct split_around *outer;
    } * around;                  /* complex reductions around the node at hand, innermost first */
    bool gives_two;              /* the def at hand returns a complex number */
    const struct le_step *owner; /* has the lists of the statement that is copied */
    struct {
        struct le_index **at;
        int count, capacity;
    } all; /* of its copy */
    struct {
        struct le_access *at;
        int count, capacity;
    } accesses;
    jmp_buf failure;
};

_Noreturn void le_complex_fail(struct le_complex_splitter *c, struct le_location location, const char *expected,
                               const char *format, ...) __attribute__((format(printf, 4, 5)));
struct le_twin le_twin_of(const struct le_complex_splitter *c, const struct le_symbol *symbol); /* of NULL: none */

/* complex_expressions.c: each call makes a copy; a part that is used becomes a child of something (le_make_child). */
struct le_parts le_complex_parts(struct le_complex_splitter *c, const struct le_tree_node *node);
struct le_parts le_complex_both(struct le_complex_splitter *c,
                                const struct le_tree_node *node); /* as a complex number */
/* Of what is split already: its arithmetic, as that of an operation of complex numbers. */
struct le_parts le_complex_operate(struct le_complex_splitter *c, const struct le_tree_node *from, struct le_parts a,
                                   struct le_parts b);
/* Of a real number itself, of a complex one whether it is not zero. */
struct le_tree_node *le_complex_condition(struct le_complex_splitter *c, const struct le_tree_node *node);
struct le_tree_node *le_complex_real(struct le_complex_splitter *c,
                                     const struct le_tree_node *node); /* as a child; NULL of NULL */
/* A part, if need be with the reads of the other. */
struct le_tree_node *le_complex_kept(struct le_complex_splitter *c, const struct le_tree_node *node, bool imaginary);
struct le_tree_node *le_complex_left(struct le_complex_splitter *c, const struct le_tree_node *left,
                                     struct le_symbol *symbol);
struct le_index *le_complex_index(struct le_complex_splitter *c, const struct le_index *index);
struct le_index **le_complex_indices(struct le_complex_splitter *c, struct le_index *const *indices, int count);
/* The parts of what a CALL whose RETURNs give two numbers gives. */
struct le_parts le_complex_returned(struct le_complex_splitter *c, struct le_tree_node *call);
/* complex_statements.c: copy becomes a call with steps of its own. */
void le_complex_call(struct le_complex_splitter *c, const struct le_tree_node *call, struct le_tree_node *copy);
struct le_parts le_complex_term(struct le_complex_splitter *c,
                                const struct le_tree_node *reduction); /* of a complex one */
/* complex_blocks.c: as blocks of an element's, which make both parts: a product of complex numbers, a sum or mean whose
 * parts are given, and a choice of two whose parts are dear. */
struct le_parts le_complex_product(struct le_complex_splitter *c, const struct le_tree_node *product);
struct le_parts le_complex_sum(struct le_complex_splitter *c, const struct le_tree_node *sum, struct le_parts parts);
struct le_parts le_complex_choice(struct le_complex_splitter *c, const struct le_tree_node *select);
/* The parts, each of which makes all reads of both wherever it is used. */
struct le_parts le_complex_together(struct le_complex_splitter *c, const struct le_tree_node *from,
                                    struct le_parts parts);
/* Any operation of complex numbers, whose operands are made before a choice inside of it can pass them. */
struct le_parts le_complex_computed(struct le_complex_splitter *c, const struct le_tree_node *operation);
/* complex_reads.c: reads that may fall outside, so that an `else` may hang on them. Whether a part of the node makes
 * all of the node's, and whether both do; whether an operation that chooses may pass some. */
bool le_complex_has_reads(const struct le_tree_node *node, bool imaginary);
bool le_complex_passes_reads(const struct le_tree_node *operation);
struct le_symbol *le_complex_local(struct le_complex_splitter *c, const char *name,
                                   enum le_type type); /* complex_statements.c */
#endif
