/* Plans statement by statement: forms groups of actions and finds the ranges, code and storage of each action. A group
 * in a block is planned when it is reached, in an arena of its own, and records what it depends on. */
#include "run/call.h"
#include "run/plan/contraction.h"
#include "run/device/device_run.h"
#include "ir/alias.h"
#include <string.h>

/* ---- actions and groups */

static bool is_control(const struct le_stage *stage) {
    return stage->kind >= LE_STAGE_FOR;
}
static bool opens_block(const struct le_stage *stage) {
    return stage->kind == LE_STAGE_FOR || stage->kind == LE_STAGE_LOOP || stage->kind == LE_STAGE_IF;
}

struct lister {
    struct le_plan *plan;
    int *open; /* open blocks: FOR, LOOP or IF actions, or the ELSE of the IF */
    int depth, next_statement;
    bool alone; /* the current group takes no more actions */
};

/* Statements that were fused into others have no actions, but their ranges are needed, even if the others are planned
 * first. Adds a group for those before a block. */
static void add_bare_group(struct lister *l, int end) {
    struct le_plan *plan = l->plan;
    plan->groups[plan->group_count++] = (struct le_plan_step){.arena = &plan->arena,
                                                              .first_statement = l->next_statement,
                                                              .statement_count = end - l->next_statement,
                                                              .first_action = plan->action_count};
    l->next_statement = end;
}

static void add_group(struct lister *l, const struct le_stage *stage) {
    struct le_plan *plan = l->plan;
    if (is_control(stage) && l->depth == 0 && stage->statement > l->next_statement)
        add_bare_group(l, stage->statement);
    struct le_plan_step *g = &plan->groups[plan->group_count++];
    /* a LOOP's statement belongs to the actions that compute the condition */
    int end = stage->kind == LE_STAGE_LOOP ? stage->statement : stage->statement + 1;
    g->arena = &plan->arena;
    g->inside = l->depth > 0 || is_control(stage);
    g->first_statement = l->next_statement;
    g->statement_count = end > l->next_statement ? end - l->next_statement : 0;
    g->first_action = plan->action_count;
    l->next_statement += g->statement_count;
    l->alone = is_control(stage);
    plan->has_blocks |= l->alone;
}

static int innermost_loop(const struct lister *l) {
    int k = l->depth - 1;
    while (l->plan->actions[l->open[k]].stage->kind != LE_STAGE_FOR &&
           l->plan->actions[l->open[k]].stage->kind != LE_STAGE_LOOP)
        k--;
    return l->open[k];
}

/* The partner of a TEST or BREAK is the loop; le_list_actions replaces it by the loop's END. */
static void find_partner(struct lister *l, int action) {
    struct le_action *at = l->plan->actions, *a = &at[action];
    if (opens_block(a->stage)) {
        l->open[l->depth++] = action;
    } else if (a->stage->kind == LE_STAGE_ELSE) {
        at[l->open[l->depth - 1]].partner = action;
        l->open[l->depth - 1] = action;
    } else if (a->stage->kind == LE_STAGE_END) {
        a->partner = l->open[--l->depth];
        at[a->partner].partner = action;
    } else if (a->stage->kind == LE_STAGE_TEST || a->stage->kind == LE_STAGE_BREAK) {
        a->partner = innermost_loop(l);
    }
}

static void add_action(struct lister *l, const struct le_stage *stage) {
    struct le_plan *plan = l->plan;
    const struct le_plan_step *last = plan->group_count ? &plan->groups[plan->group_count - 1] : NULL;
    bool same = last && !l->alone && !is_control(stage) && stage->statement < l->next_statement;
    if (!same)
        add_group(l, stage);
    struct le_plan_step *g = &plan->groups[plan->group_count - 1];
    struct le_action *a = &plan->actions[plan->action_count];
    *a = (struct le_action){.stage = stage, .name = stage->name, .group = plan->group_count - 1};
    g->action_count++;
    if (is_control(stage))
        find_partner(l, plan->action_count);
    plan->action_count++;
}

