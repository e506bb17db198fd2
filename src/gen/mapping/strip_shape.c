/* Chooses how strips of neighbouring columns that stay on chip between several passes are shared by threads, thread
 * blocks and clusters. A thread has `lines` neighbouring elements of one column, or of `vector` columns side by side;
 * the threads of a warp have neighbouring columns, and beyond a strip's width the elements that follow. All that fits
 * is compared by rules of thumb: how busy the device is, whether other strips hide what one waits for, over how many
 * lines of memory a warp's request goes, and what joining the threads' totals costs. */
#include "gen/mapping/row.h"
#include <math.h>

enum {
    CLUSTER_MOST = 8,        /* the size that every GPU with clusters supports */
    CAPABILITY_CLUSTER = 90, /* compute capability * 10 of the first GPUs with clusters */
    STRIP_MOST = 256,        /* columns */
    LINES_MOST = 64,
    THREADS_MOST = 1024,     /* of a multiprocessor: each has 64 registers */
    NEAR_WORDS = 32,         /* registers of 64 that a thread uses for kept elements, if these are all */
    NEAR_WORDS_OF_MANY = 16, /* if shared memory keeps others; twice as many if a thread has 128 registers */
    ROOM_BYTES = 2048,       /* shared memory for what is neither columns nor totals */
    LINE_BYTES = 128,
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
    int across = s->strip / s->vector, words = need->words * s->vector; /* threads side by side; of a line */
    int64_t parts = (int64_t)s->threads / across * s->cluster;
    bool is_wide = need->is_wide || s->vector > 1;
    int most_threads = is_wide || need->are_totals_big ? THREADS_MOST / 2 : THREADS_MOST;
    int near_of_many = NEAR_WORDS_OF_MANY * (is_wide ? 2 : 1);
    if (parts == 0 || need->reads > parts * LINES_MOST || words > NEAR_WORDS_OF_MANY)
        return false;
    int64_t lines = (need->reads + parts - 1) / parts;
    s->lines = power_from(lines);
    s->near = s->lines * words <= NEAR_WORDS ? s->lines : near_of_many / power_from(words);
    if (s->near == 0 || (s->near < STRIP_LINES_AT_ONCE && s->near < s->lines))
        return false;
    s->rows = 1;
    s->most_threads = s->threads;
    s->far_bytes = (size_t)((s->lines - s->near) * need->bytes * s->vector) * (size_t)s->threads;
    int totals = across < WARP ? s->threads / WARP * across : s->threads;
    if (s->threads == across || s->threads == WARP)
        totals = 0;
    totals = (totals + (s->cluster > 1 ? s->cluster * across : 0)) * s->vector;
    size_t fixed = need->totals_bytes * (size_t)totals + ROOM_BYTES;
    int room = (int)((facts->shared_most_bytes + 1024) / (s->far_bytes + fixed + 1024));
    s->resident = most_threads / s->threads < room ? most_threads / s->threads : room;
    return s->resident > 0 && fixed <= ROOM_MOST && s->far_bytes + fixed <= facts->shared_most_bytes;
}

/* What a strip's kernel takes, from rough rates; only their ratios matter. Of 377 variants of seven large works that
 * were measured on an H100 (softmax, logsumexp, layer norms and variances of f16, f32 and f64) they choose what
 * takes 1.5 percent more than the fastest, in the mean, and at most 6. Twelve works of small arrays, of which two
 * variants each were measured, take 4 to 20 us; there it is latencies that matter, and rows that begin anywhere. */
#define MEMORY_OF_UNIT  55e9     /* bytes a second that one multiprocessor reads or writes at most */
#define WORD_SECONDS    0.065e-9 /* of a multiprocessor, for each pass over a kept word */
#define VECTOR_SECONDS  0.032e-9 /* the same for each vector, which is read, written and counted as one */
#define THREADS_LEAST   400      /* of a multiprocessor, so that arithmetic reaches that rate */
#define LINE_SECONDS    0.57e-9  /* of a multiprocessor, for each line of memory that a warp's request goes over */
#define LATENCY_SECONDS 0.5e-6   /* of a block's first reads and last writes */
#define JOIN_SECONDS    0.1e-6   /* of a block whose threads join their totals, for all groups */
#define LEVEL_SECONDS   0.06e-6  /* the same for each doubling of their number */
#define CLUSTER_SECONDS 1.9e-6   /* the same of a cluster's blocks */
#define START_SECONDS   0.14e-6  /* of a multiprocessor that starts a block while others run; twice that in clusters */
#define SEEN            0.2      /* of the shorter one of memory and arithmetic, what one other block does not hide */

