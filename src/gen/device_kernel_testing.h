/* Shared by the tests of device kernels. Each program runs on the simulated device and on the CPU's vector machine, and
 * the bytes must be equal. The tests also check how the kernel works. */
#ifndef LE_DEVICE_KERNEL_TESTING_H
#define LE_DEVICE_KERNEL_TESTING_H
#include "gen/kernel_testing.h"
#include "device/cpu/machine/execute.h"
#include "device/device_open.h"
#include "gen/device_code.h"
#include "gen/tree/ktree.h"
#include <stdio.h>

#define VALUES_MAX 16

/* A device with checks and one without, and what was compiled for each last: other extents of a program have the same
 * text. */
enum { KEPT_MODULES = 8 };
static struct kept_device {
    struct le_device *device;
    struct {
        char *text;
        struct le_device_module *module;
    } modules[KEPT_MODULES];
    int next;
} devices_kept[2];

struct device_test_run {
    struct le_arena arena;
    struct le_space space;
    struct le_kernel kernel;
    struct le_pool *pool;
    struct kept_device *kept;
    void *buffers[VALUES_MAX];
    size_t bytes[VALUES_MAX];
    const char *program, *how, *mapping;
    struct le_device_fault fault; /* of the last stage on the device */
    bool aligned;
};

static inline void ok(leat_status status) {
    if (status)
        print_error("%s\n", le_errors_text());
    assert_int_equal(status, LEAT_OK);
}

/* ---- a program, its arrays and their bytes */

/* Declared inputs keep their type, all others are f32. */
static inline struct le_ir *lower_text(struct le_arena *arena, const char *text) {
    struct le_tree *tree = le_check(arena, text, strlen(text));
    if (!tree)
        return NULL;
    int count, *wanted = le_tree_results(arena, tree, &count);
    struct le_input *inputs = LE_NEW_ARRAY(arena, tree->symbol_count, struct le_input);
    for (int k = 0; k < tree->symbol_count; k++) {
        const struct le_symbol *s = tree->symbols[k];
        if (s->is_input && !s->optional)
            inputs[k] = (struct le_input){true, s->is_array, s->declared != LE_NONE ? s->declared : LE_F32,
                                          s->is_array ? s->rank : 0};
    }
    tree = le_specialise(arena, tree, inputs);
    struct le_ir *ir = tree ? le_lower(arena, tree, inputs, wanted, count) : NULL;
    return ir && le_passes_run(ir) == LEAT_OK ? ir : NULL;
}

/* Of both signs, and not exact; a few zeros of both signs. */
static inline void put_number(enum le_type type, void *at, size_t k) {
    uint32_t mixed = (uint32_t)k * 2654435761u;
    mixed ^= mixed >> 15;
    double real = k % 97 == 5 ? -0.0 : ((double)(mixed >> 8) - (1 << 23)) / (1 << 22);
    float single = (float)real;
    int64_t whole = type == LE_BOOL ? mixed >> 9 & 1 : (int64_t)(mixed >> 7);
    if (type == LE_F64)
        memcpy((char *)at + 8 * k, &real, 8);
    else if (type == LE_F32)
        memcpy((char *)at + 4 * k, &single, 4);
    else if (type == LE_F16 || type == LE_BF16)
        ((uint16_t *)at)[k] = (uint16_t)(0x3000 + (mixed & 0xbff));
    else
        memcpy((char *)at + le_type_size(type) * k, &whole, le_type_size(type));
}

static inline size_t extent_of(const struct device_test_run *r, int v) { /* of the memory, in elements */
    const struct le_layout *layout = &r->kernel.layouts[v];
    size_t count = 1;
    for (int d = 0; d < r->kernel.ir->values.at[v].rank; d++) {
        if (layout->shape[d] == 0)
            return 0;
        count += (size_t)(llabs(layout->strides[d]) * (layout->shape[d] - 1));
    }
    return count;
}

