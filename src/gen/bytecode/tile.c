/* Tiles. A node may be inside an outer loop that it does not depend on and inner loops that it does depend on. It would
 * be computed again in every iteration of the outer loop. If it is expensive (a strided read, a function, a reduction)
 * and cannot fail, it is computed before the outer loop, for all values of the inner ones, into the worker's own
 * memory, and read contiguously from there. */
#include "gen/bytecode/bytecode_gen.h"

#define TILE_BYTES_MAX ((int64_t)128 << 10) /* what the second cache holds beside all else */
#define DEAR_COST      6                    /* additions */
#define LOOPS_MAX      8

struct tile {
    struct scope *around;           /* where it is filled */
    struct scope *loops[LOOPS_MAX]; /* that it extends along, innermost first */
    int64_t strides[LOOPS_MAX], bytes;
    int loop_count;
};

static bool scope_binds(const struct gen *g, const struct scope *scope, const struct le_node *node) {
    for (int k = 0; k < node->free_count; k++)
        if (g->merged_into[node->free[k]] == scope->index)
            return true;
    return false;
}

static const struct scope *lane_of(const struct scope *scope) {
    while (scope && !scope->lane)
        scope = scope->parent;
    return scope;
}

static bool is_dear(const struct gen *g, const struct le_node *node, const struct scope *lane) {
    int64_t stride;
    if (node->kind != LE_NODE_LOAD)
        return node->reduces || node->cost >= DEAR_COST;
    if (node->operand_count == 0)
        return false;
    const struct le_address address = le_load_address(g->kernel->layouts, node);
    return !le_address_stride(g->space, &address, lane->index, &stride) || stride != 1;
}

/* Its extent is known, and the same for all tasks. */
static bool is_whole(const struct gen *g, const struct scope *scope) {
    const struct le_range *r = le_range_of(g->space, scope->index);
    bool terms = g->stage->index_count == 0 && g->loops.at[scope->loop].clip >= 0;
    return !r->dynamic && r->by == 1 && !terms && !g->loops.at[scope->loop].once;
}

/* Turns that a task makes. */
static double turns_of(const struct gen *g, const struct scope *scope) {
    if (g->loops.at[scope->loop].once)
        return 1;
    double turns = (double)le_gen_extent(g, scope->index);
    return g->loops.at[scope->loop].clip == 0 ? turns / (4 * g->kernel->threads) : turns;
}

/* The lanes lie side by side: those of a block, if their loop is around the tile. False: it is too large. */
static bool lay_out(const struct gen *g, struct tile *t, int64_t size) {
    t->bytes = size * g->block;
    for (int k = 0; k < t->loop_count; k++)
        if (t->loops[k]->lane) {
            t->strides[k] = size;
            t->bytes = size * le_gen_extent(g, t->loops[k]->index);
        }
    for (int k = 0; k < t->loop_count && t->bytes <= TILE_BYTES_MAX; k++)
        if (!t->loops[k]->lane) {
            t->strides[k] = t->bytes;
            if (!le_mul_i64(t->bytes, le_gen_extent(g, t->loops[k]->index), &t->bytes))
                return false;
        }
    return t->bytes <= TILE_BYTES_MAX;
}

/* Before the outermost loop that node does not depend on, if the tile is small there. */
static bool find_place(const struct gen *g, const struct le_node *node, struct scope *scope, struct tile *t) {
    struct tile now = {.loop_count = 0};
    double turns = 1;
    for (struct scope *s = scope; s->parent && s->kind == SCOPE_LOOP; s = s->parent) {
        if (scope_binds(g, s, node)) {
            if (now.loop_count == LOOPS_MAX || !is_whole(g, s))
                break;
            now.loops[now.loop_count++] = s;
            continue;
        }
        turns *= turns_of(g, s);
        now.around = s->parent;
        if (now.loop_count > 0 && turns >= 2 && lay_out(g, &now, (int64_t)le_type_size(node->type)))
            *t = now;
    }
    return t->around != NULL;
}

static void fill_tile(struct gen *g, struct le_node *node, const struct tile *t, int room) {
    struct scope *scope = t->around;
    for (int k = t->loop_count - 1; k >= 0; k--) {
        const struct scope *s = t->loops[k];
        scope = le_gen_open(g, scope, s->index, s->lane, g->loops.at[s->loop].clip, (struct condition){.outside = -1});
        le_gen_stream_loop(g, room, scope, t->strides[k]);
    }
    struct operand *x = le_gen_node(g, node, scope, (struct condition){.outside = -1});
    le_gen_emit(g, scope,
                (struct le_instr){.code = LE_CODE_COPY,
                                  .type = (uint8_t)node->type,
                                  .type2 = (uint8_t)node->type,
                                  .d = (uint16_t)room,
                                  .a = (uint16_t)le_gen_use(g, x, scope),
                                  .b = LE_NO_REG,
                                  .c = LE_NO_REG,
                                  .e = LE_NO_REG});
    for (; scope != t->around; scope = scope->parent)
        le_gen_close(g, scope);
}

struct operand *le_gen_tile(struct gen *g, struct le_node *node, struct scope *scope) {
    const struct scope *lane = lane_of(scope);
    struct tile t = {.around = NULL};
    if (!lane || !scope_binds(g, lane, node) || !is_dear(g, node, lane) || !find_place(g, node, scope, &t))
        return NULL;
    int room = le_gen_reg(g, LE_REG_SCRATCH, node->type);
    g->regs.at[room].bits = (uint64_t)t.bytes;
    for (int k = 0; k < t.loop_count; k++)
        g->regs.at[room].offset -= t.strides[k] * le_range_of(g->space, t.loops[k]->index)->low;
    fill_tile(g, node, &t, room);
    for (int k = 0; k < t.loop_count; k++)
        le_gen_stream_loop(g, room, t.loops[k], t.strides[k]);
    struct operand *x = LE_NEW(g->arena, struct operand);
    *x = (struct operand){.reg = room, .scope = scope, .vector = true, .splat = -1};
    return x;
}
