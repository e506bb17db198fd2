/* Modules, kernels by name, and rejected launches, over a backend that launches nothing. Its "CUDA C" is PTX. */
#include "device/front/launch_testing.h"

/* ---- names */

static void test_names(void **state) {
    struct setting *setting = *state;
    static const struct {
        const char *name, *symbol;
    } FOUND[] = {{"saxpy", "saxpy"},
                 {"::saxpy", "saxpy"},
                 {"_Z4overPd", "_Z4overPd"},
                 {"ns::count", "_ZN2ns5countEv"},
                 {"ns::fill<float,3>", "_ZN2ns4fillIfLi3EEEvPT_S1_"},
                 {" ns::fill < float , 3 > ", "_ZN2ns4fillIfLi3EEEvPT_S1_"}};
    for (size_t k = 0; k < ARRAY_LEN(FOUND); k++)
        assert_string_equal(kernel_of(setting, FOUND[k].name)->entry->symbol, FOUND[k].symbol);
    static const struct {
        const char *name, *message;
    } REFUSED[] = {{"sxapy", "k.cu has no kernel 'sxapy'; its kernels: saxpy, "},
                   {"count", "its kernels: ns::count, "},
                   {"over", "several kernels 'over': _Z4overPf (float *), _Z4overPd (double *)"},
                   {"ns::fill", "'ns::fill' is not among the names that k.cu was compiled with: ns::fill<float, 3>"},
                   {"ns::fill<double,3>", "not among the names"},
                   {"hidden", "kernel hidden cannot be launched"},
                   {"", "has no kernel ''"}};
    for (size_t k = 0; k < ARRAY_LEN(REFUSED); k++) {
        struct le_device_kernel *kernel = NULL;
        assert_int_equal(le_device_module_kernel(setting->module, REFUSED[k].name, &kernel), LEAT_INVALID);
        print_message("%s\n", le_error_at(0)->message);
        assert_message(REFUSED[k].message);
        assert_null(kernel);
    }
    assert_string_equal(le_device_module_log(setting->module), "a warning");
}

static void test_facts(void **state) {
    struct setting *setting = *state;
    struct le_kernel_facts facts;
    assert_ok(le_device_kernel_facts(kernel_of(setting, "ns::fill<float,3>"), &facts));
    assert_string_equal(facts.name, "ns::fill<float, 3>");
    assert_int_equal(facts.parameter_count, 2);
    assert_int_equal(facts.registers, 40);
}

/* ---- launches */

static const float ALPHA = 2;
static const double WIDE = 2;
static const int32_t COUNT = 1000;
static const int64_t LONG = 1000;

static struct le_launch_argument number_of(const void *value, leat_dtype dtype, size_t size_bytes) {
    return (struct le_launch_argument){.value = value, .size_bytes = size_bytes, .dtype = dtype};
}

static leat_status launch_saxpy(struct setting *setting, struct le_kernel_launch spec) {
    const struct le_launch_argument arguments[] = {number_of(&ALPHA, LEAT_F32, 4), array_of(setting, LE_ACCESS_READ),
                                                   array_of(setting, LE_ACCESS_BOTH), number_of(&COUNT, LEAT_U32, 4)};
    spec.arguments = arguments;
    spec.argument_count = 4;
    return le_device_launch(kernel_of(setting, "saxpy"), &spec, le_device_stream_own(setting->device));
}

static void test_right(void **state) {
    struct setting *setting = *state;
    struct le_kernel_launch spec = shape_of(7, 256);
    spec.shared_bytes = 60000;
    assert_ok(launch_saxpy(setting, spec));
    assert_int_equal(last.count, 1);
    assert_int_equal(last.launch.grid[0], 7);
    assert_int_equal(last.launch.shared_bytes, 60000);
    float alpha;
    memcpy(&alpha, &last.words[0], sizeof alpha);
    assert_true(alpha == 2);
    assert_int_equal(last.words[1], setting->address);
    assert_int_equal(last.words[2], setting->address);
    assert_int_equal(last.words[3], 1000);
    assert_int_equal(le_device_stream_point(le_device_stream_own(setting->device)).number, 1);
}