static void note_makers(struct le_plan *plan, const struct le_ir *ir) {
    int most = 1;
    for (int k = 0; k < ir->values.count; k++)
        plan->maker[k] = ir->values.at[k].stage < 0 ? -1 : plan->action_count;
    for (int k = plan->action_count - 1; k >= 0; k--) {
        const struct le_stage *stage = plan->actions[k].stage;
        if (stage->pair_count == 0 && (le_stage_computes(stage) || stage->kind == LE_STAGE_FOR))
            plan->maker[stage->target] = k;
        for (int q = 0; q < stage->pair_count; q++)
            plan->maker[stage->pairs[q].target] = k;
        most = stage->pair_count > most ? stage->pair_count : most;
    }
    plan->moving = LE_NEW_ARRAY(&plan->arena, most, leat_array *);
    plan->moving_cells = LE_NEW_ARRAY(&plan->arena, most, struct le_cell);
}

void le_list_actions(struct le_specialised *s) {
    struct le_plan *plan = s->plan;
    struct lister l = {.plan = plan};
    int stages = s->ir->stages.count;
    plan->actions = LE_NEW_ARRAY(&plan->arena, stages, struct le_action);
    plan->groups = LE_NEW_ARRAY(&plan->arena, 2 * stages + 1, struct le_plan_step);
    plan->maker = LE_NEW_ARRAY(&plan->arena, s->ir->values.count, int);
    l.open = LE_NEW_ARRAY(&plan->arena, stages + 1, int);
    for (int k = 0; k < stages; k++)
        if (!s->ir->stages.at[k].dead)
            add_action(&l, &s->ir->stages.at[k]);
    for (int k = 0; k < plan->action_count; k++) {
        struct le_action *a = &plan->actions[k];
        if (a->stage->kind == LE_STAGE_TEST || a->stage->kind == LE_STAGE_BREAK)
            a->partner = plan->actions[a->partner].partner;
    }
    add_bare_group(&l, s->ir->statements.count);
    note_makers(plan, s->ir);
}

/* ---- layouts */

static void dense_layout(struct le_layout *layout, const int64_t *shape, int rank) {
    int64_t stride = 1;
    for (int d = rank - 1; d >= 0; d--) {
        layout->shape[d] = shape[d];
        layout->strides[d] = stride;
        stride *= shape[d] > 0 ? shape[d] : 1;
    }
}

/* The values that an index may take until the group is planned again; if its range is not bounded, those that it takes
 * now. The range is empty if the evaluation of its ends reads out of range. */
static leat_status find_hull(struct leat_call *call, int index, int64_t *low, int64_t *high) {
    struct le_plan *plan = call->specialised->plan;
    const struct le_range *r = &plan->space.ranges[index];
    const struct le_range_nodes *ends = &call->specialised->ir->indices.at[index].range;
    *low = r->low;
    *high = r->high;
    if (!r->dynamic || r->bounded)
        return LEAT_OK;
    leat_status status = le_evaluate(call, ends->low, low);
    if (status == LEAT_OK)
        status = le_evaluate(call, ends->high, high);
    if (status != LEAT_OK)
        *high = *low;
    if (*high > *low && (*low < -LE_INDEX_MAX || *high > LE_INDEX_MAX))
        return le_fail_out_of_memory(SIZE_MAX);
    return status == LEAT_DATA ? plan->space.failure : status;
}

