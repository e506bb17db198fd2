/* The substitute for PTX: entries with their parameters, and variables, in the layout of NVRTC. It has no instructions,
 * because the code is the host's. */
#include "sim/compile/sim_compile_steps.h"
#include <dlfcn.h>

static void write_parameter(struct le_text *ptx, const char *kernel, unsigned k, const struct sim_parameter *p) {
    le_text_add(ptx, "%s\n\t.param ", k ? "," : "");
    unsigned bits = p->size_bytes * 8;
    if (p->kind == 'b')
        le_text_add(ptx, ".align %u .b8 %s_param_%u[%u]", p->alignment, kernel, k, p->size_bytes);
    else
        le_text_add(ptx, ".%c%u %s%s_param_%u", p->kind == 'f' ? 'f' : 'u', bits,
                    p->kind == 'p' ? ".ptr .align 1 " : "", kernel, k);
}

/* The types that pointers point to, which PTX does not have. */
static void write_pointees(struct le_text *ptx, const struct sim_item *item) {
    if (item->parameter_count)
        le_text_add(ptx, "\n.pointees");
    for (unsigned k = 0; k < item->parameter_count; k++) {
        const struct sim_parameter *p = &item->parameters[k];
        if (p->pointee)
            le_text_add(ptx, " .%c%u", p->pointee, p->pointee_bytes * 8);
        else
            le_text_add(ptx, " .none");
    }
}

static void write_item(struct le_text *ptx, const struct sim_item *item) {
    if (!item->call) {
        le_text_add(ptx, ".visible .%s .align 8 .b8 %s[%lu];\n", item->constant ? "const" : "global", item->name,
                    item->size_bytes);
        return;
    }
    le_text_add(ptx, "\n.visible .entry %s(", item->name);
    for (unsigned k = 0; k < item->parameter_count; k++)
        write_parameter(ptx, item->name, k, &item->parameters[k]);
    le_text_add(ptx, "\n)");
    write_pointees(ptx, item);
    le_text_add(ptx, "\n{\n\tret;\n}\n");
}

leat_status le_sim_ptx_write(const char *path, struct le_text *ptx) {
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct sim_table *table = handle ? dlsym(handle, "leat_sim_table") : NULL;
    if (!table) {
        leat_status status = le_fail(LEAT_DEVICE, "the compiled code cannot be loaded: %s", dlerror());
        if (handle)
            dlclose(handle);
        return status;
    }
    le_text_add(ptx, "//\n// Made by Leat's simulator: entries and variables, no instructions\n//\n"
                     ".version 8.0\n.target sm_90\n.address_size 64\n\n");
    for (unsigned k = 0; k < table->item_count; k++)
        write_item(ptx, &table->items[k]);
    dlclose(handle);
    return ptx->failed ? le_fail_out_of_memory(ptx->length) : LEAT_OK;
}
