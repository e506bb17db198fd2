/* See interpreter.h: generates the interpreters' text, one case for each instruction. Their loop is in
 * interpreter.cu. */
#include "gen/tree/codegen.h"
#include "gen/interpreter/instructions.h"
#include <string.h>

/* A loop over the lanes of a thread. */
#define LANES                                                                                                          \
    "\n#pragma unroll 1\n            for (m.lane = m.thread; m.lane < lanes; m.lane += LE_VM_THREADS)\n"               \
    "                "

static const char *get_code(struct le_arena *arena, enum le_type type, char reg) {
    const char *t = le_type_is_half(type) ? "unsigned short" : le_cuda_type((int)type);
    return le_arena_format(arena, "le_vm_get<%s>(m, i.%c)", t, reg);
}

static const char *set_code(struct le_arena *arena, enum le_type type, const char *value) {
    const char *t = le_type_is_half(type) ? "unsigned short" : le_cuda_type((int)type);
    return le_arena_format(arena, LANES "le_vm_set<%s>(m, i.d, %s);", t, value);
}

/* The type in memory: a bool is a byte. */
static const char *element_type(enum le_type type) {
    return type == LE_BOOL || le_type_is_half(type) ? le_cuda_stored((int)type) : le_cuda_type((int)type);
}

static const char *lane_element(struct le_arena *arena, enum le_type type, char reg) {
    return le_arena_format(arena, type == LE_BOOL ? "(%c[m.lane] != 0)" : "%c[m.lane]", reg);
}

/* d = value, an expression of the first `count` of the operands a, b and c, which have one type. */
static const char *from_elements(struct le_arena *arena, enum le_type type, int count, enum le_type to,
                                 const char *value) {
    static const char *const operands[] = {"", "a(m, i.a)", "a(m, i.a), b(m, i.b)", "a(m, i.a), b(m, i.b), c(m, i.c)"};
    return le_arena_format(arena,
                           "{\n            const le_vm_of<%s> %s;\n            const le_vm_of<%s> d(m, i.d);" LANES
                           "d[m.lane] = %s;\n        }",
                           element_type(type), operands[count], element_type(to), value);
}

/* Spelled as in compiled kernels, so that both give the same bits. */
static const char *operation(struct le_arena *arena, const struct le_instruction *one) {
    const char *x[3];
    for (int k = 0; k < 3; k++)
        x[k] = lane_element(arena, one->type, "abc"[k]);
    int arity = one->code < LE_OPS ? le_op_info((enum le_op)one->code)->arity : 3;
    return from_elements(arena, one->type, arity, le_ktree_gives_bool(one->code) ? LE_BOOL : one->type,
                         le_cuda_op(arena, one->code, (int)one->type, x, LE_WAY_EXACT, NULL));
}

static const char *rounded(struct le_arena *arena, const struct le_instruction *one) {
    const char *half = le_cuda_cast(arena, lane_element(arena, LE_F32, 'a'), LE_F32, (int)one->type2);
    return from_elements(arena, LE_F32, 1, LE_F32, le_cuda_cast(arena, half, (int)one->type2, LE_F32));
}

/* The class of a total. */
static const char *total_type(struct le_arena *arena, const struct le_instruction *one) {
    static const char *const names[LE_RED_FUNCTIONS] = {
        [LE_RED_SUM] = "le_sum", [LE_RED_PROD] = "le_product", [LE_RED_MIN] = "le_least", [LE_RED_MAX] = "le_greatest"};
    const char *t = le_cuda_type((int)one->type);
    switch (one->way) {
    case LE_RED_ANY:
        return "le_any";
    case LE_RED_ALL:
        return "le_all";
    case LE_RED_ARGMIN:
    case LE_RED_ARGMAX:
        return le_arena_format(arena, "le_vm_first<%s, %s>", t, one->way == LE_RED_ARGMAX ? "true" : "false");
    default:
        return le_arena_format(arena, "%s<%s>", names[one->way], t);
    }
}

static const char *term_code(struct le_arena *arena, const struct le_instruction *one, const char *total) {
    const char *x = get_code(arena, one->type, 'a');
    return le_instruction_has_place(one->way)
               ? le_arena_format(arena, "%s::of(%s, le_vm_get<long long>(m, i.b))", total, x)
               : le_arena_format(arena, "%s::of(%s)", total, x);
}

static const char *reduction_code(struct le_arena *arena, const struct le_instruction *one) {
    const char *t = total_type(arena, one);
    enum le_type type = le_instruction_has_place(one->way) ? LE_I64 : one->type;
    switch (one->code) {
    case LE_CODE_ACC_INIT:
        return le_arena_format(arena, "le_vm_begin<%s>(m, i);", t);
    case LE_CODE_ACC_ADD:
        return le_arena_format(arena,
                               LANES "((%s *)m.room)[m.lane] = %s;\n            le_vm_add((le_vm_acc<%s> "
                                     "*)m.regs[i.d], (%s *)m.room, (%s *)m.warps, m.thread, m.n);",
                               t, term_code(arena, one, t), t, t, t);
    case LE_CODE_ACC_END:
        return set_code(arena, type,
                        le_arena_format(arena,
                                        "le_vm_end((const le_vm_acc<%s> *)m.regs[i.a]).value(le_vm_is_empty<%s>(m, i))",
                                        t, t));
    case LE_CODE_VEC_INIT:
        return le_arena_format(arena, LANES "le_vm_lanes_begin<%s>(m, i);", t);
    case LE_CODE_VEC_ADD:
        return le_arena_format(arena, LANES "le_vm_lanes_add<%s>(m, i, %s);", t, term_code(arena, one, t));
    default:
        return set_code(arena, type,
                        le_arena_format(arena, "le_vm_lanes_end<%s>(m, i).value(le_vm_is_unseen(m, i))", t));
    }
}

