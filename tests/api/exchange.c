/* DLPack import and export, npy bytes, files: the elements come back unchanged; memory is shared if possible and
 * released once. */
#include "support.h"
#include <stdio.h>
#include <unistd.h>

/* dmlc/dlpack, version 0.8 */
struct DLManagedTensor {
    struct {
        void *data;
        struct {
            int32_t device_type, device_id;
        } device;
        int32_t ndim;
        struct {
            uint8_t code, bits;
            uint16_t lanes;
        } dtype;
        int64_t *shape, *strides;
        uint64_t byte_offset;
    } dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
};
enum { DL_CPU = 1, DL_INT = 0, DL_FLOAT = 2 };

static void test_dlpack_out(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_array *a = array_of(ctx, LEAT_F64, 2, SHAPE(2, 3), LIST(1, 2, 3, 4, 5, 6)), *turned = NULL, *back = NULL;
    struct DLManagedTensor *tensor = NULL;
    assert_ok(leat_array_transpose(a, NULL, &turned));
    assert_ok(leat_array_to_dlpack(turned, NULL, &tensor));
    assert_int_equal(tensor->dl_tensor.device.device_type, DL_CPU);
    assert_int_equal(tensor->dl_tensor.ndim, 2);
    assert_int_equal(tensor->dl_tensor.shape[0], 3);
    assert_int_equal(tensor->dl_tensor.strides[0], 1);
    assert_int_equal(tensor->dl_tensor.strides[1], 3);
    assert_int_equal(tensor->dl_tensor.dtype.code, DL_FLOAT);
    assert_int_equal(tensor->dl_tensor.dtype.bits, 64);
    assert_int_equal(tensor->dl_tensor.dtype.lanes, 1);
    leat_array_free(turned);
    assert_ok(leat_array_from_dlpack(ctx, tensor, &back)); /* now back owns the tensor */
    assert_f64(back, 6, LIST(1, 4, 2, 5, 3, 6));
    assert_ok(leat_array_write(a, LIST(9, 8, 7, 6, 5, 4), 6 * sizeof(double), NULL, NULL));
    assert_f64(back, 6, LIST(9, 6, 8, 5, 7, 4));
    leat_array_free(a);
    assert_f64(back, 6, LIST(9, 6, 8, 5, 7, 4));
    leat_array_free(back);
    leat_close(ctx);
}

static void count_deletion(struct DLManagedTensor *self) {
    ++*(int *)self->manager_ctx;
}

static void test_dlpack_in(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    float memory[5] = {0, 1, 2, 3, 4};
    int64_t shape[2] = {2, 2}, strides[2] = {2, 1};
    int deleted = 0;
    struct DLManagedTensor tensor = {.dl_tensor = {.data = memory,
                                                   .device = {DL_CPU, 0},
                                                   .ndim = 2,
                                                   .dtype = {DL_FLOAT, 32, 1},
                                                   .shape = shape,
                                                   .strides = strides,
                                                   .byte_offset = sizeof(float)},
                                     .manager_ctx = &deleted,
                                     .deleter = count_deletion};
    leat_array *a = NULL;
    float back[4];
    assert_ok(leat_array_from_dlpack(ctx, &tensor, &a));
    assert_ok(leat_array_read(a, back, sizeof back, NULL, NULL));
    assert_memory_equal(back, memory + 1, sizeof back);
    leat_array_free(a);
    assert_int_equal(deleted, 1);
    tensor.dl_tensor.strides = NULL; /* dense */
    assert_ok(leat_array_from_dlpack(ctx, &tensor, &a));
    leat_array_free(a);
    assert_int_equal(deleted, 2);
    tensor.dl_tensor.dtype.lanes = 4;
    assert_int_not_equal(leat_array_from_dlpack(ctx, &tensor, &a), LEAT_OK);
    tensor.dl_tensor.dtype.lanes = 1;
    tensor.dl_tensor.dtype.bits = 24;
    assert_int_not_equal(leat_array_from_dlpack(ctx, &tensor, &a), LEAT_OK);
    tensor.dl_tensor.dtype.bits = 32;
    tensor.dl_tensor.device.device_type = 2; /* CUDA memory */
    assert_int_not_equal(leat_array_from_dlpack(ctx, &tensor, &a), LEAT_OK);
    tensor.dl_tensor.device.device_type = DL_CPU;
    tensor.dl_tensor.ndim = 40;
    assert_int_not_equal(leat_array_from_dlpack(ctx, &tensor, &a), LEAT_OK);
    assert_int_equal(deleted, 2); /* after a failure the caller still owns it */
    leat_close(ctx);
}

