/* --explain and --json: the account of the run (leat_account_print). */
#ifndef LE_CLI_EXPLAIN_H
#define LE_CLI_EXPLAIN_H
#include "cli/cli.h"

/* Call it right before the library is opened: the time until then is the command's own. */
void le_cli_explain_begin(struct le_cli *cli);
/* Returns the account; free it with leat_memory_free. NULL: there is no context, or it failed. */
char *le_cli_account(struct le_cli *cli, leat_account_format format, bool verdict);
#endif
