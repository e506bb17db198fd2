/* Arrays: elements in and out, views that share memory, wrapped memory and its release, wrong arguments. */
#include "support.h"

static void test_elements(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_description description;
    const int32_t values[6] = {1, -2, 3, -4, 5, -6};
    int32_t back[6] = {0};
    leat_array *a = array_of(ctx, LEAT_I32, 2, SHAPE(2, 3), NULL);
    assert_ok(leat_array_read(a, back, sizeof back, NULL, NULL));
    for (size_t k = 0; k < 6; k++)
        assert_int_equal(back[k], 0);
    assert_ok(leat_array_write(a, values, sizeof values, NULL, NULL));
    assert_ok(leat_array_read(a, back, sizeof back, NULL, NULL));
    assert_memory_equal(values, back, sizeof values);
    assert_ok(leat_array_get(a, &description));
    assert_int_equal(description.dtype, LEAT_I32);
    assert_int_equal(description.rank, 2);
    assert_int_equal(description.shape[1], 3);
    assert_int_equal(description.strides[0], 3);
    assert_false(description.read_only);
    assert_status(leat_array_read(a, back, sizeof back - 1, NULL, NULL), LEAT_INVALID);
    assert_status(leat_array_write(a, values, 0, NULL, NULL), LEAT_INVALID);
    leat_array_free(a);
    leat_close(ctx);
}

static void test_ranks_and_extents(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_array *a = NULL;
    double one = 4.5, back = 0;
    const int64_t huge[2] = {INT64_MAX / 2, 16};
    const int64_t ones[LEAT_RANK_MAX] = {1, 1, 1, 1, 1, 1, 1, 2};
    a = array_of(ctx, LEAT_F64, 0, NULL, &one);
    assert_ok(leat_array_read(a, &back, sizeof back, NULL, NULL));
    assert_true(back == one);
    leat_array_free(a);
    a = array_of(ctx, LEAT_F64, 3, SHAPE(4, 0, 2), NULL);
    assert_ok(leat_array_read(a, NULL, 0, NULL, NULL));
    leat_array_free(a);
    a = array_of(ctx, LEAT_U8, LEAT_RANK_MAX, ones, "ab");
    leat_array_free(a);
    assert_status(leat_array_new(ctx, LEAT_F64, LEAT_RANK_MAX + 1, huge, LEAT_MEMORY_DEVICE, &a), LEAT_INVALID);
    assert_status(leat_array_new(ctx, LEAT_F64, -1, huge, LEAT_MEMORY_DEVICE, &a), LEAT_INVALID);
    assert_status(leat_array_new(ctx, LEAT_F64, 1, SHAPE(-1), LEAT_MEMORY_DEVICE, &a), LEAT_INVALID);
    assert_status(leat_array_new(ctx, (leat_dtype)99, 1, SHAPE(1), LEAT_MEMORY_DEVICE, &a), LEAT_INVALID);
    assert_int_not_equal(leat_array_new(ctx, LEAT_F64, 2, huge, LEAT_MEMORY_DEVICE, &a), LEAT_OK);
    leat_close(ctx);
}

static void test_slices(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_array *view = NULL,
               *a = array_of(ctx, LEAT_F64, 2, SHAPE(3, 4), LIST(0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23));
    assert_ok(leat_array_slice(a, SHAPE(1, 0), SHAPE(3, 4), SHAPE(1, 2), &view));
    assert_f64(view, 4, LIST(10, 12, 20, 22));
    assert_ok(leat_array_write(view, LIST(-1, -2, -3, -4), 4 * sizeof(double), NULL, NULL));
    leat_array_free(view);
    assert_f64(a, 12, LIST(0, 1, 2, 3, -1, 11, -2, 13, -3, 21, -4, 23));
    assert_ok(leat_array_slice(a, SHAPE(2, 3), SHAPE(-1, 0), SHAPE(-1, -2), &view));
    assert_f64(view, 6, LIST(23, 21, 13, 11, 3, 1));
    leat_array_free(view);
    assert_ok(leat_array_slice(a, SHAPE(1, 1), SHAPE(1, 4), SHAPE(1, 1), &view));
    assert_ok(leat_array_read(view, NULL, 0, NULL, NULL));
    leat_array_free(view);
    assert_status(leat_array_slice(a, SHAPE(0, 0), SHAPE(4, 4), SHAPE(1, 1), &view), LEAT_INVALID);
    assert_status(leat_array_slice(a, SHAPE(0, 0), SHAPE(3, 4), SHAPE(1, 0), &view), LEAT_INVALID);
    leat_array_free(a);
    leat_close(ctx);
}

