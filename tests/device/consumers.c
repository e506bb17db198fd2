/* Tensors that another library uses in a stream of its own. When it deletes one, its kernels may still be running; the
 * memory is used again only after them. The other library is a second context, which gets the tensor's address, so Leat
 * knows nothing of its work. sim runs work that is not ordered in an order of its own. Its checks are off, because they
 * would run all work before an array is freed.
 *
 * Memory of sim cannot be exported, so there the test calls the functions that the exports use. */
#include "array/array.h"
#include "array/dlpack.h"
#include "support.h"

/* consume: counts in `out` how often the tensor holds what Leat wrote, and changes nothing of it. */
static const char text[] =
    "extern \"C\" __global__ void consume(unsigned *out, unsigned long long address, int turns) {\n"
    "    unsigned *tensor = (unsigned *)address, state = threadIdx.x;\n"
    "    for (int k = 0; k < turns; k++) state = state * 1664525u + 1013904223u;\n"
    "    if (state != 1) out[threadIdx.x] += tensor[threadIdx.x] == 1000 + threadIdx.x;\n"
    "}\n"
    "extern \"C\" __global__ void fill(unsigned *y, unsigned first) {\n"
    "    y[threadIdx.x] = first + threadIdx.x;\n"
    "}\n";
enum { THREADS = 64, LAUNCHES = 20, COUNT = 3 << 18 }; /* 3 MiB: an allocation of its own; the kernels use its start */

static leat_context *ctx, *other;
static leat_module *module, *other_module;
static leat_kernel *fill_kernel, *consume_kernel;

/* ---- a tensor, exported and deleted */

struct tensor {
    struct DLManagedTensorVersioned *exported; /* NULL: on sim */
    leat_array *array;
    uint64_t address, stream_id;
};

static struct tensor export_tensor(leat_array *array, void *native) {
    leat_description description;
    struct tensor tensor = {.array = leat_array_retain(array)};
    assert_ok(leat_array_get(array, &description));
    tensor.address = (uint64_t)(uintptr_t)description.data;
    if (strcmp(device_name, "sim") == 0) {
        assert_status(leat_array_to_dlpack_versioned(array, native, &tensor.exported), LEAT_UNSUPPORTED);
        assert_ok(le_consumer_begin(array->buffer->allocation, LE_ACCESS_BOTH, native, &tensor.stream_id));
        return tensor;
    }
    assert_ok(leat_array_to_dlpack_versioned(array, native, &tensor.exported));
    assert_int_equal(tensor.exported->dl_tensor.device.device_type, DL_CUDA);
    assert_true((uint64_t)(uintptr_t)tensor.exported->dl_tensor.data == tensor.address);
    return tensor;
}

static void delete_tensor(struct tensor *tensor) {
    if (tensor->exported)
        tensor->exported->deleter(tensor->exported);
    else
        assert_true(le_consumer_end(tensor->array->buffer->allocation, LE_ACCESS_BOTH, tensor->stream_id));
    leat_array_free(tensor->array);
}

/* ---- the work on both sides */

static leat_array *filled(leat_stream *stream, unsigned first) {
    leat_array *array = NULL;
    assert_ok(leat_array_new_empty(ctx, LEAT_U32, 1, SHAPE(COUNT), LEAT_MEMORY_DEVICE, &array));
    const leat_argument arguments[] = {leat_out(array), leat_u32(first)};
    assert_ok(
        leat_kernel_launch(fill_kernel, (leat_dim3){1, 1, 1}, (leat_dim3){THREADS, 1, 1}, 0, stream, arguments, 2));
    return array;
}

static void consume(leat_stream *stream, leat_array *out, uint64_t address) {
    const leat_argument arguments[] = {leat_inout(out), leat_u64(address), leat_i32(20000)};
    for (int k = 0; k < LAUNCHES; k++)
        assert_ok(leat_kernel_launch(consume_kernel, (leat_dim3){1, 1, 1}, (leat_dim3){THREADS, 1, 1}, 0, stream,
                                     arguments, 3));
}

/* Checks that the first elements are first, first + step, ... */
static void check_values(leat_array *array, unsigned first, unsigned step) {
    unsigned values[THREADS];
    leat_array *start = NULL;
    assert_ok(leat_array_slice(array, SHAPE(0), SHAPE(THREADS), SHAPE(1), &start));
    assert_ok(leat_array_read(start, values, sizeof values, NULL, NULL));
    leat_array_free(start);
    for (unsigned k = 0; k < THREADS; k++)
        assert_int_equal(values[k], first + step * k);
}

