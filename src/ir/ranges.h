/* The range rules (LANGUAGE.md): from the extents of the arrays to a range for every index, and the check that no
 * affine access falls outside. Numbers are found here, for one set of extents; the IR does not know them.
 *
 * The index of a FOR stage has a range of its own, found when that is reached. In subscripts of the statements inside
 * it counts with all of that range, so that they are checked once for all iterations; a range whose bounds use it is
 * dynamic. Where one number is needed, for the shape of a new array or to solve another index, it counts with its
 * present value. */
#ifndef LE_RANGES_H
#define LE_RANGES_H
#include "base/memory.h"
#include "ir/ir.h"

/* Indices stay within -LE_INDEX_MAX..LE_INDEX_MAX, and factors of subscripts within LE_FACTOR_MAX, so that differences
 * of two ends fit int64_t and sums of a subscript's terms fit __int128. */
#define LE_INDEX_MAX  ((int64_t)1 << 61)
#define LE_FACTOR_MAX ((int64_t)1 << 40)

struct le_range {
    int64_t low, high, by; /* low, low + by, ... below high; a dynamic one: within low..high if bounded */
    bool solved, dynamic, bounded;
};

struct le_space {
    struct le_ir *ir;
    struct le_arena *arena;          /* for what one look at the ranges needs */
    int64_t (*shape)[LEAT_RANK_MAX]; /* by symbol */
    bool *shaped;                    /* by symbol */
    struct le_range *ranges;         /* by index */
    bool inside; /* a block: a subscript without indices that was computed may be another next time, and is checked as
                    the statement runs */
    leat_status failure; /* of an evaluation: le_ranges_find returns it */
    bool must;           /* a number that data do not have is a failure */
    bool outside;        /* data did not have some number: its evaluation reads outside of an array */
    /* An integer node without indices, but for the host's at their present values, that takes more than extents and
     * sums. Where it fails it reports the error and sets failure. */
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
/* false: node is not affine in its indices, or has parts without a value. */
bool le_affine(const struct le_space *space, struct le_node *node, struct le_affine *out);
/* The least and greatest value that node may take with its indices in their ranges; false: not known. */
bool le_interval(const struct le_space *space, struct le_node *node, int64_t *low, int64_t *high);
/* It reads what its own statement computes first, once the ranges are found: a reduction in a bound, which still stands
 * there in a loop that is dead. */
bool le_is_made_first(struct le_ir *ir, struct le_node *node);
int64_t le_range_last(const struct le_range *range); /* of a range that is not empty */
int64_t le_range_count(const struct le_range *range);

/* Finds the ranges of one statement's indices and the shape that it makes, and checks it. Statements go in order. */
leat_status le_ranges_find(struct le_space *space, const struct le_ir_statement *statement);
#endif
