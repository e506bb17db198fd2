/* Reports of a trace with 10^7 records must take less than 10^9 bytes at the peak. Each mix of records is generated
 * here at 1/64 of this size, and read and reported in a separate process. The peak of that process's resident memory is
 * divided by the number of records. At 1/64 of the size, tables that grow by doubling are as full as for the whole
 * trace.
 *
 *     test_limits                        the mixes that take most
 *     test_limits all                    all of them
 *     test_limits make MIX COUNT FILE    one, as a file for `leat report`
 *     test_limits list                   their names
 * Times are not checked, because machines differ. */
#include "trace/report/report_make.h"
#include "trace/trace_testing.h"
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { WHOLE = 10000000, PART = 64, MOST_BYTES = 100, SPARE_BYTES = 1 << 20 }; /* MOST_BYTES: per record, in total */
enum { THREAD = 4001, CHUNK_BYTES = 1 << 22 };

struct maker {
    struct le_made_trace made;
    int fd;
    uint64_t now_ns, records, most;
    uint32_t strings; /* in addition to those of `made` */
};

/* Writes the records to the file as they are made, so that the trace may have any size. */
static void save(struct maker *maker) {
    size_t length = maker->made.file.length;
    for (size_t done = 0; done < length;) {
        ssize_t some = write(maker->fd, maker->made.file.at + done, length - done);
        le_made_require(some > 0);
        done += (size_t)some;
    }
    maker->made.file.length = 0;
}

static void count(struct maker *maker, uint64_t records) {
    maker->records += records;
    if (maker->made.file.length > CHUNK_BYTES)
        save(maker);
}

/* ---- single records, each at a different time */

static uint32_t call_of(struct maker *maker, const char *function) {
    count(maker, 1);
    return le_made_call(&maker->made, THREAD, function, maker->now_ns, 3000);
}

static uint32_t text_of(struct maker *maker, const char *format, uint64_t number) {
    char text[96];
    snprintf(text, sizeof text, format, number);
    struct le_trace_string string = {.id = LE_MADE_TEXTS + ++maker->strings, .length = (uint32_t)strlen(text)};
    le_made_record_with(&maker->made, LE_TRACE_STRING, &string, sizeof string, text, string.length);
    count(maker, 1);
    return string.id;
}

static uint32_t source_of(struct maker *maker, uint64_t number) {
    count(maker, 1);
    return le_made_source(&maker->made, "step", "/home/me/work/steps.py", (uint32_t)(number % 100000) + 1, 0);
}

static void origin(struct maker *maker, uint32_t call, uint32_t source) {
    le_made_origin(&maker->made, call, source);
    count(maker, 1);
}

static struct le_trace_kernel kernel_of(struct maker *maker, uint32_t call, uint32_t stream) {
    return le_made_kernel_of(&maker->made, call, stream, "saxpy(float, float*)", maker->now_ns + 4000, 4000, 132, 256);
}

static void kernel(struct maker *maker, const struct le_trace_kernel *kernel) {
    LE_MADE_RECORD(&maker->made, LE_TRACE_KERNEL, *kernel);
    count(maker, 1);
}

static void copy(struct maker *maker, uint32_t call, uint64_t k) {
    le_made_copy(&maker->made, call, 7, k % 2 ? LE_TRACE_DTOH : LE_TRACE_HTOD, LE_TRACE_PAGEABLE, k % 3 == 0, 400000,
                 maker->now_ns + 4000, 4000);
    count(maker, 1);
}

/* ---- mixes */

static void kernels(struct maker *maker, uint64_t k) {
    struct le_trace_kernel kernel_record = kernel_of(maker, 0, 7 + (uint32_t)(k % 4));
    kernel(maker, &kernel_record);
}

/* The records of each stream are together, so the trace is not in order. */
static void kernels_late(struct maker *maker, uint64_t k) {
    struct le_trace_kernel kernel_record = kernel_of(maker, 0, 7 + (uint32_t)(k % 4));
    kernel_record.start_ns = 1000000 + (k * 7919 % maker->most) * 10000;
    kernel_record.end_ns = kernel_record.start_ns + 4000;
    kernel(maker, &kernel_record);
}

static void shapes(struct maker *maker, uint64_t k) {
    struct le_trace_kernel kernel_record = kernel_of(maker, call_of(maker, "cuLaunchKernel"), 7);
    kernel_record.grid[0] = (uint32_t)k + 1;
    kernel(maker, &kernel_record);
}

static void streams(struct maker *maker, uint64_t k) {
    struct le_trace_stream stream = {.id = (uint32_t)k + 13, .context = LE_MADE_CONTEXT};
    call_of(maker, "cuStreamCreate");
    LE_MADE_RECORD(&maker->made, LE_TRACE_STREAM, stream);
    count(maker, 1);
    struct le_trace_kernel kernel_record = kernel_of(maker, call_of(maker, "cuLaunchKernel"), stream.id);
    kernel(maker, &kernel_record);
}

