/* A device implemented by a thread: each stream is a queue, and the operation at its head completes some time later, in
 * an order determined by a seed. Only for the tests of the stager. */
#ifndef LE_STAGING_TESTING_H
#define LE_STAGING_TESTING_H
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/memory.h"
#include "device/front/staging.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STREAMS_MAX = 32, CHUNK = 4096 };
enum kind { COPY, RECORD, WAIT };
struct event {
    uint64_t asked, passed; /* number of recordings requested, completed */
    struct event *next;     /* list of freed events: streams may still wait for them */
};
struct work {
    enum kind kind;
    char *target;
    const char *source;
    size_t size_bytes;
    struct event *event;
    uint64_t number;
    struct work *next;
};
struct stream {
    struct work *first;
    bool held; /* its work is held back */
};
static struct device {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool stopping;
    unsigned seed;
    struct stream *streams[STREAMS_MAX];
    struct event *freed;
    int stream_count, live; /* live: objects created and not freed */
    int fail_after;         /* number of creating calls that succeed before they fail; -1: all */
} device = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static bool ready(const struct stream *s) {
    return s->first && !s->held && (s->first->kind != WAIT || s->first->event->passed >= s->first->number);
}

static void perform(struct stream *s) {
    struct work *w = s->first;
    s->first = w->next;
    if (w->kind == COPY)
        memcpy(w->target, w->source, w->size_bytes);
    else if (w->kind == RECORD)
        w->event->passed = w->number;
    free(w);
    pthread_cond_broadcast(&device.changed);
}

static void *run_device(void *unused) {
    (void)unused;
    pthread_mutex_lock(&device.lock);
    while (!device.stopping) {
        struct stream *found = NULL;
        int from = device.stream_count ? rand_r(&device.seed) % device.stream_count : 0;
        for (int k = 0; k < device.stream_count && !found; k++) {
            struct stream *s = device.streams[(from + k) % device.stream_count];
            found = ready(s) ? s : NULL;
        }
        if (found)
            perform(found);
        else
            pthread_cond_wait(&device.changed, &device.lock);
        if (found && rand_r(&device.seed) % 4 == 0) {
            pthread_mutex_unlock(&device.lock);
            usleep(20);
            pthread_mutex_lock(&device.lock);
        }
    }
    pthread_mutex_unlock(&device.lock);
    return NULL;
}

static bool allowed(void) {
    if (device.fail_after == 0)
        return false;
    device.fail_after -= device.fail_after > 0;
    device.live++;
    return true;
}

static void enqueue(struct stream *s, struct work work) {
    struct work *made = malloc(sizeof *made), **at = &s->first;
    *made = work;
    made->next = NULL;
    while (*at)
        at = &(*at)->next;
    *at = made;
    pthread_cond_broadcast(&device.changed);
}

static leat_status fake_memory_new(void *native, enum le_memory_kind kind, size_t size_bytes, void **host,
                                   uint64_t *address) {
    (void)native;
    assert_int_equal(kind, LE_MEMORY_PINNED);
    pthread_mutex_lock(&device.lock);
    bool made = allowed();
    pthread_mutex_unlock(&device.lock);
    if (!made)
        return le_fail(LEAT_OUT_OF_MEMORY, "no pinned memory");
    *host = malloc(size_bytes);
    *address = (uint64_t)(uintptr_t)*host;
    return LEAT_OK;
}

static void fake_memory_free(void *native, enum le_memory_kind kind, void *host, uint64_t address, size_t size_bytes) {
    (void)native, (void)kind, (void)address, (void)size_bytes;
    free(host);
    pthread_mutex_lock(&device.lock);
    device.live--;
    pthread_mutex_unlock(&device.lock);
}

static leat_status fake_stream_new(void *native, void **stream) {
    (void)native;
    pthread_mutex_lock(&device.lock);
    bool made = allowed();
    if (made)
        *stream = device.streams[device.stream_count++] = calloc(1, sizeof(struct stream));
    pthread_mutex_unlock(&device.lock);
    return made ? LEAT_OK : le_fail(LEAT_DEVICE, "no stream");
}

static leat_status fake_stream_synchronize(void *native, void *stream) {
    struct stream *s = stream;
    (void)native;
    pthread_mutex_lock(&device.lock);
    while (s->first)
        pthread_cond_wait(&device.changed, &device.lock);
    pthread_mutex_unlock(&device.lock);
    return LEAT_OK;
}

