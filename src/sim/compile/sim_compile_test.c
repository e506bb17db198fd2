/* The compiler's interface: errors with the user's file and line, options, headers, names, the substitute for PTX, the
 * cache, and the limits of the subset. */
#include "sim/grid/sim_exec_testing.h"
#include "base/scratch_folder.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static leat_status compile(const char *source, const char *const *options, int option_count, const char *expression,
                           struct sim_compiled *compiled) {
    const char *const expressions[] = {expression};
    struct sim_compile_options o = {.source = source,
                                    .name = "folder/kernel.cu",
                                    .options = options,
                                    .option_count = option_count,
                                    .expressions = expressions,
                                    .expression_count = expression ? 1 : 0};
    return le_sim_compile(&o, compiled);
}

static void expect_log(const struct sim_compiled *compiled, const char *words) {
    if (!strstr(compiled->log, words))
        print_error("not in the log: %s\n%s\n", words, compiled->log);
    assert_non_null(strstr(compiled->log, words));
}

static void errors_have_the_users_line(void **state) {
    (void)state;
    static const struct {
        const char *source, *log;
    } rows[] = {
        {"\n__global__ void k(float *x) {\n  x[0] = y;\n}\n", "folder/kernel.cu(3): error: 'y' was not declared"},
        {"__global__ void k(float *x) {\n  x[0] = 1\n}\n", "folder/kernel.cu(2): error: expected ';'"},
        {"#include <absent.h>\n", "folder/kernel.cu(1): catastrophic error: absent.h: No such file"},
        {"__global__ int k() { return 1; }\n", "(1): error: a __global__ function must have a void return type"},
        {"__global__ void k() {\n __shared__ int x = 3;\n}\n", "(2): error: an initializer is not allowed"},
        {"__global__ void k() {\n#line 90 \"other.cuh\"\n asm(\"bar.sync 0;\");\n}\n",
         "other.cuh(90): error: inline PTX (asm) is not supported by the simulator"},
        {"__global__ void f() {}\n__global__ void k() {\n f<<<1, 1>>>();\n}\n",
         "(3): error: a launch from a kernel (\"<<<\", dynamic parallelism) is not supported"},
        {"__global__ void k(cudaTextureObject_t t) {}\n", "(1): error: a texture is not supported by the simulator"},
        {"__global__ void k(int *x) {}\n__global__ void k(float *x) {}\n", "(2): error: kernel \"k\" is overloaded"},
        {"__device__ int later(int);\n__global__ void k(int *x) { *x = later(1); }\n",
         "undefined reference to `later(int)'"},
        {"template <class T> struct S { T at[T::size]; };\n\n__global__ void k() { S<int> s; }\n",
         "(1): error: 'size' is not a member of 'int'"},
        {"template <int N> __global__ void __cluster_dims__(N) k() {}\n",
         "(1): error: a cluster of a kernel template is not supported by the simulator"},
        {"namespace n {\nconst int two = 2;\n__global__ void __cluster_dims__(two) k() {}\n}\n",
         "(3): error: the extents of a cluster must be numbers in the simulator"},
        {"__global__ void k() { throw 1; }\n", "(1): error: exception handling disabled"},
    };
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        struct sim_compiled compiled;
        leat_status status = compile(rows[k].source, NULL, 0, NULL, &compiled);
        assert_int_equal(status, LEAT_PROGRAM);
        expect_log(&compiled, rows[k].log);
        expect_log(&compiled, "detected in the compilation of \"folder/kernel.cu\"");
        assert_null(strstr(compiled.log, "leat_sim")); /* our own names do not appear */
        le_sim_compiled_finish(&compiled);
    }
}

static void options_of_nvrtc_are_accepted(void **state) {
    (void)state;
    static const char *const good[] = {
        "-DA=3",        "-D",          "B=4",       "--define-macro=C=5", "-DT=8", "-DN",
        "--std=c++14",  "-arch=sm_80", "-lineinfo", "--use_fast_math",    "-I",    "/nowhere",
        "--fmad=false", "-w"};
    const char *source = "#if __CUDA_ARCH__ != 800 || !defined(__CUDACC_RTC__)\n#error wrong\n#endif\n"
                         "#include <cooperative_groups.h>\n#include <cuda_bf16.h>\n"
                         "__global__ void k(int *x) { *x = A + B + C + T + N; }\n";
    struct sim_compiled compiled;
    leat_status status = compile(source, good, (int)ARRAY_LEN(good), NULL, &compiled);
    if (status)
        print_error("%s\n", compiled.log);
    assert_int_equal(status, LEAT_OK);
    le_sim_compiled_finish(&compiled);
    static const struct {
        const char *option, *log;
    } bad[] = {{"--frobnicate", "nvrtc: error: unrecognized option --frobnicate found"},
               {"-std=c++99", "nvrtc: error: invalid value for --std (-std): c++99"},
               {"-arch=sm_x", "nvrtc: error: invalid value for --gpu-architecture (-arch): sm_x"},
               {"-fPIC", "unrecognized option -fPIC"},
               {"-D", "needs a value"}};
    for (size_t k = 0; k < ARRAY_LEN(bad); k++) {
        assert_int_equal(compile(source, &bad[k].option, 1, NULL, &compiled), LEAT_INVALID);
        expect_log(&compiled, bad[k].log);
        le_sim_compiled_finish(&compiled);
    }
}

