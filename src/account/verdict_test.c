/* The verdict on runs with given costs, on a machine that copies 10 GB/s and does 10 G additions per second. */
#include "account/verdict.c"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

enum { MS = 1000000 };
static bool for_command, is_repeated;
static uint64_t rest_ns; /* no record has it */

static void expect(const leat_cost *costs, size_t count, const char *bound, const char *help) {
    leat_cost copies[4];
    uint64_t sum_ns = 0;
    for (size_t k = 0; k < count; k++) {
        copies[k] = costs[k];
        copies[k].what = costs[k].what ? costs[k].what : "";
        copies[k].cause = costs[k].cause ? costs[k].cause : "";
        sum_ns += costs[k].time_ns;
    }
    const struct le_account account = {.costs = copies,
                                       .count = count,
                                       .wall_ns = sum_ns + rest_ns,
                                       .sum_ns = sum_ns,
                                       .copy_bytes_per_second = 10e9,
                                       .additions_per_second = 10e9,
                                       .threads = 2,
                                       .cores = 2,
                                       .for_command = for_command,
                                       .is_repeated = is_repeated};
    struct le_text text = {0};
    le_account_verdict(&account, &text);
    if (strncmp(text.at, bound, strlen(bound)) != 0)
        fail_msg("not %s: %s", bound, text.at);
    if (!strstr(text.at, help))
        fail_msg("lacks %s: %s", help, text.at);
    le_text_finish(&text);
}

static void expect_kernels(uint64_t count, double time_ms, uint64_t bytes, uint64_t operations, const char *bound,
                           const char *help) {
    const leat_cost cost = {.kind = LEAT_COST_KERNEL,
                            .count = count,
                            .time_ns = (uint64_t)(time_ms * MS),
                            .bytes = bytes,
                            .operations = operations};
    expect(&cost, 1, bound, help);
}

static void kernels(void **state) {
    (void)state;
    expect_kernels(1, 10, 90 * MS, 10 * MS,
                   "memory-bound: 0.11 operations per byte; kernels move 9 GB/s, 90 % of a copy", "fewer bytes");
    expect_kernels(1, 10, 2 * MS, 80 * MS,
                   "compute-bound: 40 operations per byte; kernels move 0.2 GB/s, 2 % of a copy", "cheaper functions");
    /* caches, narrow types, fused multiplications and additions: no share above 100 % */
    expect_kernels(1, 10, 60 * MS, 200 * MS,
                   "compute-bound: 3.3 operations per byte; kernels move 6 GB/s, 60 % of a copy here (10 GB/s), and "
                   "compute 20 G operations/s (additions: 10 G/s here).",
                   "cheaper functions");
    expect_kernels(1, 10, 300 * MS, 10 * MS,
                   "memory-bound: 0.033 operations per byte; kernels move 30 GB/s (a copy: 10 GB/s here), and compute",
                   "fewer bytes");
    expect_kernels(1, 10, 20 * MS, 5 * MS, "memory-bound", "first touch of new pages");
    expect_kernels(1, 10, 2 * MS, 200000, "memory-bound: 0.1 operations per byte; kernels move 0.2 GB/s, 2 % of a copy",
                   "first touch");
    expect_kernels(1, 10, 16, 80 * MS, "compute-bound: kernels have almost no memory traffic, and compute 8 G",
                   "cheaper functions");
    expect_kernels(1, 10, 100000, 200000, "bound by neither memory nor counted operations", "cheaper functions");
    expect_kernels(10000, 10, 80000, 10000, "launch-bound", "fewer, larger kernels: 10000 of them take 1 us each");
    expect_kernels(100, 10, 90 * MS, 10 * MS, "memory-bound", "fewer bytes");
}

static void expect_reading(const char *what, const char *cause, const char *help) {
    const leat_cost costs[] = {
        {.kind = LEAT_COST_KERNEL, .count = 1, .time_ns = MS, .bytes = 8 * MS, .operations = MS},
        {.kind = LEAT_COST_READ, .count = 1, .time_ns = 9 * MS, .bytes = 8 * MS, .what = what, .cause = cause},
        {.kind = LEAT_COST_READ, .count = 1, .time_ns = MS, .bytes = 8 * MS, .what = "small.csv"}};
    expect(costs, 3, "overhead-bound: kernels take 9 % of the time, read 91 %; ", help);
}

static void reading(void **state) {
    (void)state;
    expect_reading("x.npy", "mapped", "help: narrower types, which are fewer bytes; a long-lived process");
    expect_reading("x.npy", "", "help: narrower types, which are fewer bytes.");
    expect_reading("x.npz", "", "help: an .npy file, which is mapped if it is large");
    expect_reading("stdin", "", "help: an .npy file, which is mapped if it is large");
    expect_reading("x.csv", "", "help: an .npy, which needs no parsing");
}

/* Options of the command are named only in the command's verdicts. */
static void callers(void **state) {
    const leat_cost plan = {.kind = LEAT_COST_PLAN, .count = 1, .time_ns = 9 * MS};
    (void)state;
    expect(&plan, 1, "overhead-bound", "the launches as well.");
    expect_kernels(1, 10, 20 * MS, 5 * MS, "memory-bound", "reusing memory (the first touch");
    for_command = true;
    expect(&plan, 1, "overhead-bound", "the launches as well (--repeat shows it).");
    expect_kernels(1, 10, 20 * MS, 5 * MS, "memory-bound", "reusing memory (--repeat shows it: the first touch");
    for_command = false;
}

/* A caller who repeats a call needs no advice to do so, however much of the time such costs still take. */
static void repeated(void **state) {
    const leat_cost costs[] = {{.kind = LEAT_COST_PLAN, .count = 1, .time_ns = 9 * MS},
                               {.kind = LEAT_COST_ALLOCATE, .count = 1, .time_ns = MS}};
    (void)state;
    is_repeated = true;
    expect(costs, 2, "overhead-bound: kernels take 0 % of the time, allocate 10 %;", "writing results into existing");
    expect(costs, 1, "overhead-bound: kernels take 0 % of the time; kernels have", "Would help: more work per call.");
    rest_ns = 90 * MS;
    expect(costs, 2, "overhead-bound: kernels take 0 % of the time, the rest of the call 90 %;", "more work per call");
    rest_ns = 0;
    is_repeated = false;
    expect(costs, 2, "overhead-bound: kernels take 0 % of the time, plan 90 %;", "repeating the call");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(kernels), cmocka_unit_test(reading), cmocka_unit_test(callers),
                                       cmocka_unit_test(repeated)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
