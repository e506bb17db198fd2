/* The cuBLAS of sim. Matrix products run as kernels of sim's own, so they are ordered and checked like any kernel. They
 * sum the terms in order. Stricter than cuBLAS: a product fails if its stream has no workspace, because cuBLAS would
 * then allocate memory that Leat does not count. A handle is used by one thread at a time. */
#include "base/memory.h"
#include "sim/driver/sim_state.h"

enum { BLOCK = 256, BATCH_MAX = 65535, WORK_ALIGNMENT = 256, COLUMNS = 4 };

/* Each thread computes four sums side by side, because each addition depends on the one before it. */
static const char text[] =
    "enum { COLUMNS = 4 };\n"
    "template <class T> __device__ void product(int a_is, int b_is, int m, int n, int k, T alpha, const T *a, int "
    "lda,\n"
    "        long long a_stride, const T *b, int ldb, long long b_stride, T beta, T *c, int ldc, long long c_stride) "
    "{\n"
    "    const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    const int i = (int)(at % m), j = (int)(at / m) * COLUMNS;\n"
    "    if (j >= n)\n"
    "        return;\n"
    "    const long long a_step = a_is ? 1 : lda, b_step = b_is ? ldb : 1, b_next = b_is ? 1 : ldb;\n"
    "    a += blockIdx.y * a_stride + (a_is ? (long long)i * lda : i);\n"
    "    b += blockIdx.y * b_stride + j * b_next;\n"
    "    c += blockIdx.y * c_stride + (long long)j * ldc + i;\n"
    "    const T *columns[COLUMNS];\n"
    "    T sums[COLUMNS] = {0};\n"
    "    for (int q = 0; q < COLUMNS; q++)\n"
    "        columns[q] = b + (j + q < n ? q : 0) * b_next;\n"
    "    for (long long p = 0; p < k && alpha != 0; p++)\n"
    "        for (int q = 0; q < COLUMNS; q++)\n"
    "            sums[q] += a[p * a_step] * columns[q][p * b_step];\n"
    "    for (int q = 0; q < COLUMNS && j + q < n; q++)\n"
    "        c[q * (long long)ldc] = beta == 0 ? alpha * sums[q] : alpha * sums[q] + beta * c[q * (long long)ldc];\n"
    "}\n"
    "#define PRODUCT(name, T)                                                                                  \\\n"
    "    extern \"C\" __global__ void name(int a_is, int b_is, int m, int n, int k, T alpha, const T *a, int lda, \\\n"
    "            long long a_stride, const T *b, int ldb, long long b_stride, T beta, T *c, int ldc,            \\\n"
    "            long long c_stride) {                                                                         \\\n"
    "        product<T>(a_is, b_is, m, n, k, alpha, a, lda, a_stride, b, ldb, b_stride, beta, c, ldc, c_stride); \\\n"
    "    }\n"
    "PRODUCT(product_f32, float)\n"
    "PRODUCT(product_f64, double)\n";

struct cublasContext {
    le_cu_module module;
    le_cu_function f32, f64;
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
    bool loaded = image && !driver->ModuleLoadDataEx(&h->module, image, 0, NULL, NULL) &&
                  !driver->ModuleGetFunction(&h->f32, h->module, "product_f32") &&
                  !driver->ModuleGetFunction(&h->f64, h->module, "product_f64");
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
    return h && mode == LE_CUBLAS_DEFAULT_MATH ? LE_CUBLAS_SUCCESS : LE_CUBLAS_INVALID_VALUE;
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

#define PRODUCT(name, function, T)                                                                                     \
    static le_cublas_status name LE_CUBLAS_PRODUCT(T) {                                                                \
        le_cublas_status fault = le_sim_cublas_fault();                                                                \
        if (fault)                                                                                                     \
            return fault;                                                                                              \
        T scale = *alpha, kept = *beta;                                                                                \
        void *parameters[] = {&a_is,     &b_is,      &m,   &n,        &k,    &scale, (void *)&a, &lda,                 \
                              &a_stride, (void *)&b, &ldb, &b_stride, &kept, &c,     &ldc,       &c_stride};           \
        if (!has_workspace(handle) || m < 1 || n < 1 || k < 1 || count < 1 || count > BATCH_MAX ||                     \
            !is_valid_matrix(m, k, a_is, lda) || !is_valid_matrix(k, n, b_is, ldb) || ldc < m)                         \
            return LE_CUBLAS_INVALID_VALUE;                                                                            \
        return launch_product(handle, handle->function, m, n, count, parameters);                                      \
    }

PRODUCT(product_f32, f32, float)
PRODUCT(product_f64, f64, double)

const struct le_cublas *le_sim_cublas(void) {
    static const struct le_cublas table = {.Create = create_handle,
                                           .Destroy = destroy_handle,
                                           .GetStatusString = get_status_string,
                                           .SetStream = set_stream,
                                           .SetWorkspace = set_workspace,
                                           .SetMathMode = set_math_mode,
                                           .SgemmStridedBatched = product_f32,
                                           .DgemmStridedBatched = product_f64};
    return &table;
}
