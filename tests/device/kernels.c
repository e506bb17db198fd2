/* Modules and kernels of the user's: compiling and its errors, names, templates, variables, parameters, launches that
 * are refused, and results of kernels. The same on sim and on a GPU. */
#include "work.h"

static const char TEXT[] =
    "#include <cuda_fp16.h>\n"
    "#ifndef SCALE\n#define SCALE 1\n#endif\n"
    "struct Pair { float first; double second; };\n"
    "__device__ int counter = 5;\n"
    "__constant__ float table[4] = {1, 2, 3, 4};\n"
    "namespace ns { __device__ double sums[3]; }\n"
    "extern \"C\" __global__ void axpy(float a, const float *x, float *y, int n) {\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n) y[i] += a * x[i] * SCALE;\n"
    "}\n"
    "namespace ns {\n"
    "__global__ void count(int times) { if (threadIdx.x == 0) { counter += times; sums[1] = table[3] * times; } }\n"
    "template <class T, int N> __global__ void fill(T *y, T value) { y[threadIdx.x] = value * T(N); }\n"
    "}\n"
    "extern \"C\" __global__ void mixed(Pair p, unsigned char c, short s, long long l, bool b, double d, double *y) {\n"
    "    y[0] = p.first; y[1] = p.second; y[2] = c; y[3] = s; y[4] = (double)l; y[5] = b; y[6] = d;\n"
    "}\n"
    "extern \"C\" __global__ void halves(__half a, const __half *x, __half *y) {\n"
    "    y[threadIdx.x] = __float2half(__half2float(a) * __half2float(x[threadIdx.x]));\n"
    "}\n"
    "extern \"C\" __global__ void reverse(int *y, int n) {\n"
    "    extern __shared__ int kept[];\n"
    "    for (int k = threadIdx.x; k < n; k += blockDim.x) kept[n - 1 - k] = y[k];\n"
    "    __syncthreads();\n"
    "    for (int k = threadIdx.x; k < n; k += blockDim.x) y[k] = kept[k];\n"
    "}\n"
    "extern \"C\" __global__ void where(unsigned *y) {\n"
    "    unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);\n"
    "    unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);\n"
    "    y[block * blockDim.x * blockDim.y * blockDim.z + thread] = 100 * block + thread;\n"
    "}\n";

static leat_module *module;

static leat_array *array_of(leat_dtype dtype, int64_t extent, const void *values) {
    leat_array *array = NULL;
    assert_ok(leat_array_new(ctx, dtype, 1, SHAPE(extent), LEAT_MEMORY_DEVICE, &array));
    if (values)
        assert_ok(leat_array_write(array, values, (size_t)extent * leat_dtype_size_bytes(dtype), NULL, NULL));
    return array;
}

static leat_kernel *kernel_of(const char *name) {
    leat_kernel *kernel = NULL;
    assert_ok(leat_module_kernel(module, name, &kernel));
    return kernel;
}

static leat_status launch(const char *name, unsigned grid, unsigned block, size_t shared_bytes,
                          const leat_argument *arguments, size_t count) {
    return leat_kernel_launch(kernel_of(name), (leat_dim3){grid, 0, 0}, (leat_dim3){block, 0, 0}, shared_bytes, NULL,
                              arguments, count);
}

static void read_array(leat_array *array, void *values, size_t size_bytes) {
    assert_ok(leat_array_read(array, values, size_bytes, NULL, NULL));
}

/* ---- compiling */

