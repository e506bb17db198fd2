/* Tests the recorder and `leat trace` without a GPU: leat_trace_record records a program that uses the stand-ins, and
 * the trace is read. TRACE_FOLDER, set at compile time, has the stand-ins and the program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "leat.h"
#include "trace/index.h"
#include "trace/read.h"
#include "trace/recorder/activity_buffers.h"
#include "trace/recorder/part_writer.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PROGRAM TRACE_FOLDER "/standin_program"
enum { WORDS = 16 };

struct recording {
    char file[64];
    leat_trace_outcome outcome;
    struct le_trace_index *index; /* NULL: there is no file */
};

/* Runs the program with these words, separated by spaces, as arguments. */
static void record(struct recording *recording, const char *words, leat_trace_options options) {
    char text[512], *rest = text;
    const char *command[WORDS + 2] = {PROGRAM};
    snprintf(text, sizeof text, "%s", words);
    for (size_t k = 1; k <= WORDS && (command[k] = strsep(&rest, " ")) != NULL; k++)
        continue;
    *recording = (struct recording){0};
    snprintf(recording->file, sizeof recording->file, "/tmp/leat-recorder-%d.trace", (int)getpid());
    unlink(recording->file);
    options.file = recording->file;
    assert_int_equal(leat_trace_record(command, &options, &recording->outcome), LEAT_OK);
    struct stat facts;
    if (stat(recording->file, &facts) != 0)
        return;
    assert_int_equal(facts.st_size, recording->outcome.bytes);
    assert_int_equal(le_trace_read(recording->file, &recording->index), LEAT_OK);
}

static void finish(struct recording *recording) {
    le_trace_free(recording->index);
    unlink(recording->file);
}

static int count_operations(const struct le_trace_index *index, enum le_operation_kind kind) {
    int count = 0;
    for (int k = 0; k < index->operations.count; k++)
        count += index->operations.at[k].kind == kind;
    return count;
}

static int count_calls(const struct le_trace_index *index, const char *function) {
    int count = 0;
    for (int k = 0; k < index->calls.count; k++)
        count += strcmp(index->texts.at[index->calls.at[k].function], function) == 0;
    return count;
}

static const leat_trace_options plain = {.no_source = true};

/* ---- what is recorded */

static void test_all_kinds(void **state) {
    struct recording recording;
    (void)state;
    record(&recording, "init everything sync:13 launch:3 driver:2 exit:5", plain);
    const struct le_trace_index *index = recording.index;
    assert_int_equal(recording.outcome.exit_status, 5);
    assert_int_equal(recording.outcome.processes, 1);
    assert_string_equal(recording.outcome.note, "");
    assert_non_null(index);
    assert_int_equal(index->processes.count, 1);
    assert_true(index->processes.at[0].ended);
    assert_int_equal(index->processes.at[0].cupti_version, 130001);
    assert_int_equal(index->processes.at[0].driver_version, 13000);
    assert_non_null(strstr(index->texts.at[index->processes.at[0].command], "standin_program init everything"));
    assert_int_equal(index->devices.count, 1);
    assert_int_equal(index->devices.at[0].multiprocessors, 132);
    assert_int_equal(index->devices.at[0].multiprocessor_threads, 2048);
    assert_int_equal(index->devices.at[0].bandwidth, 4800000000000);
    assert_int_equal(count_operations(index, LE_OPERATION_KERNEL), 5);
    assert_int_equal(count_operations(index, LE_OPERATION_COPY), 1);
    assert_int_equal(count_operations(index, LE_OPERATION_SET), 1);
    assert_int_equal(count_operations(index, LE_OPERATION_GRAPH), 1);
    assert_int_equal(count_calls(index, "cudaLaunchKernel"), 3);
    assert_int_equal(count_calls(index, "cuLaunchKernel"), 2);
    assert_int_equal(index->waits.count, 2);
    for (int k = 0; k < 2; k++) {
        const struct le_wait *wait = &index->waits.at[k];
        const struct le_call *call = &index->calls.at[wait->call];
        const char *function = k == 0 ? "cuStreamSynchronize" : "cuStreamWaitEvent";
        assert_int_equal(wait->kind, k == 0 ? LE_TRACE_SYNC_STREAM : LE_TRACE_SYNC_STREAM_EVENT);
        assert_int_equal(index->streams.at[wait->stream].id, 13);
        assert_string_equal(index->texts.at[call->function], function);
        assert_in_range(wait->start_ns, call->start_ns, wait->end_ns);
    }
    assert_int_equal(index->memory.count, 1);
    assert_int_equal(index->overheads.count, 1);
    assert_int_equal(index->overheads.at[0].kind, LE_TRACE_OVERHEAD_QUEUE_FULL);
    assert_int_equal(index->jits.count, 1);
    assert_int_equal(index->ranges.count, 1);
    assert_int_equal(index->ranges.at[0].end_ns - index->ranges.at[0].start_ns, 500);
    assert_int_equal(index->lost, 0);
    finish(&recording);
}

