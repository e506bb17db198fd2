/* The texts of kernels. Every construct of the language compiles for every architecture, if NVRTC is available. The
 * text is the same for other extents, strides and numbers. A few texts are compared in full. */
#include "gen/kernel_testing.h"
#include "device/cuda/cuda_libraries.h"
#include "gen/device_code.h"
#include "gen/tree/ktree.h"
#include <stdio.h>

struct made {
    struct le_arena arena;
    struct le_space space;
    struct le_kernel kernel;
    struct le_generated_launches launches;
};

/* "x: f32[n]": declared inputs keep their type, all others are f64. */
static struct le_ir *lower_text(struct le_arena *arena, const char *text) {
    struct le_tree *tree = le_check(arena, text, strlen(text));
    if (!tree)
        fail_msg("%s\n%s", le_errors_text(), text);
    int count, *wanted = le_tree_results(arena, tree, &count);
    struct le_input *inputs = LE_NEW_ARRAY(arena, tree->symbol_count, struct le_input);
    for (int k = 0; k < tree->symbol_count; k++) {
        const struct le_symbol *s = tree->symbols[k];
        if (s->is_input && !s->optional)
            inputs[k] = (struct le_input){true, s->is_array, s->declared != LE_NONE ? s->declared : LE_F64,
                                          s->is_array ? s->rank : 0};
    }
    tree = le_specialise(arena, tree, inputs);
    struct le_ir *ir = tree ? le_lower(arena, tree, inputs, wanted, count) : NULL;
    if (!ir || le_passes_run(ir) != LEAT_OK)
        fail_msg("%s\n%s", le_errors_text(), text);
    return ir;
}

static bool is_aligned(void *user, int value) {
    (void)user, (void)value;
    return true;
}

static void generate(struct made *m, const char *program, const char *arrays) {
    static const struct le_device_facts facts = {.multiprocessors = 132,
                                                 .block_threads = 1024,
                                                 .shared_bytes = 48 << 10,
                                                 .capability = 90,
                                                 .is_aligned = is_aligned};
    *m = (struct made){.kernel = {.threads = 1}};
    le_arena_init(&m->arena);
    if (setjmp(m->arena.failure))
        fail_msg("out of memory");
    struct le_ir *ir = lower_text(&m->arena, program);
    set_up_kernel(&m->kernel, &m->space, &m->arena, ir, arrays, 1);
    for (int k = 0; k < ir->stages.count; k++) {
        struct le_device_kernel_job job = {.kernel = m->kernel, .facts = &facts, .action = k};
        job.kernel.stage = &ir->stages.at[k];
        if (job.kernel.stage->dead || job.kernel.stage->kind >= LE_STAGE_MOVE)
            continue;
        if (le_device_generate(&job, &m->launches) != LEAT_OK)
            fail_msg("%s\n%s", le_errors_text(), program);
    }
    for (int k = 0; k < m->launches.count; k++) {
        if (le_ktree_verify(m->launches.at[k].tree) != LEAT_OK)
            fail_msg("%s\n%s", le_errors_text(), program);
    }
}

/* ---- every architecture */

static void compile(const struct le_nvrtc *nvrtc, const char *text, const char *architecture) {
    const char *options[] = {architecture, "--fmad=false"};
    le_nvrtc_program program;
    assert_int_equal(nvrtc->CreateProgram(&program, text, "kernel.cu", 0, NULL, NULL), LE_NVRTC_SUCCESS);
    if (nvrtc->CompileProgram(program, 2, options) != LE_NVRTC_SUCCESS) {
        size_t size = 0;
        nvrtc->GetProgramLogSize(program, &size);
        char *log = calloc(size + 1, 1);
        nvrtc->GetProgramLog(program, log);
        fail_msg("%s\n%s\n%s", architecture, log, text);
    }
    nvrtc->DestroyProgram(&program);
}

