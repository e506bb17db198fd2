/* leat.h: exchange of arrays through DLPack. */
#include "api/api_check.h"
#include "array/dlpack.h"

leat_status leat_array_to_dlpack(leat_array *array, void *native_stream, struct DLManagedTensor **tensor) {
    LE_CHECK_ARRAY(array);
    LE_CHECK_POINTER(tensor);
    return le_array_to_dlpack(array, native_stream, tensor);
}

leat_status leat_array_to_dlpack_versioned(leat_array *array, void *native_stream,
                                           struct DLManagedTensorVersioned **tensor) {
    LE_CHECK_ARRAY(array);
    LE_CHECK_POINTER(tensor);
    return le_array_to_dlpack_versioned(array, native_stream, tensor);
}

leat_status leat_array_from_dlpack(leat_context *ctx, struct DLManagedTensor *tensor, leat_array **array) {
    LE_CHECK_CONTEXT(ctx);
    LE_CHECK_POINTER(tensor);
    LE_CHECK_POINTER(array);
    const struct le_array_home home = le_context_home(ctx);
    return le_array_from_dlpack(&home, tensor, array);
}

leat_status leat_array_from_dlpack_versioned(leat_context *ctx, struct DLManagedTensorVersioned *tensor,
                                             leat_array **array) {
    LE_CHECK_CONTEXT(ctx);
    LE_CHECK_POINTER(tensor);
    LE_CHECK_POINTER(array);
    const struct le_array_home home = le_context_home(ctx);
    return le_array_from_dlpack_versioned(&home, tensor, array);
}

leat_status leat_dltensor_describe(const struct DLTensor *tensor, leat_description *description, int *cuda_device) {
    LE_CHECK_POINTER(tensor);
    LE_CHECK_POINTER(description);
    LE_CHECK_POINTER(cuda_device);
    return le_dltensor_describe(tensor, description, cuda_device);
}

leat_status leat_array_to_dltensor(const leat_array *array, int64_t *shape, int64_t *strides, struct DLTensor *tensor) {
    LE_CHECK_ARRAY(array);
    LE_CHECK_POINTER(shape);
    LE_CHECK_POINTER(strides);
    LE_CHECK_POINTER(tensor);
    return le_array_to_dltensor(array, shape, strides, tensor);
}
