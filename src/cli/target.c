/* See target.h. */
#include "cli/target.h"
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The path that a link's text means: relative to the link's folder, or absolute. */
static char *resolve_link(const char *link, const char *text) {
    const char *slash = strrchr(link, '/');
    char *path;
    int folder = slash && *text != '/' ? (int)(slash - link) + 1 : 0;
    return asprintf(&path, "%.*s%s", folder, link, text) < 0 ? NULL : path;
}

/* The absolute path with all links followed; the file need not exist. NULL: see errno. */
static char *resolve_path(const char *path) {
    char *target = realpath(path, NULL), text[PATH_MAX];
    if (target || errno != ENOENT)
        return target;
    ssize_t length = readlink(path, text, sizeof text - 1);
    if (length >= 0) { /* a circle of links fails with ELOOP above */
        text[length] = '\0';
        char *next = resolve_link(path, text);
        target = next ? resolve_path(next) : NULL;
        free(next);
        return target;
    }
    char *copy = strdup(path), *folder = copy ? realpath(dirname(copy), NULL) : NULL;
    const char *slash = strrchr(path, '/');
    if (folder && asprintf(&target, "%s/%s", folder, slash ? slash + 1 : path) < 0)
        target = NULL;
    free(folder);
    free(copy);
    return target;
}

bool le_cli_target_is_regular(const char *path) {
    struct stat about;
    return stat(path, &about) != 0 || S_ISREG(about.st_mode);
}

static bool is_open_to(const char *path, int mode) {
    return faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0;
}

/* Both the file, if it exists, and for a regular file its folder must be writable. */
bool le_cli_target_can_be_written(const char *path) {
    char *target = resolve_path(path);
    bool can = target && (!is_open_to(target, F_OK) || is_open_to(target, W_OK));
    if (can && le_cli_target_is_regular(target))
        can = is_open_to(dirname(target), W_OK);
    int number = errno;
    free(target);
    errno = number;
    return can;
}

bool le_cli_target_is_same(const char *a, const char *b) {
    char *first = resolve_path(a), *second = resolve_path(b);
    bool same = first && second && strcmp(first, second) == 0;
    free(first);
    free(second);
    return same;
}
