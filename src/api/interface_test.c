/* leat.h without programs and calls: wrong arguments, errors, names, streams and events, the ledger, files, devices,
 * and handles in the child of a fork. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/clock.h"
#include "leat.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define assert_ok(expression)      assert_int_equal(expression, LEAT_OK)
#define assert_invalid(expression) assert_int_equal(expression, LEAT_INVALID)
#define SHAPE(...)                 ((const int64_t[]){__VA_ARGS__})

static leat_context *open_context(void) {
    const leat_options options = {.threads = 2, .ledger_level = 1};
    leat_context *ctx = NULL;
    assert_ok(leat_open(&options, &ctx));
    return ctx;
}

static leat_array *new_array(leat_context *ctx) {
    leat_array *array = NULL;
    assert_ok(leat_array_new(ctx, LEAT_F32, 2, SHAPE(2, 3), LEAT_MEMORY_DEVICE, &array));
    return array;
}

/* Asserts that the last failure's message says that this parameter is NULL. */
static void assert_null_named(const char *name) {
    char expected[80];
    leat_error error;
    snprintf(expected, sizeof expected, "%s is NULL", name);
    assert_ok(leat_error_get(NULL, &error));
    assert_int_equal(error.code, LEAT_INVALID);
    assert_string_equal(error.message, expected);
}

#define REFUSES(name, expression)                                                                                      \
    do {                                                                                                               \
        assert_invalid(expression);                                                                                    \
        assert_null_named(name);                                                                                       \
    } while (0)

static void test_null_in_streams(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_stream *stream = NULL;
    leat_event *event = NULL;
    size_t size = 0;
    void *bytes = NULL;
    REFUSES("stream", leat_stream_new(ctx, NULL));
    REFUSES("stream", leat_stream_synchronize(stream));
    REFUSES("native", leat_stream_wrap(ctx, NULL, &stream));
    REFUSES("stream", leat_stream_wrap(ctx, &size, NULL));
    REFUSES("stream", leat_stream_native(NULL, &bytes));
    REFUSES("ticket", leat_stream_ticket(ctx, NULL, NULL));
    REFUSES("ctx", leat_context_synchronize(NULL));
    REFUSES("use", leat_memory_get(ctx, LEAT_MEMORY_DEVICE, NULL));
    REFUSES("ctx", leat_memory_trim(NULL));
    REFUSES("memory", leat_host_pin(ctx, NULL, 1));
    REFUSES("memory", leat_host_unpin(ctx, NULL));
    REFUSES("event", leat_event_new(ctx, NULL));
    REFUSES("event", leat_event_record(event, NULL));
    REFUSES("event", leat_event_synchronize(event));
    leat_close(ctx);
}

