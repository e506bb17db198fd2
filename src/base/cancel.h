/* Canceling a run that is in progress. The run's thread enters a le_cancel; the code below finds it there with
 * le_cancel_here, and passes it on to the threads that help. Code that may take long checks it regularly, stops, and
 * returns LEAT_CANCELED: the vector machine, products, the plan's steps, and waits for a device.
 *
 * A request stays set until the run ends. If it stops a helping thread, the run's own thread therefore still finds it
 * set when it checks after the work.
 *
 * Work that a run has enqueued, and that can be stopped (kernels on sim), holds the run's token. It may outlive the
 * run. The run's thread passes a request on to the token, and only then does the work stop: a request after the run's
 * last check has no effect on its work. A device's streams have tokens, too (leat_context_cancel). */
#ifndef LE_CANCEL_H
#define LE_CANCEL_H
#include "base/status.h"
#include <stdatomic.h>

struct le_cancel_token; /* counts its holders */

struct le_cancel {
    atomic_bool requested;       /* set by any thread, or by a signal handler */
    bool (*proceed)(void *user); /* called by the run's thread now and then; false is a request. NULL: none */
    void *user;
    uint64_t next_ns;              /* time of the next call of proceed; used by the run's thread only */
    struct le_cancel_token *token; /* likewise. NULL: no work holds it */
};

/* Around a run. Forgets an earlier request. Runs may nest: proceed may run another call. */
void le_cancel_enter(struct le_cancel *cancel, struct le_cancel **outer);
void le_cancel_leave(struct le_cancel *outer);
/* The le_cancel of the run in progress on this thread; NULL: there is none. */
struct le_cancel *le_cancel_here(void);

static inline bool le_cancel_is_requested(const struct le_cancel *cancel) {
    return cancel && atomic_load_explicit(&cancel->requested, memory_order_relaxed);
}
/* Passes a request on to the work that holds the run's token. Only on the run's thread. Returns whether there is one.
 */
bool le_cancel_pass_on(struct le_cancel *cancel);
/* Calls proceed if its time has come. Only on the run's thread; cancel may be NULL. Returns whether the run is to stop.
 * Reads the clock if there is a proceed. */
bool le_cancel_look(struct le_cancel *cancel);
/* The same for the run on this thread, as a status: LEAT_OK or LEAT_CANCELED. */
leat_status le_cancel_check(void) __attribute__((warn_unused_result));

/* ---- tokens. NULL is a token that is never requested. */
struct le_cancel_token *le_cancel_token_new(void); /* NULL: out of memory */
void le_cancel_token_drop(struct le_cancel_token *token);
/* Stops the work that holds the token now. On any thread; cannot be taken back. */
void le_cancel_token_request(struct le_cancel_token *token);
/* The token of the stream in which this thread enqueues work, which must exist until NULL is offered. */
void le_cancel_token_offer(struct le_cancel_token *token);

struct le_cancel_tokens { /* of a piece of work */
    struct le_cancel_token *run, *stream;
    unsigned stream_requests; /* those that came before the work */
};
void le_cancel_tokens_take(struct le_cancel_tokens *tokens); /* for work that this thread enqueues */
void le_cancel_tokens_drop(struct le_cancel_tokens *tokens);
bool le_cancel_tokens_requested(const struct le_cancel_tokens *tokens); /* also in signal handlers */
#endif
