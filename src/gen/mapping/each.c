/* EACH stages. Elements that write disjoint locations, or meet only in atomic updates, run in parallel. If the last of
 * several writes to one location must win, all elements first run without writing and claim their locations with their
 * thread numbers; then they run again, and the greatest number writes. Otherwise one thread runs them in order. */
#include "gen/mapping/mapping.h"
#include "gen/tree/codegen.h"

/* Whether all stores to its array meet in the same way. */
static bool meets_alike(const struct le_region *region, const struct le_region_step *store) {
    for (int k = 0; k < region->step_count; k++) {
        const struct le_region_step *s = &region->steps[k];
        if (s->kind == LE_REGION_STORE && s->target == store->target && s->scatter != store->scatter)
            return false;
    }
    return true;
}

struct read_search {
    const struct le_ir *ir;
    const struct le_stage *stage;
    bool found;
};

static void find_read(struct le_node *node, void *user) {
    struct read_search *s = user;
    for (int k = 0; node->kind == LE_NODE_LOAD && k < s->stage->pair_count; k++) {
        int written = s->ir->values.at[s->stage->pairs[k].target].symbol;
        s->found |= written == s->ir->values.at[node->value].symbol;
    }
}

/* Whether elements read what elements write. A second run would then read other values. */
static bool reads_writes(struct le_ir *ir, const struct le_stage *stage) {
    struct read_search s = {ir, stage, false};
    le_node_walk(ir, stage->node, find_read, &s);
    return s.found;
}

static enum le_meet find_meet(struct le_ir *ir, const struct le_stage *stage) {
    const struct le_region *region = stage->node->region;
    enum le_meet meet = LE_MEET_AT_ONCE;
    for (int k = 0; k < region->step_count; k++) {
        const struct le_region_step *s = &region->steps[k];
        if (s->kind != LE_REGION_STORE || s->own)
            continue;
        enum le_type type = ir->values.at[stage->pairs[s->target].target].type;
        if (!meets_alike(region, s) || (s->scatter != LE_SCATTER_SET && !le_codegen_has_atomic_form(type, s->scatter)))
            return LE_MEET_IN_ORDER;
        if (s->scatter == LE_SCATTER_SET)
            meet = LE_MEET_CLAIM;
    }
    return meet == LE_MEET_CLAIM && reads_writes(ir, stage) ? LE_MEET_IN_ORDER : meet;
}

/* Whether some store sets elements of the pair's array at which several iterations may meet. */
static bool has_winners(const struct le_stage *stage, int pair) {
    const struct le_region *region = stage->node->region;
    for (int k = 0; k < region->step_count; k++) {
        const struct le_region_step *s = &region->steps[k];
        if (s->kind == LE_REGION_STORE && !s->own && s->target == pair && s->scatter == LE_SCATTER_SET)
            return true;
    }
    return false;
}

/* work: by pair, the byte of the work memory where its winners begin; -1: it has none. */
static leat_status generate_each(const struct le_device_kernel_job *job, const struct le_stage *stage,
                                 enum le_meet meet, const int64_t *work, struct le_generated_launches *out) {
    static const char *const hows[] = {[LE_MEET_AT_ONCE] = "a thread for each element",
                                       [LE_MEET_CLAIM] = "a thread for each element claims its places",
                                       [LE_MEET_LAST] = "a thread for each element: the last one writes"};
    struct codegen c;
    int64_t threads;
    le_codegen_begin(&c, job, stage, meet == LE_MEET_CLAIM ? "_claim" : "");
    c.meet = meet;
    c.winners = LE_NEW_ARRAY(c.arena, stage->pair_count, struct le_variable *);
    for (int k = 0; k < stage->pair_count; k++)
        if (work[k] >= 0)
            c.winners[k] = le_codegen_parameter(&c, LE_ARGUMENT_WORK, -1, work[k], LE_KTREE_ULONG, "winners");
    struct le_block *block = le_codegen_points(&c, meet == LE_MEET_IN_ORDER, &threads);
    le_codegen_region(&c, stage->node, block, NULL);
    le_codegen_close_all(&c, block);
    struct le_generated_launch *launch = le_codegen_finish(&c, out);
    launch->how = threads > 1 ? hows[meet] : "one thread";
    return le_codegen_set_grid(&c, launch, threads);
}

struct each {
    const struct le_device_kernel_job *job;
    const struct le_stage *stage;
    enum le_meet meet;
};

static leat_status make_each(const struct le_mapping *m, void *found, struct le_generated_launches *out) {
    const struct each *e = found;
    const struct le_stage *stage = e->stage;
    int64_t *work = LE_NEW_ARRAY(e->job->kernel.arena, stage->pair_count, int64_t);
    (void)m;
    for (int p = 0; p < stage->pair_count; p++) {
        int target = stage->pairs[p].target;
        work[p] = -1;
        if (e->meet != LE_MEET_CLAIM || !has_winners(stage, p))
            continue;
        int64_t elements = le_codegen_elements(e->job, target);
        work[p] = (int64_t)out->work_bytes;
        out->work_bytes += (size_t)(elements ? elements : 1) * 8; /* work memory is never empty */
        out->zeroed_bytes = out->work_bytes;
    }
    leat_status status = generate_each(e->job, stage, e->meet, work, out);
    if (e->meet != LE_MEET_CLAIM || status != LEAT_OK)
        return status;
    return generate_each(e->job, stage, LE_MEET_LAST, work, out);
}

/* ---- proposals */

static double stored_bytes(const struct le_mapping_search *search) {
    struct le_stage one = *search->stage;
    const struct le_region *region = one.node->region;
    int last = one.index_count ? one.indices[one.index_count - 1] : -1;
    double bytes = 0;
    for (int k = 0; k < region->step_count; k++) {
        const struct le_region_step *s = &region->steps[k];
        if (s->kind != LE_REGION_STORE)
            continue;
        one.target = one.pairs[s->target].target;
        one.left = one.node->operands + s->first_subscript;
        one.left_count = s->subscript_count;
        bytes += le_cost_target_bytes(search->job, &one, last);
    }
    return bytes;
}

static void propose(struct le_mapping_search *search, enum le_mapping_kind kind, enum le_meet meet) {
    struct each *e = LE_NEW(search->job->kernel.arena, struct each);
    struct codegen c;
    *e = (struct each){search->job, search->stage, meet};
    le_codegen_begin(&c, search->job, search->stage, "");
    double threads = meet == LE_MEET_IN_ORDER ? 1 : (double)le_codegen_threads(&c);
    struct le_cost cost = le_cost_of_points(search->job, search->stage, threads);
    cost.bytes += stored_bytes(search);
    if (meet == LE_MEET_CLAIM)
        cost = le_cost_twice(cost);
    le_mapping_add(search, kind, make_each, e)->seconds = le_cost_seconds(search->job->facts, &cost);
}

void le_propose_each(struct le_mapping_search *search) {
    enum le_meet meet = find_meet(search->job->kernel.ir, search->stage);
    if (meet != LE_MEET_IN_ORDER)
        propose(search, meet == LE_MEET_CLAIM ? LE_MAPPING_EACH_CLAIM : LE_MAPPING_EACH_THREADS, meet);
    propose(search, LE_MAPPING_EACH_LOOP, LE_MEET_IN_ORDER);
    search->preferred = &search->at[0];
}
