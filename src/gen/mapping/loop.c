/* Proposes the mapping that fits every stage: a thread for each point, which computes its reductions term by term. */
#include "gen/tree/codegen.h"
#include "gen/mapping/mapping.h"
#include <math.h>

#define TERMS_AT_ONCE 8 /* reductions with at most this many terms are written out, so that their reads overlap */

static leat_status make_loop(const struct le_mapping *m, void *found, struct le_generated_launches *out) {
    const struct le_mapping_search *search = found;
    struct codegen c;
    int64_t threads;
    (void)m;
    le_codegen_begin(&c, search->job, search->stage, "");
    struct le_block *block = le_codegen_points(&c, false, &threads);
    le_codegen_store(&c, le_codegen_node(&c, search->stage->node, block, NULL), block);
    le_codegen_close_all(&c, block);
    struct le_generated_launch *launch = le_codegen_finish(&c, out);
    launch->how = threads > 1 ? "a thread for each element" : "one thread";
    return le_codegen_set_grid(&c, launch, threads);
}

struct term_count {
    const struct le_device_kernel_job *job;
    double terms; /* of the longest reduction */
};

static void count_terms(struct le_node *node, void *user) {
    struct term_count *t = user;
    double terms = 1;
    for (int k = 0; k < node->index_count && node->kind == LE_NODE_REDUCE; k++)
        terms *= le_cost_extent(t->job, node->indices[k]);
    t->terms = fmax(t->terms, terms);
}

void le_propose_loop(struct le_mapping_search *search) {
    const struct le_stage *stage = search->stage;
    struct le_mapping *m = le_mapping_add(search, LE_MAPPING_LOOP, make_loop, search);
    int last = stage->index_count ? stage->indices[stage->index_count - 1] : -1;
    struct codegen c;
    le_codegen_begin(&c, search->job, stage, "");
    double threads = (double)le_codegen_threads(&c), operations = (double)le_kernel_operations(&search->job->kernel);
    struct term_count terms = {.job = search->job, .terms = 1};
    le_node_walk(search->job->kernel.ir, stage->node, count_terms, &terms);
    double bytes = fmin(le_cost_bytes(search->job, &stage->node, 1, last),
                        LE_WASTE_ONE_READ * le_cost_bytes(search->job, &stage->node, 1, -1));
    struct le_cost cost = {
        .bytes = bytes + le_cost_target_bytes(search->job, stage, last),
        .operations = operations,
        .requests = le_cost_requests(search->job, &stage->node, 1, last) * terms.terms * threads / WARP,
        .threads = threads,
        .bytes_in_flight = 8,
        .team_seconds = terms.terms > TERMS_AT_ONCE ? terms.terms * LE_TERM_SECONDS : LE_TERM_SECONDS,
        .launches = 1};
    m->seconds = le_cost_seconds(search->job->facts, &cost);
}
