/* When a device was busy, and what the host did meanwhile. Busy intervals and host spans are added as they become
 * known, busy ones in any order. The timeline sums up the union of the busy intervals and the gaps between them, and
 * assigns each gap to the host span that fills most of it. All times are in nanoseconds on one clock. It knows no
 * events and no device: timing.c feeds it.
 *
 * Thread-safe. Memory is bounded: intervals too old to keep are settled early, with the host spans known by then. An
 * interval for which there is no memory is dropped and counted. */
#ifndef LE_TIMELINE_H
#define LE_TIMELINE_H
#include "leat.h"
#include <stdbool.h>

struct le_timeline;
struct le_timeline *le_timeline_new(void); /* NULL: out of memory */
void le_timeline_free(struct le_timeline *timeline);
void le_timeline_clear(struct le_timeline *timeline);

void le_timeline_busy(struct le_timeline *timeline, uint64_t start_ns, uint64_t stop_ns);
/* A host span that has ended: at nesting depth (outermost 0) on a thread; inner spans are added before outer ones.
 * `what` is copied. */
void le_timeline_host(struct le_timeline *timeline, unsigned thread, int depth, uint64_t start_ns, uint64_t stop_ns,
                      leat_cost_kind kind, const char *what);

struct le_timeline_sums {
    uint64_t span_ns, busy_ns, idle_ns; /* span = busy + idle */
    uint64_t total_ns;                  /* of all intervals; more than busy_ns where they overlap */
    uint64_t dropped;
};
/* The sums of everything added so far: from the start of the first busy interval to the end of the last one. */
struct le_timeline_sums le_timeline_settle(struct le_timeline *timeline);
/* Gaps with the same cause: kind and text of the host span; what "" stands for the program's own time, outside Leat. */
struct le_timeline_gaps {
    leat_cost_kind kind;
    char what[128]; /* cut to fit */
    uint64_t time_ns, count;
};
/* The settled gaps of one cause that were not returned before; false: no more. */
bool le_timeline_next_gaps(struct le_timeline *timeline, struct le_timeline_gaps *gaps);
#endif
