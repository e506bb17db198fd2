/* Turns a SCAN stage into launches (device/cpu/kernels/kernels_scans.c defines the order of its terms).
 *
 * The loop runs over the stage's own index i, upwards or downwards. Each iteration adds one term: the one that
 * distinguishes i's total from its neighbour's. Elements with an empty range are a separate launch. Terms before the
 * first requested element, the head, are reduced first. The lanes run along the scan, or along a kept index whose
 * elements are adjacent in memory. To use several threads, one long row is cut into chunks, each a task: the chunk is
 * scanned into memory of its own, then shifted by the total of the chunks before it. */
#include "gen/bytecode/bytecode_gen.h"

#define LANES_MIN    16     /* fewer lanes than that are not worth having */
#define CHUNKED_MIN  131072 /* turns of a row worth cutting */
#define CHUNKED_COST 8      /* of a term: the way through a chunk's room costs about what a second thread saves */

/* ---- what is scanned */

static bool is_bound(int64_t x) {
    return x >= -LE_INDEX_MAX && x <= LE_INDEX_MAX;
}

/* For which values of i the range is not empty (from `first` on, or below it if the scan goes down), the terms that the
 * first of them has but for its own, and all terms. end: i + c or c - i. */
static void find_turns(struct scan *s, const struct le_affine *end, int64_t other) {
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

bool le_gen_find_scan(const struct le_kernel *kernel, const struct le_stage *stage, struct scan *s) {
    struct le_node *n = stage->node;
    const struct le_range_nodes *r = &kernel->ir->indices.at[n->indices[0]].range;
    struct le_affine end, other;
    *s = (struct scan){.reduction = n, .scanned = n->indices[0], .suffix = r->low->free_count > 0};
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
    for (int d = 0; d < node->operand_count; d++) {
        int64_t low, high, length = o->kernel->layouts[node->value].shape[d];
        if (d < node->stretch && length == 1)
            continue;
        o->found |= !le_interval(o->kernel->space, node->operands[d], &low, &high) || low < 0 || high >= length;
    }
}

bool le_gen_is_made(const struct le_kernel *kernel, const struct le_stage *stage) {
    struct scan s;
    if (!stage->guarded)
        return true;
    if (!le_gen_find_scan(kernel, stage, &s))
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
        return le_gen_is_made(kernel, maker) ? node : le_gen_readable(kernel, maker->node);
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

struct le_node *le_gen_readable(const struct le_kernel *kernel, struct le_node *node) {
    struct rewritten r = {.kernel = kernel};
    le_node_walk(kernel->ir, node, find_rewritten, &r);
    return r.found ? le_gen_replace(kernel->ir, node, rewrite_readable, (void *)(uintptr_t)kernel) : node;
}

/* ---- the lanes */

struct access_score {
    struct gen *g;
    int index, accesses, good;
};

static void score_access(struct access_score *s, int value, struct le_node *const *subscripts, int rank, int stretch) {
    int64_t stride, size = (int64_t)le_type_size(s->g->ir->values.at[value].type);
    s->accesses++;
    if (le_gen_stride(s->g, value, subscripts, rank, stretch, s->index, &stride) && (stride == 0 || stride == size))
        s->good++;
}

static void score_load(struct le_node *node, void *user) {
    if (node->kind == LE_NODE_LOAD && node->operand_count > 0)
        score_access(user, node->value, node->operands, node->operand_count, node->stretch);
}

/* Accesses that lie together, or stay, from lane to lane. */
static int lane_score(struct gen *g, int index) {
    struct access_score s = {.g = g, .index = index};
    le_node_walk(g->ir, g->stage->node, score_load, &s);
    score_access(&s, g->stage->target, g->stage->left, g->stage->left_count, 0);
    return s.good;
}

void le_gen_choose_scan_lane(struct gen *g, struct scan *s) {
    enum le_reduction code = (enum le_reduction)s->reduction->code;
    int best = lane_score(g, s->index);
    g->lane = -1;
    s->along = true;
    if (s->down && (code == LE_RED_ARGMIN || code == LE_RED_ARGMAX))
        return; /* lane by lane the first that is met wins */
    for (int k = 0; k < g->stage->index_count; k++) {
        int index = g->stage->indices[k];
        if (g->merged_into[index] != index || le_range_of(&g->space, index)->dynamic ||
            le_gen_extent(g, index) < LANES_MIN || le_gen_splits_bounds(g, index))
            continue;
        int score = lane_score(g, index);
        if (score > best) {
            best = score;
            g->lane = index;
            s->along = false;
        }
    }
}

/* ---- code */

static struct le_instr *emit_scan(struct gen *g, struct scope *scope, const struct scan *s, int code, int d, int a,
                                  int b, int c) {
    return le_gen_emit(g, scope,
                       (struct le_instr){.code = (uint16_t)code,
                                         .type = (uint8_t)s->reduction->operands[0]->type,
                                         .type2 = (uint8_t)s->reduction->type,
                                         .d = (uint16_t)d,
                                         .a = (uint16_t)a,
                                         .b = (uint16_t)b,
                                         .c = (uint16_t)c,
                                         .e = LE_NO_REG,
                                         .imm = s->reduction->code});
}

static int use_node(struct gen *g, struct le_node *node, struct scope *scope) {
    return le_gen_use(g, le_gen_node(g, node, scope, (struct condition){.outside = -1}), scope);
}

static struct scope *open_scan(struct gen *g, const struct scan *s, struct scope *scope, int index, int clip) {
    struct scope *inner = le_gen_open(g, scope, index, s->along, clip, (struct condition){.outside = -1});
    g->loops.at[inner->loop].down = s->down;
    return inner;
}

/* A turn's term joins the state; the register that has the totals. */
static int take_term(struct gen *g, const struct scan *s, struct scope *scope, int state, struct le_node *term,
                     struct le_node *at, int d) {
    int x = use_node(g, term, scope), index = le_node_is_arg(s->reduction) ? use_node(g, at, scope) : LE_NO_REG;
    if (d == LE_NO_REG)
        d = le_gen_result(g, scope, s->reduction->type);
    if (s->along)
        emit_scan(g, scope, s, s->down ? LE_CODE_SCAN_BACK : LE_CODE_SCAN, d, x, index, state);
    else if (le_node_is_ordered(s->reduction))
        emit_scan(g, scope, s, LE_CODE_SCAN_LANES, d, x, LE_NO_REG, state);
    else {
        emit_scan(g, scope, s, LE_CODE_VEC_ADD, state, x, index, LE_NO_REG);
        emit_scan(g, scope, s, LE_CODE_VEC_END, d, state, LE_NO_REG, LE_NO_REG);
    }
    return d;
}

static void store_scan(struct gen *g, struct scope *scope, int reg) {
    struct operand x = {.reg = reg, .scope = scope, .vector = true, .splat = -1};
    le_gen_store(g, &x, scope);
}

/* What comes before the first element: for floats' totals a number to start from; all others just take its terms. */
static int begin_scan(struct gen *g, const struct scan *s, struct scope *scope) {
    int state = le_gen_reg(g, s->along ? LE_REG_ACC : LE_REG_VEC, s->reduction->operands[0]->type);
    bool has_head = s->head.low < s->head.high, starts = has_head && le_node_is_ordered(s->reduction);
    int code = s->along                           ? LE_CODE_SCAN_INIT
               : le_node_is_ordered(s->reduction) ? LE_CODE_SCAN_LANES_INIT
                                                  : LE_CODE_VEC_INIT;
    int start = LE_NO_REG;
    if (starts)
        start = le_gen_use(g, le_gen_reduce(g, s->reduction, scope, (struct condition){.outside = -1}), scope);
    g->regs.at[state].levels = 6;
    emit_scan(g, scope, s, code, state, start, LE_NO_REG, LE_NO_REG);
    if (has_head && !starts) {
        struct scope *inner = open_scan(g, s, scope, s->scanned, -1);
        struct le_node *at = le_node_index(g->ir, s->scanned);
        take_term(g, s, inner, state, s->reduction->operands[0], at, LE_NO_REG);
        le_gen_close(g, inner);
    }
    return state;
}

/* Room for a task's chunk: the loop's pointer into it is at the chunk's start when the task's first turn is there. */
static int chunk_room(struct gen *g, const struct scan *s, int64_t size) {
    int room = le_gen_reg(g, LE_REG_SCRATCH, s->reduction->type);
    struct le_reg *r = &g->regs.at[room];
    r->bits = (uint64_t)(LE_SCAN_CHUNK * size);
    r->offset = (s->down ? LE_SCAN_CHUNK - s->turns.high : -s->turns.low) * size;
    r->task_stride = (s->down ? LE_SCAN_CHUNK : -LE_SCAN_CHUNK) * size;
    return room;
}

static void scan_chunks(struct gen *g, const struct scan *s, struct scope *scope) {
    int64_t size = (int64_t)le_type_size(s->reduction->type);
    int state = begin_scan(g, s, scope), room = chunk_room(g, s, size), link = le_gen_reg(g, LE_REG_STREAM, LE_U64);
    g->regs.at[link].buffer = LE_PARTS;
    g->regs.at[link].offset = g->regs.at[link].task_stride = (int64_t)sizeof(struct le_scan_link);
    struct scope *inner = open_scan(g, s, scope, s->index, 1);
    le_gen_stream_loop(g, room, inner, size);
    take_term(g, s, inner, state, s->term, s->own, room);
    le_gen_close(g, inner);
    emit_scan(g, scope, s, LE_CODE_SCAN_LINK, state, link, LE_NO_REG, LE_NO_REG);
    inner = open_scan(g, s, scope, s->index, 1);
    le_gen_stream_loop(g, room, inner, size);
    int d = le_gen_result(g, inner, s->reduction->type);
    emit_scan(g, inner, s, LE_CODE_SCAN_SHIFT, d, room, LE_NO_REG, state);
    store_scan(g, inner, d);
    le_gen_close(g, inner);
}

void le_gen_scan(struct gen *g, const struct scan *s, struct scope *scope) {
    if (s->chunks) {
        scan_chunks(g, s, scope);
        return;
    }
    int state = begin_scan(g, s, scope);
    struct scope *inner = open_scan(g, s, scope, s->index, -1);
    store_scan(g, inner, take_term(g, s, inner, state, s->term, s->own, LE_NO_REG));
    le_gen_close(g, inner);
}

/* One long row, whose chunks the threads share. */
bool le_gen_cut_scan(struct gen *g, struct scan *s, struct le_launch *launch) {
    int64_t count = le_range_count(&s->turns), rows = 1;
    for (int k = 0; k < g->stage->index_count; k++)
        rows *=
            g->merged_into[g->stage->indices[k]] == g->stage->indices[k] ? le_gen_extent(g, g->stage->indices[k]) : 1;
    bool pays = g->kernel->threads > 2 || (g->kernel->threads == 2 && s->term->cost >= CHUNKED_COST);
    s->chunks = s->along && rows == 1 && pays && count >= CHUNKED_MIN && s->head.low >= s->head.high &&
                !le_node_is_arg(s->reduction);
    if (!s->chunks)
        return false;
    launch->links = true;
    launch->clip_count[1] = count;
    launch->clip_size[1] = LE_SCAN_CHUNK;
    launch->tasks = (count + LE_SCAN_CHUNK - 1) / LE_SCAN_CHUNK;
    return true;
}

/* ---- the stage */

static uint64_t integer_end(enum le_type type, bool greatest) {
    int bits = le_type_bits(type);
    bool is_unsigned = le_type_is_unsigned(type);
    uint64_t high = bits == 64 && is_unsigned ? UINT64_MAX : ((uint64_t)1 << (is_unsigned ? bits : bits - 1)) - 1;
    return greatest ? high : is_unsigned ? 0 : ~high;
}

struct le_node *le_gen_empty_total(struct le_ir *ir, const struct le_node *n) {
    double inf = __builtin_inf();
    bool is_float = le_type_is_float(n->type), is_bool = n->type == LE_BOOL;
    switch (n->code) {
    case LE_RED_ARGMIN:
    case LE_RED_ARGMAX:
        return le_node_i64(ir, -1);
    case LE_RED_MIN:
        return is_float ? le_node_real(ir, n->type, inf)
                        : le_node_const(ir, n->type, is_bool ? 1 : integer_end(n->type, true));
    case LE_RED_MAX:
        return is_float ? le_node_real(ir, n->type, -inf)
                        : le_node_const(ir, n->type, is_bool ? 0 : integer_end(n->type, false));
    default:
        break;
    }
    uint64_t one = n->code == LE_RED_PROD || n->code == LE_RED_ALL;
    return is_float ? le_node_real(ir, n->type, (double)one) : le_node_const(ir, n->type, one);
}

static leat_status generate_empty(const struct le_kernel *kernel, const struct scan *s, struct le_launches *out) {
    struct le_stage stage = *kernel->stage;
    struct le_kernel own = *kernel;
    struct le_space space = *kernel->space;
    stage.kind = LE_STAGE_MAP;
    stage.node = le_gen_empty_total(kernel->ir, s->reduction);
    own.stage = &stage;
    own.space = &space;
    le_space_narrow(&space, kernel->arena, s->index, s->empty);
    return le_gen_stage(&own, out);
}

static leat_status generate_turns(const struct le_kernel *kernel, struct scan *s, struct le_launches *out) {
    struct le_stage stage = *kernel->stage;
    struct le_kernel own = *kernel;
    struct le_space space = *kernel->space;
    stage.indices = LE_NEW_ARRAY(kernel->arena, stage.index_count, int);
    stage.index_count = 0;
    for (int k = 0; k < kernel->stage->index_count; k++)
        if (kernel->stage->indices[k] != s->index)
            stage.indices[stage.index_count++] = kernel->stage->indices[k];
    stage.node = s->term = le_node_substitute(kernel->ir, s->reduction->operands[0], &s->scanned, &s->own, 1);
    own.stage = &stage;
    own.space = &space;
    le_space_narrow(&space, kernel->arena, s->index, s->turns);
    le_space_narrow(&space, kernel->arena, s->scanned, s->head);
    return le_gen_map(&own, s, out);
}

bool le_gen_scan_stage(const struct le_kernel *kernel, struct le_launches *out, leat_status *status) {
    struct scan s;
    *status = LEAT_OK;
    if (!le_gen_is_made(kernel, kernel->stage))
        return true;
    if (!le_gen_find_scan(kernel, kernel->stage, &s))
        return false;
    if (s.empty.low < s.empty.high)
        *status = generate_empty(kernel, &s, out);
    if (*status == LEAT_OK && s.turns.low < s.turns.high)
        *status = generate_turns(kernel, &s, out);
    return true;
}
