/* Checked programs as le_tree_print shows them, and errors that are found from the text alone. */
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

static struct le_tree *check_program(struct le_arena *arena, const char *text) {
    le_arena_init(arena);
    if (setjmp(arena->failure))
        fail_msg("out of memory");
    return le_check(arena, text, strlen(text));
}

/* The printed tree contains the lines of `lines`, in this order. */
static void makes(const char *text, const char *lines) {
    struct le_arena arena;
    struct le_tree *tree = check_program(&arena, text);
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
    if (check_program(&arena, text))
        fail_msg("no error in\n%s", text);
    const leat_error *error = le_error_at(0);
    if (error->code != LEAT_PROGRAM || error->line != line || error->column != column ||
        !strstr(error->message, message))
        fail_msg("%s\n%s", text, le_errors_text());
    le_arena_finish(&arena);
}

/* The location is not checked: it is where a limit was reached. */
static void is_too_much(const char *text, const char *message) {
    struct le_arena arena;
    assert_null(check_program(&arena, text));
    assert_int_equal(le_errors_count(), 1);
    if (!strstr(le_error_at(0)->message, message))
        fail_msg("%s", le_error_at(0)->message);
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
    fails("def f(a, b) = a\ny = f(1)", 2, 5, "'f' takes 2 arguments, 1 given");
    fails("def f(a) = a[0]\ny = f(1 + 2)", 2, 9, "the argument for 'a' must be the name of an array");
    fails("def f(a) = a\nf = 3", 2, 1, "'f' is a def");
}

static void reports_misused_names(void **state) {
    (void)state;
    fails("e[i] = x[i]\ns = sum(e: x[e])", 2, 9, "'e' is both a value and an index");
    fails("y[i] = x[i] + x[i,0]", 1, 15, "'x' has 1 axis, but 2 subscripts are given");
    fails("y = s * 2\nz[i] = s[i]", 2, 8, "'s' is a scalar and has no subscripts");
    fails("y[i] = x[i]\nz = x", 2, 5, "'x' is an array and needs subscripts");
    fails("y = 3\ny[i] = x[i]", 2, 1, "'y' is a scalar");
    fails("y = frob(1)", 1, 5, "unknown function 'frob'");
    fails("y = sqrt(1, 2)", 1, 5, "'sqrt' takes 1 argument, 2 given");
    fails("y = argmin(i, j: m[i,j])", 1, 5, "'argmin' takes exactly one index");
    fails("y[i] = x[i]\nout y[3]", 2, 5, "'y' is declared twice");
    fails("y[i] = x[i]\nin y", 2, 4, "'y' already has a value");
    fails("in a = a + 1\ny = a", 1, 8, "the default of 'a' uses 'a' itself");
    fails("y = a\nin a = 1", 2, 4, "'a' is used before its default is declared");
    fails("out y[i]\ny[i] = 1", 1, 7, "index 'i' is not allowed here: a scalar is required");
    fails("in x[n], k\ny[n] = x[k]", 2, 3, "'n' is a value, not an index");
    fails("i = 2\ny[i] = x[i]", 2, 3, "'i' is a value, not an index");
    fails("in x = 3, x = 4\ny = x", 1, 11, "'x' is declared twice");
    fails("in x\nin x\ny = x", 2, 4, "'x' is declared twice");
    fails("in x: f32\nin x: f64\ny = x", 2, 4, "'x' is declared twice");
    fails("edge z wrap\ny[i] = x[i]", 1, 1, "'z' is not an array of this program");
}

