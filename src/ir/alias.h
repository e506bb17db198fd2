/* Alias analysis: may a stage write into the array that it reads? */
#ifndef LE_ALIAS_H
#define LE_ALIAS_H
#include "ir/ranges.h"

/* What the stage reads of its base is the element that it writes at that moment, or an element that it never writes. */
bool le_alias_is_safe(const struct le_space *space, const struct le_stage *stage, int base);
/* The same for each pair of an EACH stage. The result has one entry per pair and lives in the arena. */
bool *le_alias_safe_bases(const struct le_space *space, const struct le_stage *stage, struct le_arena *arena);
/* What the stage writes is a box whose bounds are known while it runs, and it writes every element of the box. */
bool le_alias_writes_box(const struct le_ir *ir, const struct le_stage *stage);
#endif
