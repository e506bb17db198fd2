/* EACH stages. Elements that write disjoint locations, or meet only in atomic updates, run in parallel. If the last of
 * several writes to one location must win, all elements first run without writing and claim their locations with their
 * thread numbers; then they run again, and the greatest number writes. Otherwise one thread runs them in order. */
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

/* Whether elements read what they write: run once more, they would not do the same. */
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

/* Whether the last of those that meet in the pair's array wins. */
static bool has_winners(const struct le_stage *stage, int pair) {
    const struct le_region *region = stage->node->region;
    for (int k = 0; k < region->step_count; k++) {
        const struct le_region_step *s = &region->steps[k];
        if (s->kind == LE_REGION_STORE && !s->own && s->target == pair && s->scatter == LE_SCATTER_SET)
            return true;
    }
    return false;
}

/* work: where the winners lie, by pair; -1: it has none. */
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

leat_status le_codegen_each(const struct le_device_kernel_job *job, const struct le_stage *stage,
                            struct le_generated_launches *out) {
    const struct le_kernel *k = &job->kernel;
    enum le_meet meet = find_meet(k->ir, stage);
    int64_t *work = LE_NEW_ARRAY(k->arena, stage->pair_count, int64_t);
    for (int p = 0; p < stage->pair_count; p++) {
        int target = stage->pairs[p].target;
        work[p] = -1;
        if (meet != LE_MEET_CLAIM || !has_winners(stage, p))
            continue;
        int64_t elements = le_codegen_elements(job, target);
        work[p] = (int64_t)out->work_bytes;
        out->work_bytes += (size_t)(elements ? elements : 1) * 8; /* a kernel is given some */
        out->zeroed_bytes = out->work_bytes;
    }
    if (meet != LE_MEET_CLAIM)
        return generate_each(job, stage, meet, work, out);
    leat_status status = generate_each(job, stage, LE_MEET_CLAIM, work, out);
    return status == LEAT_OK ? generate_each(job, stage, LE_MEET_LAST, work, out) : status;
}
