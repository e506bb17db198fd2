/* Reads the line tables of CPython's code objects, in the three forms that they have had. Reads nothing beyond the
 * table's length. */
#ifndef LE_SOURCE_LINES_H
#define LE_SOURCE_LINES_H
#include "trace/recorder/source_python_layout.h"
#include <stddef.h>

struct le_line_table {
    const unsigned char *bytes;
    size_t length;
    int32_t first_line;
};
/* The line of the instruction at this byte offset; 0: it has none. */
uint32_t le_line_at(const struct le_line_table *table, enum le_python_lines form, int64_t offset);
#endif
