/* Host scalars: bounds and conditions of the host's loops, and the numbers that the range rules need. The code of each
 * node is generated once and kept until something that it depends on changes.
 *
 * The range rules ask for numbers before anything runs, also for those under a condition or in an empty range. The
 * evaluation of such a number may read out of range. That is not an error here: the access is checked, and the range
 * found, when the statement runs. */
#include "run/device/device_run.h"
#include <string.h>

/* ---- code */

static leat_status make_scalar_code(struct leat_call *call, struct le_host_scalar *n) {
    struct le_specialised *s = call->specialised;
    n->dependencies = (struct le_dependencies){0};
    le_arena_finish(&n->arena);
    const enum le_asking asking = s->plan->asking;
    if (setjmp(n->arena.failure)) {
        s->plan->asking = asking;
        return le_fail_out_of_memory(0);
    }
    struct le_kernel kernel = {.ir = s->ir,
                               .space = &s->plan->space,
                               .layouts = s->plan->layouts,
                               .threads = 1,
                               .arena = &n->arena,
                               .work = &s->generating};
    le_dependencies_add(&n->dependencies, &n->arena, s, n->node);
    s->plan->asking = LE_ASKING_NUMBER;
    leat_status status = le_kernel_scalar(&kernel, n->node, n->stored, &n->launch);
    s->plan->asking = asking;
    if (status == LEAT_OK)
        status = le_cpu_prepare(&n->arena, n->launch.unit, call->program->ctx->simd, &n->code);
    if (status == LEAT_OK)
        n->dependencies.made = ++s->plan->time;
    if (n->code.scratch_bytes > s->plan->scratch_bytes)
        s->plan->scratch_bytes = n->code.scratch_bytes;
    return status;
}

static struct le_host_scalar *find_scalar(struct le_plan *plan, struct le_node *node, enum le_type stored) {
    struct le_host_scalar **place = &plan->host_scalars[node->id % LE_HOST_SCALAR_TABLE];
    struct le_host_scalar *n = *place;
    while (n && (n->node != node || n->stored != stored))
        n = n->next;
    if (n)
        return n;
    n = LE_NEW(&plan->arena, struct le_host_scalar);
    *n = (struct le_host_scalar){.next = *place, .node = node, .stored = stored};
    *place = n;
    return n;
}

/* Whether the number is known without running code. */
static bool is_known(const struct le_specialised *s, const struct le_node *node, enum le_type stored, uint64_t *bits) {
    if (node->type != stored)
        return false;
    switch (node->kind) {
    case LE_NODE_CONST:
        *bits = node->bits;
        return true;
    case LE_NODE_INDEX:
        *bits = s->cells[s->ir->indices.at[node->index].host_value].scalar;
        return true;
    case LE_NODE_LOAD:
        *bits = s->cells[node->value].scalar;
        return node->operand_count == 0 && s->ir->values.at[node->value].type == stored &&
               (stored != LE_BOOL || s->ir->values.at[node->value].stage >= 0);
    default:
        return false;
    }
}

static leat_status run_scalar(struct leat_call *call, struct le_node *node, enum le_type stored, uint64_t *bits,
                              bool *failed) {
    struct le_specialised *s = call->specialised;
    if (is_known(s, node, stored, bits))
        return LEAT_OK;
    struct le_host_scalar *n = find_scalar(s->plan, node, stored);
    leat_status status = le_dependencies_hold(&n->dependencies, s->plan) ? LEAT_OK : make_scalar_code(call, n);
    return status == LEAT_OK ? le_perform_scalar(call, &n->launch, &n->code, bits, failed) : status;
}

/* failed: NULL, or set to true, instead of an error, if the evaluation reads out of range. */
static leat_status compute_number(struct leat_call *call, struct le_node *node, enum le_type stored, uint64_t *bits,
                                  bool *failed) {
    int mark;
    if (!call->device)
        return run_scalar(call, node, stored, bits, failed);
    leat_status status = le_device_fetch_operands(call, node, &mark);
    if (status == LEAT_OK)
        status = run_scalar(call, node, stored, bits, failed);
    le_device_release_mirrors(call, mark);
    return status;
}

leat_status le_host_scalar_get(struct leat_call *call, struct le_node *node, enum le_type stored, uint64_t *bits) {
    return compute_number(call, node, stored, bits, NULL);
}

leat_status le_host_scalar_try(struct leat_call *call, struct le_node *node, uint64_t *bits, bool *found) {
    bool failed = false;
    leat_status status = compute_number(call, node, LE_I64, bits, &failed);
    *found = status == LEAT_OK && !failed;
    return status;
}

/* ---- numbers that planning uses */

struct needed {
    struct le_specialised *s;
    bool pending, from_data, from_array;
};

static void find_needed(struct le_node *node, void *user) {
    struct needed *n = user;
    if (node->kind != LE_NODE_LOAD)
        return;
    const struct le_value *v = &n->s->ir->values.at[node->value];
    n->from_array |= v->rank > 0;
    n->from_data |= v->rank > 0 || v->stage >= 0;
    n->pending |= v->stage >= 0 && (v->moved || !n->s->cells[v->id].ready);
}

/* Makes the bound numbers that the node reads part of the plan's key. */
static void key_number(struct le_node *node, void *user) {
    struct le_specialised *s = user;
    if (node->kind == LE_NODE_LOAD && s->ir->values.at[node->value].stage < 0 && node->operand_count == 0)
        s->plan->is_key[s->ir->values.at[node->value].symbol] = true;
}

static void add_used(struct le_plan_step *g, struct le_planned_number used) {
    for (int k = 0; k < g->used.count; k++)
        if (g->used.at[k].node == used.node && g->used.at[k].value == used.value)
            return;
    *LE_PUSH(g->arena, &g->used) = used;
}

