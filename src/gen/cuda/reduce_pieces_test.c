/* The pieces of reduce.cu on their own, on the simulated device with its checks: totals by a warp, a thread
 * block and a grid have the CPU's bits for any number of terms. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "device/cpu/machine/ops.h"
#include "device/device_open.h"
#include "gen/tree/codegen.h"
#include <stdio.h>
#include <string.h>

static const char text[] =
    "template <class total, int W, class T>\n"
    "__device__ inline void by_block(const T *x, int n, T *out) {\n"
    "    __shared__ le_room<total, 256> room;\n"
    "    const auto term = [&](int at) -> total { return total::of(x[at]); };\n"
    "    const auto terms = [&](int at) -> total {\n"
    "        T some[W];\n"
    "        total t[W];\n"
    "        le_read<W>(some, x + at);\n"
    "        for (int k = 0; k < W; k++)\n"
    "            t[k] = total::of(some[k]);\n"
    "        return le_joined<total, W>(t);\n"
    "    };\n"
    "    const total t = le_block_total<total, 8, 4, W, int>(n, terms, term, room);\n"
    "    out[threadIdx.x] = t.value(n == 0);\n"
    "}\n"
    "template <class total, int W, int LINES, int U, class T>\n"
    "__device__ inline void by_grid(const T *x, long long n, int steps, void *work, unsigned *arrived, T *out) {\n"
    "    __shared__ le_room<total, 256> room;\n"
    "    total *parts = (total *)work;\n"
    "    const auto term = [&](long long at) -> total { return total::of(x[at]); };\n"
    "    const auto terms = [&](long long at) -> total {\n"
    "        T some[W];\n"
    "        total t[W];\n"
    "        le_read<W>(some, x + at);\n"
    "        for (int k = 0; k < W; k++)\n"
    "            t[k] = total::of(some[k]);\n"
    "        return le_joined<total, W>(t);\n"
    "    };\n"
    "    le_grid_parts<total, LINES, U, W, long long>(n, steps, terms, term, parts, room);\n"
    "    if (!le_is_last(arrived, gridDim.x))\n"
    "        return;\n"
    "    const auto part = [&](int at) -> total { return parts[at]; };\n"
    "    const total t = le_block_total<total, 8, 8, 1, int>(steps, part, part, room);\n"
    "    if (threadIdx.x == 0)\n"
    "        *out = t.value(n == 0);\n"
    "}\n"
    "#define BOTH(name, total, T, W, LINES, U) \\\n"
    "extern \"C\" __global__ void name##_block(const T *x, long long n, T *out) { by_block<total, W>(x, (int)n, out); "
    "} \\\n"
    "extern \"C\" __global__ void name##_grid(const T *x, long long n, int steps, void *work, unsigned *arrived, T "
    "*out) \\\n"
    "{ by_grid<total, W, LINES, U>(x, n, steps, work, arrived, out); }\n"
    "BOTH(sum_f32, le_sum<float>, float, 4, 32, 8)\n"
    "BOTH(sum_f64, le_sum<double>, double, 1, 8, 8)\n"
    "BOTH(prod_f32, le_product<float>, float, 1, 32, 2)\n"
    "BOTH(prod_f64, le_product<double>, double, 2, 32, 4)\n"
    "BOTH(sum_i16, le_sum<short>, short, 8, 32, 4)\n"
    "BOTH(min_f32, le_least<float>, float, 4, 32, 8)\n"
    "BOTH(max_i8, le_greatest<signed char>, signed char, 1, 8, 4)\n";

enum { MOST = 1 << 20, THREADS = 128 };
struct testing {
    struct le_device *device;
    struct le_device_module *module;
    struct le_allocation *x, *out, *work, *arrived;
};

static void ok(leat_status status) {
    if (status)
        print_error("%s\n", le_errors_text());
    assert_int_equal(status, LEAT_OK);
}

static void start_testing(struct testing *t, bool check) {
    struct le_arena arena = {0};
    struct words unit = {0};
    struct le_device_options options = {.sim_check = check};
    le_prelude_add(&arena, &unit, text);
    le_words_add(&arena, &unit, "%s", text);
    *t = (struct testing){0};
    ok(le_device_open("sim", &options, &t->device));
    struct le_module_source source = {.text = unit.at, .name = "reduce.cu"};
    ok(le_device_module_new(t->device, &source, &t->module));
    ok(le_allocation_new(t->device, LE_MEMORY_PINNED, 8 * MOST, NULL, &t->x));
    ok(le_allocation_new(t->device, LE_MEMORY_PINNED, 8 * THREADS, NULL, &t->out));
    ok(le_allocation_new(t->device, LE_MEMORY_DEVICE, 8 * MOST, NULL, &t->work));
    ok(le_allocation_new(t->device, LE_MEMORY_DEVICE, 4, NULL, &t->arrived));
    ok(le_device_fill_zero(le_device_stream_own(t->device), t->arrived, 4)); /* once: each kernel leaves it so */
    le_arena_finish(&arena);
}

static void finish(struct testing *t) {
    le_allocation_free(t->x);
    le_allocation_free(t->out);
    le_allocation_free(t->work);
    le_allocation_free(t->arrived);
    le_device_module_free(t->module);
    le_device_close(t->device);
}

static struct le_launch_argument address(struct le_allocation *allocation, enum le_allocation_access access) {
    return (struct le_launch_argument){
        .value = &allocation->address, .size_bytes = 8, .allocation = allocation, .access = access};
}