static inline void set_kernel(struct device_test_run *r, struct le_ir *ir, const char *arrays) {
    struct le_kernel *k = &r->kernel;
    r->space = (struct le_space){.ir = ir, .arena = &r->arena, .evaluate = no_value};
    find_ranges(&r->space, arrays);
    struct le_layout *layouts = LE_NEW_ARRAY(&r->arena, ir->values.count, struct le_layout);
    for (int v = 0; v < ir->values.count; v++)
        set_layout(&r->space, &ir->values.at[v], arrays, &layouts[v]);
    for (int v = 0; v < ir->values.count; v++) /* all of it lies from the memory's start on */
        for (int d = 0; d < ir->values.at[v].rank; d++)
            layouts[v].offset += layouts[v].strides[d] < 0 ? -layouts[v].strides[d] * (layouts[v].shape[d] - 1) : 0;
    *k = (struct le_kernel){.ir = ir, .space = &r->space, .layouts = layouts, .threads = 1, .arena = &r->arena};
    k->work = LE_NEW(&r->arena, struct le_kernel_work);
    le_kernel_work_init(k->work, &r->arena);
}

static inline void start_run(struct device_test_run *r, const char *program, const char *arrays, bool check) {
    *r = (struct device_test_run){.program = program, .aligned = true, .kept = &devices_kept[check]};
    struct le_device_options options = {.sim_check = check};
    le_arena_init(&r->arena);
    if (setjmp(r->arena.failure))
        fail_msg("out of memory");
    if (!r->kept->device)
        ok(le_device_open("sim", &options, &r->kept->device));
    ok(le_pool_new(1, &r->pool));
    struct le_ir *ir = lower_text(&r->arena, program);
    if (!ir)
        fail_msg("%s\n%s", program, le_errors_text());
    set_kernel(r, ir, arrays);
    assert_true(ir->values.count <= VALUES_MAX);
    for (int v = 0; v < ir->values.count; v++) {
        size_t count = extent_of(r, v), size = le_type_size(ir->values.at[v].type);
        r->bytes[v] = count * size;
        r->buffers[v] = calloc(count + 1, size < 8 ? 8 : size);
        for (size_t q = 0; q < count; q++)
            put_number(ir->values.at[v].type, r->buffers[v], q);
    }
}

static inline void finish(struct device_test_run *r) {
    for (int v = 0; v < r->kernel.ir->values.count; v++)
        free(r->buffers[v]);
    le_pool_free(r->pool);
    le_arena_finish(&r->arena);
}

static inline int close_kept(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        for (int q = 0; q < KEPT_MODULES; q++) {
            le_device_module_free(devices_kept[k].modules[q].module);
            free(devices_kept[k].modules[q].text);
        }
        le_device_close(devices_kept[k].device);
    }
    return 0;
}

/* ---- by the CPU's machine */

static inline void run_launch(struct device_test_run *r, const struct le_launch *launch, void *parts) {
    struct le_cpu_code code;
    struct le_fault faults[4] = {{0}};
    ok(le_cpu_prepare(&r->arena, launch->unit, le_simd_best(), &code));
    size_t stride = (code.scratch_bytes + 63) / 64 * 64;
    char *scratch = aligned_alloc(64, stride + 64);
    struct le_cpu_job job = {.code = &code,
                             .tasks = launch->tasks,
                             .clip_count = {launch->clip_count[0], launch->clip_count[1]},
                             .clip_size = {launch->clip_size[0], launch->clip_size[1]},
                             .row_count = launch->row_count,
                             .buffers = r->buffers,
                             .parts = parts,
                             .scratch = scratch,
                             .scratch_stride = stride,
                             .faults = faults};
    assert_int_equal(le_cpu_run(r->pool, &job), LEAT_OK);
    free(scratch);
}

static inline void run_on_cpu(struct device_test_run *r, const struct le_stage *stage) {
    struct le_launches launches = {.at = NULL};
    r->kernel.stage = stage;
    ok(le_kernel_generate(&r->kernel, &launches));
    for (int k = 0; k < launches.count; k++) {
        const struct le_launch *launch = &launches.at[k];
        char *parts = calloc((size_t)launch->tasks + 1, 8 * 8);
        run_launch(r, launch, parts);
        if (launch->parts)
            le_acc_join(le_simd_best(), stage->node->type, (enum le_reduction)stage->node->code, parts, launch->tasks,
                        r->buffers[stage->target]);
        free(parts);
    }
}

