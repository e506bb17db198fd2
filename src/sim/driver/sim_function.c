/* Modules and functions, on top of sim_exec.h: loading, lookup by name, attributes, and occupancy. Guarded by the
 * state's lock. */
#include "base/memory.h"
#include "sim/driver/sim_function.h"
#include <string.h>

/* ---- modules */

static void remove_variables(const struct sim_loaded *loaded) {
    const struct sim_item *item;
    for (size_t k = 0; (item = le_sim_module_variable(loaded->module, k)); k++) {
        const struct sim_allocation *allocation = le_sim_memory_find((uintptr_t)item->address, 1);
        if (allocation && allocation->kind == SIM_ALLOCATION_MODULE)
            le_sim_memory_remove(allocation->address);
    }
}

static bool add_variables(const struct sim_loaded *loaded) {
    const struct sim_item *item;
    for (size_t k = 0; (item = le_sim_module_variable(loaded->module, k)); k++) {
        struct sim_allocation allocation = {.address = (uintptr_t)item->address,
                                            .size_bytes = item->size_bytes,
                                            .span_bytes = item->size_bytes,
                                            .kind = SIM_ALLOCATION_MODULE};
        if (item->size_bytes && !le_sim_memory_add(&allocation))
            return false;
    }
    return true;
}

static void functions_free(struct sim_loaded *loaded) {
    while (loaded->functions) {
        struct sim_function *function = loaded->functions;
        loaded->functions = function->next;
        le_sim_handle_drop(&le_sim_state()->function_handles, function->handle);
        le_free(function);
    }
}

static void loaded_free(struct sim_loaded *loaded) {
    functions_free(loaded);
    remove_variables(loaded);
    le_sim_module_free(loaded->module);
    le_free(loaded);
}

/* While checking, an unloaded module stays in memory until the context is destroyed, because reports may name its
 * source lines. */
static void retire_module(struct sim_loaded *loaded) {
    struct sim_state *state = le_sim_state();
    if (!state->check) {
        loaded_free(loaded);
        return;
    }
    functions_free(loaded);
    remove_variables(loaded);
    loaded->next = state->retired;
    state->retired = loaded;
}

void le_sim_modules_declare_all(void) {
    const struct sim_state *state = le_sim_state();
    for (int k = 0; k < state->module_handles.count; k++) {
        const struct sim_loaded *loaded = state->module_handles.at[k].object;
        if (loaded)
            le_sim_module_check(loaded->module, state->check);
    }
}

void le_sim_modules_finish(void) {
    struct sim_state *state = le_sim_state();
    while (state->retired) {
        struct sim_loaded *loaded = state->retired;
        state->retired = loaded->next;
        loaded_free(loaded);
    }
    for (int k = 0; k < state->module_handles.count; k++)
        if (state->module_handles.at[k].object)
            loaded_free(state->module_handles.at[k].object);
    le_sim_handles_finish(&state->module_handles);
    le_sim_handles_finish(&state->function_handles);
}

/* Options may ask for logs. They are empty, because the image is already compiled. */
static void empty_logs(unsigned option_count, const le_cu_jit_option *options, void **values) {
    for (unsigned k = 0; k < option_count; k++) {
        bool log = options[k] == LE_CU_JIT_INFO_LOG_BUFFER || options[k] == LE_CU_JIT_ERROR_LOG_BUFFER;
        if (log && values[k])
            *(char *)values[k] = '\0';
    }
}

static le_cu_result load_module(le_cu_module *handle, const void *image) {
    struct sim_state *state = le_sim_state();
    if (le_sim_fault_now(&state->counts.module, state->options.faults.module))
        return LE_CU_ERROR_INVALID_IMAGE;
    struct sim_loaded *loaded = le_alloc_zero(1, sizeof *loaded);
    if (!loaded)
        return LE_CU_ERROR_OUT_OF_MEMORY;
    leat_status status = le_sim_module_load(image, &loaded->module);
    if (status) {
        le_free(loaded);
        return status == LEAT_OUT_OF_MEMORY ? LE_CU_ERROR_OUT_OF_MEMORY : LE_CU_ERROR_INVALID_IMAGE;
    }
    le_sim_module_check(loaded->module, state->check);
    uintptr_t number = add_variables(loaded) ? le_sim_handle_put(&state->module_handles, loaded) : 0;
    if (!number) {
        loaded_free(loaded);
        return LE_CU_ERROR_OUT_OF_MEMORY;
    }
    *handle = (le_cu_module)number;
    return LE_CU_SUCCESS;
}

le_cu_result le_sim_ModuleLoadDataEx(le_cu_module *module, const void *image, unsigned option_count,
                                     le_cu_jit_option *options, void **values) {
    le_cu_result result = le_sim_enter(SIM_CALL_MODULE);
    if (result)
        return result;
    if (!module || !image || (option_count && (!options || !values)))
        return le_sim_leave(LE_CU_ERROR_INVALID_VALUE);
    empty_logs(option_count, options, values);
    return le_sim_leave(load_module(module, image));
}

