/* The stager over a device that is a thread: each stream is a queue, and what is at its head is done some time later,
 * in an order from a seed. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/memory.h"
#include "device/stage.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the device */

enum { STREAMS_MAX = 32, CHUNK = 4096 };
enum kind { COPY, RECORD, WAIT };
struct event {
    uint64_t asked, passed; /* recordings */
    struct event *next;     /* of those that were freed: streams may wait for them still */
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
    bool held; /* nothing of it is done */
};
static struct device {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool stopping;
    unsigned seed;
    struct stream *streams[STREAMS_MAX];
    struct event *freed;
    int stream_count, live; /* live: of all that was made and not freed */
    int fail_after;         /* calls that make something succeed so often; -1: always */
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

static void hold(struct stream *s, bool held) {
    pthread_mutex_lock(&device.lock);
    s->held = held;
    pthread_cond_broadcast(&device.changed);
    pthread_mutex_unlock(&device.lock);
}

/* The device's own work in a stream: bytes from here to there. */
static void device_copy(struct stream *s, char *target, const char *source, size_t size_bytes) {
    pthread_mutex_lock(&device.lock);
    enqueue(s, (struct work){.kind = COPY, .target = target, .source = source, .size_bytes = size_bytes});
    pthread_mutex_unlock(&device.lock);
}

/* ---- copies of plain bytes */

struct plan {
    bool up;
    char *memory, *on_device;
    size_t size_bytes;
    int64_t fails; /* the chunk whose transfer fails; -1: none */
};

static size_t size_of(const struct plan *p, int64_t chunk) {
    size_t left = p->size_bytes - (size_t)chunk * CHUNK;
    return left < CHUNK ? left : CHUNK;
}

static void move(const void *plan, int64_t chunk, char *slot) {
    const struct plan *p = plan;
    char *memory = p->memory + chunk * CHUNK;
    memcpy(p->up ? slot : memory, p->up ? memory : slot, size_of(p, chunk));
}

static leat_status transfer(const void *plan, int64_t chunk, void *native_stream, const struct le_stage_slot *slot) {
    const struct plan *p = plan;
    char *there = p->on_device + chunk * CHUNK;
    if (chunk == p->fails)
        return le_fail(LEAT_DEVICE, "chunk %d cannot be copied", (int)chunk);
    device_copy(native_stream, p->up ? there : slot->host, p->up ? slot->host : there, size_of(p, chunk));
    return LEAT_OK;
}

static leat_status try_copy(struct le_stager *stager, struct stream *s, struct plan plan, uint64_t id,
                            uint64_t number) {
    const struct le_stage_work work = {.up = plan.up,
                                       .chunks = (int64_t)((plan.size_bytes + CHUNK - 1) / CHUNK),
                                       .small = plan.size_bytes <= CHUNK,
                                       .move = move,
                                       .transfer = transfer,
                                       .plan = &plan,
                                       .plan_bytes = sizeof plan};
    struct le_stage_job *job;
    leat_status status = le_stage_job_new(stager, &work, &job);
    if (status)
        return status;
    le_stager_settle(stager, id);
    status = le_stage_start(job, s, id, number);
    if (status)
        le_stage_drop(job);
    return status;
}

static void copy(struct le_stager *stager, struct stream *s, bool up, char *memory, char *on_device, size_t size_bytes,
                 uint64_t id, uint64_t number) {
    const struct plan plan = {
        .up = up, .memory = memory, .on_device = on_device, .size_bytes = size_bytes, .fails = -1};
    assert_int_equal(try_copy(stager, s, plan, id, number), LEAT_OK);
}

static char *bytes(size_t size_bytes, unsigned seed) {
    char *made = malloc(size_bytes);
    for (size_t k = 0; k < size_bytes; k++)
        made[k] = (char)(k * 7 + k / 257 + seed);
    return made;
}

static struct le_stager *new_stager(int threads) {
    struct le_stager *stager = NULL;
    assert_int_equal(le_stager_new(&ops, NULL, threads, &stager), LEAT_OK);
    return stager;
}

/* ---- tests */

/* Up, the device's own copy, down: each sees what came before it in the stream, however late the device is. */
static void test_order(void **state) {
    static const size_t sizes[] = {1, CHUNK, CHUNK + 1, 10 * CHUNK + 5, 100 * CHUNK};
    (void)state;
    for (int threads = 1; threads <= 4; threads++) {
        struct le_stager *stager = new_stager(threads);
        struct stream *s = new_stream();
        uint64_t number = 0;
        for (size_t k = 0; k < 5; k++)
            for (int turn = 0; turn < 3; turn++) {
                size_t size_bytes = sizes[k];
                char *out = bytes(size_bytes, (unsigned)(k + 3 * (size_t)turn)), *back = calloc(1, size_bytes);
                char *there = calloc(1, size_bytes), *other = calloc(1, size_bytes);
                copy(stager, s, true, out, there, size_bytes, 1, ++number);
                le_stager_settle(stager, 1);
                device_copy(s, other, there, size_bytes);
                copy(stager, s, false, back, other, size_bytes, 1, ++number);
                le_stager_settle(stager, 1);
                device_copy(s, other, back + 0, 0); /* in order after it, too */
                assert_int_equal(le_stager_wait(stager, 1, number), LEAT_OK);
                assert_true(le_stager_done(stager, 1, number));
                assert_memory_equal(out, back, size_bytes);
                fake_stream_synchronize(NULL, s);
                free(out);
                free(back);
                free(there);
                free(other);
            }
        le_stager_free(stager);
        fake_stream_free(NULL, s);
    }
}

/* Jobs of many streams at one time; some wait for the device first. */
static void test_streams(void **state) {
    enum { COUNT = 8, SIZE = 40 * CHUNK };
    (void)state;
    struct le_stager *stager = new_stager(3);
    struct stream *s[COUNT];
    char *out[COUNT], *back[COUNT], *there[COUNT], *other[COUNT];
    for (int k = 0; k < COUNT; k++) {
        s[k] = new_stream();
        out[k] = bytes(SIZE, (unsigned)k);
        back[k] = calloc(1, SIZE), there[k] = calloc(1, SIZE), other[k] = calloc(1, SIZE);
        copy(stager, s[k], true, out[k], there[k], SIZE, (uint64_t)k + 1, 1);
    }
    for (int k = COUNT - 1; k >= 0; k--) {
        le_stager_settle(stager, (uint64_t)k + 1);
        hold(s[k], true);
        device_copy(s[k], other[k], there[k], SIZE);
        copy(stager, s[k], false, back[k], other[k], SIZE, (uint64_t)k + 1, 2);
        assert_false(le_stager_done(stager, (uint64_t)k + 1, 2));
        assert_false(le_stager_settled(stager, (uint64_t)k + 1));
    }
    for (int k = 0; k < COUNT; k++)
        hold(s[k], false);
    for (int k = 0; k < COUNT; k++) {
        assert_int_equal(le_stager_wait(stager, (uint64_t)k + 1, 2), LEAT_OK);
        assert_memory_equal(out[k], back[k], SIZE);
    }
    le_stager_free(stager);
    for (int k = 0; k < COUNT; k++) {
        fake_stream_synchronize(NULL, s[k]);
        fake_stream_free(NULL, s[k]);
        free(out[k]);
        free(back[k]);
        free(there[k]);
        free(other[k]);
    }
}

/* A job whose stream does not get there holds up nobody else's. */
static void test_waiting(void **state) {
    enum { SIZE = 30 * CHUNK };
    (void)state;
    struct le_stager *stager = new_stager(2);
    struct stream *stuck[3], *s = new_stream();
    char *out = bytes(SIZE, 1), *there = calloc(1, SIZE), *sinks[3];
    for (int k = 0; k < 3; k++) {
        stuck[k] = new_stream();
        sinks[k] = calloc(1, SIZE);
        hold(stuck[k], true);
        copy(stager, stuck[k], true, out, sinks[k], SIZE, (uint64_t)k + 10, 1);
    }
    for (uint64_t number = 1; number <= 5; number++) {
        copy(stager, s, true, out, there, SIZE, 1, number);
        assert_int_equal(le_stager_wait(stager, 1, number), LEAT_OK);
    }
    for (int k = 0; k < 3; k++) {
        assert_false(le_stager_done(stager, (uint64_t)k + 10, 1));
        hold(stuck[k], false);
    }
    assert_int_equal(le_stager_wait_all(stager), LEAT_OK);
    le_stager_free(stager);
    fake_stream_synchronize(NULL, s);
    fake_stream_free(NULL, s);
    for (int k = 0; k < 3; k++) {
        fake_stream_synchronize(NULL, stuck[k]);
        assert_memory_equal(out, sinks[k], SIZE);
        fake_stream_free(NULL, stuck[k]);
        free(sinks[k]);
    }
    free(out);
    free(there);
}

/* A short job is done long before a long one that came first. */
static void test_turns(void **state) {
    enum { LONG = 600 * CHUNK, SHORT = 4 * CHUNK };
    (void)state;
    struct le_stager *stager = new_stager(2);
    struct stream *s = new_stream(), *t = new_stream();
    char *out = bytes(LONG, 1), *there = malloc(LONG), *back = malloc(SHORT), *other = bytes(SHORT, 2);
    copy(stager, s, true, out, there, LONG, 1, 1);
    copy(stager, t, false, back, other, SHORT, 2, 1);
    assert_int_equal(le_stager_wait(stager, 2, 1), LEAT_OK);
    assert_memory_equal(back, other, SHORT);
    assert_false(le_stager_done(stager, 1, 1));
    le_stager_free(stager); /* ends the other one */
    fake_stream_synchronize(NULL, s);
    assert_memory_equal(out, there, LONG);
    fake_stream_synchronize(NULL, t);
    fake_stream_free(NULL, s);
    fake_stream_free(NULL, t);
    free(out);
    free(there);
    free(back);
    free(other);
}

/* More small ones than there are slots, waited for in another order. */
static void test_small(void **state) {
    enum { COUNT = 200, SIZE = 100 };
    (void)state;
    struct le_stager *stager = new_stager(2);
    struct stream *s = new_stream();
    char *out = bytes(COUNT * SIZE, 5), *back = calloc(COUNT, SIZE), *there = calloc(COUNT, SIZE);
    for (int k = 0; k < COUNT; k++) {
        copy(stager, s, true, out + k * SIZE, there + k * SIZE, SIZE, 1, (uint64_t)(2 * k + 1));
        copy(stager, s, false, back + k * SIZE, there + k * SIZE, SIZE, 1, (uint64_t)(2 * k + 2));
    }
    for (int k = COUNT - 1; k >= 0; k--)
        assert_int_equal(le_stager_wait(stager, 1, (uint64_t)(2 * k + 2)), LEAT_OK);
    assert_memory_equal(out, back, COUNT * SIZE);
    le_stager_free(stager);
    fake_stream_synchronize(NULL, s);
    fake_stream_free(NULL, s);
    free(out);
    free(back);
    free(there);
}

/* An error is told once, to whoever waits for that job or a later one of its stream, and spoils no other job. */
static void test_failures(void **state) {
    enum { SIZE = 12 * CHUNK };
    (void)state;
    struct le_stager *stager = new_stager(3);
    struct stream *s = new_stream(), *t = new_stream();
    char *out = bytes(SIZE, 1), *there = calloc(1, SIZE), *back = calloc(1, SIZE);
    for (int up = 0; up < 2; up++)
        for (int64_t fails = 0; fails < 12; fails += 5) {
            struct plan plan = {.up = up, .memory = back, .on_device = there, .size_bytes = SIZE, .fails = fails};
            assert_int_equal(try_copy(stager, s, plan, 1, 1), LEAT_OK);
            copy(stager, t, true, out, there, SIZE, 2, 1);
            assert_int_equal(le_stager_wait(stager, 2, 1), LEAT_OK);
            assert_int_equal(le_stager_wait(stager, 1, 2), LEAT_DEVICE);
            assert_non_null(strstr(le_error_at(0)->message, "cannot be copied"));
            assert_int_equal(le_stager_wait(stager, 1, 2), LEAT_OK);
        }
    struct plan lost = {.up = true, .memory = back, .on_device = there, .size_bytes = SIZE, .fails = 3};
    assert_int_equal(try_copy(stager, s, lost, 1, 2), LEAT_OK);
    assert_int_equal(try_copy(stager, t, lost, 2, 2), LEAT_OK);
    assert_int_equal(le_stager_wait_all(stager), LEAT_DEVICE);
    assert_int_equal(le_stager_wait_all(stager), LEAT_OK);
    struct plan plan = {.up = false, .memory = back, .on_device = there, .size_bytes = 10, .fails = 0};
    assert_int_equal(try_copy(stager, s, plan, 1, 1), LEAT_DEVICE); /* a small one at once */
    le_stager_free(stager);
    fake_stream_synchronize(NULL, s);
    fake_stream_synchronize(NULL, t);
    fake_stream_free(NULL, s);
    fake_stream_free(NULL, t);
    free(out);
    free(there);
    free(back);
}

/* Whatever cannot be had when a job is made fails that job alone; one thread is enough. */
static void test_scarcity(void **state) {
    enum { SIZE = 5 * CHUNK };
    (void)state;
    char *out = bytes(SIZE, 1), *there = calloc(1, SIZE);
    for (int succeed = 0; succeed < 24; succeed++)
        for (size_t size_bytes = 100; size_bytes <= SIZE; size_bytes += SIZE - 100) {
            struct le_stager *stager = new_stager(3);
            struct stream *s = new_stream();
            const struct plan plan = {
                .up = true, .memory = out, .on_device = there, .size_bytes = size_bytes, .fails = -1};
            memset(there, 0, SIZE);
            device.fail_after = succeed;
            leat_status status = try_copy(stager, s, plan, 1, 1);
            device.fail_after = -1;
            if (status)
                assert_int_equal(try_copy(stager, s, plan, 1, 1), LEAT_OK);
            assert_int_equal(le_stager_wait(stager, 1, 1), LEAT_OK);
            le_stager_free(stager);
            fake_stream_synchronize(NULL, s);
            assert_memory_equal(out, there, size_bytes);
            fake_stream_free(NULL, s);
        }
    free(out);
    free(there);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_order, open_device, close_device),
        cmocka_unit_test_setup_teardown(test_streams, open_device, close_device),
        cmocka_unit_test_setup_teardown(test_waiting, open_device, close_device),
        cmocka_unit_test_setup_teardown(test_turns, open_device, close_device),
        cmocka_unit_test_setup_teardown(test_small, open_device, close_device),
        cmocka_unit_test_setup_teardown(test_failures, open_device, close_device),
        cmocka_unit_test_setup_teardown(test_scarcity, open_device, close_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
