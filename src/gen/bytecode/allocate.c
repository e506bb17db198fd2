/* The last step of code generation: finds where loops end and values die, and packs many values into few slots, so that
 * they stay in the first-level cache. */
#include "gen/bytecode/bytecode_gen.h"
#include <string.h>

struct life {
    int from, to;
};

/* Until here bodies tell their length. */
static void find_ends(struct gen *g) {
    for (int k = 0; k < g->code.count; k++) {
        struct le_instr *i = &g->code.at[k];
        if (i->code == LE_CODE_LOOP)
            g->loops.at[i->imm].end += k + 1;
        else if (i->code == LE_CODE_REPEAT || i->code == LE_CODE_SKIP)
            i->imm += k + 1;
    }
}

static bool repeats(const struct le_instr *instr) {
    return instr->code == LE_CODE_LOOP || instr->code == LE_CODE_REPEAT;
}

static int end_of(const struct gen *g, int at) {
    const struct le_instr *i = &g->code.at[at];
    return i->code == LE_CODE_LOOP ? g->loops.at[i->imm].end : (int)i->imm;
}

static bool is_slot(const struct gen *g, int reg) {
    return reg != LE_NO_REG && g->regs.at[reg].kind == LE_REG_SLOT;
}

/* A use inside a loop that the value was made outside of lasts to the loop's end. */
static void extend_life(struct gen *g, struct life *lives, int reg, int at, const int *open, int open_count) {
    if (!is_slot(g, reg))
        return;
    struct life *life = &lives[reg];
    if (life->from < 0)
        life->from = at;
    int to = at;
    for (int k = 0; k < open_count; k++)
        if (open[k] > life->from) {
            to = end_of(g, open[k]);
            break;
        }
    if (to > life->to)
        life->to = to;
}

static void find_lives(struct gen *g, struct life *lives) {
    int *open = LE_NEW_ARRAY(g->arena, g->code.count + 1, int), count = 0;
    for (int k = 0; k < g->code.count; k++) {
        const struct le_instr *i = &g->code.at[k];
        while (count > 0 && end_of(g, open[count - 1]) <= k)
            count--;
        if (repeats(i)) {
            open[count++] = k;
            continue;
        }
        const uint16_t regs[] = {i->a, i->b, i->c, i->e, i->d};
        for (size_t r = 0; r < ARRAY_LEN(regs); r++)
            extend_life(g, lives, regs[r], k, open, count);
    }
}

static void rename_slots(struct gen *g, const int *slot_of) {
    for (int k = 0; k < g->code.count; k++) {
        struct le_instr *i = &g->code.at[k];
        uint16_t *regs[] = {&i->a, &i->b, &i->c, &i->e, &i->d};
        for (size_t r = 0; r < ARRAY_LEN(regs) && !repeats(i); r++)
            if (*regs[r] != LE_NO_REG && slot_of[*regs[r]] >= 0)
                *regs[r] = (uint16_t)slot_of[*regs[r]];
    }
}

/* Slots that are free, the lowest number on top; and those that became so at this very instruction, which may be
 * written where they are read only if the elements are of one size. */
struct slots {
    int *free, free_count;
    int *fresh, fresh_count;
    int *owner, count; /* the first register that took it names a slot */
    size_t *size;      /* of its last elements */
    int *ends, *next;  /* by instruction, and by slot: lists of those that become free there */
};

static void put_free(struct slots *s, int slot) {
    int k = s->free_count++;
    for (; k > 0 && s->free[(k - 1) / 2] > slot; k = (k - 1) / 2)
        s->free[k] = s->free[(k - 1) / 2];
    s->free[k] = slot;
}

static int take_free(struct slots *s) {
    int first = s->free[0], last = s->free[--s->free_count], k = 0;
    for (int child = 1; child < s->free_count; child = 2 * k + 1) {
        child += child + 1 < s->free_count && s->free[child + 1] < s->free[child];
        if (s->free[child] >= last)
            break;
        s->free[k] = s->free[child];
        k = child;
    }
    s->free[k] = last;
    return first;
}

/* The first that fits. */
static int take_slot(struct slots *s, int reg, size_t size) {
    int found = -1;
    for (int k = 0; k < s->fresh_count; k++)
        if (s->size[s->fresh[k]] == size && (found < 0 || s->fresh[k] < s->fresh[found]))
            found = k;
    if (found >= 0 && (s->free_count == 0 || s->fresh[found] < s->free[0])) {
        int slot = s->fresh[found];
        s->fresh[found] = s->fresh[--s->fresh_count];
        return slot;
    }
    if (s->free_count > 0)
        return take_free(s);
    s->owner[s->count] = reg;
    return s->count++;
}

