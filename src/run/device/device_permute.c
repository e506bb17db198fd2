/* See device_run.h: copies of arrays in another order. The kernels are those of a statement that copies one array to
 * another, so they are made from a program of one stage, with two values and an index for each axis. Elements are
 * copied as integers of their size. */
#include "base/text.h"
#include "run/device/device_run.h"
#include "run/plan/contraction.h"
#include <string.h>

enum { FROM, TO };

struct le_permutation {
    const char *name;
    struct le_generated_launches launches;
    struct le_device_step *steps;
    bool is_loaded;
    int64_t bytes;
};

/* ---- planning */

static enum le_type type_of_size(size_t size_bytes) {
    return size_bytes == 2 ? LE_U16 : size_bytes == 4 ? LE_U32 : LE_U64;
}

struct alignment {
    const struct le_device_facts *facts;
    const struct le_contract_copy *copy;
    int array;     /* FROM or TO */
    int64_t bytes; /* from the array's first element to the operand's */
};

/* Copies begin where an allocation does. */
static bool is_aligned(void *user, int value) {
    const struct alignment *a = user;
    if (value != a->array)
        return true;
    return a->copy->array.host_count == 0 && a->bytes % 16 == 0 &&
           a->facts->is_aligned(a->facts->user, a->copy->array.value);
}

static leat_status generate(struct leat_call *call, struct le_plan_step *g, const struct le_contract_copy *copy,
                            enum le_type type, bool back, struct le_permutation *p) {
    const struct le_device_facts whole = le_device_facts_of(call);
    const enum le_type bits = type_of_size(le_type_size(type)),
                       part = call->specialised->ir->values.at[copy->array.value].type;
    struct alignment alignment = {.facts = &whole,
                                  .copy = copy,
                                  .array = back ? TO : FROM,
                                  .bytes = copy->array.offset * (int64_t)le_type_size(part)};
    struct le_device_facts facts = whole;
    facts.is_aligned = is_aligned;
    facts.imaginary_of = NULL; /* parts of complex numbers are copied one by one */
    facts.user = &alignment;
    const struct le_device_kernel_job job = {
        .kernel = le_contract_copy_kernel(call->specialised->ir, copy, bits, bits, back, p->name, g->arena),
        .facts = &facts};
    return le_device_generate(&job, &p->launches);
}

static void lay_out(struct le_arena *arena, struct le_permutation *p, struct le_device_step *step) {
    const struct le_generated_launch *made = step->generated;
    step->arguments = LE_NEW_ARRAY(arena, made->argument_count, struct le_launch_argument);
    step->values = LE_NEW_ARRAY(arena, made->argument_count, union le_device_value);
    for (int k = 0; k < made->argument_count; k++) {
        const struct le_argument *a = &made->arguments[k];
        assert(a->kind == LE_ARGUMENT_ARRAY || a->kind == LE_ARGUMENT_TARGET || a->kind == LE_ARGUMENT_NUMBER);
        step->values[k].number = a->number;
        step->arguments[k] =
            (struct le_launch_argument){.value = &step->values[k],
                                        .size_bytes = sizeof(uint64_t),
                                        .access = a->kind == LE_ARGUMENT_ARRAY ? LE_ACCESS_READ : LE_ACCESS_WRITE};
    }
    step->launch = (struct le_kernel_launch){.shared_bytes = made->shared_bytes,
                                             .arguments = step->arguments,
                                             .argument_count = made->argument_count,
                                             .what = p->name};
    memcpy(step->launch.grid, made->grid, sizeof made->grid);
    memcpy(step->launch.block, made->block, sizeof made->block);
}

leat_status le_permutation_new(struct leat_call *call, struct le_plan_step *g, const struct le_contract_copy *copy,
                               enum le_type type, bool back, const char *name, struct le_permutation **out) {
    struct le_permutation *p = LE_NEW(g->arena, struct le_permutation);
    p->name = name;
    p->bytes = 2 * copy->elements * (int64_t)le_type_size(type);
    leat_status status = generate(call, g, copy, type, back, p);
    if (status != LEAT_OK)
        return status;
    p->steps = LE_NEW_ARRAY(g->arena, p->launches.count, struct le_device_step);
    for (int k = 0; k < p->launches.count; k++) {
        p->steps[k].generated = &p->launches.at[k];
        lay_out(g->arena, p, &p->steps[k]);
    }
    *out = p;
    return LEAT_OK;
}

void le_permutation_finish(struct le_permutation *p) {
    for (int k = 0; p && k < p->launches.count; k++)
        le_code_release(p->steps[k].code);
}

void le_permutation_show(const struct le_permutation *p, const char *what, struct le_text *out) {
    if (!p)
        return;
    le_text_add(out, "   %s in another order: %lld bytes", what, (long long)p->bytes);
    for (int k = 0; k < p->launches.count; k++) {
        const struct le_generated_launch *l = &p->launches.at[k];
        le_text_add(out, "; %s: %s; grid %u,%u,%u, block %u,%u,%u", l->kernel, l->how ? l->how : "", l->grid[0],
                    l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2]);
    }
    le_text_add(out, "\n");
}

/* ---- running */

static leat_status load(struct leat_call *call, struct le_permutation *p) {
    leat_status status = LEAT_OK;
    for (int k = 0; k < p->launches.count && status == LEAT_OK && !p->is_loaded; k++) {
        const struct le_code_source source = {.kernel = p->steps[k].generated->kernel,
                                              .text = p->steps[k].generated->text,
                                              .program = call->program->name,
                                              .what = p->name,
                                              .cause = "an operand in another order"};
        if (!p->steps[k].code)
            status = le_code_get(call->program->ctx, &source, &p->steps[k].code);
    }
    p->is_loaded = status == LEAT_OK;
    return status;
}

leat_status le_permutation_run(struct leat_call *call, struct le_permutation *p, const struct le_strided_memory *from,
                               const struct le_strided_memory *to) {
    leat_status status = load(call, p);
    for (int k = 0; k < p->launches.count && status == LEAT_OK; k++) {
        struct le_device_step *step = &p->steps[k];
        for (int q = 0; q < step->generated->argument_count; q++) {
            const struct le_argument *a = &step->generated->arguments[q];
            const struct le_strided_memory *memory = a->kind == LE_ARGUMENT_ARRAY ? from : to;
            if (a->kind == LE_ARGUMENT_NUMBER)
                continue;
            step->values[q].address = memory->address;
            step->arguments[q].allocation = memory->allocation;
        }
        status = le_device_launch(le_code_kernel(step->code), &step->launch, call->home.stream);
    }
    return status;
}
