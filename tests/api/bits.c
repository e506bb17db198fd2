/* Results have the same bits for 1, 2 and 7 threads, and for all instruction sets with fused multiply-adds. Programs
 * without multiply-adds have them on the baseline as well. Sums follow the fixed tree, which this file implements
 * directly. */
#include "support.h"
#include <stdio.h>

enum { ROWS = 37, COLUMNS = 1291, COUNT = ROWS * COLUMNS };

static const char *const programs[] = {
    "y[i,j] = a[i,j] * b[i,j] + a[i,j] / (b[i,j] * b[i,j] + 0.5)",
    "y[i,j] = exp(-a[i,j]) * sin(b[i,j]) + sqrt(abs(a[i,j])) * log(b[i,j])",
    "y[i,j] = tanh(a[i,j]) + erf(b[i,j]) + atan2(a[i,j], b[i,j]) + b[i,j] ** a[i,j] + lgamma(b[i,j])",
    "y[i] = sum(j: a[i,j])",
    "y[j] = sum(i: a[i,j])",
    "y = sum(i,j: a[i,j] * b[i,j])",
    "y[i] = prod(j: b[i,j]) + mean(j: a[i,j])",
    "y[i] = argmin(j: a[i,j])\nz[j] = argmax(i: a[i,j])\nt = max(i,j: a[i,j]) + min(i,j: a[i,j])",
    "e[i,j] = exp(a[i,j] - max(k: a[i,k]))\ny[i,j] = e[i,j] / sum(k: e[i,k])",
    "m[i] = mean(j: a[i,j])\ny[i] = mean(j: (a[i,j] - m[i])**2)",
    "y[i,j] = a[i,j] / sum(k,l: a[k,l])",
    "y[i,j] = (a[i-1,j] + a[i+1,j] + a[i,j-1] + a[i,j+1]) / 4 else 0",
    "y[j,l] = sum(i: a[i,j] * b[i,l]) where j in 0..40, l in 0..30",
    "out y: f32[50], n: i64[50]\ny[i64(b[i,j] * 7) % 50] += a[i,j]\nn[i64(b[i,j] * 7) % 50] += 1",
    "y[i,j] = f16(a[i,j]) * f16(b[i,j]) + f16(0.1)",
    "y[i,j] = i64(a[i,j] * 100) // 7 + i64(b[i,j] * 100) % 5",
    "y[i,j] = rand(7, i, j) + randn(8, i, j) where i in 0..37, j in 0..1291",
    "y[i] = sum(k in 0..i+1: a[k,0])",
    "y[i,l] = sum(j: a[i,j] * b[l,j])",
    "y[i,l] = sum(j: a[i,j] * a[l,j])",
    "y[j,l] = 0.5 * sum(i: a[i,j] * b[i,l]) + a[l,j] where l in 0..37",
    "y[i] = sum(j: a[i,j] * b[0,j])\nz[j] = sum(i: a[i,j] * b[i,0])",
    "y[i,l] = sum(j: i32(a[i,j] * 100) * i32(b[l,j] * 100))",
};

struct setting {
    int threads;
    const char *simd;
};

/* All results of a program, one after the other. */
static size_t run_bits(const char *text, struct setting setting, const float *a, const float *b, unsigned char *bits,
                       size_t capacity) {
    leat_options options = {.threads = setting.threads, .simd = setting.simd};
    leat_context *ctx = NULL;
    leat_array *arrays[2], *result;
    leat_description description;
    const char *name;
    size_t count, length = 0;
    assert_ok(leat_open(&options, &ctx));
    leat_program *program = program_of(ctx, text);
    leat_call *call = call_of(program);
    arrays[0] = array_of(ctx, LEAT_F32, 2, SHAPE(ROWS, COLUMNS), a);
    arrays[1] = array_of(ctx, LEAT_F32, 2, SHAPE(ROWS, COLUMNS), b);
    if (strstr(text, "a["))
        assert_ok(leat_call_set_array(call, "a", arrays[0]));
    if (strstr(text, "b["))
        assert_ok(leat_call_set_array(call, "b", arrays[1]));
    if (leat_call_run(call, NULL, NULL))
        fail_msg("%s: %s", text, leat_error_text(ctx));
    assert_ok(leat_call_result_count(call, &count));
    for (size_t k = 0; k < count; k++) {
        assert_ok(leat_call_result_name(call, k, &name));
        assert_ok(leat_call_result(call, name, &result));
        assert_ok(leat_array_get(result, &description));
        size_t size_bytes = leat_dtype_size_bytes(description.dtype);
        for (int axis = 0; axis < description.rank; axis++)
            size_bytes *= (size_t)description.shape[axis];
        assert_true(length + size_bytes <= capacity);
        assert_ok(leat_array_read(result, bits + length, size_bytes, NULL, NULL));
        length += size_bytes;
        leat_array_free(result);
    }
    leat_array_free(arrays[0]);
    leat_array_free(arrays[1]);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
    return length;
}

static bool simd_here(const char *simd) {
    leat_options options = {.simd = simd};
    leat_context *ctx = NULL;
    const bool here = !leat_open(&options, &ctx);
    leat_close(ctx);
    return here;
}

