/* leat.h: the account. Collects what it needs from the context; the room account prints it. */
#include "account/account.h"
#include "api/api_check.h"
#include "base/thread.h"
#include "device/front/timing.h"

/* The ledger's records, after the caller's own time. Their texts belong to the ledger. */
static leat_status collect_costs(leat_context *ctx, const leat_account_options *options, leat_cost **costs,
                                 struct le_account *account) {
    const struct le_timeline_sums sums = le_timing_settle(ctx->device);
    const size_t count = le_ledger_count(ctx->ledger);
    leat_cost *made = le_alloc_zero(count + 1, sizeof *made);
    if (!made)
        return le_fail_out_of_memory((count + 1) * sizeof *made);
    if (options->before)
        made[account->count++] = (leat_cost){.kind = LEAT_COST_INIT,
                                             .what = options->before,
                                             .cause = "before the library is open",
                                             .count = 1,
                                             .time_ns = options->before_ns};
    for (size_t k = 0; k < count; k++)
        account->count += le_ledger_at(ctx->ledger, k, &made[account->count]);
    for (size_t k = 0; k < account->count; k++)
        account->sum_ns += made[k].on_device || made[k].in_background ? 0 : made[k].time_ns;
    account->device_sums = (leat_ledger_sums){.span_ns = sums.span_ns,
                                              .busy_ns = sums.busy_ns,
                                              .idle_ns = sums.idle_ns,
                                              .overlap_ns = sums.total_ns - sums.busy_ns,
                                              .dropped = sums.dropped};
    account->wall_ns = options->before_ns + le_ledger_age_ns(ctx->ledger);
    account->costs = *costs = made;
    return LEAT_OK;
}

/* The wall time ended before, so measuring is not part of it. */
static leat_status add_rates(leat_context *ctx, bool measure, struct le_account *account) {
    struct le_machine_rates rates;
    leat_status status = le_context_rates(ctx, measure, &rates);
    if (status)
        return status;
    account->copy_bytes_per_second = rates.copy_bytes_per_second;
    account->additions_per_second = rates.additions_per_second;
    account->threads = le_pool_threads(ctx->threads);
    account->cores = le_cores();
    return LEAT_OK;
}

static void print_account(const struct le_account *account, leat_account_format format, bool verdict,
                          struct le_text *text) {
    if (format == LEAT_ACCOUNT_VERDICT)
        le_account_verdict(account, text);
    else if (format == LEAT_ACCOUNT_JSON)
        le_account_json(account, verdict, text);
    else
        le_account_text(account, verdict, text);
}

leat_status leat_account_print(leat_context *ctx, leat_account_format format, const leat_account_options *options,
                               char **text) {
    leat_account_options all;
    LE_CHECK_CONTEXT(ctx);
    LE_CHECK_POINTER(text);
    if ((unsigned)format > LEAT_ACCOUNT_VERDICT)
        return le_fail(LEAT_INVALID, "format is %d, which is not a leat_account_format value", (int)format);
    LE_TAKE_OPTIONS(options, leat_account_options, &all);
    struct le_account account = {.before = all.before, .for_command = all.for_command, .is_repeated = all.is_repeated};
    struct le_text out = {0};
    leat_cost *costs = NULL;
    leat_status status = collect_costs(ctx, &all, &costs, &account);
    if (!status)
        status = add_rates(ctx, format != LEAT_ACCOUNT_JSON || !all.no_verdict, &account);
    if (!status)
        print_account(&account, format, !all.no_verdict, &out);
    le_free(costs);
    if (!status && out.failed)
        status = le_fail_out_of_memory(out.capacity);
    if (status)
        le_text_finish(&out);
    else
        *text = out.at;
    return status;
}
