/* How a function's frame is left, at one return address in it, by its unwind information (.eh_frame): where its
 * caller's stack pointer and frame pointer are. Allocates nothing. For x86-64; elsewhere nothing is known. */
#ifndef LE_SOURCE_FRAME_H
#define LE_SOURCE_FRAME_H
#include <stdbool.h>
#include <stdint.h>

enum le_frame_base {
    LE_FRAME_END,   /* there is no caller, or none that could be found */
    LE_FRAME_STACK, /* the stack pointer there, plus offset */
    LE_FRAME_FRAME, /* the frame pointer there, plus offset */
    LE_FRAME_DEREF, /* what lies at the frame pointer there plus offset */
};
enum le_frame_saved { LE_SAVED_SAME, LE_SAVED_IN_CALLER, LE_SAVED_IN_FRAME, LE_SAVED_UNKNOWN };

/* The caller's stack pointer: base, offset. Its return address is just below. Its frame pointer: the same, or at
 * saved_offset from its stack pointer, or from the frame pointer here. */
struct le_frame_step {
    uint8_t base;  /* enum le_frame_base */
    uint8_t saved; /* enum le_frame_saved */
    int32_t offset, saved_offset;
};
bool le_frame_is_readable(void); /* on this processor */
struct le_frame_step le_frame_step_find(uintptr_t return_address);
#endif
