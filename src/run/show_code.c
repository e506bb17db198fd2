/* See show_code.h. Each distinct kernel text is printed once. */
#include "run/show_code.h"
#include "base/hash.h"
#include "base/memory.h"
#include "device/cuda/cuda_compile.h"
#include "device/cuda/disassemble.h"
#include "gen/tree/ktree.h"
#include "run/device/device_run.h"
#include <stdlib.h>
#include <string.h>

struct showing {
    leat_form form;
    int capability;
    bool exact; /* the user named the architecture: do not fall back to an older one */
    struct le_text *out;
    uint64_t *shown; /* hashes of the texts printed so far */
    int count, capacity;
};

static bool is_new(struct showing *showing, const char *text) {
    uint64_t hash = le_hash(text, strlen(text), 0);
    for (int k = 0; k < showing->count; k++)
        if (showing->shown[k] == hash)
            return false;
    if (showing->count == showing->capacity) {
        int capacity = showing->capacity ? 2 * showing->capacity : 64;
        uint64_t *grown = le_realloc(showing->shown, (size_t)capacity * sizeof *grown);
        if (!grown)
            return true;
        showing->shown = grown;
        showing->capacity = capacity;
    }
    showing->shown[showing->count++] = hash;
    return true;
}

/* Compiles with the options of le_code_get. */
static leat_status show_compiled(const struct showing *showing, const struct le_generated_launch *launch) {
    const struct le_module_source source = {
        .text = launch->text, .name = launch->kernel, .options = le_code_options(), .is_whole = true, .is_plain = true};
    struct le_device_module module = {0};
    struct le_cuda_image image;
    leat_status status = le_cuda_compile_for(showing->capability, showing->exact, &source, &module, &image);
    bool is_cubin = !status && memcmp(image.bytes, "\177ELF", 4) == 0;
    if (!status && showing->form == LEAT_FORM_PTX)
        le_text_add(showing->out, "%s\n", module.ptx);
    else if (!status && is_cubin)
        status = le_disassemble(image.bytes, image.size_bytes, showing->out);
    else if (!status)
        status = le_fail(LEAT_UNSUPPORTED, "this NVRTC cannot generate machine code for sm_%d", showing->capability);
    le_free(image.bytes);
    le_free(module.ptx);
    le_free(module.log);
    return status;
}

static leat_status show_launch(struct showing *showing, const struct le_action *action,
                               const struct le_generated_launch *launch) {
    if (launch->grid[0] == 0 || !is_new(showing, launch->text))
        return LEAT_OK;
    le_text_add(showing->out, showing->count > 1 ? "\n" : "");
    if (showing->form == LEAT_FORM_KERNEL) {
        le_ktree_print(launch->tree, showing->out);
        return le_ktree_verify(launch->tree);
    }
    le_text_add(showing->out, "// kernel %s: %s\n", launch->kernel, action->name);
    if (showing->form != LEAT_FORM_CUDA)
        return show_compiled(showing, launch);
    le_text_add(showing->out, "%s", launch->text);
    return LEAT_OK;
}

/* text: such as "sm_90"; NULL: the device's architecture. */
static leat_status read_architecture(const struct leat_call *call, const char *text, int *capability) {
    char *end = NULL;
    *capability = le_device_limits_of(call->program->ctx->device)->capability;
    if (!text)
        return LEAT_OK;
    long number = strncmp(text, "sm_", 3) == 0 ? strtol(text + 3, &end, 10) : 0;
    if (number < 10 || number > 999 || *end)
        return le_fail_at(LEAT_INVALID, (struct le_location){0}, "use sm_ and a number, such as sm_75 or sm_90",
                          "'%.40s' is not an architecture", text);
    *capability = (int)number;
    return LEAT_OK;
}

leat_status le_code_show(struct leat_call *call, leat_form form, const char *architecture, struct le_text *out) {
    struct showing showing = {.form = form, .exact = architecture != NULL, .out = out};
    leat_status status = read_architecture(call, architecture, &showing.capability);
    if (status == LEAT_OK && le_device_limits_of(call->program->ctx->device)->host_is_device)
        status = le_fail_at(LEAT_UNSUPPORTED, (struct le_location){0}, "use the device cuda or sim",
                            "programs have no %s on the CPU", form == LEAT_FORM_KERNEL ? "kernel trees" : "CUDA C");
    if (status == LEAT_OK)
        status = le_call_prepare(call);
    if (status == LEAT_OK)
        status = le_plan_run(call, true);
    const struct le_plan *plan = status == LEAT_OK ? call->specialised->plan : NULL;
    for (int k = 0; plan && k < plan->action_count; k++) {
        const struct le_device_work *w = plan->actions[k].device;
        for (int q = 0; w && q < w->launches.count && status == LEAT_OK; q++)
            status = show_launch(&showing, &plan->actions[k], &w->launches.at[q]);
    }
    le_free(showing.shown);
    return status;
}
