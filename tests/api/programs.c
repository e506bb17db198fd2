/* Information about a program (inputs, results, indices, types), its printed forms, and leat_eval. */
#include "support.h"
#include <stdio.h>

static void assert_names(const leat_program *program, leat_name_kind kind, const char *expected) {
    leat_name_info info;
    char names[200] = "";
    size_t count;
    assert_ok(leat_program_count(program, kind, &count));
    for (size_t k = 0; k < count; k++) {
        assert_ok(leat_program_name(program, kind, k, &info));
        strcat(strcat(names, k ? " " : ""), info.name);
    }
    assert_string_equal(names, expected);
    assert_status(leat_program_name(program, kind, count, &info), LEAT_INVALID);
}

static void test_names(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_name_info info;
    leat_program *program = program_of(ctx, "in x: f32[n, m]\nin eps = 1e-5\nmu[i] = mean(j: x[i,j])\n"
                                            "y[i,j] = (x[i,j] - mu[i]) * g[j] + eps\nout c: i64\nc = i64(n)\n");
    assert_names(program, LEAT_NAME_RESULT, "c");
    leat_program_free(program);
    program = program_of(
        ctx, "in x: f32[n, m]\nin eps = 1e-5\nmu[i] = mean(j: x[i,j])\ny[i,j] = (x[i,j] - mu[i]) * g[j] + eps\n");
    assert_names(program, LEAT_NAME_RESULT, "y");
    assert_names(program, LEAT_NAME_INDEX, "i j");
    assert_names(program, LEAT_NAME_TEMPORARY, "mu");
    assert_ok(leat_program_name(program, LEAT_NAME_INPUT, 0, &info));
    assert_string_equal(info.name, "x");
    assert_int_equal(info.dtype, LEAT_F32);
    assert_int_equal(info.rank, 2);
    assert_int_equal(info.line, 1);
    assert_false(info.optional);
    assert_true(info.has_value);
    leat_program_free(program);
    leat_close(ctx);
}

static void assert_inputs(leat_context *ctx, const char *text, const char *inputs) {
    leat_program *program = program_of(ctx, text);
    assert_names(program, LEAT_NAME_INPUT, inputs);
    leat_program_free(program);
}

static void test_order_of_inputs(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    assert_inputs(ctx, "in x[n, m], y[m], k = 2\nz[i] = sum(j: x[i,j] * y[j]) * k + g", "x y k g n m");
    assert_inputs(ctx, "def f(p, q) = q - p\ny[i] = f(a[i], b[i])", "a b");
    assert_inputs(ctx, "y[i] += 2 * x[i]", "y x");
    assert_inputs(ctx, "y[i] = x[p[i]] * s", "x p s");
    leat_close(ctx);
}

static void test_any_rank(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_name_info info;
    leat_program *program = program_of(ctx, "y[...,j] = x[...,j] / sum(k: x[...,k])");
    leat_call *call;
    leat_array *x = array_of(ctx, LEAT_F64, 3, SHAPE(1, 2, 2), LIST(1, 3, 2, 2));
    assert_ok(leat_program_name(program, LEAT_NAME_INPUT, 0, &info));
    assert_int_equal(info.rank, -1);
    assert_int_equal(info.dtype, 0);
    call = call_of(program);
    assert_ok(leat_call_set_array(call, "x", x));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_result_f64(call, "y", 4, LIST(0.25, 0.75, 0.5, 0.5));
    leat_array_free(x);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
}

static void test_forms(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_program *program = program_of(ctx, "y[i] = a[i] * 2 + 1");
    leat_call *call = call_of(program);
    leat_array *a = vector_f64(ctx, 3, LIST(1, 2, 3));
    char *text = NULL;
    assert_ok(leat_program_show(program, LEAT_FORM_TREE, &text));
    assert_non_null(strstr(text, "y"));
    leat_memory_free(text);
    assert_int_not_equal(leat_call_show(call, LEAT_FORM_PLAN, &text), LEAT_OK);
    assert_ok(leat_call_set_array(call, "a", a));
    for (leat_form form = LEAT_FORM_IR; form <= LEAT_FORM_BYTECODE; form++) {
        text = NULL;
        assert_ok(leat_call_show(call, form, &text));
        assert_true(strlen(text) > 10);
        leat_memory_free(text);
    }
    leat_array_free(a);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
}

static void test_text_with_size(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_program *program = NULL;
    assert_ok(leat_program_new(ctx, "y = 1 + 1 )))", 9, NULL, &program));
    assert_names(program, LEAT_NAME_RESULT, "y");
    leat_program_free(program);
    assert_status(leat_program_new(ctx, "y = 1\0 + 1", 10, NULL, &program), LEAT_PROGRAM);
    leat_close(ctx);
}

