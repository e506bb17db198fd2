/* Reads the IR's text back into IR, for tests. What is read is complete enough to be walked, printed and verified,
 * whatever the text says; LEAT_PROGRAM if the text is not IR. The IR lives in the arena. */
#ifndef LE_IR_READER_H
#define LE_IR_READER_H
#include "ir/ir.h"

leat_status le_ir_read(struct le_arena *arena, const char *text, size_t size_bytes, struct le_ir **ir);
#endif
