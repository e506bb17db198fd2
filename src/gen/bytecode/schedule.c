/* Chooses how a stage's loops run: which are merged into one, and which one the lanes run along. */
#include "gen/bytecode/bytecode_gen.h"
#include "ir/path.h"

#define TILE_ELEMENTS 16384 /* that tile.c takes at once */
#define FEW_LANES     128   /* that make an instruction dear */
#define MANY_LANES    512   /* that make an instruction cheap */
#define TASK_LANES    2048  /* that are enough for several tasks of cheap instructions */
#define CHAIN_OWN     0.8   /* what a sum with reuse in lanes of its own is worth of another sum */

bool le_gen_is_for(const struct gen *g, int index) {
    return le_index_is_among(g->fors.at, g->fors.count, index);
}

int64_t le_gen_extent(const struct gen *g, int index) {
    return g->merged_count[index] ? g->merged_count[index] : le_index_extent(g->space, index);
}

/* ---- the indices in play */

void le_gen_walk(struct gen *g, void (*visit)(struct le_node *node, void *user), void *user) {
    for (int k = 0; k < g->node_count; k++)
        le_node_walk(g->ir, g->nodes[k], visit, user);
    for (int d = 0; d < g->stage->left_count; d++)
        le_node_walk(g->ir, g->stage->left[d], visit, user);
}

#define LISTED (-1) /* a merged_count, while they are collected */
struct index_collection {
    struct gen *g;
    int capacity;
};

static void add_index(struct index_collection *c, int index) {
    struct gen *g = c->g;
    if (g->merged_count[index] == LISTED)
        return;
    g->all = le_arena_grow(g->arena, g->all, g->all_count, &c->capacity, sizeof *g->all);
    g->all[g->all_count++] = index;
    g->merged_into[index] = index;
    g->merged_count[index] = LISTED;
}

static void add_local(struct gen *g, int local) {
    if (g->local_count == 0)
        g->first_local = local;
    int end = g->first_local + g->local_count;
    g->first_local = local < g->first_local ? local : g->first_local;
    g->local_count = (local >= end ? local + 1 : end) - g->first_local;
}

/* Which numbers of a REGION the kernel reads. */
static void note_read(const struct gen *g, struct le_node *node, bool second) {
    if (node->kind != LE_NODE_REGION)
        return;
    struct le_node_note *note = le_note_of(g->notes, node);
    if (note->read_epoch != g->safety.epoch)
        note->reads_first = note->reads_second = false;
    note->read_epoch = g->safety.epoch;
    note->reads_first |= !second;
    note->reads_second |= second;
}

static void add_node(struct le_node *node, void *user) {
    struct index_collection *c = user;
    bool region = node->kind == LE_NODE_REGION;
    for (int k = 0; k < node->index_count; k++) {
        add_index(c, node->indices[k]);
        if (region)
            *LE_PUSH(c->g->arena, &c->g->fors) = node->indices[k];
    }
    c->g->regions |= region;
    for (int k = 0; k < node->operand_count; k++)
        note_read(c->g, node->operands[k], node->kind == LE_NODE_SECOND);
    if (node->fill)
        note_read(c->g, node->fill, false);
    for (int k = 0; region && k < node->region->step_count; k++) {
        c->g->whiles |= node->region->steps[k].kind == LE_REGION_WHILE;
        if (node->region->steps[k].kind == LE_REGION_SET)
            add_local(c->g, node->region->steps[k].local);
    }
}

static void add_hosts(struct gen *g, const struct le_node *node) {
    for (int k = 0; node && k < node->free_count; k++) {
        bool known = !g->ir->indices.at[node->free[k]].host;
        for (int q = 0; q < g->hosts.count; q++)
            known |= g->hosts.at[q] == node->free[k];
        if (known)
            continue;
        *LE_PUSH(g->arena, &g->hosts) = node->free[k];
        g->merged_into[node->free[k]] = node->free[k];
    }
}

/* Bounds of a kept index count as the host's indices that they use. */
static void find_hosts(struct gen *g) {
    for (int k = 0; k < g->node_count; k++)
        add_hosts(g, g->nodes[k]);
    for (int k = 0; k < g->stage->left_count; k++)
        add_hosts(g, g->stage->left[k]);
    for (int k = 0; k < g->stage->index_count; k++) {
        const struct le_range_nodes *r = &g->ir->indices.at[g->stage->indices[k]].range;
        add_hosts(g, r->low);
        add_hosts(g, r->high);
        add_hosts(g, r->by);
    }
}

