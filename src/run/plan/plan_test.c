/* Plans: the storage of values, the reuse of plans, and the peak memory of fused programs. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "run/call.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- counts all memory that Leat allocates, and its peak */

static struct { size_t live_bytes, peak_bytes, count; } memory;

#define HEADER_BYTES ((size_t)64)

static void *allocate(size_t size_bytes, void *user) {
    (void)user;
    char *block = aligned_alloc(64, (size_bytes + 2 * HEADER_BYTES - 1) / 64 * 64);
    if (!block)
        return NULL;
    memcpy(block, &size_bytes, sizeof size_bytes);
    __atomic_add_fetch(&memory.count, 1, __ATOMIC_RELAXED);
    size_t live = __atomic_add_fetch(&memory.live_bytes, size_bytes, __ATOMIC_RELAXED);
    if (live > memory.peak_bytes)
        memory.peak_bytes = live;
    return block + HEADER_BYTES;
}

static size_t size_of(const void *block) {
    size_t size_bytes;
    memcpy(&size_bytes, (const char *)block - HEADER_BYTES, sizeof size_bytes);
    return size_bytes;
}

static void release(void *block, void *user) {
    (void)user;
    if (!block)
        return;
    __atomic_sub_fetch(&memory.live_bytes, size_of(block), __ATOMIC_RELAXED);
    free((char *)block - HEADER_BYTES);
}

static void *reallocate(void *block, size_t size_bytes, void *user) {
    void *larger = allocate(size_bytes, user);
    if (larger && block)
        memcpy(larger, block, size_of(block) < size_bytes ? size_of(block) : size_bytes);
    if (larger)
        release(block, user);
    return larger;
}

/* ---- a program and its arrays */

static leat_context *ctx;
static leat_program *program;
static leat_call *call;

#define assert_ok(expression)                                                                                          \
    do {                                                                                                               \
        if ((expression) != LEAT_OK)                                                                                   \
            fail_msg("%s", le_errors_text());                                                                          \
    } while (0)

static void begin(const char *text) {
    leat_options options = {.threads = 2, .allocate = allocate, .reallocate = reallocate, .release = release};
    assert_ok(le_context_new(&options, &ctx));
    assert_ok(le_program_new(ctx, text, strlen(text), "program", &program));
    assert_ok(le_call_new(program, &call));
}

static void finish(void) {
    le_call_free(call);
    le_program_release(program);
    le_context_close(ctx);
}

/* Binds a new f64 array whose elements are k % 7 + 1. */
static size_t give(const char *name, int rank, int64_t first, int64_t second) {
    int64_t shape[] = {first, second};
    leat_array *array;
    assert_ok(le_array_new(ctx->memory, LEAT_F64, rank, shape, false, &array));
    for (size_t k = 0; k < le_array_count(array); k++)
        ((double *)array->data)[k] = (double)(k % 7) + 1;
    assert_ok(leat_call_set_array(call, name, array));
    size_t bytes = le_array_bytes(array);
    le_array_free(array);
    return bytes;
}

static double result(const char *name, size_t k) {
    const leat_array *array = le_call_result(call, le_tree_find(program->tree, name))->result;
    assert_int_equal(array->dtype, LEAT_F64);
    return ((const double *)array->data)[k];
}

/* ---- storage */

static const char *storages(void) {
    static char text[64];
    const struct le_plan *plan = call->specialised->plan;
    text[0] = 0;
    for (int k = 0; k < plan->action_count; k++) {
        static const char *const names[] = {[LE_STORAGE_NEW] = "new ",
                                            [LE_STORAGE_COPY] = "copy ",
                                            [LE_STORAGE_BASE] = "base ",
                                            [LE_STORAGE_PART] = "part "};
        const struct le_action *a = &plan->actions[k];
        if (le_stage_computes(a->stage) && call->specialised->ir->values.at[a->stage->target].rank > 0)
            strncat(text, names[a->storage], sizeof text - strlen(text) - 1);
    }
    return text;
}