static void test_eval(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_array *a = vector_f64(ctx, 3, LIST(1, 2, 3));
    leat_binding results[] = {{.name = "y"}, {.name = "s"}, {0}};
    for (int k = 1; k <= 3; k++) {
        const leat_binding inputs[] = {{.name = "a", .kind = LEAT_VALUE_ARRAY, .array = a},
                                       {.name = "f", .kind = LEAT_VALUE_F64, .f64 = 0.5},
                                       {.name = "n", .kind = LEAT_VALUE_I64, .i64 = k},
                                       {0}};
        assert_ok(leat_eval(ctx, "y[i] = a[i] * f + n\ns = sum(i: y[i])", inputs, results));
        assert_f64(results[0].array, 3, LIST(0.5 + k, 1.0 + k, 1.5 + k));
        assert_f64(results[1].array, 1, LIST(3.0 + 3 * k));
        leat_array_free(results[0].array);
        leat_array_free(results[1].array);
    }
    results[0].array = results[1].array = NULL;
    const leat_binding wrong[] = {{.name = "q", .kind = LEAT_VALUE_F64, .f64 = 0.5}, {0}};
    assert_int_not_equal(leat_eval(ctx, "y[i] = a[i]\ns = 1", wrong, results), LEAT_OK);
    assert_status(leat_eval(ctx, "y[i] = ", wrong, results), LEAT_PROGRAM);
    assert_null(results[0].array);
    leat_array_free(a);
    leat_close(ctx);
}

static uint64_t count_of(leat_context *ctx, leat_cost_kind kind) {
    leat_cost cost;
    uint64_t count = 0;
    for (size_t k = 0; leat_ledger_get(ctx, k, &cost) == LEAT_OK; k++)
        if (cost.kind == kind)
            count += cost.count;
    return count;
}

static void evaluate(leat_context *ctx, const char *text, leat_array *a, const char *name, size_t count,
                     const double *expected) {
    const leat_binding inputs[] = {{.name = "a", .kind = LEAT_VALUE_ARRAY, .array = a}, {0}};
    leat_binding results[] = {{.name = name}, {0}};
    assert_ok(leat_eval(ctx, text, inputs, results));
    assert_f64(results[0].array, count, expected);
    leat_array_free(results[0].array);
}

static void assert_counts(leat_context *ctx, uint64_t checks, uint64_t compilations, uint64_t plans) {
    assert_int_equal(count_of(ctx, LEAT_COST_CHECK), checks);
    assert_int_equal(count_of(ctx, LEAT_COST_COMPILE), compilations);
    assert_int_equal(count_of(ctx, LEAT_COST_PLAN), plans);
}

/* Only what depends on a change is done again. */
static void test_eval_again(void **state) {
    (void)state;
    static const char *const text = "y[i] = a[i] * 2\nz[i] = y[i] + 1";
    leat_context *ctx = open_context();
    leat_array *a = vector_f64(ctx, 3, LIST(1, 2, 3)), *b = vector_f64(ctx, 3, LIST(4, 5, 6));
    leat_array *longer = vector_f64(ctx, 4, LIST(1, 2, 3, 4));
    evaluate(ctx, text, a, "z", 3, LIST(3, 5, 7));
    assert_counts(ctx, 1, 1, 1);
    evaluate(ctx, text, b, "z", 3, LIST(9, 11, 13));
    evaluate(ctx, text, a, "z", 3, LIST(3, 5, 7));
    assert_counts(ctx, 1, 1, 1);
    evaluate(ctx, text, longer, "z", 4, LIST(3, 5, 7, 9));
    assert_counts(ctx, 1, 1, 2);
    evaluate(ctx, text, longer, "y", 4, LIST(2, 4, 6, 8));
    assert_counts(ctx, 1, 2, 3);
    leat_binding results[] = {{.name = "y"}, {0}};
    assert_status(leat_eval(ctx, text, NULL, results), LEAT_MISSING); /* the previous bindings do not count */
    evaluate(ctx, text, longer, "y", 4, LIST(2, 4, 6, 8));
    assert_counts(ctx, 1, 2, 3);
    leat_array_free(a);
    leat_array_free(b);
    leat_array_free(longer);
    leat_close(ctx);
}

/* The least recently used programs are evicted; those in use stay. */
static void test_eval_forgets(void **state) {
    (void)state;
    enum { TEXTS = 200 };
    leat_context *ctx = open_context();
    leat_array *a = vector_f64(ctx, 1, LIST(1));
    for (int k = 0; k < TEXTS; k++) {
        char text[40];
        snprintf(text, sizeof text, "y[i] = a[i] + %d", k);
        evaluate(ctx, text, a, "y", 1, LIST(1.0 + k));
        evaluate(ctx, "y[i] = a[i] * 7", a, "y", 1, LIST(7));
    }
    assert_counts(ctx, TEXTS + 1, TEXTS + 1, TEXTS + 1);
    evaluate(ctx, "y[i] = a[i] + 190", a, "y", 1, LIST(191));
    assert_counts(ctx, TEXTS + 1, TEXTS + 1, TEXTS + 1);
    evaluate(ctx, "y[i] = a[i] + 3", a, "y", 1, LIST(4));
    assert_counts(ctx, TEXTS + 2, TEXTS + 2, TEXTS + 2);
    leat_array_free(a);
    leat_close(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),      cmocka_unit_test(test_order_of_inputs), cmocka_unit_test(test_any_rank),
        cmocka_unit_test(test_forms),      cmocka_unit_test(test_text_with_size),  cmocka_unit_test(test_eval),
        cmocka_unit_test(test_eval_again), cmocka_unit_test(test_eval_forgets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
