/* What a program's text alone says about subscripts and sizes: values of constant expressions, and subscripts as sums
 * of indices with factors. What depends on an input is unknown. */
#ifndef LE_STATIC_FORM_H
#define LE_STATIC_FORM_H
#include "lang/tree.h"

struct le_static_shape {
    bool known[LEAT_RANK_MAX];
    int64_t extents[LEAT_RANK_MAX];
};

struct le_static_term {
    const struct le_index *index;
    int64_t factor; /* 0: unknown, it may be any number */
};

/* A sum of a constant and of factors times indices. The host's indices are unknown constants. */
struct le_static_form {
    bool affine; /* false: it never is such a sum, whatever the inputs are */
    bool known;  /* the constant is */
    int64_t constant;
    int count;
    struct le_static_term terms[LE_INDICES_MAX];
};

/* shapes: by symbol id. */
void le_static_form(const struct le_tree_node *node, const struct le_static_shape *shapes, struct le_static_form *out);
bool le_static_value(const struct le_tree_node *node, const struct le_static_shape *shapes, int64_t *value);
#endif
