/* Checked programs as le_tree_print shows them, and the errors that the text alone has. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "lang/tree.h"
#include "base/memory.h"
#include "base/text.h"
#include <stdlib.h>
#include <string.h>

static struct le_tree *check(struct le_arena *arena, const char *text) {
    le_arena_init(arena);
    if (setjmp(arena->failure))
        fail_msg("out of memory");
    return le_check(arena, text, strlen(text));
}

/* The tree prints every line of `lines` in this order, among others. */
static void makes(const char *text, const char *lines) {
    struct le_arena arena;
    struct le_tree *tree = check(&arena, text);
    if (!tree)
        fail_msg("%s\n%s", text, le_errors_text());
    struct le_text printed = {0};
    le_tree_print(tree, &printed);
    const char *at = printed.at;
    for (const char *line = lines; *line;) {
        size_t length = strcspn(line, "\n");
        char *wanted = strndup(line, length);
        const char *found = at ? strstr(at, wanted) : NULL;
        if (!found)
            fail_msg("%s\nlacks: %s\nhas: %s", text, wanted, printed.at);
        at = found + length;
        free(wanted);
        line += length + (line[length] == '\n');
    }
    le_text_finish(&printed);
    le_arena_finish(&arena);
}

static void fails(const char *text, int line, int column, const char *message) {
    struct le_arena arena;
    if (check(&arena, text))
        fail_msg("no error in\n%s", text);
    const leat_error *error = le_error_at(0);
    if (error->code != LEAT_PROGRAM || error->line != line || error->column != column ||
        !strstr(error->message, message))
        fail_msg("%s\n%s", text, le_errors_text());
    le_arena_finish(&arena);
}

static void finds_inputs_and_indices(void **state) {
    (void)state;
    makes("y[i] = a[i] / sum(k: a[k])", "input  a  array, rank 1\nmake y[i] = (a[i] / sum(k: a[k])) for i");
    makes("in k\ny[i] = x[i+k] else 0", "input  k  scalar\ny[i] = x[(i + k)] else 0 for i");
    makes("z[...] = x[...,0] * m[...]", "x  array, rank 1 or more\nm  array, rank 1 or more\nmake z[...]");
    makes("z[i] = x[...,i]\nz[i] = x[i]", "x  array, rank 1\n");
    makes("n = len(a, 0)", "a  array, rank 1 or more");
    makes("in q\ny = 1", "q  array or scalar");
    makes("in x: f32[n, n], w[n-1]\ny[i,j] = x[i,j]", "x  array, rank 2, f32\nn  scalar, optional\nbind n = len(x, "
                                                      "0)\nagree len(x, 1) == n\nagree len(w, 0) == (n - 1)");
    makes("in a = 2, b = a + 1\ny = b", "a  scalar, optional\nb  scalar, optional\ndefault b = (a + 1)");
    makes("u[i] = u[i-1] + u[i+1]", "input  u  array, rank 1, assigned\nu[i] = (u[(i - 1)] + u[(i + 1)])");
    makes("out y: i64[3] = 7\ny[0] = 1", "result y  array, rank 1, i64\nnew y[3] = 7\ny[0] = 1  # i64");
}

static void binds_in_scope(void **state) {
    (void)state;
    makes("y[i] = sum(j in 0..i: m[i,j]) where i in 0..4", "sum(j in 0..i: m[i, j]) for i in 0..4");
    makes("h = 0\nh += 1 where j in 0..i, i in 0..3", "h += 1 for i in 0..3, j in 0..i");
    makes("y[i] = sum(i in 0..2: x[i]) + w[i]", "make y[i] = (sum(i in 0..2: x[i]) + w[i]) for i");
}

static void inlines_defs(void **state) {
    (void)state;
    makes("def sq(z) = z * z\ny[i] = sq(x[i] + 1)", "y[i] = ((x[i] + 1) * (x[i] + 1)) for i");
    makes("def d(f, i) = f[i+1] - f[i-1]\ny[j] = d(x, j) else 0", "y[j] = (x[(j + 1)] - x[(j - 1)]) else 0 for j");
    makes("def tot(a) = sum(k: x[k] * a)\ny[k] = tot(w[k])", "y[k] = sum(k: (x[k] * w[k])) for k");
    makes("def g(a) = a + 1\ndef f(a) = g(g(a)) * 2\ny = f(1)", "y = (((1 + 1) + 1) * 2)");
    makes("def f(a) = a * s\ns = 2\ny = f(3)", "y = (3 * s)");
    makes("def f(a) = a\ndef g(a) = f(a)\ndef f(a) = a + 1\ny = g(2)\nz = f(2)", "make y = 2\nmake z = (2 + 1)");
    makes("edge x clamp\ndef d(f, i) = f[i-1]\ny[i] = d(x, i)\nedge x none\nz[i] = d(x, i) else 0",
          "y[i] = x[(i - 1)]:clamp for i\nz[i] = x[(i - 1)] else 0 for i");
    makes("edge x fill(2*k)\ny[i] = x[i-1]", "fill fill");
    fails("def f(a) = g(a)\ndef g(a) = a\ny = f(1)", 1, 12, "unknown function 'g'");
    fails("def f(a) = f(a)\ny = f(1)", 1, 12, "unknown function 'f'");
    fails("def f(a, b) = a\ny = f(1)", 2, 5, "f takes 2 arguments, 1 given");
    fails("def f(a) = a[0]\ny = f(1 + 2)", 2, 9, "parameter 'a' must be the name of an array");
    fails("def f(a) = a\nf = 3", 2, 1, "'f' is a def");
}