static void test_errors(void **state) {
    (void)state;
    static const struct {
        const char *text, *said;
    } CASES[] = {{"__global__ void f(float *x) {\n    x[0] = oops;\n}\n", "k.cu:2:"},
                 {"#include \"not_there.cuh\"\n", "not_there.cuh"},
                 {"__global__ void f() { int x = ; }\n", "k.cu:1:"}};
    for (size_t k = 0; k < ARRAY_LEN(CASES); k++) {
        const leat_module_options options = {.name = "k.cu"};
        leat_module *none = NULL;
        assert_status(leat_module_new(ctx, CASES[k].text, &options, &none), LEAT_PROGRAM);
        if (!strstr(leat_error_text(NULL), CASES[k].said))
            fail_msg("%s", leat_error_text(NULL));
        assert_null(none);
    }
    leat_error error;
    const leat_module_options options = {.name = "k.cu"};
    leat_module *none = NULL;
    assert_status(leat_module_new(ctx, CASES[0].text, &options, &none), LEAT_PROGRAM);
    assert_ok(leat_error_get(NULL, &error));
    say("an error in line %d%s", error.line, strstr(error.message, "oops") ? ", of oops" : "");
}

static void test_options(void **state) {
    (void)state;
    const char *macros[] = {"SCALE=3", "N=7", "PLAIN", NULL}, *wrong[] = {"--no-such-option", NULL};
    const char *names[] = {"twice<int>", "ns::thrice< float >", NULL}, *nobody[] = {"nobody<int>", NULL};
    leat_module_options options = {.macros = macros, .names = names};
    static const char SOURCE[] =
        "template <class T> __global__ void twice(T *y) {\n#ifdef PLAIN\n y[0] = SCALE * N;\n#endif\n}\n"
        "namespace ns { template <class T> __global__ void thrice(T *y) { y[0] = 3; } }\n";
    leat_module *made = NULL;
    leat_kernel *kernel = NULL;
    leat_kernel_info info;
    assert_ok(leat_module_new(ctx, SOURCE, &options, &made));
    assert_ok(leat_module_kernel(made, "ns::thrice<float>", &kernel));
    assert_ok(leat_module_kernel(made, "twice<int>", &kernel));
    assert_ok(leat_kernel_get(kernel, &info));
    say("%s has %d parameter", info.name, info.parameter_count);
    assert_status(leat_module_kernel(made, "twice<float>", &kernel), LEAT_INVALID);
    say_failure(LEAT_INVALID);
    leat_array *y = array_of(LEAT_I32, 1, NULL);
    int32_t value = 0;
    const leat_argument arguments[] = {leat_out(y)};
    assert_ok(leat_kernel_launch(kernel, (leat_dim3){1, 1, 1}, (leat_dim3){1, 1, 1}, 0, NULL, arguments, 1));
    leat_module_free(made);
    read_array(y, &value, sizeof value);
    say("3 * 7 is %d", value);
    leat_array_free(y);
    options.options = wrong;
    assert_status(leat_module_new(ctx, SOURCE, &options, &made), LEAT_INVALID);
    options = (leat_module_options){.names = nobody};
    assert_status(leat_module_new(ctx, SOURCE, &options, &made), LEAT_PROGRAM);
    assert_message("nobody");
}

/* Warnings are in the module's log, with the user's file and line. */
static void test_log(void **state) {
    (void)state;
    const leat_module_options options = {.name = "careful.cu"};
    leat_module *made = NULL;
    const char *log = NULL;
    assert_ok(leat_module_log(module, &log));
    assert_string_equal(log, "");
    assert_status(leat_module_log(module, NULL), LEAT_INVALID);
    assert_status(leat_module_log(NULL, &log), LEAT_INVALID);
    assert_ok(leat_module_new(ctx, "#warning tread softly\n__global__ void f() {}\n", &options, &made));
    assert_ok(leat_module_log(made, &log));
    assert_non_null(strstr(log, "careful.cu"));
    assert_non_null(strstr(log, "tread softly"));
    leat_module_free(made);
}

/* ---- names and properties */

static void test_names(void **state) {
    (void)state;
    leat_kernel *kernel = NULL;
    size_t count = 0;
    assert_ok(leat_module_kernel_count(module, &count));
    assert_int_equal(count, 7);
    assert_ok(leat_module_kernel_at(module, count - 1, &kernel));
    assert_status(leat_module_kernel_at(module, count, &kernel), LEAT_INVALID);
    assert_ok(leat_module_kernel(module, "::ns::count", &kernel));
    assert_ok(leat_module_kernel(module, "ns::fill<double,3>", &kernel));
    static const char *const WRONG[] = {"axpi", "ns::fill", "ns::fill<float, 3>"};
    for (size_t k = 0; k < ARRAY_LEN(WRONG); k++) {
        assert_status(leat_module_kernel(module, WRONG[k], &kernel), LEAT_INVALID);
        assert_message(WRONG[k]);
    }
}