/* For one architecture after the other; with LEAT_TEST_ALL for each. */
static void compiles(const char *program, const char *arrays) {
    static const char *const architectures[] = {"-arch=sm_75", "-arch=sm_90", "-arch=sm_100"};
    const struct le_nvrtc *nvrtc = NULL;
    struct made m;
    int version;
    generate(&m, program, arrays);
    if (le_nvrtc_open(&nvrtc, &version) != LEAT_OK) {
        print_message("no NVRTC: %s\n", le_errors_text());
        le_errors_clear();
    }
    for (int k = 0; k < m.launches.count; k++) {
        assert_null(strstr(m.launches.at[k].text, "#include"));
        for (size_t a = 0; nvrtc && a < (getenv("LEAT_TEST_ALL") ? ARRAY_LEN(architectures) : 1); a++)
            compile(nvrtc, m.launches.at[k].text, architectures[((size_t)k + a) % ARRAY_LEN(architectures)]);
    }
    le_arena_finish(&m.arena);
}

/* All operators and functions of a type in one kernel: integers, then floats. */
static void operations_compile(void **state) {
    static const char *const types[] = {"i8",  "i16", "i32", "i64",  "u8",  "u16",
                                        "u32", "u64", "f16", "bf16", "f32", "f64"};
    (void)state;
    for (size_t t = 0; t < ARRAY_LEN(types); t += getenv("LEAT_TEST_ALL") ? 1 : 2) {
        bool is_float = strchr(types[t], 'f') != NULL;
        char *program = malloc(4096);
        snprintf(
            program, 4096,
            "in a: %s[n], b: %s[n]\n"
            "y[i] = a[i] + b[i] - a[i] * b[i] + a[i] // b[i] + a[i] %% b[i] + a[i] ** b[i] + abs(a[i]) + sign(b[i])"
            " + min(a[i], b[i]) + max(a[i], b[i]) + fmin(a[i], -b[i]) + fmax(a[i], b[i]) + clamp(a[i], b[i], 3)"
            " + floor(a[i]) + round(b[i]) + (a[i] < b[i]) + (a[i] == b[i] && !(b[i] >= a[i]))%s\n"
            "p[i] = f16(a[i]); q[i] = bf16(a[i]); r[i] = f32(b[i]); s[i] = f64(b[i])\n"
            "t[i] = i8(a[i]) + u8(b[i]); u[i] = i16(a[i]) + u16(b[i]); v[i] = i32(a[i]) + u32(b[i])\n"
            "w[i] = bool(a[i]) | bool(b[i]); x[i] = i64(a[i]); z[i] = u64(b[i])\n",
            types[t], types[t],
            is_float
                ? " + ceil(a[i]) + trunc(b[i]) + isnan(a[i]) + isinf(a[i]) + isfinite(b[i]) + fma(a[i], b[i], a[i])"
                : " + (a[i] & b[i]) + (a[i] | b[i]) + (a[i] ^ b[i]) + (a[i] << b[i]) + (a[i] >> b[i]) + ~a[i]"
                  " + popcount(b[i])");
        compiles(program, "a 100, b 100");
        free(program);
    }
    compiles("in a: bool[n], b: bool[n]\ny[i] = (a[i] + b[i]) | (a[i] * b[i]) & min(a[i], b[i]) ^ max(a[i], ~b[i])",
             "a 100, b 100");
}

static void functions_compile(void **state) {
    static const char program[] =
        "in a: %s[n], b: %s[n]\n"
        "y[i] = sqrt(a[i]) + rsqrt(a[i]) + cbrt(a[i]) + exp(a[i]) + exp2(a[i]) + expm1(a[i]) + log(a[i]) + log2(a[i])"
        " + log10(a[i]) + log1p(a[i]) + sin(a[i]) + cos(a[i]) + tan(a[i]) + asin(a[i]) + acos(a[i]) + atan(a[i])"
        " + atan2(a[i], b[i]) + sinh(a[i]) + cosh(a[i]) + tanh(a[i]) + asinh(a[i]) + acosh(a[i]) + atanh(a[i])"
        " + erf(a[i]) + erfc(a[i]) + lgamma(a[i]) + tgamma(a[i]) + hypot(a[i], b[i]) + a[i] ** b[i]\n"
        "z[i] = rand(7, i) + randn(7, i, i, i) * a[i]\n";
    char text[1024];
    (void)state;
    snprintf(text, sizeof text, program, "f32", "f32");
    compiles(text, "a 100, b 100");
    snprintf(text, sizeof text, program, "f64", "f64");
    compiles(text, "a 100, b 100");
}

