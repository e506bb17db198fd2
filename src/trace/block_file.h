/* The blocks of a trace's file, one after the other: whole ones alone, checked, with what is damaged between them
 * passed over. It reads by block, never the whole file, and knows no records. */
#ifndef LE_BLOCK_FILE_H
#define LE_BLOCK_FILE_H
#include "base/status.h"
#include "trace/format.h"
#include <stdbool.h>

enum le_trace_block_status {
    LE_STEP_END,
    LE_STEP_PART,    /* header */
    LE_STEP_RECORDS, /* records, head */
    LE_STEP_DAMAGE   /* skipped_bytes */
};

struct le_trace_blocks {
    const char *path;
    int fd;
    uint64_t size_bytes, at;
    struct le_trace_header header;
    struct le_trace_block head;
    unsigned char *records; /* of head; aligned to 8 */
    unsigned char *window;  /* what is searched */
    uint64_t skipped_bytes;
    int trials; /* left, of taking for a block what may be none */
};
/* LEAT_FILE: it cannot be read, or does not begin as a trace does. finish is right after a failure, too. */
leat_status le_trace_blocks_open(struct le_trace_blocks *file, const char *path);
void le_trace_blocks_close(struct le_trace_blocks *file);
leat_status le_trace_blocks_next(struct le_trace_blocks *file, enum le_trace_block_status *step);
#endif
