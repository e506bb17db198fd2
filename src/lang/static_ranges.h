/* Reports what can be shown from the text alone to fail in every run: indices without a range, steps that are not
 * positive, negative sizes, and subscripts out of range of arrays whose sizes are written in the program. The range
 * rules (ir/ranges.c) find all other errors once the inputs are known. */
#ifndef LE_STATIC_RANGES_H
#define LE_STATIC_RANGES_H
#include "lang/tree.h"

/* Bounds and steps of ranges, and therefore indices, are limited to -LE_INDEX_MAX..LE_INDEX_MAX, so that differences of
 * two bounds fit int64_t, and sums of a subscript's terms fit __int128. */
#define LE_INDEX_MAX ((int64_t)1 << 61)

void le_check_ranges(struct le_arena *arena, const struct le_tree *tree);

/* Advice for an index without a range. */
enum le_index_use { LE_INDEX_OF_STATEMENT, LE_INDEX_OF_EACH, LE_INDEX_OF_REDUCTION };
const char *le_range_advice(struct le_arena *arena, const char *index, enum le_index_use use);
#define LE_FAR_ADVICE       "keep its bounds and its step within 2**61"
#define LE_STEP_ADVICE      "write `i in low..high by 1`"
#define LE_LOOP_STEP_ADVICE "write `i in low..high by 1`, or `i in high..low by -1` to count down"
/* Parts of other messages of the range rules. negative: all values of the subscript are negative. written: the access
 * is a write. */
const char *le_extents_advice(struct le_arena *arena, const char *index);
const char *le_outside_advice(struct le_arena *arena, const char *array, int axis, bool negative, bool written);
/* For a subscript that comes from data. */
#define LE_DATA_READ_ADVICE  "add an edge mode or `else`, or read it under a condition"
#define LE_DATA_WRITE_ADVICE "declare a longer array, or write it under an `if` in an `each`"
const char *le_subscript_text(struct le_arena *arena, __int128 low, __int128 high); /* "is 3", "goes from -1 to 4" */
#endif
