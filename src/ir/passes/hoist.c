/* hoist: a reduction stays in its kernel if it is computed once for each iteration of the loops around it. Otherwise it
 * becomes a stage of its own. Reductions in host conditions and bounds always do. If a hoisted reduction may fail, it
 * has terms only where it would have been reached: a guard repeats the loops around it whose number of iterations is
 * known only at run time. */
#include "base/hash.h"
#include "ir/path.h"

static void find_condition(struct le_node *node, void *user) {
    *(bool *)user |= le_node_chooses(node) || node->kind == LE_NODE_REGION;
}

static void find_region(struct le_node *node, void *user) {
    *(bool *)user |= node->kind == LE_NODE_REGION;
}

static bool contains(struct le_ir *ir, struct le_node *node, void (*find)(struct le_node *node, void *user)) {
    bool found = false;
    le_node_walk(ir, node, find, &found);
    return found;
}

struct hoist {
    struct le_ir *ir;
    struct {
        struct le_stage *at;
        int count, capacity;
    } out;
    const struct le_stage *stage;
    bool conditions;
    /* of the current root: */
    struct le_names paths;  /* from the loops around a node to the epoch of the memos under them */
    struct le_names stages; /* from a reduction to the number of its load in loads */
    struct {
        struct le_node **at;
        int count, capacity;
    } loads;
};

/* Whether its value varies between the steps of an enclosing region. */
static bool varies_in_region(const struct le_node *node, const struct path *own, const struct path *path) {
    for (int k = 0; k < own->count; k++)
        if (!le_has_index(path->at, path->count, own->at[k]))
            return true;
    return node->changes;
}

/* The reduction is the whole node of a stage, whose kernel it then is. A reduction that is assigned to one element of
 * an array, or fills one, is hoisted to a scalar first, because a kernel can split only scalar reductions between
 * tasks. */
static bool is_whole(const struct hoist *h, const struct le_node *node) {
    const struct le_stage *stage = h->stage;
    return node == stage->node && stage->kind < LE_STAGE_MOVE && stage->kind != LE_STAGE_FILL &&
           !(stage->kind == LE_STAGE_MAP && stage->index_count == 0 && stage->left_count > 0);
}

struct guarded {
    const struct le_ir *ir;
    bool found;
};

static void find_guarded(struct le_node *node, void *user) {
    struct guarded *g = user;
    int maker = node->kind == LE_NODE_LOAD ? g->ir->values.at[node->value].stage : -1;
    g->found |= maker >= 0 && g->ir->stages.at[maker].guarded && g->ir->stages.at[maker].target == node->value;
}

/* Whether a read in it may be out of range, including the reads of a guarded scan that it may have to compute itself.
 */
static bool may_fail(struct hoist *h, struct le_node *node) {
    struct guarded g = {.ir = h->ir, .found = node->untrusted};
    if (!g.found)
        le_node_walk(h->ir, node, find_guarded, &g);
    return g.found;
}

/* Whether a device should have a kernel for it: threads share the terms of a reduction that is a kernel's own, but one
 * thread alone would compute one that is part of a term of another reduction, or of an element that is scattered. own:
 * its loops. */
static bool is_inner(const struct hoist *h, const struct path *own) {
    bool inner = h->stage->kind == LE_STAGE_SCATTER && own->count > 0;
    for (int k = 0; k < own->count; k++)
        inner |= !le_has_index(h->stage->indices, h->stage->index_count, own->at[k]);
    return h->ir->for_device && inner && !h->conditions;
}

/* Whether the loops around it, which are `path`, compute it once for each iteration of its own loops. */
static bool is_computed_once(const struct path *own, const struct path *path) {
    return own->count > 0 && le_path_begins(path, own->at, own->count);
}

