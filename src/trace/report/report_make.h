/* Makes a report of a trace, for callers that do not need the structure of either. */
#ifndef LE_REPORT_MAKE_H
#define LE_REPORT_MAKE_H
#include "leat.h"

struct le_trace_index; /* index.h */
/* LEAT_FILE: `write` failed. LEAT_INVALID: the report is not available in this format. */
leat_status le_report_make(const struct le_trace_index *index, leat_report report, leat_report_format format,
                           leat_report_write *write, void *user);
#endif
