/* Views and strided copies, compared element by element; random ones have a fixed seed. */
#include "array/array_testing.h"

/* The element at a multi-dimensional index. */
static int32_t element(const leat_array *array, const int64_t *index) {
    int64_t offset = 0;
    for (int k = 0; k < array->rank; k++)
        offset += index[k] * array->strides[k];
    return ((const int32_t *)array->data)[offset];
}

/* The next index in row-major order; false after the last. */
static bool next(const leat_array *array, int64_t *index) {
    for (int k = array->rank - 1; k >= 0; k--) {
        if (++index[k] < array->shape[k])
            return true;
        index[k] = 0;
    }
    return false;
}

static void assert_same(const leat_array *a, const leat_array *b) {
    int64_t index[LEAT_RANK_MAX] = {0};
    if (le_array_count(a))
        do
            assert_int_equal(element(a, index), element(b, index));
        while (next(a, index));
}

static int64_t below(unsigned *seed, int64_t limit) {
    return rand_r(seed) % limit;
}

/* A random slice of a random transposition, of up to 5 axes. */
static leat_array *random_view(struct le_memory_pool *pool, unsigned *seed, int64_t most) {
    int rank = (int)below(seed, 6), axes[LEAT_RANK_MAX];
    int64_t shape[LEAT_RANK_MAX], start[LEAT_RANK_MAX], stop[LEAT_RANK_MAX], step[LEAT_RANK_MAX];
    for (int k = 0; k < rank; k++) {
        shape[k] = below(seed, most) + 1;
        int other = (int)below(seed, k + 1);
        axes[k] = axes[other];
        axes[other] = k;
    }
    leat_array *base = counted(pool, rank, shape), *turned = NULL, *view = NULL;
    assert_ok(le_array_transpose(base, axes, &turned));
    for (int k = 0; k < rank; k++) {
        int64_t extent = turned->shape[k];
        step[k] = below(seed, 3) ? 1 + below(seed, 2) : -1 - below(seed, 2);
        start[k] = step[k] > 0 ? below(seed, extent) / 2 : extent - 1;
        stop[k] = step[k] > 0 ? extent : below(seed, extent) - 1;
    }
    assert_ok(le_array_slice(turned, start, stop, step, &view));
    for (int k = 0; k < rank; k++)
        for (int64_t at = 0; at < view->shape[k]; at++)
            assert_in_range(start[k] + at * step[k], 0, turned->shape[k] - 1);
    le_array_free(base);
    le_array_free(turned);
    return view;
}

static void test_copies(void **state) {
    (void)state;
    struct le_memory_pool *pool = open_pool();
    unsigned seed = 1;
    for (int k = 0; k < 1500; k++) {
        leat_array *source = random_view(pool, &seed, k % 10 ? 6 : 40), *dense = NULL, *turned = NULL, *back = NULL;
        assert_ok(le_array_dense(source, &dense));
        assert_true(le_array_is_contiguous(dense));
        assert_same(source, dense);
        assert_ok(le_array_transpose(source, NULL, &turned));
        leat_array *target = new_array(pool, LEAT_I32, turned->rank, turned->shape);
        le_array_copy(target, turned);
        assert_same(target, turned);
        assert_ok(le_array_transpose(target, NULL, &back));
        memset(target->data, 0, le_array_bytes(target));
        le_array_copy(back, source);
        assert_same(back, source);
        le_array_free(source);
        le_array_free(dense);
        le_array_free(turned);
        le_array_free(target);
        le_array_free(back);
    }
    le_memory_pool_close(pool);
}

static void test_reshape(void **state) {
    (void)state;
    struct le_memory_pool *pool = open_pool();
    unsigned seed = 2;
    int shown = 0;
    for (int k = 0; k < 1500; k++) {
        leat_array *source = random_view(pool, &seed, 4), *dense = NULL, *view = NULL, *flat = NULL;
        int64_t count = (int64_t)le_array_count(source), left = count, shape[LEAT_RANK_MAX];
        int rank = 0;
        while (left > 1 && rank < LEAT_RANK_MAX - 1) {
            int64_t part = below(&seed, left) + 1;
            if (left % part == 0) {
                shape[rank++] = part;
                left /= part;
            }
        }
        shape[rank++] = left;
        assert_ok(le_array_dense(source, &dense));
        assert_ok(le_array_reshape(dense, rank, shape, &flat)); /* always possible */
        leat_status status = le_array_reshape(source, rank, shape, &view);
        if (status == LEAT_OK) {
            assert_same(view, flat);
            shown++;
        } else {
            assert_int_equal(status, LEAT_UNSUPPORTED);
            assert_false(le_array_is_contiguous(source));
        }
        le_array_free(source);
        le_array_free(dense);
        le_array_free(flat);
        le_array_free(view);
    }
    assert_true(shown > 500);
    le_memory_pool_close(pool);
}

