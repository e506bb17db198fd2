/* The account of a run: read from the ledger and printed as a table or as JSON. See explain.h. */
#include "cli/explain.h"
#include <stdlib.h>
#include <string.h>

static uint64_t ledger_sum_ns(struct le_cli *cli) {
    size_t count = 0;
    uint64_t sum_ns = 0;
    leat_ledger_count(cli->ctx, &count);
    for (size_t k = 0; k < count; k++) {
        leat_cost cost;
        if (leat_ledger_get(cli->ctx, k, &cost) == LEAT_OK && !cost.on_device)
            sum_ns += cost.time_ns;
    }
    return sum_ns;
}

void le_cli_explain_started(struct le_cli *cli) {
    cli->opened_ns = le_cli_clock_ns() - cli->start_ns;
    leat_ledger_clock(cli->ctx, &cli->opened_ledger_ns);
    if (!cli->explain)
        return;
    uint64_t sum_ns = ledger_sum_ns(cli);
    cli->opening_ns = cli->opened_ns > sum_ns ? cli->opened_ns - sum_ns : 0;
}

leat_status le_account_take(struct le_cli *cli, struct le_account *account) {
    size_t count = 0;
    *account = (struct le_account){0};
    leat_status status = leat_ledger_count(cli->ctx, &count);
    if (status)
        return status;
    account->costs = calloc(count + 1, sizeof *account->costs);
    if (!account->costs)
        return LEAT_OUT_OF_MEMORY;
    account->costs[account->count++] = (leat_cost){.kind = LEAT_COST_INIT,
                                                   .what = "the command",
                                                   .cause = "before the library is open",
                                                   .count = 1,
                                                   .time_ns = cli->opening_ns};
    for (size_t k = 0; k < count; k++)
        if (leat_ledger_get(cli->ctx, k, &account->costs[account->count]) == LEAT_OK)
            account->count++;
    for (size_t k = 0; k < account->count; k++)
        account->sum_ns += account->costs[k].on_device ? 0 : account->costs[k].time_ns;
    uint64_t now_ns =
        0; /* a simulated device has its own clock; the time before the library opened is by the real one */
    leat_ledger_clock(cli->ctx, &now_ns);
    account->wall_ns = cli->opened_ns + now_ns - cli->opened_ledger_ns;
    leat_ledger_device(cli->ctx, &account->device_sums);
    return leat_device_get(cli->ctx, 0, cli->explain, &account->device);
}

void le_account_free(struct le_account *account) {
    free(account->costs);
    *account = (struct le_account){0};
}

static uint64_t unaccounted_ns(const struct le_account *account) {
    return account->wall_ns > account->sum_ns ? account->wall_ns - account->sum_ns : 0;
}

static void print_bytes(FILE *file, uint64_t bytes) {
    static const char *const UNITS[] = {"B", "kB", "MB", "GB", "TB"};
    double value = (double)bytes;
    int unit = 0;
    for (; value >= 999.5 && unit < 4; unit++)
        value /= 1000;
    if (bytes == 0)
        fprintf(file, "%12s", "");
    else
        fprintf(file, "%9.*f %-2s", unit && value < 99.95 ? 1 : 0, value, UNITS[unit]);
}

/* Prints a rate only for costs that move bytes. A mapped file has moved none yet, and a rate faster than any memory is
 * meaningless. */
static void print_rate(FILE *file, const leat_cost *cost, double limit) {
    bool moves = cost->kind == LEAT_COST_READ || cost->kind == LEAT_COST_WRITE || cost->kind == LEAT_COST_KERNEL ||
                 cost->kind == LEAT_COST_COPY || cost->kind == LEAT_COST_UPLOAD || cost->kind == LEAT_COST_DOWNLOAD;
    double rate = cost->time_ns ? (double)cost->bytes / (double)cost->time_ns : 0; /* bytes per ns is GB/s */
    double share = limit > 0 && !cost->on_device ? 100 * rate * 1e9 / limit : 0;
    if (!moves || rate == 0 || share >= 1000) {
        fprintf(file, "%9s%9s", "", "");
        return;
    }
    fprintf(file, "%9.*f", rate < 9.995 ? 2 : 1, rate);
    if (share > 0)
        fprintf(file, "%7.0f %%", share);
    else
        fprintf(file, "%9s", "");
}