static void test_npy_bytes(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    for (leat_dtype dtype = LEAT_BOOL; dtype <= LEAT_F64; dtype++) {
        unsigned char elements[6 * 8] = {1, 0, 1, 1}, back[6 * 8] = {0};
        const size_t size_bytes = 6 * leat_dtype_size_bytes(dtype);
        leat_array *a = array_of(ctx, dtype, 2, SHAPE(3, 2), elements), *b = NULL;
        leat_description description;
        void *bytes = NULL;
        size_t length = 0;
        assert_ok(leat_array_save_memory(a, &bytes, &length));
        assert_true(length > size_bytes);
        assert_memory_equal(bytes, "\x93NUMPY", 6);
        assert_ok(leat_array_load_memory(ctx, bytes, length, dtype, &b));
        assert_ok(leat_array_get(b, &description));
        assert_int_equal(description.dtype, dtype);
        assert_int_equal(description.shape[0], 3);
        assert_ok(leat_array_read(b, back, size_bytes, NULL, NULL));
        assert_memory_equal(back, elements, size_bytes);
        leat_array_free(b);
        b = NULL;
        assert_status(leat_array_load_memory(ctx, bytes, length - 1, dtype, &b), LEAT_FILE);
        assert_status(leat_array_load_memory(ctx, bytes, 9, dtype, &b), LEAT_FILE);
        leat_memory_free(bytes);
        leat_array_free(a);
    }
    leat_close(ctx);
}

static void test_files(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    char folder[] = "/tmp/leat-exchange-XXXXXX", path[100];
    leat_array *a = array_of(ctx, LEAT_F64, 2, SHAPE(2, 2), LIST(1, 2, 3, 4)), *turned = NULL, *b = NULL;
    assert_non_null(mkdtemp(folder));
    assert_ok(leat_array_transpose(a, NULL, &turned));
    static const char *const names[] = {"a.npy", "a.npz"};
    for (size_t k = 0; k < ARRAY_LEN(names); k++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[k]);
        assert_ok(leat_array_save(turned, path, k ? "t" : NULL, LEAT_COLORMAP_GREY));
        assert_ok(leat_array_load(ctx, path, k ? "t" : NULL, (leat_dtype)0, &b));
        assert_f64(b, 4, LIST(1, 3, 2, 4));
        leat_array_free(b);
        if (k)
            assert_status(leat_array_load(ctx, path, "absent", (leat_dtype)0, &b), LEAT_MISSING);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/a.png", folder);
    assert_ok(leat_array_save(a, path, NULL, LEAT_COLORMAP_GREY));
    assert_ok(leat_array_load(ctx, path, NULL, (leat_dtype)0, &b));
    leat_array_free(b);
    unlink(path);
    snprintf(path, sizeof path, "%s/none/a.npy", folder);
    assert_status(leat_array_save(a, path, NULL, LEAT_COLORMAP_GREY), LEAT_FILE);
    assert_int_equal(rmdir(folder), 0); /* no other file was left */
    leat_array_free(turned);
    leat_array_free(a);
    leat_close(ctx);
}

