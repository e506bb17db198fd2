/* Ctrl-C and its like: the command ends at once with 128 + the signal's number. While it writes a file it first stops
 * writing, so that the older file stays as it was and no temporary one is left behind; a second signal, a second later
 * or more, does not wait for that. */
#ifndef LE_CLI_INTERRUPT_H
#define LE_CLI_INTERRUPT_H
#include <stdbool.h>

void le_cli_interrupt_catch(void);
/* Around the writing of a file, on the main thread. Nothing holds a signal up where path is no regular file: a pipe may
 * never find a reader. */
void le_cli_interrupt_hold(const char *path);
void le_cli_interrupt_release(void);
/* leat_save_options.proceed: false once a signal came. */
bool le_cli_interrupt_proceed(void *user);
#endif
