/* Integers that are combined with a type without widening it: literals, and integers bound by the caller. They must be
 * in the type's range. */
#ifndef LE_LITERAL_H
#define LE_LITERAL_H
#include "lang/tree.h"

struct le_literal {
    bool negative;
    uint64_t size; /* the absolute value */
};

/* Returns false if node is not an integer literal, possibly with a sign. */
bool le_literal_of(const struct le_tree_node *node, struct le_literal *literal);
/* type: an integer type, possibly weak. */
bool le_literal_fits(const struct le_literal *literal, enum le_type type);
/* The scalar that node reads, possibly through a sign. *sign is the sign's le_op, or LE_OPS if there is none. Returns
 * NULL if node is not a scalar. */
const struct le_symbol *le_signed_scalar(const struct le_tree_node *node, int *sign);
/* The literal with the sign applied. */
struct le_literal le_literal_signed(struct le_literal literal, int sign);
struct le_literal le_literal_of_i64(int64_t value);
#endif
