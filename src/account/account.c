/* Prints the account as a table or as JSON. See account.h. */
#include "account/account.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static uint64_t unaccounted_ns(const struct le_account *account) {
    return account->wall_ns > account->sum_ns ? account->wall_ns - account->sum_ns : 0;
}

static void print_bytes(struct le_text *text, uint64_t bytes) {
    static const char *const UNITS[] = {"B", "kB", "MB", "GB", "TB"};
    double value = (double)bytes;
    int unit = 0;
    for (; value >= 999.5 && unit < 4; unit++)
        value /= 1000;
    if (bytes == 0)
        le_text_add(text, "%12s", "");
    else
        le_text_add(text, "%9.*f %-2s", unit && value < 99.95 ? 1 : 0, value, UNITS[unit]);
}

/* Prints a rate only for costs that move bytes. A mapped file has moved none yet, and a rate faster than any memory is
 * meaningless. */
static void print_rate(struct le_text *text, const leat_cost *cost, double limit) {
    bool moves = cost->kind == LEAT_COST_READ || cost->kind == LEAT_COST_WRITE || cost->kind == LEAT_COST_KERNEL ||
                 cost->kind == LEAT_COST_COPY || cost->kind == LEAT_COST_UPLOAD || cost->kind == LEAT_COST_DOWNLOAD;
    double rate = cost->time_ns ? (double)cost->bytes / (double)cost->time_ns : 0; /* bytes per ns is GB/s */
    double share = limit > 0 && !cost->on_device ? 100 * rate * 1e9 / limit : 0;
    if (!moves || rate == 0 || share >= 1000) {
        le_text_add(text, "%9s%9s", "", "");
        return;
    }
    le_text_add(text, "%9.*f", rate < 9.995 ? 2 : 1, rate);
    if (share > 0)
        le_text_add(text, "%7.0f %%", share);
    else
        le_text_add(text, "%9s", "");
}

static void print_line(struct le_text *text, const char *kind, const char *count, uint64_t time_ns, uint64_t wall_ns) {
    double share = wall_ns ? 100 * (double)time_ns / (double)wall_ns : 0;
    le_text_add(text, "%-11s %8s %11.3f %6.1f %%", kind, count, (double)time_ns * 1e-6, share);
}

static void print_cost(const struct le_account *account, const leat_cost *cost, struct le_text *text) {
    char count[24];
    snprintf(count, sizeof count, "%llu", (unsigned long long)cost->count);
    print_line(text, le_cost_kind_name(cost->kind), count, cost->time_ns,
               cost->on_device ? account->device_sums.span_ns : account->wall_ns);
    print_bytes(text, cost->bytes);
    print_rate(text, cost, account->copy_bytes_per_second);
    le_text_add(text, "  %s%s%s%s\n", cost->what, *cost->cause ? " (" : "", cost->cause, *cost->cause ? ")" : "");
}

static void print_costs(const struct le_account *account, bool on_device, bool in_background, struct le_text *text) {
    for (size_t k = 0; k < account->count; k++)
        if (account->costs[k].on_device == on_device && account->costs[k].in_background == in_background)
            print_cost(account, &account->costs[k], text);
}

/* Not part of the sum: the caller's threads went on meanwhile, or waited for these. */
static void print_background(const struct le_account *account, struct le_text *text) {
    bool any = false;
    for (size_t k = 0; k < account->count; k++)
        any |= account->costs[k].in_background;
    if (any)
        le_text_add(text, "meanwhile, in threads of the library\n");
    print_costs(account, false, true, text);
}

/* The device's time, measured with events. The records of operations that ran concurrently add up to more than the
 * elapsed time, so the overlap is subtracted. */
static void print_device(const struct le_account *account, struct le_text *text) {
    const leat_ledger_sums *sums = &account->device_sums;
    if (sums->span_ns == 0)
        return;
    le_text_add(text, "on the device, from the start of its first operation to the end of its last\n");
    print_costs(account, true, false, text);
    if (sums->overlap_ns) {
        print_line(text, "overlap", "", sums->overlap_ns, sums->span_ns);
        le_text_add(text, "          concurrent operations: subtracted\n");
    }
    print_line(text, "busy", "", sums->busy_ns, sums->span_ns);
    le_text_add(text, "\n");
    print_line(text, "span", "", sums->span_ns, sums->span_ns);
    le_text_add(text, "          busy + idle\n");
}

