/* The recorder's callback inside the program's CUDA calls. It records where a call was made, the arguments of a copy,
 * and what a call waited for. (CUPTI's own records of waits make it look at every runtime call, which costs 0.9 us per
 * launch in CuPy, where a launch asks for the device three times.) The callback does not allocate, wait or send
 * signals, and preserves errno. Records that do not fit into the ring are counted. */
#ifndef LE_CAPTURE_H
#define LE_CAPTURE_H
#include "trace/recorder/cupti.h"
#include "trace/recorder/event_ring.h"
#include "trace/recorder/source.h"

enum { LE_CAPTURE_FUNCTIONS = 4096 };

struct le_capture {
    const struct le_cupti *cupti;
    struct le_event_ring *ring;
    struct le_sources *sources; /* NULL: callers are not recorded */
    _Atomic bool is_on;
    bool graphs_only;                               /* no callbacks for launches of single kernels */
    _Atomic uint64_t recorder_ns;                   /* total time in the callback */
    _Atomic uint64_t captured_launches, capture_ns; /* as in struct le_trace_captures */
    _Atomic uint64_t capture_recording_ns;
    uint16_t roles_of[2][LE_CAPTURE_FUNCTIONS];     /* enum le_call_role, combined; by domain and number */
    void (*profiler_switched)(void *user, bool on); /* the program called cuProfilerStart or Stop; may be NULL */
    void (*graph_begins)(void *user);               /* the program is about to create a graph; may be NULL */
    void (*ring_half_full)(void *user);             /* the ring should be emptied */
    void *user;
};

/* Enables the callbacks that are needed. */
void le_capture_enable(struct le_capture *capture, const struct le_cupti *cupti, le_cupti_subscriber subscriber);
/* The callback; user is the struct le_capture. */
void le_capture_call(void *user, le_cupti_domain domain, uint32_t id, const void *data);
#endif
