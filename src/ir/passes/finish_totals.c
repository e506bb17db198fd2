/* finish-totals: a device computes a number that needs one total, such as a mean or a norm, in the total's kernel. They
 * are two stages after `hoist`, because a CPU's threads share only a total by itself; on a device each kernel costs
 * about 2 us. The number takes the total's place among siblings. Of a number that needs several totals, only the first
 * can be finished so. */
#include "ir/ir.h"

static bool is_number(const struct le_stage *s) {
    return !s->dead && s->kind == LE_STAGE_MAP && s->index_count == 0 && s->left_count == 0 && !s->guarded;
}

static bool is_own_total(const struct le_ir *ir, const struct le_stage *s) {
    const struct le_value *v = &ir->values.at[s->target];
    return is_number(s) && s->node->kind == LE_NODE_REDUCE && !s->node->changes && v->symbol < 0 && v->uses == 1 &&
           !v->wanted && !v->moved;
}

struct search {
    struct le_ir *ir;
    int first;            /* stage: what is computed before it stays as it is */
    struct le_node *load; /* of the total */
    int latest;           /* stage that makes one of the other operands */
    bool is_plain;
    const struct le_node *count; /* a number of terms */
    bool has_others;             /* other such numbers, or extents of arrays */
};

static void look_at(struct le_node *node, void *user) {
    struct search *s = user;
    int maker = node->kind == LE_NODE_LOAD ? s->ir->values.at[node->value].stage : -1;
    s->is_plain &= !le_node_chooses(node) && node->kind != LE_NODE_REGION;
    s->has_others |= node->kind == LE_NODE_LEN || (node->kind == LE_NODE_COUNT && s->count);
    s->count = node->kind == LE_NODE_COUNT ? node : s->count;
    if (!s->load && maker >= s->first && is_own_total(s->ir, &s->ir->stages.at[maker]))
        s->load = node;
    else if (maker > s->latest)
        s->latest = maker;
}

static struct le_node *take_total(struct le_node *node, void *user) {
    const struct search *s = user;
    return node == s->load ? s->ir->stages.at[s->ir->values.at[node->value].stage].node : NULL;
}

/* A sibling is computed when its leader is, before its own statement: what it uses must be known then. */
static bool is_known(const struct search *s, const struct le_stage *total) {
    return s->latest < total->leader && !s->has_others && (!s->count || le_node_same_indices(s->count, total->node));
}

static bool can_finish(const struct search *s, int number, int total) {
    const struct le_stage *t = &s->ir->stages.at[total];
    if (!s->is_plain || t->statement != s->ir->stages.at[number].statement)
        return false;
    return t->leader >= 0 ? is_known(s, t) : t->sibling < 0 || number < t->sibling;
}

static void replace_sibling(struct le_ir *ir, int number, int total) {
    struct le_stage *s = &ir->stages.at[number], *t = &ir->stages.at[total];
    s->leader = t->leader;
    s->sibling = t->sibling;
    for (int k = t->leader; k >= 0 && k != number; k = ir->stages.at[k].sibling)
        if (ir->stages.at[k].sibling == total)
            ir->stages.at[k].sibling = number;
    for (int k = t->sibling; k >= 0 && t->leader < 0; k = ir->stages.at[k].sibling)
        ir->stages.at[k].leader = number;
    t->leader = t->sibling = -1;
    t->dead = true;
}

void le_pass_finish_totals(struct le_ir *ir) {
    int first = 0;
    for (int k = 0; k < ir->stages.count && ir->for_device; k++) {
        struct le_stage *stage = &ir->stages.at[k];
        if (stage->kind >= LE_STAGE_MOVE)
            first = k + 1; /* a block begins or ends, or values change */
        if (!is_number(stage) || stage->node->reduces)
            continue;
        struct search s = {.ir = ir, .first = first, .latest = -1, .is_plain = true};
        le_node_walk(ir, stage->node, look_at, &s);
        int total = s.load ? ir->values.at[s.load->value].stage : -1;
        if (total < 0 || !can_finish(&s, k, total))
            continue;
        struct le_node *made = le_node_replace(ir, stage->node, take_total, &s);
        if (made == stage->node) /* it is read in the bounds of a loop */
            continue;
        stage->node = made;
        replace_sibling(ir, k, total);
    }
}
