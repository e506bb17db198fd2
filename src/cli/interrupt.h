/* Ctrl-C and its like: the command ends at once with 128 + the signal's number, but a file that is being written is
 * finished first, so that no partial or temporary file is left behind. */
#ifndef LE_CLI_INTERRUPT_H
#define LE_CLI_INTERRUPT_H
void le_cli_interrupt_catch(void);
/* Around the writing of a file, on the main thread. */
void le_cli_interrupt_hold(void);
void le_cli_interrupt_release(void);
#endif
