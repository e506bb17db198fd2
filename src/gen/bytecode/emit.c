/* Opens scopes, allocates registers and emits instructions. */
#include "gen/bytecode/bytecode_gen.h"

#define SKIPPED_COST_MIN 32 /* additions for one element that are worth being skipped */

struct le_instr *le_gen_emit(struct gen *g, struct scope *scope, struct le_instr instr) {
    instr.single = scope->real != NULL;
    struct le_instr *out = LE_PUSH(g->arena, scope->real ? &scope->real->code : &scope->code);
    *out = instr;
    return out;
}

static leat_status fail_too_large(const struct gen *g) {
    int statement = g->stage->statement;
    struct le_location location = statement >= 0 ? g->ir->statements.at[statement].location : (struct le_location){0};
    return le_fail_at(LEAT_PROGRAM, location, "several statements", "the statement is too large for one kernel");
}

int le_gen_reg(struct gen *g, enum le_reg_kind kind, enum le_type type) {
    if (g->regs.count >= LE_NO_REG) {
        if (g->status == LEAT_OK)
            g->status = fail_too_large(g);
        return 1;
    }
    *LE_PUSH(g->arena, &g->regs) = (struct le_reg){.kind = kind, .type = type};
    return g->regs.count - 1;
}

int le_gen_const(struct gen *g, enum le_type type, uint64_t bits) {
    int from = g->regs.count > 64 ? g->regs.count - 64 : 0;
    for (int k = from; k < g->regs.count; k++)
        if (g->regs.at[k].kind == LE_REG_CONST && g->regs.at[k].type == type && g->regs.at[k].bits == bits)
            return k;
    int reg = le_gen_reg(g, LE_REG_CONST, type);
    g->regs.at[reg].bits = bits;
    return reg;
}

int le_gen_result(struct gen *g, const struct scope *scope, enum le_type type) {
    return le_gen_reg(g, scope->in_lane ? LE_REG_SLOT : LE_REG_SCALAR, type);
}

/* Where it is not needed, or a read of it falls outside: the other register. */
static int bound_reg(struct gen *g, struct scope *scope, struct le_node *node, struct condition c, int other) {
    bool always = le_node_is_safe(&g->safety, node) || (!c.mask && c.outside < 0);
    struct operand *x = le_gen_node(g, node, scope, always ? (struct condition){.outside = -1} : c);
    if (x->vector && g->status == LEAT_OK)
        g->status = le_fail(LEAT_INTERNAL, "%s: a loop's bound differs from lane to lane", g->stage->name);
    return always ? x->reg : le_gen_reached(g, scope, c, x->reg, other);
}

bool le_gen_by_moves(const struct gen *g, int index) {
    const struct le_node *by = g->ir->indices.at[index].range.by;
    return by && (by->free_count || by->reduces || (le_range_of(g->space, index)->dynamic && by->untrusted));
}

struct scope *le_gen_open(struct gen *g, struct scope *parent, int index, bool lane, int clip, struct condition c) {
    const struct le_range *r = le_range_of(g->space, index);
    const struct le_ir_index *ix = &g->ir->indices.at[index];
    struct scope *scope = LE_NEW(g->arena, struct scope);
    struct le_loop loop = {
        .name = ix->name, .lane = lane, .by = r->by, .by_reg = LE_NO_REG, .value = LE_NO_REG, .clip = clip};
    if (r->dynamic) {
        int zero = le_gen_const(g, LE_I64, 0);
        loop.low = (uint16_t)bound_reg(g, parent, ix->range.low, c, zero);
        loop.high = (uint16_t)bound_reg(g, parent, ix->range.high, c, loop.low);
        if (le_gen_by_moves(g, index))
            loop.by_reg = (uint16_t)bound_reg(g, parent, ix->range.by, c, le_gen_const(g, LE_I64, 1));
    } else {
        int64_t high = g->merged_count[index] ? r->low + g->merged_count[index] : r->high;
        loop.low = (uint16_t)le_gen_const(g, LE_I64, (uint64_t)r->low);
        loop.high = (uint16_t)le_gen_const(g, LE_I64, (uint64_t)high);
    }
    *LE_PUSH(g->arena, &g->loops) = loop;
    *scope =
        (struct scope){.parent = parent, .kind = SCOPE_LOOP, .index = index, .loop = g->loops.count - 1, .lane = lane};
    scope->in_lane = lane || parent->in_lane;
    return scope;
}

void le_gen_open_hosts(struct gen *g) {
    g->base = g->root;
    for (int k = 0; k < g->hosts.count; k++) {
        const struct le_ir_index *ix = &g->ir->indices.at[g->hosts.at[k]];
        struct scope *scope = LE_NEW(g->arena, struct scope);
        int reg = le_gen_reg(g, LE_REG_STREAM, LE_I64);
        g->regs.at[reg].buffer = ix->host_value;
        *LE_PUSH(g->arena, &g->loops) = (struct le_loop){.name = ix->name,
                                                         .once = true,
                                                         .low = (uint16_t)reg,
                                                         .high = (uint16_t)reg,
                                                         .by = 1,
                                                         .by_reg = LE_NO_REG,
                                                         .value = LE_NO_REG,
                                                         .clip = -1};
        *scope =
            (struct scope){.parent = g->base, .kind = SCOPE_LOOP, .index = g->hosts.at[k], .loop = g->loops.count - 1};
        g->base = scope;
    }
}

static struct scope *open_body(struct gen *g, struct scope *parent, enum scope_kind kind, int index) {
    struct scope *scope = LE_NEW(g->arena, struct scope);
    *scope = (struct scope){.parent = parent, .kind = kind, .index = index, .loop = -1, .in_lane = parent->in_lane};
    return scope;
}

