/* Helpers of the tests of the C interface: a context, arrays from values and back, one run of a text. */
#ifndef TESTS_API_SUPPORT_H
#define TESTS_API_SUPPORT_H
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <stdlib.h>
#include "leat.h"

#define ARRAY_LEN(a)                      (sizeof(a) / sizeof(*(a)))
#define assert_ok(expression)             assert_string_equal(leat_status_name(expression), leat_status_name(LEAT_OK))
#define assert_status(expression, status) assert_string_equal(leat_status_name(expression), leat_status_name(status))

static inline leat_context *open_context(void) {
    leat_context *ctx = NULL;
    assert_ok(leat_open(NULL, &ctx));
    assert_non_null(ctx);
    return ctx;
}

static inline leat_array *array_of(leat_context *ctx, leat_dtype dtype, int rank, const int64_t *shape,
                                   const void *values) {
    leat_array *array = NULL;
    size_t size_bytes = leat_dtype_size_bytes(dtype);
    for (int k = 0; k < rank; k++)
        size_bytes *= (size_t)shape[k];
    assert_ok(leat_array_new(ctx, dtype, rank, shape, LEAT_MEMORY_DEVICE, &array));
    if (values)
        assert_ok(leat_array_write(array, values, size_bytes, NULL, NULL));
    return array;
}

static inline leat_array *vector_f64(leat_context *ctx, int64_t count, const double *values) {
    return array_of(ctx, LEAT_F64, 1, &count, values);
}

static inline leat_program *program_of(leat_context *ctx, const char *text) {
    leat_program *program = NULL;
    assert_ok(leat_program_new(ctx, text, 0, NULL, &program));
    return program;
}

static inline leat_call *call_of(leat_program *program) {
    leat_call *call = NULL;
    assert_ok(leat_call_new(program, &call));
    return call;
}

/* Checks that the array's f64 elements are exactly these. */
static inline void assert_f64(const leat_array *array, size_t count, const double *expected) {
    double values[256];
    assert_true(count <= ARRAY_LEN(values));
    assert_ok(leat_array_read(array, values, count * sizeof *values, NULL, NULL));
    for (size_t k = 0; k < count; k++)
        assert_true(values[k] == expected[k]);
}

static inline void assert_result_f64(leat_call *call, const char *name, size_t count, const double *expected) {
    leat_array *array = NULL;
    assert_ok(leat_call_result(call, name, &array));
    assert_f64(array, count, expected);
    leat_array_free(array);
}
#define LIST(...)  ((const double[]){__VA_ARGS__})
#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})
/* The number of records of this kind and cause in the ledger. */
static inline size_t records_of(leat_context *ctx, leat_cost_kind kind, const char *cause) {
    size_t count = 0, found = 0;
    leat_cost cost;
    assert_ok(leat_ledger_count(ctx, &count));
    for (size_t k = 0; k < count; k++)
        found += !leat_ledger_get(ctx, k, &cost) && cost.kind == kind && strcmp(cost.cause, cause) == 0;
    return found;
}

#endif
