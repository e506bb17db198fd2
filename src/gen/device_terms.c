/* The terms of a group: which of its axes are merged, how many terms a thread reads at once, and the lambdas that
 * compute the total of one term or of several adjacent terms. */
#include "gen/device_group_reduce.h"
#include <stdio.h>
#include <string.h>

#define NARROW_TERMS ((int64_t)1 << 30) /* an int counts these, and what is looked at behind them */
#define DEAR_COST    128                /* additions of all terms that a thread makes at once */
#define QUICK_COST   16                 /* additions of a term whose quick way is worth a text of its own */

static bool is_arg(const struct le_node *node) {
    return node->code == LE_RED_ARGMIN || node->code == LE_RED_ARGMAX;
}

static const struct le_range *range_at(const struct cuda *c, const struct group *g, int position) {
    return le_range_of(c->space, g->indices[position]);
}

/* ---- what every load of a term has to be */

struct load_check {
    struct cuda *c;
    const struct group *g;
    int outer, inner; /* positions */
    int64_t inner_count;
    int width, largest;               /* elements; bytes of one */
    struct le_node *loads[LOADS_MAX]; /* those that depend on the inner index */
    int load_count;
    int point, across; /* an index; loads that are, less those that are not */
    bool fits;
};

/* Elements that one step of the index makes in the load; false: it is not affine. */
static bool find_stride(const struct cuda *c, const struct le_node *load, int index, int64_t *stride) {
    const struct le_layout *layout = &c->layouts[load->value];
    *stride = 0;
    for (int d = 0; d < load->operand_count; d++) {
        struct le_affine f;
        bool stretched = d < load->stretch && layout->shape[d] == 1;
        if (stretched || !le_node_depends(load->operands[d], index))
            continue;
        if (!le_affine_of(c->space, load->operands[d], &f))
            return false;
        for (int k = 0; k < f.count; k++)
            if (f.index[k] == index)
                *stride += f.factor[k] * layout->strides[d];
    }
    return true;
}

/* All of its places are inside, as they are. */
static bool is_plain(const struct cuda *c, const struct le_node *load) {
    if (load->live)
        return false;
    for (int d = 0; d < load->operand_count && !load->trusted; d++)
        if (!le_axis_is_safe(c->space, &c->layouts[load->value], load->operands[d], d, load->stretch))
            return false;
    return true;
}

/* Calls visit for the loads that depend on the inner index or the outer one; a subscript's own loads are not looked at.
 */
static void look_at(struct load_check *l, struct le_node *node, int epoch,
                    void (*visit)(struct load_check *, struct le_node *)) {
    bool outer = l->outer >= 0 && le_node_depends(node, l->g->indices[l->outer]);
    if (!l->fits || (!outer && !le_node_depends(node, l->g->indices[l->inner])) ||
        le_note_met(l->c->notes, node, epoch))
        return;
    if (node->kind == LE_NODE_REDUCE || node->kind == LE_NODE_REGION)
        l->fits = false;
    else if (node->kind == LE_NODE_LOAD || node->kind == LE_NODE_INDEX)
        visit(l, node);
    else
        for (int k = 0; k < node->operand_count; k++)
            look_at(l, node->operands[k], epoch, visit);
}

static bool all_fit(struct load_check *l, void (*visit)(struct load_check *, struct le_node *)) {
    l->fits = true;
    int epoch = ++l->c->notes->epoch;
    for (int k = 0; k < l->g->node_count && l->fits; k++)
        look_at(l, l->g->bodies[k], epoch, visit);
    return l->fits;
}

/* ---- axes */

static void visit_merge(struct load_check *l, struct le_node *node) {
    int64_t outer, inner, whole;
    l->fits = node->kind == LE_NODE_LOAD && is_plain(l->c, node) &&
              find_stride(l->c, node, l->g->indices[l->outer], &outer) &&
              find_stride(l->c, node, l->g->indices[l->inner], &inner) && le_mul_i64(inner, l->inner_count, &whole) &&
              outer == whole;
}

static bool steps_by_one(const struct cuda *c, const struct group *g, int position) {
    return range_at(c, g, position)->by == 1;
}

static bool merges(struct cuda *c, const struct group *g, int position, const struct term_axis *inner) {
    struct load_check l = {.c = c, .g = g, .outer = position, .inner = inner->position, .inner_count = inner->count};
    return steps_by_one(c, g, position) && steps_by_one(c, g, inner->position) && all_fit(&l, visit_merge);
}

