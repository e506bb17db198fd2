/* See device_interpreter.h: the machine's text, an instruction a case, and tapes for it. How it runs is
 * device_interpreter.cu's.
 */
#include "gen/device_interpreter.h"
#include "gen/device_gen.h"
#include <limits.h>
#include <string.h>

enum { DEPTH_MAX = 24, CONTROLS = 4, WORD_BYTES = 16, SLOT = 0x8000 };
enum { BESIDE_COST = 15 }; /* of the dearest operation that the interpreter for f32 has in f64: what numbers need */

/* ---- which instructions it has: `way` is the reduction, or the edge; else 0 */

struct row {
    int code, way;
    enum le_type type, type2; /* type2: of casts, and what they round to */
};
struct rows {
    struct le_arena *arena;
    enum le_type computing[4]; /* in what operations run; the first two in what reductions do, bools apart */
    struct row *at;
    int count, capacity;
};

static const enum le_type floats[] = {[LE_INTERPRETER_F32] = LE_F32, [LE_INTERPRETER_F64] = LE_F64};
static const enum le_type stored[] = {LE_BOOL, LE_I8,  LE_I16, LE_I32,  LE_I64, LE_U8, LE_U16,
                                      LE_U32,  LE_U64, LE_F16, LE_BF16, LE_F32, LE_F64};
static const enum le_type by_size[] = {LE_U8, LE_U16, LE_U32, LE_U64};