/* A hoisted reduction's array has one element for each value of its indices, starting at their low ends. */
static leat_status hoisted_layout(struct leat_call *call, const struct le_stage *stage) {
    struct le_plan *plan = call->specialised->plan;
    struct le_layout layout = {0};
    int64_t shape[LEAT_RANK_MAX], low[LEAT_RANK_MAX], high[LEAT_RANK_MAX];
    for (int d = 0; d < stage->left_count; d++) {
        leat_status status = find_hull(call, stage->left[d]->index, &low[d], &high[d]);
        if (status != LEAT_OK)
            return status;
        shape[d] = high[d] > low[d] ? high[d] - low[d] : 0;
    }
    dense_layout(&layout, shape, stage->left_count);
    for (int d = 0; d < stage->left_count; d++)
        layout.offset -= low[d] * layout.strides[d];
    if (memcmp(&layout, &plan->layouts[stage->target], sizeof layout) != 0)
        plan->layout_changed[stage->target] = ++plan->time;
    plan->layouts[stage->target] = layout;
    return LEAT_OK;
}

/* All computed values of a symbol have the symbol's shape. */
static void value_layout(struct le_specialised *s, int value) {
    const struct le_value *v = &s->ir->values.at[value];
    if (v->stage < 0 || v->symbol < 0 || v->rank == 0)
        return;
    dense_layout(&s->plan->layouts[value], s->plan->space.shape[v->symbol], v->rank);
    le_result_spread(s->plan, value, v->rank);
    const struct le_layout *laid = le_result_layout(s->plan, value, v->rank);
    if (laid)
        memcpy(s->plan->layouts[value].strides, laid->strides, sizeof laid->strides);
}

/* ---- what a group depends on */

struct dependency_list {
    struct le_dependencies *dependencies;
    struct le_arena *arena;
    struct le_specialised *s;
};

#define RECENT_CHECKED 32 /* entries compared with a new one: duplicates further back do no harm */

static void depend_on_time(const struct dependency_list *h, const uint64_t *time) {
    int count = h->dependencies->on.count;
    for (int k = count > RECENT_CHECKED ? count - RECENT_CHECKED : 0; k < count; k++)
        if (h->dependencies->on.at[k] == time)
            return;
    *LE_PUSH(h->arena, &h->dependencies->on) = time;
}

static void depend_on_node(struct le_node *node, void *user) {
    const struct dependency_list *h = user;
    const struct le_plan *plan = h->s->plan;
    if (node->kind == LE_NODE_LEN)
        depend_on_time(h, &plan->shape_changed[node->symbol]);
    if (node->kind == LE_NODE_INDEX)
        depend_on_time(h, &plan->range_changed[node->index]);
    for (int k = 0; k < node->index_count; k++)
        depend_on_time(h, &plan->range_changed[node->indices[k]]);
    if (node->kind != LE_NODE_LOAD || node->operand_count == 0)
        return;
    const struct le_value *v = &h->s->ir->values.at[node->value];
    value_layout(h->s, node->value);
    depend_on_time(h, v->symbol >= 0 ? &plan->shape_changed[v->symbol] : &plan->layout_changed[v->id]);
}

void le_dependencies_add(struct le_dependencies *dependencies, struct le_arena *arena, struct le_specialised *s,
                         struct le_node *node) {
    struct dependency_list h = {.dependencies = dependencies, .arena = arena, .s = s};
    le_node_walk(s->ir, node, depend_on_node, &h);
}

bool le_dependencies_hold(struct le_dependencies *dependencies, const struct le_plan *plan) {
    if (dependencies->made == 0)
        return false;
    for (int k = 0; dependencies->checked != plan->time && k < dependencies->on.count; k++)
        if (*dependencies->on.at[k] > dependencies->made)
            return false;
    dependencies->checked = plan->time;
    return true;
}

static void depend_on_statement(struct le_specialised *s, struct le_plan_step *g, const struct le_ir_statement *st) {
    struct dependency_list h = {.dependencies = &g->dependencies, .arena = g->arena, .s = s};
    for (int k = 0; k < st->access_count; k++)
        depend_on_time(&h, &s->plan->shape_changed[s->ir->accesses.at[st->first_access + k].symbol]);
    for (int k = 0; k < st->access_count; k++) {
        const struct le_ir_access *a = &s->ir->accesses.at[st->first_access + k];
        for (int d = 0; d < a->rank; d++)
            le_dependencies_add(&g->dependencies, g->arena, s, a->subscripts[d]);
    }
    for (int k = 0; k < st->size_count; k++)
        le_dependencies_add(&g->dependencies, g->arena, s, st->sizes[k]);
}