static void tells_names_that_do_not_fit(void **state) {
    (void)state;
    fails("e[i] = x[i]\ns = sum(e: x[e])", 2, 9, "'e' is a value and an index");
    fails("y[i] = x[i] + x[i,0]", 1, 15, "x has 1 axes, 2 subscripts given");
    fails("y = s * 2\nz[i] = s[i]", 2, 8, "'s' is a scalar: it has no subscripts");
    fails("y[i] = x[i]\nz = x", 2, 5, "'x' is an array: subscript it");
    fails("y = 3\ny[i] = x[i]", 2, 1, "'y' is a scalar");
    fails("y = frob(1)", 1, 5, "unknown function 'frob'");
    fails("y = sqrt(1, 2)", 1, 5, "sqrt takes 1 argument, 2 given");
    fails("y = argmin(i, j: m[i,j])", 1, 5, "argmin has one index");
    fails("y[i] = x[i]\nout y[3]", 2, 5, "'y' is declared twice");
    fails("y[i] = x[i]\nin y", 2, 4, "'y' has a value already");
    fails("in a = a + 1\ny = a", 1, 8, "the default of 'a' uses 'a' itself");
    fails("y = a\nin a = 1", 2, 4, "before its first use");
    fails("out y[i]\ny[i] = 1", 1, 7, "index 'i': a scalar is needed here");
    fails("in x[n], k\ny[n] = x[k]", 2, 3, "'y' is new");
}

static void tells_assignments_that_do_not_fit(void **state) {
    (void)state;
    fails("c[i] = a[i,k] * x[k]", 1, 12, "k is not on the left: write sum(k: ...)");
    fails("y[i] = x[i] where j in 0..3", 1, 19, "j is not on the left");
    fails("s = 1.0\ns /= x[i]", 2, 8, "'/=' must not reduce");
    fails("d[i,i] = x[i]", 1, 5, "'d' is new");
    fails("d[0] = 1", 1, 3, "'d' is new");
    fails("y = x[...]", 1, 5, "... is not on the left");
    fails("out y: i64[2]\ny[i] += 0.5", 2, 9, "f64 into y (i64) needs a cast");
    fails("out z: i8[2]\nz[i] = 200 where i in 0..2", 2, 8, "the number 200 is out of the range of i8");
    fails("y[i] = x[i] where i in 0..1.5", 1, 27, "a bound must be an integer");
    fails("y[i] = x[0.5*i]", 1, 13, "a subscript must be an integer");
    fails("y = 1.5 << 2", 1, 9, "'<<' needs integers");
    fails("y[i] = m[i,j] where i in 0..2, i in 0..3\nout j", 1, 32, "two ranges");
    makes("x1[i] += A[i,j] * y_1[j]", "input  x1  array, rank 1, assigned\nx1[i] += (A[i, j] * y_1[j]) for i, j");
}

static void knows_what_has_no_value(void **state) {
    (void)state;
    static const struct {
        const char *text, *name, *message;
    } rows[] = {
        {"C[i,j] += A[i,k] * B[k,j]", "C", "C has no value: write C[i,j] = sum(k: ...)"},
        {"m max= x[i]", "m", "m has no value: write m = max(i: ...)"},
        {"y[i] -= x[i]", "y", "y has no value: write y[i] = ..."},
        {"y[...,0] += x[...]", "y", "y has no value: write y[...,0] = ..."},
    };
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        struct le_arena arena;
        struct le_tree *tree = check(&arena, rows[k].text);
        assert_non_null(tree);
        const struct le_symbol *symbol = tree->symbols[le_tree_find(tree, rows[k].name)];
        assert_true(symbol->update_only);
        assert_string_equal(symbol->no_value, rows[k].message);
        le_arena_finish(&arena);
    }
    struct le_arena arena;
    struct le_tree *tree = check(&arena, "u[i] += u[i-1] else 0");
    assert_false(tree->symbols[le_tree_find(tree, "u")]->update_only);
    le_arena_finish(&arena);
}

static void says_what_is_not_supported(void **state) {
    (void)state;
    fails("y = 2j", 1, 5, "complex numbers are not supported yet");
    fails("y[i] = re(z[i])", 1, 8, "complex numbers are not supported yet");
    fails("in z: c64[n]\ny = z[0]", 1, 4, "complex numbers are not supported yet");
}

