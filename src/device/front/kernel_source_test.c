/* Reading kernels' parameters from CUDA C, and that it ends for any text. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "device/front/kernel_source.h"
#include <stdio.h>
#include <string.h>

/* "f(const x:f32* n)": the names, with the types they point to; a kernel with differing declarations is "f?". */
static const struct {
    const char *text, *kernels;
} CASES[] = {
    {"", ""},
    {"__global__ void f() {}", "f()"},
    {"__global__ void f(void);", "f()"},
    {"extern \"C\" __global__ void saxpy(float a, const float *x, float *y, int n) {}",
     "saxpy(a const x:f32* y:f32* n)"},
    {"void __global__ f(double *__restrict__ a, const double *__restrict b, volatile int *c)",
     "f(a:f64* const b:f64* c:i32*)"},
    {"static __global__ __launch_bounds__(256, 2) void f(unsigned *x) {}", "f(x:i32*)"},
    {"__global__ void __launch_bounds__(N) __cluster_dims__(2, 1, 1) f(unsigned long long int *x) {}", "f(x:i64*)"},
    {"__global__ void __attribute__((used)) f(short x[], int64_t y[4], float z[2][3])", "f(x:i16* y:i64* z)"},
    {"__global__ void f(float2 *a, const double2 *b, struct float2 *c)", "f(a:c64* const b:c128* c)"},
    /* not known for certain */
    {"__global__ void f(void *a, char *b, unsigned char *c, bool *d, __half *e, double3 *f, uint8_t *g, real *h)",
     "f(a b c d e f g h)"},
    {"__global__ void f(float **a, float *&b, float (*c)[4], void (*d)(int), struct s *e, ns::t *h, std::size_t *g)",
     "f(a b - - e h g)"},
    {"template <class T, int N> __global__ void f(T *x, Array<T, N> y, const T z = T(1), int n = 3, float *w = p)",
     "f(x y z n w:f32*)"},
    {"__global__ void f(const __grid_constant__ params p, long double *x, long *y)", "f(p x y:i64*)"},
    {"__global__ void f(float, const float *, unsigned, long long, T)", "f(- const -:f32* - - -)"},
    {"__global__ void f(a b c d e g h i j k l m *x)", "f(x)"},
    /* const */
    {"__global__ void f(float const *a, float *const b, const float *const c, const T *d, const float e[], const U<V> "
     "*f)",
     "f(const a:f32* b:f32* const c:f32* const d const e:f32* const f)"},
    {"__global__ void f(const float **a, const float *const *b, const int c, A<const T> *d, float *e = (const float "
     "*)p)",
     "f(a b c d e:f32*)"},
    {"__global__ void f(const float *a); __global__ void f(float *a) {}", "f(a:f32*)"},
    /* text that is not code */
    {"// __global__ void f(int a)\n/* __global__ void g(int a) */ const char *s = \"__global__ void h(int a)\";", ""},
    {"#define KERNEL(name) __global__ void name(int a) \\\n  __global__ void f(int b)\n__global__ void g(int c)",
     "g(c)"},
    {"__global__ void f(float *x, /* in, out */ float *y // last\n , int n) { int k = 1'000; g(1, 2); }",
     "f(x:f32* y:f32* n)"},
    {"namespace a { __global__ void f(int x) {} } namespace b { __global__ void g(float *y) {} }", "f(x) g(y:f32*)"},
    {"__global__ void f;", ""},
    {"__global__ int x = 3; __global__ void f(int y)", "f(y)"},
    /* several declarations */
    {"__global__ void f(float *, int); __global__ void f(float *x, int n) {}", "f(x:f32* n)"},
    {"__global__ void f(float *a); __global__ void f(float *b) {}", "f?"},
    {"__global__ void f(float *a); __global__ void f(float *a, int n) {}", "f?"},
    {"#ifdef D\n__global__ void f(double *x) {}\n#else\n__global__ void f(float *x) {}\n#endif", "f(x)"},
    {"template <class T> __global__ void f(T *x) {} template <> __global__ void f<float>(float *x) {}", "f(x)"},
    {"template <class T> __global__ void f(T *x) {} template __global__ void f<ns::a<int>>(float *);", "f(x)"},
    /* cut short */
    {"__global__", ""},
    {"__global__ void f(", ""},
    {"__global__ void f(int a, float", ""},
    {"__global__ void f(int a[", ""},
    {"__global__ void f(int a /* ", ""},
};

static const char *type_text(leat_dtype dtype) {
    return dtype == LEAT_F32    ? ":f32*"
           : dtype == LEAT_F64  ? ":f64*"
           : dtype == LEAT_C64  ? ":c64*"
           : dtype == LEAT_C128 ? ":c128*"
           : dtype == LEAT_I16  ? ":i16*"
           : dtype == LEAT_I32  ? ":i32*"
           : dtype == LEAT_I64  ? ":i64*"
                                : "";
}

