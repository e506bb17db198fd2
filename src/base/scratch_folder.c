/* See scratch_folder.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "base/scratch_folder.h"
#include "base/environment.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PREFIX      "leat-scratch-"
#define SUFFIX      "XXXXXX"
#define ABANDONED_S 3600 /* a folder unchanged for this long is taken as left by a killed process */

static void remove_in(int parent, const char *name) {
    if (unlinkat(parent, name, 0) == 0 || (errno != EISDIR && errno != EPERM))
        return;
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    while (folder && (entry = readdir(folder)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove_in(fd, entry->d_name);
    if (folder)
        closedir(folder);
    else if (fd >= 0)
        close(fd);
    unlinkat(parent, name, AT_REMOVEDIR);
}

static bool is_abandoned(int parent, const char *name) {
    struct stat about;
    return strncmp(name, PREFIX, strlen(PREFIX)) == 0 && strlen(name) == strlen(PREFIX SUFFIX) &&
           fstatat(parent, name, &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(about.st_mode) &&
           about.st_uid == geteuid() && (about.st_mode & 07777) == 0700 && time(NULL) - about.st_mtime > ABANDONED_S;
}

/* Removes the folders of killed processes. */
static void remove_abandoned(const char *parent) {
    DIR *folder = opendir(parent);
    const struct dirent *entry;
    while (folder && (entry = readdir(folder)))
        if (is_abandoned(dirfd(folder), entry->d_name))
            remove_in(dirfd(folder), entry->d_name);
    if (folder)
        closedir(folder);
}

leat_status le_scratch_new(struct le_arena *arena, char **path) {
    const char *named = le_environment_get("TMPDIR"), *parent = named && *named == '/' ? named : "/tmp";
    remove_abandoned(parent);
    *path = le_arena_format(arena, "%s/" PREFIX SUFFIX, parent);
    if (!mkdtemp(*path)) {
        leat_status status = le_fail(LEAT_FILE, "cannot create the temporary folder %s: %s", *path, strerror(errno));
        *path = NULL;
        return status;
    }
    return LEAT_OK;
}

void le_scratch_remove(const char *path) {
    if (path)
        remove_in(AT_FDCWD, path);
}

static bool stays_inside(const char *name) {
    if (*name == '/' || !*name || strlen(name) > 1000)
        return false;
    for (const char *at = name; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL)
        if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || !at[2]))
            return false;
    return true;
}

leat_status le_scratch_write(const char *path, const char *name, const void *bytes, size_t size_bytes) {
    char full[4096];
    if (!stays_inside(name))
        return le_fail(LEAT_INVALID, "a file's name must be a relative path without '..': %s", name);
    int length = snprintf(full, sizeof full, "%s/%s", path, name);
    if (length >= (int)sizeof full)
        return le_fail(LEAT_INVALID, "a file's name is too long: %s", name);
    for (char *at = full + strlen(path) + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        mkdir(full, 0700);
        *at = '/';
    }
    FILE *file = fopen(full, "we");
    bool written = file && fwrite(bytes, 1, size_bytes, file) == size_bytes;
    if (file && fclose(file) != 0)
        written = false;
    return written ? LEAT_OK : le_fail_file("write", full, errno);
}

leat_status le_scratch_read(const char *path, const char *name, struct le_text *bytes) {
    char full[4096], buffer[16384];
    snprintf(full, sizeof full, "%s/%s", path, name);
    FILE *file = fopen(full, "re");
    size_t count;
    if (!file)
        return le_fail_file("open", full, errno);
    while ((count = fread(buffer, 1, sizeof buffer, file)) > 0)
        le_text_add_bytes(bytes, buffer, count);
    bool failed = ferror(file) != 0;
    fclose(file);
    if (failed)
        return le_fail(LEAT_FILE, "cannot read %s", full);
    return bytes->failed ? le_fail_out_of_memory(bytes->length) : LEAT_OK;
}
