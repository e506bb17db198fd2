/* How the recorder starts and ends. The driver calls InitializeInjection when CUDA starts, NVTX calls
 * InitializeInjectionNvtx2, and exit calls end_recording. The process's recorder is the only mutable global, because
 * CUPTI's callbacks have no other way to find it. A child of fork forgets it: CUDA does not work there, and the writer
 * thread does not exist there.
 *
 * Environment variables:
 *   LEAT_TRACE_FOLDER         the folder for parts; without it, nothing is recorded
 *   LEAT_TRACE_LIMIT          the maximum size of a part, in bytes
 *   LEAT_TRACE_SOURCE=0       do not record callers
 *   LEAT_TRACE_SOURCE=empty   CUPTI calls back for callers, but none are recorded: shows what the callbacks alone cost
 *   LEAT_TRACE_PAUSED=1       record only between cuProfilerStart and cuProfilerStop
 *   LEAT_TRACE_GRAPHS=only    do not record launches of single kernels
 *   LEAT_TRACE_CUPTI          other ways to use CUPTI, which bench/gpu/tracing.py measures: `all` (record every
 * function) or `only:KIND:KIND...` (record only these kinds of activities, by CUPTI's numbers) */
#include "trace/recorder/recorder.h"
#include "base/memory.h"
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { JOIN_S = 10 };

static struct le_recorder *_Atomic current;

__attribute__((visibility("default"))) int InitializeInjection(void);
__attribute__((visibility("default"))) int InitializeInjectionNvtx2(void *get_export_table);

/* ---- CUPTI's callbacks */

static void request_buffer(uint8_t **buffer, size_t *size_bytes, size_t *most_records) {
    struct le_recorder *recorder = atomic_load_explicit(&current, memory_order_acquire);
    *buffer = recorder && !atomic_load_explicit(&recorder->is_over, memory_order_relaxed)
                  ? le_activity_buffer_get(&recorder->buffers)
                  : NULL;
    *size_bytes = *buffer ? LE_ACTIVITY_BUFFER_BYTES : 0;
    *most_records = 0;
}

static void complete_buffer(le_cupti_context context, uint32_t stream, uint8_t *buffer, size_t size_bytes,
                            size_t valid_bytes) {
    struct le_recorder *recorder = atomic_load_explicit(&current, memory_order_acquire);
    (void)context, (void)stream, (void)size_bytes;
    if (!recorder || !buffer)
        return;
    le_activity_buffer_full(&recorder->buffers, buffer, valid_bytes);
    le_recorder_wake(recorder);
}

/* ---- start and end */

static void forget_recorder(void) {
    atomic_store(&current, NULL);
}

static void end_recording(void) {
    struct le_recorder *recorder = atomic_load(&current);
    struct timespec until;
    if (!recorder || recorder->process != getpid())
        return;
    if (recorder->has_cupti)
        recorder->library.table.activity_flush(LE_CUPTI_FLUSH_FORCED);
    atomic_store_explicit(&recorder->is_over, true, memory_order_release);
    sem_post(&recorder->wake);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += JOIN_S;
    pthread_timedjoin_np(recorder->thread, NULL, &until);
}

static bool is_set(const char *variable, const char *value) {
    const char *text = getenv(variable);
    return text && strcmp(text, value) == 0;
}

/* Creates the part. Names of parts sort by the time when they began. Returns 0, or the errno of the failure. */
static int open_part(struct le_recorder *recorder, const char *folder) {
    char path[LE_PART_PATH_BYTES];
    uint64_t time_ns = 0;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (recorder->has_cupti)
        recorder->library.table.get_timestamp(&time_ns);
    int length = snprintf(path, sizeof path, "%s/part.%012lld.%09ld.%d", folder, (long long)now.tv_sec, now.tv_nsec,
                          (int)recorder->process);
    if (length >= (int)sizeof path)
        return ENAMETOOLONG;
    return le_part_writer_init(&recorder->writer, path, time_ns, &recorder->text_count);
}

/* Without a part, only a message can report this process. If the folder is gone, `leat trace` has ended and has
 * reported that a process is still running. */
