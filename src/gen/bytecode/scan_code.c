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

/* ---- the lanes */

struct access_score {
    struct gen *g;
    int index, good;
};

static void score_access(struct access_score *s, const struct le_address *address) {
    int64_t stride;
    s->good += le_address_stride(s->g->space, address, s->index, &stride) && (stride == 0 || stride == 1);
}

static void score_load(struct le_node *node, void *user) {
    struct access_score *s = user;
    if (node->kind != LE_NODE_LOAD || node->operand_count == 0)
        return;
    const struct le_address address = le_load_address(s->g->kernel->layouts, node);
    score_access(s, &address);
}

/* Accesses that lie together, or stay, from lane to lane. */
static int lane_score(struct gen *g, int index) {
    struct access_score s = {.g = g, .index = index};
    const struct le_address target = le_gen_target(g);
    le_node_walk(g->ir, g->stage->node, score_load, &s);
    score_access(&s, &target);
    return s.good;
}

void le_gen_choose_scan_lane(struct gen *g, struct scan *s) {
    enum le_reduction code = (enum le_reduction)s->of.reduction->code;
    int best = lane_score(g, s->of.index);
    g->lane = -1;
    s->along = true;
    if (s->of.down && (code == LE_RED_ARGMIN || code == LE_RED_ARGMAX))
        return; /* lane by lane the first that is met wins */
    for (int k = 0; k < g->stage->index_count; k++) {
        int index = g->stage->indices[k];
        if (g->merged_into[index] != index || le_range_of(g->space, index)->dynamic ||
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
                                         .type = (uint8_t)s->of.reduction->operands[0]->type,
                                         .type2 = (uint8_t)s->of.reduction->type,
                                         .d = (uint16_t)d,
                                         .a = (uint16_t)a,
                                         .b = (uint16_t)b,
                                         .c = (uint16_t)c,
                                         .e = LE_NO_REG,
                                         .imm = s->of.reduction->code});
}

static int use_node(struct gen *g, struct le_node *node, struct scope *scope) {
    return le_gen_use(g, le_gen_node(g, node, scope, (struct condition){.outside = -1}), scope);
}

static struct scope *open_scan(struct gen *g, const struct scan *s, struct scope *scope, int index, int clip) {
    struct scope *inner = le_gen_open(g, scope, index, s->along, clip, (struct condition){.outside = -1});
    g->loops.at[inner->loop].down = s->of.down;
    return inner;
}

/* A turn's term joins the state; the register that has the totals. */
static int take_term(struct gen *g, const struct scan *s, struct scope *scope, int state, struct le_node *term,
                     struct le_node *at, int d) {
    int x = use_node(g, term, scope), index = le_node_is_arg(s->of.reduction) ? use_node(g, at, scope) : LE_NO_REG;
    if (d == LE_NO_REG)
        d = le_gen_result(g, scope, s->of.reduction->type);
    if (s->along)
        emit_scan(g, scope, s, s->of.down ? LE_CODE_SCAN_BACK : LE_CODE_SCAN, d, x, index, state);
    else if (le_node_is_ordered(s->of.reduction))
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
    int state = le_gen_reg(g, s->along ? LE_REG_ACC : LE_REG_VEC, s->of.reduction->operands[0]->type);
    bool has_head = s->of.head.low < s->of.head.high, starts = has_head && le_node_is_ordered(s->of.reduction);
    int code = s->along                              ? LE_CODE_SCAN_INIT
               : le_node_is_ordered(s->of.reduction) ? LE_CODE_SCAN_LANES_INIT
                                                     : LE_CODE_VEC_INIT;
    int start = LE_NO_REG;
    if (starts)
        start = le_gen_use(g, le_gen_reduce(g, s->of.reduction, scope, (struct condition){.outside = -1}), scope);
    g->regs.at[state].levels = 6;
    emit_scan(g, scope, s, code, state, start, LE_NO_REG, LE_NO_REG);
    if (has_head && !starts) {
        struct scope *inner = open_scan(g, s, scope, s->of.scanned, -1);
        struct le_node *at = le_node_index(g->ir, s->of.scanned);
        take_term(g, s, inner, state, s->of.reduction->operands[0], at, LE_NO_REG);
        le_gen_close(g, inner);
    }
    return state;
}

