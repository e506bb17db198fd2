/* What the files of the range rules share while they look at one statement: ranges.c finds the ranges, range_check.c
 * checks the subscripts. */
#ifndef LE_INFER_H
#define LE_INFER_H
#include "ir/ranges.h"

/* One subscript of one access. */
struct le_form {
    const struct le_ir_access *access;
    int axis;
    int64_t length;
    bool affine;
    bool stretched; /* an extent of 1 that `...` repeats */
    bool tied;      /* an index with a dependent range is replaced by one of its ends */
    bool window;    /* the replaced index has bounds without other indices: with it the subscript is no offset */
    bool moving;    /* a part that changes from element to element is left out of f: only rule 3 uses it */
    struct le_affine f;
};

struct le_forms {
    struct le_form *at;
    int count, capacity;
};

struct le_infer {
    struct le_space *space;
    const struct le_ir_statement *st;
    struct le_forms forms, counted; /* counted: those that bound indices, dependent indices replaced by their ends */
    struct le_arena *arena;
    bool now; /* a range was found for the present values of the host's indices, so it is checked for those */
};

/* The form's least and greatest value without its term `without` (-1: with all terms). */
void le_form_ends(struct le_infer *in, const struct le_form *form, int without, __int128 *low, __int128 *high);
bool le_form_has_host(struct le_infer *in, const struct le_form *form);
/* Evaluates an integer node; the host's indices have their present values. */
bool le_bound_value(struct le_infer *in, struct le_node *node, int64_t *value);
/* The subscript or bound reads a value that another statement of the block computes. */
bool le_is_computed(struct le_infer *in, struct le_node *node);

/* Whether the loop that the statement was folded into makes no turn, as far as its ends are known now. */
bool le_is_never_reached(struct le_infer *in);
/* Checks every access whose subscripts are known before the statement runs. */
leat_status le_check_accesses(struct le_infer *in);
#endif
