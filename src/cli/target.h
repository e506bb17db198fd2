/* The file that a path means which something is written to, links followed. */
#ifndef LE_CLI_TARGET_H
#define LE_CLI_TARGET_H
#include <stdbool.h>

/* Regular files are replaced. False: errno says why. */
bool le_cli_target_can_be_written(const char *path);
bool le_cli_target_is_regular(const char *path); /* or not there yet */
/* Do both mean one file, under whatever names? */
bool le_cli_target_is_same(const char *a, const char *b);
#endif