/* Reshaping merges contiguous axes of a view: [4, 6] out of [4, 12] can be [2, 2, 6] and [4, 2, 3], but not [24]. */
static void test_reshape_partly_dense(void **state) {
    (void)state;
    struct le_memory_pool *pool = open_pool();
    leat_array *base = counted(pool, 2, SHAPE(4, 12)), *part = NULL, *view = NULL;
    assert_ok(le_array_slice(base, SHAPE(0, 3), SHAPE(4, 9), SHAPE(1, 1), &part));
    assert_ok(le_array_reshape(part, 3, SHAPE(2, 2, 6), &view));
    assert_int_equal(element(view, SHAPE(1, 1, 5)), 3 * 12 + 8);
    le_array_free(view);
    assert_ok(le_array_reshape(part, 4, SHAPE(4, 1, -1, 3), &view));
    assert_int_equal(element(view, SHAPE(2, 0, 1, 1)), 2 * 12 + 3 + 4);
    le_array_free(view);
    assert_int_equal(le_array_reshape(part, 1, SHAPE(24), &view), LEAT_UNSUPPORTED);
    assert_int_equal(le_array_reshape(part, 2, SHAPE(-1, 0), &view), LEAT_INVALID);
    assert_int_equal(le_array_reshape(part, 3, SHAPE(INT64_MAX, INT64_MAX, 8), &view), LEAT_INVALID);
    assert_int_equal(le_array_reshape(part, 9, SHAPE(0), &view), LEAT_INVALID);
    le_array_free(part);
    le_array_free(base);
    le_memory_pool_close(pool);
}

static void test_bools(void **state) {
    (void)state;
    struct le_memory_pool *pool = open_pool();
    leat_array *array = new_array(pool, LEAT_BOOL, 2, SHAPE(2, 3)), *turned = NULL;
    const uint8_t odd[6] = {0, 2, 255, 1, 0, 128};
    uint8_t back[6];
    assert_ok(le_array_transpose(array, NULL, &turned));
    le_array_write(turned, odd);
    le_array_read(turned, back);
    for (size_t k = 0; k < 6; k++)
        assert_int_equal(back[k], odd[k] != 0);
    le_array_free(array);
    le_array_free(turned);
    le_memory_pool_close(pool);
}

static void test_layout(void **state) {
    (void)state;
    struct le_memory_pool *pool = open_pool();
    char text[LE_SHAPE_TEXT_MAX];
    leat_array *a = counted(pool, 2, SHAPE(4, 6)), *left = NULL, *right = NULL, *none = NULL;
    assert_string_equal(le_array_describe(a, text), "i32[4,6]");
    assert_ok(le_array_slice(a, SHAPE(0, 5), SHAPE(2, 2), SHAPE(1, -1), &left));
    assert_ok(le_array_slice(a, SHAPE(2, 0), SHAPE(4, 6), SHAPE(1, 1), &right));
    assert_ok(le_array_slice(a, SHAPE(0, 0), SHAPE(0, 6), SHAPE(1, 1), &none));
    assert_true(le_array_is_contiguous(right));
    assert_false(le_array_is_contiguous(left));
    assert_true(le_array_is_contiguous(none));
    assert_true(le_array_overlaps(a, left));
    assert_true(le_array_overlaps(a, right));
    assert_false(le_array_overlaps(left, right));
    assert_false(le_array_overlaps(a, none));
    le_array_free(a);
    le_array_free(left);
    le_array_free(right);
    le_array_free(none);
    le_memory_pool_close(pool);
}

/* Descriptions that no memory can hold. The stride of an axis with at most one element may be arbitrary. */
static void test_wrap_extreme_strides(void **state) {
    (void)state;
    struct le_memory_pool *pool = open_pool();
    double memory[4] = {1, 2, 3, 4};
    leat_description d = {
        .dtype = LEAT_F64, .rank = 3, .shape = {1, 2, 1}, .strides = {INT64_MAX, 2, INT64_MIN}, .data = memory};
    leat_array *a;
    assert_ok(le_array_wrap(pool, &d, NULL, NULL, &a));
    assert_int_equal(a->strides[0], 2);
    assert_int_equal(a->strides[1], 2);
    assert_int_equal(a->strides[2], 1);
    le_array_free(a);
    d = (leat_description){
        .dtype = LEAT_F64, .rank = 3, .shape = {5, 0, 3}, .strides = {INT64_MAX, 7, INT64_MIN}, .data = memory};
    assert_ok(le_array_wrap(pool, &d, NULL, NULL, &a));
    assert_int_equal(a->strides[0], 3);
    assert_int_equal(a->strides[2], 1);
    le_array_free(a);
    le_memory_pool_close(pool);
}

static void test_wrap_refuses(void **state) {
    (void)state;
    static double memory[8];
    const leat_description good = {.dtype = LEAT_F64, .rank = 1, .shape = {8}, .strides = {1}, .data = memory};
    struct le_memory_pool *pool = open_pool();
    leat_array *array = NULL;
    leat_description bad[6] = {good, good, good, good, good, good};
    bad[0].data = (char *)memory + 4;
    bad[1].data = NULL;
    bad[2].strides[0] = INT64_MAX / 4;
    bad[3].strides[0] = INT64_MIN;
    bad[4].shape[0] = INT64_MAX;
    bad[5].dtype = (leat_dtype)0;
    for (size_t k = 0; k < ARRAY_LEN(bad); k++)
        assert_int_equal(le_array_wrap(pool, &bad[k], NULL, NULL, &array), LEAT_INVALID);
    assert_ok(le_array_wrap(pool, &good, NULL, NULL, &array));
    le_array_free(array);
    le_memory_pool_close(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_reshape),
        cmocka_unit_test(test_reshape_partly_dense),
        cmocka_unit_test(test_bools),
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_wrap_extreme_strides),
        cmocka_unit_test(test_wrap_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
