/* See timeline.h. Settled gaps are kept as sums by cause, so that a long run needs no more memory than a short one.
 * Static functions run under the lock. */
#include "device/front/timeline.h"
#include "base/memory.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUSY_MAX   (1 << 16)
#define HOST_MAX   (1 << 16)
#define CAUSES_MAX 256
#define THREADS    16 /* threads whose nesting is tracked separately */
#define DEPTH_MAX  16
#define WALK_MAX   4096 /* host spans examined for one gap */

struct busy {
    uint64_t start_ns, stop_ns;
};
struct host {
    uint64_t start_ns, stop_ns;
    int cause, depth;
    unsigned thread;
};
/* A kind and text of host spans: their share of the current gap, and the gaps assigned to them that
 * le_timeline_next_gaps has not returned. */
struct cause {
    leat_cost_kind kind;
    char *what;
    uint64_t here_ns, gaps_ns, gaps;
};
struct le_timeline {
    pthread_mutex_t lock;
    struct busy *busy;
    int busy_count, busy_capacity;
    struct host *host;
    int host_count, host_capacity;
    struct cause causes[CAUSES_MAX]; /* 0: the program's own time; 1: all causes beyond CAUSES_MAX */
    int cause_count;
    uint64_t first_ns, last_ns; /* settled from first_ns to last_ns; 0: nothing is settled */
    struct le_timeline_sums sums;
};

static void set_first_causes(struct le_timeline *timeline) {
    timeline->causes[0] = (struct cause){.kind = LEAT_COST_OTHER};
    timeline->causes[1] = (struct cause){.kind = LEAT_COST_OTHER};
    timeline->cause_count = 2;
}

struct le_timeline *le_timeline_new(void) {
    struct le_timeline *timeline = le_alloc_zero(1, sizeof *timeline);
    if (!timeline)
        return NULL;
    pthread_mutex_init(&timeline->lock, NULL);
    set_first_causes(timeline);
    return timeline;
}

static void clear_timeline(struct le_timeline *timeline) {
    for (int k = 2; k < timeline->cause_count; k++)
        le_free(timeline->causes[k].what);
    set_first_causes(timeline);
    timeline->busy_count = timeline->host_count = 0;
    timeline->first_ns = timeline->last_ns = 0;
    timeline->sums = (struct le_timeline_sums){0};
}

void le_timeline_clear(struct le_timeline *timeline) {
    pthread_mutex_lock(&timeline->lock);
    clear_timeline(timeline);
    pthread_mutex_unlock(&timeline->lock);
}

void le_timeline_free(struct le_timeline *timeline) {
    if (!timeline)
        return;
    clear_timeline(timeline);
    pthread_mutex_destroy(&timeline->lock);
    le_free(timeline->busy);
    le_free(timeline->host);
    le_free(timeline);
}

/* Makes room for one more element of size_bytes; false: out of memory. */
static bool make_room(void **at, int count, int *capacity, size_t size_bytes) {
    if (count < *capacity)
        return true;
    int more = *capacity ? 2 * *capacity : 64;
    void *grown = le_realloc(*at, (size_t)more * size_bytes);
    if (!grown)
        return false;
    *at = grown;
    *capacity = more;
    return true;
}

/* ---- adding */

static int find_cause(struct le_timeline *timeline, leat_cost_kind kind, const char *what) {
    for (int k = 2; k < timeline->cause_count; k++)
        if (timeline->causes[k].kind == kind && strcmp(timeline->causes[k].what, what) == 0)
            return k;
    char *copy = timeline->cause_count < CAUSES_MAX ? le_strdup(what) : NULL;
    if (!copy)
        return 1;
    timeline->causes[timeline->cause_count] = (struct cause){.kind = kind, .what = copy};
    return timeline->cause_count++;
}

static void settle_busy(struct le_timeline *timeline);

static void add_busy(struct le_timeline *timeline, uint64_t start_ns, uint64_t stop_ns) {
    if (timeline->busy_count == BUSY_MAX)
        settle_busy(timeline);
    if (!make_room((void **)&timeline->busy, timeline->busy_count, &timeline->busy_capacity, sizeof *timeline->busy)) {
        timeline->sums.dropped++;
        return;
    }
    timeline->busy[timeline->busy_count++] = (struct busy){start_ns, stop_ns > start_ns ? stop_ns : start_ns};
}

void le_timeline_busy(struct le_timeline *timeline, uint64_t start_ns, uint64_t stop_ns) {
    pthread_mutex_lock(&timeline->lock);
    add_busy(timeline, start_ns, stop_ns);
    pthread_mutex_unlock(&timeline->lock);
}

static void add_host(struct le_timeline *timeline, const struct host *host) {
    if (timeline->host_count == HOST_MAX) { /* drops the older half */
        timeline->host_count /= 2;
        memmove(timeline->host, timeline->host + timeline->host_count,
                (size_t)timeline->host_count * sizeof *timeline->host);
    }
    if (!make_room((void **)&timeline->host, timeline->host_count, &timeline->host_capacity, sizeof *timeline->host)) {
        timeline->sums.dropped++;
        return;
    }
    timeline->host[timeline->host_count++] = *host;
}

