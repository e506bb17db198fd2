/* Contexts: options and environment variables, forked children, notes, tickets, the copy rate, and the machine's name
 * and sizes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "run/context.h"
#include "run/host_info.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static leat_status try_open(const leat_options *options) {
    leat_context *ctx = NULL;
    leat_status status = le_context_new(options, &ctx);
    le_context_close(ctx);
    return status;
}

static void clear_environment(void) {
    unsetenv("LEAT_DEVICE");
    unsetenv("LEAT_THREADS");
    unsetenv("LEAT_SIMD");
    unsetenv("LEAT_MAPPING");
    unsetenv("LEAT_PRECISION");
}

static void *never_allocate(size_t size_bytes, void *user) {
    (void)size_bytes;
    (void)user;
    return NULL;
}

static void test_options(void **state) {
    static const struct {
        leat_options options;
        leat_status status;
    } cases[] = {
        {{0}, LEAT_OK},
        {{.device = "auto"}, LEAT_OK},
        {{.device = "cpu"}, LEAT_OK},
        {{.device = "cpu:0"}, LEAT_OK},
        {{.device = "cpu:1"}, LEAT_DEVICE},
        {{.device = "cuda:9999"}, LEAT_DEVICE},
        {{.device = ""}, LEAT_DEVICE},
        {{.threads = 7}, LEAT_OK},
        {{.threads = -1}, LEAT_INVALID},
        {{.threads = 100000}, LEAT_INVALID},
        {{.copy_threads = 3}, LEAT_OK},
        {{.copy_threads = -1}, LEAT_INVALID},
        {{.copy_threads = INT32_MAX}, LEAT_INVALID},
        {{.interpret = LEAT_INTERPRET_ONLY}, LEAT_OK},
        {{.interpret = (leat_interpret)(LEAT_INTERPRET_ONLY + 1)}, LEAT_INVALID},
        {{.interpret = (leat_interpret)-1}, LEAT_INVALID},
        {{.tf32 = 1}, LEAT_OK},
        {{.tf32 = -1}, LEAT_OK},
        {{.tf32 = 2}, LEAT_INVALID},
        {{.simd = "baseline"}, LEAT_OK},
        {{.simd = "mmx"}, LEAT_INVALID},
        {{.ledger_level = 1}, LEAT_OK},
        {{.ledger_level = 3}, LEAT_INVALID},
        {{.ledger_level = -1}, LEAT_INVALID},
        {{.allocate = never_allocate}, LEAT_INVALID},
    };
    (void)state;
    clear_environment();
    for (size_t k = 0; k < ARRAY_LEN(cases); k++)
        if (try_open(&cases[k].options) != cases[k].status)
            fail_msg("case %zu", k);
    assert_int_equal(try_open(NULL), LEAT_OK);
}

static void test_environment(void **state) {
    static const struct {
        const char *name, *value;
        leat_options options;
        leat_status status;
    } cases[] = {
        {"LEAT_DEVICE", "cuda:9999", {0}, LEAT_DEVICE},
        {"LEAT_DEVICE", "cuda:9999", {.device = "auto"}, LEAT_DEVICE},
        {"LEAT_DEVICE", "cuda:9999", {.device = "cpu"}, LEAT_OK},
        {"LEAT_DEVICE", "", {0}, LEAT_OK},
        {"LEAT_THREADS", "3", {0}, LEAT_OK},
        {"LEAT_THREADS", "0", {0}, LEAT_INVALID},
        {"LEAT_THREADS", "two", {0}, LEAT_INVALID},
        {"LEAT_THREADS", "two", {.threads = 2}, LEAT_OK},
        {"LEAT_SIMD", "baseline", {0}, LEAT_OK},
        {"LEAT_SIMD", "mmx", {0}, LEAT_INVALID},
        {"LEAT_SIMD", "mmx", {.simd = "baseline"}, LEAT_OK},
        {"LEAT_PRECISION", "tf32", {0}, LEAT_OK},
        {"LEAT_PRECISION", "f32", {0}, LEAT_OK},
        {"LEAT_PRECISION", "f16", {0}, LEAT_INVALID},
        {"LEAT_PRECISION", "f16", {.tf32 = -1}, LEAT_OK},
        {"LEAT_MAPPING", "", {0}, LEAT_OK},
        {"LEAT_MAPPING", "columns chunk=64; warp", {0}, LEAT_OK},
        {"LEAT_MAPPING", "colums", {0}, LEAT_INVALID},
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
        clear_environment();
        setenv(cases[k].name, cases[k].value, 1);
        if (try_open(&cases[k].options) != cases[k].status)
            fail_msg("case %zu", k);
    }
    clear_environment();
    setenv("LEAT_THREADS", "3", 1);
    leat_context *ctx = NULL;
    assert_int_equal(le_context_new(NULL, &ctx), LEAT_OK);
    assert_int_equal(le_pool_threads(ctx->threads), 3);
    le_context_close(ctx);
    clear_environment();
}

static char last_note[2048];
static void take_note(leat_log_level level, const char *text, void *user) {
    snprintf(last_note, sizeof last_note, "%d %d %s", (int)level, *(int *)user, text);
}

static void test_notes(void **state) {
    (void)state;
    int user = 5;
    const leat_options options = {.log = take_note, .log_user = &user};
    leat_context *ctx = NULL;
    assert_int_equal(le_context_new(&options, &ctx), LEAT_OK);
    le_context_note(ctx, "%d things", 3);
    assert_string_equal(last_note, "0 5 3 things");
    le_context_warn(ctx, "beware");
    assert_string_equal(last_note, "1 5 beware");
    le_memory_pool_note(ctx->memory, LEAT_LOG_NOTE, "from below");
    assert_string_equal(last_note, "0 5 from below");
    le_context_close(ctx);
}

static void test_tickets_and_rate(void **state) {
    (void)state;
    leat_context *ctx = NULL;
    assert_int_equal(le_context_new(NULL, &ctx), LEAT_OK);
    leat_ticket first = le_context_ticket(ctx, NULL);
    le_order_end(le_device_stream_own(ctx->device), NULL, 0, true);
    leat_ticket second = le_context_ticket(ctx, NULL);
    assert_int_equal(first.stream_id, 1);
    assert_int_equal(second.number, first.number + 1);
    struct le_machine_rates rates, again, known;
    assert_int_equal(le_context_rates(ctx, false, &rates), LEAT_OK);
    assert_true(rates.copy_bytes_per_second == 0 && rates.additions_per_second == 0);
    assert_int_equal(le_context_rates(ctx, true, &rates), LEAT_OK);
    assert_int_equal(le_context_rates(ctx, true, &again), LEAT_OK);
    assert_int_equal(le_context_rates(ctx, false, &known), LEAT_OK);
    assert_true(rates.copy_bytes_per_second > 1e6 && rates.additions_per_second > 1e6);
    assert_memory_equal(&rates, &again, sizeof rates);
    assert_memory_equal(&rates, &known, sizeof rates);
    le_context_close(ctx);
}

static void test_fork(void **state) {
    (void)state;
    leat_context *ctx = NULL;
    assert_int_equal(le_context_new(NULL, &ctx), LEAT_OK);
    assert_int_equal(le_context_check(ctx), LEAT_OK);
    assert_int_equal(le_context_check(NULL), LEAT_INVALID);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        bool refused = le_context_check(ctx) == LEAT_INVALID && le_memory_pool_check(ctx->memory) == LEAT_INVALID;
        le_context_close(ctx);
        _exit(refused ? 0 : 1);
    }
    int status = 1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    le_context_close(ctx);
}

static void test_machine(void **state) {
    (void)state;
    char name[64];
    le_host_name(name, sizeof name);
    assert_true(*name && !strchr(name, '\n'));
    assert_true(le_host_memory_bytes() > (size_t)16 << 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options), cmocka_unit_test(test_environment), cmocka_unit_test(test_notes),
        cmocka_unit_test(test_fork),    cmocka_unit_test(test_machine),     cmocka_unit_test(test_tickets_and_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
