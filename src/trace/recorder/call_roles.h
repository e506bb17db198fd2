/* CUDA's functions by their names, as cuptiGetCallbackName gives them: which there are, and what the recorder does at a
 * call of them. */
#ifndef LE_CALL_ROLES_H
#define LE_CALL_ROLES_H
#include "trace/recorder/cupti.h"
#include <stdbool.h>
#include <stdint.h>

enum le_call_role {
    LE_ROLE_ORIGIN = 1,   /* keeps where it was made: launches, copies, waits, memory, loading, graphs */
    LE_ROLE_UPLOAD = 2,   /* copies bytes from the host's memory to a device: (to, from, bytes) */
    LE_ROLE_DOWNLOAD = 4, /* the other way round */
    LE_ROLE_EITHER = 8,   /* (to, from, bytes, direction) */
    LE_ROLE_WAITS = 16,   /* returns when the copy is done */
    LE_ROLE_RESUME = 32,  /* cuProfilerStart */
    LE_ROLE_PAUSE = 64,   /* cuProfilerStop */
    LE_ROLE_GRAPH = 128,  /* begins to make a graph */
    /* what waits: (event), (stream, event, flags), (stream), () */
    LE_ROLE_SYNC_EVENT = 256,
    LE_ROLE_SYNC_STREAM_EVENT = 512,
    LE_ROLE_SYNC_STREAM = 1024,
    LE_ROLE_SYNC_CONTEXT = 2048,
    LE_ROLE_SYNC = 256 | 512 | 1024 | 2048,
    LE_ROLE_LAUNCH = 4096, /* launches one kernel */
    LE_ROLE_CAPTURE_BEGIN = 8192,
    LE_ROLE_CAPTURE_END = 16384
};
uint16_t le_call_roles_of(const char *function_name); /* 0: nothing */

/* Is it `base`, but for what stands for its version? */
bool le_call_is(const char *function_name, const char *base);
/* The next function of CUPTI's that has a name: its number after *id (0: the first). False: there are no more. */
bool le_call_next(const struct le_cupti *cupti, le_cupti_domain domain, uint32_t *id, const char **name);
#endif
