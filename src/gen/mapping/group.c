/* Finds the reductions of a stage that a team can compute: those over fixed ranges, or over one index whose bounds
 * depend on the point, that every point needs, whatever the values. All others are computed by one thread each, where
 * they are used. */
#include "gen/mapping/group_reduce.h"
#include "ir/path.h"
#include <string.h>

struct group_search {
    struct codegen *c;
    struct team_stage *t;
    int epoch;
    bool fits;
};

static bool is_fixed(const struct codegen *c, int index) {
    const struct le_range *r = le_range_of(c->space, index);
    return !r->dynamic && !c->ir->indices.at[index].host;
}

/* Whether the bounds of its only index are computed for each point. */
static bool is_ragged(const struct codegen *c, const struct le_node *node) {
    const struct le_ir_index *ix = &c->ir->indices.at[node->indices[0]];
    const struct le_node *low = ix->range.low, *high = ix->range.high;
    return node->index_count == 1 && le_range_of(c->space, node->indices[0])->dynamic && !ix->host && !ix->range.by &&
           !low->changes && !low->reduces && !high->changes && !high->reduces;
}

/* Whether the reduction depends on kept indices only, and its number of terms is known or the same for the team. */
static bool is_shared(const struct codegen *c, const struct le_node *node) {
    if (node->changes || node->index_count > (le_node_is_arg(node) ? 1 : AXES_MAX))
        return false;
    for (int k = 0; k < node->free_count; k++)
        if (!le_has_index(c->stage->indices, c->stage->index_count, node->free[k]) &&
            !c->ir->indices.at[node->free[k]].host)
            return false;
    return is_ragged(c, node) || (le_ranges_are_fixed(c->space, node->indices, node->index_count) &&
                                  le_points(c->space, node->indices, node->index_count) < INT64_MAX);
}

/* Whether the group computes the node's total. */
static bool has_total(const struct group *group, const struct le_node *node) {
    for (int k = 0; k < group->node_count; k++)
        if (group->nodes[k] == node)
            return true;
    for (int k = 0; k < group->same_count; k++)
        if (group->same[k] == node)
            return true;
    return false;
}

struct use_search {
    const struct group *group;
    bool found;
};

static void find_use(struct le_node *node, void *user) {
    struct use_search *u = user;
    u->found |= has_total(u->group, node);
}

static bool uses_total(const struct codegen *c, struct le_node *node, const struct group *group) {
    struct use_search u = {.group = group};
    le_node_walk(c->ir, node, find_use, &u);
    return u.found;
}

struct inner_loop {
    const int *indices;
    int count;
    bool found;
};

static void find_inner_loop(struct le_node *node, void *user) {
    struct inner_loop *i = user;
    i->found |= node->index_count > 0 && le_node_depends_on_any(node, i->indices, i->count);
}

bool le_team_has_inner_loop(const struct codegen *c, struct le_node *node, const int *indices, int count) {
    struct inner_loop i = {.indices = indices, .count = count};
    le_node_walk(c->ir, node, find_inner_loop, &i);
    return i.found;
}

static bool is_same_range(const struct codegen *c, int first, int second) {
    const struct le_range *a = le_range_of(c->space, first), *b = le_range_of(c->space, second);
    const struct le_range_nodes *p = &c->ir->indices.at[first].range, *q = &c->ir->indices.at[second].range;
    if (a->dynamic || b->dynamic)
        return a->dynamic && b->dynamic && p->low == q->low && p->high == q->high && p->by == q->by;
    return a->low == b->low && a->high == b->high && a->by == b->by;
}

/* Whether the node can use the group's indices instead of its own. */
static bool same_ranges(const struct codegen *c, const struct group *g, const struct le_node *node) {
    bool same = g->index_count == node->index_count;
    if (same && memcmp(g->indices, node->indices, (size_t)g->index_count * sizeof(int)) == 0)
        return true;
    same = same && !le_team_has_inner_loop(c, node->operands[0], node->indices, node->index_count);
    for (int k = 0; same && k < g->index_count; k++)
        same = is_same_range(c, g->indices[k], node->indices[k]);
    return same;
}