/* From the last to the first, then turned round. An axis of one value is none, unless it is the last. */
static void find_axes(struct cuda *c, struct group *g) {
    for (int k = g->index_count - 1; k >= 0; k--) {
        int64_t count = le_range_count(range_at(c, g, k));
        struct term_axis *inner = g->axis_count ? &g->axes[g->axis_count - 1] : NULL;
        if (inner && count == 1)
            continue;
        if (inner && inner->count > 0 && merges(c, g, k, inner))
            inner->count *= count;
        else
            g->axes[g->axis_count++] = (struct term_axis){.position = k, .count = count};
    }
    for (int k = 0; k < g->axis_count / 2; k++) {
        struct term_axis swapped = g->axes[k];
        g->axes[k] = g->axes[g->axis_count - 1 - k];
        g->axes[g->axis_count - 1 - k] = swapped;
    }
}

/* ---- width */

/* Bound to its low: one of the node's indices that is no axis. */
static bool is_at_low(const struct load_check *l, int index, int64_t *low) {
    for (int k = 0; k < l->g->index_count; k++) {
        bool axis = false;
        for (int a = 0; a < l->g->axis_count; a++)
            axis |= l->g->axes[a].position == k;
        if (l->g->indices[k] == index && !axis) {
            *low = range_at(l->c, l->g, k)->low;
            return true;
        }
    }
    return false;
}

/* Whether the place is a multiple of width elements where the inner index is at its low. */
static bool axis_is_aligned(const struct load_check *l, const struct le_node *load, int d, int64_t *constant) {
    int64_t stride = l->c->layouts[load->value].strides[d], low;
    int inner = l->g->indices[l->inner];
    struct le_affine f;
    if (!le_affine_of(l->c->space, load->operands[d], &f))
        return stride % l->width == 0 && !le_node_depends(load->operands[d], inner);
    *constant += f.constant * stride;
    for (int k = 0; k < f.count; k++) {
        if (f.index[k] == inner)
            *constant += f.factor[k] * stride * range_at(l->c, l->g, l->inner)->low;
        else if (is_at_low(l, f.index[k], &low))
            *constant += f.factor[k] * stride * low;
        else if (f.factor[k] * stride % l->width != 0)
            return false;
    }
    return true;
}

static bool is_stretched(const struct cuda *c, const struct le_node *load, int d) {
    return d < load->stretch && c->layouts[load->value].shape[d] == 1;
}

static void visit_size(struct load_check *l, struct le_node *node) {
    if (node->kind != LE_NODE_LOAD)
        return;
    int64_t stride;
    int size = (int)le_type_size(l->c->ir->values.at[node->value].type);
    l->largest = size > l->largest ? size : l->largest;
    l->fits = is_plain(l->c, node) && find_stride(l->c, node, l->g->indices[l->inner], &stride) && stride == 1;
}

static void visit_aligned(struct load_check *l, struct le_node *node) {
    const struct le_device_facts *facts = l->c->job->facts;
    if (node->kind != LE_NODE_LOAD)
        return;
    int64_t constant = l->c->layouts[node->value].offset;
    l->fits = facts->is_aligned(facts->user, node->value);
    for (int d = 0; d < node->operand_count && l->fits; d++)
        if (!is_stretched(l->c, node, d))
            l->fits = axis_is_aligned(l, node, d, &constant);
    l->fits = l->fits && constant % l->width == 0;
}

int le_group_width(struct cuda *c, const struct group *g) {
    const struct term_axis *last = &g->axes[g->axis_count - 1];
    struct load_check l = {.c = c, .g = g, .outer = -1, .inner = last->position};
    if (!steps_by_one(c, g, last->position) || !all_fit(&l, visit_size) || l.largest == 0 || l.largest > 8)
        return 1;
    l.width = 16 / l.largest;
    if (g->axis_count > 1 && last->count % l.width != 0)
        return 1;
    return all_fit(&l, visit_aligned) ? l.width : 1;
}

/* Counts the loads in which the next term is farther away than the next point. */
static void visit_across(struct load_check *l, struct le_node *node) {
    int64_t term, point;
    if (node->kind != LE_NODE_LOAD || !find_stride(l->c, node, l->g->indices[l->inner], &term) ||
        !find_stride(l->c, node, l->point, &point))
        return;
    term = term < 0 ? -term : term;
    point = point < 0 ? -point : point;
    if (point != 0)
        l->across += point < term ? 1 : -1;
}

