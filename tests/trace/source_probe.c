/* Makes the recorder's source lines available to tests and measurements: a library that Python loads with ctypes, which
 * releases the GIL around each call, like CUDA's libraries for Python. */
#include "trace/recorder/source.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SHOWN __attribute__((visibility("default")))

struct probe {
    _Atomic uint32_t texts;
    struct le_sources *sources;
    _Atomic bool is_waiting, is_captured;
};

SHOWN struct probe *probe_new(unsigned kinds);
SHOWN void probe_free(struct probe *probe);
SHOWN const char *probe_language(const struct probe *probe);
SHOWN uint32_t probe_capture(struct probe *probe);
SHOWN uint32_t probe_capture_and_call(struct probe *probe, void (*call)(void));
SHOWN double probe_capture_ns(struct probe *probe, int count);
SHOWN uint32_t probe_capture_late(struct probe *probe);
SHOWN int probe_wait(struct probe *probe, int most_ms);
SHOWN uint32_t probe_capture_apart(struct probe *probe);
SHOWN size_t probe_take(struct probe *probe, void *to, size_t most_bytes);

struct probe *probe_new(unsigned kinds) {
    struct probe *probe = calloc(1, sizeof *probe);
    if (probe)
        probe->sources = le_sources_new(kinds, &probe->texts);
    return probe;
}

void probe_free(struct probe *probe) {
    le_sources_free(probe->sources);
    free(probe);
}

const char *probe_language(const struct probe *probe) {
    return le_sources_language(probe->sources);
}

uint32_t probe_capture(struct probe *probe) {
    uint32_t source = le_sources_capture(probe->sources);
    return source;
}

/* Calls back into Python, which says inside the same call what should be found. */
uint32_t probe_capture_and_call(struct probe *probe, void (*call)(void)) {
    uint32_t source = le_sources_capture(probe->sources);
    call();
    return source;
}

static void sleep_ms(void) {
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* Captures once another thread is in probe_wait. */
uint32_t probe_capture_late(struct probe *probe) {
    while (!probe->is_waiting)
        sleep_ms();
    uint32_t source = le_sources_capture(probe->sources);
    probe->is_captured = true;
    return source;
}

/* Waits, holding whatever the caller holds, until another thread has captured. 0: none did in this time. */
int probe_wait(struct probe *probe, int most_ms) {
    probe->is_waiting = true;
    for (int k = 0; k < most_ms && !probe->is_captured; k++)
        sleep_ms();
    return probe->is_captured;
}

static void *capture_apart(void *data) {
    struct probe *probe = data;
    return (void *)(uintptr_t)le_sources_capture(probe->sources);
}

/* Captures on a thread that Python did not start. */
uint32_t probe_capture_apart(struct probe *probe) {
    pthread_t thread;
    void *source = NULL;
    if (pthread_create(&thread, NULL, capture_apart, probe) == 0)
        pthread_join(thread, &source);
    return (uint32_t)(uintptr_t)source;
}

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now); /* excludes other work of the machine */
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* The mean time of a capture, over `count` captures. */
double probe_capture_ns(struct probe *probe, int count) {
    double start_ns = now_ns();
    for (int k = 0; k < count; k++)
        le_sources_capture(probe->sources);
    return (now_ns() - start_ns) / count;
}

size_t probe_take(struct probe *probe, void *to, size_t most_bytes) {
    const void *records;
    size_t bytes = le_sources_take(probe->sources, most_bytes, &records);
    memcpy(to, records, bytes);
    return bytes;
}
