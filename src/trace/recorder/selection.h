/* Calls that are not worth a record: functions that only tell the program about itself (which device, which context,
 * what error). Libraries make several beside each launch. CUPTI 12.5 and later can be asked for the records of single
 * functions: all others are picked, and these cost nothing (CuPy: 0.9 us a launch, where all kinds and then these left
 * out cost 1.4). Older ones record all. */
#ifndef LE_SELECTION_H
#define LE_SELECTION_H
#include "trace/recorder/cupti.h"
#include <stdbool.h>

enum { LE_SELECTION_MOST = 64 };

struct le_selection {
    uint32_t ids[2][LE_SELECTION_MOST]; /* left out, by domain */
    int count[2];
};

bool le_selection_leaves_out(const char *function_name); /* as cuptiGetCallbackName gives it */
/* Which functions of this CUPTI these are; none where it cannot select. */
void le_selection_find(struct le_selection *selection, const struct le_cupti *cupti);
/* Records of all other functions; the kinds of calls are not to be enabled as such. Before contexts are created: one
 * that was while CUPTI (12.6 to 13.2) told of no function tells of none that is picked later; where cuProfilerStart was
 * kept picked from the start, later picks worked, took as much time as the kinds, and 2 of 19 programs, those that
 * launched graphs, crashed. False: nothing was picked. */
bool le_selection_pick(const struct le_cupti *cupti);
/* Takes them off the kinds of calls, which were enabled before. */
void le_selection_leave_out(const struct le_selection *selection, const struct le_cupti *cupti);
#endif
