/* Whole numbers that stand beside a type without widening it: those written in the text, and those that the caller
 * binds. Either must be in the type's range. */
#ifndef LE_LITERAL_H
#define LE_LITERAL_H
#include "lang/tree.h"

struct le_literal {
    bool negative;
    uint64_t size; /* the absolute value */
};

/* false: node is no literal; it may have a sign. */
bool le_literal_of(const struct le_tree_node *node, struct le_literal *literal);
/* Of an integer type, also a weak one. */
bool le_literal_fits(const struct le_literal *literal, enum le_type type);
/* Through a sign, which *sign becomes, or LE_OPS if there is none. NULL: it is no scalar. */
const struct le_symbol *le_signed_scalar(const struct le_tree_node *node, int *sign);
/* The literal with a sign before it. */
struct le_literal le_literal_signed(struct le_literal literal, int sign);
struct le_literal le_literal_of_i64(int64_t value);
#endif