static void add_row(struct rows *rows, int code, enum le_type type, enum le_type type2, int way) {
    *LE_PUSH(rows->arena, rows) = (struct row){.code = code, .way = way, .type = type, .type2 = type2};
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

/* most: what an operation costs at most. */
static void add_operations(struct rows *rows, enum le_type type, int most) {
    for (enum le_op op = 0; op < LE_OPS; op++)
        if (has_operation(op, type) && le_op_info(op)->cost <= most)
            add_row(rows, op, type, LE_NONE, 0);
    for (int code = LE_CODE_MULADD; code <= LE_CODE_NMULADD && type != LE_BOOL; code++)
        add_row(rows, code, type, LE_NONE, 0);
    if (le_type_is_float(type))
        add_row(rows, LE_CODE_DISTANCE, type, LE_NONE, 0);
}

static bool is_half(enum le_type type) {
    return type == LE_F16 || type == LE_BF16;
}

static bool computes(const struct rows *rows, enum le_type type) {
    for (size_t k = 0; k < ARRAY_LEN(rows->computing); k++)
        if (rows->computing[k] == type)
            return true;
    return false;
}

/* Between what computes and all that lies in memory: f64 beside f32 only what computes, floats of 16 bits only f32. */
static bool has_cast(const struct rows *rows, enum le_type from, enum le_type to) {
    bool a = computes(rows, from), b = computes(rows, to);
    enum le_type inner = a ? from : to;
    if (from == to || !(a || b))
        return false;
    if (is_half(from) || is_half(to))
        return inner == LE_F32;
    return (a && b) || inner != LE_F64 || rows->computing[0] == LE_F64;
}

static void add_casts(struct rows *rows) {
    for (size_t a = 0; a < ARRAY_LEN(stored); a++)
        for (size_t b = 0; b < ARRAY_LEN(stored); b++)
            if (has_cast(rows, stored[a], stored[b]))
                add_row(rows, LE_CODE_CAST, stored[a], stored[b], 0);
    if (computes(rows, LE_F32)) {
        add_row(rows, LE_CODE_ROUND, LE_F32, LE_F16, 0);
        add_row(rows, LE_CODE_ROUND, LE_F32, LE_BF16, 0);
    }
}

static bool has_reduction(enum le_type type, enum le_reduction way) {
    bool rare = way == LE_RED_PROD || way == LE_RED_ARGMIN || way == LE_RED_ARGMAX;
    return way != LE_RED_ANY && way != LE_RED_ALL && way != LE_RED_MEAN && (le_type_is_float(type) || !rare);
}

static void add_reductions(struct rows *rows, int first, int last) {
    for (int code = first; code <= last; code++) {
        for (int k = 0; k < 2; k++)
            for (enum le_reduction way = 0; way < LE_REDUCTIONS; way++)
                if (has_reduction(rows->computing[k], way))
                    add_row(rows, code, rows->computing[k], LE_NONE, (int)way);
        add_row(rows, code, LE_BOOL, LE_NONE, LE_RED_ANY);
        add_row(rows, code, LE_BOOL, LE_NONE, LE_RED_ALL);
    }
}

static void add_moves(struct rows *rows) {
    static const int codes[] = {LE_CODE_SELECT, LE_CODE_SPLAT, LE_CODE_COPY,
                                LE_CODE_LOAD,   LE_CODE_STORE, LE_CODE_GATHER};
    for (size_t c = 0; c < ARRAY_LEN(codes); c++)
        for (size_t k = 0; k < ARRAY_LEN(by_size); k++)
            add_row(rows, codes[c], by_size[k], LE_NONE, 0);
}

static void add_subscripts(struct rows *rows) {
    static const int codes[] = {LE_CODE_IOTA, LE_CODE_INRANGE, LE_CODE_OUTSIDE};
    for (size_t c = 0; c < ARRAY_LEN(codes); c++)
        add_row(rows, codes[c], LE_NONE, LE_NONE, 0);
    for (int edge = LE_EDGE_CLAMP; edge <= LE_EDGE_SYMMETRIC; edge++)
        add_row(rows, LE_CODE_EDGE, LE_NONE, LE_NONE, edge);
    for (int code = LE_CODE_RAND_KEY; code <= LE_CODE_RANDN && computes(rows, LE_F64); code++)
        add_row(rows, code, LE_NONE, LE_NONE, 0);
}

static struct rows list_rows(struct le_arena *arena, enum le_interpreter which) {
    struct rows rows = {.arena = arena, .computing = {floats[which], LE_I64, LE_BOOL, LE_F64}};
    for (int k = 0; k < 3; k++)
        add_operations(&rows, rows.computing[k], INT_MAX);
    if (which == LE_INTERPRETER_F32)
        add_operations(&rows, LE_F64, BESIDE_COST);
    add_casts(&rows);
    add_moves(&rows);
    add_subscripts(&rows);
    add_reductions(&rows, LE_CODE_ACC_INIT, LE_CODE_ACC_END);
    add_reductions(&rows, LE_CODE_VEC_INIT, LE_CODE_VEC_END);
    return rows;
}

/* ---- its text */

/* The lanes of a thread. */
#define LANES                                                                                                          \
    "\n#pragma unroll 1\n            for (m.lane = m.thread; m.lane < lanes; m.lane += LE_VM_THREADS)\n"               \
    "                "

static const char *get(struct cuda *c, enum le_type type, char reg) {
    const char *t = is_half(type) ? "unsigned short" : le_cuda_type(type);
    return le_arena_format(c->arena, "le_vm_get<%s>(m, i.%c)", t, reg);
}

static const char *set(struct cuda *c, enum le_type type, const char *value) {
    const char *t = is_half(type) ? "unsigned short" : le_cuda_type(type);
    return le_arena_format(c->arena, LANES "le_vm_set<%s>(m, i.d, %s);", t, value);
}

static enum le_type result_type(const struct row *row) {
    if (row->code >= LE_OPS)
        return row->type;
    enum le_rule rule = le_op_info((enum le_op)row->code)->rule;
    return rule == LE_RULE_COMPARE || rule == LE_RULE_LOGIC || rule == LE_RULE_CLASSIFY ? LE_BOOL : row->type;
}

/* The generator's own expression, so that both ways give the same bits. */
static const char *operation(struct cuda *c, const struct row *row) {
    struct le_node operand = {.kind = LE_NODE_LOAD, .type = row->type};
    struct le_node *operands[] = {&operand, &operand, &operand};
    struct held texts[3];
    const struct held *x[3];
    for (int k = 0; k < 3; k++) {
        texts[k] = (struct held){.text = get(c, row->type, "abc"[k])};
        x[k] = &texts[k];
    }
    int arity = row->code < LE_OPS ? le_op_info((enum le_op)row->code)->arity : 3;
    const struct le_node node = {
        .kind = LE_NODE_OP, .type = result_type(row), .code = row->code, .operands = operands, .operand_count = arity};
    return set(c, node.type, le_cuda_op(c, &node, x, false, NULL, false));
}

static const char *rounded(struct cuda *c, const struct row *row) {
    const char *half = le_cuda_cast(c, get(c, LE_F32, 'a'), LE_F32, row->type2);
    return set(c, LE_F32, le_cuda_cast(c, half, row->type2, LE_F32));
}

/* What holds a total, in C. */
static const char *total_type(struct cuda *c, const struct row *row) {
    static const char *const names[LE_REDUCTIONS] = {
        [LE_RED_SUM] = "le_sum", [LE_RED_PROD] = "le_product", [LE_RED_MIN] = "le_least", [LE_RED_MAX] = "le_greatest"};
    const char *t = le_cuda_type(row->type);
    switch (row->way) {
    case LE_RED_ANY:
        return "le_any";
    case LE_RED_ALL:
        return "le_all";
    case LE_RED_ARGMIN:
    case LE_RED_ARGMAX:
        return le_arena_format(c->arena, "le_vm_first<%s, %s>", t, row->way == LE_RED_ARGMAX ? "true" : "false");
    default:
        return le_arena_format(c->arena, "%s<%s>", names[row->way], t);
    }
}

static bool is_first(int way) {
    return way == LE_RED_ARGMIN || way == LE_RED_ARGMAX;
}

static const char *term(struct cuda *c, const struct row *row, const char *total) {
    const char *x = get(c, row->type, 'a');
    return is_first(row->way) ? le_arena_format(c->arena, "%s::of(%s, le_vm_get<long long>(m, i.b))", total, x)
                              : le_arena_format(c->arena, "%s::of(%s)", total, x);
}

static const char *reduction(struct cuda *c, const struct row *row) {
    struct le_arena *arena = c->arena;
    const char *t = total_type(c, row);
    enum le_type type = is_first(row->way) ? LE_I64 : row->type;
    switch (row->code) {
    case LE_CODE_ACC_INIT:
        return le_arena_format(arena, "le_vm_begin<%s>(m, i);", t);
    case LE_CODE_ACC_ADD:
        return le_arena_format(arena,
                               LANES "((%s *)m.room)[m.lane] = %s;\n            le_vm_add((le_vm_acc<%s> "
                                     "*)m.regs[i.d], (%s *)m.room, (%s *)m.warps, m.thread, m.n);",
                               t, term(c, row, t), t, t, t);
    case LE_CODE_ACC_END:
        return set(c, type,
                   le_arena_format(
                       arena, "le_vm_end((const le_vm_acc<%s> *)m.regs[i.a]).value(le_vm_is_empty<%s>(m, i))", t, t));
    case LE_CODE_VEC_INIT:
        return le_arena_format(arena, LANES "le_vm_lanes_begin<%s>(m, i);", t);
    case LE_CODE_VEC_ADD:
        return le_arena_format(arena, LANES "le_vm_lanes_add<%s>(m, i, %s);", t, term(c, row, t));
    default:
        return set(c, type, le_arena_format(arena, "le_vm_lanes_end<%s>(m, i).value(le_vm_is_unseen(m, i))", t));
    }
}

static const char *move(struct cuda *c, const struct row *row) {
    struct le_arena *arena = c->arena;
    const char *t = le_cuda_type(row->type), *a = get(c, row->type, 'a');
    switch (row->code) {
    case LE_CODE_SELECT:
        return set(c, row->type,
                   le_arena_format(arena, "le_vm_get<bool>(m, i.a) ? %s : %s", get(c, row->type, 'b'),
                                   get(c, row->type, 'c')));
    case LE_CODE_SPLAT:
        return set(c, row->type, le_arena_format(arena, "le_vm_one<%s>(m, i.a)", t));
    case LE_CODE_LOAD:
        return set(c, row->type, le_arena_format(arena, "le_vm_load<%s>(m, i)", t));
    case LE_CODE_STORE:
        return le_arena_format(arena, LANES "le_vm_store<%s>(m, i);", t);
    case LE_CODE_GATHER:
        return set(c, row->type, le_arena_format(arena, "le_vm_gather<%s>(m, i)", t));
    default:
        return set(c, row->type, a);
    }
}

static const char *subscript(struct cuda *c, const struct row *row) {
    switch (row->code) {
    case LE_CODE_IOTA:
        return set(c, LE_I64,
                   "(long long)(le_vm_one<unsigned long long>(m, i.a) + m.lane * (unsigned long long)i.imm)");
    case LE_CODE_INRANGE:
        return set(c, LE_BOOL, "le_vm_in_range(m, i)");
    case LE_CODE_OUTSIDE:
        return set(c, LE_BOOL, "le_vm_outside(m, i)");
    case LE_CODE_EDGE:
        return set(c, LE_I64, "le_vm_edge(le_vm_get<long long>(m, i.a), le_vm_one<long long>(m, i.e), (int)i.imm)");
    default:
        break;
    }
    const char *name = row->code == LE_CODE_RAND_KEY ? "le_rand_key"
                       : row->code == LE_CODE_RAND   ? "le_rand"
                                                     : "le_randn";
    return set(c, row->code == LE_CODE_RAND_KEY ? LE_U64 : LE_F64,
               le_arena_format(c->arena,
                               "%s(le_vm_get<unsigned long long>(m, i.a), le_vm_get<unsigned long long>(m, i.b), "
                               "le_vm_get<unsigned long long>(m, i.c))",
                               name));
}

static const char *row_text(struct cuda *c, const struct row *row) {
    if (row->code == LE_CODE_CAST)
        return set(c, row->type2, le_cuda_cast(c, get(c, row->type, 'a'), row->type, row->type2));
    if (row->code == LE_CODE_ROUND)
        return rounded(c, row);
    if (row->code == LE_CODE_DISTANCE)
        return set(c, row->type, le_arena_format(c->arena, "le_vm_distance<%s>(m, i)", le_cuda_type(row->type)));
    if (row->code < LE_OPS || (row->code >= LE_CODE_MULADD && row->code <= LE_CODE_NMULADD))
        return operation(c, row);
    if (row->code >= LE_CODE_ACC_INIT && row->code <= LE_CODE_VEC_END)
        return reduction(c, row);
    bool moves = row->code >= LE_CODE_SELECT && row->code <= LE_CODE_GATHER && row->code != LE_CODE_IOTA;
    return moves ? move(c, row) : subscript(c, row);
}

static const char head[] =
    "extern \"C\" __global__ void __launch_bounds__(LE_VM_THREADS, 8) " LE_INTERPRETER_KERNEL
    "(const le_vm_tape *tape, char *b0, char *b1, char *b2,\n    char *b3, char *b4, char *b5, char *b6, char *b7, "
    "char *b8, char *b9, char *b10, char *b11, char *b12, char *b13,\n    char *b14, char *b15) {\n"
    "    extern __shared__ le_vm_word memory[];\n"
    "    __shared__ le_vm_word room[LE_VM_LANES], warps[LE_VM_THREADS / 32];\n"
    "    char *const buffers[LE_VM_BUFFERS] = {b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12, b13, b14, b15};\n"
    "    le_vm m = {(char **)memory, room, warps, tape->block, (int)threadIdx.x, 1, 0};\n"
    "    const le_vm_instr *const instrs = (const le_vm_instr *)((const char *)tape + tape->instrs_at);\n"
    "    const le_vm_loop *const loops = (const le_vm_loop *)((const char *)tape + tape->loops_at);\n"
    "    const le_vm_stream *const streams = (const le_vm_stream *)((const char *)tape + tape->streams_at);\n"
    "    le_vm_frame frames[LE_VM_DEPTH];\n"
    "    le_vm_start(m, tape, buffers, (char *)memory);\n"
    "    __syncthreads();\n"
    "    for (int at = 0, depth = 0, end = -1;;) {\n"
    "        if (at == end)\n"
    "            at = le_vm_ends(m, streams, frames, at, depth, end);\n"
    "        if (at == tape->instr_count)\n"
    "            return;\n"
    "        const le_vm_instr i = instrs[at++];\n"
    "        if (i.op < LE_VM_FIRST) {\n"
    "            at = le_vm_control(m, tape, loops, streams, frames, i, at, depth, end);\n"
    "            continue;\n"
    "        }\n"
    "        const bool alone = i.single || m.n == 1;\n"
    "        const int lanes = i.single ? 1 : i.count ? i.count : m.n;\n"
    "        if (alone)\n"
    "            __syncthreads();\n"
    "        switch (i.op - LE_VM_FIRST) {\n";
static const char tail[] = "        }\n"
                           "        if (alone)\n"
                           "            __syncthreads();\n"
                           "    }\n"
                           "}\n";

static void add_comment(struct le_arena *arena, struct words *w, const struct row *row) {
    le_words_add(arena, w, " // %s", le_code_name(row->code));
    if (row->type != LE_NONE)
        le_words_add(arena, w, ".%s", le_type_name(row->type));
    if (row->type2 != LE_NONE)
        le_words_add(arena, w, " %s", le_type_name(row->type2));
    if (row->code >= LE_CODE_ACC_INIT && row->code <= LE_CODE_VEC_END)
        le_words_add(arena, w, " %s", le_reduction_name((enum le_reduction)row->way));
    if (row->code == LE_CODE_EDGE)
        le_words_add(arena, w, " %s", le_edge_name((enum le_edge)row->way));
    le_words_add(arena, w, "\n");
}

const char *le_interpreter_name(enum le_interpreter which) {
    return which == LE_INTERPRETER_F32 ? "the interpreter for f32" : "the interpreter for f64";
}

const char *le_interpreter_text(struct le_arena *arena, enum le_interpreter which) {
    struct cuda c = {.arena = arena};
    const struct rows rows = list_rows(arena, which);
    struct words kernel = {.at = NULL}, unit = {.at = NULL};
    le_words_add(arena, &kernel, "%s", head);
    for (int k = 0; k < rows.count; k++) {
        le_words_add(arena, &kernel, "        case %d: %s\n            break;", k, row_text(&c, &rows.at[k]));
        add_comment(arena, &kernel, &rows.at[k]);
    }
    le_words_add(arena, &kernel, "%s", tail);
    le_prelude_add(arena, &unit, kernel.at);
    le_words_add(arena, &unit, "%s", kernel.at);
    return unit.at;
}

/* ---- tapes: as device_interpreter.cu has them */

struct tape_head {
    int32_t instr_count, loop_count, reg_count, block, instrs_at, loops_at, streams_at, regs_at;
    int64_t clip_count[2], clip_size[2], clip_pieces[2];
};
struct tape_instr {
    uint16_t op, d, a, b, c, e, single, count;
    int64_t imm;
};
struct tape_loop {
    int32_t end, clip, lane, down, stream, stream_count, low, high, value, unused;
    int64_t by;
};
struct tape_stream {
    int64_t reg, stride;
};
enum place { PLACE_ROOM, PLACE_HERE, PLACE_BUFFER };
struct tape_reg {
    int32_t kind, buffer;
    int64_t bits, task_stride;
};

struct encoder {
    const struct le_launch *launch;
    const struct le_unit *unit;
    struct rows rows;
    struct le_tape *tape;
    struct tape_head *head;
    struct tape_instr *instrs;
    struct tape_loop *loops;
    struct tape_stream *streams;
    struct tape_reg *regs;
    size_t room_bytes;
    bool taken; /* so far there is nothing that the machine has not */
};

static enum le_type of_size(enum le_type type) {
    size_t size = le_type_size(type);
    return size == 1 ? LE_U8 : size == 2 ? LE_U16 : size == 4 ? LE_U32 : LE_U64;
}

/* The row of an instruction, as add_row was asked for it. */
static struct row row_of(const struct le_instr *instr) {
    struct row row = {.code = instr->code == LE_CODE_STREAM ? LE_CODE_COPY : instr->code,
                      .type = (enum le_type)instr->type};
    if (row.code >= LE_CODE_SELECT && row.code <= LE_CODE_GATHER && row.code != LE_CODE_IOTA)
        row.type = of_size(row.type);
    else if (row.code == LE_CODE_CAST || row.code == LE_CODE_ROUND)
        row.type2 = (enum le_type)instr->type2;
    else if (row.code >= LE_CODE_ACC_INIT && row.code <= LE_CODE_VEC_END)
        row.way = (int)instr->imm;
    else if (row.code == LE_CODE_EDGE)
        row.way = (int)instr->imm;
    if (row.code == LE_CODE_IOTA || (row.code > LE_CODE_GATHER && row.code <= LE_CODE_RANDN))
        row.type = LE_NONE;
    return row;
}

static int find_row(const struct rows *rows, const struct row *row) {
    for (int k = 0; k < rows->count; k++) {
        const struct row *r = &rows->at[k];
        if (r->code == row->code && r->type == row->type && r->type2 == row->type2 && r->way == row->way)
            return k;
    }
    return -1;
}

static uint16_t operand(const struct encoder *e, uint16_t reg) {
    return reg != LE_NO_REG && e->unit->regs[reg].kind == LE_REG_SLOT ? reg | SLOT : reg;
}

static void encode_instr(struct encoder *e, int k) {
    const struct le_instr *from = &e->unit->instrs[k];
    struct tape_instr *to = &e->instrs[k];
    *to = (struct tape_instr){.d = operand(e, from->d),
                              .a = operand(e, from->a),
                              .b = operand(e, from->b),
                              .c = operand(e, from->c),
                              .e = operand(e, from->e),
                              .single = from->single,
                              .count = from->code == LE_CODE_SPLAT ? (uint16_t)from->imm : 0,
                              .imm = from->imm};
    if (le_code_is_control(from->code)) {
        to->op = (uint16_t)(from->code - LE_CODE_LOOP);
        return;
    }
    const struct row row = row_of(from);
    int at = find_row(&e->rows, &row), memory = from->code == LE_CODE_STORE ? to->d : to->a;
    bool moves = from->code == LE_CODE_LOAD || from->code == LE_CODE_STORE || from->code == LE_CODE_GATHER;
    e->taken &= at >= 0 && !(moves && memory & SLOT);
    to->op = (uint16_t)(CONTROLS + at);
}

static void encode_loop(struct encoder *e, int k, int *stream) {
    const struct le_loop *from = &e->unit->loops[k];
    e->taken &= !from->rows && !from->once && from->by_reg == LE_NO_REG;
    e->loops[k] = (struct tape_loop){.end = from->end,
                                     .clip = from->clip,
                                     .lane = from->lane,
                                     .down = from->down,
                                     .stream = *stream,
                                     .stream_count = from->stream_count,
                                     .low = from->low,
                                     .high = from->high,
                                     .value = from->value,
                                     .by = from->by};
    for (int q = 0; q < from->stream_count; q++)
        e->streams[(*stream)++] = (struct tape_stream){from->streams[q].reg, from->streams[q].stride};
}

/* ---- registers */

static size_t round_up(size_t size_bytes) {
    return (size_bytes + WORD_BYTES - 1) / WORD_BYTES * WORD_BYTES;
}

static int buffer_number(struct encoder *e, int buffer) {
    struct le_tape *tape = e->tape;
    for (int k = 0; k < tape->buffer_count; k++)
        if (tape->buffers[k] == buffer)
            return k;
    e->taken &= tape->buffer_count < LE_INTERPRETER_BUFFERS;
    if (e->taken)
        tape->buffers[tape->buffer_count++] = buffer;
    return tape->buffer_count - 1;
}

/* Bytes of one total: an index beside it where that is asked for. */
static size_t total_bytes(const struct encoder *e, int reg, enum le_type type) {
    for (int k = 0; k < e->unit->instr_count; k++) {
        const struct le_instr *instr = &e->unit->instrs[k];
        bool begins = instr->code == LE_CODE_ACC_INIT || instr->code == LE_CODE_VEC_INIT;
        if (begins && instr->d == reg && is_first((int)instr->imm))
            return WORD_BYTES;
        if (begins && instr->d == reg)
            return le_type_size((enum le_type)instr->type);
    }
    return le_type_size(type);
}

static size_t reg_bytes(const struct encoder *e, int k) {
    const struct le_reg *reg = &e->unit->regs[k];
    size_t total = total_bytes(e, k, reg->type), levels = reg->levels > 1 ? (size_t)reg->levels : 1;
    switch (reg->kind) {
    case LE_REG_SLOT:
        return (size_t)LE_INTERPRETER_LANES * 8;
    case LE_REG_ACC:
        return 16 + 64 * total;
    case LE_REG_VEC:
        return LE_INTERPRETER_LANES * 9 + levels * LE_INTERPRETER_LANES * total;
    case LE_REG_ROOM:
        return (size_t)reg->bits;
    default:
        return 8;
    }
}

static void encode_reg(struct encoder *e, int k) {
    const struct le_reg *from = &e->unit->regs[k];
    struct tape_reg *to = &e->regs[k];
    e->taken &= from->kind != LE_REG_ROWS;
    if (from->kind == LE_REG_STREAM) {
        *to = (struct tape_reg){PLACE_BUFFER, buffer_number(e, from->buffer), from->offset, from->task_stride};
    } else if (from->kind == LE_REG_CONST || from->kind == LE_REG_FAULT) {
        *to = (struct tape_reg){PLACE_HERE, 0, (int64_t)from->bits, 0};
    } else {
        *to = (struct tape_reg){PLACE_ROOM, 0, (int64_t)e->room_bytes + from->offset, from->task_stride};
        e->room_bytes += round_up(reg_bytes(e, k));
    }
}

/* ---- the whole */

static int depth_of(const struct le_unit *unit) {
    int ends[DEPTH_MAX + 1], depth = 0, most = 0;
    for (int k = 0; k < unit->instr_count; k++) {
        const struct le_instr *instr = &unit->instrs[k];
        while (depth > 0 && ends[depth - 1] <= k)
            depth--;
        if (instr->code != LE_CODE_LOOP && instr->code != LE_CODE_REPEAT)
            continue;
        if (depth == DEPTH_MAX)
            return DEPTH_MAX + 1;
        ends[depth++] = instr->code == LE_CODE_LOOP ? unit->loops[instr->imm].end : (int)instr->imm;
        most = depth > most ? depth : most;
    }
    return most;
}

static void lay_out(struct encoder *e, struct le_arena *arena) {
    const struct le_unit *unit = e->unit;
    size_t streams = 0, at = sizeof(struct tape_head);
    for (int k = 0; k < unit->loop_count; k++)
        streams += (size_t)unit->loops[k].stream_count;
    size_t instrs_at = round_up(at), loops_at, streams_at, regs_at;
    loops_at = round_up(instrs_at + (size_t)unit->instr_count * sizeof(struct tape_instr));
    streams_at = round_up(loops_at + (size_t)unit->loop_count * sizeof(struct tape_loop));
    regs_at = round_up(streams_at + streams * sizeof(struct tape_stream));
    e->tape->size_bytes = regs_at + (size_t)unit->reg_count * sizeof(struct tape_reg);
    char *bytes = le_arena_alloc(arena, e->tape->size_bytes);
    memset(bytes, 0, e->tape->size_bytes);
    e->tape->bytes = bytes;
    e->head = (struct tape_head *)(void *)bytes;
    e->instrs = (struct tape_instr *)(void *)(bytes + instrs_at);
    e->loops = (struct tape_loop *)(void *)(bytes + loops_at);
    e->streams = (struct tape_stream *)(void *)(bytes + streams_at);
    e->regs = (struct tape_reg *)(void *)(bytes + regs_at);
    *e->head = (struct tape_head){.instr_count = unit->instr_count,
                                  .loop_count = unit->loop_count,
                                  .reg_count = unit->reg_count,
                                  .block = unit->block,
                                  .instrs_at = (int32_t)instrs_at,
                                  .loops_at = (int32_t)loops_at,
                                  .streams_at = (int32_t)streams_at,
                                  .regs_at = (int32_t)regs_at};
    for (int c = 0; c < 2; c++) {
        e->head->clip_count[c] = e->launch->clip_count[c];
        e->head->clip_size[c] = e->launch->clip_size[c];
        e->head->clip_pieces[c] = e->launch->clip_pieces[c];
    }
}

bool le_tape_encode(struct le_arena *arena, enum le_interpreter which, const struct le_launch *launch,
                    size_t shared_bytes, struct le_tape *tape) {
    const struct le_unit *unit = launch->unit;
    struct encoder e = {.launch = launch, .unit = unit, .rows = list_rows(arena, which), .tape = tape};
    int stream = 0;
    *tape = (struct le_tape){.tasks = launch->tasks};
    e.taken = launch->row_count == 0 && !launch->links && !launch->copies && unit->block <= LE_INTERPRETER_LANES &&
              unit->reg_count < SLOT && depth_of(unit) <= DEPTH_MAX && launch->tasks <= INT32_MAX;
    if (!e.taken)
        return false;
    lay_out(&e, arena);
    e.room_bytes = round_up((size_t)unit->reg_count * sizeof(void *));
    for (int k = 0; k < unit->instr_count; k++)
        encode_instr(&e, k);
    for (int k = 0; k < unit->loop_count; k++)
        encode_loop(&e, k, &stream);
    for (int k = 0; k < unit->reg_count; k++)
        encode_reg(&e, k);
    tape->shared_bytes = e.room_bytes;
    return e.taken && e.room_bytes <= shared_bytes;
}

/* ---- totals of tasks */

enum { JOIN_FAULT, JOIN_LOW, JOIN_HIGH, JOIN_ACC, JOIN_PARTS, JOIN_TOTAL, JOIN_TARGET, JOIN_REGS };

static struct le_instr instr_of(int code, enum le_type type, int d, int a, int64_t imm) {
    return (struct le_instr){.code = (uint16_t)code,
                             .type = (uint8_t)type,
                             .d = (uint16_t)d,
                             .a = (uint16_t)a,
                             .b = LE_NO_REG,
                             .c = LE_NO_REG,
                             .e = LE_NO_REG,
                             .imm = imm};
}

bool le_tape_join(struct le_arena *arena, enum le_interpreter which, enum le_type type, enum le_reduction reduction,
                  int64_t count, int64_t offset, int target, size_t shared_bytes, struct le_tape *tape) {
    struct le_instr instrs[] = {instr_of(LE_CODE_ACC_INIT, type, JOIN_ACC, LE_NO_REG, reduction),
                                instr_of(LE_CODE_LOOP, LE_NONE, LE_NO_REG, LE_NO_REG, 0),
                                instr_of(LE_CODE_ACC_ADD, type, JOIN_ACC, JOIN_PARTS, reduction),
                                instr_of(LE_CODE_ACC_END, type, JOIN_TOTAL, JOIN_ACC, reduction),
                                instr_of(LE_CODE_COPY, type, JOIN_TARGET, JOIN_TOTAL, 0)};
    struct le_reg regs[JOIN_REGS] = {
        [JOIN_FAULT] = {.kind = LE_REG_FAULT, .type = LE_I64},
        [JOIN_LOW] = {.kind = LE_REG_CONST, .type = LE_I64},
        [JOIN_HIGH] = {.kind = LE_REG_CONST, .type = LE_I64, .bits = (uint64_t)count},
        [JOIN_ACC] = {.kind = LE_REG_ACC, .type = type},
        [JOIN_PARTS] = {.kind = LE_REG_STREAM, .type = type, .buffer = LE_PARTS, .offset = offset},
        [JOIN_TOTAL] = {.kind = LE_REG_SCALAR, .type = type},
        [JOIN_TARGET] = {.kind = LE_REG_STREAM, .type = type, .buffer = target}};
    struct le_loop_stream stream = {.reg = JOIN_PARTS, .stride = (int64_t)le_type_size(type)};
    struct le_loop loop = {.lane = true,
                           .owner = LE_NO_REG,
                           .low = JOIN_LOW,
                           .high = JOIN_HIGH,
                           .by = 1,
                           .by_reg = LE_NO_REG,
                           .value = LE_NO_REG,
                           .clip = -1,
                           .end = 3,
                           .streams = &stream,
                           .stream_count = 1};
    struct le_unit unit = {.name = "totals of tasks",
                           .instrs = instrs,
                           .instr_count = (int)ARRAY_LEN(instrs),
                           .regs = regs,
                           .reg_count = JOIN_REGS,
                           .loops = &loop,
                           .loop_count = 1,
                           .block = LE_INTERPRETER_LANES};
    const struct le_launch launch = {.unit = &unit, .tasks = 1};
    return le_tape_encode(arena, which, &launch, shared_bytes, tape);
}
