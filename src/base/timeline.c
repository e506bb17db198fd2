/* Sorting intervals, and asking of each gap what the host did in it. The gaps of what was settled are kept as sums by
 * cause, so that a long run needs no more memory than a short one. */
#include "base/timeline.h"
#include "base/memory.h"
#include <stdlib.h>
#include <string.h>

#define BUSY_MAX   (1 << 16)
#define HOST_MAX   (1 << 16)
#define CAUSES_MAX 256
#define THREADS    16 /* whose nesting is told apart */
#define DEPTH_MAX  16
#define WALK_MAX   4096 /* spans that are looked at for one gap */

struct busy {
    uint64_t start_ns, stop_ns;
};
struct host {
    uint64_t start_ns, stop_ns;
    int cause, depth;
    unsigned thread;
};
/* A kind and text of host spans: their part in the gap at hand, and the gaps that they explain. */
struct cause {
    leat_cost_kind kind;
    char *what;
    uint64_t here_ns, gaps_ns, gaps;
};
struct le_timeline {
    struct busy *busy;
    int busy_count, busy_capacity;
    struct host *host;
    int host_count, host_capacity;
    struct cause causes[CAUSES_MAX]; /* 0: the program's own time; 1: any other beyond the room there is */
    int cause_count;
    uint64_t first_ns, last_ns; /* settled up to here; 0: nothing was */
    struct le_timeline_sums sums;
};

static void set_first_causes(struct le_timeline *timeline) {
    timeline->causes[0] = (struct cause){.kind = LEAT_COST_OTHER};
    timeline->causes[1] = (struct cause){.kind = LEAT_COST_OTHER};
    timeline->cause_count = 2;
}

struct le_timeline *le_timeline_new(void) {
    struct le_timeline *timeline = le_alloc_zero(1, sizeof *timeline);
    if (timeline)
        set_first_causes(timeline);
    return timeline;
}

void le_timeline_clear(struct le_timeline *timeline) {
    for (int k = 2; k < timeline->cause_count; k++)
        le_free(timeline->causes[k].what);
    set_first_causes(timeline);
    timeline->busy_count = timeline->host_count = 0;
    timeline->first_ns = timeline->last_ns = 0;
    timeline->sums = (struct le_timeline_sums){0};
}

void le_timeline_free(struct le_timeline *timeline) {
    if (!timeline)
        return;
    le_timeline_clear(timeline);
    le_free(timeline->busy);
    le_free(timeline->host);
    le_free(timeline);
}

/* Room for one more of size_bytes each; false: there is none. */
static bool grow(void **at, int count, int *capacity, size_t size_bytes) {
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

static void settle(struct le_timeline *timeline);

void le_timeline_busy(struct le_timeline *timeline, uint64_t start_ns, uint64_t stop_ns) {
    if (timeline->busy_count == BUSY_MAX)
        settle(timeline);
    if (!grow((void **)&timeline->busy, timeline->busy_count, &timeline->busy_capacity, sizeof *timeline->busy)) {
        timeline->sums.dropped++;
        return;
    }
    timeline->busy[timeline->busy_count++] = (struct busy){start_ns, stop_ns > start_ns ? stop_ns : start_ns};
}

void le_timeline_host(struct le_timeline *timeline, unsigned thread, int depth, uint64_t start_ns, uint64_t stop_ns,
                      leat_cost_kind kind, const char *what) {
    if (timeline->host_count == HOST_MAX) { /* the older half goes */
        timeline->host_count /= 2;
        memmove(timeline->host, timeline->host + timeline->host_count,
                (size_t)timeline->host_count * sizeof *timeline->host);
    }
    if (!grow((void **)&timeline->host, timeline->host_count, &timeline->host_capacity, sizeof *timeline->host)) {
        timeline->sums.dropped++;
        return;
    }
    timeline->host[timeline->host_count++] = (struct host){.start_ns = start_ns,
                                                           .stop_ns = stop_ns,
                                                           .cause = find_cause(timeline, kind, what),
                                                           .depth = depth < DEPTH_MAX ? depth : DEPTH_MAX - 1,
                                                           .thread = thread % THREADS};
}

/* ---- settling */

static uint64_t overlap(const struct host *host, uint64_t start_ns, uint64_t stop_ns) {
    uint64_t low = host->start_ns > start_ns ? host->start_ns : start_ns;
    uint64_t high = host->stop_ns < stop_ns ? host->stop_ns : stop_ns;
    return high > low ? high - low : 0;
}

/* The first span that ends after a time: of one thread they are in the order of their ends, of several nearly so, and
 * the few that are found out of order are looked at in vain. */
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

/* What of a span lies in the gap, less what inner ones have of it, goes to its cause. Spans that begin behind the gap
 * are passed over, and so are outer ones that end much later: the walk goes on until the outermost is done. */
static uint64_t share_out(struct le_timeline *timeline, uint64_t start_ns, uint64_t stop_ns) {
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
    uint64_t inside_ns = share_out(timeline, start_ns, stop_ns), gap_ns = stop_ns - start_ns;
    timeline->causes[0].here_ns = gap_ns > inside_ns ? gap_ns - inside_ns : 0;
    int most = 0;
    for (int k = 1; k < timeline->cause_count; k++)
        if (timeline->causes[k].here_ns > timeline->causes[most].here_ns)
            most = k;
    timeline->causes[most].gaps_ns += gap_ns;
    timeline->causes[most].gaps++;
    timeline->sums.idle_ns += gap_ns;
}

static int compare(const void *a, const void *b) {
    const struct busy *x = a, *y = b;
    return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* One interval, none before it starting later. */
static void add_busy(struct le_timeline *timeline, const struct busy *busy) {
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

static void settle(struct le_timeline *timeline) {
    if (timeline->busy_count)
        qsort(timeline->busy, (size_t)timeline->busy_count, sizeof *timeline->busy, compare);
    for (int k = 0; k < timeline->busy_count; k++)
        add_busy(timeline, &timeline->busy[k]);
    timeline->busy_count = 0;
    timeline->sums.span_ns = timeline->last_ns - timeline->first_ns;
}

void le_timeline_settle(struct le_timeline *timeline, le_timeline_gap *gap, void *user, struct le_timeline_sums *sums) {
    settle(timeline);
    for (int k = 0; k < timeline->cause_count; k++)
        if (timeline->causes[k].gaps_ns)
            gap(user, timeline->causes[k].kind, timeline->causes[k].what ? timeline->causes[k].what : "",
                timeline->causes[k].gaps_ns, timeline->causes[k].gaps);
    *sums = timeline->sums;
}
