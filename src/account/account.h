/* The account of a context: the ledger as a table or as JSON, the wall time that no record covers, and a verdict in
 * words. It is printed from a struct that the caller has filled, and finds out nothing itself. */
#ifndef LE_ACCOUNT_H
#define LE_ACCOUNT_H
#include "base/ledger.h"
#include "base/text.h"

struct le_account {
    const leat_cost *costs;
    size_t count;
    uint64_t wall_ns, sum_ns; /* of the host */
    leat_ledger_sums device_sums;
    /* of the CPU; the rates are 0 if they were not measured */
    double copy_bytes_per_second, additions_per_second;
    int threads, cores;
    const char *before; /* what the caller spent time on before the context was open; NULL: nothing */
    bool for_command;   /* the verdict may name options of the command */
    bool is_repeated;   /* one call, which had run before */
};
void le_account_text(const struct le_account *account, bool verdict, struct le_text *text);
void le_account_json(const struct le_account *account, bool verdict, struct le_text *text);
/* Adds two lines, without a line break at the end: what bounds the run, and what would help. */
void le_account_verdict(const struct le_account *account, struct le_text *text);
#endif