static void test_facts(void **state) {
    (void)state;
    static const struct {
        size_t size_bytes;
        leat_dtype dtype;
        bool is_address;
    } EXPECTED[] = {{16, (leat_dtype)0, false}, {1, LEAT_I8, false},  {2, LEAT_I16, false}, {8, LEAT_I64, true},
                    {1, LEAT_I8, false},        {8, LEAT_F64, false}, {8, LEAT_I64, true}};
    leat_kernel_info info;
    leat_parameter_info parameter;
    assert_ok(leat_kernel_get(kernel_of("mixed"), &info));
    assert_int_equal(info.parameter_count, ARRAY_LEN(EXPECTED));
    assert_true(info.max_block_threads >= 256 && info.best_block_threads >= 32 && info.registers > 0);
    assert_true(info.max_dynamic_shared_bytes >= 64 * 1024);
    for (size_t k = 0; k < ARRAY_LEN(EXPECTED); k++) {
        assert_ok(leat_kernel_parameter(kernel_of("mixed"), k, &parameter));
        assert_int_equal(parameter.size_bytes, EXPECTED[k].size_bytes);
        assert_int_equal(parameter.dtype, EXPECTED[k].dtype);
        assert_int_equal(parameter.is_address, EXPECTED[k].is_address);
    }
    assert_status(leat_kernel_parameter(kernel_of("mixed"), ARRAY_LEN(EXPECTED), &parameter), LEAT_INVALID);
    for (size_t k = 0; k < 3; k++) { /* (__half a, const __half *x, __half *y) */
        assert_ok(leat_kernel_parameter(kernel_of("halves"), k, &parameter));
        assert_int_equal(parameter.is_const, k == 1);
    }
}

/* ---- results of kernels */

static void test_axpy(void **state) {
    (void)state;
    float x[1000], y[1000];
    for (int k = 0; k < 1000; k++) {
        x[k] = (float)k;
        y[k] = 1;
    }
    leat_array *a = array_of(LEAT_F32, 1000, x), *b = array_of(LEAT_F32, 1000, y);
    const leat_argument arguments[] = {leat_f32(0.5f), leat_in(a), leat_inout(b), leat_i32(999)};
    assert_ok(launch("axpy", 4, 256, 0, arguments, 4));
    read_array(b, y, sizeof y);
    for (int k = 0; k < 1000; k++)
        assert_true(y[k] == (k < 999 ? 1 + 0.5f * (float)k : 1));
    leat_array_free(a);
    leat_array_free(b);
}

static void test_view(void **state) {
    (void)state;
    float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8] = {0};
    leat_array *a = array_of(LEAT_F32, 8, x), *b = array_of(LEAT_F32, 8, y), *part = NULL;
    assert_ok(leat_array_slice(a, SHAPE(4), SHAPE(8), SHAPE(1), &part));
    const leat_argument arguments[] = {leat_f32(1), leat_in(part), leat_inout(b), leat_i32(4)};
    assert_ok(launch("axpy", 1, 32, 0, arguments, 4));
    read_array(b, y, sizeof y);
    say("from the fifth element on: %g %g %g %g %g", (double)y[0], (double)y[1], (double)y[2], (double)y[3],
        (double)y[4]);
    leat_array_free(part);
    leat_array_free(a);
    leat_array_free(b);
}