/* Functions that only tell the program about itself are not recorded, neither from the start nor after a pause. */
static void test_selection(void **state) {
    struct recording recording;
    (void)state;
    record(&recording, "init ask:3 launch:2 stop start ask:3 launch:2", plain);
    assert_non_null(recording.index);
    assert_int_equal(count_calls(recording.index, "cudaGetDevice"), 0);
    assert_int_equal(count_calls(recording.index, "cudaLaunchKernel"), 4);
    finish(&recording);
    leat_trace_options paused = plain;
    paused.paused = true;
    record(&recording, "init ask:1 start ask:3 launch:2 stop start ask:3 launch:1", paused);
    assert_non_null(recording.index);
    assert_int_equal(count_calls(recording.index, "cudaGetDevice"), 0);
    assert_int_equal(count_calls(recording.index, "cudaLaunchKernel"), 3);
    finish(&recording);
}

/* If CUPTI cannot select functions, all functions are recorded. */
static void test_selection_refused(void **state) {
    struct recording recording;
    (void)state;
    setenv("STANDIN_PICKS", "0", 1);
    record(&recording, "init ask:3 launch:2 driver:1", plain);
    unsetenv("STANDIN_PICKS");
    assert_non_null(recording.index);
    assert_int_equal(count_calls(recording.index, "cudaLaunchKernel"), 2);
    assert_int_equal(count_calls(recording.index, "cuLaunchKernel"), 1);
    finish(&recording);
}

/* With a sanitizer, the stand-in's launches take longer than recording on a GPU. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#elif defined(__has_feature)
enum { SANITIZED = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) };
#else
enum { SANITIZED = 0 };
#endif

/* Records until the outcome has this note, or an empty one, since other processes may take the time that is measured.
 */
static bool is_noted(const char *words, leat_trace_options options, const char *note) {
    enum { TRIALS = 20 };
    bool found = false;
    for (int k = 0; k < TRIALS && !found; k++) {
        struct recording recording;
        record(&recording, words, options);
        found = *note ? strstr(recording.outcome.note, note) != NULL : !*recording.outcome.note;
        finish(&recording);
    }
    return found;
}

/* If recording captured launches takes longer than capturing them, a note says so and how to avoid it. */
static void test_captures(void **state) {
    struct recording recording;
    (void)state;
    record(&recording, "init launch:5 capture:2000 graph:3", (leat_trace_options){0});
    assert_int_equal(count_calls(recording.index, "cudaLaunchKernel"), 2005);
    assert_int_equal(count_operations(recording.index, LE_OPERATION_KERNEL), 5 + 3);
    finish(&recording);
    assert_true(SANITIZED || is_noted("init launch:5 capture:2000 graph:3", (leat_trace_options){0},
                                      "recording took longer than the work: the program captured 2000 launches into "
                                      "graphs; `leat trace --graphs only`"));
    record(&recording, "init launch:2000 capture:900", (leat_trace_options){0}); /* too few to matter */
    assert_string_equal(recording.outcome.note, "");
    finish(&recording);
    assert_true(is_noted("init capture:2000", plain, "")); /* without origins, launches cost little */
}

