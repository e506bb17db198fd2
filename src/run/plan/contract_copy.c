/* The program that copies between an array and its copy in another order or type (contraction.h): one stage, with two
 * values, and an index for each axis. */
#include "base/text.h"
#include "run/plan/contraction.h"
#include <stdlib.h>

enum { FROM, TO, VALUES };

static struct le_node *converted(struct le_ir *ir, struct le_node **subscripts, int rank, enum le_type from,
                                 enum le_type to) {
    struct le_node *load = le_node_make(ir, &(struct le_node){.kind = LE_NODE_LOAD,
                                                              .type = le_type_compute(from),
                                                              .value = FROM,
                                                              .operands = subscripts,
                                                              .operand_count = rank,
                                                              .access = -1,
                                                              .trusted = true});
    return le_type_is_half(to) ? le_node_round(ir, to, load) : le_node_cast(ir, to, load);
}

static struct le_ir *make_program(const struct le_ir *parent, struct le_arena *arena, enum le_type from,
                                  enum le_type to, int rank, const char *name) {
    struct le_ir *ir = le_ir_new(arena, parent->tree);
    struct le_node **subscripts = LE_NEW_ARRAY(arena, rank, struct le_node *);
    int *indices = LE_NEW_ARRAY(arena, rank, int);
    for (int k = 0; k < rank; k++) {
        *LE_PUSH(arena, &ir->indices) = (struct le_ir_index){.name = le_arena_format(arena, "i%d", k)};
        subscripts[k] = le_node_index(ir, k);
        indices[k] = k;
    }
    *LE_PUSH(arena, &ir->values) =
        (struct le_value){.id = FROM, .symbol = -1, .name = "matrix", .type = from, .rank = rank, .stage = -1};
    *LE_PUSH(arena, &ir->values) =
        (struct le_value){.id = TO, .symbol = -1, .name = "copied", .type = to, .rank = rank, .wanted = true};
    *LE_PUSH(arena, &ir->statements) = (struct le_ir_statement){.text = name, .symbol = -1, .axis = -1, .loop = -1};
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
                                                     .node = converted(ir, subscripts, rank, from, to),
                                                     .access = -1};
    return ir;
}

/* Loops run in the order of what is written: of the copy, or of the array, whose axes with the greatest strides are
 * first. */
static void find_order(const struct le_contract_copy *copy, bool back, int order[LEAT_RANK_MAX]) {
    for (int k = 0; k < copy->axis_count; k++) {
        int q = k;
        for (; back && q > 0 && llabs(copy->axes[order[q - 1]].array) < llabs(copy->axes[k].array); q--)
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

struct le_kernel le_contract_copy_kernel(const struct le_ir *parent, const struct le_contract_copy *copy,
                                         enum le_type array_type, enum le_type copy_type, bool back, const char *name,
                                         struct le_arena *arena) {
    struct le_ir *ir = make_program(parent, arena, back ? copy_type : array_type, back ? array_type : copy_type,
                                    copy->axis_count, name);
    struct le_space *space = LE_NEW(arena, struct le_space);
    struct le_layout *layouts = LE_NEW_ARRAY(arena, VALUES, struct le_layout);
    *space =
        (struct le_space){.ir = ir, .arena = arena, .ranges = LE_NEW_ARRAY(arena, copy->axis_count, struct le_range)};
    set_layouts(copy, back, layouts, space->ranges);
    struct le_kernel_work *work = LE_NEW(arena, struct le_kernel_work);
    le_kernel_work_init(work, arena);
    return (struct le_kernel){.ir = ir,
                              .stage = &ir->stages.at[0],
                              .space = space,
                              .layouts = layouts,
                              .threads = 1,
                              .arena = arena,
                              .work = work};
}
