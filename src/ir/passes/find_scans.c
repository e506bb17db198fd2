/* scan: finds reductions over a range that ends at i + c (a prefix) or starts there (a suffix), with a body that does
 * not depend on i. Such a reduction becomes a stage of its own, which computes the totals for all i in linear time and
 * is read in place of the reduction. i is an index of the stage, or of an enclosing reduction, with a range of its own.
 * The reduction's other indices are reduced inside each term. Not scans: i with a factor other than 1 or -1, bounds
 * that depend on anything besides i, and bodies with a range that depends on the scanned index or has bounds read from
 * arrays. Whether a reduction is a scan depends on its own statement only. The pass runs before fusion, so fusion does
 * not change results. */
#include "ir/path.h"

struct scans {
    struct le_ir *ir;
    struct {
        struct le_stage *at;
        int count, capacity;
    } out;
    struct le_stage *stage;
    struct {
        struct scan_made {
            struct le_node *reduction, *load;
        } * at;
        int count, capacity;
    } made; /* scans already found in this stage */
    int epoch;
};

/* A reduction that is a scan. */
struct pattern {
    int index, scanned; /* i; the index whose range i bounds */
    struct le_node *term;
    int kept[LEAT_RANK_MAX]; /* the other indices that the term depends on, in path order */
    int kept_count;
};

/* ---- recognition */

/* Returns 1 or -1 if x is i + c or c - i, with c free of indices; else 0. */
static int factor_of(const struct le_node *x) {
    if (x->kind == LE_NODE_INDEX)
        return 1;
    if (x->kind != LE_NODE_OP || x->type != LE_I64)
        return 0;
    const struct le_node *a = x->operands[0], *b = x->operand_count == 2 ? x->operands[1] : NULL;
    if (x->code == LE_OP_NEG)
        return -factor_of(a);
    if (!b || (x->code != LE_OP_ADD && x->code != LE_OP_SUB) || (a->free_count && b->free_count))
        return 0;
    return a->free_count ? factor_of(a) : x->code == LE_OP_ADD ? factor_of(b) : -factor_of(b);
}

struct bounded {
    const struct le_ir *ir;
    int index;
    bool found;
};

static void find_bounded(struct le_node *node, void *user) {
    struct bounded *b = user;
    for (int k = 0; k < node->index_count; k++) {
        const struct le_range_nodes *r = &b->ir->indices.at[node->indices[k]].range;
        const struct le_node *bounds[] = {r->low, r->high, r->by};
        for (size_t q = 0; q < ARRAY_LEN(bounds); q++)
            b->found |= bounds[q] && le_node_depends(bounds[q], b->index);
    }
}

/* Whether a range inside node depends on the index. */
static bool bounds_depend(struct le_ir *ir, struct le_node *node, int index) {
    struct bounded b = {.ir = ir, .index = index};
    le_node_walk(ir, node, find_bounded, &b);
    return b.found;
}

struct bounds_check {
    const struct le_ir *ir;
    bool has_region, fails;
};

static void find_region(struct le_node *node, void *user) {
    if (node->kind == LE_NODE_REGION)
        *(bool *)user = true;
}

static void find_unshared(struct le_node *node, void *user) {
    struct bounds_check *s = user;
    for (int k = 0; k < node->index_count && node->kind != LE_NODE_REGION; k++) {
        const struct le_range_nodes *r = &s->ir->indices.at[node->indices[k]].range;
        const struct le_node *bounds[] = {r->low, r->high, r->by};
        for (size_t b = 0; b < ARRAY_LEN(bounds); b++)
            s->fails |= bounds[b] && (bounds[b]->changes || bounds[b]->loads ||
                                      (s->has_region && (bounds[b]->free_count || bounds[b]->operand_count)));
    }
}

/* The lanes of a scan share every loop inside its term, so the loops' bounds are computed once, before the lanes.
 * Bounds that read arrays may fail and cannot be moved there. If the term contains regions, no computed bounds can. */
