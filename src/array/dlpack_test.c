/* Exporting and importing DLPack tensors: layout, lifetime, refused tensors, and tensors in a device's memory. */
#include "array/array_testing.h"
#include "array/dlpack.h"
#include "device/front/device_testing.h"
#include <sys/wait.h>

_Static_assert(sizeof(struct DLTensor) == 48 && offsetof(struct DLTensor, shape) == 24, "DLPack's layout");
_Static_assert(sizeof(struct DLManagedTensor) == 64 && offsetof(struct DLManagedTensor, deleter) == 56,
               "DLPack's layout");
_Static_assert(sizeof(struct DLManagedTensorVersioned) == 80 &&
                   offsetof(struct DLManagedTensorVersioned, manager_ctx) == 8 &&
                   offsetof(struct DLManagedTensorVersioned, deleter) == 16 &&
                   offsetof(struct DLManagedTensorVersioned, flags) == 24 &&
                   offsetof(struct DLManagedTensorVersioned, dl_tensor) == 32,
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

/* ---- version 1 */

static void test_read_only_versioned(void **state) {
    static double memory[2] = {3, 4};
    (void)state;
    struct le_memory_pool *pool = open_pool();
    const struct le_array_home home = {.pool = pool};
    for (int read_only = 0; read_only < 2; read_only++) {
        const leat_description description = {
            .dtype = LEAT_F64, .rank = 1, .shape = {2}, .strides = {1}, .data = memory, .read_only = read_only};
        leat_array *array = NULL, *back = NULL;
        struct DLManagedTensorVersioned *tensor = NULL;
        assert_ok(le_array_wrap(pool, &description, NULL, NULL, &array));
        assert_ok(le_array_to_dlpack_versioned(array, NULL, &tensor));
        le_array_free(array);
        assert_int_equal(tensor->version.major, 1);
        assert_int_equal(tensor->flags, read_only ? DL_READ_ONLY : 0);
        assert_ok(le_array_from_dlpack_versioned(&home, tensor, &back));
        assert_int_equal(back->read_only, read_only);
        assert_true(((double *)back->data)[1] == 4);
        le_array_free(back); /* deletes the tensor */
    }
    le_memory_pool_close(pool);
}

static int deleted_versioned;
static void count_deleted_versioned(struct DLManagedTensorVersioned *self) {
    (void)self;
    deleted_versioned++;
}

static void test_other_versions(void **state) {
    static float memory[1];
    (void)state;
    struct le_memory_pool *pool = open_pool();
    const struct le_array_home home = {.pool = pool};
    struct DLManagedTensorVersioned tensor = {
        .version = {1, 99},
        .deleter = count_deleted_versioned,
        .dl_tensor = {.data = memory, .device = {.device_type = DL_CPU}, .dtype = {DL_FLOAT, 32, 1}}};
    leat_array *array = NULL;
    assert_ok(le_array_from_dlpack_versioned(&home, &tensor, &array)); /* minor versions have the same layout */
    le_array_free(array);
    assert_int_equal(deleted_versioned, 1);
    tensor.version.major = 2;
    assert_int_equal(le_array_from_dlpack_versioned(&home, &tensor, &array), LEAT_UNSUPPORTED);
    assert_message("DLPack 2.99");
    assert_int_equal(deleted_versioned, 1); /* the caller still owns it */
    le_memory_pool_close(pool);
}

/* ---- tensors without an owner */

static void test_describe(void **state) {
    static const struct {
        struct dl_device device;
        int ordinal;
        leat_memory memory;
    } cases[] = {{{DL_CPU, 0}, -1, LEAT_MEMORY_HOST},
                 {{DL_CUDA, 3}, 3, LEAT_MEMORY_DEVICE},
                 {{DL_CUDA_HOST, 0}, -1, LEAT_MEMORY_PINNED},
                 {{DL_CUDA_MANAGED, 1}, 1, LEAT_MEMORY_DEVICE}};
    static float memory[7];
    static int64_t shape[] = {2, 3}, strides[] = {1, 2};
    (void)state;
    struct DLTensor tensor = {.data = memory, .ndim = 2, .dtype = {DL_FLOAT, 32, 1}, .shape = shape, .byte_offset = 4};
    leat_description description;
    int ordinal;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        tensor.device = cases[k].device;
        tensor.strides = k % 2 ? strides : NULL;
        assert_ok(le_dltensor_describe(&tensor, &description, &ordinal));
        assert_int_equal(ordinal, cases[k].ordinal);
        assert_int_equal(description.memory, cases[k].memory);
        assert_int_equal(description.dtype, LEAT_F32);
        assert_int_equal(description.rank, 2);
        assert_int_equal(description.shape[1], 3);
        assert_int_equal(description.strides[0], k % 2 ? 1 : 3);
        assert_ptr_equal(description.data, memory + 1);
        assert_false(description.read_only);
    }
    tensor.device.device_type = 10; /* ROCm */
    assert_int_equal(le_dltensor_describe(&tensor, &description, &ordinal), LEAT_DEVICE);
    assert_int_equal(ordinal, 1); /* unchanged */
    tensor.device.device_type = DL_CPU;
    tensor.dtype.code = 7; /* an f8 */
    assert_int_equal(le_dltensor_describe(&tensor, &description, &ordinal), LEAT_UNSUPPORTED);
}