static void names(struct maker *maker, uint64_t k) {
    struct le_trace_kernel kernel_record = kernel_of(maker, 0, 7);
    kernel_record.name = text_of(maker, "_ZN2at6native21some_kernel_%08" PRIu64 "ILi4EEEvi", k);
    kernel(maker, &kernel_record);
}

static void strings(struct maker *maker, uint64_t k) {
    text_of(maker, "%" PRIu64, k);
    if (k == 0)
        kernels(maker, k);
}

static void launches(struct maker *maker, uint64_t k) {
    uint32_t call = call_of(maker, "cudaLaunchKernel_v7000");
    le_made_call(&maker->made, THREAD, "cuLaunchKernel", maker->now_ns + 500, 2000);
    count(maker, 1);
    struct le_trace_kernel kernel_record = kernel_of(maker, call, 7 + (uint32_t)(k % 4));
    kernel(maker, &kernel_record);
}

static void launches_placed(struct maker *maker, uint64_t k) {
    uint32_t source = maker->made.source_count < 100 ? source_of(maker, k) : (uint32_t)(k % 100) + 1;
    uint32_t call = call_of(maker, "cuLaunchKernel");
    origin(maker, call, source);
    struct le_trace_kernel kernel_record = kernel_of(maker, call, 7);
    kernel(maker, &kernel_record);
}

static void launches_own(struct maker *maker, uint64_t k) {
    uint32_t source = source_of(maker, k), call = call_of(maker, "cuLaunchKernel");
    origin(maker, call, source);
    struct le_trace_kernel kernel_record = kernel_of(maker, call, 7);
    kernel_record.name = text_of(maker, "_ZN2at6native21some_kernel_%08" PRIu64 "ILi4EEEvi", k);
    kernel_record.grid[0] = (uint32_t)k + 1;
    kernel(maker, &kernel_record);
}

static void launches_plain(struct maker *maker, uint64_t k) {
    uint32_t call = call_of(maker, "cuLaunchKernel");
    struct le_trace_kernel kernel_record = kernel_of(maker, call, 7 + (uint32_t)(k % 4));
    kernel(maker, &kernel_record);
}

static void sources(struct maker *maker, uint64_t k) {
    source_of(maker, k);
    if (k == 0)
        launches_plain(maker, k);
}

static void calls(struct maker *maker, uint64_t k) {
    call_of(maker, k % 2 ? "cuMemAlloc_v2" : "cuMemFree_v2");
    if (k == 0)
        launches_plain(maker, k);
}

static void calls_late(struct maker *maker, uint64_t k) {
    uint64_t now_ns = maker->now_ns;
    maker->now_ns = 1000000 + (k * 7919 % maker->most) * 10000;
    calls(maker, k);
    maker->now_ns = now_ns;
}

static void waits(struct maker *maker, uint64_t k) {
    uint32_t call = call_of(maker, "cuStreamSynchronize");
    le_made_sync(&maker->made, call, LE_TRACE_SYNC_STREAM, 7, maker->now_ns + 500, 2000);
    count(maker, 1);
    if (k % 100 == 0)
        launches_plain(maker, k);
}

static void copies(struct maker *maker, uint64_t k) {
    copy(maker, 0, k);
}

static void copies_called(struct maker *maker, uint64_t k) {
    uint32_t call = call_of(maker, k % 3 == 0 ? "cuMemcpyAsync" : "cuMemcpyHtoD_v2");
    le_made_transfer(&maker->made, call, 0x100000 + 4096 * k, 0x20000, 400000, k + 1);
    count(maker, 1);
    copy(maker, call, k);
}

/* Copies between launches, so that each copy has its own period. */
static void copies_between(struct maker *maker, uint64_t k) {
    if (k % 2)
        copies_called(maker, k / 2);
    else
        launches_plain(maker, k);
}

static void graphs(struct maker *maker, uint64_t k) {
    uint32_t call = call_of(maker, "cuGraphLaunch");
    le_made_graph(&maker->made, call, 7, 1, maker->now_ns + 4000, 4000);
    count(maker, 1);
    (void)k;
}

static void graph_nodes(struct maker *maker, uint64_t k) {
    uint32_t call = call_of(maker, "cuGraphLaunch");
    for (uint64_t node = 0; node < 9; node++) {
        struct le_trace_kernel kernel_record = kernel_of(maker, call, 7);
        kernel_record.start_ns += 500 * node;
        kernel_record.end_ns = kernel_record.start_ns + 400;
        kernel_record.graph = 1;
        kernel_record.graph_node = node + 1;
        kernel(maker, &kernel_record);
    }
    (void)k;
}