static void test_turned_and_reshaped(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    const int order[3] = {2, 0, 1}, twice[3] = {0, 0, 1};
    leat_description description;
    leat_array *turned = NULL, *view = NULL, *a = array_of(ctx, LEAT_F64, 3, SHAPE(1, 2, 3), LIST(0, 1, 2, 3, 4, 5));
    assert_ok(leat_array_transpose(a, order, &turned));
    assert_ok(leat_array_get(turned, &description));
    assert_int_equal(description.shape[0], 3);
    assert_int_equal(description.shape[2], 2);
    assert_f64(turned, 6, LIST(0, 3, 1, 4, 2, 5));
    assert_status(leat_array_transpose(a, twice, &view), LEAT_INVALID);
    assert_ok(leat_array_reshape(a, 2, SHAPE(-1, 2), &view));
    assert_ok(leat_array_get(view, &description));
    assert_int_equal(description.shape[0], 3);
    assert_f64(view, 6, LIST(0, 1, 2, 3, 4, 5));
    leat_array_free(view);
    assert_status(leat_array_reshape(turned, 1, SHAPE(6), &view), LEAT_UNSUPPORTED);
    assert_status(leat_array_reshape(a, 1, SHAPE(7), &view), LEAT_INVALID);
    assert_status(leat_array_reshape(a, 2, SHAPE(-1, -1), &view), LEAT_INVALID);
    leat_array_free(a); /* the view keeps the memory */
    assert_f64(turned, 6, LIST(0, 3, 1, 4, 2, 5));
    leat_array_free(turned);
    leat_close(ctx);
}

static void count_release(void *user) {
    ++*(int *)user;
}

static void test_wrap(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    double memory[6] = {1, 2, 3, 4, 5, 6};
    int released = 0;
    leat_description description = {
        .dtype = LEAT_F64, .rank = 2, .shape = {2, 2}, .strides = {-3, 2}, .data = memory + 3};
    leat_array *a = NULL, *view = NULL;
    assert_ok(leat_array_wrap(ctx, &description, count_release, &released, &a));
    assert_f64(a, 4, LIST(4, 6, 1, 3));
    assert_ok(leat_array_transpose(a, NULL, &view));
    leat_array_free(a);
    assert_int_equal(released, 0);
    assert_ok(leat_array_write(view, LIST(9, 8, 7, 6), 4 * sizeof(double), NULL, NULL));
    assert_true(memory[3] == 9 && memory[0] == 8 && memory[5] == 7 && memory[2] == 6 && memory[1] == 2);
    leat_array_free(view);
    assert_int_equal(released, 1);
    description.read_only = true;
    assert_ok(leat_array_wrap(ctx, &description, NULL, NULL, &a));
    assert_status(leat_array_write(a, memory, 4 * sizeof(double), NULL, NULL), LEAT_INVALID);
    leat_array_free(a);
    description.read_only = false;
    description.strides[0] = 0; /* overlapping elements */
    assert_ok(leat_array_wrap(ctx, &description, NULL, NULL, &a));
    assert_status(leat_array_write(a, memory, 4 * sizeof(double), NULL, NULL), LEAT_INVALID);
    leat_program *program = program_of(ctx, "y[i] = i where i in 0..4");
    leat_call *call = call_of(program);
    assert_status(leat_call_want(call, "y", a), LEAT_INVALID);
    leat_call_free(call);
    leat_program_free(program);
    leat_array_free(a);
    description.data = NULL;
    assert_status(leat_array_wrap(ctx, &description, count_release, &released, &a), LEAT_INVALID);
    assert_int_equal(released, 1);
    leat_close(ctx);
}

static void test_references(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_array *a = vector_f64(ctx, 2, LIST(1, 2));
    assert_ptr_equal(leat_array_retain(a), a);
    leat_array_free(a);
    leat_close(ctx); /* the array keeps the context */
    assert_f64(a, 2, LIST(1, 2));
    leat_array_free(a);
    leat_array_free(NULL);
}

static void test_memory_cap(void **state) {
    (void)state;
    leat_options options = {.memory_cap_bytes = 1 << 20};
    leat_context *ctx = NULL;
    leat_array *a = NULL, *b = NULL;
    assert_ok(leat_open(&options, &ctx));
    assert_ok(leat_array_new(ctx, LEAT_U8, 1, SHAPE(1 << 19), LEAT_MEMORY_DEVICE, &a));
    assert_status(leat_array_new(ctx, LEAT_U8, 1, SHAPE(1 << 20), LEAT_MEMORY_DEVICE, &b), LEAT_OUT_OF_MEMORY);
    leat_array_free(a);
    assert_ok(leat_array_new(ctx, LEAT_U8, 1, SHAPE(1 << 20), LEAT_MEMORY_DEVICE, &b));
    leat_array_free(b);
    leat_close(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elements),   cmocka_unit_test(test_ranks_and_extents),
        cmocka_unit_test(test_slices),     cmocka_unit_test(test_turned_and_reshaped),
        cmocka_unit_test(test_wrap),       cmocka_unit_test(test_references),
        cmocka_unit_test(test_memory_cap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
