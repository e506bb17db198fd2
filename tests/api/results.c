/* Calls: inputs of every kind; results in new arrays, in the caller's arrays, in place and in strided views; memory
 * that must not change. */
#include "support.h"

static void test_call_again(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_program *program = program_of(ctx, "y[i] = a[i] * k + b");
    leat_call *call = call_of(program);
    leat_array *a = vector_f64(ctx, 3, LIST(1, 2, 3)), *longer = vector_f64(ctx, 4, LIST(1, 1, 1, 1)), *kept = NULL;
    assert_ok(leat_call_set_array(call, "a", a));
    assert_ok(leat_call_set_f64(call, "k", 0.5));
    assert_ok(leat_call_set_bool(call, "b", true));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_result_f64(call, "y", 3, LIST(1.5, 2, 2.5));
    assert_ok(leat_call_result(call, "y", &kept));
    assert_ok(leat_call_set_i64(call, "k", -2));
    assert_ok(leat_call_set_u64(call, "b", 10));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_result_f64(call, "y", 3, LIST(8, 6, 4));
    assert_f64(kept, 3, LIST(1.5, 2, 2.5)); /* the next run does not overwrite a retained result */
    assert_ok(leat_call_set_array(call, "a", longer));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_result_f64(call, "y", 4, LIST(8, 8, 8, 8));
    assert_ok(leat_call_set_array(call, "a", NULL));
    assert_status(leat_call_run(call, NULL, NULL), LEAT_MISSING);
    leat_array_free(kept);
    leat_array_free(longer);
    leat_array_free(a);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
}

static void test_weak_and_strong(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_program *program = program_of(ctx, "y[i] = a[i] * k");
    leat_call *call = call_of(program);
    leat_array *a = array_of(ctx, LEAT_F32, 1, SHAPE(2), (const float[]){1, 2}), *y = NULL;
    leat_array *strong = array_of(ctx, LEAT_F64, 0, NULL, LIST(3));
    leat_description description;
    assert_ok(leat_call_set_array(call, "a", a));
    assert_ok(leat_call_set_f64(call, "k", 3));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_ok(leat_call_result(call, "y", &y));
    assert_ok(leat_array_get(y, &description));
    assert_int_equal(description.dtype, LEAT_F32);
    leat_array_free(y);
    assert_ok(leat_call_set_array(call, "k", strong));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_ok(leat_call_result(call, "y", &y));
    assert_ok(leat_array_get(y, &description));
    assert_int_equal(description.dtype, LEAT_F64);
    leat_array_free(y);
    leat_array_free(strong);
    leat_array_free(a);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
}

static void test_wanted(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_program *program = program_of(ctx, "t[i] = a[i] + 1\ny[i] = t[i] * 2\nz = sum(i: t[i])");
    leat_call *call = call_of(program);
    leat_array *a = vector_f64(ctx, 2, LIST(1, 2)), *array = NULL;
    const char *name;
    size_t count;
    assert_ok(leat_call_set_array(call, "a", a));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_ok(leat_call_result_count(call, &count));
    assert_int_equal(count, 2);
    assert_ok(leat_call_result_name(call, 0, &name));
    assert_string_equal(name, "y");
    assert_result_f64(call, "z", 1, LIST(5));
    assert_int_not_equal(leat_call_result(call, "t", &array), LEAT_OK);
    assert_ok(leat_call_want(call, "t", NULL));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_ok(leat_call_result_count(call, &count));
    assert_int_equal(count, 1);
    assert_result_f64(call, "t", 2, LIST(2, 3));
    assert_ok(leat_call_want_clear(call));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_result_f64(call, "y", 2, LIST(4, 6));
    assert_status(leat_call_want(call, "nothing", NULL), LEAT_INVALID);
    leat_array_free(a);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
}

