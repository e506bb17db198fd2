/* Whole files in and out. A mapped file that another process shortens afterwards raises SIGBUS when it is read: files
 * are taken to stay as they are while an array shows them. */
#include "array/file.h"
#include "base/memory.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define POPULATE_MAX_BYTES ((size_t)1 << 30)
#define WRITE_MAX_BYTES    ((size_t)1 << 30)

static leat_status fail_errno(const char *name, const char *what, int number) {
    char text[128];
    return le_fail(LEAT_FILE, "%s: cannot %s: %s", name, what, strerror_r(number, text, sizeof text));
}

/* ---- in */

static leat_status read_stream(int fd, const char *path, struct le_file_bytes *bytes) {
    size_t capacity = 0, length = 0;
    uint8_t *at = NULL;
    for (;;) {
        if (length == capacity) {
            size_t more = capacity ? capacity * 2 : (size_t)64 << 10;
            uint8_t *grown = more > capacity ? le_realloc(at, more) : NULL;
            if (!grown) {
                le_free(at);
                return le_fail_out_of_memory(more);
            }
            at = grown;
            capacity = more;
        }
        ssize_t got = read(fd, at + length, capacity - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            int number = errno;
            le_free(at);
            return fail_errno(path, "read", number);
        }
        if (got == 0)
            break;
        length += (size_t)got;
    }
    *bytes = (struct le_file_bytes){.at = at, .size_bytes = length};
    return LEAT_OK;
}

static bool map_file(int fd, size_t size_bytes, struct le_file_bytes *bytes) {
    int flags = MAP_PRIVATE | (size_bytes <= POPULATE_MAX_BYTES ? MAP_POPULATE : 0);
    void *at = mmap(NULL, size_bytes, PROT_READ, flags, fd, 0);
    if (at == MAP_FAILED)
        return false;
    *bytes = (struct le_file_bytes){.at = at, .size_bytes = size_bytes, .mapped = true};
    return true;
}

leat_status le_file_read(const char *path, struct le_file_bytes *bytes) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail_errno(path, "open", errno);
    struct stat about;
    leat_status status;
    if (fstat(fd, &about) < 0)
        status = fail_errno(path, "read", errno);
    else if (S_ISDIR(about.st_mode))
        status = le_fail(LEAT_FILE, "%s: is a folder", path);
    else if (S_ISREG(about.st_mode) && about.st_size > 0 && map_file(fd, (size_t)about.st_size, bytes))
        status = LEAT_OK;
    else
        status = read_stream(fd, path, bytes);
    close(fd);
    return status;
}

void le_file_bytes_finish(struct le_file_bytes *bytes) {
    void *at = (void *)(uintptr_t)bytes->at;
    if (at && bytes->mapped)
        munmap(at, bytes->size_bytes);
    else
        le_free(at);
    *bytes = (struct le_file_bytes){0};
}

/* ---- out */

/* What a link's text means: from its own folder on, or from the root. */
static char *resolve(const char *link, const char *text) {
    const char *slash = strrchr(link, '/');
    size_t folder = slash && *text != '/' ? (size_t)(slash - link) + 1 : 0, length = strlen(text) + 1;
    char *path = le_alloc(folder + length);
    if (path) {
        memcpy(path, link, folder);
        memcpy(path + folder, text, length);
    }
    return path;
}

/* The path that a rename must go to: that of a link's target, be it there or not. Links do not go round in circles. */
static char *real_path(const char *path) {
    char text[PATH_MAX];
    ssize_t length;
    char *at = le_strdup(realpath(path, text) ? text : path);
    while (at && (length = readlink(at, text, sizeof text - 1)) >= 0) {
        text[length] = '\0';
        char *next = resolve(at, text);
        le_free(at);
        at = next;
    }
    return at;
}

static leat_status open_temporary(struct le_file_out *out) {
    static atomic_uint serial;
    const char *slash = strrchr(out->path, '/');
    int folder_length = slash ? (int)(slash - out->path) + 1 : 0;
    size_t size = strlen(out->path) + 64;
    out->temporary = le_alloc(size);
    if (!out->temporary)
        return le_fail_out_of_memory(size);
    for (int tries = 0; tries < 1000; tries++) {
        snprintf(out->temporary, size, "%.*s.%.100s.%ld-%u.tmp", folder_length, out->path, out->path + folder_length,
                 (long)getpid(), atomic_fetch_add(&serial, 1));
        out->fd = open(out->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (out->fd >= 0)
            return LEAT_OK;
        if (errno != EEXIST)
            break;
    }
    return fail_errno(out->name, "write", errno);
}

leat_status le_file_out_open(const char *path, struct le_file_out *out) {
    *out = (struct le_file_out){.fd = -1, .name = path};
    struct stat about;
    bool exists = stat(path, &about) == 0;
    if (!exists && errno != ENOENT)
        return fail_errno(path, "write", errno);
    if (exists && S_ISDIR(about.st_mode))
        return le_fail(LEAT_FILE, "%s: is a folder", path);
    if (exists && !S_ISREG(about.st_mode)) {
        out->fd = open(path, O_WRONLY | O_CLOEXEC);
        return out->fd < 0 ? fail_errno(path, "write", errno) : LEAT_OK;
    }
    if (exists && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) < 0) /* renaming would not ask */
        return fail_errno(path, "write", errno);
    out->path = real_path(path);
    if (!out->path)
        return le_fail_out_of_memory(strlen(path) + 1);
    leat_status status = open_temporary(out);
    if (status) {
        le_free(out->temporary);
        le_free(out->path);
    } else if (exists) {
        (void)!fchmod(out->fd, about.st_mode & 07777); /* a new file's mode will do where this is not allowed */
    }
    return status;
}

leat_status le_file_out_write(struct le_file_out *out, const void *bytes, size_t size_bytes) {
    const char *at = bytes;
    while (size_bytes) {
        ssize_t put = write(out->fd, at, size_bytes < WRITE_MAX_BYTES ? size_bytes : WRITE_MAX_BYTES);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return fail_errno(out->name, "write", errno);
        at += put;
        size_bytes -= (size_t)put;
    }
    return LEAT_OK;
}

leat_status le_file_out_reopen(struct le_file_out *out) {
    int fd = open(out->temporary, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return fail_errno(out->name, "write", errno);
    close(out->fd);
    out->fd = fd;
    return LEAT_OK;
}

static void finish_out(struct le_file_out *out) {
    le_free(out->temporary);
    le_free(out->path);
    *out = (struct le_file_out){.fd = -1};
}

leat_status le_file_out_commit(struct le_file_out *out) {
    bool done = !out->temporary || fsync(out->fd) == 0;
    int number = errno;
    if (close(out->fd) < 0 && done) {
        number = errno;
        done = false;
    }
    out->fd = -1;
    if (done && out->temporary && rename(out->temporary, out->path) < 0) {
        number = errno;
        done = false;
    }
    if (!done) {
        fail_errno(out->name, "write", number);
        le_file_out_drop(out);
        return LEAT_FILE;
    }
    finish_out(out);
    return LEAT_OK;
}

void le_file_out_drop(struct le_file_out *out) {
    if (out->fd >= 0)
        close(out->fd);
    if (out->temporary)
        unlink(out->temporary);
    finish_out(out);
}
