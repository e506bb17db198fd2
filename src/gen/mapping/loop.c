/* Proposes the mapping that fits every stage: a thread for each point, which computes its reductions term by term. */
#include "gen/tree/codegen.h"
#include "gen/mapping/mapping.h"
#include <math.h>

#define TERMS_AT_ONCE 8 /* reductions with at most this many terms are written out, so that their reads overlap */

/* Computes all values before it stores any: one may be stored where another is read. */
static void store_all(struct codegen *c, struct le_block *block) {
    const struct le_stage *stage = c->stage;
    struct le_expression *x[1 + LE_ALSO_MAX] = {le_codegen_node(c, stage->node, block, NULL)};
    for (int k = 0; k < stage->also_count; k++)
        x[1 + k] = le_codegen_node(c, stage->also[k]->node, block, NULL);
    le_codegen_store(c, x[0], block);
    for (int k = 0; k < stage->also_count; k++)
        le_codegen_store_to(c, stage->also[k], x[1 + k], block);
}

static leat_status make_loop(const struct le_mapping *m, void *found, struct le_generated_launches *out) {
    const struct le_mapping_search *search = found;
    struct codegen c;
    int64_t threads;
    (void)m;
    le_codegen_begin(&c, search->job, search->stage, "");
    struct le_block *block = le_codegen_points(&c, false, &threads);
    store_all(&c, block);
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
    if (node->kind == LE_NODE_REDUCE)
        t->terms = fmax(t->terms, le_cost_terms(t->job, node));
}

void le_propose_loop(struct le_mapping_search *search) {
    const struct le_stage *stage = search->stage;
    struct le_mapping *m = le_mapping_add(search, LE_MAPPING_LOOP, make_loop, search);
    int last = stage->index_count ? stage->indices[stage->index_count - 1] : -1;
    struct codegen c;
    le_codegen_begin(&c, search->job, stage, "");
    double threads = (double)le_codegen_threads(&c), operations = (double)le_kernel_operations(&search->job->kernel);
    struct term_count terms = {.job = search->job, .terms = 1};
    struct le_node *nodes[1 + LE_ALSO_MAX] = {stage->node};
    const int count = 1 + stage->also_count;
    double written = le_cost_target_bytes(search->job, stage, last);
    for (int k = 1; k < count; k++) {
        nodes[k] = stage->also[k - 1]->node;
        written += le_cost_target_bytes(search->job, stage->also[k - 1], last);
    }
    for (int k = 0; k < count; k++)
        le_node_walk(search->job->kernel.ir, nodes[k], count_terms, &terms);
    double bytes = fmin(le_cost_bytes(search->job, nodes, count, last),
                        LE_WASTE_ONE_READ * le_cost_bytes(search->job, nodes, count, -1));
    struct le_cost cost = {
        .bytes = bytes + written,
        .operations = operations,
        .requests = le_cost_requests(search->job, nodes, count, last, NULL, 0) * terms.terms * threads / WARP,
        .threads = threads,
        .bytes_in_flight = 8,
        .team_seconds = terms.terms > TERMS_AT_ONCE ? terms.terms * LE_TERM_SECONDS : LE_TERM_SECONDS,
        .launches = 1};
    m->seconds = le_cost_seconds(search->job->facts, &cost);
}
