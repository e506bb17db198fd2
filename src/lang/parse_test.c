/* Parsing: newlines, numbers, errors with their locations, and unusual text. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "lang/tree.h"
#include "base/memory.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct le_stmts parse(struct le_arena *arena, const char *text, size_t size_bytes) {
    le_arena_init(arena);
    if (setjmp(arena->failure))
        fail_msg("out of memory");
    le_errors_clear();
    return le_parse(arena, text, size_bytes);
}

static void counts(const char *text, int statements) {
    struct le_arena arena;
    struct le_stmts stmts = parse(&arena, text, strlen(text));
    if (le_errors_count() > 0 || stmts.count != statements)
        fail_msg("'%s': %d statements\n%s", text, stmts.count, le_errors_text());
    le_arena_finish(&arena);
}

static void newlines_end_statements(void **state) {
    (void)state;
    counts("", 0);
    counts("\n\n# only a comment\n   y[i] = x[i]   # end\n\n", 1);
    counts("y[i] = (x[i]\n + x[i]\n)", 1);
    counts("y[i] = x[i]\n  + x[i]", 1);
    counts("y[i] = x[i] +   # a comment\n\n   # another\n x[i]", 1);
    counts("o[i] = x[i-1]\n  else 0\n  where i in 0..3", 1);
    counts("a = 1; b = 2;; c = 3;\n;d = 4", 4);
    counts("a = 1\r\nb = 2\r\n", 2);
    counts("in\tn\n\ty[i]\t=\tx[i]*n", 2);
    counts("s = 0\ns min= 3\nt = s\nu = min(s,\nt)", 4);
    counts("if a { b = 1 } else if c { b = 2 }\nelse { b = 3 }\nd = 1", 2);
    counts("def f(a) { return a }\nfor t in 0..3 { if t == 1 { break }; s += t }", 2);
    counts("while a > 0 {\n a -= 1\n\n b = a }\neach i, j in 0..3 by 2 { y[i,j] = 1 }", 2);
    counts("edge a, b fill(0)\nedge a mirror", 2);
    counts("\xef\xbb\xbfy = 1\nz = 2", 2);
}

static void place_is(const char *text, int line, int column, int span, const char *message) {
    struct le_arena arena;
    parse(&arena, text, strlen(text));
    const leat_error *error = le_error_at(0);
    if (!error)
        fail_msg("no error in '%s'", text);
    if (error->line != line || error->column != column || error->span != span || !strstr(error->message, message))
        fail_msg("'%s': %d:%d:%d %s", text, error->line, error->column, error->span, error->message);
    le_arena_finish(&arena);
}

static void errors_have_locations(void **state) {
    (void)state;
    place_is("y[i] = x[i] +* 2", 1, 14, 1, "expected an expression, found '*'");
    place_is("a = 1 +;", 1, 8, 1, "expected an expression after '+', found ';'");
    place_is("y = \"a'b\"", 1, 5, 5, "unexpected character '\"'");
    place_is("\xef\xbb\xbfy = *", 1, 5, 1, "expected an expression, found '*'");
    place_is("y = \xef\xbb\xbf", 1, 5, 3, "unexpected character");
    place_is("a[i] = x[i] b[i] = x[i]", 1, 13, 1, "the end of the statement");
    place_is("a = 1\ny = (", 2, 6, 0, "the end of the program");
    place_is("y = \nb = 1", 2, 3, 1, "expected the end of the statement");
    place_is("y[i] = 0 <= x[i] <= 1 ? 1 : 0", 1, 18, 2, "comparisons do not chain");
    place_is("y = sum(a, b)", 1, 5, 3, "'sum' needs an index");
    place_is("y[sum] = 1", 1, 3, 3, "'sum' is reserved");
    place_is("pi = 3", 1, 1, 2, "'pi' is reserved");
    place_is("y = 0x", 1, 6, 1, "found 'x'");
    place_is("y = 18446744073709551616", 1, 5, 20, "is too large");
    place_is("y[i,...] = m[i]", 1, 5, 3, "'...' must come first, and only once");
    place_is("def f(a, b, a) = a", 1, 13, 1, "'f' has two parameters named 'a'");
    place_is("edge x klamp", 1, 8, 5, "an edge mode");
    place_is("in x: i65", 1, 7, 3, "expected a type");
    place_is("y = \xce\xb1 + 1", 1, 5, 2, "unexpected character");
    place_is("by = 1", 1, 1, 2, "expected a statement");
    place_is("y[i] = x[i] where i in 0.5", 1, 27, 0, "'..' of a range");
}

static void reports_all_errors_at_once(void **state) {
    (void)state;
    struct le_arena arena;
    const char *text = "a = 1 +\n;b = 2\nc = 1 2\nd = (3]\ne = 4";
    struct le_stmts stmts = parse(&arena, text, strlen(text));
    assert_int_equal(le_errors_count(), 3);
    assert_int_equal(stmts.count, 2);
    le_arena_finish(&arena);
}

static void a_nul_byte_is_an_error(void **state) {
    (void)state;
    struct le_arena arena;
    parse(&arena, "y = 1\0", 6);
    assert_int_equal(le_errors_count(), 1);
    assert_int_equal(le_error_at(0)->column, 6);
    le_arena_finish(&arena);
}

static double parsed_number(const char *digits) {
    struct le_arena arena;
    char text[128];
    snprintf(text, sizeof text, "y = %s", digits);
    struct le_stmts stmts = parse(&arena, text, strlen(text));
    assert_int_equal(le_errors_count(), 0);
    const struct le_ast *ast = stmts.at[0]->value;
    assert_int_equal(ast->kind, LE_AST_NUMBER);
    double value = ast->op == LE_WEAK_FLOAT ? ast->real : (double)ast->integer;
    le_arena_finish(&arena);
    return value;
}

static void reads_numbers(void **state) {
    (void)state;
    assert_true(parsed_number("0") == 0);
    assert_true(parsed_number("0x10") == 16);
    assert_true(parsed_number("0XfF") == 255);
    assert_true(parsed_number("18446744073709551615") == 18446744073709551616.0);
    assert_true(parsed_number("00000000000000000000000000000000000000000007") == 7);
    assert_true(parsed_number("1.") == 1);
    assert_true(parsed_number(".25") == .25);
    assert_true(parsed_number("1e-3") == 1e-3);
    assert_true(parsed_number("1.5E+2") == 150);
    assert_true(parsed_number("inf") > 1e308);
    counts("y = 1.+2", 1);
    counts("y[i] = 1 where i in 0..2", 1);
    counts("y[i] = 1 where i in 0. .. 2", 1);
}

/* Repeats `unit` between a beginning and an end. */
static void survives(const char *start, const char *unit, int count, const char *end, bool right) {
    struct le_arena arena;
    size_t unit_bytes = strlen(unit), size_bytes = strlen(start) + unit_bytes * (size_t)count + strlen(end);
    char *text = malloc(size_bytes + 1), *to = text;
    assert_non_null(text);
    to += sprintf(to, "%s", start);
    for (int k = 0; k < count; k++, to += unit_bytes)
        memcpy(to, unit, unit_bytes);
    strcpy(to, end);
    le_arena_init(&arena);
    if (setjmp(arena.failure))
        fail_msg("out of memory");
    bool is_right = le_check(&arena, text, size_bytes) != NULL;
    if (is_right != right)
        fail_msg("%s%s...: %s", start, unit, le_errors_text());
    le_arena_finish(&arena);
    free(text);
}

