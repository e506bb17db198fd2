/* Programs on a device: memory of results and inputs, streams and tickets, numbers that the host needs during a run,
 * errors in the data, arguments that are refused. Uses sim, whose calls can be made to fail one at a time. Skipped
 * without a C++ compiler, which sim needs. */
#include "support.h"
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXTENT = 100, THREADS = 2, ROUNDS = 20, SKIPPED = 77 };

static char notes[4000];

static void keep_note(leat_log_level level, const char *text, void *user) {
    (void)level;
    (void)user;
    strncat(notes, text, sizeof notes - strlen(notes) - 1);
}

static leat_context *open_sim(void) {
    const leat_options options = {.device = "sim", .keep_code = true, .log = keep_note};
    leat_context *ctx = NULL;
    notes[0] = '\0';
    assert_ok(leat_open(&options, &ctx));
    return ctx;
}

static leat_array *counted(leat_context *ctx, leat_memory memory) {
    double values[EXTENT];
    leat_array *array = NULL;
    for (int k = 0; k < EXTENT; k++)
        values[k] = k;
    assert_ok(leat_array_new(ctx, LEAT_F64, 1, SHAPE(EXTENT), memory, &array));
    assert_ok(leat_array_write(array, values, sizeof values, NULL, NULL));
    return array;
}

static void assert_counted(const leat_array *array, double factor) {
    double values[EXTENT];
    assert_ok(leat_array_read(array, values, sizeof values, NULL, NULL));
    for (int k = 0; k < EXTENT; k++)
        assert_true(values[k] == factor * k);
}

/* ---- memory of arrays */

static void test_memories(void **state) {
    (void)state;
    static const leat_memory memories[] = {LEAT_MEMORY_DEVICE, LEAT_MEMORY_HOST, LEAT_MEMORY_PINNED,
                                           LEAT_MEMORY_MAPPED};
    leat_context *ctx = open_sim();
    leat_program *program = program_of(ctx, "y[i] = x[i] * 2");
    leat_call *call = call_of(program);
    for (size_t from = 0; from < ARRAY_LEN(memories); from++)
        for (size_t to = 0; to < ARRAY_LEN(memories); to++) {
            leat_array *x = counted(ctx, memories[from]), *y = counted(ctx, memories[to]), *result = NULL;
            assert_ok(leat_call_set_array(call, "x", x));
            assert_ok(leat_call_want(call, "y", y));
            assert_ok(leat_call_run(call, NULL, NULL));
            assert_ok(leat_call_result(call, "y", &result));
            assert_ptr_equal(result, y);
            assert_counted(y, 2);
            assert_counted(x, 1);
            leat_array_free(x);
            leat_array_free(y);
            leat_array_free(result);
        }
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
}

static int mappings(void) {
    FILE *file = fopen("/proc/self/maps", "r");
    int lines = 0;
    assert_non_null(file);
    for (int c; (c = fgetc(file)) != EOF;)
        lines += c == '\n';
    fclose(file);
    return lines;
}

/* A process can have 65,530 mappings, and each thread of a running thread block takes two. Loaded kernels must not keep
 * theirs. */
static void test_many_kernels(void **state) {
    (void)state;
    enum { KERNELS = 5 };
    leat_context *ctx = open_sim();
    leat_program *programs[KERNELS];
    leat_array *x = counted(ctx, LEAT_MEMORY_DEVICE);
    int first = 0;
    for (int k = 0; k < KERNELS; k++) {
        char text[64];
        snprintf(text, sizeof text, "y[i] = x[i] * %d + 1", k + 2);
        programs[k] = program_of(ctx, text);
        leat_call *call = call_of(programs[k]);
        leat_ticket ticket;
        assert_ok(leat_call_set_array(call, "x", x));
        assert_ok(leat_call_run(call, NULL, &ticket));
        assert_ok(leat_ticket_wait(ctx, ticket));
        leat_call_free(call);
        first = k == 0 ? mappings() : first;
    }
    assert_true(mappings() < first + 100 * (KERNELS - 1));
    for (int k = 0; k < KERNELS; k++)
        leat_program_free(programs[k]);
    leat_array_free(x);
    leat_close(ctx);
}

