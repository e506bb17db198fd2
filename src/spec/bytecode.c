/* Prints bytecode as text, for `leat show` and for tests. Pure functions. */
#include "spec/bytecode.h"
#include "base/status.h"
#include "base/text.h"
#include <inttypes.h>
#include <string.h>

static const char *const names[LE_CODES] = {
#define LE_OP(id, ...) [LE_OP_##id] = #id,
#include "spec/op.def"
#undef LE_OP
    [LE_CODE_CAST] = "CAST",
    [LE_CODE_ROUND] = "ROUND",
    [LE_CODE_MULADD] = "MULADD",
    [LE_CODE_MULSUB] = "MULSUB",
    [LE_CODE_NMULADD] = "NMULADD",
    [LE_CODE_DISTANCE] = "DISTANCE",
    [LE_CODE_SELECT] = "SELECT",
    [LE_CODE_SPLAT] = "SPLAT",
    [LE_CODE_COPY] = "COPY",
    [LE_CODE_IOTA] = "IOTA",
    [LE_CODE_LOAD] = "LOAD",
    [LE_CODE_STORE] = "STORE",
    [LE_CODE_GATHER] = "GATHER",
    [LE_CODE_SCATTER] = "SCATTER",
    [LE_CODE_INRANGE] = "INRANGE",
    [LE_CODE_FAULT] = "FAULT",
    [LE_CODE_OUTSIDE] = "OUTSIDE",
    [LE_CODE_EDGE] = "EDGE",
    [LE_CODE_RAND_KEY] = "RAND_KEY",
    [LE_CODE_RAND] = "RAND",
    [LE_CODE_RANDN] = "RANDN",
    [LE_CODE_ACC_INIT] = "ACC_INIT",
    [LE_CODE_ACC_ADD] = "ACC_ADD",
    [LE_CODE_ACC_END] = "ACC_END",
    [LE_CODE_VEC_INIT] = "VEC_INIT",
    [LE_CODE_NOTE] = "NOTE",
    [LE_CODE_STREAM] = "STREAM",
    [LE_CODE_VEC_ADD] = "VEC_ADD",
    [LE_CODE_VEC_END] = "VEC_END",
    [LE_CODE_SCAN_INIT] = "SCAN_INIT",
    [LE_CODE_SCAN] = "SCAN",
    [LE_CODE_SCAN_BACK] = "SCAN_BACK",
    [LE_CODE_SCAN_LINK] = "SCAN_LINK",
    [LE_CODE_SCAN_SHIFT] = "SCAN_SHIFT",
    [LE_CODE_SCAN_LANES_INIT] = "SCAN_LANES_INIT",
    [LE_CODE_SCAN_LANES] = "SCAN_LANES",
    [LE_CODE_ROWS_INIT] = "ROWS_INIT",
    [LE_CODE_ROWS_ADD] = "ROWS_ADD",
    [LE_CODE_ROWS_END] = "ROWS_END",
    [LE_CODE_LOOP] = "LOOP",
    [LE_CODE_REPEAT] = "REPEAT",
    [LE_CODE_LEAVE] = "LEAVE",
    [LE_CODE_SKIP] = "SKIP",
};

/* The fields that each instruction uses: the letters of "dabce" are registers, "t" is type2, "i" is imm. */
static const char *const fields[LE_CODES] = {
    [LE_CODE_CAST] = "dat",
    [LE_CODE_ROUND] = "dat",
    [LE_CODE_MULADD] = "dabc",
    [LE_CODE_MULSUB] = "dabc",
    [LE_CODE_NMULADD] = "dabc",
    [LE_CODE_SELECT] = "dabc",
    [LE_CODE_DISTANCE] = "dabci",
    [LE_CODE_SPLAT] = "da",
    [LE_CODE_COPY] = "da",
    [LE_CODE_IOTA] = "dai",
    [LE_CODE_LOAD] = "dai",
    [LE_CODE_STORE] = "dai",
    [LE_CODE_GATHER] = "dabc",
    [LE_CODE_SCATTER] = "dabci",
    [LE_CODE_INRANGE] = "dabe",
    [LE_CODE_FAULT] = "abci",
    [LE_CODE_OUTSIDE] = "dbc",
    [LE_CODE_EDGE] = "daei",
    [LE_CODE_RAND_KEY] = "dabc",
    [LE_CODE_RAND] = "dabc",
    [LE_CODE_RANDN] = "dabc",
    [LE_CODE_ACC_INIT] = "di",
    [LE_CODE_ACC_ADD] = "dabi",
    [LE_CODE_ACC_END] = "dai",
    [LE_CODE_VEC_INIT] = "di",
    [LE_CODE_NOTE] = "ai",
    [LE_CODE_STREAM] = "da",
    [LE_CODE_VEC_ADD] = "dabci",
    [LE_CODE_VEC_END] = "dai",
    [LE_CODE_SCAN_INIT] = "dai",
    [LE_CODE_SCAN] = "dabci",
    [LE_CODE_SCAN_BACK] = "dabci",
    [LE_CODE_SCAN_LINK] = "dai",
    [LE_CODE_SCAN_SHIFT] = "daci",
    [LE_CODE_SCAN_LANES_INIT] = "dai",
    [LE_CODE_SCAN_LANES] = "daci",
    [LE_CODE_LOOP] = "",
    [LE_CODE_ROWS_INIT] = "di",
    [LE_CODE_ROWS_ADD] = "dabcei",
    [LE_CODE_ROWS_END] = "dai",
    [LE_CODE_REPEAT] = "",
    [LE_CODE_LEAVE] = "a",
    [LE_CODE_SKIP] = "a",
};
static const char *const scatters[] = {
    [LE_SCATTER_SET] = "set", [LE_SCATTER_ADD] = "add", [LE_SCATTER_SUB] = "sub", [LE_SCATTER_MUL] = "mul",
    [LE_SCATTER_DIV] = "div", [LE_SCATTER_MIN] = "min", [LE_SCATTER_MAX] = "max",
};