static void print_line(FILE *file, const char *kind, const char *count, uint64_t time_ns, uint64_t wall_ns) {
    double share = wall_ns ? 100 * (double)time_ns / (double)wall_ns : 0;
    fprintf(file, "%-11s %8s %11.3f %6.1f %%", kind, count, (double)time_ns * 1e-6, share);
}

static void print_cost(const struct le_account *account, const leat_cost *cost, FILE *file) {
    char count[24];
    snprintf(count, sizeof count, "%llu", (unsigned long long)cost->count);
    print_line(file, leat_cost_name(cost->kind), count, cost->time_ns,
               cost->on_device ? account->device_sums.span_ns : account->wall_ns);
    print_bytes(file, cost->bytes);
    print_rate(file, cost, account->device.copy_bytes_per_second);
    fprintf(file, "  %s%s%s%s\n", cost->what, *cost->cause ? " (" : "", cost->cause, *cost->cause ? ")" : "");
}

static void print_costs(const struct le_account *account, bool on_device, FILE *file) {
    for (size_t k = 0; k < account->count; k++)
        if (account->costs[k].on_device == on_device)
            print_cost(account, &account->costs[k], file);
}

/* The device's time, measured with events. The records of operations that ran concurrently add up to more than the
 * elapsed time, so the overlap is subtracted. */
static void print_device(const struct le_account *account, FILE *file) {
    const leat_ledger_sums *sums = &account->device_sums;
    if (sums->span_ns == 0)
        return;
    fputs("on the device, from the start of its first operation to the end of its last\n", file);
    print_costs(account, true, file);
    if (sums->overlap_ns) {
        print_line(file, "overlap", "", sums->overlap_ns, sums->span_ns);
        fputs("          concurrent operations: subtracted\n", file);
    }
    print_line(file, "busy", "", sums->busy_ns, sums->span_ns);
    fputc('\n', file);
    print_line(file, "span", "", sums->span_ns, sums->span_ns);
    fputs("          busy + idle\n", file);
}

void le_account_print(const struct le_account *account, FILE *file, bool verdict) {
    char text[900];
    fprintf(file, "%-11s %8s %11s %8s%12s%9s%9s  %s\n", "cost", "count", "ms", "share", "bytes", "GB/s", "of copy",
            "what (cause)");
    print_costs(account, false, file);
    print_line(file, "sum", "", account->sum_ns, account->wall_ns);
    fputc('\n', file);
    print_line(file, "unaccounted", "", unaccounted_ns(account), account->wall_ns);
    fputc('\n', file);
    print_line(file, "wall", "", account->wall_ns, account->wall_ns);
    fputs("          since the command started\n", file);
    print_device(account, file);
    if (!verdict)
        return;
    le_account_verdict(account, text, sizeof text);
    fprintf(file, "%s\n", text);
}

void le_account_json(const struct le_account *account, struct le_json *json) {
    le_json_open(json, "ledger", '[');
    for (size_t k = 0; k < account->count; k++) {
        const leat_cost *cost = &account->costs[k];
        le_json_open(json, NULL, '{');
        le_json_string(json, "kind", leat_cost_name(cost->kind));
        le_json_string(json, "what", cost->what);
        le_json_string(json, "cause", cost->cause);
        le_json_count(json, "count", cost->count);
        le_json_count(json, "time_ns", cost->time_ns);
        le_json_count(json, "bytes", cost->bytes);
        le_json_count(json, "operations", cost->operations);
        le_json_boolean(json, "on_device", cost->on_device);
        le_json_close(json, '}');
    }
    le_json_open(json, NULL, '{');
    le_json_string(json, "kind", "unaccounted");
    le_json_count(json, "time_ns", unaccounted_ns(account));
    le_json_close(json, '}');
    le_json_close(json, ']');
    if (account->device_sums.span_ns == 0)
        return;
    le_json_open(json, "device_time", '{');
    le_json_count(json, "span_ns", account->device_sums.span_ns);
    le_json_count(json, "busy_ns", account->device_sums.busy_ns);
    le_json_count(json, "idle_ns", account->device_sums.idle_ns);
    le_json_count(json, "overlap_ns", account->device_sums.overlap_ns);
    le_json_close(json, '}');
}