static void accesses_compile(void **state) {
    (void)state;
    compiles("in a: f32[n, m], at: i32[n]\nedge a wrap\np[i,j] = a[i-1,j+2]\nedge a mirror\nq[i,j] = a[i-1,j+2]\n"
             "edge a symmetric\nr[i,j] = a[i-1,j+2]\nedge a clamp\ns[i,j] = a[at[i],j]\nedge a fill(0.5)\n"
             "t[i,j] = a[i-1,j-1]\nedge a none\nu[i,j] = a[i-1,j] else 1 / a[i,j]\nv[i] = a[at[i], 0]\n"
             "w[i] = at[i] > 0 ? a[at[i], at[i]] : sum(k in 0..at[i]: a[i,k])\n"
             "x[...,j] = a[...,j] * 2\ny[i,j] = a[n-1-i, m-1-j]",
             "a 30 40, at 30");
}

static void reductions_compile(void **state) {
    (void)state;
    compiles("in a: f32[n, m], k: i16[n, m], b: bool[n, m]\np[i] = sum(j: a[i,j]); q[i] = prod(j: a[i,j])\n"
             "r[i] = min(j: a[i,j]) + max(j: k[i,j]); s[i] = argmin(j: a[i,j]) + argmax(j: k[i,j])\n"
             "t[i] = any(j: b[i,j]) && all(j: b[i,j]); u[j] = mean(i: a[i,j]); v = sum(i,j: k[i,j])\n"
             "w[i] = sum(j in 0..i: sum(l in 0..j: a[i,l] * a[i,j]))\n",
             "a 30 40, k 30 40, b 30 40");
}

static void scans_and_scatters_compile(void **state) {
    (void)state;
    compiles("in a: f32[n, m], k: i32[n, m], at: i64[n]\np[i,j] = sum(l in 0..j+1: a[i,l]); q[i,j] = prod(l in j..m: "
             "a[i,l])\n"
             "r[i,j] = max(l in 0..j+1: a[i,l]); s[i,j] = argmin(l in j..m: k[i,l])\n"
             "out t: f32[8], u: i64[8], v: i16[8], w: f64[8], x: bool[8], y: u8[8]\n"
             "t[at[i]] = a[i,0]; t[at[i]] += a[i,1]; t[at[i]] max= a[i,2]; u[at[i]] += 1; u[at[i]] min= k[i,0]\n"
             "v[at[i]] += 1; v[at[i]] *= 3; w[at[i]] /= 2; x[at[i]] += k[i,0] > 3; y[at[i]] += 1\n",
             "a 30 40, k 30 40, at 30");
}

static void blocks_compile(void **state) {
    (void)state;
    compiles(
        "in a: f32[n, m], at: i64[n]\n"
        "def steps(x, most) {\n  k = 0\n  while true {\n    if x > 4 { return k }\n    if k == most { break }\n"
        "    x = x * x; k += 1\n  }\n  return -1\n}\n"
        "p[i,j] = steps(a[i,j], 50)\nout y: f32[n, m], z: f32[n]\n"
        "each r { s = 0.0; for j in 0..m { s = 0.9 * s + a[r,j]; if s > 3 { s = s - sum(l: a[r,l]) }; y[r,j] = s } }\n"
        "each r { z[at[r]] += a[r,0] }\n",
        "a 30 40, at 30");
}

/* ---- one text for all extents */

static void is_same(const char *program, const char *arrays, const char *others) {
    struct made a, b;
    generate(&a, program, arrays);
    generate(&b, program, others);
    assert_int_equal(a.launches.count, b.launches.count);
    for (int k = 0; k < a.launches.count; k++) {
        const struct le_generated_launch *x = &a.launches.at[k], *y = &b.launches.at[k];
        assert_string_equal(x->text, y->text);
        assert_int_equal(x->argument_count, y->argument_count);
        for (int q = 0; q < x->argument_count; q++) {
            assert_int_equal(x->arguments[q].kind, y->arguments[q].kind);
            assert_int_equal(x->arguments[q].value, y->arguments[q].value);
        }
    }
    le_arena_finish(&a.arena);
    le_arena_finish(&b.arena);
}

