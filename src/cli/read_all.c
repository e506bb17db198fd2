/* Reads a whole file or stdin into memory. */
#include "cli/session.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_BYTES = 1 << 16 };

/* The room to begin with: a regular file's size and one byte more, so that its end is seen without growing. */
static size_t first_room(int file) {
    struct stat info;
    if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size < 0)
        return FIRST_BYTES;
    return (uint64_t)info.st_size < SIZE_MAX / 4 ? (size_t)info.st_size + 2 : FIRST_BYTES;
}

static int read_into(struct le_cli *cli, int file, const char *shown, size_t most_bytes, char **bytes,
                     size_t *size_bytes) {
    size_t room = first_room(file);
    if (room > most_bytes)
        room = most_bytes < FIRST_BYTES ? most_bytes + 2 : FIRST_BYTES;
    for (;;) {
        char *grown = *size_bytes + 1 < room && *bytes ? *bytes : realloc(*bytes, room);
        if (!grown)
            return le_cli_fail(cli, LEAT_OUT_OF_MEMORY, "%s: out of memory", shown);
        *bytes = grown;
        ssize_t got = read(file, grown + *size_bytes, room - *size_bytes - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return le_cli_fail(cli, LEAT_FILE, "%s: %s", shown, strerror(errno));
        if (got == 0)
            break;
        *size_bytes += (size_t)got;
        if (*size_bytes > most_bytes)
            return le_cli_fail(cli, LEAT_PROGRAM, "%s: more than %zu bytes", shown, most_bytes);
        if (*size_bytes + 1 >= room)
            room = room > SIZE_MAX / 2 ? SIZE_MAX : room * 2;
    }
    (*bytes)[*size_bytes] = '\0';
    return LE_EXIT_OK;
}

int le_cli_read_all(struct le_cli *cli, const char *path, const char *shown, size_t most_bytes, char **bytes,
                    size_t *size_bytes) {
    bool is_stdin = strcmp(path, "-") == 0;
    int file = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    *bytes = NULL;
    *size_bytes = 0;
    if (file < 0)
        return le_cli_fail(cli, LEAT_FILE, "%s: %s", shown, strerror(errno));
    int code = read_into(cli, file, shown, most_bytes, bytes, size_bytes);
    if (!is_stdin)
        close(file);
    if (code) {
        free(*bytes);
        *bytes = NULL;
    }
    return code;
}