static void test_null(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_array *a = new_array(ctx), *out = NULL;
    leat_description description;
    struct DLManagedTensor *tensor = NULL;
    size_t size = 0;
    void *bytes = NULL;
    REFUSES("ctx", leat_open(NULL, NULL));
    REFUSES("error", leat_error_get(ctx, NULL));
    REFUSES("ctx", leat_device_count(NULL, &size));
    REFUSES("count", leat_device_count(ctx, NULL));
    REFUSES("info", leat_device_get(ctx, 0, false, NULL));
    REFUSES("words", leat_products_get(ctx, NULL));
    REFUSES("search", leat_search_get(ctx, LEAT_SEARCH_DRIVER, NULL));
    REFUSES("line", leat_search_line_get(ctx, LEAT_SEARCH_DRIVER, 0, NULL));
    REFUSES("ctx", leat_array_new(NULL, LEAT_F32, 0, NULL, LEAT_MEMORY_DEVICE, &out));
    REFUSES("shape", leat_array_new(ctx, LEAT_F32, 1, NULL, LEAT_MEMORY_DEVICE, &out));
    REFUSES("array", leat_array_new(ctx, LEAT_F32, 0, NULL, LEAT_MEMORY_DEVICE, NULL));
    REFUSES("description", leat_array_wrap(ctx, NULL, NULL, NULL, &out));
    REFUSES("array", leat_array_get(NULL, &description));
    REFUSES("description", leat_array_get(a, NULL));
    REFUSES("source", leat_array_write(a, NULL, 24, NULL, NULL));
    REFUSES("target", leat_array_read(a, NULL, 24, NULL, NULL));
    REFUSES("start", leat_array_slice(a, NULL, SHAPE(1, 1), SHAPE(1, 1), &out));
    REFUSES("step", leat_array_slice(a, SHAPE(0, 0), SHAPE(1, 1), NULL, &out));
    REFUSES("view", leat_array_transpose(a, NULL, NULL));
    REFUSES("shape", leat_array_reshape(a, 1, NULL, &out));
    REFUSES("path", leat_array_load(ctx, NULL, NULL, (leat_dtype)0, &out));
    REFUSES("bytes", leat_array_load_memory(ctx, NULL, 0, (leat_dtype)0, &out));
    REFUSES("array", leat_array_save(NULL, "a.npy", NULL, LEAT_COLORMAP_GREY));
    REFUSES("path", leat_array_save(a, NULL, NULL, LEAT_COLORMAP_GREY));
    REFUSES("path", leat_archive_save(NULL, &(leat_named_array){"a", a}, 1, NULL));
    REFUSES("arrays", leat_archive_save("a.npz", NULL, 1, NULL));
    REFUSES("name", leat_archive_save("a.npz", &(leat_named_array){NULL, a}, 1, NULL));
    REFUSES("array", leat_archive_save("a.npz", &(leat_named_array){"a", NULL}, 1, NULL));
    REFUSES("text", leat_float_text(LEAT_F64, 1, 0, NULL));
    REFUSES("count", leat_builtin_count(LEAT_BUILTIN_TYPE, NULL));
    REFUSES("info", leat_builtin_get(LEAT_BUILTIN_TYPE, 0, NULL));
    REFUSES("bytes", leat_array_save_memory(a, NULL, &size));
    REFUSES("size_bytes", leat_array_save_memory(a, &bytes, NULL));
    REFUSES("tensor", leat_array_to_dlpack(a, NULL, NULL));
    REFUSES("tensor", leat_array_from_dlpack(ctx, NULL, &out));
    REFUSES("tensor", leat_array_to_dlpack_versioned(a, NULL, NULL));
    REFUSES("tensor", leat_array_from_dlpack_versioned(ctx, NULL, &out));
    REFUSES("tensor", leat_dltensor_describe(NULL, NULL, NULL));
    REFUSES("shape", leat_array_to_dltensor(a, NULL, NULL, NULL));
    REFUSES("count", leat_ledger_count(ctx, NULL));
    REFUSES("cost", leat_ledger_get(ctx, 0, NULL));
    REFUSES("what", leat_ledger_begin(ctx, LEAT_COST_OTHER, NULL));
    REFUSES("name", leat_dtype_parse(NULL, NULL));
    assert_invalid(leat_archive_save("a.npz", &(leat_named_array){"a", a}, 0, NULL));
    assert_invalid(leat_array_to_dlpack(a, a, &tensor));
    assert_null(out);
    assert_null(leat_array_retain(NULL));
    leat_array_free(a);
    leat_close(ctx);
}

static void test_free_null(void **state) {
    (void)state;
    leat_array_free(NULL);
    leat_stream_free(NULL);
    leat_event_free(NULL);
    leat_memory_free(NULL);
    leat_close(NULL);
}

static void test_names(void **state) {
    (void)state;
    char version[40];
    snprintf(version, sizeof version, "%d.%d.%d", LEAT_VERSION_MAJOR, LEAT_VERSION_MINOR, LEAT_VERSION_PATCH);
    assert_string_equal(leat_version(), version);
    for (int k = LEAT_BOOL; k <= LEAT_C128; k++) {
        leat_dtype dtype = (leat_dtype)0;
        assert_ok(leat_dtype_parse(leat_dtype_name((leat_dtype)k), &dtype));
        assert_int_equal(dtype, k);
        assert_true(leat_dtype_size_bytes(dtype) > 0);
    }
    leat_dtype dtype;
    assert_invalid(leat_dtype_parse("float", &dtype));
    assert_string_equal(leat_dtype_name((leat_dtype)0), "?");
    assert_string_equal(leat_dtype_name((leat_dtype)-1), "?");
    assert_int_equal(leat_dtype_size_bytes((leat_dtype)99), 0);
    assert_string_equal(leat_status_name(LEAT_OK), "ok");
    assert_string_equal(leat_status_name(LEAT_INTERNAL), "internal error");
    assert_string_equal(leat_status_name((leat_status)99), "?");
    assert_string_equal(leat_cost_name(LEAT_COST_KERNEL), "kernel");
    assert_string_equal(leat_cost_name((leat_cost_kind)-1), "?");
    for (int k = 0; k < LEAT_COST_KINDS; k++)
        assert_true(strlen(leat_cost_name((leat_cost_kind)k)) > 1);
}

