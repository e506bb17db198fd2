/* Numbers that the host needs: bounds and conditions of its loops, and what the range rules ask for. The code of each
 * node is made once and kept, until something that it hangs on has changed. */
#include "run/device_run.h"
#include <string.h>

/* ---- code */

static leat_status make_number(struct leat_call *call, struct le_number *n) {
    struct le_specialised *s = call->specialised;
    n->hold = (struct le_hold){0};
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
                               .merged_into = s->merged_into,
                               .merged_count = s->merged_count};
    le_hold_on(&n->hold, &n->arena, s, n->node);
    s->plan->asking = LE_ASKING_NUMBER;
    leat_status status = le_kernel_scalar(&kernel, n->node, n->stored, &n->launch);
    s->plan->asking = asking;
    if (status == LEAT_OK)
        status = le_cpu_prepare(&n->arena, n->launch.unit, call->program->ctx->simd, &n->code);
    if (status == LEAT_OK)
        n->hold.made = ++s->plan->time;
    if (n->code.scratch_bytes > s->plan->scratch_bytes)
        s->plan->scratch_bytes = n->code.scratch_bytes;
    return status;
}

static struct le_number *find_number(struct le_plan *plan, struct le_node *node, enum le_type stored) {
    struct le_number **place = &plan->numbers[node->id % LE_NUMBER_TABLE];
    struct le_number *n = *place;
    while (n && (n->node != node || n->stored != stored))
        n = n->next;
    if (n)
        return n;
    n = LE_NEW(&plan->arena, struct le_number);
    *n = (struct le_number){.next = *place, .node = node, .stored = stored};
    *place = n;
    return n;
}

/* What is there already. */
static bool lies_ready(const struct le_specialised *s, const struct le_node *node, enum le_type stored,
                       uint64_t *bits) {
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

static leat_status work_out(struct leat_call *call, struct le_node *node, enum le_type stored, uint64_t *bits) {
    struct le_specialised *s = call->specialised;
    if (lies_ready(s, node, stored, bits))
        return LEAT_OK;
    struct le_number *n = find_number(s->plan, node, stored);
    leat_status status = le_hold_is_good(&n->hold, s->plan) ? LEAT_OK : make_number(call, n);
    return status == LEAT_OK ? le_perform_scalar(call, &n->launch, &n->code, bits) : status;
}

leat_status le_number(struct leat_call *call, struct le_node *node, enum le_type stored, uint64_t *bits) {
    int mark;
    if (!call->device)
        return work_out(call, node, stored, bits);
    leat_status status = le_device_bring(call, node, &mark);
    if (status == LEAT_OK)
        status = work_out(call, node, stored, bits);
    le_device_leave(call, mark);
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

/* The plan then holds for this number alone. */
static void key_number(struct le_node *node, void *user) {
    struct le_specialised *s = user;
    if (node->kind == LE_NODE_LOAD && s->ir->values.at[node->value].stage < 0 && node->operand_count == 0)
        s->plan->keyed[s->ir->values.at[node->value].symbol] = true;
}

static void add_used(struct le_group *g, struct le_used used) {
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
        add_used(s->plan->planning, (struct le_used){.value = value, .bits = s->cells[value].scalar});
}

static leat_status bring_about(struct leat_call *call, struct le_node *node, struct needed *n) {
    struct le_specialised *s = call->specialised;
    struct le_plan *plan = s->plan;
    le_node_walk(s->ir, node, find_needed, n);
    if (plan->planning)
        return LEAT_OK; /* all that it may read has been computed */
    plan->once |= n->from_data;
    le_node_walk(s->ir, node, key_number, s);
    if (!n->pending)
        return LEAT_OK;
    leat_status status = le_perform(call, plan->groups[plan->planned].first_action);
    plan->space.arena = plan->groups[plan->planned].arena; /* groups in blocks have their own */
    return status;
}

/* Code in blocks stays good while numbers change: it computes all but those that the ranges hang on anyway. What the
 * group that is planned makes itself, a reduction in a subscript, nobody knows before it has run. */
struct known {
    const struct le_specialised *s;
    const struct le_group *group; /* that is planned; NULL: none */
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
    const struct le_group *g = k->s->plan->planning;
    bool found = k->s->plan->asking == LE_ASKING_CODE && k->s->ir->values.at[node->value].stage < 0;
    for (int q = 0; g && q < g->used.count && !found; q++)
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
    struct needed n = {.s = s};
    uint64_t bits = 0;
    if (is_refused(s, node))
        return LEAT_UNSUPPORTED;
    leat_status status = bring_about(call, node, &n);
    if (status == LEAT_OK)
        status = le_number(call, node, LE_I64, &bits);
    if (status != LEAT_OK)
        s->plan->space.failure = status;
    else if (s->plan->planning && n.from_array)
        add_used(s->plan->planning, (struct le_used){.node = node, .value = -1, .bits = bits});
    else if (s->plan->planning)
        le_node_walk(s->ir, node, use_scalar, s);
    memcpy(value, &bits, sizeof bits);
    return status;
}

bool le_used_are_same(struct leat_call *call, const struct le_group *group, leat_status *status) {
    const struct le_specialised *s = call->specialised;
    for (int k = 0; k < group->used.count; k++) {
        const struct le_used *u = &group->used.at[k];
        if (!u->node && call->device)
            *status = le_device_fetch(call, u->value);
        uint64_t bits = u->node ? 0 : s->cells[u->value].scalar;
        if (u->node)
            *status = le_number(call, u->node, LE_I64, &bits);
        if (*status != LEAT_OK || bits != u->bits)
            return false;
    }
    return true;
}
