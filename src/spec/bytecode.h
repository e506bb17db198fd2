/* The bytecode of the vector machine. `gen` generates it, `device/cpu` executes it, and le_unit_print prints it.
 *
 * A register is a pointer: to a slot of LE_BLOCK_MAX elements, to one scalar, to a constant, to an accumulator, or (a
 * stream) into an array. An instruction works on n elements: on the current block of lanes inside a lane loop, on 1
 * element outside all lane loops. Bools are bytes, 0 or 1. Arithmetic never sees 16-bit floats: they are cast to f32
 * first.
 *
 * A stream points to element base + sum over the open loops of (index value * stride). Entering a loop adds low *
 * stride, each iteration adds step * stride, and leaving restores the pointer. */
#ifndef LE_BYTECODE_H
#define LE_BYTECODE_H
#include "spec/op.h"
#include <stdatomic.h>

#define LE_BLOCK_MAX 1024
#define LE_NO_REG    0xffff
/* Scans of floats sum groups of LE_SCAN_GROUP terms, and chunks of LE_SCAN_CHUNK terms, a multiple of it. */
#define LE_SCAN_GROUP 16
#define LE_SCAN_CHUNK 16384

enum le_code {
    /* 0..LE_OPS-1 are the operations of op.def on `type`: d = op(a, b, c). The op's rule gives the result type.
     *
     *        LE_OP_FMA rounds once on every machine. */
    LE_CODE_CAST = LE_OPS, /* d (type2) = a (type): wraps, saturates, NaN to 0; to bool: != 0 */
    LE_CODE_ROUND,         /* d (f32) = a (f32) rounded to the 16-bit float type2 and back */
    LE_CODE_MULADD,        /* d = a * b + c    rounds once if the instruction set has fused multiply-add, else twice */
    LE_CODE_MULSUB,        /* d = a * b - c */
    LE_CODE_NMULADD,       /* d = c - a * b */
    LE_CODE_DISTANCE,      /* d = c + (a - b) * (a - b), each rounded; c may be none; imm: flags of enum le_distance */
    LE_CODE_SELECT,        /* d = a ? b : c    a: bool; by size of type */
    LE_CODE_SPLAT,         /* d[0..n) = a[0]   by size of type */
    LE_CODE_COPY,          /* d = a            by size of type */
    LE_CODE_STREAM,   /* COPY that bypasses the caches, for results too large to stay in them; d and a do not overlap */
    LE_CODE_IOTA,     /* d (i64)[k] = a (i64)[0] + k * imm */
    LE_CODE_LOAD,     /* d[k] = element at (char *)a + k * imm */
    LE_CODE_STORE,    /* element at (char *)d + k * imm = a[k] */
    LE_CODE_GATHER,   /* d[k] = a[b[k]]   b: i64, in elements; c: bool or LE_NO_REG; lanes where c is false give 0 and
                         read nothing; imm: whether b is often a run of consecutive elements */
    LE_CODE_SCATTER,  /* d[b[k]] = d[b[k]] op a[k], k ascending; imm: enum le_scatter; c as in GATHER */
    LE_CODE_INRANGE,  /* d (bool) = (b or true if LE_NO_REG) && 0 <= a (i64) < e (i64)[0] */
    LE_CODE_FAULT,    /* where (b or true if LE_NO_REG) && !c: record a fault; a (i64): the subscript; imm: access * 8 +
                         axis */
    LE_CODE_OUTSIDE,  /* d (bool) |= (b or true if LE_NO_REG) && !c */
    LE_CODE_NOTE,     /* where a (bool): the run's notes |= imm, an enum le_note */
    LE_CODE_EDGE,     /* d (i64) = a (i64) moved into 0..e[0]-1 by enum le_edge imm; 0 if e[0] is 0 */
    LE_CODE_RAND_KEY, /* d (u64) = low half of Philox4x32-10(key a (u64), counter b (i64), c (i64)) */
    LE_CODE_RAND,     /* d (f64) = its low half's upper 53 bits / 2^53 */
    LE_CODE_RANDN,    /* d (f64) = normal: sqrt(-2 log(1 - u)) cos(2 pi v), u and v from low and high half */
    /* reductions over the lanes, into an accumulator d; imm: enum le_reduction but MEAN */
    LE_CODE_ACC_INIT, /* d = empty */
    LE_CODE_ACC_ADD,  /* adds n terms a (type) to d; ARG*: b (i64) are their indices; CHAIN*: the terms are a * b, each
                         added by MULADD, unless b is none */
    LE_CODE_ACC_END,  /* d (scalar of type; ARG*: i64) = total of accumulator a */
    /* reductions lane by lane: the accumulator holds one total per lane */
    LE_CODE_VEC_INIT,
    LE_CODE_VEC_ADD, /* adds a[k] to lane k of d; b as in ACC_ADD; c: bool, which lanes to skip, or none */
    LE_CODE_VEC_END, /* d[k] = total of lane k of accumulator a */
    /* scans over the lanes of a loop; accumulator c continues from block to block (device/cpu/kernels/kernels_scans.c)
     */
    LE_CODE_SCAN_INIT,  /* d = empty; a: the initial total, or none */
    LE_CODE_SCAN,       /* d[k] (ARG*: i64) = total of c with terms a[0..k]; ARG*: b (i64) their indices */
    LE_CODE_SCAN_BACK,  /* d[k] = total of c with terms a[k..n); ARG*: of equal terms, the one met last wins */
    LE_CODE_SCAN_LINK,  /* adds the total of the tasks before this one to d, the task's chunk; a: its le_scan_link */
    LE_CODE_SCAN_SHIFT, /* d[k] = that total of c joined to a[k] */
    /* the same lane by lane, for sums and products of floats */
    LE_CODE_SCAN_LANES_INIT,
    LE_CODE_SCAN_LANES, /* d[k] = total of lane k of c with term a[k] */
    /* sums and products of floats over a loop of rows (le_loop.rows): one total for each lane around it */
    LE_CODE_ROWS_INIT,
    LE_CODE_ROWS_ADD, /* adds n terms a to d; those from b[k] to c[k] (i64) belong to lane k, row after row; CHAIN*: the
                         terms are a * e unless e is none */
    LE_CODE_ROWS_END, /* d[k] = total of lane k of accumulator a */
    LE_CODE_LOOP,     /* imm: number of the loop in `loops`; its body follows, up to loop.end */
    /* control flow over lanes: bodies nest like loops; imm: index of the instruction after the body */
    LE_CODE_REPEAT, /* repeats the body until a LEAVE */
    LE_CODE_LEAVE,  /* leaves the innermost REPEAT or LOOP if a (bool) holds for no lane */
    LE_CODE_SKIP,   /* skips the body if a (bool) holds for no lane */
    LE_CODES
};
enum le_distance {
    LE_DISTANCE_ONE = 1,  /* b is one element for all lanes */
    LE_DISTANCE_FUSED = 2 /* the square is added as by MULADD */
};
enum le_scatter {
    LE_SCATTER_SET,
    LE_SCATTER_ADD,
    LE_SCATTER_SUB,
    LE_SCATTER_MUL,
    LE_SCATTER_DIV,
    LE_SCATTER_MIN,
    LE_SCATTER_MAX
};