static void test_errors(void **state) {
    (void)state;
    leat_error error;
    size_t count = 0;
    leat_context *none = NULL;
    const leat_options options = {.device = "abacus"};
    assert_int_equal(leat_open(&options, &none), LEAT_DEVICE);
    assert_null(none);
    assert_ok(leat_error_count(NULL, &count));
    assert_int_equal(count, 1);
    assert_ok(leat_error_at(NULL, 0, &error));
    assert_non_null(strstr(error.message, "abacus"));
    assert_string_equal(error.expected, "use auto, cpu, cuda, cuda:1 or sim");
    assert_int_equal(error.line, 0);
    assert_invalid(leat_error_at(NULL, 1, &error));
    assert_non_null(strstr(leat_error_text(NULL), "abacus"));
}

static void test_streams(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_stream *stream = NULL;
    leat_event *start = NULL, *stop = NULL;
    double milliseconds = -1;
    assert_ok(leat_stream_new(ctx, &stream));
    assert_ok(leat_event_new(ctx, &start));
    assert_ok(leat_event_new(ctx, &stop));
    leat_close(ctx); /* the handles keep the context alive */
    assert_invalid(leat_event_elapsed_ms(start, stop, &milliseconds));
    uint64_t start_ns = le_clock_ns();
    assert_ok(leat_event_record(start, stream));
    assert_invalid(leat_event_elapsed_ms(start, stop, &milliseconds));
    usleep(2000);
    assert_ok(leat_event_record(stop, NULL));
    assert_ok(leat_stream_wait_event(stream, stop));
    assert_ok(leat_event_synchronize(stop));
    assert_ok(leat_stream_synchronize(stream));
    assert_ok(leat_event_elapsed_ms(start, stop, &milliseconds));
    assert_true(milliseconds >= 2 && milliseconds <= (double)(le_clock_ns() - start_ns) * 1e-6);
    assert_ok(leat_event_elapsed_ms(stop, start, &milliseconds));
    assert_true(milliseconds <= -2);
    assert_ok(leat_ticket_wait(ctx, (leat_ticket){0}));
    assert_ok(leat_ticket_wait(ctx, (leat_ticket){.stream_id = 2, .number = 0}));
    assert_invalid(leat_ticket_wait(ctx, (leat_ticket){.stream_id = 2, .number = 1})); /* no such ticket was returned */
    assert_invalid(leat_ticket_wait(ctx, (leat_ticket){.stream_id = 3, .number = 1}));
    leat_stream_free(stream);
    leat_event_free(start);
    leat_event_free(stop);
}

/* Finds the record with this kind and text. */
static leat_cost find_cost(leat_context *ctx, leat_cost_kind kind, const char *what) {
    size_t count = 0;
    leat_cost cost = {0};
    assert_ok(leat_ledger_count(ctx, &count));
    for (size_t k = 0; k < count; k++) {
        assert_ok(leat_ledger_get(ctx, k, &cost));
        if (cost.kind == kind && strcmp(cost.what, what) == 0)
            return cost;
    }
    fail_msg("there is no cost %s", what);
    return cost;
}