static void check_storage(const char *text, const char *expected, double first) {
    begin(text);
    give("x", 1, 8, 0);
    assert_ok(leat_call_want(call, "y", NULL));
    assert_ok(le_call_run(call, NULL));
    assert_string_equal(storages(), expected);
    assert_true(result("y", 0) == first);
    assert_true(((const double *)call->binds[le_tree_find(program->tree, "x")].array->data)[0] == 1);
    finish();
}

static void values_get_storage(void **state) {
    (void)state;
    check_storage("y[i] = exp(x[i]) - exp(x[i]) + 2", "new ", 2);
    /* unassigned elements are kept, in the same memory */
    check_storage("y[i] = x[i] * 2\ny[i] = y[i] + 1 where i in 0..3", "new base ", 3);
    check_storage("y[i] = x[i] * 2\ny[0] += 5", "new base ", 7);
    /* it reads other elements than it writes, so the old values are needed for a while */
    check_storage("y[i] = x[i] * 2\ny[i] = y[7-i] where i in 0..5", "new part ", 2);
    check_storage("y[i] = x[i] * 2\ny[i] = y[7-i] where i in 0..4", "new base ", 2);
    check_storage("y[i] = x[i] * 2\ny[i] = y[7-i] where i in 0..8 by 2", "new copy ", 2);
    check_storage("y[i] = x[i] * 2\ny[i] = y[7-i] where i in 0..8", "new new ", 2);
    /* an input belongs to the caller */
    check_storage("x[i] = x[i] + 9 where i in 0..3\ny[i] = x[i] * exp(0)", "copy new ", 10);
    /* a histogram adds to the zeros in place */
    check_storage("out y: f64[4]\ny[i64(x[i]) % 4] += 1", "new base ", 1);
}

/* In host loops, for all of their iterations. The last result shows whether old or new values were read. */
static void check_storage_in_loop(const char *body, const char *expected, double last) {
    char text[256];
    snprintf(text, sizeof text, "y[i] = x[i] * 2\nfor k in 1..8 { %s }", body);
    begin(text);
    give("x", 1, 8, 0);
    assert_ok(leat_call_want(call, "y", NULL));
    assert_ok(le_call_run(call, NULL));
    assert_string_equal(storages(), expected);
    if (result("y", 7) != last)
        fail_msg("%s: %g, not %g", body, result("y", 7), last);
    finish();
}

static void old_values_are_read(void **state) {
    (void)state;
    check_storage_in_loop("y[i] += y[k-1] where i in k..8", "new base ", 496);
    check_storage_in_loop("y[k] += y[k-1]", "new base ", 58);
    check_storage_in_loop("y[8-k-1] += y[8-k]", "new base ", 2);
    check_storage_in_loop("y[k] = sum(j in 0..k: y[j])", "new base ", 128);
    /* reads and writes overlap: only old values may be read */
    check_storage_in_loop("y[i] += y[k] where i in k..8", "new part ", 736);
    check_storage_in_loop("y[i] += y[k-i] where i in 0..k+1", "new part ", 58);
    check_storage_in_loop("y[i] += y[i-1] where i in k..8", "new part ", 1138);
    /* a sum that is written to one element is computed as a scalar first */
    check_storage_in_loop("y[k] = sum(j in 0..k+1: y[j])", "new base ", 496);
}

/* ---- reuse of plans: a marked plan is found again, or not */

#define MARK 123456789

static bool reused(void) {
    assert_ok(le_call_run(call, NULL));
    struct le_action *first = &call->specialised->plan->actions[0];
    bool marked = first->bytes == MARK;
    first->bytes = MARK;
    return marked;
}

static void plans_are_reused(void **state) {
    (void)state;
    begin("y[i] = x[i] * k + 1");
    give("x", 1, 8, 0);
    assert_ok(leat_call_set_i64(call, "k", 3));
    assert_false(reused());
    assert_true(reused());
    give("x", 1, 8, 0); /* another array of that shape */
    assert_true(reused());
    give("x", 1, 9, 0);
    assert_false(reused());
    assert_true(reused());
    assert_true(result("y", 8) == 7);
    assert_ok(leat_call_set_i64(call, "k", 4));
    reused();
    assert_true(result("y", 8) == 9);
    assert_ok(leat_call_set_f64(call, "k", 0.5)); /* a different type */
    assert_false(reused());
    assert_true(result("y", 8) == 2);
    finish();
}