static void find_fors(struct gen *g) {
    int *loose = LE_NEW_ARRAY(g->arena, g->fors.count, int);
    le_sort_indices(g->fors.at, g->fors.count);
    g->safety.loose = loose;
    for (int k = 0; k < g->fors.count; k++)
        if (le_range_of(g->space, g->fors.at[k])->dynamic && !le_index_by_host(g->space, g->fors.at[k]))
            loose[g->safety.loose_count++] = g->fors.at[k];
    g->safety.notes_count = g->regions;
    g->splitting = LE_NEW_ARRAY(g->arena, g->all_count, int);
    for (int k = 0; k < g->all_count; k++) {
        g->merged_count[g->all[k]] = 0;
        if (le_range_of(g->space, g->all[k])->dynamic && !le_gen_is_for(g, g->all[k]))
            g->splitting[g->splitting_count++] = g->all[k];
    }
}

void le_gen_find_indices(struct gen *g) {
    struct index_collection c = {.g = g};
    for (int k = 0; k < g->stage->index_count; k++)
        add_index(&c, g->stage->indices[k]);
    for (int k = 0; k < g->node_count; k++)
        note_read(g, g->nodes[k], false);
    for (int d = 0; d < g->stage->left_count; d++)
        note_read(g, g->stage->left[d], false);
    le_gen_walk(g, add_node, &c);
    find_hosts(g);
    find_fors(g);
    g->locals = LE_NEW_ARRAY(g->arena, g->local_count, struct operand *);
}

/* ---- merging. An access that moves with the loops has to be a pointer in all axes: a computed offset would take the
 * merged index for both of them. */

static bool is_counted(const void *user, const struct le_address *address, bool trusted, bool live) {
    (void)live;
    return le_gen_is_linear(user, address, trusted);
}

static void try_merge(struct gen *g, int outer, int inner, bool kept) {
    int64_t count, outer_count = le_range_count(le_range_of(g->space, outer));
    int into = g->merged_into[inner];
    if (le_gen_drives_bounds(g, outer) || le_gen_drives_bounds(g, inner) ||
        (kept && !le_stage_in_any_order(g->stage)) || outer_count == 0 ||
        le_range_count(le_range_of(g->space, inner)) == 0)
        return; /* merged_count 0 says: not merged */
    const struct le_address target = le_gen_target(g);
    struct le_merging m = {.code = &g->safety,
                           .stage = g->stage,
                           .outer = outer,
                           .inner = into,
                           .inner_count = le_gen_extent(g, into),
                           .loops = true,
                           .is_counted = is_counted,
                           .user = g};
    if (!le_loops_merge(&m, g->nodes, g->node_count) ||
        !le_address_merges(&m, &target, le_gen_target_is_trusted(g), false) ||
        !le_mul_i64(m.inner_count, outer_count, &count))
        return;
    g->merged_count[into] = count;
    g->merged_into[outer] = into;
}

static void merge_list(struct gen *g, const int *indices, int count, bool kept) {
    for (int k = count - 2; k >= 0; k--)
        try_merge(g, indices[k], indices[k + 1], kept);
}

#define REDUCTIONS_MAX 32 /* of one kernel that are looked at for merging */
struct reductions {
    struct le_node *at[REDUCTIONS_MAX];
    int count;
};

static void find_reduction(struct le_node *node, void *user) {
    struct reductions *r = user;
    if (node->kind != LE_NODE_REDUCE)
        return;
    if (r->count < REDUCTIONS_MAX)
        r->at[r->count] = node;
    r->count++;
}

static bool shares_index(const struct le_node *a, const struct le_node *b) {
    for (int k = 0; k < a->index_count; k++)
        for (int q = 0; q < b->index_count; q++)
            if (a->indices[k] == b->indices[q])
                return true;
    return false;
}

/* One of several siblings: they run in one loop nest. */
static bool is_root(const struct gen *g, const struct le_node *node) {
    bool root = false;
    for (int k = 0; k < g->node_count; k++)
        root |= g->nodes[k] == node;
    return root && g->node_count > 1;
}

void le_gen_merge(struct gen *g) {
    struct reductions r = {.count = 0};
    merge_list(g, g->stage->indices, g->stage->index_count, true);
    if (!g->stage->node->reduces)
        return;
    le_gen_walk(g, find_reduction, &r);
    if (r.count > REDUCTIONS_MAX)
        return;
    for (int x = 0; x < r.count; x++) {
        bool alone = true; /* an index of two reductions is merged for neither */
        for (int y = 0; y < r.count; y++)
            alone &= y == x || is_root(g, r.at[x]) || !shares_index(r.at[x], r.at[y]);
        if (alone)
            merge_list(g, r.at[x]->indices, r.at[x]->index_count, false);
    }
}

/* ---- the lanes */

struct index_score {
    struct gen *g;
    int index; /* the candidate */
    int loads, strided;
    double good;
};