static void depend_on_stage(struct le_specialised *s, struct le_plan_step *g, const struct le_stage *stage) {
    struct dependency_list h = {.dependencies = &g->dependencies, .arena = g->arena, .s = s};
    if (stage->node)
        le_dependencies_add(&g->dependencies, g->arena, s, stage->node);
    if (stage->product)
        le_dependencies_add(&g->dependencies, g->arena, s, stage->product);
    for (int k = stage->sibling; k >= 0; k = s->ir->stages.at[k].sibling)
        le_dependencies_add(&g->dependencies, g->arena, s,
                            s->ir->stages.at[k].node); /* its code computes their nodes, too */
    for (int d = 0; d < stage->left_count; d++)
        le_dependencies_add(&g->dependencies, g->arena, s, stage->left[d]);
    for (int k = 0; k < stage->index_count; k++) {
        const struct le_range_nodes *r = &s->ir->indices.at[stage->indices[k]].range;
        struct le_node *bounds[] = {r->low, r->high, r->by};
        depend_on_time(&h, &s->plan->range_changed[stage->indices[k]]);
        for (size_t b = 0; b < ARRAY_LEN(bounds); b++)
            if (bounds[b])
                le_dependencies_add(&g->dependencies, g->arena, s, bounds[b]);
    }
    if (stage->leader >= 0) {
        const struct le_plan *plan = s->plan;
        int leader = plan->maker[s->ir->stages.at[stage->leader].target];
        depend_on_time(&h, &plan->groups[plan->actions[leader].group].dependencies.made);
    }
}

/* ---- where a stage writes */

static bool covers(const struct le_plan *plan, const struct le_ir *ir, const struct le_stage *stage) {
    const struct le_value *v = &ir->values.at[stage->target];
    if (stage->kind == LE_STAGE_SCATTER || stage->kind == LE_STAGE_EACH || stage->index_count != stage->left_count)
        return false;
    for (int d = 0; d < stage->left_count; d++) {
        const struct le_node *x = stage->left[d];
        if (x->kind != LE_NODE_INDEX || ir->indices.at[x->index].host)
            return false;
        for (int q = 0; q < d; q++)
            if (stage->left[q] == x)
                return false;
        const struct le_range *r = &plan->space.ranges[x->index];
        if (r->dynamic || r->low > 0 || r->by != 1 || r->high < plan->space.shape[v->symbol][d])
            return false;
    }
    return true;
}

/* apart: whether each point reads of the base only the element that it writes, and elements that the stage never
 * writes. NULL: determined here */
static enum le_storage_kind choose_storage(const struct le_specialised *s, const struct le_action *action, int target,
                                           int base, const bool *apart) {
    if (base < 0 || s->ir->values.at[target].rank == 0)
        return LE_STORAGE_NEW;
    bool ends = s->ir->values.at[base].stage >= 0 && le_value_dies(s->plan, action->dying, base);
    if (ends &&
        (action->writes_nothing || (apart ? *apart : le_alias_is_safe(&s->plan->space, action->generated, base))))
        return LE_STORAGE_BASE;
    if (action->writes_nothing)
        return LE_STORAGE_COPY;
    if (action->writes_all)
        return LE_STORAGE_NEW;
    return ends && le_alias_writes_box(s->ir, action->stage) ? LE_STORAGE_PART : LE_STORAGE_COPY;
}

