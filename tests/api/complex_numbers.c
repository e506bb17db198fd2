/* Complex numbers in the C interface: arrays, numbers, results in the caller's arrays. */
#define _POSIX_C_SOURCE 200809L
#include "support.h"
#include <stdio.h>

static leat_array *complex_of(leat_context *ctx, int rank, const int64_t *shape, const double *parts) {
    return array_of(ctx, LEAT_C128, rank, shape, parts);
}

static void assert_parts(const leat_array *array, size_t count, const double *parts) {
    assert_f64(array, 2 * count, parts);
}

static void assert_complex(leat_call *call, const char *name, size_t count, const double *parts) {
    leat_array *array = NULL;
    assert_ok(leat_call_result(call, name, &array));
    assert_parts(array, count, parts);
    leat_array_free(array);
}

static void test_numbers(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_program *program = program_of(ctx, "y = a * b + 1");
    leat_call *call = call_of(program);
    leat_array *strong = complex_of(ctx, 0, NULL, LIST(0, 2));
    assert_ok(leat_call_set_c128(call, "a", 1, 2));
    assert_ok(leat_call_set_c128(call, "b", 0, 1));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_complex(call, "y", 1, LIST(-1, 1));
    assert_ok(leat_call_set_c128(call, "b", 2, 0));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_complex(call, "y", 1, LIST(3, 4));
    assert_ok(leat_call_set_array(call, "b", strong));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_complex(call, "y", 1, LIST(-3, 2));
    assert_ok(leat_call_set_f64(call, "b", 2));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_complex(call, "y", 1, LIST(3, 4));
    assert_ok(leat_call_set_i64(call, "a", 4));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_result_f64(call, "y", 1, LIST(9));
    leat_array_free(strong);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
}

/* Dense, strided and reversed targets, and an input's own array. */
static void test_targets(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_program *program = program_of(ctx, "z[i] = z[i] * w[i]");
    leat_call *call = call_of(program);
    leat_array *z = complex_of(ctx, 1, SHAPE(3), LIST(1, 1, 2, 0, 0, 3)),
               *w = complex_of(ctx, 1, SHAPE(3), LIST(0, 1, 1, 1, 2, 0));
    leat_array *wide = NULL, *spread = NULL, *real = vector_f64(ctx, 3, LIST(0, 0, 0));
    assert_ok(leat_array_new(ctx, LEAT_C128, 1, SHAPE(6), LEAT_MEMORY_DEVICE, &wide));
    assert_ok(leat_array_slice(wide, SHAPE(4), SHAPE(-1), SHAPE(-2), &spread));
    assert_ok(leat_call_set_array(call, "z", z));
    assert_ok(leat_call_set_array(call, "w", w));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_complex(call, "z", 3, LIST(-1, 1, 2, 2, 0, 6));
    assert_parts(z, 3, LIST(1, 1, 2, 0, 0, 3));
    assert_ok(leat_call_want(call, "z", spread));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_parts(wide, 6, LIST(0, 6, 0, 0, 2, 2, 0, 0, -1, 1, 0, 0));
    assert_ok(leat_call_want(call, "z", z));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_parts(z, 3, LIST(-1, 1, 2, 2, 0, 6));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_parts(z, 3, LIST(-1, -1, 0, 4, 0, 12));
    assert_ok(leat_call_want(call, "z", real));
    assert_status(leat_call_run(call, NULL, NULL), LEAT_MISMATCH);
    leat_array_free(real);
    leat_array_free(spread);
    leat_array_free(wide);
    leat_array_free(w);
    leat_array_free(z);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
}

static void test_eval(void **state) {
    (void)state;
    leat_context *ctx = open_context();
    leat_array *z = complex_of(ctx, 1, SHAPE(2), LIST(1, 2, 3, 4));
    const leat_binding inputs[] = {
        {.name = "z", .array = z}, {.name = "a", .kind = LEAT_VALUE_C128, .f64 = 0, .im = 1}, {.name = NULL}};
    leat_binding results[] = {{.name = "y"}, {.name = "s"}, {.name = NULL}};
    for (int round = 0; round < 2; round++) {
        assert_ok(leat_eval(ctx, "y[i] = z[i] * a\ns = sum(i: z[i])", inputs, results));
        assert_parts(results[0].array, 2, LIST(-2, 1, -4, 3));
        assert_parts(results[1].array, 1, LIST(4, 6));
        leat_array_free(results[0].array);
        leat_array_free(results[1].array);
    }
    leat_array_free(z);
    leat_close(ctx);
}

static void put_link(FILE *out, const char *link, int number) {
    for (; *link; link++)
        if (*link == '#' || *link == '@')
            fprintf(out, "%d", *link == '#' ? number : number - 1);
        else
            fputc(*link, out);
}

/* Evaluates a chain of `count` defs and calls the last one with x = 1. The first def is `first`; the others take the
 * texts of `links` in turn. In the texts, # is the number of the def, and @ the number of the one before it. */
static void assert_chain(int count, const char *first, const char *const *links, int kinds, const double want[2]) {
    leat_context *ctx = open_context();
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    fputs(first, out);
    for (int k = 1; k < count; k++)
        put_link(out, links[k % kinds], k);
    fprintf(out, "y = link%d(x)\n", count - 1);
    fclose(out);
    leat_program *program = program_of(ctx, text);
    leat_call *call = call_of(program);
    assert_ok(leat_call_set_c128(call, "x", 1, 0));
    assert_ok(leat_call_run(call, NULL, NULL));
    assert_complex(call, "y", 1, want);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
    free(text);
}

/* A call of a def computes both parts together, so the cost of a chain is the sum of its links. If each part were
 * computed separately, this chain would make 2^60 calls. With f0(z) = z and fk(z) = fj(z) * 1j + z, f61(1) is 1 + 1j.
 */
static void test_chain_of_defs(void **state) {
    (void)state;
    static const char *const links[] = {
        "def link#(z) { return abs(z) < 9 ? link@(z) * 1j + z : z }\n",
        "def link#(z) { var w = z; var t = 0; while t < 1 { w = link@(w) * 1j + z; t += 1 }; return w }\n",
        "def link#(z) { if re(z) > 9 { return z }; return link@(z) * 1j + z }\n"};
    assert_chain(62, "def link0(z) { w = z; return w }\n", links, 3, LIST(1, 1));
}

/* The same for a sum inside sums, nearly as deep as the limit of 16 indices per statement. f13(1) is 1 + 1j. */
static void test_chain_of_sums(void **state) {
    (void)state;
    static const char *const links[] = {
        "def link#(z) { return sum(k in 0..1: link@(z)) * 1j + z }\n",
        "def link#(z) = mean(k in 0..1: link@(z + k)) * 1j + z\n",
        "def link#(z) { var w = z; for t in 0..1 { w = sum(k in 0..1: link@(w - k)) * 1j + z }; return w }\n",
        "def link#(z) = abs(z) < 9 ? sum(k in 0..1: link@(z)) * 1j + z : z\n"};
    assert_chain(14, "def link0(z) = z\n", links, 4, LIST(1, 1));
    assert_chain(14, "def link0(z) = z\n", links + 1, 1, LIST(1, 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_numbers), cmocka_unit_test(test_targets),
                                       cmocka_unit_test(test_eval), cmocka_unit_test(test_chain_of_defs),
                                       cmocka_unit_test(test_chain_of_sums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
