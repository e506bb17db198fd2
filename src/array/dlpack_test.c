/* Exporting and importing DLPack tensors: layout, lifetime, refused tensors. */
#include "array/array_testing.h"
#include "array/dlpack.h"

_Static_assert(sizeof(struct dl_tensor) == 48 && offsetof(struct dl_tensor, shape) == 24, "DLPack's layout");
_Static_assert(sizeof(struct DLManagedTensor) == 64 && offsetof(struct DLManagedTensor, deleter) == 56,
               "DLPack's layout");

static void test_out_and_in(void **state) {
    (void)state;
    struct le_memory_pool *pool = open_pool();
    leat_array *base = counted(pool, 2, SHAPE(3, 4)), *turned = NULL, *back = NULL;
    struct DLManagedTensor *tensor = NULL;
    assert_ok(le_array_transpose(base, NULL, &turned));
    assert_ok(le_array_to_dlpack(turned, NULL, &tensor));
    le_array_free(base);
    le_array_free(turned);
    assert_int_equal(tensor->dl_tensor.device.device_type, DL_CPU);
    assert_int_equal(tensor->dl_tensor.dtype.code, DL_INT);
    assert_int_equal(tensor->dl_tensor.dtype.bits, 32);
    assert_int_equal(tensor->dl_tensor.shape[0], 4);
    assert_int_equal(tensor->dl_tensor.strides[0], 1);
    assert_ok(le_array_from_dlpack(&(struct le_array_home){.pool = pool}, tensor, &back));
    assert_int_equal(back->dtype, LEAT_I32);
    assert_int_equal(((int32_t *)back->data)[2 * back->strides[0] + back->strides[1]], 6);
    le_memory_pool_close(pool);
    le_array_free(back); /* deletes the tensor, which frees the first array */
}

static int deleted;
static void count_deleted(struct DLManagedTensor *self) {
    (void)self;
    deleted++;
}

static void test_in(void **state) {
    static float memory[7] = {0, 1, 2, 3, 4, 5, 6};
    static int64_t shape[] = {2, 3};
    (void)state;
    struct le_memory_pool *pool = open_pool();
    const struct DLManagedTensor good = {.dl_tensor = {.data = memory,
                                                       .device = {.device_type = DL_CPU},
                                                       .ndim = 2,
                                                       .dtype = {DL_FLOAT, 32, 1},
                                                       .shape = shape,
                                                       .byte_offset = 4},
                                         .deleter = count_deleted};
    struct DLManagedTensor tensor = good;
    leat_array *array = NULL;
    assert_ok(le_array_from_dlpack(&(struct le_array_home){.pool = pool}, &tensor, &array));
    assert_true(((float *)array->data)[5] == 6);
    assert_true(le_array_is_contiguous(array));
    assert_int_equal(deleted, 0);
    le_array_free(array);
    assert_int_equal(deleted, 1);
    tensor.dl_tensor.device.device_type = DL_CUDA;
    assert_int_equal(le_array_from_dlpack(&(struct le_array_home){.pool = pool}, &tensor, &array), LEAT_DEVICE);
    tensor = good;
    tensor.dl_tensor.dtype.lanes = 4;
    assert_int_equal(le_array_from_dlpack(&(struct le_array_home){.pool = pool}, &tensor, &array), LEAT_UNSUPPORTED);
    tensor = good;
    tensor.dl_tensor.ndim = 9;
    assert_int_equal(le_array_from_dlpack(&(struct le_array_home){.pool = pool}, &tensor, &array), LEAT_INVALID);
    tensor = good;
    tensor.dl_tensor.byte_offset = 2;
    assert_int_equal(le_array_from_dlpack(&(struct le_array_home){.pool = pool}, &tensor, &array), LEAT_INVALID);
    assert_int_equal(deleted, 1); /* the caller still owns a refused tensor */
    static int64_t one[] = {1, 3}, extreme[] = {INT64_MIN, 1};
    tensor = good;
    tensor.dl_tensor.shape = one;
    tensor.dl_tensor.strides = extreme;
    assert_ok(le_array_from_dlpack(&(struct le_array_home){.pool = pool}, &tensor, &array));
    assert_int_equal(array->strides[0], 3);
    le_array_free(array);
    tensor.dl_tensor.shape = shape; /* now the stride matters */
    assert_int_equal(le_array_from_dlpack(&(struct le_array_home){.pool = pool}, &tensor, &array), LEAT_INVALID);
    le_memory_pool_close(pool);
}

static void test_types(void **state) {
    (void)state;
    struct le_memory_pool *pool = open_pool();
    for (int dtype = LEAT_BOOL; dtype <= LEAT_C128; dtype++) {
        leat_array *array = new_array(pool, (leat_dtype)dtype, 0, NULL), *back = NULL;
        struct DLManagedTensor *tensor = NULL;
        assert_ok(le_array_to_dlpack(array, NULL, &tensor));
        assert_ok(le_array_from_dlpack(&(struct le_array_home){.pool = pool}, tensor, &back));
        assert_int_equal(back->dtype, dtype);
        le_array_free(array);
        le_array_free(back);
    }
    le_memory_pool_close(pool);
}

static void test_read_only(void **state) {
    static double memory[2];
    (void)state;
    struct le_memory_pool *pool = open_pool();
    const leat_description description = {
        .dtype = LEAT_F64, .rank = 1, .shape = {2}, .strides = {1}, .data = memory, .read_only = true};
    leat_array *array = NULL;
    struct DLManagedTensor *tensor = NULL;
    assert_ok(le_array_wrap(pool, &description, NULL, NULL, &array));
    assert_int_equal(le_array_to_dlpack(array, NULL, &tensor), LEAT_UNSUPPORTED);
    le_array_free(array);
    le_memory_pool_close(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_out_and_in),
        cmocka_unit_test(test_in),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_read_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
