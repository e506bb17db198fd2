/* What callers that were compiled with another version of leat.h rely on: the sizes of structs of options, and the
 * values of enumerators, which must not change. */
#include "support.h"

/* ---- enums */

/* Add the rows of new enumerators at the end of their enum, and change none. ..._KINDS are not part of it. */
static const struct {
    int value, committed;
} enumerators[] = {
    /* clang-format off */
    {LEAT_OK, 0},
    {LEAT_INVALID, 1},
    {LEAT_PROGRAM, 2},
    {LEAT_MISMATCH, 3},
    {LEAT_MISSING, 4},
    {LEAT_FILE, 5},
    {LEAT_DEVICE, 6},
    {LEAT_OUT_OF_MEMORY, 7},
    {LEAT_DATA, 8},
    {LEAT_UNSUPPORTED, 9},
    {LEAT_INTERNAL, 10},
    {LEAT_CANCELED, 11},
    {LEAT_BOOL, 1},
    {LEAT_I8, 2},
    {LEAT_I16, 3},
    {LEAT_I32, 4},
    {LEAT_I64, 5},
    {LEAT_U8, 6},
    {LEAT_U16, 7},
    {LEAT_U32, 8},
    {LEAT_U64, 9},
    {LEAT_F16, 10},
    {LEAT_BF16, 11},
    {LEAT_F32, 12},
    {LEAT_F64, 13},
    {LEAT_C64, 14},
    {LEAT_C128, 15},
    {LEAT_BUILTIN_FUNCTION, 0},
    {LEAT_BUILTIN_REDUCTION, 1},
    {LEAT_BUILTIN_OPERATOR, 2},
    {LEAT_BUILTIN_CONSTANT, 3},
    {LEAT_BUILTIN_TYPE, 4},
    {LEAT_BUILTIN_EDGE, 5},
    {LEAT_BUILTIN_KEYWORD, 6},
    {LEAT_BUILTIN_FOREIGN, 7},
    {LEAT_LOG_NOTE, 0},
    {LEAT_LOG_WARNING, 1},
    {LEAT_INTERPRET_DEFAULT, 0},
    {LEAT_INTERPRET_NEVER, 1},
    {LEAT_INTERPRET_READY, 2},
    {LEAT_INTERPRET_ALWAYS, 3},
    {LEAT_INTERPRET_ONLY, 4},
    {LEAT_SEARCH_DRIVER, 0},
    {LEAT_SEARCH_NVRTC, 1},
    {LEAT_SEARCH_CUBLAS, 2},
    {LEAT_SEARCH_HEADERS, 3},
    {LEAT_MEMORY_DEVICE, 0},
    {LEAT_MEMORY_HOST, 1},
    {LEAT_MEMORY_PINNED, 2},
    {LEAT_MEMORY_MAPPED, 3},
    {LEAT_COLORMAP_GREY, 0},
    {LEAT_COLORMAP_VIRIDIS, 1},
    {LEAT_NAME_INPUT, 0},
    {LEAT_NAME_RESULT, 1},
    {LEAT_NAME_INDEX, 2},
    {LEAT_NAME_TEMPORARY, 3},
    {LEAT_FORM_TREE, 0},
    {LEAT_FORM_IR, 1},
    {LEAT_FORM_PLAN, 2},
    {LEAT_FORM_BYTECODE, 3},
    {LEAT_FORM_CUDA, 4},
    {LEAT_FORM_PTX, 5},
    {LEAT_FORM_SASS, 6},
    {LEAT_FORM_KERNEL, 7},
    {LEAT_VALUE_ARRAY, 0},
    {LEAT_VALUE_F64, 1},
    {LEAT_VALUE_I64, 2},
    {LEAT_VALUE_C128, 3},
    {LEAT_ARGUMENT_IN, 1},
    {LEAT_ARGUMENT_OUT, 2},
    {LEAT_ARGUMENT_INOUT, 3},
    {LEAT_ARGUMENT_NUMBER, 4},
    {LEAT_ARGUMENT_BYTES, 5},
    {LEAT_COST_INIT, 0},
    {LEAT_COST_LIBRARY, 1},
    {LEAT_COST_READ, 2},
    {LEAT_COST_CHECK, 3},
    {LEAT_COST_COMPILE, 4},
    {LEAT_COST_IN_MEMORY, 5},
    {LEAT_COST_ON_DISK, 6},
    {LEAT_COST_INTERPRET, 7},
    {LEAT_COST_MODULE, 8},
    {LEAT_COST_PLAN, 9},
    {LEAT_COST_ALLOCATE, 10},
    {LEAT_COST_PIN, 11},
    {LEAT_COST_LAUNCH, 12},
    {LEAT_COST_KERNEL, 13},
    {LEAT_COST_COPY, 14},
    {LEAT_COST_UPLOAD, 15},
    {LEAT_COST_DOWNLOAD, 16},
    {LEAT_COST_WAIT, 17},
    {LEAT_COST_IDLE, 18},
    {LEAT_COST_UNLOAD, 19},
    {LEAT_COST_EVICT, 20},
    {LEAT_COST_WRITE, 21},
    {LEAT_COST_OTHER, 22},
    {LEAT_ACCOUNT_TEXT, 0},
    {LEAT_ACCOUNT_JSON, 1},
    {LEAT_ACCOUNT_VERDICT, 2},
    {LEAT_REPORT_OVERVIEW, 0},
    {LEAT_REPORT_SUMMARY, 1},
    {LEAT_REPORT_OPERATIONS, 2},
    {LEAT_REPORT_FINDINGS, 3},
    {LEAT_REPORT_PERFETTO, 4},
    {LEAT_REPORT_SVG, 5},
    {LEAT_REPORT_TEXT, 0},
    {LEAT_REPORT_CSV, 1},
    {LEAT_REPORT_JSON, 2},
    /* clang-format on */
};

