/* A progress bar on stderr for steps that take over a second. Only on a terminal. A separate thread draws it. */
#ifndef LE_CLI_PROGRESS_H
#define LE_CLI_PROGRESS_H
#include "cli/cli.h"
void le_cli_progress_start(struct le_cli *cli);
/* Sets what the bar shows: the text what ("reading a.npy"), which must be valid until the next call, and done of total
 * steps. total 0: only the elapsed time. */
void le_cli_progress_set(struct le_cli *cli, const char *what, uint64_t done, uint64_t total);
/* Call these around writing to the terminal: hide removes the bar, unhide allows drawing again. */
void le_cli_progress_hide(struct le_cli *cli);
void le_cli_progress_unhide(struct le_cli *cli);
void le_cli_progress_stop(struct le_cli *cli);
#endif
