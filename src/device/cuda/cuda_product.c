/* Matrix products by cuBLAS, with one handle per device, created for the first product. Each product sets the handle's
 * stream and workspace. The math mode stays fixed: no TF32 but in products that ask for it, no emulation, and sums of
 * 16-bit floats are rounded to their type once, at the end. cuBLAS stores matrices by columns, so it is asked for the
 * transpose of the target: right' * left'. */
#include "device/cuda/cuda_device.h"
#include "device/cuda/cuda_libraries.h"

#define NAME "cuBLAS"

static leat_status product_status(const struct le_cuda_device *cuda, le_cublas_status result, const char *what) {
    if (result == LE_CUBLAS_SUCCESS)
        return LEAT_OK;
    return le_fail(result == LE_CUBLAS_ALLOC_FAILED ? LEAT_OUT_OF_MEMORY : LEAT_DEVICE, NAME ", %s: %s", what,
                   cuda->cublas->GetStatusString(result));
}

static leat_status make_handle(struct le_cuda_device *cuda) {
    const struct le_cublas *cublas = cuda->cublas;
    le_cublas_handle handle = NULL;
    le_cublas_status made = cublas->Create(&handle);
    if (made && made != LE_CUBLAS_ALLOC_FAILED) /* it does not fit the driver or the device: treated as missing */
        return le_fail(LEAT_UNSUPPORTED, NAME " failed to initialize: %s", cublas->GetStatusString(made));
    leat_status status = product_status(cuda, made, "creating a handle");
    if (!status)
        status = product_status(cuda, cublas->SetMathMode(handle, LE_CUBLAS_DEFAULT_MATH | LE_CUBLAS_NO_REDUCED_SUMS),
                                "setting the mode");
    if (status && handle)
        cublas->Destroy(handle);
    else if (!status)
        cuda->product_handle = handle;
    return status;
}

/* Creates the handle at the first call. Call with the lock held. */
static leat_status ensure_handle(struct le_cuda_device *cuda) {
    struct le_device_span span;
    le_cu_context before;
    if (cuda->product_handle)
        return LEAT_OK;
    le_device_span_begin(cuda->device, &span, LEAT_COST_LIBRARY, NAME, "the first large matrix product");
    leat_status status = cuda->cublas ? LEAT_OK : le_cublas_open(&cuda->cublas);
    if (!status)
        status = le_cuda_enter(cuda, &before);
    if (!status)
        status = le_cuda_leave(cuda, before, make_handle(cuda));
    le_device_span_end(&span, 0);
    return status;
}

leat_status le_cuda_product_open(void *native) {
    struct le_cuda_device *cuda = native;
    pthread_mutex_lock(&cuda->product_lock);
    leat_status status = ensure_handle(cuda);
    pthread_mutex_unlock(&cuda->product_lock);
    return status;
}

void le_cuda_product_close(struct le_cuda_device *cuda) {
    le_cu_context before;
    if (cuda->product_handle) {
        bool entered = le_cuda_enter_to_free(cuda, &before);
        cuda->cublas->Destroy(cuda->product_handle); /* frees its host memory in any case */
        if (entered)
            le_cuda_leave(cuda, before, LEAT_OK);
    }
    pthread_mutex_destroy(&cuda->product_lock);
}

static le_cublas_operation operation_of(const struct le_matrix *matrix) {
    return matrix->transposed ? LE_CUBLAS_OP_T : LE_CUBLAS_OP_N;
}

#define CALL(name, T)                                                                                                  \
    static le_cublas_status call_##name(const struct le_cuda_device *cuda, const struct le_product *p) {               \
        const T scale = (T)p->scale, kept = (T)p->kept;                                                                \
        const struct le_matrix *l = &p->left, *r = &p->right, *t = &p->target;                                         \
        return cuda->cublas->name(cuda->product_handle, operation_of(r), operation_of(l), p->columns, p->rows,         \
                                  p->terms, &scale, (const T *)(uintptr_t)r->address, r->stride, r->batch_stride,      \
                                  (const T *)(uintptr_t)l->address, l->stride, l->batch_stride, &kept,                 \
                                  (T *)(uintptr_t)t->address, t->stride, t->batch_stride, p->batch);                   \
    }
