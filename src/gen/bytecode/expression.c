/* Turns nodes into instructions. A node is computed once, in the outermost loop where everything that it depends on is
 * known. A node with unsafe reads is computed where it is used, under the conditions there. */
#include "gen/bytecode/bytecode_gen.h"

static struct operand *new_operand(struct gen *g, int reg, struct scope *scope, bool vector) {
    struct operand *x = LE_NEW(g->arena, struct operand);
    *x = (struct operand){.reg = reg, .scope = scope, .vector = vector, .splat = -1};
    return x;
}

/* ---- memo */

static const struct scope *real_scope(const struct scope *scope) {
    return scope->real ? scope->real : scope;
}

static bool is_open(const struct scope *scope, const struct scope *inner) {
    for (; inner; inner = inner->parent)
        if (real_scope(inner) == real_scope(scope))
            return true;
    return false;
}

static bool is_gone(const struct operand *x) {
    while (x && !x->gone)
        x = x->origin;
    return x != NULL;
}

static struct operand *find_memo(struct gen *g, struct le_node *node, const struct scope *scope, struct condition c) {
    const struct le_node_note *note = le_note_of(g->notes, node);
    if (note->code_epoch != g->safety.epoch)
        return NULL;
    for (struct memo *m = note->code; m; m = m->next)
        if (m->mask == c.mask && m->outside == c.outside && !is_gone(&m->operand) &&
            (!node->changes || m->moment == g->moment) && is_open(m->operand.scope, scope))
            return &m->operand;
    return NULL;
}

static struct operand *add_memo(struct gen *g, struct le_node *node, struct operand *x, struct condition c) {
    struct le_node_note *note = le_note_of(g->notes, node);
    struct memo *known = note->code_epoch == g->safety.epoch ? note->code : NULL;
    if (known && node->changes && known->moment != g->moment)
        known = NULL; /* it will hardly be asked for again */
    struct memo *m = LE_NEW(g->arena, struct memo);
    *m = (struct memo){.next = known, .operand = *x, .mask = c.mask, .outside = c.outside, .moment = g->moment};
    m->operand.origin = x;
    note->code_epoch = g->safety.epoch;
    note->code = m;
    return &m->operand;
}

/* ---- kinds of nodes */

static struct operand *index_value(struct gen *g, struct scope *scope) {
    if (scope->value)
        return scope->value;
    struct le_loop *loop = &g->loops.at[scope->loop];
    if (loop->value == LE_NO_REG) {
        int reg = le_gen_reg(g, LE_REG_SCALAR, LE_I64);
        loop = &g->loops.at[scope->loop];
        loop->value = (uint16_t)reg;
    }
    if (!scope->in_lane || loop->rows)
        return new_operand(g, loop->value, scope, loop->rows);
    int d = le_gen_result(g, scope, LE_I64);
    struct le_instr instr = {.code = scope->lane ? LE_CODE_IOTA : LE_CODE_SPLAT,
                             .type = LE_I64,
                             .d = (uint16_t)d,
                             .a = g->loops.at[scope->loop].value,
                             .imm = scope->lane ? g->loops.at[scope->loop].by : 0};
    le_gen_emit(g, scope, instr);
    return new_operand(g, d, scope, true);
}

static struct operand *emit_bool(struct gen *g, struct scope *scope, int code, struct operand *a, struct operand *b) {
    struct le_instr instr = {.code = (uint16_t)code,
                             .type = LE_BOOL,
                             .type2 = LE_BOOL,
                             .a = (uint16_t)le_gen_use(g, a, scope),
                             .b = b ? (uint16_t)le_gen_use(g, b, scope) : LE_NO_REG,
                             .c = LE_NO_REG,
                             .e = LE_NO_REG};
    instr.d = (uint16_t)le_gen_result(g, scope, LE_BOOL);
    le_gen_emit(g, scope, instr);
    return new_operand(g, instr.d, scope, scope->in_lane);
}

