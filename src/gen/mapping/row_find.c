/* Decides for rows that several passes run over whether they can stay on chip, which parts of them, and how the values
 * are computed. */
#include "gen/mapping/row.h"

#define LATE_COST    8  /* additions: a value that costs more is kept instead of computed again */
#define VECTOR_BYTES 16 /* that a thread reads at once */

static bool is_one_axis(struct row *r) {
    const struct team_stage *t = r->t;
    const struct le_range *k = le_range_of(r->c->space, t->groups[0].indices[0]);
    for (int s = 0; s < t->sibling_count && t->rest_count > 0; s++)
        if (t->siblings[s]->index_count == r->c->stage->index_count)
            return false; /* of the values along a row, only the stage's own are computed as lines */
    int bodies = t->rest_count;
    for (int g = 0; g < t->group_count; g++) {
        bodies += t->groups[g].node_count;
        if (t->groups[g].chain || t->groups[g].index_count != 1 || t->groups[g].indices[0] != t->groups[0].indices[0])
            return false;
    }
    if (bodies > GROUP_NODES || k->by != 1 || t->rest_count > 1 || t->group_count + t->rest_count < 2)
        return false;
    const struct le_range *j = t->rest_count ? le_range_of(r->c->space, t->rest_at[0]) : k;
    return j->low == k->low && j->high == k->high && j->by == 1;
}

/* The stage's value over the groups' index; false: it cannot be named so. */
static bool find_value(struct row *r) {
    struct le_ir *ir = r->c->ir;
    struct le_node *to = le_node_index(ir, r->t->groups[0].indices[0]);
    if (r->t->rest_count == 0)
        return true;
    if (le_team_has_inner_loop(r->c, r->c->stage->node, r->t->rest_at, 1))
        return false;
    r->value = le_node_substitute(ir, r->c->stage->node, r->t->rest_at, &to, 1);
    return true;
}

static void gather_bodies(struct row *r) {
    const struct group *first = &r->t->groups[0];
    r->all = (struct group){.indices = first->indices, .index_count = 1, .axis_count = 1, .terms = first->terms};
    r->all.axes[0] = first->axes[0];
    r->all.narrow = first->narrow;
    for (int g = 0; g < r->t->group_count; g++)
        for (int k = 0; k < r->t->groups[g].node_count; k++)
            r->all.bodies[r->all.node_count++] = r->t->groups[g].bodies[k];
    if (r->value)
        r->all.bodies[r->all.node_count++] = r->value;
    r->all.width = le_group_width(r->c, &r->all);
    if (r->all.terms % r->all.width != 0) /* a vector lies in the row or outside it */
        r->all.width = 1;
}

static void find_read(struct row *r, int pass, const struct group *g, int *passes) {
    struct le_node *loads[LOADS_MAX];
    int count = le_group_loads(r->c, g, loads);
    for (int k = 0; k < count; k++)
        for (int q = 0; q < r->load_count; q++)
            if (r->loads[q] == loads[k]) {
                r->read[pass][q] = true;
                passes[q]++;
            }
}

/* What more than one pass reads is kept. */
static bool find_loads(struct row *r) {
    int passes[LOADS_MAX] = {0};
    r->load_count = le_group_loads(r->c, &r->all, r->loads);
    if (r->load_count <= 0)
        return false;
    for (int g = 0; g < r->t->group_count; g++)
        find_read(r, g, &r->t->groups[g], passes);
    struct group values = r->all;
    values.bodies[0] = r->value;
    values.node_count = r->value ? 1 : 0;
    find_read(r, r->t->group_count, &values, passes);
    for (int k = 0; k < r->load_count; k++) {
        int bytes = (int)le_type_size(r->c->ir->values.at[r->loads[k]->value].type);
        r->kept[k] = passes[k] > 1;
        if (r->kept[k]) {
            r->kept_bytes += bytes < 4 ? 4 : bytes;
            r->kept_bytes_shared += bytes;
        }
    }
    return r->kept_bytes > 0;
}

struct use_search {
    const struct row *r;
    const struct le_node *without, *node;
    bool found;
};

static void find_other_use(struct use_search *s, struct le_node *node, int epoch) {
    if (s->found || node == s->without || !le_node_depends(node, s->r->all.indices[0]) ||
        le_note_met(s->r->c->notes, node, epoch))
        return;
    s->found = node == s->node;
    for (int k = 0; k < node->operand_count; k++)
        find_other_use(s, node->operands[k], epoch);
}

