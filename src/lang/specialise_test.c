/* Specialised trees: types by NumPy's promotion, `...` expanded, operand types, and mismatches. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "lang/tree.h"
#include "base/text.h"
#include <stdio.h>
#include <string.h>

struct bound {
    const char *name;
    int rank; /* 0: a scalar */
    enum le_type type;
};

static struct le_tree *specialise(struct le_arena *arena, const char *text, const struct bound *bounds) {
    le_arena_init(arena);
    if (setjmp(arena->failure))
        fail_msg("out of memory");
    struct le_tree *tree = le_check(arena, text, strlen(text));
    if (!tree)
        fail_msg("%s\n%s", text, le_errors_text());
    struct le_input *inputs = LE_NEW_ARRAY(arena, tree->symbol_count, struct le_input);
    for (const struct bound *bound = bounds; bound && bound->name; bound++) {
        int id = le_tree_find(tree, bound->name);
        assert_true(id >= 0);
        inputs[id] = (struct le_input){true, bound->rank > 0, bound->type, bound->rank};
    }
    return le_specialise(arena, tree, inputs);
}
#define INPUTS(...) ((const struct bound[]){__VA_ARGS__, {0}})

static void type_is(const char *text, const struct bound *bounds, const char *name, enum le_type type) {
    struct le_arena arena;
    struct le_tree *tree = specialise(&arena, text, bounds);
    if (!tree)
        fail_msg("%s\n%s", text, le_errors_text());
    enum le_type found = tree->symbols[le_tree_find(tree, name)]->type;
    if (found != type)
        fail_msg("%s: %s is %s (%d), not %s (%d)", text, name, le_type_name(found), found, le_type_name(type), type);
    le_arena_finish(&arena);
}

static void fails(const char *text, const struct bound *bounds, const char *message) {
    struct le_arena arena;
    if (specialise(&arena, text, bounds))
        fail_msg("no error in %s", text);
    const leat_error *error = le_error_at(0);
    if (error->code != LEAT_MISMATCH || !strstr(error->message, message))
        fail_msg("%s\n%s", text, le_errors_text());
    le_arena_finish(&arena);
}

/* z[i] = expression over arrays a and b (LE_NONE: without b). */
static void of(enum le_type a, enum le_type b, const char *expression, enum le_type type) {
    char text[128];
    snprintf(text, sizeof text, "in a, b\nz[i] = %s where i in 0..9", expression);
    type_is(text, INPUTS({"a", 1, a}, {"b", b == LE_NONE ? 0 : 1, b == LE_NONE ? LE_WEAK_INT : b}), "z", type);
}

static void promotes_like_numpy(void **state) {
    (void)state;
    of(LE_F32, 0, "a[i] * 2", LE_F32);
    of(LE_I16, 0, "a[i] + 10", LE_I16);
    of(LE_I8, 0, "a[i] + 1.0", LE_F64);
    of(LE_BOOL, 0, "a[i] + 1", LE_I64);
    of(LE_I8, LE_U8, "a[i] + b[i]", LE_I16);
    of(LE_I64, LE_U64, "a[i] + b[i]", LE_F64);
    of(LE_I16, LE_F32, "a[i] + b[i]", LE_F32);
    of(LE_I8, LE_F16, "a[i] + b[i]", LE_F16);
    of(LE_F16, LE_BF16, "a[i] + b[i]", LE_F32);
    of(LE_BOOL, LE_BOOL, "a[i] + b[i]", LE_BOOL);
    of(LE_BOOL, LE_BOOL, "a[i] - b[i]", LE_I64);
    of(LE_BOOL, LE_I8, "a[i] ** b[i]", LE_I8);
    of(LE_I32, 0, "a[i] + i", LE_I64);
    of(LE_F32, 0, "a[i] * (i + 1) / 2", LE_F32);
    of(LE_I8, LE_I8, "a[i] / b[i]", LE_F64);
    of(LE_F16, 0, "a[i] / 3", LE_F16);
    of(LE_BOOL, 0, "~a[i]", LE_BOOL);
    of(LE_BOOL, 0, "-a[i]", LE_I64);
    of(LE_U16, LE_U16, "a[i] << 1 | b[i]", LE_U16);
    of(LE_U8, 0, "a[i] < 300", LE_BOOL);
    of(LE_I32, 0, "a[i] > 2 ? a[i] : 0.5", LE_F64);
    of(LE_F32, LE_F64, "f32(b[i])", LE_F32);
}