static void rejects_hostile_text(void **state) {
    (void)state;
    survives("y = ", "-", 10000, "1", false);
    survives("y = ", "(", 1 << 18, "", false);
    survives("", "{", 1 << 18, "", false);
    survives("y = ", "2 ** ", 10000, "0", false);
    survives("y = ", "1 && ", 100000, "1", false);
    survives("y = ", "x[", 10000, "0", false);
    survives("y = ", "1 + ", 1900, "1", true);
    survives("y = ", "-", 150, "1", true);
    survives("", "\n", 1 << 18, "y = 1", true);
    survives("y = ", "9", 100000, "", false);
    survives("y = 1e", "9", 100000, "", true);
    survives("var y = 0\n", "if 0 { y = 1 } else ", 10000, "{ y = 2 }", false);
    survives("", "for t in 0..1 { ", 10000, "", false);
    survives("", "\xff", 100000, "", false);
    survives("y = sum(", "a, ", 100000, "b: 1)", false);
    survives("y[", "i,", 100000, "j] = 1", false);
    survives("y = 1", ";y = 1", 20000, "", true);
    survives("def f(", "a, ", 1000, "b) = 1", false);
}

static void limits_nesting(void **state) {
    (void)state;
    for (int depth = LE_NESTING_MAX; depth <= LE_NESTING_MAX + 1; depth++) {
        char text[2 * LE_NESTING_MAX + 16] = "y = ";
        memset(text + 4, '(', (size_t)depth);
        text[4 + depth] = '1';
        memset(text + 5 + depth, ')', (size_t)depth);
        struct le_arena arena;
        parse(&arena, text, strlen(text));
        assert_int_equal(le_errors_count(), depth > LE_NESTING_MAX);
        le_arena_finish(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(newlines_end_statements),
        cmocka_unit_test(errors_have_locations),
        cmocka_unit_test(reports_all_errors_at_once),
        cmocka_unit_test(a_nul_byte_is_an_error),
        cmocka_unit_test(reads_numbers),
        cmocka_unit_test(rejects_hostile_text),
        cmocka_unit_test(limits_nesting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
