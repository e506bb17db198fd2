/* fuse-reductions: reductions of whole arrays that read the same array become siblings, which one kernel computes in
 * one loop over the array's elements. They all use the indices of the first one, the leader. These have the same
 * ranges, because they are bare subscripts of the same array. */
#include "ir/ir.h"

#define SIBLINGS_MAX 8

static bool is_whole_reduction(const struct le_stage *s) {
    return !s->dead && s->kind == LE_STAGE_MAP && s->index_count == 0 && s->left_count == 0 &&
           s->node->kind == LE_NODE_REDUCE && !s->node->operands[0]->reduces && s->node->code != LE_RED_ARGMIN &&
           s->node->code != LE_RED_ARGMAX;
}

/* The position of each subscript's index among the reduction's indices. Returns false unless all subscripts are bare
 * and every index occurs. */
static bool subscript_positions(const struct le_node *reduction, const struct le_node *load, int out[LEAT_RANK_MAX]) {
    unsigned found = 0;
    if (!load->trusted || load->operand_count == 0 || load->stretch > 0 || reduction->index_count > LEAT_RANK_MAX)
        return false;
    for (int d = 0; d < load->operand_count; d++) {
        int k = 0;
        while (k < reduction->index_count && reduction->indices[k] != load->operands[d]->index)
            k++;
        if (k == reduction->index_count)
            return false;
        out[d] = k;
        found |= 1u << k;
    }
    return found == (1u << reduction->index_count) - 1;
}

struct shared {
    struct le_ir *ir;
    const struct le_node *a, *b; /* reductions */
    const struct le_node *of_a;  /* a load in a; b is searched for an equal one */
    int positions[LEAT_RANK_MAX];
    bool found;
};

static void find_in_b(struct le_node *node, void *user) {
    struct shared *s = user;
    int there[LEAT_RANK_MAX];
    if (s->found || node->kind != LE_NODE_LOAD || node->value != s->of_a->value ||
        !subscript_positions(s->b, node, there))
        return;
    bool same = true;
    for (int d = 0; d < node->operand_count; d++)
        same &= there[d] == s->positions[d];
    s->found = same;
}

struct loads {
    const struct le_node *at[SIBLINGS_MAX];
    int count;
};

static void list_load(struct le_node *node, void *user) {
    struct loads *l = user;
    if (node->kind == LE_NODE_LOAD && node->operand_count > 0 && l->count < SIBLINGS_MAX)
        l->at[l->count++] = node;
}

static bool share_a_load(struct le_ir *ir, struct le_node *a, struct le_node *b) {
    struct shared s = {.ir = ir, .a = a, .b = b};
    struct loads loads = {.count = 0};
    if (a->index_count != b->index_count)
        return false;
    le_node_walk(ir, a->operands[0], list_load, &loads);
    for (int k = 0; k < loads.count && !s.found; k++) {
        s.of_a = loads.at[k];
        if (subscript_positions(a, s.of_a, s.positions))
            le_node_walk(ir, b->operands[0], find_in_b, &s);
    }
    return s.found;
}

struct latest {
    const struct le_ir *ir;
    int stage;
};

static void find_latest(struct le_node *node, void *user) {
    struct latest *l = user;
    if (node->kind == LE_NODE_LOAD && l->ir->values.at[node->value].stage > l->stage)
        l->stage = l->ir->values.at[node->value].stage;
}

/* Whether everything that the stage reads is computed before `leader` runs. */
static bool is_ready(struct le_ir *ir, const struct le_stage *stage, int leader) {
    struct latest l = {.ir = ir, .stage = -1};
    le_node_walk(ir, stage->node, find_latest, &l);
    return l.stage < leader;
}

struct counting {
    struct le_ir *ir;
    const struct le_node *old, *first; /* reductions */
};

static struct le_node *count_first(struct le_node *node, void *user) {
    const struct counting *c = user;
    if (node->kind != LE_NODE_COUNT || !le_node_same_indices(node, c->old))
        return NULL;
    struct le_node copy = *node;
    copy.indices = c->first->indices;
    return le_node_make(c->ir, &copy);
}

/* Where a number that is made of the total, as a mean is, also counts the old reduction's terms, it now counts the
 * leader's, which are as many: when the leader's kernel is made, the ranges of the number's own indices are not known
 * yet. `hoist` puts the number behind its total. */
static void count_as_leader(struct le_ir *ir, int stage, const struct le_node *old, const struct le_node *first) {
    struct counting c = {ir, old, first};
    struct le_stage *next = stage + 1 < ir->stages.count ? &ir->stages.at[stage + 1] : NULL;
    if (next && ir->for_device && next->kind == LE_STAGE_MAP && next->statement == ir->stages.at[stage].statement)
        next->node = le_node_replace(ir, next->node, count_first, &c);
}

static void join_reduction(struct le_ir *ir, int leader, int last, int stage) {
    struct le_stage *s = &ir->stages.at[stage];
    const struct le_node *first = ir->stages.at[leader].node, *old = s->node;
    struct le_node *to[LEAT_RANK_MAX];
    for (int k = 0; k < old->index_count; k++)
        to[k] = le_node_index(ir, first->indices[k]);
    int indices = ir->indices.count;
    struct le_node *body = le_node_substitute(ir, old->operands[0], old->indices, to, old->index_count);
    s->node = le_node_reduce(ir, (enum le_reduction)old->code, old->type, body, first->indices, first->index_count);
    le_ir_adopt_indices(ir, ir->stages.at[leader].statement, indices);
    count_as_leader(ir, stage, old, first);
    s->leader = leader;
    ir->stages.at[last].sibling = stage;
}

void le_pass_fuse_reductions(struct le_ir *ir) {
    int leader = -1, last = -1, count = 0;
    for (int k = 0; k < ir->stages.count; k++) {
        struct le_stage *s = &ir->stages.at[k];
        if (s->kind >= LE_STAGE_MOVE)
            leader = -1; /* a block begins or ends, or values change */
        if (!is_whole_reduction(s))
            continue;
        if (leader >= 0 && count < SIBLINGS_MAX && is_ready(ir, s, leader) &&
            share_a_load(ir, ir->stages.at[leader].node, s->node)) {
            join_reduction(ir, leader, last, k);
            count++;
        } else {
            leader = k;
            count = 1;
        }
        last = k;
    }
}