/* A result in the input's own memory, in a part of another array, and in an array of the CPU's context. */
static void test_shared_memory(void **state) {
    (void)state;
    leat_context *ctx = open_sim(), *cpu = NULL;
    const leat_options options = {.device = "cpu"};
    assert_ok(leat_open(&options, &cpu));
    leat_program *program = program_of(ctx, "y[i] = x[i] * 2");
    leat_call *call = call_of(program);
    leat_array *x = counted(ctx, LEAT_MEMORY_DEVICE), *every = NULL, *other = counted(cpu, LEAT_MEMORY_HOST);
    assert_ok(leat_call_set_array(call, "x", x));
    assert_ok(leat_call_want(call, "y", x));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_counted(x, 2);
    assert_ok(leat_array_slice(x, SHAPE(1), SHAPE(EXTENT), SHAPE(33), &every)); /* 2, 68, 134 */
    assert_ok(leat_call_set_array(call, "x", every));
    assert_ok(leat_call_want_clear(call));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_result_f64(call, "y", 3, LIST(4, 136, 268));
    assert_ok(leat_call_set_array(call, "x", other));
    leat_array_free(other);
    assert_ok(leat_call_run(call, NULL, NULL));
    leat_array *y = NULL;
    assert_ok(leat_call_result(call, "y", &y));
    assert_counted(y, 2);
    leat_array_free(y);
    leat_array_free(x);
    leat_array_free(every);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
    leat_close(cpu);
}

static void test_other_device(void **state) {
    (void)state;
    leat_context *ctx = open_sim(), *other = open_sim();
    leat_program *program = program_of(ctx, "y[i] = x[i] * 2");
    leat_call *call = call_of(program);
    leat_array *x = counted(other, LEAT_MEMORY_DEVICE);
    assert_status(leat_call_set_array(call, "x", x), LEAT_INVALID);
    assert_status(leat_call_want(call, "y", x), LEAT_INVALID);
    leat_array_free(x);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
    leat_close(other);
}

/* ---- streams and tickets */

/* One stream reads what another one wrote; the stream and the call are freed while the work runs. */
static void test_streams(void **state) {
    (void)state;
    leat_context *ctx = open_sim();
    leat_program *program = program_of(ctx, "y[i] = x[i] * 2");
    leat_call *first = call_of(program), *second = call_of(program);
    leat_stream *one = NULL, *two = NULL;
    leat_ticket ticket = {0};
    leat_array *x = counted(ctx, LEAT_MEMORY_HOST), *middle = NULL, *y = NULL;
    assert_ok(leat_stream_new(ctx, &one));
    assert_ok(leat_stream_new(ctx, &two));
    assert_ok(leat_call_set_array(first, "x", x));
    leat_array_free(x);
    assert_ok(leat_call_run(first, one, NULL));
    assert_ok(leat_call_result(first, "y", &middle));
    assert_ok(leat_call_set_array(second, "x", middle));
    leat_array_free(middle);
    leat_call_free(first);
    assert_ok(leat_call_run(second, two, &ticket));
    leat_stream_free(one);
    leat_stream_free(two);
    assert_ok(leat_ticket_wait(ctx, ticket));
    assert_ok(leat_call_result(second, "y", &y));
    assert_counted(y, 4);
    leat_array_free(y);
    leat_call_free(second);
    leat_program_free(program);
    leat_close(ctx);
}

/* One call alternates between two streams; the memory that it keeps passes from one to the other. */
static void test_turns(void **state) {
    (void)state;
    leat_context *ctx = open_sim();
    leat_program *program = program_of(ctx, "s = sum(i: x[i])\ny[i] = x[i] * 2 + (s - s)");
    leat_call *call = call_of(program);
    leat_stream *streams[2] = {NULL, NULL};
    leat_array *x = counted(ctx, LEAT_MEMORY_DEVICE), *y[8] = {NULL};
    assert_ok(leat_stream_new(ctx, &streams[0]));
    assert_ok(leat_stream_new(ctx, &streams[1]));
    assert_ok(leat_call_set_array(call, "x", x));
    assert_ok(leat_call_want(call, "y", NULL));
    for (size_t k = 0; k < ARRAY_LEN(y); k++) {
        assert_ok(leat_call_run(call, streams[k % 2], NULL));
        assert_ok(leat_call_result(call, "y", &y[k]));
    }
    for (size_t k = 0; k < ARRAY_LEN(y); k++) {
        assert_counted(y[k], 2);
        leat_array_free(y[k]);
    }
    leat_stream_free(streams[0]);
    leat_stream_free(streams[1]);
    leat_array_free(x);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
}