static void find_storages(struct le_specialised *s, struct le_plan_step *g, struct le_action *action) {
    const struct le_stage *stage = action->stage;
    action->writes_all = stage->kind != LE_STAGE_EACH && !action->writes_nothing &&
                         (s->ir->values.at[stage->target].rank == 0 || s->ir->values.at[stage->target].symbol < 0 ||
                          stage->kind == LE_STAGE_FILL || covers(s->plan, s->ir, action->generated));
    action->storage = choose_storage(s, action, stage->target, stage->base, NULL);
    action->storages = LE_NEW_ARRAY(g->arena, stage->pair_count, enum le_storage_kind);
    if (stage->pair_count == 0)
        return;
    const bool *apart = le_alias_safe_bases(&s->plan->space, stage, g->arena);
    for (int k = 0; k < stage->pair_count; k++)
        action->storages[k] = choose_storage(s, action, stage->pairs[k].target, stage->pairs[k].source, &apart[k]);
}

/* ---- bytes, for the ledger */

#define LOADS_COUNTED 64 /* that are compared with those of the other stages of a kernel */

struct count_bytes {
    const struct le_specialised *s;
    int64_t bytes;
    const struct le_node *counted[LOADS_COUNTED];
    int counted_count;
};

/* For products of range lengths, which may be as large as any number in the data. */
static int64_t saturating_product(int64_t a, int64_t b) {
    const int64_t very_much = (int64_t)1 << 58;
    int64_t product;
    return le_mul_i64(a, b, &product) && product < very_much ? product : very_much;
}

static void count_load(struct le_node *node, void *user) {
    struct count_bytes *c = user;
    if (node->kind != LE_NODE_LOAD || node->operand_count == 0)
        return;
    for (int k = 0; k < c->counted_count; k++)
        if (c->counted[k] == node)
            return;
    if (c->counted_count < LOADS_COUNTED)
        c->counted[c->counted_count++] = node;
    int64_t elements = 1;
    for (int d = 0; d < node->operand_count; d++)
        elements *= c->s->plan->layouts[node->value].shape[d];
    int64_t touched = 1;
    for (int k = 0; k < node->free_count; k++)
        if (!c->s->ir->indices.at[node->free[k]].host)
            touched = saturating_product(touched, le_range_count(&c->s->plan->space.ranges[node->free[k]]));
    c->bytes +=
        (touched < elements ? touched : elements) * (int64_t)le_type_size(c->s->ir->values.at[node->value].type);
}

static void count_stage(struct count_bytes *c, const struct le_stage *stage) {
    const struct le_specialised *s = c->s;
    int64_t points = 1;
    le_node_walk(s->ir, stage->node, count_load, c);
    for (int k = 0; k < stage->index_count; k++)
        if (!s->ir->indices.at[stage->indices[k]].host)
            points = saturating_product(points, le_range_count(&s->plan->space.ranges[stage->indices[k]]));
    c->bytes += saturating_product(points, (int64_t)le_type_size(s->ir->values.at[stage->target].type));
}

int64_t le_stage_bytes(const struct le_specialised *s, const struct le_stage *stage) {
    struct count_bytes c = {.s = s};
    count_stage(&c, stage);
    for (int k = 0; k < stage->also_count; k++)
        count_stage(&c, stage->also[k]);
    return c.bytes;
}

/* ---- siblings */

/* Whether the leader's kernel also computes this stage: it does so for all siblings if it works in parts. */
static bool made_with_leader(const struct le_plan *plan, const struct le_ir *ir, const struct le_stage *stage) {
    if (stage->leader < 0)
        return false;
    const struct le_action *leader = &plan->actions[plan->maker[ir->stages.at[stage->leader].target]];
    return leader->generated->sibling >= 0 && leader->launches.count > 0 && leader->launches.at[0].parts;
}

static const struct le_stage *alone(struct le_arena *arena, const struct le_stage *leader) {
    struct le_stage *made = LE_NEW(arena, struct le_stage);
    *made = *leader;
    made->sibling = -1;
    return made;
}

/* ---- a group */

