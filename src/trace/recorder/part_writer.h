/* Writes one part of a trace (format.h): collects records into blocks and appends the blocks to a file. The file is
 * opened again for each block, so a program that closes all descriptors does no harm. A program that drops its
 * privileges or changes its root may not be able to open the file again. For this case, the descriptor with which the
 * file was created is kept until the process ends, and used if it still refers to the file. Records that are lost to
 * the size limit or a full disk are counted. For one thread, in which signals (SIGXFSZ) must be blocked. */
#ifndef LE_PART_WRITER_H
#define LE_PART_WRITER_H
#include "trace/format.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

enum { LE_PART_BLOCK_BYTES = 256 << 10, LE_PART_PATH_BYTES = 4096 };

struct le_part_texts { /* texts that were written, by content */
    struct le_part_text_slot {
        uint64_t hash;
        uint32_t id;
    } * slots;
    uint32_t count, capacity;
};

struct le_part_writer {
    char path[LE_PART_PATH_BYTES];
    int first_descriptor; /* with which the file was created */
    dev_t device;
    ino_t inode;               /* of the file, on `device` */
    uint64_t limit_bytes;      /* 0: no limit */
    uint64_t bytes, blocks;    /* in the file */
    uint64_t lost[4 + 1];      /* number of records, by enum le_trace_loss */
    enum le_trace_loss closed; /* why no more records are written; 0: they are */
    uint32_t fill, pending;    /* bytes and records in the current block */
    struct le_part_texts texts;
    _Atomic uint32_t *text_count; /* the last number given to a text of the part; shared with the sources */
    uint64_t block[LE_PART_BLOCK_BYTES / 8];
};

/* Creates the file with its header; limit_bytes is 0 at first. Returns 0, or the errno of the failure. */
int le_part_writer_init(struct le_part_writer *writer, const char *path, uint64_t time_ns,
                        _Atomic uint32_t *text_count);
void le_part_writer_finish(struct le_part_writer *writer); /* frees memory; writes nothing */
/* Writes a record with a structure and `length` bytes after it, padded to a multiple of 8. */
void le_part_put(struct le_part_writer *writer, enum le_trace_kind kind, const void *structure, size_t structure_bytes,
                 const void *bytes, size_t length);
void le_part_put_record(struct le_part_writer *writer, const struct le_trace_record *record);
/* The number of a text, which is written if it is new; 0 for NULL. */
uint32_t le_part_text(struct le_part_writer *writer, const char *text);
void le_part_flush(struct le_part_writer *writer);
/* Writes LOST records for all losses, CAPTURES if there were any, and END. Ignores the limit, and tries even if the
 * disk was full. */
void le_part_end(struct le_part_writer *writer, const struct le_trace_captures *captures,
                 const struct le_trace_end *end);
#endif
