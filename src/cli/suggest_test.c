/* Suggestions for typing mistakes, and none for names that are not near a known one. */
#include "cli/suggest.c"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void finds_what_was_meant(void **state) {
    (void)state;
    static const char *const known[] = {"run",    "check", "show",      "launch",   "devices",  "cache", "trace",
                                        "report", "help",  "--threads", "--repeat", "--device", "-e",    NULL};
    static const struct {
        const char *given, *near;
    } CASES[] = {{"rnu", "run"},
                 {"ru", "run"},
                 {"chekc", "check"},
                 {"lanch", "launch"},
                 {"dev", "devices"},
                 {"device", "devices"},
                 {"cahce", "cache"},
                 {"reprot", "report"},
                 {"halp", "help"},
                 {"frobnicate", NULL},
                 {"x", NULL},
                 {"", NULL},
                 {"compile", NULL},
                 {"--treads", "--threads"},
                 {"--thread", "--threads"},
                 {"--devcie", "--device"},
                 {"--colour", NULL},
                 {"-x", NULL},
                 {"--", NULL},
                 {"a-name-that-is-longer-than-all-that-are-known", NULL}};
    for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; k++) {
        const char *near = le_suggest(CASES[k].given, known);
        if (!near || !CASES[k].near)
            assert_true(near == CASES[k].near);
        else
            assert_string_equal(near, CASES[k].near);
    }
}

static void counts_changes(void **state) {
    (void)state;
    assert_int_equal(distance("", ""), 0);
    assert_int_equal(distance("", "abc"), 3);
    assert_int_equal(distance("abc", ""), 3);
    assert_int_equal(distance("kitten", "sitting"), 3);
    assert_int_equal(distance("ab", "ba"), 1);
    assert_int_equal(distance("abcd", "badc"), 2);
    assert_int_equal(distance("rnu", "run"), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_what_was_meant), cmocka_unit_test(counts_changes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
