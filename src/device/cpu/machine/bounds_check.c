#include "device/cpu/machine/bounds_check.h"
#include "base/text.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- memory that an instruction accesses */

/* How an operand is accessed: n consecutive elements, one element, or a pattern of its own. */
enum access_pattern { NO_MEMORY, ROW, ONE, STRIDED, INDEXED, LINK };
struct memory_operand {
    enum access_pattern pattern;
    enum le_type type;
};
struct memory_operands {
    struct memory_operand d, a, b, c, e;
};

static struct memory_operand row_operand(enum le_type type) {
    return (struct memory_operand){ROW, type};
}

static struct memory_operand single_operand(enum le_type type) {
    return (struct memory_operand){ONE, type};
}

static struct memory_operands of_operation(const struct le_instr *instr) {
    enum le_type type = (enum le_type)instr->type, result = type;
    if (instr->code < LE_OPS) {
        enum le_rule rule = le_op_info((enum le_op)instr->code)->rule;
        if (rule == LE_RULE_COMPARE || rule == LE_RULE_LOGIC || rule == LE_RULE_CLASSIFY)
            result = LE_BOOL;
    }
    return (struct memory_operands){
        .d = row_operand(result), .a = row_operand(type), .b = row_operand(type), .c = row_operand(type)};
}

static struct memory_operands of_move(const struct le_instr *instr) {
    enum le_type type = (enum le_type)instr->type;
    struct memory_operands o = {.d = row_operand(type), .a = row_operand(type)};
    if (instr->code == LE_CODE_SELECT)
        o = (struct memory_operands){
            .d = row_operand(type), .a = row_operand(LE_BOOL), .b = row_operand(type), .c = row_operand(type)};
    else if (instr->code == LE_CODE_SPLAT)
        o.a = single_operand(type);
    else if (instr->code == LE_CODE_LOAD)
        o.a.pattern = STRIDED;
    else if (instr->code == LE_CODE_STORE)
        o.d.pattern = STRIDED;
    else if (instr->code == LE_CODE_GATHER)
        o = (struct memory_operands){
            .d = row_operand(type), .a = {INDEXED, type}, .b = row_operand(LE_I64), .c = row_operand(LE_BOOL)};
    else if (instr->code == LE_CODE_SCATTER)
        o = (struct memory_operands){
            .d = {INDEXED, type}, .a = row_operand(type), .b = row_operand(LE_I64), .c = row_operand(LE_BOOL)};
    return o;
}

static struct memory_operands of_subscript(const struct le_instr *instr) {
    const struct memory_operand index = row_operand(LE_I64), mask = row_operand(LE_BOOL);
    switch (instr->code) {
    case LE_CODE_IOTA:
        return (struct memory_operands){.d = index, .a = single_operand(LE_I64)};
    case LE_CODE_INRANGE:
        return (struct memory_operands){.d = mask, .a = index, .b = mask, .e = single_operand(LE_I64)};
    case LE_CODE_FAULT:
        return (struct memory_operands){.a = index, .b = mask, .c = mask};
    case LE_CODE_OUTSIDE:
        return (struct memory_operands){.d = mask, .b = mask, .c = mask};
    case LE_CODE_EDGE:
        return (struct memory_operands){.d = index, .a = index, .e = single_operand(LE_I64)};
    case LE_CODE_RAND_KEY:
    case LE_CODE_RAND:
    case LE_CODE_RANDN:
        return (struct memory_operands){.d = index, .a = index, .b = index, .c = index}; /* 8 bytes each */
    default:                                                                             /* NOTE, LEAVE, SKIP */
        return (struct memory_operands){.a = mask};
    }
}

/* Accumulators are not checked as memory operands; their inputs and outputs are. */
static struct memory_operands of_reduction(const struct le_instr *instr) {
    enum le_type type = (enum le_type)instr->type;
    bool arg = instr->imm == LE_RED_ARGMIN || instr->imm == LE_RED_ARGMAX;
    bool chain = instr->imm == LE_RED_CHAIN || instr->imm == LE_RED_CHAIN_OF_PRODUCTS;
    struct memory_operand out = row_operand(arg ? LE_I64 : type), second = row_operand(chain ? type : LE_I64);
    switch (instr->code) {
    case LE_CODE_ACC_ADD:
        return (struct memory_operands){.a = row_operand(type), .b = second};
    case LE_CODE_VEC_ADD:
        return (struct memory_operands){.a = row_operand(type), .b = second, .c = row_operand(LE_BOOL)};
    case LE_CODE_ACC_END:
        return (struct memory_operands){.d = single_operand(out.type)};
    case LE_CODE_VEC_END:
    case LE_CODE_ROWS_END:
        return (struct memory_operands){.d = out};
    case LE_CODE_ROWS_ADD: /* the loop's own check covers the bounds in b and c */
        return (struct memory_operands){.a = row_operand(type), .e = row_operand(type)};
    case LE_CODE_SCAN_INIT:
        return (struct memory_operands){.a = single_operand(type)};
    case LE_CODE_SCAN_LINK:
        return (struct memory_operands){.a = {LINK, type}};
    case LE_CODE_SCAN_LANES_INIT:
        return (struct memory_operands){.a = row_operand(type)};
    case LE_CODE_SCAN:
    case LE_CODE_SCAN_BACK:
        return (struct memory_operands){.d = out, .a = row_operand(type), .b = row_operand(LE_I64)};
    case LE_CODE_SCAN_SHIFT:
    case LE_CODE_SCAN_LANES:
        return (struct memory_operands){.d = out, .a = row_operand(type)};
    default: /* ACC_INIT, VEC_INIT, ROWS_INIT */
        return (struct memory_operands){.d = {NO_MEMORY, type}};
    }
}

