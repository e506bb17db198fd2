/* Long programs: a program eight times as long takes about eight times as long to check, plan and run, for several
 * kinds of statements. Each kind is measured at two lengths in processor time; the shortest of a few measurements
 * counts. Quadratic work gives a ratio of 64; caches shared with other processes can give up to 20. Times below 0.1 s
 * are too short to compare, and pass. */
#define _POSIX_C_SOURCE 200809L
#include "support.h"
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <time.h>

enum { LENGTH = 1000, TIMES = 8, TRIES = 5 };
#define RATIO_MAX (4.0 * TIMES)
#define TELLS_S   0.1

/* The text repeats `first`, then `second`; in each repetition `#` is its number. */
struct kind {
    const char *name, *before, *first, *start, *second, *after;
};

static const struct kind kinds[] = {
    {"returns of a def", "def f(x) {\n t = x\n", " if x == # { return t }\n t = t + 0.5\n", " return t\n}\n", "",
     "y[i] = f(f32(i)) where i in 0..8\n"},
    {"breaks of an element's loop", "out y: f32[8]\neach i in 0..8 {\n s = f32(i)\n for k in 0..4 {\n",
     "  s = s + 1\n  if s > # { break }\n", " }\n y[i] = s\n}\n", "", ""},
    {"breaks of a host's loop", "var s = 0.0\nfor k in 0..4 {\n", " s = s + 1\n if s > 100 + # { break }\n",
     "}\ny = s\n", "", ""},
    {"loops in a def", "def f(x) {\n s = x\n", " for k in 0..2 { s = s + # * k }\n", " return s\n}\n", "",
     "y[i] = f(f32(i)) where i in 0..8\n"},
    {"variables of a loop", "", "var s# = 0\n", "for t in 0..3 {\n", " s# += 1\n", "}\n"},
    {"variables and breaks of a loop", "", "var s# = 0\n", "for t in 0..3 {\n", " s# += 1\n if s# > 9 { break }\n",
     "}\ny = s0\n"},
    {"arrays that an each writes", "", "out y#: f32[8]\n", "each i in 0..8 {\n", " y#[i] = # + i\n", "}\n"},
    {"arrays that a loop of elements changes", "", "a#[i] = f32(i) where i in 0..8\n", "for t in 0..2 {\n",
     " b[i] = a#[i] + 1\n a#[i] = b[i]\n", "}\ny[i] = a0[i]\n"},
    {"branches of an element", "out y: f32[8]\neach i in 0..8 {\n s = f32(i)\n", " if s < # { s = s + 1 }\n",
     " y[i] = s\n}\n", "", ""},
    {"branches of the host", "var s = 0.0\nvar a = 2\n", "if a > # { s = s + 1 }\n", "y = s\n", "", ""},
    {"a chain of arrays", "a[i] = f32(i) where i in 0..8\n", "b[i] = a[i] + #\na[i] = b[i-1] * 0.5 else 0\n",
     "y[i] = a[i]\n", "", ""},
    {"results", "", "y#[i] = # + i where i in 0..8\n", "", "", ""},
    {"calls of a def", "def f(x) { if x > 3 { return 1.0 }\n return x + 2.0 }\n",
     "y#[i] = f(f32(i) + #) where i in 0..8\n", "", "", ""},
};

/* ---- texts */

static void add(FILE *out, const char *text, int turn) {
    for (; *text; text++)
        if (*text == '#')
            fprintf(out, "%d", turn);
        else
            fputc(*text, out);
}

static char *text_of(const struct kind *kind, int turns) {
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    fputs(kind->before, out);
    for (int k = 0; k < turns; k++)
        add(out, kind->first, k);
    fputs(kind->start, out);
    for (int k = 0; k < turns; k++)
        add(out, kind->second, k);
    fputs(kind->after, out);
    fclose(out);
    return text;
}

/* ---- times */

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double time_of(leat_context *ctx, const char *text) {
    leat_call *call = NULL;
    double start_s = now_s();
    leat_program *program = program_of(ctx, text);
    assert_ok(leat_call_new(program, &call));
    if (leat_call_run(call, NULL, NULL) != LEAT_OK)
        fail_msg("%s", leat_error_text(ctx));
    leat_call_free(call);
    leat_program_free(program);
    return now_s() - start_s;
}

static bool is_too_long(double short_s, double longer_s) {
    return longer_s > TELLS_S && longer_s > RATIO_MAX * short_s;
}

static void test_cost_is_linear(void **state) {
    const struct kind *kind = *state;
    leat_context *ctx = open_context();
    char *text = text_of(kind, LENGTH), *longer = text_of(kind, TIMES * LENGTH);
    double short_s = time_of(ctx, text), longer_s = time_of(ctx, longer);
    for (int k = 1; k < TRIES && is_too_long(short_s, longer_s); k++) {
        double short_again_s = time_of(ctx, text), longer_again_s = time_of(ctx, longer);
        short_s = short_again_s < short_s ? short_again_s : short_s;
        longer_s = longer_again_s < longer_s ? longer_again_s : longer_s;
    }
    if (is_too_long(short_s, longer_s))
        fail_msg("%s: %d take %.3f s, %.1f times as long as %d", kind->name, TIMES * LENGTH, longer_s,
                 longer_s / short_s, LENGTH);
    leat_close(ctx);
    free(text);
    free(longer);
}

/* ---- programs that are too long */

static void test_what_is_too_large_is_told_with_its_line(void **state) {
    (void)state;
    static const struct kind large = {"",
                                      "out y: f32[8]\nz = 1.0\neach i in 0..8 {\n s = f32(i)\n",
                                      " if s < # { s = s + # } else { s = s - 0.5 }\n",
                                      " y[i] = s\n}\n",
                                      "",
                                      ""};
    leat_context *ctx = open_context();
    char *text = text_of(&large, 10000);
    leat_program *program = program_of(ctx, text);
    leat_call *call = NULL;
    leat_error error;
    assert_ok(leat_call_new(program, &call));
    assert_status(leat_call_run(call, NULL, NULL), LEAT_PROGRAM);
    assert_ok(leat_error_get(ctx, &error));
    assert_int_equal(error.line, 3);
    assert_non_null(strstr(leat_error_text(ctx), "too large for one kernel"));
    assert_non_null(strstr(leat_error_text(ctx), "^~~~"));
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
    free(text);
}

/* Keeps freed memory, so that only the first measurement pays for page faults. Otherwise long programs would pay each
 * time, and short ones would not. */
static void keep_memory(void) {
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
}

int main(void) {
    keep_memory();
    struct CMUnitTest tests[ARRAY_LEN(kinds) + 1];
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
        tests[k] = (struct CMUnitTest){
            .name = kinds[k].name, .test_func = test_cost_is_linear, .initial_state = (void *)(uintptr_t)&kinds[k]};
    tests[ARRAY_LEN(kinds)] = (struct CMUnitTest)cmocka_unit_test(test_what_is_too_large_is_told_with_its_line);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
