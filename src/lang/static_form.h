/* Facts about subscripts and sizes that follow from the program's text alone: values of constant expressions, and
 * subscripts as linear combinations of indices. Whatever depends on an input is unknown. */
#ifndef LE_STATIC_FORM_H
#define LE_STATIC_FORM_H
#include "lang/tree.h"

struct le_static_shape {
    bool known[LEAT_RANK_MAX];
    int64_t extents[LEAT_RANK_MAX];
};

struct le_static_term {
    const struct le_index *index;
    int64_t factor; /* 0: unknown */
};

/* A constant plus a sum of factors times indices. Host indices count as unknown constants. */
struct le_static_form {
    bool affine; /* false: not of this form, whatever the inputs are */
    bool known;  /* whether the constant is known */
    int64_t constant;
    int count;
    struct le_static_term terms[LE_INDICES_MAX];
};

/* shapes: by symbol id. */
void le_static_form_of(const struct le_tree_node *node, const struct le_static_shape *shapes,
                       struct le_static_form *out);
bool le_static_value(const struct le_tree_node *node, const struct le_static_shape *shapes, int64_t *value);
#endif
