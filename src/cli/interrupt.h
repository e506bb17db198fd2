/* Ctrl-C and similar signals end the command at once with 128 + the signal's number. While the command writes a file,
 * it first stops writing, so that the older file is unchanged and no temporary file is left. A second signal, at least
 * a second later, ends it without waiting. */
#ifndef LE_CLI_INTERRUPT_H
#define LE_CLI_INTERRUPT_H
#include <stdbool.h>

void le_cli_interrupt_catch(void);
/* Call these around the writing of a file, on the main thread. Signals are not delayed if path is not a regular file,
 * since a pipe may never get a reader. */
void le_cli_interrupt_hold(const char *path);
void le_cli_interrupt_release(void);
/* For leat_save_options.proceed: false after a signal. */
bool le_cli_interrupt_proceed(void *user);
#endif