static void reports_invalid_assignments(void **state) {
    (void)state;
    fails("c[i] = a[i,k] * x[k]", 1, 12, "index 'k' is not on the left");
    fails("y[i] = x[i] where j in 0..3", 1, 19, "the `where` gives a range for 'j', which the statement does not use");
    fails("y[i] = x[i] + j where j in 0..3", 1, 23, "index 'j' is not on the left");
    fails("y[i] = sum(k in 0..j: x[i]) where j in 0..3", 1, 35, "index 'j' is not on the left");
    fails("s = 1.0\ns /= x[i]", 2, 8, "'/=' cannot reduce");
    fails("d[i,i] = x[i]", 1, 5, "'d' is new");
    fails("d[0] = 1", 1, 3, "'d' is new");
    fails("y = x[...]", 1, 5, "'...' is not on the left");
    fails("out y: i64[2]\ny[i] += 0.5", 2, 9, "assigning f64 to 'y' (i64) needs a cast");
    fails("out z: i8[2]\nz[i] = 200 where i in 0..2", 2, 8, "the number 200 is out of range for i8");
    fails("y[i] = x[i] where i in 0..1.5", 1, 27, "a bound must be an integer");
    fails("y[i] = x[0.5*i]", 1, 13, "a subscript must be an integer");
    fails("y = 1.5 << 2", 1, 9, "'<<' needs integers");
    fails("y[i] = m[i,j] where i in 0..2, i in 0..3\nout j", 1, 32, "two ranges");
    fails("y[i,j] = 1 where i in 0..j+1, j in 0..i+1\nout y[4,4]", 1, 3, "depends on itself");
    fails("out y[4]\ny[i] = 1 where i in 0..i+1", 2, 3, "depends on itself");
    makes("x1[i] += A[i,j] * y_1[j]", "input  x1  array, rank 1, assigned\nx1[i] += (A[i, j] * y_1[j]) for i, j");
}

static void reports_names_without_a_value(void **state) {
    (void)state;
    static const struct {
        const char *text, *name, *message;
    } rows[] = {
        {"C[i,j] += A[i,k] * B[k,j]", "C", "write C[i,j] = sum(k: ...), or bind it"},
        {"m max= x[i]", "m", "write m = max(i: ...), or bind it"},
        {"y[i] -= x[i]", "y", "write y[i] = ..., or bind it"},
        {"y[...,0] += x[...]", "y", "write y[...,0] = ..., or bind it"},
    };
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        struct le_arena arena;
        struct le_tree *tree = check_program(&arena, rows[k].text);
        assert_non_null(tree);
        const struct le_symbol *symbol = tree->symbols[le_tree_find(tree, rows[k].name)];
        assert_true(symbol->update_only);
        assert_string_equal(symbol->no_value, rows[k].message);
        le_arena_finish(&arena);
    }
    struct le_arena arena;
    struct le_tree *tree = check_program(&arena, "u[i] += u[i-1] else 0");
    assert_false(tree->symbols[le_tree_find(tree, "u")]->update_only);
    le_arena_finish(&arena);
}

static void lowers_blocks_to_steps(void **state) {
    (void)state;
    makes("var c = 0\nfor t in n-1..-1 by -1 { c += t }",
          "new c = 0\nfor t in (n - 1)..neg(1) by neg(1)\n  c += t\nend");
    makes("var y\nwhile y < 3 { y += 1; if y == 2 { break } }",
          "while (y < 3)\n  y += 1\n  if (y == 2)\n    break\n  end\nend");
    makes("var y\nif a { y = 1 } else if b { y = 2 } else { y = 3 }",
          "if a\n  y = 1\nelse\n  if b\n    y = 2\n  else\n    y = 3\n  end\nend");
    makes("out y: f64[4]\nfor t in 0..2 { y[t] = x[t] }", "for t in 0..2\n  y[t] = x[t]\nend");
    makes("out y: f64[4]\nin k\nfor t in 0..2 { y[t] = x[t,k] * sum(i: x[t,i]) }",
          "y[t] = (x[t, k] * sum(i: x[t, i]))");
    makes("for t in 0..3 { if t { in x: f32[n]\nu[i] += x[i] } }", "bind n = len(x, 0)\nfor t");
    makes("edge x wrap\nif a { edge x clamp; s = sum(i: x[i-1]) }\ny[i] = x[i-1]",
          "  make s = sum(i: x[(i - 1)]:clamp)\nend\nmake y[i] = x[(i - 1)]:wrap for i");
    makes("out y: f64[n]\neach i { s = x[i]; for k in 0..3 { s += k }; y[i] = s }\nin n",
          "each i\n  make s = x[i]\n  for k in 0..3\n    s += k\n  end\n  y[i] = s\nend");
    makes("out y: f64[n]\neach ..., i { y[...,i] = x[...,i] }\nin n", "each ..., i\n  y[..., i] = x[..., i]\nend");
}

