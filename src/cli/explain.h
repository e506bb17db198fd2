/* --explain: the ledger as a table, what of the wall time no record holds, and a verdict in words; and the ledger as
 * JSON. */
#ifndef LE_CLI_EXPLAIN_H
#define LE_CLI_EXPLAIN_H
#include "cli/json.h"

/* Right after the library has been opened. */
void le_cli_explain_started(struct le_cli *cli);
/* The account, taken at the end. The pieces live in the context. */
struct le_account {
    leat_cost *costs;
    size_t count;
    uint64_t wall_ns, sum_ns; /* the host's */
    leat_ledger_sums device_sums;
    leat_device_info device; /* with its copy rate measured */
};
/* Closes the account: the wall time ends here, before the copy rate is measured, which is no cost of the run. */
leat_status le_account_take(struct le_cli *cli, struct le_account *account);
void le_account_free(struct le_account *account);
void le_account_print(const struct le_account *account, FILE *file);
void le_account_json(const struct le_account *account, struct le_json *json); /* the member "ledger" */
/* In words: what bounds the run and what would help. Written to text, at most size bytes. */
void le_account_verdict(const struct le_account *account, char *text, size_t size);
#endif
