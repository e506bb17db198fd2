#include "device/cpu/machine/bounds_check.h"
#include "base/text.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- what an instruction touches */

/* How an operand is accessed: n elements side by side, one element, or in a way of its own. */
enum way { NO_MEMORY, ROW, ONE, STRIDED, INDEXED, LINK };
struct operand {
    enum way way;
    enum le_type type;
};
struct operands {
    struct operand d, a, b, c, e;
};

static struct operand row(enum le_type type) {
    return (struct operand){ROW, type};
}

static struct operand one(enum le_type type) {
    return (struct operand){ONE, type};
}

static struct operands of_operation(const struct le_instr *instr) {
    enum le_type type = (enum le_type)instr->type, result = type;
    if (instr->code < LE_OPS) {
        enum le_rule rule = le_op_info((enum le_op)instr->code)->rule;
        if (rule == LE_RULE_COMPARE || rule == LE_RULE_LOGIC || rule == LE_RULE_CLASSIFY)
            result = LE_BOOL;
    }
    return (struct operands){.d = row(result), .a = row(type), .b = row(type), .c = row(type)};
}

static struct operands of_move(const struct le_instr *instr) {
    enum le_type type = (enum le_type)instr->type;
    struct operands o = {.d = row(type), .a = row(type)};
    if (instr->code == LE_CODE_SELECT)
        o = (struct operands){.d = row(type), .a = row(LE_BOOL), .b = row(type), .c = row(type)};
    else if (instr->code == LE_CODE_SPLAT)
        o.a = one(type);
    else if (instr->code == LE_CODE_LOAD)
        o.a.way = STRIDED;
    else if (instr->code == LE_CODE_STORE)
        o.d.way = STRIDED;
    else if (instr->code == LE_CODE_GATHER)
        o = (struct operands){.d = row(type), .a = {INDEXED, type}, .b = row(LE_I64), .c = row(LE_BOOL)};
    else if (instr->code == LE_CODE_SCATTER)
        o = (struct operands){.d = {INDEXED, type}, .a = row(type), .b = row(LE_I64), .c = row(LE_BOOL)};
    return o;
}

static struct operands of_subscript(const struct le_instr *instr) {
    const struct operand index = row(LE_I64), mask = row(LE_BOOL);
    switch (instr->code) {
    case LE_CODE_IOTA:
        return (struct operands){.d = index, .a = one(LE_I64)};
    case LE_CODE_INRANGE:
        return (struct operands){.d = mask, .a = index, .b = mask, .e = one(LE_I64)};
    case LE_CODE_FAULT:
        return (struct operands){.a = index, .b = mask, .c = mask};
    case LE_CODE_OUTSIDE:
        return (struct operands){.d = mask, .b = mask, .c = mask};
    case LE_CODE_EDGE:
        return (struct operands){.d = index, .a = index, .e = one(LE_I64)};
    case LE_CODE_RAND_KEY:
    case LE_CODE_RAND:
    case LE_CODE_RANDN:
        return (struct operands){.d = index, .a = index, .b = index, .c = index}; /* 8 bytes each */
    default:                                                                      /* NOTE, LEAVE, SKIP */
        return (struct operands){.a = mask};
    }
}

/* Accumulators are no memory operands; what goes into them and comes out is. */
static struct operands of_reduction(const struct le_instr *instr) {
    enum le_type type = (enum le_type)instr->type;
    bool arg = instr->imm == LE_RED_ARGMIN || instr->imm == LE_RED_ARGMAX;
    struct operand out = row(arg ? LE_I64 : type);
    switch (instr->code) {
    case LE_CODE_ACC_ADD:
        return (struct operands){.a = row(type), .b = row(LE_I64)};
    case LE_CODE_VEC_ADD:
        return (struct operands){.a = row(type), .b = row(LE_I64), .c = row(LE_BOOL)};
    case LE_CODE_ACC_END:
        return (struct operands){.d = one(out.type)};
    case LE_CODE_VEC_END:
    case LE_CODE_ROWS_END:
        return (struct operands){.d = out};
    case LE_CODE_ROWS_ADD: /* the loop's own check covers the bounds in b and c */
        return (struct operands){.a = row(type)};
    case LE_CODE_SCAN_INIT:
        return (struct operands){.a = one(type)};
    case LE_CODE_SCAN_LINK:
        return (struct operands){.a = {LINK, type}};
    case LE_CODE_SCAN_LANES_INIT:
        return (struct operands){.a = row(type)};
    case LE_CODE_SCAN:
    case LE_CODE_SCAN_BACK:
        return (struct operands){.d = out, .a = row(type), .b = row(LE_I64)};
    case LE_CODE_SCAN_SHIFT:
    case LE_CODE_SCAN_LANES:
        return (struct operands){.d = out, .a = row(type)};
    default: /* ACC_INIT, VEC_INIT, ROWS_INIT */
        return (struct operands){.d = {NO_MEMORY, type}};
    }
}

static struct operands operands_of(const struct le_instr *instr) {
    struct operands o;
    if (instr->code >= LE_CODE_SELECT && instr->code <= LE_CODE_SCATTER && instr->code != LE_CODE_IOTA)
        o = of_move(instr);
    else if (instr->code >= LE_CODE_ACC_INIT && instr->code <= LE_CODE_ROWS_END)
        o = of_reduction(instr);
    else if (instr->code == LE_CODE_IOTA || instr->code > LE_CODE_SCATTER)
        o = of_subscript(instr);
    else
        o = of_operation(instr);
    if (instr->code == LE_CODE_CAST)
        o.d = row((enum le_type)instr->type2);
    if (instr->code == LE_CODE_DISTANCE && instr->imm)
        o.b.way = ONE;
    return o;
}