static void names_do_not_outlive_their_block(void **state) {
    (void)state;
    makes("for t in 0..2 { q = 1 }\nif a { q[i] = x[i] }\nq2 = 3",
          "block  q  scalar\nblock  q  array, rank 1\n  make q = 1\n  make q[i] = x[i] for i");
    makes("var y\nif a { var y = 3; y = 4 }\ny = 5", "new y\nif a\n  new y = 3\n  y = 4\nend\ny = 5");
    makes("u[i] = x[i]\nfor t in 0..2 { u[i] = u[i-1] else 0 }", "make u[i] = x[i] for i\nfor t in 0..2\n  u[i] = u[");
    makes("for t in 0..2 { u[i] = u[i-1] else 0 }", "input  u  array, rank 1, assigned");
    fails("for t in 0..3 { w = t }\ny = w", 2, 5, "'w' has no value here: it exists only inside the block that set it");
    fails("for t in 0..3 { w[i] = x[i] }\ny[i] = w[i]", 2, 8, "it exists only inside the block that set it");
    fails("def f(x) { if x > 0 { h = 1 }; return h }\ny = f(2)", 1, 39,
          "'h' has no value here: it exists only inside the block that set it");
    fails("def f(x) = x + 1\ny = f", 2, 5, "'f' is a def");
    fails("for t in 0..3 { w = t }\nw += 1", 2, 1, "'w' has no value");
    fails("if a { def f(q) = q * 2 }\nz = f(3)", 2, 5, "unknown function 'f'");
    fails("if a { out z = 3 }", 1, 12, "'z' is declared with `out` in a block");
    fails("out y\nfor t in 0..3 { y = t }", 1, 5, "'y' is set only in a block");
    fails("for t in 0..3 { y[t] = 1 }", 1, 19, "'y' is new");
    fails("for t in 0..3 { for t in 0..3 { y = 3 } }", 1, 21, "'t' is already the index of an enclosing");
    fails("for t in 0..3 { y[i] = x[i] where t in 0..3 }", 1, 35, "'t' is already the index of an enclosing");
    fails("for t in 0..3 { t = 4 }", 1, 5, "'t' is both a value and an index");
    fails("while x[i] { y = 1 }", 1, 9, "index 'i' is not allowed here: a scalar is required");
    fails("if x[...] { y = 1 }", 1, 4, "'...' is not on the left");
}

static void reports_misplaced_statements(void **state) {
    (void)state;
    fails("y = 1\nreturn 3", 2, 1, "'return' outside of a def's block");
    fails("y = 1\nif y { break }", 2, 8, "'break' outside of a `for` or `while`");
    fails("out y: f64[4]\neach i { y[i] = x[i]; break }", 2, 23, "'break' outside of a `for` or `while`");
    fails("out y: f64[4]\nfor t in 0..2 { each i { break } }", 2, 26, "'break' outside of a `for` or `while`");
    fails("def f(a) { break; return a }", 1, 12, "'break' outside of a `for` or `while`");
    fails("out y: f64[4]\neach i { each j { y[i] = 1 } }", 2, 10, "an 'each' inside another 'each'");
    fails("def f(a) { each i { q = 1 }; return a }", 1, 12, "an 'each' inside a def");
    fails("def f(a) { in b; return a }", 1, 12, "'in' inside a def");
    fails("def f(a) { if a { b = 1 } }", 1, 1, "'f' has no `return`");
}

