/* Modules over a CUDA driver: loads compiled code, finds its kernels and variables, and reads their attributes.
 * cuda_launch.c launches kernels. */
#include "base/memory.h"
#include "device/cuda/cuda_compile.h"
#include <stdio.h>
#include <string.h>

enum { JIT_LOG_BYTES = 8192 };

/* ---- attributes of kernels */

/* Does nothing after a failure. */
static int function_attribute(struct le_cuda_device *cuda, le_cu_function function, le_cu_function_attribute which,
                              le_cu_result *result) {
    int value = 0;
    if (*result == LE_CU_SUCCESS)
        *result = cuda->driver->FuncGetAttribute(&value, which, function);
    return *result == LE_CU_SUCCESS && value > 0 ? value : 0;
}

static size_t max_dynamic_shared(const struct le_cuda_device *cuda, const struct le_device_kernel *kernel) {
    size_t most_bytes = cuda->device->limits.shared_optin_bytes;
    return most_bytes > kernel->static_shared_bytes ? most_bytes - kernel->static_shared_bytes : 0;
}

static le_cu_result read_attributes(struct le_cuda_device *cuda, struct le_device_kernel *kernel,
                                    le_cu_function function) {
    int grid = 0, block = 0;
    le_cu_result result = LE_CU_SUCCESS;
    kernel->native = function;
    kernel->registers = function_attribute(cuda, function, LE_CU_FUNC_ATTRIBUTE_NUM_REGS, &result);
    kernel->max_block_threads = function_attribute(cuda, function, LE_CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &result);
    kernel->static_shared_bytes =
        (size_t)function_attribute(cuda, function, LE_CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &result);
    kernel->constant_bytes = (size_t)function_attribute(cuda, function, LE_CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, &result);
    kernel->local_bytes = (size_t)function_attribute(cuda, function, LE_CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &result);
    kernel->max_dynamic_shared_bytes = max_dynamic_shared(cuda, kernel);
    if (cuda->driver->OccupancyMaxPotentialBlockSize(&grid, &block, function, NULL, 0, 0) == LE_CU_SUCCESS)
        kernel->best_block_threads = block;
    return result;
}

/* A kernel that the driver does not find stays without a function. Asking for it is an error; the others work. */
static leat_status find_kernels(struct le_cuda_device *cuda, struct le_device_module *module) {
    for (int k = 0; k < module->contents.kernels.count; k++) {
        struct le_device_kernel *kernel = &module->kernels[k];
        le_cu_function function = NULL;
        le_cu_result result = cuda->driver->ModuleGetFunction(&function, module->native, kernel->entry->symbol);
        if (result == LE_CU_ERROR_NOT_FOUND)
            continue;
        if (result == LE_CU_SUCCESS)
            result = read_attributes(cuda, kernel, function);
        if (result != LE_CU_SUCCESS)
            return le_cuda_result(cuda, result, "kernel %s of %s", kernel->name, module->title);
    }
    return LEAT_OK;
}

static leat_status find_variables(struct le_cuda_device *cuda, struct le_device_module *module) {
    for (int k = 0; k < module->contents.variables.count; k++) {
        struct le_device_variable *variable = &module->variables[k];
        le_cu_deviceptr address = 0;
        size_t size_bytes = 0;
        const char *symbol = variable->entry->symbol;
        le_cu_result result = cuda->driver->ModuleGetGlobal(&address, &size_bytes, module->native, symbol);
        if (result != LE_CU_SUCCESS && result != LE_CU_ERROR_NOT_FOUND)
            return le_cuda_result(cuda, result, "variable %s of %s", variable->entry->name, module->title);
        variable->address = result == LE_CU_SUCCESS ? address : 0;
        variable->size_bytes = size_bytes;
    }
    return LEAT_OK;
}

/* ---- loading */

/* If the image is PTX, the driver compiles it here, and writes errors to a log. */
static leat_status load_image(struct le_cuda_device *cuda, const void *image, struct le_device_module *module) {
    char log[JIT_LOG_BYTES] = "";
    le_cu_jit_option options[] = {LE_CU_JIT_ERROR_LOG_BUFFER, LE_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    uintptr_t size_bytes = sizeof log - 1;
    void *values[] = {log, (void *)size_bytes};
    le_cu_module native = NULL;
    le_cu_result result = cuda->driver->ModuleLoadDataEx(&native, image, ARRAY_LEN(options), options, values);
    module->native = result == LE_CU_SUCCESS ? native : NULL;
    if (result == LE_CU_SUCCESS || !log[0])
        return le_cuda_result(cuda, result, "loading %s", module->title);
    return le_cuda_result(cuda, result, "loading %s (%.300s)", module->title, log);
}

static leat_status load_module(struct le_cuda_device *cuda, const void *image, struct le_device_module *module) {
    le_cu_context before;
    leat_status status = le_cuda_enter(cuda, &before);
    if (status)
        return status;
    status = load_image(cuda, image, module);
    if (!status)
        status = find_kernels(cuda, module);
    if (!status)
        status = find_variables(cuda, module);
    if (status && module->native) {
        cuda->driver->ModuleUnload(module->native);
        module->native = NULL;
    }
    return le_cuda_leave(cuda, before, status);
}

leat_status le_cuda_module_new(void *native, const struct le_module_source *source, struct le_device_module *module) {
    struct le_cuda_device *cuda = native;
    struct le_cuda_image image;
    leat_status status = le_cuda_compile(cuda, source, module, &image);
    if (!status)
        status = le_module_read(module);
    if (!status) {
        struct le_device_span span;
        le_device_span_begin(cuda->device, &span, LEAT_COST_MODULE, module->title, source->cause);
        status = load_module(cuda, image.bytes, module);
        le_device_span_end(&span, image.size_bytes);
        module->image_bytes = image.size_bytes;
    }
    le_free(image.bytes);
    return status;
}

void le_cuda_module_free(void *native, struct le_device_module *module) {
    struct le_cuda_device *cuda = native;
    le_cu_context before;
    if (!le_cuda_enter_to_free(cuda, &before))
        return;
    cuda->driver->ModuleUnload(module->native);
    le_cuda_leave(cuda, before, LEAT_OK);
}