static void finds_types_of_functions_and_reductions(void **state) {
    (void)state;
    of(LE_I32, 0, "sqrt(a[i])", LE_F64);
    of(LE_F32, 0, "exp(-a[i])", LE_F32);
    of(LE_I16, 0, "abs(a[i]) + round(a[i])", LE_I16);
    of(LE_BOOL, LE_BOOL, "max(a[i], b[i])", LE_BOOL);
    of(LE_F32, 0, "clamp(a[i], 0, 1)", LE_F32);
    of(LE_I32, LE_I32, "fma(a[i], b[i], 1)", LE_F64);
    of(LE_I32, LE_I32, "atan2(a[i], b[i])", LE_F64);
    of(LE_F32, 0, "isnan(a[i])", LE_BOOL);
    of(LE_U8, 0, "popcount(a[i])", LE_U8);
    of(LE_I32, 0, "sum(k: a[k] + i)", LE_I64);
    of(LE_U8, 0, "prod(k: a[k]) + 0*i", LE_F64);
    of(LE_U8, 0, "sum(k: a[k]) - u8(i)", LE_U64);
    of(LE_F16, 0, "sum(k: a[k+0*i])", LE_F16);
    of(LE_I16, 0, "max(k: a[k])*a[i]", LE_I16);
    of(LE_I16, 0, "mean(k: a[k])*a[i]", LE_F64);
    of(LE_F32, 0, "argmax(k: a[k] * a[i])", LE_I64);
    of(LE_F32, 0, "all(k: a[k] * a[i])", LE_BOOL);
    of(LE_F32, 0, "rand(1, i)*a[i]", LE_F64);
    of(LE_F32, 0, "a[i]*len(a, 0)", LE_F32);
}

static void finds_types_of_scalars(void **state) {
    (void)state;
    type_is("s = 0.0\ns += x[i]", INPUTS({"x", 1, LE_F32}), "s", LE_F32);
    type_is("k = 0\nk = k + 1", NULL, "k", LE_WEAK_INT);
    type_is("s = 0.0\ny[i] = s * x[i]\ns = sum(i: d[i])", INPUTS({"x", 1, LE_F32}, {"d", 1, LE_F64}), "y", LE_F64);
    type_is("y[i] = x[i] * n", INPUTS({"x", 1, LE_F32}, {"n", 0, LE_WEAK_FLOAT}), "y", LE_F32);
    type_is("y[i] = x[i] * n", INPUTS({"x", 1, LE_F32}, {"n", 0, LE_F64}), "y", LE_F64);
    type_is("in n: f32\ny = n", INPUTS({"n", 0, LE_WEAK_INT}), "y", LE_F32);
    type_is("in eps = 1e-5\ny[i] = x[i] + eps", INPUTS({"x", 1, LE_F16}), "y", LE_F16);
    type_is("in x[n]\ny[i] = x[i] / n", INPUTS({"x", 1, LE_F32}), "y", LE_F32);
    type_is("in x[n]\nout y[n]\ny[i] = x[i] * 1.5", INPUTS({"x", 1, LE_F32}), "y", LE_F32);
    type_is("out y: f64[2]\ny[i] = x[i]", INPUTS({"x", 1, LE_F32}), "y", LE_F64);
    type_is("u[i] = u[i] + d[i]", INPUTS({"u", 1, LE_F32}, {"d", 1, LE_F64}), "u", LE_F32);
}

static void expands_dots_to_indices(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int x, w;
        const char *line;
    } rows[] = {
        {"y[...] = x[...] + w[...]", 2, 1, "make y[...0, ...1] = (x[...0, ...1] + w[...1]) for ...0, ...1"},
        {"y[...,j] = x[...,j] - max(k: w[...,k])", 1, 1, "make y[j] = (x[j] - max(k: w[k])) for j"},
        {"y[...,j] = x[...,j] * w[j]", 3, 1, "make y[...0, ...1, j] = (x[...0, ...1, j] * w[j]) for ...0, ...1, j"},
        {"s = sum(...: x[...]) * w[0]", 3, 1, "make s = (sum(...0, ...1, ...2: x[...0, ...1, ...2]) * w[0])"},
        {"y[j] = sum(..., k: x[...,j,k]) + w[j]", 4, 1,
         "make y[j] = (sum(...0, ...1, k: x[...0, ...1, j, k]) + w[j]) for j"},
        {"in w\nw[...] = x[...]", 1, 2, "w[...0, ...1] = x[...1] for ...0, ...1"},
        {"in w\neach ..., j { q = x[...,j]; w[...,j] += q }", 1, 3,
         "each ...0, ...1, j\n  make q = x[j]  # f64\n  w[...0, ...1, j] += q"},
        {"in w\neach ... { q = sum(...: x[...]); w[...] = q }", 2, 1, "w[...0] = q"},
        {"def f(a) { return a * sum(...: w[...]) }\ny[...] = f(x[...])", 2, 1,
         "y[...0, ...1] = {make a = x[...0, ...1]; return (a * sum(...0: w[...0]))} for ...0, ...1"},
    };
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        struct le_arena arena;
        struct bound bounds[] = {{"x", rows[k].x, LE_F64}, {"w", rows[k].w, LE_F64}, {0}};
        struct le_tree *tree = specialise(&arena, rows[k].text, bounds);
        if (!tree)
            fail_msg("%s\n%s", rows[k].text, le_errors_text());
        struct le_text printed = {0};
        le_tree_print(tree, &printed);
        if (!strstr(printed.at, rows[k].line))
            fail_msg("%s\nlacks: %s\nhas: %s", rows[k].text, rows[k].line, printed.at);
        le_text_finish(&printed);
        le_arena_finish(&arena);
    }
}

