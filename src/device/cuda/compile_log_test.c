/* Logs as NVRTC 13.0 and g++ 12 write them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "device/cuda/compile_log.h"
#include <stdio.h>
#include <string.h>

static const char SOURCE[] = "__global__ void f(float *x) { x[0] = y; \n"
                             "  undeclared(3) }\n"
                             "#include \"other.cuh\"\n";
static const char LOG[] = "k.cu(1): error: identifier \"y\" is undefined\n"
                          "  __global__ void f(float *x) { x[0] = y; \n"
                          "                                       ^\n\n"
                          "k.cu(2): error: expected a \";\"\n"
                          "    undeclared(3) }\n"
                          "                  ^\n\n"
                          "other.cuh(100): error: return value type does not match the function type\n"
                          "  __global__ void h() { int q; return 3; }\n"
                          "                                      ^\n\n"
                          "k.cu(1): warning #177-D: variable \"q\" was declared but never referenced\n"
                          "  __global__ void h() { int q; return 3; }\n"
                          "                            ^\n\n"
                          "3 errors detected in the compilation of \"k.cu\".\n";

static void assert_error(size_t k, int line, int column, const char *message) {
    const leat_error *error = le_error_at(k);
    assert_non_null(error);
    assert_int_equal(error->code, LEAT_PROGRAM);
    assert_int_equal(error->line, line);
    assert_int_equal(error->column, column);
    assert_string_equal(error->message, message);
}

static void test_nvrtc(void **state) {
    (void)state;
    assert_int_equal(le_compile_log_fail(LOG, "k.cu", SOURCE), LEAT_PROGRAM);
    assert_int_equal(le_errors_count(), 3);
    assert_error(0, 1, 38, "identifier \"y\" is undefined");
    assert_error(1, 2, 17, "expected a \";\"");
    assert_error(2, 0, 0, "other.cuh:100: return value type does not match the function type");
    assert_string_equal(le_errors_text(), "k.cu:1:38: error: identifier \"y\" is undefined\n"
                                          "__global__ void f(float *x) { x[0] = y; \n"
                                          "                                     ^\n"
                                          "k.cu:2:17: error: expected a \";\"\n"
                                          "  undeclared(3) }\n"
                                          "                ^\n"
                                          "error: other.cuh:100: return value type does not match the function type\n");
}

static void test_catastrophe(void **state) {
    (void)state;
    le_compile_log_fail(
        "a b/k.cu(1): catastrophic error: could not open source file \"nothere.h\" (no directories in "
        "search list)\n  #include <nothere.h>\n                      ^\n\n1 catastrophic error detected\n",
        "a b/k.cu", "#include <nothere.h>\n");
    assert_int_equal(le_errors_count(), 1);
    assert_error(0, 1, 21, "could not open source file \"nothere.h\" (no directories in search list)");
}

static void test_numbered(void **state) {
    (void)state;
    le_compile_log_fail("k.cu(7): error #20: identifier \"y\" is undefined\n", "k.cu", "");
    assert_error(0, 7, 0, "identifier \"y\" is undefined");
}

static void test_gcc(void **state) {
    (void)state;
    le_compile_log_fail(
        "In file included from k.cu:3:\nother.cuh:4:2: error: 'z' was not declared in this scope\n"
        "k.cu: In function 'void f(float*)':\nk.cu:1:38: error: 'y' was not declared in this scope\n"
        "    1 | __global__ void f(float *x) { x[0] = y; \n      |                                      ^\n"
        "k.cu:2: fatal error: too many of these\n",
        "k.cu", SOURCE);
    assert_int_equal(le_errors_count(), 3);
    assert_error(0, 0, 0, "other.cuh:4: 'z' was not declared in this scope");
    assert_error(1, 1, 38, "'y' was not declared in this scope");
    assert_error(2, 2, 0, "too many of these");
}

static void test_name_expression(void **state) {
    (void)state;
    le_compile_log_fail("__nv_name_map(2): error: identifier \"nope\" is undefined\n"
                        "  #pragma nv_mangled_name nope<float>\n                          ^\n\n",
                        "k.cu", SOURCE);
    assert_int_equal(le_errors_count(), 1);
    assert_error(0, 0, 0, "the name \"nope<float>\": identifier \"nope\" is undefined");
}

static void test_assembler(void **state) {
    (void)state;
    le_compile_log_fail("ptxas application ptx input, line 22; error   : Unknown symbol 'x'\nptxas fatal   : aborted\n",
                        "k.cu", SOURCE);
    assert_int_equal(le_errors_count(), 1);
    assert_int_equal(le_error_at(0)->line, 0);
    assert_non_null(strstr(le_error_at(0)->message, "Unknown symbol 'x'"));
    le_compile_log_fail("", "k.cu", SOURCE);
    assert_int_equal(le_errors_count(), 1);
    assert_non_null(strstr(le_error_at(0)->message, "k.cu does not compile"));
}

static void test_many(void **state) {
    (void)state;
    char log[40 * 64] = "";
    for (int k = 0; k < 40; k++)
        sprintf(log + strlen(log), "k.cu(%d): error: again\n", k + 1);
    le_compile_log_fail(log, "k.cu", SOURCE);
    assert_int_equal(le_errors_count(), LE_ERRORS_MAX);
    assert_non_null(strstr(le_errors_text(), "20 more errors are not shown"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nvrtc), cmocka_unit_test(test_catastrophe),     cmocka_unit_test(test_numbered),
        cmocka_unit_test(test_gcc),   cmocka_unit_test(test_name_expression), cmocka_unit_test(test_assembler),
        cmocka_unit_test(test_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
