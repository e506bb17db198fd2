/* Idioms of other languages, and the advice in the message. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "lang/habits.h"
#include "lang/tree.h"
#include <string.h>

struct row {
    const char *text, *message, *advice;
};

/* Checks the message and the advice of the program's first error. */
static void says(const struct row *row) {
    struct le_arena arena;
    le_arena_init(&arena);
    if (setjmp(arena.failure))
        fail_msg("out of memory");
    if (le_check(&arena, row->text, strlen(row->text)))
        fail_msg("no error in\n%s", row->text);
    const leat_error *error = le_error_at(0);
    if (!strstr(error->message, row->message) || !error->expected || !strstr(error->expected, row->advice))
        fail_msg("%s\n%s", row->text, le_errors_text());
    le_arena_finish(&arena);
}

static void all_say(const struct row *rows, size_t count) {
    for (size_t k = 0; k < count; k++)
        says(&rows[k]);
}

static void syntax_of_other_languages(void **state) {
    (void)state;
    static const struct row rows[] = {
        {"y = if c then a else b", "'if' is reserved", "c ? a : b"},
        {"y = a if c else b", "found 'if'", "c ? a : b"},
        {"y[i] = where(x[i] > 1, x[i], 0)", "'where' is reserved", "c ? a : b"},
        {"y[i] = x[i] > 1 and x[i] < 3 ? 1 : 0", "found 'and'", "write && for `and`"},
        {"y = a or b", "found 'or'", "write || for `or`"},
        {"y = not a", "found 'a'", "write ! for `not`"},
        {"while a and b { y = 1 }", "found 'and'", "write && for `and`"},
        {"y[i] = x[i] where x[i] > 2", "found '['", "`where` gives ranges"},
        {"y[i] = x[i] where i > 2", "found '>'", "`where` gives ranges"},
        {"y[i] = x[i] for i in 0..3", "found 'for'", "`where i in low..high`"},
        {"for i in range(n) { y = i }", "expected '..' of a range", "low..high"},
        {"y = sum(k in 0:n: x[k])", "expected '..' of a range", "low..high"},
        {"if a { y = 1 } elif b { y = 2 }", "found 'elif'", "`else if`"},
        {"for t in 0..3: y = t", "expected '{', found ':'", "{ }"},
        {"def f(x): return x", "found ':'", "write def f(a, b) = EXPRESSION"},
        {"y = lambda x: x", "found 'x'", "write def f(a, b) = EXPRESSION"},
        {"import numpy", "found 'numpy'", "remove it"},
        {"print(y)", "found '('", "results are printed"},
        {"if 1 y = 1", "expected '{', found 'y'", "write the block in { }"},
        {"y = sum(i in 0..3 i)", "expected ':' of the reduction", "write `:` after the ranges"},
        {"y = 1 z = 2", "found 'z'", "`;` between statements"},
        {"let y = 3", "found 'y'", "`var y: f64`"},
        {"y: f64 = 3", "found ':'", "`var y: f64`"},
        {"// all of it\ny = 1", "found '//'", "comments start with #"},
    };
    all_say(rows, ARRAY_LEN(rows));
}

static void operators_of_other_languages(void **state) {
    (void)state;
    static const struct row rows[] = {
        {"in x: f64[n]\ny[i] = x[i]^2", "'^' needs integers, not f64", "write ** for a power"},
        {"in x: f32[n]\ny[i] = x[i] & 1.5", "'&' needs integers", "write && to join conditions"},
        {"y = a < b < c", "comparisons do not chain", "write a < b && b < c"},
        {"y = a == b == c", "comparisons do not chain", "&&"},
        {"y = a <> b", "found '>'", "write !="},
        {"y = a === b", "found '='", "write =="},
        {"if x = 3 { y = 1 }", "expected '{', found '='", "write == to compare"},
        {"y := 3", "found ':'", "write = to assign"},
        {"k = 0; k++", "found '+'", "write k += 1"},
        {"y //= 2", "found '//'", "write y = y + ..."},
        {"y[i,j] = a[i,k] @ b[k,j]", "unexpected character '@'", "sum(k: a[i,k] * b[k,j])"},
        {"y[i] = x[i] .* z[i]", "unexpected character '.'", "all operators work on elements"},
        {"y = 1.0f", "found 'f'", "without a suffix"},
        {"y = 2x", "found 'x'", "write * to multiply"},
        {"y = 2(x + 1)", "found '('", "write * to multiply"},
        {"y = 1_000", "found '_000'", "write numbers without _"},
        {"y = 0b11", "found 'b11'", "hexadecimal"},
        {"y = +x", "found '+'", "there is no unary +"},
        {"y[i] = x[i/2] where i in 0..4", "must be an integer, not f64", "write i // 2"},
        {"y[i] = x[(i+1)/2] where i in 0..4", "must be an integer, not f64", "write // instead of /"},
        {"y = \"abc\"", "unexpected character '\"'", "there are no strings"},
    };
    all_say(rows, ARRAY_LEN(rows));
}