static void headers_given_with_the_program(void **state) {
    (void)state;
    const char *const names[] = {"tools/add.cuh"},
                      *const texts[] = {"#pragma once\n__device__ int add(int a, int b) { return a + b; }\n"};
    struct sim_compile_options o = {.source = "#include \"tools/add.cuh\"\n#include <tools/add.cuh>\n"
                                              "__global__ void k(int *x) { *x = add(*x, 2); }\n",
                                    .name = "kernel.cu",
                                    .header_names = names,
                                    .headers = texts,
                                    .header_count = 1};
    struct sim_compiled compiled;
    assert_int_equal(le_sim_compile(&o, &compiled), LEAT_OK);
    le_sim_compiled_finish(&compiled);
    const char *const outside[] = {"../add.cuh"};
    o.header_names = outside;
    assert_int_equal(le_sim_compile(&o, &compiled), LEAT_INVALID);
    le_sim_compiled_finish(&compiled);
    const char *const wrong[] = {"__device__ int add(int a, int b) {\n  return c;\n}\n"};
    o.header_names = names;
    o.headers = wrong;
    assert_int_equal(le_sim_compile(&o, &compiled), LEAT_PROGRAM);
    expect_log(&compiled, "tools/add.cuh(2): error: 'c' was not declared");
    le_sim_compiled_finish(&compiled);
}

static void names_and_types(void **state) {
    (void)state;
    const char *source = "#include <cuda_fp16.h>\n"
                         "struct Pair { float a; double b; };\nenum Mode { A, B };\n"
                         "namespace outer { namespace inner {\n"
                         "__device__ float scale, bias[3] = {1, 2, 3}; __constant__ Pair pairs[2];\n"
                         "__device__ float helper(float x) { static int calls; return x * scale + calls++; }\n"
                         "template <class T, int N> __global__ void generic(T *x, const T y) { x[N] = y; }\n"
                         "static __global__ void __launch_bounds__(128, 2) plain(const float *__restrict__ x, unsigned "
                         "char c, long long n,\n"
                         "    double d, Pair p, Mode m, __half h, bool b) {}\n"
                         "} }\n"
                         "#if 0\n__global__ void never() {}\n#endif\n"
                         "#define KERNEL(name) extern \"C\" __global__ void name(int n)\n"
                         "KERNEL(made) {}\n"
                         "namespace { __global__ void hidden(); __global__ void hidden() {} }\n";
    struct sim_compiled compiled;
    leat_status status = compile(source, NULL, 0, "&outer::inner::generic< float , 3 >", &compiled);
    if (status)
        print_error("%s\n", compiled.log);
    assert_int_equal(status, LEAT_OK);
    assert_string_equal(compiled.lowered[0], "outer::inner::generic<float,3>");
    static const char *const words[] = {
        ".visible .entry outer::inner::plain(\n\t.param .u64 .ptr .align 1 outer::inner::plain_param_0,\n",
        "\t.param .u8 outer::inner::plain_param_1,\n\t.param .u64 outer::inner::plain_param_2,\n",
        "\t.param .f64 outer::inner::plain_param_3,\n\t.param .align 8 .b8 outer::inner::plain_param_4[16],\n",
        "\t.param .u32 outer::inner::plain_param_5,\n\t.param .align 2 .b8 outer::inner::plain_param_6[2],\n",
        "\t.param .u8 outer::inner::plain_param_7\n)\n.pointees .f32 .none .none .none .none .none .none .none\n{",
        (".entry outer::inner::generic<float,3>(\n\t.param .u64 .ptr .align 1 "
         "outer::inner::generic<float,3>_param_0,\n\t.param .f32 "),
        ".visible .entry made(\n\t.param .u32 made_param_0\n)",
        ".visible .entry hidden(",
        ".visible .global .align 8 .b8 outer::inner::bias[12];",
        ".visible .const .align 8 .b8 outer::inner::pairs[32];",
    };
    for (size_t k = 0; k < ARRAY_LEN(words); k++) {
        if (!strstr(compiled.ptx, words[k]))
            print_error("not found: %s\n%s\n", words[k], compiled.ptx);
        assert_non_null(strstr(compiled.ptx, words[k]));
    }
    assert_null(strstr(compiled.ptx, "never"));
    struct sim_module *module;
    assert_int_equal(le_sim_module_load(compiled.image, &module), LEAT_OK);
    const struct sim_item *plain = le_sim_module_kernel(module, "outer::inner::plain");
    assert_non_null(plain);
    assert_int_equal(plain->parameter_count, 8);
    assert_int_equal(plain->parameters[4].offset, 32);
    assert_non_null(le_sim_module_kernel(module, "outer::inner::generic<float, 3>"));
    assert_null(le_sim_module_kernel(module, "outer::inner::bias"));
    assert_int_equal(((const float *)le_sim_module_global(module, "outer::inner::bias")->address)[1], 2);
    assert_null(le_sim_module_global(module, "absent"));
    le_sim_module_free(module);
    le_sim_compiled_finish(&compiled);
    assert_int_equal(compile(source, NULL, 0, "outer::generic<float>", &compiled), LEAT_MISSING);
    expect_log(&compiled, "name expression 'outer::generic<float>'");
    le_sim_compiled_finish(&compiled);
}

