/* See scan_find.h. */
#include "gen/scan_find.h"

static bool is_bound(int64_t x) {
    return x >= -LE_INDEX_MAX && x <= LE_INDEX_MAX;
}

/* For which values of i the range is not empty (from `first` on, or below it if the scan goes down), the terms that the
 * first of them has but for its own, and all terms. end: i + c or c - i. */
static void find_turns(struct le_scan *s, const struct le_affine *end, int64_t other) {
    int64_t c = end->constant, low = s->range.low, high = low < s->range.high ? le_range_last(&s->range) + 1 : low;
    bool rises = end->factor[0] > 0;
    s->down = rises == s->suffix;
    int64_t first = (rises ? other - c : c - other) + !s->down;
    first = first < low ? low : first > high ? high : first;
    s->turns = (struct le_range){.low = s->down ? low : first, .high = s->down ? first : high, .by = 1, .solved = true};
    s->empty = (struct le_range){.low = s->down ? first : low, .high = s->down ? high : first, .by = 1, .solved = true};
    int64_t from = s->down ? s->turns.high - 1 : s->turns.low, to = s->down ? s->turns.low : s->turns.high - 1;
    int64_t start = (rises ? from : -from) + c, stop = (rises ? to : -to) + c;
    s->head = s->terms = (struct le_range){.low = other, .high = other, .by = 1, .solved = true};
    if (s->suffix) {
        s->head.low = start + 1;
        s->terms.low = stop;
    } else {
        s->head.high = start - 1;
        s->terms.high = stop;
    }
}

bool le_scan_find(const struct le_kernel *kernel, const struct le_stage *stage, struct le_scan *s) {
    struct le_node *n = stage->node;
    const struct le_range_nodes *r = &kernel->ir->indices.at[n->indices[0]].range;
    struct le_affine end, other;
    *s = (struct le_scan){.reduction = n, .scanned = n->indices[0], .suffix = r->low->free_count > 0};
    if (!le_affine_of(kernel->space, s->suffix ? r->low : r->high, &end) || end.count != 1 ||
        !le_affine_of(kernel->space, s->suffix ? r->high : r->low, &other) || other.count)
        return false;
    s->index = end.index[0];
    s->range = *le_range_of(kernel->space, s->index);
    if (s->range.dynamic || !is_bound(end.constant) || !is_bound(other.constant))
        return false;
    struct le_node *x[] = {r->high, le_node_i64(kernel->ir, 1)};
    s->own = s->suffix ? r->low : le_node_op(kernel->ir, LE_OP_SUB, LE_I64, x, 2);
    find_turns(s, &end, other.constant);
    return true;
}

struct outside_search {
    const struct le_kernel *kernel;
    bool found;
};

static void find_outside(struct le_node *node, void *user) {
    struct outside_search *o = user;
    if (node->kind != LE_NODE_LOAD || node->trusted || node->edge != LE_EDGE_NONE)
        return;
    const struct le_address address = le_load_address(o->kernel->layouts, node);
    o->found |= !le_address_is_safe(o->kernel->space, &address);
}

bool le_scan_is_made(const struct le_kernel *kernel, const struct le_stage *stage) {
    struct le_scan s;
    if (!stage->guarded)
        return true;
    if (!le_scan_find(kernel, stage, &s))
        return false;
    if (s.turns.low >= s.turns.high)
        return true;
    struct le_kernel own = *kernel;
    struct le_space space = *kernel->space;
    le_space_narrow(&space, kernel->arena, s.scanned, s.terms);
    own.space = &space;
    struct outside_search o = {.kernel = &own};
    le_node_walk_through(kernel->ir, stage->node->operands[0], find_outside, &o);
    return !o.found;
}

/* ---- parts */

static void begin_part(const struct le_kernel *kernel, struct le_scan_part *out) {
    *out = (struct le_scan_part){.kernel = *kernel, .stage = *kernel->stage, .space = *kernel->space};
    out->kernel.stage = &out->stage;
    out->kernel.space = &out->space;
}

void le_scan_empty_part(const struct le_kernel *kernel, const struct le_scan *s, struct le_scan_part *out) {
    const struct le_node *n = s->reduction;
    begin_part(kernel, out);
    out->stage.kind = LE_STAGE_MAP;
    out->stage.node = le_node_const(kernel->ir, n->type, le_empty_total_bits((enum le_reduction)n->code, n->type));
    le_space_narrow(&out->space, kernel->arena, s->index, s->empty);
}

void le_scan_turns_part(const struct le_kernel *kernel, struct le_scan *s, struct le_scan_part *out) {
    const struct le_stage *whole = kernel->stage;
    begin_part(kernel, out);
    out->stage.indices = LE_NEW_ARRAY(kernel->arena, whole->index_count, int);
    out->stage.index_count = 0;
    for (int k = 0; k < whole->index_count; k++)
        if (whole->indices[k] != s->index)
            out->stage.indices[out->stage.index_count++] = whole->indices[k];
    s->term = le_node_substitute(kernel->ir, s->reduction->operands[0], &s->scanned, &s->own, 1);
    out->stage.node = s->term;
    le_space_narrow(&out->space, kernel->arena, s->index, s->turns);
    le_space_narrow(&out->space, kernel->arena, s->scanned, s->head);
}

/* ---- nodes as kernels compute them */

/* The guarded scan that makes what node loads; NULL: it loads no such thing. */
static const struct le_stage *guarded_maker(const struct le_ir *ir, const struct le_node *node) {
    int maker = node->kind == LE_NODE_LOAD ? ir->values.at[node->value].stage : -1;
    return maker >= 0 && ir->stages.at[maker].guarded ? &ir->stages.at[maker] : NULL;
}

static bool is_dynamic_count(const struct le_kernel *kernel, const struct le_node *node) {
    for (int k = 0; k < node->index_count && node->kind == LE_NODE_COUNT; k++)
        if (le_range_of(kernel->space, node->indices[k])->dynamic)
            return true;
    return false;
}

static struct le_node *rewrite_readable(struct le_node *node, void *user) {
    const struct le_kernel *kernel = user;
    const struct le_stage *maker = guarded_maker(kernel->ir, node);
    if (maker)
        return le_scan_is_made(kernel, maker) ? node : le_kernel_readable(kernel, maker->node);
    if (is_dynamic_count(kernel, node))
        return le_node_reduce(kernel->ir, LE_RED_SUM, LE_I64, le_node_i64(kernel->ir, 1), node->indices,
                              node->index_count);
    return NULL;
}

struct rewritten {
    const struct le_kernel *kernel;
    bool found;
};

static void find_rewritten(struct le_node *node, void *user) {
    struct rewritten *r = user;
    r->found |= guarded_maker(r->kernel->ir, node) || is_dynamic_count(r->kernel, node);
}

struct le_node *le_kernel_readable(const struct le_kernel *kernel, struct le_node *node) {
    struct rewritten r = {.kernel = kernel};
    le_node_walk(kernel->ir, node, find_rewritten, &r);
    return r.found ? le_node_replace(kernel->ir, node, rewrite_readable, (void *)(uintptr_t)kernel) : node;
}