static struct memory_operands operands_of(const struct le_instr *instr) {
    struct memory_operands o;
    if (instr->code >= LE_CODE_SELECT && instr->code <= LE_CODE_SCATTER && instr->code != LE_CODE_IOTA)
        o = of_move(instr);
    else if (instr->code >= LE_CODE_ACC_INIT && instr->code <= LE_CODE_ROWS_END)
        o = of_reduction(instr);
    else if (instr->code == LE_CODE_IOTA || instr->code > LE_CODE_SCATTER)
        o = of_subscript(instr);
    else
        o = of_operation(instr);
    if (instr->code == LE_CODE_CAST)
        o.d = row_operand((enum le_type)instr->type2);
    if (instr->code == LE_CODE_DISTANCE && instr->imm & LE_DISTANCE_ONE)
        o.b.pattern = ONE;
    return o;
}

/* ---- checks */

struct access_check {
    const struct le_unit *unit;
    void *const *regs;
    const struct le_cpu_area *areas;
    const struct le_instr *instr; /* NULL: a loop */
    int64_t n;
};

static void report_access(const struct access_check *c, int reg, bool writes, int64_t first, int64_t last) {
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

/* Checks the bytes [first, end), relative to the register's address. */
static void check_bytes(const struct access_check *c, int reg, bool writes, int64_t first, int64_t end) {
    const struct le_cpu_area *area = &c->areas[reg];
    int64_t from = (int64_t)((uintptr_t)c->regs[reg] - (uintptr_t)area->low) + first;
    if (area->name && (from < 0 || from + (end - first) > area->high - area->low))
        report_access(c, reg, writes, from, from + (end - first) - 1);
}

/* Checks the element of each lane in the mask. */
static void check_indexed(const struct access_check *c, int reg, bool writes, int64_t size) {
    const int64_t *index = c->regs[c->instr->b];
    const uint8_t *mask = c->instr->c == LE_NO_REG ? NULL : c->regs[c->instr->c];
    for (int64_t k = 0; k < c->n; k++)
        if (!mask || mask[k]) {
            int64_t at = (int64_t)((uint64_t)index[k] * (uint64_t)size);
            check_bytes(c, reg, writes, at, at + size);
        }
}

static void check_operand(const struct access_check *c, int reg, struct memory_operand o, bool writes) {
    const int64_t size = (int64_t)le_type_size(o.type), link = (int64_t)sizeof(struct le_scan_link);
    if (reg == LE_NO_REG || c->n == 0)
        return;
    if (o.pattern == ROW)
        check_bytes(c, reg, writes, 0, c->n * size);
    if (o.pattern == ONE)
        check_bytes(c, reg, writes, 0, size);
    if (o.pattern == LINK) /* the links of this task and of the one before it */
        check_bytes(c, reg, writes, -link, link);
    if (o.pattern == INDEXED)
        check_indexed(c, reg, writes, size);
    if (o.pattern == STRIDED) {
        int64_t reach = (c->n - 1) * c->instr->imm;
        check_bytes(c, reg, writes, reach < 0 ? reach : 0, (reach > 0 ? reach : 0) + size);
    }
}

void le_bounds_check(const struct le_unit *unit, void *const *regs, const struct le_cpu_area *areas,
                     const struct le_instr *instr, int64_t n) {
    const struct access_check c = {.unit = unit, .regs = regs, .areas = areas, .instr = instr, .n = n};
    const struct memory_operands o = operands_of(instr);
    int arity = instr->code < LE_OPS ? le_op_info((enum le_op)instr->code)->arity : 3;
    check_operand(&c, instr->a, o.a, false);
    if (arity > 1)
        check_operand(&c, instr->b, o.b, false);
    if (arity > 2)
        check_operand(&c, instr->c, o.c, false);
    check_operand(&c, instr->e, o.e, false);
    check_operand(&c, instr->d, o.d, true);
}

/* A loop over rows has bounds per lane, and fills a block of values and owners. */
void le_bounds_check_loop(const struct le_unit *unit, void *const *regs, const struct le_cpu_area *areas,
                          const struct le_loop *loop, int64_t lanes) {
    struct access_check c = {.unit = unit, .regs = regs, .areas = areas, .n = loop->rows ? lanes : 1};
    check_operand(&c, loop->low, row_operand(LE_I64), false);
    check_operand(&c, loop->high, row_operand(LE_I64), false);
    check_operand(&c, loop->by_reg, row_operand(LE_I64), false);
    c.n = loop->rows ? unit->block : 1;
    check_operand(&c, loop->value, row_operand(LE_I64), true);
    if (loop->rows)
        check_operand(&c, loop->owner, row_operand(LE_I64), true);
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