static void fill(float *a, float *b) {
    uint32_t random = 12345;
    for (size_t k = 0; k < COUNT; k++) {
        random = random * 1664525 + 1013904223;
        a[k] = ((float)(random >> 8) / (float)(1 << 24) - 0.5f) * 6;
        random = random * 1664525 + 1013904223;
        b[k] = (float)(random >> 8) / (float)(1 << 23) + 0.125f;
    }
}

static void test_settings(void **state) {
    (void)state;
    static const struct setting settings[] = {{1, NULL}, {2, NULL}, {7, NULL}, {1, "avx2"}, {3, "avx2"}, {2, "avx512"}};
    const size_t capacity = 2 * COUNT * sizeof(double);
    float *a = malloc(COUNT * sizeof *a), *b = malloc(COUNT * sizeof *b);
    unsigned char *first = malloc(capacity), *other = malloc(capacity);
    fill(a, b);
    for (size_t k = 0; k < ARRAY_LEN(programs); k++) {
        const size_t length = run_bits(programs[k], settings[0], a, b, first, capacity);
        for (size_t s = 1; s < ARRAY_LEN(settings); s++) {
            if (settings[s].simd && (!simd_here(settings[s].simd) || !simd_here("avx2")))
                continue;
            assert_int_equal(run_bits(programs[k], settings[s], a, b, other, capacity), length);
            if (memcmp(first, other, length))
                fail_msg("%d threads, %s: other bits: %s", settings[s].threads,
                         settings[s].simd ? settings[s].simd : "best", programs[k]);
        }
    }
    free(a);
    free(b);
    free(first);
    free(other);
}

/* Instruction sets without fused multiply-adds may differ only where a multiply-add is formed. */
static void test_baseline(void **state) {
    (void)state;
    static const size_t without_muladd[] = {3, 4, 7, 11, 13, 15};
    const size_t capacity = 2 * COUNT * sizeof(double);
    float *a = malloc(COUNT * sizeof *a), *b = malloc(COUNT * sizeof *b);
    unsigned char *first = malloc(capacity), *other = malloc(capacity);
    fill(a, b);
    for (size_t k = 0; k < ARRAY_LEN(without_muladd); k++) {
        const char *text = programs[without_muladd[k]];
        const size_t length = run_bits(text, (struct setting){2, NULL}, a, b, first, capacity);
        assert_int_equal(run_bits(text, (struct setting){3, "baseline"}, a, b, other, capacity), length);
        if (memcmp(first, other, length))
            fail_msg("baseline: other bits: %s", text);
    }
    free(a);
    free(b);
    free(first);
    free(other);
}

/* T(n terms) = T(first h) + T(the rest), h the largest power of two below n. */
static float tree_sum(const float *terms, size_t count, size_t stride) {
    size_t half = 1;
    if (count == 1)
        return terms[0];
    while (half * 2 < count)
        half *= 2;
    return tree_sum(terms, half, stride) + tree_sum(terms + half * stride, count - half, stride);
}

static void test_tree(void **state) {
    (void)state;
    static const size_t extents[][2] = {{1, 1},     {1, 2},     {3, 5},    {7, 64},   {2, 1000},
                                        {33, 1025}, {1291, 37}, {5, 8191}, {47767, 1}};
    float *a = malloc(COUNT * sizeof *a), *b = malloc(COUNT * sizeof *b);
    float *sums = malloc((COUNT + 1) * sizeof *sums);
    leat_context *ctx = open_context();
    fill(a, b);
    for (size_t k = 0; k < ARRAY_LEN(extents); k++) {
        const size_t rows = extents[k][0], columns = extents[k][1];
        leat_array *x = array_of(ctx, LEAT_F32, 2, SHAPE((int64_t)rows, (int64_t)columns), a);
        const leat_binding inputs[] = {{.name = "x", .kind = LEAT_VALUE_ARRAY, .array = x}, {0}};
        leat_binding results[] = {{.name = "r"}, {.name = "c"}, {.name = "t"}, {0}};
        assert_ok(
            leat_eval(ctx, "r[i] = sum(j: x[i,j])\nc[j] = sum(i: x[i,j])\nt = sum(i,j: x[i,j])", inputs, results));
        assert_ok(leat_array_read(results[0].array, sums, rows * sizeof *sums, NULL, NULL));
        for (size_t i = 0; i < rows; i++)
            assert_true(sums[i] == tree_sum(a + i * columns, columns, 1));
        assert_ok(leat_array_read(results[1].array, sums, columns * sizeof *sums, NULL, NULL));
        for (size_t j = 0; j < columns; j++)
            assert_true(sums[j] == tree_sum(a + j, rows, columns));
        assert_ok(leat_array_read(results[2].array, sums, sizeof *sums, NULL, NULL));
        assert_true(sums[0] == tree_sum(a, rows * columns, 1));
        for (int n = 0; n < 3; n++)
            leat_array_free(results[n].array);
        leat_array_free(x);
    }
    leat_close(ctx);
    free(a);
    free(b);
    free(sums);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_settings), cmocka_unit_test(test_baseline),
                                       cmocka_unit_test(test_tree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
