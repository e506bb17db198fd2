/* Selects the functions that are not recorded: those that only tell the program about itself (its device, context or
 * last error), several of which libraries call for each launch; and, with `--graphs only`, launches of single kernels.
 * CUPTI 12.5 and later can record single functions. Then all other functions are picked, and these cost nothing (CuPy:
 * 0.9 us per launch; enabling all calls and then leaving these out costs 1.4 us). Older versions record all functions.
 */
#ifndef LE_SELECTION_H
#define LE_SELECTION_H
#include "trace/recorder/cupti.h"
#include <stdbool.h>

enum { LE_SELECTION_MOST = 128 };

struct le_selection {
    uint32_t ids[2][LE_SELECTION_MOST]; /* of functions that are left out, by domain */
    int count[2];
    bool graphs_only; /* also leave out launches of single kernels */
};

/* Whether the function only tells the program about itself. The name is the one that cuptiGetCallbackName returns. */
bool le_selection_leaves_out(const char *function_name);
/* Finds the functions to leave out in this version of CUPTI; none if it cannot select functions. */
void le_selection_find(struct le_selection *selection, const struct le_cupti *cupti);
/* Enables the records of all other functions, one by one; the caller must not enable the kinds of calls. Must be called
 * before contexts are created: a context that was created while CUPTI (12.6 to 13.2) recorded no function never reports
 * functions that are picked later. (With cuProfilerStart picked from the start, later picks worked, but took as much
 * time as enabling the kinds, and 2 of 19 programs, those that launched graphs, crashed.) False: nothing was picked. */
bool le_selection_pick(const struct le_selection *selection, const struct le_cupti *cupti);
/* Disables the records of the functions to leave out, after the kinds of calls were enabled. */
void le_selection_leave_out(const struct le_selection *selection, const struct le_cupti *cupti);
#endif
