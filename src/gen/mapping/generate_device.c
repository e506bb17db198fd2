/* Generates the kernels of a stage, by its kind. The generators of faster kernels are tried first (see codegen.h);
 * the code here handles every stage. */
#include "gen/mapping/map.h"
#include "gen/mapping/tiled_product.h"
#include "gen/mapping/group_reduce.h"
#include "gen/mapping/mapping.h"

#define BLOCK 256 /* threads */

leat_status le_codegen_set_grid(const struct codegen *c, struct le_generated_launch *launch, int64_t threads) {
    int64_t blocks = threads / BLOCK + (threads % BLOCK != 0);
    launch->grid[0] = blocks > INT32_MAX ? INT32_MAX : (unsigned)blocks;
    /* without points to share out there is nothing that tells the threads of a warp apart */
    launch->block[0] = threads < BLOCK ? (unsigned)threads : BLOCK;
    launch->elements = threads;
    if (blocks <= INT32_MAX)
        return c->status;
    return le_fail_at(LEAT_UNSUPPORTED, c->ir->statements.at[c->stage->statement].location, NULL,
                      "more elements than a kernel on a device can count");
}

int64_t le_codegen_elements(const struct le_device_kernel_job *job, int value) {
    int64_t count = 1;
    for (int d = 0; d < job->kernel.ir->values.at[value].rank; d++)
        if (!le_mul_i64(count, job->kernel.layouts[value].shape[d], &count))
            return INT64_MAX;
    return count;
}

/* ---- one value for each point, by itself */

leat_status le_codegen_map(const struct le_device_kernel_job *job, const struct le_stage *stage,
                           struct le_generated_launches *out) {
    struct codegen c;
    int64_t threads;
    le_codegen_begin(&c, job, stage, "");
    struct le_block *block = le_codegen_points(&c, false, &threads);
    le_codegen_store(&c, le_codegen_node(&c, stage->node, block, NULL), block);
    le_codegen_close_all(&c, block);
    struct le_generated_launch *launch = le_codegen_finish(&c, out);
    launch->how = threads > 1 ? "a thread for each element" : "one thread";
    return le_codegen_set_grid(&c, launch, threads);
}

/* ---- new arrays of one value */

/* A value that takes a loop is found once, by one thread, and left in the work memory. */
static leat_status find_value(const struct le_device_kernel_job *job, const struct le_stage *stage, size_t work,
                              struct le_generated_launches *out) {
    struct codegen c;
    enum le_type type = job->kernel.ir->values.at[stage->target].type;
    le_codegen_begin(&c, job, stage, "_value");
    struct le_variable *place = le_codegen_parameter(&c, LE_ARGUMENT_WORK, -1, (int64_t)work, (int)type, "value");
    struct le_expression *x = le_codegen_node(&c, stage->node, c.root, NULL);
    le_ktree_set(c.tree, c.root, le_ktree_element(c.tree, place, le_ktree_int(c.tree, 0)),
                 le_codegen_to_memory(&c, x, type));
    struct le_generated_launch *launch = le_codegen_finish(&c, out);
    launch->how = "one thread";
    return le_codegen_set_grid(&c, launch, 1);
}

/* Of a new array, which is dense. */
static leat_status generate_fill(const struct le_device_kernel_job *job, const struct le_stage *stage,
                                 struct le_generated_launches *out) {
    struct codegen c;
    const struct le_value *target = &job->kernel.ir->values.at[stage->target];
    int64_t count = le_codegen_elements(job, stage->target);
    bool apart = count > 1 && (stage->node->reduces || stage->node->kind == LE_NODE_REGION);
    size_t work = out->work_bytes;
    leat_status status = LEAT_OK;
    if (apart) {
        out->work_bytes += 8;
        status = find_value(job, stage, work, out);
    }
    le_codegen_begin(&c, job, stage, "");
    struct le_kernel_tree *t = c.tree;
    struct le_expression *value;
    if (apart)
        value = le_ktree_element(
            t, le_codegen_parameter(&c, LE_ARGUMENT_WORK, -1, (int64_t)work, (int)target->type, "value"),
            le_ktree_int(t, 0));
    else
        value = le_codegen_to_memory(&c, le_codegen_node(&c, stage->node, c.root, NULL), target->type);
    struct le_variable *array = le_codegen_parameter(&c, target->rank ? LE_ARGUMENT_TARGET : LE_ARGUMENT_RESULT,
                                                     target->id, 0, (int)target->type, NULL);
    struct le_expression *thread = le_codegen_thread(&c, "thread", LE_KTREE_ULONG);
    struct le_expression *elements = le_ktree_cast(t, LE_KTREE_ULONG, le_codegen_number(&c, "elements", count));
    struct le_block *inner = le_ktree_open_if(t, c.root, le_less(t, thread, elements));
    le_ktree_set(t, inner, le_ktree_element(t, array, thread), value);
    le_ktree_close(t, inner);
    struct le_generated_launch *launch = le_codegen_finish(&c, out);
    launch->how = "a thread for each element";
    return status == LEAT_OK ? le_codegen_set_grid(&c, launch, count) : status;
}

/* ---- */

static leat_status unsupported(const struct le_device_kernel_job *job, const char *what) {
    const struct le_kernel *k = &job->kernel;
    return le_fail_at(LEAT_UNSUPPORTED, k->ir->statements.at[k->stage->statement].location, NULL,
                      "%s cannot run on a device yet", what);
}

static bool is_empty(const struct le_kernel *k) {
    for (int q = 0; q < k->stage->index_count; q++) {
        const struct le_range *r = le_range_of(k->space, k->stage->indices[q]);
        if (!r->dynamic && r->low >= r->high)
            return true;
    }
    return false;
}

static leat_status generate_stage(const struct le_device_kernel_job *job, const struct le_stage *stage,
                                  struct le_generated_launches *out) {
    struct le_mapping_search search = {.job = job, .stage = stage};
    switch (stage->kind) {
    case LE_STAGE_MAP:
    case LE_STAGE_CONTRACT:
        le_propose_product(&search);
        if (search.count == 0) {
            le_propose_maps(&search);
            le_propose_loop(&search);
            le_propose_reductions(&search);
        }
        return le_mapping_make(&search, out);
    case LE_STAGE_EACH:
        return le_codegen_each(job, stage, out);
    case LE_STAGE_SCATTER:
        return le_codegen_scatter(job, stage, out);
    case LE_STAGE_SCAN:
        return le_codegen_scan(job, stage, out);
    case LE_STAGE_FILL:
        return generate_fill(job, stage, out);
    default:
        return unsupported(job, "this statement");
    }
}

/* Who made the kernels may have counted better what they do. */
static void count_operations(const struct le_kernel *kernel, int first, struct le_generated_launches *out) {
    for (int k = first; k < out->count; k++)
        if (out->at[k].operations > 0)
            return;
    if (out->count > first)
        out->at[out->count - 1].operations = le_gen_count_operations(kernel);
}

leat_status le_device_generate(const struct le_device_kernel_job *job, struct le_generated_launches *out) {
    struct le_stage stage = *job->kernel.stage;
    struct le_device_kernel_job own = *job;
    int first = out->count;
    own.kernel = le_gen_begin(&job->kernel);
    own.kernel.stage = &stage;
    if (is_empty(&own.kernel))
        return LEAT_OK;
    stage.node = le_gen_readable(&own.kernel, stage.node);
    leat_status status = generate_stage(&own, &stage, out);
    if (status == LEAT_OK)
        count_operations(&own.kernel, first, out);
    return status;
}
