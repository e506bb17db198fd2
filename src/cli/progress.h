/* A progress bar on stderr, for what takes over a second, on a terminal only. Drawn by a thread of its own. */
#ifndef LE_CLI_PROGRESS_H
#define LE_CLI_PROGRESS_H
#include "cli/cli.h"
void le_cli_progress_start(struct le_cli *cli);
/* what: "reading a.npy"; must live until the next call. done of total steps; total 0: only the time is shown. */
void le_cli_progress_set(struct le_cli *cli, const char *what, uint64_t done, uint64_t total);
/* Around writing to the terminal: takes the bar away, and lets it be drawn again. */
void le_cli_progress_hide(struct le_cli *cli);
void le_cli_progress_unhide(struct le_cli *cli);
void le_cli_progress_stop(struct le_cli *cli);
#endif
