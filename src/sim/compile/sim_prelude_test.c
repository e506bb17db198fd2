/* Functions that kernels can call, compared with the host: mathematics, rounding, bits, vectors, 16-bit floats. One
 * kernel writes all results, which tables list. */
#include "sim/grid/sim_exec_testing.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct expectation {
    const char *expression; /* uses float x = 0.7f, y = -2.5f; int i = -20; unsigned u = 0x12345678; double d = 0.3 */
    double expected, tolerance;
};

static void compare(const char *before, const struct expectation *rows, size_t count) {
    struct le_text source = {0};
    le_text_add(&source,
                "%s\nextern \"C\" __global__ void all(double *out, float x, float y, int i, unsigned u, double d) {\n",
                before);
    for (size_t k = 0; k < count; k++)
        le_text_add(&source, "  out[%zu] = (double)(%s);\n", k, rows[k].expression);
    le_text_add(&source, "}\n");
    struct testing t = testing_load(source.at, false, NULL);
    double out[200], d = 0.3;
    assert_true(count <= ARRAY_LEN(out));
    float x = 0.7f, y = -2.5f;
    int i = -20;
    unsigned u = 0x12345678;
    void *p = out, *parameters[] = {&p, &x, &y, &i, &u, &d};
    testing_run(&t, "all", 1, 1, 0, parameters);
    for (size_t k = 0; k < count; k++) {
        double error = fabs(out[k] - rows[k].expected);
        bool same = error <= rows[k].tolerance * fmax(1, fabs(rows[k].expected)) ||
                    (isnan(out[k]) && isnan(rows[k].expected)) || out[k] == rows[k].expected;
        if (!same)
            print_error("%s: %.17g, not %.17g\n", rows[k].expression, out[k], rows[k].expected);
        assert_true(same);
    }
    testing_finish(&t);
    le_text_finish(&source);
}

static void mathematics(void **state) {
    (void)state;
    const double x = 0.7f, y = -2.5f, d = 0.3, f = 3e-7, g = 1e-14;
    const struct expectation rows[] = {
        {"sinf(x)", sin(x), f},
        {"sin(x)", sin(x), f},
        {"sin(d)", sin(d), g},
        {"__sinf(x) + __cosf(x)", sin(x) + cos(x), f},
        {"expf(y) + exp(y) + __expf(y)", 3 * exp(y), f},
        {"powf(x, y) + pow(d, 2)", pow(x, y) + d * d, f},
        {"pow(x, 2)", x * x, f},
        {"rsqrtf(x) * rsqrt(d)", 1 / sqrt(x * d), f},
        {"sqrt(2)", sqrt(2), g},
        {"exp10f(x) + exp10(d)", pow(10, x) + pow(10, d), f},
        {"sinpi(d) + cospi(d) + sinpi(-1.75)", sin(M_PI * d) + cos(M_PI * d) + sin(M_PI / 4), g},
        {"sinpif(x) * cospif(y)", 0, f},
        {"erff(x) + erfc(d) + erfinv(erf(d))", erf(x) + erfc(d) + d, f},
        {"erfcinv(1e-30) * 1e-3", 8.1486162231699864e-3, 1e-12},
        {"normcdf(d) + normcdfinv(0.025)", 0.5 * erfc(-d / sqrt(2)) - 1.9599639845400545, g},
        {"tgamma(4.5) + lgammaf(x)", tgamma(4.5) + lgamma(x), f},
        {"norm3df(x, y, 1.f) + hypot(d, 2.0)", sqrt(x * x + y * y + 1) + hypot(d, 2), f},
        {"fmaf(x, y, 1.f) + fma(d, d, d)", x * y + 1 + d * d + d, f},
        {"floorf(y) + ceil(y) + trunc(y) + rint(y)", -3 - 2 - 2 - 2, 0},
        {"fabsf(y) + abs(y) + abs(i) + fabs(-d)", 2.5 + 2.5 + 20 + d, f},
        {"min(i, 3) + max(i, 3) + min(x, y) + max(d, 1.0) + min(u, 7u)", -20 + 3 - 2.5 + 1 + 7, f},
        {"fminf(x, NAN) + fmax(d, -INFINITY)", x + d, f},
        {"isnan(NAN) + isinf(-INFINITY) * 2 + isfinite(x) * 4 + signbit(y) * 8", 15, 0},
        {"__saturatef(x) + __saturatef(y) + __saturatef(9.f)", x + 1, f},
        {"__fdividef(x, y) + fdividef(x, y)", 2 * x / y, f},
        {"({ float s, c; sincosf(x, &s, &c); s * c; })", sin(x) * cos(x), f},
        {"({ int e; frexpf(8.f, &e) + e; })", 4.5, 0},
        {"ldexpf(x, 3) + atan2f(y, x) + fmodf(y, 2.f)", 8 * x + atan2(y, x) - 0.5, f},
        {"atan2(d, 1) + copysignf(x, y) + cbrt(27.0) + log1p(d)", atan2(d, 1) - x + 3 + log1p(d), f},
        {"j0(d) + y1(d)", j0(d) + y1(d), g},
    };
    compare("", rows, ARRAY_LEN(rows));
}

