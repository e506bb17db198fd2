/* Modules, kernels by name, and rejected launches, over a backend that launches nothing. Its "CUDA C" is PTX. */
#include "device/front/device_testing.h"
#include "device/front/module.h"
#include <stdio.h>

#define MIB ((size_t)1 << 20)

static const char PTX[] =
    ".global .align 4 .u32 counter;\n.const .align 4 .b8 table[16];\n.global .align 8 .b8 _ZN2ns3accE[24];\n"
    ".visible .entry saxpy(.param .f32 p0, .param .u64 .ptr p1, .param .u64 p2, .param .u32 p3)\n"
    "{ ld.const.f32 %f1, [table]; }\n"
    ".visible .entry _Z4overPf(.param .u64 p0) { }\n.visible .entry _Z4overPd(.param .u64 p0) { }\n"
    ".weak .entry _ZN2ns4fillIfLi3EEEvPT_S1_(.param .u64 p0, .param .f32 p1) { }\n"
    ".visible .entry _ZN2ns5countEv() { atom.global.add.u32 %r1, [counter], 1; }\n"
    ".visible .entry mixed(.param .align 8 .b8 p0[24], .param .u8 p1, .param .u16 p2, .param .align 2 .b8 p3[2], "
    ".param .f64 p4, .param .u64 p5) { call.uni (r), f, (p); }\n"
    ".visible .entry words(.param .u64 p0) { }\n.visible .entry hidden() { }\n";

struct launch_record { /* the last launch */
    int count;
    struct le_kernel_launch launch;
    uint64_t words[8]; /* the values of the first parameters; up to 8 bytes of each */
};
static struct launch_record last;
static leat_status failing;

static leat_status module_new(void *native, const struct le_module_source *source, struct le_device_module *module) {
    static const char *const LOWERED[] = {"_ZN2ns4fillIfLi3EEEvPT_S1_"};
    (void)native;
    module->log = le_strdup("a warning");
    module->ptx = le_strdup(source->text);
    module->native = module;
    if (source->names) {
        module->names = le_alloc_zero(1, sizeof *module->names);
        module->names[0].expression = le_strdup(source->names[0]);
        module->names[0].lowered = le_strdup(LOWERED[0]);
        module->name_count = 1;
    }
    leat_status status = le_module_read(module);
    for (int k = 0; !status && k < module->contents.kernels.count; k++) {
        struct le_device_kernel *kernel = &module->kernels[k];
        kernel->native = strcmp(kernel->entry->symbol, "hidden") == 0 ? NULL : kernel;
        kernel->registers = 40;
        kernel->max_block_threads = 768;
        kernel->static_shared_bytes = 1000;
        kernel->max_dynamic_shared_bytes = 200000;
    }
    for (int k = 0; !status && k < module->contents.variables.count; k++) {
        module->variables[k].address = 0x700000000u + 4096u * (unsigned)k;
        module->variables[k].size_bytes = 16;
    }
    return status;
}

static int freed;
static void module_free(void *native, struct le_device_module *module) {
    (void)native, (void)module;
    freed++;
}

static leat_status fake_launch(void *native, void *stream, struct le_device_kernel *kernel,
                               const struct le_kernel_launch *spec, void **parameters) {
    struct fake_stream *at = stream;
    (void)native;
    if (failing)
        return le_fail(failing, "the fake fails");
    last.count++;
    last.launch = *spec;
    fake_enqueue(at);
    for (int k = 0; k < spec->argument_count && k < 8; k++) {
        size_t size_bytes = kernel->entry->parameters[k].size_bytes;
        memcpy(&last.words[k], parameters[k], size_bytes < 8 ? size_bytes : 8);
    }
    return LEAT_OK;
}

static struct { /* replay objects */
    int made, given, freed;
    bool was_foreign; /* the stream of the last one given */
    leat_status failing_new, failing_launch;
    bool is_fatal;
} replays;

static leat_status replay_new(void *native, struct le_device_kernel *kernel, const struct le_kernel_launch *spec,
                              void **parameters, void **replay) {
    (void)native, (void)kernel, (void)spec, (void)parameters;
    if (replays.failing_new)
        return le_fail(replays.failing_new, "the fake keeps nothing");
    replays.made++;
    *replay = &replays;
    return LEAT_OK;
}

static leat_status replay_launch(void *native, void *stream, bool foreign, struct le_device_kernel *kernel,
                                 const struct le_kernel_launch *spec, void **parameters, void *replay) {
    assert_ptr_equal(replay, &replays);
    if (replays.failing_launch) {
        le_fail(replays.failing_launch, "the fake does not give what it has kept");
        return replays.is_fatal ? le_device_latch(kernel->module->device, replays.failing_launch, NULL)
                                : replays.failing_launch;
    }
    replays.given++;
    replays.was_foreign = foreign;
    return fake_launch(native, stream, kernel, spec, parameters);
}

static void replay_free(void *native, void *replay) {
    (void)native;
    assert_ptr_equal(replay, &replays);
    replays.freed++;
}

