/* Inputs and results by number, and memory of the caller's that is bound without an array: in the device's memory and
 * in the host's, in place, strided, complex, and exchanged between runs. */
#include "support.h"
#include <sys/mman.h>

enum { N = 40, RUNS = 6 };

static leat_call *new_call(leat_context *ctx, const char *text) {
    leat_program *program;
    leat_call *call;
    assert_ok(leat_program_new(ctx, text, 0, NULL, &program));
    assert_ok(leat_call_new(program, &call));
    leat_program_free(program);
    return call;
}

/* Memory of the caller's: in the device's memory it belongs to an array that the call does not know. */
struct memory {
    leat_context *ctx;
    leat_array *array; /* NULL: host memory */
    float host[N];
    leat_description description;
};

static void make_memory(struct memory *m, leat_context *ctx, bool on_device, float first) {
    const int64_t count = N;
    *m = (struct memory){
        .ctx = ctx,
        .description = {
            .dtype = LEAT_F32, .rank = 1, .shape = {N}, .strides = {1}, .data = m->host, .memory = LEAT_MEMORY_HOST}};
    for (int k = 0; k < N; k++)
        m->host[k] = first + (float)k;
    if (!on_device)
        return;
    assert_ok(leat_array_new(ctx, LEAT_F32, 1, &count, LEAT_MEMORY_DEVICE, &m->array));
    assert_ok(leat_array_write(m->array, m->host, sizeof m->host, NULL, NULL));
    assert_ok(leat_array_get(m->array, &m->description));
}

/* Waits for the work in the default stream, and returns the element. */
static float element(const struct memory *m, int k) {
    float values[N];
    assert_ok(leat_context_synchronize(m->ctx));
    if (!m->array)
        return m->host[k];
    assert_ok(leat_array_read(m->array, values, sizeof values, NULL, NULL));
    return values[k];
}

static void assert_elements(const struct memory *m, float first, float step) {
    for (int k = 0; k < N; k++)
        if (element(m, k) != first + step * (float)k)
            fail_msg("%s: element %d is %g, not %g", m->array ? "device" : "host", k, (double)element(m, k),
                     (double)(first + step * (float)k));
}

/* ---- by number */

static double number_of(leat_call *call, size_t k) {
    leat_array *array;
    double value;
    assert_ok(leat_call_result_at(call, k, &array));
    assert_ok(leat_array_read(array, &value, sizeof value, NULL, NULL));
    leat_array_free(array);
    return value;
}

static void test_numbers(void **state) {
    (void)state;
    leat_context *ctx = open_device(NULL);
    leat_call *call =
        new_call(ctx, "in a, b, c, d, x\ny = a + 10 * b + 100 * c + 1000 * d + sum(i: x[i])\nz = -f64(y)\nout y, z");
    leat_call *complex = new_call(ctx, "y = re(v) + 2 * im(v)");
    leat_array *x, *array = NULL, *wanted;
    double minus = 0;
    assert_ok(leat_array_new(ctx, LEAT_F64, 1, SHAPE(3), LEAT_MEMORY_DEVICE, &x));
    assert_ok(leat_array_write(x, (const double[]){0.25, 0.25, 0.25}, 24, NULL, NULL));
    assert_ok(leat_array_new(ctx, LEAT_F64, 0, NULL, LEAT_MEMORY_DEVICE, &wanted));
    for (int run = 0; run < 3; run++) { /* the same values again, and others */
        assert_ok(leat_call_set_f64_at(call, 0, 0.5 + run / 2));
        assert_ok(leat_call_set_i64_at(call, 1, 2));
        assert_ok(leat_call_set_u64_at(call, 2, 3));
        assert_ok(leat_call_set_bool_at(call, 3, true));
        assert_ok(leat_call_set_array_at(call, 4, x));
        assert_ok(leat_call_want_at(call, 0, NULL));
        assert_ok(leat_call_want_at(call, 1, wanted));
        assert_ok(leat_call_run(call, NULL, NULL));
        assert_true(number_of(call, 0) == 1321.25 + run / 2);
        assert_ok(leat_array_read(wanted, &minus, sizeof minus, NULL, NULL));
        assert_true(minus == -1321.25 - run / 2 && number_of(call, 1) == minus);
    }
    assert_ok(leat_call_set_c128_at(complex, 0, 1.5, 4));
    assert_ok(leat_call_run(complex, NULL, NULL));
    assert_true(number_of(complex, 0) == 9.5);
    assert_ok(leat_call_set_array_at(call, 4, NULL));
    assert_status(leat_call_run(call, NULL, NULL), LEAT_MISSING);
    assert_status(leat_call_set_f64_at(call, 5, 1), LEAT_INVALID);
    assert_message("k is 5, and there are 5 inputs");
    assert_status(leat_call_set_array_at(call, 5, x), LEAT_INVALID);
    assert_status(leat_call_set_memory_at(call, 0, NULL), LEAT_INVALID);
    assert_status(leat_call_want_at(call, 2, NULL), LEAT_INVALID);
    assert_message("k is 2, and there are 2 results");
    assert_status(leat_call_result_at(call, 2, &array), LEAT_INVALID);
    leat_array_free(x);
    leat_array_free(wanted);
    leat_call_free(complex);
    leat_call_free(call);
    leat_close(ctx);
}

