/* Arithmetic of complex numbers as nodes over their real parts. Not which numbers of a program are complex
 * (complex_statements.c). Parts are shared: a node that is made may have several parents, and counts them. */
#ifndef LE_COMPLEX_ARITHMETIC_H
#define LE_COMPLEX_ARITHMETIC_H
#include "lang/tree.h"

struct le_parts {
    struct le_tree_node *re, *im; /* im NULL: a real number */
};
struct le_maker {
    struct le_arena *arena;
    struct le_location location;
    enum le_type type; /* of the parts that are made; what they are made of is converted to it */
};

struct le_tree_node *le_make_host_scalar(struct le_maker *m, double value); /* a weak float */
struct le_tree_node *le_make_op(struct le_maker *m, enum le_op op, struct le_tree_node *a, struct le_tree_node *b);
struct le_tree_node *le_make_select(struct le_maker *m, struct le_tree_node *condition, struct le_tree_node *then,
                                    struct le_tree_node *otherwise);
struct le_tree_node *le_make_child(struct le_tree_node *node); /* the node, with one parent more */

struct le_tree_node *le_parts_true(struct le_maker *m, struct le_parts a); /* whether it is not zero */
struct le_tree_node *le_parts_equal(struct le_maker *m, struct le_parts a, struct le_parts b);
struct le_parts le_parts_negative(struct le_maker *m, struct le_parts a);
/* + - * / and **; both have two parts. exponent: as the program has it, which may be a literal. */
struct le_parts le_parts_op(struct le_maker *m, enum le_op op, struct le_parts a, struct le_parts b,
                            const struct le_tree_node *exponent);
struct le_parts le_parts_exp(struct le_maker *m, struct le_parts a);
struct le_parts le_parts_sqrt(struct le_maker *m, struct le_parts a);
#endif
