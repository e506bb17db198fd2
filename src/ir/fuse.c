/* Fusion: a handful of rules, not a search (docs/ARCHITECTURE.md).
 *
 * inline: a new array that one stage alone reads, or that is cheap, or that is larger than everything around it, is
 * computed where it is read and never stored. hoist: a reduction stays in a kernel where it is computed once for each
 * turn of the loops around it; else it becomes a stage of its own. Roundings stay: a value keeps its own node. */
#include "ir/ir.h"

#define CHEAP_COST         3    /* additions that may be done twice rather than stored */
#define KERNEL_COST_MAX    256  /* one kernel grows no further: past that, memory has stopped to matter */
#define LARGER_COST_MAX    4000 /* but for a temporary that is larger than everything around it */
#define SUBSCRIPT_COST_MAX 64   /* a subscript of more arithmetic is not looked into */
#define PATH_MAX           64

/* The loops around a node: the stage's, then those of the reductions that it stands in. */
struct path {
    int at[PATH_MAX];
    int count;
};

static void path_enter(struct path *path, const int *indices, int count) {
    for (int k = 0; k < count && path->count < PATH_MAX; k++)
        path->at[path->count++] = indices[k];
}

/* Whether `set` is the outermost so many loops of the path. */
static bool is_prefix(const struct path *path, const int *set, int count) {
    if (count > path->count)
        return false;
    for (int k = 0; k < count; k++) {
        bool found = false;
        for (int q = 0; q < count; q++)
            found |= set[q] == path->at[k];
        if (!found)
            return false;
    }
    return true;
}

/* The indices that a node depends on, but for the host's: those are fixed while a kernel runs. */
static struct path depends_on(const struct le_ir *ir, const struct le_node *node) {
    struct path out = {0};
    for (int k = 0; k < node->free_count; k++)
        if (!ir->indices.at[node->free[k]].host)
            path_enter(&out, &node->free[k], 1);
    return out;
}

/* The loops around a reduction's body: those that it is computed in (it stands outside of the loops that it does not
 * depend on), then its own. */
static void enter_reduction(const struct le_ir *ir, struct path *path, const struct le_node *reduction) {
    struct path own = depends_on(ir, reduction);
    if (is_prefix(path, own.at, own.count))
        path->count = own.count;
    path_enter(path, reduction->indices, reduction->index_count);
}

static bool has_index(const int *set, int count, int index) {
    for (int k = 0; k < count; k++)
        if (set[k] == index)
            return true;
    return false;
}

/* ---- facts about a stage's node */

static void find_untrusted(struct le_node *node, void *user) {
    if (node->kind == LE_NODE_LOAD && node->operand_count > 0 && !node->trusted)
        *(bool *)user = true;
}

static bool has_untrusted(struct le_ir *ir, struct le_node *node) {
    bool found = false;
    le_node_walk(ir, node, find_untrusted, &found);
    return found;
}

static void find_condition(struct le_node *node, void *user) {
    if (node->kind == LE_NODE_SELECT || node->kind == LE_NODE_ELSE || node->kind == LE_NODE_REGION ||
        (node->kind == LE_NODE_OP && (node->code == LE_OP_LAND || node->code == LE_OP_LOR)))
        *(bool *)user = true;
}

static bool has_condition(struct le_ir *ir, struct le_node *node) {
    bool found = false;
    le_node_walk(ir, node, find_condition, &found);
    return found;
}

static void find_else(struct le_node *node, void *user) {
    if (node->kind == LE_NODE_ELSE)
        *(bool *)user = true;
}

static bool has_else(struct le_ir *ir, struct le_node *node) {
    bool found = false;
    le_node_walk(ir, node, find_else, &found);
    return found;
}

