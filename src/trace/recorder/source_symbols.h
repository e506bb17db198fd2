/* Finds the module and symbol of a return address, from the module's file. Opens and maps files, so it is for the
 * writer's thread. */
#ifndef LE_SOURCE_SYMBOLS_H
#define LE_SOURCE_SYMBOLS_H
#include "trace/recorder/source_table.h"

/* Sets the module's path, and the function's mangled name, or else the offset in the module, "0x1a2b". */
void le_symbol_find(uintptr_t return_address, struct le_source_location *location);
/* Whether the function is of the CUDA runtime, linked into the program, or a stub that nvcc generates for a kernel. */
bool le_symbol_is_runtime(const struct le_source_text *function);
#endif
