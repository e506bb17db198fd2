/* leat_eval's programs: the last ones that were used, by their text, each with one call that is kept between uses, so
 * that a text that comes again is neither checked nor, with the same types, specialised again, nor with the same shapes
 * planned. */
#ifndef LE_PROGRAM_CACHE_H
#define LE_PROGRAM_CACHE_H
#include "run/call.h"

#define LE_PROGRAM_CACHE_MAX 64 /* programs; the one that was used longest ago goes first */

/* A call of the text's program, nothing bound, for this thread alone until it is given back. */
leat_status le_program_cache_take(leat_context *ctx, const char *text, leat_call **call);
void le_program_cache_give(leat_call *call);
#endif