static void test_mixed(void **state) {
    (void)state;
    struct {
        float first;
        double second;
    } pair = {1.5f, 2.5};
    const uint8_t byte = 200;
    const int16_t word = -3;
    const bool yes = true;
    double y[7];
    leat_array *out = array_of(LEAT_F64, 7, NULL);
    const leat_argument arguments[] = {leat_bytes(&pair, sizeof pair),
                                       leat_bytes(&byte, 1),
                                       leat_bytes(&word, 2),
                                       leat_i64(-5000000000),
                                       leat_bytes(&yes, 1),
                                       leat_f64(0.1),
                                       leat_out(out)};
    assert_ok(launch("mixed", 1, 1, 0, arguments, 7));
    read_array(out, y, sizeof y);
    say("%g %g %g %g %.17g %g %.17g", y[0], y[1], y[2], y[3], y[4], y[5], y[6]);
    leat_array_free(out);
}

static void test_halves(void **state) {
    (void)state;
    uint16_t two = 0x4000, values[4] = {0x3c00, 0x3800, 0xc000, 0x7bff};
    leat_array *x = array_of(LEAT_F16, 4, values), *y = array_of(LEAT_F16, 4, NULL);
    const leat_argument arguments[] = {leat_bytes(&two, 2), leat_in(x), leat_out(y)};
    assert_ok(launch("halves", 1, 4, 0, arguments, 3));
    read_array(y, values, sizeof values);
    say("halves %04x %04x %04x %04x", values[0], values[1], values[2], values[3]);
    leat_array_free(x);
    leat_array_free(y);
}

static void test_template(void **state) {
    (void)state;
    double y[4];
    leat_array *out = array_of(LEAT_F64, 4, NULL);
    const leat_argument arguments[] = {leat_out(out), leat_f64(2.5)};
    assert_ok(launch("ns::fill<double, 3>", 1, 4, 0, arguments, 2));
    read_array(out, y, sizeof y);
    say("filled with %g, %g", y[0], y[3]);
    leat_array_free(out);
}

/* More than 48 KB of dynamic shared memory, without setting an attribute. */
static void test_shared(void **state) {
    (void)state;
    enum { COUNT = 16000 };
    static int32_t y[COUNT];
    for (int k = 0; k < COUNT; k++)
        y[k] = k;
    leat_array *array = array_of(LEAT_I32, COUNT, y);
    const leat_argument arguments[] = {leat_inout(array), leat_i32(COUNT)};
    for (int k = 0; k < 3; k++)
        assert_ok(launch("reverse", 1, 128, sizeof y, arguments, 2));
    read_array(array, y, sizeof y);
    for (int k = 0; k < COUNT; k++)
        assert_int_equal(y[k], COUNT - 1 - k);
    leat_array_free(array);
}

static void test_dimensions(void **state) {
    (void)state;
    static uint32_t y[2 * 3 * 2 * 4 * 2 * 2];
    leat_array *array = array_of(LEAT_U32, ARRAY_LEN(y), NULL);
    const leat_argument arguments[] = {leat_out(array)};
    assert_ok(
        leat_kernel_launch(kernel_of("where"), (leat_dim3){2, 3, 2}, (leat_dim3){4, 2, 2}, 0, NULL, arguments, 1));
    read_array(array, y, sizeof y);
    for (uint32_t k = 0; k < ARRAY_LEN(y); k++)
        assert_int_equal(y[k], 100 * (k / 16) + k % 16);
    leat_array_free(array);
}

/* ---- variables */

static void test_variables(void **state) {
    (void)state;
    leat_array *counter = NULL, *table = NULL, *sums = NULL, *none = NULL;
    leat_stream *stream = NULL;
    leat_description description;
    int32_t value = 0;
    double total[3];
    assert_ok(leat_module_symbol(module, "counter", &counter));
    assert_ok(leat_module_symbol(module, "table", &table));
    assert_ok(leat_module_symbol(module, "ns::sums", &sums));
    assert_ok(leat_array_get(sums, &description));
    say("counter, table and sums: %s[%d]", leat_dtype_name(description.dtype), (int)description.shape[0]);
    read_array(counter, &value, sizeof value);
    say("it starts as %d", value);
    assert_ok(leat_stream_new(ctx, &stream));
    const float four[4] = {1, 2, 3, 10};
    assert_ok(leat_array_write(table, four, sizeof four, NULL, NULL));
    const leat_argument arguments[] = {leat_i32(2)};
    for (int k = 0; k < 10; k++) /* alternates between two streams, which the variables order */
        assert_ok(leat_kernel_launch(kernel_of("ns::count"), (leat_dim3){1, 1, 1}, (leat_dim3){32, 1, 1}, 0,
                                     k % 2 ? stream : NULL, arguments, 1));
    read_array(counter, &value, sizeof value);
    read_array(sums, total, sizeof total);
    say("ten times two more: %d; the second sum %g", value, total[1]);
    assert_status(leat_module_symbol(module, "nothing", &none), LEAT_INVALID);
    leat_stream_free(stream);
    leat_array_free(counter);
    leat_array_free(table);
    leat_array_free(sums);
}

