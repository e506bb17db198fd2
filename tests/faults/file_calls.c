/* See file_calls.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "file_calls.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_llong calls, planned;
static atomic_bool has_failed;

void file_calls_plan(int64_t number) {
    calls = 0;
    planned = number;
    has_failed = false;
}

bool file_calls_failed(void) {
    return has_failed;
}

static bool fails(int error) {
    bool now = ++calls == planned;
    if (now) {
        has_failed = true;
        errno = error;
    }
    return now;
}

/* The names are the linker's. */
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return fails(EIO) ? -1 : __real_open(path, flags, mode);
}

int __real_openat(int folder, const char *path, int flags, ...);
int __wrap_openat(int folder, const char *path, int flags, ...);
int __wrap_openat(int folder, const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return fails(ENOSPC) ? -1 : __real_openat(folder, path, flags, mode);
}

ssize_t __real_read(int fd, void *bytes, size_t size_bytes);
ssize_t __wrap_read(int fd, void *bytes, size_t size_bytes);
ssize_t __wrap_read(int fd, void *bytes, size_t size_bytes) {
    return fails(EIO) ? -1 : __real_read(fd, bytes, size_bytes);
}

ssize_t __real_pread(int fd, void *bytes, size_t size_bytes, off_t offset);
ssize_t __wrap_pread(int fd, void *bytes, size_t size_bytes, off_t offset);
ssize_t __wrap_pread(int fd, void *bytes, size_t size_bytes, off_t offset) {
    return fails(EIO) ? -1 : __real_pread(fd, bytes, size_bytes, offset);
}

ssize_t __real_write(int fd, const void *bytes, size_t size_bytes);
ssize_t __wrap_write(int fd, const void *bytes, size_t size_bytes);
ssize_t __wrap_write(int fd, const void *bytes, size_t size_bytes) {
    return fails(ENOSPC) ? -1 : __real_write(fd, bytes, size_bytes);
}

ssize_t __real_pwrite(int fd, const void *bytes, size_t size_bytes, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t size_bytes, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t size_bytes, off_t offset) {
    return fails(ENOSPC) ? -1 : __real_pwrite(fd, bytes, size_bytes, offset);
}

int __real_fstat(int fd, struct stat *about);
int __wrap_fstat(int fd, struct stat *about);
int __wrap_fstat(int fd, struct stat *about) {
    return fails(EIO) ? -1 : __real_fstat(fd, about);
}

int __real_stat(const char *path, struct stat *about);
int __wrap_stat(const char *path, struct stat *about);
int __wrap_stat(const char *path, struct stat *about) {
    return fails(EIO) ? -1 : __real_stat(path, about);
}

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __wrap_fsync(int fd) {
    return fails(EIO) ? -1 : __real_fsync(fd);
}

int __real_futimens(int fd, const struct timespec times[2]);
int __wrap_futimens(int fd, const struct timespec times[2]);
int __wrap_futimens(int fd, const struct timespec times[2]) {
    return fails(EIO) ? -1 : __real_futimens(fd, times);
}

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to) {
    return fails(ENOSPC) ? -1 : __real_rename(from, to);
}

int __real_renameat(int from_folder, const char *from, int to_folder, const char *to);
int __wrap_renameat(int from_folder, const char *from, int to_folder, const char *to);
int __wrap_renameat(int from_folder, const char *from, int to_folder, const char *to) {
    return fails(ENOSPC) ? -1 : __real_renameat(from_folder, from, to_folder, to);
}

int __real_linkat(int from_folder, const char *from, int to_folder, const char *to, int flags);
int __wrap_linkat(int from_folder, const char *from, int to_folder, const char *to, int flags);
int __wrap_linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    return fails(ENOSPC) ? -1 : __real_linkat(from_folder, from, to_folder, to, flags);
}

int __real_dup(int fd);
int __wrap_dup(int fd);
int __wrap_dup(int fd) {
    return fails(EMFILE) ? -1 : __real_dup(fd);
}

off_t __real_lseek(int fd, off_t offset, int from);
off_t __wrap_lseek(int fd, off_t offset, int from);
off_t __wrap_lseek(int fd, off_t offset, int from) {
    return fails(EIO) ? -1 : __real_lseek(fd, offset, from);
}

int __real_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode) {
    return fails(ENOSPC) ? -1 : __real_mkdir(path, mode);
}

char *__real_mkdtemp(char *path);
char *__wrap_mkdtemp(char *path);
char *__wrap_mkdtemp(char *path) {
    return fails(ENOSPC) ? NULL : __real_mkdtemp(path);
}

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode) {
    return fails(EIO) ? NULL : __real_fopen(path, mode);
}

size_t __real_fread(void *bytes, size_t size_bytes, size_t count, FILE *file);
size_t __wrap_fread(void *bytes, size_t size_bytes, size_t count, FILE *file);
size_t __wrap_fread(void *bytes, size_t size_bytes, size_t count, FILE *file) {
    return fails(EIO) ? 0 : __real_fread(bytes, size_bytes, count, file);
}

size_t __real_fwrite(const void *bytes, size_t size_bytes, size_t count, FILE *file);
size_t __wrap_fwrite(const void *bytes, size_t size_bytes, size_t count, FILE *file);
size_t __wrap_fwrite(const void *bytes, size_t size_bytes, size_t count, FILE *file) {
    return fails(ENOSPC) ? 0 : __real_fwrite(bytes, size_bytes, count, file);
}

int __real_memfd_create(const char *name, unsigned flags);
int __wrap_memfd_create(const char *name, unsigned flags);
int __wrap_memfd_create(const char *name, unsigned flags) {
    return fails(ENOSPC) ? -1 : __real_memfd_create(name, flags);
}

DIR *__real_fdopendir(int fd);
DIR *__wrap_fdopendir(int fd);
DIR *__wrap_fdopendir(int fd) {
    return fails(EIO) ? NULL : __real_fdopendir(fd);
}

void *__real_mmap(void *at, size_t size_bytes, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t size_bytes, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t size_bytes, int protection, int flags, int fd, off_t offset) {
    return fails(ENOMEM) ? MAP_FAILED : __real_mmap(at, size_bytes, protection, flags, fd, offset);
}
