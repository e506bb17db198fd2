/* The loads of a group's terms: which of its axes are merged, how many terms or points a thread reads at once, and how
 * often before it waits. */
#include "gen/mapping/group_reduce.h"
#include <string.h>

#define NARROW_TERMS ((int64_t)1 << 30) /* an int counts these, and what is looked at behind them */
#define SIDE_MOST    4                  /* points of a thread whose terms read the same */
#define SIDE_BYTES   48                 /* of their totals: what registers hold several times */
#define DEAR_COST    128                /* additions of all terms that a thread makes at once */

static const struct le_range *range_at(const struct codegen *c, const struct group *g, int position) {
    return le_range_of(c->space, g->indices[position]);
}

/* ---- what every load of a term has to be */

struct load_check {
    struct codegen *c;
    const struct group *g;
    int inner;                        /* position */
    int width, largest;               /* elements; bytes of one */
    struct le_node *loads[LOADS_MAX]; /* those that depend on the inner index */
    int load_count;
    int point, across;         /* an index; loads that are, less those that are not */
    const struct group *terms; /* not NULL: what depends on none of its indices is not looked at */
    bool fits;
};

static bool find_stride(const struct codegen *c, const struct le_node *load, int index, int64_t *stride) {
    const struct le_address address = le_load_address(c->layouts, load);
    return le_address_stride(c->space, &address, index, stride);
}

static bool is_counted(const void *user, const struct le_address *address, bool trusted, bool live) {
    const struct codegen *c = user;
    return !live && (trusted || le_address_is_safe(c->space, address));
}

/* All of its places are inside, as they are. */
static bool is_plain(const struct codegen *c, const struct le_node *load) {
    const struct le_address address = le_load_address(c->layouts, load);
    return is_counted(c, &address, load->trusted, load->live);
}

/* Calls visit for the loads that depend on the inner index; a subscript's own loads are not looked at.
 */