/* A variable keeps its module, and the module its context. */
static void test_variable_outlives(void **state) {
    (void)state;
    leat_module *made = NULL;
    leat_array *array = NULL;
    int32_t value = 0;
    assert_ok(leat_module_new(ctx, "__device__ int kept = 42; __global__ void f() { kept++; }", NULL, &made));
    assert_ok(leat_module_symbol(made, "kept", &array));
    leat_module_free(made);
    read_array(array, &value, sizeof value);
    say("kept: %d", value);
    leat_array_free(array);
}

/* A module is unloaded only after copies into its variables, even if no kernel of it ever ran. */
static void test_variable_released(void **state) {
    enum { BYTES = 1 << 20 };
    (void)state;
    char *bytes = calloc(BYTES, 1);
    leat_module *made = NULL, *other = NULL;
    leat_kernel *spin = NULL;
    leat_array *variable = NULL, *y = NULL;
    leat_stream *stream = NULL;
    leat_ticket ticket;
    assert_ok(leat_array_new(ctx, LEAT_U32, 1, SHAPE(1), LEAT_MEMORY_DEVICE, &y));
    assert_ok(leat_stream_new(ctx, &stream));
    assert_ok(leat_module_new(ctx, work_text, NULL, &other));
    assert_ok(leat_module_kernel(other, "spin", &spin));
    for (int turn = 0; turn < 4; turn++) {
        const leat_argument arguments[] = {leat_inout(y), leat_i32(200000)};
        assert_ok(
            leat_module_new(ctx, "__device__ char large[1 << 20]; __global__ void f() { large[0] = 1; }", NULL, &made));
        assert_ok(leat_module_symbol(made, "large", &variable));
        assert_ok(leat_kernel_launch(spin, (leat_dim3){1, 1, 1}, (leat_dim3){1, 1, 1}, 0, stream, arguments, 2));
        assert_ok(leat_array_write(variable, bytes, BYTES, stream, &ticket));
        leat_array_free(variable);
        leat_module_free(made);
        assert_ok(leat_ticket_wait(ctx, ticket));
    }
    leat_module_free(other);
    leat_stream_free(stream);
    leat_array_free(y);
    free(bytes);
}

/* ---- launches that are refused */