bool le_group_is_across(struct cuda *c, const struct group *g, int index) {
    struct load_check l = {.c = c, .g = g, .outer = -1, .inner = g->axes[g->axis_count - 1].position, .point = index};
    return all_fit(&l, visit_across) && l.across > 0;
}

struct mixed_search {
    const struct group *g;
    const int *points;
    int count;
    bool found;
};

static void find_mixed(struct le_node *node, void *user) {
    struct mixed_search *u = user;
    bool term = false, point = false;
    for (int k = 0; k < u->g->index_count; k++)
        term |= le_node_depends(node, u->g->indices[k]);
    for (int k = 0; k < u->count; k++)
        point |= le_node_depends(node, u->points[k]);
    u->found |= node->kind == LE_NODE_LOAD && term && point;
}

bool le_group_is_uniform(struct cuda *c, const struct group *g, const int *points, int count) {
    struct mixed_search u = {.g = g, .points = points, .count = count};
    for (int k = 0; k < g->node_count; k++)
        le_node_walk(c->ir, g->bodies[k], find_mixed, &u);
    return !u.found;
}

int le_group_bytes(const struct group *g) {
    int bytes = 0;
    for (int k = 0; k < g->node_count; k++)
        bytes += (int)le_type_size(g->bodies[k]->type) + (is_arg(g->nodes[k]) ? (g->narrow ? 4 : 8) : 0);
    return bytes;
}

/* How often it reads before it waits: as often as registers hold the totals, and what is dear needs no more of it. */
static int find_unroll(const struct group *g, int64_t cost) {
    int unroll = 8, bytes = le_group_bytes(g);
    while (unroll > 1 && (cost * g->width * unroll * (bytes > 4 ? 2 : 1) > 2 * DEAR_COST || unroll * bytes > 64 ||
                          unroll * g->width > 64))
        unroll /= 2;
    return unroll;
}

/* Of what this walk has not met yet. */
static int64_t new_cost(struct cuda *c, struct le_node *node, int epoch) {
    if (le_note_met(c->notes, node, epoch))
        return 0;
    int64_t cost = node->cost;
    for (int k = 0; k < node->operand_count; k++)
        cost += new_cost(c, node->operands[k], epoch) - node->operands[k]->cost;
    return cost;
}

static int64_t cost_of(struct cuda *c, const struct group *g) {
    int epoch = ++c->notes->epoch;
    int64_t cost = 1;
    for (int k = 0; k < g->node_count; k++)
        cost += g->share ? new_cost(c, g->bodies[k], epoch) : g->bodies[k]->cost;
    return cost;
}

void le_group_shape(struct cuda *c, struct group *g) {
    int64_t cost = cost_of(c, g);
    find_axes(c, g);
    g->narrow = g->terms <= NARROW_TERMS;
    g->width = cost > DEAR_COST / 4 ? 1 : le_group_width(c, g);
    g->unroll = find_unroll(g, cost);
}

/* ---- totals */

static const char *total_of(struct cuda *c, const struct group *g, const struct le_node *node) {
    const char *type = le_cuda_type(node->operands[0]->type), *n = g->narrow ? "int" : "long long";
    bool logic = node->operands[0]->type == LE_BOOL;
    switch ((enum le_reduction)node->code) {
    case LE_RED_ARGMIN:
    case LE_RED_ARGMAX:
        return le_arena_format(c->arena, "le_first<%s, %s, %s>", type, n,
                               node->code == LE_RED_ARGMAX ? "true" : "false");
    case LE_RED_MIN:
        return logic ? "le_all" : le_arena_format(c->arena, "le_least<%s>", type);
    case LE_RED_MAX:
        return logic ? "le_any" : le_arena_format(c->arena, "le_greatest<%s>", type);
    case LE_RED_PROD:
        return logic ? "le_all" : le_arena_format(c->arena, "le_product<%s>", type);
    case LE_RED_ALL:
        return "le_all";
    case LE_RED_ANY:
        return "le_any";
    default:
        return logic ? "le_any" : le_arena_format(c->arena, "le_sum<%s>", type);
    }
}

void le_group_declare(struct cuda *c, struct group *g) {
    const char *type = total_of(c, g, g->nodes[g->node_count - 1]);
    for (int k = g->node_count - 2; k >= 0; k--)
        type = le_arena_format(c->arena, "le_both<%s, %s>", total_of(c, g, g->nodes[k]), type);
    g->type = le_cuda_name(c, "total");
    le_cuda_line(c, c->root, "typedef %s %s;", type, g->type);
}