/* ---- by the device */

static inline bool is_aligned(void *user, int value) {
    (void)value;
    return ((struct device_test_run *)user)->aligned;
}

/* The rates are an H100's, scaled from its 132 multiprocessors to 4. */
static struct le_device_facts facts = {.multiprocessors = 4,
                                       .multiprocessor_threads = 2048,
                                       .bytes_per_second = 100e9,
                                       .operations_per_second = 900e9,
                                       .block_threads = 1024,
                                       .shared_bytes = 48 * 1024,
                                       .shared_most_bytes = 227 * 1024,
                                       .capability = 90,
                                       .is_aligned = is_aligned};

struct memory {
    struct le_allocation *values[VALUES_MAX], *work, *counters, *fault;
};

static inline struct le_launch_argument argument(struct device_test_run *r, struct memory *m,
                                                 const struct le_argument *a, uint64_t *bits) {
    struct le_allocation *allocation = a->kind == LE_ARGUMENT_WORK       ? m->work
                                       : a->kind == LE_ARGUMENT_COUNTERS ? m->counters
                                       : a->kind == LE_ARGUMENT_FAULT    ? m->fault
                                                                         : NULL;
    if (a->kind == LE_ARGUMENT_SCALAR) {
        memcpy(bits, r->buffers[a->value], r->bytes[a->value]);
        return (struct le_launch_argument){.value = bits, .size_bytes = 16};
    }
    if (a->kind == LE_ARGUMENT_NUMBER) {
        *bits = (uint64_t)a->number;
        return (struct le_launch_argument){.value = bits, .size_bytes = 8, .dtype = LEAT_I64};
    }
    allocation = allocation ? allocation : m->values[a->value];
    *bits = allocation->address + (a->kind == LE_ARGUMENT_WORK ? (uint64_t)a->number : 0);
    return (struct le_launch_argument){
        .value = bits, .size_bytes = 8, .allocation = allocation, .access = LE_ACCESS_BOTH};
}

/* Every pragma stands right before its loop. */
static inline void check_pragmas(const char *text) {
    static const char pragma[] = "#pragma unroll";
    for (const char *at = strstr(text, pragma); at; at = strstr(at + 1, pragma)) {
        const char *next = at + strcspn(at, "\n");
        next += strspn(next, " \n");
        if (strncmp(next, "for (", 5) != 0 && strncmp(next, "while (", 7) != 0)
            fail_msg("no loop behind a pragma: %.200s", at);
    }
}

static inline int count_word(const char *text, const char *word) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    int count = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++)
        count += !strchr(letters, at[-1]) && !strchr(letters, at[strlen(word)]);
    return count;
}

/* Something uses every index that the kernel binds. */
static inline void check_uses(const char *text) {
    static const char type[] = "const int ";
    const char *kernel = strstr(text, "extern \"C\"");
    for (const char *at = kernel; (at = strstr(at, type)) != NULL; at++) {
        char name[64] = "";
        sscanf(at + strlen(type), "%63[A-Za-z0-9_]", name);
        if (*name && count_word(kernel, name) < 2)
            fail_msg("nothing uses '%s':\n%s", name, kernel);
    }
}

static inline struct le_device_module *compiled(struct kept_device *k, const struct le_generated_launch *l) {
    for (int q = 0; q < KEPT_MODULES; q++)
        if (k->modules[q].text && strcmp(k->modules[q].text, l->text) == 0)
            return k->modules[q].module;
    struct le_device_module *module;
    struct le_module_source source = {.text = l->text, .name = l->kernel};
    check_pragmas(l->text);
    check_uses(l->text);
    leat_status status = le_device_module_new(k->device, &source, &module);
    if (status)
        print_message("%s\n", l->text);
    ok(status);
    int q = k->next++ % KEPT_MODULES;
    le_device_module_free(k->modules[q].module);
    free(k->modules[q].text);
    k->modules[q].module = module;
    k->modules[q].text = strdup(l->text);
    return module;
}