static void test_own_array(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_program *program = program_of(ctx, "y[i,j] = a[i,j] * 2");
    leat_call *call = call_of(program);
    leat_array *a = array_of(ctx, LEAT_F64, 2, SHAPE(2, 2), LIST(1, 2, 3, 4));
    leat_array *large = array_of(ctx, LEAT_F64, 2, SHAPE(4, 3), NULL), *view = NULL, *turned = NULL, *other = NULL,
               *same = NULL;
    assert_ok(leat_array_slice(large, SHAPE(3, 0), SHAPE(-1, 3), SHAPE(-2, 2), &view));
    assert_ok(leat_array_transpose(view, NULL, &turned));
    assert_ok(leat_call_set_array(call, "a", a));
    assert_ok(leat_call_want(call, "y", turned));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_f64(turned, 4, LIST(2, 4, 6, 8));
    assert_f64(large, 12, LIST(0, 0, 0, 4, 0, 8, 0, 0, 0, 2, 0, 6));
    assert_ok(leat_call_result(call, "y", &same));
    assert_f64(same, 4, LIST(2, 4, 6, 8));
    other = array_of(ctx, LEAT_F64, 2, SHAPE(2, 3), NULL);
    assert_ok(leat_call_want(call, "y", other));
    assert_status(leat_call_run(call, NULL, NULL), LEAT_MISMATCH);
    assert_non_null(
        strstr(leat_error_text(NULL), "'y', which has the shape [2,2], into an array with the shape [2,3]"));
    leat_array_free(other);
    other = array_of(ctx, LEAT_F32, 2, SHAPE(2, 2), NULL);
    assert_ok(leat_call_want(call, "y", other));
    assert_status(leat_call_run(call, NULL, NULL), LEAT_MISMATCH);
    leat_array_free(other);
    leat_array_free(same);
    leat_array_free(turned);
    leat_array_free(view);
    leat_array_free(large);
    leat_array_free(a);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
}

/* The result shares an input's memory: each statement still reads the values from before it. */
static void test_in_place(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_program *program = program_of(ctx, "y[i] = a[i] + a[len(a, 0) - 1 - i]");
    leat_call *call = call_of(program);
    leat_array *a = vector_f64(ctx, 5, LIST(1, 2, 3, 4, 6)), *head = NULL, *tail = NULL;
    assert_ok(leat_call_set_array(call, "a", a));
    assert_ok(leat_call_want(call, "y", a));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_f64(a, 5, LIST(7, 6, 6, 6, 7));
    leat_call_free(call);
    leat_program_free(program);
    program = program_of(ctx, "y[i] = x[i] * 10");
    call = call_of(program); /* two views of one array that overlap */
    assert_ok(leat_array_write(a, LIST(1, 2, 3, 4, 5), 5 * sizeof(double), NULL, NULL));
    assert_ok(leat_array_slice(a, SHAPE(0), SHAPE(4), SHAPE(1), &head));
    assert_ok(leat_array_slice(a, SHAPE(1), SHAPE(5), SHAPE(1), &tail));
    assert_ok(leat_call_set_array(call, "x", head));
    assert_ok(leat_call_want(call, "y", tail));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_f64(a, 5, LIST(1, 10, 20, 30, 40));
    leat_array_free(head);
    leat_array_free(tail);
    leat_array_free(a);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
}

static void test_input_is_kept(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_program *program = program_of(ctx, "out u\nu[i] = u[i-1] + u[i+1] else 0");
    leat_call *call = call_of(program);
    leat_array *u = vector_f64(ctx, 4, LIST(1, 2, 3, 4));
    assert_ok(leat_call_set_array(call, "u", u));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_result_f64(call, "u", 4, LIST(0, 4, 6, 0));
    assert_f64(u, 4, LIST(1, 2, 3, 4));
    assert_ok(leat_call_want(call, "u", u));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_f64(u, 4, LIST(0, 4, 6, 0));
    leat_array_free(u);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
}