static void test_ledger(void **state) {
    (void)state;
    leat_context *ctx = open_context(), *other = open_context();
    leat_cost cost;
    assert_int_equal(find_cost(ctx, LEAT_COST_INIT, "open").count, 1);
    assert_ok(leat_ledger_clear(ctx));
    assert_invalid(leat_ledger_get(ctx, 0, &cost));
    uint64_t start_ns = le_clock_ns();
    assert_ok(leat_ledger_begin(ctx, LEAT_COST_OTHER, "outer"));
    assert_ok(leat_ledger_begin(ctx, LEAT_COST_WRITE, "inner"));
    usleep(20000);
    assert_invalid(leat_ledger_end(other, 0));
    assert_ok(leat_ledger_end(ctx, 17));
    assert_ok(leat_ledger_end(ctx, 0));
    uint64_t elapsed_ns = le_clock_ns() - start_ns;
    assert_invalid(leat_ledger_end(ctx, 0));
    cost = find_cost(ctx, LEAT_COST_WRITE, "inner");
    assert_int_equal(cost.bytes, 17);
    assert_true(cost.time_ns >= 20000000);
    assert_true(find_cost(ctx, LEAT_COST_OTHER, "outer").time_ns + cost.time_ns <= elapsed_ns);
    assert_ok(leat_ledger_level_set(ctx, 0));
    assert_invalid(leat_ledger_level_set(ctx, 3));
    assert_invalid(leat_ledger_begin(ctx, LEAT_COST_KINDS, "none"));
    leat_close(ctx);
    leat_close(other);
}

static void test_files(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_array *a = new_array(ctx), *back = NULL;
    char path[] = "/tmp/leat_test_XXXXXX.npy";
    close(mkstemps(path, 4));
    assert_ok(leat_array_write(a, (const float[]){1, 2, 3, 4, 5, 6}, 24, NULL, NULL));
    assert_ok(leat_array_save(a, path, NULL, LEAT_COLORMAP_GREY));
    assert_invalid(leat_array_save(a, path, NULL, (leat_colormap)7));
    assert_ok(leat_array_load(ctx, path, NULL, LEAT_F32, &back));
    assert_int_equal(find_cost(ctx, LEAT_COST_READ, path).bytes, 24);
    float values[6];
    assert_ok(leat_array_read(back, values, sizeof values, NULL, NULL));
    assert_true(values[5] == 6);
    assert_invalid(leat_array_load(ctx, path, NULL, (leat_dtype)77, &back));
    assert_invalid(leat_array_load(ctx, path, "key", LEAT_F32, &back));
    unlink(path);
    assert_int_equal(leat_array_load(ctx, path, NULL, LEAT_F32, &back), LEAT_FILE);
    void *bytes;
    size_t size_bytes;
    assert_ok(leat_array_save_memory(a, &bytes, &size_bytes));
    leat_array_free(back);
    assert_ok(leat_array_load_memory(ctx, bytes, size_bytes, LEAT_F32, &back));
    leat_memory_free(bytes);
    leat_close(ctx); /* the arrays outlive it */
    assert_ok(leat_array_read(back, values, sizeof values, NULL, NULL));
    assert_true(values[0] == 1);
    leat_array_free(back);
    leat_array_free(a);
}

static void test_float_text(void **state) {
    (void)state;
    char text[LEAT_FLOAT_TEXT_BYTES];
    assert_ok(leat_float_text(LEAT_F32, (double)0.1f, 0, text));
    assert_string_equal(text, "0.1");
    assert_ok(leat_float_text(LEAT_F64, (double)0.1f, 0, text));
    assert_string_equal(text, "0.10000000149011612");
    assert_ok(leat_float_text(LEAT_BF16, 0.10009765625, 0, text));
    assert_string_equal(text, "0.1");
    assert_ok(leat_float_text(LEAT_F64, 3.14159, 3, text));
    assert_string_equal(text, "3.14");
    assert_invalid(leat_float_text(LEAT_F64, 1, 18, text));
    assert_invalid(leat_float_text(LEAT_F64, 1, -1, text));
    assert_invalid(leat_float_text(LEAT_I32, 1, 0, text));
    assert_invalid(leat_float_text(LEAT_C64, 1, 0, text));
    assert_invalid(leat_float_text((leat_dtype)99, 1, 0, text));
}