/* Lanes where it happens are worth a note, unless they may be computed in vain. */
static void add_note(struct gen *g, const struct le_node *node, struct scope *scope, struct operand *x,
                     struct condition c) {
    bool power = node->code == LE_OP_POW;
    const struct le_node *right = node->operands[node->operand_count - 1];
    if (!le_node_may_note(&g->safety, node) || g->branches > 0)
        return;
    struct operand zero = {.reg = le_gen_const(g, right->type, 0), .scope = g->root, .splat = -1};
    struct le_instr instr = {.code = power ? LE_OP_LT : LE_OP_EQ,
                             .type = (uint8_t)right->type,
                             .type2 = LE_BOOL,
                             .a = (uint16_t)le_gen_use(g, x, scope),
                             .b = (uint16_t)le_gen_use(g, &zero, scope),
                             .c = LE_NO_REG,
                             .e = LE_NO_REG};
    instr.d = (uint16_t)le_gen_result(g, scope, LE_BOOL);
    le_gen_emit(g, scope, instr);
    if (c.mask)
        instr.d =
            (uint16_t)emit_bool(g, scope, LE_OP_LAND, new_operand(g, instr.d, scope, scope->in_lane), c.mask)->reg;
    le_gen_emit(g, scope,
                (struct le_instr){.code = LE_CODE_NOTE,
                                  .type = LE_BOOL,
                                  .type2 = LE_BOOL,
                                  .d = LE_NO_REG,
                                  .a = instr.d,
                                  .b = LE_NO_REG,
                                  .c = LE_NO_REG,
                                  .e = LE_NO_REG,
                                  .imm = power ? LE_NOTE_POWER : LE_NOTE_DIVISION});
}

/* Rounds x to a 16-bit float and takes it back to f32. */
static struct operand *generate_round(struct gen *g, struct le_node *node, struct scope *scope, struct condition c) {
    struct operand *x = le_gen_node(g, node->operands[0], scope, c);
    struct le_instr instr = {.code = LE_CODE_ROUND,
                             .type = (uint8_t)node->operands[0]->type,
                             .type2 = (uint8_t)node->rounded,
                             .a = (uint16_t)le_gen_use(g, x, scope),
                             .b = LE_NO_REG,
                             .c = LE_NO_REG,
                             .e = LE_NO_REG};
    if (instr.type != LE_F32) { /* ROUND is of an f32, and two casts round once */
        instr.code = LE_CODE_CAST;
        instr.d = (uint16_t)le_gen_result(g, scope, node->rounded);
        le_gen_emit(g, scope, instr);
        instr.a = instr.d;
        instr.type = (uint8_t)node->rounded;
        instr.type2 = LE_F32;
    }
    instr.d = (uint16_t)le_gen_result(g, scope, LE_F32);
    le_gen_emit(g, scope, instr);
    return new_operand(g, instr.d, scope, scope->in_lane);
}

static struct operand *generate_op(struct gen *g, struct le_node *node, struct scope *scope, struct condition c) {
    struct operand *x[3];
    bool adds = node->kind == LE_NODE_OP && node->code == LE_CODE_MULADD; /* what it adds to comes first: few wait */
    for (int k = 0; k < node->operand_count; k++) {
        int q = adds ? (k + 2) % 3 : k;
        x[q] = le_gen_node(g, node->operands[q], scope, c);
    }
    struct le_instr instr = {.code = (uint16_t)node->code,
                             .type = (uint8_t)node->operands[0]->type,
                             .type2 = (uint8_t)node->type,
                             .b = LE_NO_REG,
                             .c = LE_NO_REG,
                             .e = LE_NO_REG};
    if (node->kind == LE_NODE_CAST)
        instr.code = LE_CODE_CAST;
    instr.a = (uint16_t)le_gen_use(g, x[0], scope);
    if (node->operand_count > 1)
        instr.b = (uint16_t)le_gen_use(g, x[1], scope);
    if (node->operand_count > 2)
        instr.c = (uint16_t)le_gen_use(g, x[2], scope);
    add_note(g, node, scope, x[node->operand_count - 1], c);
    instr.d = (uint16_t)le_gen_result(g, scope, node->type);
    le_gen_emit(g, scope, instr);
    return new_operand(g, instr.d, scope, scope->in_lane);
}

/* c, further narrowed to where x is true (or false). */
static struct condition narrow_condition(struct gen *g, struct scope *scope, struct condition c, struct operand *x,
                                         bool when) {
    if (!when)
        x = emit_bool(g, scope, LE_OP_LNOT, x, NULL);
    c.mask = c.mask ? emit_bool(g, scope, LE_OP_LAND, c.mask, x) : x;
    return c;
}

int le_gen_reached(struct gen *g, struct scope *scope, struct condition c, int reg, int other) {
    if (c.outside >= 0)
        c = narrow_condition(g, scope, c, new_operand(g, c.outside, scope, scope->in_lane), false);
    struct le_instr instr = {.code = LE_CODE_SELECT,
                             .type = LE_I64,
                             .type2 = LE_I64,
                             .a = (uint16_t)le_gen_use(g, c.mask, scope),
                             .b = (uint16_t)reg,
                             .c = (uint16_t)other,
                             .e = LE_NO_REG};
    instr.d = (uint16_t)le_gen_result(g, scope, LE_I64);
    le_gen_emit(g, scope, instr);
    return instr.d;
}

