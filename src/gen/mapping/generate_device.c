/* Generates the kernels of a stage: the mappings for its kind propose themselves, and one is chosen. */
#include "gen/mapping/mapping.h"
#include "gen/tree/codegen.h"

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
    return le_layout_elements(&job->kernel.layouts[value], job->kernel.ir->values.at[value].rank);
}

static leat_status unsupported(const struct le_device_kernel_job *job, const char *what) {
    const struct le_kernel *k = &job->kernel;
    return le_fail_at(LEAT_UNSUPPORTED, k->ir->statements.at[k->stage->statement].location, NULL,
                      "%s cannot run on a device yet", what);
}

/* Several stages have been found to fit one of these mappings (join_stages.c). */
void le_propose_elements(struct le_mapping_search *search) {
    const struct le_stage *stage = search->stage;
    bool same = true; /* points */
    for (int k = 0; k < stage->also_count; k++)
        same &= stage->also[k]->index_count == stage->index_count;
    if (same) {
        le_propose_maps(search);
        le_propose_loop(search);
    }
    le_propose_reductions(search);
    if (stage->also_count == 0)
        le_propose_reuse(search);
}

const struct le_mapping *le_mapping_of_map(const struct le_device_kernel_job *job, const struct le_stage *stage) {
    struct le_stage own = *stage;
    struct le_device_kernel_job of_stage = *job;
    struct le_mapping_search search = {.job = &of_stage, .stage = &own};
    of_stage.kernel.stage = &own;
    own.node = le_kernel_readable(&of_stage.kernel, own.node);
    le_propose_elements(&search);
    struct le_mapping *chosen = LE_NEW(job->kernel.arena, struct le_mapping);
    *chosen = *le_mapping_choose(&search);
    return chosen;
}

static leat_status generate_stage(const struct le_device_kernel_job *job, const struct le_stage *stage,
                                  struct le_generated_launches *out) {
    struct le_mapping_search search = {.job = job, .stage = stage};
    switch (stage->kind) {
    case LE_STAGE_SCAN:
        return le_scan_generate(job, stage, out);
    case LE_STAGE_MAP:
    case LE_STAGE_CONTRACT:
        le_propose_elements(&search);
        break;
    case LE_STAGE_EACH:
        le_propose_each(&search);
        break;
    case LE_STAGE_SCATTER:
        le_propose_scatters(&search);
        break;
    case LE_STAGE_FILL:
        le_propose_fill(&search);
        break;
    default:
        return unsupported(job, "this statement");
    }
    return le_mapping_make(&search, out);
}

/* Who made the kernels may have counted better what they do. */
static void count_operations(const struct le_kernel *kernel, int first, struct le_generated_launches *out) {
    for (int k = first; k < out->count; k++)
        if (out->at[k].operations > 0)
            return;
    if (out->count > first)
        out->at[out->count - 1].operations = le_kernel_operations(kernel); /* of all that it computes */
}

leat_status le_device_generate(const struct le_device_kernel_job *job, struct le_generated_launches *out) {
    struct le_stage stage = *job->kernel.stage;
    struct le_device_kernel_job own = *job;
    int first = out->count;
    own.kernel = le_kernel_begin(&job->kernel);
    own.kernel.stage = &stage;
    if (le_kernel_is_empty(&own.kernel))
        return LEAT_OK;
    stage.node = le_kernel_readable(&own.kernel, stage.node);
    leat_status status = generate_stage(&own, &stage, out);
    if (status == LEAT_OK)
        count_operations(&own.kernel, first, out);
    return status;
}
