/* Lowering of blocks: the stages and steps made from a program's text, as words in order. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/text.h"
#include "ir/ir.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every input is an f64 array of the rank that it is used with, or an f64 scalar. */
static struct le_ir *lower_program(struct le_arena *arena, const char *text) {
    struct le_tree *tree = le_check(arena, text, strlen(text));
    if (!tree)
        return NULL;
    int count, *wanted = le_tree_results(arena, tree, &count);
    struct le_input *inputs = LE_NEW_ARRAY(arena, tree->symbol_count, struct le_input);
    for (int k = 0; k < tree->symbol_count; k++) {
        const struct le_symbol *s = tree->symbols[k];
        enum le_type type = s->declared != LE_NONE ? s->declared : LE_F64;
        if (s->is_input && !s->optional)
            inputs[k] = (struct le_input){true, s->is_array, type, s->is_array ? s->rank : 0};
    }
    tree = le_specialise(arena, tree, inputs);
    struct le_ir *ir = tree ? le_lower(arena, tree, inputs, wanted, count) : NULL;
    if (ir && le_ir_verify(ir) != LEAT_OK)
        fail_msg("%s\n%s", le_errors_text(), text);
    return ir;
}

/* The first word of each stage's line, and of each step's in a region. */
static char *words_of(const struct le_ir *ir) {
    static const char *const others[] = {"symbol", "input",     "value", "local", "note", "index",
                                         "read",   "statement", "write", "#",     "%"};
    struct le_text all = {0}, out = {0};
    le_ir_print(ir, &all);
    for (char *line = all.at; line && *line; line = strchr(line, '\n') + 1) {
        const char *word = line + strspn(line, " ");
        bool is_other = *word == '\n' || (line > all.at + 2 && line[-2] == '='); /* a node on a line of its own */
        for (size_t k = 0; k < ARRAY_LEN(others); k++)
            is_other |= strncmp(word, others[k], strlen(others[k])) == 0;
        if (!is_other)
            le_text_add(&out, "%s%.*s", out.length ? " " : "", (int)strcspn(word, " \n"), word);
    }
    le_text_finish(&all);
    le_text_add(&out, "%s", "");
    return out.at;
}

static void comes_to(const char *text, const char *expected) {
    struct le_arena arena;
    le_arena_init(&arena);
    if (setjmp(arena.failure))
        fail_msg("out of memory");
    struct le_ir *ir = lower_program(&arena, text);
    if (!ir)
        fail_msg("%s\n%s", le_errors_text(), text);
    char *words = words_of(ir);
    if (strcmp(words, expected) != 0)
        fail_msg("%s\nexpected: %s\nfound:    %s", text, expected, words);
    free(words);
    le_arena_finish(&arena);
}

static void loops_hand_on_changed_values(void **state) {
    (void)state;
    comes_to("s = 0.0\nfor t in 0..4 { }\n", "map for end");
    comes_to("var s = 0.0\nfor t in 0..4 { s = s + t }\nr = s", "map move for map move end map");
    /* a symbol set in the block does not exist after it */
    comes_to("for t in 0..4 { q = t + 1.5; u[i] = u[i] + q }", "move for map map move end");
    comes_to("var s = 1.0\nwhile s < 9 { s = s * 2 }\nr = s", "map move loop test map move end map");
    /* each of two nested loops hands on its own values */
    comes_to("var s = 1.0\nfor t in 0..4 { while s < 9 { s = s * 2 } }\nr = s",
             "map move for move loop test map move end move end map");
}

static void a_break_hands_on_current_values(void **state) {
    (void)state;
    comes_to("var s = 1.0\nfor t in 0..4 { s = s + 1; if s > 2 { break }; s = s * 2 }\nr = s",
             "map move for map if move break else end map move end map");
    /* nothing has changed before the break */
    comes_to("var s = 1.0\nfor t in 0..4 { if s > 2 { break }; s = s * 2 }\nr = s",
             "map move for if break else end map move end map");
    /* the statements after it never run */
    comes_to("var s = 1.0\nfor t in 0..4 { break; s = s * 2 }\nr = s", "map move for break end map");
    comes_to("var s = 1.0\nfor t in 0..4 { if s > 2 { break } else { break }; s = s * 2 }\nr = s",
             "map move for if break else break end end map");
}

