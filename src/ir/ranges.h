/* The range rules (LANGUAGE.md): they find a range for every index from the extents of the arrays, and check that no
 * affine access is outside its array. The numbers hold for one set of extents; the IR does not contain them.
 *
 * The index of a FOR stage has a range of its own, which is found when the stage is reached. In subscripts inside the
 * loop it stands for its whole range, so that they are checked once for all iterations; a range whose bounds use it is
 * dynamic. Where a single number is needed (the shape of a new array, or to solve another index) its present value is
 * used. */
#ifndef LE_RANGES_H
#define LE_RANGES_H
#include "base/memory.h"
#include "ir/ir.h"
#include "lang/static_ranges.h"

/* Factors of subscripts stay within -LE_FACTOR_MAX..LE_FACTOR_MAX. */
#define LE_FACTOR_MAX ((int64_t)1 << 40)

struct le_range {
    int64_t low, high, by; /* low, low + by, ... below high; if dynamic and bounded: values stay within low..high */
    bool solved, dynamic, bounded;
};

struct le_space {
    struct le_ir *ir;
    struct le_arena *arena;          /* scratch memory for one call of le_ranges_find */
    int64_t (*shape)[LEAT_RANK_MAX]; /* by symbol */
    bool *shaped;                    /* by symbol */
    struct le_range *ranges;         /* by index */
    bool inside; /* in a block: a computed subscript without indices may change between runs of the statement, and is
                    checked as the statement runs */
    leat_status failure; /* of an evaluation; le_ranges_find returns it */
    bool must;           /* a number that data do not have is a failure */
    bool outside;        /* data did not have some number: its evaluation reads outside of an array */
    /* Evaluates an integer node whose only indices are the host's, at their present values, and that needs more than
     * extents and sums. If it fails, it reports the error and sets failure. */
    leat_status (*evaluate)(void *user, struct le_node *node, int64_t *value);
    void *user;
};

/* Sum of constant and factor[k] * index[k]. */
#define LE_AFFINE_MAX 16
struct le_affine {
    int64_t constant;
    int count;
    int index[LE_AFFINE_MAX];
    int64_t factor[LE_AFFINE_MAX];
};
/* Returns false if node is not affine in its indices, or if a part of it has no value yet. */
bool le_affine_of(const struct le_space *space, struct le_node *node, struct le_affine *out);
/* The same, but a part that changes from element to element, as a private scalar does, counts as 0 and sets *moving. */
bool le_affine_moving(const struct le_space *space, struct le_node *node, struct le_affine *out, bool *moving);
/* Finds bounds of the node's values while its indices stay in their ranges. Returns false if they are unknown. */
bool le_interval(const struct le_space *space, struct le_node *node, int64_t *low, int64_t *high);
/* Whether node reads what its own statement computes first, after the ranges are found: a reduction in a bound. */
bool le_is_made_first(struct le_ir *ir, struct le_node *node);
int64_t le_range_last(const struct le_range *range); /* the range must not be empty */
int64_t le_range_count(const struct le_range *range);

/* Finds the ranges of a statement's indices and the shape of the array that it makes, and checks its subscripts.
 * Statements must be handled in program order. */
leat_status le_ranges_find(struct le_space *space, const struct le_ir_statement *statement);
#endif
