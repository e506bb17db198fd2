/* Calls that are not worth a record: functions that only tell the program about itself (which device, which context,
 * what error). Libraries make several beside each launch; recording one takes longer than the call. CUPTI 12.5 and
 * later can leave them out; with others they are recorded. */
#ifndef LE_SELECTION_H
#define LE_SELECTION_H
#include "trace/recorder/cupti.h"
#include <stdbool.h>

enum { LE_SELECTION_MOST = 64 };

struct le_selection {
    uint32_t ids[2][LE_SELECTION_MOST]; /* left out, by domain */
    int count[2];
};

bool le_selection_has(const char *function_name); /* as cuptiGetCallbackName gives it: is it left out? */
/* Which functions of this CUPTI these are; none where it cannot leave any out. */
void le_selection_find(struct le_selection *selection, const struct le_cupti *cupti);
/* Leaves them out; after each time that the kinds of calls were enabled. */
void le_selection_apply(const struct le_selection *selection, const struct le_cupti *cupti);
#endif