/* Variables are device memory, as with a driver. */
static enum le_memory_kind pointer_kind(void *native, const void *pointer, uint64_t *address) {
    *address = (uint64_t)(uintptr_t)pointer;
    return *address >> 32 == 7 ? LE_MEMORY_DEVICE : fake_pointer_kind(native, pointer, address);
}

struct setting {
    struct fake *fake;
    struct le_device_ops ops;
    struct le_device *device;
    struct le_device_module *module;
    struct le_allocation *allocation;
    uint64_t address;
};

static int open_setting(void **state) {
    struct setting *setting = calloc(1, sizeof *setting);
    setting->device = fake_open(NULL, 64 * MIB, &setting->fake);
    setting->ops = fake_ops;
    setting->ops.module_new = module_new;
    setting->ops.module_free = module_free;
    setting->ops.launch = fake_launch;
    setting->ops.replay_new = replay_new;
    setting->ops.replay_launch = replay_launch;
    setting->ops.replay_free = replay_free;
    setting->ops.pointer_kind = pointer_kind;
    setting->device->ops = &setting->ops;
    struct le_device_limits *limits = &setting->device->limits;
    limits->block_threads = 1024;
    limits->multiprocessors = 2;
    limits->multiprocessor_threads = 1024;
    for (int axis = 0; axis < 3; axis++) {
        limits->block[axis] = axis < 2 ? 1024 : 64;
        limits->grid[axis] = axis == 0 ? INT32_MAX : 65535;
    }
    limits->shared_bytes = 49152;
    limits->shared_optin_bytes = 201000;
    const char *names[] = {"ns::fill<float, 3>", NULL};
    struct le_module_source source = {.text = PTX, .name = "k.cu", .names = names};
    memset(&last, 0, sizeof last);
    memset(&replays, 0, sizeof replays);
    failing = LEAT_OK;
    assert_ok(le_device_module_new(setting->device, &source, &setting->module));
    setting->allocation = fake_allocation(setting->device, 4096, NULL);
    setting->address = setting->allocation->address;
    *state = setting;
    return 0;
}

static int close_setting(void **state) {
    struct setting *setting = *state;
    le_allocation_free(setting->allocation);
    int before = freed;
    le_device_module_free(setting->module);
    assert_int_equal(freed, before + 1);
    fake_finish(setting->device, setting->fake);
    free(setting);
    return 0;
}

static struct le_device_kernel *kernel_of(struct setting *setting, const char *name) {
    struct le_device_kernel *kernel = NULL;
    assert_ok(le_device_module_kernel(setting->module, name, &kernel));
    return kernel;
}

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

static struct le_launch_argument array_of(struct setting *setting, enum le_allocation_access access) {
    return (struct le_launch_argument){
        .value = &setting->address, .size_bytes = 8, .allocation = setting->allocation, .access = access};
}