/* The checker accepts the usage of every builtin. */
static void test_builtins(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_builtin_info info;
    size_t count = 0;
    for (leat_builtin_kind kind = 0; kind < LEAT_BUILTIN_KINDS; kind++) {
        assert_ok(leat_builtin_count(kind, &count));
        assert_true(count >= 5);
        for (size_t k = 0; k < count; k++) {
            char text[200];
            leat_program *program = NULL;
            assert_ok(leat_builtin_get(kind, k, &info));
            assert_true(*info.name && *info.summary);
            if (kind == LEAT_BUILTIN_FOREIGN)
                continue;
            assert_non_null(strstr(info.usage, strcmp(info.name, "neg") ? info.name : "-"));
            if (kind == LEAT_BUILTIN_KEYWORD)
                snprintf(text, sizeof text, "in x[n], c; out y: f64[3]; var s = 0; %s; r = 1", info.usage);
            else if (kind == LEAT_BUILTIN_EDGE)
                snprintf(text, sizeof text, "in x: f32[n]; %s; y[i] = x[i]", info.usage);
            else
                snprintf(text, sizeof text, "r = %s", info.usage);
            if (leat_program_new(ctx, text, 0, NULL, &program))
                fail_msg("%s: %s", text, leat_error_text(ctx));
            leat_program_free(program);
        }
        assert_invalid(leat_builtin_get(kind, count, &info));
    }
    assert_invalid(leat_builtin_get(LEAT_BUILTIN_KINDS, 0, &info));
    assert_invalid(leat_builtin_count((leat_builtin_kind)-1, &count));
    leat_close(ctx);
}

static void test_devices(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_device_info info;
    size_t count = 0;
    assert_ok(leat_device_count(ctx, &count));
    assert_true(count >= 3);
    assert_invalid(leat_device_get(ctx, count, false, &info));
    for (size_t k = 0; k < count; k++) {
        assert_ok(leat_device_get(ctx, k, false, &info));
        assert_true(*info.kind && *info.device && info.usable == !*info.reason);
    }
    assert_ok(leat_device_get(ctx, 1, false, &info));
    assert_string_equal(info.kind, "cuda");
    assert_ok(leat_device_get(ctx, count - 1, false, &info));
    assert_string_equal(info.device, "sim");
    assert_true(info.usable && info.capability >= 75 && info.cuda_version >= 12000 && info.memory_bytes > 0);
    const char *words = NULL;
    assert_ok(leat_products_get(ctx, &words));
    assert_true(words && *words);
    assert_ok(leat_device_get(ctx, 0, false, &info));
    assert_string_equal(info.kind, "cpu");
    assert_string_equal(info.device, "cpu");
    assert_int_equal(info.threads, 2);
    assert_true(info.cores >= 1 && *info.name && *info.simd && info.memory_bytes > 0 &&
                info.copy_bytes_per_second == 0);
    leat_close(ctx);
}

static void test_searches(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_search search = {0};
    leat_search_line line = {0};
    for (int kind = 0; kind < LEAT_SEARCH_KINDS; kind++) {
        assert_ok(leat_search_get(ctx, (leat_search_kind)kind, &search));
        assert_true(search.found == !*search.reason && search.found == (*search.path != 0) && search.line_count > 0);
        for (size_t k = 0; k < search.line_count; k++) {
            assert_ok(leat_search_line_get(ctx, (leat_search_kind)kind, k, &line));
            assert_true(*line.name && *line.outcome && line.path);
        }
        assert_invalid(leat_search_line_get(ctx, (leat_search_kind)kind, search.line_count, &line));
    }
    assert_invalid(leat_search_get(ctx, LEAT_SEARCH_KINDS, &search));
    assert_invalid(leat_search_line_get(ctx, LEAT_SEARCH_KINDS, 0, &line));
    leat_close(ctx);
}

static void test_fork(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_array *a = new_array(ctx);
    leat_stream *stream = NULL;
    assert_ok(leat_stream_new(ctx, &stream));
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        leat_array *none = NULL;
        leat_description description;
        bool refused = leat_array_get(a, &description) == LEAT_INVALID &&
                       leat_stream_synchronize(stream) == LEAT_INVALID &&
                       leat_array_new(ctx, LEAT_F32, 0, NULL, LEAT_MEMORY_DEVICE, &none) == LEAT_INVALID;
        leat_array_free(a);
        leat_close(ctx);
        _exit(refused ? 0 : 1);
    }
    int status = 1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    leat_stream_free(stream);
    leat_array_free(a);
    leat_close(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_null),     cmocka_unit_test(test_null_in_streams),
        cmocka_unit_test(test_names),    cmocka_unit_test(test_errors),
        cmocka_unit_test(test_streams),  cmocka_unit_test(test_ledger),
        cmocka_unit_test(test_files),    cmocka_unit_test(test_float_text),
        cmocka_unit_test(test_builtins), cmocka_unit_test(test_devices),
        cmocka_unit_test(test_fork),     cmocka_unit_test(test_free_null),
        cmocka_unit_test(test_searches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