static const char *move_code(struct le_arena *arena, const struct le_instruction *one) {
    const char *t = le_cuda_type((int)one->type);
    switch (one->code) {
    case LE_CODE_SELECT:
        return set_code(arena, one->type,
                        le_arena_format(arena, "le_vm_get<bool>(m, i.a) ? %s : %s", get_code(arena, one->type, 'b'),
                                        get_code(arena, one->type, 'c')));
    case LE_CODE_SPLAT:
        return set_code(arena, one->type, le_arena_format(arena, "le_vm_one<%s>(m, i.a)", t));
    case LE_CODE_LOAD:
        return set_code(arena, one->type, le_arena_format(arena, "le_vm_load<%s>(m, i)", t));
    case LE_CODE_STORE:
        return le_arena_format(arena, LANES "le_vm_store<%s>(m, i);", t);
    case LE_CODE_GATHER:
        return set_code(arena, one->type, le_arena_format(arena, "le_vm_gather<%s>(m, i)", t));
    default:
        return from_elements(arena, one->type, 1, one->type, lane_element(arena, one->type, 'a'));
    }
}

static const char *subscript_code(struct le_arena *arena, const struct le_instruction *one) {
    switch (one->code) {
    case LE_CODE_IOTA:
        return set_code(arena, LE_I64,
                        "(long long)(le_vm_one<unsigned long long>(m, i.a) + m.lane * (unsigned long long)i.imm)");
    case LE_CODE_INRANGE:
        return set_code(arena, LE_BOOL, "le_vm_in_range(m, i)");
    case LE_CODE_OUTSIDE:
        return set_code(arena, LE_BOOL, "le_vm_outside(m, i)");
    case LE_CODE_EDGE:
        return set_code(arena, LE_I64,
                        "le_vm_edge(le_vm_get<long long>(m, i.a), le_vm_one<long long>(m, i.e), (int)i.imm)");
    default:
        break;
    }
    const char *name = one->code == LE_CODE_RAND_KEY ? "le_rand_key"
                       : one->code == LE_CODE_RAND   ? "le_rand"
                                                     : "le_randn";
    return set_code(arena, one->code == LE_CODE_RAND_KEY ? LE_U64 : LE_F64,
                    le_arena_format(arena,
                                    "%s(le_vm_get<unsigned long long>(m, i.a), le_vm_get<unsigned long long>(m, i.b), "
                                    "le_vm_get<unsigned long long>(m, i.c))",
                                    name));
}

static const char *text_of(struct le_arena *arena, const struct le_instruction *one) {
    if (one->code == LE_CODE_CAST)
        return from_elements(arena, one->type, 1, one->type2,
                             le_cuda_cast(arena, lane_element(arena, one->type, 'a'), (int)one->type, (int)one->type2));
    if (one->code == LE_CODE_ROUND)
        return rounded(arena, one);
    if (one->code == LE_CODE_DISTANCE)
        return set_code(arena, one->type,
                        le_arena_format(arena, "le_vm_distance<%s>(m, i)", le_cuda_type((int)one->type)));
    if (one->code < LE_OPS || (one->code >= LE_CODE_MULADD && one->code <= LE_CODE_NMULADD))
        return operation(arena, one);
    if (one->code >= LE_CODE_ACC_INIT && one->code <= LE_CODE_VEC_END)
        return reduction_code(arena, one);
    return le_instruction_moves(one->code) ? move_code(arena, one) : subscript_code(arena, one);
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

static void add_comment(struct le_arena *arena, struct words *w, const struct le_instruction *one) {
    le_words_add(arena, w, " // %s", le_code_name(one->code));
    if (one->type != LE_NONE)
        le_words_add(arena, w, ".%s", le_type_name(one->type));
    if (one->type2 != LE_NONE)
        le_words_add(arena, w, " %s", le_type_name(one->type2));
    if (one->code >= LE_CODE_ACC_INIT && one->code <= LE_CODE_VEC_END)
        le_words_add(arena, w, " %s", le_reduction_name((enum le_reduction)one->way));
    if (one->code == LE_CODE_EDGE)
        le_words_add(arena, w, " %s", le_edge_name((enum le_edge)one->way));
    le_words_add(arena, w, "\n");
}

const char *le_interpreter_name(enum le_interpreter which) {
    return which == LE_INTERPRETER_F32 ? "the interpreter for f32" : "the interpreter for f64";
}

const char *le_interpreter_text(struct le_arena *arena, enum le_interpreter which) {
    const struct le_instructions all = le_instructions_list(arena, which);
    struct words kernel = {.at = NULL}, unit = {.at = NULL};
    le_words_add(arena, &kernel, "%s", head);
    for (int k = 0; k < all.count; k++) {
        le_words_add(arena, &kernel, "        case %d: %s\n            break;", k, text_of(arena, &all.at[k]));
        add_comment(arena, &kernel, &all.at[k]);
    }
    le_words_add(arena, &kernel, "%s", tail);
    le_prelude_add(arena, &unit, kernel.at);
    le_words_put(arena, &unit, kernel.at, kernel.length);
    return unit.at;
}
