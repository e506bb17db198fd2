/* See interpreter.h: encodes tapes, in the layout that interpreter.cu reads. */
#include "gen/interpreter/instructions.h"
#include <string.h>

/* DEPTH_MAX: nesting of loops, one less than the interpreter's stack, because it looks at the next frame. */
enum { DEPTH_MAX = 23, CONTROLS = 4, WORD_BYTES = 16, SLOT = 0x8000 };

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
enum reg_place { PLACE_ROOM, PLACE_HERE, PLACE_BUFFER };
struct tape_reg {
    int32_t kind, buffer;
    int64_t bits, task_stride;
};

struct encoder {
    const struct le_launch *launch;
    const struct le_unit *unit;
    struct le_instructions all;
    struct le_tape *tape;
    struct tape_head *head;
    struct tape_instr *instrs;
    struct tape_loop *loops;
    struct tape_stream *streams;
    struct tape_reg *regs;
    size_t room_bytes;
    bool taken; /* the interpreter supports everything so far */
};

static uint16_t encode_operand(const struct encoder *e, uint16_t reg) {
    return reg != LE_NO_REG && e->unit->regs[reg].kind == LE_REG_SLOT ? reg | SLOT : reg;
}

static void encode_instr(struct encoder *e, int k) {
    const struct le_instr *from = &e->unit->instrs[k];
    struct tape_instr *to = &e->instrs[k];
    *to = (struct tape_instr){.d = encode_operand(e, from->d),
                              .a = encode_operand(e, from->a),
                              .b = encode_operand(e, from->b),
                              .c = encode_operand(e, from->c),
                              .e = encode_operand(e, from->e),
                              .single = from->single,
                              .count = from->code == LE_CODE_SPLAT ? (uint16_t)from->imm : 0,
                              .imm = from->imm};
    if (le_code_is_control(from->code)) {
        to->op = (uint16_t)(from->code - LE_CODE_LOOP);
        return;
    }
    int at = le_instructions_find(&e->all, from), memory = from->code == LE_CODE_STORE ? to->d : to->a;
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

/* Bytes of one total, with its index if it has one. */
static size_t total_bytes(const struct encoder *e, int reg, enum le_type type) {
    for (int k = 0; k < e->unit->instr_count; k++) {
        const struct le_instr *instr = &e->unit->instrs[k];
        bool begins = instr->code == LE_CODE_ACC_INIT || instr->code == LE_CODE_VEC_INIT;
        if (begins && instr->d == reg && le_instruction_has_place((int)instr->imm))
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
    case LE_REG_SCRATCH:
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
    struct encoder e = {.launch = launch, .unit = unit, .all = le_instructions_list(arena, which), .tape = tape};
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

enum { JOIN_LOW, JOIN_HIGH, JOIN_ACC, JOIN_PARTS, JOIN_TOTAL, JOIN_TARGET, JOIN_REGS };

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
                  int64_t count, int target, size_t shared_bytes, struct le_tape *tape) {
    struct le_instr instrs[] = {instr_of(LE_CODE_ACC_INIT, type, JOIN_ACC, LE_NO_REG, reduction),
                                instr_of(LE_CODE_LOOP, LE_NONE, LE_NO_REG, LE_NO_REG, 0),
                                instr_of(LE_CODE_ACC_ADD, type, JOIN_ACC, JOIN_PARTS, reduction),
                                instr_of(LE_CODE_ACC_END, type, JOIN_TOTAL, JOIN_ACC, reduction),
                                instr_of(LE_CODE_COPY, type, JOIN_TARGET, JOIN_TOTAL, 0)};
    struct le_reg regs[JOIN_REGS] = {[JOIN_LOW] = {.kind = LE_REG_CONST, .type = LE_I64},
                                     [JOIN_HIGH] = {.kind = LE_REG_CONST, .type = LE_I64, .bits = (uint64_t)count},
                                     [JOIN_ACC] = {.kind = LE_REG_ACC, .type = type},
                                     [JOIN_PARTS] = {.kind = LE_REG_STREAM, .type = type, .buffer = LE_PARTS},
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
