/* Modules: compiled code on a device, its kernels and variables. The backend compiles and loads; kernel_name.c finds
 * kernels by name; launch.c launches them. */
#include "device/front/module.h"
#include "base/memory.h"
#include "device/front/kernel_source.h"
#include <string.h>

/* ---- for backends */

static const char *user_name(const struct le_device_module *module, const struct le_ptx_kernel *entry) {
    for (int k = 0; k < module->name_count; k++)
        if (module->names[k].lowered && strcmp(module->names[k].lowered, entry->symbol) == 0)
            return module->names[k].expression;
    return entry->name;
}

leat_status le_module_read(struct le_device_module *module) {
    leat_status status = le_ptx_read(module->ptx, &module->contents);
    if (status)
        return status;
    module->is_read = true;
    size_t kernels = (size_t)module->contents.kernels.count, variables = (size_t)module->contents.variables.count;
    module->kernels = le_alloc_zero(kernels + 1, sizeof *module->kernels);
    module->variables = le_alloc_zero(variables + 1, sizeof *module->variables);
    if (!module->kernels || !module->variables)
        return le_fail_out_of_memory((kernels + variables) * sizeof *module->kernels);
    for (size_t k = 0; k < kernels; k++) {
        module->kernels[k].module = module;
        module->kernels[k].entry = &module->contents.kernels.at[k];
        module->kernels[k].name = user_name(module, module->kernels[k].entry);
    }
    for (size_t k = 0; k < variables; k++)
        module->variables[k].entry = &module->contents.variables.at[k];
    return LEAT_OK;
}

/* ---- creating and freeing */

static void free_parts(struct le_device_module *module) {
    for (int k = 0; module->variables && k < module->contents.variables.count; k++)
        le_allocation_free(atomic_load(&module->variables[k].allocation));
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
    le_free(module->title);
    pthread_mutex_destroy(&module->lock);
    le_device_release(module->device);
    le_free(module);
}

leat_status le_device_module_new(struct le_device *device, const struct le_module_source *source,
                                 struct le_device_module **module) {
    leat_status status = le_device_check(device);
    if (status)
        return status;
    if (!device->ops->module_new)
        return le_fail_at(LEAT_UNSUPPORTED, (struct le_location){0}, "use the device cuda or sim",
                          "device %s does not run CUDA C", device->limits.kind);
    struct le_device_module *made = le_alloc_zero(1, sizeof *made);
    if (!made)
        return le_fail_out_of_memory(sizeof *made);
    pthread_mutex_init(&made->lock, NULL);
    made->device = le_device_retain(device);
    made->title = le_strdup(source->label ? source->label : source->name);
    status = made->title ? device->ops->module_new(device->native, source, made) : le_fail_out_of_memory(0);
    if (status)
        free_parts(made);
    else
        *module = made;
    return status;
}

void le_device_module_read_source(struct le_device_module *module, const char *text) {
    le_kernel_source_refine(text, &module->contents);
}

/* Waits until the driver has all copies between pageable memory and the module's variables. */
static void settle_variables(struct le_device_module *module) {
    struct le_device *device = module->device;
    struct le_point points[1 + LE_ORDER_READS];
    for (int k = 0; k < module->contents.variables.count; k++) {
        const struct le_allocation *allocation = atomic_load(&module->variables[k].allocation);
        int count = 0;
        pthread_mutex_lock(&device->lock);
        if (allocation)
            count = le_order_points(&allocation->order, points);
        pthread_mutex_unlock(&device->lock);
        for (int m = 0; m < count; m++)
            le_stream_settle(device, points[m].stream_id);
    }
}

/* Waits for the driver, if a kernel or a copy of a variable may still be running: its module must not be unloaded.
 * Errors of copies stay with their tickets. A failed device runs nothing any more. */
static void wait_for_work(struct le_device_module *module) {
    struct le_device *device = module->device;
    bool shown = atomic_load(&module->exposed);
    if (atomic_load(&device->failed) || !(shown || atomic_load(&module->launched)))
        return;
    struct le_device_span span;
    le_device_span_begin(device, &span, LEAT_COST_WAIT, "device", "");
    if (shown)
        settle_variables(module);
    (void)device->ops->synchronize(device->native);
    le_device_span_end(&span, 0);
}