static bool has_shared_bounds(struct le_ir *ir, struct le_node *term) {
    struct bounds_check s = {.ir = ir};
    le_node_walk(ir, term, find_region, &s.has_region);
    le_node_walk(ir, term, find_unshared, &s);
    return !s.fails;
}

/* The bound that depends on one index, by a factor of 1 or -1, while the other bound depends on none; NULL if the range
 * has another form. */
static const struct le_node *moving_end(const struct le_ir *ir, int index) {
    const struct le_range_nodes *r = &ir->indices.at[index].range;
    if (!r->low || !r->high || (r->by && !(r->by->kind == LE_NODE_CONST && le_const_i64(r->by) == 1)))
        return NULL;
    const struct le_node *end = r->high->free_count ? r->high : r->low, *other = end == r->high ? r->low : r->high;
    bool fits = end->free_count == 1 && other->free_count == 0 && !end->changes && !other->changes;
    return fits && factor_of(end) != 0 ? end : NULL;
}

/* A scan has an order of its own, with reuse or without. */
static enum le_reduction scanned_reduction(const struct le_node *n) {
    return le_node_is_chain(n) ? LE_RED_SUM : (enum le_reduction)n->code;
}

/* The term of the scan: the reduction's body, reduced over the indices that are not scanned. */
static struct le_node *term_of(struct le_ir *ir, struct le_node *n, int scanned) {
    int *others = LE_NEW_ARRAY(ir->arena, n->index_count, int), count = 0;
    for (int k = 0; k < n->index_count; k++)
        if (n->indices[k] != scanned)
            others[count++] = n->indices[k];
    struct le_node *body = n->operands[0];
    return count ? le_node_reduce(ir, scanned_reduction(n), n->type, body, others, count) : body;
}

static bool find_kept(const struct scans *s, const struct path *path, struct pattern *p) {
    for (int k = 0; k < p->term->free_count; k++) {
        int index = p->term->free[k];
        const struct le_ir_index *ix = &s->ir->indices.at[index];
        if (index != p->scanned && !ix->host && (ix->depends || !le_has_index(path->at, path->count, index)))
            return false;
    }
    for (int k = 0; k < path->count; k++) {
        int index = path->at[k];
        if (!le_node_depends(p->term, index) || s->ir->indices.at[index].host ||
            le_has_index(p->kept, p->kept_count, index))
            continue;
        if (p->kept_count + 1 == LEAT_RANK_MAX)
            return false;
        p->kept[p->kept_count++] = index;
    }
    return true;
}

static bool match_scan(const struct scans *s, struct le_node *n, const struct path *path, struct pattern *p) {
    for (int k = 0; k < n->index_count && !n->changes; k++) {
        const struct le_node *end = moving_end(s->ir, n->indices[k]);
        if (!end || (le_node_is_arg(n) && factor_of(end) < 0))
            continue;
        *p = (struct pattern){.index = end->free[0], .scanned = n->indices[k]};
        const struct le_ir_index *ix = &s->ir->indices.at[p->index];
        if (ix->host || ix->depends || !le_has_index(path->at, path->count, p->index))
            continue;
        p->term = term_of(s->ir, n, p->scanned);
        if (!le_node_depends(p->term, p->index) && !bounds_depend(s->ir, p->term, p->scanned) &&
            has_shared_bounds(s->ir, p->term) && find_kept(s, path, p))
            return true;
    }
    return false;
}

/* ---- the scan's stage */

static struct le_node *scan_node(struct le_ir *ir, const struct le_node *n, const struct pattern *p) {
    return le_node_reduce(ir, scanned_reduction(n), n->type, p->term, &p->scanned, 1);
}

/* Whether the stage itself can be the scan and write its totals directly. */
static bool is_whole_stage(const struct scans *s, const struct le_node *n, const struct pattern *p) {
    const struct le_stage *stage = s->stage;
    if (stage->kind != LE_STAGE_MAP || stage->node != n || s->ir->indices.at[p->index].range.by)
        return false;
    for (int k = 0; k < stage->index_count; k++)
        if (stage->indices[k] != p->index && !le_has_index(p->kept, p->kept_count, stage->indices[k]))
            return false;
    return stage->index_count == p->kept_count + 1;
}