void le_timeline_host(struct le_timeline *timeline, unsigned thread, int depth, uint64_t start_ns, uint64_t stop_ns,
                      leat_cost_kind kind, const char *what) {
    pthread_mutex_lock(&timeline->lock);
    add_host(timeline, &(struct host){.start_ns = start_ns,
                                      .stop_ns = stop_ns,
                                      .cause = find_cause(timeline, kind, what),
                                      .depth = depth < DEPTH_MAX ? depth : DEPTH_MAX - 1,
                                      .thread = thread % THREADS});
    pthread_mutex_unlock(&timeline->lock);
}

/* ---- settling */

static uint64_t overlap(const struct host *host, uint64_t start_ns, uint64_t stop_ns) {
    uint64_t low = host->start_ns > start_ns ? host->start_ns : start_ns;
    uint64_t high = host->stop_ns < stop_ns ? host->stop_ns : stop_ns;
    return high > low ? high - low : 0;
}

/* Finds the first span that ends after a time. Spans of one thread are sorted by their ends; those of several threads
 * nearly so. The few that are out of order are examined in vain. */
static int first_ending_after(const struct le_timeline *timeline, uint64_t time_ns) {
    int low = 0, high = timeline->host_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (timeline->host[middle].stop_ns <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Charges to each span's cause the part of the span that lies in the gap, less the parts of its inner spans. Spans that
 * begin after the gap contribute nothing, nor do outer ones that end much later: the walk ends with the first outermost
 * span that begins after the gap. */
static uint64_t charge_spans(struct le_timeline *timeline, uint64_t start_ns, uint64_t stop_ns) {
    uint64_t inner_ns[THREADS][DEPTH_MAX + 1] = {{0}}, outermost_ns = 0;
    int first = first_ending_after(timeline, start_ns);
    int end = timeline->host_count - first > WALK_MAX ? first + WALK_MAX : timeline->host_count;
    for (int k = first; k < end; k++) {
        const struct host *host = &timeline->host[k];
        uint64_t part_ns = overlap(host, start_ns, stop_ns), *inner = inner_ns[host->thread];
        uint64_t within_ns = inner[host->depth + 1] < part_ns ? inner[host->depth + 1] : part_ns;
        timeline->causes[host->cause].here_ns += part_ns - within_ns;
        inner[host->depth + 1] = 0;
        inner[host->depth] += part_ns;
        if (host->depth == 0)
            outermost_ns += part_ns;
        if (host->depth == 0 && host->start_ns >= stop_ns)
            break;
    }
    return outermost_ns;
}

static void explain_gap(struct le_timeline *timeline, uint64_t start_ns, uint64_t stop_ns) {
    for (int k = 0; k < timeline->cause_count; k++)
        timeline->causes[k].here_ns = 0;
    uint64_t inside_ns = charge_spans(timeline, start_ns, stop_ns), gap_ns = stop_ns - start_ns;
    timeline->causes[0].here_ns = gap_ns > inside_ns ? gap_ns - inside_ns : 0;
    int most = 0;
    for (int k = 1; k < timeline->cause_count; k++)
        if (timeline->causes[k].here_ns > timeline->causes[most].here_ns)
            most = k;
    timeline->causes[most].gaps_ns += gap_ns;
    timeline->causes[most].gaps++;
    timeline->sums.idle_ns += gap_ns;
}

static int compare_starts(const void *a, const void *b) {
    const struct busy *x = a, *y = b;
    return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* Intervals come in the order of their starts. */
static void settle_interval(struct le_timeline *timeline, const struct busy *busy) {
    timeline->sums.total_ns += busy->stop_ns - busy->start_ns;
    if (timeline->first_ns == 0)
        timeline->first_ns = timeline->last_ns = busy->start_ns;
    if (busy->start_ns > timeline->last_ns) {
        explain_gap(timeline, timeline->last_ns, busy->start_ns);
        timeline->last_ns = busy->start_ns;
    }
    if (busy->stop_ns > timeline->last_ns) {
        timeline->sums.busy_ns += busy->stop_ns - timeline->last_ns;
        timeline->last_ns = busy->stop_ns;
    }
}

static void settle_busy(struct le_timeline *timeline) {
    if (timeline->busy_count)
        qsort(timeline->busy, (size_t)timeline->busy_count, sizeof *timeline->busy, compare_starts);
    for (int k = 0; k < timeline->busy_count; k++)
        settle_interval(timeline, &timeline->busy[k]);
    timeline->busy_count = 0;
    timeline->sums.span_ns = timeline->last_ns - timeline->first_ns;
}

struct le_timeline_sums le_timeline_settle(struct le_timeline *timeline) {
    pthread_mutex_lock(&timeline->lock);
    settle_busy(timeline);
    struct le_timeline_sums sums = timeline->sums;
    pthread_mutex_unlock(&timeline->lock);
    return sums;
}

bool le_timeline_next_gaps(struct le_timeline *timeline, struct le_timeline_gaps *gaps) {
    bool found = false;
    pthread_mutex_lock(&timeline->lock);
    for (int k = 0; k < timeline->cause_count && !found; k++) {
        struct cause *cause = &timeline->causes[k];
        if (!cause->gaps)
            continue;
        *gaps = (struct le_timeline_gaps){.kind = cause->kind, .time_ns = cause->gaps_ns, .count = cause->gaps};
        snprintf(gaps->what, sizeof gaps->what, "%s", cause->what ? cause->what : "");
        cause->gaps_ns = cause->gaps = 0;
        found = true;
    }
    pthread_mutex_unlock(&timeline->lock);
    return found;
}
