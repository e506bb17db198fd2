/* An output file that appears under its path when it is complete (new_file.h), or not at all. A path that is not a
 * regular file (a pipe, /dev/stdout) is written directly. Failures are LEAT_FILE, one line that begins with the path.
 */
#ifndef LE_FILE_OUT_H
#define LE_FILE_OUT_H
#include "base/new_file.h"
#include "base/status.h"

struct le_file_out {
    const char *path; /* for messages; owned by the caller */
    char *target;     /* the path with links followed; NULL: written directly */
    const char *name; /* of the target in its folder */
    bool sync;        /* this and the next two: see leat_save_options */
    bool (*proceed)(void *user);
    void *user;
    struct le_new_file file;
};
/* options: leat_save_options, of which key and colormap are ignored; NULL: the defaults. */
leat_status le_file_out_open(const char *path, const leat_save_options *options, struct le_file_out *out);
leat_status le_file_out_write(struct le_file_out *out, const void *bytes, size_t size_bytes);
/* Calls options->proceed; LEAT_FILE if it returns false. Every write calls this. */
leat_status le_file_out_check(const struct le_file_out *out);
/* Gives the file its name if `written` is LEAT_OK, else removes it without a trace. Returns the first failure. */
leat_status le_file_out_close(struct le_file_out *out, leat_status written);
#endif