static void launch_kernel(struct testing *t, const char *name, int64_t n, int blocks, int steps) {
    struct le_device_kernel *kernel;
    struct le_launch_argument arguments[6] = {address(t->x, LE_ACCESS_READ),
                                              {.value = &n, .size_bytes = 8, .dtype = LEAT_I64}};
    struct le_kernel_launch how = {.grid = {(unsigned)blocks, 1, 1}, .block = {THREADS, 1, 1}, .arguments = arguments};
    ok(le_device_module_kernel(t->module, name, &kernel));
    if (blocks > 1) {
        arguments[2] = (struct le_launch_argument){.value = &steps, .size_bytes = 4, .dtype = LEAT_I32};
        arguments[3] = address(t->work, LE_ACCESS_BOTH);
        arguments[4] = address(t->arrived, LE_ACCESS_BOTH);
        arguments[5] = address(t->out, LE_ACCESS_WRITE);
        how.argument_count = 6;
    } else {
        arguments[2] = address(t->out, LE_ACCESS_WRITE);
        how.argument_count = 3;
    }
    ok(le_device_launch(kernel, &how, le_device_stream_own(t->device)));
    ok(le_allocation_wait(t->out, LE_ACCESS_READ));
}

/* Floats whose sums and products show the order. */
static void fill(enum le_type type, void *x, int64_t n, unsigned seed) {
    for (int64_t k = 0; k < n; k++) {
        seed = seed * 1664525u + 1013904223u;
        double value = 1 + ((double)(seed >> 8) - (1 << 23)) / 1e9;
        switch (type) {
        case LE_F32:
            ((float *)x)[k] = (float)value;
            break;
        case LE_F64:
            ((double *)x)[k] = value;
            break;
        case LE_I16:
            ((int16_t *)x)[k] = (int16_t)(seed >> 13);
            break;
        default:
            ((int8_t *)x)[k] = (int8_t)(seed >> 13);
        }
    }
}

static const struct row {
    const char *name;
    enum le_type type;
    enum le_reduction reduction;
    int step; /* terms of a block */
} rows[] = {{"sum_f32", LE_F32, LE_RED_SUM, 4 * 32 * THREADS},   {"sum_f64", LE_F64, LE_RED_SUM, 1 * 8 * THREADS},
            {"prod_f32", LE_F32, LE_RED_PROD, 1 * 32 * THREADS}, {"prod_f64", LE_F64, LE_RED_PROD, 2 * 32 * THREADS},
            {"sum_i16", LE_I16, LE_RED_SUM, 8 * 32 * THREADS},   {"min_f32", LE_F32, LE_RED_MIN, 4 * 32 * THREADS},
            {"max_i8", LE_I8, LE_RED_MAX, 1 * 8 * THREADS}};

static void compare(struct testing *t, const struct row *row, int64_t n, bool grid) {
    char name[32];
    uint64_t want = 0;
    size_t size = le_type_size(row->type);
    int steps = (int)(n / row->step) + 2; /* more than there are: the rest have no terms */
    snprintf(name, sizeof name, "%s_%s", row->name, grid ? "grid" : "block");
    ok(le_allocation_wait(t->x, LE_ACCESS_WRITE));
    fill(row->type, t->x->host, n, (unsigned)n);
    launch_kernel(t, name, n, grid ? 3 : 1, steps);
    le_acc_join(le_simd_best(), row->type, row->reduction, t->x->host, n, &want);
    for (int k = 0; k < (grid ? 1 : THREADS); k++)
        if (memcmp((char *)t->out->host + (size_t)k * size, &want, size) != 0)
            fail_msg("%s of %lld terms, thread %d", name, (long long)n, k);
}

static void all(bool check, const int64_t *sizes, int count, int64_t few) {
    struct testing t;
    start_testing(&t, check);
    for (size_t r = 0; r < ARRAY_LEN(rows); r++) {
        for (int64_t n = 0; n <= few; n++)
            compare(&t, &rows[r], n, false);
        for (int64_t n = 0; n <= few; n += 37)
            compare(&t, &rows[r], n, true);
        for (int k = 0; k < count; k++)
            for (int grid = 0; grid < 2; grid++)
                compare(&t, &rows[r], sizes[k], grid);
    }
    finish(&t);
}

static void bits_of_the_cpu(void **state) {
    (void)state;
    const int64_t sizes[] = {511,  512,  513,   1023,  1024,  1025,  4095,  4096,   4097,
                             5000, 8191, 16384, 16385, 32769, 65537, 99999, 262145, 1048576};
    all(false, sizes, ARRAY_LEN(sizes), 140);
}

static void no_races(void **state) {
    (void)state;
    const int64_t sizes[] = {1000, 4096, 40000};
    all(true, sizes, ARRAY_LEN(sizes), 34);
}

/* A negative zero stays one; the sum of no terms is a positive one. */
static void zeros(void **state) {
    (void)state;
    struct testing t;
    start_testing(&t, false);
    for (int n = 0; n < 70; n += 23)
        for (int grid = 0; grid < 2; grid++) {
            for (int k = 0; k < n; k++)
                ((float *)t.x->host)[k] = -0.0f;
            launch_kernel(&t, grid ? "sum_f32_grid" : "sum_f32_block", n, grid ? 3 : 1, 2);
            assert_int_equal(*(uint32_t *)t.out->host, n == 0 ? 0 : 0x80000000u);
        }
    finish(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(bits_of_the_cpu), cmocka_unit_test(no_races),
                                       cmocka_unit_test(zeros)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
