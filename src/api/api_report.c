/* leat.h: traces that were recorded, and reports of them. */
#include "api/api_check.h"
#include "trace/read.h"
#include "trace/report/report_make.h"

/* A trace is its index: leat_trace is never defined. */
static struct le_index *index_of(leat_trace *trace) {
    return (struct le_index *)(void *)trace;
}

leat_status leat_trace_open(const char *file, leat_trace **trace) {
    struct le_index *index;
    LE_CHECK_POINTER(file);
    LE_CHECK_POINTER(trace);
    leat_status status = le_trace_read(file, &index);
    *trace = (leat_trace *)(void *)index;
    return status;
}

void leat_trace_free(leat_trace *trace) {
    le_trace_free(index_of(trace));
}

leat_status leat_trace_report(const leat_trace *trace, leat_report report, leat_report_format format,
                              leat_report_write *write, void *user) {
    LE_CHECK_POINTER(trace);
    LE_CHECK_POINTER(write);
    if ((unsigned)report > LEAT_REPORT_SVG)
        return le_fail(LEAT_INVALID, "there is no report %d", (int)report);
    if ((unsigned)format > LEAT_REPORT_JSON)
        return le_fail(LEAT_INVALID, "there is no format %d of reports", (int)format);
    return le_report_make((const struct le_index *)(const void *)trace, report, format, write, user);
}
