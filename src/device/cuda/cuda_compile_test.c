/* CUDA C compiled by a real NVRTC, which needs no GPU: architectures, names, parameters, options, errors. Skipped if
 * there is no NVRTC. */
#include "device/front/device_testing.h"
#include "device/cuda/cuda_compile.h"
#include "device/cuda/cuda_libraries.h"

static const char TEXT[] =
    "#include <cuda_fp16.h>\n"
    "__device__ int counter; __constant__ float table[4];\n"
    "namespace ns { template <class T, int N> __global__ void fill(T *y, T v) { y[0] = v * T(N); } }\n"
    "namespace { __global__ void unused(int *p) { *p = 1; } }\n"
    "__global__ void over(float *y, size_t n) { y[n] = table[n] + counter; }\n"
    "__global__ void over(double *y) { *y = WIDTH; }\n"
    "extern \"C\" __global__ void plain(__half h, float *y, long n, const int *x) {\n"
    "    y[n] = __half2float(h) + x[0];\n}\n";

struct setting {
    struct fake *fake;
    struct le_cuda_device cuda;
    struct le_device_module module;
    struct le_cuda_image image;
};

static void begin(struct setting *setting, int capability) {
    memset(setting, 0, sizeof *setting);
    setting->cuda.device = fake_open(NULL, 1 << 20, &setting->fake);
    setting->cuda.device->limits.capability = capability;
    setting->module.device = setting->cuda.device;
}

static void end(struct setting *setting) {
    struct le_device_module *module = &setting->module;
    for (int k = 0; k < module->name_count; k++) {
        le_free(module->names[k].expression);
        le_free(module->names[k].lowered);
    }
    le_free(module->names);
    le_free(module->kernels);
    le_free(module->variables);
    if (module->is_read)
        le_ptx_finish(&module->contents);
    le_free(module->log);
    le_free(module->ptx);
    le_free(setting->image.bytes);
    fake_finish(setting->cuda.device, setting->fake);
}

static leat_status compile(struct setting *setting, const struct le_module_source *source) {
    return le_cuda_compile(&setting->cuda, source, &setting->module, &setting->image);
}

static bool is_elf(const void *image) {
    return memcmp(image, "\177ELF", 4) == 0;
}

static void test_module(void **state) {
    (void)state;
    if (!le_cuda_include_folder())
        skip();
    const char *macros[] = {"WIDTH=7", NULL}, *names[] = {"ns::fill<double, 3>", "(void(*)(double *))over", NULL};
    const struct le_module_source source = {.text = TEXT, .name = "k.cu", .macros = macros, .names = names};
    struct setting setting;
    struct le_device_kernel *kernel = NULL;
    begin(&setting, 90);
    if (compile(&setting, &source))
        fail_msg("%s", le_errors_text());
    assert_true(is_elf(setting.image.bytes));
    assert_non_null(strstr(setting.module.ptx, ".target sm_90"));
    assert_non_null(strstr(setting.module.log, "k.cu(4): warning"));
    assert_ok(le_module_read(&setting.module));
    for (int k = 0; k < setting.module.contents.kernels.count; k++)
        setting.module.kernels[k].native = &setting;
    setting.module.title = (char *)(uintptr_t) "k.cu";
    assert_ok(le_module_find(&setting.module, "ns::fill<double,3>", &kernel));
    assert_true(kernel->entry->parameters[0].is_pointer);
    assert_int_equal(kernel->entry->parameters[1].dtype, LEAT_F64);
    assert_ok(le_module_find(&setting.module, "(void(*)(double*))over", &kernel));
    assert_string_equal(kernel->entry->symbol, "_Z4overPd");
    assert_int_equal(le_module_find(&setting.module, "over", &kernel), LEAT_INVALID);
    assert_message("_Z4overPfm (float *, unsigned long)");
    assert_ok(le_module_find(&setting.module, "plain", &kernel));
    assert_int_equal(kernel->entry->parameters[0].size_bytes, 2);
    assert_true(kernel->entry->parameters[1].is_pointer);  /* known from its use in the body */
    assert_false(kernel->entry->parameters[2].is_pointer); /* unknown: it may be a pointer */
    assert_true(kernel->entry->parameters[2].may_be_pointer);
    assert_true(kernel->entry->parameters[3].is_pointer);
    end(&setting);
}