/* ---- memory */

static size_t plans_of(leat_context *ctx) {
    size_t count = 0, plans = 0;
    leat_cost cost;
    assert_ok(leat_ledger_count(ctx, &count));
    for (size_t k = 0; k < count; k++)
        if (leat_ledger_get(ctx, k, &cost) == LEAT_OK && cost.kind == LEAT_COST_PLAN && !strstr(cost.cause, "graph"))
            plans += cost.count;
    return plans;
}

/* The same descriptions again, and others of the same shape: one plan serves all. */
static void check_exchanged(bool on_device) {
    leat_context *ctx = open_device(NULL);
    leat_call *call = new_call(ctx, "y[i] = a[i] * s + b[i]");
    struct memory *a = calloc(2, sizeof *a), *b = calloc(2, sizeof *b), *y = calloc(2, sizeof *y);
    leat_array *array = NULL;
    assert_true(a && b && y);
    for (int k = 0; k < 2; k++) {
        make_memory(&a[k], ctx, on_device, 1);
        make_memory(&b[k], ctx, on_device, 100 * (float)(k + 1));
        make_memory(&y[k], ctx, on_device, 0);
    }
    assert_ok(leat_call_set_f64_at(call, 1, 2)); /* a, s, b: in order of appearance */
    for (int run = 0; run < 4 * RUNS; run++) {
        int which = run < RUNS ? 0 : run < 2 * RUNS ? run % 2 : run / 3 % 2;
        assert_ok(leat_call_set_memory_at(call, 0, &a[which].description));
        assert_ok(leat_call_set_memory_at(call, 2, &b[which].description));
        assert_ok(leat_call_want_memory_at(call, 0, &y[(run / 2) % 2].description));
        assert_ok(leat_call_run(call, NULL, NULL));
        assert_elements(&y[(run / 2) % 2], 2 + 100 * (float)(which + 1), 3);
    }
    assert_int_equal(plans_of(ctx), 1);
    assert_status(leat_call_result_at(call, 0, &array), LEAT_INVALID);
    assert_message("'y' is in memory of the caller's");
    assert_ok(leat_call_want_at(call, 0, NULL)); /* arrays again */
    assert_ok(leat_call_set_memory_at(call, 0, &a[1].description));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_ok(leat_call_result_at(call, 0, &array));
    leat_call_free(call);
    for (int k = 0; k < 2; k++) {
        leat_array_free(a[k].array);
        leat_array_free(b[k].array);
        leat_array_free(y[k].array);
    }
    leat_array_free(array);
    free(a);
    free(b);
    free(y);
    leat_close(ctx);
}

static void test_exchanged(void **state) {
    (void)state;
    check_exchanged(true);
    check_exchanged(false);
}

