/* The blocks of a trace's file, one after the other: whole ones alone, checked, with what is damaged between them
 * passed over. It reads by block, never the whole file, and knows no records. */
#ifndef LE_BLOCK_FILE_H
#define LE_BLOCK_FILE_H
#include "base/status.h"
#include "trace/format.h"
#include <stdbool.h>

enum le_block_step {
    LE_STEP_END,
    LE_STEP_PART,    /* header */
    LE_STEP_RECORDS, /* records, head */
    LE_STEP_DAMAGE   /* skipped_bytes */
};

struct le_block_file {
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
leat_status le_block_file_open(struct le_block_file *file, const char *path);
void le_block_file_finish(struct le_block_file *file);
leat_status le_block_file_next(struct le_block_file *file, enum le_block_step *step);
#endif
