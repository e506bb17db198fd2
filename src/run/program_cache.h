/* A cache of leat_eval's most recently used programs, keyed by their text. Each entry keeps one call between uses. A
 * cached text is not checked again, nor specialised again for the same types, nor planned again for the same shapes. */
#ifndef LE_PROGRAM_CACHE_H
#define LE_PROGRAM_CACHE_H
#include "run/call.h"

#define LE_PROGRAM_CACHE_MAX 64 /* programs; the least recently used one is evicted */

/* Returns a call of the text's program with nothing bound. It belongs to this thread until it is given back. */
leat_status le_program_cache_take(leat_context *ctx, const char *text, leat_call **call);
void le_program_cache_give(leat_call *call);
#endif