static struct sim_loaded *loaded_of(le_cu_module module) {
    return le_sim_handle_get(&le_sim_state()->module_handles, (uintptr_t)module);
}

le_cu_result le_sim_ModuleUnload(le_cu_module module) {
    le_cu_result result = le_sim_enter(SIM_CALL_MODULE);
    if (result)
        return result;
    if (!loaded_of(module))
        return le_sim_leave(LE_CU_ERROR_INVALID_HANDLE);
    le_sim_force_all(); /* enqueued kernels of the module run first */
    struct sim_loaded *loaded = loaded_of(module);
    if (loaded) {
        le_sim_handle_drop(&le_sim_state()->module_handles, (uintptr_t)module);
        retire_module(loaded);
    }
    return le_sim_leave(LE_CU_SUCCESS);
}

static struct sim_function *function_new(struct sim_loaded *loaded, const struct sim_item *item) {
    struct sim_function *function = le_alloc_zero(1, sizeof *function);
    if (!function)
        return NULL;
    function->handle = le_sim_handle_put(&le_sim_state()->function_handles, function);
    if (!function->handle) {
        le_free(function);
        return NULL;
    }
    function->item = item;
    function->loaded = loaded;
    function->static_bytes = le_sim_module_shared_bytes(loaded->module, item);
    function->registers = le_sim_module_registers(loaded->module, item);
    function->dynamic_max_bytes =
        function->static_bytes < SIM_SHARED_BYTES ? SIM_SHARED_BYTES - function->static_bytes : 0;
    function->next = loaded->functions;
    loaded->functions = function;
    return function;
}

static le_cu_result get_function(le_cu_function *handle, le_cu_module module, const char *name) {
    struct sim_loaded *loaded = loaded_of(module);
    if (!loaded)
        return LE_CU_ERROR_INVALID_HANDLE;
    if (!handle || !name)
        return LE_CU_ERROR_INVALID_VALUE;
    const struct sim_item *item = le_sim_module_kernel(loaded->module, name);
    if (!item)
        return LE_CU_ERROR_NOT_FOUND;
    struct sim_function *function = loaded->functions;
    while (function && function->item != item)
        function = function->next;
    if (!function)
        function = function_new(loaded, item);
    if (!function)
        return LE_CU_ERROR_OUT_OF_MEMORY;
    *handle = (le_cu_function)function->handle;
    return LE_CU_SUCCESS;
}

le_cu_result le_sim_ModuleGetFunction(le_cu_function *function, le_cu_module module, const char *name) {
    le_cu_result result = le_sim_enter(SIM_CALL_FREE);
    return result ? result : le_sim_leave(get_function(function, module, name));
}

static le_cu_result get_global(le_cu_deviceptr *address, size_t *size_bytes, le_cu_module module, const char *name) {
    const struct sim_loaded *loaded = loaded_of(module);
    if (!loaded)
        return LE_CU_ERROR_INVALID_HANDLE;
    if (!name)
        return LE_CU_ERROR_INVALID_VALUE;
    const struct sim_item *item = le_sim_module_global(loaded->module, name);
    if (!item)
        return LE_CU_ERROR_NOT_FOUND;
    if (address)
        *address = (uintptr_t)item->address;
    if (size_bytes)
        *size_bytes = item->size_bytes;
    return LE_CU_SUCCESS;
}

le_cu_result le_sim_ModuleGetGlobal(le_cu_deviceptr *address, size_t *size_bytes, le_cu_module module,
                                    const char *name) {
    le_cu_result result = le_sim_enter(SIM_CALL_FREE);
    return result ? result : le_sim_leave(get_global(address, size_bytes, module, name));
}

/* ---- functions */

struct sim_function *le_sim_function_of(le_cu_function function) {
    return le_sim_handle_get(&le_sim_state()->function_handles, (uintptr_t)function);
}

int le_sim_max_threads(const struct sim_function *function) {
    int most = function->item->max_threads && function->item->max_threads < SIM_BLOCK_THREADS
                   ? (int)function->item->max_threads
                   : SIM_BLOCK_THREADS;
    int warps = function->registers > 0 ? SIM_REGISTERS / (function->registers * 32) : most / 32;
    return warps * 32 < most ? warps * 32 : most;
}

static le_cu_result get_attribute(int *value, le_cu_function_attribute attribute, const struct sim_function *function) {
    if (!function)
        return LE_CU_ERROR_INVALID_HANDLE;
    if (!value)
        return LE_CU_ERROR_INVALID_VALUE;
    switch (attribute) {
    case LE_CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = le_sim_max_threads(function);
        return LE_CU_SUCCESS;
    case LE_CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = (int)function->static_bytes;
        return LE_CU_SUCCESS;
    case LE_CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case LE_CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = 0;
        return LE_CU_SUCCESS;
    case LE_CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = function->registers;
        return LE_CU_SUCCESS;
    case LE_CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case LE_CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = 90;
        return LE_CU_SUCCESS;
    case LE_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = (int)function->dynamic_max_bytes;
        return LE_CU_SUCCESS;
    default:
        return LE_CU_ERROR_INVALID_VALUE;
    }
}