static void use_scalar(struct le_node *node, void *user) {
    struct le_specialised *s = user;
    int value = -1;
    if (node->kind == LE_NODE_LOAD && node->operand_count == 0)
        value = node->value;
    if (node->kind == LE_NODE_INDEX && s->ir->indices.at[node->index].host)
        value = s->ir->indices.at[node->index].host_value;
    if (value >= 0)
        add_used(s->plan->planning, (struct le_planned_number){.value = value, .bits = s->cells[value].scalar});
}

static leat_status make_available(struct leat_call *call, struct le_node *node, struct needed *n) {
    struct le_specialised *s = call->specialised;
    struct le_plan *plan = s->plan;
    le_node_walk(s->ir, node, find_needed, n);
    if (plan->planning)
        return LEAT_OK; /* everything that it may read has been computed */
    plan->single_use |= n->from_data;
    le_node_walk(s->ir, node, key_number, s);
    if (!n->pending)
        return LEAT_OK;
    /* Groups in blocks are planned as they run, which uses the same state. */
    const enum le_asking asking = plan->asking;
    const bool must = plan->space.must, inside = plan->space.inside;
    plan->asking = LE_ASKING_RANGES;
    leat_status status = le_perform(call, plan->groups[plan->planned].first_action);
    plan->space.arena = plan->groups[plan->planned].arena;
    plan->asking = asking;
    plan->space.must = must;
    plan->space.inside = inside;
    return status;
}

/* A kernel in a block stays valid while numbers change, because it computes them. It takes as constants only inputs and
 * the numbers that its group was planned with, and it is made again when one of those changes. The code of a host
 * scalar outlives the group's plan, so it takes none. What the group computes itself, such as a reduction in a
 * subscript, is not known before it has run. */
struct known {
    const struct le_specialised *s;
    const struct le_plan_step *group; /* the group being planned; NULL: none */
    bool asks, known;
};

static void find_unknown(struct le_node *node, void *user) {
    struct known *k = user;
    if (node->kind != LE_NODE_LOAD)
        return;
    if (k->group && k->s->plan->maker[node->value] >= k->group->first_action)
        k->known = false;
    if (!k->asks)
        return;
    const struct le_plan_step *g = k->s->plan->planning;
    bool for_code = k->s->plan->asking == LE_ASKING_CODE;
    bool found = for_code && k->s->ir->values.at[node->value].stage < 0;
    for (int q = 0; g && for_code && q < g->used.count && !found; q++)
        found = g->used.at[q].node == node || g->used.at[q].value == node->value;
    k->known &= found;
}

static bool is_refused(const struct le_specialised *s, struct le_node *node) {
    const struct le_plan *plan = s->plan;
    struct known k = {.s = s, .group = plan->planning, .known = true};
    k.asks = plan->asking == LE_ASKING_NUMBER || (plan->asking == LE_ASKING_CODE && plan->planning);
    if (!k.group && plan->planned < plan->group_count)
        k.group = &plan->groups[plan->planned];
    le_node_walk(s->ir, node, find_unknown, &k);
    return !k.known;
}

leat_status le_evaluate(void *user, struct le_node *node, int64_t *value) {
    struct leat_call *call = user;
    struct le_specialised *s = call->specialised;
    struct le_space *space = &s->plan->space;
    node = le_node_adopt(s->ir, node);
    struct needed n = {.s = s};
    uint64_t bits = 0;
    bool failed = false;
    if (space->failure != LEAT_OK) /* do not run a failed action again */
        return space->failure;
    if (is_refused(s, node))
        return LEAT_UNSUPPORTED;
    leat_status status = make_available(call, node, &n);
    if (status == LEAT_OK)
        status = compute_number(call, node, LE_I64, &bits, space->must ? NULL : &failed);
    space->outside |= failed;
    if (status != LEAT_OK)
        space->failure = status;
    else if (s->plan->planning && n.from_array && !failed)
        add_used(s->plan->planning, (struct le_planned_number){.node = node, .value = -1, .bits = bits});
    else if (s->plan->planning && !n.from_array)
        le_node_walk(s->ir, node, use_scalar, s);
    memcpy(value, &bits, sizeof bits);
    return failed ? LEAT_DATA : status;
}

struct at_hand {
    const struct le_specialised *s;
    bool all;
};

static void find_missing(struct le_node *node, void *user) {
    struct at_hand *h = user;
    if (node->kind == LE_NODE_LOAD)
        h->all &= node->operand_count == 0 && !h->s->cells[node->value].on_device.address;
}

leat_status le_evaluate_on_host(void *user, struct le_node *node, int64_t *value) {
    struct leat_call *call = user;
    struct at_hand h = {.s = call->specialised, .all = true};
    uint64_t bits = 0;
    node = le_node_adopt(call->specialised->ir, node);
    le_node_walk(h.s->ir, node, find_missing, &h);
    leat_status status = h.all ? le_host_scalar_get(call, node, LE_I64, &bits) : LEAT_UNSUPPORTED;
    memcpy(value, &bits, sizeof bits);
    return status;
}

static bool is_same(struct leat_call *call, const struct le_planned_number *u, leat_status *status) {
    uint64_t bits = 0;
    bool found = true;
    if (u->node) {
        *status = le_host_scalar_try(call, u->node, &bits, &found);
    } else {
        *status = call->device ? le_device_fetch(call, u->value) : LEAT_OK;
        bits = call->specialised->cells[u->value].scalar;
    }
    return *status == LEAT_OK && found && bits == u->bits;
}

bool le_planned_numbers_are_same(struct leat_call *call, const struct le_plan_step *group, leat_status *status) {
    for (int k = 0; k < group->used.count; k++)
        if (!is_same(call, &group->used.at[k], status))
            return false;
    return true;
}
