/* Canceling a run that is in progress. The run's thread enters a le_cancel; the code below finds it there with
 * le_cancel_here, and passes it on to the threads that help. Code that may take long checks it regularly, stops, and
 * returns LEAT_CANCELED: the vector machine, products, the plan's steps, and waits for a device.
 *
 * A request stays set until the run ends. If it stops a helping thread, the run's own thread therefore still finds it
 * set when it checks after the work. */
#ifndef LE_CANCEL_H
#define LE_CANCEL_H
#include "base/status.h"
#include <stdatomic.h>

struct le_cancel {
    atomic_bool requested;       /* set by any thread, or by a signal handler */
    bool (*proceed)(void *user); /* called by the run's thread now and then; false is a request. NULL: none */
    void *user;
    uint64_t next_ns; /* time of the next call of proceed; used by the run's thread only */
};

/* Around a run. Forgets an earlier request. Runs may nest: proceed may run another call. */
void le_cancel_enter(struct le_cancel *cancel, struct le_cancel **outer);
void le_cancel_leave(struct le_cancel *outer);
/* The le_cancel of the run in progress on this thread; NULL: there is none. */
struct le_cancel *le_cancel_here(void);

static inline bool le_cancel_is_requested(const struct le_cancel *cancel) {
    return cancel && atomic_load_explicit(&cancel->requested, memory_order_relaxed);
}
/* Calls proceed if its time has come. Only on the run's thread; cancel may be NULL. Returns whether the run is to stop.
 * Reads the clock if there is a proceed. */
bool le_cancel_look(struct le_cancel *cancel);
/* The same for the run on this thread, as a status: LEAT_OK or LEAT_CANCELED. */
leat_status le_cancel_check(void) __attribute__((warn_unused_result));
#endif