void le_device_module_unload(struct le_device_module *module, const char *cause) {
    if (!module || le_device_forked(module->device))
        return;
    struct le_device *device = module->device;
    struct le_device_span span;
    le_device_span_begin(device, &span, LEAT_COST_UNLOAD, module->title, cause);
    le_errors_save();
    wait_for_work(module);
    if (module->native)
        device->ops->module_free(device->native, module);
    le_errors_restore();
    le_device_span_end(&span, 0);
    free_parts(module);
}

void le_device_module_free(struct le_device_module *module) {
    le_device_module_unload(module, "");
}

void le_device_compiler_begin(struct le_device *device) {
    if (device->ops->compiler_begin)
        device->ops->compiler_begin(device->native);
}

bool le_device_module_was_cached(const struct le_device_module *module) {
    return module->was_cached;
}

size_t le_device_module_size_bytes(const struct le_device_module *module) {
    return sizeof *module + module->image_bytes + strlen(module->ptx);
}

const char *le_device_module_log(const struct le_device_module *module) {
    return module->log ? module->log : "";
}

/* ---- kernels */

leat_status le_device_module_kernel(struct le_device_module *module, const char *name,
                                    struct le_device_kernel **kernel) {
    leat_status status = le_device_check(module->device);
    return status ? status : le_module_find(module, name, kernel);
}

int le_device_module_kernel_count(const struct le_device_module *module) {
    return module->contents.kernels.count;
}

struct le_device_kernel *le_device_module_kernel_at(struct le_device_module *module, int k) {
    return &module->kernels[k];
}

leat_status le_device_kernel_facts(struct le_device_kernel *kernel, struct le_kernel_facts *facts) {
    *facts = (struct le_kernel_facts){.name = kernel->name,
                                      .lowered = kernel->entry->symbol,
                                      .registers = kernel->registers,
                                      .max_block_threads = kernel->max_block_threads,
                                      .best_block_threads = kernel->best_block_threads,
                                      .static_shared_bytes = kernel->static_shared_bytes,
                                      .max_dynamic_shared_bytes = kernel->max_dynamic_shared_bytes,
                                      .local_bytes = kernel->local_bytes,
                                      .constant_bytes = kernel->constant_bytes,
                                      .parameter_count = kernel->entry->parameter_count,
                                      .parameters = kernel->entry->parameters};
    return LEAT_OK;
}

/* ---- variables */

static leat_status expose_variable(struct le_device_module *module, struct le_device_variable *variable,
                                   struct le_allocation **allocation) {
    leat_status status = LEAT_OK;
    pthread_mutex_lock(&module->lock);
    *allocation = atomic_load(&variable->allocation);
    if (!*allocation) {
        void *memory = (void *)(uintptr_t)variable->address;
        status = le_allocation_wrap(module->device, LE_MEMORY_DEVICE, memory, variable->size_bytes, allocation);
        if (!status) {
            atomic_store(&variable->allocation, *allocation);
            atomic_store(&module->exposed, true);
        }
    }
    pthread_mutex_unlock(&module->lock);
    return status;
}

static leat_status fail_no_variable(const struct le_device_module *module, const char *name) {
    struct le_text text = {0};
    for (int k = 0; k < module->contents.variables.count; k++)
        le_text_add(&text, "%s%s", k ? ", " : "", module->contents.variables.at[k].name);
    leat_status status =
        le_fail(LEAT_INVALID, "%s has no variable '%.100s'; its __device__ and __constant__ variables: %.300s",
                module->title, name, text.at && text.length ? text.at : "none");
    le_text_finish(&text);
    return status;
}

leat_status le_device_module_symbol(struct le_device_module *module, const char *name,
                                    struct le_allocation **allocation) {
    leat_status status = le_device_check(module->device);
    if (status)
        return status;
    if (strncmp(name, "::", 2) == 0)
        name += 2;
    for (int k = 0; k < module->contents.variables.count; k++) {
        struct le_device_variable *variable = &module->variables[k];
        bool found = strcmp(variable->entry->name, name) == 0 || strcmp(variable->entry->symbol, name) == 0;
        if (found && variable->address)
            return expose_variable(module, variable, allocation);
    }
    return fail_no_variable(module, name);
}
