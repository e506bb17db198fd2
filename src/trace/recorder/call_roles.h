/* Lists CUDA's functions by the names that cuptiGetCallbackName returns, and says what the recorder does when they are
 * called. */
#ifndef LE_CALL_ROLES_H
#define LE_CALL_ROLES_H
#include "trace/recorder/cupti.h"
#include <stdbool.h>
#include <stdint.h>

enum le_call_role {
    LE_ROLE_ORIGIN = 1,   /* record the caller: launches, copies, waits, memory, loading, graphs */
    LE_ROLE_UPLOAD = 2,   /* copies from the host's memory to a device; parameters (to, from, bytes) */
    LE_ROLE_DOWNLOAD = 4, /* copies from a device to the host's memory */
    LE_ROLE_EITHER = 8,   /* copies in any direction; parameters (to, from, bytes, direction) */
    LE_ROLE_WAITS = 16,   /* returns only when the copy is done */
    LE_ROLE_RESUME = 32,  /* cuProfilerStart */
    LE_ROLE_PAUSE = 64,   /* cuProfilerStop */
    LE_ROLE_GRAPH = 128,  /* begins to create a graph */
    /* waits; parameters (event), (stream, event, flags), (stream), () */
    LE_ROLE_SYNC_EVENT = 256,
    LE_ROLE_SYNC_STREAM_EVENT = 512,
    LE_ROLE_SYNC_STREAM = 1024,
    LE_ROLE_SYNC_CONTEXT = 2048,
    LE_ROLE_SYNC = 256 | 512 | 1024 | 2048,
    LE_ROLE_LAUNCH = 4096, /* launches one kernel */
    LE_ROLE_CAPTURE_BEGIN = 8192,
    LE_ROLE_CAPTURE_END = 16384
};
uint16_t le_call_roles_of(const char *function_name); /* enum le_call_role, combined */

/* Whether the name is `base`, apart from its version. */
bool le_call_is(const char *function_name, const char *base);
/* Finds the next function after number *id that has a name; 0: the first one. False: there are no more. */
bool le_call_next(const struct le_cupti *cupti, le_cupti_domain domain, uint32_t *id, const char **name);
#endif
