/* The account as a table and as JSON, from given costs. */
#include "account/account.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

enum { MS = 1000000 };

static const leat_cost COSTS[] = {
    {.kind = LEAT_COST_READ,
     .what = "a \"b\"\\\n\x01\xff.npy",
     .cause = "",
     .count = 1,
     .time_ns = 6 * MS,
     .bytes = 12 * MS},
    {.kind = LEAT_COST_KERNEL, .what = "y[i] = a[i]", .cause = "why", .count = 3, .time_ns = 2 * MS, .bytes = 10 * MS},
    {.kind = LEAT_COST_KERNEL, .what = "on it", .cause = "", .count = 1, .time_ns = MS, .on_device = true}};

static const struct le_account ACCOUNT = {.costs = COSTS,
                                          .count = 3,
                                          .wall_ns = 10 * MS,
                                          .sum_ns = 8 * MS,
                                          .copy_bytes_per_second = 10e9,
                                          .threads = 1,
                                          .cores = 1};

static void expect(struct le_text *text, const char *const *parts) {
    assert_false(text->failed);
    for (; *parts; parts++)
        if (!strstr(text->at, *parts))
            fail_msg("\"%s\" is not in \"%s\"", *parts, text->at);
    le_text_finish(text);
}

static void tables(void **state) {
    struct le_account account = ACCOUNT;
    struct le_text text = {0};
    (void)state;
    le_account_text(&account, true, &text);
    expect(&text,
           (const char *const[]){
               "kernel             3       2.000   20.0 %     10.0 MB     5.00     50 %  y[i] = a[i] (why)\n",
               "sum                        8.000   80.0 %\n", "unaccounted                2.000   20.0 %\n",
               "since the context was opened or its ledger was cleared\noverhead-bound", "\nWould help: ", NULL});
    account.is_repeated = true;
    le_account_text(&account, true, &text);
    expect(&text, (const char *const[]){"the whole call, which had run before\noverhead-bound", NULL});
    account.before = "the command";
    account.device_sums = (leat_ledger_sums){.span_ns = 2 * MS, .busy_ns = MS, .idle_ns = MS};
    le_account_text(&account, false, &text);
    assert_null(strstr(text.at, "Would help"));
    expect(&text, (const char *const[]){"since the command started\non the device, from the start",
                                        "kernel             1       1.000   50.0 %",
                                        "busy                       1.000   50.0 %", NULL});
}

static void json(void **state) {
    struct le_account account = ACCOUNT;
    struct le_text text = {0};
    (void)state;
    le_account_json(&account, true, &text);
    assert_int_equal(text.at[text.length - 1], '}');
    assert_null(strstr(text.at, "device_time"));
    expect(&text,
           (const char *const[]){
               "{\"ledger\":[{\"kind\":\"read\",\"what\":\"a \\\"b\\\"\\\\\\n\\u0001\\ufffd.npy\",\"cause\":\"\","
               "\"count\":1,\"time_ns\":6000000,\"bytes\":12000000,\"operations\":0,\"on_device\":false,"
               "\"in_background\":false},{",
               "{\"kind\":\"unaccounted\",\"time_ns\":2000000}],\"verdict\":\"overhead-bound",
               "\\nWould help: ", NULL});
    account.device_sums = (leat_ledger_sums){.span_ns = 3, .busy_ns = 2, .idle_ns = 1};
    le_account_json(&account, false, &text);
    assert_null(strstr(text.at, "verdict"));
    expect(&text, (const char *const[]){
                      "],\"device_time\":{\"span_ns\":3,\"busy_ns\":2,\"idle_ns\":1,\"overlap_ns\":0}}", NULL});
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tables), cmocka_unit_test(json)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
