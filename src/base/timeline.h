/* What a device was busy with and when, beside what the host did at the time: the ledger's level 2. Intervals go in as
 * they become known, in any order; out come the union of the busy ones and the gaps between them, each gap with the
 * host's doing that fills most of it. Both are on one clock, in nanoseconds. It knows no events and no device.
 *
 * Not thread-safe: the ledger's lock guards it. Memory is bounded: what is too old to keep is settled first, with what
 * is known then. Where memory runs out an interval is dropped, and counted. */
#ifndef LE_TIMELINE_H
#define LE_TIMELINE_H
#include "leat.h"

struct le_timeline;
struct le_timeline *le_timeline_new(void); /* NULL: no memory */
void le_timeline_free(struct le_timeline *timeline);
void le_timeline_clear(struct le_timeline *timeline);

void le_timeline_busy(struct le_timeline *timeline, uint64_t start_ns, uint64_t stop_ns);
/* A span of the host's that has ended, at nesting depth (outermost 0) on a thread; inner ones come before outer ones.
 * what is copied. */
void le_timeline_host(struct le_timeline *timeline, unsigned thread, int depth, uint64_t start_ns, uint64_t stop_ns,
                      leat_cost_kind kind, const char *what);

/* Settles all that was added: everything from the first busy interval's start to the last one's end. */
struct le_timeline_sums {
    uint64_t span_ns, busy_ns, idle_ns; /* span = busy + idle */
    uint64_t total_ns;                  /* of all intervals; more than busy_ns where they overlap */
    uint64_t dropped;
};
/* A gap's cause: kind and text of the host's span; what "" for the program's own time, outside of Leat. */
typedef void le_timeline_gap(void *user, leat_cost_kind kind, const char *what, uint64_t time_ns, uint64_t count);
void le_timeline_settle(struct le_timeline *timeline, le_timeline_gap *gap, void *user, struct le_timeline_sums *sums);
#endif