/* Whether passes behind the group's use the node where they do not use it through the other one. */
static bool is_used_otherwise(struct row *r, int group, const struct le_node *node, const struct le_node *without) {
    struct use_search s = {.r = r, .without = without, .node = node};
    int epoch = ++r->c->notes->epoch;
    for (int g = group + 1; g < r->t->group_count; g++)
        for (int k = 0; k < r->t->groups[g].node_count; k++)
            find_other_use(&s, r->t->groups[g].bodies[k], epoch);
    find_other_use(&s, r->value, epoch);
    return s.found;
}

struct dear {
    const struct row *r;
    struct le_node *at[LOADS_MAX];
    int count;
};

static void find_dear(struct le_node *node, void *user) {
    struct dear *d = user;
    if (node->kind == LE_NODE_OP && node->cost >= LATE_COST && d->count < LOADS_MAX &&
        le_node_depends(node, d->r->all.indices[0]))
        d->at[d->count++] = node;
}

struct along {
    const struct row *r;
    int64_t cost;
};

static void add_cost(struct le_node *node, void *user) {
    struct along *a = user;
    int64_t own = node->cost;
    for (int k = 0; k < node->operand_count; k++)
        own -= node->operands[k]->cost;
    if (own > 0 && le_node_depends(node, a->r->all.indices[0]))
        a->cost += own;
}

/* Of what changes along the row. */
static int64_t cost_along(struct row *r, struct le_node *node) {
    struct along a = {.r = r};
    le_node_walk(r->c->ir, node, add_cost, &a);
    return a.cost;
}

/* Each kept element has at least four bytes of registers, but only its own bytes of shared memory. */
static bool has_room_for(const struct row *r, int load, enum le_type type) {
    enum le_type stored = r->c->ir->values.at[r->loads[load]->value].type;
    if (!r->kept[load] || (type != LE_F32 && type != LE_F64))
        return false;
    return type == stored || (r->shape.near == r->shape.lines && (type == LE_F32 || le_type_size(stored) == 8));
}

static void try_late(struct row *r, int group, struct le_node *node) {
    if (cost_along(r, node) < LATE_COST)
        return;
    for (int k = 0; k < r->load_count; k++) {
        if (!has_room_for(r, k, node->type) || (r->late && r->late->cost >= node->cost) ||
            !le_node_is_safe(&r->c->safety, node))
            continue;
        if (!is_used_otherwise(r, group, node, NULL) || is_used_otherwise(r, group, r->loads[k], node))
            continue;
        r->late = node;
        r->late_load = k;
        r->late_group = group;
    }
}

static void find_late(struct row *r) {
    for (int g = 0; r->value && g < r->t->group_count; g++)
        for (int k = 0; k < r->t->groups[g].node_count; k++) {
            struct dear d = {.r = r};
            le_node_walk(r->c->ir, r->t->groups[g].bodies[k], find_dear, &d);
            for (int q = 0; q < d.count; q++)
                try_late(r, g, d.at[q]);
        }
}

static bool is_kept(const struct row *r, const struct le_node *load) {
    for (int k = 0; k < r->load_count; k++)
        if (r->loads[k] == load)
            return r->kept[k];
    return false;
}

struct parts {
    bool quick, reads; /* one has a way without a branch; one is read from memory */
};

/* Of the value, as far as they change along the row. */
static void find_parts(const struct row *r, struct le_node *node, int epoch, struct parts *parts) {
    if (node == r->late || !le_node_depends(node, r->all.indices[0]) || le_note_met(r->c->notes, node, epoch))
        return;
    parts->quick |= le_codegen_has_quick_way(node);
    parts->reads |= node->kind == LE_NODE_LOAD && !is_kept(r, node);
    for (int k = 0; k < node->operand_count; k++)
        find_parts(r, node->operands[k], epoch, parts);
}

/* Puts the kept index last along which neighbours of what is kept lie closest. Whether they lie closer than neighbours
 * of a row do. */
static bool find_strip_index(struct row *r) {
    const struct team_stage *t = r->t;
    int64_t least = INT64_MAX;
    int best = t->points_count - 1;
    for (int p = t->points_count - 1; p >= 0; p--)
        for (int k = 0; k < r->load_count; k++) {
            const struct le_address address = le_load_address(r->c->layouts, r->loads[k]);
            int64_t stride = 0;
            if (!r->kept[k] || !le_address_stride(r->c->space, &address, t->points_at[p], &stride) || stride == 0)
                continue;
            stride = stride < 0 ? -stride : stride;
            best = stride < least ? p : best;
            least = stride < least ? stride : least;
        }
    for (int p = 0; p < t->points_count; p++)
        r->points_at[p < best ? p : p == best ? t->points_count - 1 : p - 1] = t->points_at[p];
    return t->points_count > 0 && le_group_is_across(r->c, &r->all, t->points_at[best]);
}

