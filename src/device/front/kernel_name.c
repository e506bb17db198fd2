/* Finds a kernel by the name in its source. Name expressions match first, in any spacing: "f<float, 3>" is
 * "f<float,3>". Then the compiler's own names match, then "f" and "ns::f". If nothing matches, the message lists the
 * kernels, the nearest names first. */
#include "base/memory.h"
#include "base/text.h"
#include "device/front/module.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { LISTED_MAX = 8 };

/* ---- comparing */

/* Whether two names are equal, ignoring blanks. */
static bool same_but_blanks(const char *a, const char *b) {
    for (;;) {
        while (isspace((unsigned char)*a))
            a++;
        while (isspace((unsigned char)*b))
            b++;
        if (*a != *b || !*a)
            return *a == *b;
        a++;
        b++;
    }
}

/* The same name in another namespace is nearer than one with a different spelling. */
static int name_distance(const char *name, const char *known) {
    size_t length = strlen(name), known_length = strlen(known);
    if (known_length > length && strcmp(known + known_length - length, name) == 0)
        return 0;
    return 1 + le_text_distance(name, known);
}

/* ---- messages */

static void add_kernel(struct le_text *text, const struct le_device_kernel *kernel) {
    const struct le_ptx_kernel *entry = kernel->entry;
    if (kernel->name == entry->name && entry->is_template)
        le_text_add(text, "%s<...>", kernel->name);
    else
        le_text_add(text, "%s", kernel->name);
}

/* The module's kernels, the nearest to name first. */
static void add_nearest(struct le_text *text, const struct le_device_module *module, const char *name) {
    int count = module->contents.kernels.count, last_farness = -1, last = -1, listed = 0;
    for (; listed < count && listed < LISTED_MAX; listed++) {
        int best = -1, best_farness = 0;
        for (int k = 0; k < count; k++) {
            int far = name_distance(name, module->kernels[k].name);
            bool behind = far > last_farness || (far == last_farness && k > last);
            if (behind && (best < 0 || far < best_farness)) {
                best = k;
                best_farness = far;
            }
        }
        le_text_add(text, "%s", listed ? ", " : "");
        add_kernel(text, &module->kernels[best]);
        last = best;
        last_farness = best_farness;
    }
    if (listed < count)
        le_text_add(text, " and %d more", count - listed);
    if (count == 0)
        le_text_add(text, "none: a kernel is a __global__ function");
}

static leat_status fail_with(struct le_text *text, const char *hint) {
    leat_status status = text->failed ? le_fail_out_of_memory(0)
                                      : le_fail_at(LEAT_INVALID, (struct le_location){0}, hint, "%s", text->at);
    le_text_finish(text);
    return status;
}

static leat_status fail_no_kernel(const struct le_device_module *module, const char *name) {
    struct le_text text = {0};
    le_text_add(&text, "%s has no kernel '%.100s'; its kernels: ", module->title, name);
    add_nearest(&text, module, name);
    return fail_with(&text, NULL);
}

static leat_status fail_overloaded(const struct le_device_module *module, const char *name) {
    struct le_text text = {0};
    int listed = 0;
    le_text_add(&text, "%s has several kernels '%.100s': ", module->title, name);
    for (int k = 0; k < module->contents.kernels.count; k++) {
        const struct le_ptx_kernel *entry = module->kernels[k].entry;
        if (entry->is_template || strcmp(entry->name, name) != 0)
            continue;
        if (listed < LISTED_MAX)
            le_text_add(&text, "%s%s (%s)", listed ? ", " : "", entry->symbol,
                        *entry->parameter_list ? entry->parameter_list : "...");
        listed++;
    }
    return fail_with(&text, "use the compiler's name for it, as listed");
}

/* Whether the last part of the name is that of a template in the source. */
static bool is_source_template(const struct le_device_module *module, const char *name) {
    for (const char *at = name; (at = strstr(at, "::")) != NULL; name = at)
        at += 2;
    for (int k = 0; k < module->contents.templates.count; k++)
        if (strcmp(module->contents.templates.at[k], name) == 0)
            return true;
    return false;
}

static leat_status fail_template(const struct le_device_module *module, const char *name) {
    struct le_text text = {0};
    char hint[300];
    le_text_add(&text, "'%.100s' is a template of %s that has not been instantiated", name, module->title);
    snprintf(hint, sizeof hint, "name an instance, such as '%.100s<float>' (in the API: in leat_module_options.names)",
             name);
    return fail_with(&text, hint);
}

/* For a template, or a name that looks like an instance of one. */
static leat_status fail_not_instantiated(const struct le_device_module *module, const char *name) {
    struct le_text text = {0};
    int listed = 0;
    le_text_add(&text, "'%.100s' is not among the names that %s was compiled with", name, module->title);
    for (int k = 0; k < module->name_count; k++)
        le_text_add(&text, "%s%s", listed++ ? ", " : ": ", module->names[k].expression);
    return fail_with(&text,
                     "list the template instances to compile, such as \"scale<float>\", in leat_module_options.names");
}

/* ---- finding */

static struct le_device_kernel *by_symbol(struct le_device_module *module, const char *symbol) {
    for (int k = 0; symbol && k < module->contents.kernels.count; k++)
        if (strcmp(module->kernels[k].entry->symbol, symbol) == 0)
            return &module->kernels[k];
    return NULL;
}

static struct le_device_kernel *by_written_name(struct le_device_module *module, const char *name) {
    for (int k = 0; k < module->name_count; k++)
        if (same_but_blanks(module->names[k].expression, name))
            return by_symbol(module, module->names[k].lowered);
    return by_symbol(module, name);
}

leat_status le_module_find(struct le_device_module *module, const char *name, struct le_device_kernel **kernel) {
    struct le_device_kernel *found = by_written_name(module, name);
    const char *plain = strncmp(name, "::", 2) == 0 ? name + 2 : name;
    int count = 0;
    bool is_template = strchr(name, '<') != NULL;
    for (int k = 0; !found && k < module->contents.kernels.count; k++) {
        const struct le_ptx_kernel *entry = module->kernels[k].entry;
        if (strcmp(entry->name, plain) != 0)
            continue;
        is_template |= entry->is_template;
        count += !entry->is_template;
    }
    if (count > 1)
        return fail_overloaded(module, plain);
    for (int k = 0; count && k < module->contents.kernels.count; k++)
        if (!module->kernels[k].entry->is_template && strcmp(module->kernels[k].entry->name, plain) == 0)
            found = &module->kernels[k];
    if (!found && !is_template && is_source_template(module, plain))
        return fail_template(module, plain);
    if (!found)
        return is_template ? fail_not_instantiated(module, name) : fail_no_kernel(module, plain);
    if (!found->native)
        return le_fail(LEAT_INVALID, "kernel %s cannot be launched: the driver does not find it in %s", found->name,
                       module->title);
    *kernel = found;
    return LEAT_OK;
}
