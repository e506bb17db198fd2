/* A report of a trace, for who need not know what is in either. */
#ifndef LE_REPORT_MAKE_H
#define LE_REPORT_MAKE_H
#include "leat.h"

struct le_trace_index; /* index.h */
/* LEAT_FILE: write said no. LEAT_INVALID: the report has no such format. */
leat_status le_report_make(const struct le_trace_index *index, leat_report report, leat_report_format format,
                           leat_report_write *write, void *user);
#endif