static void each_accesses_only_its_element(void **state) {
    (void)state;
    makes("in h\neach i { h[b[i]] += 1 }", "each i\n  h[b[i]] += 1\nend");
    makes("out y: f64[3,3]\neach i { for j in 1..3 { y[i,j] = y[i,j-1] + 1 } }", "y[i, j] = (y[i, (j - 1)] + 1)");
    makes("out y: f64[3]\neach ... { y[...] = x[...]; y[...] += y[...] }", "y[...] += y[...]");
    fails("out y: f64[2,2]\neach i { y[i,j] = m[i,j] }", 2, 14, "index 'j' is not allowed here: inside an each");
    fails("out y: f64[2,2]\neach i, j { y[i,j] = m[i,j] + y[j,i] }", 2, 13, "'y' is written here and read on line 2");
    fails("out y: f64[2]\neach i { y[i] = y[i-1] }", 2, 10, "inside an each, both need the bare subscript 'i'");
    fails("out h: i64[2]\neach i { h[b[i]] += h[i] }", 2, 10, "inside an each, both need the bare subscript 'i'");
    fails("out y: f64[2]\nin n\neach ... { y[...] = y[0] + n }", 3, 12,
          "inside an each, both need the bare subscript '...'");
    fails("s = 0\nout y: f64[2]\neach i { s = 3; y[i] = s }", 3, 10, "'s' is defined outside the each");
    fails("each i { s += x[i] }", 1, 10, "'s' is defined outside the each");
    fails("each i { y[i] = x[i] }", 1, 10, "'y' has no shape: an each cannot make new arrays");
    fails("each i { var q: f64[3] }", 1, 14, "'q' is an array");
    fails("out y: f64[3]\neach i, i { y[i] = 1 }", 2, 9, "'i' is already the index of an enclosing");
    fails("out y: f64[3]\neach i in 0..k, j { y[i] = x[j] }\nz[k] = 1", 2, 14,
          "index 'k' is not allowed here: an each must bind all of its indices");
    fails("out y: f64[3]\neach i { y[i] = x[...] }", 2, 17, "'...' is not on the left");
    fails("out y: f64[3]\neach i { y[...,i] = 1 }", 2, 10, "the each does not bind `...`");
}

static void inlines_blocks_of_defs(void **state) {
    (void)state;
    makes("t = 5\ndef f(a) { t = a; return t * 2 }\nu = f(3)\nv = t",
          "make t = 5  # i64\nmake u = {make a = 3; make t = a; return (t * 2)}  # i64\nmake v = t");
    makes("def f(a) { u = t + a; t = u; return t }\ny = f(2)", "input  t  scalar\nown    t  scalar");
    makes("def f(a, n) { s = 0; for k in 0..n { s += a[k] }; return s }\ny = f(x, 3)",
          "{make n = 3; make s = 0; for k in 0..n; s += x[k]; end; return s}");
    makes("def g(f, i) = f[i] * 2\ndef h(f, n) { return g(f, n) + len(f, 0) }\ny = h(x, 3)",
          "{make n = 3; return ((x[n] * 2) + len(x, 0))}");
    makes("def f(a) { i = a; return i }\ny[i] = f(x[i])", "make y[i] = {make a = x[i]; make i = a; return i} for i");
    makes("def f(a, i) { edge a clamp; return a[i-1] }\ny[i] = f(x, i) where i in 0..3\nz[i] = x[i-1] else 0",
          "return x[(i - 1)]:clamp}\nmake z[i] = x[(i - 1)] else 0 for i");
    makes("def f(a) { def g(b) { return a + b }; return g(1) * g(2) }\ny = f(3)",
          "{make a = 3; return ({make b = 1; return (a + b)} * {make b = 2; return (a + b)})}");
    makes("s = 1\ndef f(a) = a * s\nif s { var s = 2; y = f(s) }", "make y = (s * s)");
    fails("def f(a) { return f(a) }\ny = f(1)", 1, 19, "unknown function 'f'");
    fails("def f(a) { return x[i] + a }\ny[i] = x[i] + f(2)", 1, 21, "index 'i' is not allowed here: in a def's block");
    fails("t = 3\ndef f(a) { t += a; return t }\ny = f(2)", 2, 12, "'t' has no value");
    fails("def f(a) { q[0] = 1; return a }\ny = f(2)", 1, 12, "can read arrays, but not write them");
    fails("def f(a) { return a[0] }\ny = f(3)", 2, 7, "the argument for 'a' must be the name of an array");
    fails("def f(a) { a = 3; return a[0] }\ny = f(x)", 1, 12, "'a' is a parameter that names an array");
    fails("def f(k) { for k in 0..3 { k = 2 }; return k }\ny = f(1)", 1, 28, "'k' is an index");
    fails("def f(a) { return a + x[...] }\ny[...] = f(x[...])", 1, 23, "'...' is not on the left");
}

