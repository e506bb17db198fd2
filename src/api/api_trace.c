/* leat.h: recording traces. */
#include "api/api_check.h"
#include "trace/record_command.h"

leat_status leat_trace_record(const char *const *command, const leat_trace_options *options,
                              leat_trace_outcome *outcome) {
    static const leat_trace_options defaults = {0};
    leat_trace_outcome unwanted;
    LE_CHECK_POINTER(command);
    LE_CHECK_POINTER(command[0]);
    return le_trace_record_command(command, options ? options : &defaults, outcome ? outcome : &unwanted);
}