/* ---- numbers */

/* A number in the device's memory, one that kernels compute, one that the host compares, and an element of an array. */
static void test_numbers(void **state) {
    (void)state;
    leat_context *ctx = open_sim();
    leat_program *program = program_of(ctx, "var s = a\n"
                                            "var n = 0\n"
                                            "while s < limit[1] {\n"
                                            "  s = s + sum(i: x[i])\n"
                                            "  n += 1\n"
                                            "}\n"
                                            "z[k] = x[k] where k in 0..n");
    leat_call *call = call_of(program);
    leat_array *a = array_of(ctx, LEAT_F64, 0, NULL, LIST(1)), *x = vector_f64(ctx, 3, LIST(1, 2, 3)),
               *limit = vector_f64(ctx, 2, LIST(0, 10));
    for (int round = 0; round < 2; round++) {
        assert_ok(leat_call_set_array(call, "a", a));
        assert_ok(leat_call_set_array(call, "x", x));
        assert_ok(leat_call_set_array(call, "limit", limit));
        assert_ok(leat_call_want(call, "s", NULL));
        assert_ok(leat_call_want(call, "n", NULL));
        assert_ok(leat_call_want(call, "z", NULL));
        assert_ok(leat_call_run(call, NULL, NULL));
        int64_t n = 0;
        leat_array *count = NULL;
        assert_result_f64(call, "s", 1, LIST(13));
        assert_ok(leat_call_result(call, "n", &count));
        assert_ok(leat_array_read(count, &n, sizeof n, NULL, NULL));
        assert_int_equal(n, 2);
        leat_array_free(count);
        assert_result_f64(call, "z", 2, LIST(1, 2));
    }
    leat_array_free(a);
    leat_array_free(x);
    leat_array_free(limit);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
}

static void test_ledger(void **state) {
    (void)state;
    leat_context *ctx = open_sim();
    leat_array *x = counted(ctx, LEAT_MEMORY_HOST);
    leat_binding inputs[] = {{.name = "x", .kind = LEAT_VALUE_ARRAY, .array = x}, {0}},
                 results[] = {{.name = "s"}, {0}};
    assert_ok(leat_eval(ctx, "var s = 0.0\nwhile s < 1000 { s = s + sum(i: x[i]) }", inputs, results));
    assert_true(records_of(ctx, LEAT_COST_UPLOAD, "it is in host memory"));
    assert_true(records_of(ctx, LEAT_COST_DOWNLOAD, "the while's condition"));
    assert_true(records_of(ctx, LEAT_COST_WAIT, "the while's condition"));
    assert_f64(results[0].array, 1, LIST(4950));
    leat_array_free(results[0].array);
    leat_array_free(x);
    leat_close(ctx);
}

/* ---- errors in the data, and notes */

static void run_gather(leat_context *ctx, int64_t place, char message[400]) {
    leat_error error;
    leat_program *program = program_of(ctx, "y[i] = x[p[i]]\nz[i] = y[i] + 1");
    leat_call *call = call_of(program);
    leat_array *x = vector_f64(ctx, 3, LIST(1, 2, 3)), *target = vector_f64(ctx, 2, LIST(7, 7)), *result = NULL,
               *p = array_of(ctx, LEAT_I64, 1, SHAPE(2), (const int64_t[]){0, place});
    assert_ok(leat_call_set_array(call, "x", x));
    assert_ok(leat_call_set_array(call, "p", p));
    assert_ok(leat_call_want(call, "z", target));
    assert_status(leat_call_run(call, NULL, NULL), LEAT_DATA);
    assert_ok(leat_error_get(ctx, &error));
    assert_int_equal(error.line, 1);
    snprintf(message, 400, "%s", error.message);
    assert_status(leat_call_result(call, "z", &result), LEAT_INVALID);
    assert_ok(leat_array_write(p, (const int64_t[]){0, 2}, 16, NULL, NULL));
    assert_ok(leat_call_run(call, NULL, NULL)); /* the error was cleared */
    assert_f64(target, 2, LIST(2, 4));
    leat_array_free(x);
    leat_array_free(p);
    leat_array_free(target);
    leat_call_free(call);
    leat_program_free(program);
}

