/* A file that is written under its path: all at once, at the end (new_file.h), or not at all. What is no regular file
 * (a pipe, /dev/stdout) is written directly. Failures are LEAT_FILE, one line that begins with the path. */
#ifndef LE_FILE_OUT_H
#define LE_FILE_OUT_H
#include "base/new_file.h"
#include "base/status.h"

struct le_file_out {
    const char *path; /* the caller's, for messages */
    char *target;     /* the path with links followed; NULL: written directly */
    const char *name; /* of the target in its folder */
    bool sync;        /* leat_save_options, as are these two */
    bool (*proceed)(void *user);
    void *user;
    struct le_new_file file;
};
/* options: leat_save_options, of which key and colormap are not looked at; NULL: the defaults. */
leat_status le_file_out_open(const char *path, const leat_save_options *options, struct le_file_out *out);
leat_status le_file_out_write(struct le_file_out *out, const void *bytes, size_t size_bytes);
/* The next bytes go there; not where the file is written directly. */
leat_status le_file_out_seek(struct le_file_out *out, uint64_t offset);
/* Asks whether to go on: LEAT_FILE if not. Every write does. */
leat_status le_file_out_check(const struct le_file_out *out);
/* Gives the file its path if `written` is LEAT_OK, else drops it; nothing is left then. */
leat_status le_file_out_close(struct le_file_out *out, leat_status written);
#endif