static void plans_from_data_are_not_reused(void **state) {
    (void)state;
    begin("n = i64(sum(i: x[i]))\ny[i] = 1.0 * i + 1 where i in 0..n\ns = sum(i: y[i])");
    give("x", 1, 3, 0);
    assert_false(reused());
    assert_true(call->specialised->plan->single_use);
    assert_true(result("s", 0) == 21);
    assert_false(reused());
    ((double *)call->binds[0].array->data)[0] = 5; /* the same array with different elements */
    assert_false(reused());
    assert_true(result("s", 0) == 55);
    finish();
}

static void plans_from_extents_and_numbers_are_reused(void **state) {
    (void)state;
    begin("n = 2 * k\ny[i] = x[i] * i where i in 0..n");
    give("x", 1, 8, 0);
    assert_ok(leat_call_set_i64(call, "k", 3));
    assert_false(reused());
    assert_false(call->specialised->plan->single_use);
    assert_true(reused());
    finish();
}

/* ---- steady calls */

static leat_array *want_new(int64_t length) {
    leat_array *array;
    assert_ok(le_array_new(ctx->memory, LEAT_F64, 1, &length, true, &array));
    assert_ok(leat_call_want(call, "y", array));
    return array;
}

static void run_to(double first) {
    assert_ok(le_call_run(call, NULL));
    assert_true(result("y", 0) == first);
}

static void steady_calls_allocate_nothing(void **state) {
    (void)state;
    begin("y[i] = k * (x[i] + x[i-1]) else 0");
    give("x", 1, 8, 0);
    assert_ok(leat_call_set_i64(call, "k", 2));
    leat_array *target = want_new(8);
    run_to(0);
    assert_true(call->steady);
    size_t count = memory.count;
    for (int k = 0; k < 3; k++)
        run_to(0);
    assert_int_equal(memory.count, count);
    assert_true(result("y", 1) == 6);
    ((double *)call->binds[le_tree_find(program->tree, "x")].array->data)[0] = 5;
    run_to(0);
    assert_true(result("y", 1) == 14);
    le_array_free(target);
    finish();
    assert_int_equal(memory.live_bytes, 0);
}

static void new_bindings_are_used(void **state) {
    struct le_text text = {0};
    (void)state;
    begin("y[i] = k * x[i] + 1");
    give("x", 1, 8, 0);
    assert_ok(leat_call_set_i64(call, "k", 2));
    leat_array *first = want_new(8);
    run_to(3);
    assert_ok(leat_call_set_i64(call, "k", 4));
    run_to(5);
    assert_ok(le_plan_show(call, LEAT_FORM_PLAN, &text));
    le_text_finish(&text);
    assert_false(call->steady);
    run_to(5);
    leat_array *second = want_new(8);
    assert_ok(leat_call_set_i64(call, "k", 6));
    run_to(7);
    assert_true(((const double *)second->data)[0] == 7 && ((const double *)first->data)[0] == 5);
    give("x", 1, 9, 0);
    assert_int_equal(le_call_run(call, NULL), LEAT_MISMATCH);
    assert_false(call->steady);
    leat_array *longer = want_new(9);
    run_to(7);
    assert_true(result("y", 8) == 13);
    le_array_free(first);
    le_array_free(second);
    le_array_free(longer);
    finish();
    assert_int_equal(memory.live_bytes, 0);
}