static void sets(struct maker *maker, uint64_t k) {
    uint32_t call = call_of(maker, "cuMemsetD8Async");
    le_made_set(&maker->made, call, 7, 1000 + k % 7, maker->now_ns + 4000, 1000);
    count(maker, 1);
}

static void memory(struct maker *maker, uint64_t k) {
    le_made_memory(&maker->made, 0, k % 2 ? LE_TRACE_RELEASE : LE_TRACE_ALLOCATE, 4096 * (k / 2 + 1), 4096,
                   maker->now_ns);
    count(maker, 1);
    if (k == 0)
        launches_plain(maker, k);
}

static void ranges(struct maker *maker, uint64_t k) {
    struct le_trace_range range = {.start_ns = maker->now_ns, .end_ns = maker->now_ns + 9000, .thread = THREAD};
    range.name = text_of(maker, "turn %" PRIu64, k);
    LE_MADE_RECORD(&maker->made, LE_TRACE_RANGE, range);
    count(maker, 1);
    if (k == 0)
        launches_plain(maker, k);
}

static void overheads(struct maker *maker, uint64_t k) {
    le_made_overhead(&maker->made, THREAD, k % 2 ? LE_TRACE_OVERHEAD_FLUSH : LE_TRACE_OVERHEAD_LAZY_LOADING,
                     maker->now_ns, 1000);
    count(maker, 1);
    if (k == 0)
        launches_plain(maker, k);
}

static void jits(struct maker *maker, uint64_t k) {
    le_made_jit(&maker->made, THREAD, 1, 3, 5000, maker->now_ns, 1000);
    count(maker, 1);
    if (k == 0)
        launches_plain(maker, k);
}

static void pauses(struct maker *maker, uint64_t k) {
    le_made_switch(&maker->made, maker->now_ns, k % 2 == 0);
    count(maker, 1);
    if (k == 0)
        launches_plain(maker, k);
}

/* Alternately on two devices, with waits for both. */
static void devices(struct maker *maker, uint64_t k) {
    struct le_made_trace *made = &maker->made;
    made->device = 0;
    if (k == 0)
        le_made_device(made, 1, "NVIDIA H200", 132);
    made->device = (uint32_t)(k % 2);
    struct le_trace_kernel kernel_record = kernel_of(maker, call_of(maker, "cuLaunchKernel"), 7);
    kernel(maker, &kernel_record);
    maker->now_ns += 5000;
    uint32_t wait = call_of(maker, "cuCtxSynchronize");
    le_made_sync(made, wait, LE_TRACE_SYNC_CONTEXT, LE_TRACE_NO_STREAM, maker->now_ns, 3000);
    count(maker, 1);
}

/* Several processes, one after the other. */
static void processes(struct maker *maker, uint64_t k) {
    if (k * 10 % (maker->most - maker->most % 10) == 0 && k > 0) {
        le_made_end(&maker->made, maker->now_ns, 0);
        le_made_part(&maker->made, (uint32_t)k);
        le_made_process(&maker->made, "python3 steps.py", "Python 3.12.1");
        le_made_device(&maker->made, 0, "NVIDIA H200", 132);
        maker->now_ns = 1000000 + k;
    }
    launches_plain(maker, k);
}

static const struct {
    const char *name;
    void (*add)(struct maker *maker, uint64_t k);
    bool is_heavy;    /* one of the mixes that take most memory */
    int beside_bytes; /* bytes per record that do not grow with the trace: rule_pattern.c looks at the first 2^20 calls
                         only */
} mixes[] = {
    {"kernels", kernels, false, 0},
    {"kernels_late", kernels_late, true, 0},
    {"shapes", shapes, true, 28},
    {"streams", streams, true, 0},
    {"names", names, true, 0},
    {"strings", strings, false, 0},
    {"launches", launches, false, 0},
    {"launches_plain", launches_plain, false, 0},
    {"launches_placed", launches_placed, false, 0},
    {"launches_own", launches_own, true, 0},
    {"sources", sources, false, 0},
    {"calls", calls, false, 0},
    {"calls_late", calls_late, true, 0},
    {"waits", waits, false, 0},
    {"copies", copies, false, 0},
    {"copies_called", copies_called, true, 0},
    {"copies_between", copies_between, true, 0},
    {"graphs", graphs, false, 0},
    {"graph_nodes", graph_nodes, false, 0},
    {"sets", sets, false, 0},
    {"memory", memory, false, 0},
    {"ranges", ranges, false, 0},
    {"overheads", overheads, false, 0},
    {"jits", jits, false, 0},
    {"pauses", pauses, false, 0},
    {"devices", devices, true, 0},
    {"processes", processes, false, 0},
};

