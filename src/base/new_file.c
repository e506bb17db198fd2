/* See new_file.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "base/new_file.h"
#include "base/clock.h"
#include "base/hash.h"
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NAME_ATTEMPTS 8
#define HASH_DIGITS   16

/* Makes a random temporary name, a different one for each attempt. */
static void make_name(int attempt, char name[LE_NEW_FILE_NAME_BYTES]) {
    uint64_t time_ns = le_clock_ns(), seed = le_hash(&time_ns, sizeof time_ns, (uint64_t)getpid() + (uintptr_t)name);
    snprintf(name, LE_NEW_FILE_NAME_BYTES, ".%016llx.tmp", (unsigned long long)le_hash(&attempt, sizeof attempt, seed));
}

bool le_new_file_is_temporary(const char *name) {
    return name[0] == '.' && strspn(name + 1, "0123456789abcdef") == HASH_DIGITS &&
           strcmp(name + 1 + HASH_DIGITS, ".tmp") == 0;
}

/* Opens a file without a name; it gets one by linking its path in /proc. */
static int open_unnamed(int folder, mode_t mode) {
    if (access("/proc/self/fd", X_OK) != 0)
        return -1;
    return openat(folder, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
}

bool le_new_file_open(int folder, mode_t mode, struct le_new_file *file) {
    *file = (struct le_new_file){.folder = folder, .fd = open_unnamed(folder, mode)};
    for (int k = 0; k < NAME_ATTEMPTS && file->fd < 0; k++) {
        make_name(k, file->temporary);
        file->fd = openat(folder, file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (file->fd < 0 && errno != EEXIST)
            break;
    }
    return file->fd >= 0;
}

static bool link_file(const struct le_new_file *file, const char *name) {
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file->fd);
    return linkat(AT_FDCWD, path, file->folder, name, AT_SYMLINK_FOLLOW) == 0;
}

/* link() does not replace a file. If the name exists, the file gets a temporary name and is renamed. */
static bool give_name(struct le_new_file *file, const char *name) {
    if (!*file->temporary && link_file(file, name))
        return true;
    for (int k = 0; k < NAME_ATTEMPTS && !*file->temporary && errno == EEXIST; k++) {
        char temporary[LE_NEW_FILE_NAME_BYTES];
        make_name(k, temporary);
        if (link_file(file, temporary))
            memcpy(file->temporary, temporary, sizeof temporary);
    }
    if (!*file->temporary || renameat(file->folder, file->temporary, file->folder, name) != 0)
        return false;
    *file->temporary = '\0';
    return true;
}

/* Some file systems report a full disk only at close(), so a duplicate is closed before the file gets its name. */
static bool flush_file(int fd, bool sync) {
    int copy = sync ? -1 : dup(fd);
    return sync ? fsync(fd) == 0 : copy >= 0 && close(copy) == 0;
}

bool le_new_file_publish(struct le_new_file *file, const char *name, bool sync) {
    bool done = flush_file(file->fd, sync) && give_name(file, name);
    int number = errno;
    le_new_file_drop(file); /* the file has its name now: this only closes the descriptor */
    errno = number;
    return done;
}

void le_new_file_drop(struct le_new_file *file) {
    if (file->fd >= 0)
        close(file->fd);
    if (*file->temporary)
        unlinkat(file->folder, file->temporary, 0);
    *file = (struct le_new_file){.folder = -1, .fd = -1};
}
