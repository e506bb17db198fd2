/* Where a device's time went: when it was busy, and what the host did while it was idle. Two sums hold to the
 * nanosecond: wall = busy + idle, and idle = the sum of its causes. */
#ifndef LE_DEVICE_TIME_H
#define LE_DEVICE_TIME_H
#include "base/arena.h"
#include "trace/index.h"

/* What the host did, in the processes that use the device (have a context or work on it). If several threads do
 * different things, the state that comes first in this list counts. */
enum le_host_state {
    LE_HOST_PAUSED,     /* none of these processes was being recorded: paused, not started, or ended */
    LE_HOST_COMPILING,  /* or loading code */
    LE_HOST_LAUNCHING,  /* kernels and graphs, or building graphs */
    LE_HOST_COPYING,    /* in a call that copies or sets memory */
    LE_HOST_ALLOCATING, /* or releasing, or page-locking */
    LE_HOST_STARTING,   /* initializing CUDA, creating contexts */
    LE_HOST_CALLING,    /* in another call */
    LE_HOST_WAITING,    /* for the device */
    LE_HOST_OTHER,      /* not in a CUDA call: in the program's own code */
    LE_HOST_STATES
};
const char *le_host_state_name(enum le_host_state state); /* "launching kernels" */
enum le_host_state le_host_state_of(enum le_call_kind kind);

struct le_device_time {
    uint64_t wall_ns, busy_ns, idle_ns;
    uint64_t kernel_ns, copy_ns, both_ns; /* time with at least one kernel or graph; with a copy or set; with both */
    uint64_t host_ns[LE_HOST_STATES];     /* parts of idle_ns */
    uint64_t gaps;
};
/* A period in which neither the device's nor the host's state changes. Moments come in order and without holes. */
struct le_device_moment {
    uint64_t start_ns, end_ns;
    bool kernels, copies;
    enum le_host_state host;
};
typedef void le_device_moment_take(void *user, const struct le_device_moment *moment);
/* Calls `take` for each moment of the trace. device: a position in the index. Temporary memory comes from the arena. */
void le_device_time_walk(const struct le_trace_index *index, int32_t device, struct le_arena *arena,
                         le_device_moment_take *take, void *user);
void le_device_time_find(const struct le_trace_index *index, int32_t device, struct le_arena *arena,
                         struct le_device_time *time);
#endif