static void test_graphs_only(void **state) {
    struct recording recording;
    (void)state;
    for (int paused = 0; paused < 2; paused++) {
        record(&recording, "init start launch:5 driver:5 capture:2000 graph:3 up:1",
               (leat_trace_options){.graphs_only = true, .paused = paused});
        const struct le_trace_index *index = recording.index;
        assert_int_equal(count_calls(index, "cudaLaunchKernel"), 0);
        assert_int_equal(count_calls(index, "cuLaunchKernel"), 0);
        assert_int_equal(count_calls(index, "cuGraphLaunch"), 3);
        assert_int_equal(count_operations(index, LE_OPERATION_KERNEL), 10 + 3);
        assert_int_equal(count_operations(index, LE_OPERATION_COPY), 1);
        for (int k = 0; k < index->calls.count; k++)
            if (strcmp(index->texts.at[index->calls.at[k].function], "cuGraphLaunch") == 0)
                assert_int_not_equal(index->calls.at[k].source, LE_NONE);
        assert_string_equal(recording.outcome.note, "");
        assert_int_equal(index->notes.count, 1);
        assert_string_equal(index->notes.at[0],
                            "launches of single kernels were not recorded (leat trace --graphs only)");
        finish(&recording);
    }
}

static void test_kernel(void **state) {
    struct recording recording;
    (void)state;
    record(&recording, "init driver:1", plain);
    assert_non_null(recording.index);
    assert_int_equal(recording.index->operations.count, 1);
    const struct le_operation *kernel = &recording.index->operations.at[0];
    const struct le_shape *shape = &recording.index->shapes.at[kernel->shape];
    static const uint32_t grid[3] = {11, 12, 13}, block[3] = {21, 22, 23};
    assert_string_equal(recording.index->texts.at[kernel->name], "saxpy");
    assert_int_equal(kernel->end_ns - kernel->start_ns, 1000);
    assert_memory_equal(shape->grid, grid, sizeof grid);
    assert_memory_equal(shape->block, block, sizeof block);
    assert_int_equal(shape->registers, 32);
    assert_int_equal(shape->static_shared_bytes, 31);
    assert_int_equal(shape->dynamic_shared_bytes, 33);
    assert_int_equal(shape->local_bytes, 34);
    finish(&recording);
}

/* To the device, back, and to the device again: equal bytes have equal samples. Small copies have no sample. */
static void test_transfers(void **state) {
    struct recording recording;
    (void)state;
    record(&recording, "init up:1 down:1 up:1 few:1", plain);
    const struct le_trace_index *index = recording.index;
    assert_non_null(index);
    assert_int_equal(index->transfers.count, 4);
    assert_int_equal(index->transfers.at[3].sample, 0);
    assert_int_equal(index->transfers.at[3].bytes, 4000);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(index->transfers.at[k].bytes, 5000);
        assert_int_equal(index->transfers.at[k].device, 0x7000);
        assert_int_not_equal(index->transfers.at[k].sample, 0);
        assert_int_equal(index->transfers.at[k].sample, index->transfers.at[0].sample);
        assert_int_equal(index->transfers.at[k].host, index->transfers.at[0].host);
    }
    assert_int_equal(count_operations(index, LE_OPERATION_COPY), 4);
    finish(&recording);
}

static void test_sources(void **state) {
    struct recording recording;
    leat_trace_options with_source = {0};
    (void)state;
    record(&recording, "init launch:10 driver:10", with_source);
    const struct le_trace_index *index = recording.index;
    assert_non_null(index);
    int known = 0;
    for (int k = 0; k < index->calls.count; k++)
        known += index->calls.at[k].source != LE_NONE;
    assert_int_equal(known, 20); /* driver calls inside a runtime call have none */
    finish(&recording);
}

static void test_old_version(void **state) {
    struct recording recording;
    (void)state;
    setenv("STANDIN_VERSION", "12", 1);
    record(&recording, "init everything driver:2", plain);
    unsetenv("STANDIN_VERSION");
    assert_non_null(recording.index);
    assert_int_equal(recording.index->processes.at[0].cupti_version, 12);
    assert_int_equal(count_operations(recording.index, LE_OPERATION_KERNEL), 2);
    assert_int_equal(count_operations(recording.index, LE_OPERATION_SET), 1);
    assert_int_equal(count_operations(recording.index, LE_OPERATION_GRAPH), 0);
    assert_string_equal(recording.outcome.note, "");
    finish(&recording);
}