/* The term over the group's indices. */
static struct le_node *body_in(struct codegen *c, const struct group *g, const struct le_node *node) {
    struct le_node *to[AXES_MAX];
    if (memcmp(g->indices, node->indices, (size_t)g->index_count * sizeof(int)) == 0)
        return node->operands[0];
    for (int k = 0; k < g->index_count; k++)
        to[k] = le_node_index(c->ir, g->indices[k]);
    return le_node_substitute(c->ir, node->operands[0], node->indices, to, g->index_count);
}

/* Whether the group computes the same total for a node whose indices have other names. */
static bool is_made(struct group *g, struct le_node *node, const struct le_node *body) {
    for (int k = 0; k < g->node_count; k++)
        if (g->nodes[k]->code == node->code && g->bodies[k] == body && g->same_count < GROUP_NODES) {
            g->same[g->same_count] = node;
            g->same_as[g->same_count++] = k;
            return true;
        }
    return false;
}

static bool is_known(const struct team_stage *t, const struct le_node *node) {
    for (int g = 0; g < t->group_count; g++)
        if (has_total(&t->groups[g], node))
            return true;
    return false;
}

static bool is_chain(const struct le_node *node) {
    return node->kind == LE_NODE_REDUCE && le_node_is_chain(node) && le_node_is_ordered(node);
}

static struct group *new_group(struct group_search *f, const struct le_node *node) {
    struct team_stage *t = f->t;
    if (t->group_count == GROUPS_MAX) {
        f->fits = false;
        return NULL;
    }
    struct group *g = &t->groups[t->group_count++];
    bool as_before = t->group_count > 1 && same_ranges(f->c, &t->groups[0], node);
    *g = (struct group){.indices = as_before ? t->groups[0].indices : node->indices,
                        .index_count = node->index_count,
                        .ragged = is_ragged(f->c, node),
                        .chain = is_chain(node)};
    g->terms =
        g->ragged ? (int64_t)le_cost_terms(f->c->job, node) : le_points(f->c->space, node->indices, node->index_count);
    t->ragged |= g->ragged;
    return g;
}

/* Into the last group, if that runs over the same and it uses none of its totals; else into one of its own. */
static void add_to_group(struct group_search *f, struct le_node *node) {
    struct team_stage *t = f->t;
    if (is_known(t, node))
        return;
    for (int k = 0; k < t->group_count; k++)
        if (t->groups[k].chain == is_chain(node) && same_ranges(f->c, &t->groups[k], node) &&
            is_made(&t->groups[k], node, body_in(f->c, &t->groups[k], node)))
            return;
    struct group *g = t->group_count ? &t->groups[t->group_count - 1] : NULL;
    if (!g || g->chain != is_chain(node) || g->node_count == GROUP_NODES ||
        le_group_room_bytes(g, false) + le_room_bytes(node) > ROOM_MOST || !same_ranges(f->c, g, node) ||
        uses_total(f->c, node, g))
        g = new_group(f, node);
    if (!g)
        return;
    g->bodies[g->node_count] = body_in(f->c, g, node);
    g->nodes[g->node_count++] = node;
}

/* always: nothing decides whether it is needed. */
static void find_shared(struct group_search *f, struct le_node *node, bool always) {
    if (!node->reduces || le_note_met(f->c->notes, node, f->epoch))
        return;
    if (node->kind == LE_NODE_REGION) {
        f->fits = false;
        return;
    }
    bool decides = le_node_chooses(node) || node->kind == LE_NODE_REDUCE;
    for (int k = 0; k < node->operand_count && f->fits; k++)
        find_shared(f, node->operands[k], always && !decides);
    if (f->fits && node->kind == LE_NODE_REDUCE && is_shared(f->c, node) &&
        (always || le_node_is_safe(&f->c->safety, node)))
        add_to_group(f, node);
}