/* An input's memory is also the result's, or overlaps it; a result that is an input becomes a copy. */
static void check_in_place(bool on_device) {
    leat_context *ctx = open_device(NULL);
    leat_call *same = new_call(ctx, "y[i] = x[i] + 1"),
              *turned = new_call(ctx, "n = len(x, 0)\ny[i] = x[n-1-i]\nout y"),
              *identity = new_call(ctx, "in x[i]\nout x");
    struct memory x;
    leat_array *kept;
    float values[N];
    make_memory(&x, ctx, on_device, 5);
    for (int run = 0; run < RUNS; run++) {
        assert_ok(leat_call_set_memory_at(same, 0, &x.description));
        assert_ok(leat_call_want_memory_at(same, 0, &x.description));
        assert_ok(leat_call_run(same, NULL, NULL));
    }
    assert_elements(&x, 5 + RUNS, 1);
    assert_ok(leat_call_set_memory_at(turned, 0, &x.description));
    assert_ok(leat_call_want_memory_at(turned, 0, &x.description));
    assert_ok(leat_call_run(turned, NULL, NULL));
    assert_elements(&x, 5 + RUNS + N - 1, -1);
    assert_ok(leat_call_set_memory_at(identity, 0, &x.description));
    assert_ok(leat_call_run(identity, NULL, NULL));
    assert_ok(leat_call_result_at(identity, 0, &kept));
    assert_ok(leat_call_set_memory_at(same, 0, &x.description));
    assert_ok(leat_call_run(same, NULL, NULL));
    assert_ok(leat_array_read(kept, values, sizeof values, NULL, NULL));
    assert_true(values[0] == 5 + RUNS + N - 1 && element(&x, 0) == values[0] + 1);
    leat_array_free(kept);
    leat_call_free(same);
    leat_call_free(turned);
    leat_call_free(identity);
    leat_array_free(x.array);
    leat_close(ctx);
}

static void test_in_place(void **state) {
    (void)state;
    check_in_place(true);
    check_in_place(false);
}

/* Other types, shapes and strides in the same call; numbers; complex numbers. */
static void test_layouts(void **state) {
    (void)state;
    leat_context *ctx = open_device(NULL);
    leat_call *call = new_call(ctx, "y[i] = x[i] * k"), *complex = new_call(ctx, "in z: c64[n]\ny[i] = conj(z[i])");
    double doubles[] = {1, 2, 3, 4, 5, 6}, results[6] = {0}, factor = 10;
    float pairs[] = {1, 2, 3, 4}, conjugates[4] = {0};
    leat_description x = {.dtype = LEAT_F64, .rank = 1, .shape = {3}, .strides = {-2}, .data = doubles + 5};
    leat_description y = {.dtype = LEAT_F64, .rank = 1, .shape = {3}, .strides = {2}, .data = results};
    leat_description k = {.dtype = LEAT_F64, .data = &factor, .read_only = true, .memory = LEAT_MEMORY_HOST};
    leat_description z = {.dtype = LEAT_C64, .rank = 1, .shape = {2}, .strides = {1}, .data = pairs};
    x.memory = y.memory = z.memory = LEAT_MEMORY_HOST;
    assert_ok(leat_call_set_memory_at(call, 0, &x));
    assert_ok(leat_call_set_memory_at(call, 1, &k));
    assert_ok(leat_call_want_memory_at(call, 0, &y));
    for (int run = 0; run < 2; run++, factor++) {
        assert_ok(leat_call_run(call, NULL, NULL));
        assert_ok(leat_context_synchronize(ctx));
        assert_true(results[0] == 6 * (10 + run) && results[2] == 4 * (10 + run) && results[4] == 2 * (10 + run));
        assert_true(results[1] == 0 && results[3] == 0 && results[5] == 0);
    }
    x.dtype = y.dtype = k.dtype = LEAT_I64;
    ((int64_t *)doubles)[0] = 7;
    memcpy(&factor, &(int64_t){6}, sizeof factor);
    x = (leat_description){.dtype = LEAT_I64, .rank = 1, .shape = {1}, .data = doubles, .memory = LEAT_MEMORY_HOST};
    y.shape[0] = 1;
    assert_ok(leat_call_set_memory_at(call, 0, &x));
    assert_ok(leat_call_set_memory_at(call, 1, &k));
    assert_status(leat_call_run(call, NULL, NULL), LEAT_MISMATCH); /* the result still has f64 */
    assert_ok(leat_call_want_memory_at(call, 0, &y));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_ok(leat_context_synchronize(ctx));
    assert_int_equal(((int64_t *)results)[0], 42);
    assert_ok(leat_call_set_memory_at(complex, 0, &z));
    z.data = conjugates;
    assert_ok(leat_call_want_memory_at(complex, 0, &z));
    assert_ok(leat_call_run(complex, NULL, NULL));
    assert_ok(leat_context_synchronize(ctx));
    assert_memory_equal(conjugates, ((const float[]){1, -2, 3, -4}), sizeof conjugates);
    leat_call_free(complex);
    leat_call_free(call);
    leat_close(ctx);
}

