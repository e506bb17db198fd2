/* Decides for rows that several passes run over whether they can stay on chip, which parts of them, and how the values
 * are computed. */
#include "gen/mapping/row.h"

#define LATE_COST    8  /* additions: a value that costs more is kept instead of computed again */
#define VECTOR_BYTES 16 /* that a thread reads at once */

static bool is_same_range(const struct row *r, int a, int b) {
    const struct le_range *x = le_range_of(r->c->space, a), *y = le_range_of(r->c->space, b);
    return x->low == y->low && x->high == y->high && x->by == 1 && y->by == 1;
}

/* Whether all groups run over the same indices (they then share the first one's list), and the values over as many of
 * the same ranges. */
static bool is_one_row(struct row *r) {
    const struct team_stage *t = r->t;
    const struct group *first = &t->groups[0];
    for (int s = 0; s < t->sibling_count && t->rest_count > 0; s++)
        if (t->siblings[s]->index_count == r->c->stage->index_count)
            return false; /* of the values along a row, only the stage's own are computed as lines */
    int values = t->rest_count > 0, bodies = values;
    for (int g = 0; g < t->group_count; g++) {
        bodies += t->groups[g].node_count;
        if (t->groups[g].chain || t->groups[g].indices != first->indices)
            return false;
    }
    if (bodies > GROUP_NODES || (values && t->rest_count != first->index_count) || t->group_count + values < 2)
        return false;
    for (int k = 0; k < first->index_count; k++)
        if (!is_same_range(r, first->indices[k], values ? t->rest_at[k] : first->indices[k]))
            return false;
    return true;
}

/* The stage's value over the groups' indices; false: it cannot be named so. */
static bool find_value(struct row *r) {
    struct le_ir *ir = r->c->ir;
    const struct team_stage *t = r->t;
    struct le_node *to[AXES_MAX];
    if (t->rest_count == 0)
        return true;
    if (le_team_has_inner_loop(r->c, r->c->stage->node, t->rest_at, t->rest_count))
        return false;
    for (int k = 0; k < t->rest_count; k++)
        to[k] = le_node_index(ir, t->groups[0].indices[k]);
    r->value = le_node_substitute(ir, r->c->stage->node, t->rest_at, to, t->rest_count);
    return true;
}

static void gather_bodies(struct row *r) {
    const struct group *first = &r->t->groups[0];
    r->all = (struct group){.indices = first->indices,
                            .index_count = first->index_count,
                            .axis_count = first->index_count,
                            .terms = first->terms,
                            .narrow = first->narrow};
    for (int k = 0; k < first->index_count; k++)
        r->all.axes[k] = (struct term_axis){k, le_range_count(le_range_of(r->c->space, first->indices[k]))};
    for (int g = 0; g < r->t->group_count; g++)
        for (int k = 0; k < r->t->groups[g].node_count; k++)
            r->all.bodies[r->all.node_count++] = r->t->groups[g].bodies[k];
    if (r->value)
        r->all.bodies[r->all.node_count++] = r->value;
}

/* Whether the place in the row can be the last index, run on beyond its range, for all that the terms read. */
static bool are_terms_one_loop(const struct row *r) {
    for (int g = 0; g < r->t->group_count; g++)
        if (r->t->groups[g].axis_count != 1)
            return false;
    return le_group_is_one_axis(r->c, r->all.indices, r->all.index_count, r->loads, r->load_count);
}

/* The same for values. A gain that only the first index selects, for example, needs that index. */
static bool are_values_one_loop(const struct row *r) {
    return !r->value || (le_group_is_one_axis(r->c, r->all.indices, r->all.index_count, &r->value, 1) &&
                         le_team_target_is_one_axis(r->c, r->t->rest_at, r->all.index_count));
}