static void test_many_buffers(void **state) {
    struct recording recording;
    (void)state;
    record(&recording, "init threads:4:3000", plain);
    assert_non_null(recording.index);
    assert_int_equal(count_operations(recording.index, LE_OPERATION_KERNEL), 12000);
    assert_int_equal(count_calls(recording.index, "cudaLaunchKernel"), 12000);
    assert_int_equal(recording.index->threads.count, 4);
    assert_int_equal(recording.index->lost, 0);
    finish(&recording);
}

static void test_sources_of_threads(void **state) {
    struct recording recording;
    leat_trace_options with_source = {0};
    (void)state;
    record(&recording, "init threads:4:300", with_source);
    assert_non_null(recording.index);
    int known = 0;
    for (int k = 0; k < recording.index->calls.count; k++)
        known += recording.index->calls.at[k].source != LE_NONE;
    assert_int_equal(known, 1200);
    finish(&recording);
}

/* ---- processes */

static char sanitizer_options[256];

/* The leak check may hang in a child of fork that has lost threads, or without /proc. */
static int pass_over_leaks(void **state) {
    const char *before = getenv("ASAN_OPTIONS");
    (void)state;
    snprintf(sanitizer_options, sizeof sanitizer_options, "%s", before ? before : "");
    return setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
}

static int look_for_leaks(void **state) {
    (void)state;
    return setenv("ASAN_OPTIONS", sanitizer_options, 1);
}

static void test_fork(void **state) {
    struct recording recording;
    (void)state;
    record(&recording, "init launch:5 fork:launch:7 launch:5", plain); /* CUDA does not work in the child */
    assert_int_equal(recording.outcome.exit_status, 0);
    assert_int_equal(recording.outcome.processes, 1);
    assert_int_equal(count_operations(recording.index, LE_OPERATION_KERNEL), 10);
    finish(&recording);
    record(&recording, "fork:init init launch:5", plain); /* the child is recorded as another process */
    assert_int_equal(recording.outcome.exit_status, 0);
    assert_int_equal(recording.outcome.processes, 2);
    assert_int_equal(recording.index->processes.count, 2);
    assert_int_equal(recording.index->processes.at[0].parent, recording.index->processes.at[1].id);
    finish(&recording);
}

/* How many launches fit into a buffer: 216 bytes for a kernel and 2 x 40 bytes for calls. 2,000 launches fill four
 * buffers, which have more than 1,600. */
enum { MOST_LOST = LE_ACTIVITY_BUFFER_BYTES / 296 + 1 };

static void test_exec(void **state) {
    struct recording recording;
    (void)state;
    record(&recording, "init launch:2000 kept:1600 exec init launch:6", plain);
    assert_int_equal(recording.outcome.exit_status, 0);
    assert_int_equal(recording.outcome.processes, 2);
    assert_int_equal(recording.index->processes.count, 2);
    assert_false(recording.index->processes.at[0].ended);
    assert_true(recording.index->processes.at[1].ended);
    assert_int_equal(recording.index->processes.at[0].id, recording.index->processes.at[1].id);
    int kept = count_operations(recording.index, LE_OPERATION_KERNEL);
    assert_in_range(kept, 2000 + 6 - MOST_LOST, 2000 + 6 - 1);
    finish(&recording);
}

static void test_killed(void **state) {
    struct recording recording;
    (void)state;
    record(&recording, "init launch:2000 kept:1600 kill9", plain);
    assert_int_equal(recording.outcome.exit_status, 128 + SIGKILL);
    assert_int_equal(recording.outcome.processes, 1);
    assert_false(recording.index->processes.at[0].ended);
    int kept = count_operations(recording.index, LE_OPERATION_KERNEL);
    assert_in_range(kept, 2000 - MOST_LOST, 2000 - 1);
    finish(&recording);
    record(&recording, "init launch:2000 kept:1600 abort", plain);
    assert_int_equal(recording.outcome.exit_status, 128 + SIGABRT);
    assert_in_range(count_operations(recording.index, LE_OPERATION_KERNEL), 2000 - MOST_LOST, 2000 - 1);
    finish(&recording);
}

