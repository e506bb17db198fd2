/* See device_run.h: copies of arrays in another order. The kernels are those of a statement that copies one array to
 * another, so they are made from a program of one stage, with two values and an index for each axis. Elements are
 * copied as integers of their size. */
#include "base/text.h"
#include "run/device/device_run.h"
#include "run/plan/contraction.h"
#include <stdlib.h>
#include <string.h>

enum { FROM, TO, VALUES };

struct le_permutation {
    const char *name;
    struct le_generated_launches launches;
    struct le_device_step *steps;
    bool is_loaded;
    int64_t bytes;
};

/* ---- the program */

static enum le_type type_of_size(size_t size_bytes) {
    return size_bytes == 2 ? LE_U16 : size_bytes == 4 ? LE_U32 : LE_U64;
}

static struct le_ir *make_program(const struct le_ir *parent, struct le_arena *arena, enum le_type type, int rank,
                                  const char *name) {
    static const char *const names[VALUES] = {"matrix", "copied"};
    struct le_ir *ir = le_ir_new(arena, parent->tree);
    struct le_node **subscripts = LE_NEW_ARRAY(arena, rank, struct le_node *);
    int *indices = LE_NEW_ARRAY(arena, rank, int);
    for (int k = 0; k < rank; k++) {
        *LE_PUSH(arena, &ir->indices) = (struct le_ir_index){.name = le_arena_format(arena, "i%d", k)};
        subscripts[k] = le_node_index(ir, k);
        indices[k] = k;
    }
    for (int v = 0; v < VALUES; v++)
        *LE_PUSH(arena, &ir->values) = (struct le_value){
            .id = v, .symbol = -1, .name = names[v], .type = type, .rank = rank, .stage = v == TO ? 0 : -1, .uses = 1};
    *LE_PUSH(arena, &ir->statements) = (struct le_ir_statement){.text = name, .symbol = -1, .axis = -1, .loop = -1};
    struct le_node *node = le_node_make(ir, &(struct le_node){.kind = LE_NODE_LOAD,
                                                              .type = type,
                                                              .value = FROM,
                                                              .operands = subscripts,
                                                              .operand_count = rank,
                                                              .access = -1,
                                                              .trusted = true});
    *LE_PUSH(arena, &ir->stages) = (struct le_stage){.kind = LE_STAGE_MAP,
                                                     .name = name,
                                                     .target = TO,
                                                     .base = -1,
                                                     .leader = -1,
                                                     .sibling = -1,
                                                     .index = -1,
                                                     .indices = indices,
                                                     .index_count = rank,
                                                     .left = subscripts,
                                                     .left_count = rank,
                                                     .node = node,
                                                     .access = -1};
    return ir;
}

/* Loops run in the order of the copy if it is written, else of the array: its axes with the greatest strides first. */
static void find_order(const struct le_contract_copy *copy, bool back, int order[LEAT_RANK_MAX]) {
    for (int k = 0; k < copy->axis_count; k++) {
        int q = k;
        int64_t stride = llabs(copy->axes[k].array);
        for (; back && q > 0 && llabs(copy->axes[order[q - 1]].array) < stride; q--)
            order[q] = order[q - 1];
        order[q] = k;
    }
}

static void set_layouts(const struct le_contract_copy *copy, bool back, struct le_layout layouts[VALUES],
                        struct le_range *ranges) {
    int order[LEAT_RANK_MAX];
    struct le_layout *array = &layouts[back ? TO : FROM], *dense = &layouts[back ? FROM : TO];
    find_order(copy, back, order);
    for (int k = 0; k < copy->axis_count; k++) {
        const int64_t count = copy->axes[order[k]].count;
        array->shape[k] = dense->shape[k] = count;
        array->strides[k] = copy->axes[order[k]].array;
        dense->strides[k] = copy->axes[order[k]].copy;
        ranges[k] = (struct le_range){.high = count, .by = 1, .solved = true};
    }
}

/* ---- planning */

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
    struct le_arena *arena = g->arena;
    const struct le_device_facts whole = le_device_facts_of(call);
    struct alignment alignment = {.facts = &whole,
                                  .copy = copy,
                                  .array = back ? TO : FROM,
                                  .bytes = copy->array.offset * (int64_t)le_type_size(type)};
    struct le_device_facts facts = whole;
    struct le_ir *ir =
        make_program(call->specialised->ir, arena, type_of_size(le_type_size(type)), copy->axis_count, p->name);
    struct le_space *space = LE_NEW(arena, struct le_space);
    struct le_layout *layouts = LE_NEW_ARRAY(arena, VALUES, struct le_layout);
    *space =
        (struct le_space){.ir = ir, .arena = arena, .ranges = LE_NEW_ARRAY(arena, copy->axis_count, struct le_range)};
    set_layouts(copy, back, layouts, space->ranges);
    facts.is_aligned = is_aligned;
    facts.user = &alignment;
    struct le_kernel_work *work = LE_NEW(arena, struct le_kernel_work);
    le_kernel_work_init(work, arena);
    const struct le_device_kernel_job job = {.kernel = {.ir = ir,
                                                        .stage = &ir->stages.at[0],
                                                        .space = space,
                                                        .layouts = layouts,
                                                        .threads = 1,
                                                        .arena = arena,
                                                        .work = work},
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
