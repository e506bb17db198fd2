/* The error record: a single failure, all errors of a program, and unprintable text. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/status.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 3, 4))) static void add(struct le_location location, const char *expected,
                                                      const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    le_errors_add(LEAT_PROGRAM, location, expected, format, arguments);
    va_end(arguments);
}

static void keeps_one_failure(void **state) {
    (void)state;
    assert_int_equal(le_fail(LEAT_INVALID, "first"), LEAT_INVALID);
    assert_int_equal(le_fail(LEAT_FILE, "cannot read %s", "x.npy"), LEAT_FILE);
    assert_int_equal(le_errors_count(), 1);
    const leat_error *error = le_error_at(0);
    assert_int_equal(error->code, LEAT_FILE);
    assert_string_equal(error->message, "cannot read x.npy");
    assert_string_equal(error->expected, "");
    assert_int_equal(error->line, 0);
    assert_null(le_error_at(1));
    assert_string_equal(le_errors_text(), "error: cannot read x.npy\n");
    le_errors_clear();
    assert_int_equal(le_errors_count(), 0);
    assert_string_equal(le_errors_text(), "");
}

static void takes_its_own_strings(void **state) {
    (void)state;
    le_fail(LEAT_FILE, "inner");
    assert_int_equal(le_fail_prefix(LEAT_FILE, "input %s", "a"), LEAT_FILE);
    assert_string_equal(le_error_at(0)->message, "input a: inner");
    le_fail(LEAT_FILE, "again %s", le_error_at(0)->message);
    assert_string_equal(le_error_at(0)->message, "again input a: inner");
    le_errors_clear();
    le_fail_prefix(LEAT_DEVICE, "alone");
    assert_string_equal(le_error_at(0)->message, "alone");
    le_fail_out_of_memory(12);
    assert_int_equal(le_error_at(0)->code, LEAT_OUT_OF_MEMORY);
    assert_non_null(strstr(le_error_at(0)->message, "12 bytes"));
}

static void shows_lines_and_carets(void **state) {
    (void)state;
    const char *text = "y[i] = a[i]\n\tz[i] = b[j]\r\nlast";
    le_errors_clear();
    add((struct le_location){3, 5, 0}, NULL, "unexpected end");
    add((struct le_location){2, 9, 4}, "write b[i]", "%s has no range", "j");
    add((struct le_location){1, 8, 4}, NULL, "one");
    add((struct le_location){1, 1, 1}, NULL, "two");
    le_errors_sort();
    le_errors_source("f.leat", text, strlen(text));
    assert_string_equal(le_error_at(0)->message, "two");
    assert_string_equal(le_errors_text(), "f.leat:1:1: error: two\n"
                                          "y[i] = a[i]\n"
                                          "^\n"
                                          "f.leat:1:8: error: one\n"
                                          "y[i] = a[i]\n"
                                          "       ^~~~\n"
                                          "f.leat:2:9: error: j has no range\n"
                                          "\tz[i] = b[j] \n"
                                          "\t       ^~~~\n"
                                          "help: write b[i]\n"
                                          "f.leat:3:5: error: unexpected end\n"
                                          "last\n"
                                          "    ^\n");
}

/* Errors with equal locations stay in the order in which they were added. */
static void sorts_stably_and_drops_the_rest(void **state) {
    (void)state;
    le_errors_clear();
    for (int k = 0; k < LE_ERRORS_MAX + 3; k++)
        add((struct le_location){1 + k % 2, 1, 1}, NULL, "error %d", k);
    le_errors_sort();
    assert_int_equal(le_errors_count(), LE_ERRORS_MAX);
    assert_string_equal(le_error_at(0)->message, "error 0");
    assert_string_equal(le_error_at(1)->message, "error 2");
    assert_string_equal(le_error_at(LE_ERRORS_MAX / 2)->message, "error 1");
    assert_non_null(strstr(le_errors_text(), "3 more errors"));
}

static void tells_the_same_once(void **state) {
    (void)state;
    le_errors_clear();
    for (int k = 0; k < 2; k++) {
        add((struct le_location){1, 1, 1}, NULL, "one");
        add((struct le_location){1, 2, 1}, NULL, "one");
        add((struct le_location){1, 1, 1}, NULL, "two");
        add((struct le_location){0}, NULL, "nowhere");
    }
    assert_int_equal(le_errors_count(), 5);
}

static void echoes_only_what_prints(void **state) {
    (void)state;
    static const char text[] = "a\x01"
                               "b\xff"
                               "c\xc3\xa9"
                               "d\xe2\x80\xae"
                               "e\xed\xa0\x80"
                               "f\0g";
    le_errors_clear();
    add((struct le_location){1, 7, 1}, "\x1b[31m", "bad \xfe\nbyte");
    le_errors_source(NULL, text, sizeof text - 1);
    assert_string_equal(le_errors_text(), "program:1:7: error: bad ??byte\n"
                                          "a?b?c\xc3\xa9"
                                          "d?e???f?g\n"
                                          "     ^\n"
                                          "help: ?[31m\n");
}