static void test_shapes(void **state) {
    struct setting *setting = *state;
    static const struct {
        struct le_kernel_launch spec;
        const char *message;
    } REFUSED[] = {
        {{.grid = {0, 1, 1}, .block = {1, 1, 1}}, "kernel saxpy: grid.x is 0; this device allows 1 to 2147483647"},
        {{.grid = {1, 70000, 1}, .block = {1, 1, 1}}, "grid.y is 70000; this device allows 1 to 65535"},
        {{.grid = {1, 1, 1}, .block = {2048, 1, 1}}, "block.x is 2048; this device allows 1 to 1024"},
        {{.grid = {1, 1, 1}, .block = {1, 1, 65}}, "block.z is 65"},
        {{.grid = {1, 1, 1}, .block = {64, 32, 1}},
         "a block of 64x32x1 is 2048 threads; this device allows at most 1024"},
        {{.grid = {1, 1, 1}, .block = {1024, 1, 1}}, "a block of 1024 threads; its 40 registers a thread"},
        {{.grid = {1, 1, 1}, .block = {1, 1, 1}, .shared_bytes = 200001},
         "200001 bytes of dynamic shared memory; at most 200000 are available: the kernel itself uses 1000"}};
    for (size_t k = 0; k < ARRAY_LEN(REFUSED); k++) {
        assert_int_equal(launch_saxpy(setting, REFUSED[k].spec), LEAT_INVALID);
        print_message("%s\n", le_error_at(0)->message);
        assert_message(REFUSED[k].message);
    }
    struct le_kernel_launch spec = shape_of(1, 1);
    spec.cooperative = true;
    assert_int_equal(launch_saxpy(setting, spec), LEAT_UNSUPPORTED);
    assert_int_equal(last.count, 0);
    assert_int_equal(le_device_stream_point(le_device_stream_own(setting->device)).number, 0);
}

static leat_status launch_with(struct setting *setting, const char *name, const struct le_launch_argument *arguments,
                               int count) {
    struct le_kernel_launch spec = shape_of(1, 1);
    spec.arguments = arguments;
    spec.argument_count = count;
    return le_device_launch(kernel_of(setting, name), &spec, le_device_stream_own(setting->device));
}

static void test_arguments(void **state) {
    struct setting *setting = *state;
    const struct le_launch_argument right[] = {number_of(&ALPHA, LEAT_F32, 4), array_of(setting, LE_ACCESS_READ),
                                               array_of(setting, LE_ACCESS_BOTH), number_of(&COUNT, LEAT_I32, 4)};
    const struct {
        int k;
        struct le_launch_argument given;
        const char *message;
    } REFUSED[] = {
        {0, number_of(&WIDE, LEAT_F64, 8),
         "kernel saxpy: argument 1 is a number of type f64; its parameter 1 is of type f32"},
        {0, number_of(&COUNT, LEAT_I32, 4), "argument 1 is a number of type i32; its parameter 1 is of type f32"},
        {0, array_of(setting, LE_ACCESS_READ), "argument 1 is an array; its parameter 1 is of type f32"},
        {0, number_of(&WIDE, (leat_dtype)0, 8), "argument 1 is 8 bytes; its parameter 1 is of type f32"},
        {1, number_of(&LONG, LEAT_I64, 8),
         "argument 2 is a number of type i64; its parameter 2 is a pointer: pass an array"},
        {1, number_of(&COUNT, LEAT_I32, 4), "its parameter 2 is a pointer"},
        {2, number_of(&WIDE, LEAT_F64, 8), "its parameter 3 is 8 bytes: pass an array, i64 or u64"},
        {3, number_of(&LONG, LEAT_I64, 8),
         "argument 4 is a number of type i64; its parameter 4 is an integer of 4 bytes: pass i32 or u32"},
        {3, number_of(&ALPHA, LEAT_F32, 4), "argument 4 is a number of type f32"},
        {3, array_of(setting, LE_ACCESS_READ), "argument 4 is an array"},
    };
    for (size_t k = 0; k < ARRAY_LEN(REFUSED); k++) {
        struct le_launch_argument arguments[4];
        memcpy(arguments, right, sizeof right);
        arguments[REFUSED[k].k] = REFUSED[k].given;
        assert_int_equal(launch_with(setting, "saxpy", arguments, 4), LEAT_INVALID);
        print_message("%s\n", le_error_at(0)->message);
        assert_message(REFUSED[k].message);
    }
    assert_int_equal(launch_with(setting, "saxpy", right, 3), LEAT_INVALID);
    assert_message("kernel saxpy takes 4 arguments, not 3");
    assert_int_equal(launch_with(setting, "ns::count", right, 1), LEAT_INVALID);
    assert_message("takes 0 arguments, not 1");
    assert_int_equal(launch_with(setting, "_Z4overPf", right, 2), LEAT_INVALID);
    assert_message("kernel over takes 1 argument (float *), not 2");
    assert_int_equal(last.count, 0);
    struct le_launch_argument bits[4];
    memcpy(bits, right, sizeof right); /* a 64-bit number for what may be a pointer, and untyped bytes */
    bits[2] = number_of(&LONG, LEAT_U64, 8);
    bits[1] = number_of(&setting->address, (leat_dtype)0, 8);
    assert_ok(launch_with(setting, "saxpy", bits, 4));
}

