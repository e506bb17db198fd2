/* See device_time.h. A single sweep over operations, calls, compilations and recorded periods, each sorted by start.
 * The open ones are in a heap ordered by end. */
#include "trace/device_time.h"
#include "base/status.h"
#include <stdlib.h>

static const char *const names[LE_HOST_STATES] = {
    [LE_HOST_PAUSED] = "not recorded",
    [LE_HOST_COMPILING] = "compiling or loading code",
    [LE_HOST_LAUNCHING] = "launching",
    [LE_HOST_COPYING] = "in calls that copy or set memory",
    [LE_HOST_ALLOCATING] = "allocating or releasing memory",
    [LE_HOST_STARTING] = "starting CUDA",
    [LE_HOST_CALLING] = "in other CUDA calls",
    [LE_HOST_WAITING] = "waiting for the device",
    [LE_HOST_OTHER] = "in other program code",
};

const char *le_host_state_name(enum le_host_state state) {
    return names[state];
}

enum le_host_state le_host_state_of(enum le_call_kind kind) {
    static const enum le_host_state states[] = {
        [LE_CALL_OTHER] = LE_HOST_CALLING,
        [LE_CALL_LAUNCH] = LE_HOST_LAUNCHING,
        [LE_CALL_GRAPH_LAUNCH] = LE_HOST_LAUNCHING,
        [LE_CALL_GRAPH_BUILD] = LE_HOST_LAUNCHING,
        [LE_CALL_COPY] = LE_HOST_COPYING,
        [LE_CALL_COPY_ASYNC] = LE_HOST_COPYING,
        [LE_CALL_SET] = LE_HOST_COPYING,
        [LE_CALL_WAIT] = LE_HOST_WAITING,
        [LE_CALL_QUERY] = LE_HOST_WAITING,
        [LE_CALL_ORDER] = LE_HOST_CALLING,
        [LE_CALL_ALLOCATE] = LE_HOST_ALLOCATING,
        [LE_CALL_RELEASE] = LE_HOST_ALLOCATING,
        [LE_CALL_PIN] = LE_HOST_ALLOCATING,
        [LE_CALL_LOAD] = LE_HOST_COMPILING,
        [LE_CALL_START] = LE_HOST_STARTING,
    };
    return states[kind];
}

/* ---- the walk */

enum { KERNELS = LE_HOST_STATES, COPIES, RECORDED, STATES }; /* further states, after the host's */

/* A period in which one process was recorded. */
struct recorded_period {
    uint64_t start_ns, end_ns;
};

struct open_span {
    uint64_t end_ns;
    int state;
};
struct time_walk {
    const struct le_trace_index *index;
    struct le_arena *arena;
    int32_t device;
    bool *uses; /* by process: whether it uses the device */
    struct {
        struct recorded_period *at;
        int count, capacity;
    } recorded;                                        /* of all processes that use the device, sorted by start */
    int32_t operation, call, overhead, jit, recording; /* the next one in each table */
    struct {
        struct open_span *at;
        int count, capacity;
    } heap; /* the one that ends first is at the top */
    int64_t open[STATES];
};

static void heap_push(struct time_walk *walk, struct open_span span) {
    int k = walk->heap.count;
    *LE_PUSH(walk->arena, &walk->heap) = span;
    for (; k > 0 && walk->heap.at[(k - 1) / 2].end_ns > span.end_ns; k = (k - 1) / 2)
        walk->heap.at[k] = walk->heap.at[(k - 1) / 2];
    walk->heap.at[k] = span;
    walk->open[span.state]++;
}

static void heap_pop(struct time_walk *walk) {
    struct open_span *at = walk->heap.at, last = at[--walk->heap.count];
    int k = 0, count = walk->heap.count;
    walk->open[at[0].state]--;
    for (int child = 1; child < count; child = 2 * k + 1) {
        if (child + 1 < count && at[child + 1].end_ns < at[child].end_ns)
            child++;
        if (at[child].end_ns >= last.end_ns)
            break;
        at[k] = at[child];
        k = child;
    }
    at[k] = last;
}

