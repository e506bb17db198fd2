/* State of the range rules for one statement. ranges.c finds the ranges, range_check.c checks the subscripts. */
#ifndef LE_INFER_H
#define LE_INFER_H
#include "ir/ranges.h"

/* One subscript of one access. */
struct le_form {
    const struct le_ir_access *access;
    int axis;
    int64_t length;
    bool affine;
    bool stretched; /* an extent of 1 that `...` broadcasts */
    bool tied;      /* an index with a dependent range was replaced by one of its bounds */
    bool window;    /* the bounds of the replaced index use no other index; the subscript is then not an offset */
    bool moving;    /* a part that varies between elements is left out of f: only rule 3 uses the form */
    struct le_affine f;
};

struct le_forms {
    struct le_form *at;
    int count, capacity;
};

struct le_infer {
    struct le_space *space;
    const struct le_ir_statement *st;
    struct le_forms forms,
        counted; /* counted: the forms that bound indices, with dependent indices replaced by their bounds */
    struct le_arena *arena;
    bool now; /* a range was found for the current values of host indices, so accesses are checked for those values */
};

/* The smallest and greatest value of the form without its term `without` (-1: with all terms). */
void le_form_ends(struct le_infer *in, const struct le_form *form, int without, __int128 *low, __int128 *high);
bool le_form_has_host(struct le_infer *in, const struct le_form *form);
/* Evaluates an integer node for the current values of host indices. */
bool le_bound_value(struct le_infer *in, struct le_node *node, int64_t *value);
/* Whether the subscript or bound reads a value computed by another statement of the block. */
bool le_is_computed(struct le_infer *in, struct le_node *node);

/* Whether the loop that was folded into the statement's stage is known to have no iterations. */
bool le_is_never_reached(struct le_infer *in);
/* Checks every access whose subscripts are known before the statement runs. */
leat_status le_check_accesses(struct le_infer *in);
/* shapes.c: sets the shape of the statement's new or declared array, or checks a declared size. */
leat_status le_find_shape(struct le_infer *in);
const char *le_infer_index_name(struct le_infer *in, int index);
const char *le_infer_symbol_name(struct le_infer *in, int symbol);
#endif
