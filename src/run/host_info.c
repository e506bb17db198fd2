/* Reads the machine's name and sizes from /proc and /sys, and measures its rates. */
#include "run/host_info.h"
#include "base/clock.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define COPY_BYTES     ((size_t)64 << 20)
#define COPY_TIME_NS   25000000u /* repeat for at least this long */
#define COPY_TIMES_MIN 3

void le_host_name(char *name, size_t size_bytes) {
    struct utsname system;
    snprintf(name, size_bytes, "%s", uname(&system) == 0 ? system.machine : "CPU");
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[256];
    while (file && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon)
            continue;
        char *start = colon + 1 + strspn(colon + 1, " \t");
        start[strcspn(start, "\n")] = 0;
        snprintf(name, size_bytes, "%s", start);
        break;
    }
    if (file)
        fclose(file);
}

size_t le_host_memory_bytes(void) {
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && page_bytes > 0 ? (size_t)pages * (size_t)page_bytes : 0;
}

static bool read_line(const char *path, char *line, size_t size_bytes) {
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    bool got = fgets(line, (int)size_bytes, file) != NULL;
    fclose(file);
    return got;
}

/* Lists the caches of core 0 in order; the last one is the last-level cache. Sizes look like "32768K". */
size_t le_host_cache_bytes(void) {
    size_t last = 0;
    for (int k = 0; k < 8; k++) {
        char path[80], line[64];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", k);
        if (!read_line(path, line, sizeof line))
            break;
        char *unit;
        size_t size = strtoull(line, &unit, 10);
        last = size << (toupper((unsigned char)*unit) == 'K' ? 10 : toupper((unsigned char)*unit) == 'M' ? 20 : 0);
    }
    long level3 = last ? 0 : sysconf(_SC_LEVEL3_CACHE_SIZE);
    return level3 > 0 ? (size_t)level3 : last;
}

/* ---- the copy rate */

struct copy_job {
    char *target;
    char *source;
    size_t size_bytes;
    int parts;
};

/* Returns the offset of a task's part; *length: its bytes. */
static size_t find_part(const struct copy_job *copy, int64_t task, size_t *length) {
    size_t part = copy->size_bytes / (size_t)copy->parts / 64 * 64, start = (size_t)task * part;
    *length = task == copy->parts - 1 ? copy->size_bytes - start : part;
    return start;
}

static void copy_part(void *job, int64_t task, int worker) {
    const struct copy_job *copy = job;
    size_t length, start = find_part(copy, task, &length);
    (void)worker;
    memcpy(copy->target + start, copy->source + start, length);
}

/* Writes to all pages: untouched pages of the source may all map to one page of zeros. */
static void fill_part(void *job, int64_t task, int worker) {
    const struct copy_job *copy = job;
    size_t length, start = find_part(copy, task, &length);
    (void)worker;
    memset(copy->source + start, 1, length);
    memset(copy->target + start, 0, length);
}

static leat_status best_rate(struct le_pool *threads, struct copy_job *copy, double *bytes_per_second) {
    uint64_t best_ns = UINT64_MAX, total_ns = 0;
    leat_status status = le_pool_run(threads, fill_part, copy, copy->parts);
    for (int k = 0; !status && (k < COPY_TIMES_MIN || total_ns < COPY_TIME_NS); k++) {
        uint64_t start_ns = le_clock_ns();
        status = le_pool_run(threads, copy_part, copy, copy->parts);
        uint64_t took_ns = le_clock_ns() - start_ns;
        total_ns += took_ns;
        best_ns = took_ns < best_ns ? took_ns : best_ns;
    }
    *bytes_per_second = 2e9 * (double)copy->size_bytes / (double)(best_ns ? best_ns : 1);
    return status;
}

static leat_status copy_rate(struct le_pool *threads, struct le_memory_pool *memory, double *bytes_per_second) {
    void *source, *target;
    size_t source_bytes, target_bytes;
    leat_status status = le_memory_pool_take(memory, COPY_BYTES, false, &source, &source_bytes);
    if (status)
        return status;
    status = le_memory_pool_take(memory, COPY_BYTES, false, &target, &target_bytes);
    if (!status) {
        struct copy_job copy = {
            .target = target, .source = source, .size_bytes = COPY_BYTES, .parts = le_pool_threads(threads)};
        status = best_rate(threads, &copy, bytes_per_second);
        le_memory_pool_give(memory, target, target_bytes);
    }
    le_memory_pool_give(memory, source, source_bytes);
    return status;
}

/* ---- the rate of additions */

#define ADD_COUNT 512 /* doubles; three arrays of them fit in any first-level cache */
#define ADD_TURNS 1000
#define ADD_TIMES 5

struct add_job {
    le_cpu_op *add;
    struct le_instr instr;
};

static void add_often(void *job, int64_t task, int worker) {
    const struct add_job *a = job;
    _Alignas(64) double values[3][ADD_COUNT];
    void *const registers[] = {values[0], values[1], values[2]};
    (void)task;
    (void)worker;
    for (int k = 0; k < ADD_COUNT; k++)
        values[0][k] = values[1][k] = values[2][k] = 1;
    for (int turn = 0; turn < ADD_TURNS; turn++)
        a->add(registers, &a->instr, ADD_COUNT);
}

static leat_status add_rate(struct le_pool *threads, enum le_simd simd, double *additions_per_second) {
    struct add_job job = {
        .instr = {.code = LE_OP_ADD, .type = LE_F64, .d = 0, .a = 1, .b = 2, .c = LE_NO_REG, .e = LE_NO_REG}};
    int count = le_pool_threads(threads);
    uint64_t best_ns = UINT64_MAX;
    leat_status status = LEAT_OK;
    job.add = le_cpu_op_find(simd, &job.instr);
    for (int k = 0; k < ADD_TIMES && !status; k++) {
        uint64_t start_ns = le_clock_ns();
        status = le_pool_run(threads, add_often, &job, count);
        uint64_t took_ns = le_clock_ns() - start_ns;
        best_ns = took_ns < best_ns ? took_ns : best_ns;
    }
    *additions_per_second = 1e9 * ADD_COUNT * ADD_TURNS * (double)count / (double)(best_ns ? best_ns : 1);
    return status;
}

leat_status le_machine_measure(struct le_pool *threads, struct le_memory_pool *memory, enum le_simd simd,
                               struct le_machine_rates *rates) {
    leat_status status = copy_rate(threads, memory, &rates->copy_bytes_per_second);
    if (!status) /* last: starting threads takes address space */
        status = add_rate(threads, simd, &rates->additions_per_second);
    return status;
}
