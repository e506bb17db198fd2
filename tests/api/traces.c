/* Traces in the C interface: wrong arguments, and one file read and reported by several threads. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "leat.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SMALL "tests/trace/small.trace"

struct text {
    char *at;
    size_t length;
};

static bool keep(void *user, const void *bytes, size_t size_bytes) {
    struct text *text = user;
    char *longer = realloc(text->at, text->length + size_bytes + 1);
    if (!longer)
        return false;
    text->at = longer;
    memcpy(text->at + text->length, bytes, size_bytes);
    text->length += size_bytes;
    text->at[text->length] = '\0';
    return true;
}

static bool refuse(void *user, const void *bytes, size_t size_bytes) {
    (void)user;
    (void)bytes;
    return size_bytes == 0;
}

static void assert_message(const char *part) {
    leat_error error;
    assert_int_equal(leat_error_get(NULL, &error), LEAT_OK);
    if (!strstr(error.message, part))
        fail_msg("`%s` is not in `%s`", part, error.message);
}

static void refuses_what_is_wrong(void **state) {
    (void)state;
    leat_trace *trace = NULL;
    struct text text = {0};
    assert_int_equal(leat_trace_open(NULL, &trace), LEAT_INVALID);
    assert_message("file is NULL");
    assert_int_equal(leat_trace_open(SMALL, NULL), LEAT_INVALID);
    assert_message("trace is NULL");
    assert_int_equal(leat_trace_open("nowhere.trace", &trace), LEAT_FILE);
    assert_message("cannot read nowhere.trace");
    assert_null(trace);
    assert_int_equal(leat_trace_open("tests/api/traces.c", &trace), LEAT_FILE);
    assert_message("not a trace");
    assert_int_equal(leat_trace_open(SMALL, &trace), LEAT_OK);
    assert_int_equal(leat_trace_report(NULL, LEAT_REPORT_SUMMARY, LEAT_REPORT_TEXT, keep, &text), LEAT_INVALID);
    assert_int_equal(leat_trace_report(trace, LEAT_REPORT_SUMMARY, LEAT_REPORT_TEXT, NULL, &text), LEAT_INVALID);
    assert_message("write is NULL");
    assert_int_equal(leat_trace_report(trace, (leat_report)77, LEAT_REPORT_TEXT, keep, &text), LEAT_INVALID);
    assert_message("77 is not a report");
    assert_int_equal(leat_trace_report(trace, LEAT_REPORT_SUMMARY, (leat_report_format)7, keep, &text), LEAT_INVALID);
    assert_message("7 is not a report format");
    assert_int_equal(leat_trace_report(trace, LEAT_REPORT_OVERVIEW, LEAT_REPORT_CSV, keep, &text), LEAT_INVALID);
    assert_int_equal(leat_trace_report(trace, LEAT_REPORT_SUMMARY, LEAT_REPORT_TEXT, refuse, NULL), LEAT_FILE);
    assert_message("cannot be written");
    assert_true(text.length == 0);
    leat_trace_free(trace);
    leat_trace_free(NULL);
}

static void *report_often(void *user) {
    const leat_trace *trace = user;
    struct text first = {0};
    if (leat_trace_report(trace, LEAT_REPORT_OVERVIEW, LEAT_REPORT_TEXT, keep, &first))
        return NULL;
    for (int k = 0; k < 20; k++) {
        struct text again = {0};
        bool same = leat_trace_report(trace, LEAT_REPORT_OVERVIEW, LEAT_REPORT_TEXT, keep, &again) == LEAT_OK &&
                    strcmp(first.at, again.at) == 0;
        free(again.at);
        if (!same)
            first.at[0] = '\0';
    }
    return first.at;
}

static void threads_share_a_trace(void **state) {
    (void)state;
    pthread_t threads[3];
    leat_trace *trace;
    assert_int_equal(leat_trace_open(SMALL, &trace), LEAT_OK);
    for (int k = 0; k < 3; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, report_often, trace), 0);
    for (int k = 0; k < 3; k++) {
        void *text;
        assert_int_equal(pthread_join(threads[k], &text), 0);
        assert_non_null(text);
        assert_non_null(strstr(text, "  busy          1.14 ms"));
        free(text);
    }
    leat_trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(refuses_what_is_wrong),
                                       cmocka_unit_test(threads_share_a_trace)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
