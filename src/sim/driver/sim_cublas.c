/* The cuBLAS of sim. Matrix products run as kernels of sim's own, so they are ordered and checked like any kernel. They
 * sum the terms in order. Stricter than cuBLAS: a product fails if its stream has no workspace, because cuBLAS would
 * then allocate memory that Leat does not count. A handle is used by one thread at a time. */
#include "base/memory.h"
#include "sim/driver/sim_state.h"
#include <string.h>

enum { BLOCK = 256, BATCH_MAX = 65535, WORK_ALIGNMENT = 256, COLUMNS = 4 };

/* Each thread computes four sums side by side, because each addition depends on the one before it. */
static const char text[] =
    "enum { COLUMNS = 4 };\n"
    "struct f16 { unsigned short bits; };\n"
    "struct bf16 { unsigned short bits; };\n"
    "struct tf32 { float number; };\n"
    "template <class T> struct complex {\n"
    "    T re, im;\n"
    "    __device__ complex() {}\n"
    "    __device__ complex(T x) : re(x), im(0) {}\n"
    "    __device__ complex(T x, T y) : re(x), im(y) {}\n"
    "    __device__ complex operator*(complex b) const { return complex(re * b.re - im * b.im, re * b.im + im * b.re); }\n"
    "    __device__ complex operator+(complex b) const { return complex(re + b.re, im + b.im); }\n"
    "    __device__ void operator+=(complex b) { *this = *this + b; }\n"
    "    __device__ bool operator==(T x) const { return re == x && im == 0; }\n"
    "    __device__ bool operator!=(T x) const { return re != x || im != 0; }\n"
    "};\n"
    "template <class T> __device__ complex<T> get(complex<T> x) { return x; }\n"
    "template <class T> __device__ void put(complex<T> *to, complex<T> x) { *to = x; }\n"
    "__device__ float get(float x) { return x; }\n"
    "__device__ double get(double x) { return x; }\n"
    "__device__ float get(bf16 x) { return __uint_as_float((unsigned)x.bits << 16); }\n"
    "__device__ float get(f16 x) {\n"
    "    const unsigned sign = (unsigned)(x.bits & 0x8000) << 16, rest = x.bits & 0x7fff;\n"
    "    if (rest >= 0x7c00)\n"
    "        return __uint_as_float(sign | 0x7f800000 | (rest & 0x3ff) << 13);\n"
    "    const float number = __uint_as_float(rest << 13) * 0x1p112f;\n"
    "    return sign ? -number : number;\n"
    "}\n"
    "__device__ unsigned rounded(unsigned bits, int dropped) {\n"
    "    return bits + (1u << (dropped - 1)) - 1 + (bits >> dropped & 1);\n"
    "}\n"
    "__device__ float get(tf32 x) {\n"
    "    return __uint_as_float(rounded(__float_as_uint(x.number), 13) & ~0x1fffu);\n"
    "}\n"
    "__device__ void put(float *to, float x) { *to = x; }\n"
    "__device__ void put(double *to, double x) { *to = x; }\n"
    "__device__ void put(bf16 *to, float x) {\n"
    "    to->bits = x != x ? 0x7fff : (unsigned short)(rounded(__float_as_uint(x), 16) >> 16);\n"
    "}\n"
    "__device__ void put(f16 *to, float x) {\n"
    "    const unsigned bits = __float_as_uint(x), sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;\n"
    "    unsigned half;\n"
    "    if (rest > 0x7f800000)\n"
    "        half = 0x7fff;\n"
    "    else if (rest >= 0x477ff000)\n"
    "        half = 0x7c00;\n"
    "    else if (rest >= 0x38800000)\n"
    "        half = (rounded(rest, 13) >> 13) - (112 << 10);\n"
    "    else\n"
    "        half = __float_as_uint(__uint_as_float(rest) + 0.5f) - 0x3f000000;\n"
    "    to->bits = (unsigned short)(sign | half);\n"
    "}\n"
    "template <class A, class C, class T>\n"
    "__device__ void product(int a_is, int b_is, int m, int n, int k, T alpha, const A *a, int lda,\n"
    "        long long a_stride, const A *b, int ldb, long long b_stride, T beta, C *c, int ldc,\n"
    "        long long c_stride) {\n"
    "    const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    const int i = (int)(at % m), j = (int)(at / m) * COLUMNS;\n"
    "    if (j >= n)\n"
    "        return;\n"
    "    const long long a_step = a_is ? 1 : lda, b_step = b_is ? ldb : 1, b_next = b_is ? 1 : ldb;\n"
    "    a += blockIdx.y * a_stride + (a_is ? (long long)i * lda : i);\n"
    "    b += blockIdx.y * b_stride + j * b_next;\n"
    "    c += blockIdx.y * c_stride + (long long)j * ldc + i;\n"
    "    const A *columns[COLUMNS];\n"
    "    T sums[COLUMNS];\n"
    "    for (int q = 0; q < COLUMNS; q++) {\n"
    "        sums[q] = T(0);\n"
    "        columns[q] = b + (j + q < n ? q : 0) * b_next;\n"
    "    }\n"
    "    for (long long p = 0; p < k && alpha != 0; p++)\n"
    "        for (int q = 0; q < COLUMNS; q++)\n"
    "            sums[q] += get(a[p * a_step]) * get(columns[q][p * b_step]);\n"
    "    for (int q = 0; q < COLUMNS && j + q < n; q++) {\n"
    "        C *to = c + q * (long long)ldc;\n"
    "        put(to, beta == 0 ? alpha * sums[q] : alpha * sums[q] + beta * get(*to));\n"
    "    }\n"
    "}\n"
    "#define PRODUCT(name, A, C, T)                                                                             \\\n"
    "    extern \"C\" __global__ void name(int a_is, int b_is, int m, int n, int k, T alpha, const A *a, int lda, \\\n"
    "            long long a_stride, const A *b, int ldb, long long b_stride, T beta, C *c, int ldc,            \\\n"
    "            long long c_stride) {                                                                          \\\n"
    "        product<A, C, T>(a_is, b_is, m, n, k, alpha, a, lda, a_stride, b, ldb, b_stride, beta, c, ldc, \\\n"
    "                         c_stride);                                                                    \\\n"
    "    }\n"
    "PRODUCT(product_f32, float, float, float)\n"
    "PRODUCT(product_f64, double, double, double)\n"
    "PRODUCT(product_tf32, tf32, float, float)\n"
    "PRODUCT(product_f16, f16, f16, float)\n"
    "PRODUCT(product_f16_f32, f16, float, float)\n"
    "PRODUCT(product_bf16, bf16, bf16, float)\n"
    "PRODUCT(product_bf16_f32, bf16, float, float)\n"
    "PRODUCT(product_c64, complex<float>, complex<float>, complex<float>)\n"
    "PRODUCT(product_c128, complex<double>, complex<double>, complex<double>)\n";

