/* Reads a whole file or stdin into memory, and an array from stdin. */
#include "cli/session.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_BYTES = 1 << 16 };

/* The initial size of the buffer. For a regular file: its size, the final NUL, and one byte more, so that reading
 * reaches its end without growing the buffer. */
static size_t first_room(int file, size_t most_bytes) {
    struct stat info;
    if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size < 0 || (uint64_t)info.st_size > most_bytes)
        return FIRST_BYTES;
    return (size_t)info.st_size + 2;
}

static int read_into(struct le_cli *cli, int file, const char *shown, size_t most_bytes, char **bytes,
                     size_t *size_bytes) {
    size_t next = first_room(file, most_bytes), room = 0;
    for (;;) {
        if (*size_bytes + 1 >= room) {
            char *grown = realloc(*bytes, next);
            if (!grown)
                return le_cli_fail(cli, LEAT_OUT_OF_MEMORY, "%s: out of memory", shown);
            *bytes = grown;
            room = next;
            next = room > SIZE_MAX / 2 ? SIZE_MAX : room * 2;
        }
        ssize_t got = read(file, *bytes + *size_bytes, room - *size_bytes - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return le_cli_fail_file(cli, "read", shown, errno);
        if (got == 0)
            break;
        *size_bytes += (size_t)got;
        if (*size_bytes > most_bytes)
            return le_cli_fail(cli, LEAT_PROGRAM, "%s: more than %zu bytes", shown, most_bytes);
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
        return le_cli_fail_file(cli, "open", shown, errno);
    int code = read_into(cli, file, shown, most_bytes, bytes, size_bytes);
    if (!is_stdin)
        close(file);
    if (code) {
        free(*bytes);
        *bytes = NULL;
    }
    return code;
}

int le_cli_load_stdin(struct le_cli *cli, leat_dtype declared, leat_array **array) {
    return le_cli_library_error(cli, leat_array_load_fd(cli->ctx, STDIN_FILENO, "stdin", declared, array));
}
