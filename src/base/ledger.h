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
/* The time by the ledger's clock since the ledger was made or last cleared. */
uint64_t le_ledger_age_ns(struct le_ledger *ledger);
size_t le_ledger_count(struct le_ledger *ledger);
bool le_ledger_at(struct le_ledger *ledger, size_t k, leat_cost *cost);
/* A timed cost of the calling thread; the struct is on its stack. Spans nest. A span that ends also closes those begun
 * within it that are still open; when they end later, they are counted without a time. what and cause are copied into a
 * new record. A cost that cannot be recorded for lack of memory is dropped. Under 50 ns at level 0. */
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
/* From now on the costs of the calling thread are records of their own, with in_background: callers do not wait for
 * this thread, or do so in a span of their own. */
void le_ledger_thread_is_background(void);
/* For failures that longjmp out of functions with open spans: get the innermost span before, and drop, uncounted, all
 * spans that were begun within it after the jump. */
struct le_span *le_span_innermost(void); /* NULL: none */
void le_span_drop(struct le_span *outer);
/* Sets the clock for host times (NULL: CLOCK_MONOTONIC), before other threads use the ledger. Time continues without a
 * jump. A simulated device has its own clock. */
void le_ledger_clock_set(struct le_ledger *ledger, uint64_t (*clock)(void *user), void *user);
uint64_t le_ledger_clock_ns(const struct le_ledger *ledger);
/* At level 2 the observer is called when a timed span ends, with its end time, its depth among the open timed spans of
 * its thread (outermost: 0), and the thread's number, from 1. It runs under the ledger's lock. NULL: none. */
typedef void le_ledger_observer(void *user, const struct le_span *span, uint64_t stop_ns, int depth, unsigned thread);
void le_ledger_observer_set(struct le_ledger *ledger, le_ledger_observer *observer, void *user);
/* Adds count, time_ns and bytes to the device's record with this kind, text and cause. */
void le_ledger_device(struct le_ledger *ledger, const leat_cost *cost);
/* Counts a frequent cost without a time. The tally, initially {0}, remembers its record. The ledger's lock guards it.
 */
struct le_tally {
    uint64_t version;
    int record;
};
void le_ledger_tally(struct le_ledger *ledger, struct le_tally *tally, leat_cost_kind kind, const char *what);
/* Counts a cost without a time. */
void le_ledger_add(struct le_ledger *ledger, leat_cost_kind kind, const char *what, const char *cause, uint64_t bytes);
#endif