/* Everything between cuProfilerStart and cuProfilerStop is kept if the process is killed later, except if there are
 * graphs. */
static void test_killed_in_a_pause(void **state) {
    struct recording recording;
    leat_trace_options paused = {.paused = true};
    (void)state;
    record(&recording, "init start launch:5 stop launch:5 kept:5 kill9", paused);
    assert_int_equal(recording.outcome.exit_status, 128 + SIGKILL);
    assert_int_equal(count_operations(recording.index, LE_OPERATION_KERNEL), 5);
    finish(&recording);
    record(&recording, "init start graph:5 stop kept:0 kill9", paused);
    assert_int_equal(recording.outcome.exit_status, 128 + SIGKILL);
    assert_int_equal(recording.outcome.processes, 1);
    finish(&recording);
}

/* If a program creates graphs, CUPTI is not flushed while it runs. */
static void test_long_program_with_graphs(void **state) {
    struct recording recording;
    (void)state;
    record(&recording, "init launch:5 graph:3 sleep:1200 graph:3", plain);
    assert_int_equal(recording.outcome.exit_status, 0);
    assert_int_equal(count_operations(recording.index, LE_OPERATION_KERNEL), 5 + 6);
    assert_int_equal(count_calls(recording.index, "cuGraphLaunch"), 6);
    assert_true(recording.index->processes.at[0].ended);
    finish(&recording);
}

static void test_errno(void **state) {
    struct recording recording;
    leat_trace_options with_source = {0};
    (void)state;
    record(&recording, "init errno", with_source);
    assert_int_equal(recording.outcome.exit_status, 0);
    assert_int_equal(recording.index->transfers.count, 2);
    assert_int_equal(recording.index->transfers.at[1].host, 16);
    assert_int_equal(recording.index->transfers.at[1].sample, 0);
    finish(&recording);
}

/* ---- obstacles */

static void test_limit(void **state) {
    struct recording recording;
    leat_trace_options limited = {.no_source = true, .limit_bytes = 300000};
    (void)state;
    record(&recording, "init launch:10000", limited);
    assert_int_equal(recording.outcome.exit_status, 0);
    assert_in_range(recording.outcome.bytes, 299000, 300000 + 1000);
    assert_true(recording.index->processes.at[0].ended);
    /* a kernel and its two calls */
    int kept = count_operations(recording.index, LE_OPERATION_KERNEL);
    assert_in_range(kept, 1, 9999);
    assert_in_range(recording.index->lost, 3 * (10000 - kept) - 3, 3 * (10000 - kept) + 3);
    finish(&recording);
}

/* With the smallest limit, a part still describes its process and says how much was lost. */
static void test_least_limit(void **state) {
    struct recording recording;
    leat_trace_options limited = {.no_source = true, .limit_bytes = 1};
    (void)state;
    record(&recording, "init launch:100", limited);
    assert_int_equal(recording.outcome.processes, 1);
    assert_non_null(recording.index);
    assert_int_equal(recording.index->processes.count, 1);
    assert_non_null(strstr(recording.index->texts.at[recording.index->processes.at[0].command], "launch:100"));
    assert_true(recording.index->processes.at[0].ended);
    assert_int_equal(recording.index->operations.count, 0);
    assert_true(recording.index->lost >= 300);
    finish(&recording);
}

/* The program's own files are not written to, and no record is lost. */
static void test_closed_descriptors(void **state) {
    struct recording recording;
    (void)state;
    record(&recording, "init launch:2000 close launch:2000 kept:3500 launch:5", plain);
    assert_int_equal(recording.outcome.exit_status, 0);
    assert_int_equal(count_operations(recording.index, LE_OPERATION_KERNEL), 4005);
    finish(&recording);
}

