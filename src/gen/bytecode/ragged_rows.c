/* Sums over ranges that differ from lane to lane, such as those of sparse rows. The terms of a block of lanes are
 * computed row after row in lanes of their own, however short the rows are. Values that belong to the row are fetched
 * for each of its terms. Handles sums and products of floats, in the same order of additions as every other sum. */
#include "gen/bytecode/bytecode_gen.h"

#define ROWS_MIN 16 /* lanes that are worth it */

static bool is_bound_by(const struct gen *g, int index, int lane) {
    const struct le_range_nodes *r = &g->ir->indices.at[index].range;
    if (!r->low || !le_range_of(g->space, index)->dynamic)
        return false;
    return le_node_depends(r->low, lane) || le_node_depends(r->high, lane) || (r->by && le_node_depends(r->by, lane));
}

static bool is_row_sum(const struct gen *g, const struct le_node *node, int lane) {
    if (node->kind != LE_NODE_REDUCE || node->index_count != 1 || !is_bound_by(g, node->indices[0], lane))
        return false;
    enum le_type type = node->operands[0]->type;
    return (le_node_is_sum(node) || node->code == LE_RED_PROD) && (type == LE_F32 || type == LE_F64) &&
           !g->ir->indices.at[node->indices[0]].range.by && !node->operands[0]->reduces;
}

bool le_gen_is_row_sum(const struct gen *g, const struct le_node *node) {
    return g->rows && is_row_sum(g, node, g->lane);
}

struct row_search {
    struct gen *g;
    int lane, found;
    bool fits, chooses, faults; /* something decides what is needed; bounds may fall outside */
};

static void find_row_sum(struct le_node *node, void *user) {
    struct row_search *f = user;
    if (node->kind == LE_NODE_ELSE || (node->kind == LE_NODE_REDUCE && node->operands[0]->reduces))
        f->fits = false;
    f->chooses |= le_node_chooses(node);
    for (int k = 0; k < node->index_count; k++) {
        if (!is_bound_by(f->g, node->indices[k], f->lane))
            continue;
        const struct le_range_nodes *r = &f->g->ir->indices.at[node->indices[k]].range;
        f->found++;
        f->fits &= is_row_sum(f->g, node, f->lane);
        f->faults |= !le_node_is_safe(&f->g->safety, r->low) || !le_node_is_safe(&f->g->safety, r->high);
    }
}

bool le_gen_choose_rows(struct gen *g) {
    const struct le_stage *stage = g->stage;
    if (stage->kind != LE_STAGE_MAP || stage->index_count == 0 || g->regions || !stage->node->reduces)
        return false;
    int lane = stage->indices[stage->index_count - 1];
    struct row_search f = {.g = g, .lane = lane, .fits = true};
    le_gen_walk(g, find_row_sum, &f);
    if (!f.fits || (f.chooses && f.faults) || f.found == 0 || le_range_of(g->space, lane)->dynamic ||
        le_gen_extent(g, lane) < ROWS_MIN)
        return false;
    g->lane = lane;
    g->rows = true;
    return true;
}

/* ---- code */

static struct le_instr instr_of(int code, enum le_type type, int d, int a) {
    return (struct le_instr){.code = (uint16_t)code,
                             .type = (uint8_t)type,
                             .type2 = (uint8_t)type,
                             .d = (uint16_t)d,
                             .a = (uint16_t)a,
                             .b = LE_NO_REG,
                             .c = LE_NO_REG,
                             .e = LE_NO_REG};
}

static int new_room(struct gen *g) {
    int reg = le_gen_reg(g, LE_REG_SCRATCH, LE_I64);
    g->regs.at[reg].bits = (uint64_t)g->block * 8 + 64;
    return reg;
}

static int bound(struct gen *g, struct le_node *node, struct scope *scope) {
    int reg = new_room(g), x = le_gen_use(g, le_gen_node(g, node, scope, (struct condition){.outside = -1}), scope);
    le_gen_emit(g, scope, instr_of(LE_CODE_COPY, LE_I64, reg, x));
    return reg;
}

static struct scope *open_rows(struct gen *g, struct scope *parent, int index) {
    const struct le_ir_index *ix = &g->ir->indices.at[index];
    struct le_loop loop = {
        .name = ix->name, .lane = true, .rows = true, .by = 1, .by_reg = LE_NO_REG, .owner = LE_NO_REG, .clip = -1};
    loop.low = (uint16_t)bound(g, ix->range.low, parent);
    loop.high = (uint16_t)bound(g, ix->range.high, parent);
    loop.value = (uint16_t)new_room(g);
    *LE_PUSH(g->arena, &g->loops) = loop;
    struct scope *scope = LE_NEW(g->arena, struct scope);
    *scope = (struct scope){.parent = parent,
                            .kind = SCOPE_LOOP,
                            .index = index,
                            .loop = g->loops.count - 1,
                            .lane = true,
                            .in_lane = true};
    return scope;
}

struct operand *le_gen_rows(struct gen *g, struct le_node *node, struct scope *scope, struct condition c) {
    enum le_type type = node->operands[0]->type;
    struct scope *inner = open_rows(g, scope, node->indices[0]);
    int acc = le_gen_reg(g, LE_REG_ROWS, type), low = g->loops.at[inner->loop].low,
        high = g->loops.at[inner->loop].high;
    struct le_instr instr = instr_of(LE_CODE_ROWS_INIT, type, acc, LE_NO_REG);
    instr.imm = node->code;
    le_gen_emit(g, scope, instr);
    instr.code = LE_CODE_ROWS_ADD;
    struct added_term term = le_gen_term(g, node, inner, c);
    instr.a = (uint16_t)term.first;
    instr.e = (uint16_t)term.second;
    instr.b = (uint16_t)low;
    instr.c = (uint16_t)high;
    le_gen_emit(g, inner, instr);
    le_gen_close(g, inner);
    instr = instr_of(LE_CODE_ROWS_END, type, le_gen_result(g, scope, type), acc);
    instr.imm = node->code;
    le_gen_emit(g, scope, instr);
    struct operand *x = LE_NEW(g->arena, struct operand);
    *x = (struct operand){.reg = instr.d, .scope = scope, .vector = true, .splat = -1};
    return x;
}

/* The loop of rows that scope is in, if x is a vector of the lanes around it. */
static struct scope *rows_between(const struct gen *g, const struct operand *x, struct scope *scope) {
    const struct scope *home = x->scope->real ? x->scope->real : x->scope;
    for (; scope && (scope->real ? scope->real : scope) != home; scope = scope->parent)
        if (scope->kind == SCOPE_LOOP && g->loops.at[scope->loop].rows)
            return scope;
    return NULL;
}

int le_gen_fetch(struct gen *g, struct operand *x, struct scope *scope) {
    struct scope *rows = g->rows && x->vector ? rows_between(g, x, scope) : NULL;
    if (!rows)
        return le_gen_vector(g, x);
    int owner = g->loops.at[rows->loop].owner;
    if (owner == LE_NO_REG)
        owner = g->loops.at[rows->loop].owner = (uint16_t)new_room(g);
    struct le_instr instr = instr_of(LE_CODE_GATHER, g->regs.at[x->reg].type, 0, x->reg);
    instr.b = (uint16_t)owner;
    instr.d = (uint16_t)le_gen_result(g, scope, g->regs.at[x->reg].type);
    le_gen_emit(g, scope, instr);
    return instr.d;
}
