/* New arrays of one value. */
#include "gen/mapping/mapping.h"
#include "gen/tree/codegen.h"

/* Fills a new array, which is contiguous. */
static leat_status make_fill(const struct le_mapping *m, void *found, struct le_generated_launches *out) {
    const struct le_mapping_search *search = found;
    const struct le_device_kernel_job *job = search->job;
    const struct le_stage *stage = search->stage;
    struct codegen c;
    const struct le_value *target = &job->kernel.ir->values.at[stage->target];
    int64_t count = le_codegen_elements(job, stage->target);
    (void)m;
    le_codegen_begin(&c, job, stage, "");
    struct le_kernel_tree *t = c.tree;
    struct le_expression *value =
        le_codegen_to_memory(&c, le_codegen_node(&c, stage->node, c.root, NULL), target->type);
    struct le_variable *array = le_codegen_parameter(&c, target->rank ? LE_ARGUMENT_TARGET : LE_ARGUMENT_RESULT,
                                                     target->id, 0, (int)target->type, NULL);
    struct le_expression *thread = le_codegen_thread(&c, "thread", LE_KTREE_ULONG);
    struct le_expression *elements = le_ktree_cast(t, LE_KTREE_ULONG, le_codegen_number(&c, "elements", count));
    struct le_block *inner = le_ktree_open_if(t, c.root, le_less(t, thread, elements));
    le_ktree_set(t, inner, le_ktree_element(t, array, thread), value);
    le_ktree_close(t, inner);
    struct le_generated_launch *launch = le_codegen_finish(&c, out);
    launch->how = "a thread for each element";
    return le_codegen_set_grid(&c, launch, count);
}

void le_propose_fill(struct le_mapping_search *search) {
    const struct le_stage *stage = search->stage;
    int64_t count = le_codegen_elements(search->job, stage->target);
    double size = (double)le_type_size(search->job->kernel.ir->values.at[stage->target].type);
    struct le_mapping *m = le_mapping_add(search, LE_MAPPING_FILL, make_fill, search);
    struct le_cost cost = {.bytes = (double)count * size,
                           .threads = count > 0 ? (double)count : 1,
                           .bytes_in_flight = size,
                           .launches = 1};
    m->seconds = le_cost_seconds(search->job->facts, &cost);
}