/* Time of the multiprocessor's blocks for the lines of memory that their warps' requests touch. */
static double seconds_of_lines(const struct row_need *need, const struct row_shape *s, int64_t blocks) {
    int across = s->strip / s->vector, of_request = across < WARP ? across : WARP; /* threads */
    int lines = (of_request * s->vector * need->element + LINE_BYTES - 1) / LINE_BYTES;
    return (double)blocks * s->threads * s->lines * (need->stores ? 2 : 1) * lines / of_request * LINE_SECONDS;
}

static double seconds_of(const struct le_device_facts *facts, const struct row_need *need, const struct row_shape *s) {
    int side = s->strip < need->points ? s->strip : (int)need->points, ways = need->stores ? 2 : 1;
    int64_t blocks = (need->points + s->strip - 1) / s->strip * s->cluster;
    int64_t of_unit = (blocks + facts->multiprocessors - 1) / facts->multiprocessors;
    int64_t together = of_unit < s->resident ? of_unit : s->resident, turns = (of_unit + together - 1) / together;
    double row_bytes = (double)side * need->element;
    double block_bytes = (double)side * (double)need->reads * need->element / s->cluster;
    double memory = ways * (double)need->points * (double)need->reads * need->element / facts->bytes_per_second;
    memory *= need->is_shifted ? (row_bytes + SECTOR) / row_bytes : 1;
    double alone = (double)of_unit * ways * block_bytes / MEMORY_OF_UNIT;
    double flight = (double)together * block_bytes / IN_FLIGHT;
    memory = (memory > alone ? memory : alone) / (flight < 1 && turns > 1 ? flight : 1);
    memory += seconds_of_lines(need, s, of_unit);
    double vectors = (double)of_unit * s->threads * s->lines * need->passes;
    double arithmetic = vectors * (need->words * s->vector * WORD_SECONDS + VECTOR_SECONDS);
    arithmetic *= turns > 1 ? fmax(1, THREADS_LEAST / ((double)together * s->threads)) : 1;
    int parts = s->threads / (s->strip / s->vector);
    double join = parts > 1 ? JOIN_SECONDS + LEVEL_SECONDS * log2(parts) : 0;
    double latency = LATENCY_SECONDS + join + CLUSTER_SECONDS * (s->cluster > 1);
    double longer = memory > arithmetic ? memory : arithmetic, shorter = memory + arithmetic - longer;
    double seen = together == 1 && turns == 1 ? 1 : turns == 1 ? SEEN : SEEN / (double)together;
    double starts = (double)(of_unit - together) * START_SECONDS * (s->cluster > 1 ? 2 : 1);
    return longer + seen * (shorter + latency * (double)turns) + starts;
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
    if (wish.strip > 0 && (wish.strip > STRIP_MOST || wish.strip & (wish.strip - 1)))
        return false;
    for (s.strip = wish.strip > 0 ? (int)wish.strip : least; s.strip <= STRIP_MOST; s.strip *= 2)
        for (s.cluster = 1; s.cluster <= cluster_most && is_wished(wish.strip, s.strip); s.cluster *= 2)
            for (s.vector = 1; s.vector <= need->vector_most && s.vector <= s.strip; s.vector *= 2)
                for (s.threads = 64; s.threads <= THREADS_MOST && s.threads <= facts->block_threads; s.threads *= 2) {
                    if (!is_wished(wish.cluster, s.cluster) || !is_wished(wish.vector, s.vector) ||
                        !is_wished(wish.threads, s.threads) || !fits(facts, need, &s))
                        continue;
                    double seconds = seconds_of(facts, need, &s);
                    if (seconds < best) {
                        best = seconds;
                        *shape = s;
                    }
                }
    return best < INFINITY;
}