static bool uses_device(const struct time_walk *walk, int32_t thread) {
    return walk->uses[walk->index->threads.at[thread].process];
}

static bool is_compiling(const struct le_host_span *overhead) {
    return overhead->kind == LE_TRACE_OVERHEAD_COMPILER || overhead->kind == LE_TRACE_OVERHEAD_LAZY_LOADING;
}

/* Skips entries of other devices. */
static void skip_others(struct time_walk *walk) {
    const struct le_trace_index *index = walk->index;
    while (walk->operation < index->operations.count &&
           index->streams.at[index->operations.at[walk->operation].stream].device != walk->device)
        walk->operation++;
    while (walk->call < index->calls.count && !uses_device(walk, index->calls.at[walk->call].thread))
        walk->call++;
    while (walk->overhead < index->overheads.count && (!is_compiling(&index->overheads.at[walk->overhead]) ||
                                                       !uses_device(walk, index->overheads.at[walk->overhead].thread)))
        walk->overhead++;
    while (walk->jit < index->jits.count && !uses_device(walk, index->jits.at[walk->jit].thread))
        walk->jit++;
}

/* Chooses this entry as the next to start, if it starts before *start. */
static void consider_start(uint64_t start_ns, uint64_t end_ns, int state, int32_t *cursor, uint64_t *start,
                           struct open_span *span, int32_t **chosen) {
    if (start_ns >= *start)
        return;
    *start = start_ns;
    *span = (struct open_span){.end_ns = end_ns, .state = state};
    *chosen = cursor;
}

/* Finds the next entry to start, and returns its cursor, which the caller advances; NULL: there is none. */
static int32_t *next_start(struct time_walk *walk, uint64_t *start, struct open_span *span) {
    const struct le_trace_index *index = walk->index;
    int32_t *chosen = NULL;
    *start = UINT64_MAX;
    skip_others(walk);
    if (walk->operation < index->operations.count) {
        const struct le_operation *at = &index->operations.at[walk->operation];
        bool is_kernel = at->kind == LE_OPERATION_KERNEL || at->kind == LE_OPERATION_GRAPH;
        consider_start(at->start_ns, at->end_ns, is_kernel ? KERNELS : COPIES, &walk->operation, start, span, &chosen);
    }
    if (walk->call < index->calls.count) {
        const struct le_call *at = &index->calls.at[walk->call];
        int state = (int)le_host_state_of((enum le_call_kind)at->kind);
        consider_start(at->start_ns, at->end_ns, state, &walk->call, start, span, &chosen);
    }
    if (walk->overhead < index->overheads.count) {
        const struct le_host_span *at = &index->overheads.at[walk->overhead];
        consider_start(at->start_ns, at->end_ns, LE_HOST_COMPILING, &walk->overhead, start, span, &chosen);
    }
    if (walk->jit < index->jits.count) {
        const struct le_host_span *at = &index->jits.at[walk->jit];
        consider_start(at->start_ns, at->end_ns, LE_HOST_COMPILING, &walk->jit, start, span, &chosen);
    }
    if (walk->recording < walk->recorded.count) {
        const struct recorded_period *at = &walk->recorded.at[walk->recording];
        consider_start(at->start_ns, at->end_ns, RECORDED, &walk->recording, start, span, &chosen);
    }
    return chosen;
}

static void report_moment(const struct time_walk *walk, uint64_t start_ns, uint64_t end_ns, le_device_moment_take *take,
                          void *user) {
    struct le_device_moment moment = {.start_ns = start_ns,
                                      .end_ns = end_ns,
                                      .kernels = walk->open[KERNELS] > 0,
                                      .copies = walk->open[COPIES] > 0,
                                      .host = LE_HOST_OTHER};
    if (walk->recorded.count && walk->open[RECORDED] == 0)
        moment.host = LE_HOST_PAUSED;
    for (int state = 0; state < LE_HOST_OTHER && moment.host == LE_HOST_OTHER; state++)
        if (walk->open[state] > 0)
            moment.host = (enum le_host_state)state;
    if (end_ns > start_ns)
        take(user, &moment);
}