static bool stays_in_kernel(struct hoist *h, struct le_node *node, const struct path *path) {
    struct path own = le_path_of(h->ir, node);
    if ((h->conditions && may_fail(h, node)) || varies_in_region(node, &own, path))
        return true;
    if (path->count == 0)
        return is_whole(h, node);
    if (own.count > LEAT_RANK_MAX)
        return true;
    for (int k = 0; k < own.count; k++)
        if (h->ir->indices.at[own.at[k]].depends)
            return true;
    return is_computed_once(&own, path) && !is_inner(h, &own);
}

/* Adds a stage that computes the reduction for every point of the loops it depends on. Returns the load of its value.
 */
static struct le_node *add_stage(struct hoist *h, struct le_node *node, const struct path *path) {
    struct le_ir *ir = h->ir;
    struct path own = le_path_of(ir, node);
    int *indices = LE_NEW_ARRAY(ir->arena, node->free_count, int), count = 0;
    for (int k = 0; k < path->count; k++)
        if (le_node_depends(node, path->at[k]) && !le_has_index(indices, count, path->at[k]))
            indices[count++] = path->at[k];
    struct le_node **left = LE_NEW_ARRAY(ir->arena, count, struct le_node *);
    for (int k = 0; k < count; k++)
        left[k] = le_node_index(ir, indices[k]);
    struct le_value *v = LE_PUSH(ir->arena, &ir->values);
    int id = ir->values.count - 1;
    *v = (struct le_value){
        .id = id, .symbol = -1, .name = le_arena_format(ir->arena, "t.%d", id), .type = node->type, .rank = count};
    *LE_PUSH(ir->arena, &h->out) = (struct le_stage){.kind = LE_STAGE_MAP,
                                                     .statement = h->stage->statement,
                                                     .name = h->stage->name,
                                                     .target = id,
                                                     .base = -1,
                                                     .leader = -1,
                                                     .sibling = -1,
                                                     .index = -1,
                                                     .block = h->stage->block,
                                                     .indices = indices,
                                                     .index_count = count,
                                                     .left = left,
                                                     .left_count = count,
                                                     .node = node,
                                                     .access = -1,
                                                     .inner = is_computed_once(&own, path) && is_inner(h, &own)};
    return le_node_make(ir, &(struct le_node){.kind = LE_NODE_LOAD,
                                              .type = node->type,
                                              .value = id,
                                              .operands = left,
                                              .operand_count = count,
                                              .access = -1,
                                              .trusted = true});
}

static struct le_node *own_stage(struct hoist *h, struct le_node *node, const struct path *path) {
    int known = le_names_get(&h->stages, (const char *)&node, sizeof node);
    if (known >= 0)
        return h->loads.at[known];
    struct le_node **key = LE_NEW(h->ir->arena, struct le_node *), *load = add_stage(h, node, path);
    *key = node;
    le_names_put(h->ir->arena, &h->stages, (const char *)key, sizeof node, h->loads.count);
    *LE_PUSH(h->ir->arena, &h->loads) = load;
    return load;
}

/* ---- reductions that may fail, and the loops around them */

/* Whether the number of iterations is known only at run time and may be 0. */
static bool is_loose(const struct le_ir *ir, int index) {
    const struct le_ir_index *ix = &ir->indices.at[index];
    return ix->depends || (ix->range.low && (ix->range.low->free_count > 0 || ix->range.high->free_count > 0));
}

static bool has_untrusted_bounds(const struct le_ir *ir, const struct le_node *node) {
    bool found = false;
    for (int k = 0; k < node->index_count; k++) {
        const struct le_range_nodes *r = &ir->indices.at[node->indices[k]].range;
        found |= r->low && (r->low->untrusted || r->high->untrusted);
    }
    return found;
}

/* The loops that decide whether a reduction that may fail is reached at all: the loops around it, except those that it
 * is computed in. Loops whose ranges depend on each other form one part. Only a part with a loose loop needs a guard;
 * ranges known before the statement runs are checked in run/plan/empty_ranges.c. */
struct guards {
    int *at, *part;
    int count;
};

