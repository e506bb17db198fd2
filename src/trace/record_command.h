/* Runs a command with the recorder (trace/recorder) loaded into it and its children, and makes one trace of what they
 * leave: parts in a folder beside the trace, one a process. */
#ifndef LE_RECORD_COMMAND_H
#define LE_RECORD_COMMAND_H
#include "base/status.h"

/* leat_trace_record of leat.h. */
leat_status le_trace_record_command(const char *const *command, const leat_trace_options *options,
                                    leat_trace_outcome *outcome);

/* run_command.c: runs the command with the variables (the last one is NULL), and waits for it. LEAT_FILE: it cannot be
 * started. LEAT_INTERNAL: it has run and ended, but its exit status is not known. */
leat_status le_trace_run_command(const char *const *command, char **variables, int *exit_status);

/* The variable that tells the recorder where its part goes. */
#define LE_TRACE_FOLDER "LEAT_TRACE_FOLDER"
/* surviving_processes.c: whether a process of the command, which has ended, still runs. */
bool le_trace_has_survivors(const char *folder);

/* find_recorder.c: the recorder's shared object: wanted, LEAT_TRACE_RECORDER, or where it lies beside the library or
 * the command. An absolute path; false: it is not there. */
enum { LE_RECORDER_PATH_BYTES = 4096 };
bool le_recorder_find(const char *wanted, char path[LE_RECORDER_PATH_BYTES]);

/* Adds to outcome->note, after a semicolon where there is one already. */
__attribute__((format(printf, 2, 3))) void le_trace_add_note(leat_trace_outcome *outcome, const char *format, ...);

/* gather_parts.c: appends the folder's parts, in the order in which they began, to a new file, which then takes the
 * trace's name. outcome: processes, bytes, and the first note of one that could not be recorded, and whether recording
 * took longer than what it recorded. Without parts there is no file. */
leat_status le_parts_gather(const char *folder, const char *file, leat_trace_outcome *outcome);
void le_parts_remove(const char *folder);
#endif
