/* What a SCAN stage adds, and in which order: the same for every generator. */
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
/* false: the bounds are not known before it runs, or reach too far */
bool le_scan_find(const struct le_kernel *kernel, const struct le_stage *stage, struct le_scan *scan);
/* Whether the stage is made: all that it reads, though no element may ask for it, lies inside. */
bool le_scan_is_made(const struct le_kernel *kernel, const struct le_stage *stage);

/* A part of the kernel's scan, as a kernel of its own. */
struct le_scan_part {
    struct le_kernel kernel;
    struct le_stage stage;
    struct le_space space;
};
/* A map that gives the elements without terms the total of none. */
void le_scan_empty_part(const struct le_kernel *kernel, const struct le_scan *scan, struct le_scan_part *out);
/* The other elements' terms, for each of the stage's other indices; sets scan->term. */
void le_scan_turns_part(const struct le_kernel *kernel, struct le_scan *scan, struct le_scan_part *out);

/* The node as kernels compute it: a load of a scan that is not made is replaced by the scan's reduction, and a count
 * over a range that differs from element to element by a sum of ones, whose loops the schedule then knows. */
struct le_node *le_kernel_readable(const struct le_kernel *kernel, struct le_node *node);
#endif