/* Two results must not share memory through any views. Views that only interleave are allowed. */
static void test_wanted_apart(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_program *program = program_of(ctx, "y[i] = a[i] + 10\nz[i] = a[i] * 2");
    leat_call *call = call_of(program);
    leat_array *a = vector_f64(ctx, 3, LIST(1, 2, 3)), *whole = vector_f64(ctx, 6, LIST(0, 0, 0, 0, 0, 0));
    leat_array *even = NULL, *odd = NULL, *head = NULL, *tail = NULL, *middle = NULL, *back = NULL;
    leat_error error;
    assert_ok(leat_array_slice(whole, SHAPE(0), SHAPE(6), SHAPE(2), &even));
    assert_ok(leat_array_slice(whole, SHAPE(1), SHAPE(6), SHAPE(2), &odd));
    assert_ok(leat_array_slice(whole, SHAPE(0), SHAPE(3), SHAPE(1), &head));
    assert_ok(leat_array_slice(whole, SHAPE(3), SHAPE(6), SHAPE(1), &tail));
    assert_ok(leat_array_slice(whole, SHAPE(2), SHAPE(5), SHAPE(1), &middle));
    assert_ok(leat_array_slice(whole, SHAPE(5), SHAPE(2), SHAPE(-1), &back));
    assert_ok(leat_call_set_array(call, "a", a));
    assert_ok(leat_call_want(call, "y", head));
    assert_ok(leat_call_want(call, "y", head)); /* the same name again */
    leat_array *const sharing[] = {head, whole, even, odd, middle};
    for (size_t k = 0; k < ARRAY_LEN(sharing); k++)
        assert_status(leat_call_want(call, "z", sharing[k]), LEAT_INVALID);
    assert_ok(leat_error_get(ctx, &error));
    assert_string_equal(error.message, "cannot write 'z' into an array that shares memory with the array for 'y'");
    leat_array *const apart[] = {tail, back};
    for (size_t k = 0; k < ARRAY_LEN(apart); k++) {
        assert_ok(leat_call_want(call, "z", apart[k]));
        assert_ok(leat_call_run(call, NULL, NULL));
        assert_f64(whole, 6, k ? LIST(11, 12, 13, 6, 4, 2) : LIST(11, 12, 13, 2, 4, 6));
    }
    assert_ok(leat_call_want(call, "y", even));
    assert_ok(leat_call_want(call, "z", odd));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_f64(whole, 6, LIST(11, 2, 12, 4, 13, 6));
    assert_ok(leat_call_want(call, "y", odd)); /* exchanged, one after the other */
    for (int k = 0; k < 2; k++)
        assert_status(leat_call_run(call, NULL, NULL), LEAT_INVALID);
    assert_ok(leat_call_want(call, "z", even));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_f64(whole, 6, LIST(2, 11, 4, 12, 6, 13));
    leat_array *const all[] = {a, whole, even, odd, head, tail, middle, back};
    for (size_t k = 0; k < ARRAY_LEN(all); k++)
        leat_array_free(all[k]);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
}

/* The caller's memory, wrapped twice, and with overlapping elements. */
static void test_wrapped_apart(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    double memory[8] = {0};
    leat_description first = {.dtype = LEAT_F64, .rank = 1, .shape = {3}, .strides = {2}, .data = memory},
                     second = first, folded = {.dtype = LEAT_F64, .rank = 2, .shape = {3, 3}, .strides = {1, 1}};
    leat_program *program = program_of(ctx, "y[i] = a[i]\nz[i] = -a[i]\nw[i,j] = a[i] + a[j]");
    leat_call *call = call_of(program);
    leat_array *a = vector_f64(ctx, 3, LIST(1, 2, 3)), *y = NULL, *z = NULL, *w = NULL;
    second.data = memory + 1;
    folded.data = memory;
    assert_ok(leat_array_wrap(ctx, &first, NULL, NULL, &y));
    assert_ok(leat_array_wrap(ctx, &second, NULL, NULL, &z));
    assert_ok(leat_array_wrap(ctx, &folded, NULL, NULL, &w));
    assert_ok(leat_call_set_array(call, "a", a));
    assert_status(leat_call_want(call, "w", w), LEAT_INVALID);
    assert_ok(leat_call_want(call, "y", y));
    assert_ok(leat_call_want(call, "z", z));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_f64(y, 3, LIST(1, 2, 3));
    assert_f64(z, 3, LIST(-1, -2, -3));
    leat_array_free(z);
    second.data = memory + 2;
    assert_ok(leat_array_wrap(ctx, &second, NULL, NULL, &z));
    assert_ok(leat_call_want_clear(call));
    assert_ok(leat_call_want(call, "y", y));
    assert_status(leat_call_want(call, "z", z), LEAT_INVALID);
    leat_array *const all[] = {a, y, z, w};
    for (size_t k = 0; k < ARRAY_LEN(all); k++)
        leat_array_free(all[k]);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
}

