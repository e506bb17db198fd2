/* Results of programs on a device that are written directly into the caller's memory: numbers, and arrays with any
 * order of axes. Also the cases in which they are not, because something else uses that memory. On sim, as in
 * on_device.c. */
#include "support.h"
#include <stdio.h>

enum { SKIPPED = 77 };

static leat_context *open_sim(void) {
    const leat_options options = {.device = "sim", .keep_code = true};
    leat_context *ctx = NULL;
    assert_ok(leat_open(&options, &ctx));
    return ctx;
}

static double number_at(const leat_array *array) {
    double value = 0;
    assert_ok(leat_array_read(array, &value, sizeof value, NULL, NULL));
    return value;
}

/* Numbers are written directly into the caller's memory. They are copied there if an input uses that memory, or if a
 * loop computes them more than once. */
static void test_wanted_numbers(void **state) {
    (void)state;
    leat_context *ctx = open_sim();
    leat_program *program = program_of(ctx, "s = sum(i: x[i]) + a\nt = max(i: x[i] * s)"),
                 *loop = program_of(ctx, "var w = a\nfor k in 0..2 {\n  w = w + sum(i: x[i])\n}");
    leat_call *call = call_of(program), *turns = call_of(loop);
    leat_array *x = vector_f64(ctx, 3, LIST(1, 2, 3)), *a = array_of(ctx, LEAT_F64, 0, NULL, LIST(4));
    leat_array *s = array_of(ctx, LEAT_F64, 0, NULL, LIST(0)), *t = array_of(ctx, LEAT_F64, 0, NULL, LIST(0));
    assert_ok(leat_call_set_array(call, "x", x));
    assert_ok(leat_call_set_array(call, "a", a));
    assert_ok(leat_call_want(call, "s", s));
    assert_ok(leat_call_want(call, "t", t));
    for (int round = 0; round < 2; round++) {
        assert_ok(leat_call_run(call, NULL, NULL));
        assert_true(number_at(s) == 10 && number_at(t) == 30);
    }
    assert_int_equal(records_of(ctx, LEAT_COST_COPY, "a result"), 0);
    assert_ok(leat_call_want(call, "t", s));
    assert_status(leat_call_run(call, NULL, NULL), LEAT_INVALID); /* both in the same array */
    assert_ok(leat_call_want(call, "s", a));
    assert_ok(leat_call_want(call, "t", t));
    for (int round = 0; round < 2; round++) {
        assert_ok(leat_call_run(call, NULL, NULL));
        assert_true(number_at(a) == 10 + 6 * round && number_at(t) == 3 * number_at(a));
    }
    assert_int_equal(records_of(ctx, LEAT_COST_COPY, "a result"), 1);
    leat_ledger_clear(ctx);
    assert_ok(leat_call_set_array(turns, "x", x));
    assert_ok(leat_call_set_array(turns, "a", a));
    assert_ok(leat_call_want(turns, "w", t));
    assert_ok(leat_call_run(turns, NULL, NULL));
    assert_true(number_at(t) == 16 + 12);
    assert_int_equal(records_of(ctx, LEAT_COST_COPY, "a result"), 1);
    leat_array *const arrays[] = {x, a, s, t};
    for (size_t k = 0; k < ARRAY_LEN(arrays); k++)
        leat_array_free(arrays[k]);
    leat_call_free(turns);
    leat_call_free(call);
    leat_program_free(loop);
    leat_program_free(program);
    leat_close(ctx);
}

/* Each part of a complex number is a number of its own. */
static void test_complex_numbers(void **state) {
    (void)state;
    enum { NUMBERS = 40, LINE = 48 };
    char text[NUMBERS * LINE] = "";
    double got[2];
    leat_context *ctx = open_sim();
    for (int k = 0; k < NUMBERS; k++)
        snprintf(text + strlen(text), LINE, "s%d = sum(i: z[i]) * %d\n", k, k + 1);
    leat_program *program = program_of(ctx, text);
    leat_call *call = call_of(program);
    leat_array *z = array_of(ctx, LEAT_C128, 1, SHAPE(2), (const double[]){1, 2, 3, 4}), *s = NULL;
    assert_ok(leat_call_set_array(call, "z", z));
    for (int round = 0; round < 2; round++) {
        assert_ok(leat_call_run(call, NULL, NULL));
        assert_ok(leat_call_result(call, "s9", &s));
        assert_ok(leat_array_read(s, got, sizeof got, NULL, NULL));
        leat_array_free(s);
        assert_true(got[0] == 40 && got[1] == 60);
    }
    leat_array_free(z);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
}

/* A result takes the memory of an input, and another result is that input's old value. */
static void test_input_behind(void **state) {
    (void)state;
    leat_context *ctx = open_sim();
    leat_program *program = program_of(ctx, "s = sum(i: x[i]) + a");
    leat_call *call = call_of(program);
    leat_array *x = vector_f64(ctx, 3, LIST(1, 2, 3)), *a = array_of(ctx, LEAT_F64, 0, NULL, LIST(4));
    leat_array *place = array_of(ctx, LEAT_F64, 0, NULL, LIST(0));
    assert_ok(leat_call_set_array(call, "x", x));
    assert_ok(leat_call_set_array(call, "a", a));
    assert_ok(leat_call_want(call, "s", place));
    assert_status(leat_call_want(call, "a", place), LEAT_INVALID);
    assert_ok(leat_call_want(call, "a", NULL));
    assert_ok(leat_call_want(call, "s", a));
    assert_ok(leat_call_want(call, "a", place));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_true(number_at(place) == 4 && number_at(a) == 10);
    leat_array_free(place);
    leat_array_free(a);
    leat_array_free(x);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
}