static struct operand *generate_select(struct gen *g, struct le_node *node, struct scope *scope, struct condition c) {
    struct operand *x = le_gen_node(g, node->operands[0], scope, c), *branch[2];
    for (int k = 0; k < 2; k++) {
        struct condition inner =
            le_node_is_safe(&g->safety, node->operands[1 + k]) ? c : narrow_condition(g, scope, c, x, k == 0);
        g->branches++;
        branch[k] = le_gen_node(g, node->operands[1 + k], scope, inner);
        g->branches--;
    }
    struct le_instr instr = {.code = LE_CODE_SELECT,
                             .type = (uint8_t)node->type,
                             .type2 = (uint8_t)node->type,
                             .a = (uint16_t)le_gen_use(g, x, scope),
                             .b = (uint16_t)le_gen_use(g, branch[0], scope),
                             .c = (uint16_t)le_gen_use(g, branch[1], scope),
                             .e = LE_NO_REG};
    instr.d = (uint16_t)le_gen_result(g, scope, node->type);
    le_gen_emit(g, scope, instr);
    return new_operand(g, instr.d, scope, scope->in_lane);
}

static struct operand *generate_logic(struct gen *g, struct le_node *node, struct scope *scope, struct condition c) {
    struct operand *a = le_gen_node(g, node->operands[0], scope, c);
    if (!le_node_is_safe(&g->safety, node->operands[1]))
        c = narrow_condition(g, scope, c, a, node->code == LE_OP_LAND);
    g->branches++;
    struct operand *b = le_gen_node(g, node->operands[1], scope, c);
    g->branches--;
    return emit_bool(g, scope, node->code, a, b);
}

/* Key and two words of counter at a time; a missing one is 0. The earlier blocks' low halves are the later ones' keys.
 */
static struct operand *generate_rand(struct gen *g, struct le_node *node, struct scope *scope, struct condition c) {
    struct operand zero = {.reg = le_gen_const(g, LE_I64, 0), .scope = g->root, .splat = -1};
    struct operand *key = le_gen_node(g, node->operands[0], scope, c), *x[2];
    for (int k = 1;; k += 2) {
        bool last = k + 2 >= node->operand_count;
        for (int q = 0; q < 2; q++)
            x[q] = k + q < node->operand_count ? le_gen_node(g, node->operands[k + q], scope, c) : &zero;
        struct le_instr instr = {.code = (uint16_t)(last ? node->code : LE_CODE_RAND_KEY),
                                 .type = last ? LE_F64 : LE_U64,
                                 .type2 = last ? LE_F64 : LE_U64,
                                 .a = (uint16_t)le_gen_use(g, key, scope),
                                 .b = (uint16_t)le_gen_use(g, x[0], scope),
                                 .c = (uint16_t)le_gen_use(g, x[1], scope),
                                 .e = LE_NO_REG};
        instr.d = (uint16_t)le_gen_result(g, scope, last ? LE_F64 : LE_U64);
        le_gen_emit(g, scope, instr);
        key = new_operand(g, instr.d, scope, scope->in_lane);
        if (last)
            return key;
    }
}

static struct operand *generate_count(struct gen *g, const struct le_node *node) {
    int64_t points = le_points(g->space, node->indices, node->index_count);
    return new_operand(g, le_gen_const(g, LE_I64, (uint64_t)points), g->root, false);
}

/* The term; where one of its reads falls outside, the other. */
static struct operand *generate_else(struct gen *g, struct le_node *node, struct scope *scope, struct condition c) {
    if (le_node_is_safe(&g->safety, node->operands[0]))
        return le_gen_node(g, node->operands[0], scope, c);
    struct operand none = {.reg = le_gen_const(g, LE_BOOL, 0), .scope = g->root, .splat = -1};
    int outside = le_gen_result(g, scope, LE_BOOL);
    le_gen_emit(g, scope,
                (struct le_instr){.code = LE_CODE_COPY,
                                  .type = LE_BOOL,
                                  .d = (uint16_t)outside,
                                  .a = (uint16_t)le_gen_use(g, &none, scope),
                                  .b = LE_NO_REG,
                                  .c = LE_NO_REG,
                                  .e = LE_NO_REG});
    struct operand *flag = new_operand(g, outside, scope, scope->in_lane);
    struct condition inner = {.mask = c.mask, .outside = outside};
    struct operand *term = le_gen_node(g, node->operands[0], scope, inner);
    struct condition other =
        le_node_is_safe(&g->safety, node->operands[1]) ? c : narrow_condition(g, scope, c, flag, true);
    struct operand *otherwise = le_gen_node(g, node->operands[1], scope, other);
    struct le_instr instr = {.code = LE_CODE_SELECT,
                             .type = (uint8_t)node->type,
                             .type2 = (uint8_t)node->type,
                             .a = (uint16_t)outside,
                             .b = (uint16_t)le_gen_use(g, otherwise, scope),
                             .c = (uint16_t)le_gen_use(g, term, scope),
                             .e = LE_NO_REG};
    instr.d = (uint16_t)le_gen_result(g, scope, node->type);
    le_gen_emit(g, scope, instr);
    return new_operand(g, instr.d, scope, scope->in_lane);
}