const char *le_code_name(int code) {
    return code >= 0 && code < LE_CODES ? names[code] : "?";
}

static const char *fields_of(int code) {
    static const char *const by_arity[] = {"d", "da", "dab", "dabc"};
    return code < LE_OPS ? by_arity[le_op_info((enum le_op)code)->arity] : fields[code];
}

/* ---- registers */

static void print_value(const struct le_reg *reg, struct le_text *out) {
    float single;
    double real;
    memcpy(&single, &reg->bits, sizeof single);
    memcpy(&real, &reg->bits, sizeof real);
    if (reg->type == LE_F64) {
        le_text_add_f64(out, real);
    } else if (reg->type == LE_F32) {
        le_text_add_f32(out, single);
    } else if (le_type_is_float(reg->type) || le_type_size(reg->type) == 0) {
        le_text_add(out, "0x%" PRIx64, reg->bits);
    } else if (le_type_is_unsigned(reg->type) || reg->type == LE_BOOL) {
        int spare = 64 - 8 * (int)le_type_size(reg->type);
        le_text_add(out, "%" PRIu64, reg->bits << spare >> spare);
    } else {
        int spare = 64 - 8 * (int)le_type_size(reg->type);
        le_text_add(out, "%" PRId64, (int64_t)(reg->bits << spare) >> spare);
    }
}

/* Prints a letter for the kind and the register's number, or the value of a constant. */
static void print_reg(const struct le_unit *unit, int number, struct le_text *out) {
    static const char letters[] = {
        [LE_REG_SLOT] = 'v', [LE_REG_SCALAR] = 's', [LE_REG_CONST] = '#',   [LE_REG_STREAM] = 'm', [LE_REG_ACC] = 'a',
        [LE_REG_VEC] = 'A',  [LE_REG_FAULT] = '!',  [LE_REG_SCRATCH] = 'r', [LE_REG_ROWS] = 'R',
    };
    if (number == LE_NO_REG) {
        le_text_add(out, "-");
    } else if (number >= unit->reg_count) {
        le_text_add(out, "?%d", number);
    } else if (unit->regs[number].kind == LE_REG_CONST) {
        le_text_add(out, "#");
        print_value(&unit->regs[number], out);
    } else {
        le_text_add(out, "%c%d", letters[unit->regs[number].kind], number);
    }
}

/* Prints a line that describes a stream, a constant or an accumulator; for slots and scalars only the type. */
static void print_reg_line(const struct le_unit *unit, int number, struct le_text *out) {
    const struct le_reg *reg = &unit->regs[number];
    if (reg->kind != LE_REG_STREAM && reg->kind != LE_REG_VEC && reg->kind != LE_REG_ACC)
        return;
    le_text_add(out, "  ");
    print_reg(unit, number, out);
    le_text_add(out, ": %s", le_type_name(reg->type));
    if (reg->kind == LE_REG_STREAM) {
        le_text_add(out, " in buffer %d from byte %" PRId64 "\n", reg->buffer, reg->offset);
    } else {
        le_text_add(out, reg->kind == LE_REG_VEC ? " totals lane by lane" : " total over lanes");
        if (reg->levels > 0)
            le_text_add(out, ", %d levels", reg->levels);
        le_text_add(out, "\n");
    }
}

/* ---- instructions */