size_t le_group_total_bytes(const struct group *g) {
    return 16 * (size_t)g->node_count;
}

size_t le_room_bytes(const struct le_node *node) {
    size_t of_term = le_type_size(node->operands[0]->type), of_total = le_type_size(node->type);
    size_t larger = of_term > of_total ? of_term : of_total;
    return ROOM_TOTALS * ((larger + 7) / 8 * 8 + (is_arg(node) ? 8 : 0));
}

size_t le_group_room_bytes(const struct group *g) {
    size_t bytes = 0;
    for (int k = 0; k < g->node_count; k++)
        bytes += le_room_bytes(g->nodes[k]);
    return bytes;
}

static const char *number_of(struct cuda *c, int index, const char *what, int64_t value, bool narrow) {
    const char *name = le_arena_format(c->arena, "%s_%s_%d", c->ir->indices.at[index].name, what, index);
    return le_arena_format(c->arena, narrow ? "(int)%s" : "%s", le_cuda_number(c, name, value));
}

const char *le_group_count(struct cuda *c, const struct group *g) {
    const char *name = le_arena_format(c->arena, "%s_terms", c->ir->indices.at[g->indices[0]].name);
    name = le_arena_format(c->arena, "%s_%d", name, g->indices[0]);
    return le_arena_format(c->arena, "(%s)%s", g->narrow ? "int" : "long long", le_cuda_number(c, name, g->terms));
}

void le_group_know(struct cuda *c, const struct group *g, struct block *block, const char *total) {
    const char *path = "", *count = le_group_count(c, g);
    for (int k = 0; k < g->node_count; k++) {
        struct le_node *node = g->nodes[k];
        const struct le_range *r = range_at(c, g, 0);
        const char *name = le_arena_format(c->arena, "%s_%s", le_reduction_name((enum le_reduction)node->code),
                                           c->ir->indices.at[node->indices[0]].name);
        const char *value =
            le_arena_format(c->arena, "%s%s%s.value(%s == 0)", total, path, k + 1 < g->node_count ? ".a" : "", count);
        const struct held *x = le_cuda_hold(c, block, node->type, false, name, value);
        if (is_arg(node) && (r->low != 0 || r->by != 1))
            x = le_cuda_hold(c, block, LE_I64, false, name,
                             le_arena_format(c->arena, "%s < 0 ? -1 : %s + %s * %s", x->text,
                                             number_of(c, g->indices[0], "low", r->low, false), x->text,
                                             number_of(c, g->indices[0], "by", r->by, false)));
        le_cuda_know(c, node, block, x->text);
        for (int q = 0; q < g->same_count; q++)
            if (g->same_as[q] == k)
                le_cuda_know(c, g->same[q], block, x->text);
        path = le_arena_format(c->arena, "%s.b", path);
    }
}

/* ---- indices */

void le_team_bind_one(struct cuda *c, struct block *block, int index, const char *place, int64_t past) {
    const struct le_range *r = le_range_of(c->space, index);
    bool narrow = le_cuda_fits_int(r->low, r->high) && r->by <= INT32_MAX && r->high <= INT32_MAX - r->by - past;
    const char *name = le_cuda_name(c, c->ir->indices.at[index].name);
    struct words value = {0};
    if (!place || r->low != 0)
        le_words_add(c->arena, &value, "%s", number_of(c, index, "low", r->low, narrow));
    if (place)
        le_words_add(c->arena, &value, "%s(%s)(%s)", value.length ? " + " : "", narrow ? "int" : "long long", place);
    if (place && r->by != 1)
        le_words_add(c->arena, &value, " * %s", number_of(c, index, "by", r->by, narrow));
    le_cuda_line(c, block, "const %s %s = %s;", narrow ? "int" : "long long", name, value.at);
    le_cuda_bind(c, block, index, name, narrow);
}

/* Parts place into places along axes of so many values (expressions), the last running fastest. */
static void split_place(struct cuda *c, struct block *block, const char *place, bool narrow, const char *const *counts,
                        int count, const char **places) {
    const char *type = narrow ? "unsigned" : "unsigned long long", *rest = place;
    for (int k = count - 1; k > 0; k--) {
        const char *next = le_cuda_name(c, "rest");
        le_cuda_line(c, block, "const %s %s = (%s)(%s) / (%s)%s;", type, next, type, rest, type, counts[k]);
        places[k] = le_cuda_name(c, "place");
        le_cuda_line(c, block, "const %s %s = (%s)(%s) - %s * (%s)%s;", type, places[k], type, rest, next, type,
                     counts[k]);
        rest = next;
    }
    if (count > 0)
        places[0] = rest;
}