/* A server that starts as root, drops its privileges, and can no longer open its part. */
static void test_rights_given_up(void **state) {
    static const char *const cases[] = {"init launch:5 user:65534 launch:2000 sleep:300 launch:5",
                                        "init launch:5 root:/usr launch:2000 sleep:300 launch:5",
                                        "init launch:5 root:/usr user:65534 launch:2000 sleep:300 launch:5"};
    (void)state;
    if (geteuid() != 0)
        skip();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct recording recording;
        record(&recording, cases[k], plain);
        assert_int_equal(recording.outcome.exit_status, 0);
        assert_int_equal(count_operations(recording.index, LE_OPERATION_KERNEL), 2010);
        assert_true(recording.index->processes.at[0].ended);
        finish(&recording);
    }
}

/* Records and returns what was written to stderr meanwhile; the caller frees it. */
static char *record_and_listen(struct recording *recording, const char *words) {
    FILE *said = tmpfile();
    int before = dup(STDERR_FILENO);
    assert_non_null(said);
    assert_int_equal(dup2(fileno(said), STDERR_FILENO), STDERR_FILENO);
    record(recording, words, plain);
    dup2(before, STDERR_FILENO);
    close(before);
    char *text = calloc(1, 4096);
    assert_non_null(text);
    rewind(said);
    (void)!fread(text, 1, 4095, said);
    fclose(said);
    return text;
}

/* A process that cannot create its part says so on stderr, because `leat trace` does not know of it. */
static void test_no_part(void **state) {
    struct recording recording;
    (void)state;
    char *said = record_and_listen(&recording, "parts:/dev/null init launch:5 exit:4");
    assert_int_equal(recording.outcome.exit_status, 4);
    assert_int_equal(strncmp(said, "leat trace: process ", 20), 0);
    assert_non_null(strstr(said, " is not recorded: cannot write /dev/null: Not a directory\n"));
    free(said);
    assert_null(recording.index);
    assert_int_equal(recording.outcome.bytes, 0);
    assert_non_null(strstr(recording.outcome.note, "no process of the command was seen to use CUDA"));
    finish(&recording);
}

/* A process that could create its part but not write to it is reported, too. */
static void test_empty_part(void **state) {
    struct recording recording;
    (void)state;
    char *said = record_and_listen(&recording, "fsize:100 init launch:5");
    assert_string_equal(said, "");
    free(said);
    assert_int_equal(recording.outcome.processes, 0);
    assert_int_equal(recording.index->operations.count, 0);
    assert_non_null(strstr(recording.outcome.note, "nothing was recorded: "));
    finish(&recording);
}

static void test_disk_full(void **state) {
    struct recording recording;
    (void)state;
    record(&recording, "init fsize:400000 launch:10000 say:on", plain);
    assert_int_equal(recording.outcome.exit_status, 0);
    /* the whole block that did not fit is lost */
    assert_in_range(recording.outcome.bytes, 400000 - LE_PART_BLOCK_BYTES, 400000);
    assert_int_equal(recording.index->processes.count, 1);
    assert_true(recording.index->lost > 0);
    assert_true(recording.index->processes.at[0].ended);
    finish(&recording);
}

static void test_dropped(void **state) {
    struct recording recording;
    (void)state;
    setenv("STANDIN_DROPPED", "7", 1);
    record(&recording, "init launch:1", plain);
    unsetenv("STANDIN_DROPPED");
    assert_int_equal(recording.index->lost, 7);
    finish(&recording);
}

static void test_another_profiler(void **state) {
    struct recording recording;
    (void)state;
    setenv("STANDIN_SUBSCRIBE", "39", 1);
    record(&recording, "init launch:10 exit:4", plain);
    unsetenv("STANDIN_SUBSCRIBE");
    assert_int_equal(recording.outcome.exit_status, 4);
    assert_int_equal(recording.outcome.processes, 0);
    assert_string_equal(recording.outcome.note, "nothing was recorded: another profiler is attached (CUPTI error 39)");
    assert_int_equal(recording.index->operations.count, 0);
    finish(&recording);
}

