/* The ledger's records: costs of one kind, text and cause are one record, counted and timed exclusively: what an inner
 * cost takes is not in the outer one. Thread-safe. Level 0 counts only, 1 times the host, 2 keeps a timeline as well:
 * what a device did (le_ledger_device) beside what the host did. */
#ifndef LE_LEDGER_H
#define LE_LEDGER_H
#include "base/status.h"
#include "base/timeline.h"

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
/* Host times are by this clock from now on, before other threads use the ledger; time goes on from where it is. NULL:
 * CLOCK_MONOTONIC. A simulated device has a clock of its own. */
void le_ledger_clock_set(struct le_ledger *ledger, uint64_t (*clock)(void *user), void *user);
uint64_t le_ledger_clock_ns(const struct le_ledger *ledger);
/* Work of a device's, known by now to have taken place from start to stop on the ledger's clock. */
void le_ledger_device(struct le_ledger *ledger, leat_cost_kind kind, const char *what, uint64_t start_ns,
                      uint64_t stop_ns, uint64_t bytes);
/* Makes the records of the device's gaps (LEAT_COST_IDLE, cause: what the host did) what they are by now. */
void le_ledger_settle(struct le_ledger *ledger, struct le_timeline_sums *sums);
/* A count without a time, of a cost that comes again and again: its record is remembered, {0} at first. Guarded by the
 * ledger's lock. */
struct le_tally {
    uint64_t version;
    int record;
};
void le_ledger_tally(struct le_ledger *ledger, struct le_tally *tally, leat_cost_kind kind, const char *what);
/* A count without a time. */
void le_ledger_add(struct le_ledger *ledger, leat_cost_kind kind, const char *what, const char *cause, uint64_t bytes);
#endif