static void clips_long_lines(void **state) {
    (void)state;
    static char text[100000];
    memset(text, 'x', sizeof text);
    static const int columns[] = {1, 60, 61, 5000, 99999, 100000, 100001, 1 << 30};
    for (size_t k = 0; k < ARRAY_LEN(columns); k++) {
        le_errors_clear();
        add((struct le_location){1, columns[k], 1 << 30}, NULL, "long");
        le_errors_source("p", text, sizeof text);
        const char *line = strchr(le_errors_text(), '\n') + 1, *carets = strchr(line, '\n') + 1;
        assert_in_range(carets - line, 50, 170);
        assert_in_range(strlen(carets), 2, 170);
        assert_true(carets[strspn(carets, " ")] == '^');
        assert_true(strspn(carets, " ") <= (size_t)(carets - line));
    }
}

static void bounds_messages(void **state) {
    (void)state;
    char long_text[2000];
    memset(long_text, 'a', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = 0;
    memcpy(long_text + 510, "\xc3\xa9", 2);
    for (int k = 0; k < LE_ERRORS_MAX; k++)
        add((struct le_location){1, 1, 1}, long_text, "%s", long_text);
    le_errors_source(long_text, long_text, strlen(long_text));
    assert_true(strlen(le_errors_text()) > 1000);
    le_fail(LEAT_FILE, "%s", long_text);
    assert_int_equal(strlen(le_error_at(0)->message), 510);
    le_fail_prefix(LEAT_FILE, "%s", long_text);
    assert_true(strlen(le_error_at(0)->message) <= 511);
}

/* A location outside the text shows no line, and nothing is read beyond the text. */
/* A failure between saving and restoring leaves no trace, at any depth. */
static void is_kept_around_others(void **state) {
    (void)state;
    le_errors_clear();
    le_errors_save();
    le_fail(LEAT_DEVICE, "of nobody's");
    le_errors_restore();
    assert_int_equal(le_errors_count(), 0);
    le_fail_at(LEAT_DATA, (struct le_location){1, 3, 2}, "this", "the first");
    le_errors_source("here.leat", "a = b c", 7);
    char *text = strdup(le_errors_text());
    le_errors_save();
    le_errors_save();
    le_fail(LEAT_DEVICE, "the second");
    le_errors_restore();
    le_fail(LEAT_DEVICE, "the third");
    assert_string_equal(le_error_at(0)->message, "the third");
    le_errors_restore();
    assert_int_equal(le_error_at(0)->code, LEAT_DATA);
    assert_string_equal(le_errors_text(), text);
    le_fail(LEAT_FILE, "the fourth");
    assert_string_equal(le_error_at(0)->message, "the fourth");
    free(text);
}

static void places_may_be_nowhere(void **state) {
    (void)state;
    le_errors_clear();
    add((struct le_location){7, 1, 1}, NULL, "far");
    add((struct le_location){2, 1, 5}, NULL, "empty");
    le_errors_source("p", "x\n", 2);
    assert_string_equal(le_errors_text(), "p:7:1: error: far\np:2:1: error: empty\n\n^\n");
    le_fail_at(LEAT_PROGRAM, (struct le_location){1, 1, 1}, "this", "that");
    le_errors_source("p", "", 0);
    assert_string_equal(le_errors_text(), "p:1:1: error: that\n\n^\nhelp: this\n");
}

static void *fail_elsewhere(void *argument) {
    size_t *before = argument;
    *before = le_errors_count();
    le_fail(LEAT_INVALID, "elsewhere");
    return NULL;
}

static void threads_have_their_own(void **state) {
    (void)state;
    le_fail(LEAT_FILE, "here");
    size_t before = 9;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, &before), 0);
    pthread_join(thread, NULL);
    assert_int_equal(before, 0);
    assert_string_equal(le_error_at(0)->message, "here");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_one_failure),      cmocka_unit_test(takes_its_own_strings),
        cmocka_unit_test(shows_lines_and_carets), cmocka_unit_test(sorts_stably_and_drops_the_rest),
        cmocka_unit_test(tells_the_same_once),    cmocka_unit_test(echoes_only_what_prints),
        cmocka_unit_test(clips_long_lines),       cmocka_unit_test(bounds_messages),
        cmocka_unit_test(is_kept_around_others),  cmocka_unit_test(places_may_be_nowhere),
        cmocka_unit_test(threads_have_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