static inline void launch_on_device(struct device_test_run *r, struct memory *m, const struct le_generated_launch *l) {
    struct le_device *device = r->kept->device;
    struct le_device_kernel *kernel;
    struct le_launch_argument arguments[64] = {{0}};
    uint64_t bits[64][2] = {{0}};
    assert_true(l->argument_count <= 64);
    ok(le_device_module_kernel(compiled(r->kept, l), l->kernel, &kernel));
    for (int k = 0; k < l->argument_count; k++)
        arguments[k] = argument(r, m, &l->arguments[k], bits[k]);
    struct le_kernel_launch how = {
        .shared_bytes = l->shared_bytes, .arguments = arguments, .argument_count = l->argument_count};
    memcpy(how.grid, l->grid, sizeof how.grid);
    memcpy(how.block, l->block, sizeof how.block);
    ok(le_device_launch(kernel, &how, le_device_stream_own(device)));
    ok(le_device_synchronize(device));
}

static inline void run_on_device(struct device_test_run *r, const struct le_stage *stage, void *result) {
    struct le_generated_launches launches = {.at = NULL};
    struct memory m = {.work = NULL};
    struct le_device *device = r->kept->device;
    struct le_device_facts own = facts;
    own.user = r;
    own.mapping = r->mapping;
    struct le_device_kernel_job job = {.kernel = r->kernel, .facts = &own};
    job.kernel.stage = stage;
    ok(le_device_generate(&job, &launches));
    for (int k = 0; k < launches.count; k++)
        ok(le_ktree_verify(launches.at[k].tree));
    for (int v = 0; v < r->kernel.ir->values.count; v++) {
        ok(le_allocation_new(device, LE_MEMORY_PINNED, r->bytes[v] + 64, NULL, &m.values[v]));
        memcpy(m.values[v]->host, r->buffers[v], r->bytes[v]);
    }
    ok(le_allocation_new(device, LE_MEMORY_PINNED, sizeof(struct le_device_fault), NULL, &m.fault));
    memset(m.fault->host, 0, sizeof(struct le_device_fault));
    ok(le_allocation_new(device, LE_MEMORY_DEVICE, launches.work_bytes + 1, NULL, &m.work));
    ok(le_device_fill_zero(le_device_stream_own(device), m.work, launches.zeroed_bytes));
    ok(le_allocation_new(device, LE_MEMORY_PINNED, launches.counter_bytes + 1, NULL, &m.counters));
    memset(m.counters->host, 0, launches.counter_bytes);
    r->how = launches.count ? launches.at[0].how : "";
    for (int k = 0; k < launches.count; k++)
        if (launches.at[k].grid[0] > 0)
            launch_on_device(r, &m, &launches.at[k]);
    memcpy(result, m.values[stage->target]->host, r->bytes[stage->target]);
    memcpy(&r->fault, m.fault->host, sizeof r->fault);
    for (int v = 0; v < r->kernel.ir->values.count; v++)
        le_allocation_free(m.values[v]);
    le_allocation_free(m.fault);
    le_allocation_free(m.work);
    for (size_t k = 0; k < launches.counter_bytes; k++)
        assert_int_equal(((char *)m.counters->host)[k], 0);
    le_allocation_free(m.counters);
}

/* ---- */

static inline void compare(const struct device_test_run *r, const struct le_stage *stage, const char *found) {
    const char *wanted = r->buffers[stage->target];
    size_t size = le_type_size(r->kernel.ir->values.at[stage->target].type);
    for (size_t k = 0; k < r->bytes[stage->target]; k += size)
        if (memcmp(wanted + k, found + k, size) != 0) {
            double want = size == 8 ? *(const double *)(wanted + k) : (double)*(const float *)(wanted + k);
            double got = size == 8 ? *(const double *)(found + k) : (double)*(const float *)(found + k);
            fail_msg("%s\n%s: element %zu is %.17g, not %.17g (%s)", r->program, stage->name, k / size, got, want,
                     r->how);
        }
}

/* Whether a sum of the program has reuse: it cannot be cut into less than 1,024 terms. */
static inline bool has_chains(const struct le_ir *ir) {
    struct le_text text = {0};
    le_ir_print(ir, &text);
    bool found = strstr(text.at, "(chain") != NULL;
    le_text_finish(&text);
    return found;
}