/* Exports an array to a consumer that works in `theirs`, a stream of the other context, which is `native`; deletes the
 * tensor while the work may be running, and uses the memory for another array at once. between: called before the
 * deletion. after: NULL, or the stream that `native` is instead; the consumer waits for it. */
static void check_order(void *native, leat_stream *after, leat_stream *theirs, void (*between)(void *user),
                        void *user) {
    leat_array *out = NULL;
    assert_ok(leat_array_new(other, LEAT_U32, 1, SHAPE(THREADS), LEAT_MEMORY_DEVICE, &out));
    assert_ok(leat_context_synchronize(other));
    leat_array *first = filled(NULL, 1000);
    struct tensor tensor = export_tensor(first, native);
    if (after)
        assert_ok(leat_stream_synchronize(after));
    consume(theirs, out, tensor.address);
    leat_array_free(first);
    if (between)
        between(user);
    delete_tensor(&tensor);
    leat_array *second = filled(NULL, 5000);
    leat_description description;
    assert_ok(leat_array_get(second, &description));
    assert_true((uint64_t)(uintptr_t)description.data == tensor.address); /* the same memory, or this tests nothing */
    check_values(second, 5000, 1);
    check_values(out, LAUNCHES, 0);
    leat_array_free(second);
    leat_array_free(out);
    assert_ok(leat_context_synchronize(ctx));
}

static void check_consumer(void *native, leat_stream *theirs, void (*between)(void *user), void *user) {
    check_order(native, NULL, theirs, between, user);
}

static leat_stream *stream_of(leat_context *of, void **native) {
    leat_stream *stream = NULL;
    assert_ok(leat_stream_new(of, &stream));
    assert_ok(leat_stream_native(stream, native));
    return stream;
}

static leat_stream *wrapped_in(leat_context *in, void *native) {
    leat_stream *stream = NULL;
    assert_ok(leat_stream_wrap(in, native, &stream));
    return stream;
}

static void test_own_stream(void **state) {
    void *native;
    (void)state;
    leat_stream *own = stream_of(ctx, &native), *theirs = wrapped_in(other, native);
    check_consumer(native, theirs, NULL, NULL);
    leat_stream_free(theirs);
    leat_stream_free(own);
}

/* The consumer's stream is not known, so the array is exported for a stream of Leat's own, which the consumer waits
 * for. A wrapper of that stream, for another consumer that works in it, changes nothing. */
static void test_any_stream(void **state) {
    void *native, *native_theirs;
    (void)state;
    leat_stream *own = stream_of(ctx, &native), *theirs = stream_of(other, &native_theirs);
    for (int k = 0; k < 3; k++)
        check_order(native, own, theirs, NULL, NULL);
    leat_stream *wrapped = wrapped_in(ctx, native);
    check_order(native, own, theirs, NULL, NULL);
    leat_stream_free(wrapped);
    leat_stream_free(theirs);
    leat_stream_free(own);
}

/* A consumer that gets the address alone, and works after a stream of Leat's. */
static void test_wait_array(void **state) {
    void *native;
    leat_description description;
    (void)state;
    leat_stream *own = stream_of(ctx, &native), *theirs = stream_of(other, &native);
    leat_array *out = NULL, *array = filled(NULL, 1000);
    assert_ok(leat_array_new(other, LEAT_U32, 1, SHAPE(THREADS), LEAT_MEMORY_DEVICE, &out));
    assert_ok(leat_context_synchronize(other));
    assert_ok(leat_stream_wait_array(own, array));
    assert_ok(leat_stream_synchronize(own));
    assert_ok(leat_array_get(array, &description));
    consume(theirs, out, (uint64_t)(uintptr_t)description.data);
    check_values(out, LAUNCHES, 0);
    assert_status(leat_stream_wait_array(own, out), LEAT_INVALID);
    assert_status(leat_stream_wait_array(NULL, array), LEAT_INVALID);
    assert_status(leat_stream_wait_array(own, NULL), LEAT_INVALID);
    leat_array_free(array);
    leat_array_free(out);
    leat_stream_free(theirs);
    leat_stream_free(own);
}

static void test_wrapped_stream(void **state) {
    void *native;
    (void)state;
    leat_stream *theirs = stream_of(other, &native), *wrapped = wrapped_in(ctx, native);
    check_consumer(native, theirs, NULL, NULL);
    leat_stream_free(wrapped);
    leat_stream_free(theirs);
}

