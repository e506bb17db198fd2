/* See instructions.h: builds the list of instructions. */
#include "gen/interpreter/instructions.h"
#include <limits.h>

enum { BESIDE_COST = 15 }; /* cost of the most expensive f64 operation in the interpreter for f32: enough for scalars */

static const enum le_type floats[] = {[LE_INTERPRETER_F32] = LE_F32, [LE_INTERPRETER_F64] = LE_F64};
static const enum le_type stored[] = {LE_BOOL, LE_I8,  LE_I16, LE_I32,  LE_I64, LE_U8, LE_U16,
                                      LE_U32,  LE_U64, LE_F16, LE_BF16, LE_F32, LE_F64};
static const enum le_type by_size[] = {LE_U8, LE_U16, LE_U32, LE_U64};

static void add_instruction(struct le_instructions *all, int code, enum le_type type, enum le_type type2, int way) {
    *LE_PUSH(all->arena, all) = (struct le_instruction){.code = code, .way = way, .type = type, .type2 = type2};
}

static bool has_operation(enum le_op op, enum le_type type) {
    bool is_float = le_type_is_float(type), is_int = le_type_is_int(type);
    switch (le_op_info(op)->rule) {
    case LE_RULE_ARITH:
    case LE_RULE_SAME:
        return is_float || is_int || op == LE_OP_ADD || op == LE_OP_MUL;
    case LE_RULE_BITS:
        return !is_float;
    case LE_RULE_SHIFT:
    case LE_RULE_INTEGER:
        return is_int;
    case LE_RULE_COMPARE:
    case LE_RULE_CHOOSE:
        return true;
    case LE_RULE_LOGIC:
        return type == LE_BOOL;
    default:
        return is_float;
    }
}

/* most: the greatest cost of an operation that is added */
static void add_operations(struct le_instructions *all, enum le_type type, int most) {
    for (enum le_op op = 0; op < LE_OPS; op++)
        if (has_operation(op, type) && le_op_info(op)->cost <= most)
            add_instruction(all, (int)op, type, LE_NONE, 0);
    for (int code = LE_CODE_MULADD; code <= LE_CODE_NMULADD && type != LE_BOOL; code++)
        add_instruction(all, code, type, LE_NONE, 0);
    if (le_type_is_float(type))
        add_instruction(all, LE_CODE_DISTANCE, type, LE_NONE, 0);
}

static bool computes(const struct le_instructions *all, enum le_type type) {
    for (size_t k = 0; k < ARRAY_LEN(all->computing); k++)
        if (all->computing[k] == type)
            return true;
    return false;
}

/* Casts between types that are computed in and types in memory. In the interpreter for f32, f64 is cast only from and
 * to types that are computed in; 16-bit floats only from and to f32. */
static bool has_cast(const struct le_instructions *all, enum le_type from, enum le_type to) {
    bool a = computes(all, from), b = computes(all, to);
    enum le_type inner = a ? from : to;
    if (le_type_is_half(to) && le_round_takes(from, to))
        return computes(all, LE_F32);
    if (from == to || !(a || b))
        return false;
    if (le_type_is_half(from) || le_type_is_half(to))
        return inner == LE_F32;
    return (a && b) || inner != LE_F64 || all->computing[0] == LE_F64;
}

static void add_casts(struct le_instructions *all) {
    for (size_t a = 0; a < ARRAY_LEN(stored); a++)
        for (size_t b = 0; b < ARRAY_LEN(stored); b++)
            if (has_cast(all, stored[a], stored[b]))
                add_instruction(all, LE_CODE_CAST, stored[a], stored[b], 0);
    if (computes(all, LE_F32)) {
        add_instruction(all, LE_CODE_ROUND, LE_F32, LE_F16, 0);
        add_instruction(all, LE_CODE_ROUND, LE_F32, LE_BF16, 0);
    }
}

static bool has_reduction(enum le_type type, enum le_reduction way) {
    bool rare = way == LE_RED_PROD || way == LE_RED_ARGMIN || way == LE_RED_ARGMAX;
    return way != LE_RED_ANY && way != LE_RED_ALL && way != LE_RED_MEAN && (le_type_is_float(type) || !rare);
}

