/* See file_out.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "base/file_out.h"
#include "base/memory.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WRITE_BYTES ((size_t)4 << 20) /* per write(), so that proceed is called every few milliseconds */

/* ---- the path */

/* The path that a link's text means: relative to the link's folder, or absolute. */
static char *resolve_link(const char *link, const char *text) {
    const char *slash = strrchr(link, '/');
    size_t folder = slash && *text != '/' ? (size_t)(slash - link) + 1 : 0, length = strlen(text) + 1;
    char *path = le_alloc(folder + length);
    if (path) {
        memcpy(path, link, folder);
        memcpy(path + folder, text, length);
    }
    return path;
}

/* The path with all links followed; the file need not exist. The caller has checked that the links form no circle. */
static char *follow_links(const char *path) {
    char text[PATH_MAX];
    ssize_t length;
    char *at = le_strdup(realpath(path, text) ? text : path);
    while (at && (length = readlink(at, text, sizeof text - 1)) >= 0) {
        text[length] = '\0';
        char *next = resolve_link(at, text);
        le_free(at);
        at = next;
    }
    return at;
}

/* Opens the target's folder. *name is the file's name; target is cut before it. */
static int open_folder(char *target, const char **name) {
    char *slash = strrchr(target, '/');
    *name = slash ? slash + 1 : target;
    if (!slash || slash == target)
        return open(slash ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    *slash = '\0';
    return open(target, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* ---- open */

static void free_out(struct le_file_out *out) {
    if (out->file.folder >= 0)
        close(out->file.folder);
    le_free(out->target);
    *out = (struct le_file_out){.file = {.folder = -1, .fd = -1}};
}

static leat_status open_new(struct le_file_out *out, const struct stat *replaced) {
    out->target = follow_links(out->path);
    if (!out->target)
        return le_fail_out_of_memory(strlen(out->path) + 1);
    int folder = open_folder(out->target, &out->name);
    if (folder < 0)
        return le_fail_file("write", out->path, errno);
    if (!le_new_file_open(folder, 0666, &out->file))
        return le_fail_file("write", out->path, errno);
    if (replaced)
        (void)!fchmod(out->file.fd, replaced->st_mode & 07777); /* if not permitted, the default mode is acceptable */
    return LEAT_OK;
}

static leat_status open_out(struct le_file_out *out) {
    struct stat about;
    bool exists = stat(out->path, &about) == 0;
    if (!exists && errno != ENOENT)
        return le_fail_file("write", out->path, errno);
    if (exists && S_ISDIR(about.st_mode))
        return le_fail(LEAT_FILE, "%s: is a folder", out->path);
    if (exists && !S_ISREG(about.st_mode)) {
        out->file.fd = open(out->path, O_WRONLY | O_CLOEXEC);
        return out->file.fd < 0 ? le_fail_file("write", out->path, errno) : LEAT_OK;
    }
    if (exists && faccessat(AT_FDCWD, out->path, W_OK, AT_EACCESS) < 0) /* rename() would ignore write protection */
        return le_fail_file("write", out->path, errno);
    return open_new(out, exists ? &about : NULL);
}

leat_status le_file_out_open(const char *path, const leat_save_options *options, struct le_file_out *out) {
    static const leat_save_options defaults = {0};
    options = options ? options : &defaults;
    *out = (struct le_file_out){.path = path,
                                .sync = options->sync,
                                .proceed = options->proceed,
                                .user = options->user,
                                .file = {.folder = -1, .fd = -1}};
    leat_status status = open_out(out);
    if (status)
        free_out(out);
    return status;
}

/* ---- write */

leat_status le_file_out_check(const struct le_file_out *out) {
    if (out->proceed && !out->proceed(out->user))
        return le_fail(LEAT_FILE, "%s: was not written: saving was stopped", out->path);
    return LEAT_OK;
}

leat_status le_file_out_write(struct le_file_out *out, const void *bytes, size_t size_bytes) {
    const char *at = bytes;
    leat_status status = LEAT_OK;
    while (size_bytes && !(status = le_file_out_check(out))) {
        ssize_t put = write(out->file.fd, at, size_bytes < WRITE_BYTES ? size_bytes : WRITE_BYTES);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return le_fail_file("write", out->path, errno);
        at += put;
        size_bytes -= (size_t)put;
    }
    return status;
}

/* ---- close */

/* Syncs the name in the folder. A folder that cannot be read cannot be synced. */
static bool sync_folder(int folder) {
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool done = fd < 0 || fsync(fd) == 0 || errno == EINVAL;
    int number = errno;
    if (fd >= 0)
        close(fd);
    errno = number;
    return done;
}

static bool close_direct(struct le_file_out *out) {
    bool synced =
        !out->sync || fsync(out->file.fd) == 0 || errno == EINVAL || errno == EROFS; /* pipes cannot be synced */
    int number = errno;
    bool closed = close(out->file.fd) == 0;
    errno = synced ? errno : number;
    return synced && closed;
}

leat_status le_file_out_close(struct le_file_out *out, leat_status written) {
    int folder = out->file.folder;
    const char *path = out->path;
    if (!written)
        written = le_file_out_check(out);
    if (written && out->target)
        le_new_file_drop(&out->file);
    else if (written)
        close(out->file.fd);
    else if (!out->target)
        written = close_direct(out) ? LEAT_OK : le_fail_file("write", path, errno);
    else if (!le_new_file_publish(&out->file, out->name, out->sync) || (out->sync && !sync_folder(folder)))
        written = le_fail_file("write", path, errno);
    out->file.folder = folder;
    free_out(out);
    return written;
}
