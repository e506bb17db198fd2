/* What the vector machine runs. `gen` makes it, `device/cpu` executes it, `le_code_print` shows it.
 *
 * A register is a pointer: to a slot of LE_BLOCK_MAX elements, to one scalar, to a constant, to an accumulator, or (a
 * stream) into an array. Instructions work on n elements: the lanes of the block inside a lane loop, 1 outside of all
 * lane loops. Bools are bytes, 0 or 1. Operands of 16-bit floats never reach arithmetic: they are cast to f32 first.
 *
 * A stream points at element base + sum over the open loops of (index value * stride). Entering a loop adds low *
 * stride, each iteration adds step * stride, leaving restores. */
#ifndef LE_BYTECODE_H
#define LE_BYTECODE_H
#include "spec/op.h"
#include <stdatomic.h>

#define LE_BLOCK_MAX 1024
#define LE_NO_REG    0xffff
/* Scans of floats add up groups of so many terms, and chunks of so many (a multiple). */
#define LE_SCAN_GROUP 16
#define LE_SCAN_CHUNK 16384

enum le_code {
    /* 0..LE_OPS-1 are the operations of op.def over `type`, d = op(a, b, c); result type by the op's rule; LE_OP_FMA is
       one rounding on every machine */
    LE_CODE_CAST = LE_OPS, /* d (type2) = a (type): wraps, saturates, NaN to 0; to bool: != 0 */
    LE_CODE_ROUND,         /* d (f32) = a (f32) rounded to the 16-bit float type2 and back */
    LE_CODE_MULADD,   /* d = a * b + c    where the instruction set has fused multiply-adds one rounding, else two */
    LE_CODE_MULSUB,   /* d = a * b - c */
    LE_CODE_NMULADD,  /* d = c - a * b */
    LE_CODE_DISTANCE, /* d = c + (a - b) * (a - b), each rounded; c: or none; imm 1: b is one element for all lanes */
    LE_CODE_SELECT,   /* d = a ? b : c    a: bool; by size of type */
    LE_CODE_SPLAT,    /* d[0..n) = a[0]   by size of type */
    LE_CODE_COPY,     /* d = a            by size of type */
    LE_CODE_STREAM,   /* the same past the caches, for results too large to stay there; d and a are apart */
    LE_CODE_IOTA,     /* d (i64)[k] = a (i64)[0] + k * imm */
    LE_CODE_LOAD,     /* d[k] = element at (char *)a + k * imm */
    LE_CODE_STORE,    /* element at (char *)d + k * imm = a[k] */
    LE_CODE_GATHER,   /* d[k] = a[b[k]]   b: i64 elements from a; c: bool, lanes without it give 0 and read nothing; or
                         LE_NO_REG; imm: whether b will often be a run of neighbours */
    LE_CODE_SCATTER,  /* d[b[k]] = d[b[k]] op a[k], k ascending; imm: enum le_scatter; c as in GATHER */
    LE_CODE_INRANGE,  /* d (bool) = (b or true if LE_NO_REG) && 0 <= a (i64) < e (i64)[0] */
    LE_CODE_FAULT, /* where (b or true if LE_NO_REG) && !c: record a data error: a (i64) is the subscript, imm = access
                    * 8 + axis */
    LE_CODE_OUTSIDE,  /* d (bool) |= (b or true if LE_NO_REG) && !c */
    LE_CODE_NOTE,     /* where a (bool): the run's notes |= imm, of enum le_note */
    LE_CODE_EDGE,     /* d (i64) = a (i64) moved into 0..e[0]-1 by enum le_edge imm; 0 if e[0] is 0 */
    LE_CODE_RAND_KEY, /* d (u64) = low half of Philox4x32-10(key a (u64), counter b (i64), c (i64)) */
    LE_CODE_RAND,     /* d (f64) = its low half's upper 53 bits / 2^53 */
    LE_CODE_RANDN,    /* d (f64) = normal: sqrt(-2 log(1 - u)) cos(2 pi v), u and v from low and high half */
    /* reductions over the lanes, into an accumulator d; imm: enum le_reduction (SUM, PROD, MIN, MAX, ANY, ALL, ARGMIN,
       ARGMAX) */
    LE_CODE_ACC_INIT, /* d = empty */
    LE_CODE_ACC_ADD,  /* d takes n more terms a (type); ARG*: b (i64) their indices */
    LE_CODE_ACC_END,  /* d (scalar of type; ARG*: i64) = total of accumulator a */
    /* reductions lane by lane: the accumulator holds one total per lane */
    LE_CODE_VEC_INIT,
    LE_CODE_VEC_ADD, /* d takes a[k] into lane k; ARG*: b (i64) the index of each lane's term; c: bool, lanes to leave
                        out, or none */
    LE_CODE_VEC_END, /* d[k] = total of lane k of accumulator a */
    /* scans over the lanes of a loop: accumulator c goes on from block to block (device/cpu/kernels/kernels_scans.c) */
    LE_CODE_SCAN_INIT,  /* d = empty; a: a total to start from, or none */
    LE_CODE_SCAN,       /* d[k] (ARG*: i64) = total of c with terms a[0..k]; ARG*: b (i64) their indices */
    LE_CODE_SCAN_BACK,  /* d[k] = total of c with terms a[k..n); ARG*: of equal ones the last met wins */
    LE_CODE_SCAN_LINK,  /* d, a task's own chunk, gets the total of the tasks before it; a: its le_scan_link */
    LE_CODE_SCAN_SHIFT, /* d[k] = that total of c joined to a[k] */
    /* the same lane by lane, for sums and products of floats */
    LE_CODE_SCAN_LANES_INIT,
    LE_CODE_SCAN_LANES, /* d[k] = total of lane k of c with term a[k] */
    /* sums and products of floats over a loop of rows (le_loop.rows): one total for each lane around it */
    LE_CODE_ROWS_INIT,
    LE_CODE_ROWS_ADD, /* d takes n more terms a; lane k's are those from b[k] to c[k] (i64), one row after the other */
    LE_CODE_ROWS_END, /* d[k] = total of lane k of accumulator a */
    LE_CODE_LOOP,     /* imm: number in loops; its body follows, up to loop.end */
    /* control over lanes: blocks nest like loops; imm: index of the instruction after the body */
    LE_CODE_REPEAT, /* the body, again and again until a LEAVE */
    LE_CODE_LEAVE,  /* leaves the innermost REPEAT or LOOP if a (bool) holds for no lane */
    LE_CODE_SKIP,   /* skips the body if a (bool) holds for no lane */
    LE_CODES
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
    bool single; /* works on one element inside lanes, too: what is equal for all of them */
    int64_t imm;
};

