/* The terms of a SCAN stage and their order, which are the same for every generator. */
#ifndef LE_SCAN_FIND_H
#define LE_SCAN_FIND_H
#include "gen/kernel.h"

struct le_scan {
    struct le_node *reduction;
    struct le_node *term, *own;   /* what a turn of the loop adds, and which of the terms that is */
    int index, scanned;           /* the loop's, of the stage; the reduction's */
    bool suffix, down;            /* all from a term on; from the last turn on */
    struct le_range range;        /* of index */
    struct le_range turns, empty; /* those of its values that have terms, and that have none */
    struct le_range head, terms;  /* terms before the first turn's own; all terms */
};
/* false: the bounds are known only as it runs, or are too large */
bool le_scan_find(const struct le_kernel *kernel, const struct le_stage *stage, struct le_scan *scan);
/* Whether the stage runs. A guarded scan runs only if all its reads are in range, because its totals may not be needed.
 */
bool le_scan_is_made(const struct le_kernel *kernel, const struct le_stage *stage);

/* A part of the kernel's scan, as a kernel of its own. */
struct le_scan_part {
    struct le_kernel kernel;
    struct le_stage stage;
    struct le_space space;
};
/* A map that sets the elements without terms to the total of no terms. */
void le_scan_empty_part(const struct le_kernel *kernel, const struct le_scan *scan, struct le_scan_part *out);
/* The scan of the elements that have terms; its stage has the other indices. Sets scan->term. */
void le_scan_turns_part(const struct le_kernel *kernel, struct le_scan *scan, struct le_scan_part *out);

/* The node as kernels compute it. A load of a scan that does not run is replaced by the scan's reduction. A count over
 * a range that depends on an index is replaced by a sum of ones, so that its loops are scheduled like others. */
struct le_node *le_kernel_readable(const struct le_kernel *kernel, struct le_node *node);
#endif