/* A subscript that the range rules can look at, so that it is known to stay inside. */
static bool is_plain(const struct le_node *x) {
    if (x->kind == LE_NODE_INDEX || (x->free_count == 0 && !x->loads && !x->reduces))
        return true;
    if (x->cost > SUBSCRIPT_COST_MAX || x->kind != LE_NODE_OP ||
        (x->code == LE_OP_MUL && x->operands[0]->free_count && x->operands[1]->free_count))
        return false;
    bool plain = x->code == LE_OP_ADD || x->code == LE_OP_SUB || x->code == LE_OP_MUL || x->code == LE_OP_NEG;
    for (int k = 0; k < x->operand_count; k++)
        plain = plain && is_plain(x->operands[k]);
    return plain;
}

static void find_gather(struct le_node *node, void *user) {
    for (int k = 0; node->kind == LE_NODE_LOAD && node->edge == LE_EDGE_NONE && k < node->operand_count; k++)
        if (!is_plain(node->operands[k]))
            *(bool *)user = true;
}

/* Whether a read of it may turn out to be an error while it is computed. */
static bool may_fail(struct le_ir *ir, struct le_node *node) {
    bool found = false;
    le_node_walk(ir, node, find_gather, &found);
    return found;
}

/* ---- inline */

struct reads {
    struct le_ir *ir;
    const struct le_stage *producer;
    const struct le_stage *consumer;
    bool conditions; /* the consumer has some: only trusted reads may be replaced */
    bool fits;
    int count, regions; /* regions: around the node that is looked at */
};

static bool read_fits(const struct reads *r, const struct le_node *load, const struct path *path) {
    if (load->edge != LE_EDGE_NONE || (!load->trusted && r->conditions))
        return false;
    int set[LEAT_RANK_MAX], count = 0;
    for (int k = 0; k < load->operand_count; k++) {
        const struct le_node *x = load->operands[k];
        if (x->kind != LE_NODE_INDEX || r->ir->indices.at[x->index].depends)
            return false;
        if (k < load->stretch && !r->ir->indices.at[r->producer->left[k]->index].from_dots)
            return false; /* one element may stretch: only what is `...` in the producer stretches as well */
        if (!has_index(set, count, x->index))
            set[count++] = x->index;
    }
    if (r->regions > 0 && (r->producer->node->reduces || r->producer->node->cost > CHEAP_COST))
        return false; /* it may be read in a loop */
    if (!r->producer->node->reduces)
        return true;
    return count > 0 || path->count == 0 ? is_prefix(path, set, count) : false;
}

static void visit_reads(struct reads *r, struct le_node *node, const struct path *path, int epoch) {
    if (node->epoch == epoch || !r->fits)
        return;
    node->epoch = epoch;
    if (node->kind == LE_NODE_LOAD && node->value == r->producer->target) {
        r->count++;
        r->fits = read_fits(r, node, path);
        return;
    }
    struct path inner = *path;
    if (node->kind == LE_NODE_REDUCE) {
        enter_reduction(r->ir, &inner, node);
        epoch = ++r->ir->epoch;
    }
    r->regions += node->kind == LE_NODE_REGION;
    for (int k = 0; k < node->operand_count; k++)
        visit_reads(r, node->operands[k], &inner, epoch);
    r->regions -= node->kind == LE_NODE_REGION;
    /* an edge's fill is one number, and stays where it is stored */
}

static struct le_node *replace_loads(struct le_ir *ir, struct le_node *node, const struct le_stage *producer,
                                     int epoch) {
    if (node->epoch == epoch)
        return node->memo;
    struct le_node *made = node;
    if (node->kind == LE_NODE_LOAD && node->value == producer->target) {
        int from[LEAT_RANK_MAX];
        for (int k = 0; k < producer->left_count; k++)
            from[k] = producer->left[k]->index;
        made = le_node_substitute(ir, producer->node, from, node->operands, producer->left_count);
    } else if (node->operand_count > 0) {
        struct le_node copy = *node;
        copy.operands = LE_NEW_ARRAY(ir->arena, node->operand_count, struct le_node *);
        bool changed = false;
        for (int k = 0; k < node->operand_count; k++) {
            copy.operands[k] = replace_loads(ir, node->operands[k], producer, epoch);
            changed |= copy.operands[k] != node->operands[k];
        }
        if (changed)
            made = le_node_make(ir, &copy);
    }
    node->epoch = epoch;
    node->memo = made;
    return made;
}