static void finds_types_of_loops_and_calls(void **state) {
    (void)state;
    type_is("s = 0.0\nfor j in 0..3 { s = 0.5*s + x[j] }", INPUTS({"x", 1, LE_F32}), "s", LE_F32);
    type_is("var a = 0\nvar b = 0\nfor j in 0..3 { b = a; a = x[j] }", INPUTS({"x", 1, LE_F32}), "b", LE_F32);
    type_is("var k = 0\nwhile k < 5 { k += 1 }", NULL, "k", LE_WEAK_INT);
    type_is("var k = 0\nif k { k = 0.5 } else { k = n }", INPUTS({"n", 0, LE_F16}), "k", LE_F16);
    type_is("out y[3]\nfor t in 0..3 { y[t] = x[t] * 2 }", INPUTS({"x", 1, LE_I16}), "y", LE_I16);
    type_is("var s = 0\nfor t in 0..3 { s = t * x[0] }", INPUTS({"x", 1, LE_I16}), "s", LE_I64);
    type_is("def f(a) { s = 0.0; s += a; return s }\ny[i] = f(x[i])", INPUTS({"x", 1, LE_F32}), "y", LE_F32);
    type_is("def f(a) { if a > 0 { return a }; return 0 }\ny[i] = f(x[i])", INPUTS({"x", 1, LE_U8}), "y", LE_U8);
    type_is("def f(a) { if a > 0 { return 0.5 }; return f32(a) }\ny[i] = f(x[i])", INPUTS({"x", 1, LE_I16}), "y",
            LE_F32);
    type_is("def f(a) { return a > 1 }\ny = f(2)", NULL, "y", LE_BOOL);
    type_is("def f(a) { b = a; for k in 0..2 { b = b * 2 }; return b }\ny = f(3)\nz = f(h)", INPUTS({"h", 0, LE_F16}),
            "y", LE_WEAK_INT);
    type_is("out y[4]\neach i { s = 0; for k in 0..2 { s += x[i] }; y[i] = s }", INPUTS({"x", 1, LE_I8}), "y", LE_I8);
    fails("def f(a) { if a > 0 { return 300 }; return a }\ny[i] = f(x[i])", INPUTS({"x", 1, LE_U8}),
          "the number 300 is out of range for u8");
    fails("in y\neach i { for k in 0..x[i] { y[i] = k } }", INPUTS({"x", 1, LE_F64}, {"y", 1, LE_F64}),
          "a bound must be an integer");
    fails("in y\neach i { y[i] = x[i] }", INPUTS({"x", 1, LE_F64}, {"y", 1, LE_I64}), "needs a cast");
}

static void long_chains_of_types_converge(void **state) {
    (void)state;
    struct le_text text = {0};
    le_text_add(&text, "var a0 = f32(1)\n");
    for (int k = 1; k < 300; k++)
        le_text_add(&text, "var a%d = 0\n", k);
    le_text_add(&text, "for t in 0..3 {\n");
    for (int k = 299; k > 0; k--)
        le_text_add(&text, "a%d = a%d\n", k, k - 1);
    le_text_add(&text, "}");
    type_is(text.at, NULL, "a299", LE_F32);
    le_text_finish(&text);
}