static leat_status generate_code(struct leat_call *call, struct le_plan_step *g, struct le_action *action) {
    struct le_specialised *s = call->specialised;
    struct le_plan *plan = s->plan;
    const struct le_stage *stage = action->generated;
    struct le_kernel kernel = {.ir = s->ir,
                               .stage = stage,
                               .space = &plan->space,
                               .layouts = plan->layouts,
                               .threads = le_pool_threads(call->program->ctx->threads),
                               .arena = g->arena,
                               .work = &s->generating};
    leat_status status = LEAT_OK;
    if (le_device_computes(call, stage))
        status = le_device_plan(call, g, action);
    else if (stage->kind == LE_STAGE_FILL)
        status = le_kernel_scalar(&kernel, stage->node, s->ir->values.at[stage->target].type,
                                  LE_PUSH(g->arena, &action->launches));
    else if (!made_with_leader(plan, s->ir, stage))
        status = le_kernel_generate(&kernel, &action->launches);
    action->codes = LE_NEW_ARRAY(g->arena, action->launches.count, struct le_cpu_code);
    for (int k = 0; k < action->launches.count && status == LEAT_OK; k++) {
        action->operations += (uint64_t)action->launches.at[k].operations;
        status = le_cpu_prepare(g->arena, action->launches.at[k].unit, call->program->ctx->simd, &action->codes[k]);
        if (action->codes[k].scratch_bytes > plan->scratch_bytes)
            plan->scratch_bytes = action->codes[k].scratch_bytes;
    }
    bool computes = action->launches.count > 0 || (action->device && action->storage != LE_STORAGE_NONE);
    computes &= !action->joined_to;
    action->bytes = stage->kind == LE_STAGE_FILL || !computes ? 0 : le_stage_bytes(s, stage);
    return status;
}

/* action->contract NULL: the stage needs a kernel. */
static leat_status plan_contraction(struct leat_call *call, struct le_plan_step *g, struct le_action *action) {
    if (action->generated->kind != LE_STAGE_CONTRACT || call->device)
        return LEAT_OK;
    leat_status status = le_contract_plan(call, action->stage, g->arena, &action->contract);
    if (!action->contract)
        return status;
    action->operations = (uint64_t)action->contract->operations;
    action->bytes = le_stage_bytes(call->specialised, action->stage);
    return status;
}

static leat_status plan_action(struct leat_call *call, struct le_plan_step *g, struct le_action *action) {
    struct le_specialised *s = call->specialised;
    const struct le_stage *stage = action->stage;
    if (!le_stage_computes(stage))
        return LEAT_OK;
    action->launches = (struct le_launches){0};
    action->contract = NULL;
    action->operations = 0;
    depend_on_stage(s, g, action->generated);
    leat_status status = s->ir->values.at[stage->target].symbol < 0 ? hoisted_layout(call, stage) : LEAT_OK;
    if (status != LEAT_OK)
        return status;
    value_layout(s, stage->target);
    for (int k = 0; k < stage->pair_count; k++)
        value_layout(s, stage->pairs[k].target);
    find_storages(s, g, action);
    s->plan->asking = LE_ASKING_CODE;
    if (!le_siblings_fit(s, action->generated))
        action->generated = alone(g->arena, action->generated);
    status = plan_contraction(call, g, action);
    if (status == LEAT_OK && !action->contract)
        status = generate_code(call, g, action);
    s->plan->asking = LE_ASKING_RANGES;
    return status == LEAT_OK ? s->plan->space.failure : status;
}

static bool same_range(const struct le_range *a, const struct le_range *b) {
    return a->low == b->low && a->high == b->high && a->by == b->by && a->solved == b->solved &&
           a->dynamic == b->dynamic && a->bounded == b->bounded;
}