static void test_to_dltensor(void **state) {
    (void)state;
    struct le_memory_pool *pool = open_pool();
    leat_array *base = counted(pool, 2, SHAPE(3, 4)), *view = NULL;
    int64_t shape[LEAT_RANK_MAX], strides[LEAT_RANK_MAX];
    struct DLTensor tensor;
    leat_description description;
    int ordinal;
    assert_ok(le_array_slice(base, SHAPE(2, 1), SHAPE(-1, 4), SHAPE(-1, 2), &view));
    assert_ok(le_array_to_dltensor(view, shape, strides, &tensor));
    assert_ptr_equal(tensor.shape, shape);
    assert_ptr_equal(tensor.strides, strides);
    assert_ok(le_dltensor_describe(&tensor, &description, &ordinal));
    assert_int_equal(ordinal, -1);
    assert_ptr_equal(description.data, view->data);
    assert_int_equal(description.shape[0], 3);
    assert_int_equal(description.shape[1], 2);
    assert_int_equal(description.strides[0], -4);
    assert_int_equal(description.strides[1], 2);
    le_array_free(view);
    le_array_free(base);
    le_memory_pool_close(pool);
}

/* ---- device memory; consumer_test.c tests the order */

static leat_array *on_device(struct le_memory_pool *pool, struct le_device *device) {
    const struct le_array_home home = {.pool = pool, .device = device, .stream = le_device_stream_own(device)};
    leat_array *array = NULL;
    assert_ok(le_array_new_at(&home, LEAT_MEMORY_DEVICE, LEAT_U8, 1, SHAPE(3 << 20), false, &array));
    fake_touch(home.stream, array->buffer->allocation, LE_ACCESS_WRITE);
    return array;
}

/* The deleter notes that the consumer used the memory in its stream. */
static void test_consumer(void **state) {
    (void)state;
    struct fake *fake;
    struct le_memory_pool *pool = open_pool();
    struct le_device *device = fake_open(&(struct le_device_options){.cache_cap_bytes = 1}, 64 << 20, &fake);
    struct le_device_stream *theirs = fake_stream_of(device);
    for (int version = 0; version < 2; version++) {
        struct DLManagedTensor *plain = NULL;
        struct DLManagedTensorVersioned *versioned = NULL;
        leat_array *array = on_device(pool, device);
        void *data = array->data;
        if (version)
            assert_ok(le_array_to_dlpack_versioned(array, theirs->native, &versioned));
        else
            assert_ok(le_array_to_dlpack(array, theirs->native, &plain));
        const struct DLTensor *tensor = version ? &versioned->dl_tensor : &plain->dl_tensor;
        assert_int_equal(tensor->device.device_type, DL_CUDA);
        assert_ptr_equal(tensor->data, data);
        le_array_free(array);
        struct fake_stream *native = theirs->native; /* work that Leat does not see */
        fake_enqueue(native);
        struct fake_operation work = {native->index, native->enqueued, native->clock};
        if (version)
            versioned->deleter(versioned);
        else
            plain->deleter(plain);
        array = on_device(pool, device);
        assert_ptr_equal(array->data, data); /* the same memory */
        struct fake_operation next =
            fake_touch(le_device_stream_own(device), array->buffer->allocation, LE_ACCESS_WRITE);
        assert_true(fake_is_before(&work, &next));
        le_array_free(array);
    }
    le_device_stream_free(theirs);
    fake_finish(device, fake);
    le_memory_pool_close(pool);
}

/* The tensor keeps its memory, its pool and its device alive, and frees nothing in a forked child. */
static void test_delete_late(void **state) {
    (void)state;
    struct fake *fake;
    struct le_memory_pool *pool = open_pool();
    struct le_device *device = fake_open(NULL, 64 << 20, &fake);
    struct DLManagedTensorVersioned *tensor = NULL;
    leat_array *array = on_device(pool, device);
    assert_ok(le_array_to_dlpack_versioned(array, NULL, &tensor));
    le_array_free(array);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int frees = fake->frees, synchronizes = fake->synchronizes;
        tensor->deleter(tensor);
        _exit(fake->frees != frees || fake->synchronizes != synchronizes || tensor->version.major != 1);
    }
    int outcome = -1;
    assert_int_equal(waitpid(child, &outcome, 0), child);
    assert_int_equal(outcome, 0);
    struct fake_stream *own = le_device_stream_own(device)->native;
    le_memory_pool_close(pool);
    le_device_close(device);
    tensor->deleter(tensor); /* frees the memory, the pool and the device */
    free(own->clocks);
    free(own);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_out_and_in),
        cmocka_unit_test(test_in),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_read_only),
        cmocka_unit_test(test_read_only_versioned),
        cmocka_unit_test(test_other_versions),
        cmocka_unit_test(test_describe),
        cmocka_unit_test(test_to_dltensor),
        cmocka_unit_test(test_consumer),
        cmocka_unit_test(test_delete_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