/* As a binding does that makes new results in each call. */
static void the_same_bindings_stay(void **state) {
    leat_array *x, *y;
    (void)state;
    begin("y[i] = x[i] * k + 1");
    give("x", 1, 8, 0);
    x = le_array_retain(call->binds[le_tree_find(program->tree, "x")].array);
    assert_ok(leat_call_set_i64(call, "k", 2));
    run_to(3);
    for (int k = 0; k < 3; k++) {
        assert_true(call->steady);
        assert_ok(leat_call_want_at(call, 0, NULL));
        assert_ok(leat_call_set_array_at(call, 0, x));
        assert_ok(leat_call_set_i64_at(call, 1, 2));
        assert_true(call->steady);
        run_to(3);
        assert_ok(leat_call_take_at(call, 0, &y));
        le_array_free(y);
    }
    y = want_new(8);
    assert_false(call->steady);
    run_to(3);
    assert_ok(leat_call_want_at(call, 0, NULL));
    assert_false(call->steady);
    le_array_free(y);
    le_array_free(x);
    finish();
    assert_int_equal(memory.live_bytes, 0);
}

/* ---- peak memory: inputs and results plus 64 MiB */

#define MEBI ((size_t)1 << 20)

static void check_peak(const char *text, size_t (*bind)(void), size_t result_bytes) {
    begin(text);
    size_t bytes = bind();
    memory.peak_bytes = memory.live_bytes;
    assert_ok(le_call_run(call, NULL));
    if (memory.peak_bytes > bytes + result_bytes + 64 * MEBI)
        fail_msg("%s\n%zu MiB, inputs and results are %zu MiB", text, memory.peak_bytes / MEBI,
                 (bytes + result_bytes) / MEBI);
    finish();
    assert_int_equal(memory.live_bytes, 0);
}

static size_t vector(void) {
    return give("x", 1, 4 << 20, 0);
}
static size_t matrix(void) {
    return give("x", 2, 4096, 1024);
}
static size_t bodies(void) {
    return give("x", 1, 6000, 0) + give("m", 1, 6000, 0);
}

static void fused_programs_stay_small(void **state) {
    const size_t large = 32 * MEBI;
    (void)state;
    check_peak("a[i] = exp(-x[i])\nb[i] = sin(a[i])\nc[i] = b[i] * a[i] + x[i]\nd[i] = c[i] / (1 + b[i]*b[i])\n"
               "e[i] = sqrt(d[i]*d[i] + 1)\ny[i] = e[i] - x[i]",
               vector, large);
    check_peak("m = sum(i: x[i]) / len(x, 0)\nd[i] = x[i] - m\nv = sum(i: d[i]*d[i]) / len(x, 0)", vector, 0);
    check_peak("m[i] = max(k: x[i,k])\ne[i,j] = exp(x[i,j] - m[i])\ns[i] = sum(k: e[i,k])\ny[i,j] = e[i,j] / s[i]",
               matrix, large);
    check_peak("m[i] = sum(k: x[i,k]) / len(x, 1)\nd[i,j] = x[i,j] - m[i]\nv[i] = sum(k: d[i,k]*d[i,k]) / len(x, 1)\n"
               "y[i,j] = d[i,j] / sqrt(v[i] + 1e-5)",
               matrix, large);
    /* an array of 6,000 by 6,000 would be 274 MiB */
    check_peak("w[i,j] = m[j] / ((x[j] - x[i])**2 + 0.01)**1.5\na[i] = sum(j: w[i,j] * (x[j] - x[i]))", bodies, MEBI);
    check_peak("p[i,j] = x[i] * m[j]\ns = sum(i,j: p[i,j] * p[i,j])\nr[i] = max(j: p[i,j])", bodies, MEBI);
    /* partial assignments are made in place */
    check_peak("y[i] = x[i] * 2\ny[i] = y[i] + 1 where i in 0..1000\ny[0] = 0\ny[i] = sqrt(y[i]) where i in 5..100",
               vector, large);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_get_storage),
        cmocka_unit_test(old_values_are_read),
        cmocka_unit_test(plans_are_reused),
        cmocka_unit_test(plans_from_data_are_not_reused),
        cmocka_unit_test(plans_from_extents_and_numbers_are_reused),
        cmocka_unit_test(steady_calls_allocate_nothing),
        cmocka_unit_test(the_same_bindings_stay),
        cmocka_unit_test(new_bindings_are_used),
        cmocka_unit_test(fused_programs_stay_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