static void mark_processes(struct time_walk *walk) {
    walk->uses = LE_NEW_ARRAY(walk->arena, walk->index->processes.count, bool);
    for (int32_t k = 0; k < walk->index->uses.count; k++)
        if (walk->index->uses.at[k].device == walk->device)
            walk->uses[walk->index->uses.at[k].process] = true;
}

static void add_recorded(struct time_walk *walk, uint64_t start_ns, uint64_t end_ns) {
    if (start_ns < end_ns)
        *LE_PUSH(walk->arena, &walk->recorded) = (struct recorded_period){start_ns, end_ns};
}

static int compare_recorded(const void *a_, const void *b_) {
    const struct recorded_period *a = a_, *b = b_;
    return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

/* A process is recorded from its start to its end, except in its pauses. */
static void find_recorded_periods(struct time_walk *walk) {
    const struct le_trace_index *index = walk->index;
    uint64_t *since = LE_NEW_ARRAY(walk->arena, index->processes.count, uint64_t);
    for (int32_t k = 0; k < index->processes.count; k++)
        since[k] = index->processes.at[k].start_ns;
    for (int32_t k = 0; k < index->pauses.count; k++) {
        const struct le_pause *pause = &index->pauses.at[k];
        if (!walk->uses[pause->process])
            continue;
        add_recorded(walk, since[pause->process], pause->start_ns);
        since[pause->process] = pause->end_ns > since[pause->process] ? pause->end_ns : since[pause->process];
    }
    for (int32_t k = 0; k < index->processes.count; k++)
        if (walk->uses[k])
            add_recorded(walk, since[k], index->processes.at[k].end_ns);
    if (walk->recorded.count)
        qsort(walk->recorded.at, (size_t)walk->recorded.count, sizeof *walk->recorded.at, compare_recorded);
}

void le_device_time_walk(const struct le_trace_index *index, int32_t device, struct le_arena *arena,
                         le_device_moment_take *take, void *user) {
    struct time_walk walk = {.index = index, .arena = arena, .device = device};
    mark_processes(&walk);
    find_recorded_periods(&walk);
    for (uint64_t now = index->start_ns; now < index->end_ns;) {
        uint64_t start, next = index->end_ns;
        struct open_span span;
        int32_t *cursor = next_start(&walk, &start, &span);
        if (cursor && start <= now) {
            ++*cursor;
            if (span.end_ns > now)
                heap_push(&walk, span);
            continue;
        }
        if (walk.heap.count > 0 && walk.heap.at[0].end_ns <= now) {
            heap_pop(&walk);
            continue;
        }
        next = start < next ? start : next;
        if (walk.heap.count > 0 && walk.heap.at[0].end_ns < next)
            next = walk.heap.at[0].end_ns;
        report_moment(&walk, now, next, take, user);
        now = next;
    }
}

/* ---- sums */

struct sums {
    struct le_device_time *time;
    bool was_idle;
};

static void add_moment(void *user, const struct le_device_moment *moment) {
    struct sums *sums = user;
    struct le_device_time *time = sums->time;
    uint64_t time_ns = moment->end_ns - moment->start_ns;
    bool is_busy = moment->kernels || moment->copies;
    time->wall_ns += time_ns;
    time->kernel_ns += moment->kernels ? time_ns : 0;
    time->copy_ns += moment->copies ? time_ns : 0;
    time->both_ns += moment->kernels && moment->copies ? time_ns : 0;
    time->busy_ns += is_busy ? time_ns : 0;
    time->gaps += !is_busy && !sums->was_idle;
    sums->was_idle = !is_busy;
    if (is_busy)
        return;
    time->idle_ns += time_ns;
    time->host_ns[moment->host] += time_ns;
}

void le_device_time_find(const struct le_trace_index *index, int32_t device, struct le_arena *arena,
                         struct le_device_time *time) {
    struct sums sums = {.time = time};
    *time = (struct le_device_time){0};
    le_device_time_walk(index, device, arena, add_moment, &sums);
}
