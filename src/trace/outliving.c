/* Which of a command's processes outlive it; see record_command.h. A process is known by the variables that it was
 * started with, as /proc has them; where there is no /proc, or a process is another user's, nothing is known. */
#include "base/memory.h"
#include "trace/record_command.h"
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { VARIABLES_MOST_BYTES = 2 << 20, LOOKS = 10 };

/* The file's first bytes; proc hands over a page at a time. */
static size_t read_file(const char *path, char *bytes, size_t most) {
    size_t length = 0;
    ssize_t count = 1;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    for (; count > 0 && length<most; length += count> 0 ? (size_t)count : 0)
        count = read(file, bytes + length, most - length);
    close(file);
    return length;
}

/* variable: with its value. */
static bool any_process_has(const char *variable, char *bytes) {
    char path[PATH_MAX];
    bool found = false;
    DIR *processes = opendir("/proc");
    if (!processes)
        return false;
    for (struct dirent *entry; !found && (entry = readdir(processes)) != NULL;) {
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
            continue;
        snprintf(path, sizeof path, "/proc/%s/environ", entry->d_name);
        size_t length = read_file(path, bytes, VARIABLES_MOST_BYTES);
        found = memmem(bytes, length, variable, strlen(variable) + 1) != NULL;
    }
    closedir(processes);
    return found;
}

/* What helped the command, and ends with it, has a moment to do so. */
bool le_trace_outlived(const char *folder) {
    const struct timespec moment = {.tv_nsec = 10000000};
    char variable[PATH_MAX + 32], *bytes = le_alloc(VARIABLES_MOST_BYTES);
    bool found = bytes != NULL;
    snprintf(variable, sizeof variable, LE_TRACE_FOLDER "=%s", folder);
    for (int k = 0; found && k < LOOKS; k++) {
        if (k > 0)
            nanosleep(&moment, NULL);
        found = any_process_has(variable, bytes);
    }
    le_free(bytes);
    return found;
}