static void join_parts(struct guards *g, int a, int b) {
    for (int k = 0, from = g->part[a], to = g->part[b]; k < g->count; k++)
        if (g->part[k] == from)
            g->part[k] = to;
}

static struct guards find_guards(const struct hoist *h, const struct le_node *node, const struct path *all) {
    struct le_arena *arena = h->ir->arena;
    struct guards g = {.at = LE_NEW_ARRAY(arena, all->count, int), .part = LE_NEW_ARRAY(arena, all->count, int)};
    for (int k = 0; k < all->count; k++) {
        if (le_node_depends(node, all->at[k]) || le_has_index(g.at, g.count, all->at[k]))
            continue;
        const struct le_range_nodes *r = &h->ir->indices.at[all->at[k]].range;
        g.at[g.count] = all->at[k];
        g.part[g.count] = g.count;
        g.count++;
        for (int q = 0; r->low && q + 1 < g.count; q++)
            if (le_node_depends(r->low, g.at[q]) || le_node_depends(r->high, g.at[q]))
                join_parts(&g, q, g.count - 1);
    }
    return g;
}

static struct le_node *own_stage(struct hoist *h, struct le_node *node, const struct path *path);

/* A node that is true if the loops of the part have any iteration: the last one is not empty for some iteration of the
 * others. NULL if the part has no loose loop. */
static struct le_node *part_reached(struct hoist *h, const struct guards *g, int part, const struct path *path) {
    struct le_ir *ir = h->ir;
    int *loops = LE_NEW_ARRAY(ir->arena, g->count, int), count = 0;
    bool loose = false;
    for (int k = 0; k < g->count; k++)
        if (g->part[k] == part) {
            loops[count++] = g->at[k];
            loose |= is_loose(ir, g->at[k]);
        }
    if (!loose)
        return NULL;
    const struct le_range_nodes *last = &ir->indices.at[loops[count - 1]].range;
    struct le_node *ends[] = {last->low, last->high};
    struct le_node *any = le_node_op(ir, LE_OP_LT, LE_BOOL, ends, 2);
    if (count > 1)
        any = le_node_reduce(ir, LE_RED_ANY, LE_BOOL, any, loops, count - 1);
    bool costly = any->reduces || any->untrusted;
    return costly && le_path_of(ir, any).count == 0 ? own_stage(h, any, path) : any;
}

/* The reduction with its terms replaced by 0 where it would not be reached. */
static struct le_node *add_guards(struct hoist *h, struct le_node *node, const struct path *path,
                                  const struct path *all) {
    struct le_ir *ir = h->ir;
    const struct guards g = find_guards(h, node, all);
    struct le_node *term = node->operands[0], *zero = le_node_const(ir, term->type, 0);
    for (int part = 0; part < g.count; part++) {
        struct le_node *reached = part_reached(h, &g, part, path);
        if (reached)
            term = le_node_select(ir, reached, term, zero);
    }
    if (term == node->operands[0])
        return node;
    return le_node_reduce(ir, (enum le_reduction)node->code, node->type, term, node->indices, node->index_count);
}

/* Hoists the reduction and returns the load that replaces it, or the reduction itself if it cannot be hoisted. */
static struct le_node *hoist_out(struct hoist *h, struct le_node *node, const struct path *path,
                                 const struct path *all) {
    struct le_node *made = may_fail(h, node) ? add_guards(h, node, path, all) : node;
    return made != node && has_untrusted_bounds(h->ir, node) ? node : own_stage(h, made, path);
}

/* The epoch for memos under the given loops: under the same loops a node is rewritten to the same node, in any
 * reduction. all: as in hoist_reductions. */
