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

/* words: what the test looks at in the lowered program; the caller frees it. */
static void has_words(const char *text, const char *expected, char *(*words)(const struct le_ir *ir)) {
    struct le_arena arena;
    le_arena_init(&arena);
    if (setjmp(arena.failure))
        fail_msg("out of memory");
    struct le_ir *ir = lower_program(&arena, text);
    if (!ir)
        fail_msg("%s\n%s", le_errors_text(), text);
    char *found = words(ir);
    if (strcmp(found, expected) != 0)
        fail_msg("%s\nexpected: %s\nfound:    %s", text, expected, found);
    free(found);
    le_arena_finish(&arena);
}

static void comes_to(const char *text, const char *expected) {
    has_words(text, expected, words_of);
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

/* The sums of a program, each by the order in which it is added (lower_sum.c), as the IR's text has them. */
static char *sums_of(const struct le_ir *ir) {
    struct le_text all = {0}, out = {0};
    le_ir_print(ir, &all);
    for (const char *at = all.at; (at = strpbrk(at, "(")) != NULL; at++) {
        int length = (int)strspn(at + 1, "abcdefghijklmnopqrstuvwxyz_");
        if ((length == 3 && !strncmp(at + 1, "sum", 3)) || !strncmp(at + 1, "chain", 5))
            le_text_add(&out, "%s%.*s", out.length ? " " : "", length, at + 1);
    }
    le_text_finish(&all);
    le_text_add(&out, "%s", "");
    return out.at;
}

static void is_added(const char *text, const char *expected) {
    has_words(text, expected, sums_of);
}

/* A read that uses a summed index omits an index of the result. */
static void sums_whose_reads_serve_several_results(void **state) {
    (void)state;
    is_added("y[i] = sum(k: a[i,k] * x[k])", "chain_of_products");
    is_added("y[i,j] = sum(k: a[i,k] * b[k,j])", "chain_of_products");
    is_added("y[i,j] = sum(k: a[i,k] + b[k,j])", "chain");
    is_added("y[i,j] = sum(k: abs(a[i,k] - b[j,k]))", "chain");
    is_added("y[i,j] = sum(k: (a[i,k] - b[j,k])**2)", "chain_of_products");
    is_added("y[i,j] = sum(k, l: a[i,k,l] / b[k,l,j])", "chain");
    is_added("y[i] = sum(k: x[k]) * i where i in 0..9", "sum");
    is_added("y[p,i,j] = sum(k: a[p,i,k] * b[p,k,j])", "chain_of_products");
    is_added("y[i,j] = sum(k: x[i,k] * j) where j in 0..9",
             "chain_of_products"); /* the term mentions j, the read does not */
    is_added("y[i,j] = sum(k: x[i,k]) * j where j in 0..9", "sum");
    is_added("y[i] = sum(k in 0..9: x[i] * k)", "sum"); /* the read uses no summed index */
    is_added("y[i,j] = sum(k: a[i,j,k] * b[i,j,k])", "sum");
    is_added("s = sum(i, k: a[i,k] * x[k])", "sum"); /* no index is bound outside */
    is_added("s = sum(i, k: a[i] * x[k])", "sum");
}

static void sums_whose_reads_overlap(void **state) {
    (void)state;
    is_added("y[i] = sum(k in 0..5: x[i+k])", "chain");
    is_added("y[i] = sum(k in 0..5: x[i+k] * w[k])", "chain_of_products");
    is_added("y[i] = sum(k in 0..5: x[2*i-3*k+12])", "chain");
    is_added("y[i] = sum(k in 0..5: x[5*i+k])", "chain"); /* the text decides, not whether they overlap */
    is_added("y[i,j] = sum(p, q: x[i+p,j+q] * w[p,q])", "chain_of_products");
    is_added("edge x fill(0)\ny[i] = sum(k in -2..3: x[i+k])", "chain");
    is_added("y[i] = sum(k: x[k] * (k < i)) where i in 0..9", "chain_of_products");
    is_added("y[i] = sum(k in 0..5: x[i] * x[i])", "sum");
}

static void other_sums_are_added_by_the_tree(void **state) {
    (void)state;
    is_added("y[i,j] = e[i,j] / sum(k: e[i,k])", "sum");
    is_added("y[i] = sum(k: a[i,k])", "sum");
    is_added("y[j] = sum(k: a[k,j])", "sum");
    is_added("y[i] = mean(k: a[i,k] * a[i,k])", "sum");
    is_added("in lo: i64[n]\nin hi: i64[n]\nin c: i64[m]\ny[i] = sum(k in lo[i]..hi[i]: v[k] * x[c[k]])", "sum");
    is_added("y[i] = prod(k: a[i,k] * x[k])", "");
    is_added("y[i] = max(k: a[i,k] * x[k])", "");
    is_added("y[i] = argmin(k: a[i,k] * x[k])", "");
    /* integers are exact in any order */
    is_added("in a: i32[n,m]\nin x: i32[m]\ny[i] = sum(k: a[i,k] * x[k])", "sum");
    is_added("in a: bool[n,m]\nin x: bool[m]\ny[i] = sum(k: a[i,k] && x[k])", "sum");
}

/* Indices of enclosing reductions and of loops over elements count; indices of loops that the host runs do not. */
static void sums_inside_others(void **state) {
    (void)state;
    is_added("y[i] = argmin(j: sum(k: (a[i,k] - b[j,k])**2))", "chain_of_products");
    is_added("y[i] = sum(j: sum(k: (a[i,k] - b[j,k])**2))", "chain chain_of_products");
    is_added("s = sum(i, j: sum(k: a[i,k] * b[j,k]))", "sum chain_of_products");
    is_added("y[i] = sum(j: m[j] * (i + sum(e: p[j,e]))) where i in 0..9",
             "sum chain_of_products"); /* the inner first */
    is_added("y[i] = sum(j: a[i,j] * sum(e: p[i,e]))", "sum sum");
    is_added("y[i] = mean(k: a[i,k] * x[k])", "chain_of_products");
    is_added("y[i] += a[i,k] * x[k]", "chain_of_products");
    is_added("y[i] += a[i,k] - x[k]", "chain");
    is_added("y[i] += a[i,k]", "sum");
    is_added("for t in 0..4 { y[i] = y[i] + sum(k: a[i,k] * t) }", "sum");
    is_added("for t in 0..4 { y[i] = y[i] + sum(k: a[t,k]) }", "sum");
    is_added("for t in 0..4 { y[i] = y[i] + sum(k: a[t,k] * b[i,k]) }", "chain_of_products");
    is_added("out y: f64[len(a, 0)]\neach i { y[i] = sum(k: a[i,k] * x[k]) }", "chain_of_products");
    is_added("def f(i) = sum(k: a[i,k] * x[k])\ny[i] = f(i) where i in 0..9", "chain_of_products");
    is_added("in a: f16[n,m]\nin x: f16[m]\ny[i] = sum(k: a[i,k] * x[k])", "chain_of_products");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_hand_on_changed_values), cmocka_unit_test(a_break_hands_on_current_values),
        cmocka_unit_test(branches_hand_on_values),      cmocka_unit_test(lowers_elements_to_steps),
        cmocka_unit_test(a_step_of_zero_is_an_error),   cmocka_unit_test(products_are_not_contracted_into_later_sums),
        cmocka_unit_test(statement_texts_are_one_line), cmocka_unit_test(sums_whose_reads_serve_several_results),
        cmocka_unit_test(sums_whose_reads_overlap),     cmocka_unit_test(other_sums_are_added_by_the_tree),
        cmocka_unit_test(sums_inside_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