/* Room for a task's chunk: the loop's pointer into it is at the chunk's start when the task's first turn is there. */
static int chunk_room(struct gen *g, const struct scan *s, int64_t size) {
    int room = le_gen_reg(g, LE_REG_SCRATCH, s->of.reduction->type);
    struct le_reg *r = &g->regs.at[room];
    r->bits = (uint64_t)(LE_SCAN_CHUNK * size);
    r->offset = (s->of.down ? LE_SCAN_CHUNK - s->of.turns.high : -s->of.turns.low) * size;
    r->task_stride = (s->of.down ? LE_SCAN_CHUNK : -LE_SCAN_CHUNK) * size;
    return room;
}

static void scan_chunks(struct gen *g, const struct scan *s, struct scope *scope) {
    int64_t size = (int64_t)le_type_size(s->of.reduction->type);
    int state = begin_scan(g, s, scope), room = chunk_room(g, s, size), link = le_gen_reg(g, LE_REG_STREAM, LE_U64);
    g->regs.at[link].buffer = LE_PARTS;
    g->regs.at[link].offset = g->regs.at[link].task_stride = (int64_t)sizeof(struct le_scan_link);
    struct scope *inner = open_scan(g, s, scope, s->of.index, 1);
    le_gen_stream_loop(g, room, inner, size);
    take_term(g, s, inner, state, s->of.term, s->of.own, room);
    le_gen_close(g, inner);
    emit_scan(g, scope, s, LE_CODE_SCAN_LINK, state, link, LE_NO_REG, LE_NO_REG);
    inner = open_scan(g, s, scope, s->of.index, 1);
    le_gen_stream_loop(g, room, inner, size);
    int d = le_gen_result(g, inner, s->of.reduction->type);
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
    struct scope *inner = open_scan(g, s, scope, s->of.index, -1);
    store_scan(g, inner, take_term(g, s, inner, state, s->of.term, s->of.own, LE_NO_REG));
    le_gen_close(g, inner);
}

/* One long row, whose chunks the threads share. */
bool le_gen_cut_scan(struct gen *g, struct scan *s, struct le_launch *launch) {
    int64_t count = le_range_count(&s->of.turns), rows = 1;
    for (int k = 0; k < g->stage->index_count; k++)
        rows *=
            g->merged_into[g->stage->indices[k]] == g->stage->indices[k] ? le_gen_extent(g, g->stage->indices[k]) : 1;
    bool pays = g->kernel->threads > 2 || (g->kernel->threads == 2 && s->of.term->cost >= CHUNKED_COST);
    s->chunks = s->along && rows == 1 && pays && count >= CHUNKED_MIN && s->of.head.low >= s->of.head.high &&
                !le_node_is_arg(s->of.reduction);
    if (!s->chunks)
        return false;
    launch->links = true;
    launch->clip_count[1] = count;
    launch->clip_size[1] = LE_SCAN_CHUNK;
    launch->tasks = (count + LE_SCAN_CHUNK - 1) / LE_SCAN_CHUNK;
    return true;
}

/* ---- the stage */

bool le_gen_scan_stage(const struct le_kernel *kernel, struct le_launches *out, leat_status *status) {
    struct scan s = {.chunks = false};
    struct le_scan_part part;
    *status = LEAT_OK;
    if (!le_scan_is_made(kernel, kernel->stage))
        return true;
    if (!le_scan_find(kernel, kernel->stage, &s.of))
        return false;
    if (s.of.empty.low < s.of.empty.high) {
        le_scan_empty_part(kernel, &s.of, &part);
        *status = le_gen_stage(&part.kernel, out);
    }
    if (*status == LEAT_OK && s.of.turns.low < s.of.turns.high) {
        le_scan_turns_part(kernel, &s.of, &part);
        *status = le_gen_map(&part.kernel, &s, out);
    }
    return true;
}
