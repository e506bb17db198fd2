/* The instructions of the device interpreters. An operation or move has one instruction for each type. The
 * interpreters' text (interpreter.c) and the tapes (tape.c) use the same instruction numbers. */
#ifndef LE_INSTRUCTIONS_H
#define LE_INSTRUCTIONS_H
#include "base/arena.h"
#include "gen/interpreter/interpreter.h"
#include "spec/bytecode.h"

struct le_instruction {
    int code, way;            /* way: the reduction, or the edge; else 0 */
    enum le_type type, type2; /* type2: of casts, and what they round to */
};
struct le_instructions {
    struct le_arena *arena;
    enum le_type computing[4]; /* types of operations; the first two, and bool, are the types of reductions */
    struct le_instruction *at; /* by number */
    int count, capacity;
};
struct le_instructions le_instructions_list(struct le_arena *arena, enum le_interpreter which);
/* The number of the instruction that runs it; -1: none does. */
int le_instructions_find(const struct le_instructions *all, const struct le_instr *instr);
static inline bool le_instruction_moves(int code) {
    return code >= LE_CODE_SELECT && code <= LE_CODE_GATHER && code != LE_CODE_IOTA;
}
/* way: a reduction. Whether its totals have an index. */
static inline bool le_instruction_has_place(int way) {
    return way == LE_RED_ARGMIN || way == LE_RED_ARGMAX;
}
#endif
