/* What the recorder does inside the program's CUDA calls: it notes where a call was made, what a copy was given, and
 * what a call waited for. (CUPTI's own records of waits look into every call of the runtime: 0.9 us a launch for CuPy,
 * which asks for the device three times.) It allocates nothing, never waits, sends no signals and keeps errno. Records
 * that do not fit are counted. */
#ifndef LE_CAPTURE_H
#define LE_CAPTURE_H
#include "trace/recorder/cupti.h"
#include "trace/recorder/event_ring.h"
#include "trace/recorder/source.h"

enum { LE_CAPTURE_FUNCTIONS = 4096 };

struct le_capture {
    const struct le_cupti *cupti;
    struct le_event_ring *ring;
    struct le_sources *sources; /* NULL: no origins */
    _Atomic bool is_on;
    bool graphs_only;                               /* no callbacks for launches of single kernels */
    _Atomic uint64_t recorder_ns;                   /* that all this took */
    _Atomic uint64_t captured_launches, capture_ns; /* as in struct le_trace_captures */
    _Atomic uint64_t capture_recording_ns;
    uint16_t roles_of[2][LE_CAPTURE_FUNCTIONS];     /* enum le_call_roles, by domain and number */
    void (*profiler_switched)(void *user, bool on); /* by the program; NULL: not heeded */
    void (*graph_begins)(void *user);               /* the program is about to make a graph; NULL: not heeded */
    void (*ring_half_full)(void *user);             /* the ring ought to be emptied */
    void *user;
};

/* Asks CUPTI for the callbacks that are wanted. */
void le_capture_enable(struct le_capture *capture, const struct le_cupti *cupti, le_cupti_subscriber subscriber);
/* The callback itself; user: struct le_capture. */
void le_capture_call(void *user, le_cupti_domain domain, uint32_t id, const void *data);
#endif
