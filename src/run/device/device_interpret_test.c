/* Statements that the interpreter runs while their code is being compiled, on sim: when it runs them, that the results
 * equal the CPU's byte for byte, and which statements are left to compiled kernels. */
#include "base/store_testing.h"
#include "base/text.h"
#include "run/call.h"
#include "run/compiled_code.h"
#include <string.h>
#include <time.h>

enum { N = 1100, ROWS = 30, COLUMNS = 300 };

struct setting {
    struct scratch scratch;
    leat_context *ctx, *cpu;
};
/* The code cache of tests that do not ask what is compiled: compiling an interpreter takes seconds. */
static struct scratch shared;

static void must(leat_status status) {
    if (status)
        fail_msg("%s", leat_error_text(NULL));
}

static void open_sim(struct setting *setting, leat_interpret interpret) {
    const leat_options options = {.device = "sim", .threads = 1, .keep_code = true, .interpret = interpret};
    must(leat_open(&options, &setting->ctx));
}

static void open_both(struct setting *setting, const char *cache, leat_interpret interpret) {
    const leat_options options = {.device = "cpu", .threads = 1};
    setenv("LEAT_CACHE_DIR", cache, 1);
    must(leat_open(&options, &setting->cpu));
    open_sim(setting, interpret);
}

static void begin(struct setting *setting, leat_interpret interpret) {
    scratch_make(&setting->scratch);
    open_both(setting, setting->scratch.folder, interpret);
}

static void close_both(struct setting *setting) {
    leat_close(setting->ctx);
    leat_close(setting->cpu);
}

static void end(struct setting *setting) {
    close_both(setting);
    scratch_remove(&setting->scratch);
}

static uint64_t count_costs(leat_context *ctx, leat_cost_kind kind, const char *what) {
    uint64_t count = 0;
    leat_cost cost;
    for (size_t k = 0; le_ledger_at(ctx->ledger, k, &cost); k++)
        if (cost.kind == kind && (!what || strstr(cost.what, what)))
            count += cost.count;
    return count;
}
static uint64_t interpreted(const struct setting *setting) {
    return count_costs(setting->ctx, LEAT_COST_INTERPRET, NULL);
}
/* Counts compilations of statements, not those of programs or interpreters. */
static uint64_t compiled(const struct setting *setting) {
    return count_costs(setting->ctx, LEAT_COST_COMPILE, "; ");
}

/* ---- programs over x[N], m[ROWS,COLUMNS] and the scalar `scale`; each computes y */

static leat_array *new_numbers(leat_context *ctx, int rank, const int64_t *shape) {
    leat_array *array;
    float numbers[ROWS * COLUMNS];
    size_t count = 1;
    for (int d = 0; d < rank; d++)
        count *= (size_t)shape[d];
    for (size_t k = 0; k < count; k++)
        numbers[k] = (float)((k * 7919) % 1009) / 64 - 7;
    must(leat_array_new_empty(ctx, LEAT_F32, rank, shape, LEAT_MEMORY_DEVICE, &array));
    must(leat_array_write(array, numbers, count * sizeof *numbers, NULL, NULL));
    return array;
}

struct prepared {
    leat_program *program;
    leat_call *call;
    leat_array *x, *m;
};

static void prepare(leat_context *ctx, const char *text, struct prepared *p) {
    must(leat_program_new(ctx, text, strlen(text), NULL, &p->program));
    must(leat_call_new(p->program, &p->call));
    p->x = new_numbers(ctx, 1, (const int64_t[]){N});
    p->m = new_numbers(ctx, 2, (const int64_t[]){ROWS, COLUMNS});
    if (strstr(text, "x["))
        must(leat_call_set_array(p->call, "x", p->x));
    if (strstr(text, "m["))
        must(leat_call_set_array(p->call, "m", p->m));
    if (strstr(text, "scale"))
        must(leat_call_set_f64(p->call, "scale", 0.3));
}

static void discard(struct prepared *p) {
    leat_call_free(p->call);
    leat_program_free(p->program);
    leat_array_free(p->x);
    leat_array_free(p->m);
}

