/* Chooses how strips of neighbouring columns that stay on chip between several passes are shared by threads, thread
 * blocks and clusters. A thread has `lines` neighbouring elements of one column; the threads of a warp have
 * neighbouring columns, and beyond a strip's width the elements that follow. All that fits is compared by rules of
 * thumb: how busy the device is, whether other strips hide what one waits for, how much of a sector and of a page of
 * memory a strip takes, and what joining the threads' totals costs. */
#include "gen/mapping/row.h"
#include <math.h>

enum {
    CLUSTER_MOST = 8,        /* the size that every GPU with clusters supports */
    CAPABILITY_CLUSTER = 90, /* compute capability * 10 of the first GPUs with clusters */
    STRIP_MOST = 256,        /* columns */
    LINES_MOST = 64,
    THREADS_MOST = 1024,     /* of a multiprocessor: each has 64 registers */
    NEAR_WORDS = 32,         /* registers of 64 that a thread uses for kept elements, if these are all */
    NEAR_WORDS_OF_MANY = 16, /* if shared memory keeps others */
    ROOM_BYTES = 2048,       /* shared memory for what is neither columns nor totals */
    SECTOR = 32,
    IN_FLIGHT = 40 << 10 /* bytes of a multiprocessor that keep memory busy */
};

static int power_from(int64_t n) {
    int power = 1;
    while (power < n)
        power *= 2;
    return power;
}

/* Sets what follows from strip, cluster and threads. false: it does not fit. */
static bool fits(const struct le_device_facts *facts, const struct row_need *need, struct row_shape *s) {
    int64_t parts = (int64_t)s->threads / s->strip * s->cluster;
    if (parts == 0 || need->reads > parts * (LINES_MOST / (need->words > 1 ? 2 : 1)))
        return false;
    int64_t lines = (need->reads + parts - 1) / parts;
    s->lines = power_from(lines);
    s->near = s->lines * need->words <= NEAR_WORDS ? s->lines : NEAR_WORDS_OF_MANY / power_from(need->words);
    if (s->near == 0)
        return false;
    s->rows = 1;
    s->most_threads = s->threads;
    s->far_bytes = (size_t)((s->lines - s->near) * need->words * 4) * (size_t)s->threads;
    int totals = s->strip < WARP ? s->threads / WARP * s->strip : s->threads;
    if (s->threads == s->strip || s->threads == WARP)
        totals = 0;
    size_t fixed = need->totals_bytes * (size_t)(totals + (s->cluster > 1 ? s->cluster * s->strip : 0)) + ROOM_BYTES;
    int room = (int)((facts->shared_most_bytes + 1024) / (s->far_bytes + fixed + 1024));
    int most_threads = need->is_wide || need->are_totals_big ? THREADS_MOST / 2 : THREADS_MOST;
    s->resident = most_threads / s->threads < room ? most_threads / s->threads : room;
    return s->resident > 0 && fixed <= ROOM_MOST && s->far_bytes + fixed <= facts->shared_most_bytes;
}

/* What a strip's kernel takes, from rough rates; only their ratios matter. */
#define MEMORY_OF_UNIT  60e9    /* bytes a second that one multiprocessor reads or writes at most */
#define ELEMENT_SECONDS 0.25e-9 /* of a multiprocessor, for all passes over an element */
#define LATENCY_SECONDS 1.5e-6  /* of a block's first reads and last writes */
#define JOIN_SECONDS    0.7e-6  /* of a block whose threads join their totals, for all groups */
#define CLUSTER_SECONDS 0.7e-6  /* the same of a cluster's blocks */
#define OVERLAPPED      0.3     /* of the shorter one of memory and arithmetic, what is not hidden by other blocks */

/* Of memory's full speed: neighbouring strips share what memory reads at once, if they run at the same time. */
static double speed_of_width(int bytes) {
    return bytes >= 4 * SECTOR ? 1 : bytes >= 2 * SECTOR ? 0.97 : 0.9;
}

static double seconds_of(const struct le_device_facts *facts, const struct row_need *need, const struct row_shape *s) {
    static const double of_cluster[] = {1, 0.98, 0.96, 0.94};
    int step = 0, side = s->strip < need->points ? s->strip : (int)need->points;
    while (s->cluster >> step > 1)
        step++;
    int64_t blocks = (need->points + s->strip - 1) / s->strip * s->cluster;
    int64_t of_unit = (blocks + facts->multiprocessors - 1) / facts->multiprocessors;
    int64_t together = of_unit < s->resident ? of_unit : s->resident, turns = (of_unit + together - 1) / together;
    double block_bytes = 2.0 * side * (double)need->reads * need->element / s->cluster;
    double memory = 2.0 * (double)need->points * (double)need->reads * need->element / facts->bytes_per_second;
    memory /= speed_of_width(s->strip * need->element) * of_cluster[step];
    double alone = (double)of_unit * block_bytes / MEMORY_OF_UNIT;
    double flight = (double)together * block_bytes / 2 / IN_FLIGHT;
    memory = (memory > alone ? memory : alone) / (flight < 1 && turns > 1 ? flight : 1);
    double arithmetic = (double)of_unit * s->threads * s->lines * ELEMENT_SECONDS;
    double latency = LATENCY_SECONDS + JOIN_SECONDS * (s->threads > s->strip) + CLUSTER_SECONDS * (s->cluster > 1);
    double longer = memory > arithmetic ? memory : arithmetic, shorter = memory + arithmetic - longer;
    double seen = together == 1 ? 1 : turns == 1 ? 2 * OVERLAPPED : OVERLAPPED;
    return longer + seen * (shorter + latency * (double)turns);
}

static bool is_wished(int64_t wish, int value) {
    return wish < 0 || wish == value;
}

bool le_strip_shape(const struct le_device_facts *facts, const struct row_need *need, struct strip_wish wish,
                    struct row_shape *shape) {
    int cluster_most = facts->capability < CAPABILITY_CLUSTER ? 1 : CLUSTER_MOST;
    int least = need->element < SECTOR ? SECTOR / need->element : 1;
    double best = INFINITY;
    struct row_shape s = {0};
    if (need->words > NEAR_WORDS_OF_MANY ||
        (wish.strip > 0 && (wish.strip > STRIP_MOST || wish.strip & (wish.strip - 1))))
        return false;
    for (s.strip = wish.strip > 0 ? (int)wish.strip : least; s.strip <= STRIP_MOST; s.strip *= 2)
        for (s.cluster = 1; s.cluster <= cluster_most && is_wished(wish.strip, s.strip); s.cluster *= 2)
            for (s.threads = 64; s.threads <= THREADS_MOST && s.threads <= facts->block_threads; s.threads *= 2) {
                if (!is_wished(wish.cluster, s.cluster) || !fits(facts, need, &s))
                    continue;
                double seconds = seconds_of(facts, need, &s);
                if (seconds < best) {
                    best = seconds;
                    *shape = s;
                }
            }
    return best < INFINITY;
}