struct around {
    const struct le_ir *ir;
    int rank;
};

static void widest_load(struct le_node *node, void *user) {
    struct around *a = user;
    if (node->kind == LE_NODE_LOAD && node->operand_count > a->rank)
        a->rank = node->operand_count;
}

/* A temporary of more axes than what it is made from and what is made from it. */
static bool is_larger(struct le_ir *ir, const struct le_stage *producer, const struct le_stage *consumer) {
    struct around a = {.ir = ir};
    le_node_walk(ir, producer->node, widest_load, &a);
    int rank = ir->values.at[producer->target].rank;
    return rank > a.rank && rank > ir->values.at[consumer->target].rank;
}

static bool may_inline(struct le_ir *ir, const struct le_stage *producer, const struct le_stage *consumer) {
    const struct le_value *value = &ir->values.at[producer->target];
    if (producer->dead || producer->kind != LE_STAGE_MAP || producer->base >= 0 || value->wanted ||
        producer->block != consumer->block)
        return false;
    for (int k = 0; k < producer->left_count; k++)
        if (producer->left[k]->kind != LE_NODE_INDEX || ir->indices.at[producer->left[k]->index].depends)
            return false;
    if (producer->node->kind == LE_NODE_ELSE && has_untrusted(ir, producer->node) && producer->node->cost > CHEAP_COST)
        return false; /* a stencil stays apart: its interior has no checks */
    int64_t cost = consumer->node->cost + producer->node->cost;
    if (cost <= KERNEL_COST_MAX &&
        (value->uses == 1 || (!producer->node->reduces && producer->node->cost <= CHEAP_COST)))
        return true;
    return cost <= LARGER_COST_MAX && !producer->node->reduces && is_larger(ir, producer, consumer);
}

/* ---- who reads what; kept up to date while stages change */

struct readers {
    struct le_ir *ir;
    int *seen; /* by value: the look that met it last */
    int look;
    struct {
        int *at;
        int count, capacity;
    } found;
};

static void find_value(struct le_node *node, void *user) {
    struct readers *r = user;
    if (node->kind != LE_NODE_LOAD || r->seen[node->value] == r->look)
        return;
    r->seen[node->value] = r->look;
    *LE_PUSH(r->ir->arena, &r->found) = node->value;
}

/* The values that a stage reads but for its node: subscripts on the left, bounds, the base. */
static void find_fixed(struct readers *r, const struct le_stage *stage) {
    for (int d = 0; d < stage->left_count; d++)
        le_node_walk(r->ir, stage->left[d], find_value, r);
    for (int k = 0; k < stage->index_count; k++) {
        const struct le_range_nodes *range = &r->ir->indices.at[stage->indices[k]].range;
        if (range->low)
            le_node_walk(r->ir, range->low, find_value, r);
        if (range->high)
            le_node_walk(r->ir, range->high, find_value, r);
    }
    if (stage->base >= 0 && r->seen[stage->base] != r->look) {
        r->seen[stage->base] = r->look;
        *LE_PUSH(r->ir->arena, &r->found) = stage->base;
    }
}

static void count_reads(struct readers *r, const struct le_stage *stage, int by) {
    r->look++;
    r->found.count = 0;
    find_fixed(r, stage);
    le_node_walk(r->ir, stage->node, find_value, r);
    for (int k = 0; k < r->found.count; k++)
        r->ir->values.at[r->found.at[k]].uses += by;
}