static void branches_hand_on_values(void **state) {
    (void)state;
    comes_to("var s = 1.0\nif c > 0 { s = 2.0 }\nr = s", "map if map move else move end map");
    comes_to("var s = 1.0\nif c > 0 { s = 2.0 } else if c < 0 { s = 3.0 } else { s = 4.0 }\nr = s",
             "map if map move else if map move else map move end move end map");
}

static void lowers_elements_to_steps(void **state) {
    (void)state;
    comes_to(
        "in x: f64[n]\nout y: f64[n]\neach i { s = x[i]; while s > 1 { s = s / 2; if s < 0 { break } else { s = s * "
        "1.5 } }; y[i] += s }",
        "fill $s.0 while $s.0 if break else $s.0 end end store end each");
    comes_to("def f(z) { if z > 0 { return z }; return -z; z = 1 }\ny[i] = f(x[i])",
             "$z.0 if return end return end map");
    /* a scatter of 16-bit floats adds in f32 */
    comes_to("in b: i64[n]\nout h: f16[8]\neach i { if b[i] { h[b[i]] += 1.5 } }",
             "fill map if store end end each map");
    comes_to("in b: i64[n]\nout h: f16[8]\neach i { h[b[i]] += 1.5 }", "fill map scatter map");
    /* an array read through a parameter, in a loop with a negative step */
    comes_to("def f(a, n) { s = 0.0; for k in n..0 by -1 { s += a[k] }; return s }\ny[i] = f(x, i) + x[i]",
             "$s.1 for $s.1 end return end map");
}

static void a_step_of_zero_is_an_error(void **state) {
    struct le_arena arena;
    (void)state;
    le_arena_init(&arena);
    if (setjmp(arena.failure))
        fail_msg("out of memory");
    assert_null(lower_program(&arena, "var s = 0\nfor t in 0..4 by 0 { s = s + t }\nr = s"));
    assert_non_null(strstr(le_errors_text(), "`by` must not be zero"));
    le_arena_finish(&arena);
}

static void products_are_not_contracted_into_later_sums(void **state) {
    struct le_arena arena;
    (void)state;
    le_arena_init(&arena);
    if (setjmp(arena.failure))
        fail_msg("out of memory");
    struct le_ir *ir = lower_program(&arena, "s = p * q\ny[i] = s + x[i]");
    assert_int_equal(ir->stages.at[1].node->code, LE_OP_ADD);
    le_arena_finish(&arena);
}

/* The statement's text for comments, and for tables. */
static void is_called(const char *text, const char *whole, const char *name) {
    struct le_arena arena;
    le_arena_init(&arena);
    if (setjmp(arena.failure))
        fail_msg("out of memory");
    struct le_ir *ir = lower_program(&arena, text);
    assert_non_null(ir);
    const struct le_stage *stage = &ir->stages.at[ir->stages.count - 1];
    assert_string_equal(ir->statements.at[stage->statement].text, whole);
    assert_string_equal(stage->name, name);
    le_arena_finish(&arena);
}

static void statement_texts_are_one_line(void **state) {
    (void)state;
    is_called("y[i] = x[i] + 1", "y[i] = x[i] + 1", "y[i] = x[i] + 1");
    is_called("y[i] = (x[i]   # one\n\n  # two\n  + 1)# three", "y[i] = (x[i] + 1)", "y[i] = (x[i] + 1)");
    is_called("y[i] = x[i] + 1; z[i] = y[i] # after", "z[i] = y[i]", "z[i] = y[i]");
    is_called("y[i] = x[i] + 100000000 + 200000000 + 300000000 + 400000000 + 5",
              "y[i] = x[i] + 100000000 + 200000000 + 300000000 + 400000000 + 5",
              "y[i] = x[i] + 100000000 + 200000000 + 300000000 + 4000000...");
    char sum[400] = "y[i] = x[i]", cut[400];
    while (strlen(sum) < 300)
        strcat(sum, " + 1");
    snprintf(cut, sizeof cut, "%.237s...", sum);
    char name[400];
    snprintf(name, sizeof name, "%.57s...", sum);
    is_called(sum, cut, name);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_hand_on_changed_values), cmocka_unit_test(a_break_hands_on_current_values),
        cmocka_unit_test(branches_hand_on_values),      cmocka_unit_test(lowers_elements_to_steps),
        cmocka_unit_test(a_step_of_zero_is_an_error),   cmocka_unit_test(products_are_not_contracted_into_later_sums),
        cmocka_unit_test(statement_texts_are_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
