/* The ledger: costs with the same kind, text and cause share a record. Times are exclusive: the time of an inner cost
 * is not part of the outer one's. Level 0 counts only, level 1 also times the host, level 2 also reports the host's
 * spans to an observer (device/front/timing.c, which times devices). Thread-safe. */
#ifndef LE_LEDGER_H
#define LE_LEDGER_H
#include "base/status.h"

const char *le_cost_kind_name(leat_cost_kind kind);

struct le_ledger;
leat_status le_ledger_new(int level, struct le_ledger **ledger);
void le_ledger_free(struct le_ledger *ledger);
void le_ledger_level_set(struct le_ledger *ledger, int level);
int le_ledger_level(const struct le_ledger *ledger);
void le_ledger_clear(struct le_ledger *ledger);
size_t le_ledger_count(struct le_ledger *ledger);
bool le_ledger_at(struct le_ledger *ledger, size_t k, leat_cost *cost);
/* A span on the calling thread, on its stack; begin and end nest; one that ends closes those that were begun within it
 * and have not ended, which are counted without a time when they do. what and cause are copied when a record is made; a
 * cost that cannot be recorded for want of memory is dropped. Under 50 ns at level 0. */
struct le_span {
    struct le_ledger *ledger;
    struct le_span *outer;
    leat_cost_kind kind;
    const char *what, *cause;
    uint64_t start_ns, inner_ns;
};
void le_span_begin(struct le_span *span, struct le_ledger *ledger, leat_cost_kind kind, const char *what,
                   const char *cause);
void le_span_end(struct le_span *span, uint64_t bytes, uint64_t operations);
/* Where a failure jumps out of functions with open spans: those that were begun after `outer` was the thread's
 * innermost are forgotten, uncounted. */
struct le_span *le_span_innermost(void); /* NULL: none is open */
void le_span_drop(struct le_span *outer);
/* Sets the clock of host times (NULL: CLOCK_MONOTONIC), before other threads use the ledger. Time continues from where
 * it is. A simulated device has a clock of its own. */
void le_ledger_clock_set(struct le_ledger *ledger, uint64_t (*clock)(void *user), void *user);
uint64_t le_ledger_clock_ns(const struct le_ledger *ledger);
/* At level 2 the observer is called for each timed span that ends, with its end, its depth among the timed spans that
 * are open on its thread (outermost 0), and the thread's number (from 1). It runs under the ledger's lock. NULL: none.
 */
typedef void le_ledger_observer(void *user, const struct le_span *span, uint64_t stop_ns, int depth, unsigned thread);
void le_ledger_observer_set(struct le_ledger *ledger, le_ledger_observer *observer, void *user);
/* Adds count, time_ns and bytes to the device's record with this kind, text and cause. */
void le_ledger_device(struct le_ledger *ledger, const leat_cost *cost);
/* Counts, without a time, a cost that recurs often. The tally, {0} at first, remembers its record. Guarded by the
 * ledger's lock. */
struct le_tally {
    uint64_t version;
    int record;
};
void le_ledger_tally(struct le_ledger *ledger, struct le_tally *tally, leat_cost_kind kind, const char *what);
/* Counts a cost without a time. */
void le_ledger_add(struct le_ledger *ledger, leat_cost_kind kind, const char *what, const char *cause, uint64_t bytes);
#endif