static void reports_mismatches(void **state) {
    (void)state;
    fails("y = x * 2", INPUTS({"x", 1, LE_F64}), "'x' is an array and needs subscripts");
    fails("y[i] = n[i]", INPUTS({"n", 0, LE_WEAK_INT}), "'n' is a scalar and has no subscripts");
    fails("y[i] = x[i,0]", INPUTS({"x", 1, LE_F64}), "'x' has 1 axis, but 2 subscripts are given");
    fails("y[...] = x[...,0,0]", INPUTS({"x", 1, LE_F64}), "'x' has 1 axis, but 2 subscripts are given");
    fails("in x: f32[n]\ny[i] = x[i]", INPUTS({"x", 1, LE_F64}), "'x' is f64, but is declared f32");
    fails("y[i] = x[...,i]", INPUTS({"x", 2, LE_F64}), "'...' is not on the left");
    fails("y[...] = x[...]\nz[i] = y[i,0]", INPUTS({"x", 1, LE_F64}), "'y' has 1 axis, but 2 subscripts are given");
    fails("y[i] = x[x[i]]", INPUTS({"x", 1, LE_F64}), "a subscript must be an integer, not f64");
    fails("z[i] = a[i] + 300", INPUTS({"a", 1, LE_U8}), "the number 300 is out of range for u8");
    fails("z[i] = a[i] * -1", INPUTS({"a", 1, LE_U8}), "the number -1 is out of range for u8");
    fails("z[i] = a[i] << 1", INPUTS({"a", 1, LE_F64}), "'<<' needs integers, not f64");
    fails("out y: i64[3]\ny[i] = x[i]", INPUTS({"x", 1, LE_F64}), "assigning f64 to 'y' (i64) needs a cast");
    fails("z = len(m, 2)", INPUTS({"m", 2, LE_F64}), "'m' has no axis 2");
    fails("y[i] = x[i] where i in 0..n", INPUTS({"x", 1, LE_F64}, {"n", 0, LE_WEAK_FLOAT}),
          "a bound must be an integer");
    fails("in w\neach i { w[i] = x[...,i] }", INPUTS({"x", 2, LE_F64}, {"w", 1, LE_F64}), "'...' is not on the left");
    fails("in w\neach ..., i { w[...,i] = x[...,i] }", INPUTS({"x", 2, LE_F64}, {"w", 1, LE_F64}), "'w' has 1 axis");
    fails("y[...,a,b,c,d,e] = x[...] * w[a,b,c,d,e]", INPUTS({"x", 4, LE_F64}, {"w", 5, LE_F64}), "the limit is 8");
}

static void reports_missing_inputs(void **state) {
    (void)state;
    struct le_arena arena;
    assert_null(specialise(&arena, "C[i,j] += A[i,k] * B[k,j]", INPUTS({"A", 2, LE_F64})));
    assert_int_equal(le_errors_count(), 2);
    assert_int_equal(le_error_at(0)->code, LEAT_PROGRAM);
    assert_string_equal(le_error_at(0)->message, "'C' has no value");
    assert_string_equal(le_error_at(0)->expected, "write C[i,j] = sum(k: ...), or bind it");
    assert_int_equal(le_error_at(1)->code, LEAT_MISSING);
    assert_int_equal(le_error_at(1)->column, 20);
    le_arena_finish(&arena);
}

static const struct le_tree_node *value_of(const struct le_tree *tree) {
    return tree->steps[tree->step_count - 1].value;
}

static void records_operand_types(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum le_type a, b, type, operand;
    } rows[] = {
        {"z[i] = a[i] + b[i]", LE_I8, LE_U8, LE_I16, LE_I16},
        {"z[i] = a[i] / b[i]", LE_I8, LE_I8, LE_F64, LE_F64},
        {"z[i] = a[i] < b[i]", LE_I8, LE_F32, LE_BOOL, LE_F32},
        {"z[i] = a[i] < b[i]", LE_I8, LE_U64, LE_BOOL, LE_NONE},
        {"z[i] = a[i] && b[i]", LE_I8, LE_F32, LE_BOOL, LE_NONE},
        {"z[i] = min(a[i], b[i])", LE_I8, LE_F32, LE_F32, LE_F32},
        {"z[i] = a[i] - b[i]", LE_BOOL, LE_BOOL, LE_I64, LE_I64},
        {"z[i] = isnan(a[i] + b[i])", LE_I8, LE_F32, LE_BOOL, LE_F32},
        {"z = sum(i: a[i] * b[i])", LE_I8, LE_U8, LE_I64, LE_I64},
        {"z = argmin(i: a[i] * b[i])", LE_I8, LE_U8, LE_I64, LE_I16},
        {"z[i] = hypot(a[i], b[i])", LE_I8, LE_U8, LE_F64, LE_F64},
    };
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        struct le_arena arena;
        struct le_tree *tree = specialise(&arena, rows[k].text, INPUTS({"a", 1, rows[k].a}, {"b", 1, rows[k].b}));
        assert_non_null(tree);
        if (value_of(tree)->type != rows[k].type || value_of(tree)->operand != rows[k].operand)
            fail_msg("%s: %d, operands %d", rows[k].text, value_of(tree)->type, value_of(tree)->operand);
        le_arena_finish(&arena);
    }
}