enum kernel { F32, F64, TF32, F16, F16_F32, BF16, BF16_F32, C64, C128, KERNELS };
static const char *const names[KERNELS] = {"product_f32",  "product_f64",      "product_tf32",
                                           "product_f16",  "product_f16_f32",  "product_bf16",
                                           "product_bf16_f32", "product_c64", "product_c128"};

struct cublasContext {
    le_cu_module module;
    le_cu_function kernels[KERNELS];
    le_cublas_stream stream;
    void *work;
    size_t work_bytes;
};

/* ---- the kernels, for one handle */

static char *compile_products(void) {
    const struct le_nvrtc *nvrtc = le_sim_nvrtc();
    le_nvrtc_program program = NULL;
    size_t size_bytes = 0;
    char *image = NULL;
    if (nvrtc->CreateProgram(&program, text, "sim_cublas.cu", 0, NULL, NULL))
        return NULL;
    if (!nvrtc->CompileProgram(program, 0, NULL) && !nvrtc->GetCUBINSize(program, &size_bytes))
        image = le_alloc(size_bytes);
    if (image)
        nvrtc->GetCUBIN(program, image);
    nvrtc->DestroyProgram(&program);
    return image;
}

static le_cublas_status load_products(le_cublas_handle h) {
    const struct le_cuda_driver *driver = le_sim_driver();
    char *image = compile_products();
    bool loaded = image && !driver->ModuleLoadDataEx(&h->module, image, 0, NULL, NULL);
    for (int k = 0; k < KERNELS && loaded; k++)
        loaded = !driver->ModuleGetFunction(&h->kernels[k], h->module, names[k]);
    le_free(image);
    return loaded ? LE_CUBLAS_SUCCESS : LE_CUBLAS_NOT_INITIALIZED;
}

/* ---- handles */

