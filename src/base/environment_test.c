/* What the library reads of the environment while a program changes it. Also runs under tsan. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/environment.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void test_copy(void **state) {
    (void)state;
    setenv("LEAT_TEST_A", "1", 1);
    assert_string_equal(le_environment_get("LEAT_TEST_A"), "1");
    assert_true(le_environment_hold(NULL));
    setenv("LEAT_TEST_A", "2", 1);
    setenv("LEAT_TEST_B", "3", 1);
    const char *first = le_environment_get("LEAT_TEST_A");
    assert_string_equal(first, "1");
    assert_null(le_environment_get("LEAT_TEST_B"));
    assert_null(le_environment_get("LEAT_TEST_"));
    assert_true(le_environment_hold(NULL));
    assert_string_equal(le_environment_get("LEAT_TEST_A"), "2");
    assert_string_equal(le_environment_get("LEAT_TEST_B"), "3");
    assert_string_equal(first, "1"); /* still valid */
    le_environment_release();
    assert_string_equal(le_environment_get("LEAT_TEST_A"), "2");
    le_environment_release();
    unsetenv("LEAT_TEST_B");
    assert_null(le_environment_get("LEAT_TEST_B"));
}

static void test_given(void **state) {
    (void)state;
    char given[] = "LEAT_TEST_A=1";
    const char *const variables[] = {given, "LEAT_TEST_B=", NULL};
    setenv("LEAT_TEST_A", "2", 1);
    assert_true(le_environment_hold(variables));
    given[12] = '3';
    assert_string_equal(le_environment_get("LEAT_TEST_A"), "1");
    assert_string_equal(le_environment_get("LEAT_TEST_B"), "");
    assert_null(le_environment_get("PATH"));
    le_environment_release();
}

static void *read_all(void *stops) {
    size_t bytes = 0;
    do {
        for (char *const *variable = le_environment_all(); *variable; variable++)
            bytes += strlen(*variable);
    } while (!atomic_load((atomic_bool *)stops));
    return bytes ? stops : NULL;
}

/* The thread sanitizer, or a crash, tells if a thread reads the environment that another one changes. */
static void test_threads(void **state) {
    (void)state;
    pthread_t reader;
    atomic_bool stops = false;
    void *result = NULL;
    char name[32];
    assert_true(le_environment_hold(NULL));
    assert_int_equal(pthread_create(&reader, NULL, read_all, &stops), 0);
    for (int k = 0; k < 2000; k++) {
        snprintf(name, sizeof name, "LEAT_TEST_%d", k % 100);
        if (k % 200 < 100)
            setenv(name, name, 1);
        else
            unsetenv(name);
    }
    atomic_store(&stops, true);
    pthread_join(reader, &result);
    assert_ptr_equal(result, &stops);
    le_environment_release();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_copy), cmocka_unit_test(test_given),
                                       cmocka_unit_test(test_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
