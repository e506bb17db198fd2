/* The setting of tests of launches: a fake device with a module of kernels, and a record of the last launch. */
#ifndef LE_LAUNCH_TESTING_H
#define LE_LAUNCH_TESTING_H
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

static inline leat_status module_new(void *native, const struct le_module_source *source,
                                     struct le_device_module *module) {
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
static inline void module_free(void *native, struct le_device_module *module) {
    (void)native, (void)module;
    freed++;
}

static inline leat_status fake_launch(void *native, void *stream, struct le_device_kernel *kernel,
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

static inline leat_status replay_new(void *native, struct le_device_kernel *kernel, const struct le_kernel_launch *spec,
                                     void **parameters, void **replay) {
    (void)native, (void)kernel, (void)spec, (void)parameters;
    if (replays.failing_new)
        return le_fail(replays.failing_new, "the fake keeps nothing");
    replays.made++;
    *replay = &replays;
    return LEAT_OK;
}

static inline leat_status replay_launch(void *native, void *stream, bool foreign, struct le_device_kernel *kernel,
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

static inline void replay_free(void *native, void *replay) {
    (void)native;
    assert_ptr_equal(replay, &replays);
    replays.freed++;
}

/* Variables are device memory, as with a driver. */
static inline enum le_memory_kind pointer_kind(void *native, const void *pointer, uint64_t *address) {
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

static inline int open_setting(void **state) {
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

static inline int close_setting(void **state) {
    struct setting *setting = *state;
    le_allocation_free(setting->allocation);
    int before = freed;
    le_device_module_free(setting->module);
    assert_int_equal(freed, before + 1);
    fake_finish(setting->device, setting->fake);
    free(setting);
    return 0;
}

static inline struct le_device_kernel *kernel_of(struct setting *setting, const char *name) {
    struct le_device_kernel *kernel = NULL;
    assert_ok(le_device_module_kernel(setting->module, name, &kernel));
    return kernel;
}

static inline struct le_launch_argument array_of(struct setting *setting, enum le_allocation_access access) {
    return (struct le_launch_argument){
        .value = &setting->address, .size_bytes = 8, .allocation = setting->allocation, .access = access};
}

static inline struct le_kernel_launch shape_of(unsigned grid, unsigned block) {
    return (struct le_kernel_launch){.grid = {grid, 1, 1}, .block = {block, 1, 1}};
}

#define IN_SETTING(test) cmocka_unit_test_setup_teardown(test, open_setting, close_setting)
#endif