/* ---- checks */

struct check {
    const struct le_unit *unit;
    void *const *regs;
    const struct le_cpu_area *areas;
    const struct le_instr *instr; /* NULL: a loop */
    int64_t n;
};

static void report(const struct check *c, int reg, bool writes, int64_t first, int64_t last) {
    const struct le_cpu_area *area = &c->areas[reg];
    struct le_text text = {0};
    le_text_add(&text, "leat: %s: %s out of bounds by the vector machine\n  ", c->unit->name,
                writes ? "write" : "read");
    if (c->instr)
        le_instr_print(c->unit, c->instr, &text);
    else
        le_text_add(&text, "LOOP\n");
    le_text_add(&text, "  bytes %lld to %lld of %s, which has %lld bytes\n", (long long)first, (long long)last,
                area->name, (long long)(area->high - area->low));
    fputs(text.at ? text.at : "leat: access out of bounds\n", stderr);
    abort();
}

/* Bytes from `first` to before `end`, relative to where the register points. */
static void check_bytes(const struct check *c, int reg, bool writes, int64_t first, int64_t end) {
    const struct le_cpu_area *area = &c->areas[reg];
    int64_t from = (int64_t)((uintptr_t)c->regs[reg] - (uintptr_t)area->low) + first;
    if (area->name && (from < 0 || from + (end - first) > area->high - area->low))
        report(c, reg, writes, from, from + (end - first) - 1);
}

/* Each lane's element, but those of lanes without the mask. */
static void check_indexed(const struct check *c, int reg, bool writes, int64_t size) {
    const int64_t *index = c->regs[c->instr->b];
    const uint8_t *mask = c->instr->c == LE_NO_REG ? NULL : c->regs[c->instr->c];
    for (int64_t k = 0; k < c->n; k++)
        if (!mask || mask[k]) {
            int64_t at = (int64_t)((uint64_t)index[k] * (uint64_t)size);
            check_bytes(c, reg, writes, at, at + size);
        }
}

static void check_operand(const struct check *c, int reg, struct operand o, bool writes) {
    const int64_t size = (int64_t)le_type_size(o.type), link = (int64_t)sizeof(struct le_scan_link);
    if (reg == LE_NO_REG || c->n == 0)
        return;
    if (o.way == ROW)
        check_bytes(c, reg, writes, 0, c->n * size);
    if (o.way == ONE)
        check_bytes(c, reg, writes, 0, size);
    if (o.way == LINK) /* of this task and the one before */
        check_bytes(c, reg, writes, -link, link);
    if (o.way == INDEXED)
        check_indexed(c, reg, writes, size);
    if (o.way == STRIDED) {
        int64_t reach = (c->n - 1) * c->instr->imm;
        check_bytes(c, reg, writes, reach < 0 ? reach : 0, (reach > 0 ? reach : 0) + size);
    }
}

void le_bounds_check(const struct le_unit *unit, void *const *regs, const struct le_cpu_area *areas,
                     const struct le_instr *instr, int64_t n) {
    const struct check c = {.unit = unit, .regs = regs, .areas = areas, .instr = instr, .n = n};
    const struct operands o = operands_of(instr);
    int arity = instr->code < LE_OPS ? le_op_info((enum le_op)instr->code)->arity : 3;
    check_operand(&c, instr->a, o.a, false);
    if (arity > 1)
        check_operand(&c, instr->b, o.b, false);
    if (arity > 2)
        check_operand(&c, instr->c, o.c, false);
    check_operand(&c, instr->e, o.e, false);
    check_operand(&c, instr->d, o.d, true);
}

/* A loop of rows has its bounds lane by lane, and fills a block of values and owners. */
void le_bounds_check_loop(const struct le_unit *unit, void *const *regs, const struct le_cpu_area *areas,
                          const struct le_loop *loop, int64_t lanes) {
    struct check c = {.unit = unit, .regs = regs, .areas = areas, .n = loop->rows ? lanes : 1};
    check_operand(&c, loop->low, row(LE_I64), false);
    check_operand(&c, loop->high, row(LE_I64), false);
    check_operand(&c, loop->by_reg, row(LE_I64), false);
    c.n = loop->rows ? unit->block : 1;
    check_operand(&c, loop->value, row(LE_I64), true);
    if (loop->rows)
        check_operand(&c, loop->owner, row(LE_I64), true);
}

/* ---- areas */

void le_bounds_start(const struct le_cpu_job *job, const char *scratch, struct le_cpu_area *areas) {
    const struct le_unit *unit = job->code->unit;
    for (int k = 0; k < unit->reg_count; k++) {
        const struct le_reg *reg = &unit->regs[k];
        const char *own = scratch + job->code->offsets[k];
        areas[k] = (struct le_cpu_area){0};
        if (reg->kind == LE_REG_STREAM && job->area)
            areas[k] = job->area(job->area_user, reg->buffer);
        if (reg->kind == LE_REG_SLOT)
            areas[k] = (struct le_cpu_area){"a block of lanes", own, own + (size_t)unit->block * 8};
        if (reg->kind == LE_REG_SCALAR)
            areas[k] = (struct le_cpu_area){"a scalar register", own, own + 8};
        if (reg->kind == LE_REG_SCRATCH)
            areas[k] = (struct le_cpu_area){"a tile", own, own + reg->bits};
        if (reg->kind == LE_REG_CONST)
            areas[k] = (struct le_cpu_area){"a constant", (const char *)&reg->bits, (const char *)(&reg->bits + 1)};
    }
}
