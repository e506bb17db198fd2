/* Loads images: writes the object into a sealed file in memory and loads that with the dynamic loader. */
#include "sim/grid/sim_module.h"
#include "base/memory.h"
#include "base/store.h"
#include "sim/grid/sim_thread_block.h"
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static leat_status open_object(struct sim_module *module) {
    leat_status status =
        le_store_memfd(module->parts.object, module->parts.object_bytes, "leat-sim-module", &module->fd);
    if (status != LEAT_OK)
        return status;
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", module->fd);
    module->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!module->handle)
        return le_fail(LEAT_DEVICE, "the module cannot be loaded: %s", dlerror());
    module->table = dlsym(module->handle, "leat_sim_table");
    struct link_map *map = NULL;
    if (!module->table || module->table->abi != SIM_ABI || dlinfo(module->handle, RTLD_DI_LINKMAP, &map) != 0)
        return le_fail(LEAT_DEVICE, "the module was made by another version of Leat");
    module->base = map->l_addr;
    *module->table->services = &le_sim_services;
    return LEAT_OK;
}

static const struct sim_item *item_at(const struct sim_module *module, uintptr_t address) {
    for (unsigned k = 0; k < module->table->item_count; k++)
        if (!module->table->items[k].call && (uintptr_t)module->table->items[k].address == address)
            return &module->table->items[k];
    return NULL;
}

static void describe_variable(const struct sim_module *module, const struct sim_variable *variable, char *what,
                              size_t size_bytes) {
    const struct sim_item *item = item_at(module, variable->address);
    snprintf(what, size_bytes, "%s variable %s of %zu bytes", item && item->constant ? "__constant__" : "__device__",
             variable->name, variable->size_bytes);
}

/* Declares the padding after each variable first, then the variables, including those inside functions: objects that
 * the linker adds have no padding, so another variable may lie there. */
static void declare_variables(struct sim_module *module, bool live) {
    char what[160];
    for (size_t k = 0; module->check && k < module->variable_count; k++) {
        const struct sim_variable *variable = &module->variables[k];
        describe_variable(module, variable, what, sizeof what);
        le_sim_check_memory(module->check, variable->address + variable->size_bytes, SIM_PADDING_BYTES, SIM_MEMORY_NONE,
                            what);
    }
    for (size_t k = 0; module->check && k < module->variable_count; k++) {
        const struct sim_variable *variable = &module->variables[k];
        describe_variable(module, variable, what, sizeof what);
        le_sim_check_memory(module->check, variable->address, variable->size_bytes,
                            live ? SIM_MEMORY_VALID : SIM_MEMORY_NONE, what);
    }
}

void le_sim_module_check(struct sim_module *module, struct sim_check *check) {
    module->check = module->parts.checking ? check : NULL;
    declare_variables(module, true);
}

leat_status le_sim_module_load(const void *image, struct sim_module **out) {
    struct sim_image_parts parts;
    *out = NULL;
    if (!le_sim_image_read(image, SIZE_MAX, &parts))
        return le_fail(LEAT_DEVICE, "the image was not made by the simulator");
    struct sim_module *module = le_alloc_zero(1, sizeof *module);
    if (!module)
        return le_fail_out_of_memory(sizeof *module);
    module->fd = -1;
    leat_status status = LEAT_OK;
    module->image = le_alloc(parts.total_bytes);
    if (!module->image)
        status = le_fail_out_of_memory(parts.total_bytes);
    else
        memcpy(module->image, image, parts.total_bytes);
    if (status == LEAT_OK && !le_sim_image_read(module->image, parts.total_bytes, &module->parts))
        status = le_fail(LEAT_DEVICE, "the module changed while it was loaded");
    if (status == LEAT_OK)
        status = open_object(module);
    if (status == LEAT_OK)
        status = le_sim_elf_read(module);
    if (status != LEAT_OK) {
        le_sim_module_free(module);
        return status;
    }
    *out = module;
    return LEAT_OK;
}