static void test_enumerators(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof enumerators / sizeof *enumerators; k++)
        if (enumerators[k].value != enumerators[k].committed)
            fail_msg("row %zu of the table: %d, committed as %d", k, enumerators[k].value, enumerators[k].committed);
}

/* ---- options */

/* Runs the function that takes a struct of options. */
struct taker {
    const char *type;
    size_t size_bytes;
    leat_status (*run)(leat_context *ctx, leat_array *array, const void *options);
};

static leat_status open_with(leat_context *ctx, leat_array *array, const void *options) {
    (void)ctx, (void)array;
    leat_context *opened = NULL;
    leat_status status = leat_open(options, &opened);
    leat_close(opened);
    return status;
}

static leat_status program_with(leat_context *ctx, leat_array *array, const void *options) {
    (void)array;
    leat_program *program = NULL;
    leat_status status = leat_program_new(ctx, "y = 1", 0, options, &program);
    leat_program_free(program);
    return status;
}

static leat_status save_with(leat_context *ctx, leat_array *array, const void *options) {
    (void)ctx;
    leat_status status = leat_array_save_as(array, "/dev/null/compatibility.npy", options);
    return status == LEAT_FILE ? LEAT_OK : status; /* the options were accepted */
}

static leat_status archive_with(leat_context *ctx, leat_array *array, const void *options) {
    (void)ctx;
    const leat_named_array named = {"a", array};
    leat_status status = leat_archive_save("/dev/null/compatibility.npz", &named, 1, options);
    return status == LEAT_FILE ? LEAT_OK : status;
}

static leat_status module_with(leat_context *ctx, leat_array *array, const void *options) {
    (void)array;
    leat_module *module = NULL;
    leat_status status = leat_module_new(ctx, "", options, &module);
    return status == LEAT_UNSUPPORTED ? LEAT_OK : status; /* the CPU runs no CUDA C */
}

