/* Combines the square of a difference, (a - b) * (a - b), into one instruction. b may be one element for all lanes, and
 * a sum may be added. Computing distances then takes one pass over a block of lanes instead of four. The combined
 * instruction rounds as often as those that it replaces, so the results have the same bits. */
#include "gen/bytecode/bytecode_gen.h"

struct combine {
    struct gen *g;
    int *uses, *sets; /* of each register, by instructions */
    struct le_instr *code;
    int count, first; /* what is written; and the first of it that is in the same body as what comes next */
};

static void count_registers(struct combine *c) {
    for (int k = 0; k < c->g->code.count; k++) {
        const struct le_instr *i = &c->g->code.at[k];
        const uint16_t read[] = {i->a, i->b, i->c, i->e};
        if (i->code == LE_CODE_LOOP || i->code == LE_CODE_REPEAT)
            continue;
        for (size_t r = 0; r < ARRAY_LEN(read); r++)
            if (read[r] != LE_NO_REG)
                c->uses[read[r]]++;
        if (i->d != LE_NO_REG)
            c->sets[i->d]++;
    }
}

/* The instruction that stands `back` before what comes next, if it is `code`, and its result is nothing but a part. */
static const struct le_instr *preceding_part(const struct combine *c, int back, int code, enum le_type type, int uses) {
    if (c->count - back < c->first)
        return NULL;
    const struct le_instr *i = &c->code[c->count - back];
    bool fits = i->code == code && i->type == type && !i->single && c->g->regs.at[i->d].kind == LE_REG_SLOT &&
                c->sets[i->d] == 1 && c->uses[i->d] == uses;
    return fits ? i : NULL;
}

static bool is_float(const struct le_instr *i) {
    return (i->type == LE_F32 || i->type == LE_F64) && !i->single;
}

/* d = x * x, or x * x + c in one multiply-add, where x = a - b. */
static void fold_square(struct combine *c, struct le_instr *square) {
    enum le_type type = (enum le_type)square->type;
    const struct le_instr *difference = preceding_part(c, 1, LE_OP_SUB, type, 2);
    bool adds = square->code == LE_CODE_MULADD;
    if (square->a != square->b || !difference || difference->d != square->a)
        return;
    const struct le_instr *splat = preceding_part(c, 2, LE_CODE_SPLAT, type, 1);
    *square = (struct le_instr){.code = LE_CODE_DISTANCE,
                                .type = square->type,
                                .d = square->d,
                                .a = difference->a,
                                .b = difference->b,
                                .c = adds ? square->c : LE_NO_REG,
                                .e = LE_NO_REG,
                                .imm = adds ? LE_DISTANCE_FUSED : 0};
    c->count--;
    if (!splat || difference->a == difference->b || (splat->d != difference->a && splat->d != difference->b))
        return;
    square->a = splat->d == difference->a ? difference->b : difference->a;
    square->b = splat->a;
    square->imm |= LE_DISTANCE_ONE;
    c->count--;
}

/* d = s + square */
static void fold_sum(struct combine *c, struct le_instr *sum) {
    const struct le_instr *last = preceding_part(c, 1, LE_CODE_DISTANCE, (enum le_type)sum->type, 1);
    if (!last || last->d != sum->b || last->c != LE_NO_REG)
        return;
    struct le_instr whole = *last;
    whole.d = sum->d;
    whole.c = sum->a;
    *sum = whole;
    c->count--;
}

/* Calls visit for each body with where it ends: the number of the instruction after it, which visit gives anew. */
static void each_end(struct gen *g, int (*visit)(int end, void *user), void *user) {
    for (int k = 0; k < g->code.count; k++) {
        struct le_instr *i = &g->code.at[k];
        if (i->code == LE_CODE_LOOP)
            g->loops.at[i->imm].end = visit(g->loops.at[i->imm].end, user);
        else if (i->code == LE_CODE_REPEAT || i->code == LE_CODE_SKIP)
            i->imm = visit((int)i->imm, user);
    }
}

static int mark_body_end(int end, void *user) {
    ((bool *)user)[end] = true;
    return end;
}

static int moved_end(int end, void *user) {
    return ((const int *)user)[end];
}

void le_gen_combine(struct gen *g) {
    struct combine c = {.g = g,
                        .uses = LE_NEW_ARRAY(g->arena, g->regs.count, int),
                        .sets = LE_NEW_ARRAY(g->arena, g->regs.count, int),
                        .code = g->code.at};
    bool *ends = LE_NEW_ARRAY(g->arena, g->code.count + 1, bool);
    int *moved = LE_NEW_ARRAY(g->arena, g->code.count + 1, int);
    count_registers(&c);
    each_end(g, mark_body_end, ends);
    for (int k = 0; k < g->code.count; k++) {
        struct le_instr i = g->code.at[k];
        if (ends[k])
            c.first = c.count;
        moved[k] = c.count;
        if ((i.code == LE_OP_MUL || i.code == LE_CODE_MULADD) && is_float(&i))
            fold_square(&c, &i);
        else if (i.code == LE_OP_ADD && is_float(&i))
            fold_sum(&c, &i);
        g->code.at[c.count++] = i;
        if (le_code_is_control(i.code))
            c.first = c.count;
    }
    moved[g->code.count] = c.count;
    g->code.count = c.count;
    each_end(g, moved_end, moved);
}