struct le_instr {
    uint16_t code;
    uint8_t type, type2; /* enum le_type, strong */
    uint16_t d, a, b, c, e;
    bool single; /* works on one element even inside lanes: the value is the same for all of them */
    int64_t imm;
};

enum le_reg_kind {
    LE_REG_SLOT,    /* elements of 8 bytes, one per lane of a block, 64-byte aligned; per worker */
    LE_REG_SCALAR,  /* 8 bytes, per worker */
    LE_REG_CONST,   /* the constant is in `bits`; the bytes of its type come first in memory */
    LE_REG_STREAM,  /* points into buffer `buffer`, from byte `offset` on */
    LE_REG_ACC,     /* accumulator over lanes */
    LE_REG_VEC,     /* accumulator lane by lane; `levels` pending sums (float sums and products) */
    LE_REG_ROWS,    /* totals of a block's lanes, whose terms arrive row after row */
    LE_REG_SCRATCH, /* `bits` bytes per worker; loops move the pointer as in a stream: offset, task_stride */
    LE_REG_FAULT    /* the run's fault record: register 0 */
};
struct le_reg {
    enum le_reg_kind kind;
    enum le_type type;
    uint64_t bits;
    int buffer;
    int64_t offset, task_stride; /* task t starts t * task_stride bytes further */
    int levels;
};

struct le_loop_stream {
    uint16_t reg;
    int64_t stride; /* bytes for one step of the index */
    int64_t ahead;  /* not 0: the next row begins this many bytes further on and is prefetched */
};
struct le_loop {
    const char *name;
    bool lane;      /* runs in blocks of le_unit.block lanes */
    bool rows;      /* inside lanes: has its own lanes, the values low[k]..high[k] of each outer lane k, row after row;
                       low, high, value and owner are then slots */
    uint16_t owner; /* slot: the outer lane k of each lane; or LE_NO_REG */
    uint16_t low, high; /* scalar i64 registers: index values low, low + by, ... below high */
    int64_t by;         /* positive */
    uint16_t by_reg;    /* scalar i64 register with the step instead, or LE_NO_REG; a fault if it is not positive */
    uint16_t value;     /* scalar i64 register with the index's value (of the block's first lane), or LE_NO_REG */
    bool down; /* runs the last iterations first; lanes in a block ascend, and only the block run last may be partial */
    bool once; /* runs for `low` only, which the host's loop around the kernel sets */
    int clip;  /* the range of iteration numbers of the task that applies; -1: none */
    int end;   /* index of the instruction after its body */
    struct le_loop_stream *streams;
    int stream_count;
};

/* One kernel's code. */
struct le_unit {
    const char *name; /* the statement's text */
    struct le_instr *instrs;
    int instr_count;
    struct le_reg *regs;
    int reg_count;
    struct le_loop *loops;
    int loop_count;
    int block; /* lanes of a block: at most LE_BLOCK_MAX */
};

/* The first fault: the first one found in the lowest-numbered task. */
enum le_note { LE_NOTE_DIVISION = 1, LE_NOTE_POWER = 2 };
#define LE_FAULT_STEP (-1) /* access_axis: a step that is not positive */
#define LE_FAULT_END  (-2) /* access_axis: a def ended without `return`; value: le_fault_location of the def */
struct le_fault {
    unsigned notes; /* bits of enum le_note */
    bool set;
    int64_t task, access_axis, value;
};
/* The total that a chunk of a scan, which is one task, passes to the next one. Link 0 is the start; task t has link t +
 * 1. */
enum { LE_LINK_OPEN, LE_LINK_START, LE_LINK_READY };
struct le_scan_link {
    uint64_t total; /* of all terms up to the chunk's end; the bytes of its type come first in memory */
    _Atomic int state;
};
struct le_text;
void le_unit_print(const struct le_unit *unit, struct le_text *out);
void le_instr_print(const struct le_unit *unit, const struct le_instr *instr, struct le_text *out); /* one line */
const char *le_code_name(int code);
static inline int64_t le_fault_location(int line, int column) {
    return (int64_t)line << 32 | column;
}
/* Whether the machine itself executes the code, without calling a kernel. */
static inline bool le_code_is_control(int code) {
    return code >= LE_CODE_LOOP && code <= LE_CODE_SKIP;
}
#endif