/* Results and copies must be in the call's context; host memory of another context may be read. */
static void test_other_context(void **state) {
    (void)state;
    leat_context *ctx = open_context(), *other = open_context();
    leat_program *program = program_of(ctx, "y[i] = a[i] + 1");
    leat_call *call = call_of(program);
    leat_array *mine = vector_f64(ctx, 2, LIST(1, 2)), *theirs = vector_f64(other, 2, LIST(5, 6));
    leat_stream *stream = NULL;
    leat_error error;
    double values[2] = {0};
    assert_ok(leat_call_set_array(call, "a", mine));
    assert_status(leat_call_want(call, "y", theirs), LEAT_INVALID);
    assert_ok(leat_error_get(ctx, &error));
    assert_string_equal(error.message, "cannot write 'y' into an array of another context");
    assert_status(leat_array_copy(mine, theirs, NULL, NULL), LEAT_INVALID);
    assert_status(leat_array_copy(theirs, mine, NULL, NULL), LEAT_INVALID);
    assert_ok(leat_error_get(ctx, &error));
    assert_string_equal(error.message, "target and source are of different contexts");
    assert_ok(leat_stream_new(other, &stream));
    assert_status(leat_array_read(mine, values, sizeof values, stream, NULL), LEAT_INVALID);
    assert_status(leat_array_write(mine, values, sizeof values, stream, NULL), LEAT_INVALID);
    assert_status(leat_call_run(call, stream, NULL), LEAT_INVALID);
    assert_ok(leat_call_set_array(call, "a", theirs));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_result_f64(call, "y", 2, LIST(6, 7));
    assert_f64(theirs, 2, LIST(5, 6));
    leat_stream_free(stream);
    leat_array_free(theirs);
    leat_array_free(mine);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(other);
    leat_close(ctx);
}

static void test_read_only(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    double memory[2] = {1, 2};
    leat_description description = {
        .dtype = LEAT_F64, .rank = 1, .shape = {2}, .strides = {1}, .data = memory, .read_only = true};
    leat_program *program = program_of(ctx, "y[i] = x[i] + 1");
    leat_call *call = call_of(program);
    leat_array *x = NULL;
    leat_status status;
    assert_ok(leat_array_wrap(ctx, &description, NULL, NULL, &x));
    assert_ok(leat_call_set_array(call, "x", x));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_result_f64(call, "y", 2, LIST(2, 3));
    status = leat_call_want(call, "y", x);
    assert_int_not_equal(status ? status : leat_call_run(call, NULL, NULL), LEAT_OK);
    assert_true(memory[0] == 1 && memory[1] == 2);
    leat_array_free(x);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
}

/* Axes of stride 0 broadcast. Arrays with negative strides and with gaps are read in place. */
static void test_strided_inputs(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    double memory[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    leat_description rows = {.dtype = LEAT_F64, .rank = 2, .shape = {3, 2}, .strides = {0, -5}, .data = memory + 7};
    leat_program *program = program_of(ctx, "y[i,j] = x[i,j] + 100 * i\ns = sum(i,j: x[i,j])");
    leat_call *call = call_of(program);
    leat_array *x = NULL;
    assert_ok(leat_array_wrap(ctx, &rows, NULL, NULL, &x));
    assert_ok(leat_call_set_array(call, "x", x));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_result_f64(call, "y", 6, LIST(7, 2, 107, 102, 207, 202));
    assert_result_f64(call, "s", 1, LIST(27));
    leat_array_free(x);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_call_again),     cmocka_unit_test(test_weak_and_strong),
        cmocka_unit_test(test_wanted),         cmocka_unit_test(test_own_array),
        cmocka_unit_test(test_in_place),       cmocka_unit_test(test_input_is_kept),
        cmocka_unit_test(test_wanted_apart),   cmocka_unit_test(test_wrapped_apart),
        cmocka_unit_test(test_other_context),  cmocka_unit_test(test_read_only),
        cmocka_unit_test(test_strided_inputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
