/* leat.h: the user's own kernels. A leat_kernel is valid as long as its module, which retains the context. */
#include "api/api_check.h"
#include "device/front/module.h"
#include <limits.h>

struct leat_kernel {
    leat_module *module; /* not retained */
    struct le_device_kernel *native;
};
struct leat_module {
    atomic_int refcount; /* held by the caller, and by arrays over its variables */
    leat_context *ctx;   /* retained */
    struct le_device_module *native;
    leat_kernel *kernels; /* in the order of the native module's kernels */
};

#define LE_CHECK_MODULE(module)                                                                                        \
    do {                                                                                                               \
        LE_CHECK_POINTER(module);                                                                                      \
        LE_CHECK_CONTEXT((module)->ctx);                                                                               \
    } while (0)
#define LE_CHECK_KERNEL(kernel)                                                                                        \
    do {                                                                                                               \
        LE_CHECK_POINTER(kernel);                                                                                      \
        LE_CHECK_CONTEXT((kernel)->module->ctx);                                                                       \
    } while (0)

/* ---- modules */

static leat_status make_kernels(leat_module *module) {
    int count = le_device_module_kernel_count(module->native);
    module->kernels = le_alloc_zero((size_t)count + 1, sizeof *module->kernels);
    if (!module->kernels)
        return le_fail_out_of_memory((size_t)count * sizeof *module->kernels);
    for (int k = 0; k < count; k++)
        module->kernels[k] = (leat_kernel){module, le_device_module_kernel_at(module->native, k)};
    return LEAT_OK;
}

static void release_module(leat_module *module) {
    if (atomic_fetch_sub_explicit(&module->refcount, 1, memory_order_acq_rel) != 1)
        return;
    leat_context *ctx = module->ctx;
    le_device_module_free(module->native);
    le_free(module->kernels);
    le_free(module);
    le_context_release(ctx);
}

static leat_status check_list(const char *const *list, const char *name) {
    for (size_t k = 0; list && list[k]; k++)
        if (!list[k][0])
            return le_fail(LEAT_INVALID, "options.%s[%zu] is empty", name, k);
    return LEAT_OK;
}

static leat_status check_options(const leat_module_options *options) {
    leat_status status = check_list(options->macros, "macros");
    if (!status)
        status = check_list(options->include_paths, "include_paths");
    if (!status)
        status = check_list(options->options, "options");
    return status ? status : check_list(options->names, "names");
}

/* Whether the text contains the word. A backslash and the line end after it are skipped, as C does. */
static bool contains_word(const char *text, const char *word) {
    for (; *text; text++) {
        const char *at = text, *letter = word;
        while (*letter) {
            if (at[0] == '\\' && at[1 + (at[1] == '\r')] == '\n')
                at += 2 + (at[1] == '\r');
            else if (*at++ != *letter++)
                break;
        }
        if (!*letter)
            return true;
    }
    return false;
}

/* Whether neither text nor options can include a file, so that the code depends on them alone and can be cached. */
static bool is_self_contained(const char *text, const leat_module_options *options) {
    static const char *const words[] = {"include", "import", "embed", "pch", "optf", "options-file"};
    bool whole = true;
    for (size_t k = 0; k < ARRAY_LEN(words); k++) {
        whole = whole && (k >= 3 || !contains_word(text, words[k]));
        for (const char *const *option = options->options; option && *option; option++)
            whole = whole && !contains_word(*option, words[k]);
    }
    return whole;
}

static leat_status compile_module(leat_module *module, const char *cuda_c, const leat_module_options *options) {
    struct le_module_source source = {.text = cuda_c,
                                      .name = options->name && *options->name ? options->name : "module.cu",
                                      .macros = options->macros,
                                      .include_paths = options->include_paths,
                                      .options = options->options,
                                      .names = options->names,
                                      .line_info = options->line_info,
                                      .is_whole = is_self_contained(cuda_c, options)};
    leat_status status = le_device_module_new(module->ctx->device, &source, &module->native);
    if (!status)
        le_device_module_read_source(module->native, cuda_c);
    return status ? status : make_kernels(module);
}

leat_status leat_module_new(leat_context *ctx, const char *cuda_c, const leat_module_options *options,
                            leat_module **module) {
    leat_module_options all;
    LE_CHECK_CONTEXT(ctx);
    LE_CHECK_POINTER(cuda_c);
    LE_CHECK_POINTER(module);
    LE_TAKE_OPTIONS(options, leat_module_options, &all);
    leat_status status = check_options(&all);
    if (status)
        return status;
    leat_module *made = le_alloc_zero(1, sizeof *made);
    if (!made)
        return le_fail_out_of_memory(sizeof *made);
    atomic_init(&made->refcount, 1);
    made->ctx = le_context_retain(ctx);
    status = compile_module(made, cuda_c, &all);
    if (status)
        release_module(made);
    else
        *module = made;
    return status;
}