/* The mapping whose kernels are described so; NULL: the cost model chooses. */
static inline const char *mapping_of(const char *how, bool chains) {
    const struct {
        const char *how, *mapping;
    } known[] = {
        {"threads for each column, the last", chains ? "columns chunk=1024 parts=1" : "columns chunk=64 parts=1"},
        {"a thread for each column", "columns chunk=1048576 parts=1"},
        {"threads of some blocks for each column", chains ? "columns chunk=1024 parts=4" : "columns chunk=64 parts=4"},
        {"threads of a block for each column", "columns chunk=1048576 parts=8"},
        {"columns side by side, 4 for each block", "rows strip=4 cluster=1 vector=1"},
        {"columns side by side, 64 for each block", "rows strip=64 cluster=1 vector=1"},
        {"columns side by side, 8 for each cluster of 2", "rows strip=8 cluster=2 vector=1"},
        {"columns side by side, 8 for each cluster of 8", "rows strip=8 cluster=8 vector=1"},
        {"columns side by side, 2 for each thread and 8 for each block", "rows strip=8 cluster=1 vector=2"},
        {"columns side by side, 4 for each thread and 16 for each cluster", "rows strip=16 cluster=2 vector=4"},
        {"columns side by side, 8 for each thread and 64 for each block", "rows strip=64 cluster=1 vector=8"},
        {"a thread for some rows and columns of windows", "window columns=4 rows=4"},
        {"one block", "block"},
        {"all blocks, the last", "grid"},
        {"some blocks for each row", "grid"}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strncmp(how, known[k].how, strlen(known[k].how)) == 0)
            return known[k].mapping;
    if (strstr(how, "lanes of a warp for each row"))
        return "lanes";
    if (strstr(how, "lanes for each row"))
        return "warp";
    if (strncmp(how, "a warp for each row", 19) == 0 || strncmp(how, "a block for each row", 20) == 0)
        return strchr(how, ',') && !strstr(how, "values") ? "rows" : how[2] == 'w' ? "warp" : "block";
    return NULL;
}

static inline bool is_made(const char *found, const char *how) {
    const char *rest = strstr(how, "...");
    return found && (rest ? strncmp(found, how, (size_t)(rest - how)) : strcmp(found, how)) == 0;
}

/* All its stages, with that mapping where it fits; one of them is made as `how` says, which may end in `...`. */
static inline void same_mapped(struct device_test_run *r, const char *how) {
    bool made = false;
    for (int k = 0; k < r->kernel.ir->stages.count; k++) {
        const struct le_stage *stage = &r->kernel.ir->stages.at[k];
        if (stage->dead ||
            (stage->kind != LE_STAGE_MAP && stage->kind != LE_STAGE_CONTRACT && stage->kind != LE_STAGE_SCATTER))
            continue;
        char *found = calloc(r->bytes[stage->target] + 8, 1);
        run_on_device(r, stage, found);
        run_on_cpu(r, stage);
        compare(r, stage, found);
        made |= is_made(r->how, how);
        free(found);
    }
    if (!made)
        fail_msg("%s\n%s, not %s", r->program, r->how, how);
    finish(r);
}

static inline void same_checked(const char *program, const char *arrays, const char *how, bool aligned, bool check) {
    struct device_test_run r;
    start_run(&r, program, arrays, check);
    r.aligned = aligned;
    r.mapping = mapping_of(how, has_chains(r.kernel.ir));
    same_mapped(&r, how);
}
/* Each new text takes the host's compiler half a second: without LEAT_TEST_ALL every second line is enough, and of
 * `also`, one more of a kind that another line has, none. */
static inline void same(const char *program, const char *arrays, const char *how) {
    static int turn;
    if (turn++ % 2 == 0 || getenv("LEAT_TEST_ALL"))
        same_checked(program, arrays, how, true, false);
}
static inline void also(const char *program, const char *arrays, const char *how) {
    if (getenv("LEAT_TEST_ALL"))
        same_checked(program, arrays, how, true, false);
}
#endif