static void copies_accesses(void **state) {
    (void)state;
    struct le_arena arena;
    struct le_tree *tree = specialise(&arena, "in u\nu[...,i] = sum(k in 0..2: i > 0 && x[...,k] > 0 ? x[...,i] : 0)",
                                      INPUTS({"u", 2, LE_F64}, {"x", 3, LE_F64}));
    assert_null(tree); /* `...` needs two axes, u has one */
    le_arena_finish(&arena);
    tree = specialise(&arena, "in u\nu[...,i] = sum(k in 0..2: i > 0 && x[...,k] > 0 ? x[...,i] : 0)",
                      INPUTS({"u", 3, LE_F64}, {"x", 2, LE_F64}));
    assert_non_null(tree);
    const struct le_step *step = &tree->steps[0];
    assert_int_equal(step->free_count, 3);
    assert_int_equal(step->all_count, 4);
    assert_int_equal(step->access_count, 3);
    for (int k = 0; k < 2; k++) {
        const struct le_access *access = &step->accesses[k];
        assert_true(access->guarded);
        assert_int_equal(access->around_count, 1);
        assert_string_equal(access->around[0]->name, "k");
        assert_int_equal(access->node->child_count, 2);
        assert_int_equal(access->node->dots_count, 1);
        assert_ptr_equal(access->node->children[0]->index, step->free[1]);
        assert_ptr_equal(access->node->symbol, tree->symbols[le_tree_find(tree, "x")]);
    }
    assert_true(step->accesses[2].left);
    assert_ptr_equal(step->accesses[2].node, step->left);
    assert_int_equal(step->left->child_count, 3);
    le_arena_finish(&arena);
}

static void copies_each_and_calls(void **state) {
    (void)state;
    struct le_arena arena;
    struct le_tree *tree = specialise(&arena,
                                      "def f(a, n) { s = 0.0; for k in 0..n { if s < 9 { s += a[k] } }; return s }\n"
                                      "in y\neach ..., i { for j in 0..i { y[...,i] = f(x, j) + y[...,i] } }",
                                      INPUTS({"y", 2, LE_F64}, {"x", 1, LE_F64}));
    assert_non_null(tree);
    const struct le_step *each = &tree->steps[0];
    assert_int_equal(each->kind, LE_STEP_EACH);
    assert_int_equal(each->partner, 4);
    assert_int_equal(each->free_count, 2);
    assert_string_equal(each->free[0]->name, "...0");
    assert_int_equal(each->all_count, 4); /* i, j, k and that of `...` */
    const struct le_step *loop = &tree->steps[1], *assign = &tree->steps[2];
    assert_int_equal(each->access_count, 3);
    const struct le_access *in_call = &each->accesses[0];
    assert_true(in_call->guarded);
    assert_int_equal(in_call->around_count, 2);
    assert_ptr_equal(in_call->around[0], loop->index);
    const struct le_tree_node *call = assign->value->children[0];
    assert_int_equal(call->kind, LE_TREE_CALL);
    assert_int_equal(call->operand, LE_F64);
    assert_ptr_equal(in_call->around[1], call->steps[2].index);
    assert_ptr_equal(in_call->node->children[0]->index, call->steps[2].index);
    assert_ptr_equal(in_call->node, call->steps[4].value);
    assert_ptr_equal(call->steps[4].symbol, tree->symbols[call->steps[4].symbol->id]);
    assert_ptr_equal(each->accesses[2].node, assign->left);
    assert_ptr_equal(assign->left->children[0]->index, each->free[0]);
    assert_int_equal(assign->access_count, 0);
    le_arena_finish(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(promotes_like_numpy),
        cmocka_unit_test(finds_types_of_functions_and_reductions),
        cmocka_unit_test(finds_types_of_scalars),
        cmocka_unit_test(finds_types_of_loops_and_calls),
        cmocka_unit_test(long_chains_of_types_converge),
        cmocka_unit_test(expands_dots_to_indices),
        cmocka_unit_test(reports_mismatches),
        cmocka_unit_test(reports_missing_inputs),
        cmocka_unit_test(records_operand_types),
        cmocka_unit_test(copies_accesses),
        cmocka_unit_test(copies_each_and_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