void le_team_bind(struct cuda *c, struct block *block, const int *indices, int count, const char *place, bool narrow) {
    const char *counts[POINTS_MAX] = {NULL}, *places[POINTS_MAX] = {NULL};
    for (int k = 0; k < count; k++)
        counts[k] =
            k == 0 ? "1" : number_of(c, indices[k], "count", le_range_count(le_range_of(c->space, indices[k])), false);
    split_place(c, block, place, narrow, counts, count, places);
    for (int k = 0; k < count; k++)
        le_team_bind_one(c, block, indices[k], places[k], 0);
}

/* ---- the lambdas */

/* Binds all indices of the group's terms but those of the last axis; *last: the place along that. */
static void bind_outer(struct cuda *c, const struct group *g, struct block *block, const char *at, const char **last) {
    const char *counts[AXES_MAX] = {NULL}, *places[AXES_MAX] = {NULL};
    for (int a = 0; a < g->axis_count; a++) {
        int index = g->indices[g->axes[a].position];
        counts[a] = a == 0 ? "1" : number_of(c, index, "along", g->axes[a].count, false);
    }
    split_place(c, block, at, g->narrow, counts, g->axis_count, places);
    *last = places[g->axis_count - 1];
    for (int p = 0; p < g->index_count; p++) {
        const char *place = NULL;
        int64_t past = 0;
        if (p == g->axes[g->axis_count - 1].position)
            continue;
        for (int a = 0; a + 1 < g->axis_count; a++)
            if (g->axes[a].position == p) {
                place = places[a];
                past = g->axes[a].count;
            }
        le_team_bind_one(c, block, g->indices[p], place, past);
    }
}

static void bind_last(struct cuda *c, const struct group *g, struct block *block, const char *place) {
    const struct term_axis *last = &g->axes[g->axis_count - 1];
    le_team_bind_one(c, block, g->indices[last->position], place, last->count);
}

/* "{le_sum<float>::of(x), ...}" of the terms in block; at: the term's number */
const char *le_group_total(struct cuda *c, const struct group *g, struct block *block, const char *at) {
    struct words total = {0};
    const char *of[GROUP_NODES];
    c->term = at;
    for (int k = 0; k < g->node_count; k++) {
        struct le_node *node = g->nodes[k];
        const char *x = le_cuda_wide(c, le_cuda_node(c, g->bodies[k], block, NULL));
        of[k] = le_arena_format(c->arena, is_arg(node) ? "%s::of(%s, %s)" : "%s::of(%s)", total_of(c, g, node), x, at);
    }
    for (int k = 0; k < g->node_count; k++)
        le_words_add(c->arena, &total, "%s%s%s", k ? ", " : "", k + 1 < g->node_count ? "{" : "", of[k]);
    for (int k = 1; k < g->node_count; k++)
        le_words_add(c->arena, &total, "}");
    c->term = NULL;
    return total.at;
}

/* more: of its parameters, behind the term's number */
static struct block *open_lambda(struct cuda *c, const struct group *g, struct block *block, const char *wish,
                                 const char **name, const char **at, const char *more) {
    *name = le_cuda_name(c, wish);
    *at = le_cuda_name(c, "at");
    struct block *inner = le_cuda_open(c, block,
                                       le_arena_format(c->arena, "const auto %s = [&](%s %s%s) -> %s", *name,
                                                       g->narrow ? "int" : "long long", *at, more, g->type));
    inner->tail = ";";
    return inner;
}

static void fill_term(struct cuda *c, const struct group *g, struct block *inner, const char *at) {
    const char *last;
    bind_outer(c, g, inner, at, &last);
    bind_last(c, g, inner, last);
    le_cuda_line(c, inner, "return %s;", le_group_total(c, g, inner, at));
    le_cuda_close(c, inner);
}

static void emit_term(struct cuda *c, struct group *g, struct block *block) {
    const char *at;
    struct block *inner = open_lambda(c, g, block, "term", &g->term, &at, "");
    fill_term(c, g, inner, at);
}

