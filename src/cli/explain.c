/* See explain.h. */
#include "cli/explain.h"
#include <stddef.h>

void le_cli_explain_begin(struct le_cli *cli) {
    cli->before_ns = le_cli_clock_ns() - cli->start_ns;
}

/* Without --explain the ledger counts only, so the command's own time is not part of it either. */
char *le_cli_account(struct le_cli *cli, leat_account_format format, bool verdict) {
    const leat_account_options options = {.before = "the command",
                                          .before_ns = cli->explain ? cli->before_ns : 0,
                                          .no_verdict = !verdict,
                                          .for_command = true};
    char *text = NULL;
    if (!cli->ctx || leat_account_print(cli->ctx, format, &options, &text))
        return NULL;
    return text;
}