static const struct le_step *find_step(const struct le_tree *tree, enum le_step_kind kind) {
    for (int k = 0; k < tree->step_count; k++)
        if (tree->steps[k].kind == kind)
            return &tree->steps[k];
    fail_msg("no such step");
    return NULL;
}

/* "x k, y !": the statement's accesses with the indices around them; ! marks a guarded one. */
static void accesses_are(const char *text, enum le_step_kind kind, const char *wanted) {
    struct le_arena arena;
    struct le_tree *tree = check_program(&arena, text);
    if (!tree)
        fail_msg("%s\n%s", text, le_errors_text());
    const struct le_step *step = find_step(tree, kind);
    struct le_text found = {0};
    for (int k = 0; k < step->access_count; k++) {
        const struct le_access *access = &step->accesses[k];
        le_text_add(&found, "%s%s", k ? ", " : "", access->node->symbol->name);
        for (int i = 0; i < access->around_count; i++)
            le_text_add(&found, " %s", access->around[i]->name);
        le_text_add(&found, "%s%s", access->left ? " =" : "", access->guarded ? " !" : "");
        assert_int_equal(access->node->access, k);
    }
    if (strcmp(found.at ? found.at : "", wanted) != 0)
        fail_msg("%s\nhas: %s\nnot: %s", text, found.at, wanted);
    le_text_finish(&found);
    le_arena_finish(&arena);
}

static void each_lists_the_accesses_of_its_body(void **state) {
    (void)state;
    accesses_are("in y\neach i { a = x[i]; for k in 0..n[0] { a += sum(j: w[j]); y[i] = a } }", LE_STEP_EACH,
                 "x, n, w k j, y k =");
    accesses_are("in y\neach i { if c[i] { y[i] = p[i] } else if d[i] { y[i] = 1 }; y[i] = q[i] }", LE_STEP_EACH,
                 "c, p !, y = !, d !, y = !, q, y =");
    accesses_are("in y\neach i { while c[i] { y[i] = p[i] } }", LE_STEP_EACH, "c, p !, y = !");
    accesses_are("in y\neach i { for k in 0..3 { y[i] = p[i]; if c[i] { break } }; z = q[i] }", LE_STEP_EACH,
                 "p k !, y k = !, c k !, q");
    accesses_are("def f(i) { if c[i] { return 1 }; return d[i] }\ny[i] = f(i) + x[i]", LE_STEP_ASSIGN, "c, d !, x");
    accesses_are("def f(i) { for k in 0..3 { if c[k] { return 1 } }; return d[i] }\ny[i] = x[i] > 0 ? f(i) : 1",
                 LE_STEP_ASSIGN, "x, c k !, d !");
    accesses_are("for t in 0..x[0] { u[i] += 1 }", LE_STEP_FOR, "x");
    accesses_are("for t in 0..3 { u[t] += x[t] }", LE_STEP_ASSIGN, "x, u =");
}

