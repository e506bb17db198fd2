/* Running other programs: finding them, and running one to its end while reading what it writes. No shell is involved.
 * trace/run_command.c runs a command on the caller's terminal instead. Any thread. */
#ifndef LE_PROCESS_H
#define LE_PROCESS_H
#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include <signal.h>

/* A command line: the executable's path, then its arguments. In an arena. */
struct le_argv {
    const char **at;
    int count, capacity;
};
void le_argv_add(struct le_arena *arena, struct le_argv *argv, const char *word);

/* The path of an executable: a name with a '/' as it is, any other in an absolute folder of PATH; NULL if there is
 * none. */
const char *le_executable_find(struct le_arena *arena, const char *name);
/* Runs argv in folder (NULL: the current one) until it ends, with input as its standard input (-1: /dev/null) and with
 * messages in English. Appends what it writes to output and errors (either may be NULL: discarded).
 * LEAT_UNSUPPORTED: it cannot be started. */
leat_status le_process_run(struct le_arena *arena, const struct le_argv *argv, const char *folder, int input,
                           struct le_text *output, struct le_text *errors, int *exit_status);
/* What a shell would report for a status from waitpid: the exit status, or 128 + the signal that ended the process. */
int le_exit_status(int wait_status);

/* Blocks the signals that end a process, in this thread, so that it can remove its scratch folder first. (The library's
 * other threads always block them.) le_process_run unblocks all signals in the process that it starts. */
void le_signals_hold(sigset_t *before);
void le_signals_release(const sigset_t *before);
#endif