/* How many neighbouring columns a thread can have: what it reads and writes of them is a vector each. */
static int most_vector(struct row *r) {
    struct le_node target = le_codegen_target(r->c);
    int index = r->points_at[r->t->points_count - 1];
    for (int k = 0; k < r->load_count; k++)
        if (r->kept[k] && !le_node_depends(r->loads[k], index))
            return 1;
    int most = le_side_width(r->c, &r->all, index, VECTOR_BYTES);
    while (most > 1 && r->value && !le_team_is_wide(r->c, &target, &index, most))
        most /= 2;
    return most;
}

/* Whether a row of what is kept begins in the middle of a sector of memory. */
static bool is_shifted(struct row *r) {
    int index = r->points_at[r->t->points_count - 1];
    for (int k = 0; k < r->load_count; k++) {
        int bytes = (int)le_type_size(r->c->ir->values.at[r->loads[k]->value].type);
        if (r->kept[k] && !le_team_is_wide(r->c, r->loads[k], &index, bytes < SECTOR ? SECTOR / bytes : 1))
            return true;
    }
    return false;
}

static bool find_strip(struct row *r, struct row_need need) {
    bool across = find_strip_index(r);
    if (r->wish.strip == 0 || r->t->points_count == 0 || (r->t->sibling_count > 0 && r->t->rest_count > 0) ||
        (r->wish.strip < 0 && !across))
        return false;
    need.reads = r->all.terms;
    need.words = r->kept_bytes / 4;
    need.points = r->t->points;
    need.stores = r->value;
    need.passes = r->t->group_count + need.stores;
    for (int k = 0; k < r->load_count; k++) {
        int bytes = (int)le_type_size(r->c->ir->values.at[r->loads[k]->value].type);
        need.element = r->kept[k] && bytes > need.element ? bytes : need.element;
    }
    need.bytes = r->kept_bytes_shared;
    need.is_shifted = is_shifted(r);
    need.vector_most = most_vector(r);
    need.are_totals_big = false;
    for (int g = 0; g < r->t->group_count; g++) {
        need.totals_bytes += le_group_total_bytes(&r->t->groups[g]);
        need.are_totals_big |= le_group_bytes(&r->t->groups[g]) > 8;
    }
    if (!le_strip_shape(r->c->job->facts, &need, r->wish, &r->shape))
        return false;
    r->all.width = r->shape.vector;
    /* of several columns, what is the same for all is read where it is used */
    for (int k = 0; k < r->load_count && r->shape.vector > 1; k++)
        for (int pass = 0; pass <= r->t->group_count; pass++)
            r->read[pass][k] &= le_node_depends(r->loads[k], r->points_at[r->t->points_count - 1]);
    return true;
}

static bool find_shape(struct row *r) {
    struct row_need need = {.reads = (r->all.terms + r->all.width - 1) / r->all.width,
                            .words = r->kept_bytes * r->all.width / 4,
                            .is_wide = r->kept_bytes > 4};
    for (int g = 0; g < r->t->group_count; g++)
        need.are_totals_big |= le_group_bytes(&r->t->groups[g]) > 4;
    r->shape = (struct row_shape){0};
    return find_strip(r, need) || le_row_shape(r->c->job->facts, &need, &r->shape);
}

/* The quick way is not taken where values read more than the row, unless that is read ahead: a line's reads would wait
 * until the line before it is known to be usual. */
static void find_ways(struct row *r) {
    struct le_node target = le_codegen_target(r->c);
    struct parts parts = {0};
    if (!r->value)
        return;
    bool safe = le_node_is_safe(&r->c->safety, r->value);
    find_parts(r, r->value, ++r->c->notes->epoch, &parts);
    r->wide = r->all.width > 1 && le_team_is_wide(r->c, &target, r->t->rest_at, r->all.width);
    r->rolled = safe && r->wide && r->shape.near < r->shape.lines;
    r->reads = r->rolled && parts.reads;
    r->quick = safe && parts.quick && (r->rolled || !parts.reads);
}

static void find_strip_ways(struct row *r) {
    struct parts parts = {0};
    r->steady = true;
    for (int k = 0; k < r->all.node_count; k++)
        r->steady &= le_node_is_safe(&r->c->safety, r->all.bodies[k]) && !r->all.bodies[k]->changes;
    if (r->value)
        find_parts(r, r->value, ++r->c->notes->epoch, &parts);
    r->quick = r->steady && parts.quick;
    r->whole = r->steady && r->all.terms % r->shape.lines == 0;
}

bool le_row_find(struct row *r) {
    if (!is_one_axis(r) || r->t->groups[0].terms == 0 || !r->t->groups[0].narrow || !find_value(r))
        return false;
    gather_bodies(r);
    if (!find_loads(r) || !find_shape(r))
        return false;
    find_late(r);
    if (r->shape.strip)
        find_strip_ways(r);
    else
        find_ways(r);
    return true;
}
