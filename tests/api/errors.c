/* Errors: their location in the text; all are reported together; each thread has its own; every wrong argument is an
 * error and not a crash. */
#include "support.h"
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_places(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_program_options options = {.name = "wrong.leat"};
    leat_program *program = NULL;
    leat_error error;
    size_t count = 0;
    assert_status(leat_program_new(ctx, "y[i] = a[i]\nz[i] = a[i] + k[i,j]\nw[i] = )\n", 0, &options, &program),
                  LEAT_PROGRAM);
    assert_null(program);
    assert_ok(leat_error_count(ctx, &count));
    assert_true(count >= 1);
    assert_ok(leat_error_at(ctx, 0, &error));
    assert_int_equal(error.code, LEAT_PROGRAM);
    assert_true(error.line >= 2 && error.column > 0 && error.span > 0);
    assert_true(error.message[0] != '\0');
    assert_status(leat_error_at(ctx, count, &error), LEAT_INVALID);
    leat_close(ctx);
}

/* An index without a range is marked at its location. */
static void test_place_of_an_index(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_program *program = program_of(ctx, "y[i] = sum(k in 0..2 by n: x[i])");
    leat_call *call = call_of(program);
    leat_array *x = vector_f64(ctx, 2, LIST(1, 2));
    leat_error error;
    assert_ok(leat_call_set_array(call, "x", x));
    assert_ok(leat_call_set_i64(call, "n", 0));
    assert_status(leat_call_run(call, NULL, NULL), LEAT_PROGRAM);
    assert_ok(leat_error_get(ctx, &error));
    assert_string_equal(error.message, "index 'k': `by` must be positive");
    assert_int_equal(error.column, 12);
    assert_int_equal(error.span, 1);
    leat_array_free(x);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
}

static void test_text(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_program_options options = {.name = "wrong.leat"};
    leat_program *program = NULL;
    leat_error error;
    const char *text;
    assert_status(leat_program_new(ctx, "# first\ny[i] = a[i] + (2 * )\n", 0, &options, &program), LEAT_PROGRAM);
    assert_ok(leat_error_get(ctx, &error));
    assert_int_equal(error.line, 2);
    text = leat_error_text(ctx);
    assert_non_null(strstr(text, "wrong.leat"));
    assert_non_null(strstr(text, "y[i] = a[i] + (2 * )"));
    assert_non_null(strchr(text, '^'));
    leat_close(ctx);
}

static void test_all_at_once(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_program *program = NULL;
    leat_error error;
    char text[4000] = "";
    size_t count = 0;
    int line = 0;
    for (int k = 0; k < 40; k++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "y%d[i] = a[i] + k%d[j]\n", k, k);
    assert_status(leat_program_new(ctx, text, 0, NULL, &program), LEAT_PROGRAM);
    assert_ok(leat_error_count(ctx, &count));
    assert_int_equal(count, 20);
    for (size_t k = 0; k < count; k++) {
        assert_ok(leat_error_at(ctx, k, &error));
        assert_true(error.line >= line);
        line = error.line;
    }
    leat_close(ctx);
}

static void test_bindings(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_program *program = program_of(ctx, "in a: f64[n], b: f64[n]\ny[i] = a[i] + b[i]");
    leat_call *call = call_of(program);
    leat_array *two = vector_f64(ctx, 2, LIST(1, 2)), *three = vector_f64(ctx, 3, LIST(1, 2, 3));
    leat_array *narrow = array_of(ctx, LEAT_F32, 1, SHAPE(2), NULL), *none = NULL;
    leat_error error;
    leat_status status;
    assert_status(leat_call_run(call, NULL, NULL), LEAT_MISSING);
    assert_status(leat_call_set_array(call, "nothing", two), LEAT_INVALID);
    assert_ok(leat_call_set_array(call, "a", two));
    assert_status(leat_call_run(call, NULL, NULL), LEAT_MISSING);
    assert_ok(leat_error_get(ctx, &error));
    assert_non_null(strstr(error.message, "b"));
    assert_ok(leat_call_set_array(call, "b", three));
    assert_status(leat_call_run(call, NULL, NULL), LEAT_MISMATCH);
    status = leat_call_set_array(call, "b", narrow);
    assert_status(status ? status : leat_call_run(call, NULL, NULL), LEAT_MISMATCH);
    assert_int_not_equal(leat_call_result(call, "y", &none), LEAT_OK);
    assert_ok(leat_call_set_array(call, "b", two));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_result_f64(call, "y", 2, LIST(2, 4));
    leat_array_free(two);
    leat_array_free(three);
    leat_array_free(narrow);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
}

/* A subscript from data is checked during the run, and the call can be used again afterwards. */
static void test_data(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_program *program = program_of(ctx, "y[i] = x[k[i]]");
    leat_call *call = call_of(program);
    leat_array *x = vector_f64(ctx, 3, LIST(5, 6, 7)),
               *k = array_of(ctx, LEAT_I64, 1, SHAPE(2), (const int64_t[]){1, 3});
    leat_error error;
    leat_ticket ticket = {0};
    assert_ok(leat_call_set_array(call, "x", x));
    assert_ok(leat_call_set_array(call, "k", k));
    leat_status status = leat_call_run(call, NULL, &ticket);
    assert_status(status ? status : leat_ticket_wait(ctx, ticket), LEAT_DATA);
    assert_ok(leat_error_get(ctx, &error));
    assert_non_null(strstr(error.message, "x"));
    assert_non_null(strstr(error.message, "3"));
    assert_ok(leat_array_write(k, (const int64_t[]){2, 0}, 2 * sizeof(int64_t), NULL, NULL));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_result_f64(call, "y", 2, LIST(7, 5));
    leat_array_free(x);
    leat_array_free(k);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
}