static void blocks_become_steps(void **state) {
    (void)state;
    makes("var c = 0\nfor t in n-1..-1 by -1 { c += t }",
          "new c = 0\nfor t in (n - 1)..neg(1) by neg(1)\n  c += t\nend");
    makes("var y\nwhile y < 3 { y += 1; if y == 2 { break } }",
          "while (y < 3)\n  y += 1\n  if (y == 2)\n    break\n  end\nend");
    makes("var y\nif a { y = 1 } else if b { y = 2 } else { y = 3 }",
          "if a\n  y = 1\nelse\n  if b\n    y = 2\n  else\n    y = 3\n  end\nend");
    makes("out y: f64[4]\nfor t in 0..2 { y[t] = x[t] }", "for t in 0..2\n  y[t] = x[t]\nend");
    makes("out y: f64[4]\nfor t in 0..2 { y[t] = x[t,k] * sum(i: x[t,i]) }\nin k",
          "y[t] = (x[t, k] * sum(i: x[t, i]))");
    makes("for t in 0..3 { in x: f32[n]\nu[i] += x[i] }", "bind n = len(x, 0)\nfor t");
}

static void all_errors_come_at_once(void **state) {
    (void)state;
    struct le_arena arena;
    assert_null(check(
        &arena, "a[i] = x[i] * sqrt(1, 2)\nb[i] = frob(a[i])\nc[i] = a[i,0] + b[0]\nd = sum(k: b[k])\ne[i] = x[i,0]"));
    assert_int_equal(le_errors_count(), 3); /* what is broken makes no others */
    assert_int_equal(le_error_at(2)->line, 5);
    le_arena_finish(&arena);
}

static void results_are(const char *text, const char *names) {
    struct le_arena arena;
    struct le_tree *tree = check(&arena, text);
    assert_non_null(tree);
    int count, *ids = le_tree_results(&arena, tree, &count);
    struct le_text found = {0};
    for (int k = 0; k < count; k++)
        le_text_add(&found, "%s%s", k ? " " : "", tree->symbols[ids[k]]->name);
    assert_string_equal(found.at ? found.at : "", names);
    le_text_finish(&found);
    le_arena_finish(&arena);
}

static void finds_the_default_results(void **state) {
    (void)state;
    results_are("first[i] = x[i] + 1\nsecond[i] = x[i] * 2", "first second");
    results_are("t[i] = x[i]\ny[i] = t[i]", "y");
    results_are("xray[i] = xray[i] + 1\ntotal = sum(i: xray[i])", "xray total");
    results_are("s = 0.0\ns += x[i]", "s");
    results_are("out b\nout a\na = 1\nb = a\nc = 2", "b a");
    results_are("out u\nu[i] = u[i-1] else 0\nv = 3", "u");
    results_are("in x\nout x\ny[i] = x[i]", "x");
    results_are("out y\n", "y");
    results_are("in n\nedge n clamp", "");
}

/* The sizes of a program are found out before memory is: every failed request leaves through the arena. */
struct budget {
    int left;
};
static void *limited_allocate(size_t size_bytes, void *user) {
    struct budget *budget = user;
    return budget->left-- > 0 ? malloc(size_bytes) : NULL;
}
static void *limited_reallocate(void *memory, size_t size_bytes, void *user) {
    struct budget *budget = user;
    return budget->left-- > 0 ? realloc(memory, size_bytes) : NULL;
}
static void release(void *memory, void *user) {
    (void)user;
    free(memory);
}

static bool try_check(int requests) {
    static const char text[] = "in x[n]\ndef f(a) = a * a\ny[i] = f(x[i-1]) else 0\ns = sum(i: y[i])\nz[...] = w[...]";
    struct budget budget = {requests};
    struct le_allocator allocator = {limited_allocate, limited_reallocate, release, &budget};
    struct le_arena arena;
    volatile bool done = false;
    le_memory_use(&allocator);
    le_arena_init(&arena);
    if (!setjmp(arena.failure))
        done = le_check(&arena, text, sizeof text - 1) != NULL;
    le_arena_finish(&arena);
    le_memory_use(NULL);
    return done;
}

static void every_failed_allocation_is_survived(void **state) {
    (void)state;
    int requests = 0;
    while (requests < 1000 && !try_check(requests))
        requests++;
    assert_in_range(requests, 1, 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_inputs_and_indices),
        cmocka_unit_test(binds_in_scope),
        cmocka_unit_test(inlines_defs),
        cmocka_unit_test(tells_names_that_do_not_fit),
        cmocka_unit_test(tells_assignments_that_do_not_fit),
        cmocka_unit_test(knows_what_has_no_value),
        cmocka_unit_test(says_what_is_not_supported),
        cmocka_unit_test(blocks_become_steps),
        cmocka_unit_test(all_errors_come_at_once),
        cmocka_unit_test(finds_the_default_results),
        cmocka_unit_test(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
