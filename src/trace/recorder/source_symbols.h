/* A return address as module and symbol, from the module's file. Opens files and maps them: for the writer's thread. */
#ifndef LE_SOURCE_SYMBOLS_H
#define LE_SOURCE_SYMBOLS_H
#include "trace/recorder/source_table.h"

/* The function's name as the linker has it, or the offset in the module, "0x1a2b"; and the module's path. */
void le_symbol_find(uintptr_t return_address, struct le_source_location *location);
/* CUDA's runtime linked into the program, and what its compiler puts before a kernel. */
bool le_symbol_is_runtime(const struct le_source_text *function);
#endif