static void arrays_of_other_languages(void **state) {
    (void)state;
    static const struct row rows[] = {
        {"y = x.T", "unexpected character '.'", "y[j,i] = x[i,j]"},
        {"y = x.shape", "unexpected character '.'", "len(x, 0)"},
        {"y = x.sum()", "unexpected character '.'", "sum(i: x[i])"},
        {"y = np.exp(x)", "unexpected character '.'", "exp(x)"},
        {"y = math.pi", "unexpected character '.'", "write pi"},
        {"y = len(x)", "'len' takes the name of an array and an axis", "write len(x, 0)"},
        {"y[i] = x[:, 0]", "found ':'", "there are no slices"},
        {"y[i] = x[i, 1:3]", "found ':'", "there are no slices"},
        {"y = x[-1]", "x axis 0: subscript is -1", "len(x,0)-1"},
        {"y[i] = x[i][0]", "found '['", "x[i,j]"},
        {"y = [1, 2]", "found '['", "there are no array literals"},
        {"in x: float32[n]", "expected a type, found 'float32'", "write f32"},
        {"in x: complex", "expected a type, found 'complex'", "write c128"},
        {"in x: f33[n]", "expected a type, found 'f33'", "types are bool i8"},
    };
    all_say(rows, ARRAY_LEN(rows));
}

static void functions_of_other_languages(void **state) {
    (void)state;
    static const struct row rows[] = {
        {"y = pow(a, 2)", "unknown function 'pow'", "write a ** b"},
        {"y = mod(a, 2)", "unknown function 'mod'", "write a % b"},
        {"y = ln(a)", "unknown function 'ln'", "write log(x)"},
        {"y = int(a)", "unknown function 'int'", "write i64(x)"},
        {"y = float32(a)", "unknown function 'float32'", "write f32(x)"},
        {"y = range(n)", "unknown function 'range'", "0..n"},
        {"y = sort(x)", "unknown function 'sort'", "sort the input"},
        {"y = cumsum(x)", "unknown function 'cumsum'", "c[i] = sum(k in 0..i+1: x[k])"},
        {"y[i] = cumsum(i: x[i])", "unknown reduction 'cumsum'", "c[i] = sum(k in 0..i+1: x[k])"},
        {"y = std(i: x[i])", "unknown reduction 'std'", "sqrt(mean(i: (x[i] - m)**2))"},
        {"y = summ(i: x[i])", "unknown reduction 'summ'", "did you mean `sum`?"},
        {"y = fold(i: x[i])", "unknown reduction 'fold'", "reductions are sum prod"},
        {"y = max(x)", "'max' takes 2 arguments, 1 given", "max(i: x[i])"},
        {"y = sum(x)", "'sum' needs an index", "write sum(i: x[i])"},
        {"y = var(i: x[i])", "'var' is reserved", "mean(i: (x[i] - m)**2)"},
        {"y = sqt(x)", "unknown function 'sqt'", "did you mean `sqrt`?"},
        {"y = round(x, 2)", "'round' takes 1 argument, 2 given", "round(x * 100) / 100"},
    };
    all_say(rows, ARRAY_LEN(rows));
}

static void names_used_as_value_and_index(void **state) {
    (void)state;
    static const struct row rows[] = {
        {"in x[n,c]\ny = sum(c: x[0,c])", "'c' is both a value and an index",
         "is bound to an extent by `in x[...]` on line 1"},
        {"c = 3\ny = sum(c: x[c])", "'c' is both a value and an index", "is assigned on line 1"},
        {"y[i] = w[i]\nz[i] = x[w] where w in 0..2", "'w' is both a value and an index",
         "is read as an array on line 1"},
    };
    all_say(rows, ARRAY_LEN(rows));
}

static void constants_of_other_languages(void **state) {
    (void)state;
    assert_string_equal(le_habit_of_input("True"), "write true");
    assert_string_equal(le_habit_of_input("NaN"), "write nan");
    assert_null(le_habit_of_input("x"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(syntax_of_other_languages),     cmocka_unit_test(operators_of_other_languages),
        cmocka_unit_test(arrays_of_other_languages),     cmocka_unit_test(functions_of_other_languages),
        cmocka_unit_test(names_used_as_value_and_index), cmocka_unit_test(constants_of_other_languages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
