/* The return addresses of the calling thread outside of CUDA's libraries, by the modules' unwind information: what it
 * says of a return address is looked up once and kept in the table; from then on a frame is two or three reads of the
 * stack. Never allocates. x86-64 only: elsewhere there are none. */
#ifndef LE_SOURCE_NATIVE_H
#define LE_SOURCE_NATIVE_H
#include "trace/recorder/source_table.h"

/* A moment in a frame: where it goes on, and the stack and frame pointers there. */
struct le_native_frame {
    uintptr_t address, stack, frame;
};
/* The innermost address first, at most LE_SOURCE_ADDRESSES. */
int le_native_addresses(struct le_source_table *table, struct le_native_frame at, uintptr_t *addresses);
#endif
