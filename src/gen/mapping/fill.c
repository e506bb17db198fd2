/* New arrays of one value. */
#include "gen/mapping/mapping.h"
#include "gen/tree/codegen.h"

static bool is_found_apart(const struct le_stage *stage, int64_t count) {
    return count > 1 && (stage->node->reduces || stage->node->kind == LE_NODE_REGION);
}

/* A value that needs a loop is computed once, by one thread, and stored in the work memory. */
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

/* Fills a new array, which is contiguous. */
static leat_status make_fill(const struct le_mapping *m, void *found, struct le_generated_launches *out) {
    const struct le_mapping_search *search = found;
    const struct le_device_kernel_job *job = search->job;
    const struct le_stage *stage = search->stage;
    struct codegen c;
    const struct le_value *target = &job->kernel.ir->values.at[stage->target];
    int64_t count = le_codegen_elements(job, stage->target);
    bool apart = is_found_apart(stage, count);
    (void)m;
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

void le_propose_fill(struct le_mapping_search *search) {
    const struct le_stage *stage = search->stage;
    int64_t count = le_codegen_elements(search->job, stage->target);
    double size = (double)le_type_size(search->job->kernel.ir->values.at[stage->target].type);
    struct le_mapping *m = le_mapping_add(search, LE_MAPPING_FILL, make_fill, search);
    struct le_cost cost = {.bytes = (double)count * size,
                           .threads = count > 0 ? (double)count : 1,
                           .bytes_in_flight = size,
                           .launches = is_found_apart(stage, count) ? 2 : 1};
    m->seconds = le_cost_seconds(search->job->facts, &cost);
}