/* ---- failures */

enum { LARGE_BYTES = 4 << 20 };

/* A page-aligned region, which nothing can access once it is closed: late work on it ends this test. */
static void close_region(void *region) {
    assert_int_equal(mprotect(region, LARGE_BYTES, PROT_NONE), 0);
}

/* A call whose input x is a region of the caller's that is uploaded after slow work in the same stream. */
struct late_upload {
    leat_context *ctx;
    leat_call *slow, *call;
    void *region;
};

static struct late_upload begin_late_upload(const leat_options *options, const char *text) {
    struct late_upload u = {.ctx = open_device(options)};
    u.slow = new_call(u.ctx, "y = sum(i in 0..n: sin(f64(i)))");
    u.call = new_call(u.ctx, text);
    u.region = mmap(NULL, LARGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const leat_description x = {.dtype = LEAT_F32,
                                .rank = 1,
                                .shape = {LARGE_BYTES / sizeof(float)},
                                .strides = {1},
                                .data = u.region,
                                .memory = LEAT_MEMORY_HOST};
    assert_true(u.region != MAP_FAILED);
    assert_ok(leat_call_set_i64_at(u.slow, 0, 1000));
    assert_ok(leat_call_run(u.slow, NULL, NULL)); /* compiles it */
    assert_ok(leat_call_set_i64_at(u.slow, 0, 3000000));
    assert_ok(leat_call_run(u.slow, NULL, NULL));
    assert_ok(leat_call_set_memory_at(u.call, 0, &x));
    return u;
}

static void end_late_upload(struct late_upload *u) {
    close_region(u->region);
    assert_ok(leat_context_synchronize(u->ctx));
    munmap(u->region, LARGE_BYTES);
    leat_call_free(u->call);
    leat_call_free(u->slow);
    leat_close(u->ctx);
}

/* The run uploads x, then finds that its result is too large. */
static void test_failure(void **state) {
    (void)state;
    const leat_options options = {.memory_cap_bytes = 64u << 20};
    struct late_upload u = begin_late_upload(&options, "y[i,j] = x[i] * j where j in 0..100");
    leat_ticket ticket = {77, 77};
    assert_status(leat_call_run(u.call, NULL, &ticket), LEAT_OUT_OF_MEMORY);
    assert_true(ticket.stream_id == 77 && ticket.number == 77);
    end_late_upload(&u);
}

/* To show a plan, inputs are bound as for a run; afterwards nothing uses their memory. */
static void test_show(void **state) {
    (void)state;
    static const leat_form forms[] = {LEAT_FORM_PLAN, LEAT_FORM_CUDA};
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
        struct late_upload u = begin_late_upload(NULL, "y[i] = x[i] * 2");
        char *text = NULL;
        if (forms[k] != LEAT_FORM_CUDA || !on_cpu())
            assert_ok(leat_call_show(u.call, forms[k], &text));
        leat_memory_free(text);
        end_late_upload(&u);
    }
}

