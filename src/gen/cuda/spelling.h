/* How CUDA C spells types, literals, casts and operations. Operands are texts of primary expressions. All texts are in
 * the arena, or constant. */
#ifndef LE_CUDA_SPELLING_H
#define LE_CUDA_SPELLING_H
#include "base/status.h"
#include "gen/tree/tree.h"

const char *le_cuda_type(enum le_type type);   /* of variables: bool is bool, 16-bit floats are float */
const char *le_cuda_stored(enum le_type type); /* in memory */
const char *le_cuda_literal(struct le_arena *arena, enum le_type type, uint64_t bits);
const char *le_cuda_position(struct le_arena *arena, int type, int64_t value); /* a literal of a position's type */
const char *le_cuda_cast(struct le_arena *arena, const char *x, enum le_type from, enum le_type to); /* any two */
/* code, on operands of that type. usual: the bool that LE_WAY_QUICK clears */
const char *le_cuda_op(struct le_arena *arena, int code, enum le_type type, const char *const *x, enum le_way way,
                       const char *usual);
/* The same on 32-bit positions, as a primary expression or a sum. */
const char *le_cuda_position_op(struct le_arena *arena, int code, const char *const *x);
/* The total of a reduction, as a class of the prelude. place: "int" or "long long", of args */
const char *le_cuda_total_class(struct le_arena *arena, enum le_reduction reduction, enum le_type type,
                                const char *place);
#endif