static const char *write_kernels(const struct le_source_kernels *kernels, struct le_arena *arena) {
    const char *text = "";
    for (int k = 0; k < kernels->count; k++) {
        const struct le_source_kernel *kernel = &kernels->at[k];
        text = le_arena_format(arena, "%s%s%s%s", text, k ? " " : "", kernel->name, kernel->is_ambiguous ? "?" : "(");
        for (int p = 0; p < kernel->parameters.count && !kernel->is_ambiguous; p++) {
            const struct le_source_parameter *parameter = &kernel->parameters.at[p];
            text = le_arena_format(arena, "%s%s%s%s%s", text, p ? " " : "", parameter->is_const ? "const " : "",
                                   *parameter->name ? parameter->name : "-", type_text(parameter->pointee));
        }
        text = le_arena_format(arena, "%s%s", text, kernel->is_ambiguous ? "" : ")");
    }
    return text;
}

static void test_cases(void **state) {
    struct le_arena arena;
    (void)state;
    le_arena_init(&arena);
    assert_int_equal(setjmp(arena.failure), 0);
    for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; k++) {
        struct le_source_kernels kernels = {0};
        print_message("%s\n", CASES[k].text);
        le_kernel_source_read(CASES[k].text, &arena, &kernels);
        assert_string_equal(write_kernels(&kernels, &arena), CASES[k].kernels);
    }
    le_arena_finish(&arena);
}

/* Reading any text ends and stays within bounds (the sanitizers check that). */
static void test_any_text(void **state) {
    static const char *const PIECES[] = {
        "__global__ ", "void ", "f",      "(",     ")", "[", "]", "{",  "}",  "<",  ">",
        ",",           ";",     "*",      "&",     "=", "#", "/", "*",  "\"", "'",  "\\",
        "\n",          " ",     "float ", "const", "x", "1", ":", "::", "/*", "//", "__launch_bounds__"};
    static uint32_t random = 12345; /* static: longjmp preserves it */
    struct le_arena arena;
    (void)state;
    le_arena_init(&arena);
    assert_int_equal(setjmp(arena.failure), 0);
    for (int round = 0; round < 20000; round++) {
        char text[400] = "__global__ void f(";
        for (int piece = (int)(random % 20); piece > 0; piece--) {
            random = random * 1664525u + 1013904223u;
            strcat(text, PIECES[(random >> 16) % (sizeof PIECES / sizeof *PIECES)]);
        }
        random = random * 1664525u + 1013904223u;
        struct le_source_kernels kernels = {0};
        le_kernel_source_read(text, &arena, &kernels);
    }
    le_arena_finish(&arena);
}

static const char PTX[] = ".visible .entry _Z3addPfS_i(.param .u64 p0, .param .u64 p1, .param .u32 p2) { }\n"
                          ".visible .entry plain(.param .u64 p0, .param .u64 p1) { }\n"
                          ".visible .entry ns::sim(.param .u64 .ptr .align 1 p0, .param .u64 .ptr .align 1 p1)\n"
                          ".pointees .f64 .none\n{ ret; }\n";

/* Facts from compiled code take precedence. If the parameter counts differ, the text is about another kernel. */
static void test_refining(void **state) {
    struct le_ptx ptx;
    (void)state;
    assert_int_equal(le_ptx_read(PTX, &ptx), LEAT_OK);
    const struct le_ptx_kernel *at = ptx.kernels.at;
    assert_int_equal(at[0].parameters[0].pointee, LEAT_F32);
    assert_int_equal(at[0].parameters[1].pointee, LEAT_F32);
    assert_int_equal(at[1].parameters[0].pointee, 0);
    assert_string_equal(at[1].parameters[0].name, "");
    le_kernel_source_refine(
        "__global__ void add(float *x, float *y); extern \"C\" __global__ void plain(const int *a, long n);"
        "namespace ns { __global__ void sim(real *b, T *c); }",
        &ptx);
    assert_string_equal(at[0].parameters[0].name, ""); /* it has three parameters */
    assert_string_equal(at[1].parameters[0].name, "a");
    assert_int_equal(at[1].parameters[0].pointee, LEAT_I32);
    assert_true(at[1].parameters[0].is_const);
    assert_true(at[1].parameters[0].is_declared_pointer);
    assert_false(at[1].parameters[1].is_declared_pointer);
    assert_true(at[2].parameters[1].is_declared_pointer);
    assert_false(at[1].parameters[1].is_const);
    assert_string_equal(at[1].parameters[1].name, "n");
    assert_int_equal(at[1].parameters[1].pointee, 0);
    assert_string_equal(at[2].parameters[0].name, "b");
    assert_int_equal(at[2].parameters[0].pointee, LEAT_F64);
    assert_int_equal(at[2].parameters[1].pointee, 0);
    le_ptx_finish(&ptx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_any_text),
                                       cmocka_unit_test(test_refining)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
