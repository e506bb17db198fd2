/* See timing.h. Whatever may take long (creating events, growing arrays) happens before the first event of a pair is
 * recorded, because the device waits for the host between the two. Pairs are pending, in the order in which their ends
 * were recorded, until the device has passed them. Times are relative to a base event whose host time is known. The
 * base advances with the work, because the driver returns differences as 32-bit floats. Lock order: timing->lock, then
 * the ledger's, then the timeline's. */
#include "device/front/timing.h"
#include "base/memory.h"
#include "device/front/device_state.h"
#include <stdio.h>

#define WHAT_MAX    64
#define PENDING_MAX 4096 /* at this count, ended pairs are collected */
#define BASE_AGE_MS 200.0
#define BASE_TRIES  3

struct pair {
    void *start, *stop;
    leat_cost_kind kind;
    uint64_t bytes;
    char what[WHAT_MAX];
};
struct le_timing {
    struct le_ledger *ledger;
    struct le_timeline *timeline; /* has its own lock */
    pthread_mutex_t lock;
    struct pair *pending;
    int count, capacity;
    int open; /* pairs that have begun and not ended */
    void **idle_events;
    int idle_count, idle_capacity;
    void *base;       /* an event that has passed */
    uint64_t base_ns; /* its time on the ledger's clock */
};

static struct le_ledger *timed_ledger(struct le_device *device) {
    struct le_ledger *ledger = atomic_load_explicit(&device->ledger, memory_order_relaxed);
    return ledger && le_ledger_level(ledger) > 1 ? ledger : NULL;
}

static struct le_timing *timing_new(struct le_ledger *ledger) {
    struct le_timing *timing = le_alloc_zero(1, sizeof *timing);
    struct le_timeline *timeline = timing ? le_timeline_new() : NULL;
    if (!timeline) {
        le_free(timing);
        return NULL;
    }
    timing->ledger = ledger;
    timing->timeline = timeline;
    pthread_mutex_init(&timing->lock, NULL);
    return timing;
}

/* NULL: nothing has been timed yet. */
static struct le_timing *existing_timing(struct le_device *device) {
    pthread_mutex_lock(&device->notes_lock);
    struct le_timing *timing = device->timing;
    pthread_mutex_unlock(&device->notes_lock);
    return timing;
}

static void note_span(void *timeline, const struct le_span *span, uint64_t stop_ns, int depth, unsigned thread) {
    le_timeline_host(timeline, thread, depth, span->start_ns, stop_ns, span->kind, span->what);
}

/* Created for the first timed operation: earlier host spans cannot lie in a gap. NULL: out of memory; nothing is
 * timed. */
static struct le_timing *timing_of(struct le_device *device, struct le_ledger *ledger) {
    pthread_mutex_lock(&device->notes_lock);
    bool is_new = !device->timing && (device->timing = timing_new(ledger)) != NULL;
    struct le_timing *timing = device->timing;
    pthread_mutex_unlock(&device->notes_lock);
    if (is_new)
        le_ledger_observer_set(ledger, note_span, timing->timeline);
    return timing;
}

/* ---- events; call with timing->lock held */

static void *take_event(struct le_device *device, struct le_timing *timing) {
    void *event = NULL;
    if (timing->idle_count)
        return timing->idle_events[--timing->idle_count];
    return device->ops->event_new(device->native, true, &event) ? NULL : event;
}

static void return_event(struct le_device *device, struct le_timing *timing, void *event) {
    if (timing->idle_count == timing->idle_capacity) {
        int capacity = timing->idle_capacity ? 2 * timing->idle_capacity : 64;
        void **events = le_realloc(timing->idle_events, (size_t)capacity * sizeof *events);
        if (!events) {
            device->ops->event_free(device->native, event);
            return;
        }
        timing->idle_events = events;
        timing->idle_capacity = capacity;
    }
    timing->idle_events[timing->idle_count++] = event;
}

static void *record_event(struct le_device *device, struct le_timing *timing, void *native_stream) {
    void *event = take_event(device, timing);
    if (event && device->ops->event_record(device->native, event, native_stream)) {
        return_event(device, timing, event);
        return NULL;
    }
    return event;
}

