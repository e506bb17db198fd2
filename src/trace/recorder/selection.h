/* Which functions are not recorded: those that only tell the program about itself (which device, which context, which
 * error), several of which libraries call beside each launch; and, with `--graphs only`, launches of single kernels.
 * CUPTI 12.5 and later can be asked for the records of single functions: all others are picked, and these cost nothing
 * (CuPy: 0.9 us a launch; enabling all kinds and then leaving these out costs 1.4). Older versions record all. */
#ifndef LE_SELECTION_H
#define LE_SELECTION_H
#include "trace/recorder/cupti.h"
#include <stdbool.h>

enum { LE_SELECTION_MOST = 128 };

struct le_selection {
    uint32_t ids[2][LE_SELECTION_MOST]; /* left out, by domain */
    int count[2];
    bool graphs_only; /* launches of single kernels are left out, too */
};

/* A function that only tells the program about itself; the name is as cuptiGetCallbackName gives it. */
bool le_selection_leaves_out(const char *function_name);
/* Finds the functions of this CUPTI that are left out; none where it cannot select. */
void le_selection_find(struct le_selection *selection, const struct le_cupti *cupti);
/* Records of all other functions; the kinds of calls are not to be enabled as such. Before contexts are created: one
 * that was while CUPTI (12.6 to 13.2) told of no function tells of none that is picked later; where cuProfilerStart was
 * kept picked from the start, later picks worked, took as much time as the kinds, and 2 of 19 programs, those that
 * launched graphs, crashed. False: nothing was picked. */
bool le_selection_pick(const struct le_selection *selection, const struct le_cupti *cupti);
/* Takes them off the kinds of calls, which were enabled before. */
void le_selection_leave_out(const struct le_selection *selection, const struct le_cupti *cupti);
#endif
