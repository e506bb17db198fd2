/* Order by tickets. Each stream numbers its operations; each allocation keeps the points of its last write and of the
 * reads since. Within one stream nothing more is needed, and no event is created. For the first dependency that crosses
 * streams, an event is recorded in the stream that is waited for; it covers all work given to that stream so far. Each
 * stream remembers what it has waited for. This code does not know who copies or launches, or why. Everything runs
 * under the device's lock unless stated otherwise. */
#include "base/cancel.h"
#include "base/clock.h"
#include "base/memory.h"
#include "device/front/device_state.h"
#include "device/front/staging.h"
#include <assert.h>
#include <inttypes.h>
#include <time.h>

#define PAUSE_MIN_NS 10000
#define PAUSE_MAX_NS 1000000
enum { RUN_MIN = 64 }; /* consecutive tickets that make a stream the recent one */

struct le_device_stream *le_stream_find(struct le_device *device, uint64_t id) {
    int low = 0, high = device->stream_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (device->streams[middle]->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < device->stream_count && device->streams[low]->id == id ? device->streams[low] : NULL;
}

struct le_device_stream *le_stream_recent(struct le_device *device) {
    struct le_device_stream *stream =
        device->run_length >= RUN_MIN ? le_stream_find(device, device->run_stream_id) : NULL;
    for (int k = 0; k < device->stream_count && stream; k++)
        if (device->streams[k] != stream && device->streams[k]->passed < device->streams[k]->number)
            return NULL;
    return stream;
}

void le_stream_passed(struct le_device_stream *stream, uint64_t number) {
    if (number <= stream->passed)
        return;
    stream->passed = number;
    le_device_notes_passed(stream->device, stream->id, number);
}

/* ---- what a stream has waited for */

static struct le_stream_wait *find_seen(const struct le_device_stream *stream, uint64_t id) {
    for (int k = 0; k < stream->seen_count; k++)
        if (stream->seen[k].stream_id == id)
            return &stream->seen[k];
    return NULL;
}

static void drop_old_seen(struct le_device_stream *stream) {
    int kept = 0;
    for (int k = 0; k < stream->seen_count; k++)
        if (le_stream_find(stream->device, stream->seen[k].stream_id))
            stream->seen[kept++] = stream->seen[k];
    stream->seen_count = kept;
}

/* If out of memory, nothing is remembered, which costs another wait later. */
void le_stream_remember(struct le_device_stream *stream, uint64_t id, uint64_t number) {
    struct le_stream_wait *seen = find_seen(stream, id);
    if (!seen) {
        if (stream->seen_count == stream->seen_capacity)
            drop_old_seen(stream);
        if (stream->seen_count == stream->seen_capacity) {
            int capacity = stream->seen_capacity ? 2 * stream->seen_capacity : 8;
            struct le_stream_wait *grown = le_realloc(stream->seen, (size_t)capacity * sizeof *grown);
            if (!grown)
                return;
            stream->seen = grown;
            stream->seen_capacity = capacity;
        }
        seen = &stream->seen[stream->seen_count++];
        *seen = (struct le_stream_wait){.stream_id = id};
    }
    if (number > seen->number)
        seen->number = number;
}

bool le_point_passed(struct le_device *device, struct le_point point, const struct le_device_stream *stream) {
    if (point.stream_id == 0 || (stream && point.stream_id == stream->id))
        return true;
    const struct le_stream_wait *seen = stream ? find_seen(stream, point.stream_id) : NULL;
    if (seen && point.number <= seen->number)
        return true;
    const struct le_device_stream *producer = le_stream_find(device, point.stream_id);
    return !producer || point.number <= producer->passed;
}

/* ---- marks */

static leat_status take_mark(struct le_device *device, struct le_mark **mark) {
    struct le_mark *made = device->marks;
    if (made) {
        device->marks = made->next;
    } else {
        made = le_alloc_zero(1, sizeof *made);
        if (!made)
            return le_fail_out_of_memory(sizeof *made);
        leat_status status = device->ops->event_new(device->native, false, &made->event);
        if (status) {
            le_free(made);
            return status;
        }
    }
    *made = (struct le_mark){.event = made->event, .holders = 1};
    *mark = made;
    return LEAT_OK;
}

void le_mark_drop(struct le_device *device, struct le_mark *mark) {
    if (!mark || --mark->holders > 0)
        return;
    mark->next = device->marks;
    device->marks = mark;
}

void le_marks_free(struct le_device *device) {
    while (device->marks) {
        struct le_mark *mark = device->marks;
        device->marks = mark->next;
        device->ops->event_free(device->native, mark->event);
        le_free(mark);
    }
}

leat_status le_stream_mark(struct le_device_stream *stream, uint64_t *unsettled) {
    struct le_device *device = stream->device;
    if (stream->mark && stream->mark->number >= stream->number)
        return LEAT_OK;
    assert(!stream->finished);
    if (!le_stream_is_settled(device, stream->id)) {
        *unsettled = stream->id;
        return LEAT_OK;
    }
    struct le_mark *mark = stream->mark;
    leat_status status = LEAT_OK;
    if (!mark || mark->holders > 1)
        status = take_mark(device, &mark);
    if (status)
        return status;
    status = device->ops->event_record(device->native, mark->event, stream->native);
    if (status) {
        if (mark != stream->mark)
            le_mark_drop(device, mark);
        return status;
    }
    mark->number = stream->number;
    if (mark != stream->mark) {
        le_mark_drop(device, stream->mark);
        stream->mark = mark;
    }
    return LEAT_OK;
}

/* ---- points */

/* Finds the stream of a point that may not have passed yet, and makes its mark cover the point. NULL: passed,
 * unsettled, or failed. */
static leat_status cover_point(struct le_device *device, struct le_point point, uint64_t *unsettled,
                               struct le_device_stream **producer) {
    struct le_device_stream *stream = le_stream_find(device, point.stream_id);
    *producer = NULL;
    if (!stream || point.number <= stream->passed)
        return LEAT_OK;
    if (!stream->mark || stream->mark->number < point.number) {
        leat_status status = le_stream_mark(stream, unsettled);
        if (status || *unsettled)
            return status;
    }
    *producer = stream;
    return LEAT_OK;
}

leat_status le_point_query(struct le_device *device, struct le_point point, bool *passed) {
    struct le_device_stream *producer;
    uint64_t unsettled = 0;
    *passed = le_point_passed(device, point, NULL);
    if (*passed)
        return LEAT_OK;
    leat_status status = cover_point(device, point, &unsettled, &producer);
    if (status || unsettled)
        return status;
    *passed = !producer;
    if (producer)
        status = device->ops->event_query(device->native, producer->mark->event, passed);
    if (!status && producer && *passed)
        le_stream_passed(producer, producer->mark->number);
    return status;
}

leat_status le_point_need(struct le_device_stream *stream, struct le_point point, uint64_t *unsettled) {
    struct le_device *device = stream->device;
    struct le_device_stream *producer;
    *unsettled = 0;
    if (le_point_passed(device, point, stream))
        return LEAT_OK;
    leat_status status = cover_point(device, point, unsettled, &producer);
    if (status || *unsettled || !producer)
        return status;
    status = device->ops->stream_wait(device->native, stream->native, producer->mark->event);
    if (!status)
        le_stream_remember(stream, producer->id, producer->mark->number);
    return status;
}

/* ---- allocations */

int le_order_points(const struct le_order *order, struct le_point *points) {
    int count = 0;
    if (order->write.stream_id)
        points[count++] = order->write;
    for (int k = 0; k < order->read_count; k++)
        points[count++] = order->reads[k];
    return count;
}

static struct le_point *find_read(struct le_order *order, uint64_t stream_id) {
    for (int k = 0; k < order->read_count; k++)
        if (order->reads[k].stream_id == stream_id)
            return &order->reads[k];
    return NULL;
}

/* Reserves an entry for the stream among the reads, so that end cannot fail. If too many streams read, this stream
 * waits for one of the others, and its own next ticket stands for both. */
static leat_status reserve_read(struct le_device_stream *stream, struct le_order *order, uint64_t *unsettled) {
    if (find_read(order, stream->id) || stream->device->limits.host_is_device)
        return LEAT_OK;
    struct le_point mine = {.stream_id = stream->id, .number = stream->number};
    if (order->read_count == LE_ORDER_READS) {
        leat_status status = le_point_need(stream, order->reads[0], unsettled);
        if (status || *unsettled)
            return status;
        mine.number = ++stream->number;
        order->reads[0] = order->reads[--order->read_count];
    }
    order->reads[order->read_count++] = mine;
    return LEAT_OK;
}

static leat_status begin_use(struct le_device_stream *stream, const struct le_allocation_use *use,
                             uint64_t *unsettled) {
    struct le_order *order = &use->allocation->order;
    if (order->error && (use->access & LE_ACCESS_READ))
        return le_fail(order->error, "its contents are invalid: the operation that produced it failed");
    leat_status status = le_point_need(stream, order->write, unsettled);
    if (!(use->access & LE_ACCESS_WRITE))
        return status || *unsettled ? status : reserve_read(stream, order, unsettled);
    for (int k = 0; k < order->read_count && !status && !*unsettled; k++)
        status = le_point_need(stream, order->reads[k], unsettled);
    return status;
}

/* ---- waits of a run that is watched, or whose work can be stopped (cancel.h): the host polls, so that it can end the
 * run */

static struct le_cancel *find_watched(const struct le_device *device) {
    struct le_cancel *cancel = device->limits.host_is_device ? NULL : le_cancel_here();
    return cancel && (cancel->proceed || cancel->token) ? cancel : NULL;
}

/* First polls without a pause, then with longer and longer ones, so that the wait takes at most a few percent longer
 * than another. */
static void pause_since(uint64_t start_ns) {
    uint64_t pause_ns = (le_clock_ns() - start_ns) / 32;
    const struct timespec pause = {.tv_nsec = pause_ns < PAUSE_MAX_NS ? (long)pause_ns : PAUSE_MAX_NS};
    if (pause_ns >= PAUSE_MIN_NS)
        nanosleep(&pause, NULL);
}

/* *passed: the stream's work so far is done. It stays false until all its pageable copies are enqueued. */
static leat_status poll_stream(struct le_device_stream *stream, bool *passed) {
    struct le_device *device = stream->device;
    struct le_device_stream *producer;
    uint64_t unsettled = 0;
    pthread_mutex_lock(&device->lock);
    const struct le_point point = {.stream_id = stream->id, .number = stream->number};
    leat_status status = cover_point(device, point, &unsettled, &producer);
    *passed = !status && !unsettled && !producer;
    if (producer)
        status = device->ops->event_query(device->native, producer->mark->event, passed);
    pthread_mutex_unlock(&device->lock);
    return status;
}

leat_status le_stream_watch(struct le_device_stream *stream, const char *what, const char *cause) {
    bool passed = !find_watched(stream->device);
    leat_status status = LEAT_OK;
    if (passed)
        return LEAT_OK;
    struct le_device_span span;
    uint64_t start_ns = le_clock_ns();
    le_device_span_begin(stream->device, &span, LEAT_COST_WAIT, what, cause);
    while (!status && !passed) {
        status = le_cancel_check();
        if (!status)
            status = poll_stream(stream, &passed);
        if (!status && !passed)
            pause_since(start_ns);
    }
    le_device_span_end(&span, 0);
    return status;
}

static leat_status settle(struct le_device *device, uint64_t stream_id) {
    leat_status status = LEAT_OK;
    uint64_t start_ns = 0;
    if (find_watched(device))
        for (start_ns = le_clock_ns(); !status && !le_stream_is_settled(device, stream_id); pause_since(start_ns))
            status = le_cancel_check();
    if (!status)
        le_stream_settle(device, stream_id);
    return status;
}

/* ---- operations */

/* Call without the lock. Waits enqueued before something turned out to be unsettled are remembered, and not
 * repeated. */
leat_status le_order_begin(struct le_device_stream *stream, const struct le_allocation_use *uses, int count) {
    struct le_device *device = stream->device;
    leat_status status = le_device_check(device);
    if (status)
        return status;
    uint64_t unsettled = stream->id;
    while (!status && unsettled) {
        status = settle(device, unsettled);
        unsettled = 0;
        if (status)
            break;
        pthread_mutex_lock(&device->lock);
        for (int k = 0; k < count && !status && !unsettled; k++)
            status = begin_use(stream, &uses[k], &unsettled);
        pthread_mutex_unlock(&device->lock);
    }
    return status;
}

static void end_use(struct le_point mine, struct le_allocation_use use) {
    struct le_order *order = &use.allocation->order;
    if (use.access & LE_ACCESS_WRITE) {
        order->write = mine;
        order->read_count = 0;
        if (use.access == LE_ACCESS_WRITE)
            order->error = LEAT_OK;
        return;
    }
    struct le_point *read = find_read(order, mine.stream_id);
    if (read)
        *read = mine;
    else if (mine.stream_id && order->read_count < LE_ORDER_READS) /* a write by another thread came between */
        order->reads[order->read_count++] = mine;
}

uint64_t le_order_issue(struct le_device_stream *stream, const struct le_allocation_use *uses, int count) {
    struct le_device *device = stream->device;
    struct le_point mine = {.stream_id = stream->id, .number = ++stream->number};
    device->run_length = device->run_stream_id == stream->id ? device->run_length + 1 : 1;
    device->run_stream_id = stream->id;
    if (device->limits.host_is_device) {
        stream->passed = stream->number;
        mine = (struct le_point){0};
    }
    for (int k = 0; k < count; k++)
        end_use(mine, uses[k]);
    return stream->number;
}

/* Call without the lock. */
uint64_t le_order_end(struct le_device_stream *stream, const struct le_allocation_use *uses, int count, bool done) {
    if (!done)
        return 0;
    pthread_mutex_lock(&stream->device->lock);
    uint64_t number = le_order_issue(stream, uses, count);
    pthread_mutex_unlock(&stream->device->lock);
    return number;
}

void le_order_set_error(struct le_allocation *allocation, leat_status status) {
    pthread_mutex_lock(&allocation->device->lock);
    allocation->order.error = status;
    pthread_mutex_unlock(&allocation->device->lock);
}

/* ---- waiting on the host; call without the lock */

/* What a wait uses: the mark that covers the point, held, or, if there is none, the stream itself, pinned. */
struct host_wait {
    struct le_mark *mark;
    struct le_device_stream *stream;
    uint64_t number; /* ticket passed when the wait ends */
};

static leat_status fail_unknown(const struct le_device *device, struct le_point point) {
    return le_fail(LEAT_INVALID,
                   "the ticket is of stream %" PRIu64 ", which is not a stream of this context's device (%s)",
                   point.stream_id, device->limits.kind);
}

/* *stream: NULL if it was freed and its work is done. */
static leat_status find_point(struct le_device *device, struct le_point point, struct le_device_stream **stream) {
    struct le_device_stream *found = *stream = le_stream_find(device, point.stream_id);
    if (!found)
        return point.stream_id > device->last_stream_id ? fail_unknown(device, point) : LEAT_OK;
    if (point.number > found->number)
        return le_fail(LEAT_INVALID,
                       "ticket %" PRIu64 " of stream %" PRIu64 " does not exist yet; the last one is %" PRIu64,
                       point.number, point.stream_id, found->number);
    return LEAT_OK;
}

static leat_status begin_host_wait(struct le_device *device, struct le_point point, struct host_wait *waited) {
    struct le_device_stream *stream;
    leat_status status = find_point(device, point, &stream);
    *waited = (struct host_wait){0};
    if (status || !stream || point.number <= stream->passed)
        return status;
    if (stream->mark && stream->mark->number >= point.number) {
        stream->mark->holders++;
        *waited = (struct host_wait){.mark = stream->mark, .number = stream->mark->number};
    } else {
        /* copies up to the point are enqueued; later ones may not be in the native stream yet */
        bool settled = le_stream_is_settled(device, stream->id);
        stream->pins++;
        *waited = (struct host_wait){.stream = stream, .number = settled ? stream->number : point.number};
    }
    return LEAT_OK;
}

static void end_host_wait(struct le_device *device, struct le_point point, const struct host_wait *waited,
                          bool passed) {
    pthread_mutex_lock(&device->lock);
    le_mark_drop(device, waited->mark);
    if (waited->stream)
        waited->stream->pins--;
    struct le_device_stream *stream = le_stream_find(device, point.stream_id);
    if (stream && passed)
        le_stream_passed(stream, waited->number);
    pthread_mutex_unlock(&device->lock);
}

leat_status le_point_wait_for(struct le_device *device, struct le_point point, const char *what, const char *cause) {
    struct host_wait waited;
    if (point.stream_id == 0)
        return le_device_check(device);
    le_stream_settle(device, point.stream_id);
    pthread_mutex_lock(&device->lock);
    leat_status status = begin_host_wait(device, point, &waited);
    pthread_mutex_unlock(&device->lock);
    if (!status && (waited.mark || waited.stream)) {
        struct le_device_span span;
        le_device_span_begin(device, &span, LEAT_COST_WAIT, what, cause);
        status = waited.mark ? device->ops->event_synchronize(device->native, waited.mark->event)
                             : device->ops->stream_synchronize(device->native, waited.stream->native);
        le_device_span_end(&span, 0);
        end_host_wait(device, point, &waited, status == LEAT_OK);
    }
    struct le_staging *stager = atomic_load_explicit(&device->stager, memory_order_acquire);
    leat_status staged = stager ? le_staging_wait(stager, point.stream_id, point.number) : LEAT_OK;
    return status ? status : staged;
}

leat_status le_point_wait(struct le_device *device, struct le_point point) {
    return le_point_wait_for(device, point, "ticket", "");
}

leat_status le_device_wait_point(struct le_device *device, uint64_t stream_id, uint64_t number) {
    leat_status status = le_device_check(device);
    return status ? status : le_point_wait(device, (struct le_point){.stream_id = stream_id, .number = number});
}

static leat_status poll_point(struct le_device *device, struct le_point point, bool *passed) {
    struct le_device_stream *stream;
    pthread_mutex_lock(&device->lock);
    leat_status status = find_point(device, point, &stream);
    if (!status)
        status = le_point_query(device, point, passed);
    pthread_mutex_unlock(&device->lock);
    return status;
}

/* The last wait is short: it fills the host memory of small downloads, and returns errors of copies. */
leat_status le_device_wait_point_for(struct le_device *device, struct le_point point, uint64_t limit_ns, bool *passed) {
    bool is_done = point.stream_id == 0;
    uint64_t start_ns = le_clock_ns();
    struct le_device_span span;
    leat_status status = le_device_check(device);
    if (!status && !is_done)
        status = poll_point(device, point, &is_done);
    if (!status && !is_done && limit_ns) {
        le_device_span_begin(device, &span, LEAT_COST_WAIT, "ticket", "");
        while (!status && !is_done && le_clock_ns() - start_ns < limit_ns) {
            pause_since(start_ns);
            status = poll_point(device, point, &is_done);
        }
        le_device_span_end(&span, 0);
    }
    if (!status && is_done)
        status = le_point_wait(device, point);
    if (!status)
        *passed = is_done;
    return status;
}