void leat_module_free(leat_module *module) {
    if (module && le_context_check(module->ctx) == LEAT_OK)
        release_module(module);
}

leat_status leat_module_log(const leat_module *module, const char **log) {
    LE_CHECK_MODULE(module);
    LE_CHECK_POINTER(log);
    *log = le_device_module_log(module->native);
    return LEAT_OK;
}

leat_status leat_module_kernel(leat_module *module, const char *name, leat_kernel **kernel) {
    LE_CHECK_MODULE(module);
    LE_CHECK_POINTER(name);
    LE_CHECK_POINTER(kernel);
    struct le_device_kernel *native;
    leat_status status = le_device_module_kernel(module->native, name, &native);
    if (!status)
        *kernel = &module->kernels[native - module->native->kernels];
    return status;
}

leat_status leat_module_kernel_count(const leat_module *module, size_t *count) {
    LE_CHECK_MODULE(module);
    LE_CHECK_POINTER(count);
    *count = (size_t)le_device_module_kernel_count(module->native);
    return LEAT_OK;
}

leat_status leat_module_kernel_at(leat_module *module, size_t k, leat_kernel **kernel) {
    LE_CHECK_MODULE(module);
    LE_CHECK_POINTER(kernel);
    size_t count = (size_t)le_device_module_kernel_count(module->native);
    if (k >= count)
        return le_fail(LEAT_INVALID, "k is %zu, and the module has %zu kernels", k, count);
    *kernel = &module->kernels[k];
    return LEAT_OK;
}

/* ---- variables */

static void release_symbol(void *module) {
    release_module(module);
}

leat_status leat_module_symbol(leat_module *module, const char *name, leat_array **array) {
    LE_CHECK_MODULE(module);
    LE_CHECK_POINTER(name);
    LE_CHECK_POINTER(array);
    struct le_allocation *allocation;
    leat_status status = le_device_module_symbol(module->native, name, &allocation);
    if (status)
        return status;
    atomic_fetch_add_explicit(&module->refcount, 1, memory_order_relaxed);
    status = le_array_borrow_allocation(module->ctx->memory, allocation, release_symbol, module, array);
    if (status)
        release_module(module);
    return status;
}

/* ---- kernels */

leat_status leat_kernel_get(leat_kernel *kernel, leat_kernel_info *info) {
    LE_CHECK_KERNEL(kernel);
    LE_CHECK_POINTER(info);
    struct le_kernel_facts facts;
    leat_status status = le_device_kernel_facts(kernel->native, &facts);
    if (!status)
        *info = (leat_kernel_info){.name = facts.name,
                                   .registers = facts.registers,
                                   .max_block_threads = facts.max_block_threads,
                                   .best_block_threads = facts.best_block_threads,
                                   .static_shared_bytes = facts.static_shared_bytes,
                                   .max_dynamic_shared_bytes = facts.max_dynamic_shared_bytes,
                                   .local_bytes = facts.local_bytes,
                                   .constant_bytes = facts.constant_bytes,
                                   .parameter_count = facts.parameter_count};
    return status;
}

leat_status leat_kernel_parameter(leat_kernel *kernel, size_t k, leat_parameter_info *info) {
    LE_CHECK_KERNEL(kernel);
    LE_CHECK_POINTER(info);
    struct le_kernel_facts facts;
    leat_status status = le_device_kernel_facts(kernel->native, &facts);
    if (status)
        return status;
    if (k >= (size_t)facts.parameter_count)
        return le_fail(LEAT_INVALID, "k is %zu, and kernel %s has %d parameters", k, facts.name, facts.parameter_count);
    const struct le_parameter *parameter = &facts.parameters[k];
    *info = (leat_parameter_info){.size_bytes = parameter->size_bytes,
                                  .dtype = parameter->dtype,
                                  .is_address = parameter->may_be_pointer,
                                  .name = parameter->name,
                                  .is_const = parameter->is_const,
                                  .is_pointer =
                                      parameter->is_pointer || parameter->is_declared_pointer || parameter->pointee,
                                  .pointee = parameter->pointee};
    return LEAT_OK;
}

/* ---- launches: translates a leat_argument to a le_launch_argument. Messages count arguments from 1. */

struct translated {
    struct le_launch_argument arguments[LE_LAUNCH_PARAMETERS_MAX];
    uint64_t addresses[LE_LAUNCH_PARAMETERS_MAX];
};

static leat_status refuse_argument(const leat_kernel *kernel, size_t k, const char *why) {
    return le_fail(LEAT_INVALID, "kernel %s: argument %zu %s", kernel->native->name, k + 1, why);
}