static void texts_know_no_numbers(void **state) {
    (void)state;
    is_same("in a: f32[n, m], b: f32[m]\ny[i,j] = a[i,j] + b[j] * n", "a 30 41, b 41", "a 2000 37, b 37");
    is_same("in a: f32[n, m]\ny[i,j] = a[j,i] * 2 else 0", "a 30 41", "a 500 37");
    is_same("in a: f32[n, m]\ny[i,j] = a[i-1,j] + a[i,j+1] else 0", "a 30 41 by 64 1", "a 500 37 by 100 1");
    is_same("in a: f32[n, m], at: i64[n]\nout h: i64[5]\nh[at[i]] += 1", "a 30 41, at 30", "a 70 1, at 70");
    is_same("in a: f64[n]\nc[i] = sum(k in 0..i+1: a[k])", "a 1000", "a 1001");
    is_same("in a: f64[n]\nc[i] = sum(k in 0..i+1: a[k])", "a 20", "a 32");
    is_same("in a: f64[n]\nout y: f64[n]\ny[i] = a[3*i+2] where i in 1..5", "a 30", "a 300");
}

/* ---- names */

static void has(const char *program, const char *arrays, const char *words) {
    struct made m;
    bool found = false;
    generate(&m, program, arrays);
    for (int k = 0; k < m.launches.count; k++)
        found |= strstr(m.launches.at[k].text, words) != NULL;
    if (!found)
        fail_msg("no %s in\n%s", words, m.launches.at[0].text);
    le_arena_finish(&m.arena);
}

static void texts_are_named_after_the_program(void **state) {
    (void)state;
    has("in speed: f32[n]\nslow[i] = speed[i] / 2", "speed 30", "// slow[i] = speed[i] / 2\n");
    has("in speed: f32[n]\nslow[i] = speed[i] / 2", "speed 30", " slow_");
    has("in x: f32[n]\ny[i] = x[i]  # what it is\n  / 2   # and by what", "x 30", "// y[i] = x[i] / 2\n");
    has("in x: f32[n]\nout y: f32[4]\neach i {  # four\n  s = x[i]\n  y[i] = s\n}", "x 4", "// each i {\n");
    has("in x: f32[n]\nout y: f32[4]\neach i { s = x[i]; y[i] = s * 2 }", "x 4", "        // y[i] = s * 2\n");
    has("in speed: f32[n]\nslow[i] = speed[i] / 2", "speed 30", "const float *speed");
    /* words of C, of CUDA and of the prelude are not taken for names */
    has("in float: f32[n]\ndouble[i] = float[i] / 2", "float 30", "const float *v_float");
    has("in fmaf: f32[n], le_min: f32[n]\nint[i] = fmaf[i] + le_min[i]", "fmaf 30, le_min 30", "const float *v_le_min");
}

/* What both sides of a choice need, twelve deep: made a few times, and not 4,096 times. */
static void choices_inside_of_choices_stay_short(void **state) {
    static const char program[] = "in x: f64[n]\n"
                                  "def f(a, c) = c > 0 ? exp(a) : sin(a)\n"
                                  "def g(a, c) = f(f(f(f(a, c - 1), c - 2), c - 3), c - 4)\n"
                                  "y[i] = g(g(g(x[i], x[i]), x[i] / 2), x[i] / 4)\n";
    struct made m;
    (void)state;
    generate(&m, program, "x 100");
    assert_int_equal(m.launches.count, 1);
    assert_in_range(strlen(m.launches.at[0].text), 1000, 30000);
    le_arena_finish(&m.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_compile),
        cmocka_unit_test(functions_compile),
        cmocka_unit_test(accesses_compile),
        cmocka_unit_test(reductions_compile),
        cmocka_unit_test(scans_and_scatters_compile),
        cmocka_unit_test(blocks_compile),
        cmocka_unit_test(texts_know_no_numbers),
        cmocka_unit_test(texts_are_named_after_the_program),
        cmocka_unit_test(choices_inside_of_choices_stay_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
