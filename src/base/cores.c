/* The number of cores that this process may use, from its affinity and the CPU quotas of its control groups (versions 1
 * and 2). Reads /proc and /sys. A file that is missing or cannot be parsed limits nothing. Any thread. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "base/thread.h"
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES 1024
#define CORES_MAX  65536

static bool read_file(const char *path, char *content, size_t size_bytes) {
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    size_t length = fread(content, 1, size_bytes - 1, file);
    content[length] = 0;
    fclose(file);
    return length > 0;
}

static int affinity_cores(void) {
    for (int size = 1024; size <= CORES_MAX; size *= 2) {
        cpu_set_t *set = CPU_ALLOC((size_t)size);
        if (!set)
            break;
        size_t set_bytes = CPU_ALLOC_SIZE((size_t)size);
        int cores = sched_getaffinity(0, set_bytes, set) == 0 ? CPU_COUNT_S(set_bytes, set) : 0;
        CPU_FREE(set);
        if (cores > 0)
            return cores;
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 && online < CORES_MAX ? (int)online : 1;
}

/* The number of whole cores for a quota of microseconds per period; INT_MAX: no limit. */
static int quota_cores(long long quota, long long period) {
    if (quota <= 0 || period <= 0)
        return INT_MAX;
    long long cores = quota / period + (quota % period != 0);
    return cores < INT_MAX ? (int)cores : INT_MAX;
}

static long long read_number(const char *folder, const char *name) {
    char path[PATH_BYTES + 64], content[64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return read_file(path, content, sizeof content) ? strtoll(content, NULL, 10) : -1;
}

/* The limit of one group. Version 2 has "quota period" or "max period" in one file, version 1 has a file for each. */
static int group_cores(const char *folder, bool version_2) {
    if (!version_2)
        return quota_cores(read_number(folder, "cpu.cfs_quota_us"), read_number(folder, "cpu.cfs_period_us"));
    char path[PATH_BYTES + 64], content[64], *end;
    snprintf(path, sizeof path, "%s/cpu.max", folder);
    if (!read_file(path, content, sizeof content))
        return INT_MAX;
    long long quota = strtoll(content, &end, 10);
    return end == content ? INT_MAX : quota_cores(quota, strtoll(end, NULL, 10));
}

/* The least of the limits of a group and all its parents. In a container the group's path may not be visible below the
 * mount; only the existing folders count. */
static int tree_cores(const char *mount, const char *group, bool version_2) {
    char folder[PATH_BYTES];
    int cores = INT_MAX, mount_length = (int)strlen(mount);
    int length = snprintf(folder, sizeof folder, "%s%s", mount, group);
    if (length >= (int)sizeof folder)
        length = mount_length;
    for (;;) {
        folder[length] = 0;
        int limit = group_cores(folder, version_2);
        if (limit < cores)
            cores = limit;
        if (length <= mount_length)
            return cores;
        do
            length--;
        while (length > mount_length && folder[length] != '/');
    }
}

/* Whether a line of /proc/self/cgroup, "number:controllers:path", names the cpu controller. Version 2 lists no
 * controllers. */
static bool has_cpu(const char *controllers, size_t length) {
    if (length == 0)
        return true;
    for (const char *at = controllers, *end = controllers + length; at < end;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        size_t size = (size_t)((comma ? comma : end) - at);
        if (size == 3 && memcmp(at, "cpu", 3) == 0)
            return true;
        at += size + 1;
    }
    return false;
}

static int cgroup_cores(void) {
    static const char *const mounts[2][2] = {{"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"},
                                             {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}};
    char content[8192];
    int cores = INT_MAX;
    if (!read_file("/proc/self/cgroup", content, sizeof content))
        return cores;
    for (char *rest = content, *line; (line = strsep(&rest, "\n"));) {
        char *controllers = strchr(line, ':');
        char *path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path || !has_cpu(controllers + 1, (size_t)(path - controllers - 1)))
            continue;
        bool version_2 = path == controllers + 1;
        const char *group = strcmp(path + 1, "/") == 0 ? "" : path + 1;
        for (int k = 0; k < 2; k++) {
            int limit = tree_cores(mounts[version_2][k], group, version_2);
            if (limit < cores)
                cores = limit;
        }
    }
    return cores;
}

int le_cores(void) {
    int affinity = affinity_cores(), granted = cgroup_cores();
    return affinity < granted ? affinity : granted;
}