static void make(size_t mix, uint64_t most, int fd) {
    struct maker maker = {.fd = fd, .now_ns = 1000000, .most = most};
    le_made_part(&maker.made, 4000);
    le_made_process(&maker.made, "python3 steps.py", "Python 3.12.1");
    le_made_device(&maker.made, 0, "NVIDIA H200", 132);
    le_made_thread(&maker.made, THREAD, "python3");
    le_made_switch(&maker.made, 1000, true);
    for (uint64_t k = 0; maker.records < most; k++) {
        mixes[mix].add(&maker, k);
        maker.now_ns += 10000;
    }
    le_made_end(&maker.made, maker.now_ns + 1000000, 1000);
    le_made_flush(&maker.made);
    save(&maker);
    le_made_finish(&maker.made);
}

/* ---- measuring memory */

static bool take_nothing(void *user, const void *bytes, size_t size_bytes) {
    *(uint64_t *)user += size_bytes;
    return bytes != NULL;
}

/* Each report in the format that makes most texts. The overview includes the findings. */
static void report(const struct le_trace_index *index) {
    static const struct {
        leat_report report;
        leat_report_format format;
    } forms[] = {{LEAT_REPORT_OVERVIEW, LEAT_REPORT_TEXT},
                 {LEAT_REPORT_SUMMARY, LEAT_REPORT_TEXT},
                 {LEAT_REPORT_OPERATIONS, LEAT_REPORT_JSON},
                 {LEAT_REPORT_PERFETTO, LEAT_REPORT_JSON},
                 {LEAT_REPORT_SVG, LEAT_REPORT_TEXT}};
    uint64_t written = 0;
    for (size_t k = 0; k < ARRAY_LEN(forms); k++)
        le_made_require(le_report_make(index, forms[k].report, forms[k].format, take_nothing, &written) == LEAT_OK);
    le_made_require(written > 0);
}

/* The peak of the caller's resident memory so far. */
static uint64_t resident_bytes(void) {
    struct rusage used;
    le_made_require(getrusage(RUSAGE_SELF, &used) == 0);
    return 1024 * (uint64_t)used.ru_maxrss;
}

/* Runs in a separate process. Large allocations come from the system, as for a large trace. Transparent huge pages are
 * disabled: they would round up each allocation, by more here than for a large trace. */
static _Noreturn void measure(const char *path, uint64_t records, uint64_t most_bytes) {
    struct le_trace_index *index;
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    mallopt(M_MMAP_THRESHOLD, 1 << 16);
    mallopt(M_TRIM_THRESHOLD, 1 << 16);
    uint64_t before = resident_bytes();
    le_made_require(le_trace_read(path, &index) == LEAT_OK);
    uint64_t read = resident_bytes() - before;
    report(index);
    le_trace_free(index);
    uint64_t all = resident_bytes() - before;
    printf("%6.1f %6.1f\n", (double)read / (double)records, (double)all / (double)records);
    fflush(stdout);
    _exit(all > records * most_bytes + SPARE_BYTES);
}

static bool fits(size_t mix) {
    char path[64];
    int fd = le_made_open(NULL, 0, path), ended;
    printf("%-16s ", mixes[mix].name);
    fflush(stdout);
    pid_t maker = fork();
    if (maker == 0) {
        make(mix, WHOLE / PART, fd);
        _exit(0);
    }
    le_made_require(maker > 0 && waitpid(maker, &ended, 0) == maker && ended == 0);
    pid_t child = fork();
    if (child == 0)
        measure(path, WHOLE / PART, (uint64_t)(MOST_BYTES + mixes[mix].beside_bytes));
    le_made_require(child > 0 && waitpid(child, &ended, 0) == child);
    close(fd);
    return ended == 0;
}

static size_t mix_named(const char *name) {
    for (size_t k = 0; k < ARRAY_LEN(mixes); k++)
        if (strcmp(mixes[k].name, name) == 0)
            return k;
    fprintf(stderr, "no mix %s\n", name);
    exit(2);
}

int main(int count, char **arguments) {
    bool all_fit = true;
    if (count == 5 && strcmp(arguments[1], "make") == 0) {
        int fd = open(arguments[4], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        le_made_require(fd >= 0);
        make(mix_named(arguments[2]), strtoull(arguments[3], NULL, 10), fd);
        return 0;
    }
    if (count == 2 && strcmp(arguments[1], "list") == 0) {
        for (size_t k = 0; k < ARRAY_LEN(mixes); k++)
            puts(mixes[k].name);
        return 0;
    }
    bool all = count == 2 && strcmp(arguments[1], "all") == 0;
    puts("bytes a record:   read    all");
    for (size_t k = 0; k < ARRAY_LEN(mixes); k++)
        if (all || mixes[k].is_heavy)
            all_fit &= fits(k);
    return all_fit ? 0 : 1;
}