/* The value stands in a subscript on the left, in bounds or as the base: it has to be there. */
static bool read_elsewhere(struct readers *r, const struct le_stage *consumer, int value) {
    r->look++;
    r->found.count = 0;
    find_fixed(r, consumer);
    return r->seen[value] == r->look;
}

struct bounds {
    struct readers *readers;
    int value;
    bool found;
};

static void find_in_bounds(struct le_node *node, void *user) {
    struct bounds *b = user;
    for (int k = 0; k < node->index_count && !b->found; k++) {
        const struct le_range_nodes *range = &b->readers->ir->indices.at[node->indices[k]].range;
        const struct le_node *bounds[] = {range->low, range->high};
        for (int q = 0; q < 2; q++)
            b->found |= bounds[q] && bounds[q]->loads;
    }
}

/* Some reduction's bounds read an array: which one is not looked at. */
static bool has_read_bounds(struct readers *r, struct le_node *node) {
    struct bounds b = {.readers = r};
    if (node->reduces)
        le_node_walk(r->ir, node, find_in_bounds, &b);
    return b.found;
}

static bool inline_into(struct readers *readers, struct le_stage *consumer, struct le_stage *producer) {
    struct le_ir *ir = readers->ir;
    if (!may_inline(ir, producer, consumer) || read_elsewhere(readers, consumer, producer->target))
        return false;
    if (has_read_bounds(readers, consumer->node))
        return false;
    if (has_else(ir, consumer->node) && may_fail(ir, producer->node))
        return false; /* its error would become the consumer's `else` */
    struct reads r = {.ir = ir,
                      .producer = producer,
                      .consumer = consumer,
                      .conditions = has_condition(ir, consumer->node),
                      .fits = true};
    struct path path = {0};
    path_enter(&path, consumer->indices, consumer->index_count);
    visit_reads(&r, consumer->node, &path, ++ir->epoch);
    if (!r.fits || r.count == 0)
        return false;
    /* a substitution inside the rewrite takes epochs of its own; memos of this one are only lost, never mixed */
    count_reads(readers, consumer, -1);
    int indices = ir->indices.count;
    consumer->node = replace_loads(ir, consumer->node, producer, ++ir->epoch);
    le_ir_adopt_indices(ir, consumer->statement, indices);
    count_reads(readers, consumer, 1);
    if (ir->values.at[producer->target].uses == 0) {
        producer->dead = true;
        count_reads(readers, producer, -1);
    }
    return true;
}

struct sources {
    struct le_ir *ir;
    int at[PATH_MAX];
    int count;
};

static void find_source(struct le_node *node, void *user) {
    struct sources *s = user;
    if (node->kind != LE_NODE_LOAD || s->ir->values.at[node->value].stage < 0 || s->count == PATH_MAX)
        return;
    if (!has_index(s->at, s->count, node->value))
        s->at[s->count++] = node->value;
}

void le_pass_inline(struct le_ir *ir) {
    struct readers readers = {.ir = ir, .seen = LE_NEW_ARRAY(ir->arena, ir->values.count, int)};
    for (int k = ir->stages.count - 1; k >= 0; k--) {
        if (ir->stages.at[k].dead ||
            (ir->stages.at[k].kind != LE_STAGE_MAP && ir->stages.at[k].kind != LE_STAGE_SCATTER))
            continue;
        for (bool changed = true; changed;) {
            struct sources s = {.ir = ir};
            changed = false;
            le_node_walk(ir, ir->stages.at[k].node, find_source, &s);
            for (int q = 0; q < s.count && !changed; q++)
                changed = inline_into(&readers, &ir->stages.at[k], &ir->stages.at[ir->values.at[s.at[q]].stage]);
        }
    }
}

/* ---- hoist */

struct hoist {
    struct le_ir *ir;
    struct {
        struct le_stage *at;
        int count, capacity;
    } out;
    const struct le_stage *stage;
    bool conditions;
};