static le_cublas_status destroy_handle(le_cublas_handle h) {
    if (!h)
        return LE_CUBLAS_NOT_INITIALIZED;
    if (h->module)
        le_sim_driver()->ModuleUnload(h->module);
    le_free(h);
    return LE_CUBLAS_SUCCESS;
}

static le_cublas_status create_handle(le_cublas_handle *handle) {
    le_cublas_status fault = le_sim_cublas_fault();
    if (fault)
        return fault;
    le_cublas_handle h = le_alloc_zero(1, sizeof *h);
    if (!h)
        return LE_CUBLAS_ALLOC_FAILED;
    le_cublas_status status = load_products(h);
    if (status)
        destroy_handle(h);
    else
        *handle = h;
    return status;
}

static const char *get_status_string(le_cublas_status status) {
    switch (status) {
#define X(name, theirs, value)                                                                                         \
    case value:                                                                                                        \
        return #theirs;
        X(SUCCESS, CUBLAS_STATUS_SUCCESS, 0)
        X(NOT_INITIALIZED, CUBLAS_STATUS_NOT_INITIALIZED, 1)
        X(ALLOC_FAILED, CUBLAS_STATUS_ALLOC_FAILED, 3)
        X(INVALID_VALUE, CUBLAS_STATUS_INVALID_VALUE, 7)
        X(EXECUTION_FAILED, CUBLAS_STATUS_EXECUTION_FAILED, 13)
        X(INTERNAL_ERROR, CUBLAS_STATUS_INTERNAL_ERROR, 14)
#undef X
    default:
        return "CUBLAS_STATUS unknown";
    }
}

static le_cublas_status set_stream(le_cublas_handle h, le_cublas_stream stream) {
    le_cublas_status fault = le_sim_cublas_fault();
    if (fault)
        return fault;
    h->stream = stream;
    h->work = NULL;
    h->work_bytes = 0;
    return LE_CUBLAS_SUCCESS;
}

static le_cublas_status set_workspace(le_cublas_handle h, void *work, size_t size_bytes) {
    le_cublas_status fault = le_sim_cublas_fault();
    if (fault)
        return fault;
    if ((uintptr_t)work % WORK_ALIGNMENT)
        return LE_CUBLAS_INVALID_VALUE;
    h->work = work;
    h->work_bytes = size_bytes;
    return LE_CUBLAS_SUCCESS;
}

static le_cublas_status set_math_mode(le_cublas_handle h, le_cublas_math mode) {
    le_cublas_status fault = le_sim_cublas_fault();
    if (fault)
        return fault;
    return h && mode == (LE_CUBLAS_DEFAULT_MATH | LE_CUBLAS_NO_REDUCED_SUMS) ? LE_CUBLAS_SUCCESS
                                                                             : LE_CUBLAS_INVALID_VALUE;
}

/* ---- products */

static bool is_valid_matrix(int rows, int columns, le_cublas_operation is, int stride) {
    return (is == LE_CUBLAS_OP_N || is == LE_CUBLAS_OP_T) && stride >= (is == LE_CUBLAS_OP_N ? rows : columns);
}

static le_cublas_status launch_product(le_cublas_handle h, le_cu_function function, int m, int n, int count,
                                       void **parameters) {
    int64_t threads = (int64_t)m * ((n + COLUMNS - 1) / COLUMNS);
    unsigned blocks = (unsigned)((threads + BLOCK - 1) / BLOCK);
    le_cu_result result = le_sim_driver()->LaunchKernel(function, blocks, (unsigned)count, 1, BLOCK, 1, 1, 0, h->stream,
                                                        parameters, NULL);
    return result ? LE_CUBLAS_EXECUTION_FAILED : LE_CUBLAS_SUCCESS;
}

static bool has_workspace(le_cublas_handle h) {
    return h && h->work && h->work_bytes > 0;
}

struct arguments {
    le_cublas_operation a_is, b_is;
    int m, n, k, lda, ldb, ldc, count;
    const void *a, *b;
    void *c;
    long long a_stride, b_stride, c_stride;
};

