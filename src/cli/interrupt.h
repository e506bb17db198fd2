/* Ctrl-C and similar signals end the command at once with 128 + the signal's number. While the command writes a file,
 * it first stops writing, so that the older file is unchanged and no temporary file is left. A second signal, at least
 * a second later, ends it without waiting. While a program runs, the run is canceled and the command ends in order.
 * Another signal, or the same one at least a second later, ends it at once. A run that has not ended two seconds after
 * the signal is ended at once, too. */
#ifndef LE_CLI_INTERRUPT_H
#define LE_CLI_INTERRUPT_H
#include "leat.h"
#include <stdbool.h>

void le_cli_interrupt_catch(void);
/* Call these around the writing of a file, on the main thread. Signals are not delayed if path is not a regular file,
 * since a pipe may never get a reader. */
void le_cli_interrupt_hold(const char *path);
void le_cli_interrupt_release(void);
/* Call these around leat_call_complete. */
void le_cli_interrupt_run_begin(leat_call *call);
void le_cli_interrupt_run_end(void);
/* The exit status after a signal that did not end the command at once; 0: there was none. */
int le_cli_interrupt_status(void);
/* For leat_save_options.proceed: false after a signal. */
bool le_cli_interrupt_proceed(void *user);
#endif
