/* Which source line of the program a call is attributed to: the nearest caller that is not in a library. */
#ifndef LE_USER_SOURCES_H
#define LE_USER_SOURCES_H
#include "base/arena.h"
#include "trace/index.h"

/* For each source, the position of its nearest caller (or itself) that is not in an installed package, the standard
 * library or a shared object; the outermost caller if all of them are. */
int32_t *le_user_sources(const struct le_trace_index *index, struct le_arena *arena);
#endif
