/* See kernel.h. */
#include "gen/kernel.h"

#define COPY_TERMS_MIN   65536 /* terms of a scatter worth a copy of its target */
#define COPIES_MAX       16
#define COPIES_BYTES_MAX ((int64_t)64 << 20)

void le_kernel_work_init(struct le_kernel_work *work, struct le_arena *arena) {
    *work = (struct le_kernel_work){.arena = arena, .marks.arena = arena, .notes.arena = arena};
}

struct le_kernel le_kernel_begin(const struct le_kernel *kernel) {
    struct le_kernel own = *kernel;
    struct le_kernel_work *work = kernel->work;
    own.ir = le_ir_fork(kernel->ir, kernel->arena, &work->marks);
    if (work->merged_size < own.ir->indices.count) {
        work->merged_size = own.ir->indices.count;
        work->merged_into = LE_NEW_ARRAY(work->arena, work->merged_size, int);
        work->merged_count = LE_NEW_ARRAY(work->arena, work->merged_size, int64_t); /* zeros */
        for (int k = 0; k < work->merged_size; k++)
            work->merged_into[k] = k;
    }
    return own;
}

/* ---- what the extents decide */

bool le_kernel_is_empty(const struct le_kernel *kernel) {
    for (int k = 0; k < kernel->stage->index_count; k++) {
        const struct le_range *r = le_range_of(kernel->space, kernel->stage->indices[k]);
        if (!r->dynamic && r->low >= r->high)
            return true;
    }
    return false;
}

int64_t le_kernel_points(const struct le_kernel *kernel, const struct le_stage *stage) {
    int64_t points = 1;
    for (int k = 0; k < stage->index_count; k++) {
        int index = stage->indices[k];
        bool known = !le_range_of(kernel->space, index)->dynamic || le_index_by_host(kernel->space, index);
        if (known && !le_mul_i64(points, le_index_extent(kernel->space, index), &points))
            return INT64_MAX;
    }
    return points;
}

int64_t le_scatter_copies(enum le_scatter op, int64_t terms, int64_t elements, int64_t size) {
    if (op != LE_SCATTER_ADD && op != LE_SCATTER_MIN && op != LE_SCATTER_MAX)
        return 1;
    int64_t bytes = elements > 0 ? elements * size : 1;
    int64_t copies = terms / (elements * 4 > COPY_TERMS_MIN ? elements * 4 : COPY_TERMS_MIN);
    if (copies > COPIES_MAX)
        copies = COPIES_MAX;
    if (copies > COPIES_BYTES_MAX / bytes)
        copies = COPIES_BYTES_MAX / bytes;
    return copies < 2 ? 1 : copies;
}

struct le_chunks le_scatter_chunks(const struct le_kernel *kernel, const struct le_stage *stage) {
    const struct le_value *target = &kernel->ir->values.at[stage->target];
    struct le_chunks chunks = {.count = 1, .elements = le_layout_elements(&kernel->layouts[target->id], target->rank)};
    int first = stage->index_count ? stage->indices[0] : -1;
    int64_t copies = le_scatter_copies(stage->scatter, le_kernel_points(kernel, stage), chunks.elements,
                                       (int64_t)le_type_size(target->type));
    if (copies < 2 || first < 0 ||
        (le_range_of(kernel->space, first)->dynamic && !le_index_by_host(kernel->space, first)))
        return chunks;
    int64_t turns = le_index_extent(kernel->space, first);
    chunks.size = (turns + copies - 1) / copies;
    chunks.count = (turns + chunks.size - 1) / chunks.size;
    return chunks;
}

int64_t le_kernel_operations(const struct le_kernel *kernel) {
    const struct le_stage *stage = kernel->stage;
    struct le_node *nodes[1 + LE_ALSO_MAX] = {stage->node};
    for (int k = 0; k < stage->also_count; k++)
        nodes[1 + k] = stage->also[k]->node;
    return le_work_of(kernel->ir, kernel->space, stage, nodes, 1 + stage->also_count).operations;
}