/* scale, kept: numbers of the type that the kernel adds in */
static le_cublas_status multiply(le_cublas_handle h, enum kernel kernel, struct arguments *x, void *scale, void *kept) {
    void *parameters[] = {&x->a_is,     &x->b_is, &x->m,   &x->n,        &x->k, scale, &x->a,   &x->lda,
                          &x->a_stride, &x->b,    &x->ldb, &x->b_stride, kept,  &x->c, &x->ldc, &x->c_stride};
    if (!has_workspace(h) || x->m < 1 || x->n < 1 || x->k < 1 || x->count < 1 || x->count > BATCH_MAX ||
        !is_valid_matrix(x->m, x->k, x->a_is, x->lda) || !is_valid_matrix(x->k, x->n, x->b_is, x->ldb) || x->ldc < x->m)
        return LE_CUBLAS_INVALID_VALUE;
    return launch_product(h, h->kernels[kernel], x->m, x->n, x->count, parameters);
}

#define PRODUCT(name, kernel, T)                                                                                       \
    static le_cublas_status name LE_CUBLAS_PRODUCT(T) {                                                                \
        le_cublas_status fault = le_sim_cublas_fault();                                                                \
        if (fault)                                                                                                     \
            return fault;                                                                                              \
        T scale = *alpha, kept = *beta;                                                                                \
        struct arguments x = {a_is, b_is, m, n, k, lda, ldb, ldc, count, a, b, c, a_stride, b_stride, c_stride};       \
        return multiply(handle, kernel, &x, &scale, &kept);                                                            \
    }

PRODUCT(product_f32, F32, float)
PRODUCT(product_f64, F64, double)

/* KERNELS: no kernel has these types. */
static enum kernel kernel_of(le_cublas_type factors, le_cublas_type target, le_cublas_compute compute) {
    const bool same = factors == target, single = target == LE_CUBLAS_R_32F;
    if (factors == LE_CUBLAS_C_64F || compute == LE_CUBLAS_COMPUTE_64F)
        return same && factors == LE_CUBLAS_C_64F && compute == LE_CUBLAS_COMPUTE_64F ? C128 : KERNELS;
    if (compute == LE_CUBLAS_COMPUTE_32F_FAST_TF32)
        return same && single ? TF32 : KERNELS;
    if (compute != LE_CUBLAS_COMPUTE_32F || !(same || single))
        return KERNELS;
    return factors == LE_CUBLAS_R_16F    ? (same ? F16 : F16_F32)
           : factors == LE_CUBLAS_R_16BF ? (same ? BF16 : BF16_F32)
           : factors == LE_CUBLAS_R_32F  ? F32
           : factors == LE_CUBLAS_C_32F  ? C64
                                         : KERNELS;
}

static le_cublas_status product_of_types(le_cublas_handle handle, le_cublas_operation a_is, le_cublas_operation b_is,
                                         int m, int n, int k, const void *alpha, const void *a, le_cublas_type a_type,
                                         int lda, long long a_stride, const void *b, le_cublas_type b_type, int ldb,
                                         long long b_stride, const void *beta, void *c, le_cublas_type c_type, int ldc,
                                         long long c_stride, int count, le_cublas_compute compute,
                                         le_cublas_algorithm algorithm) {
    le_cublas_status fault = le_sim_cublas_fault();
    if (fault)
        return fault;
    double scale[2] = {0}, kept[2] = {0}; /* of the type that the kernel adds in */
    const size_t size_bytes = c_type == LE_CUBLAS_C_64F ? 16 : c_type == LE_CUBLAS_C_32F ? 8 : 4;
    memcpy(scale, alpha, size_bytes);
    memcpy(kept, beta, size_bytes);
    struct arguments x = {a_is, b_is, m, n, k, lda, ldb, ldc, count, a, b, c, a_stride, b_stride, c_stride};
    const enum kernel kernel = kernel_of(a_type, c_type, compute);
    if (kernel == KERNELS || a_type != b_type || algorithm != LE_CUBLAS_GEMM_DEFAULT)
        return LE_CUBLAS_INVALID_VALUE;
    return multiply(handle, kernel, &x, scale, kept);
}

const struct le_cublas *le_sim_cublas(void) {
    static const struct le_cublas table = {.Create = create_handle,
                                           .Destroy = destroy_handle,
                                           .GetStatusString = get_status_string,
                                           .SetStream = set_stream,
                                           .SetWorkspace = set_workspace,
                                           .SetMathMode = set_math_mode,
                                           .SgemmStridedBatched = product_f32,
                                           .DgemmStridedBatched = product_f64,
                                           .GemmStridedBatchedEx = product_of_types};
    return &table;
}
