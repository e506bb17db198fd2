/* The writer: a thread that takes the records of CUPTI and the callbacks and writes them. See recorder.h. */
#include "trace/recorder/recorder.h"
#include <errno.h>
#include <string.h>
#include <time.h>

/* How often the writer looks for records without being woken. */
#define POLL_NS 250000000u

void le_recorder_wake(struct le_recorder *recorder) {
    if (!atomic_exchange_explicit(&recorder->is_woken, true, memory_order_relaxed))
        sem_post(&recorder->wake);
}

static void take_activities(void *user, uint8_t *buffer, size_t valid_bytes) {
    struct le_recorder *recorder = user;
    const struct le_cupti *cupti = &recorder->library.table;
    void *activity = NULL;
    size_t dropped = 0;
    while (cupti->activity_next(buffer, valid_bytes, &activity) == LE_CUPTI_SUCCESS)
        le_convert_activity(&recorder->convert, activity);
    if (cupti->activity_dropped(NULL, 0, &dropped) == LE_CUPTI_SUCCESS)
        recorder->writer.lost[LE_TRACE_LOST_CUPTI] += dropped;
}

static void take_event(void *user, const struct le_trace_record *record) {
    struct le_recorder *recorder = user;
    le_part_put_record(&recorder->writer, record);
}

/* Writes sources before the origins that refer to them: a source is complete before its origin is put into the ring. */
static void take_events(struct le_recorder *recorder) {
    uint64_t ready = le_event_ring_ready(&recorder->ring);
    const void *records;
    size_t size_bytes;
    while (recorder->capture.sources &&
           (size_bytes = le_sources_take(recorder->capture.sources, 32 << 10, &records)) != 0)
        for (const char *at = records, *end = at + size_bytes; at < end;) {
            const struct le_trace_record *record = (const void *)at;
            le_part_put_record(&recorder->writer, record);
            at += record->bytes;
        }
    le_event_ring_take(&recorder->ring, ready, take_event, recorder);
    recorder->writer.lost[LE_TRACE_LOST_MEMORY] +=
        atomic_exchange_explicit(&recorder->ring.dropped, 0, memory_order_relaxed);
}

static void take_all(struct le_recorder *recorder) {
    take_events(recorder);
    if (recorder->has_cupti)
        le_activity_buffers_take(&recorder->buffers, take_activities, recorder);
    le_part_flush(&recorder->writer);
}

static void wait_for_work(struct le_recorder *recorder) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += POLL_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (sem_timedwait(&recorder->wake, &until) != 0 && errno == EINTR)
        continue;
    atomic_store_explicit(&recorder->is_woken, false, memory_order_relaxed);
}

static void end_part(struct le_recorder *recorder) {
    struct le_capture *capture = &recorder->capture;
    struct le_trace_captures captures = {.launches = atomic_load(&capture->captured_launches),
                                         .time_ns = atomic_load(&capture->capture_ns),
                                         .recording_ns = atomic_load(&capture->capture_recording_ns)};
    struct le_trace_end record = {.recorder_ns = atomic_load(&capture->recorder_ns)};
    if (recorder->has_cupti)
        recorder->library.table.get_timestamp(&record.time_ns);
    take_all(recorder);
    le_convert_end(&recorder->convert);
    le_part_end(&recorder->writer, &captures, &record);
    le_convert_finish(&recorder->convert);
    le_part_writer_finish(&recorder->writer);
}

void *le_recorder_write(void *user) {
    struct le_recorder *recorder = user;
    le_recorder_describe(recorder);
    le_part_flush(&recorder->writer);
    if (recorder->capture.graphs_only) /* not in the first block, whose notes `leat trace` prints */
        le_recorder_put_note(recorder, "launches of single kernels were not recorded (leat trace --graphs only)");
    recorder->writer.limit_bytes = recorder->limit_bytes;
    while (!atomic_load_explicit(&recorder->is_over, memory_order_acquire)) {
        if (recorder->has_cupti)
            le_activity_buffers_warm(&recorder->buffers);
        wait_for_work(recorder);
        take_all(recorder);
    }
    end_part(recorder);
    return NULL;
}