static void partners_are(const char *text, const int *wanted, int count) {
    struct le_arena arena;
    struct le_tree *tree = check_program(&arena, text);
    assert_non_null(tree);
    assert_int_equal(tree->step_count, count);
    for (int k = 0; k < count; k++)
        if (tree->steps[k].partner != wanted[k])
            fail_msg("%s: step %d has partner %d, not %d", text, k, tree->steps[k].partner, wanted[k]);
    le_arena_finish(&arena);
}

static void steps_have_partners(void **state) {
    (void)state;
    partners_are("var y\nwhile y { if y { break } }", (const int[]){0, 5, 4, 1, 2, 1}, 6);
    partners_are("var y\nif y { y = 1 } else { y = 2 }", (const int[]){0, 3, 0, 5, 0, 3}, 6);
    partners_are("var y\nif y { y = 1 } else if 1 { y = 2 }", (const int[]){0, 3, 0, 7, 6, 0, 4, 3}, 8);
    partners_are("in y\neach i { for k in 0..2 { y[i] = k } }", (const int[]){4, 3, 0, 1, 0}, 5);
}

static void indices_record_dependent_bounds(void **state) {
    (void)state;
    struct le_arena arena;
    struct le_tree *tree =
        check_program(&arena, "out y: f64[9]\nfor t in 0..3 { s = sum(k in 0..t: x[k]) }\n"
                              "each i { m = i; for j in 0..m { y[i] += j }; for l in 0..9 { y[i] += l } }");
    assert_non_null(tree);
    const struct le_step *loop = find_step(tree, LE_STEP_FOR), *each = find_step(tree, LE_STEP_EACH);
    assert_true(loop->index->host && loop->index->has_range && !loop->index->depends);
    assert_int_equal(loop->all_count, 0);
    const struct le_step *sum = find_step(tree, LE_STEP_ASSIGN);
    assert_int_equal(sum->free_count, 0);
    assert_int_equal(sum->all_count, 1);
    assert_false(sum->all[0]->depends); /* t is constant while the statement runs */
    assert_int_equal(each->free_count, 1);
    assert_int_equal(each->all_count, 3);
    assert_true(each->all[1]->depends && !each->all[1]->host);
    assert_false(each->all[2]->depends);
    le_arena_finish(&arena);
}

static void steps_record_whether_a_loop_may_skip_them(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool conditional;
    } rows[] = {
        {"var y\nfor t in 0..3 { y = t }", false},
        {"var y\nif y { for t in 0..3 { y = t } }", false},
        {"var y\nfor t in 0..3 { if t { y = t } }", true},
        {"var y\nfor t in 0..3 { y = t; if y { break } }", true},
        {"var y\nfor t in 0..3 { for u in 0..t { y = t }; break }", true},
        {"var y\nfor t in 0..3 { y = t; while y { break } }", false},
    };
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        struct le_arena arena;
        struct le_tree *tree = check_program(&arena, rows[k].text);
        assert_non_null(tree);
        if (find_step(tree, LE_STEP_ASSIGN)->conditional != rows[k].conditional)
            fail_msg("%s", rows[k].text);
        le_arena_finish(&arena);
    }
}

