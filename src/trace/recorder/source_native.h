/* Finds the calling thread's return addresses outside CUDA's libraries, by the modules' unwind information. The
 * information for a return address is looked up once and kept in the table; from then on, a frame takes two or three
 * reads of the stack. Never allocates. For x86-64 only; on other processors there are no addresses. */
#ifndef LE_SOURCE_NATIVE_H
#define LE_SOURCE_NATIVE_H
#include "trace/recorder/source_table.h"

/* A position in a frame: the return address, and the stack and frame pointers there. */
struct le_native_frame {
    uintptr_t address, stack, frame;
};
/* Returns how many addresses it stored, innermost first, at most LE_SOURCE_ADDRESSES. */
int le_native_addresses(struct le_source_table *table, struct le_native_frame at, uintptr_t *addresses);
#endif