static void test_faults(void **state) {
    (void)state;
    char here[400], there[400];
    leat_context *ctx = open_sim(), *cpu = NULL;
    const leat_options options = {.device = "cpu"};
    assert_ok(leat_open(&options, &cpu));
    run_gather(ctx, -1, there);
    run_gather(cpu, -1, here);
    assert_string_equal(here, there);
    leat_close(ctx);
    leat_close(cpu);
}

/* A `while` that would never end with the values that a fault leaves. The fault is in its condition, in its body, in an
 * inner loop, or in a def in a term. */
static void test_faults_end_loops(void **state) {
    (void)state;
    static const char *const programs[] = {
        "out y: f64[3]\neach i { k = 0; while x[k] > -9 { k += 1 }; y[i] = k }",
        "out y: f64[3]\neach i { k = 0.0; while k < 3 { k += x[9 + i64(k)] }; y[i] = k }",
        "out y: f64[3]\neach i { k = 0.0; while k < 3 { while k >= 0 { k -= x[i64(k) - 1] }; k += 1 }; y[i] = k }",
        "def far(n) {\n k = 0.0\n while k < n { k += x[i64(n) + 7] }\n return k }\ny = sum(i: far(x[i]))"};
    leat_context *ctx = open_sim(), *cpu = NULL;
    const leat_options options = {.device = "cpu"};
    assert_ok(leat_open(&options, &cpu));
    for (size_t k = 0; k < 2 * ARRAY_LEN(programs); k++) {
        leat_context *on = k % 2 ? cpu : ctx;
        leat_array *x = vector_f64(on, 3, LIST(1, 2, 3));
        leat_binding inputs[] = {{.name = "x", .kind = LEAT_VALUE_ARRAY, .array = x}, {0}},
                     results[] = {{.name = "y"}, {0}};
        assert_status(leat_eval(on, programs[k / 2], inputs, results), LEAT_DATA);
        leat_array_free(x);
    }
    leat_close(ctx);
    leat_close(cpu);
}

static void test_notes(void **state) {
    (void)state;
    leat_context *ctx = open_sim();
    leat_array *x = array_of(ctx, LEAT_I64, 1, SHAPE(2), (const int64_t[]){0, 2});
    leat_binding inputs[] = {{.name = "x", .kind = LEAT_VALUE_ARRAY, .array = x}, {0}},
                 results[] = {{.name = "y"}, {0}};
    assert_ok(leat_eval(ctx, "y[i] = 6 // x[i]", inputs, results));
    assert_non_null(strstr(notes, "line 1: y[i] = 6 // x[i]: an integer was divided by zero, which gives 0"));
    leat_array_free(results[0].array);
    leat_array_free(x);
    leat_close(ctx);
}

