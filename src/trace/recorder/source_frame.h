/* From the unwind information (.eh_frame), finds how to step out of a function's frame at a return address in it: where
 * the caller's stack pointer and frame pointer are. Does not allocate. For x86-64 only. */
#ifndef LE_SOURCE_FRAME_H
#define LE_SOURCE_FRAME_H
#include <stdbool.h>
#include <stdint.h>

enum le_frame_base {
    LE_FRAME_END,   /* there is no caller, or it cannot be found */
    LE_FRAME_STACK, /* stack pointer + offset */
    LE_FRAME_FRAME, /* frame pointer + offset */
    LE_FRAME_DEREF, /* the value stored at frame pointer + offset */
};
enum le_frame_saved { LE_SAVED_SAME, LE_SAVED_IN_CALLER, LE_SAVED_IN_FRAME, LE_SAVED_UNKNOWN };

/* base and offset give the caller's stack pointer; its return address is just below. Its frame pointer is unchanged, or
 * stored at saved_offset from the caller's stack pointer or from this frame pointer. */
struct le_frame_step {
    uint8_t base;  /* enum le_frame_base */
    uint8_t saved; /* enum le_frame_saved */
    int32_t offset, saved_offset;
};
bool le_frame_is_readable(void); /* whether this processor is supported */
struct le_frame_step le_frame_step_find(uintptr_t return_address);
#endif