static int epoch_under(struct hoist *h, const struct path *path, const struct path *all) {
    struct path key = le_path_enter(h->ir->arena, *path, (const int[]){-1}, 1);
    for (int k = 0; k < all->count; k++)
        if (is_loose(h->ir, all->at[k])) {
            key = le_path_enter(h->ir->arena, key, all->at, all->count);
            break;
        }
    size_t length = (size_t)key.count * sizeof *key.at;
    int epoch = le_names_get(&h->paths, (const char *)key.at, length);
    if (epoch >= 0)
        return epoch;
    epoch = le_walk_begin(h->ir);
    le_names_put(h->ir->arena, &h->paths, (const char *)key.at, length, epoch);
    return epoch;
}

/* path: the loops in which the node is computed. all: those and the loops that it is written in, but computed before.
 */
static struct le_node *hoist_reductions(struct hoist *h, struct le_node *node, const struct path *path,
                                        const struct path *all, int epoch) {
    if (!node->reduces)
        return node;
    struct le_node *known = le_walk_memo(h->ir, node, epoch);
    if (known)
        return known;
    struct path inner = *path, inner_all = *all;
    int inner_epoch = epoch;
    if (node->kind == LE_NODE_REDUCE) {
        inner = le_path_enter_reduction(h->ir->arena, *path, le_path_of(h->ir, node), node);
        inner_all = le_path_enter(h->ir->arena, *all, node->indices, node->index_count);
        inner_epoch = epoch_under(h, &inner, &inner_all);
    }
    struct le_node copy = *node;
    copy.operands = LE_NEW_ARRAY(h->ir->arena, node->operand_count, struct le_node *);
    for (int k = 0; k < node->operand_count; k++)
        copy.operands[k] = hoist_reductions(h, node->operands[k], &inner, &inner_all, inner_epoch);
    struct le_node *made = le_node_make(h->ir, &copy);
    if (node->kind == LE_NODE_REDUCE && (made == node || !is_whole(h, node)) && !stays_in_kernel(h, made, path))
        made = hoist_out(h, made, path, all);
    return le_walk_remember(h->ir, node, epoch, made);
}

static void mark_read(struct le_node *node, void *user) {
    if (node->kind == LE_NODE_LOAD)
        ((struct le_ir *)user)->values.at[node->value].wanted = true;
}

/* The loops of the value that fills an array run once, not for each element. */
static struct le_node *hoist_region(struct hoist *h, struct le_node *root, const struct path *path) {
    bool once = h->stage->kind == LE_STAGE_FILL && contains(h->ir, root, find_region);
    return once ? own_stage(h, root, path) : root;
}

static struct le_node *hoist_root(struct hoist *h, struct le_node *root) {
    if (!root || (!root->reduces && h->stage->kind != LE_STAGE_FILL))
        return root;
    struct path path = le_path_enter(h->ir->arena, (struct path){0}, h->stage->indices, h->stage->index_count);
    h->conditions = h->stage->guarded || contains(h->ir, root, find_condition);
    h->paths = h->stages = (struct le_names){0};
    h->loads.count = 0;
    struct le_node *made = hoist_region(h, hoist_reductions(h, root, &path, &path, le_walk_begin(h->ir)), &path);
    if (h->stage->kind >= LE_STAGE_MOVE)
        le_node_walk(h->ir, made, mark_read, h->ir);
    return made;
}

void le_pass_hoist(struct le_ir *ir) {
    struct hoist h = {.ir = ir};
    for (int k = 0; k < ir->stages.count; k++) {
        struct le_stage stage = ir->stages.at[k];
        h.stage = &stage;
        if (!stage.dead)
            stage.node = hoist_root(&h, stage.node);
        if (!stage.dead && stage.kind == LE_STAGE_FOR) {
            struct le_range_nodes range = ir->indices.at[stage.index].range;
            range.low = hoist_root(&h, range.low);
            range.high = hoist_root(&h, range.high);
            range.by = hoist_root(&h, range.by);
            ir->indices.at[stage.index].range = range;
        }
        *LE_PUSH(ir->arena, &h.out) = stage;
    }
    ir->stages.at = h.out.at;
    ir->stages.count = h.out.count;
    ir->stages.capacity = h.out.capacity;
    le_ir_number_stages(ir);
}