CALL(SgemmStridedBatched, float)
CALL(DgemmStridedBatched, double)

static le_cublas_type type_of(leat_dtype dtype) {
    return dtype == LEAT_F16    ? LE_CUBLAS_R_16F
           : dtype == LEAT_BF16 ? LE_CUBLAS_R_16BF
           : dtype == LEAT_C64  ? LE_CUBLAS_C_32F
           : dtype == LEAT_C128 ? LE_CUBLAS_C_64F
                                : LE_CUBLAS_R_32F;
}

/* Products of 16-bit floats and of complex numbers, and TF32. The scales have the type of the sums: f32, c64 or c128. */
static le_cublas_status call_of_types(const struct le_cuda_device *cuda, const struct le_product *p) {
    const double wide[2][2] = {{p->scale}, {p->kept}};
    const float single[2][2] = {{(float)p->scale}, {(float)p->kept}};
    const bool is_wide = p->dtype == LEAT_C128;
    const struct le_matrix *l = &p->left, *r = &p->right, *t = &p->target;
    const le_cublas_type type = type_of(p->dtype);
    return cuda->cublas->GemmStridedBatchedEx(
        cuda->product_handle, operation_of(r), operation_of(l), p->columns, p->rows, p->terms,
        is_wide ? (const void *)wide[0] : single[0], (const void *)(uintptr_t)r->address, type, r->stride,
        r->batch_stride, (const void *)(uintptr_t)l->address, type, l->stride, l->batch_stride,
        is_wide ? (const void *)wide[1] : single[1], (void *)(uintptr_t)t->address, type_of(p->target_dtype), t->stride,
        t->batch_stride, p->batch,
        is_wide   ? LE_CUBLAS_COMPUTE_64F
        : p->tf32 ? LE_CUBLAS_COMPUTE_32F_FAST_TF32
                  : LE_CUBLAS_COMPUTE_32F,
        LE_CUBLAS_GEMM_DEFAULT);
}

static le_cublas_status call_product(const struct le_cuda_device *cuda, const struct le_product *p) {
    if (p->dtype == LEAT_F64)
        return call_DgemmStridedBatched(cuda, p);
    return p->dtype == LEAT_F32 && !p->tf32 ? call_SgemmStridedBatched(cuda, p) : call_of_types(cuda, p);
}

/* Setting the stream resets the workspace, so the workspace is set second. */
static leat_status enqueue_product(struct le_cuda_device *cuda, void *stream, const struct le_product *p, uint64_t work,
                                   size_t work_bytes) {
    const struct le_cublas *cublas = cuda->cublas;
    leat_status status = product_status(cuda, cublas->SetStream(cuda->product_handle, le_cuda_stream_of(cuda, stream)),
                                        "setting the stream");
    if (!status)
        status = product_status(cuda, cublas->SetWorkspace(cuda->product_handle, (void *)(uintptr_t)work, work_bytes),
                                "setting the workspace");
    if (!status)
        status = product_status(cuda, call_product(cuda, p), p->what);
    return status;
}

leat_status le_cuda_product(void *native, void *stream, const struct le_product *product, uint64_t work,
                            size_t work_bytes) {
    struct le_cuda_device *cuda = native;
    le_cu_context before;
    pthread_mutex_lock(&cuda->product_lock);
    leat_status status = ensure_handle(cuda);
    if (!status)
        status = le_cuda_enter(cuda, &before);
    if (!status)
        status = le_cuda_leave(cuda, before, enqueue_product(cuda, stream, product, work, work_bytes));
    pthread_mutex_unlock(&cuda->product_lock);
    return status;
}
