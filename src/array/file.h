/* A file that is read: its first bytes, and then the rest into the caller's memory, a mapping, or a block of its own.
 * What the bytes mean is not known here. Failures are LEAT_FILE or LEAT_OUT_OF_MEMORY, one line that begins with name.
 */
#ifndef LE_FILE_H
#define LE_FILE_H
#include "base/status.h"

#define LE_FILE_HEAD_BYTES 12 /* enough to tell a format */

struct le_file_in {
    const char *name; /* for messages; the caller's */
    int fd;
    bool is_opened; /* here, from a path: finish closes it, and it can be mapped */
    bool has_size;  /* a regular file: size_bytes are there, from where it stood at first */
    size_t size_bytes;
    uint8_t head[LE_FILE_HEAD_BYTES];
    size_t head_bytes; /* less only in a file that ends before */
};
leat_status le_file_in_open(const char *path, struct le_file_in *in);
/* From where the descriptor stands, which stays the caller's. */
leat_status le_file_in_start(int fd, const char *name, struct le_file_in *in);
void le_file_in_finish(struct le_file_in *in);
/* The bytes behind those that were read before. *got is less than size_bytes only at the file's end. */
leat_status le_file_in_read(const struct le_file_in *in, void *target, size_t size_bytes, size_t *got);

struct le_file_bytes {
    const uint8_t *at;
    size_t size_bytes;
    bool mapped; /* by mmap, privately and read-only; else from le_alloc */
};
/* A file's first size_bytes bytes, which it has. LEAT_FILE: it can only be read. A mapped file that another process
 * shortens raises SIGBUS when its bytes are read. */
leat_status le_file_in_map(const struct le_file_in *in, size_t size_bytes, struct le_file_bytes *bytes);
/* All of a file of which only the head was read, mapped if it can be. */
leat_status le_file_in_all(const struct le_file_in *in, struct le_file_bytes *bytes);
void le_file_bytes_finish(struct le_file_bytes *bytes);
#endif
