/* The range rules (LANGUAGE.md): they find a range for every index from the extents of the arrays, and check that no
 * affine access is out of range. The results hold for one set of extents; the IR does not contain them.
 *
 * The index of a FOR stage has its own range, found when the stage is reached. In subscripts inside the loop it stands
 * for its whole range, so that they are checked once for all iterations. A range whose bounds use it is dynamic. Where
 * a single value is needed (for the shape of a new array, or to solve another index), its current value is used. */
#ifndef LE_RANGES_H
#define LE_RANGES_H
#include "base/memory.h"
#include "ir/ir.h"
#include "lang/static_ranges.h"

/* Factors of subscripts are limited to -LE_FACTOR_MAX..LE_FACTOR_MAX. */
#define LE_FACTOR_MAX ((int64_t)1 << 40)

struct le_range {
    int64_t low, high,
        by; /* the values low, low + by, ... below high; if dynamic and bounded, all values are in low..high */
    bool solved, dynamic, bounded;
};

/* A range that holds instead, in a copy of the space for a part of the points. */
struct le_narrowed {
    const struct le_narrowed *next;
    int index;
    struct le_range range;
};

struct le_space {
    struct le_ir *ir;
    struct le_arena *arena;          /* scratch memory for one call of le_ranges_find */
    int64_t (*shape)[LEAT_RANK_MAX]; /* by symbol */
    bool *shaped;                    /* by symbol */
    struct le_range *ranges;         /* by index; le_range_of reads them */
    const struct le_narrowed *narrowed;
    bool inside; /* inside a block: a computed subscript without indices may change between runs of the statement, and
                    is checked while the statement runs */
    leat_status failure; /* status of a failed evaluation; le_ranges_find returns it */
    bool must;           /* evaluating a number that reads out of range is a failure */
    bool outside;        /* the evaluation of some number read outside of an array */
    /* Evaluates an integer node that uses no indices but host indices, at their current values, and that needs more
     * than extents and sums. If it fails, it reports the error and sets failure. */
    leat_status (*evaluate)(void *user, struct le_node *node, int64_t *value);
    void *user;
};

static inline const struct le_range *le_range_of(const struct le_space *space, int index) {
    const struct le_narrowed *n = space->narrowed;
    while (n && n->index != index)
        n = n->next;
    return n ? &n->range : &space->ranges[index];
}
void le_space_narrow(struct le_space *space, struct le_arena *arena, int index, struct le_range range);

/* The sum of constant and factor[k] * index[k]. */
#define LE_AFFINE_MAX 16
struct le_affine {
    int64_t constant;
    int count;
    int index[LE_AFFINE_MAX];
    int64_t factor[LE_AFFINE_MAX];
};
/* Returns false if node is not affine in its indices, or if part of it has no value yet. */
bool le_affine_of(const struct le_space *space, struct le_node *node, struct le_affine *out);
/* The same, but a part that varies between elements, such as a private scalar, counts as 0 and sets *moving. */
bool le_affine_moving(const struct le_space *space, struct le_node *node, struct le_affine *out, bool *moving);
/* Finds bounds of the node's values for all indices in their ranges. Returns false if they are unknown. */
bool le_interval(const struct le_space *space, struct le_node *node, int64_t *low, int64_t *high);
/* Whether node reads a temporary that its own statement computes first, after the ranges are found: a reduction in a
 * bound. */
bool le_is_made_first(struct le_ir *ir, struct le_node *node);
int64_t le_range_last(const struct le_range *range); /* the range must not be empty */
int64_t le_range_count(const struct le_range *range);

/* Finds the ranges of a statement's indices and the shape of the array that it makes, and checks its subscripts.
 * Statements must be handled in program order. */
leat_status le_ranges_find(struct le_space *space, const struct le_ir_statement *statement);
/* Whether the rules give both indices the range of one axis of an array, whatever its shape. */
bool le_ranges_are_same(const struct le_ir *ir, int statement, int first, int second);
#endif
