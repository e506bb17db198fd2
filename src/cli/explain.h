/* --explain: the ledger as a table or as JSON, the wall time that no record accounts for, and a verdict in words. */
#ifndef LE_CLI_EXPLAIN_H
#define LE_CLI_EXPLAIN_H
#include "cli/json.h"

/* Call it right after the library has been opened. */
void le_cli_explain_started(struct le_cli *cli);
/* The account, taken at the end of the run. Its strings belong to the context. */
struct le_account {
    leat_cost *costs;
    size_t count;
    uint64_t wall_ns, sum_ns; /* of the host */
    leat_ledger_sums device_sums;
    leat_device_info device; /* with its copy rate measured */
};
/* Takes the account. The wall time ends before the copy rate is measured, so that the measurement is not part of it. */
leat_status le_account_take(struct le_cli *cli, struct le_account *account);
void le_account_free(struct le_account *account);
void le_account_print(const struct le_account *account, FILE *file, bool verdict);
void le_account_json(const struct le_account *account, struct le_json *json); /* the member "ledger" */
/* Writes into text, at most size bytes, what bounds the run and what would help. */
void le_account_verdict(const struct le_account *account, char *text, size_t size);
#endif
