#include "base/cancel.h"
#include "base/clock.h"

#define PERIOD_NS ((uint64_t)50000000)

static _Thread_local struct le_cancel *here;

void le_cancel_enter(struct le_cancel *cancel, struct le_cancel **outer) {
    atomic_store_explicit(&cancel->requested, false, memory_order_relaxed);
    if (cancel->proceed)
        cancel->next_ns = le_clock_coarse_ns() + PERIOD_NS;
    *outer = here;
    here = cancel;
}

void le_cancel_leave(struct le_cancel *outer) {
    here = outer;
}

struct le_cancel *le_cancel_here(void) {
    return here;
}

bool le_cancel_look(struct le_cancel *cancel) {
    uint64_t now_ns = cancel && cancel->proceed ? le_clock_coarse_ns() : 0;
    if (now_ns && now_ns >= cancel->next_ns) {
        if (!cancel->proceed(cancel->user))
            atomic_store_explicit(&cancel->requested, true, memory_order_relaxed);
        cancel->next_ns = le_clock_coarse_ns() + PERIOD_NS;
    }
    return le_cancel_is_requested(cancel);
}

leat_status le_cancel_check(void) {
    return le_cancel_look(here) ? le_fail(LEAT_CANCELED, "the run was canceled") : LEAT_OK;
}