/* Planning may run a part of a plan for a range that depends on data. That part must not write into results' memory:
 * the array that was a result in the previous run may be an input now. */
static void test_planned_apart(void **state) {
    (void)state;
    leat_context *ctx = open_sim();
    leat_program *program = program_of(ctx, "in x, a, k, m = sum(i: k[i])\n"
                                            "s = sum(i: x[i])\n"
                                            "y[i] = a * x[i] where i in 0..m");
    leat_call *call = call_of(program);
    leat_array *x = vector_f64(ctx, 3, LIST(1, 2, 3)), *first = array_of(ctx, LEAT_F64, 0, NULL, LIST(2));
    leat_array *place = array_of(ctx, LEAT_F64, 0, NULL, LIST(0)), *k = NULL;
    const int64_t ones[] = {1, 1, 1};
    const double four = 4;
    char *plan = NULL;
    assert_ok(leat_array_new_empty(ctx, LEAT_I64, 1, SHAPE(3), LEAT_MEMORY_DEVICE, &k));
    assert_ok(leat_array_write(k, ones, sizeof ones, NULL, NULL));
    assert_ok(leat_call_set_array(call, "x", x));
    assert_ok(leat_call_set_array(call, "k", k));
    assert_ok(leat_call_set_array(call, "a", first));
    assert_ok(leat_call_set_i64(call, "m", 3));
    assert_ok(leat_call_want(call, "s", place));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_true(number_at(place) == 6);
    assert_ok(leat_array_write(place, &four, sizeof four, NULL, NULL));
    assert_ok(leat_call_set_array(call, "m", NULL));
    assert_ok(leat_call_show(call, LEAT_FORM_PLAN, &plan)); /* runs what planning needs, and changes nothing */
    leat_memory_free(plan);
    assert_true(number_at(place) == 4);
    assert_ok(leat_call_set_array(call, "a", place));
    assert_ok(leat_call_want(call, "y", NULL));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_result_f64(call, "y", 3, LIST(4, 8, 12));
    assert_true(number_at(place) == 6);
    leat_array *const arrays[] = {x, k, first, place};
    for (size_t n = 0; n < ARRAY_LEN(arrays); n++)
        leat_array_free(arrays[n]);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
}

/* A view, with its axes in another order, of a new array. */
static leat_array *turned_array(leat_context *ctx, const int64_t *shape, const int *axes) {
    leat_array *dense = array_of(ctx, LEAT_F64, 3, shape, NULL), *turned = NULL;
    assert_ok(leat_array_transpose(dense, axes, &turned));
    leat_array_free(dense);
    return turned;
}

static void assert_products(const leat_array *array) {
    double values[2 * 3 * 4];
    assert_ok(leat_array_read(array, values, sizeof values, NULL, NULL));
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 4; j++)
                assert_true(values[(k * 3 + i) * 4 + j] == (10 * k + j) * (i + 1));
}

static size_t copies_out(leat_context *ctx) {
    return records_of(ctx, LEAT_COST_COPY, "to where it is wanted");
}

/* Results in another order than row-major are written directly, unless an input uses that memory. */
static void test_turned_results(void **state) {
    (void)state;
    leat_context *ctx = open_sim();
    leat_program *program = program_of(ctx, "y[k,i,j] = a[k,j] * b[i]\nz[k,i,j] = y[k,i,j] * 1");
    leat_call *call = call_of(program);
    leat_array *a = array_of(ctx, LEAT_F64, 2, SHAPE(2, 4), LIST(0, 1, 2, 3, 10, 11, 12, 13));
    leat_array *b = vector_f64(ctx, 3, LIST(1, 2, 3));
    leat_array *targets[] = {turned_array(ctx, SHAPE(3, 4, 2), (const int[]){2, 0, 1}),
                             turned_array(ctx, SHAPE(4, 3, 2), NULL), array_of(ctx, LEAT_F64, 3, SHAPE(2, 3, 4), NULL)};
    leat_array *z = turned_array(ctx, SHAPE(2, 4, 3), (const int[]){0, 2, 1});
    assert_ok(leat_call_set_array(call, "a", a));
    assert_ok(leat_call_set_array(call, "b", b));
    assert_ok(leat_call_want(call, "z", z));
    for (int round = 0; round < 2; round++)
        for (size_t k = 0; k < ARRAY_LEN(targets); k++) {
            assert_ok(leat_call_want(call, "y", targets[k]));
            assert_ok(leat_call_run(call, NULL, NULL));
            assert_products(targets[k]);
            assert_products(z);
        }
    assert_int_equal(copies_out(ctx), 0);
    assert_ok(leat_call_want(call, "y", z));
    assert_status(leat_call_run(call, NULL, NULL), LEAT_INVALID); /* both in the same memory */
    assert_ok(leat_call_want(call, "y", targets[0]));
    leat_array *wrong = turned_array(ctx, SHAPE(4, 2, 3), (const int[]){2, 0, 1});
    assert_ok(leat_call_want(call, "z", wrong));
    assert_status(leat_call_run(call, NULL, NULL), LEAT_MISMATCH);
    for (size_t k = 0; k < ARRAY_LEN(targets); k++)
        leat_array_free(targets[k]);
    leat_array_free(wrong);
    leat_array_free(z);
    leat_array_free(b);
    leat_array_free(a);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wanted_numbers), cmocka_unit_test(test_complex_numbers),
        cmocka_unit_test(test_input_behind),   cmocka_unit_test(test_planned_apart),
        cmocka_unit_test(test_turned_results),
    };
    if (system("c++ --version >/dev/null 2>&1 || g++ --version >/dev/null 2>&1"))
        return SKIPPED;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
