/* Reads trace files into an index. Input is never trusted. Damaged blocks are skipped, and a file that was cut anywhere
 * gives everything before the cut; a note reports each. A file that is not a trace fails with LEAT_FILE. */
#ifndef LE_READ_H
#define LE_READ_H
#include "base/status.h"

struct le_trace_index; /* index.h */
leat_status le_trace_read(const char *path, struct le_trace_index **index);
void le_trace_free(struct le_trace_index *index); /* NULL is fine */
#endif