/* Whether a tile of it will be read: some loop that is around those that it depends on computes it again. */
static bool is_again(const struct index_score *s, const struct le_node *load) {
    const struct gen *g = s->g;
    int64_t elements = 1;
    bool again = false;
    for (int k = 0; k < g->all_count; k++) {
        int index = g->all[k];
        bool kept = le_has_index(g->stage->indices, g->stage->index_count, index);
        if (le_has_index(load->free, load->free_count, index)) {
            bool block = index == s->index && kept;
            if (!le_mul_i64(elements, block ? g->block : le_gen_extent(g, index), &elements))
                return false;
        } else if (kept != le_has_index(g->stage->indices, g->stage->index_count, s->index)) {
            again |= le_gen_extent(g, index) > 4;
        }
    }
    return again && elements <= TILE_ELEMENTS;
}

static void score_load(struct le_node *node, void *user) {
    struct index_score *s = user;
    int64_t stride;
    if (node->kind != LE_NODE_LOAD || node->operand_count == 0)
        return;
    s->loads++;
    const struct le_address address = le_load_address(s->g->kernel->layouts, node);
    if (!le_address_stride(s->g->space, &address, s->index, &stride))
        return;
    bool strided = stride != 0 && stride != 1;
    s->strided += strided;
    s->good += !strided ? 1 : is_again(s, node) ? 0.9 : 0;
}

static void score_stores(struct index_score *s, const struct le_node *node) {
    for (int k = 0; k < node->region->step_count; k++) {
        const struct le_region_step *step = &node->region->steps[k];
        int64_t stride;
        if (step->kind != LE_REGION_STORE)
            continue;
        const struct le_address address = le_store_address(s->g->kernel->layouts, s->g->stage, node, step);
        s->loads++;
        if (le_address_stride(s->g->space, &address, s->index, &stride)) {
            s->good += stride == 1;
            s->strided += stride != 1;
        }
    }
}

static double score_index(struct gen *g, struct le_node *node, int index) {
    struct index_score s = {.g = g, .index = index};
    le_node_walk(g->ir, node, score_load, &s);
    if (node->kind == LE_NODE_REGION)
        score_stores(&s, node);
    double extent = (double)le_gen_extent(g, index), fill = extent >= 64 ? 0.9 : extent / 64 * 0.9;
    return (fill + (extent >= MANY_LANES ? 0.1 : extent / MANY_LANES * 0.1)) * (s.good + 1) / (s.loads + 1);
}

struct full_search {
    struct gen *g;
    int last;              /* innermost kept index */
    struct le_node *found; /* a reduction that is computed for each of its values */
    int64_t extent;
};

static void find_full_reduction(struct le_node *node, void *user) {
    struct full_search *f = user;
    if (node->kind != LE_NODE_REDUCE)
        return;
    bool depends = false;
    for (int k = 0; k < node->free_count; k++)
        depends |= f->g->merged_into[node->free[k]] == f->last;
    int64_t extent = le_gen_extent(f->g, node->indices[node->index_count - 1]);
    if (!depends || (f->found && extent <= f->extent))
        return;
    f->found = node;
    f->extent = extent;
}

static int best_kept(struct gen *g, double *best) {
    int found = -1;
    *best = -1;
    for (int k = g->stage->index_count - 1; k >= 0; k--) {
        int index = g->stage->indices[k];
        if (g->merged_into[index] != index || le_gen_splits_bounds(g, index) || le_gen_by_moves(g, index))
            continue;
        double s = score_index(g, g->stage->node, index);
        if (s > *best * 1.5) {
            *best = s;
            found = index;
        }
    }
    return found;
}

static bool needs_kept(struct gen *g) {
    return g->stage->node->reduces && !le_node_is_safe(&g->safety, g->stage->node);
}

/* The store of an each's elements that may meet; le_gen_in_lanes: there is one. NULL: they write different places. */
static const struct le_region_step *store_that_meets(const struct le_stage *stage) {
    const struct le_region *region = stage->kind == LE_STAGE_EACH ? stage->node->region : NULL;
    for (int k = 0; region && k < region->step_count; k++)
        if (region->steps[k].kind == LE_REGION_STORE && !region->steps[k].own)
            return &region->steps[k];
    return NULL;
}

/* Whether it shows in what order elements meet: not in sums, products and extremes of integers. */
static bool shows_order(const struct gen *g) {
    const struct le_stage *stage = g->stage;
    const struct le_region_step *s = store_that_meets(stage);
    if (!s)
        return stage->kind == LE_STAGE_SCATTER;
    enum le_type type = g->ir->values.at[stage->pairs[s->target].target].type;
    return s->scatter == LE_SCATTER_SET || !(le_type_is_int(type) || type == LE_BOOL);
}

/* Whether it stands alone in a subscript of what may meet: its values write different elements. */
static bool is_apart(const struct gen *g, int index) {
    const struct le_stage *stage = g->stage;
    const struct le_region_step *s = store_that_meets(stage);
    struct le_node *const *subscripts = s ? stage->node->operands + s->first_subscript : stage->left;
    int count = s ? s->subscript_count : stage->left_count;
    for (int d = 0; d < count; d++)
        if (subscripts[d]->kind == LE_NODE_INDEX && subscripts[d]->index == index)
            return true;
    return false;
}

