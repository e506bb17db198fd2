/* Which place of the program stands for a call: the nearest caller that is no library's. */
#ifndef LE_USER_SOURCES_H
#define LE_USER_SOURCES_H
#include "base/arena.h"
#include "trace/index.h"

/* For each source its nearest caller, itself included, that is not in an installed package, in the standard library or
 * in a shared object; the outermost one where all are. */
int32_t *le_user_sources(const struct le_trace_index *index, struct le_arena *arena);
#endif
