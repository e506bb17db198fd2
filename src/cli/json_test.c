/* Strings of any bytes become valid JSON. */
#include "cli/element.c"
#include "cli/json.c"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void expect(const char *text, const char *quoted) {
    char *got = NULL;
    size_t length;
    FILE *file = open_memstream(&got, &length);
    assert_non_null(file);
    write_quoted(file, text);
    fclose(file);
    assert_string_equal(got, quoted);
    free(got);
}

static void strings(void **state) {
    (void)state;
    expect("", "\"\"");
    expect("a\"b\\c\nd\te", "\"a\\\"b\\\\c\\nd\\u0009e\"");
    expect("caf\xc3\xa9 \xe2\x80\x94 \xf0\x9f\x98\x80", "\"caf\xc3\xa9 \xe2\x80\x94 \xf0\x9f\x98\x80\"");
    expect("\xff\xc3", "\"\\ufffd\\ufffd\"");
    expect("\xc0\x80", "\"\\ufffd\\ufffd\"");
    expect("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"");
    expect("\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
}

static void reals(void **state) {
    (void)state;
    char *got = NULL;
    size_t length;
    struct le_json json = {.file = open_memstream(&got, &length)};
    assert_non_null(json.file);
    le_json_open(&json, NULL, '[');
    le_json_real(&json, NULL, 0.5);
    le_json_real(&json, NULL, 0.1);
    le_json_real(&json, NULL, 0);
    le_json_real(&json, NULL, 33e9);
    le_json_real(&json, NULL, -(double)INFINITY);
    le_json_real(&json, NULL, (double)NAN);
    le_json_close(&json, ']');
    fclose(json.file);
    assert_string_equal(got, "[0.5,0.1,0,33000000000,\"-inf\",\"nan\"]");
    free(got);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(strings), cmocka_unit_test(reals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
