/* The zip format, as far as .npz files need it: stored and deflated entries, with 64-bit sizes; no encryption, no
 * volumes. Only zlib is needed. An archive being read is in memory, and entries point into it. No locks: any thread. */
#ifndef LE_ZIP_FORMAT_H
#define LE_ZIP_FORMAT_H
#include "base/file_out.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LE_ZIP_STORED = 0, LE_ZIP_DEFLATED = 8, LE_ZIP_NAME_MAX = 65535 };

/* ---- in */

struct le_zip {
    const uint8_t *bytes; /* owned by the caller */
    size_t size_bytes;
    uint64_t directory, directory_end; /* offsets of the entries' records */
    uint64_t base;                     /* what the archive's offsets are relative to: bytes before it count */
    uint64_t count;                    /* of entries, as the archive says */
};
struct le_zip_entry {
    const char *name; /* name_length bytes, without a final NUL */
    size_t name_length;
    uint64_t packed_bytes, size_bytes; /* in the archive; of the content */
    uint64_t header;                   /* offset of its own header */
    uint32_t checksum;                 /* of the content */
    uint16_t method;
    bool encrypted;
};
/* false: not an archive, or damaged. */
bool le_zip_open(const uint8_t *bytes, size_t size_bytes, struct le_zip *zip);
/* Reads the entry at *at, an offset that begins as zip->directory, and advances it. false at the end and if the
 * directory is damaged, where *at is not zip->directory_end. */
bool le_zip_next(const struct le_zip *zip, uint64_t *at, struct le_zip_entry *entry);
bool le_zip_is_named(const struct le_zip_entry *entry, const char *name, const char *ending);
/* Reads the content of an entry from its beginning. */
struct le_zip_reader;
/* LEAT_FILE if the entry's packed bytes do not lie in the archive. */
leat_status le_zip_reader_new(const struct le_zip *zip, const struct le_zip_entry *entry, const char *file,
                              struct le_zip_reader **reader);
/* Reads exactly size_bytes; LEAT_FILE if they are damaged or too few. The last bytes of the content also compare the
 * checksum. file: the archive's name, for messages. */
leat_status le_zip_read(struct le_zip_reader *reader, const char *file, void *target, size_t size_bytes);
void le_zip_reader_free(struct le_zip_reader *reader); /* NULL is fine */

/* ---- out */

/* What is known of a stored entry being written. */
struct le_zip_out_entry {
    const char *name; /* UTF-8, at most LE_ZIP_NAME_MAX bytes */
    uint64_t size_bytes, header;
    uint32_t checksum;
};
uint32_t le_zip_checksum(uint32_t before, const void *bytes, size_t size_bytes); /* before: 0 for the first bytes */
/* Writes the header of an entry, whose content must follow; sets entry->header to *offset, and advances *offset past
 * the content. */
leat_status le_zip_write_header(struct le_file_out *out, struct le_zip_out_entry *entry, uint64_t *offset);
/* Ends the archive. The entries lie step_bytes apart. offset: where the last content ended. */
leat_status le_zip_write_directory(struct le_file_out *out, const struct le_zip_out_entry *first, size_t step_bytes,
                                   size_t count, uint64_t offset);
#endif