/* The variables that a kernel uses are distinguished from those that it does not use. */
static void test_variables(void **state) {
    (void)state;
    const struct le_module_source source = {
        .text = "__device__ int counter, other; __constant__ float table[4];\n"
                "__global__ void f(float *y) { atomicAdd(&counter, 1); *y = table[1]; }\n"
                "__global__ void g() { other = 2; }\n",
        .name = "k.cu"};
    struct setting setting;
    begin(&setting, 80);
    assert_ok(compile(&setting, &source));
    assert_ok(le_module_read(&setting.module));
    const struct le_ptx *contents = &setting.module.contents;
    assert_int_equal(contents->kernels.count, 2);
    for (int k = 0; k < 2; k++) {
        const struct le_ptx_kernel *kernel = &contents->kernels.at[k];
        assert_false(kernel->uses_all);
        assert_int_equal(kernel->uses.count, strcmp(kernel->name, "f") == 0 ? 2 : 1);
    }
    end(&setting);
}

/* Host headers that NVRTC lacks; with a toolkit's headers, in either order. */
static void test_headers(void **state) {
    (void)state;
    static const char PLAIN[] =
        "#include <stdio.h>\n#include <cstdio>\n#include <cstdlib>\n#include <cstring>\n#include <cassert>\n#include "
        "<cstddef>\n#include <cstdint>\n#include <climits>\n#include <cfloat>\n#include <cmath>\n"
        "static_assert(sizeof(int64_t) == 8 && sizeof(uint16_t) == 2 && INT_MIN < 0 && INT64_MIN < 0 && UINT32_MAX > 0 "
        "&& FLT_MAX > 1e38f && DBL_EPSILON < 1e-15, \"\");\n"
        "__global__ void f(float *y, uint32_t n) { assert(n > 0); printf(\"%d\", (int)n); y[0] = INFINITY + sqrtf(n) + "
        "(float)M_PI; }\n";
    static const char TOOLKIT[] =
        "#include <stdint.h>\n#include <cooperative_groups.h>\n#include <cuda_fp16.h>\n#include <cuda/std/cstdint>\n"
        "#include <math.h>\n__global__ void f(int64_t *y) { cooperative_groups::this_grid().sync(); *y = 1; }\n";
    struct le_module_source source = {.text = PLAIN, .name = "k.cu"};
    struct setting setting;
    begin(&setting, 90);
    if (compile(&setting, &source))
        fail_msg("%s", le_errors_text());
    end(&setting);
    if (!le_cuda_include_folder())
        return;
    source.text = TOOLKIT;
    begin(&setting, 90);
    if (compile(&setting, &source))
        fail_msg("%s", le_errors_text());
    end(&setting);
}

/* A device newer than NVRTC supports gets PTX for the newest architecture that NVRTC supports. */
static void test_newer_device(void **state) {
    (void)state;
    const struct le_module_source source = {.text = "__global__ void f() {}", .name = "k.cu"};
    struct setting setting;
    begin(&setting, 990);
    assert_ok(compile(&setting, &source));
    assert_false(is_elf(setting.image.bytes));
    assert_string_equal(setting.image.bytes, setting.module.ptx);
    end(&setting);
    begin(&setting, 10);
    assert_int_equal(compile(&setting, &source), LEAT_UNSUPPORTED);
    end(&setting);
}

static void test_refused(void **state) {
    (void)state;
    const char *wrong[] = {"--no-such-option", NULL}, *nobody[] = {"nobody<int>", NULL};
    const char *standard[] = {"-std=c++14", NULL};
    struct le_module_source source = {.text = "__global__ void f(float *x) {\n    x[0] = oops;\n}\n", .name = "a/k.cu"};
    struct setting setting;
    begin(&setting, 90);
    assert_int_equal(compile(&setting, &source), LEAT_PROGRAM);
    assert_string_equal(le_errors_text(), "a/k.cu:2:12: error: identifier \"oops\" is undefined\n"
                                          "    x[0] = oops;\n"
                                          "           ^\n");
    end(&setting);
    source.text = "__global__ void f() {}";
    source.options = wrong;
    begin(&setting, 90);
    assert_int_equal(compile(&setting, &source), LEAT_INVALID);
    assert_message("--no-such-option");
    end(&setting);
    source.options = NULL;
    source.names = nobody;
    begin(&setting, 90);
    assert_int_equal(compile(&setting, &source), LEAT_PROGRAM);
    assert_message("the name \"nobody<int>\": identifier \"nobody\" is undefined");
    end(&setting);
    source.names = NULL;
    source.options = standard;
    source.text = "static_assert(__cplusplus < 201500L, \"\"); __global__ void f() {}";
    begin(&setting, 90);
    assert_ok(compile(&setting, &source));
    end(&setting);
}

int main(void) {
    const struct le_nvrtc *nvrtc;
    int version;
    if (le_nvrtc_open(&nvrtc, &version)) {
        print_message("skipped: %s\n", le_error_at(0)->message);
        return 0;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_module), cmocka_unit_test(test_variables),
                                       cmocka_unit_test(test_headers), cmocka_unit_test(test_newer_device),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
