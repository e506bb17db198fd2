/* Alias analysis: whether a stage may write in place into an array that it reads. */
#ifndef LE_ALIAS_H
#define LE_ALIAS_H
#include "ir/ranges.h"

/* Whether every element that the stage reads of its base is either the one it writes at that point, or one that it
 * never writes. */
bool le_alias_is_safe(const struct le_space *space, const struct le_stage *stage, int base);
/* The same for each pair of an EACH stage. The result has one entry per pair and lives in the arena. */
bool *le_alias_safe_bases(const struct le_space *space, const struct le_stage *stage, struct le_arena *arena);
/* Whether the stage writes every element of a box whose bounds are constant while it runs. */
bool le_alias_writes_box(const struct le_ir *ir, const struct le_stage *stage);
#endif