/* With CUPTI before 13.2, recording copies breaks XLA's graphs: they are not recorded, and a note says so. */
static void test_copies_beside_xla(void **state) {
    static const struct {
        const char *words, *version;
        int copies;
    } cases[] = {
        {"load:" TRACE_FOLDER "/xla_cuda_plugin.so init everything", "130001", 0},
        {"load:" TRACE_FOLDER "/xla_cuda_plugin.so init everything", "130200", 1},
        {"init everything", "130001", 1},
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
        struct recording recording;
        setenv("STANDIN_VERSION", cases[k].version, 1);
        record(&recording, cases[k].words, plain);
        unsetenv("STANDIN_VERSION");
        assert_int_equal(recording.outcome.exit_status, 0);
        assert_int_equal(count_operations(recording.index, LE_OPERATION_COPY), cases[k].copies);
        assert_int_equal(count_operations(recording.index, LE_OPERATION_SET), cases[k].copies);
        assert_int_equal(count_operations(recording.index, LE_OPERATION_GRAPH), 1);
        assert_int_equal(!strstr(recording.outcome.note, "copies and sets are not recorded"), cases[k].copies);
        finish(&recording);
    }
}

/* If the machine has a CUPTI, that may be found. */
static void test_no_cupti(void **state) {
    struct recording recording;
    (void)state;
    setenv("LEAT_CUDA_PATH", "/nonexistent", 1);
    record(&recording, "init launch:10 exit:4", plain);
    setenv("LEAT_CUDA_PATH", TRACE_FOLDER, 1);
    assert_int_equal(recording.outcome.exit_status, 4);
    if (!recording.outcome.processes) {
        assert_int_equal(recording.index->operations.count, 0);
        assert_int_equal(strncmp(recording.outcome.note, "nothing was recorded: CUPTI ", 28), 0);
    }
    finish(&recording);
}

static void test_paused(void **state) {
    struct recording recording;
    leat_trace_options paused = {.paused = true};
    (void)state;
    record(&recording, "init driver:3 start driver:4 up:1 stop driver:5 up:1", paused);
    assert_int_equal(count_operations(recording.index, LE_OPERATION_KERNEL), 4);
    assert_int_equal(recording.index->transfers.count, 1);
    finish(&recording);
}

/* A graph that was created in a pause is launched outside it, and the other way round. */
static void test_paused_with_graphs(void **state) {
    struct recording recording;
    leat_trace_options paused = {.paused = true};
    (void)state;
    record(&recording, "init driver:3 graph:2 start graph:3 driver:4 stop graph:5 driver:5 start graph:1 stop", paused);
    assert_int_equal(recording.outcome.exit_status, 0);
    assert_int_equal(count_operations(recording.index, LE_OPERATION_KERNEL), 3 + 4 + 1);
    assert_int_equal(count_calls(recording.index, "cuGraphLaunch"), 3 + 1);
    finish(&recording);
}

/* Devices are recorded when they are created, in a pause or not. */
static void test_paused_device(void **state) {
    struct recording recording;
    leat_trace_options paused = {.paused = true};
    (void)state;
    record(&recording, "init everything start driver:4 stop everything", paused);
    assert_int_equal(recording.index->devices.count, 1);
    assert_int_equal(recording.index->devices.at[0].multiprocessors, 132);
    assert_int_equal(count_operations(recording.index, LE_OPERATION_COPY), 0);
    finish(&recording);
}

static void expect_uuid(const char *version, const char *mig, const char *uuid) {
    struct recording recording;
    setenv("STANDIN_VERSION", version, true);
    setenv("STANDIN_MIG", mig, true);
    record(&recording, "init everything", plain);
    unsetenv("STANDIN_VERSION");
    unsetenv("STANDIN_MIG");
    assert_int_equal(recording.index->devices.count, 1);
    assert_memory_equal(recording.index->devices.at[0].uuid, uuid, LE_TRACE_UUID_BYTES);
    finish(&recording);
}

static void test_device_uuid(void **state) {
    (void)state;
    expect_uuid("130001", "0", "of the whole GPU");
    expect_uuid("130001", "1", "of a part of it.");
    expect_uuid("16", "1", "of the whole GPU"); /* this version does not report MIG instances yet */
}

/* ---- the command */

static void test_no_cuda(void **state) {
    struct recording recording;
    (void)state;
    record(&recording, "exit:3", plain);
    assert_int_equal(recording.outcome.exit_status, 3);
    assert_int_equal(recording.outcome.processes, 0);
    assert_null(recording.index);
    assert_non_null(strstr(recording.outcome.note, "no process of the command was seen to use CUDA"));
}