/* Whether some point of these loops is in a range that may be empty, so that the scan is not read there. */
static bool may_be_unread(const struct scans *s, const struct path *path) {
    for (int k = 0; k < path->count; k++)
        if (s->ir->indices.at[path->at[k]].depends)
            return true;
    return false;
}

static struct le_node *own_stage(struct scans *s, const struct le_node *n, const struct pattern *p,
                                 const struct path *path) {
    struct le_ir *ir = s->ir;
    int count = p->kept_count + 1, *indices = LE_NEW_ARRAY(ir->arena, count, int);
    struct le_node **left = LE_NEW_ARRAY(ir->arena, count, struct le_node *);
    for (int k = 0; k < count; k++) {
        indices[k] = k < p->kept_count ? p->kept[k] : p->index;
        left[k] = le_node_index(ir, indices[k]);
    }
    struct le_value *v = LE_PUSH(ir->arena, &ir->values);
    int id = ir->values.count - 1;
    *v = (struct le_value){
        .id = id, .symbol = -1, .name = le_arena_format(ir->arena, "t.%d", id), .type = n->type, .rank = count};
    *LE_PUSH(ir->arena, &s->out) = (struct le_stage){.kind = LE_STAGE_SCAN,
                                                     .statement = s->stage->statement,
                                                     .name = s->stage->name,
                                                     .block = s->stage->block,
                                                     .target = id,
                                                     .base = -1,
                                                     .leader = -1,
                                                     .sibling = -1,
                                                     .index = -1,
                                                     .indices = indices,
                                                     .index_count = count,
                                                     .left = left,
                                                     .left_count = count,
                                                     .node = scan_node(ir, n, p),
                                                     .guarded = may_be_unread(s, path),
                                                     .access = -1};
    return le_node_make(ir, &(struct le_node){.kind = LE_NODE_LOAD,
                                              .type = n->type,
                                              .value = id,
                                              .operands = left,
                                              .operand_count = count,
                                              .access = -1,
                                              .trusted = true});
}

/* ---- COUNT of a prefix, in closed form */

static struct le_node *make_op2(struct le_ir *ir, int code, enum le_type type, struct le_node *a, struct le_node *b) {
    struct le_node *x[] = {a, b};
    return le_node_op(ir, code, type, x, 2);
}

static struct le_node *count_points(struct le_ir *ir, struct le_node *n) {
    for (int k = 0; k < n->index_count; k++) {
        const struct le_range_nodes *r = &ir->indices.at[n->indices[k]].range;
        const struct le_node *end = moving_end(ir, n->indices[k]);
        if (!end || le_has_index(n->indices, n->index_count, end->free[0]))
            continue;
        struct le_node *length = make_op2(ir, LE_OP_SUB, LE_I64, r->high, r->low);
        length = make_op2(ir, LE_OP_MAX, LE_I64, length, le_node_i64(ir, 0));
        struct le_node rest = *n;
        rest.indices = LE_NEW_ARRAY(ir->arena, n->index_count, int);
        rest.index_count = 0;
        bool alone = true;
        for (int q = 0; q < n->index_count; q++) {
            if (q == k)
                continue;
            const struct le_range_nodes *other = &ir->indices.at[n->indices[q]].range;
            const struct le_node *bounds[] = {other->low, other->high, other->by};
            for (size_t b = 0; b < ARRAY_LEN(bounds); b++)
                alone &= !bounds[b] || !le_node_depends(bounds[b], n->indices[k]);
            rest.indices[rest.index_count++] = n->indices[q];
        }
        if (alone)
            return rest.index_count ? make_op2(ir, LE_OP_MUL, LE_I64, length, le_node_make(ir, &rest)) : length;
    }
    return n;
}

