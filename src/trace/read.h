/* Reads files of traces into an index. Bad input is told or skipped, never trusted: a damaged block is left out, a file
 * cut anywhere gives what is whole before the cut, each with a note; a file that is no trace is LEAT_FILE. */
#ifndef LE_READ_H
#define LE_READ_H
#include "base/status.h"

struct le_trace_index; /* index.h */
leat_status le_trace_read(const char *path, struct le_trace_index **index);
void le_trace_free(struct le_trace_index *index); /* NULL is fine */
#endif