/* The address of element [0,...,0] for kernels; 0 if they cannot access it. */
static uint64_t kernel_address(const leat_array *array) {
    const struct le_allocation *allocation = array->buffer->allocation;
    if (!allocation->host)
        return (uint64_t)(uintptr_t)array->data;
    return allocation->address
               ? allocation->address + (uint64_t)((const char *)array->data - (const char *)allocation->host)
               : 0;
}

static leat_status translate_array(const leat_kernel *kernel, const leat_argument *argument, size_t k,
                                   struct translated *to) {
    static const enum le_allocation_access ACCESSES[] = {[LEAT_ARGUMENT_IN] = LE_ACCESS_READ,
                                                         [LEAT_ARGUMENT_OUT] = LE_ACCESS_WRITE,
                                                         [LEAT_ARGUMENT_INOUT] = LE_ACCESS_BOTH};
    const leat_array *array = argument->array;
    if (!array)
        return refuse_argument(kernel, k, "is NULL, not an array");
    LE_CHECK_ARRAY(array);
    if (!array->buffer->allocation)
        return refuse_argument(kernel, k, "is an array of another context");
    if (array->read_only && argument->kind != LEAT_ARGUMENT_IN)
        return refuse_argument(kernel, k, "is a read-only array, but is passed as an output");
    to->addresses[k] = kernel_address(array);
    to->arguments[k] = (struct le_launch_argument){.value = &to->addresses[k],
                                                   .size_bytes = sizeof to->addresses[k],
                                                   .dtype = array->dtype,
                                                   .allocation = array->buffer->allocation,
                                                   .access = ACCESSES[argument->kind]};
    return LEAT_OK;
}

static leat_status translate(const leat_kernel *kernel, const leat_argument *argument, size_t k,
                             struct translated *to) {
    switch (argument->kind) {
    case LEAT_ARGUMENT_IN:
    case LEAT_ARGUMENT_OUT:
    case LEAT_ARGUMENT_INOUT:
        return translate_array(kernel, argument, k, to);
    case LEAT_ARGUMENT_NUMBER:
        to->arguments[k] = (struct le_launch_argument){.value = argument->number.all,
                                                       .size_bytes = leat_dtype_size_bytes(argument->dtype),
                                                       .dtype = argument->dtype};
        return to->arguments[k].size_bytes ? LEAT_OK : refuse_argument(kernel, k, "is a number without a type");
    case LEAT_ARGUMENT_BYTES:
        to->arguments[k] = (struct le_launch_argument){.value = argument->bytes, .size_bytes = argument->size_bytes};
        return argument->bytes ? LEAT_OK : refuse_argument(kernel, k, "has NULL instead of bytes");
    }
    return refuse_argument(
        kernel, k, "has an invalid kind: make it with leat_in, leat_out, leat_inout, leat_f32 or a similar function");
}

static unsigned extent_or_one(unsigned given) {
    return given ? given : 1;
}

static leat_status launch_kernel(leat_kernel *kernel, leat_dim3 grid, leat_dim3 block, size_t shared_bytes,
                                 leat_stream *stream, const leat_argument *arguments, size_t count, bool cooperative) {
    LE_CHECK_KERNEL(kernel);
    leat_context *ctx = kernel->module->ctx;
    struct translated translated;
    if (count)
        LE_CHECK_POINTER(arguments);
    leat_status status = LEAT_OK;
    size_t taken = (size_t)kernel->native->entry->parameter_count; /* le_device_launch refuses a wrong count */
    for (size_t k = 0; k < count && k < taken && k < LE_LAUNCH_PARAMETERS_MAX && !status; k++)
        status = translate(kernel, &arguments[k], k, &translated);
    if (status)
        return status;
    const struct le_kernel_launch description = {
        .grid = {extent_or_one(grid.x), extent_or_one(grid.y), extent_or_one(grid.z)},
        .block = {extent_or_one(block.x), extent_or_one(block.y), extent_or_one(block.z)},
        .shared_bytes = shared_bytes,
        .cooperative = cooperative,
        .arguments = translated.arguments,
        .argument_count = count > INT_MAX ? INT_MAX : (int)count,
    };
    return le_device_launch(kernel->native, &description, le_context_stream(ctx, stream));
}

leat_status leat_kernel_launch(leat_kernel *kernel, leat_dim3 grid, leat_dim3 block, size_t shared_bytes,
                               leat_stream *stream, const leat_argument *arguments, size_t count) {
    return launch_kernel(kernel, grid, block, shared_bytes, stream, arguments, count, false);
}

leat_status leat_kernel_launch_cooperative(leat_kernel *kernel, leat_dim3 grid, leat_dim3 block, size_t shared_bytes,
                                           leat_stream *stream, const leat_argument *arguments, size_t count) {
    return launch_kernel(kernel, grid, block, shared_bytes, stream, arguments, count, true);
}