static bool some_depends(const struct team_stage *t, int index) {
    for (int g = 0; g < t->group_count; g++)
        for (int k = 0; k < t->groups[g].node_count; k++)
            if (le_node_depends(t->groups[g].nodes[k], index))
                return true;
    return false;
}

static bool find_points(struct codegen *c, const struct le_stage *stage, struct team_stage *t) {
    t->points = t->rest = 1;
    if (stage->index_count > POINTS_MAX)
        return false;
    for (int k = 0; k < stage->index_count; k++) {
        int index = stage->indices[k];
        bool point = some_depends(t, index);
        if (!is_fixed(c, index))
            return false;
        int64_t count = le_range_count(le_range_of(c->space, index));
        if (!le_mul_i64(point ? t->points : t->rest, count, point ? &t->points : &t->rest))
            return false;
        if (point)
            t->points_at[t->points_count++] = index;
        else
            t->rest_at[t->rest_count++] = index;
    }
    return true;
}

/* Of stages that are made together: those of the others are as much needed as the first one's. */
static void add_others(struct group_search *f, const struct le_stage *stages, int count) {
    for (int k = 1; k < count && f->fits; k++) {
        find_shared(f, stages[k].node, true);
        f->t->siblings[f->t->sibling_count++] = &stages[k];
    }
}

/* Numbers of one total each, of the same array: what is one of a pass is made in it. */
static void add_siblings(struct group_search *f, const struct le_stage *stage) {
    for (int k = stage->sibling; k >= 0 && f->t->group_count == 1; k = f->c->ir->stages.at[k].sibling) {
        const struct le_stage *s = &f->c->ir->stages.at[k];
        struct group *g = &f->t->groups[0];
        struct le_node *total = le_node_total(f->c->ir, s->node);
        if (g->node_count == GROUP_NODES || g->chain != is_chain(total) || !is_shared(f->c, total) ||
            !same_ranges(f->c, g, total))
            return;
        add_to_group(f, total);
        f->t->siblings[f->t->sibling_count++] = s;
    }
}

/* Stages that planning has joined to this one: every point needs theirs as much as its own. */
static void add_joined(struct group_search *f, const struct le_stage *stage) {
    for (int k = 0; k < stage->also_count && f->fits; k++) {
        find_shared(f, stage->also[k]->node, true);
        f->t->siblings[f->t->sibling_count++] = stage->also[k];
    }
}

/* A stage with fewer indices than the first is stored once per point. So its indices are the points': it must not use
 * the remaining ones, which have no values there, and with fewer several points would store the same element. */
static bool is_stored_once(const struct codegen *c, const struct team_stage *t, const struct le_stage *stage) {
    if (stage->index_count == c->stage->index_count)
        return true;
    for (int k = 0; k < stage->index_count; k++)
        if (le_has_index(t->rest_at, t->rest_count, stage->indices[k]))
            return false;
    return stage->index_count == t->points_count;
}

bool le_team_find(struct codegen *c, const struct le_stage *stages, int count, struct team_stage *t) {
    const struct le_stage *stage = &stages[0];
    *t = (struct team_stage){.spread = count, .side.width = 1};
    if (!stage->node->reduces)
        return false;
    struct group_search f = {.c = c, .t = t, .epoch = ++c->notes->epoch, .fits = true};
    find_shared(&f, stage->node, true);
    add_others(&f, stages, count);
    add_siblings(&f, stage);
    add_joined(&f, stage);
    if (!f.fits || t->group_count == 0 || !find_points(c, stage, t))
        return false;
    for (int k = 0; k < t->sibling_count; k++)
        if (!is_stored_once(c, t, t->siblings[k]))
            return false;
    for (int g = 0; g < t->group_count; g++) {
        t->groups[g].share = t->spread > 1;
        le_group_shape(c, &t->groups[g]);
    }
    return true;
}