static void add_reductions(struct le_instructions *all, int first, int last) {
    for (int code = first; code <= last; code++) {
        for (int k = 0; k < 2; k++)
            for (enum le_reduction way = 0; way < LE_RED_FUNCTIONS; way++)
                if (has_reduction(all->computing[k], way))
                    add_instruction(all, code, all->computing[k], LE_NONE, (int)way);
        add_instruction(all, code, LE_BOOL, LE_NONE, LE_RED_ANY);
        add_instruction(all, code, LE_BOOL, LE_NONE, LE_RED_ALL);
    }
}

static void add_moves(struct le_instructions *all) {
    static const int codes[] = {LE_CODE_SELECT, LE_CODE_SPLAT, LE_CODE_COPY,
                                LE_CODE_LOAD,   LE_CODE_STORE, LE_CODE_GATHER};
    for (size_t c = 0; c < ARRAY_LEN(codes); c++)
        for (size_t k = 0; k < ARRAY_LEN(by_size); k++)
            add_instruction(all, codes[c], by_size[k], LE_NONE, 0);
}

static void add_subscripts(struct le_instructions *all) {
    static const int codes[] = {LE_CODE_IOTA, LE_CODE_INRANGE, LE_CODE_OUTSIDE};
    for (size_t c = 0; c < ARRAY_LEN(codes); c++)
        add_instruction(all, codes[c], LE_NONE, LE_NONE, 0);
    for (int edge = LE_EDGE_CLAMP; edge <= LE_EDGE_SYMMETRIC; edge++)
        add_instruction(all, LE_CODE_EDGE, LE_NONE, LE_NONE, edge);
    for (int code = LE_CODE_RAND_KEY; code <= LE_CODE_RANDN && computes(all, LE_F64); code++)
        add_instruction(all, code, LE_NONE, LE_NONE, 0);
}

struct le_instructions le_instructions_list(struct le_arena *arena, enum le_interpreter which) {
    struct le_instructions all = {.arena = arena, .computing = {floats[which], LE_I64, LE_BOOL, LE_F64}};
    for (int k = 0; k < 3; k++)
        add_operations(&all, all.computing[k], INT_MAX);
    if (which == LE_INTERPRETER_F32)
        add_operations(&all, LE_F64, BESIDE_COST);
    add_casts(&all);
    add_moves(&all);
    add_subscripts(&all);
    add_reductions(&all, LE_CODE_ACC_INIT, LE_CODE_ACC_END);
    add_reductions(&all, LE_CODE_VEC_INIT, LE_CODE_VEC_END);
    return all;
}

/* ---- finding one */

static enum le_type of_size(enum le_type type) {
    size_t size = le_type_size(type);
    return size == 1 ? LE_U8 : size == 2 ? LE_U16 : size == 4 ? LE_U32 : LE_U64;
}

/* The instruction as add_instruction listed it: moves by size, subscripts without a type. */
static struct le_instruction kind_of(const struct le_instr *instr) {
    struct le_instruction x = {.code = instr->code == LE_CODE_STREAM ? LE_CODE_COPY : instr->code,
                               .type = (enum le_type)instr->type};
    if (le_instruction_moves(x.code))
        x.type = of_size(x.type);
    else if (x.code == LE_CODE_IOTA || (x.code > LE_CODE_GATHER && x.code <= LE_CODE_RANDN))
        x.type = LE_NONE;
    if (x.code == LE_CODE_CAST || x.code == LE_CODE_ROUND)
        x.type2 = (enum le_type)instr->type2;
    if ((x.code >= LE_CODE_ACC_INIT && x.code <= LE_CODE_VEC_END) || x.code == LE_CODE_EDGE)
        x.way = (int)instr->imm;
    return x;
}

int le_instructions_find(const struct le_instructions *all, const struct le_instr *instr) {
    const struct le_instruction x = kind_of(instr);
    for (int k = 0; k < all->count; k++) {
        const struct le_instruction *one = &all->at[k];
        if (one->code == x.code && one->type == x.type && one->type2 == x.type2 && one->way == x.way)
            return k;
    }
    return -1;
}