struct scope *le_gen_open_repeat(struct gen *g, struct scope *parent, int index) {
    return open_body(g, parent, SCOPE_REPEAT, index);
}
struct scope *le_gen_open_skip(struct gen *g, struct scope *parent) {
    return open_body(g, parent, SCOPE_SKIP, -1);
}

static void append_body(struct gen *g, struct scope *scope) {
    for (int k = 0; k < scope->code.count; k++)
        *LE_PUSH(g->arena, &scope->parent->code) = scope->code.at[k];
    scope->parent->bodies_end = scope->parent->code.count;
}

void le_gen_close_body(struct gen *g, struct scope *scope, int mask) {
    le_gen_emit(g, scope->parent,
                (struct le_instr){.code = scope->kind == SCOPE_REPEAT ? LE_CODE_REPEAT : LE_CODE_SKIP,
                                  .type = LE_BOOL,
                                  .type2 = LE_BOOL,
                                  .d = LE_NO_REG,
                                  .a = mask < 0 ? LE_NO_REG : (uint16_t)mask,
                                  .b = LE_NO_REG,
                                  .c = LE_NO_REG,
                                  .e = LE_NO_REG,
                                  .imm = scope->code.count});
    append_body(g, scope);
}

/* The loop's code follows its LOOP instruction; allocate.c makes of its length where it ends. */
void le_gen_close(struct gen *g, struct scope *scope) {
    struct scope *parent = scope->parent;
    g->loops.at[scope->loop].end = scope->code.count;
    le_gen_emit(g, parent, (struct le_instr){.code = LE_CODE_LOOP, .type = LE_I64, .imm = scope->loop});
    append_body(g, scope);
}

void le_gen_close_all(struct gen *g, struct scope *scope) {
    for (; scope != g->root; scope = scope->parent)
        le_gen_close(g, scope);
}

static bool scope_binds(const struct gen *g, const struct scope *scope, const struct le_node *node) {
    for (int k = 0; k < node->free_count; k++)
        if (g->merged_into[node->free[k]] == scope->index)
            return true;
    return false;
}

/* Out of a body that may be skipped comes only what is cheap. */
struct scope *le_gen_natural(const struct gen *g, const struct le_node *node, struct scope *scope) {
    bool costly = node->reduces || node->cost >= SKIPPED_COST_MIN;
    while (scope->parent && !scope_binds(g, scope, node) && !(costly && scope->kind == SCOPE_SKIP))
        scope = scope->parent;
    return scope;
}

/* ---- what is equal in all lanes */

static bool varies(const struct gen *g, const struct le_node *node, const struct scope *scope) {
    for (; scope->parent; scope = scope->parent)
        if ((scope->lane || scope->kind == SCOPE_REPEAT) && scope_binds(g, scope, node))
            return true;
    return false;
}

static bool is_simple(const struct le_node *node, int *budget) {
    bool fits = node->kind == LE_NODE_CONST || node->kind == LE_NODE_INDEX || node->kind == LE_NODE_LEN ||
                node->kind == LE_NODE_LOAD || node->kind == LE_NODE_OP || node->kind == LE_NODE_CAST ||
                node->kind == LE_NODE_SELECT;
    for (int k = 0; fits && k < node->operand_count; k++)
        fits = --*budget > 0 && is_simple(node->operands[k], budget);
    return fits;
}

bool le_gen_is_equal(struct gen *g, const struct le_node *node, const struct scope *scope) {
    int budget = 32;
    return !node->changes && !varies(g, node, scope) && is_simple(node, &budget) && le_node_is_safe(&g->safety, node);
}

struct scope *le_gen_single(struct gen *g, struct scope *scope) {
    if (!scope->in_lane || scope->real)
        return scope;
    if (!scope->single) {
        scope->single = LE_NEW(g->arena, struct scope);
        *scope->single = (struct scope){
            .parent = scope->parent, .kind = scope->kind, .index = scope->index, .loop = scope->loop, .real = scope};
    }
    return scope->single;
}

int le_gen_vector(struct gen *g, struct operand *x) {
    if (x->vector)
        return x->reg;
    if (x->splat >= 0)
        return x->splat;
    enum le_type type = g->regs.at[x->reg].type;
    x->splat = le_gen_reg(g, LE_REG_SLOT, type);
    le_gen_emit(g, x->scope->real ? x->scope->real : x->scope,
                (struct le_instr){.code = LE_CODE_SPLAT,
                                  .type = (uint8_t)type,
                                  .d = (uint16_t)x->splat,
                                  .a = (uint16_t)x->reg,
                                  .imm = g->block});
    return x->splat;
}

int le_gen_use(struct gen *g, struct operand *x, struct scope *scope) {
    return scope->in_lane ? le_gen_fetch(g, x, scope) : x->reg;
}

void le_gen_stream_loop(struct gen *g, int reg, struct scope *scope, int64_t stride_bytes) {
    if (stride_bytes == 0)
        return;
    struct le_loop *loop = &g->loops.at[scope->loop];
    if ((loop->stream_count & (loop->stream_count - 1)) == 0) { /* full: it holds the next power of two */
        int room = loop->stream_count ? 2 * loop->stream_count : 1;
        struct le_loop_stream *streams = LE_NEW_ARRAY(g->arena, room, struct le_loop_stream);
        for (int k = 0; k < loop->stream_count; k++)
            streams[k] = loop->streams[k];
        loop->streams = streams;
    }
    loop->streams[loop->stream_count] = (struct le_loop_stream){.reg = (uint16_t)reg, .stride = stride_bytes};
    loop->stream_count++;
}
