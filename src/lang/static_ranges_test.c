/* Programs that can be shown from their text to fail in every run, and programs that may run. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "lang/tree.h"
#include <string.h>

/* message NULL: no error. */
static void says(const char *text, const char *message) {
    struct le_arena arena;
    le_arena_init(&arena);
    if (setjmp(arena.failure))
        fail_msg("out of memory");
    bool right = le_check(&arena, text, strlen(text)) != NULL;
    if (message ? right || !strstr(le_error_at(0)->message, message) : !right)
        fail_msg("%s\n%s", text, right ? "no error" : le_errors_text());
    le_arena_finish(&arena);
}

static void may_run(const char *text) {
    says(text, NULL);
}

static void indices_need_a_range(void **state) {
    (void)state;
    says("y[i] = 3", "index 'i' has no range");
    says("y[i,j] = x[i]", "index 'j' has no range");
    says("y[i] = x[i*i]", "index 'i' has no range");
    says("y[i] = x[i//2]", "index 'i' has no range");
    says("y[i] = x[min(i, 2)]", "index 'i' has no range");
    says("y[i,j] = x[i+j]", "index 'i' has no range");
    says("y[i] = x[i32(i)]", "index 'i' has no range");
    says("s = sum(k: 1)", "index 'k' has no range");
    says("y[i] = x[i] + sum(k: x[i])", "index 'k' has no range");
    says("y[i] = x[sum(k: i)]", "index 'i' has no range");
    says("y[i] = x[i - i]", "index 'i' has no range");
    says("y[i] = sum(k in 0..i: 1)", "index 'i' has no range");
    says("if c { y[i] = 3 }\nz = 1", "index 'i' has no range");
    says("for t in 0..2 { y[i] = t }\nz = 1", "index 'i' has no range");
    says("while c { s = sum(k: c) }\nz = 1", "index 'k' has no range");
    says("out y: f64[3]\neach i { y[0] = 3 }", "index 'i' has no range");
    says("out y: f64[3]\neach i { t = sum(k: i); y[i] = t }", "index 'k' has no range");
    says("def f(v) { return sum(k: v) }\ny = f(3)", "index 'k' has no range");
    says("def f(v) = sum(k: v)\ny = f(3)", "index 'k' has no range");
    assert_string_equal(le_error_at(0)->expected, "write `k in low..high` in the reduction");
    says("out y: f64[sum(k: 2)]", "index 'k' has no range");
    says("y[i] = sum(i: x[i])", "index 'i' has no range");
    assert_string_equal(le_error_at(0)->expected,
                        "the 'i' of the reduction on line 1 is another index: rename one of them");
}

static void inputs_may_give_a_range(void **state) {
    (void)state;
    may_run("y[i] = x[2*i]");
    may_run("in n\ny[i] = x[n*i]");
    may_run("in n, x\ny[i,j] = x[i+n*j] + w[j]");
    may_run("in n, m\ny[i,j] = x[i+n*j] + w[j+m*i]");
    may_run("in x[n]\ny[i] = x[n-1-i]");
    may_run("y[i,j] = x[i+j] + w[j]");
    may_run("y[i,j] = x[i+j-j] + w[j]");
    may_run("y[i] = x[i64(i)]");
    may_run("y[i] = x[floor(i)]");
    may_run("in n\ny[i] = x[i**n]");
    may_run("in n\ny[i] = x[n > 0 ? i : 0]");
    may_run("y[i] = n > 0 ? x[i+1] : 0");
    may_run("c[i] = sum(k in 0..i+1: x[k])");
    may_run("c[i] = sum(k in 0..i, j in 0..k: x[j])");
    may_run("y[i] = x[p[i]]");
    may_run("y[...] = 3 * x[...]");
    may_run("e[...,j] = x[...,j] - max(k: x[...,k])");
    may_run("out y: f64[3]\neach i { for k in 0..2 { y[i] += k } }");
    may_run("def f(a, i) = a[i+1] - a[i]\ny[i] = f(x, i) else 0");
    may_run("for t in 0..3 { u[i] = u[i+t] else 0 }");
}