static void test_unknown_stream(void **state) {
    void *native;
    (void)state;
    leat_stream *theirs = stream_of(other, &native);
    check_consumer(native, theirs, NULL, NULL);
    leat_stream_free(theirs);
}

static void test_legacy_stream(void **state) {
    (void)state;
    void *legacy = (void *)(uintptr_t)1; /* CU_STREAM_LEGACY */
    leat_stream *theirs = wrapped_in(other, legacy);
    for (int k = 0; k < 3; k++)
        check_consumer(legacy, theirs, NULL, NULL);
    leat_stream_free(theirs);
}

/* The consumer may use any stream, and the default streams of threads are not known. */
static void test_no_stream(void **state) {
    void *native;
    (void)state;
    leat_stream *theirs = stream_of(other, &native);
    check_consumer(NULL, theirs, NULL, NULL);
    check_consumer((void *)(uintptr_t)2, theirs, NULL, NULL); /* CU_STREAM_PER_THREAD */
    leat_stream_free(theirs);
}

/* The stream is gone when the tensor is deleted; its work is not. A wrapper is freed before its stream. */
static void free_streams(void *user) {
    for (leat_stream **stream = user; *stream; stream++)
        leat_stream_free(*stream);
}

static void test_stream_freed_meanwhile(void **state) {
    void *native;
    (void)state;
    leat_stream *streams[3] = {0};
    streams[1] = stream_of(other, &native);
    streams[0] = wrapped_in(ctx, native);
    check_consumer(native, streams[1], free_streams, streams);
    streams[1] = stream_of(ctx, &native);
    streams[0] = wrapped_in(other, native);
    check_consumer(native, streams[0], free_streams, streams);
}

/* The context is closed before the tensor is deleted. */
static void test_closed_context(void **state) {
    void *native;
    (void)state;
    leat_array *out = NULL;
    leat_context *kept = ctx;
    leat_module *kept_module = module;
    leat_stream *theirs = stream_of(other, &native);
    const leat_options options = {.cache_cap_bytes = 1};
    ctx = open_device(&options);
    assert_ok(leat_module_new(ctx, text, NULL, &module));
    assert_ok(leat_module_kernel(module, "fill", &fill_kernel));
    assert_ok(leat_array_new(other, LEAT_U32, 1, SHAPE(THREADS), LEAT_MEMORY_DEVICE, &out));
    assert_ok(leat_context_synchronize(other));
    leat_array *array = filled(NULL, 1000);
    struct tensor tensor = export_tensor(array, native);
    leat_array_free(array);
    leat_module_free(module);
    leat_close(ctx);
    consume(theirs, out, tensor.address);
    delete_tensor(&tensor);
    check_values(out, LAUNCHES, 0);
    leat_array_free(out);
    leat_stream_free(theirs);
    ctx = kept;
    module = kept_module;
    assert_ok(leat_module_kernel(module, "fill", &fill_kernel));
}

static bool begin(void) {
    const leat_options options = {.cache_cap_bytes = 1}; /* memory is reused while it is in use */
    ctx = open_device(&options);
    other = open_device(&options);
    leat_status status = leat_module_new(ctx, text, NULL, &module);
    if (status == LEAT_UNSUPPORTED) { /* the CPU, or no compiler */
        printf("skipped: %s\n", leat_error_text(NULL));
        return false;
    }
    assert_ok(status);
    assert_ok(leat_module_new(other, text, NULL, &other_module));
    assert_ok(leat_module_kernel(module, "fill", &fill_kernel));
    assert_ok(leat_module_kernel(other_module, "consume", &consume_kernel));
    return true;
}

int main(int count, char **arguments) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_stream),     cmocka_unit_test(test_any_stream),
        cmocka_unit_test(test_wait_array),     cmocka_unit_test(test_wrapped_stream),
        cmocka_unit_test(test_unknown_stream), cmocka_unit_test(test_legacy_stream),
        cmocka_unit_test(test_no_stream),      cmocka_unit_test(test_stream_freed_meanwhile),
        cmocka_unit_test(test_closed_context),
    };
    if (!start(count, arguments) || !begin())
        return SKIPPED;
    int failed = cmocka_run_group_tests_name(device_name, tests, NULL, NULL);
    leat_module_free(module);
    leat_module_free(other_module);
    leat_close(other);
    leat_close(ctx);
    return failed;
}