/* Both events of an operation, or none. */
static void take_pair(struct le_device *device, struct le_timing *timing, struct le_timed *timed) {
    timed->start = take_event(device, timing);
    timed->stop = timed->start ? take_event(device, timing) : NULL;
    if (timed->start && !timed->stop) {
        return_event(device, timing, timed->start);
        timed->start = NULL;
    }
    timing->open += timed->start != NULL;
}

/* An event's host time lies between its recording and the end of waiting for it. Of a few tries, the shortest is the
 * most accurate. */
static void set_base(struct le_device *device, struct le_timing *timing) {
    uint64_t shortest_ns = UINT64_MAX;
    for (int try = 0; try < BASE_TRIES; try++) {
        uint64_t before_ns = le_ledger_clock_ns(timing->ledger);
        void *event = record_event(device, timing, le_device_stream_native(device->own));
        if (!event)
            return;
        if (device->ops->event_synchronize(device->native, event)) {
            return_event(device, timing, event);
            return;
        }
        uint64_t after_ns = le_ledger_clock_ns(timing->ledger);
        if (after_ns - before_ns < shortest_ns) {
            shortest_ns = after_ns - before_ns;
            if (timing->base)
                return_event(device, timing, timing->base);
            timing->base = event;
            timing->base_ns = after_ns;
        } else
            return_event(device, timing, event);
    }
}

/* ---- collecting; call with timing->lock held */

static bool time_of(struct le_device *device, const struct le_timing *timing, void *event, uint64_t *time_ns) {
    double elapsed_ms;
    if (device->ops->event_elapsed(device->native, timing->base, event, &elapsed_ms))
        return false;
    *time_ns = timing->base_ns + (uint64_t)(int64_t)(elapsed_ms * 1e6);
    return true;
}

static void enter_pair(struct le_device *device, struct le_timing *timing, struct pair *pair) {
    uint64_t start_ns, stop_ns;
    if (time_of(device, timing, pair->start, &start_ns) && time_of(device, timing, pair->stop, &stop_ns)) {
        uint64_t time_ns = stop_ns > start_ns ? stop_ns - start_ns : 0;
        le_ledger_device(
            timing->ledger,
            &(leat_cost){.kind = pair->kind, .what = pair->what, .count = 1, .time_ns = time_ns, .bytes = pair->bytes});
        le_timeline_busy(timing->timeline, start_ns, start_ns + time_ns);
        if ((double)(int64_t)(stop_ns - timing->base_ns) > BASE_AGE_MS * 1e6) {
            void *base = timing->base;
            timing->base = pair->stop;
            timing->base_ns = stop_ns;
            pair->stop = base;
        }
    }
    return_event(device, timing, pair->start);
    return_event(device, timing, pair->stop);
}

static void collect_passed(struct le_device *device, struct le_timing *timing) {
    int left = 0;
    for (int k = 0; k < timing->count; k++) {
        bool passed = false;
        if (device->ops->event_query(device->native, timing->pending[k].stop, &passed) || !passed)
            timing->pending[left++] = timing->pending[k];
        else
            enter_pair(device, timing, &timing->pending[k]);
    }
    timing->count = left;
}

/* Makes room for the open pairs and one more. */
static bool reserve_pair(struct le_timing *timing) {
    if (timing->count + timing->open < timing->capacity)
        return true;
    int capacity = timing->capacity ? 2 * timing->capacity : 64;
    struct pair *pending = le_realloc(timing->pending, (size_t)capacity * sizeof *pending);
    if (!pending)
        return false;
    timing->pending = pending;
    timing->capacity = capacity;
    return true;
}

/* ---- interface */

static void begin_cost(struct le_span *span, struct le_ledger *ledger) {
    le_span_begin(span, ledger, LEAT_COST_OTHER, "timing the device", "level 2: two events for each operation");
}