static struct operand *generate_value(struct gen *g, struct le_node *node, struct scope *scope, struct condition c) {
    switch (node->kind) {
    case LE_NODE_CONST:
        return new_operand(g, le_gen_const(g, node->type, node->bits), g->root, false);
    case LE_NODE_LEN:
        return new_operand(g, le_gen_const(g, LE_I64, (uint64_t)g->space->shape[node->symbol][node->axis]), g->root,
                           false);
    case LE_NODE_INDEX:
        return index_value(g, scope);
    case LE_NODE_LOAD:
        return le_gen_load(g, node, scope, c);
    case LE_NODE_SELECT:
        return generate_select(g, node, scope, c);
    case LE_NODE_RAND:
        return generate_rand(g, node, scope, c);
    case LE_NODE_REDUCE:
        return le_gen_reduce(g, node, scope, c);
    case LE_NODE_COUNT:
        return generate_count(g, node);
    case LE_NODE_ELSE:
        return generate_else(g, node, scope, c);
    case LE_NODE_REGION:
        return le_gen_region(g, node, scope, c);
    case LE_NODE_SECOND:
        return le_gen_second(g, node, scope, c);
    case LE_NODE_LOCAL: /* has no code of its own */
        break;
    case LE_NODE_OP:
        if (node->code == LE_OP_LAND || node->code == LE_OP_LOR)
            return generate_logic(g, node, scope, c);
        return generate_op(g, node, scope, c);
    case LE_NODE_CAST:
        return generate_op(g, node, scope, c);
    case LE_NODE_ROUND:
        return generate_round(g, node, scope, c);
    }
    return NULL;
}

/* Where a node's code goes, and under what, if it is needed in scope under c. */
static void choose_scope(struct gen *g, struct le_node *node, struct scope **scope, struct condition *c) {
    bool safe = le_node_is_safe(&g->safety, node);
    if (safe)
        *c = (struct condition){.mask = NULL, .outside = -1};
    if (safe && !node->changes)
        *scope = le_gen_natural(g, node, *scope);
    if ((*scope)->in_lane && le_gen_is_equal(g, node, *scope))
        *scope = le_gen_single(g, *scope);
}

struct operand *le_gen_node(struct gen *g, struct le_node *node, struct scope *scope, struct condition c) {
    if (g->status != LEAT_OK) /* nobody will run it */
        return new_operand(g, le_gen_const(g, node->type, 0), g->root, false);
    if (node->kind == LE_NODE_LOCAL)
        return le_gen_local(g, node);
    choose_scope(g, node, &scope, &c);
    struct operand *x = find_memo(g, node, scope, c);
    if (x)
        return x;
    x = le_node_is_safe(&g->safety, node) && !node->changes ? le_gen_tile(g, node, scope) : NULL;
    return add_memo(g, node, x ? x : generate_value(g, node, scope, c), c);
}

void le_gen_both(struct gen *g, struct le_node *a, struct le_node *b, struct scope *scope, struct condition c) {
    struct scope *other = scope;
    struct condition under = c;
    struct operand *totals[2];
    if (g->status != LEAT_OK || !le_node_share_loops(&a, &b))
        return;
    choose_scope(g, a, &scope, &c);
    choose_scope(g, b, &other, &under);
    bool together = scope == other && c.mask == under.mask && c.outside == under.outside && a->changes == b->changes;
    if (!together || find_memo(g, a, scope, c) || find_memo(g, b, scope, c))
        return;
    struct operand *tile = le_node_is_safe(&g->safety, a) && !a->changes ? le_gen_tile(g, a, scope) : NULL;
    if (tile)
        add_memo(g, a, tile, c);
    else if (le_gen_reduce_both(g, (struct le_node *[]){a, b}, scope, c, totals)) {
        add_memo(g, a, totals[0], c);
        add_memo(g, b, totals[1], c);
    }
}