static void test_refused(void **state) {
    (void)state;
    float values[8] = {0};
    leat_array *x = array_of(LEAT_F32, 8, values), *host = NULL, *fixed = NULL, *foreign = NULL;
    leat_context *other = open_device(NULL);
    const leat_description borrowed = {.dtype = LEAT_F32,
                                       .rank = 1,
                                       .shape = {8},
                                       .strides = {1},
                                       .data = values,
                                       .read_only = true,
                                       .memory = LEAT_MEMORY_HOST};
    assert_ok(leat_array_new(ctx, LEAT_F32, 1, SHAPE(8), LEAT_MEMORY_HOST, &host));
    assert_ok(leat_array_wrap(ctx, &borrowed, NULL, NULL, &fixed));
    assert_ok(leat_array_new(other, LEAT_F32, 1, SHAPE(8), LEAT_MEMORY_DEVICE, &foreign));
    const leat_argument RIGHT[] = {leat_f32(1), leat_in(x), leat_inout(x), leat_i32(8)};
    const struct {
        int k;
        leat_argument argument;
    } WRONG[] = {{0, leat_f64(1)},          {0, leat_i32(1)},   {0, leat_in(x)},        {1, leat_i64(1)},
                 {1, leat_in(NULL)},        {1, leat_in(host)}, {2, leat_inout(fixed)}, {2, leat_inout(foreign)},
                 {3, leat_i64(8)},          {3, leat_f32(8)},   {3, leat_in(x)},        {3, leat_bytes(NULL, 4)},
                 {3, leat_bytes(values, 2)}};
    for (size_t k = 0; k < ARRAY_LEN(WRONG); k++) {
        leat_argument arguments[4];
        memcpy(arguments, RIGHT, sizeof RIGHT);
        arguments[WRONG[k].k] = WRONG[k].argument;
        leat_status status = launch("axpy", 1, 8, 0, arguments, 4);
        assert_status(status, LEAT_INVALID);
        say_failure(status);
    }
    assert_status(launch("axpy", 1, 8, 0, RIGHT, 3), LEAT_INVALID);
    say_failure(LEAT_INVALID);
    assert_status(launch("axpy", 1, 8, 0, RIGHT, 100), LEAT_INVALID); /* only the first four are read */
    assert_message("takes 4 arguments, not 100");
    assert_status(launch("axpy", 1, 2048, 0, RIGHT, 4), LEAT_INVALID);
    say_failure(LEAT_INVALID);
    assert_status(launch("axpy", 1, 8, 1 << 20, RIGHT, 4), LEAT_INVALID);
    assert_message("of dynamic shared memory");
    assert_ok(launch("axpy", 0, 0, 0, RIGHT, 4)); /* 0 counts as 1 */
    leat_array_free(foreign);
    leat_array_free(fixed);
    leat_array_free(host);
    leat_array_free(x);
    leat_close(other);
}

static void test_cooperative(void **state) {
    (void)state;
    leat_array *y = array_of(LEAT_U32, 64 * 1024, NULL);
    const leat_argument arguments[] = {leat_out(y)};
    leat_kernel *kernel = kernel_of("where");
    assert_ok(
        leat_kernel_launch_cooperative(kernel, (leat_dim3){8, 1, 1}, (leat_dim3){64, 1, 1}, 0, NULL, arguments, 1));
    assert_status(
        leat_kernel_launch_cooperative(kernel, (leat_dim3){100000, 1, 1}, (leat_dim3){64, 1, 1}, 0, NULL, arguments, 1),
        LEAT_INVALID);
    assert_message("a cooperative launch of 100000 blocks; at most ");
    leat_array_free(y);
}

/* ---- */

static int run_all(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_errors),
                                       cmocka_unit_test(test_options),
                                       cmocka_unit_test(test_log),
                                       cmocka_unit_test(test_names),
                                       cmocka_unit_test(test_facts),
                                       cmocka_unit_test(test_axpy),
                                       cmocka_unit_test(test_view),
                                       cmocka_unit_test(test_mixed),
                                       cmocka_unit_test(test_halves),
                                       cmocka_unit_test(test_template),
                                       cmocka_unit_test(test_shared),
                                       cmocka_unit_test(test_dimensions),
                                       cmocka_unit_test(test_variables),
                                       cmocka_unit_test(test_variable_outlives),
                                       cmocka_unit_test(test_variable_released),
                                       cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_cooperative)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int count, char **arguments) {
    const char *names[] = {"ns::fill<double, 3>", NULL};
    const leat_module_options options = {.name = "kernels.cu", .names = names};
    if (!start(count, arguments))
        return SKIPPED;
    ctx = open_device(NULL);
    leat_status status = leat_module_new(ctx, TEXT, &options, &module);
    int result = SKIPPED;
    if (status == LEAT_UNSUPPORTED)
        printf("skipped: %s\n", leat_error_text(NULL));
    else if (status)
        printf("%s\n", leat_error_text(NULL));
    else
        result = run_all();
    leat_module_free(module);
    leat_close(ctx);
    return status && status != LEAT_UNSUPPORTED ? 1 : result;
}
