/* leat.h: recording traces. */
#include "api/api_check.h"
#include "trace/record_command.h"

leat_status leat_trace_record(const char *const *command, const leat_trace_options *options,
                              leat_trace_outcome *outcome) {
    leat_trace_options all;
    leat_trace_outcome unwanted;
    LE_CHECK_POINTER(command);
    LE_CHECK_POINTER(command[0]);
    LE_TAKE_OPTIONS(options, leat_trace_options, &all);
    return le_trace_record_command(command, &all, outcome ? outcome : &unwanted);
}
