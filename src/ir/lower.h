/* Inside the lowering: what lower.c (statements) and lower_expression.c share. */
#ifndef LE_LOWER_H
#define LE_LOWER_H
#include "base/hash.h"
#include "ir/ir.h"

/* One lowering. */
struct lower {
    struct le_ir *ir;
    const struct le_tree *tree;
    const struct le_input *inputs;
    int *current; /* by symbol: its value now; -1: none */
    const struct le_step *step;
    int statement, first_access, depth;
    struct le_names accesses; /* READ node to number in ir->accesses */
    bool failed;
};

/* lower_expression.c */
int *le_lower_indices(struct lower *l, struct le_index *const *indices,
                      int count); /* their ids, each described in the IR */
struct le_node *le_lower_as(struct lower *l, const struct le_tree_node *n, enum le_type type); /* converted to type */
struct le_node *le_lower_any(struct lower *l, const struct le_tree_node *n);                   /* in its own type */
struct le_node *le_lower_scalar(struct lower *l, const struct le_symbol *symbol);
struct le_node *le_lower_stored(struct lower *l, struct le_node *x, enum le_type type); /* as an assignment rounds it */
struct le_node *le_lower_op1(struct lower *l, int code, enum le_type type, struct le_node *a);
struct le_node *le_lower_op2(struct lower *l, int code, enum le_type type, struct le_node *a, struct le_node *b);
/* a + b or a - b: a multiply-add where one operand is a product, the left one first */
struct le_node *le_lower_contracted(struct lower *l, int code, enum le_type type, struct le_node *a, struct le_node *b);
bool le_lower_is_bare(const struct lower *l, struct le_node *const *subscripts, int count);
#endif