/* The lanes go in the order of the indices: those of the last, or of one before, if each element that is written has
 * one value of all that follow. */
static int lane_in_order(struct gen *g) {
    int k = g->stage->index_count - 1;
    while (k > 0 && le_gen_extent(g, g->stage->indices[k]) < FEW_LANES && is_apart(g, g->stage->indices[k]) &&
           le_gen_extent(g, g->stage->indices[k - 1]) > le_gen_extent(g, g->stage->indices[k]))
        k--;
    int lane = g->stage->indices[k];
    return le_gen_splits_bounds(g, lane) || le_gen_by_moves(g, lane) ? -1 : lane;
}

struct apart_search {
    const struct le_node *reduction;
    int lane;
    bool found;
};

/* Subscripts are integers. */
static void find_apart(struct le_node *node, void *user) {
    struct apart_search *s = user;
    s->found |= node->kind != LE_NODE_LOAD && !le_type_is_int(node->type) && !le_node_depends(node, s->lane) &&
                le_node_depends_on_any(node, s->reduction->indices, s->reduction->index_count);
}

/* A sum with reuse adds its terms in order: to do that in lanes of its own, the terms are transposed. That is avoided
 * if there are lanes enough, and no instruction computes what is the same in all of them. */
static bool avoids_transposing(struct gen *g, const struct le_node *reduction, int lane) {
    struct apart_search s = {.reduction = reduction, .lane = lane};
    if (!le_node_is_chain(reduction) || lane < 0 || le_gen_extent(g, lane) < TASK_LANES)
        return false;
    le_node_walk(g->ir, reduction->operands[0], find_apart, &s);
    return !s.found;
}

static void choose_lane(struct gen *g) {
    if (g->stage->index_count == 0 || !le_gen_in_lanes(g))
        return;
    int last = g->merged_into[g->stage->indices[g->stage->index_count - 1]];
    if (shows_order(g)) {
        g->lane = lane_in_order(g);
        return;
    }
    double kept;
    int lane = best_kept(g, &kept);
    struct full_search f = {.g = g, .last = last};
    le_node_walk(g->ir, g->stage->node, find_full_reduction, &f);
    if (!f.found || needs_kept(g)) {
        g->lane = lane;
        return;
    }
    int inner = f.found->indices[f.found->index_count - 1];
    double own = le_gen_splits_bounds(g, inner) ? -1 : score_index(g, f.found->operands[0], inner);
    g->lane = kept > own * (avoids_transposing(g, f.found, lane) ? CHAIN_OWN : 1) ? lane : -1;
}

/* Whether the index's loop may run inside the lanes'. */
static bool runs_inside(const struct gen *g, int index) {
    for (int k = 0; k < g->stage->index_count; k++) {
        if (g->merged_into[g->stage->indices[k]] == g->lane)
            break;
        if (g->stage->indices[k] == index)
            return false;
    }
    return g->merged_into[index] != g->lane;
}

/* Of the loops that index bounds. */
static bool bounds_are_equal(struct gen *g, int index) {
    for (int k = 0; k < g->all_count; k++) {
        const struct le_range_nodes *r = &g->ir->indices.at[g->all[k]].range;
        const struct le_node *bounds[] = {r->low, r->high, r->by};
        for (int b = 0; r->low && le_range_of(g->space, g->all[k])->dynamic && b < 3; b++)
            if (bounds[b] && le_node_depends(bounds[b], index) &&
                (le_depends_on_loose(&g->safety, bounds[b]) || !le_gen_is_equal(g, bounds[b], g->root)))
                return false;
    }
    return true;
}

void le_gen_choose_lane(struct gen *g) {
    g->lane = -1;
    if (le_gen_choose_rows(g))
        return;
    choose_lane(g);
    /* inside of lanes a loop's bounds are one number for all if they are simple */
    for (int k = 0; k < g->all_count && g->lane >= 0; k++)
        if (runs_inside(g, g->all[k]) && le_gen_splits_bounds(g, g->all[k]) && !bounds_are_equal(g, g->all[k]))
            g->lane = -1;
}

bool le_gen_is_strided(struct gen *g) {
    struct index_score s = {.g = g, .index = g->lane};
    if (g->lane < 0)
        return false;
    le_node_walk(g->ir, g->stage->node, score_load, &s);
    if (g->stage->node->kind == LE_NODE_REGION)
        score_stores(&s, g->stage->node);
    return s.strided > 0;
}

struct le_work le_gen_work(const struct gen *g) {
    return le_work_of(g->ir, g->space, g->stage, g->nodes, g->node_count);
}