static void steps_and_new_arrays(void **state) {
    (void)state;
    says("y[i] = i where i in 0..3 by 0", "`by` must be positive");
    says("y[i] = x[0] where i in 0..3 by -1", "`by` must be positive");
    says("s = sum(k in 0..3 by 1-1: k)", "`by` must be positive");
    says("var s = 0\nfor t in 0..3 by 0 { s += t }", "`by` must not be zero");
    says("out y: f64[3]\neach i { for k in 0..3 by 0 { y[i] = k } }", "`by` must not be zero");
    may_run("var s = 0\nfor t in 3..0 by -1 { s += t }");
    says("y[i] = i where i in 1..3", "'y' is new, so index 'i' must start at 0 with step 1");
    says("y[i] = i where i in 0..3 by 2", "'y' is new, so index 'i' must start at 0 with step 1");
    says("y[i,j] = 1 where i in 0..3, j in 0..i+1",
         "'y' is new, so index 'j' must start at 0 with step 1, and end at the same value");
    says("s = sum(k in 0..4611686018427387904: k)", "the range of index 'k' is too large");
    may_run("out y: f64[3]\ny[i] = i where i in 1..3 by 2");
}

static void sizes_in_the_text(void **state) {
    (void)state;
    says("out y: f64[-1]", "y axis 0: the size -1 is negative");
    says("out y: f64[3]\ny[5] = 1", "write to y axis 0 (length 3): subscript is 5");
    says("out y: f64[3]\ny[i] = i where i in 0..5", "write to y axis 0 (length 3): subscript goes from 0 to 4");
    says("var x: f64[4]\ny[i] = x[i+1]", "x axis 0 (length 4): subscript goes from 1 to 4");
    says("w[i] = 1 where i in 0..4\ny[i] = w[i-1]", "w axis 0 (length 4): subscript goes from -1 to 2");
    says("var a: f64[3], b: f64[4]\ny[i] = a[i] + b[i]", "index 'i': the extents differ");
    says("y = x[-1]", "x axis 0: subscript is -1");
    says("in x[2]\ny = x[3]", "x axis 0 (length 2): subscript is 3");
    says("in x: f64[2]\ny[i] = x[i+3]", "x axis 0 (length 2): subscript goes from 3 to 4");
    says("in x[2]\ny[i] = x[i] where i in 0..5", "x axis 0 (length 2): subscript goes from 0 to 4");
    says("in x[2,-3]\ny[i] = x[i,0]", "x axis 1: the size -3 is negative");
    may_run("in x[2], n\ny = x[n]");
    may_run("in x[2]\ny[i] = x[i+3] else 0");
    says("y = sum(k in 0..3: x[k-1])", "x axis 0: subscript goes from -1 to 1");
    may_run("y[i] = x[i] + x[-1]"); /* x may be empty */
    may_run("y = n > 0 ? x[-1] : 0");
    may_run("y = x[-1] else 0");
    may_run("edge x wrap\ny = x[-1]");
    may_run("if n { y = x[-1] }\nz = 1");
    may_run("y = sum(k in 0..n: x[-1])");
    may_run("var x: f64[4]\ny[i] = x[i+1] where i in 0..3");
    may_run("var a: f64[3], b: f64[4]\ny[i] = a[i] + b[i] where i in 0..3");
}

static void a_program_has_a_result(void **state) {
    (void)state;
    says("", "the program has no result");
    says("def f(a) = a", "the program has no result");
    says("for t in 0..3 { w = t }", "the program has no result");
    may_run("in x");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indices_need_a_range),   cmocka_unit_test(inputs_may_give_a_range),
        cmocka_unit_test(steps_and_new_arrays),   cmocka_unit_test(sizes_in_the_text),
        cmocka_unit_test(a_program_has_a_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