/* A term that is computed gives its note, whatever leaves the loop; terms that are not give none. */
static void test_notes_of_terms(void **state) {
    (void)state;
    static const struct {
        const char *program;
        bool gives;
    } cases[] = {{"y[i,j] = sum(k in 0..3: x[k // x[i] % 2] * x[j])", true},
                 {"y[i,j] = sum(k in 0..x[i]: x[k // x[i] % 2] * x[j])", false},
                 {"y[i,j] = sum(k in 0..3: x[0] * (i // (len(x,0) // 3)) + x[j]) where i in 0..2", true},
                 {"y[i,j] = sum(k in 0..3: x[i // len(x,0)] + x[j]) where i in 0..2", false},
                 {"y[i,j] = sum(k in 0..x[0]: x[i // x[0]] + x[j]) where i in 0..2", false},
                 {"y[i,j] = sum(k in 0..3: x[i // x[0]] + x[j]) where i in 0..2", true}};
    leat_context *ctx = open_sim();
    leat_array *x = array_of(ctx, LEAT_I64, 1, SHAPE(2), (const int64_t[]){0, 1});
    for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
        leat_binding inputs[] = {{.name = "x", .kind = LEAT_VALUE_ARRAY, .array = x}, {0}},
                     results[] = {{.name = "y"}, {0}};
        notes[0] = 0;
        assert_ok(leat_eval(ctx, cases[k].program, inputs, results));
        if ((strstr(notes, "an integer was divided by zero") != NULL) != cases[k].gives)
            fail_msg("%s\n%s", cases[k].program, notes);
        leat_array_free(results[0].array);
    }
    leat_array_free(x);
    leat_close(ctx);
}

/* ---- out of memory, and failing calls */

static void test_out_of_memory(void **state) {
    (void)state;
    const leat_options options = {.device = "sim", .keep_code = true, .memory_cap_bytes = 1 << 20};
    leat_context *ctx = NULL;
    leat_error error;
    assert_ok(leat_open(&options, &ctx));
    leat_program *program = program_of(ctx, "y[i] = i * 2.0 where i in 0..n");
    leat_call *call = call_of(program);
    assert_ok(leat_call_set_i64(call, "n", 1 << 20));
    assert_status(leat_call_run(call, NULL, NULL), LEAT_OUT_OF_MEMORY);
    assert_ok(leat_error_get(ctx, &error));
    assert_non_null(strstr(error.message, "8388608 bytes"));
    assert_ok(leat_call_set_i64(call, "n", 3));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_result_f64(call, "y", 3, LIST(0, 2, 4));
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
}

static void test_fork(void **state) {
    (void)state;
    leat_context *ctx = open_sim();
    leat_program *program = program_of(ctx, "y[i] = x[i] * 2");
    leat_call *call = call_of(program);
    leat_array *x = counted(ctx, LEAT_MEMORY_DEVICE), *y = NULL;
    assert_ok(leat_call_set_array(call, "x", x));
    assert_ok(leat_call_run(call, NULL, NULL));
    pid_t child = fork();
    if (child == 0) {
        bool right = leat_call_run(call, NULL, NULL) == LEAT_INVALID;
        leat_call_free(call);
        _exit(right ? 0 : 1);
    }
    int code = 1;
    waitpid(child, &code, 0);
    assert_int_equal(code, 0);
    assert_ok(leat_call_result(call, "y", &y));
    assert_counted(y, 2);
    leat_array_free(y);
    leat_array_free(x);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
}

/* ---- threads */

struct worker {
    leat_context *ctx;
    leat_program *program;
    leat_array *x;
    bool right;
};

static void *call_often(void *argument) {
    struct worker *worker = argument;
    leat_call *call = NULL;
    leat_stream *stream = NULL;
    bool right = !leat_call_new(worker->program, &call) && !leat_call_set_array(call, "x", worker->x) &&
                 !leat_stream_new(worker->ctx, &stream);
    for (int k = 0; k < ROUNDS && right; k++) {
        double values[EXTENT];
        leat_array *y = NULL;
        right = !leat_call_run(call, stream, NULL) && !leat_call_result(call, "y", &y) &&
                !leat_array_read(y, values, sizeof values, NULL, NULL);
        for (int q = 0; q < EXTENT && right; q++)
            right = values[q] == 2 * q;
        leat_array_free(y);
    }
    leat_call_free(call);
    leat_stream_free(stream);
    worker->right = right;
    return NULL;
}

static void test_threads(void **state) {
    (void)state;
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    leat_context *ctx = open_sim();
    leat_program *program = program_of(ctx, "y[i] = x[i] * 2");
    leat_array *x = counted(ctx, LEAT_MEMORY_DEVICE);
    for (int k = 0; k < THREADS; k++) {
        workers[k] = (struct worker){.ctx = ctx, .program = program, .x = x};
        assert_int_equal(pthread_create(&threads[k], NULL, call_often, &workers[k]), 0);
    }
    for (int k = 0; k < THREADS; k++)
        assert_int_equal(pthread_join(threads[k], NULL), 0);
    for (int k = 0; k < THREADS; k++)
        assert_true(workers[k].right);
    leat_array_free(x);
    leat_program_free(program);
    leat_close(ctx);
}