/* Runs the call and copies y's bytes. */
static size_t run_once(struct prepared *p, char bytes[ROWS * COLUMNS * 8]) {
    leat_array *y;
    leat_description d;
    must(leat_call_run(p->call, NULL, NULL));
    must(leat_call_result(p->call, "y", &y));
    must(leat_array_get(y, &d));
    size_t size_bytes = leat_dtype_size_bytes(d.dtype);
    for (int k = 0; k < d.rank; k++)
        size_bytes *= (size_t)d.shape[k];
    must(leat_array_read(y, bytes, size_bytes, NULL, NULL));
    leat_array_free(y);
    return size_bytes;
}

static void expect_same(const struct setting *setting, struct prepared *there, const char *text) {
    static char here[ROWS * COLUMNS * 8], found[ROWS * COLUMNS * 8];
    struct prepared p;
    prepare(setting->cpu, text, &p);
    size_t size_bytes = run_once(&p, here);
    assert_int_equal(run_once(there, found), size_bytes);
    if (memcmp(here, found, size_bytes) != 0)
        fail_msg("not the CPU's bytes: %s", text);
    discard(&p);
}

/* Runs the program with the interpreter only, which must run `statements` of its statements. */
static void check_interpreted(const char *text, uint64_t statements) {
    struct setting setting;
    struct prepared p;
    open_both(&setting, shared.folder, LEAT_INTERPRET_ONLY);
    prepare(setting.ctx, text, &p);
    for (uint64_t turn = 1; turn <= 2; turn++) {
        expect_same(&setting, &p, text);
        if (interpreted(&setting) != statements * turn)
            fail_msg("%s: %d interpreted", text, (int)interpreted(&setting));
    }
    discard(&p);
    close_both(&setting);
}

static void test_programs(void **state) {
    (void)state;
    check_interpreted("y[i] = x[i] * 2 + 1", 1);
    check_interpreted("y[i] = (x[i-1] + x[i+1]) * scale else 0", 1);
    check_interpreted("s = sum(i: x[i])\ny[i] = x[i] / s", 2);
    check_interpreted("s = max(i,j: m[i,j])\ny[i,j] = (m[i,j] - s) * scale", 2);
    check_interpreted("y[i,j] = m[i,j] / sum(k: abs(m[i,k]))", 1);
    check_interpreted("y[j] = sum(i: m[i,j])", 1);
    check_interpreted("y[i] = x[len(x,0)-1-i] > 0 ? x[i] : -1", 1);
    check_interpreted("out y: f32[len(x,0)]\ny[i] = x[i]\ny[2*i] = 0 where i in 0..10", 2);
    check_interpreted("var y = 0.0\nfor t in 0..3 { y = y + sum(i: x[i] * (y + 1)) }", 3);
    check_interpreted("def f(a) { n = 0; while a < 100 { a = a * 2 + 3; n += 1; if n > 9 { return n } }; return n }\n"
                      "y[i] = f(abs(x[i]))",
                      1);
}

/* Planning runs v's statement, because y's subscript depends on it. The interpreter's code for it needs w, which a loop
 * sets. */
static void test_while_planning(void **state) {
    (void)state;
    check_interpreted("w = i64(0)\nwhile w < 2 { w += 1 }\nv[j] = x[j+w] where j in 0..7\n"
                      "y[q] = x[max(0, min(i64(v[0]), 3)) + q] where q in 0..7",
                      1);
}

/* Statements that may fail at run time, and those with an order, are not interpreted. */
static void test_not_interpreted(void **state) {
    (void)state;
    check_interpreted("y[i] = x[i64(x[i] + 7)] + x[i]", 0);
    check_interpreted("y[i] = i64(x[i]) // i64(x[0] + 8)", 0);
    check_interpreted("y[i] = sum(k in 0..i+1: x[k])", 0);
    check_interpreted("out y: f32[4]\ny[i % 4] += x[i]", 0);
}

/* Nested loops, up to the interpreter's limit and one beyond it; the lanes' loop counts. */
static void test_depth(void **state) {
    (void)state;
    for (int depth = 22; depth <= 23; depth++) {
        struct le_text text = {0};
        le_text_add(&text, "def f(a) { z = a");
        for (int k = 0; k < depth; k++)
            le_text_add(&text, "; w%d = 0; while w%d < %d { w%d += 1", k, k, k < 20 ? 1 : 2, k);
        le_text_add(&text, "; z = z + 1");
        for (int k = 0; k < depth; k++)
            le_text_add(&text, " }");
        le_text_add(&text, "; return z }\ny[i] = f(x[i])");
        check_interpreted(text.at, depth == 22);
        le_text_finish(&text);
    }
}

/* ---- until the code is compiled */