static void damaged_images_are_refused(void **state) {
    (void)state;
    struct sim_compiled compiled;
    struct sim_module *module;
    assert_int_equal(compile("__global__ void k() {}\n", NULL, 0, NULL, &compiled), LEAT_OK);
    unsigned char *bytes = compiled.image;
    bytes[compiled.image_bytes / 2] ^= 1;
    assert_int_equal(le_sim_module_load(bytes, &module), LEAT_DEVICE);
    assert_null(module);
    char text[64] = "\n.version 8.0";
    assert_int_equal(le_sim_module_load(text, &module), LEAT_DEVICE);
    le_sim_compiled_finish(&compiled);
}

/* Uses a compiler that counts its calls other than those for preprocessing. */
static void cached_objects_are_not_compiled_again(void **state) {
    (void)state;
    char folder[] = "/tmp/leat-compile-XXXXXX", path[100], count[100], source[200], line[16] = "";
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/counting", folder);
    snprintf(count, sizeof count, "%s/count", folder);
    FILE *file = fopen(path, "w");
    fprintf(file, "#!/bin/sh\ncase \"$*\" in *-E*) ;; *) echo >>%s ;; esac\nexec c++ \"$@\"\n", count);
    fchmod(fileno(file), 0700);
    fclose(file);
    setenv("LEAT_CXX", path, 1);
    char *shared = getenv("LEAT_CACHE_DIR") ? strdup(getenv("LEAT_CACHE_DIR")) : NULL;
    snprintf(path, sizeof path, "%s/kept", folder);
    setenv("LEAT_CACHE_DIR", path, 1);
    snprintf(source, sizeof source,
             "__global__ void k(int *x) { *x = VALUE; } // %s\n__device__ char name[] = \"%s\";\n", folder, folder);
    static const char *const options[] = {"-DVALUE=1", "-DVALUE=2"};
    static const int order[] = {0, 0, 1, 0}, expected[] = {2, 2, 4, 4};
    for (size_t k = 0; k < ARRAY_LEN(order); k++) {
        struct sim_compiled compiled;
        leat_status status = compile(source, &options[order[k]], 1, NULL, &compiled);
        assert_int_equal(status, LEAT_OK);
        le_sim_compiled_finish(&compiled);
        int lines = 0;
        file = fopen(count, "r");
        while (file && fgets(line, sizeof line, file))
            lines++;
        fclose(file);
        assert_int_equal(lines, expected[k]);
    }
    setenv("LEAT_CXX", "/nowhere/c++", 1);
    struct sim_compiled compiled;
    assert_int_equal(compile(source, NULL, 0, NULL, &compiled), LEAT_UNSUPPORTED);
    assert_non_null(strstr(le_errors_text(), "/nowhere/c++"));
    le_sim_compiled_finish(&compiled);
    unsetenv("LEAT_CXX");
    unsetenv("CXX");
    char *kept = strdup(getenv("PATH"));
    setenv("PATH", folder, 1);
    assert_int_equal(compile(source, NULL, 0, NULL, &compiled), LEAT_UNSUPPORTED);
    assert_non_null(strstr(le_errors_text(), "apt install g++"));
    le_sim_compiled_finish(&compiled);
    setenv("PATH", kept, 1);
    free(kept);
    shared ? setenv("LEAT_CACHE_DIR", shared, 1) : unsetenv("LEAT_CACHE_DIR");
    free(shared);
    le_scratch_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_have_the_users_line),     cmocka_unit_test(options_of_nvrtc_are_accepted),
        cmocka_unit_test(headers_given_with_the_program), cmocka_unit_test(names_and_types),
        cmocka_unit_test(damaged_images_are_refused),     cmocka_unit_test(cached_objects_are_not_compiled_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