le_cu_result le_sim_FuncGetAttribute(int *value, le_cu_function_attribute attribute, le_cu_function function) {
    le_cu_result result = le_sim_enter(SIM_CALL_FREE);
    return result ? result : le_sim_leave(get_attribute(value, attribute, le_sim_function_of(function)));
}

static le_cu_result set_attribute(struct sim_function *function, le_cu_function_attribute attribute, int value) {
    if (!function)
        return LE_CU_ERROR_INVALID_HANDLE;
    if (attribute != LE_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 ||
        (size_t)value + function->static_bytes > SIM_SHARED_OPTIN_BYTES)
        return LE_CU_ERROR_INVALID_VALUE;
    function->dynamic_max_bytes = (size_t)value;
    return LE_CU_SUCCESS;
}

le_cu_result le_sim_FuncSetAttribute(le_cu_function function, le_cu_function_attribute attribute, int value) {
    le_cu_result result = le_sim_enter(SIM_CALL_FREE);
    return result ? result : le_sim_leave(set_attribute(le_sim_function_of(function), attribute, value));
}

le_cu_result le_sim_FuncGetParamInfo(le_cu_function handle, size_t k, size_t *offset_bytes, size_t *size_bytes) {
    le_cu_result result = le_sim_enter(SIM_CALL_FREE);
    if (result)
        return result;
    const struct sim_function *function = le_sim_function_of(handle);
    if (!function)
        return le_sim_leave(LE_CU_ERROR_INVALID_HANDLE);
    if (!offset_bytes || k >= function->item->parameter_count)
        return le_sim_leave(LE_CU_ERROR_INVALID_VALUE);
    *offset_bytes = function->item->parameters[k].offset;
    if (size_bytes)
        *size_bytes = function->item->parameters[k].size_bytes;
    return le_sim_leave(LE_CU_SUCCESS);
}

/* ---- occupancy */

static int min_int(int a, int b) {
    return a < b ? a : b;
}

int le_sim_resident_blocks(const struct sim_function *function, int threads, size_t shared_bytes) {
    int warps = (threads + 31) / 32;
    size_t shared = function->static_bytes + shared_bytes + SIM_BLOCK_SHARED_RESERVED_BYTES;
    int blocks = min_int(SIM_MULTIPROCESSOR_BLOCKS, SIM_MULTIPROCESSOR_THREADS / (warps * 32));
    if (threads > le_sim_max_threads(function) || shared > SIM_MULTIPROCESSOR_SHARED_BYTES)
        return 0;
    blocks = min_int(blocks, (int)(SIM_MULTIPROCESSOR_SHARED_BYTES / shared));
    if (function->registers > 0)
        blocks = min_int(blocks, SIM_REGISTERS / (function->registers * warps * 32));
    return blocks;
}

le_cu_result le_sim_OccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, le_cu_function handle, int block_size,
                                                              size_t shared_bytes) {
    le_cu_result result = le_sim_enter(SIM_CALL_FREE);
    if (result)
        return result;
    const struct sim_function *function = le_sim_function_of(handle);
    if (!function)
        return le_sim_leave(LE_CU_ERROR_INVALID_HANDLE);
    if (!blocks || block_size <= 0 || block_size > SIM_BLOCK_THREADS)
        return le_sim_leave(LE_CU_ERROR_INVALID_VALUE);
    *blocks = le_sim_resident_blocks(function, block_size, shared_bytes);
    return le_sim_leave(LE_CU_SUCCESS);
}

/* The block size that keeps the most threads resident; the largest if several do. */
static void best_block(const struct sim_function *function, size_t (*shared_bytes_for)(int block_size),
                       size_t shared_bytes, int limit, int *grid, int *block) {
    int best_threads = 0;
    *grid = *block = 0;
    for (int threads = min_int(limit, le_sim_max_threads(function)) / 32 * 32; threads >= 32; threads -= 32) {
        int blocks =
            le_sim_resident_blocks(function, threads, shared_bytes_for ? shared_bytes_for(threads) : shared_bytes);
        if (blocks * threads > best_threads) {
            best_threads = blocks * threads;
            *grid = blocks * le_sim_state()->options.multiprocessors;
            *block = threads;
        }
    }
}

le_cu_result le_sim_OccupancyMaxPotentialBlockSize(int *min_grid_size, int *block_size, le_cu_function handle,
                                                   size_t (*shared_bytes_for)(int block_size), size_t shared_bytes,
                                                   int block_size_limit) {
    le_cu_result result = le_sim_enter(SIM_CALL_FREE);
    if (result)
        return result;
    const struct sim_function *function = le_sim_function_of(handle);
    if (!function)
        return le_sim_leave(LE_CU_ERROR_INVALID_HANDLE);
    if (!min_grid_size || !block_size || block_size_limit < 0)
        return le_sim_leave(LE_CU_ERROR_INVALID_VALUE);
    int limit = block_size_limit ? block_size_limit : SIM_BLOCK_THREADS;
    best_block(function, shared_bytes_for, shared_bytes, limit, min_grid_size, block_size);
    return le_sim_leave(LE_CU_SUCCESS);
}