/* Where indices are needed one by one, the elements of a vector have all but the last one in common. */
static void find_split(struct row *r) {
    const int64_t last = r->all.axes[r->all.axis_count - 1].count;
    r->split = !are_terms_one_loop(r) ? ROW_SPLIT : are_values_one_loop(r) ? ROW_ONE_LOOP : ROW_SPLIT_VALUES;
    if (r->split != ROW_SPLIT) {
        r->all.axis_count = 1;
        r->all.axes[0] = r->t->groups[0].axes[0];
    }
    r->all.width = le_group_width(r->c, &r->all);
    if (r->all.terms % r->all.width != 0) /* a vector lies in the row or outside it */
        r->all.width = 1;
    while (r->split == ROW_SPLIT_VALUES && last % r->all.width != 0)
        r->all.width /= 2;
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

static bool uses_all_indices(const struct row *r, const struct le_node *load) {
    for (int k = 0; k < r->all.index_count; k++)
        if (r->all.axes[k].count > 1 && !le_node_depends(load, r->all.indices[k]))
            return false;
    return true;
}

/* What more than one pass reads is kept, but not what is the same for several elements of a row. */
static bool find_kept(struct row *r) {
    int passes[LOADS_MAX] = {0};
    for (int g = 0; g < r->t->group_count; g++)
        find_read(r, g, &r->t->groups[g], passes);
    struct group values = r->all;
    values.bodies[0] = r->value;
    values.node_count = r->value ? 1 : 0;
    find_read(r, r->t->group_count, &values, passes);
    for (int k = 0; k < r->load_count; k++) {
        int bytes = (int)le_type_size(r->c->ir->values.at[r->loads[k]->value].type);
        r->kept[k] = passes[k] > 1 && (r->split != ROW_SPLIT || uses_all_indices(r, r->loads[k]));
        if (r->kept[k]) {
            r->kept_bytes += bytes < 4 ? 4 : bytes;
            r->kept_bytes_shared += bytes;
        }
    }
    return r->kept_bytes > 0;
}

/* Whether the node changes along the row. */
static bool is_along(const struct row *r, const struct le_node *node) {
    return le_node_depends_on_any(node, r->all.indices, r->all.index_count);
}

struct use_search {
    const struct row *r;
    const struct le_node *without, *node;
    bool found;
};

static void find_other_use(struct use_search *s, struct le_node *node, int epoch) {
    if (s->found || node == s->without || !is_along(s->r, node) || le_note_met(s->r->c->notes, node, epoch))
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
    if (node->kind == LE_NODE_OP && node->cost >= LATE_COST && d->count < LOADS_MAX && is_along(d->r, node))
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
    if (own > 0 && is_along(a->r, node))
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
    if (node == r->late || !is_along(r, node) || le_note_met(r->c->notes, node, epoch))
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
    while (most > 1 && r->value && !le_team_is_wide(r->c, &target, &index, 1, most))
        most /= 2;
    return most;
}

/* Whether a row of what is kept begins in the middle of a sector of memory. */
static bool is_shifted(struct row *r) {
    int index = r->points_at[r->t->points_count - 1];
    for (int k = 0; k < r->load_count; k++) {
        int bytes = (int)le_type_size(r->c->ir->values.at[r->loads[k]->value].type);
        if (r->kept[k] && !le_team_is_wide(r->c, r->loads[k], &index, 1, bytes < SECTOR ? SECTOR / bytes : 1))
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
    int last = r->t->rest_count - 1, first = r->split == ROW_ONE_LOOP ? 0 : last;
    r->wide = r->all.width > 1 &&
              le_team_is_wide(r->c, &target, r->t->rest_at + first, r->t->rest_count - first, r->all.width);
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
    if (!is_one_row(r) || r->t->groups[0].terms == 0 || !r->t->groups[0].narrow || !find_value(r))
        return false;
    gather_bodies(r);
    r->load_count = le_group_loads(r->c, &r->all, r->loads);
    if (r->load_count <= 0)
        return false;
    find_split(r);
    if (!find_kept(r) || !find_shape(r))
        return false;
    find_late(r);
    if (r->shape.strip)
        find_strip_ways(r);
    else
        find_ways(r);
    return true;
}