static void run_until_compiled(const struct setting *setting, struct prepared *p, const char *text) {
    const struct timespec moment = {.tv_nsec = 20000000};
    uint64_t before;
    do {
        before = interpreted(setting);
        nanosleep(&moment, NULL);
        expect_same(setting, p, text);
    } while (interpreted(setting) > before);
}

static void test_until_compiled(void **state) {
    (void)state;
    static const char text[] = "e[i,j] = m[i,j] - max(k: m[i,k])\ny[i,j] = e[i,j] / sum(k: e[i,k] * scale)";
    struct setting setting;
    struct prepared p;
    begin(&setting, LEAT_INTERPRET_ALWAYS);
    prepare(setting.ctx, text, &p);
    expect_same(&setting, &p, text);
    assert_int_equal(interpreted(&setting), 1);
    run_until_compiled(&setting, &p, text);
    assert_int_equal(compiled(&setting), 1);
    discard(&p);
    leat_close(setting.ctx);
    open_sim(&setting, LEAT_INTERPRET_ALWAYS); /* what is on disk is taken at once */
    prepare(setting.ctx, text, &p);
    expect_same(&setting, &p, text);
    assert_int_equal(interpreted(&setting), 0);
    assert_int_equal(compiled(&setting), 0);
    discard(&p);
    end(&setting);
}

/* A context requests the interpreter once it is old enough and has waited twice. Until the interpreter is compiled, the
 * context keeps waiting for its own code. */
static void test_ready(void **state) {
    (void)state;
    static const char *const texts[] = {"y[i] = x[i] + 1", "y[i] = x[i] + x[i]*2", "y[i] = x[i] * x[i]",
                                        "y[i] = x[i] * x[i] * x[i]"};
    const struct timespec moment = {.tv_nsec = 20000000};
    struct setting setting;
    struct prepared p;
    begin(&setting, LEAT_INTERPRET_READY);
    for (int k = 0; k < 3; k++) {
        if (k == 2) {
            assert_int_equal(count_costs(setting.ctx, LEAT_COST_READ, "code cache"),
                             4); /* the interpreter was looked up */
            setting.ctx->opened_ns -= 5000000000u;
        }
        prepare(setting.ctx, texts[k], &p);
        expect_same(&setting, &p, texts[k]);
        assert_int_equal(interpreted(&setting), 0);
        assert_int_equal(compiled(&setting), k + 1);
        discard(&p);
    }
    while (count_costs(setting.ctx, LEAT_COST_MODULE, "the interpreter for f32") == 0)
        nanosleep(&moment, NULL);
    prepare(setting.ctx, texts[3], &p);
    expect_same(&setting, &p, texts[3]);
    assert_int_equal(interpreted(&setting), 1);
    discard(&p);
    end(&setting);
}

static void test_options(void **state) {
    (void)state;
    struct setting setting;
    leat_context *ctx = NULL;
    begin(&setting, LEAT_INTERPRET_DEFAULT);
    assert_int_equal(setting.ctx->interpret, LEAT_INTERPRET_READY); /* because code is stored */
    leat_close(setting.ctx);
    setenv("LEAT_INTERPRET", "only", 1);
    open_sim(&setting, LEAT_INTERPRET_DEFAULT);
    assert_int_equal(setting.ctx->interpret, LEAT_INTERPRET_ONLY);
    leat_close(setting.ctx);
    open_sim(&setting, LEAT_INTERPRET_NEVER);
    assert_int_equal(setting.ctx->interpret, LEAT_INTERPRET_NEVER);
    setenv("LEAT_INTERPRET", "sometimes", 1);
    assert_int_equal(leat_open(&(leat_options){.device = "sim"}, &ctx), LEAT_INVALID);
    assert_non_null(strstr(leat_error_text(NULL), "sometimes"));
    unsetenv("LEAT_INTERPRET");
    assert_int_equal(leat_open(&(leat_options){.device = "sim", .interpret = (leat_interpret)9}, &ctx), LEAT_INVALID);
    end(&setting);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_programs),        cmocka_unit_test(test_while_planning),
                                       cmocka_unit_test(test_not_interpreted), cmocka_unit_test(test_depth),
                                       cmocka_unit_test(test_until_compiled),  cmocka_unit_test(test_ready),
                                       cmocka_unit_test(test_options)};
    scratch_make(&shared);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_remove(&shared);
    return failed;
}