static void bits_and_rounding(void **state) {
    (void)state;
    const double up = nextafterf(1.f, 2.f), below = nextafterf(1.f, 0.f);
    const struct expectation rows[] = {
        {"__popc(u) + __popcll(0xffull << 40)", 13 + 8, 0},
        {"__clz(1) + __clz(0) + __clzll(1)", 31 + 32 + 63, 0},
        {"__ffs(8) + __ffs(0) + __ffsll(1ll << 40)", 4 + 41, 0},
        {"__brev(1u)", 2147483648.0, 0},
        {"__brev(u) == 0x1e6a2c48u && __brevll(1ull) == 1ull << 63", 1, 0},
        {"__byte_perm(u, 0xaabbccdd, 0x7054)", 0xaa78ccdd, 0},
        {"__byte_perm(0x80, 0, 0x8888)", 0xffffffff, 0},
        {"__mulhi(1 << 30, -8) + __umulhi(1u << 31, 8u)", -2 + 4, 0},
        {"__umul64hi(1ull << 63, 6ull) + __mul64hi(-1ll, 2)", 2, 0},
        {"__funnelshift_l(0x80000000u, 1u, 1)", 3, 0},
        {"__sad(3, -4, 5u) + __mul24(-3, 5) + __hadd(3, 4) + __rhadd(3, 4)", 12 - 15 + 3 + 4, 0},
        {"__dp4a(0x01020304, 0x01ff0101, 10)", 10 + 1 - 2 + 3 + 4, 0},
        {"__float_as_int(1.f) == 0x3f800000 && __int_as_float(0x40000000) == 2.f", 1, 0},
        {"__hiloint2double(__double2hiint(d), __double2loint(d))", 0.3, 0},
        {"__float2int_rn(2.5f) * 1000 + __float2int_rz(y) * 100 + __float2int_ru(x) * 10 + __float2int_rd(y)",
         2000 - 200 + 10 - 3, 0},
        {"__float2int_rz(1e20f) == 2147483647 && __float2uint_rz(-5.f) == 0 && __float2int_rn(NAN) == 0", 1, 0},
        {"__fadd_ru(1.f, 1e-30f)", up, 0},
        {"__fadd_rd(1.f, -1e-30f)", below, 0},
        {"__fadd_rz(1.f, -1e-30f)", below, 0},
        {"__fadd_rn(1.f, 1e-30f)", 1, 0},
        {"__dadd_ru(1.0, 1e-30) > 1.0 && __dmul_rd(1.0 + 1e-10, 1.0 + 1e-10) <= (1.0 + 1e-10) * (1.0 + 1e-10)", 1, 0},
        {"__ddiv_ru(1.0, 3.0) > __ddiv_rd(1.0, 3.0) && __fdiv_ru(1.f, 3.f) > __fdiv_rd(1.f, 3.f)", 1, 0},
        {"__fsqrt_rn(4.f) + __frcp_rn(2.f) + __fmaf_rn(2.f, 3.f, 4.f)", 12.5, 0},
        {"warpSize + sizeof(float4) + alignof(float2) + sizeof(uchar4) + sizeof(double3)", 32 + 16 + 8 + 4 + 24, 0},
        {"({ float4 v = make_float4(1, 2, 3, 4); int2 w = {5, 6}; v.x + v.w * w.y; })", 25, 0},
        {"({ dim3 v(2, 3); uint3 w = threadIdx; v.x + v.y * 10 + v.z * 100 + w.x; })", 132, 0},
        {"__ldg(out) * 0 + __ldcg(&out[1]) * 0 + 3", 3, 0},
        {"({ float from = 2, to; memcpy(&to, &from, sizeof to); to; })", 2, 0},
        {"clock64() > 0 && clock() >= 0", 1, 0},
    };
    compare("#include <cmath>\n#include <cstdint>\n#include <cuda_runtime.h>\n", rows, ARRAY_LEN(rows));
}