static void print_imm(const struct le_instr *instr, struct le_text *out) {
    int64_t imm = instr->imm;
    switch (instr->code) {
    case LE_CODE_SCATTER:
        le_text_add(out, " %s", imm >= 0 && imm < (int64_t)ARRAY_LEN(scatters) ? scatters[imm] : "?");
        break;
    case LE_CODE_DISTANCE:
        le_text_add(out, imm & LE_DISTANCE_FUSED ? " fused" : "");
        le_text_add(out, imm & LE_DISTANCE_ONE ? " one" : "");
        break;
    case LE_CODE_EDGE:
        le_text_add(out, " %s", imm >= 0 && imm < LE_EDGES ? le_edge_name((enum le_edge)imm) : "?");
        break;
    case LE_CODE_FAULT:
        le_text_add(out, " access %" PRId64 " axis %" PRId64, imm / 8, imm % 8);
        break;
    case LE_CODE_IOTA:
    case LE_CODE_LOAD:
    case LE_CODE_STORE:
        le_text_add(out, " by %" PRId64, imm);
        break;
    default:
        le_text_add(out, " %s", imm >= 0 && imm < LE_REDUCTIONS ? le_reduction_name((enum le_reduction)imm) : "?");
        break;
    }
}

void le_instr_print(const struct le_unit *unit, const struct le_instr *instr, struct le_text *out) {
    const char *field = fields_of(instr->code);
    le_text_add(out, "%s%s.%s", le_code_name(instr->code), instr->single ? ".1" : "",
                le_type_name((enum le_type)instr->type));
    if (strchr(field, 't'))
        le_text_add(out, ".%s", le_type_name((enum le_type)instr->type2));
    for (; *field; field++) {
        if (*field == 't')
            continue;
        if (*field == 'i') {
            print_imm(instr, out);
            continue;
        }
        uint16_t reg = *field == 'd'   ? instr->d
                       : *field == 'a' ? instr->a
                       : *field == 'b' ? instr->b
                       : *field == 'c' ? instr->c
                                       : instr->e;
        le_text_add(out, " ");
        print_reg(unit, reg, out);
    }
    le_text_add(out, "\n");
}

static void print_loop(const struct le_unit *unit, const struct le_loop *loop, struct le_text *out) {
    le_text_add(out, "LOOP %s %s ",
                loop->once   ? "once"
                : loop->rows ? "rows"
                : loop->lane ? "lanes"
                             : "each",
                loop->name ? loop->name : "_");
    print_reg(unit, loop->low, out);
    if (!loop->once) {
        le_text_add(out, "..");
        print_reg(unit, loop->high, out);
    }
    if (loop->down)
        le_text_add(out, " down");
    if (loop->by != 1)
        le_text_add(out, " by %" PRId64, loop->by);
    if (loop->value != LE_NO_REG) {
        le_text_add(out, " in ");
        print_reg(unit, loop->value, out);
    }
    if (loop->clip >= 0)
        le_text_add(out, " task %d", loop->clip);
    for (int k = 0; k < loop->stream_count; k++) {
        le_text_add(out, k ? ", " : "; ");
        print_reg(unit, loop->streams[k].reg, out);
        le_text_add(out, " += %" PRId64, loop->streams[k].stride);
    }
    le_text_add(out, "\n");
}

/* The end of the body of the instruction at `at`; `at` if it has none. Bodies are indented by two columns. */
static int body_end(const struct le_unit *unit, int at) {
    const struct le_instr *instr = &unit->instrs[at];
    int64_t end = at;
    if (instr->code == LE_CODE_REPEAT || instr->code == LE_CODE_SKIP)
        end = instr->imm;
    if (instr->code == LE_CODE_LOOP && instr->imm >= 0 && instr->imm < unit->loop_count)
        end = unit->loops[instr->imm].end;
    return end > at && end <= unit->instr_count ? (int)end : at;
}

static void print_head(const struct le_unit *unit, const struct le_instr *instr, struct le_text *out) {
    if (instr->code >= LE_CODES)
        le_text_add(out, "?%d\n", instr->code);
    else if (instr->code == LE_CODE_LOOP && (instr->imm < 0 || instr->imm >= unit->loop_count))
        le_text_add(out, "LOOP ?%" PRId64 "\n", instr->imm);
    else if (instr->code == LE_CODE_LOOP)
        print_loop(unit, &unit->loops[instr->imm], out);
    else if (instr->code == LE_CODE_REPEAT)
        le_text_add(out, "REPEAT\n");
    else
        le_instr_print(unit, instr, out);
}

/* Damaged code is printed too: a number out of range as '?', and a body ends with the body around it at the latest. */
static int print_body(const struct le_unit *unit, int start, int end, int depth, struct le_text *out) {
    int at = start;
    while (at < end) {
        int body = depth > 64 ? at : body_end(unit, at);
        le_text_add(out, "%4d %*s", at, 2 * depth, "");
        print_head(unit, &unit->instrs[at], out);
        at++;
        if (body > at)
            at = print_body(unit, at, body < end ? body : end, depth + 1, out);
    }
    return at;
}

void le_unit_print(const struct le_unit *unit, struct le_text *out) {
    le_text_add(out, "unit %s; blocks of %d\n", unit->name ? unit->name : "_", unit->block);
    for (int k = 0; k < unit->reg_count; k++)
        print_reg_line(unit, k, out);
    print_body(unit, 0, unit->instr_count, 0, out);
}
