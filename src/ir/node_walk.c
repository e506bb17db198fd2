/* Walks over nodes, what walks remember of them by their numbers, and replacing. */
#include "ir/ir.h"
#include <string.h>

#define COUNT_MIN 64

void le_node_marks_reserve(struct le_node_marks *marks, int count) {
    int larger = marks->count ? marks->count : COUNT_MIN;
    if (count <= marks->count)
        return;
    while (larger < count)
        larger *= 2;
    struct le_node_mark *at = LE_NEW_ARRAY(marks->arena, larger, struct le_node_mark); /* zeros */
    if (marks->count)
        memcpy(at, marks->at, (size_t)marks->count * sizeof *at);
    marks->at = at;
    marks->count = larger;
}

static void walk_node(const struct le_ir *ir, struct le_node *node, int epoch, void (*visit)(struct le_node *, void *),
                      void *user) {
    if (le_walk_met(ir, node, epoch))
        return;
    for (int k = 0; k < node->operand_count; k++)
        walk_node(ir, node->operands[k], epoch, visit, user);
    if (node->fill)
        walk_node(ir, node->fill, epoch, visit, user);
    for (int k = 0; k < node->index_count; k++) {
        const struct le_range_nodes *range = &ir->indices.at[node->indices[k]].range;
        struct le_node *bounds[] = {range->by, range->high, range->low};
        for (size_t b = 0; b < ARRAY_LEN(bounds); b++)
            if (bounds[b])
                walk_node(ir, bounds[b], epoch, visit, user);
    }
    visit(node, user);
}

void le_node_walk(const struct le_ir *ir, struct le_node *root, void (*visit)(struct le_node *node, void *user),
                  void *user) {
    walk_node(ir, root, le_walk_begin(ir), visit, user);
}

struct makers {
    const struct le_ir *ir;
    struct {
        struct le_stage **at;
        int count, capacity;
    } found;
};

static void find_maker(struct le_node *node, void *user) {
    struct makers *m = user;
    int stage = node->kind == LE_NODE_LOAD ? m->ir->values.at[node->value].stage : -1;
    if (stage < 0 || !m->ir->stages.at[stage].guarded)
        return;
    for (int k = 0; k < m->found.count; k++)
        if (m->found.at[k] == &m->ir->stages.at[stage])
            return;
    *LE_PUSH(m->ir->arena, &m->found) = &m->ir->stages.at[stage];
}

void le_node_walk_through(const struct le_ir *ir, struct le_node *node, void (*visit)(struct le_node *node, void *user),
                          void *user) {
    struct makers m = {.ir = ir};
    le_node_walk(ir, node, visit, user);
    le_node_walk(ir, node, find_maker, &m);
    for (int k = 0; k < m.found.count; k++) {
        le_node_walk(ir, m.found.at[k]->node, visit, user);
        le_node_walk(ir, m.found.at[k]->node, find_maker, &m);
    }
}

struct replacing {
    struct le_ir *ir;
    int epoch;
    struct le_node *(*choose)(struct le_node *node, void *user);
    void *user;
};

static struct le_node *replace_node(const struct replacing *r, struct le_node *node) {
    struct le_node *known = le_walk_memo(r->ir, node, r->epoch), *few[8];
    if (known)
        return known;
    struct le_node *made = r->choose(node, r->user);
    if (!made) {
        struct le_node copy = *node;
        copy.operands = few; /* it is copied if it is new */
        if (node->operand_count > (int)ARRAY_LEN(few))
            copy.operands = LE_NEW_ARRAY(r->ir->arena, node->operand_count, struct le_node *);
        for (int k = 0; k < node->operand_count; k++)
            copy.operands[k] = replace_node(r, node->operands[k]);
        made = node->operand_count > 0 ? le_node_make(r->ir, &copy) : node;
    }
    return le_walk_remember(r->ir, node, r->epoch, made);
}

struct le_node *le_node_replace(struct le_ir *ir, struct le_node *node,
                                struct le_node *(*choose)(struct le_node *node, void *user), void *user) {
    const struct replacing r = {.ir = ir, .epoch = le_walk_begin(ir), .choose = choose, .user = user};
    return replace_node(&r, node);
}

static void find_total(struct le_node *node, void *user) {
    struct le_node **found = user;
    *found = node->kind == LE_NODE_REDUCE ? node : *found;
}

struct le_node *le_node_total(const struct le_ir *ir, struct le_node *node) {
    struct le_node *found = NULL;
    le_node_walk(ir, node, find_total, &found);
    return found;
}