/* ---- the rewrite */

static struct le_node *replace_reduction(struct scans *s, struct le_node *n, const struct path *path) {
    for (int k = 0; k < s->made.count; k++)
        if (s->made.at[k].reduction == n)
            return s->made.at[k].load;
    struct pattern p;
    if (!match_scan(s, n, path, &p))
        return n;
    if (is_whole_stage(s, n, &p)) {
        s->stage->kind = LE_STAGE_SCAN;
        return scan_node(s->ir, n, &p);
    }
    struct le_node *load = own_stage(s, n, &p, path);
    *LE_PUSH(s->ir->arena, &s->made) = (struct scan_made){n, load};
    return load;
}

/* Regions are not changed: their steps may not be reached. */
static struct le_node *replace_scans(struct scans *s, struct le_node *n, const struct path *path) {
    struct le_node *made = n, *known = le_walk_memo(s->ir, n, s->epoch);
    if (known)
        return known;
    struct path inner = *path;
    if (n->kind == LE_NODE_REDUCE)
        inner = le_path_enter(s->ir->arena, *path, n->indices, n->index_count);
    if (n->operand_count > 0 && n->kind != LE_NODE_REGION) {
        struct le_node copy = *n;
        copy.operands = LE_NEW_ARRAY(s->ir->arena, n->operand_count, struct le_node *);
        for (int k = 0; k < n->operand_count; k++)
            copy.operands[k] = replace_scans(s, n->operands[k], &inner);
        made = le_node_make(s->ir, &copy);
    }
    if (made->kind == LE_NODE_COUNT)
        made = count_points(s->ir, made);
    if (made->kind == LE_NODE_REDUCE && (made == n || n != s->stage->node))
        made = replace_reduction(s, made, path);
    return le_walk_remember(s->ir, n, s->epoch, made);
}

/* ---- reads under a condition */

static void find_condition(struct le_node *node, void *user) {
    if (le_node_chooses(node))
        *(bool *)user = true;
}

struct risk {
    const struct scans *s;
    int from;
    bool found;
};

/* A read that may be out of range, or a read of a guarded scan, which may have to be computed by its reader. */
static void find_risk(struct le_node *node, void *user) {
    struct risk *r = user;
    r->found |= le_node_is_untrusted(node) && node->edge == LE_EDGE_NONE;
    for (int k = r->from; k < r->s->out.count && node->kind == LE_NODE_LOAD; k++)
        r->found |= r->s->out.at[k].guarded && r->s->out.at[k].target == node->value;
}

/* Marks new stages, from number `from` on, that may perform reads which the statement would have skipped. */
static void find_guarded(struct scans *s, int from) {
    bool conditions = false;
    le_node_walk(s->ir, s->stage->node, find_condition, &conditions);
    for (int k = from; k < s->out.count; k++) {
        struct le_stage *stage = &s->out.at[k];
        struct risk r = {.s = s, .from = from};
        bool may_be_skipped = stage->guarded || conditions;
        stage->guarded = false;
        if (may_be_skipped)
            le_node_walk(s->ir, stage->node, find_risk, &r);
        stage->guarded = r.found;
    }
}

void le_pass_find_scans(struct le_ir *ir) {
    struct scans s = {.ir = ir};
    for (int k = 0; k < ir->stages.count; k++) {
        struct le_stage stage = ir->stages.at[k];
        int from = s.out.count;
        if (!stage.dead && stage.node) {
            struct path path = le_path_enter(ir->arena, (struct path){0}, stage.indices, stage.index_count);
            s.stage = &stage;
            s.made.count = 0;
            s.epoch = le_walk_begin(ir);
            stage.node = replace_scans(&s, stage.node, &path);
            find_guarded(&s, from);
        }
        *LE_PUSH(ir->arena, &s.out) = stage;
    }
    ir->stages.at = s.out.at;
    ir->stages.count = s.out.count;
    ir->stages.capacity = s.out.capacity;
    le_ir_number_stages(ir);
}
