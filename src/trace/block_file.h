/* Iterates over the blocks of a trace file. Returns only whole blocks whose checksums are right; skips damaged bytes
 * between them and reports how many. Reads block by block, never the whole file, and does not interpret records. */
#ifndef LE_BLOCK_FILE_H
#define LE_BLOCK_FILE_H
#include "base/status.h"
#include "trace/format.h"
#include <stdbool.h>

enum le_trace_block_status {
    LE_STEP_END,
    LE_STEP_PART,    /* `header` is set: a new part begins */
    LE_STEP_RECORDS, /* `records` and `head` are set */
    LE_STEP_DAMAGE   /* `skipped_bytes` is set */
};

struct le_trace_blocks {
    const char *path;
    int fd;
    uint64_t size_bytes, at;
    struct le_trace_header header;
    struct le_trace_block head;
    unsigned char *records; /* head.bytes bytes, aligned to 8 */
    unsigned char *window;  /* buffer for the search after damage */
    uint64_t skipped_bytes;
    int trials; /* candidates that the search may still check, so that a hostile file cannot take forever */
};
/* LEAT_FILE: the file cannot be read, or does not begin like a trace. Call le_trace_blocks_close after a failure, too.
 */
leat_status le_trace_blocks_open(struct le_trace_blocks *file, const char *path);
void le_trace_blocks_close(struct le_trace_blocks *file);
leat_status le_trace_blocks_next(struct le_trace_blocks *file, enum le_trace_block_status *step);
#endif
