/* Reads the text form of the IR back, for tests. Whatever the text says, the result can be walked, printed and
 * verified. Returns LEAT_PROGRAM if the text is not IR. The IR lives in the arena. */
#ifndef LE_IR_READER_H
#define LE_IR_READER_H
#include "ir/ir.h"

leat_status le_ir_read(struct le_arena *arena, const char *text, size_t size_bytes, struct le_ir **ir);
#endif