static void report_not_recorded(const struct le_recorder *recorder, const char *folder, int error) {
    if (error != ENOENT)
        dprintf(STDERR_FILENO, "leat trace: process %d is not recorded: cannot write %s: %s\n", (int)recorder->process,
                folder, strerror(error));
}

/* All signals are blocked in the writer thread, because they are meant for the program. */
static bool start_thread(struct le_recorder *recorder) {
    sigset_t all, before;
    sigfillset(&all);
    if (sem_init(&recorder->wake, 0, 0) != 0 || pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return false;
    bool done = pthread_create(&recorder->thread, NULL, le_recorder_write, recorder) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (done)
        pthread_setname_np(recorder->thread, "leat trace");
    return done;
}

static void prepare_recorder(struct le_recorder *recorder) {
    bool no_source = is_set("LEAT_TRACE_SOURCE", "0"), is_empty = is_set("LEAT_TRACE_SOURCE", "empty");
    unsigned kinds = no_source || is_empty ? 0 : LE_SOURCE_PYTHON | LE_SOURCE_NATIVE;
    const char *cupti_options = getenv("LEAT_TRACE_CUPTI"), *limit = getenv("LEAT_TRACE_LIMIT");
    snprintf(recorder->cupti_options, sizeof recorder->cupti_options, "%s", cupti_options ? cupti_options : "");
    recorder->process = getpid();
    recorder->limit_bytes = limit ? strtoull(limit, NULL, 10) : 0;
    recorder->is_paused = is_set("LEAT_TRACE_PAUSED", "1");
    recorder->selection.graphs_only = recorder->capture.graphs_only = is_set("LEAT_TRACE_GRAPHS", "only");
    recorder->capture.ring = &recorder->ring;
    recorder->sources = le_sources_new(kinds, &recorder->text_count);
    recorder->capture.sources = no_source ? NULL : recorder->sources;
    bool has_memory = le_event_ring_init(&recorder->ring) && le_activity_buffers_init(&recorder->buffers);
    if (!has_memory)
        snprintf(recorder->note, sizeof recorder->note, "nothing was recorded: no memory for the recorder's buffers");
    else
        le_recorder_find_cupti(recorder);
    recorder->convert = (struct le_convert){
        .cupti = &recorder->library.table, .version = recorder->library.version, .writer = &recorder->writer};
}

static void free_recorder(struct le_recorder *recorder) {
    if (recorder->has_cupti)
        recorder->library.table.unsubscribe(recorder->subscriber);
    le_event_ring_finish(&recorder->ring);
    le_activity_buffers_finish(&recorder->buffers);
    le_sources_free(recorder->sources);
    le_free(recorder);
}

/* The driver calls this inside cuInit. Whatever happens, the program continues. */
int InitializeInjection(void) {
    const char *folder = getenv("LEAT_TRACE_FOLDER");
    struct le_recorder *recorder = NULL;
    if (!folder || atomic_load(&current) || !(recorder = le_alloc_zero(1, sizeof *recorder)))
        return 1;
    prepare_recorder(recorder);
    int error = open_part(recorder, folder);
    if (error) {
        report_not_recorded(recorder, folder, error);
        free_recorder(recorder);
        return 1;
    }
    atomic_store_explicit(&current, recorder, memory_order_release);
    pthread_atfork(NULL, NULL, forget_recorder);
    if (recorder->has_cupti)
        le_recorder_start_cupti(recorder, request_buffer, complete_buffer);
    if (start_thread(recorder))
        atexit(end_recording);
    return 1;
}

/* ---- NVTX: CUPTI records ranges, so NVTX's table is passed on to CUPTI. */

static bool start_nvtx(void *user, struct le_cupti_library *library) {
    int (*start)(void *get_export_table) = NULL;
    *(void **)&start = dlsym(library->handle, "InitializeInjectionNvtx2");
    return start && start(user) == 1;
}

int InitializeInjectionNvtx2(void *get_export_table) {
    struct le_cupti_library library;
    return le_cupti_library_open(&library, start_nvtx, get_export_table);
}