void le_account_text(const struct le_account *account, bool verdict, struct le_text *text) {
    le_text_add(text, "%-11s %8s %11s %8s%12s%9s%9s  %s\n", "cost", "count", "ms", "share", "bytes", "GB/s", "of copy",
                "what (cause)");
    print_costs(account, false, false, text);
    print_line(text, "sum", "", account->sum_ns, account->wall_ns);
    le_text_add(text, "\n");
    print_line(text, "unaccounted", "", unaccounted_ns(account), account->wall_ns);
    le_text_add(text, "\n");
    print_line(text, "wall", "", account->wall_ns, account->wall_ns);
    if (account->before)
        le_text_add(text, "          since %s started\n", account->before);
    else if (account->is_repeated)
        le_text_add(text, "          the whole call, which had run before\n");
    else
        le_text_add(text, "          since the context was opened or its ledger was cleared\n");
    print_background(account, text);
    print_device(account, text);
    if (!verdict)
        return;
    le_account_verdict(account, text);
    le_text_add(text, "\n");
}

/* ---- JSON */

/* Bytes that are not UTF-8 become U+FFFD. */
static void add_string(struct le_text *text, const char *name, const char *value) {
    le_text_add(text, "\"%s\":\"", name);
    for (size_t left = strlen(value), some; left > 0; value += some, left -= some) {
        size_t bytes = le_utf8_length(value, left);
        some = bytes ? bytes : 1;
        if (bytes == 0)
            le_text_add(text, "\\ufffd");
        else if (*value == '"' || *value == '\\')
            le_text_add(text, "\\%c", *value);
        else if (*value == '\n')
            le_text_add(text, "\\n");
        else if ((unsigned char)*value < 0x20 || *value == 0x7f)
            le_text_add(text, "\\u%04x", (unsigned)*value);
        else
            le_text_add_bytes(text, value, bytes);
    }
    le_text_add(text, "\"");
}

static void add_cost(struct le_text *text, const leat_cost *cost) {
    le_text_add(text, "{");
    add_string(text, "kind", le_cost_kind_name(cost->kind));
    le_text_add(text, ",");
    add_string(text, "what", cost->what);
    le_text_add(text, ",");
    add_string(text, "cause", cost->cause);
    le_text_add(text,
                ",\"count\":%" PRIu64 ",\"time_ns\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"operations\":%" PRIu64
                ",\"on_device\":%s,\"in_background\":%s},",
                cost->count, cost->time_ns, cost->bytes, cost->operations, cost->on_device ? "true" : "false",
                cost->in_background ? "true" : "false");
}

static void add_verdict(const struct le_account *account, struct le_text *text) {
    struct le_text words = {0};
    le_account_verdict(account, &words);
    text->failed = text->failed || words.failed;
    le_text_add(text, ",");
    add_string(text, "verdict", words.at ? words.at : "");
    le_text_finish(&words);
}

void le_account_json(const struct le_account *account, bool verdict, struct le_text *text) {
    const leat_ledger_sums *sums = &account->device_sums;
    le_text_add(text, "{\"ledger\":[");
    for (size_t k = 0; k < account->count; k++)
        add_cost(text, &account->costs[k]);
    le_text_add(text, "{\"kind\":\"unaccounted\",\"time_ns\":%" PRIu64 "}]", unaccounted_ns(account));
    if (sums->span_ns)
        le_text_add(text,
                    ",\"device_time\":{\"span_ns\":%" PRIu64 ",\"busy_ns\":%" PRIu64 ",\"idle_ns\":%" PRIu64
                    ",\"overlap_ns\":%" PRIu64 "}",
                    sums->span_ns, sums->busy_ns, sums->idle_ns, sums->overlap_ns);
    if (verdict)
        add_verdict(account, text);
    le_text_add(text, "}");
}