/* ---- TF32, only if asked for */

static float product_with(int tf32) {
    static const char text[] = "x[i,k] = f32(4097) where i in 0..512, k in 0..512\n"
                               "y[k,j] = f32(1) where k in 0..512, j in 0..512\n"
                               "s[i,j] = sum(k: x[i,k] * y[k,j])\n"
                               "t = s[3,5]";
    const leat_options options = {.device = "sim", .keep_code = true, .tf32 = tf32};
    leat_context *ctx = NULL;
    assert_ok(leat_open(&options, &ctx));
    leat_program *program = program_of(ctx, text);
    leat_call *call = call_of(program);
    leat_array *result = NULL;
    float value = 0;
    assert_ok(leat_call_want(call, "t", NULL));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_ok(leat_call_result(call, "t", &result));
    assert_ok(leat_array_read(result, &value, sizeof value, NULL, NULL));
    leat_array_free(result);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
    return value;
}

/* ---- bits that are the same on every device */

static void product_bits(const char *device, float bits[64 * 64]) {
    static const char text[] = "x[i,k] = f32(rand(1, i, k) - 0.5) where i in 0..64, k in 0..3000\n"
                               "y[k,j] = f32(rand(2, k, j) - 0.5) where k in 0..3000, j in 0..64\n"
                               "s[i,j] = sum(k: x[i,k] * y[k,j])";
    const leat_options options = {.device = device, .keep_code = true, .portable_bits = 1};
    leat_context *ctx = NULL;
    leat_array *result = NULL;
    assert_ok(leat_open(&options, &ctx));
    leat_program *program = program_of(ctx, text);
    leat_call *call = call_of(program);
    assert_ok(leat_call_want(call, "s", NULL));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_ok(leat_call_result(call, "s", &result));
    assert_ok(leat_array_read(result, bits, 64 * 64 * sizeof(float), NULL, NULL));
    leat_array_free(result);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
}

static void test_portable_bits(void **state) {
    static float cpu[64 * 64], sim[64 * 64];
    const leat_options baseline = {.simd = "baseline", .portable_bits = 1};
    leat_context *ctx = NULL;
    (void)state;
    const leat_options best = {.portable_bits = 1};
    leat_status status = leat_open(&baseline, &ctx);
    assert_true(status == LEAT_OK || status == LEAT_UNSUPPORTED);
    leat_close(ctx);
    ctx = NULL;
    status = leat_open(&best, &ctx);
    leat_close(ctx);
    if (status == LEAT_UNSUPPORTED)
        return; /* no fused multiply-adds */
    product_bits("cpu", cpu);
    product_bits("sim", sim);
    assert_memory_equal(cpu, sim, sizeof cpu);
}

static void test_precision(void **state) {
    (void)state;
    assert_true(product_with(0) == 4097.0F * 512);
    assert_true(product_with(1) == 4096.0F * 512);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memories),         cmocka_unit_test(test_shared_memory),
        cmocka_unit_test(test_many_kernels),     cmocka_unit_test(test_other_device),
        cmocka_unit_test(test_streams),          cmocka_unit_test(test_turns),
        cmocka_unit_test(test_numbers),          cmocka_unit_test(test_ledger),
        cmocka_unit_test(test_faults),           cmocka_unit_test(test_notes),
        cmocka_unit_test(test_notes_of_terms),   cmocka_unit_test(test_threads),
        cmocka_unit_test(test_out_of_memory),    cmocka_unit_test(test_fork),
        cmocka_unit_test(test_faults_end_loops), cmocka_unit_test(test_precision),
        cmocka_unit_test(test_portable_bits),
    };
    if (system("c++ --version >/dev/null 2>&1 || g++ --version >/dev/null 2>&1"))
        return SKIPPED;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
