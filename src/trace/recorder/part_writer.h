/* Writes one part of a trace (format.h): records into blocks, blocks to the end of a file. The file is opened anew for
 * each block, so that a program that closes all descriptors does no harm. One that gives up its rights, or its root,
 * may no longer open it there: for it the descriptor that the file was made with is kept, to the process' end, and used
 * where it is still that. What a limit or a full disk does not let in is counted. One thread; signals must be blocked
 * in it (SIGXFSZ). */
#ifndef LE_PART_WRITER_H
#define LE_PART_WRITER_H
#include "trace/format.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

enum { LE_PART_BLOCK_BYTES = 256 << 10, LE_PART_PATH_BYTES = 4096 };

struct le_part_texts { /* known texts, by content */
    struct le_part_text_slot {
        uint64_t hash;
        uint32_t id;
    } * slots;
    uint32_t count, capacity;
};

struct le_part_writer {
    char path[LE_PART_PATH_BYTES];
    int first_descriptor; /* the descriptor */
    dev_t device;
    ino_t inode;               /* of the file, on the device */
    uint64_t limit_bytes;      /* 0: none */
    uint64_t bytes, blocks;    /* that are in the file */
    uint64_t lost[4 + 1];      /* records, by enum le_trace_loss */
    enum le_trace_loss closed; /* why no more is kept; 0: more is */
    uint32_t fill, pending;    /* bytes and records in the block to come */
    struct le_part_texts texts;
    _Atomic uint32_t
        *text_count; /* the last number given to a text of the part; the sources take theirs from it, too */
    uint64_t block[LE_PART_BLOCK_BYTES / 8];
};

/* Makes the file with its header, for now without a limit. Not 0: it cannot be, and this is errno's reason. */
int le_part_writer_init(struct le_part_writer *writer, const char *path, uint64_t time_ns,
                        _Atomic uint32_t *text_count);
void le_part_writer_finish(struct le_part_writer *writer); /* frees memory; writes nothing */
/* structure_bytes, and length bytes after them; a multiple of 8 is made of it. */
void le_part_put(struct le_part_writer *writer, enum le_trace_kind kind, const void *structure, size_t structure_bytes,
                 const void *bytes, size_t length);
void le_part_put_record(struct le_part_writer *writer, const struct le_trace_record *record);
/* The number of a text, which is written where it is new; 0 for NULL. */
uint32_t le_part_text(struct le_part_writer *writer, const char *text);
void le_part_flush(struct le_part_writer *writer);
/* LOST records for all that was lost, CAPTURES if there were any, and END; past the limit and, if possible, on a full
 * disk. */
void le_part_end(struct le_part_writer *writer, const struct le_trace_captures *captures,
                 const struct le_trace_end *end);
#endif
