/* Reads the text form of kernel trees back, for tests (gen/tree/ktree_print.c describes it). Whatever the text says,
 * the result can be walked, printed and verified. Returns LEAT_PROGRAM, with line and column, if the text is not a
 * kernel. The tree lives in the arena. */
#ifndef LE_KTREE_READER_H
#define LE_KTREE_READER_H
#include "gen/tree/ktree.h"

leat_status le_ktree_read(struct le_arena *arena, const char *text, size_t size_bytes, struct le_kernel_tree **tree);
#endif
