/* Whether processes of a command outlive it; see record_command.h. A process belongs to the command if the environment
 * that it was started with, in /proc, has the recorder's folder. Without /proc, and of other users' processes, nothing
 * is known. */
#include "base/memory.h"
#include "trace/record_command.h"
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { VARIABLES_MOST_BYTES = 2 << 20, UNKNOWN_CHECKS = 10, OURS_CHECKS = 8 };
#define PAUSE_NS 10000000 /* doubles after each check that found one: 1.27 s in total */

/* Reads up to `most` bytes of a file and returns how many. /proc returns a page at a time. -1: cannot be opened. */
static ssize_t read_file(const char *path, char *bytes, size_t most) {
    size_t length = 0;
    ssize_t count;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -1;
    while (length < most && (count = read(file, bytes + length, most - length)) > 0)
        length += (size_t)count;
    close(file);
    return (ssize_t)length;
}

/* Whether a process belongs to the command. UNKNOWN: it has no environment at the moment, as during execve. */
enum membership { OTHERS, UNKNOWN, OURS };

/* A process that has ended and a kernel thread have no memory, and therefore no environment. */
static bool has_memory(const char *process) {
    char path[PATH_MAX], size[2];
    snprintf(path, sizeof path, "/proc/%s/statm", process);
    return read_file(path, size, sizeof size) == sizeof size && size[0] != '0';
}

/* variable: "NAME=value". */
static enum membership check_process(const char *process, const char *variable, char *bytes) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "/proc/%s/environ", process);
    ssize_t length = read_file(path, bytes, VARIABLES_MOST_BYTES);
    if (length == 0)
        return has_memory(process) ? UNKNOWN : OTHERS;
    return length > 0 && memmem(bytes, (size_t)length, variable, strlen(variable) + 1) ? OURS : OTHERS;
}

static enum membership check_all_processes(const char *variable, char *bytes) {
    enum membership most = OTHERS;
    DIR *processes = opendir("/proc");
    if (!processes)
        return OTHERS;
    for (struct dirent *entry; most != OURS && (entry = readdir(processes)) != NULL;) {
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
            continue;
        enum membership membership = check_process(entry->d_name, variable, bytes);
        most = membership > most ? membership : most;
    }
    closedir(processes);
    return most;
}

static void pause_ns(long time_ns) {
    const struct timespec time = {.tv_sec = time_ns / 1000000000, .tv_nsec = time_ns % 1000000000};
    nanosleep(&time, NULL);
}

/* Checks again while a process is unknown. A process that never has an environment stays unknown. */
static enum membership check_until_known(const char *variable, char *bytes) {
    enum membership membership = check_all_processes(variable, bytes);
    for (int k = 1; membership == UNKNOWN && k < UNKNOWN_CHECKS; k++) {
        pause_ns(PAUSE_NS);
        membership = check_all_processes(variable, bytes);
    }
    return membership;
}

/* Processes that end with the command get a moment to do so. */
bool le_trace_has_survivors(const char *folder) {
    char variable[PATH_MAX + 32], *bytes = le_alloc(VARIABLES_MOST_BYTES);
    snprintf(variable, sizeof variable, LE_TRACE_FOLDER "=%s", folder);
    enum membership membership = bytes ? check_until_known(variable, bytes) : OTHERS;
    for (int k = 1; membership == OURS && k < OURS_CHECKS; k++) {
        pause_ns((long)PAUSE_NS << (k - 1));
        membership = check_until_known(variable, bytes);
    }
    le_free(bytes);
    return membership == OURS;
}