void le_sim_module_free(struct sim_module *module) {
    if (!module)
        return;
    declare_variables(module, false);
    le_sim_source_lines_finish(module);
    if (module->handle)
        dlclose(module->handle);
    if (module->fd >= 0)
        close(module->fd);
    for (size_t k = 0; k < module->shared_count; k++)
        le_free(module->shared[k].name);
    for (size_t k = 0; k < module->variable_count; k++)
        le_free(module->variables[k].name);
    le_free(module->shared);
    le_free(module->variables);
    le_free(module->init_guards);
    le_free(module->image);
    le_free(module);
}

bool le_sim_module_checking(const struct sim_module *module) {
    return module->parts.checking;
}

/* Names are compared without spaces, and without "&" and "::" at the front. */
static const char *skip_front(const char *name) {
    while (*name == ' ' || *name == '&' || *name == '\t' || strncmp(name, "::", 2) == 0)
        name += *name == ':' ? 2 : 1;
    return name;
}

static bool same_name(const char *a, const char *b) {
    for (a = skip_front(a), b = skip_front(b);; a++, b++) {
        while (*a == ' ' || *a == '\t')
            a++;
        while (*b == ' ' || *b == '\t')
            b++;
        if (*a != *b || !*a)
            return *a == *b;
    }
}

static const struct sim_item *find_item(const struct sim_module *module, const char *name, bool kernel) {
    for (unsigned k = 0; k < module->table->item_count; k++) {
        const struct sim_item *item = &module->table->items[k];
        if ((item->call != NULL) == kernel && same_name(item->name, name))
            return item;
    }
    return NULL;
}

const struct sim_item *le_sim_module_kernel(const struct sim_module *module, const char *name) {
    return find_item(module, name, true);
}

const struct sim_item *le_sim_module_global(const struct sim_module *module, const char *name) {
    return find_item(module, name, false);
}

const struct sim_item *le_sim_module_variable(const struct sim_module *module, size_t k) {
    for (unsigned i = 0; i < module->table->item_count; i++)
        if (!module->table->items[i].call && k-- == 0)
            return &module->table->items[i];
    return NULL;
}

/* Whether the mangled name is that of a variable local to this kernel. */
static bool is_local_to(const char *mangled, const struct sim_item *kernel) {
    const char *name = kernel->name;
    size_t length = strcspn(name, "<");
    for (size_t k = 0; k < length; k++)
        if (name[k] == ':') {
            name += k + 1;
            length -= k + 1;
            k = (size_t)-1;
        }
    char word[300];
    snprintf(word, sizeof word, "%zu%.*s", length, (int)length, name);
    return strncmp(mangled, "_ZZ", 3) == 0 && strstr(mangled, word) != NULL;
}

/* Excludes variables local to other kernels. Variables of other functions and of namespaces count for every kernel. */
size_t le_sim_module_shared_bytes(const struct sim_module *module, const struct sim_item *kernel) {
    size_t total = 0;
    for (size_t k = 0; k < module->shared_count; k++) {
        bool others = false;
        for (unsigned i = 0; i < module->table->item_count; i++)
            others |= module->table->items[i].call && is_local_to(module->shared[k].mangled, &module->table->items[i]);
        if (!others || is_local_to(module->shared[k].mangled, kernel))
            total += module->shared[k].size_bytes;
    }
    return total;
}

/* A fiber uses the host's registers. For occupancy, every kernel counts as using this many. */
int le_sim_module_registers(const struct sim_module *module, const struct sim_item *kernel) {
    (void)module;
    (void)kernel;
    return 32;
}

struct sim_shared_area le_sim_module_area(const struct sim_module *module) {
    uintptr_t dynamic = (uintptr_t)module->table->dynamic();
    uintptr_t low = dynamic - module->dynamic_offset;
    return (struct sim_shared_area){.low = low, .high = low + module->block_bytes, .dynamic = dynamic};
}

bool le_sim_module_has(const struct sim_module *module, uintptr_t pc) {
    return pc >= module->text_low && pc < module->text_high;
}