static leat_status record_with(leat_context *ctx, leat_array *array, const void *options) {
    static const char *const command[] = {"/dev/null/no-such-command", NULL};
    (void)ctx, (void)array;
    leat_status status = leat_trace_record(command, options, NULL);
    return status == LEAT_FILE ? LEAT_OK : status;
}

static leat_status report_with(leat_context *ctx, leat_array *array, const void *options) {
    (void)ctx, (void)array;
    leat_trace *trace = NULL;
    assert_ok(leat_trace_open("tests/trace/small.trace", &trace));
    leat_status status =
        leat_trace_report_save(trace, LEAT_REPORT_OVERVIEW, LEAT_REPORT_TEXT, "/dev/null/compatibility.txt", options);
    leat_trace_free(trace);
    return status == LEAT_FILE ? LEAT_OK : status;
}

static leat_status account_with(leat_context *ctx, leat_array *array, const void *options) {
    (void)array;
    char *text = NULL;
    leat_status status = leat_account_print(ctx, LEAT_ACCOUNT_TEXT, options, &text);
    leat_memory_free(text);
    return status;
}

static const struct taker takers[] = {{"leat_options", sizeof(leat_options), open_with},
                                      {"leat_program_options", sizeof(leat_program_options), program_with},
                                      {"leat_save_options", sizeof(leat_save_options), save_with},
                                      {"leat_save_options", sizeof(leat_save_options), archive_with},
                                      {"leat_module_options", sizeof(leat_module_options), module_with},
                                      {"leat_trace_options", sizeof(leat_trace_options), record_with},
                                      {"leat_save_options", sizeof(leat_save_options), report_with},
                                      {"leat_account_options", sizeof(leat_account_options), account_with}};

/* A caller of any version may pass {0}, the size of an older and shorter struct, and that of a newer one whose further
 * fields are 0. */
static void test_sizes(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_array *array = array_of(ctx, LEAT_F64, 1, SHAPE(2), LIST(1, 2));
    for (size_t k = 0; k < sizeof takers / sizeof *takers; k++) {
        const struct taker *taker = &takers[k];
        size_t refused[] = {1, sizeof(size_t) - 1, SIZE_MAX};
        size_t *options = calloc(1, taker->size_bytes + 64); /* its first field is its size */
        assert_ok(taker->run(ctx, array, NULL));
        assert_ok(taker->run(ctx, array, options));
        for (*options = sizeof *options; *options <= taker->size_bytes + 64; *options += sizeof *options)
            assert_ok(taker->run(ctx, array, options));
        for (int m = 0; m < 3; m++) {
            *options = refused[m];
            assert_int_equal(taker->run(ctx, array, options), LEAT_INVALID);
        }
        *options = taker->size_bytes + 64;
        ((char *)options)[taker->size_bytes + 63] = 1;
        assert_int_equal(taker->run(ctx, array, options), LEAT_INVALID);
        leat_error error;
        assert_int_equal(leat_error_get(NULL, &error), LEAT_OK);
        assert_non_null(strstr(error.message, taker->type));
        *options = taker->size_bytes + 63; /* the field is not part of the struct */
        assert_ok(taker->run(ctx, array, options));
        free(options);
    }
    leat_array_free(array);
    leat_close(ctx);
}

/* Fields that a shorter struct lacks are 0, whatever lies behind it. */
static void test_shorter(void **state) {
    (void)state;
    leat_context *ctx = NULL;
    const leat_options wrong = {.struct_size = offsetof(leat_options, threads), .threads = -5, .ledger_level = 99};
    assert_ok(leat_open(&wrong, &ctx));
    leat_close(ctx);
    const leat_options whole = {.struct_size = sizeof whole, .threads = -5};
    assert_int_equal(leat_open(&whole, &ctx), LEAT_INVALID);
    const leat_options none = {.threads = -5}; /* struct_size 0: the fields of version 0.1 */
    assert_int_equal(leat_open(&none, &ctx), LEAT_INVALID);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_enumerators), cmocka_unit_test(test_sizes),
                                       cmocka_unit_test(test_shorter)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
