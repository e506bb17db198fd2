/* leat.h: reading traces and writing reports. */
#include "api/api_check.h"
#include "base/file_out.h"
#include "trace/read.h"
#include "trace/report/report_make.h"

/* A leat_trace is a le_trace_index; the public struct is never defined. */
static struct le_trace_index *index_of(leat_trace *trace) {
    return (struct le_trace_index *)(void *)trace;
}

leat_status leat_trace_open(const char *file, leat_trace **trace) {
    struct le_trace_index *index;
    LE_CHECK_POINTER(file);
    LE_CHECK_POINTER(trace);
    leat_status status = le_trace_read(file, &index);
    *trace = (leat_trace *)(void *)index;
    return status;
}

void leat_trace_free(leat_trace *trace) {
    le_trace_free(index_of(trace));
}

static leat_status check_report(const leat_trace *trace, leat_report report, leat_report_format format) {
    LE_CHECK_POINTER(trace);
    if ((unsigned)report > LEAT_REPORT_SVG)
        return le_fail(LEAT_INVALID, "%d is not a report", (int)report);
    if ((unsigned)format > LEAT_REPORT_JSON)
        return le_fail(LEAT_INVALID, "%d is not a report format", (int)format);
    return LEAT_OK;
}

static leat_status make_report(const leat_trace *trace, leat_report report, leat_report_format format,
                               leat_report_write *write, void *user) {
    return le_report_make((const struct le_trace_index *)(const void *)trace, report, format, write, user);
}

leat_status leat_trace_report(const leat_trace *trace, leat_report report, leat_report_format format,
                              leat_report_write *write, void *user) {
    leat_status status = check_report(trace, report, format);
    if (status)
        return status;
    LE_CHECK_POINTER(write);
    return make_report(trace, report, format, write, user);
}

struct report_file {
    struct le_file_out out;
    leat_status
        status; /* of writing; after a failure the error record is saved, since the report's own message says less */
};

static bool write_file(void *user, const void *bytes, size_t size_bytes) {
    struct report_file *saved = user;
    if (saved->status)
        return false;
    saved->status = le_file_out_write(&saved->out, bytes, size_bytes);
    if (saved->status)
        le_errors_save();
    return !saved->status;
}

leat_status leat_trace_report_save(const leat_trace *trace, leat_report report, leat_report_format format,
                                   const char *path, const leat_save_options *options) {
    struct report_file saved = {.status = LEAT_OK};
    leat_save_options all;
    leat_status status = check_report(trace, report, format);
    if (status)
        return status;
    LE_CHECK_POINTER(path);
    LE_TAKE_OPTIONS(options, leat_save_options, &all);
    status = le_file_out_open(path, &all, &saved.out);
    if (status)
        return status;
    status = make_report(trace, report, format, write_file, &saved);
    if (saved.status)
        le_errors_restore();
    return le_file_out_close(&saved.out, status);
}