static void fake_stream_free(void *native, void *stream) {
    (void)native;
    pthread_mutex_lock(&device.lock);
    for (int k = 0; k < device.stream_count; k++)
        if (device.streams[k] == stream)
            device.streams[k] = device.streams[--device.stream_count];
    device.live--;
    pthread_mutex_unlock(&device.lock);
    free(stream);
}

static leat_status fake_event_new(void *native, bool timed, void **event) {
    (void)native, (void)timed;
    pthread_mutex_lock(&device.lock);
    bool made = allowed();
    pthread_mutex_unlock(&device.lock);
    *event = made ? calloc(1, sizeof(struct event)) : NULL;
    return made ? LEAT_OK : le_fail(LEAT_DEVICE, "no event");
}

static void fake_event_free(void *native, void *event) {
    struct event *e = event;
    (void)native;
    pthread_mutex_lock(&device.lock);
    e->next = device.freed;
    device.freed = e;
    device.live--;
    pthread_mutex_unlock(&device.lock);
}

static leat_status fake_event_record(void *native, void *event, void *stream) {
    struct event *e = event;
    (void)native;
    pthread_mutex_lock(&device.lock);
    enqueue(stream, (struct work){.kind = RECORD, .event = e, .number = ++e->asked});
    pthread_mutex_unlock(&device.lock);
    return LEAT_OK;
}

static leat_status fake_stream_wait(void *native, void *stream, void *event) {
    struct event *e = event;
    (void)native;
    pthread_mutex_lock(&device.lock);
    enqueue(stream, (struct work){.kind = WAIT, .event = e, .number = e->asked});
    pthread_mutex_unlock(&device.lock);
    return LEAT_OK;
}

static leat_status fake_event_query(void *native, void *event, bool *passed) {
    struct event *e = event;
    (void)native;
    pthread_mutex_lock(&device.lock);
    *passed = e->passed == e->asked;
    pthread_mutex_unlock(&device.lock);
    return LEAT_OK;
}

static leat_status fake_event_synchronize(void *native, void *event) {
    struct event *e = event;
    (void)native;
    pthread_mutex_lock(&device.lock);
    uint64_t number = e->asked;
    while (e->passed < number)
        pthread_cond_wait(&device.changed, &device.lock);
    pthread_mutex_unlock(&device.lock);
    return LEAT_OK;
}

static const struct le_device_ops ops = {.memory_new = fake_memory_new,
                                         .memory_free = fake_memory_free,
                                         .stream_new = fake_stream_new,
                                         .stream_free = fake_stream_free,
                                         .stream_wait = fake_stream_wait,
                                         .stream_synchronize = fake_stream_synchronize,
                                         .event_new = fake_event_new,
                                         .event_free = fake_event_free,
                                         .event_record = fake_event_record,
                                         .event_synchronize = fake_event_synchronize,
                                         .event_query = fake_event_query};

static int open_device(void **state) {
    (void)state;
    device.stopping = false;
    device.seed = 1;
    device.fail_after = -1;
    return pthread_create(&device.thread, NULL, run_device, NULL);
}

static int close_device(void **state) {
    (void)state;
    pthread_mutex_lock(&device.lock);
    device.stopping = true;
    pthread_cond_broadcast(&device.changed);
    pthread_mutex_unlock(&device.lock);
    pthread_join(device.thread, NULL);
    while (device.freed) {
        struct event *e = device.freed;
        device.freed = e->next;
        free(e);
    }
    assert_int_equal(device.live, 0);
    return 0;
}

static struct stream *new_stream(void) {
    void *stream;
    assert_int_equal(fake_stream_new(NULL, &stream), LEAT_OK);
    return stream;
}

static void end_stream(struct stream *s) {
    fake_stream_synchronize(NULL, s);
    fake_stream_free(NULL, s);
}

static void hold(struct stream *s, bool held) {
    pthread_mutex_lock(&device.lock);
    s->held = held;
    pthread_cond_broadcast(&device.changed);
    pthread_mutex_unlock(&device.lock);
}

/* Work of the device in a stream: copies bytes from source to target. */
static void device_copy(struct stream *s, char *target, const char *source, size_t size_bytes) {
    pthread_mutex_lock(&device.lock);
    enqueue(s, (struct work){.kind = COPY, .target = target, .source = source, .size_bytes = size_bytes});
    pthread_mutex_unlock(&device.lock);
}
#endif
