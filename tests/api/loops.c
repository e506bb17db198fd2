/* Programs with loops and branches in the C interface: which arrays share memory, what a call keeps between runs, and
 * that a loop does not allocate. */
#include "support.h"

static struct { long requests, live_bytes; } memory; /* no other thread allocates in these programs */

#define HEADER_BYTES ((size_t)64)

static void *allocate(size_t size_bytes, void *user) {
    (void)user;
    char *block = aligned_alloc(64, (size_bytes + 2 * HEADER_BYTES - 1) / 64 * 64);
    if (!block)
        return NULL;
    memcpy(block, &size_bytes, sizeof size_bytes);
    memory.requests++;
    memory.live_bytes += (long)size_bytes;
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
    memory.live_bytes -= (long)size_of(block);
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

static leat_context *counting_context(void) {
    const leat_options options = {
        .threads = 1, .allocate = allocate, .reallocate = reallocate, .release = release, .ledger_level = 1};
    leat_context *ctx = NULL;
    assert_ok(leat_open(&options, &ctx));
    return ctx;
}

static leat_array *result_of(leat_call *call, const char *name) {
    leat_array *array = NULL;
    assert_ok(leat_call_result(call, name, &array));
    return array;
}

static void set(leat_array *array, size_t count, double value) {
    double values[16];
    assert_true(count <= ARRAY_LEN(values));
    for (size_t k = 0; k < count; k++)
        values[k] = value;
    assert_ok(leat_array_write(array, values, count * sizeof *values, NULL, NULL));
}

/* ---- shared memory */

static void test_results_are_apart(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_program *program = program_of(ctx, "in u, v\nout u, v, w\nw[i] = u[i] + 0 * n\nfor t in 0..n { v[i] = u[i] }");
    leat_call *call = call_of(program);
    leat_array *u = vector_f64(ctx, 3, LIST(1, 2, 3)), *v = vector_f64(ctx, 3, LIST(4, 5, 6));
    assert_ok(leat_call_set_array(call, "u", u));
    assert_ok(leat_call_set_array(call, "v", v));
    for (int64_t n = 0; n < 3; n++) {
        assert_ok(leat_call_set_i64(call, "n", n));
        assert_ok(leat_call_run(call, NULL, NULL));
        leat_array *results[] = {result_of(call, "u"), result_of(call, "v"), result_of(call, "w")};
        assert_f64(results[0], 3, LIST(1, 2, 3));
        assert_f64(results[1], 3, n ? LIST(1, 2, 3) : LIST(4, 5, 6));
        for (size_t k = 0; k < ARRAY_LEN(results); k++)
            set(results[k], 3, 70 + (double)k);
        for (size_t k = 0; k < ARRAY_LEN(results); k++) {
            const double value = 70 + (double)k;
            assert_f64(results[k], 3, LIST(value, value, value));
            leat_array_free(results[k]);
        }
        assert_f64(u, 3, LIST(1, 2, 3));
        assert_f64(v, 3, LIST(4, 5, 6));
    }
    leat_array_free(v);
    leat_array_free(u);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
}

/* A number that a subscript needs is computed anew when the input in it changes, also after a run that failed. */
static void test_number_changes_after_a_failure(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_program *program =
        program_of(ctx, "in c, x, p\nt = 0\nwhile t < 1 {\n s = x[i64(p[c])]\n x[0] = s\n t = 1\n}");
    leat_call *call = call_of(program);
    leat_array *x = vector_f64(ctx, 3, LIST(1, 2, 3)), *p = vector_f64(ctx, 3, LIST(7, 2, 1));
    assert_ok(leat_call_set_array(call, "x", x));
    assert_ok(leat_call_set_array(call, "p", p));
    for (int64_t c = 0; c < 3; c++) {
        assert_ok(leat_call_set_i64(call, "c", c));
        assert_int_equal(leat_call_run(call, NULL, NULL) == LEAT_OK, c > 0);
        if (c == 0)
            continue;
        leat_array *result = result_of(call, "x");
        assert_f64(result, 3, c == 1 ? LIST(3, 2, 3) : LIST(2, 2, 3));
        leat_array_free(result);
    }
    leat_array_free(p);
    leat_array_free(x);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
}

static void test_swap_of_the_callers(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_program *program =
        program_of(ctx, "in a, b\nout a, b\nfor t in 0..n { c[i] = a[i]; a[i] = b[i]; b[i] = c[i] }");
    leat_call *call = call_of(program);
    leat_array *a = vector_f64(ctx, 2, LIST(1, 2)), *b = vector_f64(ctx, 2, LIST(3, 4));
    assert_ok(leat_call_set_array(call, "a", a));
    assert_ok(leat_call_set_array(call, "b", b));
    assert_ok(leat_call_want(call, "a", a)); /* first each into its own array, then exchanged */
    assert_ok(leat_call_want(call, "b", b));
    assert_ok(leat_call_set_i64(call, "n", 3));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_f64(a, 2, LIST(3, 4));
    assert_f64(b, 2, LIST(1, 2));
    assert_ok(leat_call_want(call, "a", b));
    assert_ok(leat_call_want(call, "b", a));
    for (int64_t n = 0; n < 3; n++) {
        set(a, 2, 1);
        set(b, 2, 2);
        assert_ok(leat_call_set_i64(call, "n", n));
        assert_ok(leat_call_run(call, NULL, NULL));
        assert_f64(b, 2, n % 2 ? LIST(2, 2) : LIST(1, 1));
        assert_f64(a, 2, n % 2 ? LIST(1, 1) : LIST(2, 2));
    }
    leat_array_free(b);
    leat_array_free(a);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
}

static void test_shared_is_copied_when_written(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_program *program = program_of(ctx, "u[i] = x[i] + 1\nv[i] = x[i] + 2\n"
                                            "for t in 0..3 { v[i] = u[i]; u[0] = 7 + t; u[1] += v[1] }");
    leat_call *call = call_of(program);
    leat_array *x = vector_f64(ctx, 3, LIST(1, 2, 3)), *u = vector_f64(ctx, 3, LIST(0, 0, 0));
    assert_ok(leat_call_set_array(call, "x", x));
    assert_ok(leat_call_want(call, "u", u));
    assert_ok(leat_call_want(call, "v", NULL));
    for (int k = 0; k < 2; k++) {
        assert_ok(leat_call_run(call, NULL, NULL));
        assert_f64(u, 3, LIST(9, 24, 4));
        assert_result_f64(call, "v", 3, LIST(8, 12, 4));
        assert_f64(x, 3, LIST(1, 2, 3));
    }
    leat_array_free(u);
    leat_array_free(x);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
}

/* Strided arrays, and bools with bytes other than 0 and 1, in a loop. */
static void test_inputs_of_all_kinds(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_program *program = program_of(
        ctx, "in u, b\nout u, b, s, r\nfor t in 0..n { v[i] = u[i]; u[i] = v[i]; c[i] = b[i]; b[i] = c[i] }\n"
             "s = sum(i: i64(b[i]))\nr = sum(i: u[i] * (i + 1))");
    leat_call *call = call_of(program);
    leat_array *whole = vector_f64(ctx, 6, LIST(1, 2, 3, 4, 5, 6)), *u = NULL, *b = NULL;
    unsigned char bytes[] = {2, 0, 255};
    const leat_description description = {.dtype = LEAT_BOOL, .rank = 1, .shape = {3}, .strides = {1}, .data = bytes};
    assert_ok(leat_array_slice(whole, SHAPE(5), SHAPE(-1), SHAPE(-2), &u));
    assert_ok(leat_array_wrap(ctx, &description, NULL, NULL, &b));
    assert_ok(leat_call_set_array(call, "u", u));
    assert_ok(leat_call_set_array(call, "b", b));
    for (int64_t n = 0; n < 3; n++) {
        int64_t s = 0;
        unsigned char clean[3];
        assert_ok(leat_call_set_i64(call, "n", n));
        assert_ok(leat_call_run(call, NULL, NULL));
        assert_result_f64(call, "u", 3, LIST(6, 4, 2));
        assert_result_f64(call, "r", 1, LIST(20));
        leat_array *sum = result_of(call, "s"), *bools = result_of(call, "b");
        assert_ok(leat_array_read(sum, &s, sizeof s, NULL, NULL));
        assert_ok(leat_array_read(bools, clean, sizeof clean, NULL, NULL));
        assert_int_equal(s, 2);
        assert_true(!n || (clean[0] == 1 && clean[1] == 0 && clean[2] == 1));
        leat_array_free(bools);
        leat_array_free(sum);
    }
    leat_array_free(b);
    leat_array_free(u);
    leat_array_free(whole);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
}

/* ---- from one run to the next */

static void test_other_shapes_and_steps(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_program *program = program_of(ctx, "out u\nu[i] = x[i]\nfor t in 0..n { u[i] = u[i] + u[i-1] else u[i] }\n"
                                            "if sum(i: u[i]) > 10 { u[0] = -1 }");
    leat_call *call = call_of(program);
    leat_array *three = vector_f64(ctx, 3, LIST(1, 1, 1)), *two = vector_f64(ctx, 2, LIST(1, 2)), *kept = NULL;
    assert_ok(leat_call_set_array(call, "x", three));
    assert_ok(leat_call_set_i64(call, "n", 1));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_ok(leat_call_result(call, "u", &kept));
    assert_f64(kept, 3, LIST(1, 2, 2));
    assert_ok(leat_call_set_i64(call, "n", 3));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_result_f64(call, "u", 3, LIST(-1, 4, 7));
    assert_ok(leat_call_set_array(call, "x", two));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_result_f64(call, "u", 2, LIST(1, 5));
    assert_ok(leat_call_set_i64(call, "n", 0));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_result_f64(call, "u", 2, LIST(1, 2));
    assert_ok(leat_call_set_array(call, "x", three));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_result_f64(call, "u", 3, LIST(1, 1, 1));
    assert_f64(kept, 3, LIST(1, 2, 2));
    leat_array_free(kept);
    leat_array_free(two);
    leat_array_free(three);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
}

static void test_errors_in_loops(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_program *program = program_of(ctx, "out y: f64[4]\nfor t in 0..n { y[i64(x[t])] += 1 }");
    leat_call *call = call_of(program);
    leat_array *good = vector_f64(ctx, 3, LIST(1, 2, 1)), *bad = vector_f64(ctx, 3, LIST(1, 9, 1));
    for (int k = 0; k < 3; k++) {
        assert_ok(leat_call_set_i64(call, "n", 3));
        assert_ok(leat_call_set_array(call, "x", bad));
        assert_status(leat_call_run(call, NULL, NULL), LEAT_DATA);
        assert_non_null(strstr(leat_error_text(ctx), "write to y axis 0 (length 4): subscript is 9"));
        assert_ok(leat_call_set_array(call, "x", good));
        assert_ok(leat_call_set_i64(call, "n", 4));
        assert_status(leat_call_run(call, NULL, NULL), LEAT_MISMATCH); /* before the first iteration */
        assert_non_null(strstr(leat_error_text(ctx), "subscript goes from 0 to 3"));
        assert_ok(leat_call_set_i64(call, "n", 3));
        assert_ok(leat_call_run(call, NULL, NULL));
        assert_result_f64(call, "y", 4, LIST(0, 2, 1, 0));
    }
    leat_array_free(bad);
    leat_array_free(good);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
}

static void test_shown_plans(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_program *program = program_of(ctx, "out u\nu[i] = x[i]\nfor t in 0..4 { w[i] = u[i] / 2; u[i] = w[i] }\n"
                                            "if sum(i: u[i]) > 100 { u[i] = x[i+7] where i in 0..3 }");
    leat_call *call = call_of(program);
    leat_array *x = vector_f64(ctx, 3, LIST(1, 2, 3));
    char *plan = NULL, *code = NULL;
    assert_ok(leat_call_set_array(call, "x", x));
    assert_ok(leat_call_show(call, LEAT_FORM_PLAN, &plan));
    assert_non_null(strstr(plan, "t in 0..4"));
    assert_non_null(strstr(plan, "w"));
    assert_non_null(strstr(plan, "not reached"));
    assert_ok(leat_call_show(call, LEAT_FORM_BYTECODE, &code));
    assert_non_null(strstr(code, "u[i] = w[i]"));
    leat_memory_free(code);
    leat_memory_free(plan);
    leat_array_free(x);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
}

/* ---- memory */

static void test_steps_do_not_allocate(void **state) {
    static const char *const texts[] = {
        "out u\nu[i] = x[i]\nfor t in 0..n { u[i] = u[i] * 2 }",
        "out u\nu[i] = x[i]\nfor t in 0..n { u[i] = u[i] + u[i-1] else u[i] }",
        "out u\nu[i] = x[i]\nvar e = inf\nfor t in 0..n { w[i] = u[i] / 2; e = max(i: abs(w[i] - u[i])); u[i] = w[i] }",
        "out s\nk = 0\ns = 0.0\nwhile k < n { s = s + x[k % 3]; if s > 3 { s = 0 }; k += 1 }",
        "out s\ns = 0.0\nfor t in 0..n { z[c] = x[c] + t; s += z[1] * sum(c: z[c]) }",
    };
    (void)state;
    leat_context *ctx = counting_context();
    leat_array *x = vector_f64(ctx, 3, LIST(1, 2, 3));
    for (size_t k = 0; k < ARRAY_LEN(texts); k++) {
        leat_program *program = program_of(ctx, texts[k]);
        leat_call *call = call_of(program);
        long requests[2];
        assert_ok(leat_call_set_array(call, "x", x));
        for (int run = 0; run < 4; run++) {
            assert_ok(leat_call_set_i64(call, "n", run % 2 ? 500 : 5));
            const long before = memory.requests;
            assert_ok(leat_call_run(call, NULL, NULL));
            requests[run % 2] = memory.requests - before;
        }
        assert_int_equal(requests[0], requests[1]);
        leat_call_free(call);
        leat_program_free(program);
    }
    leat_array_free(x);
    leat_close(ctx);
    assert_int_equal(memory.live_bytes, 0);
}

/* Repeated planning in a loop reuses the same memory. */
static void test_plans_do_not_grow(void **state) {
    (void)state;
    leat_context *ctx = counting_context();
    leat_program *program = program_of(ctx, "s = 0.0\nm = 1\nfor t in 0..n { m = (m * 5 + 3) % 7\n"
                                            "z[c] = x[c] * t where c in 0..t%3+1; s += sum(c: z[c])\n"
                                            "q[c] = x[c%3] where c in 0..m; s += sum(c: q[c]*q[c]) }");
    leat_call *call = call_of(program);
    leat_array *x = vector_f64(ctx, 3, LIST(1, 2, 3));
    long live[2];
    assert_ok(leat_call_set_array(call, "x", x));
    for (int run = 0; run < 4; run++) {
        assert_ok(leat_call_set_i64(call, "n", run % 2 ? 400 : 40));
        assert_ok(leat_call_run(call, NULL, NULL));
        live[run % 2] = memory.live_bytes;
    }
    assert_true(live[1] - live[0] < 65536 && live[0] - live[1] < 65536);
    leat_array_free(x);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
    assert_int_equal(memory.live_bytes, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results_are_apart),
        cmocka_unit_test(test_swap_of_the_callers),
        cmocka_unit_test(test_inputs_of_all_kinds),
        cmocka_unit_test(test_shared_is_copied_when_written),
        cmocka_unit_test(test_other_shapes_and_steps),
        cmocka_unit_test(test_errors_in_loops),
        cmocka_unit_test(test_number_changes_after_a_failure),
        cmocka_unit_test(test_shown_plans),
        cmocka_unit_test(test_steps_do_not_allocate),
        cmocka_unit_test(test_plans_do_not_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