/* Registers get slots in order of their start. */
static void give_slots(struct gen *g, struct slots *s, const struct life *lives, const int *starts, const int *next,
                       int *slot_of) {
    for (int k = 0; k < g->code.count; k++) {
        for (int slot = s->ends[k]; slot >= 0; slot = s->next[slot])
            s->fresh[s->fresh_count++] = slot;
        for (int r = starts[k]; r >= 0; r = next[r]) {
            size_t size = le_type_size(g->regs.at[r].type);
            int slot = take_slot(s, r, size), end = lives[r].to > k ? lives[r].to : k + 1;
            s->size[slot] = size;
            s->next[slot] = s->ends[end];
            s->ends[end] = slot;
            slot_of[r] = s->owner[slot];
        }
        while (s->fresh_count > 0)
            put_free(s, s->fresh[--s->fresh_count]);
    }
}

static void pack_slots(struct gen *g, const struct life *lives) {
    int regs = g->regs.count, places = g->code.count + 1;
    int *slot_of = LE_NEW_ARRAY(g->arena, regs, int), *next = LE_NEW_ARRAY(g->arena, regs, int);
    int *starts = LE_NEW_ARRAY(g->arena, places, int);
    struct slots s = {.free = LE_NEW_ARRAY(g->arena, regs, int),
                      .fresh = LE_NEW_ARRAY(g->arena, regs, int),
                      .owner = LE_NEW_ARRAY(g->arena, regs, int),
                      .size = LE_NEW_ARRAY(g->arena, regs, size_t),
                      .ends = LE_NEW_ARRAY(g->arena, places, int),
                      .next = LE_NEW_ARRAY(g->arena, regs, int)};
    memset(starts, -1, (size_t)places * sizeof *starts);
    memset(s.ends, -1, (size_t)places * sizeof *s.ends);
    for (int r = regs - 1; r >= 0; r--) {
        slot_of[r] = -1;
        if (!is_slot(g, r) || lives[r].from < 0)
            continue;
        next[r] = starts[lives[r].from];
        starts[lives[r].from] = r;
    }
    give_slots(g, &s, lives, starts, next, slot_of);
    for (int r = 0; r < regs; r++)
        if (is_slot(g, r) && slot_of[r] != r)
            g->regs.at[r].kind = LE_REG_CONST; /* no memory of its own */
    rename_slots(g, slot_of);
}

/* A loop over rows with several passes over each: while the last pass runs, memory would idle, so it asks for the next
 * row. */
static bool writes(const struct gen *g, int from, int to, int reg) {
    for (int k = from; k < to; k++)
        if (!repeats(&g->code.at[k]) && g->code.at[k].d == reg)
            return true;
    return false;
}

static void ask_ahead(struct gen *g, const struct le_loop *rows, struct le_loop *last, int from) {
    for (int k = 0; k < last->stream_count; k++)
        for (int q = 0; q < rows->stream_count; q++)
            if (rows->streams[q].reg == last->streams[k].reg && !writes(g, from, last->end, rows->streams[q].reg))
                last->streams[k].ahead = rows->streams[q].stride * rows->by;
}

static void find_passes(struct gen *g) {
    for (int k = 0; k < g->code.count; k++) {
        if (g->code.at[k].code != LE_CODE_LOOP)
            continue;
        const struct le_loop *rows = &g->loops.at[g->code.at[k].imm];
        int passes = 0, last = -1;
        for (int q = k + 1; q < rows->end && !rows->lane; q++)
            if (g->code.at[q].code == LE_CODE_LOOP) {
                passes += g->loops.at[g->code.at[q].imm].lane;
                last = q;
                q = g->loops.at[g->code.at[q].imm].end - 1;
            }
        if (passes > 1 && g->loops.at[g->code.at[last].imm].lane)
            ask_ahead(g, rows, &g->loops.at[g->code.at[last].imm], last + 1);
    }
}

struct le_unit *le_gen_finish(struct gen *g) {
    g->code.at = g->root->code.at;
    g->code.count = g->root->code.count;
    find_ends(g);
    le_gen_combine(g);
    find_passes(g);
    struct life *lives = LE_NEW_ARRAY(g->arena, g->regs.count, struct life);
    for (int r = 0; r < g->regs.count; r++)
        lives[r] = (struct life){.from = -1, .to = -1};
    find_lives(g, lives);
    pack_slots(g, lives);
    struct le_unit *unit = LE_NEW(g->arena, struct le_unit);
    *unit = (struct le_unit){.name = g->stage->name,
                             .instrs = g->code.at,
                             .instr_count = g->code.count,
                             .regs = g->regs.at,
                             .reg_count = g->regs.count,
                             .loops = g->loops.at,
                             .loop_count = g->loops.count,
                             .block = g->block};
    return unit;
}