/* The elements of an array, if the parameter's pointee is known. */
static void test_elements(void **state) {
    static const struct {
        const char *kernel;
        leat_dtype dtype;
        const char *message; /* "": it fits */
    } CASES[] = {
        {"_Z4overPf", LEAT_F32, ""},
        {"_Z4overPf", LEAT_C64, ""}, /* pairs */
        {"_Z4overPf", LEAT_U8, ""},  /* bytes */
        {"_Z4overPf", (leat_dtype)0, ""},
        {"_Z4overPf", LEAT_F64, "argument 1 is an array of f64; its parameter 1 is a pointer to f32"},
        {"_Z4overPf", LEAT_I32, "argument 1 is an array of i32"},
        {"_Z4overPf", LEAT_F16, "argument 1 is an array of f16"},
        {"_Z4overPd", LEAT_F64, ""},
        {"_Z4overPd", LEAT_I64, "its parameter 1 is a pointer to f64"},
        {"words", LEAT_I16, ""},
        {"words", LEAT_BF16, ""}, /* their bits */
        {"words", LEAT_I32, "argument 1 is an array of i32; its parameter 1, w, is a pointer to integers of 2 bytes"},
    };
    struct setting *setting = *state;
    le_device_module_read_source(setting->module, "__global__ void words(unsigned short *w) {}");
    for (size_t k = 0; k < ARRAY_LEN(CASES); k++) {
        struct le_launch_argument given = array_of(setting, LE_ACCESS_READ);
        given.dtype = CASES[k].dtype;
        assert_int_equal(launch_with(setting, CASES[k].kernel, &given, 1), *CASES[k].message ? LEAT_INVALID : LEAT_OK);
        assert_true(!*CASES[k].message || strstr(le_error_at(0)->message, CASES[k].message));
    }
}

static void test_structs(void **state) {
    struct setting *setting = *state;
    const char body[24] = "the struct's 23 bytes..";
    const uint8_t byte = 7;
    const uint16_t half = 0x3c00, word = 9;
    struct le_launch_argument arguments[] = {number_of(body, (leat_dtype)0, 24), number_of(&byte, LEAT_BOOL, 1),
                                             number_of(&word, LEAT_U16, 2),      number_of(&half, LEAT_F16, 2),
                                             number_of(&WIDE, LEAT_F64, 8),      array_of(setting, LE_ACCESS_WRITE)};
    assert_ok(launch_with(setting, "mixed", arguments, 6));
    assert_int_equal(last.words[1] & 0xff, 7);
    assert_int_equal(last.words[3] & 0xffff, 0x3c00);
    arguments[0].size_bytes = 16;
    assert_int_equal(launch_with(setting, "mixed", arguments, 6), LEAT_INVALID);
    assert_message("argument 1 is 16 bytes; its parameter 1 is a struct of 24 bytes");
}