static void look_at(struct load_check *l, struct le_node *node, int epoch,
                    void (*visit)(struct load_check *, struct le_node *)) {
    if (!l->fits || !le_node_depends(node, l->g->indices[l->inner]) ||
        (l->terms && !le_node_depends_on_any(node, l->terms->indices, l->terms->index_count)) ||
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

static struct le_merging merging_of(struct codegen *c, int outer, int inner, int64_t inner_count) {
    return (struct le_merging){.code = &c->safety,
                               .stage = c->stage,
                               .outer = outer,
                               .inner = inner,
                               .inner_count = inner_count,
                               .is_counted = is_counted,
                               .user = c};
}

static bool merges(struct codegen *c, const struct group *g, int position, const struct term_axis *inner) {
    struct le_merging m = merging_of(c, g->indices[position], g->indices[inner->position], inner->count);
    return le_loops_merge(&m, g->bodies, g->node_count);
}

/* From the last to the first, then turned round. An axis of one value is none, unless it is the last. */
static void find_axes(struct codegen *c, struct group *g) {
    for (int k = g->index_count - 1; k >= 0; k--) {
        int64_t count = g->ragged ? g->terms : le_range_count(range_at(c, g, k));
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

/* also: an access besides the nodes; NULL: none. */
static bool are_one_axis(struct codegen *c, const int *indices, int count, struct le_node *const *nodes, int node_count,
                         const struct le_address *also, bool trusted) {
    int inner = indices[count - 1];
    int64_t inner_count = le_range_count(le_range_of(c->space, inner));
    for (int k = count - 2; k >= 0; k--) {
        int64_t own = le_range_count(le_range_of(c->space, indices[k]));
        struct le_merging m = merging_of(c, indices[k], inner, inner_count);
        if (own > 1 &&
            (!le_loops_merge(&m, nodes, node_count) || (also && !le_address_merges(&m, also, trusted, false))))
            return false;
        inner_count *= own;
    }
    return true;
}

bool le_group_is_one_axis(struct codegen *c, const int *indices, int count, struct le_node *const *nodes,
                          int node_count) {
    return are_one_axis(c, indices, count, nodes, node_count, NULL, false);
}

bool le_team_target_is_one_axis(struct codegen *c, const int *indices, int count) {
    const struct le_node target = le_codegen_target(c);
    const struct le_address address = le_load_address(c->layouts, &target);
    return are_one_axis(c, indices, count, NULL, 0, &address, target.trusted);
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

/* Whether the address is a multiple of width elements where the inner index is at its low. */
static bool axis_is_aligned(const struct load_check *l, const struct le_address *address, int d, int64_t *constant) {
    int64_t low;
    int inner = l->g->indices[l->inner];
    struct le_affine f;
    if (!le_axis_elements(l->c->space, address, d, &f))
        return address->layout->strides[d] % l->width == 0 && !le_node_depends(address->subscripts[d], inner);
    *constant += f.constant;
    for (int k = 0; k < f.count; k++) {
        if (f.index[k] == inner)
            *constant += f.factor[k] * range_at(l->c, l->g, l->inner)->low;
        else if (is_at_low(l, f.index[k], &low))
            *constant += f.factor[k] * low;
        else if (f.factor[k] % l->width != 0)
            return false;
    }
    return true;
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
    const struct le_address address = le_load_address(l->c->layouts, node);
    int64_t constant = address.layout->offset;
    l->fits = facts->is_aligned(facts->user, node->value);
    for (int d = 0; d < address.rank && l->fits; d++)
        l->fits = axis_is_aligned(l, &address, d, &constant);
    l->fits = l->fits && constant % l->width == 0;
}

int le_group_width(struct codegen *c, const struct group *g) {
    const struct term_axis *last = &g->axes[g->axis_count - 1];
    struct load_check l = {.c = c, .g = g, .inner = last->position};
    if (g->ragged || range_at(c, g, last->position)->by != 1 || !all_fit(&l, visit_size) || l.largest == 0 ||
        l.largest > 8)
        return 1;
    for (l.width = 16 / l.largest; l.width > 1; l.width /= 2)
        if ((g->axis_count == 1 || last->count % l.width == 0) && all_fit(&l, visit_aligned))
            break;
    return l.width;
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

bool le_group_is_across(struct codegen *c, const struct group *g, int index) {
    struct load_check l = {.c = c, .g = g, .inner = g->axes[g->axis_count - 1].position, .point = index};
    return all_fit(&l, visit_across) && l.across > 0;
}

int le_group_bytes(const struct group *g) {
    int bytes = 0;
    for (int k = 0; k < g->node_count; k++)
        bytes += (int)le_type_size(g->bodies[k]->type) + (le_node_is_arg(g->nodes[k]) ? (g->narrow ? 4 : 8) : 0);
    return bytes;
}

/* How often it reads before it waits: as often as registers hold the totals, and what is dear needs no more of it. */
static int find_unroll(const struct group *g, int64_t cost) {
    int unroll = 8, bytes = le_group_bytes(g);
    int64_t dear = (g->width > 1 ? 4 : 2) * DEAR_COST;
    while (unroll > 1 &&
           (cost * g->width * unroll * (bytes > 4 ? 2 : 1) > dear || unroll * bytes > 64 || unroll * g->width > 64))
        unroll /= 2;
    return unroll;
}

int64_t le_group_cost(struct codegen *c, const struct group *g) {
    int epoch = ++c->notes->epoch;
    int64_t cost = 1;
    for (int k = 0; k < g->node_count; k++)
        cost += g->share ? le_new_cost(c->notes, g->bodies[k], epoch) : g->bodies[k]->cost;
    return cost;
}

bool le_group_is_dear(struct codegen *c, const struct group *g) {
    return le_group_cost(c, g) > DEAR_COST / 4;
}

void le_group_shape(struct codegen *c, struct group *g) {
    int64_t cost = le_group_cost(c, g);
    find_axes(c, g);
    const struct le_range *r = range_at(c, g, 0);
    g->narrow = g->ragged ? r->bounded && le_codegen_fits_int(r->low, r->high) && r->high - r->low <= NARROW_TERMS
                          : g->terms <= NARROW_TERMS;
    g->width = g->chain || le_group_is_dear(c, g) ? 1 : le_group_width(c, g);
    g->unroll = find_unroll(g, cost);
}

/* ---- what a thread reads */

static void visit_load(struct load_check *l, struct le_node *node) {
    bool known = node->kind != LE_NODE_LOAD || !is_plain(l->c, node);
    for (int k = 0; k < l->load_count; k++)
        known |= l->loads[k] == node;
    l->fits = known || l->load_count < LOADS_MAX;
    if (!known && l->fits)
        l->loads[l->load_count++] = node;
}

static int found_loads(struct load_check *l, struct le_node **loads) {
    if (!all_fit(l, visit_load))
        return -1;
    memcpy(loads, l->loads, (size_t)l->load_count * sizeof *loads);
    return l->load_count;
}

int le_group_loads(struct codegen *c, const struct group *g, struct le_node **loads) {
    struct load_check l = {.c = c, .g = g, .inner = g->axes[g->axis_count - 1].position};
    return found_loads(&l, loads);
}

int le_group_dense_loads(struct codegen *c, const struct group *g, struct le_node **loads, int *largest) {
    struct load_check l = {.c = c, .g = g, .inner = g->axes[g->axis_count - 1].position};
    bool dense = range_at(c, g, l.inner)->by == 1 && all_fit(&l, visit_size);
    *largest = l.largest;
    return dense ? le_group_loads(c, g, loads) : 0;
}

/* Nodes that change from term to term, but not with the index. */
struct shared_search {
    const struct group *terms;
    int index, epoch;
    int64_t cost;
};
static void add_shared(struct le_node_notes *notes, struct shared_search *s, struct le_node *node) {
    if (!le_node_depends_on_any(node, s->terms->indices, s->terms->index_count) || le_note_met(notes, node, s->epoch))
        return;
    if (!le_node_depends(node, s->index)) {
        s->cost += node->cost;
        return;
    }
    for (int k = 0; k < node->operand_count; k++)
        add_shared(notes, s, node->operands[k]);
}

/* The loads of the terms by themselves, as if neighbouring terms had neighbouring values of that index. */
static struct group across(const struct group *g, const int *index) {
    struct group side = {.indices = index, .index_count = 1, .axis_count = 1, .node_count = g->node_count};
    memcpy(side.bodies, g->bodies, sizeof side.bodies);
    return side;
}

static int widest(struct load_check *l, int most) {
    int64_t count = le_range_count(range_at(l->c, l->g, 0));
    for (l->width = most; l->width > 1; l->width /= 2)
        if (count % l->width == 0 && all_fit(l, visit_aligned))
            return l->width;
    return 1;
}

int le_side_width(struct codegen *c, const struct group *g, int index, int most_bytes) {
    struct group side = across(g, &index);
    struct load_check l = {.c = c, .g = &side, .terms = g};
    if (range_at(c, &side, 0)->by != 1 || g->chain || !all_fit(&l, visit_size) || l.largest == 0)
        return 1;
    return widest(&l, most_bytes / l.largest);
}

int le_side_most(struct codegen *c, const struct group *g, int index) {
    struct group side = across(g, &index);
    struct load_check l = {.c = c, .g = &side, .terms = g};
    int most = SIDE_MOST;
    if (range_at(c, &side, 0)->by != 1 || !all_fit(&l, visit_size) || (l.largest > 0 && !g->chain))
        return 1;
    while (most > 1 && (most * l.largest > 16 || most * le_group_bytes(g) > SIDE_BYTES))
        most /= 2;
    return widest(&l, most);
}

int64_t le_side_shared_cost(struct codegen *c, const struct group *g, int index) {
    struct shared_search s = {.terms = g, .index = index, .epoch = ++c->notes->epoch};
    for (int k = 0; k < g->node_count; k++)
        add_shared(c->notes, &s, g->bodies[k]);
    return s.cost;
}

int le_side_loads(struct codegen *c, const struct group *g, struct le_node **loads) {
    struct group side = across(g, &g->side->index);
    struct load_check l = {.c = c, .g = &side, .terms = g};
    return found_loads(&l, loads);
}

bool le_team_is_wide(struct codegen *c, struct le_node *load, const int *indices, int count, int width) {
    struct group g = {.indices = indices, .index_count = count, .axis_count = 1, .axes[0].position = count - 1};
    struct load_check l = {.c = c, .g = &g, .inner = count - 1, .width = width, .fits = true};
    visit_size(&l, load);
    if (l.fits)
        visit_aligned(&l, load);
    return l.fits;
}

int le_chain_wide_loads(struct codegen *c, const struct group *g, struct le_node **loads) {
    const struct term_axis *last = &g->axes[g->axis_count - 1];
    int count = 0, wide = 0;
    if (g->chain && !g->ragged && g->axis_count == 1 && range_at(c, g, last->position)->by == 1 &&
        le_chain_unroll(g) >= CHAIN_WIDTH)
        count = le_group_loads(c, g, loads);
    for (int k = 0; k < count; k++)
        if (le_type_size(c->ir->values.at[loads[k]->value].type) == 4 &&
            le_team_is_wide(c, loads[k], &g->indices[last->position], 1, CHAIN_WIDTH))
            loads[wide++] = loads[k];
    return wide;
}

bool le_group_is_dense(struct codegen *c, const struct group *g, const struct le_node *load) {
    int64_t stride;
    int last = g->indices[g->axes[g->axis_count - 1].position];
    return find_stride(c, load, last, &stride) && (stride == 1 || stride == -1);
}

bool le_group_can_stage(struct codegen *c, const struct group *g) {
    struct le_node *loads[LOADS_MAX];
    int count = le_group_loads(c, g, loads);
    for (int k = 0; k < count; k++)
        if (!le_group_is_dense(c, g, loads[k]))
            return false;
    return count > 0;
}