static void test_no_recorder(void **state) {
    struct recording recording;
    leat_trace_options elsewhere = {.recorder = "/nonexistent/libleat_trace.so"};
    (void)state;
    record(&recording, "init launch:1 exit:6", elsewhere);
    assert_int_equal(recording.outcome.exit_status, 6);
    assert_null(recording.index);
    assert_non_null(strstr(recording.outcome.note, "libleat_trace.so was not found"));
}

static void test_cannot_start(void **state) {
    const char *command[] = {"/nonexistent/program", NULL};
    leat_trace_options options = {.file = "/tmp/leat-recorder-none.trace"};
    leat_error error;
    (void)state;
    assert_int_equal(leat_trace_record(command, &options, NULL), LEAT_FILE);
    leat_error_get(NULL, &error);
    assert_string_equal(error.message, "/nonexistent/program: cannot be started: No such file or directory");
    const char *real[] = {PROGRAM, NULL};
    options.file = "/nonexistent/x.trace";
    assert_int_equal(leat_trace_record(real, &options, NULL), LEAT_FILE);
    assert_int_equal(leat_trace_record(NULL, NULL, NULL), LEAT_INVALID);
}

static char ready[64]; /* a file */

static void *send_signal(void *thread) {
    const struct timespec while_ns = {.tv_nsec = 20000000};
    for (int k = 0; k < 6000 && access(ready, F_OK) != 0; k++)
        nanosleep(&while_ns, NULL);
    pthread_kill(*(pthread_t *)thread, SIGTERM);
    return NULL;
}

static void test_signals(void **state) {
    struct recording recording;
    pthread_t sender, self = pthread_self();
    char words[sizeof ready + 16];
    (void)state;
    snprintf(ready, sizeof ready, "/tmp/leat-recorder-ready-%d", (int)getpid());
    snprintf(words, sizeof words, "init wait:%s", ready);
    unlink(ready);
    assert_int_equal(pthread_create(&sender, NULL, send_signal, &self), 0);
    record(&recording, words, plain);
    pthread_join(sender, NULL);
    unlink(ready);
    assert_int_equal(recording.outcome.exit_status, 7);
    finish(&recording);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_kinds),
        cmocka_unit_test(test_selection),
        cmocka_unit_test(test_selection_refused),
        cmocka_unit_test(test_captures),
        cmocka_unit_test(test_graphs_only),
        cmocka_unit_test(test_kernel),
        cmocka_unit_test(test_transfers),
        cmocka_unit_test(test_sources),
        cmocka_unit_test(test_old_version),
        cmocka_unit_test(test_many_buffers),
        cmocka_unit_test_setup_teardown(test_fork, pass_over_leaks, look_for_leaks),
        cmocka_unit_test(test_exec),
        cmocka_unit_test(test_killed),
        cmocka_unit_test(test_killed_in_a_pause),
        cmocka_unit_test(test_long_program_with_graphs),
        cmocka_unit_test(test_errno),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_least_limit),
        cmocka_unit_test(test_closed_descriptors),
        cmocka_unit_test_setup_teardown(test_rights_given_up, pass_over_leaks, look_for_leaks),
        cmocka_unit_test(test_no_part),
        cmocka_unit_test(test_empty_part),
        cmocka_unit_test(test_disk_full),
        cmocka_unit_test(test_dropped),
        cmocka_unit_test(test_another_profiler),
        cmocka_unit_test(test_copies_beside_xla),
        cmocka_unit_test(test_no_cupti),
        cmocka_unit_test(test_paused),
        cmocka_unit_test(test_paused_with_graphs),
        cmocka_unit_test(test_paused_device),
        cmocka_unit_test(test_device_uuid),
        cmocka_unit_test(test_no_cuda),
        cmocka_unit_test(test_no_recorder),
        cmocka_unit_test(test_cannot_start),
        cmocka_unit_test(test_signals),
        cmocka_unit_test(test_sources_of_threads),
    };
    setenv("LEAT_CUDA_PATH", TRACE_FOLDER, 1);
    setenv("LEAT_TRACE_RECORDER", TRACE_RECORDER, 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
