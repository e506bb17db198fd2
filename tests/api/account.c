/* leat_account_print: the ledger as text, as JSON and as a verdict. */
#include "support.h"
#include <unistd.h>

static char *account_of(leat_context *ctx, leat_account_format format, const leat_account_options *options) {
    char *text = NULL;
    assert_ok(leat_account_print(ctx, format, options, &text));
    return text;
}

static void test_forms(void **state) {
    (void)state;
    const leat_options timed = {.ledger_level = 1};
    leat_context *ctx = NULL;
    assert_ok(leat_open(&timed, &ctx));
    leat_array *a = array_of(ctx, LEAT_F64, 1, SHAPE(3), LIST(1, 2, 3));
    leat_binding inputs[] = {{.name = "a", .array = a}, {0}}, results[] = {{.name = "y"}, {0}};
    assert_ok(leat_eval(ctx, "y[i] = 2 * a[i]", inputs, results));
    char *text = account_of(ctx, LEAT_ACCOUNT_TEXT, NULL), *json = account_of(ctx, LEAT_ACCOUNT_JSON, NULL);
    char *verdict = account_of(ctx, LEAT_ACCOUNT_VERDICT, NULL);
    assert_non_null(strstr(text, "kernel"));
    assert_non_null(strstr(text, "y[i] = 2 * a[i]"));
    assert_non_null(strstr(text, "since the context was opened or its ledger was cleared\n"));
    assert_non_null(strstr(text, "\nWould help: "));
    assert_non_null(strstr(json, "\"what\":\"y[i] = 2 * a[i]\""));
    assert_non_null(strstr(json, "\"verdict\":\""));
    assert_non_null(strstr(verdict, "\nWould help: "));
    leat_memory_free(text);
    leat_memory_free(json);
    leat_memory_free(verdict);
    leat_array_free(results[0].array);
    leat_array_free(a);
    leat_close(ctx);
}

/* The value of "time_ns" after the text `from`. */
static uint64_t time_after(const char *text, const char *from) {
    const char *at = strstr(text, from);
    assert_non_null(at);
    at = strstr(at, "\"time_ns\":");
    assert_non_null(at);
    return strtoull(at + strlen("\"time_ns\":"), NULL, 10);
}

static void test_before(void **state) {
    (void)state;
    leat_context *ctx = NULL;
    const leat_options timed = {.ledger_level = 1};
    const leat_account_options options = {.before = "importing", .before_ns = 5000000000, .no_verdict = true};
    assert_ok(leat_open(&timed, &ctx));
    char *text = account_of(ctx, LEAT_ACCOUNT_TEXT, &options), *json = account_of(ctx, LEAT_ACCOUNT_JSON, &options);
    assert_non_null(strstr(text, "5000.000"));
    assert_non_null(strstr(text, "importing (before the library is open)"));
    assert_non_null(strstr(text, "since importing started\n"));
    assert_null(strstr(text, "Would help"));
    assert_null(strstr(json, "verdict"));
    assert_int_equal(time_after(json, "importing"), 5000000000);
    assert_true(time_after(json, "unaccounted") < 1000000000);
    leat_memory_free(text);
    leat_memory_free(json);
    leat_close(ctx);
}

/* The account covers the time since the ledger was cleared, and no more. */
static void test_cleared(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    char *json = account_of(ctx, LEAT_ACCOUNT_JSON, &(leat_account_options){.no_verdict = true});
    leat_memory_free(json);
    usleep(300000);
    assert_ok(leat_ledger_clear(ctx));
    usleep(2000);
    json = account_of(ctx, LEAT_ACCOUNT_JSON, &(leat_account_options){.no_verdict = true});
    assert_in_range(time_after(json, "unaccounted"), 2000000, 300000000);
    leat_memory_free(json);
    leat_close(ctx);
}

static void test_refused(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    char *text = NULL;
    assert_int_equal(leat_account_print(NULL, LEAT_ACCOUNT_TEXT, NULL, &text), LEAT_INVALID);
    assert_int_equal(leat_account_print(ctx, LEAT_ACCOUNT_TEXT, NULL, NULL), LEAT_INVALID);
    assert_int_equal(leat_account_print(ctx, (leat_account_format)9, NULL, &text), LEAT_INVALID);
    assert_null(text);
    leat_close(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forms), cmocka_unit_test(test_before),
                                       cmocka_unit_test(test_cleared), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
