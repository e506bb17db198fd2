/* See store.h: bytes as a sealed file in memory. Any thread. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "base/store.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static bool fill_and_seal(int fd, const void *bytes, size_t size_bytes) {
    const char *at = bytes;
    while (size_bytes > 0) {
        ssize_t done = write(fd, at, size_bytes);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        at += done;
        size_bytes -= (size_t)done;
    }
    return fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0;
}

leat_status le_store_memfd(const void *bytes, size_t size_bytes, const char *name, int *fd) {
    char short_name[128]; /* longer ones are refused */
    snprintf(short_name, sizeof short_name, "%s", name);
    int made = memfd_create(short_name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (made >= 0 && fill_and_seal(made, bytes, size_bytes)) {
        *fd = made;
        return LEAT_OK;
    }
    int error = errno;
    if (made >= 0)
        close(made);
    if (error == ENOMEM || error == ENOSPC || error == EFBIG)
        return le_fail_out_of_memory(size_bytes);
    return le_fail(LEAT_UNSUPPORTED, "a sealed file in memory for %s cannot be made: %s", name, strerror(error));
}