/* A taken result belongs to the caller alone: the call has none, and its memory is free when the caller frees it. */
static void test_taken(void **state) {
    (void)state;
    leat_context *ctx = open_device(NULL);
    leat_call *call = new_call(ctx, "in a; y[i] = a + i where i in 0..100000");
    leat_array *taken = NULL, *next = NULL;
    leat_memory_use before, after;
    double *values = malloc(800000);
    assert_non_null(values);
    assert_ok(leat_call_set_f64_at(call, 0, 0.5));
    assert_status(leat_call_take_at(call, 0, &taken), LEAT_INVALID); /* it has not run */
    assert_ok(leat_memory_get(ctx, LEAT_MEMORY_DEVICE, &before));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_ok(leat_call_take_at(call, 0, &taken));
    assert_status(leat_call_take_at(call, 0, &next), LEAT_INVALID);
    assert_status(leat_call_result_at(call, 0, &next), LEAT_INVALID);
    assert_status(leat_call_take_at(call, 1, &next), LEAT_INVALID);
    assert_ok(leat_call_set_f64_at(call, 0, 7));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_ok(leat_call_take_at(call, 0, &next));
    assert_ok(leat_array_read(taken, values, 800000, NULL, NULL));
    assert_true(values[99999] == 99999.5); /* the second run did not write there */
    leat_array_free(taken);
    leat_array_free(next);
    assert_ok(leat_memory_get(ctx, LEAT_MEMORY_DEVICE, &after));
    assert_true(after.live_bytes < before.live_bytes + 800000);
    free(values);
    leat_call_free(call);
    leat_close(ctx);
}

/* ---- errors */

static void test_errors(void **state) {
    (void)state;
    leat_context *ctx = open_device(NULL);
    leat_call *call = new_call(ctx, "y[i] = x[i] + 1\nz[i] = x[i] + 2");
    float from[] = {1, 2, 3}, to[8] = {0};
    const leat_description good = {
        .dtype = LEAT_F32, .rank = 1, .shape = {3}, .strides = {1}, .data = from, .memory = LEAT_MEMORY_HOST};
    leat_description target = good, bad[6];
    target.data = to;
    for (size_t k = 0; k < ARRAY_LEN(bad); k++)
        bad[k] = good;
    bad[0].dtype = (leat_dtype)77;
    bad[1].data = (char *)from + 1;
    bad[2].data = NULL;
    bad[3].rank = LEAT_RANK_MAX + 1;
    bad[4].shape[0] = -1;
    bad[5].memory = (leat_memory)9;
    assert_ok(leat_call_set_memory_at(call, 0, &good));
    assert_ok(leat_call_want_memory_at(call, 0, &target));
    for (size_t k = 0; k < ARRAY_LEN(bad); k++) {
        assert_status(leat_call_set_memory_at(call, 0, &bad[k]), LEAT_INVALID);
        assert_status(leat_call_want_memory_at(call, 0, &bad[k]), LEAT_INVALID);
    }
    leat_description refused = target;
    refused.read_only = true;
    assert_status(leat_call_want_memory_at(call, 0, &refused), LEAT_INVALID);
    assert_message("cannot write 'y' into a read-only array");
    refused.read_only = false;
    refused.strides[0] = 0;
    assert_status(leat_call_want_memory_at(call, 0, &refused), LEAT_INVALID);
    assert_message("overlapping elements");
    refused = target;
    refused.data = to + 2;
    assert_status(leat_call_want_memory_at(call, 1, &refused), LEAT_INVALID);
    assert_message("shares memory with the array for 'y'");
    assert_ok(leat_call_run(call, NULL, NULL)); /* what was bound before the errors is still bound */
    assert_ok(leat_context_synchronize(ctx));
    assert_memory_equal(to, ((const float[]){2, 3, 4, 0}), 4 * sizeof *to);
    refused.data = to + 3;
    assert_ok(leat_call_want_memory_at(call, 1, &refused));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_ok(leat_context_synchronize(ctx));
    assert_memory_equal(to, ((const float[]){2, 3, 4, 3, 4, 5, 0}), 7 * sizeof *to);
    target.shape[0] = 2;
    assert_ok(leat_call_want_memory_at(call, 0, &target));
    assert_status(leat_call_run(call, NULL, NULL), LEAT_MISMATCH);
    leat_call_free(call);
    leat_close(ctx);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_exchanged), cmocka_unit_test(test_in_place),
        cmocka_unit_test(test_layouts), cmocka_unit_test(test_failure),   cmocka_unit_test(test_show),
        cmocka_unit_test(test_errors),  cmocka_unit_test(test_taken),
    };
    return start(argc, argv) ? cmocka_run_group_tests(tests, NULL, NULL) : SKIPPED;
}