static void *other_thread(void *argument) {
    leat_context *ctx = argument;
    leat_error error = {.message = NULL};
    assert_ok(leat_error_get(ctx, &error));
    assert_int_equal(error.code, LEAT_OK);
    assert_string_equal(error.message, "");
    return NULL;
}

static void test_threads_apart(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_array *array = NULL;
    pthread_t thread;
    assert_status(leat_array_new(ctx, LEAT_F64, -1, NULL, LEAT_MEMORY_DEVICE, &array), LEAT_INVALID);
    assert_int_equal(pthread_create(&thread, NULL, other_thread, ctx), 0);
    pthread_join(thread, NULL);
    leat_close(ctx);
}

static void test_null(void **state) {
    (void)state;
    leat_context *ctx = open_context(), *none = NULL;
    leat_program *program = program_of(ctx, "y[i] = x[i]"), *other = NULL;
    leat_call *call = NULL;
    leat_array *array = NULL;
    leat_stream *stream = NULL;
    size_t count;
    double milliseconds;
    char *text = NULL;
    leat_options options = {.device = "no such device"};
    assert_status(leat_open(NULL, NULL), LEAT_INVALID);
    assert_status(leat_open(&options, &none), LEAT_DEVICE);
    assert_null(none);
    assert_status(leat_program_new(NULL, "y = 1", 0, NULL, &other), LEAT_INVALID);
    assert_status(leat_program_new(ctx, NULL, 0, NULL, &other), LEAT_INVALID);
    assert_status(leat_program_new(ctx, "y = 1", 0, NULL, NULL), LEAT_INVALID);
    assert_status(leat_program_count(NULL, LEAT_NAME_INPUT, &count), LEAT_INVALID);
    assert_status(leat_program_show(NULL, LEAT_FORM_TREE, &text), LEAT_INVALID);
    assert_status(leat_call_new(NULL, &call), LEAT_INVALID);
    assert_status(leat_call_run(NULL, NULL, NULL), LEAT_INVALID);
    assert_status(leat_call_set_f64(NULL, "x", 1), LEAT_INVALID);
    assert_status(leat_array_read(NULL, &count, sizeof count, NULL, NULL), LEAT_INVALID);
    assert_status(leat_array_transpose(NULL, NULL, &array), LEAT_INVALID);
    assert_status(leat_array_load(ctx, NULL, NULL, (leat_dtype)0, &array), LEAT_INVALID);
    assert_status(leat_array_load(ctx, "/nonexistent/x.npy", NULL, (leat_dtype)0, &array), LEAT_FILE);
    assert_status(leat_stream_new(NULL, &stream), LEAT_INVALID);
    assert_status(leat_event_elapsed_ms(NULL, NULL, &milliseconds), LEAT_INVALID);
    assert_status(leat_eval(ctx, NULL, NULL, NULL), LEAT_INVALID);
    assert_status(leat_error_get(ctx, NULL), LEAT_INVALID);
    leat_program_free(NULL);
    leat_call_free(NULL);
    leat_array_free(NULL);
    leat_stream_free(NULL);
    leat_event_free(NULL);
    leat_memory_free(NULL);
    leat_close(NULL);
    leat_program_free(program);
    leat_close(ctx);
}

static void test_names(void **state) {
    (void)state;
    leat_dtype dtype;
    for (leat_dtype k = LEAT_BOOL; k <= LEAT_F64; k++) {
        assert_ok(leat_dtype_parse(leat_dtype_name(k), &dtype));
        assert_int_equal(dtype, k);
        assert_true(leat_dtype_size_bytes(k) > 0);
    }
    assert_string_equal(leat_dtype_name(LEAT_BF16), "bf16");
    assert_string_equal(leat_dtype_name((leat_dtype)0), "?");
    assert_int_equal(leat_dtype_size_bytes((leat_dtype)77), 0);
    assert_status(leat_dtype_parse("f33", &dtype), LEAT_INVALID);
    assert_status(leat_dtype_parse(NULL, &dtype), LEAT_INVALID);
    assert_string_equal(leat_version(), "0.1.0");
}

/* A child process may read an error but not use a handle. */
static void test_fork(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_array *a = vector_f64(ctx, 2, LIST(1, 2));
    int ended = 0;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        double values[2];
        leat_array *other = NULL;
        const bool refused = leat_array_read(a, values, sizeof values, NULL, NULL) == LEAT_INVALID &&
                             leat_array_new(ctx, LEAT_F64, 0, NULL, LEAT_MEMORY_DEVICE, &other) == LEAT_INVALID;
        _exit(refused ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
    leat_array_free(a);
    leat_close(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),        cmocka_unit_test(test_place_of_an_index),
        cmocka_unit_test(test_text),          cmocka_unit_test(test_all_at_once),
        cmocka_unit_test(test_bindings),      cmocka_unit_test(test_data),
        cmocka_unit_test(test_threads_apart), cmocka_unit_test(test_null),
        cmocka_unit_test(test_names),         cmocka_unit_test(test_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
