/* Regions as parts of nodes: equality, cost, and the variables that they read but do not set. print_region.c prints
 * them, tests/ir/reader reads them back, and the verifier checks them. */
#include "ir/region.h"
#include "base/hash.h"

#define TURNS 16 /* estimated iterations of a loop */

uint64_t le_region_hash(const struct le_region *region, uint64_t seed) {
    for (int k = 0; k < region->step_count; k++) {
        const struct le_region_step *s = &region->steps[k];
        int fields[] = {
            (int)s->kind,    s->local, s->value,   s->first_subscript, s->subscript_count, s->target, s->index,
            (int)s->scatter, s->own,   s->partner, s->location.line,   s->location.column, s->second};
        seed = le_hash(fields, sizeof fields, seed);
    }
    return seed;
}

bool le_region_equal(const struct le_region *a, const struct le_region *b) {
    if (a == b)
        return true;
    if (a->step_count != b->step_count)
        return false;
    for (int k = 0; k < a->step_count; k++) {
        const struct le_region_step *x = &a->steps[k], *y = &b->steps[k];
        if (x->kind != y->kind || x->local != y->local || x->value != y->value || x->second != y->second ||
            x->first_subscript != y->first_subscript || x->subscript_count != y->subscript_count ||
            x->target != y->target || x->index != y->index || x->scatter != y->scatter || x->own != y->own ||
            x->partner != y->partner || x->location.line != y->location.line ||
            x->location.column != y->location.column)
            return false;
    }
    return true;
}

bool le_region_has_value(enum le_region_kind kind) {
    return kind == LE_REGION_SET || kind == LE_REGION_STORE || kind == LE_REGION_WHILE || kind == LE_REGION_IF ||
           kind == LE_REGION_RETURN;
}

bool le_region_is_loop(enum le_region_kind kind) {
    return kind == LE_REGION_FOR || kind == LE_REGION_WHILE;
}

int64_t le_region_cost(const struct le_node *node) {
    int64_t cost = 0, most = (int64_t)1 << 40, weight = 1;
    for (int k = 0; k < node->region->step_count; k++) {
        const struct le_region_step *s = &node->region->steps[k];
        bool loops = le_region_is_loop(s->kind);
        enum le_region_kind ends = s->kind == LE_REGION_END ? node->region->steps[s->partner].kind : LE_REGION_END;
        if (le_region_is_loop(ends))
            weight /= TURNS;
        if (loops && weight <= most)
            weight *= TURNS;
        int64_t own = 1 + (le_region_has_value(s->kind) ? node->operands[s->value]->cost : 0);
        own += s->second ? node->operands[s->second]->cost : 0;
        for (int d = 0; s->kind == LE_REGION_STORE && d < s->subscript_count; d++)
            own += node->operands[s->first_subscript + d]->cost;
        if (own > most / weight || cost + own * weight > most)
            return most;
        cost += own * weight;
    }
    return cost;
}

bool le_region_fails(const struct le_node *node) {
    return node->kind == LE_NODE_REGION && node->region->step_count > 0 &&
           node->region->steps[node->region->step_count - 1].kind == LE_REGION_FAIL;
}

bool le_region_has_while(const struct le_node *node) {
    for (int k = 0; node->kind == LE_NODE_REGION && k < node->region->step_count; k++)
        if (node->region->steps[k].kind == LE_REGION_WHILE)
            return true;
    return false;
}

bool le_region_gives_two(const struct le_node *node) {
    for (int k = 0; k < node->region->step_count; k++)
        if (node->region->steps[k].kind == LE_REGION_RETURN && !node->region->steps[k].second)
            return false;
    return true;
}

/* ---- variables that a node reads but does not set */

struct free_search {
    const struct le_ir *ir;
    bool loads; /* live loads count, too */
    int epoch;
};

static void enter_region(const struct free_search *l, const struct le_region *region, int by) {
    for (int k = 0; k < region->step_count; k++)
        if (region->steps[k].kind == LE_REGION_SET)
            l->ir->marks->inside[region->steps[k].local] += by;
}

static bool is_open(const struct free_search *l, struct le_node *node) {
    if (!node || !node->changes || le_walk_met(l->ir, node, l->epoch))
        return false;
    if (node->kind == LE_NODE_LOCAL)
        return l->ir->marks->inside[node->local] == 0;
    if (node->live && l->loads)
        return true;
    if (node->kind == LE_NODE_REGION)
        enter_region(l, node->region, 1);
    bool found = is_open(l, node->fill);
    for (int k = 0; k < node->operand_count && !found; k++)
        found = is_open(l, node->operands[k]);
    for (int k = 0; k < node->index_count && !found; k++) {
        const struct le_range_nodes *r = &l->ir->indices.at[node->indices[k]].range;
        found = is_open(l, r->low) || is_open(l, r->high) || is_open(l, r->by);
    }
    if (node->kind == LE_NODE_REGION)
        enter_region(l, node->region, -1);
    return found;
}

static bool find_open(struct free_search *l, struct le_node *node) {
    struct le_node_marks *marks = l->ir->marks;
    if (marks->inside_count < l->ir->locals.count) {
        marks->inside_count = 2 * l->ir->locals.count;
        marks->inside = LE_NEW_ARRAY(marks->arena, marks->inside_count, int); /* zeros */
    }
    l->epoch = le_walk_begin(l->ir);
    return is_open(l, node);
}

bool le_node_has_free_local(const struct le_ir *ir, struct le_node *node) {
    return find_open(&(struct free_search){.ir = ir}, node);
}

bool le_node_changes(const struct le_ir *ir, struct le_node *node) {
    node->changes = true; /* is_open skips nodes without it */
    return find_open(&(struct free_search){.ir = ir, .loads = true}, node);
}

bool le_stage_in_any_order(const struct le_stage *stage) {
    if (stage->kind != LE_STAGE_EACH)
        return stage->kind != LE_STAGE_SCATTER;
    for (int k = 0; k < stage->node->region->step_count; k++)
        if (stage->node->region->steps[k].kind == LE_REGION_STORE && !stage->node->region->steps[k].own)
            return false;
    return true;
}