/* Within a region around it, it is another from step to step. */
static bool moves_in_region(const struct le_node *node, const struct path *own, const struct path *path) {
    for (int k = 0; k < own->count; k++)
        if (!has_index(path->at, path->count, own->at[k]))
            return true;
    return node->changes;
}

static bool stays(struct hoist *h, struct le_node *node, const struct path *path) {
    struct path own = depends_on(h->ir, node);
    if ((h->conditions && has_untrusted(h->ir, node)) || moves_in_region(node, &own, path))
        return true;
    if (path->count == 0)
        return node == h->stage->node && h->stage->kind < LE_STAGE_MOVE;
    if (own.count > LEAT_RANK_MAX)
        return true;
    for (int k = 0; k < own.count; k++)
        if (h->ir->indices.at[own.at[k]].depends)
            return true;
    return own.count > 0 && is_prefix(path, own.at, own.count);
}

/* A stage that computes the reduction for every point of the loops that it depends on; gives the load of its value. */
static struct le_node *own_stage(struct hoist *h, struct le_node *node, const struct path *path) {
    struct le_ir *ir = h->ir;
    int *indices = LE_NEW_ARRAY(ir->arena, node->free_count, int), count = 0;
    for (int k = 0; k < path->count; k++)
        if (le_node_depends(node, path->at[k]) && !has_index(indices, count, path->at[k]))
            indices[count++] = path->at[k];
    struct le_node **left = LE_NEW_ARRAY(ir->arena, count, struct le_node *);
    for (int k = 0; k < count; k++)
        left[k] = le_node_index(ir, indices[k]);
    struct le_value *v = LE_PUSH(ir->arena, &ir->values);
    int id = ir->values.count - 1;
    *v = (struct le_value){
        .id = id, .symbol = -1, .name = le_arena_format(ir->arena, "t.%d", id), .type = node->type, .rank = count};
    v->wanted = h->stage->kind >= LE_STAGE_MOVE; /* the host reads it */
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
                                                     .access = -1};
    return le_node_make(ir, &(struct le_node){.kind = LE_NODE_LOAD,
                                              .type = node->type,
                                              .value = id,
                                              .operands = left,
                                              .operand_count = count,
                                              .access = -1,
                                              .trusted = true});
}

static struct le_node *hoist(struct hoist *h, struct le_node *node, const struct path *path, int epoch) {
    if (!node->reduces)
        return node;
    if (node->epoch == epoch)
        return node->memo;
    struct path inner = *path;
    int inner_epoch = epoch;
    if (node->kind == LE_NODE_REDUCE) {
        enter_reduction(h->ir, &inner, node);
        inner_epoch = ++h->ir->epoch;
    }
    struct le_node copy = *node;
    copy.operands = LE_NEW_ARRAY(h->ir->arena, node->operand_count, struct le_node *);
    for (int k = 0; k < node->operand_count; k++)
        copy.operands[k] = hoist(h, node->operands[k], &inner, inner_epoch);
    struct le_node *made = le_node_make(h->ir, &copy);
    bool whole = node == h->stage->node && h->stage->kind < LE_STAGE_MOVE;
    if (node->kind == LE_NODE_REDUCE && (made == node || !whole) && !stays(h, made, path))
        made = own_stage(h, made, path);
    node->epoch = epoch;
    node->memo = made;
    return made;
}

static void mark_read(struct le_node *node, void *user) {
    if (node->kind == LE_NODE_LOAD)
        ((struct le_ir *)user)->values.at[node->value].wanted = true;
}

static struct le_node *hoist_root(struct hoist *h, struct le_node *root) {
    if (!root || !root->reduces)
        return root;
    struct path path = {0};
    path_enter(&path, h->stage->indices, h->stage->index_count);
    h->conditions = has_condition(h->ir, root);
    struct le_node *made = hoist(h, root, &path, ++h->ir->epoch);
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
