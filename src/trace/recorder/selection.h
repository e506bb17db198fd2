/* Calls that are not worth a record: functions that only tell the program about itself (which device, which context,
 * what error). Libraries make several beside each launch. CUPTI 12.5 and later can be asked for the records of single
 * functions; the others then cost nothing. Older ones record all. */
#ifndef LE_SELECTION_H
#define LE_SELECTION_H
#include "trace/recorder/cupti.h"
#include <stdbool.h>

bool le_selection_leaves_out(const char *function_name); /* as cuptiGetCallbackName gives it */
bool le_selection_is_possible(const struct le_cupti *cupti);
/* Records of all other functions begin, or end; the kinds of calls are not to be enabled as such. */
void le_selection_switch(const struct le_cupti *cupti, bool on);
#endif
