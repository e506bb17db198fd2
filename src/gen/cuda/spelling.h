/* How CUDA C spells types, literals, casts and operations. Operands are texts of primary expressions. All texts are in
 * the arena, or constant. */
#ifndef LE_CUDA_SPELLING_H
#define LE_CUDA_SPELLING_H
#include "base/status.h"
#include "gen/tree/ktree.h"

/* type, from and to are types of the language or of positions. */
enum le_type
le_cuda_language_type(int type);    /* of positions the type of the language with the same values: i32, u32, i64, u64 */
const char *le_cuda_type(int type); /* of variables: bool is bool, 16-bit floats are float */
const char *le_cuda_stored(int type); /* in memory */
const char *le_cuda_literal(struct le_arena *arena, enum le_type type, uint64_t bits);
const char *le_cuda_position(struct le_arena *arena, int type, int64_t value);     /* a literal of a position's type */
const char *le_cuda_cast(struct le_arena *arena, const char *x, int from, int to); /* any two */
/* code, on operands x of that type; NULL: op.def has no text for it. usual: the bool that LE_WAY_QUICK clears */
const char *le_cuda_op(struct le_arena *arena, int code, int type, const char *const *x, enum le_way way,
                       const char *usual);
/* The total of a reduction, as a class of the prelude. place: "int" or "long long", of args */
const char *le_cuda_total_class(struct le_arena *arena, enum le_reduction reduction, enum le_type type,
                                const char *place);
#endif
