/* Runs a command with the recorder (trace/recorder) loaded into it and its child processes, which write parts into a
 * folder beside the trace, one part per process. Then gathers the parts into one trace. */
#ifndef LE_RECORD_COMMAND_H
#define LE_RECORD_COMMAND_H
#include "base/status.h"

/* Implements leat_trace_record (leat.h). */
leat_status le_trace_record_command(const char *const *command, const leat_trace_options *options,
                                    leat_trace_outcome *outcome);

/* run_command.c: runs the command with these environment variables (NULL-terminated) and waits for it. LEAT_FILE: it
 * cannot be started. LEAT_INTERNAL: it ran and ended, but its exit status is unknown. */
leat_status le_trace_run_command(const char *const *command, char **variables, int *exit_status);

/* The environment variable with the folder into which the recorder writes its part. */
#define LE_TRACE_FOLDER "LEAT_TRACE_FOLDER"
/* surviving_processes.c: whether some process that the command started is still running after the command has ended. */
bool le_trace_has_survivors(const char *folder);

/* find_recorder.c: finds the recorder's shared object: `wanted` if it is not NULL, else LEAT_TRACE_RECORDER, else
 * beside the library or the command. The path is absolute. False: not found. */
enum { LE_RECORDER_PATH_BYTES = 4096 };
bool le_recorder_find(const char *wanted, char path[LE_RECORDER_PATH_BYTES]);

/* Appends to outcome->note, after a semicolon if it has a note already. */
__attribute__((format(printf, 2, 3))) void le_trace_add_note(leat_trace_outcome *outcome, const char *format, ...);

/* gather_parts.c: appends the folder's parts, in the order in which they began, to a new file, and then gives it the
 * trace's name. Without parts, no file is written. Sets the outcome's processes and bytes. Its note is the first note
 * of a process that could not be recorded, and says if recording took longer than the recorded work. */
leat_status le_parts_gather(const char *folder, const char *file, leat_trace_outcome *outcome);
void le_parts_remove(const char *folder);
#endif