static void test_blocks(void **state) {
    struct setting *setting = *state;
    struct fake *other_fake;
    struct le_device *other = fake_open(NULL, MIB, &other_fake);
    struct le_allocation *foreign = fake_allocation(other, 64, NULL), *host = NULL;
    struct le_launch_argument given = array_of(setting, LE_ACCESS_READ);
    static char memory[128];
    given.allocation = foreign;
    assert_int_equal(launch_with(setting, "_Z4overPf", &given, 1), LEAT_INVALID);
    assert_message("kernel over: argument 1 is an array of another context");
    assert_ok(
        le_allocation_wrap(setting->device, LE_MEMORY_HOST, (char *)(((uintptr_t)memory + 63) / 64 * 64), 64, &host));
    host->address = 0; /* as for memory that kernels cannot access */
    given.allocation = host;
    assert_int_equal(launch_with(setting, "_Z4overPf", &given, 1), LEAT_INVALID);
    assert_message("argument 1 is an array in pageable host memory, which kernels cannot access");
    given = array_of(setting, LE_ACCESS_READ);
    struct le_kernel_launch spec = shape_of(1, 1);
    spec.arguments = &given;
    spec.argument_count = 1;
    assert_int_equal(le_device_launch(kernel_of(setting, "_Z4overPf"), &spec, le_device_stream_own(other)),
                     LEAT_INVALID);
    assert_message("the stream belongs to another context");
    le_allocation_free(host);
    le_allocation_free(foreign);
    fake_finish(other, other_fake);
}

/* A launch that the driver rejects makes no ticket, and leaves the order of its arrays unchanged. */
static void test_failure(void **state) {
    struct setting *setting = *state;
    failing = LEAT_DEVICE;
    assert_int_equal(launch_saxpy(setting, shape_of(1, 1)), LEAT_DEVICE);
    assert_int_equal(le_device_stream_point(le_device_stream_own(setting->device)).number, 0);
    assert_int_equal(setting->allocation->order.write.number, 0);
    failing = LEAT_OK;
    assert_ok(launch_saxpy(setting, shape_of(1, 1)));
    assert_int_equal(setting->allocation->order.write.number, 1);
}

/* ---- variables: once one is exposed, kernels that use it are ordered with all other work on it */

static int waits_between(struct setting *setting, const char *kernel) {
    struct le_device_stream *one = fake_stream_of(setting->device), *two = fake_stream_of(setting->device);
    struct le_kernel_launch spec = shape_of(1, 1);
    int before = setting->fake->waits;
    assert_ok(le_device_launch(kernel_of(setting, kernel), &spec, one));
    assert_ok(le_device_launch(kernel_of(setting, kernel), &spec, two));
    le_device_stream_free(one);
    le_device_stream_free(two);
    return setting->fake->waits - before;
}

static void test_variables(void **state) {
    struct setting *setting = *state;
    struct le_allocation *allocation = NULL, *again = NULL;
    assert_int_equal(waits_between(setting, "ns::count"), 0);
    assert_ok(le_device_module_symbol(setting->module, "counter", &allocation));
    assert_int_equal(allocation->address, 0x700000000u);
    assert_int_equal(allocation->size_bytes, 16);
    assert_ok(le_device_module_symbol(setting->module, "::counter", &again));
    assert_ptr_equal(allocation, again);
    assert_int_equal(waits_between(setting, "ns::count"), 1);
    assert_ok(le_device_module_symbol(setting->module, "ns::acc", &again));
    assert_int_equal(again->address, 0x700000000u + 8192);
    assert_int_equal(le_device_module_symbol(setting->module, "conter", &allocation), LEAT_INVALID);
    assert_message("k.cu has no variable 'conter'; its __device__ and __constant__ variables: counter, table, ns::acc");
}

static void test_no_cuda_c(void **state) {
    (void)state;
    struct fake *fake;
    struct le_device *device = fake_open(NULL, MIB, &fake);
    struct le_device_module *module = NULL;
    struct le_module_source source = {.text = PTX, .name = "k.cu"};
    assert_int_equal(le_device_module_new(device, &source, &module), LEAT_UNSUPPORTED);
    assert_message("device fake does not run CUDA C");
    assert_null(module);
    fake_finish(device, fake);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_SETTING(test_names),     IN_SETTING(test_facts),           IN_SETTING(test_right),
        IN_SETTING(test_shapes),    IN_SETTING(test_arguments),       IN_SETTING(test_structs),
        IN_SETTING(test_elements),  IN_SETTING(test_blocks),          IN_SETTING(test_failure),
        IN_SETTING(test_variables), cmocka_unit_test(test_no_cuda_c),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
