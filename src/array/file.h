/* Reads a file: first its head, then the rest into the caller's memory, a mapping, or new memory. The format of the
 * bytes is not known here. Failures are LEAT_FILE or LEAT_OUT_OF_MEMORY, one line that begins with name. */
#ifndef LE_FILE_H
#define LE_FILE_H
#include "base/status.h"

#define LE_FILE_HEAD_BYTES 12 /* enough to recognize a format */

struct le_file_in {
    const char *name; /* for messages; owned by the caller */
    int fd;
    bool is_opened; /* opened here from a path: finish closes it, and it can be mapped */
    bool has_size;  /* a regular file: it has size_bytes bytes from its initial offset on */
    size_t size_bytes;
    uint8_t head[LE_FILE_HEAD_BYTES];
    size_t head_bytes; /* less than LE_FILE_HEAD_BYTES only if the file is shorter */
};
leat_status le_file_in_open(const char *path, struct le_file_in *in);
/* Starts at the current offset of fd, which the caller keeps and closes. */
leat_status le_file_in_start(int fd, const char *name, struct le_file_in *in);
void le_file_in_finish(struct le_file_in *in);
/* Reads the next bytes. *got is less than size_bytes only at the end of the file. */
leat_status le_file_in_read(const struct le_file_in *in, void *target, size_t size_bytes, size_t *got);

struct le_file_bytes {
    const uint8_t *at;
    size_t size_bytes;
    bool mapped; /* by mmap, private and read-only; else allocated with le_alloc */
};
/* Maps the first size_bytes bytes of a file, which must have that many. LEAT_FILE if it cannot be mapped. If another
 * process truncates the file, reading the lost bytes raises SIGBUS. */
leat_status le_file_in_map(const struct le_file_in *in, size_t size_bytes, struct le_file_bytes *bytes);
/* All bytes of a file of which only the head was read, mapped if possible. */
leat_status le_file_in_all(const struct le_file_in *in, struct le_file_bytes *bytes);
void le_file_bytes_finish(struct le_file_bytes *bytes);
#endif