static void floats_of_16_bits(void **state) {
    (void)state;
    const struct expectation rows[] = {
        {"__half2float(__float2half(x))", 0.7001953125, 0},
        {"__half(65519.f)", 65504, 0},
        {"__half(65520.f)", INFINITY, 0},
        {"__half(2.98023223876953125e-8)", 0, 0}, /* half of the smallest number: rounds to even */
        {"__half(2.99e-8)", 5.9604644775390625e-8, 0},
        {"__half(1.00048828125)", 1, 0},
        {"__half(1.00146484375)", 1.001953125, 0},
        {"__half(NAN)", NAN, 0},
        {"__half_as_ushort(__half(-1.5f)) == 0xbe00 && __ushort_as_half(0x3c00) == __half(1.f)", 1, 0},
        {"__hadd(__half(1.f), __half(2.f)) * __half(3.f) - __half(0.5f)", 8.5, 0},
        {"__hfma(__half(2.f), __half(3.f), __half(4.f))", 10, 0},
        {"({ half2 v = __floats2half2_rn(1.f, 2.f); v = __hfma2(v, v, v); __low2float(v) + 10 * __high2float(v); })",
         62, 0},
        {"hsqrt(__half(16.f)) + hexp(__half(0.f))", 5, 0},
        {"__hlt(__half(1.f), __half(2.f)) + (__half(3.f) == __half(3.f)) + __hisnan(__half(NAN))", 3, 0},
        {"__bfloat162float(__float2bfloat16(x))", 0.69921875, 0},
        {"__nv_bfloat16(1.00390625)", 1, 0},
        {"__nv_bfloat16(1.01171875)", 1.015625, 0},
        {"__nv_bfloat16(3.5e38)", INFINITY, 0},
        {"__nv_bfloat16(2.f) * __nv_bfloat16(3.f) + __hmax(__nv_bfloat16(1.f), __nv_bfloat16(7.f))", 13, 0},
        {"({ __shared__ __half s[2]; s[0] = 1.f; atomicAdd(&s[0], __half(2.f)); s[0]; })", 3, 0},
        {"__shfl_sync(1u, __half(2.f), 0)", 2, 0},
        {"sizeof(__half2) + alignof(__half2)", 8, 0},
    };
    compare("#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n", rows, ARRAY_LEN(rows));
}

/* Keywords of CUDA in all positions where they are used. */
static void keywords_in_all_positions(void **state) {
    (void)state;
    struct testing t = testing_load(
        "#include <type_traits>\n#include <limits>\n"
        "#define SHARED __shared__\n"
        "static __device__ __forceinline__ int one() { return 1; }\n"
        "__forceinline__ __device__ static int two() { return 2; }\n"
        "inline __host__ __device__ __forceinline__ int three() { return 3; }\n"
        "__device__ __noinline__ int four() { return 4; }\n"
        "struct __align__(16) Box { int at[4]; __device__ Box() : at{1, 2, 3, 4} {} __host__ __device__ int sum() "
        "const { return at[0] + at[3]; } };\n"
        "template <typename T> struct Tile { T at[4][4]; __device__ T &operator()(int i, int j) { return at[i][j]; } "
        "};\n"
        "template <int N> __device__ int tiled(int x) {\n"
        "  SHARED Tile<int> tile; static SHARED int more[N];\n"
        "  if (threadIdx.x < 4) { tile(threadIdx.x, 1) = x; more[threadIdx.x % N] = 1; }\n"
        "  __syncthreads();\n"
        "  int sum = tile(0, 1) + tile(3, 1) + more[0];\n"
        "  __syncthreads();\n"
        "  return sum;\n"
        "}\n"
        "__constant__ int table[4] = {10, 20, 30, 40};\n"
        "__device__ const char *text = \"a ; { __global__ void no() {} \\\" \";\n"
        "__global__ void __launch_bounds__(64) all(int *out, const int *const __restrict__ in) {\n"
        "  extern __shared__ unsigned char bytes[];\n"
        "  auto square = [=] __device__(int v) { return v * v; };\n"
        "  int *words = reinterpret_cast<int *>(bytes);\n"
        "  __shared__ union { int i; float f; } u;\n"
        "  Box box;\n"
        "  words[threadIdx.x] = in[threadIdx.x];\n"
        "  if (threadIdx.x == 0) u.f = 1.0f;\n"
        "  __syncthreads();\n"
        "#pragma unroll\n"
        "  for (int k = 0; k < 4; ++k) out[threadIdx.x] += words[k] + table[k];\n"
        "  out[threadIdx.x] += one() + two() + three() + four() + square(3) + box.sum() + (u.i == 0x3f800000);\n"
        "  out[threadIdx.x] += tiled<3>(5) + std::is_same<int, int>::value + (std::numeric_limits<int>::max() > 0);\n"
        "  out[threadIdx.x] += R\"(})\"[0] == '}' ? 1'000 : 0;\n"
        "}\n",
        false, NULL);
    int out[8] = {0}, in[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    void *o = out, *p = in, *parameters[] = {&o, &p};
    assert_int_equal(testing_launch(&t, "all", DIM(1, 1, 1), DIM(8, 1, 1), sizeof in, 1, parameters), SIM_GRID_OK);
    for (int k = 0; k < 8; k++)
        assert_int_equal(out[k], 10 + 100 + 10 + 9 + 5 + 1 + 11 + 2 + 1000);
    assert_int_equal(le_sim_module_kernel(t.module, "all")->max_threads, 64);
    assert_null(le_sim_module_kernel(t.module, "no"));
    testing_finish(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mathematics),
        cmocka_unit_test(bits_and_rounding),
        cmocka_unit_test(floats_of_16_bits),
        cmocka_unit_test(keywords_in_all_positions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