const char *le_group_quick_term(struct cuda *c, const struct group *g, struct block *block) {
    bool quick = false, safe = true;
    const char *name, *at, *usual;
    for (int k = 0; k < g->node_count; k++) {
        quick |= le_cuda_has_quick_ways(c, g->bodies[k]);
        safe &= le_cuda_is_safe(c, g->bodies[k]) && !g->bodies[k]->reduces && !g->bodies[k]->changes;
    }
    if (!quick || !safe || g->width > 1 || cost_of(c, g) < QUICK_COST)
        return NULL;
    usual = le_cuda_name(c, "usual");
    struct block *inner =
        open_lambda(c, g, block, "quick_term", &name, &at, le_arena_format(c->arena, ", bool &%s", usual));
    c->quick = inner;
    c->usual = usual;
    fill_term(c, g, inner, at);
    c->quick = NULL;
    return name;
}

static void visit_load(struct load_check *l, struct le_node *node) {
    bool known = node->kind != LE_NODE_LOAD || !is_plain(l->c, node);
    for (int k = 0; k < l->load_count; k++)
        known |= l->loads[k] == node;
    l->fits = known || l->load_count < LOADS_MAX;
    if (!known && l->fits)
        l->loads[l->load_count++] = node;
}

int le_group_loads(struct cuda *c, const struct group *g, struct le_node **loads) {
    struct load_check l = {.c = c, .g = g, .outer = -1, .inner = g->axes[g->axis_count - 1].position};
    if (!all_fit(&l, visit_load))
        return -1;
    for (int k = 0; k < l.load_count; k++)
        loads[k] = l.loads[k];
    return l.load_count;
}

bool le_team_is_wide(struct cuda *c, struct le_node *load, const int *index, int width) {
    struct group g = {.indices = index, .index_count = 1, .axis_count = 1};
    struct load_check l = {.c = c, .g = &g, .outer = -1, .width = width, .fits = true};
    visit_size(&l, load);
    if (l.fits)
        visit_aligned(&l, load);
    return l.fits;
}

/* Reads `width` elements of every load; base binds the indices of the first. */
static void read_loads(struct cuda *c, const struct group *g, const struct load_check *l, struct block *base,
                       const char **names) {
    for (int k = 0; k < l->load_count; k++) {
        const struct le_node *load = l->loads[k];
        const struct le_value *v = &c->ir->values.at[load->value];
        const char *place = le_cuda_trusted_place(c, load, base);
        names[k] = le_cuda_name(c, le_arena_format(c->arena, "%s_some", v->name));
        le_cuda_line(c, base, "%s %s[%d];\nle_read<%d>(%s, &%s);", le_cuda_stored(v->type), names[k], g->width,
                     g->width, names[k], place);
    }
}

static void emit_terms(struct cuda *c, struct group *g, struct block *block) {
    const char *last, *at, *names[LOADS_MAX], *some = le_cuda_name(c, "some"), *e = le_cuda_name(c, "e");
    struct load_check l = {.c = c, .g = g, .outer = -1, .inner = g->axes[g->axis_count - 1].position};
    all_fit(&l, visit_load);
    struct block *inner = open_lambda(c, g, block, "terms", &g->many, &at, "");
    bind_outer(c, g, inner, at, &last);
    struct block *base = le_cuda_open(c, inner, NULL);
    bind_last(c, g, base, last);
    read_loads(c, g, &l, base, names);
    le_cuda_close(c, base);
    le_cuda_line(c, inner, "%s %s[%d];", g->type, some, g->width);
    struct block *each = le_cuda_unrolled(c, inner, e, g->width);
    bind_last(c, g, each, le_arena_format(c->arena, "%s + %s", last, e));
    for (int k = 0; k < l.load_count; k++) {
        struct le_node *load = l.loads[k];
        enum le_type stored = c->ir->values.at[load->value].type;
        const char *x = le_cuda_from_memory(c, le_arena_format(c->arena, "%s[%s]", names[k], e), stored, load->type);
        const char *name = c->ir->values.at[load->value].name;
        le_cuda_know(c, load, each, le_cuda_hold(c, each, load->type, false, name, x)->text);
    }
    le_cuda_line(c, each, "%s[%s] = %s;", some, e,
                 le_group_total(c, g, each, le_arena_format(c->arena, "%s + %s", at, e)));
    le_cuda_close(c, each);
    le_cuda_line(c, inner, "return le_joined<%s, %d>(%s);", g->type, g->width, some);
    le_cuda_close(c, inner);
}

void le_group_emit(struct cuda *c, struct group *g, struct block *block) {
    le_group_declare(c, g);
    emit_term(c, g, block);
    g->many = g->term;
    if (g->width > 1)
        emit_terms(c, g, block);
}
