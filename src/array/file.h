/* Whole files: bytes in, mapped where that is possible, and out under a temporary name that is renamed at the end.
 * Nothing is known here of what the bytes mean. */
#ifndef LE_FILE_H
#define LE_FILE_H
#include "base/status.h"

struct le_file_bytes {
    const uint8_t *at;
    size_t size_bytes;
    bool mapped; /* by mmap, privately and read-only; else from le_alloc */
};
leat_status le_file_read(const char *path, struct le_file_bytes *bytes);
void le_file_bytes_finish(struct le_file_bytes *bytes);

/* A file that is being written. Where path names no regular file (a pipe, /dev/stdout) it is written directly. */
struct le_file_out {
    char *path;      /* what it will be called, symbolic links followed */
    char *temporary; /* beside it; NULL: written directly */
    int fd;
    const char *name; /* as the caller gave it, for messages */
};
leat_status le_file_out_open(const char *path, struct le_file_out *out);
leat_status le_file_out_write(struct le_file_out *out, const void *bytes, size_t size_bytes);
/* After another file was renamed to the temporary name: goes on with that one. */
leat_status le_file_out_reopen(struct le_file_out *out);
/* Makes it durable and gives it its name. After a failure nothing is left. */
leat_status le_file_out_commit(struct le_file_out *out);
void le_file_out_drop(struct le_file_out *out);
#endif