/* Two arrays in one pipe, then data that is not an array: no more is read than necessary. */
static void test_descriptors(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_array *a = array_of(ctx, LEAT_F64, 2, SHAPE(2, 2), LIST(1, 2, 3, 4)), *b = NULL;
    leat_error error;
    void *bytes = NULL;
    size_t length = 0;
    int ends[2];
    char rest[8] = "";
    assert_ok(leat_array_save_memory(a, &bytes, &length));
    assert_int_equal(pipe(ends), 0);
    for (int k = 0; k < 2; k++)
        assert_int_equal(write(ends[1], bytes, length), length);
    assert_int_equal(write(ends[1], bytes, length - 1), length - 1);
    close(ends[1]);
    for (int k = 0; k < 2; k++) {
        assert_ok(leat_array_load_fd(ctx, ends[0], "a pipe", (leat_dtype)0, &b));
        assert_f64(b, 4, LIST(1, 2, 3, 4));
        leat_array_free(b);
    }
    assert_status(leat_array_load_fd(ctx, ends[0], "a pipe", (leat_dtype)0, &b), LEAT_FILE);
    assert_ok(leat_error_get(ctx, &error));
    assert_string_equal(error.message, "a pipe: its header claims 32 bytes of elements, but it has 31");
    close(ends[0]);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "no array, but words", 19), 19);
    assert_status(leat_array_load_fd(ctx, ends[0], NULL, (leat_dtype)0, &b), LEAT_FILE);
    assert_int_equal(read(ends[0], rest, 7), 7);
    assert_string_equal(rest, "t words");
    assert_status(leat_array_load_fd(ctx, -1, NULL, (leat_dtype)0, &b), LEAT_INVALID);
    assert_status(leat_array_load_fd(ctx, ends[0], NULL, (leat_dtype)99, &b), LEAT_INVALID);
    close(ends[0]);
    close(ends[1]);
    assert_status(leat_array_load_fd(ctx, ends[0], NULL, (leat_dtype)0, &b), LEAT_FILE);
    leat_memory_free(bytes);
    leat_array_free(a);
    leat_close(ctx);
}

/* Elements in a file after bytes that another reader has consumed. */
static void test_descriptor_of_a_file(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    char path[] = "/tmp/leat-exchange-XXXXXX";
    leat_array *a = array_of(ctx, LEAT_F64, 1, SHAPE(3), LIST(1, 2, 3)), *b = NULL;
    void *bytes = NULL;
    size_t length = 0;
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_ok(leat_array_save_memory(a, &bytes, &length));
    assert_int_equal(write(file, "before", 6), 6);
    assert_int_equal(write(file, bytes, length), length);
    assert_int_equal(lseek(file, 6, SEEK_SET), 6);
    assert_ok(leat_array_load_fd(ctx, file, path, (leat_dtype)0, &b));
    assert_f64(b, 3, LIST(1, 2, 3));
    close(file);
    unlink(path);
    leat_memory_free(bytes);
    leat_array_free(b);
    leat_array_free(a);
    leat_close(ctx);
}

static bool go_on(void *user) {
    int *left = user;
    return (*left)-- > 0;
}

static void test_save_options(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    char folder[] = "/tmp/leat-exchange-XXXXXX", path[100];
    leat_array *a = array_of(ctx, LEAT_F64, 2, SHAPE(2, 2), LIST(1, 2, 3, 4)), *b = NULL;
    static const char *const names[] = {"a.npy", "a.npz", "a.png"};
    assert_non_null(mkdtemp(folder));
    for (size_t k = 0; k < ARRAY_LEN(names); k++) {
        int none = 0, much = 1000;
        const leat_save_options synced = {.sync = true, .proceed = go_on, .user = &much},
                                stopped = {.proceed = go_on, .user = &none};
        snprintf(path, sizeof path, "%s/%s", folder, names[k]);
        assert_status(leat_array_save_as(a, path, &stopped), LEAT_FILE);
        assert_int_equal(access(path, F_OK), -1);
        assert_ok(leat_array_save_as(a, path, NULL));
        assert_ok(leat_array_save_as(a, path, &synced));
        assert_true(much < 1000);
        none = 0;
        assert_status(leat_array_save_as(a, path, &stopped), LEAT_FILE);
        assert_ok(leat_array_load(ctx, path, NULL, (leat_dtype)0, &b));
        leat_array_free(b);
        unlink(path);
    }
    assert_status(leat_array_save_as(a, path, &(leat_save_options){.colormap = (leat_colormap)7}), LEAT_INVALID);
    assert_status(leat_array_save_as(a, NULL, NULL), LEAT_INVALID);
    assert_status(leat_array_save_as(NULL, path, NULL), LEAT_INVALID);
    assert_int_equal(rmdir(folder), 0);
    leat_array_free(a);
    leat_close(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dlpack_out),   cmocka_unit_test(test_dlpack_in),
        cmocka_unit_test(test_npy_bytes),    cmocka_unit_test(test_files),
        cmocka_unit_test(test_descriptors),  cmocka_unit_test(test_descriptor_of_a_file),
        cmocka_unit_test(test_save_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