enum le_reg_kind {
    LE_REG_SLOT,   /* block elements of 8 bytes, 64-byte aligned, per worker */
    LE_REG_SCALAR, /* 8 bytes, per worker */
    LE_REG_CONST,  /* `bits`, as the type's bytes come first in memory */
    LE_REG_STREAM, /* into buffer `buffer`, from byte `offset` on */
    LE_REG_ACC,    /* accumulator over lanes */
    LE_REG_VEC,    /* accumulator lane by lane; `levels` pending sums (float sums and products) */
    LE_REG_ROWS,   /* totals of a block's lanes, whose terms come row after row */
    LE_REG_ROOM,   /* `bits` bytes per worker, which loops move in as in a stream: offset, task_stride */
    LE_REG_FAULT   /* the run's fault record: register 0 */
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
    int64_t ahead;  /* not 0: elements so many bytes further are the next row's, and are asked for early */
};
struct le_loop {
    const char *name;
    bool lane;      /* runs in blocks of le_code_unit.block lanes */
    bool rows;      /* inside of lanes, runs in lanes of its own: lane k's values low[k]..high[k], row after row; low,
                       high and value are room for a block, and so is owner: which k each lane belongs to */
    uint16_t owner; /* or LE_NO_REG */
    uint16_t low, high; /* scalar i64 registers: index values low, low + by, ... below high */
    int64_t by;         /* positive */
    uint16_t by_reg;    /* scalar i64 register that holds it instead, or LE_NO_REG; a fault if it is not positive */
    uint16_t value;     /* scalar i64 register that holds the index's value (of the block's first lane), or LE_NO_REG */
    bool down;          /* the last iterations first; lanes of a block ascend, and blocks are full from the end on */
    bool once;          /* runs for `low` alone: the host's loop around the kernel gives it */
    int clip;           /* -1; or which of the task's ranges of iteration numbers applies */
    int end;            /* index of the instruction after its body */
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

/* The first error in the data: least task, and in it the first found. */
enum le_note { LE_NOTE_DIVISION = 1, LE_NOTE_POWER = 2 };
#define LE_FAULT_STEP (-1) /* access_axis of a step that is not positive */
#define LE_FAULT_END  (-2) /* of a def's end that is reached without a `return`; value: le_fault_place(of the def) */
struct le_fault {
    unsigned notes; /* of enum le_note */
    bool set;
    int64_t task, access_axis, value;
};
/* Chunks of a scan, a task each: what they hand on. Number 0 is the start, task t's is number t + 1. */
enum { LE_LINK_OPEN, LE_LINK_START, LE_LINK_TOLD };
struct le_scan_link {
    uint64_t total; /* up to the chunk's end; the type's bytes come first in memory */
    _Atomic int state;
};
struct le_text;
void le_unit_print(const struct le_unit *unit, struct le_text *out);
void le_instr_print(const struct le_unit *unit, const struct le_instr *instr, struct le_text *out); /* one line */
const char *le_code_name(int code);
/* It has no function of its own: the machine does it between the others. */
static inline int64_t le_fault_place(int line, int column) {
    return (int64_t)line << 32 | column;
}
static inline bool le_code_is_control(int code) {
    return code >= LE_CODE_LOOP && code <= LE_CODE_SKIP;
}
#endif
