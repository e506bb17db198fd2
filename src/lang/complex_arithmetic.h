/* Builds complex arithmetic as nodes over real and imaginary parts. Which values of a program are complex is decided in
 * complex_statements.c. Nodes may be shared and count their parents. */
#ifndef LE_COMPLEX_ARITHMETIC_H
#define LE_COMPLEX_ARITHMETIC_H
#include "lang/tree.h"

struct le_parts {
    struct le_tree_node *re, *im; /* im NULL: a real number */
};
struct le_maker {
    struct le_arena *arena;
    struct le_location location;
    enum le_type type; /* of the new parts; operands are converted to it */
};

struct le_tree_node *le_make_host_scalar(struct le_maker *m, double value); /* a weak float */
struct le_tree_node *le_make_op(struct le_maker *m, enum le_op op, struct le_tree_node *a, struct le_tree_node *b);
struct le_tree_node *le_make_select(struct le_maker *m, struct le_tree_node *condition, struct le_tree_node *then,
                                    struct le_tree_node *otherwise);
struct le_tree_node *le_make_child(struct le_tree_node *node); /* returns the node with its parent count incremented */

struct le_tree_node *le_parts_nonzero(struct le_maker *m, struct le_parts a); /* whether a is not zero */
struct le_tree_node *le_parts_equal(struct le_maker *m, struct le_parts a, struct le_parts b);
struct le_parts le_parts_negative(struct le_maker *m, struct le_parts a);
/* + - * / and **. Both operands have two parts. exponent: the node in the program, which may be a literal. */
struct le_parts le_parts_op(struct le_maker *m, enum le_op op, struct le_parts a, struct le_parts b,
                            const struct le_tree_node *exponent);
struct le_parts le_parts_exp(struct le_maker *m, struct le_parts a);
struct le_parts le_parts_sqrt(struct le_maker *m, struct le_parts a);
#endif