static struct le_kernel_launch shape_of(unsigned grid, unsigned block) {
    return (struct le_kernel_launch){.grid = {grid, 1, 1}, .block = {block, 1, 1}};
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

/* ---- repeated launches */

enum { PLAIN = 32 }; /* launches before a replay object is created */

static void repeat(struct setting *setting, struct le_device_stream *stream, struct le_kernel_launch spec, int times) {
    const struct le_launch_argument arguments[] = {array_of(setting, LE_ACCESS_BOTH)};
    spec.arguments = arguments;
    spec.argument_count = 1;
    for (int k = 0; k < times; k++)
        assert_ok(le_device_launch(kernel_of(setting, "_Z4overPf"), &spec, stream));
}

static void test_repeated(void **state) {
    struct setting *setting = *state;
    struct le_device_stream *own = le_device_stream_own(setting->device), *other = fake_stream_of(setting->device);
    struct le_replay replay = {0};
    struct le_kernel_launch spec = shape_of(1, 32);
    repeat(setting, own, spec, 2 * PLAIN); /* without launch.replay */
    assert_int_equal(replays.made, 0);
    spec.replay = &replay;
    repeat(setting, own, spec, PLAIN);
    assert_int_equal(replays.made, 0);
    repeat(setting, own, spec, 3);
    assert_int_equal(replays.made, 1);
    assert_int_equal(replays.given, 3);
    repeat(setting, other, spec, PLAIN); /* another stream starts over */
    assert_int_equal(replays.freed, 1);
    repeat(setting, own, spec, PLAIN);
    assert_int_equal(replays.given, 3);
    repeat(setting, own, spec, 1);
    assert_int_equal(replays.made, 2);
    assert_int_equal(replays.given, 4);
    assert_false(replays.was_foreign);
    spec.grid[0] = 2 * 1024 / 32 + 1; /* more threads than the device runs at one time */
    repeat(setting, own, spec, 1);
    assert_int_equal(replays.given, 4);
    const struct le_launch_argument arguments[] = {array_of(setting, LE_ACCESS_BOTH)};
    spec = shape_of(1, 1);
    spec.arguments = arguments;
    spec.argument_count = 1;
    spec.replay = &replay;
    assert_ok(le_device_launch(kernel_of(setting, "_Z4overPd"), &spec, own)); /* so does another kernel */
    assert_int_equal(replays.freed, 2);
    assert_int_equal(last.count, (int)le_device_stream_point(own).number + PLAIN);
    le_replay_finish(&replay);
    assert_int_equal(replays.freed, 2);
    le_device_stream_free(other);
}

/* The backend is told, since another library may be capturing its stream. */
static void test_repeated_in_foreign_stream(void **state) {
    struct setting *setting = *state;
    struct le_device_stream *foreign;
    struct le_replay replay = {0};
    struct le_kernel_launch spec = shape_of(1, 32);
    void *theirs;
    assert_ok(fake_stream_new(setting->fake, &theirs));
    assert_ok(le_device_stream_new(setting->device, theirs, &foreign));
    spec.replay = &replay;
    repeat(setting, foreign, spec, PLAIN + 1);
    assert_int_equal(replays.given, 1);
    assert_true(replays.was_foreign);
    le_replay_finish(&replay);
    le_device_stream_free(foreign);
}

/* If creating or launching a replay object fails, the launch is done as usual, without an error, and tried again
 * later. */
static void test_not_kept(void **state) {
    struct setting *setting = *state;
    struct le_device_stream *own = le_device_stream_own(setting->device);
    struct le_replay replay = {0};
    struct le_kernel_launch spec = shape_of(1, 32);
    spec.replay = &replay;
    replays.failing_new = LEAT_OUT_OF_MEMORY;
    repeat(setting, own, spec, 2 * PLAIN);
    replays.failing_new = LEAT_OK;
    assert_int_equal(replays.made, 0);
    repeat(setting, own, spec, PLAIN);
    assert_int_equal(replays.made, 1);
    replays.given = 0;
    replays.failing_launch = LEAT_DEVICE;
    repeat(setting, own, spec, 1);
    replays.failing_launch = LEAT_OK;
    assert_int_equal(replays.freed, 1);
    assert_null(le_error_at(0));
    repeat(setting, own, spec, PLAIN);
    assert_int_equal(replays.given, 0);
    repeat(setting, own, spec, 1);
    assert_int_equal(replays.given, 1);
    assert_int_equal(last.count, le_device_stream_point(own).number);
    le_replay_finish(&replay);
}

/* The number per device is limited; a freed one makes room for another. */
static void test_most_are_kept(void **state) {
    struct setting *setting = *state;
    enum { MOST = 64 };
    struct le_device_stream *own = le_device_stream_own(setting->device);
    struct le_replay many[MOST + 1] = {0};
    struct le_kernel_launch spec = shape_of(1, 32);
    for (size_t k = 0; k < ARRAY_LEN(many); k++) {
        spec.replay = &many[k];
        repeat(setting, own, spec, PLAIN + 1);
    }
    assert_int_equal(replays.made, MOST);
    le_replay_finish(&many[0]);
    repeat(setting, own, spec, PLAIN);
    assert_int_equal(replays.made, MOST);
    repeat(setting, own, spec, 1);
    assert_int_equal(replays.made, MOST + 1);
    for (size_t k = 0; k < ARRAY_LEN(many); k++)
        le_replay_finish(&many[k]);
    assert_int_equal(replays.freed, replays.made);
}

/* A device that fails reports it at once, and gets no more work. */
static void test_kept_and_fatal(void **state) {
    struct setting *setting = *state;
    struct le_replay replay = {0};
    struct le_kernel_launch spec = shape_of(1, 32);
    const struct le_launch_argument arguments[] = {array_of(setting, LE_ACCESS_BOTH)};
    spec.replay = &replay;
    repeat(setting, le_device_stream_own(setting->device), spec, PLAIN + 1);
    int before = last.count;
    replays.failing_launch = LEAT_DEVICE;
    replays.is_fatal = true;
    spec.arguments = arguments;
    spec.argument_count = 1;
    assert_int_equal(le_device_launch(kernel_of(setting, "_Z4overPf"), &spec, le_device_stream_own(setting->device)),
                     LEAT_DEVICE);
    assert_message("the fake does not give what it has kept");
    assert_int_equal(last.count, before);
    le_replay_finish(&replay);
    assert_int_equal(replays.freed, 1);
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

#define IN_SETTING(test) cmocka_unit_test_setup_teardown(test, open_setting, close_setting)
int main(void) {
    const struct CMUnitTest tests[] = {
        IN_SETTING(test_names),
        IN_SETTING(test_facts),
        IN_SETTING(test_right),
        IN_SETTING(test_shapes),
        IN_SETTING(test_arguments),
        IN_SETTING(test_structs),
        IN_SETTING(test_elements),
        IN_SETTING(test_blocks),
        IN_SETTING(test_failure),
        IN_SETTING(test_repeated),
        IN_SETTING(test_repeated_in_foreign_stream),
        IN_SETTING(test_not_kept),
        IN_SETTING(test_most_are_kept),
        IN_SETTING(test_kept_and_fatal),
        IN_SETTING(test_variables),
        cmocka_unit_test(test_no_cuda_c),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