static leat_status find_ranges(struct leat_call *call, struct le_plan_step *g, const struct le_ir_statement *st) {
    struct le_plan *plan = call->specialised->plan;
    struct le_space *space = &plan->space;
    struct le_range *old = LE_NEW_ARRAY(g->arena, st->all_count, struct le_range);
    int64_t shape[LEAT_RANK_MAX];
    bool makes = st->symbol >= 0 && ((st->kind == LE_STEP_NEW && st->size_count) || (st->is_new && st->left_count));
    for (int k = 0; k < st->all_count; k++)
        old[k] = space->ranges[st->all[k]];
    if (makes) {
        memcpy(shape, space->shape[st->symbol], sizeof shape);
        space->shaped[st->symbol] = false;
    }
    leat_status status = le_ranges_find(space, st);
    if (status != LEAT_OK)
        return status;
    for (int k = 0; k < st->all_count; k++)
        if (!same_range(&old[k], &space->ranges[st->all[k]]))
            plan->range_changed[st->all[k]] = ++plan->time;
    if (makes && memcmp(shape, space->shape[st->symbol], sizeof shape) != 0)
        plan->shape_changed[st->symbol] = ++plan->time;
    depend_on_statement(call->specialised, g, st);
    return LEAT_OK;
}

static leat_status plan_now(struct leat_call *call, struct le_plan_step *g) {
    struct le_specialised *s = call->specialised;
    leat_status status = LEAT_OK;
    for (int k = 0; k < g->action_count; k++) {
        struct le_action *action = &s->plan->actions[g->first_action + k];
        action->generated = action->stage;
        action->name = action->stage->name;
        action->joined_to = NULL;
        action->is_unstored = false;
        action->writes_nothing = false;
    }
    for (int k = 0; k < g->statement_count && status == LEAT_OK; k++) {
        const struct le_ir_statement *st = &s->ir->statements.at[g->first_statement + k];
        status = st->unchecked ? LEAT_OK : find_ranges(call, g, st);
    }
    if (status == LEAT_OK)
        le_find_empty_ranges(s, g);
    for (int k = 0; k < g->action_count && status == LEAT_OK; k++)
        status = plan_action(call, g, &s->plan->actions[g->first_action + k]);
    return status;
}

void le_plan_stop(struct le_plan *plan) {
    plan->planning = NULL;
    plan->asking = LE_ASKING_RANGES;
}

leat_status le_plan_group(struct leat_call *call, struct le_plan_step *g) {
    struct le_plan *plan = call->specialised->plan;
    g->dependencies = (struct le_dependencies){0};
    memset(&g->used, 0, sizeof g->used);
    if (g->inside && g->arena == &plan->arena) {
        g->arena = LE_NEW(&plan->arena, struct le_arena);
        le_arena_init(g->arena);
    }
    for (int k = 0; k < g->action_count; k++) {
        struct le_action *action = &plan->actions[g->first_action + k];
        le_device_work_finish(action);
        action->storages = NULL;
    }
    if (g->inside) {
        le_arena_finish(g->arena);
        if (setjmp(g->arena->failure)) {
            le_plan_stop(plan);
            return le_fail_out_of_memory(0);
        }
    }
    plan->space.arena = g->arena;
    plan->space.failure = LEAT_OK;
    plan->space.must = false;
    plan->space.inside = g->inside;
    plan->planning = g->inside ? g : NULL;
    leat_status status = plan_now(call, g);
    plan->planning = NULL;
    if (status == LEAT_OK)
        g->dependencies.made = g->dependencies.checked = ++plan->time;
    return status;
}

leat_status le_ensure_group_planned(struct leat_call *call, struct le_plan_step *g) {
    leat_status status = LEAT_OK;
    if (le_dependencies_hold(&g->dependencies, call->specialised->plan) &&
        le_planned_numbers_are_same(call, g, &status))
        return LEAT_OK;
    if (status != LEAT_OK)
        return status;
    struct le_span span;
    le_span_begin(&span, call->program->ctx->ledger, LEAT_COST_PLAN, call->program->name,
                  g->dependencies.made ? "new shapes or numbers" : "first run");
    status = le_plan_group(call, g);
    le_span_end(&span, 0, 0);
    return status;
}