static void limits_depth_and_size(void **state) {
    (void)state;
    struct le_text text = {0};
    le_text_add(&text, "var y = 0\n");
    for (int k = 0; k < 10000; k++)
        le_text_add(&text, "if 0 { y = 1 } else ");
    le_text_add(&text, "{ y = 2 }");
    is_too_much(text.at, "nested too deeply");
    le_text_finish(&text);
    le_text_add(&text, "def g0(a) { return a }\n");
    for (int k = 0; k < 40; k++)
        le_text_add(&text, "def g%d(a) { return g%d(a) + g%d(a) }\n", k + 1, k, k);
    le_text_add(&text, "y = g40(1)");
    is_too_much(text.at, "the program is too large");
    le_text_finish(&text);
    le_text_add(&text, "def g0(a) { return a }\n");
    for (int k = 0; k < 3000; k++)
        le_text_add(&text, "def g%d(a) { return g%d(a) + 1 }\n", k + 1, k);
    le_text_add(&text, "y = g3000(1)");
    is_too_much(text.at, "nested too deeply");
    le_text_finish(&text);
    fails("out y: f64[2]\neach a,b,c,d,e,f,g,h { for i in 0..1 { for j in 0..1 { for k in 0..1 { for l in 0..1 {\n"
          "for m in 0..1 { for n in 0..1 { for o in 0..1 { for p in 0..1 { for q in 0..1 { y[a] += 1 }}}}}}}}}}",
          3, 69, "the statement has 17 indices; the limit is 16");
    makes("def f(a) { s = 0; for k in 0..3 { s += a }; for k in 0..4 { s += a }; return s }\n"
          "y = f(1)+f(2)+f(3)+f(4)+f(5)+f(6)+f(7)+f(8)+f(9)",
          "make y");
}

static void reports_all_errors_at_once(void **state) {
    (void)state;
    struct le_arena arena;
    assert_null(check_program(
        &arena, "a[i] = x[i] * sqrt(1, 2)\nb[i] = frob(a[i])\nc[i] = a[i,0] + b[0]\nd = sum(k: b[k])\ne[i] = x[i,0]"));
    assert_int_equal(le_errors_count(), 3); /* broken names cause no further errors */
    assert_int_equal(le_error_at(2)->line, 5);
    le_arena_finish(&arena);
}

static void results_are(const char *text, const char *names) {
    struct le_arena arena;
    struct le_tree *tree = check_program(&arena, text);
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
    results_are("a = 1\nb = 2\nout b, a", "b a");
    results_are("out u\nu[i] = u[i-1] else 0\nv = 3", "u");
    results_are("in x\nout x\ny[i] = x[i]", "x");
    results_are("out y\n", "y");
    results_are("in n\nedge n clamp", "");
}

/* A failed allocation at any point leaves through the arena. */
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
    static const char text[] =
        "in x[n]\ndef f(a) = a * a\ny[i] = f(x[i-1]) else 0\ns = sum(i: y[i])\nz[...] = w[...]\n"
        "def g(a) { for k in 0..3 { if a > k { return x[k] } }; return a }\nin v\neach i { v[i] = g(y[i]) }\n"
        "for t in 0..2 { q = t; if q { u[i] = u[i] + 1 } else { break } }";
    struct budget budget = {requests};
    struct le_allocator allocator = {limited_allocate, limited_reallocate, release, &budget};
    struct le_arena arena;
    volatile bool done = false;
    le_memory_set_allocator(&allocator);
    le_arena_init(&arena);
    if (!setjmp(arena.failure))
        done = le_check(&arena, text, sizeof text - 1) != NULL;
    le_arena_finish(&arena);
    le_memory_set_allocator(NULL);
    return done;
}

static void survives_every_failed_allocation(void **state) {
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
        cmocka_unit_test(reports_misused_names),
        cmocka_unit_test(reports_invalid_assignments),
        cmocka_unit_test(reports_names_without_a_value),
        cmocka_unit_test(lowers_blocks_to_steps),
        cmocka_unit_test(names_do_not_outlive_their_block),
        cmocka_unit_test(reports_misplaced_statements),
        cmocka_unit_test(each_accesses_only_its_element),
        cmocka_unit_test(inlines_blocks_of_defs),
        cmocka_unit_test(each_lists_the_accesses_of_its_body),
        cmocka_unit_test(steps_have_partners),
        cmocka_unit_test(indices_record_dependent_bounds),
        cmocka_unit_test(steps_record_whether_a_loop_may_skip_them),
        cmocka_unit_test(limits_depth_and_size),
        cmocka_unit_test(reports_all_errors_at_once),
        cmocka_unit_test(finds_the_default_results),
        cmocka_unit_test(survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