void le_timing_begin(struct le_device *device, void *native_stream, struct le_timed *timed) {
    struct le_ledger *ledger = timed_ledger(device);
    struct le_timing *timing = ledger ? timing_of(device, ledger) : NULL;
    *timed = (struct le_timed){NULL, NULL};
    if (!timing)
        return;
    struct le_span span;
    begin_cost(&span, ledger);
    pthread_mutex_lock(&timing->lock);
    if (!timing->base)
        set_base(device, timing);
    if (timing->count >= PENDING_MAX && timing->count % PENDING_MAX == 0)
        collect_passed(device, timing);
    if (timing->base && reserve_pair(timing))
        take_pair(device, timing, timed);
    pthread_mutex_unlock(&timing->lock);
    le_span_end(&span, 0, 0);
    if (timed->start && device->ops->event_record(device->native, timed->start, native_stream))
        le_timing_drop(device, timed);
}

bool le_timing_is_on(struct le_device *device) {
    return timed_ledger(device) != NULL;
}

void le_timing_end(struct le_device *device, void *native_stream, struct le_timed *timed, leat_cost_kind kind,
                   const char *what, uint64_t bytes) {
    struct le_ledger *ledger = timed->start ? timed_ledger(device) : NULL;
    if (!ledger || device->ops->event_record(device->native, timed->stop, native_stream)) {
        le_timing_drop(device, timed);
        return;
    }
    struct le_timing *timing = device->timing;
    struct le_span span;
    begin_cost(&span, ledger);
    pthread_mutex_lock(&timing->lock);
    struct pair *pair = &timing->pending[timing->count++];
    *pair = (struct pair){.start = timed->start, .stop = timed->stop, .kind = kind, .bytes = bytes};
    snprintf(pair->what, sizeof pair->what, "%s", what);
    timing->open--;
    pthread_mutex_unlock(&timing->lock);
    timed->start = NULL;
    le_span_end(&span, 0, 0);
}

void le_timing_drop(struct le_device *device, struct le_timed *timed) {
    if (!timed->start)
        return;
    pthread_mutex_lock(&device->timing->lock);
    return_event(device, device->timing, timed->start);
    return_event(device, device->timing, timed->stop);
    device->timing->open--;
    pthread_mutex_unlock(&device->timing->lock);
    timed->start = NULL;
}

/* Idle records name the host span that fills most of the gap: "the host: compile reduce.cu". */
static void charge_gaps(struct le_timing *timing) {
    struct le_timeline_gaps gaps;
    while (le_timeline_next_gaps(timing->timeline, &gaps)) {
        char cause[160];
        if (gaps.what[0])
            snprintf(cause, sizeof cause, "the host: %s %s", le_cost_kind_name(gaps.kind), gaps.what);
        else
            snprintf(cause, sizeof cause, "the host: the program's own code");
        le_ledger_device(timing->ledger, &(leat_cost){.kind = LEAT_COST_IDLE,
                                                      .what = "the device",
                                                      .cause = cause,
                                                      .count = gaps.count,
                                                      .time_ns = gaps.time_ns});
    }
}

struct le_timeline_sums le_timing_settle(struct le_device *device) {
    struct le_timing *timing = existing_timing(device);
    if (!timing)
        return (struct le_timeline_sums){0};
    pthread_mutex_lock(&timing->lock);
    collect_passed(device, timing);
    pthread_mutex_unlock(&timing->lock);
    struct le_timeline_sums sums = le_timeline_settle(timing->timeline);
    charge_gaps(timing);
    return sums;
}

void le_timing_clear(struct le_device *device) {
    struct le_timing *timing = existing_timing(device);
    if (timing)
        le_timeline_clear(timing->timeline);
}

void le_timing_free(struct le_device *device) {
    struct le_timing *timing = device->timing;
    if (!timing)
        return;
    le_ledger_observer_set(timing->ledger, NULL, NULL);
    le_timeline_free(timing->timeline);
    for (int k = 0; k < timing->count; k++) {
        return_event(device, timing, timing->pending[k].start);
        return_event(device, timing, timing->pending[k].stop);
    }
    if (timing->base)
        return_event(device, timing, timing->base);
    for (int k = 0; k < timing->idle_count; k++)
        device->ops->event_free(device->native, timing->idle_events[k]);
    pthread_mutex_destroy(&timing->lock);
    le_free(timing->pending);
    le_free(timing->idle_events);
    le_free(timing);
    device->timing = NULL;
}
